/* SPDX-License-Identifier: Apache-2.0 */
/* model_address.c - reservations and mappings. */
#include <string.h>

#include "model_edges.h"
#include "model_managed.h"

#define INVALID VMM_ERROR_INVALID_VALUE

static bool power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

/* The part of a range below 2^64. */
static uint64_t in_space(uint64_t start, uint64_t size)
{
    return size > UINT64_MAX - start ? UINT64_MAX - start : size;
}

/* ---- reserve ---- */

static bool reserve_allowed(const struct model *m, const struct vmm_call_mem_address_reserve *c,
                            struct model_answer *a)
{
    if (!c->ptr)
        return model_refuse(a, INVALID, "VMM-RESERVE-NULL-PTR");
    if (c->flags)
        return model_refuse(a, INVALID, "VMM-RESERVE-FLAGS");
    if (!c->size)
        return model_refuse(a, INVALID, "VMM-RESERVE-SIZE-ZERO");
    if (c->size % m->profile->va_granularity)
        return model_refuse(a, INVALID, "VMM-RESERVE-SIZE-GRANULARITY");
    if (c->alignment && !power_of_two(c->alignment))
        return model_refuse(a, INVALID, "VMM-RESERVE-ALIGNMENT-POWER");
    if (c->alignment > (uint64_t)1 << 57)
        return model_refuse(a, INVALID, "VMM-RESERVE-ALIGNMENT-LIMIT");
    if (c->addr % m->profile->va_granularity)
        return model_refuse(a, INVALID, "VMM-RESERVE-HINT-GRANULARITY");
    if (c->alignment && c->addr % c->alignment)
        return model_refuse(a, INVALID, "VMM-RESERVE-HINT-ALIGNMENT");
    if (c->addr >= m->profile->va_hint_max)
        return model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-RESERVE-HINT-LIMIT");
    return true;
}

/* ---- where a driver reserves: it knows what else is in the process, the model does not ---- */

/* Does it depend on other memory whether a driver finds room? */
static bool room_unsure(const struct vmm_call_mem_address_reserve *c)
{
    const uint64_t far = (uint64_t)1 << 40;
    return c->size >= far || c->alignment >= far || c->addr >= far;
}

static bool reserved_by_us(const struct model *m, uint64_t start, uint64_t size)
{
    for (size_t i = 0; i < m->reservation_count; i++)
        if (model_overlap(start, size, m->reservations[i].start, m->reservations[i].size))
            return true;
    return false;
}

/* The correct address, given the driver's answer: the driver's own choice where that is possible. */
static uint64_t driver_place(struct model *m, const struct vmm_call_mem_address_reserve *c, struct model_answer *a,
                             uint64_t start)
{
    uint64_t unit = m->profile->va_granularity, got = *c->ptr;
    m->placed += a->actual == VMM_SUCCESS;
    if (a->actual == VMM_ERROR_OUT_OF_MEMORY && room_unsure(c)) {
        m->strayed += start != 0;
        return 0;
    }
    if (a->actual != VMM_SUCCESS || got == start)
        return start;
    m->strayed++; /* earlier reservations decide, which the model does not know */
    model_expect(a, "ptr is 0", got == 0, false);
    model_expect(a, "ptr beyond its unit", got % (c->alignment > unit ? c->alignment : unit), 0);
    model_expect(a, "ptr leaves the address space", !model_fits(got, c->size, m->profile->va_hint_max), false);
    model_expect(a, "ptr meets another reservation", reserved_by_us(m, got, c->size), false);
    return got;
}

MODEL_ON(mem_address_reserve)
{
    if (!reserve_allowed(m, c, a))
        return;
    uint64_t start = model_place(m, c->size, c->alignment, c->addr);
    if (m->driver)
        start = driver_place(m, c, a, start);
    if (!start) {
        model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-RESERVE-SPACE");
        return;
    }
    if (c->addr && start != c->addr)
        model_hazard(a, "VMM-RESERVE-HINT-NOT-TAKEN");
    for (size_t i = 0; i < m->mapping_count; i++)
        if (model_overlap(start, c->size, m->mappings[i].start, m->mappings[i].size))
            model_hazard(a, "VMM-RESERVE-OVER-MAPPING"); /* the part of a mapping past its reservation */
    if (!model_succeeded(a))
        return;
    model_expect(a, "ptr", *c->ptr, start);
    m->reservations =
        model_room(m->reservations, &m->reservation_room, m->reservation_count, sizeof *m->reservations);
    m->reservations[m->reservation_count++] = (struct model_reservation){start, c->size, m->tag};
}

/* ---- free ---- */

