/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_driver.c - a real driver: the properties of its machine, the calls to skip, and how to leave it clean. */
#include "lockstep_parts.h"
#include "model/model_array.h"
#include "model/model_managed.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAME_READINGS = 4 };

#define MIB ((uint64_t)1 << 20)
#define LARGEST_MEMORY (64 * MIB) /* that a random step may create */
#define ALL_MEMORY (4096 * MIB)   /* that may be held at once */

/* ---- the machine's properties ---- */

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
    struct model_device *reported = &pair->driver[device];
    for (int a = 0; a < MODEL_ATTRIBUTES; a++)
        reported->has[a] = vmm_device_get_attribute(pair->sys, &reported->attribute[a], a, device) == VMM_SUCCESS;
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

/* Rights for every device that can have them. */
static vmm_result grant_all(struct lockstep *pair, vmm_deviceptr at, uint64_t size, vmm_mem_location location)
{
    vmm_result result = VMM_SUCCESS;
    bool host = location.type != VMM_MEM_LOCATION_TYPE_DEVICE;
    for (int device = 0; device < pair->profile.devices && result == VMM_SUCCESS; device++) {
        const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, device}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
        if (host || device == location.id || pair->profile.peers[device] >> location.id & 1)
            result = vmm_mem_set_access(pair->sys, at, size, &desc, 1);
    }
    return result;
}

/* How many bytes of memory a first use fills: the simulator pays for every page. */
static uint64_t first_fill(uint64_t size)
{
    return size / 2 < 65536 ? size / 2 : 65536;
}

/* The first use of each stream of a device and of its default one; not of a pool, which sees their order, nor of the events,
 * which would then be recorded. */
static void use_streams(struct lockstep *pair, int device, vmm_deviceptr at)
{
    vmm_system *sys = pair->sys;
    for (int i = -1; i < pair->model.lanes; i++) {
        const vmm_stream stream = (vmm_stream)(uintptr_t)(i < 0 ? 0 : pair->model.lane[i].stream);
        if (i >= 0 && pair->model.lane[i].device != device)
            continue;
        vmm_stream_batch_mem_op_params op = {.pad = {0}};
        op.write_value.operation = VMM_STREAM_MEM_OP_WRITE_VALUE_64;
        op.write_value.address = at;
        vmm_stream_write_value32(sys, stream, at, 0, 0);
        vmm_stream_wait_value64(sys, stream, at, 0, VMM_STREAM_WAIT_VALUE_GEQ);
        vmm_stream_batch_mem_op(sys, stream, 1, &op, 0);
        vmm_stream_synchronize(sys, stream);
    }
}

/* One life of memory with every kind of use, so that the driver does its first-use set-up. */
static vmm_result one_life(struct lockstep *pair, vmm_mem_location location, uint64_t size)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = location};
    vmm_system *sys = pair->sys;
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
            result = grant_all(pair, at, size, location);
        if (result == VMM_SUCCESS)
            result = vmm_memset_d32(sys, at, 0x5a5a5a5a, first_fill(size) / 4);
        if (result == VMM_SUCCESS)
            result = vmm_memcpy_dtod(sys, at + size / 2, at, 64);
        if (result == VMM_SUCCESS)
            result = vmm_memcpy_htod(sys, at, memset(bytes, 1, sizeof bytes), sizeof bytes);
        if (result == VMM_SUCCESS)
            result = vmm_memcpy_dtoh(sys, bytes, at, sizeof bytes);
        if (result == VMM_SUCCESS && location.type == VMM_MEM_LOCATION_TYPE_DEVICE)
            use_streams(pair, location.id, at);
        vmm_ctx_synchronize(sys);
        vmm_mem_unmap(sys, at, size);
        vmm_mem_address_free(sys, at, size);
    }
    vmm_mem_release(sys, handle);
    return result;
}

/* How many of the last fillers are adjacent. */
static size_t row_of_fillers(const struct lockstep *pair)
{
    size_t n = pair->fillers ? 1 : 0;
    while (n && n < pair->fillers &&
           pair->filler[pair->fillers - n - 1] + pair->profile.va_granularity == pair->filler[pair->fillers - n])
        n++;
    return n;
}

/* Fills the chunks where the driver has addresses of its own, and the chunk below home:
 *
 *     [driver's chunk dddd ffffff][driver's chunk dd ffffffff] ... [chunk ffffffffffffff][home ...
 */
static bool fill_open_chunks(struct lockstep *pair)
{
    uint64_t unit = pair->profile.va_granularity, chunk = pair->profile.va_chunk, at = pair->profile.va_start;
    for (bool full = !chunk; !full;) {
        if (pair->fillers == LOCKSTEP_FILLERS)
            return lockstep_differ(pair, "spec \"%s\": the driver's chunks have too much free space", pair->spec);
        vmm_result result = vmm_mem_address_reserve(pair->sys, &at, unit, 0, 0, 0);
        if (result != VMM_SUCCESS)
            return lockstep_differ(pair, "spec \"%s\": reserve: %s", pair->spec, vmm_result_name(result));
        pair->filler[pair->fillers++] = at;
        at += unit;
        full = at % chunk == 0 && row_of_fillers(pair) >= chunk / unit; /* a chunk that is ours alone */
    }
    pair->home = at;
    pair->home_end = pair->profile.va_end;
    for (int i = 0; i < SIM_MAX_TAKEN; i++) {
        const struct sim_range *taken = &pair->profile.va_taken[i];
        if (taken->end > pair->home && taken->start < pair->home_end)
            pair->home_end = taken->start;
    }
    pair->profile.va_start = pair->home;
    pair->profile.va_context = 0;
    return pair->home < pair->home_end ||
           lockstep_differ(pair, "spec \"%s\": no free addresses where the recorded driver has them", pair->spec);
}

