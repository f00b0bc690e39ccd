/* SPDX-License-Identifier: Apache-2.0 */
/* The tiles of sparse arrays: what can be mapped, and where bytes are then. */
#include "test.h"

enum { TILE = 1 << 16, ROW = 512 * 4, ROWS = 512 };

static vmm_array sparse(struct fix *f, uint64_t width, uint64_t height)
{
    const vmm_array3d_descriptor is = {.width = width, .height = height, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1,
                                       .flags = VMM_ARRAY3D_SPARSE};
    vmm_array array = NULL;
    ACCEPTED(vmm_array_3d_create(S, &array, &is));
    return array;
}

static vmm_mem_generic_allocation_handle memory(struct fix *f, unsigned short usage, uint64_t granules)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.alloc_flags.usage = usage;
    ACCEPTED(vmm_mem_create(S, &handle, granules * f->g, &prop, 0));
    return handle;
}

/* The first tile of the array, to be mapped to the memory; 0: unmapped. */
static vmm_array_map_info first_tile(vmm_array array, vmm_mem_generic_allocation_handle handle)
{
    vmm_array_map_info info = {.resource_type = VMM_RESOURCE_TYPE_ARRAY, .resource.array = array, .device_bit_mask = 1,
                               .mem_operation_type = handle ? VMM_MEM_OPERATION_TYPE_MAP : VMM_MEM_OPERATION_TYPE_UNMAP,
                               .mem_handle.mem_handle = handle};
    info.subresource.sparse_level.extent_width = 128;
    info.subresource.sparse_level.extent_height = 128;
    info.subresource.sparse_level.extent_depth = 1;
    return info;
}

static void goes(struct fix *f, const vmm_array_map_info *info)
{
    ACCEPTED(vmm_mem_map_array_async(S, info, 1, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
}

static void ended(struct fix *f, vmm_array array, vmm_mem_generic_allocation_handle handle)
{
    ACCEPTED(vmm_array_destroy(S, array));
    if (handle)
        ACCEPTED(vmm_mem_release(S, handle));
}

#define REFUSED_TILE(info, field, value) REFUSED(vmm_mem_map_array_async(S, &(info), 1, NULL), INVALID_VALUE, "mapInfoList" field, value)

TEST_BREAKS(TILES_LIST, map_no_tiles)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_array_map_info info = first_tile(array, 0);
    REFUSED(vmm_mem_map_array_async(S, NULL, 1, NULL), INVALID_VALUE, "mapInfoList", 0);
    REFUSED(vmm_mem_map_array_async(S, &info, 0, NULL), INVALID_VALUE, "count", 0);
    ended(f, array, 0);
}

TEST_NEAR_MISS(TILES_LIST, map_two_elements)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_array_map_info info[] = {first_tile(array, 0), first_tile(array, 0)};
    ACCEPTED(vmm_mem_map_array_async(S, info, 2, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    ended(f, array, 0);
}

TEST_BREAKS(TILES_FLAGS, map_tiles_with_flags)
{
    vmm_array array = sparse(f, 512, 512);
    vmm_array_map_info info = first_tile(array, 0);
    info.flags = 1;
    REFUSED_TILE(info, ".flags", 1);
    info.flags = 0;
    info.reserved[1] = 1;
    REFUSED_TILE(info, ".flags", 0);
    ended(f, array, 0);
}

TEST_NEAR_MISS(TILES_FLAGS, map_tiles_without_flags)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_array_map_info info = first_tile(array, 0);
    goes(f, &info);
    ended(f, array, 0);
}

TEST_BREAKS(TILES_DEVICE, map_tiles_for_no_device)
{
    vmm_array array = sparse(f, 512, 512);
    vmm_array_map_info info = first_tile(array, 0);
    info.device_bit_mask = 0;
    REFUSED_TILE(info, ".deviceBitMask", 0);
    info.device_bit_mask = 3;
    REFUSED_TILE(info, ".deviceBitMask", 3);
    ended(f, array, 0);
}

TEST_NEAR_MISS(TILES_DEVICE, map_tiles_for_the_device)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_array_map_info info = first_tile(array, 0);
    goes(f, &info);
    ended(f, array, 0);
}

