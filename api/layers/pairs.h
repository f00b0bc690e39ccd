/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - a map between the values of two systems.
 *
 *   set 0x558980ce9480 -> 0x4d48000001000000      get 0x558980ce9480 -> 0x4d48000001000000      get 7 -> 0
 *
 * A value may be set again, because values of ended objects are reused: the later pair wins. The caller does all locking.
 */
#ifndef CUVMM_LAYERS_PAIRS_H
#define CUVMM_LAYERS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pairs {
    struct pair *pair; /* open addressing; key 0 marks an empty slot */
    size_t used, room; /* room is 0 or a power of two, at most half used */
};

void pairs_clear(struct pairs *pairs);
/* key is not 0. Returns false, and changes nothing, when memory is exhausted. */
bool pairs_set(struct pairs *pairs, uint64_t key, uint64_t value);
/* Returns 0 when there is no such key. */
uint64_t pairs_get(const struct pairs *pairs, uint64_t key);

#endif
