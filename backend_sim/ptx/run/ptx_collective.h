/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_collective.h - steps that lanes of a warp make together: shuffles, votes, matches, reductions, .warp.sync.
 *
 *     split A [0-15]   shfl.sync mask ffffffff    waits: 16-31 are to come
 *     split B [16-31]  shfl.sync mask ffffffff    all are there: the step is made for both, each goes on where it was
 *
 * Lanes that give different masks in one step are different groups. A lane that has exited is not waited for.
 */
#ifndef PTX_COLLECTIVE_H
#define PTX_COLLECTIVE_H

#include "ptx_warp.h"

/* The step for lanes of s. False: others are to run, since some of them wait or have gone on without the others. */
bool ptx_collective(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes);

/* After lanes have exited: some that waited may be complete. */
void ptx_collective_look(struct ptx_warp *warp);

#endif