TEST_BREAKS(TILES_TYPE, map_tiles_by_unknown_types)
{
    vmm_array array = sparse(f, 512, 512);
    vmm_array_map_info info = first_tile(array, 0);
    info.mem_operation_type = 3;
    REFUSED_TILE(info, ".memOperationType", 3);
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, 1);
    info = first_tile(array, handle);
    info.mem_handle_type = 1;
    REFUSED_TILE(info, ".memHandleType", 1);
    info = first_tile(array, 0);
    info.resource_type = VMM_RESOURCE_TYPE_LINEAR;
    REFUSED_TILE(info, ".resourceType", VMM_RESOURCE_TYPE_LINEAR);
    info = first_tile(array, 0);
    info.subresource_type = 2;
    REFUSED_TILE(info, ".subresourceType", 2);
    ended(f, array, handle);
}

TEST_NEAR_MISS(TILES_TYPE, unmap_tiles_of_any_memory)
{
    vmm_array array = sparse(f, 512, 512);
    vmm_array_map_info info = first_tile(array, 0);
    info.mem_handle_type = 1;
    goes(f, &info);
    ended(f, array, 0);
}

TEST_NEAR_MISS(TILES_TYPE, map_an_array_at_once)
{
    const vmm_array3d_descriptor is = {.width = 512, .height = 512, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1,
                                       .flags = VMM_ARRAY3D_DEFERRED_MAPPING};
    vmm_array array = NULL;
    ACCEPTED(vmm_array_3d_create(S, &array, &is));
    const uint64_t granules = ((1u << 20) + f->g - 1) / f->g;
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, granules);
    vmm_array_map_info info = first_tile(array, handle);
    info.subresource_type = 2; /* not looked at */
    goes(f, &info);
    ended(f, array, handle);
}

TEST_BREAKS(TILES_ARRAY, map_tiles_of_an_ordinary_array)
{
    const vmm_array3d_descriptor is = {.width = 512, .height = 512, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1};
    vmm_array array = NULL;
    ACCEPTED(vmm_array_3d_create(S, &array, &is));
    const vmm_array_map_info info = first_tile(array, 0);
    REFUSED_TILE(info, ".resource", (uintptr_t)array);
    ended(f, array, 0);
}

TEST_NEAR_MISS(TILES_ARRAY, map_tiles_of_a_sparse_array)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, 1);
    const vmm_array_map_info info = first_tile(array, handle);
    goes(f, &info);
    ended(f, array, handle);
}

TEST_BREAKS(TILES_LEVEL, map_tiles_of_no_level)
{
    vmm_array array = sparse(f, 512, 512);
    vmm_array_map_info info = first_tile(array, 0);
    info.subresource.sparse_level.level = 1;
    REFUSED_TILE(info, ".subresource.sparseLevel.level", 1);
    info = first_tile(array, 0);
    info.subresource.sparse_level.layer = 1;
    REFUSED_TILE(info, ".subresource.sparseLevel.layer", 1);
    ended(f, array, 0);
}

TEST_NEAR_MISS(TILES_LEVEL, map_tiles_of_a_level)
{
    const vmm_array3d_descriptor is = {.width = 512, .height = 512, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1,
                                       .flags = VMM_ARRAY3D_SPARSE};
    vmm_mipmapped_array array = NULL;
    ACCEPTED(vmm_mipmapped_array_create(S, &array, &is, 4));
    vmm_array_map_info info = first_tile(NULL, 0);
    info.resource_type = VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    info.resource.mipmap = array;
    info.subresource.sparse_level.level = 2; /* of 128 by 128 */
    goes(f, &info);
    ACCEPTED(vmm_mipmapped_array_destroy(S, array));
}

