/* SPDX-License-Identifier: Apache-2.0 */
/* fnv.h - FNV-1a with 64 bits: the hash for keys, fingerprints and the formats that processes and files share.
 *
 *     fnv1a(fnv1a(FNV1A, name, strlen(name) + 1), &line, sizeof line)      one hash of both, from FNV1A on
 *
 * Each step is invertible, so a change of one byte always changes the hash. It does not protect against forgery.
 *
 * Source: Fowler, Noll, Vo, Eastlake: The FNV Non-Cryptographic Hash Algorithm, RFC 9923.
 */
#ifndef CUVMM_FNV_H
#define CUVMM_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV1A UINT64_C(0xcbf29ce484222325)

static inline uint64_t fnv1a(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The word's eight bytes, lowest first, on every machine. */
static inline uint64_t fnv1a_word(uint64_t hash, uint64_t word)
{
    for (int i = 0; i < 8; i++, word >>= 8)
        hash = (hash ^ (word & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
