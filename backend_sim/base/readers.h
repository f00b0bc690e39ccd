/* SPDX-License-Identifier: Apache-2.0 */
/* readers.h - read-only calls beside the machine's lock: readers neither wait for each other nor share a cache line.
 *
 *   queries         [Q][Q][Q].. -> after READERS_TRUST in a row without a change, reader bias is on
 *   bias on         each thread enters a reader slot of its own, checks that the bias is still on, and reads
 *   a change        takes the lock, revokes the bias, drains the reader slots; from then on all calls take the lock
 *
 * A writer takes the lock and revokes the bias (readers_revoke), so the holder of the lock is still alone; it revokes the bias
 * again after every wait that released the lock. A reader that finds the bias off takes the lock without revoking anything,
 * and counts itself (readers_count_query). A program that constantly makes changes never turns the bias on, and pays for one
 * load. A reader never waits while it is in a slot.
 */
#ifndef SIM_READERS_H
#define SIM_READERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cache_line.h"

enum { READERS_SLOTS = 16, READERS_TRUST = 64 };

struct readers_slot {
    atomic_uint inside;
    char rest[VMM_CACHE_LINE_APART - sizeof(atomic_uint)];
};

struct readers {
    char before[VMM_CACHE_LINE_APART]; /* the machine's lock */
    atomic_bool open;
    unsigned queries; /* since the last change; guarded by the lock */
    char rest[VMM_CACHE_LINE_APART - sizeof(atomic_bool) - sizeof(unsigned)];
    struct readers_slot line[READERS_SLOTS];
};

void readers_init(struct readers *readers);

/* Enters the calling thread's slot and returns it, if the thread may read without the lock; else NULL. */
struct readers_slot *readers_enter(struct readers *readers);
void readers_leave(struct readers_slot *line);

/* With the lock: drains the reader slots. */
void readers_drain(struct readers *readers);

/* With the lock just taken: revokes the bias and drains the slots, which stay empty until the lock is released. */
static inline void readers_revoke(struct readers *readers)
{
    readers->queries = 0;
    if (atomic_load_explicit(&readers->open, memory_order_relaxed))
        readers_drain(readers);
}

/* With the lock, before a caller that changed nothing releases it. */
static inline void readers_count_query(struct readers *readers)
{
    if (++readers->queries >= READERS_TRUST)
        atomic_store_explicit(&readers->open, true, memory_order_release);
}

#endif
