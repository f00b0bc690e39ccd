/* SPDX-License-Identifier: Apache-2.0 */
/* absent.h - an entry point of a library that stands in for NVIDIA's and lacks it: it exists for the linker, and only refuses. Its
 * parameters do not matter, so it is declared without them, in a source that does not include its header.
 *
 *     VMM_ABSENT(cuArrayCreate, abi_absent)     int cuArrayCreate(void): what abi_absent("cuArrayCreate", &said) answers
 */
#ifndef CUVMM_ABSENT_H
#define CUVMM_ABSENT_H

#include <stdatomic.h>

/* refuse(name, &said) returns the code for the caller; said is for the entry point to be reported once. */
#define VMM_ABSENT(symbol, refuse)                           \
    __attribute__((visibility("default"))) int symbol(void); \
    int symbol(void)                                         \
    {                                                        \
        static atomic_flag said = ATOMIC_FLAG_INIT;          \
        return refuse(#symbol, &said);                       \
    }

#endif
