/* model_address.c - reservations and mappings. */
#include <string.h>

#include "model_edges.h"
#include "model_parts.h"

#define INVALID VMM_ERROR_INVALID_VALUE

static bool power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

/* ---- reserve ---- */

/* Whether nothing is at [start, start + size): mappings may run past their reservations. */
static bool range_free(const struct model *m, uint64_t start, uint64_t size)
{
    for (size_t i = 0; i < m->reservation_count; i++)
        if (model_overlap(start, size, m->reservations[i].start, m->reservations[i].size))
            return false;
    for (size_t i = 0; i < m->mapping_count; i++)
        if (model_overlap(start, size, m->mappings[i].start, m->mappings[i].size))
            return false;
    return true;
}

static bool range_usable(const struct model *m, uint64_t start, uint64_t size)
{
    return start >= m->profile->va_start && model_fits(start, size, m->profile->va_end) && range_free(m, start, size);
}

static bool usable_after(const struct model *m, uint64_t place, uint64_t size, uint64_t alignment)
{
    uint64_t rest = place % alignment;
    if (rest && place > UINT64_MAX - (alignment - rest))
        return false;
    return range_usable(m, rest ? place + (alignment - rest) : place, size);
}

/* A free place, if there is any, is found at the start of the address space or right behind something. */
static bool space_exists(const struct model *m, uint64_t size, uint64_t alignment)
{
    if (usable_after(m, m->profile->va_start, size, alignment))
        return true;
    for (size_t i = 0; i < m->reservation_count; i++)
        if (usable_after(m, m->reservations[i].start + m->reservations[i].size, size, alignment))
            return true;
    for (size_t i = 0; i < m->mapping_count; i++)
        if (usable_after(m, m->mappings[i].start + m->mappings[i].size, size, alignment))
            return true;
    return false;
}

static uint64_t alignment_of(const struct model *m, uint64_t asked)
{
    return asked > m->profile->va_granularity ? asked : m->profile->va_granularity;
}

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
    if (c->alignment == (uint64_t)1 << 63)
        return model_refuse(a, INVALID, "VMM-RESERVE-ALIGNMENT-LIMIT");
    if (c->addr % m->profile->va_granularity)
        return model_refuse(a, INVALID, "VMM-RESERVE-HINT-GRANULARITY");
    if (c->alignment && c->addr % c->alignment)
        return model_refuse(a, INVALID, "VMM-RESERVE-HINT-ALIGNMENT");
    if (c->addr >= m->profile->va_hint_max)
        return model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-RESERVE-HINT-LIMIT");
    uint64_t alignment = alignment_of(m, c->alignment);
    if (alignment > m->profile->va_alignment_max || !space_exists(m, c->size, alignment))
        return model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-RESERVE-SPACE");
    return true;
}

MODEL_ON(mem_address_reserve)
{
    if (!reserve_allowed(m, c, a))
        return;
    bool taken = c->addr && range_usable(m, c->addr, c->size);
    if (c->addr && !taken)
        model_hazard(a, "VMM-RESERVE-HINT-NOT-TAKEN");
    if (!model_succeeded(a))
        return;
    uint64_t start = *c->ptr;
    if (taken)
        model_expect(a, "ptr is not the hint, which was free", start, c->addr);
    model_expect(a, "ptr is outside the address space",
                 start < m->profile->va_start || !model_fits(start, c->size, m->profile->va_end), false);
    model_expect(a, "ptr is not aligned", start % alignment_of(m, c->alignment), 0);
    model_expect(a, "ptr overlaps what is there", !range_free(m, start, c->size), false);
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
        if (model_edge_pins(r, &m->mappings[i]))
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
        if (model_overlap(c->ptr, model_edge_clamp(c->ptr, c->size), m->mappings[i].start, m->mappings[i].size))
            return model_refuse(a, INVALID, "VMM-MAP-OVERLAP");
    return !past_the_end || model_refuse(a, INVALID, "VMM-MAP-SPACE-END");
}

/* The first address from start on that no reservation holds; end when there is none before it. */
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
    const char *rule = !c->size ? "VMM-MAP-SIZE-ZERO" : c->flags ? "VMM-MAP-FLAGS" : !c->ptr ? "VMM-MAP-PTR-ZERO" : NULL;
    if (rule) {
        model_refuse(a, INVALID, rule);
        return;
    }
    if (!map_handle(m, c, a))
        return;
    const struct model_memory *memory = model_memory_of(m, c->handle);
    if (!map_part(m, c, memory, a) || !map_place(m, c, memory, a) || !map_warnings(m, c, a) || !model_succeeded(a))
        return;
    m->mappings = model_room(m->mappings, &m->mapping_room, m->mapping_count, sizeof *m->mappings);
    m->mappings[m->mapping_count++] = (struct model_mapping){
        .start = c->ptr, .size = c->size, .offset = c->offset, .handle = c->handle, .tag = m->tag};
}

/* ---- unmap ---- */

static bool inside(const struct model_mapping *mapping, uint64_t start, uint64_t size)
{
    return mapping->start >= start && model_fits(mapping->start - start, mapping->size, size);
}

static bool unmap_allowed(struct model *m, const struct vmm_call_mem_unmap *c, uint64_t size, struct model_answer *a)
{
    uint64_t covered = 0, unit = model_edge_unmap_unit(m);
    if (!c->ptr)
        return model_refuse(a, INVALID, "VMM-UNMAP-PTR-ZERO");
    if (!c->size)
        return model_refuse(a, INVALID, "VMM-UNMAP-SIZE-ZERO");
    if (!model_reservation_at(m, c->ptr))
        return model_refuse(a, INVALID, "VMM-UNMAP-NOT-RESERVED");
    for (size_t i = 0; i < m->mapping_count; i++) {
        const struct model_mapping *mapping = &m->mappings[i];
        if (!size || !model_overlap(c->ptr, size, mapping->start, mapping->size))
            continue;
        if (!inside(mapping, c->ptr, size))
            return model_refuse(a, INVALID, "VMM-UNMAP-PARTIAL");
        covered += mapping->size;
    }
    if ((c->ptr % unit || c->size % unit) && !model_breach(m, a, "VMM-UNMAP-UNALIGNED"))
        return false;
    if (!covered)
        return model_breach(m, a, "VMM-UNMAP-NOTHING");
    return covered == c->size || model_breach(m, a, "VMM-UNMAP-HOLE");
}

MODEL_ON(mem_unmap)
{
    bool wraps = c->size > UINT64_MAX - c->ptr;
    uint64_t size = wraps && MODEL_FACT_UNMAP_WRAPS ? 0 : model_edge_clamp(c->ptr, c->size);
    if (!unmap_allowed(m, c, size, a) || !model_succeeded(a))
        return;
    for (size_t i = m->mapping_count; i-- > 0;) {
        if (!inside(&m->mappings[i], c->ptr, size))
            continue;
        uint64_t handle = m->mappings[i].handle;
        m->mappings[i] = m->mappings[--m->mapping_count];
        model_collect(m, handle);
    }
}