/* Free memory, once it stays: a process that ended a moment ago may still give memory back. */
static bool ask_free(struct lockstep *pair, uint64_t *bytes)
{
    uint64_t total, before = 0;
    vmm_result result = vmm_mem_get_info(pair->sys, bytes, &total);
    for (const clock_t until = clock() + CLOCKS_PER_SEC; result == VMM_SUCCESS && *bytes != before && clock() < until;) {
        before = *bytes;
        for (int i = 0; i < SAME_READINGS && result == VMM_SUCCESS && *bytes == before; i++)
            result = vmm_mem_get_info(pair->sys, bytes, &total);
    }
    return result == VMM_SUCCESS && *bytes == before;
}

bool driver_settle(struct lockstep *pair)
{
    const vmm_mem_location host = {VMM_MEM_LOCATION_TYPE_HOST, 0};
    for (int turn = 0; turn < 2 * pair->profile.devices; turn++) { /* twice: free is asked when all is there */
        int device = turn % pair->profile.devices;
        const vmm_mem_location here = {VMM_MEM_LOCATION_TYPE_DEVICE, device};
        vmm_ctx_set_current(pair->sys, (vmm_context)(uintptr_t)pair->values[1 + device]);
        vmm_result result = one_life(pair, here, pair->profile.device_granularity[0]);
        if (result != VMM_SUCCESS)
            return lockstep_differ(pair, "spec \"%s\": memory cannot be used: %s", pair->spec,
                                   vmm_result_name(result));
        one_life(pair, host, pair->profile.host_granularity[0]); /* where there is such memory */
        if (!ask_free(pair, &pair->driver[device].free))
            return lockstep_differ(pair, "spec \"%s\": free memory does not settle", pair->spec);
    }
    return fill_open_chunks(pair);
}

/* ---- which calls are made ---- */

/* How many bytes of addresses a call covers; 1 for queries of one address. */
static uint64_t extent(const union vmm_any_call *call)
{
    switch (call->head.id) {
    case VMM_CALL_mem_map: return call->mem_map.size;
    case VMM_CALL_mem_unmap: return call->mem_unmap.size;
    case VMM_CALL_mem_address_free: return call->mem_address_free.size;
    case VMM_CALL_mem_set_access: return call->mem_set_access.size;
    case VMM_CALL_memcpy_htod: return call->memcpy_htod.byte_count;
    case VMM_CALL_memcpy_dtoh: return call->memcpy_dtoh.byte_count;
    case VMM_CALL_memcpy_dtod: return call->memcpy_dtod.byte_count;
    case VMM_CALL_memset_d8: return call->memset_d8.n;
    case VMM_CALL_memset_d16: return call->memset_d16.n * 2;
    case VMM_CALL_memset_d32: return call->memset_d32.n * 4;
    case VMM_CALL_memcpy_htod_async: return call->memcpy_htod_async.byte_count;
    case VMM_CALL_memcpy_dtoh_async: return call->memcpy_dtoh_async.byte_count;
    case VMM_CALL_memcpy_dtod_async: return call->memcpy_dtod_async.byte_count;
    case VMM_CALL_memset_d8_async: return call->memset_d8_async.n;
    case VMM_CALL_memset_d16_async: return call->memset_d16_async.n * 2;
    case VMM_CALL_memset_d32_async: return call->memset_d32_async.n * 4;
    default: return 1;
    }
}

static bool driver_changes_places(const union vmm_any_call *call)
{
    return call->head.id == VMM_CALL_mem_map || call->head.id == VMM_CALL_mem_unmap || call->head.id == VMM_CALL_mem_set_access ||
           call->head.id == VMM_CALL_mem_address_reserve || call->head.id == VMM_CALL_mem_address_free || call->head.id == VMM_CALL_mem_free ||
           call->head.id == VMM_CALL_mem_free_async || call->head.id == VMM_CALL_mem_retain_allocation_handle;
}

/* Does a range that begins elsewhere run into the addresses of a pool? */
static bool enters_pool(const struct model *m, uint64_t at, uint64_t size)
{
    for (size_t i = 0; i < m->pool_count; i++) {
        const struct model_pool *pool = m->pools[i];
        if (!pool->gone && pool->start && at < pool->start && pool->start - at < size)
            return true;
    }
    return false;
}

/* Does it give a device rights to a pool of the host once more? A driver counts mappings of the first device's memory that other devices
 * may access, and such a call takes one off: at 0 it unmaps that memory and answers PEER_ACCESS_NOT_ENABLED. Counted so, 3 unmaps of
 * 434 on two H200 came at 0, and were the 3 that were answered so. */
static bool grants_again(struct lockstep *pair, const struct vmm_call_mem_pool_set_access *call)
{
    const struct model_pool *pool = model_pool_of(&pair->model, (uint64_t)(uintptr_t)call->pool);
    bool has[VMM_MAX_DEVICES] = {false}, again = false;
    if (!pool || !model_on_host(pool) || pair->follows)
        return false;
    for (int i = 0; i < pair->profile.devices; i++)
        has[i] = pool->rights[i] != 0;
    for (uint64_t i = 0; i < call->count; i++) {
        const vmm_mem_access_desc *d = &call->map[i];
        if (d->location.type != VMM_MEM_LOCATION_TYPE_DEVICE || d->location.id <= 0)
            continue; /* the call is accepted: there is such a device */
        again |= d->flags && has[d->location.id];
        has[d->location.id] = d->flags != 0;
    }
    return again;
}

