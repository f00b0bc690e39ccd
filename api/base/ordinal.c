/* SPDX-License-Identifier: Apache-2.0 */
#include "ordinal.h"

#include <stdbool.h>

void ordinals_init(struct ordinals *ordinals)
{
    static _Atomic uint64_t ids;
    atomic_init(&ordinals->given, 0);
    ordinals->id = atomic_fetch_add(&ids, 1) + 1;
}

/* Threads that draw concurrently do not strictly alternate: an adjacent draw cancels out one draw that was apart, not all of
 * them. */
static void count_draw(struct ordinals_ahead *mine, bool apart)
{
    if (apart && mine->crowded < 2 * ORDINAL_PATIENCE)
        mine->crowded++;
    else if (!apart && mine->crowded)
        mine->crowded--;
}

/* How many numbers to draw: one, unless other threads keep drawing in between. */
static uint64_t wanted(const struct ordinals_ahead *mine)
{
    return mine->crowded < ORDINAL_PATIENCE ? 1 : ORDINAL_MOST;
}

uint64_t ordinal_of_question(struct ordinals *ordinals, struct ordinals_ahead *mine)
{
    if (mine->id == ordinals->id && mine->next < mine->end)
        return mine->next++;
    if (mine->id != ordinals->id)
        *mine = (struct ordinals_ahead){.id = ordinals->id};
    uint64_t count = wanted(mine), first = ordinal_draw(ordinals, count);
    count_draw(mine, first != mine->last + 1);
    mine->next = first + 1;
    mine->end = first + count;
    mine->last = first + count - 1;
    return first;
}
