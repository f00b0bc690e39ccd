/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_collective.h - steps that lanes of a warp execute together: shuffles, votes, matches, reductions, .warp.sync.
 *
 *     split A [0-15]   shfl.sync mask ffffffff    waits: 16-31 are missing
 *     split B [16-31]  shfl.sync mask ffffffff    all have arrived: the step runs for both, each continues at its position
 *
 * Lanes with different masks in the same step form different groups. Lanes that have exited are not waited for.
 */
#ifndef PTX_COLLECTIVE_H
#define PTX_COLLECTIVE_H

#include "ptx_warp.h"

/* The step for lanes of s. False: other lanes must run first, because some lanes wait, or were split off. */
bool ptx_collective(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes);

/* After lanes have exited: a group that waited may now be complete. */
void ptx_collective_look(struct ptx_warp *warp);

#endif