/* Calls after which a driver's pools are broken, so that later calls end the process, or cannot be followed: an alignment past
 * a chunk, for which it reserves so many addresses that pools get some of them, at places where they do not work; the end of a
 * pool that has memory in use, once that is freed; a pool of more than all addresses, whose creation seldom returns; a pool for
 * a fabric, which ends the process with itself; a pointer that is exported, whose chunk's memory does not come back when the
 * pool releases it. */
static bool breaks_pools(struct lockstep *pair, const union vmm_any_call *call, const struct model_answer *answer)
{
    const struct model_pool *pool;
    switch (call->head.id) {
    case VMM_CALL_mem_address_reserve:
        return pair->mix >= 2 && answer->result == VMM_SUCCESS && call->mem_address_reserve.alignment > pair->profile.va_chunk;
    case VMM_CALL_mem_pool_destroy:
        pool = model_pool_of(&pair->model, (uint64_t)(uintptr_t)call->mem_pool_destroy.pool);
        return answer->result == VMM_SUCCESS && pool && pool->heap.blocks.count;
    case VMM_CALL_mem_pool_create:
        return (pair->model.cautious && answer->result == VMM_ERROR_OUT_OF_MEMORY) ||
               (answer->result == VMM_SUCCESS && call->mem_pool_create.pool_props->handle_types & VMM_MEM_HANDLE_TYPE_FABRIC);
    case VMM_CALL_mem_pool_export_pointer: return answer->result == VMM_SUCCESS;
    case VMM_CALL_mem_pool_set_access: return answer->result == VMM_SUCCESS && grants_again(pair, &call->mem_pool_set_access);
    default: return false;
    }
}

/* These are read before anything is checked. */
static bool reads_null(const union vmm_any_call *call)
{
    switch (call->head.id) {
    case VMM_CALL_mem_pool_set_attribute: return !call->mem_pool_set_attribute.value;
    case VMM_CALL_memcpy_3d_peer: return !call->memcpy_3d_peer.p_copy;
    case VMM_CALL_memcpy_3d_peer_async: return !call->memcpy_3d_peer_async.p_copy;
    case VMM_CALL_thread_exchange_stream_capture_mode: return !call->thread_exchange_stream_capture_mode.mode;
    default: return false;
    }
}

/* A fill of the host's memory, or a copy to it, to which the host may not write: the processor does it, and the process ends. */
static bool fills_read_only(struct lockstep *pair, const union vmm_any_call *call)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->head.id, &count);
    const char *name = vmm_call_name((enum vmm_call_id)call->head.id);
    const bool writes = !strncmp(name, "memset_", 7) || !strncmp(name, "memcpy_htod", 11) || !strncmp(name, "memcpy_dtod", 11);
    const struct model_mapping *to = writes ? model_mapping_at(&pair->model, vmm_call_scalar(&call->head, &params[0])) : NULL;
    const struct model_memory *memory = to ? model_memory_of(&pair->model, to->handle) : NULL;
    return memory && memory->prop.location.type != VMM_MEM_LOCATION_TYPE_DEVICE && to->host == VMM_MEM_ACCESS_FLAGS_PROT_READ;
}

/* A copy or fill on a stream, without a current context, of memory that the device may not access: seen to end the process. */
static bool lacks_context(const struct lockstep *pair, const union vmm_any_call *call, const struct model_answer *answer)
{
    const char *name = vmm_call_name((enum vmm_call_id)call->head.id);
    return pair->model.current < 0 && strstr(name, "_async") && (!strncmp(name, "memcpy", 6) || !strncmp(name, "memset", 6)) && answer->rule &&
           (!strcmp(answer->rule, "VMM-COPY-NO-READ") || !strcmp(answer->rule, "VMM-COPY-NO-WRITE"));
}

/* A box between contexts of which one is NULL, where rights are lacking: seen to end the process, which looks for whose they
 * are. */
static bool lacks_peer(const union vmm_any_call *call, const struct model_answer *answer)
{
    const bool peers = call->head.id == VMM_CALL_memcpy_3d_peer || call->head.id == VMM_CALL_memcpy_3d_peer_async;
    const vmm_memcpy3d_peer *box = !peers ? NULL : call->head.id == VMM_CALL_memcpy_3d_peer ? call->memcpy_3d_peer.p_copy : call->memcpy_3d_peer_async.p_copy;
    return box && (!box->src_context || !box->dst_context) && answer->rule &&
           (!strcmp(answer->rule, "VMM-COPY-NO-READ") || !strcmp(answer->rule, "VMM-COPY-NO-WRITE"));
}

/* The same where no device may do all of the copy, which its contexts would have to do together. */
static bool lacks_one_device(struct lockstep *pair, const union vmm_any_call *call)
{
    const bool peers = call->head.id == VMM_CALL_memcpy_3d_peer || call->head.id == VMM_CALL_memcpy_3d_peer_async;
    const vmm_memcpy3d_peer *box = !peers ? NULL : call->head.id == VMM_CALL_memcpy_3d_peer ? call->memcpy_3d_peer.p_copy : call->memcpy_3d_peer_async.p_copy;
    if (!box || (box->src_context && box->dst_context))
        return false;
    const bool from_host = box->src_memory_type == VMM_MEMORYTYPE_HOST, to_host = box->dst_memory_type == VMM_MEMORYTYPE_HOST;
    const struct model_mapping *from = model_memory_at(&pair->model, from_host ? (uint64_t)(uintptr_t)box->src_host : box->src_device);
    const struct model_mapping *to = model_memory_at(&pair->model, to_host ? (uint64_t)(uintptr_t)box->dst_host : box->dst_device);
    bool any = !from || !to;
    for (int device = 0; device < pair->profile.devices; device++)
        any |= from && to && model_device_rights(from, device) && model_device_rights(to, device) == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return !any;
}

