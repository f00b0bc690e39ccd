/* SPDX-License-Identifier: Apache-2.0 */
/* Exercise 2, small blocks out of one large piece: yours to write. suballoc.h is the contract, task.md explains it. */
#include "suballoc.h"

struct suballoc_block {
    uint64_t start, size; /* TODO: whatever you need to know of a block, free or taken */
};

vmm_result suballoc_open(struct suballoc *s, vmm_system *sys, vmm_device device, uint64_t size)
{
    *s = (struct suballoc){.sys = sys, .device = device};
    (void)size; /* TODO: round up to the granularity; create, reserve, map, set access */
    return VMM_ERROR_NOT_SUPPORTED;
}

vmm_result suballoc_take(struct suballoc *s, uint64_t size, uint64_t alignment, vmm_deviceptr *at)
{
    (void)s, (void)size, (void)alignment, (void)at; /* TODO: the first free block in which it fits, cut in up to three */
    return VMM_ERROR_NOT_SUPPORTED;
}

vmm_result suballoc_give(struct suballoc *s, vmm_deviceptr at)
{
    (void)s, (void)at; /* TODO: free again, and one with the free blocks on either side */
    return VMM_ERROR_NOT_SUPPORTED;
}

vmm_result suballoc_close(struct suballoc *s)
{
    (void)s; /* TODO: wait, then what open made, in the opposite order */
    return VMM_ERROR_NOT_SUPPORTED;
}
