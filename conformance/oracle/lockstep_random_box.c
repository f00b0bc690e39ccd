/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_random_box.c - random copies and fills in the order of a stream, and copies of boxes. */
#include "lockstep_maker.h"

/* ---- memory ---- */

/* Where bytes are kept of memory on a device that the device has access to; of the host's where there is none. */
struct step_arg maker_box_place(const struct maker *m, int device)
{
    struct step_arg at;
    const size_t count = m->model->mapping_count, from = choose(m->dice, count);
    if (one_in(m, 4) && maker_block_place(m, &at))
        return at;
    for (size_t i = 0; i < count; i++) {
        const struct model_mapping *p = &m->model->mappings[(from + i) % count];
        const struct model_memory *memory = model_memory_of(m->model, p->handle);
        if (device < 0 || p->device[device] < 3 || memory->prop.location.type != VMM_MEM_LOCATION_TYPE_DEVICE)
            continue;
        uint64_t granule = memory->granularity * choose(m->dice, p->size / memory->granularity);
        return maker_place(m, p->start + granule + (one_in(m, 2) ? 0 : memory->granularity / 2) + choose(m->dice, 8));
    }
    return maker_block_place(m, &at) ? at : maker_byte_place(m, device < 0 ? 0 : device);
}

/* ---- in the order of a stream ---- */

static void make_async(const struct maker *m)
{
    struct step_arg stream = maker_stream(m);
    if (one_in(m, 2))
        maker_captured_stream(m, &stream);
    const int device = maker_device_of(m, stream);
    const bool words = m->step->call == VMM_CALL_memset_d16_async || m->step->call == VMM_CALL_memset_d32_async;
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)m->step->call, &count);
    for (size_t i = 0; i < count; i++) {
        struct step_arg *arg = &m->step->arg[i];
        if (params[i].kind == VMM_PARAM_ADDRESS)
            *arg = one_in(m, 4) ? maker_byte_place(m, device < 0 ? 0 : device) : maker_box_place(m, device);
        else if (params[i].kind == VMM_PARAM_SIZE)
            *arg = literal(one_in(m, 60) ? m->unit : 1 + choose(m->dice, 40));
        else if (params[i].kind == VMM_PARAM_BYTES || params[i].kind == VMM_PARAM_U32)
            *arg = literal(1 + choose(m->dice, 255));
        if (words && params[i].kind == VMM_PARAM_ADDRESS && !one_in(m, 16))
            arg->add &= ~(uint64_t)3;
    }
    maker_set(m, "stream", stream);
}

/* ---- boxes ---- */

static void make_extent(const struct maker *m)
{
    m->step->extent[0] = 1 + choose(m->dice, 12);
    m->step->extent[1] = 1 + choose(m->dice, 3);
    m->step->extent[2] = 1 + choose(m->dice, 2);
    if (one_in(m, 40)) /* nothing to copy */
        m->step->extent[choose(m->dice, 3)] = 0;
}

/* The rows lie within what the call looks at, mostly. */
static void make_form(const struct maker *m, struct step_side *side)
{
    const uint64_t *extent = m->step->extent;
    side->x = one_in(m, 4) ? choose(m->dice, 6) : 0;
    side->y = one_in(m, 4) ? choose(m->dice, 3) : 0;
    side->z = one_in(m, 8) ? choose(m->dice, 2) : 0;
    side->pitch = one_in(m, 3) ? 0 : side->x + extent[0] + choose(m->dice, 8);
    side->height = one_in(m, 3) ? 0 : side->y + extent[1] + choose(m->dice, 2);
    if (one_in(m, 12))
        side->pitch = m->unit / 2;
}

static void make_side(const struct maker *m, int which, bool program, int device)
{
    struct step_side *side = &m->step->side[which];
    make_form(m, side);
    if (program) {
        side->type = one_in(m, 3) ? VMM_MEMORYTYPE_UNIFIED : VMM_MEMORYTYPE_HOST;
        side->base = literal(1 + choose(m->dice, 255));
        side->pitch %= m->unit / 2;
        return;
    }
    const int types[] = {VMM_MEMORYTYPE_DEVICE, VMM_MEMORYTYPE_DEVICE, VMM_MEMORYTYPE_UNIFIED, VMM_MEMORYTYPE_HOST};
    side->type = PICK(m, types);
    side->base = maker_box_place(m, device);
}

static struct step_arg some_context(const struct maker *m)
{
    uint64_t which = choose(m->dice, (uint64_t)m->model->profile->devices + 1);
    return (struct step_arg){(uint32_t)which, 0};
}

void maker_box(const struct maker *m, int device)
{
    const uint64_t kind = choose(m->dice, 4); /* from the program, to it, between devices */
    make_extent(m);
    make_side(m, 0, kind == 0, device);
    make_side(m, 1, kind == 1, device);
}

static void make_box(const struct maker *m)
{
    const enum vmm_call_id call = (enum vmm_call_id)m->step->call;
    const bool async = call == VMM_CALL_memcpy_3d_async || call == VMM_CALL_memcpy_3d_peer_async;
    struct step_arg stream = async ? maker_stream(m) : literal(0);
    if (call == VMM_CALL_memcpy_3d_async && one_in(m, 4))
        maker_captured_stream(m, &stream);
    maker_box(m, maker_device_of(m, stream));
    if (async)
        maker_set(m, "stream", stream);
    for (int i = 0; i < 2; i++)
        m->step->side[i].context = call == VMM_CALL_memcpy_3d || call == VMM_CALL_memcpy_3d_async ? literal(0) : some_context(m);
}

void maker_spoil_box(const struct maker *m)
{
    const int types[] = {0, VMM_MEMORYTYPE_HOST, VMM_MEMORYTYPE_DEVICE, VMM_MEMORYTYPE_ARRAY, VMM_MEMORYTYPE_UNIFIED, 5};
    struct step_side *side = &m->step->side[choose(m->dice, 2)];
    switch (choose(m->dice, 8)) {
    case 0: side->type = PICK(m, types); break;
    case 1: side->base = maker_address(m); break;
    case 2: side->pitch = 1 + choose(m->dice, 12); break;
    case 3: side->height = 1 + choose(m->dice, 3); break;
    case 4: side->x += choose(m->dice, 40); break;
    case 5: side->z += choose(m->dice, 40); break;
    case 6: side->context.add = one_in(m, 2) ? 64 : 0; break;
    default: m->step->extent[choose(m->dice, 3)] += choose(m->dice, 64);
    }
}

static const struct maker_row rows[] = {
    {VMM_CALL_memcpy_htod_async, 4, make_async},  {VMM_CALL_memcpy_dtoh_async, 4, make_async},
    {VMM_CALL_memcpy_dtod_async, 4, make_async},  {VMM_CALL_memset_d8_async, 3, make_async},
    {VMM_CALL_memset_d16_async, 3, make_async},   {VMM_CALL_memset_d32_async, 3, make_async},
    {VMM_CALL_memcpy_3d, 4, make_box},            {VMM_CALL_memcpy_3d_async, 4, make_box},
    {VMM_CALL_memcpy_3d_peer, 4, make_box},       {VMM_CALL_memcpy_3d_peer_async, 4, make_box},
};

const struct maker_row *maker_box_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}
