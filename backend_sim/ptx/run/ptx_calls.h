/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_calls.h - frames, calls of routines and of the driver's own functions.
 *
 *     frame of the caller   [ registers ]   local memory [ ... arguments ... result ]
 *     frame of the callee   [ registers ]   local memory                             [ parameters, result, variables ]
 *
 * Arguments are copied from the caller's local memory to the callee's, and results back when lanes return.
 */
#ifndef PTX_CALLS_H
#define PTX_CALLS_H

#include "ptx_block.h"

/* NULL: memory is exhausted. */
struct ptx_frame *ptx_frame_open(struct ptx_warp *warp, uint32_t routine, struct ptx_frame *parent);
void ptx_frame_close(struct ptx_warp *warp, struct ptx_frame *frame);

void ptx_call(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes);
void ptx_return(struct ptx_warp *warp, struct ptx_split *s, uint32_t lanes);

/* Splits off lanes of s, which continue at a step of the same frame. */
struct ptx_split *ptx_warp_part(struct ptx_warp *warp, struct ptx_split *s, uint32_t lanes, uint32_t step);

/* For a reduction at a barrier. */
void ptx_barrier_vote(struct ptx_barrier *barrier, uint32_t truth, uint32_t lanes);

/* vprintf(format, arguments) of one lane, and the message of __assertfail. False: the lane has no right to read an address. */
bool ptx_print(struct ptx_warp *warp, unsigned lane, uint64_t format, uint64_t arguments, uint32_t *printed);
bool ptx_read_string(struct ptx_warp *warp, unsigned lane, uint64_t at, char *text, size_t size);

#endif
