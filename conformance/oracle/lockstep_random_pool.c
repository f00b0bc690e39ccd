/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_random_pool.c - random calls of memory pools, and of several streams.
 *
 * While a stream waits for a value, half of the operations write that value on another stream.
 */
#include "lockstep_maker.h"

#define MIB ((uint64_t)1 << 20)
enum { MANY_POOLS = 6, MANY_BLOCKS = 24 };

static struct step_arg named(uint32_t name)
{
    return (struct step_arg){name, 0};
}

/* ---- what there is ---- */

#define some_stream maker_stream
#define device_of maker_device_of

struct step_arg maker_stream(const struct maker *m)
{
    uint64_t i = choose(m->dice, STEP_STREAMS + 1);
    return i < STEP_STREAMS ? named(STEP_FIRST_STREAM + (uint32_t)i) : literal(0);
}

static int devices(const struct maker *m)
{
    return m->model->profile->devices;
}

static int some_device(const struct maker *m)
{
    return (int)choose(m->dice, (uint64_t)devices(m));
}

/* A pool that a step can name; NULL where there is none. */
static const struct model_pool *some_pool(const struct maker *m, bool own)
{
    size_t count = m->model->pool_count, from = choose(m->dice, count);
    for (size_t i = 0; i < count; i++) {
        const struct model_pool *pool = m->model->pools[(from + i) % count];
        if (pool->tag && !pool->ended && (own || !pool->own))
            return pool;
    }
    return NULL;
}

struct step_arg maker_old_pool(const struct maker *m)
{
    size_t count = m->model->pool_count, from = choose(m->dice, count);
    for (size_t i = 0; i < count && one_in(m, 2); i++)
        if (m->model->pools[(from + i) % count]->ended)
            return named(m->model->pools[(from + i) % count]->tag);
    return literal(0);
}

static struct step_arg pool_name(const struct maker *m)
{
    const struct model_pool *pool = some_pool(m, true);
    return pool ? named(pool->tag) : maker_old_pool(m);
}

static const struct model_block *some_block(const struct maker *m)
{
    size_t count = m->model->block_count;
    return count ? &m->model->blocks[choose(m->dice, count)] : NULL;
}

bool maker_block_place(const struct maker *m, struct step_arg *at)
{
    const struct model_block *block = some_block(m);
    if (!block)
        return false;
    const uint64_t spots[] = {0, 0, 0, 4, 8, 16, block->size - 1, block->size / 2, block->size};
    *at = (struct step_arg){block->tag, PICK(m, spots)};
    return true;
}

/* ---- pools ---- */

/* A device; in the newest mix the host and its nodes, too. */
static vmm_mem_location some_place(const struct maker *m)
{
    vmm_mem_location place = {VMM_MEM_LOCATION_TYPE_DEVICE, some_device(m)};
    if (m->mix < 3 || !one_in(m, 3))
        return place;
    place.type = one_in(m, 2) ? VMM_MEM_LOCATION_TYPE_HOST : VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    place.id = (int)choose(m->dice, (uint64_t)(m->model->profile->host_nodes ? m->model->profile->host_nodes : 1));
    return place;
}

static vmm_mem_location place_of(const struct model_pool *pool)
{
    const int node = pool->device - MODEL_HOST - 1;
    if (pool->device < MODEL_HOST)
        return (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, pool->device};
    return (vmm_mem_location){node < 0 ? VMM_MEM_LOCATION_TYPE_HOST : VMM_MEM_LOCATION_TYPE_HOST_NUMA, node < 0 ? 0 : node};
}

static void make_pool(const struct maker *m)
{
    struct step *step = m->step;
    step->word[0] = VMM_MEM_ALLOCATION_TYPE_PINNED;
    step->word[1] = one_in(m, 2) ? VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0;
    step->word[2] = one_in(m, 2) ? 0 : 1 + choose(m->dice, 400 * MIB);
    step->word[3] = one_in(m, 8) ? VMM_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS : 0;
    step->desc[0].location = some_place(m);
    if (step->desc[0].location.type == VMM_MEM_LOCATION_TYPE_HOST)
        step->word[1] = 0;
}

