/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: which are created, what is said of them, and what ends them. */
#include "test.h"

static vmm_array3d_descriptor described(uint64_t width, uint64_t height, uint64_t depth, unsigned flags)
{
    return (vmm_array3d_descriptor){.width = width, .height = height, .depth = depth, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1,
                                    .flags = flags};
}

static vmm_array made(struct fix *f, vmm_array3d_descriptor is)
{
    vmm_array array = NULL;
    ACCEPTED(vmm_array_3d_create(S, &array, &is));
    return array;
}

static vmm_mipmapped_array made_levels(struct fix *f, vmm_array3d_descriptor is, unsigned levels)
{
    vmm_mipmapped_array array = NULL;
    ACCEPTED(vmm_mipmapped_array_create(S, &array, &is, levels));
    return array;
}

/* Is created, and ends. */
static void goes(struct fix *f, vmm_array3d_descriptor is)
{
    ACCEPTED(vmm_array_destroy(S, made(f, is)));
}

static void refused(struct fix *f, vmm_array3d_descriptor is, uint64_t value)
{
    vmm_array array = NULL;
    vmm_mipmapped_array levels = NULL;
    REFUSED(vmm_array_3d_create(S, &array, &is), INVALID_VALUE, "pAllocateArray", value);
    REFUSED(vmm_mipmapped_array_create(S, &levels, &is, 1), INVALID_VALUE, "pAllocateArray", value);
    CHECK(!array && !levels, "an array that was refused has a value");
}

TEST_BREAKS(ARRAY_NULL, array_with_null)
{
    const vmm_array3d_descriptor is = described(64, 64, 0, 0);
    vmm_array array = NULL;
    REFUSED(vmm_array_3d_create(S, NULL, &is), INVALID_VALUE, "pHandle", 0);
    REFUSED(vmm_array_3d_create(S, &array, NULL), INVALID_VALUE, "pAllocateArray", 0);
    array = made(f, is);
    REFUSED(vmm_array_3d_get_descriptor(S, NULL, array), INVALID_VALUE, "pArrayDescriptor", 0);
    REFUSED(vmm_array_get_sparse_properties(S, NULL, array), INVALID_VALUE, "sparseProperties", 0);
    REFUSED(vmm_array_get_memory_requirements(S, NULL, array, 0), INVALID_VALUE, "memoryRequirements", 0);
    ACCEPTED(vmm_array_destroy(S, array));
}

TEST_NEAR_MISS(ARRAY_NULL, array_with_places)
{
    vmm_array3d_descriptor is = {.width = 0};
    vmm_array array = made(f, described(64, 32, 0, 0));
    ACCEPTED(vmm_array_3d_get_descriptor(S, &is, array));
    CHECK_U64(is.width, 64);
    CHECK_U64(is.height, 32);
    ACCEPTED(vmm_array_destroy(S, array));
}

static vmm_array3d_descriptor compressed(unsigned flags)
{
    vmm_array3d_descriptor is = described(64, 64, 0, flags);
    is.format = 0x91;
    is.num_channels = 4;
    return is;
}

TEST_BREAKS(ARRAY_SURFACE, array_of_blocks_with_surfaces)
{
    const vmm_array3d_descriptor is = compressed(VMM_ARRAY3D_SURFACE_LDST);
    vmm_array array = NULL;
    REFUSED(vmm_array_3d_create(S, &array, &is), NOT_SUPPORTED, "pAllocateArray", VMM_ARRAY3D_SURFACE_LDST);
}

TEST_NEAR_MISS(ARRAY_SURFACE, array_of_blocks)
{
    goes(f, compressed(0));
    goes(f, described(64, 64, 0, VMM_ARRAY3D_SURFACE_LDST));
}

TEST_BREAKS(ARRAY_FORMAT, array_of_three_channels)
{
    vmm_array3d_descriptor is = described(64, 64, 0, 0);
    is.num_channels = 3;
    refused(f, is, VMM_AD_FORMAT_FLOAT);
    is.format = VMM_AD_FORMAT_NV12;
    refused(f, is, VMM_AD_FORMAT_NV12);
}

