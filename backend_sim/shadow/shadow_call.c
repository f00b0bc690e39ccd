/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "shadow_call.h"
#include "sim_open.h"

void shadow_pairs_clear(struct shadow_pairs *pairs)
{
    pairs_clear(&pairs->handles);
    pairs_clear(&pairs->pools);
    pairs_clear(&pairs->arrays);
    pairs_clear(&pairs->contexts);
    pairs_clear(&pairs->fabrics);
    pairs_clear(&pairs->offers);
}

static void set_pointer(struct vmm_call *call, const struct vmm_param *param, void *pointer)
{
    memcpy((unsigned char *)call + param->offset, &pointer, sizeof pointer);
}

static void *pointer_of(const struct vmm_call *call, const struct vmm_param *param)
{
    void *pointer;
    memcpy(&pointer, (const unsigned char *)call + param->offset, sizeof pointer);
    return pointer;
}

/* Translates an input from the inner backend's value to the simulator's. 0 stays 0. */
static bool translate(struct vmm_call *made, const struct vmm_param *param, const struct shadow_pairs *pairs)
{
    uint64_t value = vmm_call_scalar(made, param);
    const struct pairs *kind = param->kind == VMM_PARAM_HANDLE  ? &pairs->handles
                               : param->kind == VMM_PARAM_POOL  ? &pairs->pools
                               : param->kind == VMM_PARAM_ARRAY ? &pairs->arrays
                                                                : &pairs->contexts;
    if (!value)
        return true;
    if (param->kind == VMM_PARAM_STREAM) { /* streams are not shadowed; the default stream has the same rights */
        vmm_call_set_scalar(made, param, 0);
        return true;
    }
    vmm_call_set_scalar(made, param, pairs_get(kind, value));
    return pairs_get(kind, value) != 0;
}

static void own_attributes(struct shadow_call *made, const struct vmm_param *param)
{
    void **theirs = pointer_of(&made->call.head, param);
    unsigned count = made->call.pointer_get_attributes.num_attributes;
    for (unsigned i = 0; theirs && i < count; i++)
        made->attributes[i] = theirs[i] ? made->attribute[i] : NULL;
    set_pointer(&made->call.head, param, theirs ? made->attributes : NULL);
}

/* Redirects an output to the shadow's own storage. NULL stays NULL, so that the simulator refuses it, too. */
static void own_output(struct shadow_call *made, const struct vmm_param *param, size_t index)
{
    if (param->kind == VMM_PARAM_OUT_ATTRIBUTES)
        own_attributes(made, param);
    else if (param->kind != VMM_PARAM_OUT_BYTES && pointer_of(&made->call.head, param))
        set_pointer(&made->call.head, param, &made->out[index]);
}

/* The maps of a list name arrays and memory. False: one of them has no counterpart, or the list is too long. */
static bool own_tiles(struct shadow_call *made, const struct shadow_pairs *pairs)
{
    struct vmm_call_mem_map_array_async *call = &made->call.mem_map_array_async;
    if (made->call.head.id != VMM_CALL_mem_map_array_async || !call->map_info_list)
        return true;
    if (call->count > SHADOW_TILES)
        return false;
    for (unsigned i = 0; i < call->count; i++) {
        vmm_array_map_info *tile = &made->tiles[i];
        *tile = call->map_info_list[i];
        const uint64_t array = (uint64_t)(uintptr_t)tile->resource.array, memory = tile->mem_handle.mem_handle;
        tile->resource.array = (vmm_array)(uintptr_t)pairs_get(&pairs->arrays, array);
        tile->mem_handle.mem_handle = pairs_get(&pairs->handles, memory);
        if ((array && !tile->resource.array) || (memory && !tile->mem_handle.mem_handle))
            return false;
    }
    call->map_info_list = made->tiles;
    return true;
}

static bool is_output(enum vmm_param_kind kind)
{
    return kind >= VMM_PARAM_OUT_INT;
}

/* The simulator uses the inner backend's address for a reservation: every address is free in the simulator, so it
 * accepts any hint. */
static void adopt_place(struct shadow_call *made, const struct vmm_call *call, bool succeeded)
{
    if (call->id != VMM_CALL_mem_address_reserve || !succeeded)
        return;
    const struct vmm_call_mem_address_reserve *reserve = (const void *)call;
    made->call.mem_address_reserve.addr = *reserve->ptr;
}

