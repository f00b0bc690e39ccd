/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_random.c - random calls near existing objects.
 *
 * Builds a call that should succeed in this state, then often makes one argument wrong: most calls reach deep into the
 * rules, and each refusal is one change away from a success.
 */
#include "lockstep_maker.h"

enum { MANY_RESERVATIONS = 9, MANY_MAPPINGS = 16, MANY_MEMORIES = 9 };

/* In a wide run: more than eight bits can count, and more than the bits of a word. */
enum { WIDE_MAPPINGS = 300, WIDE_RANGE = 400 };
#define FOUR_GIB ((uint64_t)1 << 32)

/* splitmix64 */
static uint64_t next(struct chooser *chooser)
{
    uint64_t z = chooser->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* As few bytes as hold the choice, so that changing one changes one choice. */
static uint64_t take(struct chooser *chooser, uint64_t below)
{
    uint64_t value = 0;
    for (uint64_t rest = below - 1; rest && chooser->left; rest >>= 8, chooser->left--)
        value = value << 8 | *chooser->bytes++;
    return value % below;
}

uint64_t choose(struct chooser *chooser, uint64_t below)
{
    if (!below)
        return 0;
    return chooser->bytes ? take(chooser, below) : next(chooser) % below;
}

#define set maker_set

/* ---- addresses and sizes ---- */

/* An address as an offset from the reservation that contains it or ends at it, or from a pool's allocation. */
static struct step_arg place(const struct maker *m, uint64_t address)
{
    const struct model_block *block = m->mix >= 2 ? model_block_at(m->model, address) : NULL;
    if (block)
        return (struct step_arg){block->tag, address - block->start};
    for (size_t i = 0; i < m->model->reservation_count; i++) {
        const struct model_reservation *r = &m->model->reservations[i];
        if (address + m->unit >= r->start && address - r->start + m->unit <= r->size + 4 * m->unit)
            return (struct step_arg){r->tag, address - r->start};
    }
    return literal(address);
}

struct step_arg maker_place(const struct maker *m, uint64_t address)
{
    return place(m, address);
}

static const struct model_reservation *some_reservation(const struct maker *m)
{
    size_t count = m->model->reservation_count;
    return count ? &m->model->reservations[choose(m->dice, count)] : NULL;
}

static const struct model_mapping *some_mapping(const struct maker *m)
{
    size_t count = m->model->mapping_count;
    return count ? &m->model->mappings[choose(m->dice, count)] : NULL;
}

static const struct model_memory *some_memory(const struct maker *m)
{
    size_t count = m->model->memory_count;
    return count ? &m->model->memories[choose(m->dice, count)] : NULL;
}

static uint64_t nudge(const struct maker *m)
{
    const uint64_t steps[] = {0, 0, 0, m->unit, 0 - m->unit, 2 * m->unit, 4096, 0 - (uint64_t)4096, 1, ~(uint64_t)0,
                              m->unit / 2, 65536, m->model->profile->va_granularity,
                              m->model->profile->host_granularity[0]};
    return PICK(m, steps);
}

struct step_arg maker_address(const struct maker *m)
{
    const uint64_t odd[] = {0, 1, 4096, m->unit, (uint64_t)1 << 46, (uint64_t)1 << 60, ~(uint64_t)0 - (m->unit - 1),
                            ~(uint64_t)0, m->model->profile->va_start, m->model->profile->va_end - m->unit,
                            m->model->profile->va_end};
    const struct model_mapping *p = some_mapping(m);
    const struct model_reservation *r = some_reservation(m);
    uint64_t kind = choose(m->dice, 12);
    if (kind < 6 && p)
        return place(m, p->start + (one_in(m, 3) ? p->size : 0) + nudge(m));
    if (kind < 10 && r) {
        uint64_t inside = one_in(m, 3) ? r->size : m->unit * choose(m->dice, r->size / m->unit + 1);
        return place(m, r->start + inside + nudge(m));
    }
    if (kind < 11 && m->step->name > STEP_FIRST_NAME && !m->model->driver) /* whatever an earlier step made */
        return (struct step_arg){m->step->name - (uint32_t)choose(m->dice, m->step->name - STEP_FIRST_NAME), nudge(m)};
    uint64_t which = choose(m->dice, sizeof odd / sizeof odd[0]);
    return literal(odd[m->model->driver && which > 8 ? 5 : which]); /* the last ones may be a driver's own stack */
}

uint64_t maker_size(const struct maker *m, uint64_t right)
{
    const uint64_t sizes[] = {0, 1, 4096, 65536, m->unit - 1, m->unit, m->unit + 4096, 2 * m->unit, 3 * m->unit,
                              (uint64_t)1 << 40, (uint64_t)1 << 46, (uint64_t)1 << 47, (uint64_t)1 << 63,
                              ~(uint64_t)0, ~(uint64_t)0 - (m->unit - 1)};
    return one_in(m, 2) ? right + nudge(m) : PICK(m, sizes);
}

struct step_arg maker_handle(const struct maker *m)
{
    const uint64_t forged[] = {0, 1, 0xdead0, ~(uint64_t)0, (uint64_t)1 << 32};
    const uint64_t spoil[] = {1, 2, 16, ~(uint64_t)0, (uint64_t)1 << 32, (uint64_t)1 << 40, (uint64_t)1 << 63};
    const struct model_memory *memory = some_memory(m);
    uint64_t kind = choose(m->dice, 8);
    if (kind < 3 && m->model->past_count && !m->model->driver) /* whose values may be reused */
        return (struct step_arg){m->model->past[choose(m->dice, m->model->past_count)].tag, 0};
    if (kind < 5 && memory)
        return (struct step_arg){memory->tag, 0};
    if (kind < 7 && memory)
        return (struct step_arg){memory->tag, PICK(m, spoil)};
    return literal(PICK(m, forged));
}

/* The first free part of a reservation that holds size bytes, so that mappings become adjacent. */
static struct step_arg next_place(const struct maker *m, uint64_t size, uint64_t granularity)
{
    const struct model_reservation *r = some_reservation(m);
    uint64_t at = r ? (r->start + granularity - 1) / granularity * granularity : 0;
    for (size_t i = 0; r && i < m->model->mapping_count; i++) {
        const struct model_mapping *p = &m->model->mappings[i];
        if (p->start < at + size && at < p->start + p->size) {
            at = (p->start + p->size + granularity - 1) / granularity * granularity;
            i = (size_t)-1;
        }
    }
    return r && at - r->start < r->size ? place(m, at) : maker_address(m);
}

/* A free part of a reservation where size bytes could be mapped; any address if there is none. */
static struct step_arg mappable(const struct maker *m, uint64_t size, uint64_t granularity)
{
    const struct model_reservation *r = some_reservation(m);
    for (int attempt = 0; r && attempt < 4; attempt++) {
        uint64_t at = r->start + (granularity - r->start % granularity) % granularity;
        at += granularity * choose(m->dice, r->size / granularity);
        if (one_in(m, 3) && m->model->mapping_count)
            at = some_mapping(m)->start + some_mapping(m)->size;
        bool room = true;
        for (size_t i = 0; i < m->model->mapping_count; i++)
            room &= m->model->mappings[i].start >= at + size ||
                    m->model->mappings[i].start + m->model->mappings[i].size <= at;
        if (room)
            return place(m, at);
    }
    return maker_address(m);
}

/* ---- valid calls ---- */

static void make_reserve(const struct maker *m)
{
    uint64_t unit = m->model->profile->va_granularity > m->unit ? m->model->profile->va_granularity : m->unit;
    const uint64_t alignments[] = {0, 0, 0, 1, 4096, unit, 2 * unit, 8 * unit, (uint64_t)1 << 30};
    const struct model_reservation *r = some_reservation(m);
    uint64_t size = unit * (1 + choose(m->dice, 8)), alignment = 0;
    struct step_arg hint = literal(0);
    if (r && one_in(m, 2))
        hint = (struct step_arg){r->tag, r->size + (one_in(m, 4) ? unit : 0)};
    else if (one_in(m, 3))
        hint = literal(one_in(m, 3) ? m->model->profile->va_end / unit * unit - unit * (1 + choose(m->dice, 8))
                                    : m->model->profile->va_start + unit * choose(m->dice, 64));
    else
        alignment = PICK(m, alignments);
    if (m->wide)
        size = one_in(m, 4) ? (FOUR_GIB / unit + 1 + choose(m->dice, 8)) * unit : unit * (1 + choose(m->dice, WIDE_RANGE));
    if (one_in(m, 40))
        size = (m->model->profile->va_end - m->model->profile->va_start) / (1 + choose(m->dice, 8)) / unit * unit;
    set(m, "size", literal(size));
    set(m, "alignment", literal(alignment));
    set(m, "addr", hint);
}

static void make_free(const struct maker *m)
{
    const struct model_reservation *r = some_reservation(m);
    set(m, "ptr", r ? (struct step_arg){r->tag, 0} : maker_address(m));
    set(m, "size", literal(r ? r->size : m->unit));
}

static void make_prop(const struct maker *m)
{
    vmm_mem_allocation_prop *p = &m->step->prop;
    p->location.id = (int)choose(m->dice, (uint64_t)m->model->profile->devices);
    if (one_in(m, 5)) {
        p->location.type = one_in(m, 2) ? VMM_MEM_LOCATION_TYPE_HOST : VMM_MEM_LOCATION_TYPE_HOST_NUMA;
        p->location.id = 0;
    } else if (one_in(m, 4)) {
        p->requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    }
    p->alloc_flags.gpu_direct_rdma_capable = one_in(m, 8);
    p->alloc_flags.compression_type = one_in(m, 8);
}

static void make_create(const struct maker *m)
{
    make_prop(m);
    bool host = m->step->prop.location.type != VMM_MEM_LOCATION_TYPE_DEVICE;
    uint64_t unit = host ? m->model->profile->host_granularity[0] : m->unit;
    uint64_t size = unit * (1 + choose(m->dice, 4));
    if (m->wide && one_in(m, 8))
        size = (FOUR_GIB / unit + 1 + choose(m->dice, 4)) * unit;
    else if (m->wide)
        size = unit;
    bool much = one_in(m, 30);
    if (much && m->model->driver) { /* more than exists, regardless of other processes */
        size = host ? size : m->model->profile->device_memory / unit * unit + unit;
    } else if (much) {
        uint64_t free = host ? model_node_free(m->model, 0) : model_device_free(m->model, m->step->prop.location.id);
        size = free / unit * unit + (one_in(m, 2) ? unit : 0);
    } else if (host && one_in(m, 2)) {
        size = m->unit * (1 + choose(m->dice, 2));
    }
    set(m, "size", literal(size));
}

static void make_granularity(const struct maker *m)
{
    make_prop(m);
    set(m, "option", literal(choose(m->dice, 2)));
}

static void make_handle(const struct maker *m)
{
    const struct model_memory *memory = some_memory(m);
    set(m, "handle", memory ? (struct step_arg){memory->tag, 0} : maker_handle(m));
}

static void make_map(const struct maker *m)
{
    const struct model_memory *memory = some_memory(m);
    uint64_t size = memory ? memory->size : m->unit, offset = 0, unit = memory ? memory->granularity : m->unit;
    if (m->model->profile->partial_map && one_in(m, 2)) {
        offset = unit * choose(m->dice, size / unit);
        size = unit * (1 + choose(m->dice, (size - offset) / unit));
    }
    set(m, "size", literal(size));
    set(m, "offset", literal(offset));
    set(m, "handle", memory ? (struct step_arg){memory->tag, 0} : maker_handle(m));
    set(m, "ptr", m->wide ? next_place(m, size, unit) : mappable(m, size, unit));
}

/* From one mapping's start to its end or another's. */
static void make_range(const struct maker *m)
{
    const struct model_mapping *p = some_mapping(m), *q = some_mapping(m);
    struct step_arg at;
    if (m->mix >= 2 && one_in(m, 40) && maker_block_place(m, &at)) { /* which VMM calls refuse */
        set(m, "ptr", at);
        set(m, "size", literal(m->unit));
        return;
    }
    if (!p) {
        set(m, "ptr", maker_address(m));
        set(m, "size", literal(m->unit));
        return;
    }
    if (one_in(m, 3) || q->start < p->start || (!m->wide && q->start - p->start > 64 * m->unit))
        q = p;
    set(m, "ptr", place(m, p->start));
    set(m, "size", literal(q->start + q->size - p->start));
}

static void make_unmap(const struct maker *m)
{
    const struct model_reservation *r = some_reservation(m);
    make_range(m);
    if (r && one_in(m, 6)) {
        set(m, "ptr", (struct step_arg){r->tag, 0});
        set(m, "size", literal(r->size));
    }
}

static vmm_mem_location make_location(const struct maker *m, bool host)
{
    vmm_mem_location l = {VMM_MEM_LOCATION_TYPE_DEVICE, (int)choose(m->dice, (uint64_t)m->model->profile->devices)};
    if (host && one_in(m, 2))
        l.type = one_in(m, 2) ? VMM_MEM_LOCATION_TYPE_HOST : VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    return l;
}

static void make_set_access(const struct maker *m)
{
    const int rights[] = {0, 1, 3, 3};
    make_range(m);
    bool host = one_in(m, 4);
    for (int i = 0; i < (m->wide ? STEP_DESCS : STEP_FEW_DESCS); i++) {
        m->step->desc[i].location = make_location(m, host);
        m->step->desc[i].flags = PICK(m, rights);
    }
    set(m, "count", literal(one_in(m, 2) ? 1 : 1 + choose(m->dice, m->wide ? STEP_DESCS : STEP_FEW_DESCS)));
}

static void make_at(const struct maker *m)
{
    const struct model_mapping *p = some_mapping(m);
    const uint64_t spots[] = {0, 1, m->unit / 2, p ? p->size - 1 : 0};
    size_t count;
    const struct vmm_param *params = vmm_call_params(m->step->call, &count);
    for (size_t i = 0; i < count; i++)
        if (params[i].kind == VMM_PARAM_ADDRESS && (m->mix < 2 || !one_in(m, 4) || !maker_block_place(m, &m->step->arg[i])))
            m->step->arg[i] = p ? place(m, p->start + PICK(m, spots) % p->size) : maker_address(m);
    m->step->desc[0].location = make_location(m, one_in(m, 2));
}

static int some_attribute(const struct maker *m)
{
    return (one_in(m, 30) ? 0 : 1) + (int)choose(m->dice, VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE);
}

static void make_attribute(const struct maker *m)
{
    make_at(m);
    set(m, "attribute", literal((uint64_t)some_attribute(m)));
}

static void make_attributes(const struct maker *m)
{
    make_at(m);
    for (int i = 0; i < STEP_ATTRIBUTES; i++)
        m->step->attribute[i] = some_attribute(m);
    set(m, "num_attributes", literal(1 + choose(m->dice, STEP_ATTRIBUTES)));
}

/* An address near bytes that the model keeps, in a mapping that the device has access to if one is found soon. */
static struct step_arg mapped_place(const struct maker *m, int device, int attempts)
{
    const struct model_mapping *p = some_mapping(m);
    for (int attempt = 0; p && attempt < attempts && !p->device[device]; attempt++)
        p = some_mapping(m);
    if (!p)
        return maker_address(m);
    uint64_t unit = model_memory_of(m->model, p->handle)->granularity, granule = unit * choose(m->dice, p->size / unit);
    const uint64_t spots[] = {0, unit / 2, unit - MODEL_WINDOW, unit - MODEL_WINDOW};
    return place(m, p->start + granule + PICK(m, spots) + choose(m->dice, MODEL_WINDOW / 4) * 4);
}

static struct step_arg byte_place(const struct maker *m)
{
    struct step_arg at;
    return m->mix >= 2 && one_in(m, 4) && maker_block_place(m, &at)
               ? at
               : mapped_place(m, m->model->current < 0 ? 0 : m->model->current, 4);
}

struct step_arg maker_byte_place(const struct maker *m, int device)
{
    return mapped_place(m, device, 16);
}

static void make_copy(const struct maker *m)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(m->step->call, &count);
    for (size_t i = 0; i < count; i++) {
        if (params[i].kind == VMM_PARAM_ADDRESS)
            m->step->arg[i] = byte_place(m);
        else if (params[i].kind == VMM_PARAM_SIZE)
            m->step->arg[i] = literal(one_in(m, 60) ? m->unit : 1 + choose(m->dice, 40));
        else if (params[i].kind == VMM_PARAM_BYTES || params[i].kind == VMM_PARAM_U32)
            m->step->arg[i] = literal(1 + choose(m->dice, 255));
    }
    if (m->step->call == VMM_CALL_memcpy_dtod && one_in(m, 3)) { /* onto itself */
        struct step_arg near = *step_arg(m->step, "dst");
        near.add += choose(m->dice, 32) - 16;
        set(m, "src", near);
        if (one_in(m, 4)) /* long enough to be copied piece by piece */
            set(m, "byte_count", literal(m->unit / 2 + MODEL_WINDOW));
    }
}