TEST_BREAKS(TILES_ALIGNMENT, map_half_a_tile)
{
    vmm_array array = sparse(f, 512, 512);
    vmm_array_map_info info = first_tile(array, 0);
    info.subresource.sparse_level.offset_x = 64;
    REFUSED_TILE(info, ".subresource.sparseLevel", 64);
    info = first_tile(array, 0);
    info.subresource.sparse_level.extent_height = 64;
    REFUSED_TILE(info, ".subresource.sparseLevel", 64);
    ended(f, array, 0);
}

TEST_NEAR_MISS(TILES_ALIGNMENT, map_a_tile_at_the_edge)
{
    vmm_array array = sparse(f, 520, 520);
    vmm_array_map_info info = first_tile(array, 0);
    info.subresource.sparse_level.offset_x = 512;
    info.subresource.sparse_level.extent_width = 8;
    goes(f, &info);
    ended(f, array, 0);
}

TEST_BREAKS(TILES_RANGE, map_tiles_past_the_edge)
{
    vmm_array array = sparse(f, 512, 512);
    vmm_array_map_info info = first_tile(array, 0);
    info.subresource.sparse_level.offset_y = 512;
    REFUSED_TILE(info, ".subresource.sparseLevel", 640);
    info = first_tile(array, 0);
    info.subresource.sparse_level.extent_depth = 0;
    REFUSED_TILE(info, ".subresource.sparseLevel", 0);
    ended(f, array, 0);
}

TEST_NEAR_MISS(TILES_RANGE, map_tiles_up_to_the_edge)
{
    vmm_array array = sparse(f, 512, 512);
    vmm_array_map_info info = first_tile(array, 0);
    info.subresource.sparse_level.offset_y = 384;
    goes(f, &info);
    ended(f, array, 0);
}

/* A mip tail of one tile. */
static vmm_mipmapped_array with_tail(struct fix *f)
{
    const vmm_array3d_descriptor is = {.width = 512, .height = 512, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1,
                                       .flags = VMM_ARRAY3D_SPARSE};
    vmm_mipmapped_array array = NULL;
    ACCEPTED(vmm_mipmapped_array_create(S, &array, &is, 10));
    return array;
}

static vmm_array_map_info tail_of(vmm_mipmapped_array array, uint64_t size)
{
    vmm_array_map_info info = {.resource_type = VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY, .resource.mipmap = array, .device_bit_mask = 1,
                               .subresource_type = VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL,
                               .mem_operation_type = VMM_MEM_OPERATION_TYPE_UNMAP};
    info.subresource.miptail.size = size;
    return info;
}

TEST_BREAKS(TILES_TAIL, map_no_tail)
{
    vmm_mipmapped_array array = with_tail(f);
    vmm_array_map_info info = tail_of(array, 4096);
    REFUSED_TILE(info, ".subresource.miptail", 0);
    info = tail_of(array, 0);
    REFUSED_TILE(info, ".subresource.miptail", 0);
    info = tail_of(array, TILE);
    info.subresource.miptail.offset = TILE;
    REFUSED_TILE(info, ".subresource.miptail", TILE);
    info.subresource.miptail.offset = 0;
    info.subresource.miptail.layer = 1;
    REFUSED_TILE(info, ".subresource.miptail", 0);
    ACCEPTED(vmm_mipmapped_array_destroy(S, array));
}

TEST_NEAR_MISS(TILES_TAIL, map_the_tail)
{
    vmm_mipmapped_array array = with_tail(f);
    const vmm_array_map_info info = tail_of(array, TILE);
    goes(f, &info);
    ACCEPTED(vmm_mipmapped_array_destroy(S, array));
}

TEST_BREAKS(TILES_HANDLE, map_tiles_to_released_memory)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, 1);
    ACCEPTED(vmm_mem_release(S, handle));
    const vmm_array_map_info info = first_tile(array, handle);
    REFUSED_TILE(info, ".memHandle", handle);
    ended(f, array, 0);
}

/* Mapped tiles keep their memory. */
TEST_NEAR_MISS(TILES_HANDLE, release_memory_of_tiles)
{
    uint64_t before, total;
    ACCEPTED(vmm_mem_get_info(S, &before, &total));
    vmm_array array = sparse(f, 512, 512);
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, 1);
    const vmm_array_map_info info = first_tile(array, handle), gone = first_tile(array, 0);
    goes(f, &info);
    ACCEPTED(vmm_mem_release(S, handle));
    CHECK_FREE(before, f->g);
    goes(f, &gone);
    CHECK_FREE(before, 0);
    ended(f, array, 0);
}

