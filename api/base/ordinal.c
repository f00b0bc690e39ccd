/* SPDX-License-Identifier: Apache-2.0 */
#include "ordinal.h"

void ordinals_init(struct ordinals *ordinals)
{
    static _Atomic uint64_t ids;
    atomic_init(&ordinals->given, 0);
    ordinals->id = atomic_fetch_add(&ids, 1) + 1;
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
    mine->crowded = first == mine->last + 1 ? 0 : mine->crowded + 1;
    mine->next = first + 1;
    mine->end = first + count;
    mine->last = first + count - 1;
    return first;
}
