/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_absent.h"

/* Their parameters do not matter, so they are declared without the header that knows them. */
#define ABI_ABSENT(symbol, base, version, streams)                       \
    __attribute__((visibility("default"))) int symbol(void);             \
    int symbol(void)                                                     \
    {                                                                    \
        static atomic_flag said = ATOMIC_FLAG_INIT;                      \
        return abi_absent(#symbol, &said);                               \
    }
#include "entries.def"