TEST_NEAR_MISS(ARRAY_FORMAT, array_of_each_format)
{
    static const int formats[] = {VMM_AD_FORMAT_UNSIGNED_INT8, VMM_AD_FORMAT_UNSIGNED_INT16, VMM_AD_FORMAT_UNSIGNED_INT32,
                                  VMM_AD_FORMAT_SIGNED_INT8, VMM_AD_FORMAT_SIGNED_INT16, VMM_AD_FORMAT_SIGNED_INT32,
                                  VMM_AD_FORMAT_HALF, VMM_AD_FORMAT_FLOAT};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        for (unsigned channels = 1; channels <= 4; channels *= 2) {
            vmm_array3d_descriptor is = described(64, 64, 0, 0);
            is.format = formats[i];
            is.num_channels = channels;
            goes(f, is);
        }
}

TEST_BREAKS(ARRAY_FLAGS, array_with_unknown_flags)
{
    refused(f, described(64, 64, 0, 0x10), 0x10);
    refused(f, described(64, 64, 0, 0x200), 0x200);
}

TEST_NEAR_MISS(ARRAY_FLAGS, array_with_known_flags)
{
    goes(f, described(64, 64, 0, VMM_ARRAY3D_TEXTURE_GATHER));
    goes(f, described(64, 64, 0, VMM_ARRAY3D_VIDEO_ENCODE_DECODE));
}

TEST_BREAKS(ARRAY_SHAPE, array_of_no_shape)
{
    refused(f, described(0, 64, 0, 0), 0);
    refused(f, described(64, 0, 64, 0), 64);
    refused(f, described(64, 64, 0, VMM_ARRAY3D_LAYERED), 64);
    refused(f, described(64, 64, 5, VMM_ARRAY3D_CUBEMAP), 64);
    refused(f, described(64, 32, 6, VMM_ARRAY3D_CUBEMAP), 64);
    refused(f, described(64, 64, 2, VMM_ARRAY3D_TEXTURE_GATHER), 64);
}

TEST_NEAR_MISS(ARRAY_SHAPE, array_of_each_shape)
{
    goes(f, described(64, 0, 0, 0));
    goes(f, described(64, 64, 8, 0));
    goes(f, described(64, 0, 3, VMM_ARRAY3D_LAYERED));
    goes(f, described(64, 64, 3, VMM_ARRAY3D_LAYERED));
    goes(f, described(64, 64, 6, VMM_ARRAY3D_CUBEMAP));
    goes(f, described(64, 64, 12, VMM_ARRAY3D_CUBEMAP | VMM_ARRAY3D_LAYERED));
}

TEST_BREAKS(ARRAY_SPARSE, array_that_cannot_be_sparse)
{
    refused(f, described(512, 0, 0, VMM_ARRAY3D_SPARSE), VMM_ARRAY3D_SPARSE);
    refused(f, described(512, 512, 0, VMM_ARRAY3D_SPARSE | VMM_ARRAY3D_DEFERRED_MAPPING), VMM_ARRAY3D_SPARSE | VMM_ARRAY3D_DEFERRED_MAPPING);
}

TEST_NEAR_MISS(ARRAY_SPARSE, array_that_is_sparse)
{
    goes(f, described(512, 512, 0, VMM_ARRAY3D_SPARSE));
    goes(f, described(64, 64, 64, VMM_ARRAY3D_SPARSE));
    goes(f, described(512, 512, 2, VMM_ARRAY3D_SPARSE | VMM_ARRAY3D_LAYERED));
}

TEST_BREAKS(ARRAY_SIZE, array_beyond_the_limits)
{
    refused(f, described(131073, 0, 0, VMM_ARRAY3D_DEFERRED_MAPPING), 131073);
    refused(f, described(64, 65537, 0, VMM_ARRAY3D_DEFERRED_MAPPING), 64);
    refused(f, described(64, 64, 2049, VMM_ARRAY3D_LAYERED | VMM_ARRAY3D_DEFERRED_MAPPING), 64);
}

