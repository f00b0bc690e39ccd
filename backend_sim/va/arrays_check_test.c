/* SPDX-License-Identifier: Apache-2.0 */
/* arrays_check: breaks each invariant of arrays.h by hand, in a process with an ordinary array, a sparse one with
 * levels and a completely mapped one. */
#include "arrays.h"

#include "breaks.h"
#include "checks.h"
#include "system.h"
#include "watch.h"

#define G (UINT64_C(2) << 20)

struct scene {
    vmm_system *sys;
    struct sim_process *process;
    struct sim_array *small, *large, *sparse, *whole, *empty, *level;
    struct sim_tile *tile;
};

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

static vmm_array make(struct scene *s, uint64_t side, unsigned flags)
{
    const vmm_array3d_descriptor is = {.width = side, .height = side, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1, .flags = flags};
    vmm_array array;
    need(vmm_array_3d_create(s->sys, &array, &is));
    return array;
}

static struct sim_array *of(const struct scene *s, const void *value)
{
    struct sim_array *array;
    if (sim_array_find(s->process, (uint64_t)(uintptr_t)value, &array) != SLOT_LIVE)
        tap_bail("no array");
    return array;
}

static void map(struct scene *s, const void *sparse, const void *whole)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_generic_allocation_handle pool;
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    need(vmm_mem_create(s->sys, &pool, G, &prop, 0));
    vmm_array_map_info info[3] = {{.resource_type = VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY, .mem_operation_type = VMM_MEM_OPERATION_TYPE_MAP,
                                   .mem_handle.mem_handle = pool, .device_bit_mask = 1}};
    info[0].resource.mipmap = (vmm_mipmapped_array)(uintptr_t)sparse;
    info[1] = info[2] = info[0];
    info[0].subresource.sparse_level = (struct vmm_array_sparse_level){.extent_width = 256, .extent_height = 128, .extent_depth = 1};
    info[1].subresource_type = VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
    info[1].subresource.miptail.size = ARRAY_TILE;
    info[2].resource_type = VMM_RESOURCE_TYPE_ARRAY;
    info[2].resource.array = (vmm_array)(uintptr_t)whole;
    need(vmm_mem_map_array_async(s->sys, info, 3, NULL));
    need(vmm_ctx_synchronize(s->sys));
    need(vmm_mem_map_array_async(s->sys, info, 1, NULL)); /* which is not bound yet */
}

static void open_scene(struct scene *s)
{
    const vmm_array3d_descriptor is = {.width = 512, .height = 512, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1,
                                       .flags = VMM_ARRAY3D_SPARSE};
    vmm_context context;
    vmm_mipmapped_array levels;
    vmm_array level;
    *s = (struct scene){0};
    need(vmm_open("sim:h200x2,schedule=late", &s->sys));
    s->process = (struct sim_process *)s->sys->top;
    need(vmm_init(s->sys, 0));
    need(vmm_ctx_create(s->sys, &context, 0, 0));
    const vmm_array small = make(s, 64, 0), large = make(s, 1024, 0), whole = make(s, 64, VMM_ARRAY3D_DEFERRED_MAPPING),
                    empty = make(s, 64, VMM_ARRAY3D_DEFERRED_MAPPING);
    need(vmm_mipmapped_array_create(s->sys, &levels, &is, 10));
    need(vmm_mipmapped_array_get_level(s->sys, &level, levels, 1));
    map(s, levels, whole);
    sim_machine_lock(s->process->machine);
    s->small = of(s, small);
    s->large = of(s, large);
    s->whole = of(s, whole);
    s->empty = of(s, empty);
    s->sparse = of(s, levels);
    s->level = of(s, level);
    s->tile = addrmap_ceil(&s->sparse->tiles, 0);
    check_holds(arrays_check(s->process), "arrays of each kind");
    check_holds(process_check(s->process), "the process around them");
    check_holds(watch_machine(s->process->machine), "and the machine");
}