/* A copy to mapped memory of the host on a stream of another device than the current context's: seen to end the process. */
static bool copies_aside(struct lockstep *pair, const union vmm_any_call *call)
{
    struct model *m = &pair->model;
    const struct vmm_call_memcpy_htod_async *c = &call->memcpy_htod_async;
    struct model_answer ignored;
    const struct model_mapping *to = call->head.id == VMM_CALL_memcpy_htod_async ? model_mapping_at(m, c->dst) : NULL;
    const int lane = to ? model_lane_of(m, (uint64_t)(uintptr_t)c->stream, &ignored) : -1;
    return lane >= 0 && m->current >= 0 && m->lane[lane].device != model_current_device(m) && !model_in_device(m, to);
}

/* A copy from mapped memory of the host on a stream of such a device that may not read it: the host makes the copy. Seen to end
 * the process where the host may not read it either. */
static bool reads_aside(struct lockstep *pair, const union vmm_any_call *call)
{
    struct model *m = &pair->model;
    const struct vmm_call_memcpy_dtoh_async *c = &call->memcpy_dtoh_async;
    struct model_answer ignored;
    const struct model_mapping *from = call->head.id == VMM_CALL_memcpy_dtoh_async ? model_mapping_at(m, c->src) : NULL;
    const int lane = from ? model_lane_of(m, (uint64_t)(uintptr_t)c->stream, &ignored) : -1;
    const int device = lane >= 0 ? m->lane[lane].device : -1;
    return lane >= 0 && m->current >= 0 && device != model_current_device(m) && !model_in_device(m, from) && !from->host &&
           !model_device_rights(from, device);
}

static bool does_aside(struct lockstep *pair, const union vmm_any_call *call)
{
    return lacks_one_device(pair, call) || copies_aside(pair, call) || reads_aside(pair, call);
}

/* Which of the calls that end the process is it? */
static bool ends_process(struct lockstep *pair, const union vmm_any_call *call, const struct model_answer *answer)
{
    return (answer->foreseen && (answer->wraps || answer->ends)) || reads_null(call) || (pair->model.cautious && lacks_context(pair, call, answer)) ||
           (pair->model.cautious && (lacks_peer(call, answer) || (answer->result == VMM_SUCCESS && (does_aside(pair, call))))) ||
           (pair->model.cautious && answer->result == VMM_SUCCESS && fills_read_only(pair, call));
}

/* Whether such a range is refused, or nothing in it is unmapped, depends on what else is in the process. */
static bool unmaps_unsure(const struct lockstep *pair, const union vmm_any_call *call, const struct model_answer *answer)
{
    return answer->rule && !strcmp(answer->rule, "VMM-UNMAP-WRAPS") &&
           (pair->model.pool_count || (pair->model.cautious && call->mem_unmap.ptr == UINT64_MAX));
}

static bool lies_in_pool(const struct model *m, uint64_t at)
{
    for (size_t i = 0; i < m->pool_count; i++) {
        const struct model_pool *pool = m->pools[i];
        if (!pool->gone && at >= pool->start && at - pool->start < pool->heap.slots * pool->heap.slot)
            return true;
    }
    return false;
}

/* Instances of graphs and arrays have memory at addresses, which the driver takes where a reservation might be. */
static bool may_have_own(const struct model *m)
{
    return m->instances || m->arrays->count;
}

/* Is an address of that kind free? A driver says where such memory lies, but not of an array. */
static bool is_free(struct lockstep *pair, uint64_t at)
{
    const uint64_t unit = pair->profile.va_granularity;
    uint64_t got = 0, size = 0;
    if (!may_have_own(&pair->model) || model_reservation_at(&pair->model, at) || model_block_at(&pair->model, at) || model_mapping_at(&pair->model, at))
        return true;
    if (vmm_mem_get_address_range(pair->sys, &got, &size, at) == VMM_SUCCESS)
        return false; /* behind a pool, too, of whose addresses the model has more than a driver */
    if (lies_in_pool(&pair->model, at))
        return true;
    at -= at % unit;
    if (vmm_mem_address_reserve(pair->sys, &got, unit, 0, at, 0) == VMM_SUCCESS)
        vmm_mem_address_free(pair->sys, got, unit);
    return got == at;
}

/* Is all of the range? Of a long one its beginning and its end are looked at. */
static bool is_free_range(struct lockstep *pair, uint64_t at, uint64_t size)
{
    enum { PROBES = 64 };
    const uint64_t unit = pair->profile.va_granularity, last = at + size - 1;
    bool is = is_free(pair, last);
    for (unsigned i = 0; i < PROBES && at <= last && is; i++, at += unit - at % unit)
        is = is_free(pair, at);
    return is;
}

/* Can nothing in the range belong to the driver or the program? It is in the model's part of the address space, in one
 * of its reservations, or where no memory can be. A range that wraps is refused or does nothing, except that rights may
 * then be set from its start on. */