TEST_NEAR_MISS(ARRAY_SIZE, array_at_the_limits)
{
    goes(f, described(131072, 0, 0, VMM_ARRAY3D_DEFERRED_MAPPING));
    goes(f, described(64, 65536, 0, VMM_ARRAY3D_DEFERRED_MAPPING));
    goes(f, described(64, 64, 2048, VMM_ARRAY3D_LAYERED | VMM_ARRAY3D_DEFERRED_MAPPING));
}

/* More than the device has: a driver gives some memory more than it says is free (57 MiB on an H200). */
TEST_BREAKS(ARRAY_MEMORY, array_beyond_free_memory)
{
    uint64_t left, total;
    vmm_array array = NULL;
    ACCEPTED(vmm_mem_get_info(S, &left, &total));
    const uint64_t layers = left / (UINT64_C(8192) * 8192 * 4) + 5;
    if (layers > 2048)
        fix_skip(f, "needs a device of less than 512 GiB");
    const vmm_array3d_descriptor is = described(8192, 8192, layers, VMM_ARRAY3D_LAYERED);
    REFUSED(vmm_array_3d_create(S, &array, &is), OUT_OF_MEMORY, "pAllocateArray", layers * 8192 * 8192 * 4);
}

TEST_NEAR_MISS(ARRAY_MEMORY, array_that_takes_memory)
{
    uint64_t before, total;
    ACCEPTED(vmm_mem_get_info(S, &before, &total));
    vmm_array array = made(f, described(1024, 1024, 0, 0)); /* 4 MiB */
    CHECK_FREE(before, 4u << 20);
    ACCEPTED(vmm_array_destroy(S, array));
    CHECK_FREE(before, 0);
}

TEST_BREAKS(ARRAY_HANDLE, array_null)
{
    vmm_array3d_descriptor is;
    REFUSED(vmm_array_destroy(S, NULL), INVALID_HANDLE, "hArray", 0);
    REFUSED(vmm_array_3d_get_descriptor(S, &is, NULL), INVALID_HANDLE, "hArray", 0);
    REFUSED(vmm_mipmapped_array_destroy(S, NULL), INVALID_HANDLE, "hMipmappedArray", 0);
}

/* Queries of arrays look at their arguments before they look whether cuInit was called. */
TEST_BREAKS_ON(ARRAY_HANDLE, arrays_asked_before_init, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    static const char forged[64];
    vmm_array3d_descriptor is;
    vmm_array_sparse_properties tiles;
    vmm_array array = (vmm_array)(uintptr_t)forged, out = NULL;
    const vmm_array_map_info map = {.resource.array = array};
    REFUSED_BY("VMM-ARRAY-FORGED", vmm_array_3d_get_descriptor(S, &is, array), INVALID_CONTEXT, "hArray", (uintptr_t)forged);
    REFUSED_BY("VMM-ARRAY-FORGED", vmm_array_get_plane(S, &out, array, 0), INVALID_CONTEXT, "hArray", (uintptr_t)forged);
    REFUSED_BY("VMM-ARRAY-NOT-SPARSE", vmm_array_get_sparse_properties(S, &tiles, array), INVALID_VALUE, "array", (uintptr_t)forged);
    REFUSED_BY("VMM-TILES-LIST", vmm_mem_map_array_async(S, &map, 0, NULL), INVALID_VALUE, "count", 0);
    REFUSED_BY("VMM-INIT-REQUIRED", vmm_mem_map_array_async(S, &map, 1, NULL), NOT_INITIALIZED, NULL, 0);
    REFUSED_BY("VMM-INIT-REQUIRED", vmm_array_destroy(S, NULL), NOT_INITIALIZED, NULL, 0);
    REFUSED(vmm_array_get_plane(S, &out, NULL, 0), INVALID_HANDLE, "hArray", 0);
    CHECK(!out, "a plane was given");
}

TEST_NEAR_MISS(ARRAY_HANDLE, array_that_lives)
{
    goes(f, described(64, 64, 0, 0));
}