#define ARRAYS(place, value, words) BREAKS(place, value, arrays_check(s->process), words)
#define ARRAYS_TO(place, value, words) BREAKS_TO(place, value, arrays_check(s->process), words)

static void test_arrays(struct scene *s)
{
    struct sim_process *p = s->process;
    ARRAYS_TO(s->small->value, 7, "value 0x7 is not live");
    ARRAYS_TO(s->small->context, 7, "the context of Y1 has ended");
    ARRAYS_TO(s->small->block, NULL, "Y1 has no block");
    ARRAYS_TO(s->large->block_at, s->large->block->size + 1, "has a block that is none of its own");
    ARRAYS_TO(s->large->block_at, s->large->block->size - 1, "has a block that is none of its own");
    ARRAYS_TO(s->sparse->block, s->large->block, "has a block that is none of its own");
    ARRAYS_TO(s->large->layout.bytes, 1, "addresses of arrays: ");
    ARRAYS_TO(p->array_ranges.count, 9, "arrays: count is 9");
    ARRAYS_TO(p->arrays.used, 99, "arrays: 99 slots are used");
}

static void test_levels(struct scene *s)
{
    struct sim_array **levels = s->sparse->levels;
    ARRAYS_TO(s->level->level, 2, "level 1 of Y5 is none");
    ARRAYS_TO(s->level->whole, s->small, "level 1 of Y5 is none");
    ARRAYS_TO(s->level->value, 7, "value 0x7 is not live");
    ARRAYS_TO(levels[ARRAY_LEVELS - 1], s->level, "level 17 of Y5 is none");
}

static void test_tiles(struct scene *s)
{
    struct sim_process *p = s->process;
    ARRAYS_TO(s->sparse->layout.tiles, 1, "of Y5 is none of its 1");
    ARRAYS_TO(s->sparse->is.flags, 0, "Y5");
    ARRAYS_TO(s->tile->at, s->tile->block->size, "of Y5 lies outside its block");
    ARRAYS_TO(s->tile->at, s->tile->block->size + 1, "of Y5 lies outside its block");
    ARRAYS_TO(s->tile->block, NULL, "of Y5 lies outside its block");
    ARRAYS_TO(s->sparse->tiles.count, 9, "tiles of Y5: count is 9");
#ifndef POOL_PLAIN
    ARRAYS_TO(p->tile_pool.left, 99, "room for tiles: ");
#endif
    ARRAYS_TO(p->array_chunks->used, 0, "a chunk has 0 units in use, its arrays 1");
    ARRAYS_TO(p->array_chunks->used, 3, "a chunk has 2 units in use, its arrays 1");
    ARRAYS_TO(s->small->chunk, NULL, "a chunk has 1 units in use, its arrays 0");
    struct sim_array_chunk empty = {.next = p->array_chunks};
    ARRAYS_TO(p->array_chunks, &empty, "a chunk has 0 units in use, its arrays 0");
    ARRAYS_TO(p->array_binds->process, NULL, "a list of binds is another process's");
    ARRAYS_TO(p->array_binds->count, 2, "or has 2 of 1");
}

/* Every holder of a block is counted. */
static void test_blocks(struct scene *s)
{
    struct sim_machine *machine = s->process->machine;
    struct sim_block *held[] = {s->small->block, s->large->block, s->whole->block};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        BREAKS_TO(held[i]->holders, held[i]->holders + 1, watch_machine(machine), "holders");
    BREAKS_TO(s->process->array_binds->bind[0].block, NULL, watch_machine(machine), "holders");
    s->sparse->tables = s->large->block;
    check_breaks(watch_machine(machine), "holders");
    s->sparse->tables = NULL;
}

int main(void)
{
    struct scene scene;
    open_scene(&scene);
    test_arrays(&scene);
    test_levels(&scene);
    test_tiles(&scene);
    test_blocks(&scene);
    check_holds(process_check(scene.process), "all is mended");
    sim_machine_unlock(scene.process->machine);
    vmm_close(scene.sys);
    return tap_done();
}
