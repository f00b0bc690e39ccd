/* SPDX-License-Identifier: Apache-2.0 */
/* host_window.h - the host's addresses behind a process's device addresses, really taken and not accessible.
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
#ifndef SIM_HOST_WINDOW_H
#define SIM_HOST_WINDOW_H

#include "open_options.h"
#include "profile.h"

struct host_window {
    uint64_t start, end; /* device addresses */
    uint64_t backed;     /* end of the backed ones; start when there are none */
    uint64_t context;    /* of the chunks that a first context opens; 0: none */
    uint64_t context_backed; /* bytes backed there */
};

void host_window_open(struct host_window *window, const struct sim_profile *profile, enum host_window_choice choice);
void host_window_close(struct host_window *window);

/* Are all of these addresses backed? size > 0. */
bool host_window_holds(const struct host_window *window, uint64_t address, uint64_t size);

#endif