static bool ours(struct lockstep *pair, const union vmm_any_call *call, uint64_t at, uint64_t size)
{
    const struct model_reservation *r = model_reservation_at(&pair->model, at);
    uint64_t space = (uint64_t)1 << 47;
    size = size ? size : 1;
    if (size > UINT64_MAX - at)
        return (call->head.id != VMM_CALL_mem_set_access || size % pair->profile.va_granularity) &&
               (at < 65536 || at >= space || r || (at >= pair->home && at < pair->home_end));
    if (at >= space || at < 65536) /* every call checks the start first */
        return true;
    if (pair->mix > LOCKSTEP_MIX_OF_GRAPHS && pair->model.pool_count && !r && model_mapping_at(&pair->model, at))
        return false; /* what a mapping has past its reservation, a pool without an allocation may have as its own */
    /* Where pools without an allocation are is not known; and what is mapped past a reservation is where the driver may later want
     * memory for an instance, which is refused then (ALREADY_MAPPED, seen once), or has some already (seen three times). */
    const bool past = r && size > r->size - (at - r->start);
    const bool maps = call->head.id == VMM_CALL_mem_map && pair->mix >= LOCKSTEP_MIX_OF_GRAPHS && !pair->follows;
    if (enters_pool(&pair->model, at, size) || ((pair->model.pool_count || maps) && past))
        return false;
    if (at >= pair->home && at + size <= pair->home_end)
        return is_free_range(pair, at, size);
    const struct model_block *block = model_block_at(&pair->model, at);
    const struct model_managed *managed = model_managed_at(&pair->model, at);
    if (managed && at - managed->start + size <= managed->size)
        return true;
    return (block && at - block->start + size <= block->size) || (r && at - r->start + size <= r->size);
}

/* May there be memory of the driver's own? The model has nothing there. */
static bool may_be_own(struct lockstep *pair, uint64_t at)
{
    struct model *m = &pair->model;
    return at >= pair->home && at < pair->home_end && !model_reservation_at(m, at) && !model_block_at(m, at) && !model_mapping_at(m, at);
}

/* How many of a list's operations there are: a random call may claim more, and is refused. */
static unsigned listed(const struct vmm_call_stream_batch_mem_op *list)
{
    return !list->param_array ? 0 : list->count < STEP_OPS ? list->count : STEP_OPS;
}

static bool lists_own(struct lockstep *pair, const struct vmm_call_stream_batch_mem_op *call)
{
    bool any = false;
    for (unsigned i = 0; i < listed(call); i++)
        any |= may_be_own(pair, call->param_array[i].write_value.address);
    return any;
}

/* A wait there never ends, as three episodes on an H200 showed, and a write changes what the driver keeps. */
static bool orders_in_own(struct lockstep *pair, const union vmm_any_call *call)
{
    if (!may_have_own(&pair->model))
        return false;
    switch (call->head.id) {
    case VMM_CALL_stream_write_value32: return may_be_own(pair, call->stream_write_value32.addr);
    case VMM_CALL_stream_write_value64: return may_be_own(pair, call->stream_write_value64.addr);
    case VMM_CALL_stream_wait_value32: return may_be_own(pair, call->stream_wait_value32.addr);
    case VMM_CALL_stream_wait_value64: return may_be_own(pair, call->stream_wait_value64.addr);
    case VMM_CALL_stream_batch_mem_op: return lists_own(pair, &call->stream_batch_mem_op);
    default: return false;
    }
}

/* Does a mapping reach past its reservation to addresses that none has? */
static bool maps_unreserved(struct model *m)
{
    bool any = false;
    for (size_t i = 0; i < m->mapping_count; i++) {
        const uint64_t end = m->mappings[i].start + m->mappings[i].size;
        for (uint64_t at = m->mappings[i].start; at < end && !any;) {
            const struct model_reservation *r = model_reservation_at(m, at);
            any = !r;
            at = r ? r->start + r->size : end;
        }
    }
    return any;
}

/* A sparse array has addresses, of which the driver takes some that are mapped but not reserved: it cannot be created there. */
static bool lacks_place(struct model *m, const union vmm_any_call *call, const struct model_answer *answer)
{
    const vmm_array3d_descriptor *is = call->head.id == VMM_CALL_array_3d_create         ? call->array_3d_create.p_allocate_array
                                       : call->head.id == VMM_CALL_mipmapped_array_create ? call->mipmapped_array_create.p_mipmapped_array_desc
                                                                                          : NULL;
    return answer->actual == VMM_ERROR_INVALID_VALUE && answer->result == VMM_SUCCESS && is && is->flags & VMM_ARRAY3D_SPARSE &&
           maps_unreserved(m);
}

/* Does a mapping reach into the reservation from before its start? Beside memory of the driver's own, which may have addresses of that
 * mapping, it was seen not to keep the reservation. */
static bool frees_mapped(struct model *m, const union vmm_any_call *call)
{
    const struct model_reservation *r = call->head.id == VMM_CALL_mem_address_free ? model_reservation_at(m, call->mem_address_free.ptr) : NULL;
    const struct model_mapping *mapped = r && may_have_own(m) ? model_mapping_at(m, r->start) : NULL;
    return mapped && mapped->start < r->start;
}

/* Was the call made where the driver has memory of its own? That can be used, though the model has nothing there. */
bool driver_has_memory(struct lockstep *pair, const union vmm_any_call *call, const struct model_answer *answer)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(call->head.id, &count);
    bool any = false;
    if (lacks_place(&pair->model, call, answer))
        return true;
    if (!may_have_own(&pair->model) || answer->actual != VMM_SUCCESS || answer->result == VMM_SUCCESS || driver_changes_places(call))
        return false;
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = params[i].kind == VMM_PARAM_ADDRESS ? vmm_call_scalar(&call->head, &params[i]) : 0;
        any |= may_be_own(pair, at);
    }
    any |= call->head.id == VMM_CALL_graph_instantiate && answer->rule && !strcmp(answer->rule, "VMM-COPY-NOT-MAPPED"); /* of a fill */
    return any || (call->head.id == VMM_CALL_stream_batch_mem_op && lists_own(pair, &call->stream_batch_mem_op));
}