/* A pool of the device comes first, so that its own ones can be named. */
static void make_created(const struct maker *m)
{
    const struct model_pool *pool = some_pool(m, one_in(m, 20));
    maker_set(m, "pool", pool ? named(pool->tag) : pool_name(m));
}

static void make_of_device(const struct maker *m)
{
    maker_set(m, "dev", literal((uint64_t)some_device(m)));
}

static void make_of_location(const struct maker *m)
{
    m->step->desc[0].location = some_place(m);
    maker_set(m, "type", literal(VMM_MEM_ALLOCATION_TYPE_PINNED));
}

static void make_set_current(const struct maker *m)
{
    const struct model_pool *pool = some_pool(m, true);
    const bool right = pool && !one_in(m, 12);
    const vmm_mem_location place = right ? place_of(pool) : some_place(m);
    int device = right && place.type == VMM_MEM_LOCATION_TYPE_DEVICE ? place.id : right ? 0 : place.id;
    maker_set(m, "pool", pool ? named(pool->tag) : maker_old_pool(m));
    if (m->step->call == VMM_CALL_device_set_mem_pool) {
        maker_set(m, "dev", literal((uint64_t)device));
        return;
    }
    make_of_location(m);
    m->step->desc[0].location = place;
}

static void make_set_attribute(const struct maker *m)
{
    const uint64_t settable[] = {1, 2, 3, 4, 4, 6, 8};
    uint64_t attribute = PICK(m, settable);
    m->step->word[0] = attribute <= 3 ? choose(m->dice, 2) : attribute > 4 ? 0 : one_in(m, 2) ? choose(m->dice, 300) * MIB : UINT64_MAX;
    maker_set(m, "pool", pool_name(m));
    maker_set(m, "attr", literal(attribute));
}

static void make_get_attribute(const struct maker *m)
{
    maker_set(m, "pool", pool_name(m));
    maker_set(m, "attr", literal(1 + choose(m->dice, 8)));
}

static void make_trim(const struct maker *m)
{
    maker_set(m, "pool", pool_name(m));
    maker_set(m, "min_bytes_to_keep", literal(one_in(m, 2) ? 0 : choose(m->dice, 400) * MIB));
}

static void make_set_access(const struct maker *m)
{
    const int flags[] = {0, 1, 3, 3, 3, 3};
    const struct model_pool *pool = some_pool(m, true);
    for (int i = 0; i < STEP_FEW_DESCS; i++) {
        m->step->desc[i].location.id = pool && !one_in(m, 3) && pool->device < MODEL_HOST ? pool->device : some_device(m);
        m->step->desc[i].flags = pool && m->step->desc[i].location.id == pool->device && !one_in(m, 8) ? 3 : PICK(m, flags);
    }
    maker_set(m, "pool", pool ? named(pool->tag) : maker_old_pool(m));
    maker_set(m, "count", literal(one_in(m, 2) ? 1 : choose(m->dice, STEP_FEW_DESCS + 1)));
}

static void make_get_access(const struct maker *m)
{
    maker_set(m, "mem_pool", pool_name(m));
    m->step->desc[0].location.id = some_device(m);
    if (one_in(m, 4))
        m->step->desc[0].location.type = one_in(m, 2) ? VMM_MEM_LOCATION_TYPE_HOST : VMM_MEM_LOCATION_TYPE_HOST_NUMA;
}