TEST_BREAKS(ARRAY_ENDED, array_that_has_ended)
{
    vmm_array3d_descriptor is;
    vmm_array array = made(f, described(64, 64, 0, 0)), plane = NULL;
    ACCEPTED(vmm_array_destroy(S, array));
    REFUSED(vmm_array_3d_get_descriptor(S, &is, array), CONTEXT_IS_DESTROYED, "hArray", (uintptr_t)array);
    REFUSED(vmm_array_get_plane(S, &plane, array, 0), CONTEXT_IS_DESTROYED, "hArray", (uintptr_t)array);
}

TEST_NEAR_MISS(ARRAY_ENDED, array_before_its_end)
{
    vmm_array3d_descriptor is;
    vmm_array array = made(f, described(64, 64, 0, 0));
    ACCEPTED(vmm_array_3d_get_descriptor(S, &is, array));
    ACCEPTED(vmm_array_destroy(S, array));
}

TEST_BREAKS(ARRAY_FORGED, array_that_never_was)
{
    static const char forged[64];
    vmm_array3d_descriptor is;
    vmm_array array = (vmm_array)(uintptr_t)forged, out = NULL;
    vmm_mipmapped_array levels = (vmm_mipmapped_array)(uintptr_t)forged;
    REFUSED(vmm_array_3d_get_descriptor(S, &is, array), INVALID_CONTEXT, "hArray", (uintptr_t)forged);
    REFUSED(vmm_array_get_plane(S, &out, array, 0), INVALID_CONTEXT, "hArray", (uintptr_t)forged);
    REFUSED(vmm_mipmapped_array_get_level(S, &out, levels, 0), INVALID_CONTEXT, "hMipmappedArray", (uintptr_t)forged);
    REFUSED(vmm_array_destroy(S, array), INVALID_CONTEXT, "hArray", (uintptr_t)forged);
    REFUSED(vmm_mipmapped_array_destroy(S, levels), INVALID_CONTEXT, "hMipmappedArray", (uintptr_t)forged);
}

TEST_NEAR_MISS(ARRAY_FORGED, level_as_array)
{
    vmm_array3d_descriptor is;
    vmm_array level = NULL;
    vmm_mipmapped_array array = made_levels(f, described(64, 64, 0, 0), 3);
    ACCEPTED(vmm_mipmapped_array_get_level(S, &level, array, 1));
    ACCEPTED(vmm_array_3d_get_descriptor(S, &is, level));
    CHECK_U64(is.width, 32);
    ACCEPTED(vmm_mipmapped_array_destroy(S, array));
}

TEST_WARNS(ARRAY_KIND, mipmapped_array_destroyed_as_array)
{
    fix_need_simulator(f, "driver 580 ends the process");
    vmm_mipmapped_array array = made_levels(f, described(64, 64, 0, 0), 3);
    WARNED(vmm_array_destroy(S, (vmm_array)(void *)array), INVALID_VALUE, "hArray", (uintptr_t)array);
    ACCEPTED(vmm_mipmapped_array_destroy(S, array));
}

TEST_NEAR_MISS(ARRAY_KIND, level_destroyed_as_array)
{
    vmm_array level = NULL;
    vmm_mipmapped_array array = made_levels(f, described(64, 64, 0, 0), 3);
    ACCEPTED(vmm_mipmapped_array_get_level(S, &level, array, 1));
    ACCEPTED(vmm_array_destroy(S, level));
    ACCEPTED(vmm_mipmapped_array_destroy(S, array));
}

TEST_BREAKS(ARRAY_UNKNOWN, array_destroyed_twice)
{
    vmm_array array = made(f, described(64, 64, 0, 0));
    ACCEPTED(vmm_array_destroy(S, array));
    REFUSED(vmm_array_destroy(S, array), INVALID_VALUE, "hArray", (uintptr_t)array);
}

TEST_NEAR_MISS(ARRAY_UNKNOWN, arrays_destroyed_once)
{
    vmm_array a = made(f, described(64, 64, 0, 0)), b = made(f, described(64, 64, 0, 0));
    ACCEPTED(vmm_array_destroy(S, a));
    ACCEPTED(vmm_array_destroy(S, b));
}

