/* SPDX-License-Identifier: Apache-2.0 */
/* growth.h - finds a growing leak in a program that never frees everything: compares what the program holds at a mark, by kind
 * and place, with what it held at earlier marks with the same text.
 *
 *     mark "step"              1    2    3    4    5    6    7    8
 *     handles of cuMemCreate   4    6    5    6    4    6    5    6     comes and goes: no finding
 *     events of cuEventCreate  1    2    3    4                         grew at 3 marks in a row: VMM-LEAK-GROWS
 *     handles of another place 1    1    2    2    3    3    4    4     the least of each two marks, 1 2 3 4 .. grows
 *
 * A group is all objects of one kind that one place in the program (or, without stacks, one call) made: handles, mappings,
 * reservations, allocations, whatever else a system enumerates, and open descriptors of device memory. Its count and its bytes
 * are compared: at each mark, and, for leaks slower than one per mark, by the minimum over 2, 4, 8, ... marks, which ignores
 * objects that come and go. A group that grew `steps` times in a row is reported once, with how much it grows.
 *
 * A mark is compared only with marks of the same text, so a new text after a program's warm-up starts afresh.
 * If the program sets no marks, growth_calls sets one at intervals of calls; because a program also grows while it loads, such
 * growth is reported only at the end, and only if it continued through the second half of the run.
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

/* The program reached a mark: compares what the system holds, and reports what grew. Any thread; one at a time, the caller
 * holds no lock. Costs a look at every object. */
void growth_mark(struct growth *growth, vmm_system *sys, const char *mark, vmm_report_fn report, void *user);

/* A call of the program has ended: sets a mark if one is due, every GROWTH_CALLS calls, or after as many calls as there are
 * objects. One load and store otherwise. */
void growth_call(struct growth *growth, vmm_system *sys);

/* The program ends: reports what grew at the marks of growth_call. */
void growth_end(struct growth *growth, vmm_report_fn report, void *user);

#endif