uint64_t maker_value_near(const struct maker *m, struct step_arg at, unsigned width)
{
    uint64_t value = 0, start = at.add;
    for (size_t i = 0; i < m->model->reservation_count; i++)
        if (at.name && m->model->reservations[i].tag == at.name)
            start += m->model->reservations[i].start;
    for (unsigned i = 0; i < width; i++) {
        int byte = model_byte(m->model, start + i);
        value |= (uint64_t)(byte < 0 ? 0 : byte) << 8 * i;
    }
    return value;
}

/* Mostly one that succeeds: at a multiple of its size, and of waits one that is over. */
static void make_mem_op(const struct maker *m)
{
    const bool wide = m->step->call == VMM_CALL_stream_write_value64 || m->step->call == VMM_CALL_stream_wait_value64;
    const bool waits = m->step->call == VMM_CALL_stream_wait_value32 || m->step->call == VMM_CALL_stream_wait_value64;
    const unsigned width = wide ? 8 : 4;
    struct step_arg at = byte_place(m);
    if (!one_in(m, 12))
        at.add &= ~(uint64_t)(width - 1);
    const uint64_t is = maker_value_near(m, at, width), all = wide ? UINT64_MAX : UINT32_MAX;
    uint64_t flags = waits ? choose(m->dice, 4) : 0, value = choose(m->dice, all);
    if (waits && !one_in(m, 12))
        value = flags == VMM_STREAM_WAIT_VALUE_GEQ ? (is - choose(m->dice, 9)) & all : flags == VMM_STREAM_WAIT_VALUE_NOR ? is / 2 : is;
    if (one_in(m, 12))
        flags |= UINT64_C(1) << choose(m->dice, 32);
    set(m, "stream", literal(0));
    set(m, "addr", at);
    set(m, "value", literal(value));
    set(m, "flags", literal(flags));
}

