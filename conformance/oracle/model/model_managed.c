/* SPDX-License-Identifier: Apache-2.0 */
/* model_managed.c - managed memory: allocation, advice, prefetches, attributes of ranges, attachment (facts: managed). */
#include "model_managed.h"

#include <stdlib.h>
#include <string.h>

#define INVALID VMM_ERROR_INVALID_VALUE

void model_managed_close(struct model *model)
{
    free(model->managed);
    free(model->parts);
    free(model->doubts);
}

struct model_managed *model_managed_at(const struct model *model, uint64_t address)
{
    for (size_t i = 0; i < model->managed_count; i++)
        if (address - model->managed[i].start < model->managed[i].size)
            return &model->managed[i];
    return NULL;
}

uint64_t model_managed_holds(const struct model *model)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < model->managed_count; i++)
        bytes += model->managed[i].span;
    return bytes;
}

/* ---- allocation ---- */

static uint64_t span_of(const struct model *m, uint64_t size)
{
    const uint64_t host = m->profile->host_granularity[0], va = m->profile->va_granularity, unit = host > va ? host : va;
    return size > UINT64_MAX - unit ? UINT64_MAX : (size + unit - 1) / unit * unit;
}

static bool alloc_allowed(struct model *m, const struct vmm_call_mem_alloc_managed *c, struct model_answer *a)
{
    if (!c->dptr)
        return model_refuse(a, INVALID, "VMM-ALLOC-NULL");
    if (c->flags != VMM_MEM_ATTACH_GLOBAL && c->flags != VMM_MEM_ATTACH_HOST)
        return model_refuse(a, INVALID, "VMM-MANAGED-FLAGS");
    if (!c->bytesize)
        return model_refuse(a, INVALID, "VMM-ALLOC-SIZE-ZERO");
    if (m->current < 0)
        return model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    const uint64_t span = span_of(m, c->bytesize);
    if (!a->asked)
        model_pools_make_room(m, MODEL_HOST + 1, span);
    return span <= model_node_free(m, 0) || model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-MANAGED-MEMORY");
}

/* The lowest address that no mapping reaches past its reservation; 0: none. */
static uint64_t place_for(const struct model *m, uint64_t span)
{
    uint64_t from = 0, start = 0;
    bool again = true;
    while (again && (start = model_place(m, span, span_of(m, 1), from))) {
        again = false;
        for (size_t i = 0; i < m->mapping_count; i++) {
            const struct model_mapping *p = &m->mappings[i];
            if (model_overlap(start, span, p->start, p->size) && (!again || p->start + p->size < from)) {
                from = p->start + p->size;
                again = true;
            }
        }
    }
    return start;
}

MODEL_ON(mem_alloc_managed)
{
    bool may = alloc_allowed(m, c, a);
    const uint64_t start = may && !m->driver ? place_for(m, span_of(m, c->bytesize)) : 1;
    if (may && !start)
        may = model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-SYSTEM-HOST-MEMORY");
    a->writes_zero = !may;
    if (!may || !model_succeeded(a))
        return;
    if (!m->driver)
        model_expect(a, "dptr", *c->dptr, start);
    model_expect(a, "dptr is managed memory already", model_managed_at(m, *c->dptr) != NULL, false);
    m->managed = model_room(m->managed, &m->managed_room, m->managed_count, sizeof *m->managed);
    m->managed[m->managed_count++] =
        (struct model_managed){.start = *c->dptr, .size = c->bytesize, .span = m->driver ? c->bytesize : span_of(m, c->bytesize),
                               .tag = m->tag, .context = (size_t)m->current, .device = model_current_device(m)};
    m->managed_ever = true;
}

/* ---- parts ---- */

enum { PREFETCHED = 1, PREFERRED = 2, READ_MOSTLY = 4, ACCESSED_BY = 8, BLOCK = 512, FORGOTTEN = -1 };

static uint64_t first_page(const struct model_managed *managed)
{
    return managed->start / MODEL_PAGE;
}

