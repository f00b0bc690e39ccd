/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - which value of one system stands for which of another.
 *
 *   set 0x558980ce9480 -> 0x4d48000001000000      get 0x558980ce9480 -> 0x4d48000001000000      get 7 -> 0
 *
 * A value may be set again: the later pair counts, as values of ended things are given out again. Locking is up to the
 * caller.
 */
#ifndef CUVMM_LAYERS_PAIRS_H
#define CUVMM_LAYERS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pairs {
    struct pair *pair; /* open addressing; key 0 is an empty place */
    size_t used, room; /* room is 0 or a power of two, never more than half used */
};

void pairs_clear(struct pairs *pairs);
/* key is not 0. False when memory is out: nothing has changed. */
bool pairs_set(struct pairs *pairs, uint64_t key, uint64_t value);
/* 0 when there is no such key. */
uint64_t pairs_get(const struct pairs *pairs, uint64_t key);

#endif
