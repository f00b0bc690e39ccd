/* SPDX-License-Identifier: Apache-2.0 */
/* arrays: small ones share a block and leave it in any order; levels end with their array; exactly the requested box
 * of tiles is bound. */
#include "arrays.h"
#include "checks.h"
#include "system.h"

#include "report_rig.h" /* after the others, because its macros would replace their names */

static struct sim_process *process(void)
{
    return (struct sim_process *)sys->top;
}

/* The engine's own invariants, which count the bits of each chunk. */
static void whole(const char *when)
{
    sim_machine_lock(process()->machine);
    const char *said = process_check(process());
    sim_machine_unlock(process()->machine);
    tap_ok(!said, "%s: %s", when, said ? said : "all invariants hold");
}

static uint64_t free_bytes(void)
{
    uint64_t bytes = 0, total;
    need(vmm_mem_get_info(sys, &bytes, &total));
    return bytes;
}

static vmm_array small(uint64_t side)
{
    const vmm_array3d_descriptor asked = {.width = side, .height = side, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1};
    vmm_array array = NULL;
    need(vmm_array_3d_create(sys, &array, &asked));
    return array;
}

static uint64_t place_of(vmm_array value)
{
    struct sim_array *array = NULL;
    sim_machine_lock(process()->machine);
    if (sim_array_find(process(), (uint64_t)(uintptr_t)value, &array) != SLOT_LIVE)
        tap_bail("no array");
    const uint64_t at = array->block_at;
    sim_machine_unlock(process()->machine);
    return at;
}

enum { ARRAYS = 4, UNIT = 65536 };

static const unsigned units[ARRAYS] = {1, 3, 4, 7}; /* for arrays with 128, 192, 256 and 320 rows and columns of 4 bytes */

/* The first free position for that many units among the live ones. */
static uint64_t first_fit(unsigned wanted, const bool *lives, const uint64_t *at)
{
    for (uint64_t place = 0;; place += UNIT) {
        bool taken = false;
        for (unsigned i = 0; i < ARRAYS; i++)
            taken |= lives[i] && place < at[i] + units[i] * UNIT && at[i] < place + wanted * UNIT;
        if (!taken)
            return place;
    }
}

/* The space of destroyed arrays is reused, and the block is freed with the last one. */
static void shared_block(void)
{
    enum { ORDERS = 4 };
    static const unsigned orders[ORDERS][ARRAYS] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
    begin("sim:h100");
    for (unsigned order = 0; order < ORDERS; order++) {
        vmm_array arrays[ARRAYS];
        uint64_t at[ARRAYS];
        bool lives[ARRAYS];
        const uint64_t before = free_bytes();
        for (unsigned i = 0; i < ARRAYS; i++)
            at[i] = place_of(arrays[i] = small(128 + 64 * i));
        memset(lives, true, sizeof lives);
        tap_u64(before - free_bytes(), G, "small arrays share one block");
        tap_ok(at[0] == 0 && at[1] == UNIT && at[2] == 4 * UNIT && at[3] == 8 * UNIT, "and are adjacent in it");
        for (unsigned i = 0; i < ARRAYS; i++) {
            const unsigned gone = orders[order][i];
            need(vmm_array_destroy(sys, arrays[gone]));
            lives[gone] = false;
            whole("when one has left");
            arrays[gone] = small(128 + 64 * gone);
            tap_u64(place_of(arrays[gone]), first_fit(units[gone], lives, at), "the next of its size has the first place for it");
            need(vmm_array_destroy(sys, arrays[gone]));
        }
        tap_u64(free_bytes(), before, "after the last one all memory is free");
    }
    end();
}

static void levels_end(void)
{
    enum { LEVELS = 4 };
    const vmm_array3d_descriptor asked = {.width = 64, .height = 64, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1};
    vmm_mipmapped_array mipmapped = NULL;
    vmm_array level[LEVELS] = {NULL};
    vmm_array3d_descriptor is;
    begin("sim:h100");
    need(vmm_mipmapped_array_create(sys, &mipmapped, &asked, LEVELS));
    for (unsigned i = 0; i < LEVELS; i++) {
        need(vmm_mipmapped_array_get_level(sys, &level[i], mipmapped, i));
        need(vmm_array_3d_get_descriptor(sys, &is, level[i]));
        tap_u64(is.width, 64u >> i, "the width of level %u", i);
    }
    need(vmm_mipmapped_array_destroy(sys, mipmapped));
    for (unsigned i = 0; i < LEVELS; i++)
        tap_ok(vmm_array_3d_get_descriptor(sys, &is, level[i]) != VMM_SUCCESS, "level %u ends with its array", i);
    whole("after that");
    end();
}

/* ---- boxes of tiles ---- */

