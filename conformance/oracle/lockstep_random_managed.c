/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_random_managed.c - random calls of managed memory. */
#include "lockstep_maker.h"
#include "model/model_managed.h"

#define MIB ((uint64_t)1 << 20)
enum { MANY = 7 };

/* ---- what there is ---- */

static const struct model_managed *some(const struct maker *m)
{
    const size_t count = m->model->managed_count;
    return count ? &m->model->managed[choose(m->dice, count)] : NULL;
}

static struct step_arg at(const struct model_managed *managed, uint64_t offset)
{
    return managed ? (struct step_arg){managed->tag, offset} : literal(0);
}

/* Near the bounds of pages, and of the whole. */
static uint64_t some_offset(const struct maker *m, uint64_t size)
{
    const uint64_t offsets[] = {0, 0, 0, 1, 4095, 4096, 4097, 8192, 65536, size / 2, size - 1};
    return PICK(m, offsets) % size;
}

static uint64_t some_count(const struct maker *m, uint64_t left)
{
    const uint64_t counts[] = {left, left, left, 1, 4096, 4097, 8192, left / 2 + 1, left / 3 + 1};
    const uint64_t count = PICK(m, counts);
    return count < left || one_in(m, 30) ? count : left;
}

static vmm_mem_location some_place(const struct maker *m)
{
    const int device = (int)choose(m->dice, (uint64_t)m->model->profile->devices);
    const vmm_mem_location places[] = {{VMM_MEM_LOCATION_TYPE_DEVICE, device}, {VMM_MEM_LOCATION_TYPE_DEVICE, device},
                                       {VMM_MEM_LOCATION_TYPE_HOST, 0},        {VMM_MEM_LOCATION_TYPE_HOST, 5},
                                       {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0},   {VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0}};
    return PICK(m, places);
}

/* ---- calls ---- */

static void make_free(const struct maker *m)
{
    const struct model_managed *managed = some(m);
    maker_set(m, "dptr", at(managed, managed && one_in(m, 12) ? some_offset(m, managed->size) : 0));
}

static void make_alloc(const struct maker *m)
{
    const uint64_t sizes[] = {1, 64, 4096, 4196, 65536, MIB, 2 * MIB, 2 * MIB + 1, 3 * MIB, 5 * MIB};
    if (m->model->managed_count > MANY) {
        const uint32_t name = m->step->name;
        *m->step = step_of(VMM_CALL_mem_free);
        m->step->name = name;
        make_free(m);
        return;
    }
    maker_set(m, "bytesize", literal(PICK(m, sizes) + (one_in(m, 3) ? choose(m->dice, 9000) : 0)));
    maker_set(m, "flags", literal(1 + choose(m->dice, 2)));
}

/* Sets the range of a call. */
static void make_range(const struct maker *m, const char *address, const char *count)
{
    const struct model_managed *managed = some(m);
    const uint64_t offset = managed ? some_offset(m, managed->size) : 0;
    maker_set(m, address, managed || one_in(m, 2) ? at(managed, offset) : maker_address(m));
    maker_set(m, count, literal(managed ? some_count(m, managed->size - offset) : 4096));
    if (managed && one_in(m, 80)) /* past the end of all addresses */
        maker_set(m, count, literal(~managed->start - offset + 1 + choose(m->dice, 2 * managed->size)));
}

static void make_advise(const struct maker *m)
{
    make_range(m, "dev_ptr", "count");
    maker_set(m, "advice", literal(1 + choose(m->dice, 6)));
    m->step->desc[0].location = some_place(m);
}

static void make_prefetch(const struct maker *m)
{
    make_range(m, "dev_ptr", "count");
    m->step->desc[0].location = some_place(m);
    maker_set(m, "stream", maker_stream(m));
}

static void make_attribute(const struct maker *m)
{
    const uint64_t attribute = 1 + choose(m->dice, 8);
    make_range(m, "dev_ptr", "count");
    maker_set(m, "attribute", literal(attribute));
    maker_set(m, "data_size", literal(attribute == VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ? 4 * (1 + choose(m->dice, 4)) : 4));
}

static void make_attach(const struct maker *m)
{
    const uint64_t flags[] = {VMM_MEM_ATTACH_GLOBAL, VMM_MEM_ATTACH_GLOBAL, VMM_MEM_ATTACH_HOST, VMM_MEM_ATTACH_SINGLE};
    const struct model_managed *managed = some(m);
    maker_set(m, "dptr", at(managed, managed && one_in(m, 16) ? some_offset(m, managed->size) : 0));
    maker_set(m, "length", literal(managed && one_in(m, 2) ? managed->size : 0));
    maker_set(m, "flags", literal(PICK(m, flags)));
    maker_set(m, "stream", maker_stream(m));
}