/* What a list writes or awaits. */
static bool ours_listed(struct lockstep *pair, const union vmm_any_call *call)
{
    const struct vmm_call_stream_batch_mem_op *list = &call->stream_batch_mem_op;
    bool ours_only = true;
    if (call->head.id != VMM_CALL_stream_batch_mem_op || !may_have_own(&pair->model))
        return true;
    for (unsigned i = 0; i < listed(list) && ours_only; i++)
        ours_only = list->param_array[i].operation == VMM_STREAM_MEM_OP_BARRIER || ours(pair, call, list->param_array[i].write_value.address, 8);
    return ours_only;
}

static bool ours_all(struct lockstep *pair, const union vmm_any_call *call)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(call->head.id, &count);
    if (call->head.id == VMM_CALL_mem_address_reserve)
        return true;
    if (frees_mapped(&pair->model, call) || !ours_listed(pair, call))
        return false;
    for (size_t i = 0; i < count; i++)
        if (params[i].kind == VMM_PARAM_ADDRESS &&
            !ours(pair, call, vmm_call_scalar(&call->head, &params[i]), extent(call)))
            return false;
    return true;
}

static enum left_out row_leaves_out(const char *id)
{
    const vmm_rule *rule = id ? vmm_rule_find(id) : NULL;
    if (!rule)
        return LEFT_OUT_NOT;
    if (rule->driver_580 == VMM_DRIVER_CRASHES || rule->driver_580 == VMM_DRIVER_VARIES)
        return rule->driver_580 == VMM_DRIVER_CRASHES ? LEFT_OUT_CRASH : LEFT_OUT_VARIES;
    return !strncmp(id, "VMM-POOL-", 9) && rule->driver_580 == VMM_DRIVER_UNKNOWN ? LEFT_OUT_OURS : LEFT_OUT_NOT;
}

static bool is_ours(const struct lockstep *pair, uint64_t value)
{
    for (uint32_t name = STEP_FIRST_STREAM; pair->ready && name < STEP_FIRST_EVENT + STEP_EVENTS; name++)
        if (pair->values[name] == value)
            return true;
    return false;
}

/* A driver takes a mipmapped array for a plain one, and answers of memory that is another object's. */
static bool reads_past_array(const struct lockstep *pair, const union vmm_any_call *call, uint64_t value)
{
    const struct model_array *array = model_array_of(&pair->model, (const void *)(uintptr_t)value);
    const bool plain = call->head.id == VMM_CALL_array_get_memory_requirements || call->head.id == VMM_CALL_array_get_sparse_properties;
    return plain && array && array->mipmapped;
}

static bool knows_context(const struct lockstep *pair, vmm_context context)
{
    bool known = !context;
    for (size_t i = 0; i < pair->model.context_count; i++)
        known |= pair->model.contexts[i].value == context;
    return known;
}

/* Of a copy between contexts: they are used also where another mistake would count. */
static bool knows_contexts(const struct lockstep *pair, const union vmm_any_call *call)
{
    const vmm_memcpy3d_peer *box = call->head.id == VMM_CALL_memcpy_3d_peer         ? call->memcpy_3d_peer.p_copy
                                   : call->head.id == VMM_CALL_memcpy_3d_peer_async ? call->memcpy_3d_peer_async.p_copy
                                                                                    : NULL;
    return !box || (knows_context(pair, box->src_context) && knows_context(pair, box->dst_context));
}

/* Is every handle and context 0 or alive, every pool 0 or one that exists, and every stream a default one or ours? */
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
            known = knows_context(pair, (vmm_context)(uintptr_t)value);
        else if (params[i].kind == VMM_PARAM_POOL)
            known |= model_pool_of(&pair->model, value) && !model_pool_of(&pair->model, value)->ended; /* else its memory is freed */
        else if (params[i].kind == VMM_PARAM_ARRAY)
            known |= driver_knows_array(pair, value) && !reads_past_array(pair, call, value);
        else if (params[i].kind == VMM_PARAM_STREAM || params[i].kind == VMM_PARAM_EVENT)
            known |= is_ours(pair, value);
        else
            continue;
        if (!known)
            return false;
    }
    return knows_contexts(pair, call) &&
           (call->head.id != VMM_CALL_mem_map_array_async || driver_knows_tiles(pair, &call->mem_map_array_async));
}

/* Little memory, or more than any machine has: the free memory of a shared machine is unknown. */
static bool modest(struct lockstep *pair, const struct vmm_call_mem_create *c, vmm_result predicted)
{
    uint64_t held = 0;
    for (size_t i = 0; i < pair->model.memory_count; i++)
        held += pair->model.memories[i].size;
    if (c->size <= LARGEST_MEMORY)
        return held + c->size <= ALL_MEMORY;
    if (predicted != VMM_SUCCESS && predicted != VMM_ERROR_OUT_OF_MEMORY && predicted != VMM_ERROR_NOT_PERMITTED)
        return true;
    bool device = c->prop && c->prop->location.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    return c->size > (device ? pair->profile.device_memory : (uint64_t)1 << 44);
}

