/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - what the checks of invariants share.
 *
 *     addrmap_check(map, ...)   NULL: every invariant of its header holds
 *                               "mappings: 3 things are counted, 2 are stored"     else the first that does not, with its values
 *
 * Each module states its invariants in its header and checks them in X_check. A check takes the lock that guards the object,
 * changes nothing that others can see, and requests no memory, so that fault injection counts the same with and without it. It
 * trusts pointers to be NULL or to lead to an object of their kind, and nothing else: counts, indexes, sizes and links may hold
 * any value, and the check still ends.
 *
 * The engine runs checks after its calls (watch.h) where checks_on allows it: always in a debug build (make DEBUG=1), and in
 * other builds once a test or a fuzzer switches it on. Off, it costs a call one load.
 */
#ifndef SIM_CHECKS_H
#define SIM_CHECKS_H

#include <stdatomic.h>

enum { CHECK_ROOM = 400 };

/* A sentence in the calling thread's own room, where the next one replaces it. */
__attribute__((format(printf, 1, 2))) const char *check_say(const char *format, ...);
/* The same sentence with the name of the object before it: "name: said". NULL stays NULL. */
__attribute__((format(printf, 2, 3))) const char *check_in(const char *said, const char *name, ...);

enum checks {
    CHECKS_OFF,
    CHECKS_OWN, /* what this process alone writes */
    CHECKS_ALL  /* and what it shares with other processes: not where a test forges that */
};
extern atomic_uint checks_on;

static inline enum checks checks_wanted(void)
{
    return (enum checks)atomic_load_explicit(&checks_on, memory_order_relaxed);
}

/* A test is about to forge what processes share: it is not checked any more. */
static inline void checks_spare_shared(void)
{
    if (checks_wanted() == CHECKS_ALL)
        atomic_store(&checks_on, CHECKS_OWN);
}

/* Set before the first call, unless checks are off: receives the sentence of a check that failed in place of standard error and
 * abort(). */
extern void (*checks_report)(const char *said);

/* The invariant is broken. said NULL: it is not, and nothing happens. */
void checks_failed(const char *said);

#endif
