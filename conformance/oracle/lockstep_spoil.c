/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_spoil.c - makes one argument of a valid call wrong, or only unusual. */
#include "lockstep_maker.h"

static void spoil_prop(const struct maker *m)
{
    vmm_mem_allocation_prop *p = &m->step->prop;
    const int ids[] = {-1, 0, 1, 2, 3, 99}, handles[] = {1, 2, 4, 8, 9, 16, 17, 24};
    switch (choose(m->dice, 9)) {
    case 0: p->type = (int)choose(m->dice, 4); break;
    case 1: p->requested_handle_types = PICK(m, handles); break;
    case 2: p->location.type = (int)choose(m->dice, 6); break;
    case 3: p->location.id = PICK(m, ids); break;
    case 4: p->win32_handle_meta_data = (void *)(uintptr_t)8; break;
    case 5: p->alloc_flags.compression_type = (unsigned char)choose(m->dice, 3); break;
    case 6: p->alloc_flags.gpu_direct_rdma_capable = (unsigned char)choose(m->dice, 3); break;
    case 7: p->alloc_flags.usage = (unsigned short)choose(m->dice, 6); break;
    default: p->alloc_flags.reserved[choose(m->dice, 4)] = 1;
    }
}

static void spoil_desc(const struct maker *m)
{
    const int ids[] = {-1, 0, 1, 2, 99}, rights[] = {2, 4, 7, -1};
    vmm_mem_access_desc *d = &m->step->desc[choose(m->dice, STEP_FEW_DESCS)];
    switch (choose(m->dice, 3)) {
    case 0: d->location.type = (int)choose(m->dice, 6); break;
    case 1: d->location.id = PICK(m, ids); break;
    default: d->flags = PICK(m, rights);
    }
}

static void spoil_pool_props(const struct maker *m)
{
    const uint64_t types[] = {0, 2, 3, 255}, handles[] = {2, 4, 8, 9, 16}, sizes[] = {(uint64_t)1 << 47, ~(uint64_t)0, 1};
    const int ids[] = {-1, 1, 2, 99};
    switch (choose(m->dice, 6)) {
    case 0: m->step->word[0] = PICK(m, types); break;
    case 1: m->step->word[1] = PICK(m, handles); break;
    case 2: m->step->desc[0].location.type = (int)choose(m->dice, 6); break;
    case 3: m->step->desc[0].location.id = PICK(m, ids); break;
    case 4: m->step->word[2] = PICK(m, sizes); break;
    default: m->step->word[4] = 1;
    }
}

static void spoil_op(const struct maker *m)
{
    struct step_op *op = &m->step->op[choose(m->dice, STEP_OPS)];
    switch (choose(m->dice, 4)) {
    case 0: op->operation = (int)choose(m->dice, 9); break;
    case 1: op->flags ^= (unsigned)1 << choose(m->dice, 32); break;
    case 2: op->address = maker_address(m); break;
    default: op->address.add += 1 + choose(m->dice, 8);
    }
}

/* One field becomes another one's, or a number that no field should have. */
static void spoil_struct(const struct maker *m, size_t i)
{
    const uint64_t odd[] = {0, 1, 2, 3, 7, 64, 65536, 1 << 21, (uint64_t)1 << 31, ~(uint64_t)0};
    size_t count;
    const struct vmm_shape *shape = vmm_shape(vmm_call_params(m->step->call, &count)[i].shape);
    const size_t f = choose(m->dice, shape->count);
    struct step_arg *field = &m->step->field[0][f];
    if (shape->fields[f].kind == VMM_PARAM_ARRAY) /* a driver uses most values without looking */
        *field = maker_old_array(m);
    else if (shape->fields[f].kind == VMM_PARAM_HANDLE)
        *field = maker_handle(m);
    else if (one_in(m, 16))
        m->step->arg[i].add = 0;
    else if (one_in(m, 3))
        field->add += one_in(m, 2) ? 1 : ~(uint64_t)0;
    else
        *field = literal(PICK(m, odd));
}

