/* SPDX-License-Identifier: Apache-2.0 */
/* Maps the rows of entries.def to the functions of libcuda.c, in a file where their parameters do not matter. */
#include "fake_entries.h"

#include <stddef.h>

#define VMM_ENTRY(symbol, ...) __attribute__((weak)) int symbol(void);
#include "entries.def"

#define ROW_LEGACY(symbol, name, version) {#name, version, symbol},
#define ROW_PER_THREAD(symbol, name, version)

const struct fake_entry fake_entries[] = {
#define VMM_ENTRY(symbol, name, version, streams, here, checked, call) ROW_##streams(symbol, name, version)
#include "entries.def"
    {NULL, 0, NULL},
};
