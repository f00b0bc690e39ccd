/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_absent.h"

/* The parameters do not matter here, so the functions are declared without their header. */
#define ENTRY_DONE(symbol)
#define ENTRY_ABSENT(symbol)                                    \
    __attribute__((visibility("default"))) int symbol(void);    \
    int symbol(void)                                            \
    {                                                           \
        static atomic_flag said = ATOMIC_FLAG_INIT;             \
        return abi_absent(#symbol, &said);                      \
    }
#define VMM_ENTRY(symbol, name, version, streams, here, checked, call) ENTRY_##here(symbol)
#include "entries.def"
