/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.h - the shortest script that still shows a difference.
 *
 *   before: 1,873 steps, differ at the last      after: 4 steps, differ at the last
 *
 * Delta debugging: chunks of halving length are left out as long as what remains still differs, then arguments are
 * made plainer. Steps refer to each other by name, so what remains still means something.
 */
#ifndef CUVMM_SHRINK_H
#define CUVMM_SHRINK_H

#include "lockstep.h"

/* Whether a script shows what is looked for; *length becomes how many of its steps are needed. */
typedef bool (*shrink_fn)(void *user, const struct script *script, size_t *length);

/* Shrinks script in place. Returns how often still_wrong was asked. script itself must be wrong. */
size_t shrink(struct script *script, shrink_fn still_wrong, void *user);

#endif
