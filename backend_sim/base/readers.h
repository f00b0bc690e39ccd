/* SPDX-License-Identifier: Apache-2.0 */
/* readers.h - those who only ask, beside the machine's lock: they do not wait for each other, nor touch what others touch.
 *
 *   questions       [Q][Q][Q].. -> after READERS_TRUST in a row without a change the door opens
 *   door open       each thread notes itself in a line of its own, looks whether the door is still open, and asks
 *   a change        takes the lock, shuts the door, waits for those inside; from then on all take the lock
 *
 * Whoever takes the lock to change something shuts the door (readers_shut), so who holds it is alone, as ever; also after
 * every wait that let it go meanwhile. Questions that come with the door shut take the lock, shut nothing, and say that
 * they were there (readers_asked). A program that changes things all the time never opens it, and pays one look at a word.
 * Nobody waits inside.
 */
#ifndef SIM_READERS_H
#define SIM_READERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cache_line.h"

enum { READERS_LINES = 16, READERS_TRUST = 64 };

struct readers_line {
    atomic_uint inside;
    char rest[VMM_CACHE_LINE_APART - sizeof(atomic_uint)];
};

struct readers {
    char before[VMM_CACHE_LINE_APART]; /* the machine's lock */
    atomic_bool open;
    unsigned asked; /* questions since the last change; with the lock */
    char rest[VMM_CACHE_LINE_APART - sizeof(atomic_bool) - sizeof(unsigned)];
    struct readers_line line[READERS_LINES];
};

void readers_init(struct readers *readers);

/* The line of the calling thread, in which it is noted now, if it may ask without the lock; else NULL. */
struct readers_line *readers_enter(struct readers *readers);
void readers_leave(struct readers_line *line);

/* With the lock: waits for those inside. */
void readers_wait(struct readers *readers);

/* With the lock, just taken: from now on nobody is inside, until it is given back. */
static inline void readers_shut(struct readers *readers)
{
    readers->asked = 0;
    if (atomic_load_explicit(&readers->open, memory_order_relaxed))
        readers_wait(readers);
}

/* With the lock, of one who changed nothing, before giving it back. */
static inline void readers_asked(struct readers *readers)
{
    if (++readers->asked >= READERS_TRUST)
        atomic_store_explicit(&readers->open, true, memory_order_release);
}

#endif
