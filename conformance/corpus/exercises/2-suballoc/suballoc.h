/* SPDX-License-Identifier: Apache-2.0 */
/* suballoc.h - many small blocks out of one large piece of device memory. Exercise 2; task.md says what to do.
 *
 *     open, 5 units       [ .............................. ]    one piece of memory, mapped; from now on no call of the driver
 *     take 100, 256       [AAA ...........................]     A at a multiple of 256
 *     take 1000, 1        [AAA BBBBBBBB ..................]
 *     give A, take 5000   [... BBBBBBBB CCCCCCCCCCCCCC ...]
 *     give B              [............ CCCCCCCCCCCCCC ...]     what is free and side by side is one again
 */
#ifndef EXERCISE_SUBALLOC_H
#define EXERCISE_SUBALLOC_H

#include <cuvmm/vmm.h>

struct suballoc_block; /* yours */

struct suballoc {
    vmm_system *sys;
    vmm_device device;
    vmm_deviceptr at;  /* the first byte */
    uint64_t unit;     /* the minimum granularity */
    uint64_t size;     /* of all blocks together: the requested size, rounded up to whole units */
    struct suballoc_block *blocks; /* yours, on the host: the host cannot write to device memory */
};

/* A pool of at least size bytes (more than 0) on device; only device has access to them. One piece of memory, one mapping.
 * On failure: the driver's result, or VMM_ERROR_OUT_OF_MEMORY if the host has no memory; nothing is left behind. */
vmm_result suballoc_open(struct suballoc *s, vmm_system *sys, vmm_device device, uint64_t size);

/* A block of size bytes whose address is a multiple of alignment, in *at. Makes no driver call. VMM_ERROR_INVALID_VALUE:
 * size is 0, alignment is not a power of two or is above the minimum granularity. VMM_ERROR_OUT_OF_MEMORY: there is no
 * free range for it; *at is then unchanged. It succeeds whenever there is one. */
vmm_result suballoc_take(struct suballoc *s, uint64_t size, uint64_t alignment, vmm_deviceptr *at);

/* Frees a block. Makes no driver call.
 * VMM_ERROR_INVALID_VALUE: at is not the first byte of an allocated block; nothing is changed. */
vmm_result suballoc_give(struct suballoc *s, vmm_deviceptr at);

/* Waits for work in flight and frees everything, including allocated blocks and host memory, even if waiting fails.
 * Returns the first result that is not VMM_SUCCESS. */
vmm_result suballoc_close(struct suballoc *s);

#endif