static void make_context(const struct maker *m)
{
    uint64_t which = choose(m->dice, (uint64_t)m->model->profile->devices + 1);
    uint32_t name = (uint32_t)(1 + which % (uint64_t)m->model->profile->devices);
    set(m, "ctx", (struct step_arg){one_in(m, m->mix < 3 ? 4 : 12) ? 0 : name, 0});
}

static void make_device(const struct maker *m)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(m->step->call, &count);
    for (size_t i = 0; i < count; i++)
        if (params[i].kind == VMM_PARAM_INT)
            m->step->arg[i] = literal(choose(m->dice, (uint64_t)m->model->profile->devices));
    if (m->step->call == VMM_CALL_device_get_attribute)
        set(m, "attrib", literal(choose(m->dice, 150)));
}

static const struct maker_row table[] = {
    {VMM_CALL_mem_address_reserve, 8, make_reserve},
    {VMM_CALL_mem_address_free, 6, make_free},
    {VMM_CALL_mem_create, 8, make_create},
    {VMM_CALL_mem_release, 6, make_handle},
    {VMM_CALL_mem_map, 18, make_map},
    {VMM_CALL_mem_unmap, 8, make_unmap},
    {VMM_CALL_mem_set_access, 16, make_set_access},
    {VMM_CALL_mem_get_access, 6, make_at},
    {VMM_CALL_mem_retain_allocation_handle, 4, make_at},
    {VMM_CALL_mem_get_allocation_properties_from_handle, 3, make_handle},
    {VMM_CALL_mem_get_allocation_granularity, 2, make_granularity},
    {VMM_CALL_pointer_get_attribute, 4, make_attribute},
    {VMM_CALL_pointer_get_attributes, 2, make_attributes},
    {VMM_CALL_mem_get_address_range, 2, make_at},
    {VMM_CALL_mem_get_info, 2, NULL},
    {VMM_CALL_memcpy_htod, 4, make_copy},
    {VMM_CALL_memcpy_dtoh, 4, make_copy},
    {VMM_CALL_memcpy_dtod, 4, make_copy},
    {VMM_CALL_memset_d8, 3, make_copy},
    {VMM_CALL_memset_d16, 2, make_copy},
    {VMM_CALL_memset_d32, 2, make_copy},
    {VMM_CALL_stream_write_value32, 2, make_mem_op},
    {VMM_CALL_stream_write_value64, 2, make_mem_op},
    {VMM_CALL_stream_wait_value32, 2, make_mem_op},
    {VMM_CALL_stream_wait_value64, 2, make_mem_op},
    {VMM_CALL_ctx_set_current, 2, make_context},
    {VMM_CALL_ctx_get_current, 1, NULL},
    {VMM_CALL_ctx_get_device, 1, NULL},
    {VMM_CALL_device_get_count, 1, NULL},
    {VMM_CALL_device_get, 1, make_device},
    {VMM_CALL_device_total_mem, 1, make_device},
    {VMM_CALL_device_get_attribute, 1, make_device},
    {VMM_CALL_device_can_access_peer, 1, make_device},
    {VMM_CALL_mem_free, 1, make_at},
    {VMM_CALL_init, 1, NULL},
};

