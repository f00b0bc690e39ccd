/* lockstep_driver.c - a real driver: what its machine is like, which calls it is spared, how it is left clean. */
#include "lockstep_parts.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
#define LARGEST_MEMORY (64 * MIB) /* that a random step may create */
#define ALL_MEMORY (4096 * MIB)   /* that may be held at once */

/* ---- what the machine is like ---- */

static void ask_granularity(vmm_system *sys, vmm_mem_location_type type, uint64_t granularity[2])
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0}};
    for (int option = 0; option < 2; option++) {
        uint64_t got;
        if (vmm_mem_get_allocation_granularity(sys, &got, &prop, option) == VMM_SUCCESS)
            granularity[option] = got;
    }
}

static void ask_device(struct lockstep *pair, int device)
{
    struct model_device *told = &pair->driver[device];
    for (int a = 0; a < MODEL_ATTRIBUTES; a++)
        told->has[a] = vmm_device_get_attribute(pair->sys, &told->attribute[a], a, device) == VMM_SUCCESS;
    pair->profile.peers[device] = 0;
    for (int peer = 0; peer < pair->profile.devices; peer++) {
        int can = 0;
        if (peer != device && vmm_device_can_access_peer(pair->sys, &can, device, peer) == VMM_SUCCESS && can)
            pair->profile.peers[device] |= (uint32_t)1 << peer;
    }
}

bool driver_ask(struct lockstep *pair, const struct sim_profile *base)
{
    struct sim_profile *p = &pair->profile;
    *p = *base;
    vmm_result result = vmm_init(pair->sys, 0);
    if (result == VMM_SUCCESS)
        result = vmm_device_get_count(pair->sys, &p->devices);
    if (result != VMM_SUCCESS)
        return lockstep_differ(pair, "spec \"%s\": %s", pair->spec, vmm_result_name(result));
    if (p->devices < 1 || p->devices > VMM_MAX_DEVICES)
        return lockstep_differ(pair, "spec \"%s\": %d devices", pair->spec, p->devices);
    pair->driver = calloc((size_t)p->devices, sizeof *pair->driver);
    if (!pair->driver)
        return lockstep_differ(pair, "the host has no memory left");
    vmm_device_get_name(pair->sys, p->device_name, (int)sizeof p->device_name, 0);
    vmm_device_total_mem(pair->sys, &p->device_memory, 0);
    ask_granularity(pair->sys, VMM_MEM_LOCATION_TYPE_DEVICE, p->device_granularity);
    ask_granularity(pair->sys, VMM_MEM_LOCATION_TYPE_HOST, p->host_granularity);
    for (int device = 0; device < p->devices; device++)
        ask_device(pair, device);
    return true;
}

/* One life of memory with every kind of use, so that what the driver sets up on first use is there. */
static vmm_result one_life(vmm_system *sys, vmm_mem_location location, uint64_t size, int device)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = location};
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, device}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at;
    unsigned char bytes[64];
    vmm_result result = vmm_mem_create(sys, &handle, size, &prop, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_mem_address_reserve(sys, &at, size, 0, 0, 0);
    if (result == VMM_SUCCESS) {
        result = vmm_mem_map(sys, at, size, 0, handle, 0);
        if (result == VMM_SUCCESS)
            result = vmm_mem_set_access(sys, at, size, &desc, 1);
        if (result == VMM_SUCCESS)
            result = vmm_memset_d32(sys, at, 0x5a5a5a5a, size / 8);
        if (result == VMM_SUCCESS)
            result = vmm_memcpy_dtod(sys, at + size / 2, at, 64);
        if (result == VMM_SUCCESS)
            result = vmm_memcpy_htod(sys, at, memset(bytes, 1, sizeof bytes), sizeof bytes);
        if (result == VMM_SUCCESS)
            result = vmm_memcpy_dtoh(sys, bytes, at, sizeof bytes);
        vmm_ctx_synchronize(sys);
        vmm_mem_unmap(sys, at, size);
        vmm_mem_address_free(sys, at, size);
    }
    vmm_mem_release(sys, handle);
    return result;
}

/* Where the driver's context left room for small reservations, as measured: the last unit of one chunk, and all but
 * the first 8 MiB of the next. 0 where it looks otherwise, and small ones get chunks of their own, or nobody knows. */
static uint64_t context_chunks(struct lockstep *pair)
{
    uint64_t unit = pair->profile.va_granularity, chunk = pair->profile.va_chunk, found = 0;
    vmm_deviceptr a, b;
    if (!chunk || vmm_mem_address_reserve(pair->sys, &a, unit, 0, 0, 0) != VMM_SUCCESS)
        return 0;
    if (vmm_mem_address_reserve(pair->sys, &b, unit, 0, 0, 0) == VMM_SUCCESS) {
        if ((a + unit) % chunk == 0 && b == a + unit + 8 * MIB)
            found = a + unit - chunk;
        vmm_mem_address_free(pair->sys, b, unit);
    }
    vmm_mem_address_free(pair->sys, a, unit);
    return found;
}

