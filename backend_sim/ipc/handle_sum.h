/* SPDX-License-Identifier: Apache-2.0 */
/* handle_sum.h - the checksum at the end of a handle that processes pass to each other as bytes.
 *
 *     [ fields ..................... | sum ]      a change of one byte always changes the sum, as each step of it is invertible
 */
#ifndef SIM_HANDLE_SUM_H
#define SIM_HANDLE_SUM_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a, 64 bits. */
static inline uint64_t handle_sum(const void *handle, size_t size)
{
    const unsigned char *bytes = handle;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

#endif