/* Where there are many objects, free instead; in a wide run create more where there are few. */
static enum vmm_call_id balanced(const struct maker *maker, enum vmm_call_id call)
{
    const struct model *model = maker->model;
    if (maker->wide && model->mapping_count < WIDE_MAPPINGS) {
        bool less = call == VMM_CALL_mem_unmap || call == VMM_CALL_mem_release;
        bool asks = call != VMM_CALL_mem_set_access && call != VMM_CALL_mem_address_reserve && call != VMM_CALL_mem_create;
        return (less && !one_in(maker, 16)) || (asks && one_in(maker, 3)) ? VMM_CALL_mem_map : call;
    }
    if (call == VMM_CALL_mem_address_reserve && model->reservation_count > MANY_RESERVATIONS)
        return VMM_CALL_mem_address_free;
    if (call == VMM_CALL_mem_map && model->mapping_count > MANY_MAPPINGS)
        return VMM_CALL_mem_unmap;
    if (call == VMM_CALL_mem_create && model->memory_count > MANY_MEMORIES)
        return VMM_CALL_mem_release;
    return call;
}

#define OLDER (sizeof table / sizeof table[0])

/* How often a call comes in a mix (lockstep.h). Later ones have memory operations on several streams. */
static unsigned weight_in(const struct maker_row *row, unsigned mix)
{
    return row->make != make_mem_op || mix == 1 ? row->weight : 0;
}

