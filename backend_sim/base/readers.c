/* SPDX-License-Identifier: Apache-2.0 */
#include "readers.h"

#include <sched.h>
#include <stddef.h>

/* Threads get slots in turn. The program has no influence on the choice of a slot, and the choice has no effect on the
 * program. */
static atomic_uint threads;
static _Thread_local unsigned own; /* 1 and up; 0: none yet */

void readers_init(struct readers *readers)
{
    atomic_init(&readers->open, false);
    readers->queries = 0;
    for (unsigned i = 0; i < READERS_SLOTS; i++)
        atomic_init(&readers->line[i].inside, 0);
}

struct readers_slot *readers_enter(struct readers *readers)
{
    if (!atomic_load_explicit(&readers->open, memory_order_relaxed))
        return NULL;
    if (!own)
        own = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % READERS_SLOTS + 1;
    struct readers_slot *line = &readers->line[own - 1];
    /* Sequentially consistent with readers_drain: either this load sees the bias revoked, or readers_drain sees the slot in
     * use. */
    atomic_fetch_add(&line->inside, 1);
    if (atomic_load(&readers->open))
        return line;
    readers_leave(line);
    return NULL;
}

void readers_leave(struct readers_slot *line)
{
    atomic_fetch_sub_explicit(&line->inside, 1, memory_order_release);
}

void readers_drain(struct readers *readers)
{
    atomic_store(&readers->open, false);
    for (unsigned i = 0; i < READERS_SLOTS; i++)
        while (atomic_load(&readers->line[i].inside))
            sched_yield();
}