bool driver_settle(struct lockstep *pair)
{
    const vmm_mem_location host = {VMM_MEM_LOCATION_TYPE_HOST, 0};
    for (int device = 0; device < pair->profile.devices; device++) {
        const vmm_mem_location here = {VMM_MEM_LOCATION_TYPE_DEVICE, device};
        vmm_ctx_set_current(pair->sys, (vmm_context)(uintptr_t)pair->values[1 + device]);
        vmm_result result = one_life(pair->sys, here, pair->profile.device_granularity[0], device);
        if (result != VMM_SUCCESS)
            return lockstep_differ(pair, "spec \"%s\": memory cannot be used: %s", pair->spec,
                                   vmm_result_name(result));
        one_life(pair->sys, host, pair->profile.host_granularity[0], device); /* where there is such memory */
        uint64_t total;
        vmm_mem_get_info(pair->sys, &pair->driver[device].free, &total);
    }
    pair->profile.va_context = context_chunks(pair);
    return true;
}

/* ---- which calls are made ---- */

static bool row_spares(const char *id)
{
    const vmm_rule *rule = id ? vmm_rule_find(id) : NULL;
    return rule && (rule->driver_580 == VMM_DRIVER_CRASHES || rule->driver_580 == VMM_DRIVER_VARIES);
}

/* Whether every handle and context is 0 or alive, and every stream a default one. */
static bool forges_nothing(struct lockstep *pair, const union vmm_any_call *call)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(call->head.id, &count);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = vmm_call_scalar(&call->head, &params[i]);
        bool known = value == 0;
        if (params[i].kind == VMM_PARAM_HANDLE)
            known |= model_memory_of(&pair->model, value) != NULL;
        else if (params[i].kind == VMM_PARAM_CONTEXT)
            for (size_t c = 0; c < pair->model.context_count; c++)
                known |= (uint64_t)(uintptr_t)pair->model.contexts[c].value == value;
        else if (params[i].kind != VMM_PARAM_STREAM)
            continue;
        if (!known)
            return false;
    }
    return true;
}

/* Little memory, or so much that no machine has it. */
static bool modest(struct lockstep *pair, const struct vmm_call_mem_create *c, vmm_result predicted)
{
    uint64_t held = 0;
    for (size_t i = 0; i < pair->model.memory_count; i++)
        held += pair->model.memories[i].size;
    if (c->size <= LARGEST_MEMORY)
        return held + c->size <= ALL_MEMORY;
    if (predicted != VMM_SUCCESS && predicted != VMM_ERROR_OUT_OF_MEMORY)
        return true;
    bool device = c->prop && c->prop->location.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    return c->size > (device ? pair->profile.device_memory : (uint64_t)1 << 44);
}

bool driver_may(struct lockstep *pair, const union vmm_any_call *call)
{
    struct model_answer answer = {.actual = VMM_ERROR_UNKNOWN};
    model_predict(&pair->model, &call->head, &answer);
    if (answer.foreseen && row_spares(answer.rule))
        return false;
    if (call->head.id == VMM_CALL_mem_create && !modest(pair, &call->mem_create, answer.result))
        return false;
    return forges_nothing(pair, call);
}

/* ---- around a call ---- */

static bool uses_memory(const union vmm_any_call *call)
{
    switch (call->head.id) {
    case VMM_CALL_memcpy_htod:
    case VMM_CALL_memcpy_dtoh:
    case VMM_CALL_memcpy_dtod:
    case VMM_CALL_memset_d8:
    case VMM_CALL_memset_d16:
    case VMM_CALL_memset_d32: return true;
    default: return false;
    }
}

static bool lost(vmm_result result)
{
    return result == VMM_ERROR_ILLEGAL_ADDRESS || result == VMM_ERROR_CONTEXT_IS_DESTROYED || (int)result == 719;
}

/* A fill returns before it is done, and an unmap behind it would pull the memory from under it. */
void driver_finish(struct lockstep *pair, const union vmm_any_call *call, vmm_result result)
{
    if (result == VMM_SUCCESS && uses_memory(call))
        result = vmm_ctx_synchronize(pair->sys);
    pair->dead |= lost(result);
}

bool driver_undo(struct lockstep *pair, const union vmm_any_call *call, const struct outputs *out)
{
    vmm_system *sys = pair->sys;
    switch (call->head.id) {
    case VMM_CALL_mem_create:
    case VMM_CALL_mem_retain_allocation_handle: return vmm_mem_release(sys, out->slot[0]) == VMM_SUCCESS;
    case VMM_CALL_mem_address_reserve:
        return vmm_mem_address_free(sys, out->slot[0], call->mem_address_reserve.size) == VMM_SUCCESS;
    case VMM_CALL_mem_map: return vmm_mem_unmap(sys, call->mem_map.ptr, call->mem_map.size) == VMM_SUCCESS;
    case VMM_CALL_mem_release:
    case VMM_CALL_mem_address_free:
    case VMM_CALL_mem_unmap:
    case VMM_CALL_mem_set_access:
    case VMM_CALL_mem_free:
    case VMM_CALL_ctx_set_current: return false;
    default: return !uses_memory(call);
    }
}

void driver_sweep(struct lockstep *pair)
{
    struct model *m = &pair->model;
    for (size_t i = 0; i < m->mapping_count; i++)
        vmm_mem_unmap(pair->sys, m->mappings[i].start, m->mappings[i].size);
    for (size_t i = 0; i < m->memory_count; i++)
        for (uint32_t r = 0; r < m->memories[i].references; r++)
            vmm_mem_release(pair->sys, m->memories[i].handle);
    for (size_t i = 0; i < m->reservation_count; i++) {
        vmm_mem_unmap(pair->sys, m->reservations[i].start, m->reservations[i].size);
        vmm_mem_address_free(pair->sys, m->reservations[i].start, m->reservations[i].size);
    }
}