/* The rows of a mix: the table, and then those of each later mix. */
enum { TABLES = 6 };

struct rows {
    const struct maker_row *table[TABLES];
    size_t of[TABLES], count;
};

static struct rows rows_of(unsigned mix)
{
    static const unsigned first[TABLES] = {0, 2, 3, 3, 4, 4};
    struct rows rows = {.table = {table}, .of = {OLDER}};
    rows.table[1] = maker_pool_rows(&rows.of[1]);
    rows.table[2] = maker_box_rows(&rows.of[2]);
    rows.table[3] = maker_graph_rows(&rows.of[3]);
    rows.table[4] = maker_array_rows(&rows.of[4]);
    rows.table[5] = maker_managed_rows(&rows.of[5]);
    for (size_t i = 0; i < TABLES; i++)
        rows.count += mix >= first[i] ? rows.of[i] : 0;
    return rows;
}

static const struct maker_row *row_at(const struct rows *rows, size_t i)
{
    size_t table_at = 0;
    for (; i >= rows->of[table_at]; table_at++)
        i -= rows->of[table_at];
    return &rows->table[table_at][i];
}

/* Did the call join with one of the newest mixes? Of those most should succeed, too. */
static bool is_newest(unsigned mix, enum vmm_call_id call)
{
    const struct rows rows = rows_of(mix < LOCKSTEP_MIX_OF_GRAPHS ? LOCKSTEP_MIX_OF_GRAPHS : mix);
    for (size_t i = rows.of[0] + rows.of[1]; i < rows.count; i++)
        if (row_at(&rows, i)->call == call)
            return true;
    return false;
}

