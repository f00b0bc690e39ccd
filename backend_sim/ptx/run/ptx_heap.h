/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_heap.h - malloc and free of device code.
 *
 *     the program's last variable   [ size | next | failed | - ][ bytes, state | a block ][ bytes, state | a block ] ...
 *
 * The heap and its words lie in the launch's memory: what a dry run allocates ends with its overlay, and what a kernel writes
 * behind a block damages the heap, as on a device. Memory that was never allocated reads as zeros: a block of 0 bytes is all that
 * is left.
 */
#ifndef PTX_HEAP_H
#define PTX_HEAP_H

#include "ptx_block.h"

/* The address of a new block, a multiple of 16; 0 where the heap has no room. The launch may end, as it does by an access. */
uint64_t ptx_heap_malloc(struct ptx_warp *warp, unsigned lane, uint64_t size);

/* 0 is fine. The launch ends where no block begins, or one that is free already. */
void ptx_heap_free(struct ptx_warp *warp, unsigned lane, uint64_t address);

#endif