static uint64_t end_page(const struct model_managed *managed)
{
    return (managed->start + managed->size - 1) / MODEL_PAGE + 1;
}

static bool same_place(vmm_mem_location a, vmm_mem_location b)
{
    return a.type == b.type && (!a.type || a.id == b.id);
}

static bool same_hint(const struct model_hint *a, const struct model_hint *b)
{
    return same_place(a->preferred, b->preferred) && same_place(a->prefetched, b->prefetched) && a->read_mostly == b->read_mostly &&
           a->by_host == b->by_host && !memcmp(a->by, b->by, sizeof a->by);
}

static bool is_vacant(const struct model_hint *hint)
{
    const struct model_hint nothing = {.read_mostly = false};
    return same_hint(hint, &nothing);
}

/* The first part that ends behind a page. */
static size_t part_from(const struct model *m, uint64_t page)
{
    size_t i = 0;
    while (i < m->part_count && m->parts[i].end <= page)
        i++;
    return i;
}

static void insert_part(struct model *m, size_t at, struct model_part part)
{
    m->parts = model_room(m->parts, &m->part_room, m->part_count, sizeof *m->parts);
    memmove(&m->parts[at + 1], &m->parts[at], (m->part_count++ - at) * sizeof part);
    m->parts[at] = part;
}

static void remove_part(struct model *m, size_t at)
{
    memmove(&m->parts[at], &m->parts[at + 1], (--m->part_count - at) * sizeof *m->parts);
}

static void cut(struct model *m, uint64_t page)
{
    const size_t i = part_from(m, page);
    if (i == m->part_count || m->parts[i].first >= page)
        return;
    struct model_part front = m->parts[i];
    front.end = m->parts[i].first = page;
    insert_part(m, i, front);
}

/* Do different blocks of a driver meet before a page? Here each allocation is a block. */
static bool is_border(const struct model *m, uint64_t page)
{
    bool border = m->driver && page % BLOCK == 0;
    for (size_t i = 0; i < m->managed_count; i++) {
        const uint64_t first = first_page(&m->managed[i]), end = end_page(&m->managed[i]);
        if (m->driver && first < page && page < end)
            return false;
        border |= !m->driver && (first == page || end == page);
    }
    return border;
}

/* Merges a part with neighbours in the same state; returns its index then. */
static size_t unite(struct model *m, size_t i)
{
    struct model_part *part = m->parts;
    if (i && part[i - 1].end == part[i].first && same_hint(&part[i - 1].hint, &part[i].hint) && !is_border(m, part[i].first)) {
        part[i - 1].end = part[i].end;
        remove_part(m, i--);
    }
    if (i + 1 < m->part_count && part[i + 1].first == part[i].end && same_hint(&part[i + 1].hint, &part[i].hint) && !is_border(m, part[i].end)) {
        part[i].end = part[i + 1].end;
        remove_part(m, i + 1);
    }
    return i;
}

/* Removes parts without any advice, and merges neighbours in the same state. */
static void settle_parts(struct model *m)
{
    for (size_t i = m->part_count; i > 0; i--)
        if (is_vacant(&m->parts[i - 1].hint))
            remove_part(m, i - 1);
    for (size_t i = m->part_count; i > 0; i--)
        if (i < m->part_count)
            unite(m, i - 1);
}

static void drop_pages(struct model *m, uint64_t first, uint64_t end)
{
    cut(m, first);
    cut(m, end);
    for (size_t i = m->part_count; i > 0; i--)
        if (m->parts[i - 1].first >= first && m->parts[i - 1].end <= end)
            remove_part(m, i - 1);
    for (size_t i = m->doubt_count; i > 0; i--)
        if (m->doubts[i - 1].page >= first && m->doubts[i - 1].page < end)
            m->doubts[i - 1] = m->doubts[--m->doubt_count];
}

/* ---- what is said ---- */

struct range {
    uint64_t first, end; /* pages of the address space; of a range that wraps none, or the one that both ends lie in */
    bool wraps;
};