TEST_BREAKS(ARRAY_PLANE, plane_of_an_array)
{
    vmm_array array = made(f, described(64, 64, 0, 0)), plane = NULL;
    REFUSED(vmm_array_get_plane(S, &plane, array, 0), INVALID_VALUE, "hArray", (uintptr_t)array);
    ACCEPTED(vmm_array_destroy(S, array));
}

TEST_BREAKS(ARRAY_NOT_SPARSE, tiles_of_an_ordinary_array)
{
    vmm_array_sparse_properties tiles;
    vmm_array array = made(f, described(512, 512, 0, 0));
    REFUSED(vmm_array_get_sparse_properties(S, &tiles, array), INVALID_VALUE, "array", (uintptr_t)array);
    ACCEPTED(vmm_array_destroy(S, array));
}

TEST_NEAR_MISS(ARRAY_NOT_SPARSE, tiles_of_a_sparse_array)
{
    vmm_array_sparse_properties tiles;
    vmm_array array = made(f, described(512, 512, 0, VMM_ARRAY3D_SPARSE));
    ACCEPTED(vmm_array_get_sparse_properties(S, &tiles, array));
    CHECK_U64(tiles.tile_extent.width, 128);
    CHECK_U64(tiles.tile_extent.height, 128);
    ACCEPTED(vmm_array_destroy(S, array));
}

TEST_BREAKS(ARRAY_NOT_DEFERRED, needs_of_an_ordinary_array)
{
    vmm_array_memory_requirements needs;
    vmm_array array = made(f, described(512, 512, 0, 0));
    REFUSED(vmm_array_get_memory_requirements(S, &needs, array, 0), INVALID_VALUE, "array", (uintptr_t)array);
    ACCEPTED(vmm_array_destroy(S, array));
}

TEST_NEAR_MISS(ARRAY_NOT_DEFERRED, needs_of_an_array_with_deferred_mapping)
{
    vmm_array_memory_requirements needs;
    vmm_array array = made(f, described(512, 512, 0, VMM_ARRAY3D_DEFERRED_MAPPING));
    ACCEPTED(vmm_array_get_memory_requirements(S, &needs, array, 0));
    CHECK_U64(needs.size, 1u << 20);
    CHECK_U64(needs.alignment, 1u << 16);
    ACCEPTED(vmm_array_destroy(S, array));
}

TEST_BREAKS(ARRAY_LEVEL, level_beyond_the_last)
{
    vmm_array level = NULL;
    vmm_mipmapped_array array = made_levels(f, described(64, 64, 0, 0), 3);
    REFUSED(vmm_mipmapped_array_get_level(S, &level, array, 3), INVALID_VALUE, "level", 3);
    ACCEPTED(vmm_mipmapped_array_destroy(S, array));
}

TEST_NEAR_MISS(ARRAY_LEVEL, level_that_is_the_last)
{
    vmm_array level = NULL, again = NULL;
    vmm_mipmapped_array array = made_levels(f, described(64, 64, 0, 0), 3);
    ACCEPTED(vmm_mipmapped_array_get_level(S, &level, array, 2));
    ACCEPTED(vmm_mipmapped_array_get_level(S, &again, array, 2));
    CHECK(level == again, "a level has two values");
    ACCEPTED(vmm_mipmapped_array_destroy(S, array));
}

/* ---- copies ---- */

static vmm_memcpy3d into(vmm_array array, vmm_deviceptr from)
{
    return (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = from, .dst_memory_type = VMM_MEMORYTYPE_ARRAY,
                          .dst_array = array, .width_in_bytes = 256, .height = 64, .depth = 1};
}

TEST_BREAKS(COPY_ARRAY, copy_to_a_mipmapped_array)
{
    vmm_deviceptr p = 0;
    vmm_mipmapped_array array = made_levels(f, described(64, 64, 0, 0), 1);
    ACCEPTED(vmm_mem_alloc(S, &p, 1 << 16));
    const vmm_memcpy3d copy = into((vmm_array)(void *)array, p);
    REFUSED(vmm_memcpy_3d(S, &copy), INVALID_VALUE, "dst", (uintptr_t)array);
    ACCEPTED(vmm_mem_free(S, p));
    ACCEPTED(vmm_mipmapped_array_destroy(S, array));
}

