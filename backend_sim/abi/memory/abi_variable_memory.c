/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_variable_memory.h"

#include <stdatomic.h>

#include "abi_parts.h"
#include "heap.h"
#include "lifecycle.h"

struct range {
    uint64_t start, size, number;
    struct range *next;
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct range *ranges;
static atomic_uint count; /* most programs have none */
static uint64_t made;     /* variables so far */

bool abi_variable_memory_add(uint64_t start, uint64_t size)
{
    struct range *range = heap.malloc(sizeof *range);
    if (!range)
        return false;
    life_acquire(&lock);
    *range = (struct range){start, size, ++made, ranges};
    ranges = range;
    life_release(&lock);
    atomic_fetch_add(&count, 1);
    /* analysers: memleak is wrong: it is in the list */
    return true;
}

bool abi_variable_memory_drop(uint64_t start)
{
    life_acquire(&lock);
    struct range **link = &ranges;
    while (*link && (*link)->start != start)
        link = &(*link)->next;
    struct range *found = *link;
    if (found)
        *link = found->next;
    life_release(&lock);
    if (found)
        atomic_fetch_sub(&count, 1);
    heap.free(found);
    return found != NULL;
}

/* Copies the range after that many others, if it existed at least until now; returns false if there are no more. */
static bool nth(unsigned n, struct range *copy)
{
    life_acquire(&lock);
    const struct range *range = ranges;
    while (range && n--)
        range = range->next;
    if (range)
        *copy = *range;
    life_release(&lock);
    return range != NULL;
}

void abi_variable_memory_sweep(const vmm_system *sys)
{
    struct range range;
    uint64_t left;
    for (unsigned n = 0; nth(n, &range);)
        if (abi_query_there(sys, range.start, &left) == ABI_QUERY_ALLOCATED && left == range.size)
            n++;
        else
            abi_variable_memory_drop(range.start);
}

/* The variable's number; 0 if there is none. */
static uint64_t number_at(uint64_t address)
{
    if (!atomic_load(&count))
        return 0;
    life_acquire(&lock);
    const struct range *range = ranges;
    while (range && address - range->start >= range->size)
        range = range->next;
    uint64_t number = range ? range->number : 0;
    life_release(&lock);
    return number;
}

bool abi_variable_memory(uint64_t address)
{
    return number_at(address) != 0;
}

bool abi_variable_attribute(CUdeviceptr address, CUpointer_attribute attribute, uint64_t *value)
{
    enum { ABOVE_CALLS = 32 }; /* other memory has the number of the call that made it, which all variables of a module share */
    bool buffer = attribute == CU_POINTER_ATTRIBUTE_BUFFER_ID;
    if (!buffer && attribute != CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE &&
        attribute != CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE &&
        attribute != CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
        return false;
    uint64_t number = number_at(address);
    *value = buffer ? UINT64_C(1) << ABOVE_CALLS | number : 0;
    return number != 0;
}

void abi_variable_memory_close(void)
{
    while (ranges) {
        struct range *next = ranges->next;
        heap.free(ranges);
        ranges = next;
    }
    atomic_store(&count, 0);
}