static const struct maker_row *some_row(const struct maker *maker)
{
    const struct rows rows = rows_of(maker->mix);
    unsigned total = 0;
    for (size_t i = 0; i < rows.count; i++)
        total += weight_in(row_at(&rows, i), maker->mix);
    uint64_t at = choose(maker->dice, total);
    size_t i = 0;
    for (; at >= weight_in(row_at(&rows, i), maker->mix); i++)
        at -= weight_in(row_at(&rows, i), maker->mix);
    const struct maker_row *row = row_at(&rows, i);
    enum vmm_call_id call = balanced(maker, row->call);
    for (i = 0; row->call != call; i++)
        row = row_at(&rows, i);
    return row;
}

static void make_step(const struct maker *maker, uint32_t name)
{
    const struct maker_row *row = some_row(maker);
    *maker->step = step_of(row->call);
    maker->step->name = name;
    if (row->make)
        row->make(maker);
    if ((maker_spares(row->call) || is_newest(maker->mix, row->call)) && !one_in(maker, 3))
        return;
    if (choose(maker->dice, 100) < 35)
        maker_spoil(maker);
    if (choose(maker->dice, 100) < 6)
        maker_spoil(maker);
}

/* Of the newest mix: is the step one of too many that are refused, or that spoil a capture? */
enum { SPOIL_ONE_IN = 12, REFUSED_ONE_IN = 3 };

