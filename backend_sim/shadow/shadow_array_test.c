/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and managed memory with a backend: its values differ from the simulator's, and its refusals are explained. */
#include "shadow_rig.h"

static const vmm_array3d_descriptor sparse = {.width = 512, .height = 512, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1,
                                              .flags = VMM_ARRAY3D_SPARSE};

/* An array of the backend that the shadow does not see, so that later values differ. */
static vmm_array unseen(struct world *w)
{
    vmm_array array = NULL;
    struct vmm_call_array_3d_create call = {{VMM_CALL_array_3d_create, 0}, &array, &sparse};
    if (vmm_backend_call(w->odd->base.inner, &call.head) != VMM_SUCCESS)
        tap_bail("no array");
    return array;
}

static vmm_mem_generic_allocation_handle tile_pool(struct world *w)
{
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    vmm_mem_generic_allocation_handle pool = 0;
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    tap_result(vmm_mem_create(w->sys, &pool, G, &prop, 0), VMM_SUCCESS, "memory for tiles");
    return pool;
}

static vmm_array_map_info tile(vmm_array array, vmm_mem_generic_allocation_handle pool)
{
    return (vmm_array_map_info){.resource.array = array, .mem_operation_type = VMM_MEM_OPERATION_TYPE_MAP, .mem_handle.mem_handle = pool,
                                .device_bit_mask = 1,
                                .subresource.sparse_level = {.extent_width = 128, .extent_height = 128, .extent_depth = 1}};
}

static void test_arrays(void)
{
    struct world w = opened("", "h100");
    vmm_array array = NULL, other = unseen(&w);
    vmm_array3d_descriptor is = {.width = 0}, wrong = sparse;
    vmm_array_sparse_properties tiles = {.flags = 0};
    tap_result(vmm_array_3d_create(w.sys, &array, &sparse), VMM_SUCCESS, "an array, whose value is not the simulator's");
    said(NULL, "", "an array");
    tap_result(vmm_array_3d_get_descriptor(w.sys, &is, array), VMM_SUCCESS, "what it is");
    said(NULL, "", "what it is");
    tap_result(vmm_array_get_sparse_properties(w.sys, &tiles, array), VMM_SUCCESS, "how it is divided");
    said(NULL, "", "how it is divided");
    wrong.num_channels = 3;
    tap_result(vmm_array_3d_create(w.sys, &other, &wrong), VMM_ERROR_INVALID_VALUE, "one of three channels");
    said("VMM-ARRAY-FORMAT", "", "three channels");
    answer(&w, VMM_CALL_array_3d_create, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_array_3d_create(w.sys, &other, &sparse), VMM_ERROR_INVALID_VALUE, "a right one that is refused");
    answer(&w, VMM_CALL_mipmapped_array_create, VMM_ERROR_INVALID_VALUE);
    vmm_mipmapped_array levels = NULL;
    tap_result(vmm_mipmapped_array_create(w.sys, &levels, &sparse, 4), VMM_ERROR_INVALID_VALUE, "and one with levels");
    answer(&w, VMM_CALL_array_destroy, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_array_destroy(w.sys, array), VMM_ERROR_INVALID_VALUE, "an end that is refused");
    tap_result(vmm_array_3d_get_descriptor(w.sys, &is, array), VMM_SUCCESS, "so it lives");
    said(NULL, "", "it lives");
    tap_result(vmm_array_destroy(w.sys, array), VMM_SUCCESS, "its end");
    answer(&w, VMM_CALL_array_3d_get_descriptor, VMM_ERROR_CONTEXT_IS_DESTROYED);
    vmm_array_3d_get_descriptor(w.sys, &is, array);
    tap_ok(vmm_last_detail()->nearest.value == (uint64_t)(uintptr_t)array || !vmm_last_detail()->rule, "messages show the value that the program has");
    vmm_close(w.sys);
}