static void apply(struct model_hint *hint, vmm_mem_advice advice, vmm_mem_location where)
{
    const bool host = where.type == VMM_MEM_LOCATION_TYPE_HOST, on = advice % 2;
    if (advice == FORGOTTEN)
        *hint = (struct model_hint){.read_mostly = false};
    else if (!advice)
        hint->prefetched = where;
    else if (advice <= VMM_MEM_ADVISE_UNSET_READ_MOSTLY)
        hint->read_mostly = on;
    else if (advice <= VMM_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
        hint->preferred = !on ? (vmm_mem_location){0, 0} : (vmm_mem_location){where.type, host ? VMM_DEVICE_CPU : where.id};
    else if (host)
        hint->by_host = on;
    else
        hint->by[where.id] = on;
}

static void dispel(struct model *m, const struct range *range, vmm_mem_advice advice)
{
    static const unsigned about[] = {PREFETCHED, READ_MOSTLY, READ_MOSTLY, PREFERRED, PREFERRED};
    for (size_t i = 0; i < m->doubt_count; i++)
        if (advice >= 0 && advice <= VMM_MEM_ADVISE_UNSET_PREFERRED_LOCATION && m->doubts[i].page >= range->first && m->doubts[i].page < range->end)
            m->doubts[i].attributes &= ~about[advice];
}

/* Makes a part of the pages before part i of which nothing holds. False: nothing is to hold of them, and *at passes over them. */
static bool fill_gap(struct model *m, const struct range *range, size_t i, vmm_mem_advice advice, vmm_mem_location where, uint64_t *at)
{
    struct model_part gap = {.first = range->first, .end = range->end};
    struct model_hint hint = gap.hint;
    if (i && m->parts[i - 1].end > gap.first)
        gap.first = m->parts[i - 1].end;
    if (i < m->part_count && m->parts[i].first < gap.end)
        gap.end = m->parts[i].first;
    apply(&hint, advice, where);
    if (advice != FORGOTTEN && is_vacant(&hint)) {
        *at = gap.end;
        return false;
    }
    insert_part(m, i, gap);
    return true;
}

/* advice 0: a prefetch; FORGOTTEN: the pages' allocation ends. */
static void say(struct model *m, const struct range *range, vmm_mem_advice advice, vmm_mem_location where)
{
    if (range->first >= range->end)
        return;
    cut(m, range->first);
    cut(m, range->end);
    for (uint64_t at = range->first; at < range->end;) {
        size_t i = part_from(m, at);
        if ((i == m->part_count || m->parts[i].first > at) && !fill_gap(m, range, i, advice, where, &at))
            continue;
        apply(&m->parts[i].hint, advice, where);
        i = unite(m, i);
        at += m->parts[i].end - m->parts[i].first;
    }
    settle_parts(m);
    dispel(m, range, advice);
}

/* ---- the end of an allocation ---- */

static bool is_shared(const struct model *m, const struct model_managed *one, uint64_t page)
{
    for (size_t i = 0; i < m->managed_count; i++)
        if (&m->managed[i] != one && first_page(&m->managed[i]) <= page && page < end_page(&m->managed[i]))
            return true;
    return false;
}

static unsigned attributes_of(const struct model_hint *hint)
{
    unsigned attributes = (hint->prefetched.type ? PREFETCHED : 0) | (hint->preferred.type ? PREFERRED : 0) | (hint->read_mostly ? READ_MOSTLY : 0) |
                          (hint->by_host ? ACCESSED_BY : 0);
    for (int i = 0; i < VMM_MAX_DEVICES; i++)
        attributes |= hint->by[i] ? ACCESSED_BY : 0;
    return attributes;
}

/* Of its last page, if others use it, too, a driver was seen to forget what held, and to keep it. */
static void doubt(struct model *m, const struct model_managed *managed)
{
    const uint64_t page = end_page(managed) - 1;
    const size_t i = part_from(m, page);
    if (i == m->part_count || m->parts[i].first > page || page == first_page(managed) || !is_shared(m, managed, page))
        return;
    m->doubts = model_room(m->doubts, &m->doubt_room, m->doubt_count, sizeof *m->doubts);
    m->doubts[m->doubt_count++] = (struct model_doubt){page, attributes_of(&m->parts[i].hint)};
}

void model_managed_free(struct model *model, struct model_managed *managed)
{
    const uint64_t first = first_page(managed), end = end_page(managed), last = model->driver ? (end + BLOCK - 1) / BLOCK : 0;
    model->orders++; /* the device's work is waited for */
    model_forget_block(model, managed->start);
    if (model->driver) {
        const struct range all = {first, end, false};
        doubt(model, managed);
        say(model, &all, FORGOTTEN, (vmm_mem_location){0, 0});
    } else {
        drop_pages(model, first, end);
    }
    *managed = model->managed[--model->managed_count];
    for (uint64_t block = first / BLOCK; block < last; block++) { /* the driver's blocks that hold nothing any more */
        bool used = false;
        for (uint64_t page = block * BLOCK; page < (block + 1) * BLOCK && !used; page++)
            used = is_shared(model, NULL, page);
        if (!used)
            drop_pages(model, block * BLOCK, (block + 1) * BLOCK);
    }
}

/* ---- ranges ---- */


static bool given(uint64_t address, uint64_t size, struct model_answer *a)
{
    if (!address)
        return model_refuse(a, INVALID, "VMM-MANAGED-NULL");
    return size || model_refuse(a, INVALID, "VMM-MANAGED-EMPTY");
}

/* Is it within one allocation? The end counts modulo 2^64; idle: also where no page is left of it then. */
static bool find(struct model *m, uint64_t address, uint64_t size, bool idle, struct range *range, struct model_answer *a)
{
    struct model_managed *managed = model_managed_at(m, address);
    const uint64_t last = managed ? managed->start + managed->size : 0, end = address + size;
    const bool passes = size > UINT64_MAX - address;
    const uint64_t first = address / MODEL_PAGE, behind = end ? (end - 1) / MODEL_PAGE + 1 : 0;
    if (!managed || end > last || (passes && !idle && behind <= first))
        return model_refuse(a, INVALID, "VMM-MANAGED-RANGE");
    *range = (struct range){first, behind > first ? behind : first, passes};
    if (passes)
        model_hazard(a, "VMM-MANAGED-WRAPS");
    return true;
}

/* ---- places ---- */

bool model_managed_place(vmm_mem_location where)
{
    return where.type == VMM_MEM_LOCATION_TYPE_DEVICE || where.type == VMM_MEM_LOCATION_TYPE_HOST ||
           where.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA || where.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static bool is_device(const struct model *m, vmm_mem_location where)
{
    return where.type == VMM_MEM_LOCATION_TYPE_DEVICE && where.id >= 0 && where.id < m->profile->devices;
}

static bool is_node(const struct model *m, vmm_mem_location where)
{
    const int nodes = m->profile->host_nodes ? m->profile->host_nodes : 1;
    return where.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA && where.id >= 0 && where.id < nodes;
}

/* Where memory may be prefetched to. */
static bool target_allowed(const struct model *m, vmm_mem_location where, struct model_answer *a)
{
    if (where.type == VMM_MEM_LOCATION_TYPE_DEVICE && !is_device(m, where))
        return model_refuse(a, VMM_ERROR_INVALID_DEVICE, "VMM-MANAGED-DEVICE");
    return where.type != VMM_MEM_LOCATION_TYPE_HOST_NUMA || is_node(m, where) || model_refuse(a, INVALID, "VMM-MANAGED-LOCATION");
}

/* ---- advice and prefetches ---- */

static bool advice_allowed(const struct model *m, vmm_mem_advice advice, vmm_mem_location where, struct model_answer *a)
{
    bool good = true;
    if (advice < VMM_MEM_ADVISE_SET_READ_MOSTLY || advice > VMM_MEM_ADVISE_UNSET_ACCESSED_BY)
        return model_refuse(a, INVALID, "VMM-MANAGED-ADVICE");
    if (advice >= VMM_MEM_ADVISE_SET_ACCESSED_BY)
        good = is_device(m, where) || where.type == VMM_MEM_LOCATION_TYPE_HOST;
    if (advice == VMM_MEM_ADVISE_SET_PREFERRED_LOCATION)
        good = is_device(m, where) || is_node(m, where) || where.type == VMM_MEM_LOCATION_TYPE_HOST ||
               where.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    return (good && model_managed_place(where)) || model_refuse(a, INVALID, "VMM-MANAGED-LOCATION");
}

bool model_managed_heeds(const struct model *model, const struct vmm_call_mem_advise *call)
{
    struct model_answer ignored = {.rule = NULL};
    const bool node = call->location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA || call->location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    return advice_allowed(model, call->advice, call->location, &ignored) && !node;
}

MODEL_ON(mem_advise)
{
    struct range range;
    if (!advice_allowed(m, c->advice, c->location, a) || !model_managed_heeds(m, c))
        return;
    if (m->current < 0)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    else if (given(c->dev_ptr, c->count, a) && find(m, c->dev_ptr, c->count, false, &range, a) && model_succeeded(a))
        say(m, &range, c->advice, c->location);
}

MODEL_ON(mem_prefetch_async)
{
    struct range range;
    vmm_mem_location where = c->location;
    if (c->flags)
        model_refuse(a, INVALID, "VMM-MANAGED-PREFETCH-FLAGS");
    else if (!model_managed_place(where))
        model_refuse(a, INVALID, "VMM-MANAGED-LOCATION");
    if (a->result != VMM_SUCCESS || model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a) < 0 || !given(c->dev_ptr, c->count, a) ||
        !target_allowed(m, where, a) || !find(m, c->dev_ptr, c->count, true, &range, a) || !model_succeeded(a))
        return;
    if (where.type == VMM_MEM_LOCATION_TYPE_HOST)
        where.id = VMM_DEVICE_CPU;
    say(m, &range, 0, where);
}

/* ---- what holds ---- */

static int id_of(vmm_mem_location where)
{
    return where.type ? where.id : VMM_DEVICE_INVALID;
}

/* What pages have in common, and what is not the same in all of them. */
struct common {
    struct model_hint all;
    bool preferred, prefetched;
};

static void join(struct common *common, const struct model_hint *one)
{
    struct model_hint *all = &common->all;
    common->preferred |= !same_place(all->preferred, one->preferred);
    common->prefetched |= !same_place(all->prefetched, one->prefetched);
    all->read_mostly &= one->read_mostly;
    all->by_host &= one->by_host;
    for (int i = 0; i < VMM_MAX_DEVICES; i++)
        all->by[i] &= one->by[i];
}

/* Of no pages, all holds that can. */
static struct common common_of(const struct model *m, const struct range *range)
{
    const struct model_hint nothing = {.read_mostly = false};
    const bool none = range->first == range->end;
    struct common common = {{.read_mostly = true, .by_host = true}, none, none};
    for (int i = 0; i < VMM_MAX_DEVICES; i++)
        common.all.by[i] = true;
    for (uint64_t at = range->first; at < range->end;) {
        const size_t i = part_from(m, at);
        const struct model_part *next = i < m->part_count ? &m->parts[i] : NULL;
        const bool in = next && next->first <= at;
        if (at == range->first)
            common.all = in ? next->hint : nothing;
        join(&common, in ? &next->hint : &nothing);
        at = in ? at + next->end - next->first : next ? next->first : range->end;
    }
    return common;
}

static bool in_doubt(const struct model *m, const struct range *range, vmm_mem_range_attribute attribute)
{
    static const unsigned about[] = {0, READ_MOSTLY, PREFERRED, ACCESSED_BY, PREFETCHED, PREFERRED, PREFERRED, PREFETCHED, PREFETCHED};
    bool doubted = false;
    for (size_t i = 0; i < m->doubt_count; i++)
        doubted |= m->doubts[i].attributes & about[attribute] && m->doubts[i].page >= range->first && m->doubts[i].page < range->end;
    return doubted;
}

static int number_of(vmm_mem_location where)
{
    return !where.type ? VMM_DEVICE_INVALID : where.type == VMM_MEM_LOCATION_TYPE_DEVICE ? where.id : VMM_DEVICE_CPU;
}

/* The devices in order, the host, and nothing in the rest. */
static void expect_accessors(const struct model *m, const struct model_hint *hint, const int *data, uint64_t room, struct model_answer *a)
{
    uint64_t at = 0;
    for (int device = 0; device < m->profile->devices && at < room; device++)
        if (hint->by[device])
            model_expect(a, "ACCESSED_BY", (uint64_t)data[at++], (uint64_t)device);
    if (hint->by_host && at < room)
        model_expect(a, "ACCESSED_BY", (uint64_t)data[at++], (uint64_t)VMM_DEVICE_CPU);
    for (; at < room; at++)
        model_expect(a, "ACCESSED_BY", (uint64_t)data[at], (uint64_t)VMM_DEVICE_INVALID);
}

static int value_of(const struct common *common, vmm_mem_range_attribute attribute)
{
    const vmm_mem_location nowhere = {0, 0}, preferred = common->preferred ? nowhere : common->all.preferred;
    const vmm_mem_location prefetched = common->prefetched ? nowhere : common->all.prefetched;
    switch (attribute) {
    case VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: return common->all.read_mostly;
    case VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: return number_of(preferred);
    case VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: return number_of(prefetched);
    case VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: return preferred.type;
    case VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: return id_of(preferred);
    case VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: return prefetched.type;
    default: return id_of(prefetched);
    }
}

static bool attribute_allowed(const struct model *m, const struct vmm_call_mem_range_get_attribute *c, struct model_answer *a)
{
    const bool list = c->attribute == VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    if (m->current < 0)
        return model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    if (!c->data)
        return model_refuse(a, INVALID, "VMM-MANAGED-DATA");
    if (c->attribute < VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY || c->attribute > VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        return model_refuse(a, INVALID, "VMM-MANAGED-ATTRIBUTE");
    const bool size = list ? c->data_size && c->data_size % sizeof(int) == 0 : c->data_size == sizeof(int);
    return size || model_refuse(a, INVALID, "VMM-MANAGED-DATA-SIZE");
}

MODEL_ON(mem_range_get_attribute)
{
    struct range range;
    if (!attribute_allowed(m, c, a) || !given(c->dev_ptr, c->count, a) || !find(m, c->dev_ptr, c->count, true, &range, a) ||
        !model_succeeded(a))
        return;
    const struct common common = common_of(m, &range);
    const int *data = c->data;
    a->foreseen = !in_doubt(m, &range, c->attribute);
    if (!a->foreseen)
        return;
    if (c->attribute == VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
        expect_accessors(m, &common.all, data, c->data_size / sizeof *data, a);
    else
        model_expect(a, "data", (uint64_t)*data, (uint64_t)value_of(&common, c->attribute));
}

/* ---- attachment ---- */

MODEL_ON(stream_attach_mem_async)
{
    const struct model_managed *managed = model_managed_at(m, c->dptr);
    const bool way = c->flags == VMM_MEM_ATTACH_GLOBAL || c->flags == VMM_MEM_ATTACH_HOST || c->flags == VMM_MEM_ATTACH_SINGLE;
    if (model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a) < 0)
        return;
    const char *rule = !c->dptr                                                                  ? "VMM-MANAGED-NULL"
                       : !way                                                                    ? "VMM-MANAGED-ATTACH-FLAGS"
                       : !managed || managed->start != c->dptr                                   ? "VMM-MANAGED-ATTACH-RANGE"
                       : c->length && c->length != managed->size                                 ? "VMM-MANAGED-ATTACH-RANGE"
                       : c->flags == VMM_MEM_ATTACH_SINGLE && !c->stream                         ? "VMM-MANAGED-ATTACH-SINGLE"
                                                                                                 : NULL;
    if (rule)
        model_refuse(a, INVALID, rule);
    a->ends |= m->driver && !c->flags; /* seen */
}

/* ---- batches ---- */

struct batch {
    const vmm_deviceptr *dptrs;
    const uint64_t *sizes;
    uint64_t count;
    const vmm_mem_location *locs;
    const uint64_t *idxs;
    uint64_t num, flags;
    vmm_stream stream;
    bool discards, fetches;
};

static bool locations_allowed(const struct model *m, const struct batch *b, struct model_answer *a)
{
    if (!b->locs || !b->idxs || !b->num || b->num > b->count)
        return model_refuse(a, INVALID, "VMM-MANAGED-BATCH");
    for (uint64_t i = 0; i < b->num; i++) {
        struct model_answer ignored = {.rule = NULL};
        if (b->idxs[i] >= b->count || (i == 0 && b->idxs[i] != 0))
            return model_refuse(a, INVALID, "VMM-MANAGED-BATCH");
        if (!model_managed_place(b->locs[i]) || !target_allowed(m, b->locs[i], &ignored))
            return model_refuse(a, INVALID, "VMM-MANAGED-LOCATION");
    }
    return true;
}

static bool batch_allowed(struct model *m, const struct batch *b, struct model_answer *a)
{
    if (!b->stream)
        return model_refuse(a, INVALID, "VMM-MANAGED-BATCH-STREAM");
    if (model_lane_of(m, (uint64_t)(uintptr_t)b->stream, a) < 0)
        return false;
    if (b->flags || !b->count || !b->dptrs || !b->sizes)
        return model_refuse(a, INVALID, "VMM-MANAGED-BATCH");
    return !b->fetches || locations_allowed(m, b, a);
}

/* Each location's turn comes when the range of its index does, but for range 0, which is the first location's. */
static vmm_mem_location location_for(const struct batch *b, uint64_t i)
{
    uint64_t at = 0;
    for (uint64_t range = 1; range <= i; range++)
        if (at + 1 < b->num && b->idxs[at + 1] == range)
            at++;
    return b->locs[at];
}

/* What the bytes are afterwards is the driver's own; here they are 0. */
static void discard(struct model *m, const struct range *range, uint64_t address, uint64_t size)
{
    const uint8_t zero = 0;
    if (range->wraps)
        return;
    if (m->driver)
        model_forget_range(m, address, size);
    else
        model_write(m, address, size, &zero, 1);
}

/* What comes before a range that is refused is done. */
static void predict(struct model *m, const struct batch *b, struct model_answer *a)
{
    if (!batch_allowed(m, b, a))
        return;
    struct range ranges[8];
    uint64_t good = 0;
    a->foreseen = b->count <= sizeof ranges / sizeof ranges[0];
    while (a->foreseen && good < b->count && given(b->dptrs[good], b->sizes[good], a) &&
           find(m, b->dptrs[good], b->sizes[good], true, &ranges[good], a))
        good++;
    for (uint64_t i = 0; !a->asked && a->actual == a->result && i < good; i++) {
        if (b->fetches)
            say(m, &ranges[i], 0, location_for(b, i));
        if (b->discards)
            discard(m, &ranges[i], b->dptrs[i], b->sizes[i]);
    }
}

MODEL_ON(mem_prefetch_batch_async)
{
    const struct batch b = {c->dptrs, c->sizes, c->count, c->prefetch_locs, c->prefetch_loc_idxs, c->num_prefetch_locs, c->flags,
                            c->stream, false, true};
    predict(m, &b, a);
}

MODEL_ON(mem_discard_batch_async)
{
    const struct batch b = {.dptrs = c->dptrs, .sizes = c->sizes, .count = c->count, .flags = c->flags, .stream = c->stream, .discards = true};
    predict(m, &b, a);
}

MODEL_ON(mem_discard_and_prefetch_batch_async)
{
    const struct batch b = {c->dptrs, c->sizes, c->count, c->prefetch_locs, c->prefetch_loc_idxs, c->num_prefetch_locs, c->flags,
                            c->stream, true, true};
    predict(m, &b, a);
}
