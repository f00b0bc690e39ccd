/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml_absent.h"

/* The parameters do not matter here, so the functions are declared without their header. */
#define ENTRY_DONE(symbol)
#define ENTRY_ABSENT(symbol)                                    \
    __attribute__((visibility("default"))) int symbol(void);    \
    int symbol(void)                                            \
    {                                                           \
        static atomic_flag said = ATOMIC_FLAG_INIT;             \
        return nvml_absent(#symbol, &said);                     \
    }
#define NVML_ENTRY(symbol, here) ENTRY_##here(symbol)
#include "nvml_entries.def"
