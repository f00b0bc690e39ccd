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
    uint64_t size;     /* of all blocks together: what was asked for, rounded up to whole units */
    struct suballoc_block *blocks; /* yours, on the host: the host cannot write to device memory */
};

/* A pool of at least size bytes (more than 0) on device, which alone may read and write them. One piece of memory, one
 * mapping. On failure: the driver's result, or VMM_ERROR_OUT_OF_MEMORY where the host has none; nothing is left behind. */
vmm_result suballoc_open(struct suballoc *s, vmm_system *sys, vmm_device device, uint64_t size);

/* A block of size bytes whose address is a multiple of alignment, in *at. Makes no call of the driver.
 * VMM_ERROR_INVALID_VALUE: size is 0, alignment is not a power of two or is above the minimum granularity.
 * VMM_ERROR_OUT_OF_MEMORY: no such block is free; there always is one where a place for it is. *at is then untouched. */
vmm_result suballoc_take(struct suballoc *s, uint64_t size, uint64_t alignment, vmm_deviceptr *at);

/* Gives a block back. Makes no call of the driver.
 * VMM_ERROR_INVALID_VALUE: at is not the first byte of a block that is taken; nothing is changed. */
vmm_result suballoc_give(struct suballoc *s, vmm_deviceptr at);

/* Waits for work in flight and gives everything back, blocks that are still taken and the host's memory as well, also when
 * waiting fails. Returns the first result that is not VMM_SUCCESS. */
vmm_result suballoc_close(struct suballoc *s);

#endif
