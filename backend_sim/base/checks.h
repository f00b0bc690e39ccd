/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - the common part of all invariant checks.
 *
 *     addrmap_check(map, ...)   NULL: every invariant of its header holds
 *                               "mappings: count is 3, but 2 things are stored"     else the first broken one, with its values
 *
 * Each module states its invariants in its header and checks them in X_check. A check takes the lock that guards the object,
 * makes no visible change, and allocates no memory, so fault injection counts the same with and without it. It trusts only that
 * each pointer is NULL or leads to an object of its kind; counts, indexes, sizes and links may hold any value, and the check
 * still terminates.
 *
 * The engine runs checks after its calls (watch.h) where checks_on allows it: always in a debug build (make DEBUG=1), and in
 * other builds once a test or a fuzzer switches it on. When it is off, a call pays for one load.
 */
#ifndef SIM_CHECKS_H
#define SIM_CHECKS_H

#include <stdatomic.h>

enum { CHECK_ROOM = 400 };

/* Formats a sentence into the calling thread's buffer; the next call overwrites it. */
__attribute__((format(printf, 1, 2))) const char *check_say(const char *format, ...);
/* Puts the name of the object before a sentence: "name: said". Returns NULL when said is NULL. */
__attribute__((format(printf, 2, 3))) const char *check_in(const char *said, const char *name, ...);

enum checks {
    CHECKS_OFF,
    CHECKS_OWN, /* state that only this process writes */
    CHECKS_ALL  /* also state that other processes share; off while a test forges that state */
};
extern atomic_uint checks_on;

static inline enum checks checks_wanted(void)
{
    return (enum checks)atomic_load_explicit(&checks_on, memory_order_relaxed);
}

/* Stops checking shared state, for a test that is about to forge it. */
static inline void checks_spare_shared(void)
{
    if (checks_wanted() == CHECKS_ALL)
        atomic_store(&checks_on, CHECKS_OWN);
}

/* Receives the sentence of a failed check instead of standard error and abort(). Set it before the first call, or while checks
 * are off. */
extern void (*checks_report)(const char *said);

/* Reports a broken invariant. Does nothing when said is NULL. */
void checks_failed(const char *said);

#endif
