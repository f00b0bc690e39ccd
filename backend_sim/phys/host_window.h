/* SPDX-License-Identifier: Apache-2.0 */
/* host_window.h - the host addresses behind a process's device addresses, reserved and inaccessible.
 *
 *   device addresses   [start ....................................................... end)
 *   host addresses     [start .. reserved: access is a SIGSEGV .. backed)   [libraries, stacks, ...]
 *   and                                                      [context, 2 chunks)
 *
 * The window uses the profile's own addresses if the host has enough of them free, so runs are reproducible. If they are taken
 * - by another system of this program, or by a sanitizer - all device addresses move by the same distance to a larger free
 * range, and at most a TiB of them is backed. A limit on the process's address space (ulimit -v, valgrind) leaves fewer to
 * back. Reservations may also use device addresses beyond the backed ones; only the host cannot map anything there.
 */
#ifndef SIM_HOST_WINDOW_H
#define SIM_HOST_WINDOW_H

#include "open_options.h"
#include "profile.h"

struct host_window {
    uint64_t start, end; /* device addresses */
    uint64_t backed;     /* end of the backed ones; start when there are none */
    uint64_t context;    /* of the chunks that the first context opens; 0: none */
    uint64_t context_backed; /* bytes backed there */
};

void host_window_open(struct host_window *window, const struct sim_profile *profile, enum host_window_choice choice);
void host_window_close(struct host_window *window);

/* Are all of these addresses backed? size > 0. */
bool host_window_holds(const struct host_window *window, uint64_t address, uint64_t size);

#endif