MODEL_ON(mem_address_free)
{
    struct model_reservation *r = model_reservation_at(m, c->ptr);
    const char *rule = !c->ptr               ? "VMM-FREE-PTR-ZERO"
                       : !c->size            ? "VMM-FREE-SIZE-ZERO"
                       : !r                  ? "VMM-FREE-NOT-RESERVED"
                       : r->start != c->ptr  ? "VMM-FREE-NOT-START"
                       : r->size != c->size  ? "VMM-FREE-SIZE-MATCH"
                                             : NULL;
    for (size_t i = 0; !rule && i < m->mapping_count; i++)
        if (model_overlap(r->start, r->size, m->mappings[i].start, m->mappings[i].size))
            rule = "VMM-FREE-MAPPED";
    if (rule)
        model_refuse(a, INVALID, rule);
    else if (model_succeeded(a))
        *r = m->reservations[--m->reservation_count];
}

/* ---- map ---- */

static bool map_handle(struct model *m, const struct vmm_call_mem_map *c, struct model_answer *a)
{
    const struct model_memory *memory = model_memory_of(m, c->handle);
    if (!c->handle)
        return model_refuse(a, INVALID, "VMM-MAP-HANDLE-ZERO");
    if (!memory && !model_past_of(m, c->handle))
        return model_refuse(a, INVALID, "VMM-MAP-HANDLE-FORGED");
    if (!memory)
        return model_refuse(a, INVALID, "VMM-MAP-HANDLE-STALE");
    return true;
}

/* Which part of the memory. */
static bool map_part(const struct model *m, const struct vmm_call_mem_map *c, const struct model_memory *memory,
                     struct model_answer *a)
{
    if (memory->tile_pool)
        return model_refuse(a, INVALID, "VMM-MAP-TILE-POOL");
    if (!m->profile->partial_map) {
        if (c->offset)
            return model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-MAP-OFFSET");
        if (c->size != memory->size)
            return model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-MAP-SIZE-WHOLE");
        return true;
    }
    if (c->offset % memory->granularity)
        return model_refuse(a, INVALID, "VMM-MAP-OFFSET-GRANULARITY");
    if (c->size % memory->granularity)
        return model_refuse(a, INVALID, "VMM-MAP-SIZE-GRANULARITY");
    if (!model_fits(c->offset, c->size, memory->size))
        return model_refuse(a, INVALID, "VMM-MAP-OFFSET-RANGE");
    return true;
}

/* Does the part past the reservation meet managed memory, or the addresses of a pool? Those of a driver's pool are not known, so it decides. */
static bool meets_others(struct model *m, const struct vmm_call_mem_map *c, const struct model_answer *a)
{
    const struct model_reservation *r = model_reservation_at(m, c->ptr);
    const uint64_t size = in_space(c->ptr, c->size);
    for (size_t i = 0; size > r->start + r->size - c->ptr && i < m->pool_count; i++)
        if (!m->pools[i]->gone &&
            (m->driver ? a->actual == INVALID : model_overlap(c->ptr, size, m->pools[i]->start, 1)))
            return true;
    for (size_t i = 0; size > r->start + r->size - c->ptr && i < m->managed_count; i++)
        if (m->driver ? a->actual == INVALID : model_overlap(c->ptr, size, m->managed[i].start, m->managed[i].span))
            return true;
    return false;
}

static bool map_place(struct model *m, const struct vmm_call_mem_map *c, const struct model_memory *memory,
                      struct model_answer *a)
{
    if (c->ptr % memory->granularity)
        return model_refuse(a, INVALID, "VMM-MAP-PTR-GRANULARITY");
    if (!model_reservation_at(m, c->ptr))
        return model_refuse(a, INVALID, "VMM-MAP-NOT-RESERVED");
    bool past_the_end = !model_fits(c->ptr, c->size, m->profile->va_end);
    if (past_the_end && MODEL_EDGE_SPACE_END_FIRST)
        return model_refuse(a, INVALID, "VMM-MAP-SPACE-END");
    for (size_t i = 0; i < m->mapping_count; i++)
        if (model_overlap(c->ptr, in_space(c->ptr, c->size), m->mappings[i].start, m->mappings[i].size))
            return model_refuse(a, INVALID, "VMM-MAP-OVERLAP");
    if (meets_others(m, c, a))
        return model_refuse(a, INVALID, "VMM-MAP-OVERLAP");
    return !past_the_end || model_refuse(a, INVALID, "VMM-MAP-SPACE-END");
}

/* The first address from start on outside every reservation; `end` if there is none before it. */
static uint64_t reserved_until(struct model *m, uint64_t start, uint64_t end)
{
    while (start < end) {
        const struct model_reservation *r = model_reservation_at(m, start);
        if (!r)
            return start;
        start = r->start + r->size;
    }
    return end;
}