static void test_tiles(void)
{
    enum { MANY = 20 };
    struct world w = opened("", "h100");
    const vmm_array stranger = unseen(&w);
    const vmm_mem_generic_allocation_handle pool = tile_pool(&w);
    vmm_array array = NULL;
    vmm_array_map_info list[MANY];
    tap_result(vmm_array_3d_create(w.sys, &array, &sparse), VMM_SUCCESS, "an array");
    for (int i = 0; i < MANY; i++)
        list[i] = tile(array, pool);
    tap_result(vmm_mem_map_array_async(w.sys, list, 2, NULL), VMM_SUCCESS, "its tiles");
    said(NULL, "", "its tiles");
    tap_ok(list[0].resource.array == array && list[0].mem_handle.mem_handle == pool, "the program's list is unchanged");
    tap_result(vmm_mem_map_array_async(w.sys, list, MANY, NULL), VMM_SUCCESS, "more than the shadow follows");
    said(NULL, "", "a long list");
    tap_result(vmm_mem_map_array_async(w.sys, NULL, 1, NULL), VMM_ERROR_INVALID_VALUE, "no list");
    said("VMM-TILES-LIST", "", "no list");
    list[0].subresource.sparse_level.offset_x = 1;
    tap_result(vmm_mem_map_array_async(w.sys, list, 1, NULL), VMM_ERROR_INVALID_VALUE, "between tiles");
    said("VMM-TILES-ALIGNMENT", "", "between tiles");
    list[0] = tile(array, w.handle);
    tap_result(vmm_mem_map_array_async(w.sys, list, 1, NULL), VMM_ERROR_INVALID_VALUE, "other memory");
    said("VMM-TILES-POOL", "", "other memory");
    answer(&w, VMM_CALL_mem_map_array_async, VMM_ERROR_INVALID_VALUE);
    list[0] = tile(array, pool);
    tap_result(vmm_mem_map_array_async(w.sys, list, 1, NULL), VMM_ERROR_INVALID_VALUE, "a right call that is refused");
    list[0] = tile(stranger, pool);
    tap_result(vmm_mem_map_array_async(w.sys, list, 1, NULL), VMM_SUCCESS, "an array that came unseen");
    said(NULL, "", "an array that came unseen");
    answer(&w, VMM_CALL_mem_map_array_async, VMM_SUCCESS);
    list[0] = tile(array, pool + 16);
    tap_result(vmm_mem_map_array_async(w.sys, list, 1, NULL), VMM_SUCCESS, "memory that came unseen");
    said(NULL, "", "memory that came unseen");
    list[0] = tile(NULL, pool);
    tap_result(vmm_mem_map_array_async(w.sys, list, 1, NULL), VMM_ERROR_INVALID_VALUE, "no array");
    said("VMM-TILES-ARRAY", "", "no array");
    vmm_close(w.sys);
}

/* The shadow has it at the backend's address, and knows nothing about its pages. */
static void test_managed(void)
{
    const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    struct world w = opened("", "h100");
    const uint64_t before = vmm_leaks(w.sys, NULL, NULL);
    vmm_deviceptr at = 0;
    int value = 0;
    tap_result(vmm_mem_alloc_managed(w.sys, &at, G, VMM_MEM_ATTACH_GLOBAL), VMM_SUCCESS, "managed memory");
    said(NULL, "", "managed memory");
    tap_u64(vmm_leaks(w.sys, NULL, NULL), before + 1, "it is held");
    tap_result(vmm_mem_advise(w.sys, at, G, VMM_MEM_ADVISE_SET_READ_MOSTLY, device), VMM_SUCCESS, "advice");
    tap_result(vmm_mem_range_get_attribute(w.sys, &value, sizeof value, VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at, G), VMM_SUCCESS, "which is kept");
    said(NULL, "", "advice");
    tap_result(vmm_mem_free(w.sys, at), VMM_SUCCESS, "its end");
    said(NULL, "", "its end");
    tap_u64(vmm_leaks(w.sys, NULL, NULL), before, "nothing more is held");
    vmm_close(w.sys);
}

int main(void)
{
    test_arrays();
    test_tiles();
    test_managed();
    return tap_done();
}