static void make_batch(const struct maker *m)
{
    const uint64_t count = 1 + choose(m->dice, STEP_NODES), locations = 1 + choose(m->dice, count < STEP_STRUCTS ? count : STEP_STRUCTS);
    const bool fetches = m->step->call != VMM_CALL_mem_discard_batch_async;
    maker_set(m, "count", literal(count));
    for (size_t i = 0; i < STEP_NODES; i++) {
        const struct model_managed *managed = some(m);
        const uint64_t offset = managed ? some_offset(m, managed->size) : 0;
        m->step->node[0][i] = at(managed, offset);
        m->step->node[1][i] = literal(managed ? some_count(m, managed->size - offset) : 4096);
    }
    struct step_arg stream = maker_stream(m);
    maker_set(m, "stream", stream.name || one_in(m, 16) ? stream : (struct step_arg){STEP_FIRST_STREAM, 0});
    if (!fetches)
        return;
    maker_set(m, "num_prefetch_locs", literal(locations));
    m->step->word[0] = 0;
    m->step->word[1] = choose(m->dice, count);
    for (size_t i = 0; i < STEP_STRUCTS; i++) {
        const vmm_mem_location place = some_place(m);
        m->step->field[i][0] = literal((uint64_t)place.type);
        m->step->field[i][1] = literal((uint64_t)place.id);
    }
}

/* ---- calls of other memory, too ---- */

static void make_at(const struct maker *m)
{
    const struct model_managed *managed = some(m);
    const struct step_arg place = managed ? at(managed, some_offset(m, managed->size)) : maker_address(m);
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)m->step->call, &count);
    for (size_t i = 0; i < count; i++)
        if (params[i].kind == VMM_PARAM_ADDRESS)
            m->step->arg[i] = place;
    m->step->desc[0].location = some_place(m);
    if (m->step->call == VMM_CALL_pointer_get_attribute)
        maker_set(m, "attribute", literal(1 + choose(m->dice, VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)));
}

/* Copies and fills of the first bytes, which are kept. */
static void make_copy(const struct maker *m)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)m->step->call, &count);
    for (size_t i = 0; i < count; i++) {
        const struct model_managed *managed = some(m);
        if (params[i].kind == VMM_PARAM_ADDRESS)
            m->step->arg[i] = managed && !one_in(m, 8) ? at(managed, one_in(m, 12) ? some_offset(m, managed->size) : choose(m->dice, 3) * 8)
                                                       : maker_byte_place(m, m->model->current < 0 ? 0 : m->model->contexts[m->model->current].device);
        else if (params[i].kind == VMM_PARAM_SIZE)
            m->step->arg[i] = literal(1 + choose(m->dice, 32));
        else if (params[i].kind == VMM_PARAM_BYTES || params[i].kind == VMM_PARAM_U32)
            m->step->arg[i] = literal(1 + choose(m->dice, 255));
        else if (params[i].kind == VMM_PARAM_STREAM)
            m->step->arg[i] = maker_stream(m);
    }
}

static const struct maker_row rows[] = {
    {VMM_CALL_mem_alloc_managed, 6, make_alloc},
    {VMM_CALL_mem_free, 2, make_free},
    {VMM_CALL_mem_prefetch_async, 6, make_prefetch},
    {VMM_CALL_mem_advise, 10, make_advise},
    {VMM_CALL_mem_range_get_attribute, 12, make_attribute},
    {VMM_CALL_stream_attach_mem_async, 4, make_attach},
    {VMM_CALL_mem_prefetch_batch_async, 4, make_batch},
    {VMM_CALL_mem_discard_batch_async, 4, make_batch},
    {VMM_CALL_mem_discard_and_prefetch_batch_async, 4, make_batch},
    {VMM_CALL_pointer_get_attribute, 3, make_at},
    {VMM_CALL_mem_get_address_range, 1, make_at},
    {VMM_CALL_mem_get_access, 1, make_at},
    {VMM_CALL_mem_free_async, 1, make_at},
    {VMM_CALL_memcpy_htod, 3, make_copy},
    {VMM_CALL_memcpy_dtoh, 3, make_copy},
    {VMM_CALL_memcpy_dtod, 2, make_copy},
    {VMM_CALL_memset_d8, 2, make_copy},
    {VMM_CALL_memcpy_htod_async, 2, make_copy},
    {VMM_CALL_memcpy_dtoh_async, 2, make_copy},
    {VMM_CALL_memset_d8_async, 2, make_copy},
};

const struct maker_row *maker_managed_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}
