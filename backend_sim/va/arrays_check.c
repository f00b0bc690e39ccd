/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of arrays.h. */
#include <inttypes.h>

#include "arrays.h"
#include "checks.h"

static uint64_t start_of(const void *array)
{
    return *(const uint64_t *)array;
}
_Static_assert(!offsetof(struct sim_array, start) && !offsetof(struct sim_tile, number), "start_of");

static const char *check_tile(const struct sim_array *array, const struct sim_tile *tile)
{
    if (tile->number >= array_tiles(&array->layout) || !sim_array_has(array, VMM_ARRAY3D_SPARSE))
        return check_say("tile %" PRIu64 " of Y%" PRIu32 " is none of its %" PRIu64, tile->number, array->number,
                         array_tiles(&array->layout));
    if (!tile->block || tile->at > tile->block->size || tile->block->size - tile->at < ARRAY_TILE)
        return check_say("tile %" PRIu64 " of Y%" PRIu32 " lies outside its block", tile->number, array->number);
    return NULL;
}

static const char *check_tiles(const struct sim_array *array, uint64_t *tiles)
{
    const char *said = check_in(addrmap_check(&array->tiles, start_of), "tiles of Y%" PRIu32, array->number);
    for (const struct sim_tile *tile = said ? NULL : addrmap_ceil(&array->tiles, 0); tile && !said;
         tile = addrmap_ceil(&array->tiles, tile->number + 1))
        said = check_tile(array, tile);
    *tiles += array->tiles.count;
    return said;
}

static const char *check_memory(const struct sim_array *array)
{
    const bool deferred = sim_array_has(array, VMM_ARRAY3D_DEFERRED_MAPPING);
    const bool sparse = sim_array_has(array, VMM_ARRAY3D_SPARSE);
    const uint64_t need = array->layout.need;
    if (!array->block)
        return deferred || sparse ? NULL : check_say("Y%" PRIu32 " has no block", array->number);
    if (sparse || array->block_at > array->block->size || array->block->size - array->block_at < need)
        return check_say("Y%" PRIu32 " has a block that is none of its own", array->number);
    return check_in(block_data_check(&array->block->bytes), "Y%" PRIu32, array->number);
}

static const char *check_levels(const struct sim_process *process, const struct sim_array *array)
{
    const char *said = NULL;
    for (unsigned i = 0; i < ARRAY_LEVELS && !said; i++) {
        const struct sim_array *level = array->levels[i];
        if (level && (i >= array->layout.levels || level->whole != array || level->level != i))
            said = check_say("level %u of Y%" PRIu32 " is none", i, array->number);
        else if (level)
            said = check_in(slots_check_value(&process->arrays, level->value, level), "Y%" PRIu32, level->number);
    }
    return said;
}

/* The used units of each chunk are those of its arrays. */
static const char *check_chunks(const struct sim_process *process)
{
    const uint64_t unit = sim_granularity(process, VMM_MEM_LOCATION_TYPE_DEVICE, 0) / 32;
    for (const struct sim_array_chunk *chunk = process->array_chunks; chunk; chunk = chunk->next) {
        uint64_t units = 0;
        for (const struct sim_array *a = addrmap_ceil(&process->array_ranges, 0); a; a = addrmap_ceil(&process->array_ranges, a->start + 1))
            if (a->chunk == chunk)
                units += (a->layout.need + unit - 1) / unit;
        if (!units || units != (unsigned)__builtin_popcount(chunk->used))
            return check_say("a chunk has %d units in use, its arrays %" PRIu64, __builtin_popcount(chunk->used), units);
    }
    return NULL;
}

static const char *check_array(const struct sim_process *process, const struct sim_array *array, struct va_allocator_taken *taken,
                               uint64_t *tiles)
{
    const uint64_t span = (array->layout.bytes + ARRAY_TILE - 1) / ARRAY_TILE * ARRAY_TILE;
    const char *said = check_in(slots_check_value(&process->arrays, array->value, array), "Y%" PRIu32, array->number);
    void *context;
    if (!said && slots_find(&process->contexts, array->context, &context) != SLOT_LIVE)
        said = check_say("the context of Y%" PRIu32 " has ended", array->number);
    if (!said)
        said = check_in(va_allocator_check_taken(&process->array_va, array->start, span, taken), "Y%" PRIu32, array->number);
    if (!said)
        said = check_memory(array);
    if (!said)
        said = check_levels(process, array);
    return said ? said : check_tiles(array, tiles);
}

const char *arrays_check(struct sim_process *process)
{
    struct va_allocator_taken taken = {0};
    uint64_t tiles = 0, end = 0;
    const char *said = check_in(slots_check(&process->arrays), "arrays");
    if (!said)
        said = check_in(addrmap_check(&process->array_ranges, start_of), "arrays");
    for (const struct sim_array *a = said ? NULL : addrmap_ceil(&process->array_ranges, 0); a && !said;
         a = addrmap_ceil(&process->array_ranges, a->start + 1)) {
        said = a->start < end ? check_say("Y%" PRIu32 " overlaps the array before it", a->number)
                              : check_array(process, a, &taken, &tiles);
        end = a->start + a->layout.bytes;
    }
    for (const struct array_binds *binds = process->array_binds; binds && !said; binds = binds->next)
        if (binds->process != process || binds->count > binds->room)
            said = check_say("a list of binds is another process's, or has %u of %u", binds->count, binds->room);
    if (!said)
        said = check_chunks(process);
    if (!said)
        said = check_in(pool_check(&process->tile_pool, tiles), "room for tiles");
    return said ? said : check_in(va_allocator_check(&process->array_va, ARRAYS_END - ARRAYS_START, &taken), "addresses of arrays");
}

static const char *check_tile_blocks(const struct sim_array *array, struct machine_sum *sum, enum machine_pass pass)
{
    const char *said = NULL;
    for (const struct sim_tile *tile = addrmap_ceil(&array->tiles, 0); tile && !said;
         tile = addrmap_ceil(&array->tiles, tile->number + 1))
        said = check_in(machine_check_holder(sum, pass, tile->block), "tile %" PRIu64 " of Y%" PRIu32, tile->number, array->number);
    return said;
}

const char *arrays_check_blocks(struct sim_process *process, struct machine_sum *sum, enum machine_pass pass)
{
    const char *said = NULL;
    for (const struct sim_array *a = addrmap_ceil(&process->array_ranges, 0); a && !said;
         a = addrmap_ceil(&process->array_ranges, a->start + 1)) {
        if (a->block)
            said = check_in(machine_check_holder(sum, pass, a->block), "Y%" PRIu32, a->number);
        if (!said && a->tables)
            said = check_in(machine_check_holder(sum, pass, a->tables), "Y%" PRIu32, a->number);
        if (!said)
            said = check_tile_blocks(a, sum, pass);
    }
    for (const struct sim_array_chunk *chunk = process->array_chunks; chunk && !said; chunk = chunk->next)
        said = check_in(machine_check_holder(sum, pass, chunk->block), "a chunk of arrays");
    for (const struct array_binds *binds = process->array_binds; binds && !said; binds = binds->next)
        for (unsigned i = 0; i < binds->count && !said; i++)
            if (binds->bind[i].block)
                said = check_in(machine_check_holder(sum, pass, binds->bind[i].block), "a list of binds");
    return said;
}
