/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - the host's addresses behind a process's device addresses, really taken and not accessible.
 *
 *   device addresses   [start ....................................................... end)
 *   of the host        [start .. taken, a touch is a SIGSEGV .. backed)   [libraries, stacks, ...]
 *   and                                                      [context, 2 chunks)
 *
 * The profile's own addresses are used where the host has enough of them free, so runs repeat. Where it has not -
 * another system of this program has them, or a sanitizer - the device addresses move to where there is more room, all
 * by the same distance, and at most a TiB of them is backed. Where a process may have only little (ulimit -v, valgrind)
 * fewer are. Device addresses beyond are dealt out all the same; the host just cannot be given anything to see there.
 */
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include "open_options.h"
#include "profile.h"

struct arena {
    uint64_t start, end; /* device addresses */
    uint64_t backed;     /* end of the backed ones; start when there are none */
    uint64_t context;    /* of the chunks that a first context opens; 0: none */
    uint64_t context_backed; /* bytes backed there */
};

void arena_open(struct arena *arena, const struct sim_profile *profile, enum arena_choice choice);
void arena_close(struct arena *arena);

/* Are all of these addresses backed? size > 0. */
bool arena_holds(const struct arena *arena, uint64_t address, uint64_t size);

#endif
