/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include <stdlib.h>

#include "heap.h"

struct pair {
    uint64_t key, value;
};

static uint64_t mix(uint64_t key)
{
    key = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

/* The slot of the key, or the empty slot where it would be stored; one slot is always empty. */
static struct pair *place(const struct pairs *pairs, uint64_t key)
{
    size_t i = (size_t)mix(key) & (pairs->room - 1);
    while (pairs->pair[i].key && pairs->pair[i].key != key)
        i = (i + 1) & (pairs->room - 1);
    return &pairs->pair[i];
}

void pairs_clear(struct pairs *pairs)
{
    heap.free(pairs->pair);
    *pairs = (struct pairs){NULL, 0, 0};
}

static bool grow(struct pairs *pairs)
{
    struct pairs larger = {NULL, pairs->used, pairs->room ? 2 * pairs->room : 64};
    larger.pair = heap.calloc(larger.room, sizeof *larger.pair);
    if (!larger.pair)
        return false;
    for (size_t i = 0; i < pairs->room; i++)
        if (pairs->pair[i].key)
            *place(&larger, pairs->pair[i].key) = pairs->pair[i];
    heap.free(pairs->pair);
    *pairs = larger;
    return true;
}

bool pairs_set(struct pairs *pairs, uint64_t key, uint64_t value)
{
    if (2 * (pairs->used + 1) > pairs->room && !grow(pairs))
        return false;
    struct pair *pair = place(pairs, key);
    pairs->used += !pair->key;
    *pair = (struct pair){key, value};
    return true;
}

uint64_t pairs_get(const struct pairs *pairs, uint64_t key)
{
    return pairs->room && key ? place(pairs, key)->value : 0;
}