/* The same of a pool's memory. */
static bool modest_block(const struct lockstep *pair, uint64_t size)
{
    uint64_t held = 0;
    for (size_t i = 0; i < pair->model.block_count; i++)
        held += pair->model.blocks[i].size;
    return size <= 2 * LARGEST_MEMORY ? held + size <= ALL_MEMORY : size > pair->profile.device_memory * 2;
}

static bool modest_call(struct lockstep *pair, const union vmm_any_call *call, vmm_result predicted)
{
    switch (call->head.id) {
    case VMM_CALL_mem_create: return modest(pair, &call->mem_create, predicted);
    case VMM_CALL_mem_alloc_async: return modest_block(pair, call->mem_alloc_async.bytesize);
    case VMM_CALL_mem_alloc_from_pool_async: return modest_block(pair, call->mem_alloc_from_pool_async.bytesize);
    case VMM_CALL_mem_alloc_managed: return driver_modest_managed(pair, call->mem_alloc_managed.bytesize, predicted);
    case VMM_CALL_array_3d_create: return driver_modest_array(pair, call->array_3d_create.p_allocate_array, 1, predicted);
    case VMM_CALL_mipmapped_array_create:
        return driver_modest_array(pair, call->mipmapped_array_create.p_mipmapped_array_desc, call->mipmapped_array_create.num_mipmap_levels,
                                   predicted);
    default: return true;
    }
}

/* The call's context, for the parent if the process dies: the prediction, and what lies at its addresses. */
static void set_scene(struct lockstep *pair, const union vmm_any_call *call, const struct model_answer *answer)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(call->head.id, &count);
    int n = snprintf(pair->scene, LOCKSTEP_SCENE, "predicted %s [%s]", vmm_result_name(answer->result),
                     answer->rule ? answer->rule : "no rule");
    for (size_t i = 0; i < count && n < LOCKSTEP_SCENE; i++) {
        uint64_t at = vmm_call_scalar(&call->head, &params[i]);
        const struct model_mapping *p = params[i].kind == VMM_PARAM_ADDRESS ? model_mapping_at(&pair->model, at) : NULL;
        for (int side = 0; p && side < 2 && n < LOCKSTEP_SCENE; side++) { /* that mapping and the one after it */
            const struct model_memory *memory = model_memory_of(&pair->model, p->handle);
            n += snprintf(pair->scene + n, (size_t)(LOCKSTEP_SCENE - n),
                          "; %s: %s+%#llx of %#llx, location %d, device %d host %d, rdma %d", params[i].name,
                          side ? "then" : "mapping", (unsigned long long)(side ? 0 : at - p->start),
                          (unsigned long long)p->size, memory->prop.location.type, p->device[0], p->host,
                          memory->prop.alloc_flags.gpu_direct_rdma_capable);
            p = model_mapping_at(&pair->model, p->start + p->size);
        }
    }
}

enum left_out driver_leaves_out(struct lockstep *pair, const union vmm_any_call *call)
{
    struct model_answer answer;
    model_foresee(&pair->model, &call->head, &answer);
    if (ends_process(pair, call, &answer))
        return LEFT_OUT_CRASH;
    if (driver_lacks_references(pair, call))
        return LEFT_OUT_UNOWNED;
    if (answer.foreseen && breaks_pools(pair, call, &answer))
        return LEFT_OUT_BREAKS;
    if (unmaps_unsure(pair, call, &answer))
        return LEFT_OUT_VARIES;
    enum left_out left = answer.foreseen ? row_leaves_out(answer.rule) : LEFT_OUT_NOT;
    if (left)
        return left;
    if (!modest_call(pair, call, answer.result))
        return LEFT_OUT_MUCH;
    if (!forges_nothing(pair, call))
        return LEFT_OUT_FORGED;
    if (!ours_all(pair, call) || orders_in_own(pair, call))
        return LEFT_OUT_FOREIGN;
    if (pair->scene)
        set_scene(pair, call, &answer);
    return LEFT_OUT_NOT;
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
    case VMM_CALL_memset_d32:
    case VMM_CALL_memcpy_3d:
    case VMM_CALL_memcpy_3d_peer: return true;
    default: return false;
    }
}

static bool lost(vmm_result result)
{
    return result == VMM_ERROR_ILLEGAL_ADDRESS || result == VMM_ERROR_CONTEXT_IS_DESTROYED || (int)result == 719;
}

/* A fill returns before it is done, and so does a copy of boxes from the host, so an unmap after it would be a use-after-free: two
 * episodes on an H200 lost their context. In relaxed mode, because a query would spoil a capture. */
void driver_finish(struct lockstep *pair, const union vmm_any_call *call, vmm_result result)
{
    const int blocked = pair->model.blocked; /* the default stream itself may wait, beside a copy of no bytes */
    if (result == VMM_SUCCESS && uses_memory(call) && !(blocked >= 0 && !pair->model.lane[blocked].stream)) { /* no synchronisation, which would give memory back to pools */
        vmm_stream_capture_mode mode = VMM_STREAM_CAPTURE_MODE_RELAXED;
        vmm_thread_exchange_stream_capture_mode(pair->sys, &mode);
        while ((result = vmm_stream_query(pair->sys, NULL)) == VMM_ERROR_NOT_READY)
            ;
        vmm_thread_exchange_stream_capture_mode(pair->sys, &mode);
    }
    pair->dead |= lost(result);
}

/* May the call change what pools and streams have? No call undoes that. */
static bool changes_pools(const union vmm_any_call *call)
{
    const char *name = vmm_call_name((enum vmm_call_id)call->head.id);
    return strstr(name, "pool") || strstr(name, "array") || strstr(name, "managed") || strstr(name, "advise") || strstr(name, "stream") || strstr(name, "event") || strstr(name, "_async") || strstr(name, "graph") ||
           call->head.id == VMM_CALL_ctx_synchronize;
}

