/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_variable_memory.h"

#include <stdatomic.h>

#include "abi_parts.h"
#include "heap.h"
#include "lifecycle.h"

struct range {
    uint64_t start, size;
    struct range *next;
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct range *ranges;
static atomic_uint count; /* most programs have none */

bool abi_variable_memory_add(uint64_t start, uint64_t size)
{
    struct range *range = heap.malloc(sizeof *range);
    if (!range)
        return false;
    life_acquire(&lock);
    *range = (struct range){start, size, ranges};
    ranges = range;
    life_release(&lock);
    atomic_fetch_add(&count, 1);
    /* analysers: memleak is wrong: it is in the list */
    return true;
}

void abi_variable_memory_drop(uint64_t start)
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
}

bool abi_variable_memory(uint64_t address)
{
    if (!atomic_load(&count))
        return false;
    life_acquire(&lock);
    const struct range *range = ranges;
    while (range && address - range->start >= range->size)
        range = range->next;
    life_release(&lock);
    return range != NULL;
}

bool abi_variable_attribute(CUdeviceptr address, CUpointer_attribute attribute, uint64_t *value)
{
    *value = 0;
    return (attribute == CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE ||
            attribute == CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE ||
            attribute == CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE) &&
           abi_variable_memory(address);
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