TEST_NEAR_MISS(COPY_ARRAY, copy_to_a_level_and_back)
{
    enum { SIZE = 1 << 14 };
    static unsigned char sent[SIZE], got[SIZE];
    vmm_array level = NULL;
    vmm_mipmapped_array array = made_levels(f, described(64, 64, 0, 0), 1);
    ACCEPTED(vmm_mipmapped_array_get_level(S, &level, array, 0));
    for (unsigned i = 0; i < SIZE; i++)
        sent[i] = (unsigned char)(i * 7 + i / 256);
    vmm_memcpy3d copy = into(level, 0);
    copy.src_memory_type = VMM_MEMORYTYPE_HOST;
    copy.src_host = sent;
    ACCEPTED(vmm_memcpy_3d(S, &copy));
    copy = (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_ARRAY, .src_array = level, .dst_memory_type = VMM_MEMORYTYPE_HOST,
                          .dst_host = got, .width_in_bytes = 256, .height = 64, .depth = 1};
    ACCEPTED(vmm_memcpy_3d(S, &copy));
    for (unsigned i = 0; i < SIZE; i++)
        CHECK_U64(got[i], sent[i]);
    ACCEPTED(vmm_mipmapped_array_destroy(S, array));
}

TEST_BREAKS(COPY_ARRAY_BOUNDS, copy_past_a_row_of_an_array)
{
    vmm_deviceptr p = 0;
    vmm_array array = made(f, described(64, 64, 0, 0));
    ACCEPTED(vmm_mem_alloc(S, &p, 1 << 16));
    vmm_memcpy3d copy = into(array, p);
    copy.width_in_bytes = 257;
    REFUSED(vmm_memcpy_3d(S, &copy), INVALID_VALUE, "dst", 0);
    copy = into(array, p);
    copy.dst_y = 1;
    REFUSED(vmm_memcpy_3d(S, &copy), INVALID_VALUE, "dst", 1);
    copy = into(array, p);
    copy.depth = 2;
    REFUSED(vmm_memcpy_3d(S, &copy), INVALID_VALUE, "dst", 0);
    const vmm_array blocks = made(f, compressed(0));
    copy = (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_ARRAY, .src_array = array, .dst_memory_type = VMM_MEMORYTYPE_ARRAY,
                          .dst_array = blocks, .width_in_bytes = 16, .height = 1, .depth = 1};
    REFUSED(vmm_memcpy_3d(S, &copy), INVALID_VALUE, "dst", 8); /* blocks of 8 bytes, and elements of 4 */
    ACCEPTED(vmm_array_destroy(S, blocks));
    ACCEPTED(vmm_mem_free(S, p));
    ACCEPTED(vmm_array_destroy(S, array));
}

TEST_NEAR_MISS(COPY_ARRAY_BOUNDS, copy_of_a_whole_array)
{
    vmm_deviceptr p = 0;
    vmm_array array = made(f, described(64, 64, 0, 0));
    ACCEPTED(vmm_mem_alloc(S, &p, 1 << 16));
    vmm_memcpy3d copy = into(array, p);
    ACCEPTED(vmm_memcpy_3d(S, &copy));
    vmm_array3d_descriptor of_8 = described(64, 64, 0, 0);
    of_8.num_channels = 2;
    const vmm_array blocks = made(f, compressed(0)), pairs = made(f, of_8);
    copy = (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_ARRAY, .src_array = pairs, .dst_memory_type = VMM_MEMORYTYPE_ARRAY,
                          .dst_array = blocks, .width_in_bytes = 16, .height = 1, .depth = 1};
    ACCEPTED(vmm_memcpy_3d(S, &copy));
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_array_destroy(S, pairs));
    ACCEPTED(vmm_array_destroy(S, blocks));
    ACCEPTED(vmm_mem_free(S, p));
    ACCEPTED(vmm_array_destroy(S, array));
}