static void spoil_pointer(const struct maker *m, size_t i, enum vmm_param_kind kind)
{
    if (kind == VMM_PARAM_POOL_PROPS && !one_in(m, 12)) {
        spoil_pool_props(m);
    } else if (kind == VMM_PARAM_MEM_OPS && !(m->model->driver ? false : one_in(m, 12))) {
        spoil_op(m);
    } else if ((kind == VMM_PARAM_MEMCPY3D || kind == VMM_PARAM_MEMCPY3D_PEER) && !one_in(m, 12)) {
        maker_spoil_box(m);
    } else if (kind >= VMM_PARAM_NODES && kind <= VMM_PARAM_KERNEL_NODE && !one_in(m, 8)) {
        maker_spoil_node(m, i, kind);
    } else if (kind == VMM_PARAM_IO_COUNT && !one_in(m, 3)) {
        m->step->word[0] = 0;
    } else if (kind == VMM_PARAM_SIZES && !one_in(m, 3)) {
        m->step->word[0] = choose(m->dice, 3);
    } else if (kind == VMM_PARAM_POOL_VALUE && !one_in(m, 6)) {
        m->step->word[0] = choose(m->dice, 3);
    } else if (kind == VMM_PARAM_PROP && !one_in(m, 12)) {
        spoil_prop(m);
        if (one_in(m, 2)) /* which of two faults decides */
            spoil_prop(m);
        if (m->step->call == VMM_CALL_mem_create && one_in(m, 4))
            *step_arg(m->step, "size") = literal(maker_size(m, m->unit));
    } else if (kind == VMM_PARAM_STRUCT || kind == VMM_PARAM_STRUCTS) {
        spoil_struct(m, i);
    } else if (kind == VMM_PARAM_LOCATION_VALUE || ((kind == VMM_PARAM_DESCS || kind == VMM_PARAM_LOCATION) && !one_in(m, 8))) {
        spoil_desc(m);
    } else {
        m->step->arg[i].add = 0;
    }
}

void maker_spoil(const struct maker *m)
{
    const uint64_t ints[] = {~(uint64_t)0, 0, 1, 2, 5, 22, 99}, flags[] = {0, 1, 2, (uint64_t)1 << 63};
    size_t count;
    const struct vmm_param *params = vmm_call_params(m->step->call, &count);
    if (!count)
        return;
    size_t i = choose(m->dice, count);
    struct step_arg *arg = &m->step->arg[i];
    switch (params[i].kind) {
    case VMM_PARAM_ADDRESS: *arg = maker_address(m); break;
    case VMM_PARAM_HANDLE: *arg = maker_handle(m); break;
    case VMM_PARAM_SIZE: *arg = literal(maker_size(m, arg->add)); break;
    case VMM_PARAM_COUNT: *arg = literal(choose(m->dice, 2)); break;
    case VMM_PARAM_INT: *arg = literal(PICK(m, ints)); break;
    case VMM_PARAM_U64: *arg = literal(PICK(m, flags)); break;
    case VMM_PARAM_CONTEXT: arg->add = 64; break;
    case VMM_PARAM_STREAM: break; /* a stream that there is not ends a driver's process */
    case VMM_PARAM_EVENT: *arg = literal(0); break;
    case VMM_PARAM_POOL: *arg = maker_old_pool(m); break;
    case VMM_PARAM_ARRAY: *arg = maker_old_array(m); break;
    case VMM_PARAM_GRAPH:
    case VMM_PARAM_GRAPH_NODE:
    case VMM_PARAM_USER_OBJECT:
    case VMM_PARAM_GRAPH_EXEC: *arg = maker_old_object(m); break;
    case VMM_PARAM_U32: *arg = literal(m->mix < 3 ? 0 : choose(m->dice, m->step->call == VMM_CALL_mem_map_array_async ? STEP_STRUCTS + 1 : 4)); break;
    default: spoil_pointer(m, i, params[i].kind);
    }
}
