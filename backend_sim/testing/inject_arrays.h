/* SPDX-License-Identifier: Apache-2.0 */
/* inject_arrays.h - steps of inject_test.c: arrays, the tiles of a sparse one, and managed memory. */
#ifndef SIM_INJECT_ARRAYS_H
#define SIM_INJECT_ARRAYS_H

#include "inject_calls.h"

static void ordinary_array(vmm_system *sys, vmm_deviceptr p)
{
    const vmm_array3d_descriptor is = {.width = 64, .height = 64, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1};
    vmm_array3d_descriptor got = {.width = 0};
    vmm_array array = NULL, plane = NULL;
    GET(array, array_3d_create, sys, &array, &is);
    GET(got, array_3d_get_descriptor, sys, &got, array);
    const vmm_memcpy3d copy = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = p, .dst_memory_type = VMM_MEMORYTYPE_ARRAY,
                               .dst_array = array, .width_in_bytes = 256, .height = 2, .depth = 1};
    STEP(memcpy_3d_async, sys, &copy, NULL);
    STEP(ctx_synchronize, sys);
    steps_expect(vmm_array_get_plane(sys, &plane, array, 0) == VMM_ERROR_INVALID_VALUE, "no array has planes");
    steps.seen[VMM_CALL_array_get_plane] = true;
    STEP(array_destroy, sys, array);
}

static void deferred_array(vmm_system *sys, vmm_mem_generic_allocation_handle pool)
{
    const vmm_array3d_descriptor is = {.width = 64, .height = 64, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1,
                                       .flags = VMM_ARRAY3D_DEFERRED_MAPPING};
    vmm_array_memory_requirements needs = {.size = 0};
    vmm_array array = NULL;
    vmm_mipmapped_array levels = NULL;
    GET(array, array_3d_create, sys, &array, &is);
    GET(needs, array_get_memory_requirements, sys, &needs, array, 0);
    const vmm_array_map_info info = {.resource.array = array, .mem_operation_type = VMM_MEM_OPERATION_TYPE_MAP,
                                     .mem_handle.mem_handle = pool, .device_bit_mask = 1};
    STEP(mem_map_array_async, sys, &info, 1, NULL);
    STEP(ctx_synchronize, sys);
    STEP(array_destroy, sys, array);
    GET(levels, mipmapped_array_create, sys, &levels, &is, 2);
    GET(needs, mipmapped_array_get_memory_requirements, sys, &needs, levels, 0);
    STEP(mipmapped_array_destroy, sys, levels);
}

static void sparse_arrays(vmm_system *sys, vmm_mem_generic_allocation_handle pool)
{
    const vmm_array3d_descriptor is = {.width = 512, .height = 512, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1,
                                       .flags = VMM_ARRAY3D_SPARSE};
    vmm_array_sparse_properties tiles = {.flags = 0};
    vmm_array array = NULL, level = NULL;
    vmm_mipmapped_array levels = NULL;
    GET(array, array_3d_create, sys, &array, &is);
    GET(tiles, array_get_sparse_properties, sys, &tiles, array);
    STEP(array_destroy, sys, array);
    GET(levels, mipmapped_array_create, sys, &levels, &is, 10);
    GET(tiles, mipmapped_array_get_sparse_properties, sys, &tiles, levels);
    GET(level, mipmapped_array_get_level, sys, &level, levels, 1);
    vmm_array_map_info info[2] = {{.resource_type = VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY, .resource.mipmap = levels,
                                   .mem_operation_type = VMM_MEM_OPERATION_TYPE_MAP, .mem_handle.mem_handle = pool,
                                   .device_bit_mask = 1}};
    info[1] = info[0];
    info[0].subresource.sparse_level = (struct vmm_array_sparse_level){.extent_width = 256, .extent_height = 128, .extent_depth = 1};
    info[1].subresource_type = VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
    info[1].subresource.miptail.size = 65536;
    STEP(mem_map_array_async, sys, info, 2, NULL);
    STEP(ctx_synchronize, sys);
    info[0].mem_operation_type = VMM_MEM_OPERATION_TYPE_UNMAP;
    STEP(mem_map_array_async, sys, info, 1, NULL);
    STEP(ctx_synchronize, sys);
    STEP(mipmapped_array_destroy, sys, levels);
}

static void managed_memory(vmm_system *sys)
{
    const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    const uint64_t size = G, first = 0;
    vmm_deviceptr p = 0;
    vmm_stream stream = NULL;
    int value = 0;
    GET(stream, stream_create, sys, &stream, VMM_STREAM_NON_BLOCKING);
    GET(p, mem_alloc_managed, sys, &p, G, VMM_MEM_ATTACH_GLOBAL);
    STEP(mem_advise, sys, p, 4096, VMM_MEM_ADVISE_SET_READ_MOSTLY, device);
    STEP(mem_prefetch_async, sys, p + 8192, 4096, device, 0, stream);
    GET(value, mem_range_get_attribute, sys, &value, sizeof value, VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 4096);
    STEP(mem_prefetch_batch_async, sys, &p, &size, 1, &device, &first, 1, 0, stream);
    STEP(mem_discard_batch_async, sys, &p, &size, 1, 0, stream);
    STEP(mem_discard_and_prefetch_batch_async, sys, &p, &size, 1, &device, &first, 1, 0, stream);
    STEP(stream_attach_mem_async, sys, stream, p, 0, VMM_MEM_ATTACH_SINGLE);
    STEP(ctx_synchronize, sys);
    STEP(mem_free, sys, p);
    STEP(stream_destroy, sys, stream);
}

static void arrays(const char *spec)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_system *sys = opened(spec);
    vmm_context ctx = NULL;
    vmm_deviceptr p = 0;
    vmm_mem_generic_allocation_handle pool = 0;
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    GET(p, mem_alloc, sys, &p, 65536);
    GET(pool, mem_create, sys, &pool, G, &prop, 0);
    ordinary_array(sys, p);
    deferred_array(sys, pool);
    sparse_arrays(sys, pool);
    managed_memory(sys);
    STEP(mem_release, sys, pool);
    STEP(mem_free, sys, p);
    STEP(ctx_destroy, sys, ctx);
    close_all();
}

#endif
