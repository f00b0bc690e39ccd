/* SPDX-License-Identifier: Apache-2.0 */
/* inject_pools.h - steps of inject_test.c: memory pools of a process, shared ones, and a full one. */
#ifndef SIM_INJECT_POOLS_H
#define SIM_INJECT_POOLS_H

#include "inject_calls.h"

static void pool_values(vmm_system *sys, vmm_memory_pool pool)
{
    uint64_t value = 0;
    int flags = 0;
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    GET(value, mem_pool_get_attribute, sys, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value);
    STEP(mem_pool_set_attribute, sys, pool, VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD, &(uint64_t){UINT64_MAX});
    STEP(mem_pool_set_access, sys, pool, &desc, 1);
    GET(flags, mem_pool_get_access, sys, &flags, pool, &desc.location);
}

static void current_pools(vmm_system *sys, vmm_memory_pool pool)
{
    const vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    vmm_memory_pool own = NULL, current = NULL;
    GET(own, device_get_default_mem_pool, sys, &own, 0);
    GET(own, mem_get_default_mem_pool, sys, &own, &at, VMM_MEM_ALLOCATION_TYPE_PINNED);
    STEP(device_set_mem_pool, sys, 0, pool);
    GET(current, device_get_mem_pool, sys, &current, 0);
    STEP(mem_set_mem_pool, sys, &at, VMM_MEM_ALLOCATION_TYPE_PINNED, own);
    GET(current, mem_get_mem_pool, sys, &current, &at, VMM_MEM_ALLOCATION_TYPE_PINNED);
}

/* One stream's memory goes to another's, and back to the device. */
static void pools(vmm_system *sys)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_stream one = NULL, two = NULL;
    vmm_event event = NULL;
    vmm_memory_pool pool = NULL;
    vmm_deviceptr a = 0, b = 0, c = 0;
    GET(one, stream_create, sys, &one, VMM_STREAM_NON_BLOCKING);
    GET(two, stream_create, sys, &two, VMM_STREAM_NON_BLOCKING);
    GET(event, event_create, sys, &event, 0);
    GET(pool, mem_pool_create, sys, &pool, &props);
    current_pools(sys, pool);
    GET(a, mem_alloc_from_pool_async, sys, &a, 40 * G, pool, one);
    GET(b, mem_alloc_async, sys, &b, 4096, one);
    STEP(memset_d8_async, sys, a, 7, 4096, one);
    STEP(mem_free_async, sys, a, one);
    STEP(event_record, sys, event, one);
    STEP(stream_wait_event, sys, two, event, 0);
    STEP(ctx_synchronize, sys);
    GET(c, mem_alloc_from_pool_async, sys, &c, 4096, pool, two);
    STEP(memset_d8_async, sys, c, 7, 4096, two);
    STEP(mem_free_async, sys, c, two);
    STEP(mem_free_async, sys, b, one);
    STEP(ctx_synchronize, sys);
    pool_values(sys, pool);
    STEP(mem_pool_trim_to, sys, pool, 0);
    STEP(mem_pool_destroy, sys, pool);
    STEP(event_destroy, sys, event);
    STEP(stream_destroy, sys, two);
    STEP(stream_destroy, sys, one);
}

/* A separate scenario, so that the number of runs of the other stays the same. */
static void life_of_pools(const char *spec)
{
    vmm_context ctx = NULL;
    vmm_system *sys = opened(spec);
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    pools(sys);
    STEP(ctx_destroy, sys, ctx);
    close_all();
}

/* A pool and memory in two of its chunks, imported by this same process. On a machine with little memory: the bytes
 * of every chunk get their space, and a chunk has 64 KiB there and 32 MiB elsewhere. */
static void shared_pools(const char *spec)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0},
                                      .handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    const vmm_mem_pool_props host = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_HOST, 0}};
    vmm_context ctx = NULL;
    vmm_memory_pool pool = NULL, import = NULL;
    vmm_deviceptr a = 0, b = 0;
    vmm_mem_pool_ptr_export_data data = {{0}};
    int fd = -1;
    vmm_system *sys = opened(spec);
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    GET(pool, mem_pool_create, sys, &pool, &host);
    GET(a, mem_alloc_from_pool_async, sys, &a, 4096, pool, NULL);
    STEP(mem_free_async, sys, a, NULL);
    STEP(ctx_synchronize, sys);
    STEP(mem_pool_destroy, sys, pool);
    GET(pool, mem_pool_create, sys, &pool, &props);
    GET(fd, mem_pool_export_to_shareable_handle, sys, &fd, pool, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    GET(import, mem_pool_import_from_shareable_handle, sys, &import, (void *)(intptr_t)fd, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    close(fd);
    a = 0; /* which a refused call writes, as measured */
    GET(a, mem_alloc_from_pool_async, sys, &a, 96 << 10, pool, NULL);
    GET(data, mem_pool_export_pointer, sys, &data, a);
    GET(b, mem_pool_import_pointer, sys, &b, import, &data);
    STEP(mem_free_async, sys, b, NULL);
    STEP(mem_free_async, sys, a, NULL);
    STEP(ctx_synchronize, sys);
    STEP(mem_pool_destroy, sys, import);
    STEP(mem_pool_destroy, sys, pool);
    STEP(ctx_destroy, sys, ctx);
    close_all();
}

/* A pool that cannot grow: an allocation waits for another stream's free, and consecutive frees share one mark. */
static void full_pool(const char *spec)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0},
                                      .max_size = 16 * G};
    vmm_context ctx = NULL;
    vmm_stream one = NULL, two = NULL;
    vmm_memory_pool pool = NULL;
    vmm_deviceptr first = 0, a = 0, b = 0, c = 0;
    vmm_system *sys = opened(spec);
    GET(ctx, device_primary_ctx_retain, sys, &ctx, 0);
    STEP(ctx_set_current, sys, ctx);
    GET(first, mem_alloc_async, sys, &first, 4096, NULL); /* the first query of the device's pools */
    GET(one, stream_create, sys, &one, VMM_STREAM_NON_BLOCKING);
    GET(two, stream_create, sys, &two, VMM_STREAM_NON_BLOCKING);
    GET(pool, mem_pool_create, sys, &pool, &props);
    GET(a, mem_alloc_from_pool_async, sys, &a, 8 * G, pool, one);
    GET(b, mem_alloc_from_pool_async, sys, &b, 8 * G, pool, one);
    STEP(memset_d8_async, sys, a, 7, 4096, one);
    STEP(mem_free_async, sys, a, one);
    STEP(mem_free_async, sys, b, one);
    GET(c, mem_alloc_from_pool_async, sys, &c, 8 * G, pool, two);
    steps_expect(c == a || c == b, "the other stream's memory is used again");
    STEP(mem_free_async, sys, c, two);
    STEP(mem_free_async, sys, first, NULL);
    STEP(ctx_synchronize, sys);
    STEP(mem_pool_destroy, sys, pool);
    STEP(stream_destroy, sys, two);
    STEP(stream_destroy, sys, one);
    STEP(device_primary_ctx_release, sys, 0);
    close_all();
}

#endif