static bool is_idle(const struct maker *maker, struct lockstep *pair, const struct step *step)
{
    const bool newest = is_newest(pair->mix, (enum vmm_call_id)step->call) || maker_spares((enum vmm_call_id)step->call);
    const bool capturing = model_capturing(&pair->model);
    if (pair->mix < 3 || (!newest && !capturing))
        return false;
    const vmm_result result = lockstep_predict(pair, step);
    if (capturing && (result == VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED || result == VMM_ERROR_STREAM_CAPTURE_ISOLATION))
        return !one_in(maker, SPOIL_ONE_IN);
    return newest && result != VMM_SUCCESS && !one_in(maker, REFUSED_ONE_IN);
}

/* In the newest mixes, and on request, steps that would be skipped are rare. They are not drawn for ever, as bytes
 * may run out. */
enum { DRAWS = 100, LEAVE_OUT_ONE_IN = 1000 };

void lockstep_random(struct chooser *chooser, struct lockstep *pair, uint32_t name, struct step *step)
{
    struct maker maker = {chooser, &pair->model, lockstep_unit(pair), step, pair->wide, pair->mix};
    pair->model.host_pools = pair->mix >= 3;
    make_step(&maker, name);
    bool again = (pair->mix >= 2 || pair->choosy) && lockstep_foresee(pair, step) && !one_in(&maker, LEAVE_OUT_ONE_IN);
    again |= is_idle(&maker, pair, step);
    for (int i = 1; again && i < DRAWS; i++) {
        make_step(&maker, name);
        again = lockstep_foresee(pair, step) != LEFT_OUT_NOT || is_idle(&maker, pair, step);
    }
}