static bool map_warnings(struct model *m, const struct vmm_call_mem_map *c, struct model_answer *a)
{
    const struct model_reservation *r = model_reservation_at(m, c->ptr);
    uint64_t end = c->ptr + c->size;
    if (end <= r->start + r->size)
        return true;
    return model_breach(m, a,
                        reserved_until(m, c->ptr, end) < end ? "VMM-MAP-PAST-RESERVATION"
                                                             : "VMM-MAP-CROSSES-RESERVATIONS");
}

MODEL_ON(mem_map)
{
    const char *rule = !c->size   ? "VMM-MAP-SIZE-ZERO"
                       : c->flags ? "VMM-MAP-FLAGS"
                       : !c->ptr  ? "VMM-MAP-PTR-ZERO"
                                  : NULL;
    if (rule) {
        model_refuse(a, INVALID, rule);
        return;
    }
    if (!map_handle(m, c, a))
        return;
    struct model_memory *memory = model_memory_of(m, c->handle);
    if (!map_part(m, c, memory, a) || !map_place(m, c, memory, a))
        return;
    if (memory->strayed) {
        model_refuse(a, VMM_ERROR_UNKNOWN, "VMM-MAP-RDMA-LATE");
        return;
    }
    if (!map_warnings(m, c, a) || !model_succeeded(a))
        return;
    if (memory->prop.alloc_flags.gpu_direct_rdma_capable && !memory->home)
        memory->home = c->ptr;
    m->mappings = model_room(m->mappings, &m->mapping_room, m->mapping_count, sizeof *m->mappings);
    m->mappings[m->mapping_count++] = (struct model_mapping){
        .start = c->ptr, .size = c->size, .offset = c->offset, .handle = c->handle, .tag = m->tag};
}

/* ---- unmap ---- */

static bool inside(const struct model_mapping *mapping, uint64_t start, uint64_t size)
{
    return mapping->start >= start && model_fits(mapping->start - start, mapping->size, size);
}

/* Is an address inside a mapping and not its first byte? */
static bool strictly_inside(struct model *m, uint64_t address)
{
    const struct model_mapping *mapping = model_mapping_at(m, address);
    return mapping && mapping->start != address;
}

static bool unmap_allowed(struct model *m, const struct vmm_call_mem_unmap *c, bool wraps, struct model_answer *a)
{
    uint64_t covered = 0, unit = model_edge_unmap_unit(m);
    if (!c->ptr)
        return model_refuse(a, INVALID, "VMM-UNMAP-PTR-ZERO");
    if (!c->size)
        return model_refuse(a, INVALID, "VMM-UNMAP-SIZE-ZERO");
    if (c->ptr == UINT64_MAX && strictly_inside(m, c->size - 1))
        return model_refuse(a, INVALID, "VMM-UNMAP-PARTIAL");
    if (c->ptr == UINT64_MAX)
        return model_breach(m, a, "VMM-UNMAP-WRAPS");
    if (!model_reservation_at(m, c->ptr))
        return model_refuse(a, INVALID, "VMM-UNMAP-NOT-RESERVED");
    if (wraps && (strictly_inside(m, c->ptr) || strictly_inside(m, c->ptr + c->size)))
        return model_refuse(a, INVALID, "VMM-UNMAP-PARTIAL");
    if (wraps)
        return model_breach(m, a, "VMM-UNMAP-WRAPS");
    for (size_t i = 0; i < m->mapping_count; i++) {
        const struct model_mapping *mapping = &m->mappings[i];
        if (!model_overlap(c->ptr, c->size, mapping->start, mapping->size))
            continue;
        if (!inside(mapping, c->ptr, c->size))
            return model_refuse(a, INVALID, "VMM-UNMAP-PARTIAL");
        covered += mapping->size;
    }
    if ((c->ptr % unit || c->size % unit) && !model_breach(m, a, "VMM-UNMAP-UNALIGNED"))
        return false;
    if (!covered)
        return model_breach(m, a, "VMM-UNMAP-NOTHING");
    return covered == c->size || model_breach(m, a, "VMM-UNMAP-HOLE");
}

/* A range that wraps past 2^64 holds nothing, but one that starts at the last byte of all continues at 0. */
MODEL_ON(mem_unmap)
{
    bool last = c->ptr == UINT64_MAX, wraps = c->size > UINT64_MAX - c->ptr;
    if (!unmap_allowed(m, c, wraps, a) || !model_succeeded(a) || (wraps && !last))
        return;
    for (size_t i = m->mapping_count; i-- > 0;) {
        if (!inside(&m->mappings[i], last ? 0 : c->ptr, last ? c->size - 1 : c->size))
            continue;
        uint64_t handle = m->mappings[i].handle;
        struct model_memory *memory = model_memory_of(m, handle);
        memory->home = memory->home == m->mappings[i].start ? 0 : memory->home;
        memory->strayed = memory->strayed == m->mappings[i].start ? 0 : memory->strayed;
        m->mappings[i] = m->mappings[--m->mapping_count];
        model_collect(m, handle);
    }
}
