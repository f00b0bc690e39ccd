/* SPDX-License-Identifier: Apache-2.0 */
/* Exercise 3, pages on demand for many sequences, to be written by you. kvcache.h is the contract, task.md explains it. */
#include "kvcache.h"

struct kvcache_state {
    unsigned pages; /* TODO: the data that you need: the handle of each page, its number of users, the pages of a sequence */
};

vmm_result kvcache_open(struct kvcache *k, vmm_system *sys, vmm_device device, unsigned sequences, unsigned most,
                        unsigned budget)
{
    *k = (struct kvcache){.sys = sys, .device = device, .sequences = sequences, .most = most, .budget = budget};
    return VMM_ERROR_NOT_SUPPORTED; /* TODO: ask for the granularity, reserve addresses for all sequences */
}

vmm_result kvcache_grow(struct kvcache *k, unsigned sequence, uint64_t bytes)
{
    (void)k, (void)sequence, (void)bytes; /* TODO: for each missing page: take a free one or create one, map, set access */
    return VMM_ERROR_NOT_SUPPORTED;
}

vmm_result kvcache_share(struct kvcache *k, unsigned from, unsigned to, unsigned pages)
{
    (void)k, (void)from, (void)to, (void)pages; /* TODO: map the same handles again, read-only */
    return VMM_ERROR_NOT_SUPPORTED;
}

vmm_result kvcache_drop(struct kvcache *k, unsigned sequence)
{
    (void)k, (void)sequence; /* TODO: wait, unmap; a page without users is free */
    return VMM_ERROR_NOT_SUPPORTED;
}

vmm_result kvcache_trim(struct kvcache *k)
{
    (void)k; /* TODO: release the handles of free pages */
    return VMM_ERROR_NOT_SUPPORTED;
}

vmm_result kvcache_close(struct kvcache *k)
{
    (void)k; /* TODO: wait, then undo everything in the opposite order */
    return VMM_ERROR_NOT_SUPPORTED;
}