enum { MOST = 8 << 20 };

static unsigned char bytes[MOST];

static void copy(vmm_array array, const vmm_array3d_descriptor *is, bool back)
{
    vmm_memcpy3d copy = {.src_memory_type = VMM_MEMORYTYPE_HOST, .src_host = bytes, .dst_memory_type = VMM_MEMORYTYPE_ARRAY,
                         .dst_array = array, .src_pitch = 4 * is->width, .src_height = is->height, .width_in_bytes = 4 * is->width,
                         .height = is->height, .depth = is->depth ? is->depth : 1};
    if (back)
        copy = (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_ARRAY, .src_array = array, .dst_memory_type = VMM_MEMORYTYPE_HOST,
                              .dst_host = bytes, .dst_pitch = 4 * is->width, .dst_height = is->height, .width_in_bytes = 4 * is->width,
                              .height = is->height, .depth = copy.depth};
    need(vmm_memcpy_3d(sys, &copy));
}

static bool within(uint64_t at, unsigned offset, unsigned extent)
{
    return at >= offset && at < (uint64_t)offset + extent;
}

/* Only elements in the box keep their written values, each its own. */
static void check_box(vmm_array array, const vmm_array3d_descriptor *is, const struct vmm_array_sparse_level *box)
{
    const uint64_t depth = is->depth ? is->depth : 1, count = is->width * is->height * depth;
    unsigned wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t value = i + 1;
        memcpy(bytes + 4 * (size_t)i, &value, sizeof value);
    }
    copy(array, is, false);
    memset(bytes, 0xff, sizeof bytes);
    copy(array, is, true);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t x = i % is->width, y = i / is->width % is->height, z = i / is->width / is->height;
        const bool inside = within(x, box->offset_x, box->extent_width) && within(y, box->offset_y, box->extent_height) &&
                            within(z, box->offset_z, box->extent_depth);
        uint32_t value;
        memcpy(&value, bytes + 4 * (size_t)i, sizeof value);
        wrong += value != (inside ? i + 1 : 0);
    }
    tap_u64(wrong, 0, "%ux%ux%u elements from %u, %u, %u on have memory, and no others", box->extent_width, box->extent_height,
            box->extent_depth, box->offset_x, box->offset_y, box->offset_z);
}

static void bound_boxes(const vmm_array3d_descriptor *is)
{
    static const unsigned boxes[][6] = {{0, 0, 0, 1, 1, 1}, {1, 0, 0, 2, 1, 1}, {0, 1, 0, 1, 2, 1}, {0, 0, 1, 1, 1, 2},
                                        {1, 1, 1, 2, 2, 2}, {2, 3, 1, 2, 1, 1}, {0, 0, 0, 4, 4, 4}};
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {DEVICE, 0},
                                          .alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL};
    vmm_array_sparse_properties tiles;
    vmm_array array = NULL;
    handle_t pool = 0;
    begin("sim:h100");
    need(vmm_mem_create(sys, &pool, 4 * G, &prop, 0));
    need(vmm_array_3d_create(sys, &array, is));
    need(vmm_array_get_sparse_properties(sys, &tiles, array));
    const unsigned w = tiles.tile_extent.width, h = tiles.tile_extent.height, d = tiles.tile_extent.depth;
    for (unsigned i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        const unsigned *b = boxes[i];
        vmm_array_map_info map = {.resource.array = array, .mem_operation_type = VMM_MEM_OPERATION_TYPE_MAP,
                                  .mem_handle.mem_handle = pool, .device_bit_mask = 1,
                                  .subresource.sparse_level = {0, 0, b[0] * w, b[1] * h, b[2] * d, b[3] * w, b[4] * h, b[5] * d}};
        if (!is->depth && b[2])
            continue;
        if (!is->depth) /* one layer of tiles */
            map.subresource.sparse_level.extent_depth = d;
        need(vmm_mem_map_array_async(sys, &map, 1, NULL));
        check_box(array, is, &map.subresource.sparse_level);
        map.mem_operation_type = VMM_MEM_OPERATION_TYPE_UNMAP;
        map.mem_handle.mem_handle = 0;
        need(vmm_mem_map_array_async(sys, &map, 1, NULL));
        need(vmm_ctx_synchronize(sys));
        whole("without it again");
    }
    end();
}

int main(void)
{
    const vmm_array3d_descriptor flat = {.width = 512, .height = 512, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1,
                                         .flags = VMM_ARRAY3D_SPARSE},
                                 volume = {.width = 128, .height = 128, .depth = 64, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1,
                                           .flags = VMM_ARRAY3D_SPARSE};
    shared_block();
    levels_end();
    bound_boxes(&flat);
    bound_boxes(&volume);
    return tap_done();
}