static void make_export(const struct maker *m)
{
    const struct model_pool *pool = some_pool(m, false);
    for (int i = 0; pool && i < 8 && !pool->handle_types; i++)
        pool = some_pool(m, false);
    maker_set(m, "pool", pool ? named(pool->tag) : pool_name(m));
    maker_set(m, "handle_type", literal(VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

static void make_export_pointer(const struct maker *m)
{
    const struct model_block *block = some_block(m);
    for (int i = 0; block && i < 40 && !block->pool->exported; i++)
        block = some_block(m);
    maker_set(m, "ptr", block ? named(block->tag) : literal(0));
}

static void make_import_pointer(const struct maker *m)
{
    maker_set(m, "pool", pool_name(m));
}

/* ---- allocations ---- */

static uint64_t some_size(const struct maker *m)
{
    unsigned bits = 5 + (unsigned)choose(m->dice, 22);
    if (one_in(m, 60))
        return one_in(m, 2) ? 0 : (uint64_t)1 << 46;
    if (one_in(m, 120) && !m->model->driver) { /* nearly all that there is, or a little more */
        uint64_t free = model_device_free(m->model, some_device(m));
        return (free / MODEL_SLOT + choose(m->dice, 3)) * MODEL_SLOT - choose(m->dice, 2) * MIB;
    }
    return one_in(m, 3) ? (1 + choose(m->dice, 40)) * MIB : ((uint64_t)1 << bits) + choose(m->dice, (uint64_t)1 << bits);
}

static void make_alloc(const struct maker *m)
{
    maker_set(m, "bytesize", literal(some_size(m)));
    maker_set(m, "stream", some_stream(m));
    if (m->step->call == VMM_CALL_mem_alloc_from_pool_async)
        maker_set(m, "pool", pool_name(m));
}

static void make_free(const struct maker *m)
{
    const struct model_block *block = some_block(m);
    const uint64_t odd[] = {1, 512, 4096, ~(uint64_t)0};
    maker_set(m, "dptr", (struct step_arg){block ? block->tag : 0, block && one_in(m, 12) ? PICK(m, odd) : 0});
    if (m->step->call == VMM_CALL_mem_free_async)
        maker_set(m, "stream", some_stream(m));
}

/* ---- order ---- */

static void make_on_stream(const struct maker *m)
{
    maker_set(m, "stream", some_stream(m));
}

static void make_with_event(const struct maker *m)
{
    struct step_arg stream = some_stream(m), event = named(STEP_FIRST_EVENT + (uint32_t)choose(m->dice, STEP_EVENTS));
    if (m->step->call == VMM_CALL_event_record && stream.name && !one_in(m, 8)) /* of the same context */
        event = named(STEP_FIRST_EVENT + (stream.name == STEP_FIRST_STREAM + STEP_STREAMS - 1));
    maker_set(m, "stream", stream);
    maker_set(m, "event", event);
}

/* ---- operations ---- */

static bool waits(int operation)
{
    return operation == VMM_STREAM_MEM_OP_WAIT_VALUE_32 || operation == VMM_STREAM_MEM_OP_WAIT_VALUE_64;
}

static bool is_wide(int operation)
{
    return operation == VMM_STREAM_MEM_OP_WAIT_VALUE_64 || operation == VMM_STREAM_MEM_OP_WRITE_VALUE_64;
}

/* A value for which a wait is over, as things are; or, where later, one for which it is not. */
static uint64_t value_for(const struct maker *m, unsigned flags, uint64_t is, bool later)
{
    switch (flags) {
    case VMM_STREAM_WAIT_VALUE_GEQ: return later ? is + 1 + choose(m->dice, 9) : is - choose(m->dice, 9);
    case VMM_STREAM_WAIT_VALUE_EQ: return later ? is + 1 + choose(m->dice, 9) : is;
    case VMM_STREAM_WAIT_VALUE_AND: return later ? ~is : is;
    default: return later ? ~is : is / 2;
    }
}

/* A stream for an operation; one of ours where it will wait. */
static struct step_arg stream_for(const struct maker *m, bool later)
{
    return later ? named(STEP_FIRST_STREAM + (uint32_t)choose(m->dice, STEP_STREAMS)) : some_stream(m);
}

int maker_device_of(const struct maker *m, struct step_arg stream)
{
    if (stream.name)
        return stream.name == STEP_FIRST_STREAM + STEP_STREAMS - 1 ? devices(m) - 1 : 0;
    return m->model->current < 0 ? 0 : m->model->contexts[m->model->current].device;
}

static struct step_op make_op(const struct maker *m, int operation, int device, bool later)
{
    const unsigned width = is_wide(operation) ? 8 : 4;
    const uint64_t all = width == 8 ? UINT64_MAX : UINT32_MAX;
    struct step_op op = {.operation = operation, .address = maker_byte_place(m, device), .value = choose(m->dice, all)};
    op.address.add &= ~(uint64_t)(width - 1);
    if (waits(operation)) {
        op.flags = (unsigned)choose(m->dice, 4);
        op.value = value_for(m, op.flags, maker_value_near(m, op.address, width), later) & all;
    }
    return op;
}

/* The write for which a stream waits. */
static struct step_op make_release(const struct maker *m)
{
    const struct model_op *wait = &m->model->queue[0];
    struct step_op op = {.operation = wait->width == 8 ? VMM_STREAM_MEM_OP_WRITE_VALUE_64 : VMM_STREAM_MEM_OP_WRITE_VALUE_32,
                         .address = maker_place(m, wait->address), .value = wait->value};
    if (wait->flags == VMM_STREAM_WAIT_VALUE_NOR)
        op.value = ~wait->value & (wait->width == 8 ? UINT64_MAX : UINT32_MAX);
    if (wait->flags == VMM_STREAM_WAIT_VALUE_NOR && wait->value)
        op.value = 0;
    return op;
}

/* A stream of the device that waits, and not the one that does. */
static struct step_arg other_stream(const struct maker *m)
{
    const struct model_lane *lane = &m->model->lane[m->model->blocked];
    uint64_t from = choose(m->dice, (uint64_t)m->model->lanes);
    for (int i = 0; i < STEP_STREAMS; i++) {
        int of = (int)((from + (uint64_t)i) % STEP_STREAMS); /* the first lanes are the streams, in their order */
        if (of != m->model->blocked && of < m->model->lanes && m->model->lane[of].device == lane->device)
            return named(STEP_FIRST_STREAM + (uint32_t)of);
    }
    return literal(0);
}

static enum vmm_call_id single(int operation)
{
    switch (operation) {
    case VMM_STREAM_MEM_OP_WAIT_VALUE_32: return VMM_CALL_stream_wait_value32;
    case VMM_STREAM_MEM_OP_WAIT_VALUE_64: return VMM_CALL_stream_wait_value64;
    case VMM_STREAM_MEM_OP_WRITE_VALUE_32: return VMM_CALL_stream_write_value32;
    default: return VMM_CALL_stream_write_value64;
    }
}

static void set_single(const struct maker *m, const struct step_op *op, struct step_arg stream)
{
    const uint32_t name = m->step->name;
    *m->step = step_of(single(op->operation));
    m->step->name = name;
    maker_set(m, "stream", stream);
    maker_set(m, "addr", op->address);
    maker_set(m, "value", literal(op->value));
    maker_set(m, "flags", literal(op->flags));
}

static int operation_of(enum vmm_call_id call)
{
    switch (call) {
    case VMM_CALL_stream_wait_value32: return VMM_STREAM_MEM_OP_WAIT_VALUE_32;
    case VMM_CALL_stream_wait_value64: return VMM_STREAM_MEM_OP_WAIT_VALUE_64;
    case VMM_CALL_stream_write_value32: return VMM_STREAM_MEM_OP_WRITE_VALUE_32;
    default: return VMM_STREAM_MEM_OP_WRITE_VALUE_64;
    }
}

static void make_single(const struct maker *m)
{
    const bool waiting = m->model->blocked >= 0;
    if (waiting && one_in(m, 2)) {
        struct step_op release = make_release(m);
        set_single(m, &release, other_stream(m));
        return;
    }
    const bool later = !waiting && one_in(m, 2);
    const struct step_arg stream = stream_for(m, later);
    struct step_op op = make_op(m, operation_of(m->step->call), device_of(m, stream), later);
    if (one_in(m, 16))
        op.flags ^= (unsigned)1 << choose(m->dice, 32);
    set_single(m, &op, stream);
}

static void make_batch(const struct maker *m)
{
    const int kinds[] = {VMM_STREAM_MEM_OP_WAIT_VALUE_32,  VMM_STREAM_MEM_OP_WAIT_VALUE_64,  VMM_STREAM_MEM_OP_WRITE_VALUE_32,
                         VMM_STREAM_MEM_OP_WRITE_VALUE_32, VMM_STREAM_MEM_OP_WRITE_VALUE_64, VMM_STREAM_MEM_OP_BARRIER};
    const bool waiting = m->model->blocked >= 0, later = !waiting && one_in(m, 2);
    const struct step_arg stream = stream_for(m, later);
    maker_set(m, "stream", stream);
    maker_set(m, "count", literal(one_in(m, 30) ? 256 : choose(m->dice, STEP_OPS + 1)));
    for (int i = 0; i < STEP_OPS; i++) {
        m->step->op[i] = make_op(m, PICK(m, kinds), device_of(m, stream), later && !i);
        if (m->step->op[i].operation == VMM_STREAM_MEM_OP_BARRIER)
            m->step->op[i] = (struct step_op){.operation = VMM_STREAM_MEM_OP_BARRIER, .flags = (unsigned)choose(m->dice, 2)};
    }
    if (waiting && one_in(m, 2)) {
        m->step->op[0] = make_release(m);
        maker_set(m, "stream", other_stream(m));
        maker_set(m, "count", literal(1));
    }
}

/* ---- the table ---- */

static void make_room(const struct maker *m)
{
    if (m->model->block_count <= MANY_BLOCKS) {
        make_alloc(m);
        return;
    }
    const uint32_t name = m->step->name; /* free instead */
    *m->step = step_of(VMM_CALL_mem_free_async);
    m->step->name = name;
    make_free(m);
}

static void make_or_destroy(const struct maker *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->model->pool_count; i++)
        count += !m->model->pools[i]->ended;
    if (count <= MANY_POOLS) {
        make_pool(m);
        return;
    }
    const uint32_t name = m->step->name;
    *m->step = step_of(VMM_CALL_mem_pool_destroy);
    m->step->name = name;
    make_created(m);
}

static const struct maker_row rows[] = {
    {VMM_CALL_mem_alloc_from_pool_async, 10, make_room},
    {VMM_CALL_mem_alloc_async, 6, make_room},
    {VMM_CALL_mem_free_async, 10, make_free},
    {VMM_CALL_mem_free, 3, make_free},
    {VMM_CALL_mem_pool_create, 3, make_or_destroy},
    {VMM_CALL_mem_pool_destroy, 1, make_created},
    {VMM_CALL_device_get_default_mem_pool, 1, make_of_device},
    {VMM_CALL_device_get_mem_pool, 1, make_of_device},
    {VMM_CALL_device_set_mem_pool, 1, make_set_current},
    {VMM_CALL_mem_get_default_mem_pool, 1, make_of_location},
    {VMM_CALL_mem_get_mem_pool, 1, make_of_location},
    {VMM_CALL_mem_set_mem_pool, 1, make_set_current},
    {VMM_CALL_mem_pool_set_attribute, 2, make_set_attribute},
    {VMM_CALL_mem_pool_get_attribute, 2, make_get_attribute},
    {VMM_CALL_mem_pool_trim_to, 1, make_trim},
    {VMM_CALL_mem_pool_set_access, 2, make_set_access},
    {VMM_CALL_mem_pool_get_access, 1, make_get_access},
    {VMM_CALL_mem_pool_export_to_shareable_handle, 2, make_export},
    {VMM_CALL_mem_pool_export_pointer, 1, make_export_pointer},
    {VMM_CALL_mem_pool_import_pointer, 1, make_import_pointer},
    {VMM_CALL_stream_synchronize, 2, make_on_stream},
    {VMM_CALL_stream_query, 1, make_on_stream},
    {VMM_CALL_ctx_synchronize, 1, NULL},
    {VMM_CALL_event_record, 3, make_with_event},
    {VMM_CALL_stream_wait_event, 3, make_with_event},
    {VMM_CALL_stream_write_value32, 3, make_single},
    {VMM_CALL_stream_write_value64, 3, make_single},
    {VMM_CALL_stream_wait_value32, 3, make_single},
    {VMM_CALL_stream_wait_value64, 3, make_single},
    {VMM_CALL_stream_batch_mem_op, 4, make_batch},
};

const struct maker_row *maker_pool_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

bool maker_spares(enum vmm_call_id call)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].call == call && call != VMM_CALL_mem_free)
            return true;
    return false;
}
