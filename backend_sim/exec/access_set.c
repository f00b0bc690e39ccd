/* SPDX-License-Identifier: Apache-2.0 */
#include "access_set.h"

#include <stdlib.h>

#include "dry_run.h"
#include "heap.h"
#include "mem_op.h"
#include "pool_policy.h"
#include "translate.h"
#include "twin.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

/* A dry run of a kernel's twin, and where it records the kernel's accesses. */
struct dry {
    struct twin_memory memory; /* first: the twin passes this pointer back */
    const struct sim_process *process;
    int device;
    uint64_t unit;
    struct access_set *set;
    bool out_of_memory;
};

/* The unit of mappings: every mapping starts and ends at a multiple of it. So does every allocation, if there are pools. */
static uint64_t mapping_unit(const struct sim_process *process)
{
    if (process->chunks.count)
        return POOL_UNIT;
    uint64_t unit = process->machine->profile.va_granularity;
    for (int type = VMM_MEM_LOCATION_TYPE_DEVICE; type <= VMM_MEM_LOCATION_TYPE_HOST; type++) {
        uint64_t other = sim_granularity(process, type, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
        unit = other < unit ? other : unit;
    }
    return unit;
}

static int by_need_and_address(const void *left, const void *right)
{
    const struct access_set_range *a = left, *b = right;
    if (a->need != b->need)
        return a->need < b->need ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

static bool joins(const struct access_set_range *range, const struct access_set_range *next)
{
    return range->need == next->need && (next->first <= range->last || next->first - range->last == 1);
}

/* Sorts the ranges and joins those that touch. */
static void settle(struct access_set *set)
{
    size_t kept = 0;
    if (!set->count)
        return;
    qsort(set->range, set->count, sizeof *set->range, by_need_and_address);
    for (size_t i = 1; i < set->count; i++) {
        struct access_set_range *range = &set->range[kept], *next = &set->range[i];
        if (!joins(range, next))
            set->range[++kept] = *next;
        else if (next->last > range->last)
            range->last = next->last;
    }
    set->count = kept + 1;
}

/* Makes room for one more range. Joins adjacent ranges before it allocates more memory. */
static bool make_room(struct access_set *set)
{
    if (set->count < set->room)
        return true;
    settle(set);
    if (set->room && set->count <= set->room / 2)
        return true;
    struct access_set_range *range = heap_grow(set->range, &set->room, 16, sizeof *range);
    if (!range)
        return false;
    set->range = range;
    return true;
}

static bool note(struct access_set *set, uint64_t unit, uint64_t address, uint64_t size, unsigned need)
{
    uint64_t end = size > UINT64_MAX - address ? UINT64_MAX : address + size - 1;
    struct access_set_range range = {address - address % unit, end - end % unit + (unit - 1), need};
    struct access_set_range *last = set->count ? &set->range[set->count - 1] : NULL;
    if (last && last->need == need && last->first <= range.first && range.last <= last->last)
        return true;
    if (!make_room(set))
        return false;
    set->range[set->count++] = range;
    return true;
}

static bool dry_access(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                       unsigned char **bytes)
{
    struct dry *dry = (struct dry *)memory;
    struct translate_run there;
    unsigned need = translate_need(use);
    *bytes = NULL;
    if (!translate_may(dry->process, dry->device, address, width, *size, need, &there)) {
        dry->set->complete = false;
        return false;
    }
    *size = there.length;
    if (memory->fleeting) { /* a PTX kernel, which reads memory as it is and may continue to the end of the unit */
        const uint64_t rest = dry->unit - address % dry->unit;
        *size = *size < rest ? *size : rest;
        *bytes = block_data_run(&there.block->bytes, there.offset, size);
    }
    dry->out_of_memory = !note(dry->set, dry->unit, address, *size, need);
    return !dry->out_of_memory;
}

static bool dry_access_all(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                           unsigned char *bytes[TWIN_REPLICAS], unsigned *count)
{
    struct dry *dry = (struct dry *)memory;
    struct translate_replicas all;
    unsigned need = translate_need(use);
    (void)bytes;
    *count = 0;
    if (translate_multimem(dry->process, dry->device, address, width, need, &all) != TRANSLATE_MULTIMEM_DONE) {
        dry->set->complete = false;
        return false;
    }
    dry->out_of_memory = !note(dry->set, dry->unit, address, width, need);
    return !dry->out_of_memory;
}

/* A PTX kernel did not run to its end. */
static void dry_end(struct twin_memory *memory, const struct twin_end *end)
{
    (void)end;
    ((struct dry *)memory)->set->complete = false;
}

/* Registered memory belongs to no mapping, so recording it does no harm. */
static bool note_mem_ops(struct access_set *set, uint64_t unit, const struct vmm_call *call)
{
    struct mem_ops ops;
    bool ok = true;
    mem_op_list(call, &ops);
    for (uint64_t i = 0; i < ops.count && ok; i++) {
        const unsigned width = mem_op_width(ops.op[i].operation);
        ok = !width || note(set, unit, ops.op[i].wait_value.address, width, mem_op_waits(ops.op[i].operation) ? READ : RW);
    }
    return ok;
}

bool access_set_by(struct access_set *set, const struct sim_process *process, const struct queue_place *place,
                   const struct vmm_call *call)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    uint64_t unit = mapping_unit(process);
    bool ok = true;
    *set = (struct access_set){.complete = true};
    switch ((enum vmm_call_id)call->id) {
    case VMM_CALL_launch: {
        struct dry dry = {.memory = {.run = dry_access, .replicas = dry_access_all, .ended = dry_end, .dry = true},
                          .process = process, .device = place->device, .unit = unit, .set = set};
        dry_run(process, place, &dry.memory, &any->launch);
        ok = !dry.out_of_memory;
        break;
    }
    case VMM_CALL_memcpy_htod_async:
        ok = note(set, unit, any->memcpy_htod_async.dst, any->memcpy_htod_async.byte_count, RW);
        break;
    case VMM_CALL_memcpy_dtod_async:
        ok = note(set, unit, any->memcpy_dtod_async.dst, any->memcpy_dtod_async.byte_count, RW) &&
             note(set, unit, any->memcpy_dtod_async.src, any->memcpy_dtod_async.byte_count, READ);
        break;
    case VMM_CALL_memset_d8_async:
        ok = note(set, unit, any->memset_d8_async.dst, any->memset_d8_async.n, RW);
        break;
    case VMM_CALL_memset_d16_async:
        ok = note(set, unit, any->memset_d16_async.dst, 2 * any->memset_d16_async.n, RW);
        break;
    case VMM_CALL_memset_d32_async:
        ok = note(set, unit, any->memset_d32_async.dst, 4 * any->memset_d32_async.n, RW);
        break;
    default:
        ok = !mem_op_is((enum vmm_call_id)call->id) || note_mem_ops(set, unit, call);
        break;
    }
    settle(set);
    return ok;
}

const struct access_set_range *access_set_in(const struct access_set *set, uint64_t start, uint64_t size, unsigned need)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct access_set_range *range = &set->range[i];
        if ((range->need & need) && range->last >= start && (range->first < start || range->first - start < size))
            return range;
    }
    return NULL;
}

void access_set_clear(struct access_set *set)
{
    heap.free(set->range);
    *set = (struct access_set){.complete = true};
}
