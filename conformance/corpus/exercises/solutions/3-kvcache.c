/* SPDX-License-Identifier: Apache-2.0 */
/* Exercise 3, solved: a page keeps its handle as long as it exists, so that it can be mapped again, and counts its users. */
#include "kvcache.h"

#include <stdlib.h>

struct page {
    vmm_mem_generic_allocation_handle memory; /* 0: the page does not exist */
    unsigned users;                           /* the number of sequences that use it; 0: it is free */
};

struct kvcache_state {
    struct page *pages; /* budget of them */
    unsigned *table;    /* sequences * most: the page at each position */
    unsigned *length;   /* pages of each sequence */
};

static vmm_mem_allocation_prop prop_of(const struct kvcache *k)
{
    return (vmm_mem_allocation_prop){.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                     .location = {VMM_MEM_LOCATION_TYPE_DEVICE, k->device}};
}

static uint64_t room(const struct kvcache *k)
{
    return (uint64_t)k->sequences * k->most * k->unit;
}

static vmm_deviceptr place(const struct kvcache *k, unsigned sequence, unsigned page)
{
    return k->at + ((uint64_t)sequence * k->most + page) * k->unit;
}

static unsigned *entry(const struct kvcache *k, unsigned sequence, unsigned page)
{
    return &k->state->table[(size_t)sequence * k->most + page];
}

static void free_state(struct kvcache *k)
{
    if (k->state) {
        free(k->state->pages);
        free(k->state->table);
        free(k->state->length);
    }
    free(k->state);
    k->state = NULL;
}

static vmm_result make_state(struct kvcache *k)
{
    k->state = calloc(1, sizeof *k->state);
    if (!k->state)
        return VMM_ERROR_OUT_OF_MEMORY;
    k->state->pages = calloc(k->budget, sizeof *k->state->pages);
    k->state->table = calloc((size_t)k->sequences * k->most, sizeof *k->state->table);
    k->state->length = calloc(k->sequences, sizeof *k->state->length);
    return k->state->pages && k->state->table && k->state->length ? VMM_SUCCESS : VMM_ERROR_OUT_OF_MEMORY;
}

vmm_result kvcache_open(struct kvcache *k, vmm_system *sys, vmm_device device, unsigned sequences, unsigned most,
                        unsigned budget)
{
    *k = (struct kvcache){.sys = sys, .device = device, .sequences = sequences, .most = most, .budget = budget};
    const vmm_mem_allocation_prop prop = prop_of(k);
    vmm_result result = vmm_mem_get_allocation_granularity(sys, &k->unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result == VMM_SUCCESS)
        result = make_state(k);
    if (result == VMM_SUCCESS)
        result = vmm_mem_address_reserve(sys, &k->at, room(k), 0, 0, 0);
    if (result != VMM_SUCCESS)
        free_state(k);
    return result;
}

/* A free page: an existing one, else a new one. */
static vmm_result find_page(struct kvcache *k, unsigned *found)
{
    const vmm_mem_allocation_prop prop = prop_of(k);
    unsigned none = k->budget;
    for (unsigned i = 0; i < k->budget; i++) {
        const struct page *page = &k->state->pages[i];
        if (page->memory && !page->users) {
            *found = i;
            return VMM_SUCCESS;
        }
        if (!page->memory && none == k->budget)
            none = i;
    }
    *found = none;
    return none == k->budget ? VMM_ERROR_OUT_OF_MEMORY
                             : vmm_mem_create(k->sys, &k->state->pages[none].memory, k->unit, &prop, 0);
}

/* Appends the page to the sequence; on failure nothing has changed. */
static vmm_result add_page(struct kvcache *k, unsigned sequence, unsigned page, vmm_mem_access_flags rights)
{
    const unsigned length = k->state->length[sequence];
    const vmm_deviceptr at = place(k, sequence, length);
    const vmm_mem_access_desc access = {{VMM_MEM_LOCATION_TYPE_DEVICE, k->device}, rights};
    vmm_result result = vmm_mem_map(k->sys, at, k->unit, 0, k->state->pages[page].memory, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_mem_set_access(k->sys, at, k->unit, &access, 1);
    if (result != VMM_SUCCESS) {
        vmm_mem_unmap(k->sys, at, k->unit);
        return result;
    }
    k->state->pages[page].users++;
    *entry(k, sequence, length) = page;
    k->state->length[sequence] = length + 1;
    return VMM_SUCCESS;
}

/* Removes the pages from length on. */
static vmm_result cut_to(struct kvcache *k, unsigned sequence, unsigned length)
{
    const unsigned before = k->state->length[sequence];
    if (length >= before)
        return VMM_SUCCESS;
    vmm_result result = vmm_mem_unmap(k->sys, place(k, sequence, length), (before - length) * k->unit);
    if (result != VMM_SUCCESS)
        return result;
    for (unsigned i = length; i < before; i++)
        k->state->pages[*entry(k, sequence, i)].users--;
    k->state->length[sequence] = length;
    return VMM_SUCCESS;
}

vmm_result kvcache_grow(struct kvcache *k, unsigned sequence, uint64_t bytes)
{
    unsigned page;
    if (sequence >= k->sequences || bytes > k->most * k->unit)
        return VMM_ERROR_INVALID_VALUE;
    const unsigned before = k->state->length[sequence];
    while (k->state->length[sequence] * k->unit < bytes) {
        vmm_result result = find_page(k, &page);
        if (result == VMM_SUCCESS)
            result = add_page(k, sequence, page, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
        if (result != VMM_SUCCESS) {
            cut_to(k, sequence, before);
            return result;
        }
    }
    return VMM_SUCCESS;
}

vmm_result kvcache_share(struct kvcache *k, unsigned from, unsigned to, unsigned pages)
{
    if (from >= k->sequences || to >= k->sequences || from == to || pages > k->state->length[from] || k->state->length[to])
        return VMM_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < pages; i++) {
        vmm_result result = add_page(k, to, *entry(k, from, i), VMM_MEM_ACCESS_FLAGS_PROT_READ);
        if (result != VMM_SUCCESS) {
            cut_to(k, to, 0);
            return result;
        }
    }
    return VMM_SUCCESS;
}

vmm_result kvcache_drop(struct kvcache *k, unsigned sequence)
{
    if (sequence >= k->sequences)
        return VMM_ERROR_INVALID_VALUE;
    vmm_result result = vmm_ctx_synchronize(k->sys);
    return result == VMM_SUCCESS ? cut_to(k, sequence, 0) : result;
}

vmm_result kvcache_trim(struct kvcache *k)
{
    for (unsigned i = 0; i < k->budget; i++) {
        struct page *page = &k->state->pages[i];
        if (!page->memory || page->users)
            continue;
        vmm_result result = vmm_mem_release(k->sys, page->memory);
        if (result != VMM_SUCCESS)
            return result;
        page->memory = 0;
    }
    return VMM_SUCCESS;
}

vmm_result kvcache_close(struct kvcache *k)
{
    vmm_result first = vmm_ctx_synchronize(k->sys);
    for (unsigned sequence = 0; sequence < k->sequences; sequence++) {
        vmm_result cut = cut_to(k, sequence, 0);
        first = first != VMM_SUCCESS ? first : cut;
    }
    vmm_result trimmed = kvcache_trim(k), freed = vmm_mem_address_free(k->sys, k->at, room(k));
    free_state(k);
    return first != VMM_SUCCESS ? first : trimmed != VMM_SUCCESS ? trimmed : freed;
}
