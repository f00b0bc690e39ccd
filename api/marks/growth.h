/* SPDX-License-Identifier: Apache-2.0 */
/* growth.h - finds the leak that grows in a program which never gives everything back: what it holds at a mark, by kind and place,
 * beside what it held at earlier marks of the same text.
 *
 *     mark "step"              1    2    3    4    5    6    7    8
 *     handles of cuMemCreate   4    6    5    6    4    6    5    6     comes and goes: no finding
 *     events of cuEventCreate  1    2    3    4                         grew at 3 marks in a row: VMM-LEAK-GROWS
 *     handles of another place 1    1    2    2    3    3    4    4     the least of each two marks, 1 2 3 4 .. grows
 *
 * A group is what one place of the program (or, without stacks, one call) made of one kind: handles, mappings, reservations,
 * allocations and the rest that a system enumerates, and open descriptors of device memory. Its count and its bytes are compared:
 * at each mark, and for leaks that are slower than one a mark by the least value of 2, 4, 8, ... marks, which does not see what
 * comes and goes. A group that grew `steps` times in a row is reported once, with how much it grows.
 *
 * Marks of different texts are compared with their own kind alone, so a mark behind the warm-up of a program begins anew.
 * Without marks in the program growth_calls sets one of its own each so many calls; since a program that is only loading grows too,
 * such growth is reported at the end, when it went on for the second half of the run.
 */
#ifndef CUVMM_GROWTH_H
#define CUVMM_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm.h"

enum { GROWTH_STEPS = 3, GROWTH_STEPS_OWN = 6, GROWTH_CALLS = 1000, GROWTH_SCALES = 20 };

struct growth;

/* steps: how many marks in a row, at least 2. NULL when memory is out. */
struct growth *growth_new(unsigned steps);
void growth_free(struct growth *growth);

/* The program is at a mark: looks at what the system holds, and reports what grew. Any thread; one at a time, the caller holds no
 * lock. Costs a look at every object. */
void growth_mark(struct growth *growth, vmm_system *sys, const char *mark, vmm_report_fn report, void *user);

/* A call of the program has ended: sets a mark of its own where one is due, each GROWTH_CALLS calls, or when as many calls were made
 * as there are objects. One load and store otherwise. */
void growth_call(struct growth *growth, vmm_system *sys);

/* The program ends: reports what grew at the marks of growth_call. */
void growth_end(struct growth *growth, vmm_report_fn report, void *user);

#endif
