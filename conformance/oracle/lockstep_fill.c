/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_fill.c - what calls of boxes and graphs read: made from a step. */
#include <stdatomic.h>
#include <string.h>

#include "lockstep_parts.h"
#include "model/model_array.h"

static _Atomic uint64_t host_calls;

static void count_call(void *user)
{
    (void)user;
    atomic_fetch_add(&host_calls, 1);
}

uint64_t lockstep_host_calls(void)
{
    return atomic_exchange(&host_calls, 0);
}

static _Atomic uint64_t destroyed;

static void count_destroyed(void *user)
{
    (void)user;
    atomic_fetch_add(&destroyed, 1);
}

uint64_t lockstep_destroyed(void)
{
    return atomic_exchange(&destroyed, 0);
}

vmm_host_fn lockstep_destroy(void)
{
    return count_destroyed;
}

const void *lockstep_steady(const struct lockstep *pair, uint64_t first)
{
    return pair->steady + first * 183 % 256; /* 7 * 183 is 1 more than a multiple of 256 */
}

/* ---- boxes ---- */

static bool is_programs(struct step_arg base)
{
    return !base.name && base.add && base.add < 256;
}

/* A driver uses what is no array without looking: of other values a step has none. */
static vmm_array array_of(const struct lockstep *pair, const struct step_side *side)
{
    const void *value = (const void *)(uintptr_t)lockstep_value(pair, side->base);
    return side->base.name && model_array_of(&pair->model, value) ? (vmm_array)(uintptr_t)value : NULL;
}

/* The program's memory is room for copies, where a copy goes to, and elsewhere what streams copy from. */
static uint64_t base_of(const struct lockstep *pair, const struct step *step, int side)
{
    const struct step_arg base = step->side[side].base;
    if (!is_programs(base))
        return lockstep_value(pair, base);
    return (uint64_t)(uintptr_t)(side ? pair->host : lockstep_steady(pair, base.add));
}

static vmm_context context_of(const struct lockstep *pair, const struct step_side *side)
{
    return (vmm_context)(uintptr_t)lockstep_value(pair, side->context);
}

static void fill_box(const struct lockstep *pair, const struct step *step, struct outputs *out)
{
    const struct step_side *from = &step->side[0], *to = &step->side[1];
    const uint64_t src = base_of(pair, step, 0), dst = base_of(pair, step, 1);
    out->box = (vmm_memcpy3d){
        .src_x_in_bytes = from->x, .src_y = from->y, .src_z = from->z, .src_memory_type = from->type, .src_pitch = from->pitch,
        .src_height = from->height, .dst_x_in_bytes = to->x, .dst_y = to->y, .dst_z = to->z, .dst_memory_type = to->type,
        .dst_pitch = to->pitch, .dst_height = to->height, .width_in_bytes = step->extent[0], .height = step->extent[1],
        .depth = step->extent[2]};
    if (from->type == VMM_MEMORYTYPE_HOST)
        out->box.src_host = (const void *)(uintptr_t)src;
    else if (from->type == VMM_MEMORYTYPE_ARRAY)
        out->box.src_array = array_of(pair, from);
    else
        out->box.src_device = src;
    if (to->type == VMM_MEMORYTYPE_HOST)
        out->box.dst_host = (void *)(uintptr_t)dst;
    else if (to->type == VMM_MEMORYTYPE_ARRAY)
        out->box.dst_array = array_of(pair, to);
    else
        out->box.dst_device = dst;
    _Static_assert(sizeof out->box == sizeof out->peer_box, "the same fields, but contexts for reserved ones");
    memcpy(&out->peer_box, &out->box, sizeof out->box);
    out->peer_box.src_context = context_of(pair, from);
    out->peer_box.dst_context = context_of(pair, to);
    if (is_programs(to->base))
        memset(pair->host, LOCKSTEP_SENTINEL, 1024);
}

/* The end of a side's rows, where nothing wraps; UINT64_MAX where something does. */
static uint64_t end_of(uint64_t x, uint64_t y, uint64_t z, uint64_t pitch, uint64_t height, const vmm_memcpy3d *c)
{
    const uint64_t most = LOCKSTEP_HOST_ROOM;
    if (x > most || y > most || z > most || pitch > most || height > most || c->width_in_bytes > most || c->height > most ||
        c->depth > most)
        return UINT64_MAX;
    pitch = pitch ? pitch : x + c->width_in_bytes;
    height = height ? height : y + c->height;
    if (height && pitch > most / height) /* a layer alone is larger */
        return UINT64_MAX;
    return (z + c->depth) * pitch * height + pitch + x + c->width_in_bytes;
}

bool lockstep_leaves_room(const struct lockstep *pair, const union vmm_any_call *call)
{
    size_t count, i = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->head.id, &count);
    while (i < count && params[i].kind != VMM_PARAM_MEMCPY3D && params[i].kind != VMM_PARAM_MEMCPY3D_PEER)
        i++;
    const vmm_memcpy3d *c = i < count ? (const vmm_memcpy3d *)(uintptr_t)vmm_call_scalar(&call->head, &params[i]) : NULL;
    if (!c) /* of the calls between contexts, the same but for those */
        return false;
    const uint64_t from = end_of(c->src_x_in_bytes, c->src_y, c->src_z, c->src_pitch, c->src_height, c);
    const uint64_t to = end_of(c->dst_x_in_bytes, c->dst_y, c->dst_z, c->dst_pitch, c->dst_height, c);
    (void)pair;
    return from > LOCKSTEP_HOST_ROOM || to > LOCKSTEP_HOST_ROOM;
}

/* ---- graphs ---- */

static void fill_nodes(const struct lockstep *pair, const struct step *step, struct outputs *out)
{
    for (size_t list = 0; list < 2; list++)
        for (size_t i = 0; i < STEP_NODES; i++)
            out->node[list][i] = (vmm_graph_node)(uintptr_t)lockstep_value(pair, step->node[list][i]);
}

static void fill_work(const struct lockstep *pair, const struct step *step, struct outputs *out)
{
    const uint64_t address = lockstep_value(pair, step->node[1][0]);
    out->fill = (vmm_memset_node_params){.dst = address, .pitch = step->word[0], .value = (unsigned)step->word[1],
                                         .element_size = (unsigned)step->word[2], .width = step->word[3], .height = step->word[4]};
    out->host = (vmm_host_node_params){.fn = step->word[0] ? count_call : NULL, .user_data = NULL};
    out->kernel_args[0] = address;
    out->kernel_args[1] = step->word[3];
    out->kernel_args[2] = 77;
    out->kernel = (vmm_kernel_node_params){.kernel = (vmm_kernel)step->word[0], .grid_dim = (unsigned)step->word[1],
                                           .block_dim = (unsigned)step->word[2], .args = out->kernel_args, .count = step->word[4]};
}

void lockstep_fill_in(struct lockstep *pair, const struct step *step, struct outputs *out)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)step->call, &count);
    for (size_t i = 0; i < count; i++) {
        if (params[i].kind == VMM_PARAM_MEMCPY3D || params[i].kind == VMM_PARAM_MEMCPY3D_PEER)
            fill_box(pair, step, out);
        if (params[i].kind == VMM_PARAM_NODES)
            fill_nodes(pair, step, out);
        if (params[i].kind == VMM_PARAM_FILL_NODE || params[i].kind == VMM_PARAM_HOST_NODE || params[i].kind == VMM_PARAM_KERNEL_NODE)
            fill_work(pair, step, out);
    }
}
