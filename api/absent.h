/* SPDX-License-Identifier: Apache-2.0 */
/* absent.h - an entry point that a replacement for an NVIDIA library does not implement: it satisfies the linker and refuses
 * every call. Its parameters do not matter, so it is declared without them, in a source that does not include its header.
 *
 *     VMM_ABSENT(cuArrayCreate, abi_absent)     int cuArrayCreate(void): returns abi_absent("cuArrayCreate", &said)
 */
#ifndef CUVMM_ABSENT_H
#define CUVMM_ABSENT_H

#include <stdatomic.h>

/* refuse(name, &said) returns the code for the caller; said records that the entry point was reported, so it is reported once. */
#define VMM_ABSENT(symbol, refuse)                           \
    __attribute__((visibility("default"))) int symbol(void); \
    int symbol(void)                                         \
    {                                                        \
        static atomic_flag said = ATOMIC_FLAG_INIT;          \
        return refuse(#symbol, &said);                       \
    }

#endif
