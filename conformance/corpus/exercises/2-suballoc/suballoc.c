/* SPDX-License-Identifier: Apache-2.0 */
/* Exercise 2, small blocks out of one large piece, to be written by you. suballoc.h is the contract, task.md explains it. */
#include "suballoc.h"

struct suballoc_block {
    uint64_t start, size; /* TODO: the data that you need for a block, free or allocated */
};

vmm_result suballoc_open(struct suballoc *s, vmm_system *sys, vmm_device device, uint64_t size)
{
    *s = (struct suballoc){.sys = sys, .device = device};
    (void)size; /* TODO: round up to the granularity; create, reserve, map, set access */
    return VMM_ERROR_NOT_SUPPORTED;
}

vmm_result suballoc_take(struct suballoc *s, uint64_t size, uint64_t alignment, vmm_deviceptr *at)
{
    (void)s, (void)size, (void)alignment, (void)at; /* TODO: the first free block that is large enough, split into up to three */
    return VMM_ERROR_NOT_SUPPORTED;
}

vmm_result suballoc_give(struct suballoc *s, vmm_deviceptr at)
{
    (void)s, (void)at; /* TODO: mark it free, and merge it with the free blocks on either side */
    return VMM_ERROR_NOT_SUPPORTED;
}

vmm_result suballoc_close(struct suballoc *s)
{
    (void)s; /* TODO: wait, then undo what open did, in the opposite order */
    return VMM_ERROR_NOT_SUPPORTED;
}