TEST_BREAKS(TILES_POOL, map_tiles_to_other_memory)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_mem_generic_allocation_handle handle = memory(f, 0, 1);
    const vmm_array_map_info info = first_tile(array, handle);
    REFUSED_TILE(info, ".memHandle", handle);
    ended(f, array, handle);
}

/* Bytes come back from a tile that is mapped, and nothing from one that is not. */
TEST_NEAR_MISS(TILES_POOL, copy_through_tiles)
{
    static unsigned char sent[ROW * ROWS], got[ROW * ROWS];
    vmm_array array = sparse(f, 512, 512);
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, 1);
    const vmm_array_map_info info = first_tile(array, handle);
    goes(f, &info);
    for (unsigned i = 0; i < sizeof sent; i++)
        sent[i] = (unsigned char)(1 + i % 251);
    const vmm_memcpy3d there = {.src_memory_type = VMM_MEMORYTYPE_HOST, .src_host = sent, .dst_memory_type = VMM_MEMORYTYPE_ARRAY,
                                .dst_array = array, .width_in_bytes = ROW, .height = ROWS, .depth = 1};
    const vmm_memcpy3d back = {.src_memory_type = VMM_MEMORYTYPE_ARRAY, .src_array = array, .dst_memory_type = VMM_MEMORYTYPE_HOST,
                               .dst_host = got, .width_in_bytes = ROW, .height = ROWS, .depth = 1};
    ACCEPTED(vmm_memcpy_3d(S, &there));
    ACCEPTED(vmm_memcpy_3d(S, &back));
    unsigned wrong = 0;
    for (unsigned i = 0; i < sizeof sent; i++)
        wrong += got[i] != (i % ROW < 512 && i / ROW < 128 ? sent[i] : 0);
    CHECK_U64(wrong, 0);
    ended(f, array, handle);
}

TEST_BREAKS(TILES_OFFSET, map_tiles_from_between_tiles)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, 1);
    vmm_array_map_info info = first_tile(array, handle);
    info.offset = 4096;
    REFUSED_TILE(info, ".offset", 4096);
    ended(f, array, handle);
}

TEST_NEAR_MISS(TILES_OFFSET, map_tiles_from_the_second_tile)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, 2);
    vmm_array_map_info info = first_tile(array, handle);
    info.offset = TILE;
    goes(f, &info);
    ended(f, array, handle);
}

TEST_BREAKS(TILES_MEMORY, map_tiles_past_the_memory)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, 1);
    vmm_array_map_info info = first_tile(array, handle);
    info.offset = f->g;
    REFUSED_TILE(info, ".offset", f->g);
    ended(f, array, handle);
}

TEST_NEAR_MISS(TILES_MEMORY, map_the_last_tile_of_the_memory)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, 1);
    vmm_array_map_info info = first_tile(array, handle);
    info.offset = f->g - TILE;
    goes(f, &info);
    ended(f, array, handle);
}

TEST_BREAKS(TILES_WRAPS, map_tiles_before_the_memory)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, 1);
    vmm_array_map_info info = first_tile(array, handle);
    info.offset = UINT64_MAX - TILE + 1;
    WARNED(vmm_mem_map_array_async(S, &info, 1, NULL), INVALID_VALUE, "mapInfoList", info.offset);
    ACCEPTED(vmm_ctx_synchronize(S));
    ended(f, array, handle);
}

TEST_NEAR_MISS(TILES_WRAPS, map_tiles_at_the_start)
{
    vmm_array array = sparse(f, 512, 512);
    const vmm_mem_generic_allocation_handle handle = memory(f, VMM_MEM_CREATE_USAGE_TILE_POOL, 1);
    const vmm_array_map_info info = first_tile(array, handle);
    goes(f, &info);
    ended(f, array, handle);
}
