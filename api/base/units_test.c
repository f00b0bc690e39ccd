/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include "tap.h"

int main(void)
{
    static const struct {
        uint64_t size;
        const char *text;
    } cases[] = {{0, "0 bytes"},
                 {1, "1 byte"},
                 {1023, "1023 bytes"},
                 {1024, "1 KiB"},
                 {1025, "1025 bytes"},
                 {UINT64_C(6) << 20, "6 MiB"},
                 {UINT64_C(1536) << 20, "1536 MiB"},
                 {UINT64_C(3) << 40, "3 TiB"},
                 {UINT64_C(1) << 63, "8192 PiB"},
                 {UINT64_MAX, "18446744073709551615 bytes"}};
    char text[UNITS_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        tap_text(units_text(cases[i].size, text), cases[i].text, "%s", cases[i].text);
    return tap_done();
}