bool shadow_call_begin(struct shadow_call *made, const struct vmm_call *call, bool succeeded,
                       const struct shadow_pairs *pairs)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    memcpy(&made->call, call, vmm_call_size((enum vmm_call_id)call->id));
    if (call->id == VMM_CALL_pointer_get_attributes &&
        made->call.pointer_get_attributes.num_attributes > SHADOW_ATTRIBUTES)
        return false;
    for (size_t i = 0; i < count; i++) {
        enum vmm_param_kind kind = params[i].kind;
        if (is_output(kind))
            own_output(made, &params[i], i);
        else if ((kind == VMM_PARAM_HANDLE || kind == VMM_PARAM_POOL || kind == VMM_PARAM_ARRAY || kind == VMM_PARAM_CONTEXT || kind == VMM_PARAM_STREAM) &&
                 !translate(&made->call.head, &params[i], pairs))
            return false;
    }
    adopt_place(made, call, succeeded);
    return own_tiles(made, pairs);
}

/* The current pool may be one that the shadow does not track; a new pool, and the device's default one, are the same
 * on both sides. */
static bool names_a_pool(enum vmm_call_id id)
{
    return id == VMM_CALL_mem_pool_create || id == VMM_CALL_device_get_default_mem_pool || id == VMM_CALL_mem_get_default_mem_pool;
}

/* Outputs of both sides must be equal, or become a pair. */
static bool bind(const struct shadow_call *made, const struct vmm_call *call, const struct vmm_param *param,
                 size_t index, struct shadow_pairs *pairs)
{
    const void *theirs = pointer_of(call, param);
    uint64_t value, own;
    bool wide = param->kind == VMM_PARAM_OUT_HANDLE || param->kind == VMM_PARAM_OUT_ARRAY || param->kind == VMM_PARAM_OUT_CONTEXT ||
                param->kind == VMM_PARAM_OUT_ADDRESS || param->kind == VMM_PARAM_OUT_U64 ||
                (param->kind == VMM_PARAM_OUT_POOL && names_a_pool((enum vmm_call_id)call->id));
    if (!theirs || !wide)
        return true;
    memcpy(&value, theirs, sizeof value);
    own = made->out[index].wide;
    if (param->kind == VMM_PARAM_OUT_HANDLE) {
        sim_show_handle(pairs->sim, own, value);
        return pairs_set(&pairs->handles, value, own);
    }
    if (param->kind == VMM_PARAM_OUT_POOL) {
        sim_show_pool(pairs->sim, own, value);
        return pairs_set(&pairs->pools, value, own);
    }
    if (param->kind == VMM_PARAM_OUT_ARRAY) {
        sim_show_array(pairs->sim, own, value);
        return pairs_set(&pairs->arrays, value, own);
    }
    if (param->kind == VMM_PARAM_OUT_CONTEXT) {
        sim_show_context(pairs->sim, own, value);
        return pairs_set(&pairs->contexts, value, own);
    }
    /* The remaining outputs are rights and the addresses of reservations, which must match, and addresses independent of the
     * shadow's state. */
    return (param->kind == VMM_PARAM_OUT_ADDRESS && call->id != VMM_CALL_mem_address_reserve) || value == own;
}

void shadow_call_forget_pool(const struct vmm_call *call, struct shadow_pairs *pairs)
{
    size_t count;
    uint64_t value;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    for (size_t i = 0; i < count; i++)
        if (params[i].kind == VMM_PARAM_OUT_POOL && pointer_of(call, &params[i])) {
            memcpy(&value, pointer_of(call, &params[i]), sizeof value);
            if (pairs_get(&pairs->pools, value))
                pairs_set(&pairs->pools, value, 0);
        }
}

bool shadow_call_end(const struct shadow_call *made, const struct vmm_call *call, vmm_result inner, vmm_result sim,
                     struct shadow_pairs *pairs)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    if (inner == VMM_SUCCESS && sim != VMM_SUCCESS)
        shadow_call_forget_pool(call, pairs);
    if (inner != VMM_SUCCESS || sim != VMM_SUCCESS)
        return true;
    for (size_t i = 0; i < count; i++)
        if (is_output(params[i].kind) && !bind(made, call, &params[i], i, pairs))
            return false;
    return true;
}