bool driver_parts(const union vmm_any_call *call)
{
    return call->head.id == VMM_CALL_mem_set_access || changes_pools(call);
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
    default: return !uses_memory(call) && !changes_pools(call);
    }
}

/* Writes what a stream waits for, by the device, whose rights the wait needed: the host may not write there. */
static bool write_awaited(struct lockstep *pair, const struct model_op *wait)
{
    const uint64_t value = wait->flags == VMM_STREAM_WAIT_VALUE_NOR ? 0 : wait->value;
    union vmm_any_call call = {.stream_write_value64 = {.head.id = VMM_CALL_stream_write_value64, .addr = wait->address, .value = value}};
    struct model_answer answer = {.actual = VMM_SUCCESS};
    if (wait->width == 4)
        call.stream_write_value32 = (struct vmm_call_stream_write_value32){.head.id = VMM_CALL_stream_write_value32, .addr = wait->address,
                                                                           .value = (uint32_t)value};
    vmm_result result = wait->width == 4 ? vmm_stream_write_value32(pair->sys, NULL, wait->address, (uint32_t)value, 0)
                                         : vmm_stream_write_value64(pair->sys, NULL, wait->address, value, 0);
    model_predict(&pair->model, &call.head, &answer);
    return result == VMM_SUCCESS;
}

/* From the default stream of the same device, until no stream waits. */
static bool end_wait(struct lockstep *pair)
{
    struct model *m = &pair->model;
    for (int i = 0; i < MODEL_QUEUE && m->blocked >= 0; i++) {
        for (size_t c = 0; c < m->context_count; c++)
            if (m->contexts[c].device == m->lane[m->blocked].device)
                m->current = (int)c;
        vmm_ctx_set_current(pair->sys, m->contexts[m->current].value);
        if (!write_awaited(pair, &m->queue[0]))
            return false;
    }
    return m->blocked < 0;
}

static void sweeps(struct lockstep *pair, const char *what)
{
    if (pair->sweeping)
        *pair->sweeping = what;
}

bool driver_sweep(struct lockstep *pair)
{
    struct model *m = &pair->model;
    sweeps(pair, "graphs");
    bool clean = driver_sweep_graphs(pair);
    sweeps(pair, "a wait");
    clean &= end_wait(pair);
    sweeps(pair, "arrays");
    clean &= driver_sweep_arrays(pair);
    sweeps(pair, "managed memory");
    for (size_t i = 0; i < m->managed_count; i++)
        clean &= vmm_mem_free(pair->sys, m->managed[i].start) == VMM_SUCCESS;
    sweeps(pair, "memory of pools");
    for (size_t i = 0; i < m->block_count; i++)
        clean &= vmm_mem_free(pair->sys, m->blocks[i].start) == VMM_SUCCESS;
    sweeps(pair, "work of streams");
    for (uint32_t i = 0; pair->ready && i < STEP_STREAMS; i++)
        vmm_stream_synchronize(pair->sys, (vmm_stream)(uintptr_t)pair->values[STEP_FIRST_STREAM + i]);
    sweeps(pair, "pools");
    for (size_t i = 0; i < m->pool_count; i++)
        if (m->pools[i]->value && !m->pools[i]->own && !m->pools[i]->ended)
            clean &= vmm_mem_pool_destroy(pair->sys, (vmm_memory_pool)(uintptr_t)m->pools[i]->value) == VMM_SUCCESS;
        else if (m->pools[i]->own && m->pools[i]->value)
            vmm_mem_pool_trim_to(pair->sys, (vmm_memory_pool)(uintptr_t)m->pools[i]->value, 0);
    sweeps(pair, "streams and events");
    const bool over = !model_capturing(m); /* else what the end of a capture would use is used by the end of its stream, too: seen once */
    for (uint32_t i = 0; over && pair->ready && i < STEP_STREAMS; i++)
        clean &= vmm_stream_destroy(pair->sys, (vmm_stream)(uintptr_t)pair->values[STEP_FIRST_STREAM + i]) == VMM_SUCCESS;
    for (uint32_t i = 0; over && pair->ready && i < STEP_EVENTS; i++)
        clean &= vmm_event_destroy(pair->sys, (vmm_event)(uintptr_t)pair->values[STEP_FIRST_EVENT + i]) == VMM_SUCCESS;
    sweeps(pair, "mappings and reservations");
    for (size_t i = 0; i < m->mapping_count; i++)
        clean &= vmm_mem_unmap(pair->sys, m->mappings[i].start, m->mappings[i].size) == VMM_SUCCESS;
    for (size_t i = 0; i < m->memory_count; i++)
        for (uint32_t r = 0; r < m->memories[i].references; r++)
            clean &= vmm_mem_release(pair->sys, m->memories[i].handle) == VMM_SUCCESS;
    for (size_t i = 0; i < m->reservation_count; i++) {
        /* in case it was mapped after all */
        vmm_mem_unmap(pair->sys, m->reservations[i].start, m->reservations[i].size);
        clean &= vmm_mem_address_free(pair->sys, m->reservations[i].start, m->reservations[i].size) == VMM_SUCCESS;
    }
    for (; pair->fillers; pair->fillers--)
        clean &= vmm_mem_address_free(pair->sys, pair->filler[pair->fillers - 1], pair->profile.va_granularity) ==
                 VMM_SUCCESS;
    sweeps(pair, "the process");
    return clean;
}
