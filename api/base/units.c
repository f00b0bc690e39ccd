/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include <inttypes.h>
#include <stdio.h>

const char *units_text(uint64_t size, char text[UNITS_TEXT])
{
    static const char *const name[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    unsigned unit = 0;
    while (size && size % 1024 == 0 && unit + 1 < sizeof name / sizeof name[0]) {
        size /= 1024;
        unit++;
    }
    snprintf(text, UNITS_TEXT, "%" PRIu64 " %s", size, size == 1 && !unit ? "byte" : name[unit]);
    return text;
}
