/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.h - the shortest script that still shows a difference.
 *
 *   before: 1,873 steps, differ at the last      after: 4 steps, differ at the last
 *
 * Delta debugging: drops chunks of halving length while the rest still differs, then simplifies arguments. Steps refer
 * to each other by name, so the rest stays meaningful.
 */
#ifndef CUVMM_SHRINK_H
#define CUVMM_SHRINK_H

#include "lockstep.h"

/* Does a script show the difference? *length becomes how many of its steps are needed. */
typedef bool (*shrink_fn)(void *user, const struct script *script, size_t *length);

/* Shrinks script in place. Returns the number of calls of still_wrong. script itself must be wrong. */
size_t shrink(struct script *script, shrink_fn still_wrong, void *user);

#endif
