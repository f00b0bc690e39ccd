/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h - values that name objects; a stale or forged value is always recognised.
 *
 *   value = [ tag 16 | generation 24 | index 24 ]      never 0
 *           [ tag 8 | generation 8 | index 16 ]        for SLOTS_POINTERS if pointers have 32 bits
 *
 * Each use of a slot gets a new generation; a slot that has used up its generations is retired. The last SLOTS_REMEMBERED ended
 * objects stay readable, so that a message can report what a stale value was, and their slots stay out of use:
 *
 *   freed:       oldest [forgotten, free to use][.... remembered ....] newest
 *
 * The caller does all locking.
 *
 * Invariants (slots_check):
 *     used        = live + freed + retired slots, and used <= room
 *     object      != NULL in a live or remembered slot, NULL in a forgotten one
 *     remembered  = the freed slots from first_remembered on, at most SLOTS_REMEMBERED
 *     generation  from 1 to 2^24 - 1, or 2^8 - 1; the last one in a retired slot, an earlier one in a freed slot
 */
#ifndef SIM_SLOTS_H
#define SIM_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLOTS_REMEMBERED = 256 };

/* Do programs hold the values as 64-bit numbers, or as pointers? */
enum slots_form { SLOTS_NUMBERS, SLOTS_POINTERS };

struct slot {
    void *object;        /* NULL: never used, or forgotten */
    uint32_t generation; /* of the latest use */
    uint32_t next;       /* when free: the slot freed after this one */
    int live;
};

struct slots {
    uint16_t tag; /* unique among tables; for tables of pointers also in its low byte */
    enum slots_form form;
    struct slot *slot;
    uint32_t used, room;
    uint32_t first_free, last_free; /* the list of freed slots, oldest first */
    uint32_t first_remembered;      /* the oldest freed slot that keeps its object */
    uint32_t remembered;            /* the number of remembered slots */
    /* called for each object that is no longer remembered, and for all objects on clear */
    void (*forget)(void *user, void *object);
    void *user;
};

enum slot_state { SLOT_LIVE, SLOT_STALE, SLOT_FORGED };

void slots_init(struct slots *slots, uint16_t tag, enum slots_form form, void (*forget)(void *user, void *object), void *user);
void slots_clear(struct slots *slots); /* forgets every object, including live ones */

/* Makes sure that the next slots_add succeeds, without using up a value; returns false when memory or values are exhausted. */
bool slots_ready(struct slots *slots);
/* Returns a new value for object. Returns 0, and changes nothing, when memory or values are exhausted. */
uint64_t slots_add(struct slots *slots, void *object);
/* Ends the object of a live value. */
void slots_end(struct slots *slots, uint64_t value);

/* Classifies a value. *object: the live object, or the ended one while it is remembered; otherwise NULL. */
enum slot_state slots_find(const struct slots *slots, uint64_t value, void **object);

/* Calls visit for each live object in index order. */
void slots_each(const struct slots *slots, void (*visit)(void *user, void *object), void *user);

const char *slots_check(const struct slots *slots);
/* Checks one value: it must be live, and find this object. */
const char *slots_check_value(const struct slots *slots, uint64_t value, const void *object);
/* The number of objects that the table keeps: live, remembered and retired ones. */
uint32_t slots_kept(const struct slots *slots);

#endif
