/* SPDX-License-Identifier: Apache-2.0 */
#include "arrays.h"

#include "heap.h"

#define TAG_ARRAY 0x5941 /* "AY" */

enum { SHIFT = 16 }; /* addresses of arrays are multiples of a tile */

struct sim_block arrays_nothing = {.size = UINT64_MAX,
                                   .prop.location.type = VMM_MEM_LOCATION_TYPE_INVALID,
                                   .bytes = {.size = UINT64_MAX, .place = BACKING_FILE_NOWHERE}};

static void forget(void *user, void *object)
{
    (void)user;
    heap.free(object);
}

bool arrays_open(struct sim_process *process)
{
    slots_init(&process->arrays, TAG_ARRAY, SLOTS_POINTERS, forget, NULL);
    addrmap_init(&process->array_ranges, SHIFT);
    pool_init(&process->tile_pool, sizeof(struct sim_tile));
    if (va_allocator_init(&process->array_va, ARRAYS_START, ARRAYS_END, ARRAY_TILE))
        return true;
    va_allocator_clear(&process->array_va);
    return false;
}

void arrays_clear(struct sim_process *process)
{
    slots_clear(&process->arrays);
    addrmap_clear(&process->array_ranges);
    pool_clear(&process->tile_pool);
    va_allocator_clear(&process->array_va);
}

enum slot_state sim_array_find(const struct sim_process *process, uint64_t value, struct sim_array **array)
{
    void *object = NULL;
    enum slot_state state = slots_find(&process->arrays, value, &object);
    *array = object;
    return state;
}

struct sim_array *sim_array_at(const struct sim_process *process, uint64_t address)
{
    struct sim_array *array = arrays_have(address) ? addrmap_floor(&process->array_ranges, address) : NULL;
    return array && address - array->start < array->layout.bytes ? array : NULL;
}

/* ---- their lives ---- */

/* The size of the address range of an array. */
static uint64_t span_of(const struct array_layout *layout)
{
    return (layout->bytes + ARRAY_TILE - 1) / ARRAY_TILE * ARRAY_TILE;
}

/* ---- the memory of arrays, as measured ---- */

enum { UNITS = 32 }; /* of a chunk */

static uint64_t chunk_size(const struct sim_process *process)
{
    return sim_granularity(process, VMM_MEM_LOCATION_TYPE_DEVICE, 0);
}

static bool is_ordinary(const vmm_array3d_descriptor *is)
{
    return !(is->flags & (VMM_ARRAY3D_SPARSE | VMM_ARRAY3D_DEFERRED_MAPPING));
}

/* Whole chunks for a large ordinary array; for a sparse one 8 bytes per tile, at least a chunk. */
static uint64_t whole_chunks(const struct sim_process *process, const vmm_array3d_descriptor *is, const struct array_layout *layout)
{
    const uint64_t chunk = chunk_size(process);
    if (is_ordinary(is))
        return (layout->need + chunk - 1) / chunk * chunk;
    return is->flags & VMM_ARRAY3D_SPARSE ? layout->need / ARRAY_TILE * 8 / chunk * chunk : 0;
}

/* The bits of that many units from a position on. */
static uint32_t bits(unsigned units, unsigned at)
{
    return (units < UNITS ? (UINT32_C(1) << units) - 1 : UINT32_MAX) << at;
}

static unsigned units_of(const struct sim_process *process, const struct array_layout *layout)
{
    const uint64_t unit = chunk_size(process) / UNITS;
    return (unsigned)((layout->need + unit - 1) / unit);
}

static bool is_small(const struct sim_process *process, const vmm_array3d_descriptor *is, const struct array_layout *layout)
{
    return is_ordinary(is) && layout->need < chunk_size(process);
}

/* The first position in a chunk with room for that many units; UNITS: none. */
static unsigned place_in(const struct sim_array_chunk *chunk, unsigned units)
{
    for (unsigned at = 0; at + units <= UNITS; at++)
        if (!(chunk->used & bits(units, at)))
            return at;
    return UNITS;
}

static struct sim_array_chunk *chunk_for(const struct sim_process *process, uint64_t context, unsigned units)
{
    struct sim_array_chunk *chunk = process->array_chunks;
    while (chunk && (chunk->context != context || place_in(chunk, units) == UNITS))
        chunk = chunk->next;
    return chunk;
}

uint64_t sim_array_takes(const struct sim_process *process, const vmm_array3d_descriptor *is, unsigned levels, bool mipmapped,
                         const struct sim_context *context)
{
    struct array_layout layout;
    array_layout_of(is, levels, mipmapped, &layout);
    if (is_small(process, is, &layout) && chunk_for(process, context->value, units_of(process, &layout)))
        return 0;
    return whole_chunks(process, is, &layout);
}

static struct sim_block *new_block(const struct sim_process *process, int device, uint64_t size)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
    return sim_block_new(process->machine, size, &prop);
}

static struct sim_array_chunk *new_chunk(struct sim_process *process, const struct sim_array *array)
{
    struct sim_array_chunk *chunk = heap.calloc(1, sizeof *chunk);
    if (!chunk || !(chunk->block = new_block(process, array->device, chunk_size(process)))) {
        heap.free(chunk);
        return NULL;
    }
    chunk->context = array->context;
    chunk->next = process->array_chunks;
    process->array_chunks = chunk;
    return chunk;
}

static bool take_part(struct sim_process *process, struct sim_array *array)
{
    const unsigned units = units_of(process, &array->layout);
    struct sim_array_chunk *chunk = chunk_for(process, array->context, units);
    if (!chunk && !(chunk = new_chunk(process, array)))
        return false;
    const unsigned at = place_in(chunk, units);
    chunk->used |= bits(units, at);
    sim_block_hold(chunk->block);
    array->chunk = chunk;
    array->block = chunk->block;
    array->block_at = at * (chunk_size(process) / UNITS);
    return true;
}

static void leave_chunk(struct sim_process *process, struct sim_array *array)
{
    struct sim_array_chunk *chunk = array->chunk, **link = &process->array_chunks;
    const uint64_t unit = chunk_size(process) / UNITS;
    chunk->used &= ~bits(units_of(process, &array->layout), (unsigned)(array->block_at / unit));
    array->chunk = NULL;
    if (chunk->used)
        return;
    while (*link != chunk)
        link = &(*link)->next;
    *link = chunk->next;
    sim_block_drop(process->machine, chunk->block);
    heap.free(chunk);
}

static bool take_memory(struct sim_process *process, struct sim_array *array)
{
    const uint64_t size = whole_chunks(process, &array->is, &array->layout);
    if (is_small(process, &array->is, &array->layout))
        return take_part(process, array);
    if (!size)
        return true;
    struct sim_block *block = new_block(process, array->device, size);
    *(is_ordinary(&array->is) ? &array->block : &array->tables) = block;
    return block != NULL;
}

static bool take_addresses(struct sim_process *process, struct sim_array *array)
{
    const uint64_t span = span_of(&array->layout);
    if (va_allocator_take(&process->array_va, span, ARRAY_TILE, 0, &array->start) != VA_ALLOCATOR_TAKEN)
        return false;
    if (addrmap_insert(&process->array_ranges, array->start, array))
        return true;
    va_allocator_free(&process->array_va, array->start, span);
    return false;
}

static void leave_addresses(struct sim_process *process, const struct sim_array *array)
{
    addrmap_remove(&process->array_ranges, array->start);
    va_allocator_free(&process->array_va, array->start, span_of(&array->layout));
}

static void begin(struct sim_process *process, struct sim_array *array, struct sim_origin made)
{
    array->value = array->shown = slots_add(&process->arrays, array);
    array->number = sim_process_number(process, VMM_OBJECT_ARRAY);
    array->made = made;
}

struct sim_array *sim_array_new(struct sim_process *process, const vmm_array3d_descriptor *is, unsigned levels, bool mipmapped,
                                const struct sim_context *context, struct sim_origin made)
{
    assert_locked(process->machine);
    struct sim_array *array = slots_ready(&process->arrays) ? heap.calloc(1, sizeof *array) : NULL;
    if (!array)
        return NULL;
    array->is = *is;
    array->mipmapped = mipmapped;
    array->whole = array;
    array->context = context->value;
    array->device = context->device;
    array_layout_of(is, levels, mipmapped, &array->layout);
    addrmap_init(&array->tiles, 0);
    const bool placed = take_addresses(process, array);
    if (placed && take_memory(process, array)) {
        begin(process, array, made);
        return array;
    }
    if (placed)
        leave_addresses(process, array);
    heap.free(array);
    return NULL;
}

/* Its descriptor. 0 stays 0, and layers do not shrink. */
static void describe_level(struct sim_array *level)
{
    const struct sim_array *whole = level->whole;
    const struct array_level *at = &whole->layout.level[level->level];
    level->is = whole->is;
    level->is.width = at->extent[0];
    level->is.height = whole->is.height ? at->extent[1] : 0;
    if (whole->is.depth && !sim_array_has(whole, VMM_ARRAY3D_LAYERED | VMM_ARRAY3D_CUBEMAP))
        level->is.depth = at->extent[2];
}

struct sim_array *sim_array_level(struct sim_process *process, struct sim_array *whole, unsigned level, struct sim_origin made)
{
    assert_locked(process->machine);
    struct sim_array *array = whole->levels[level];
    if (array)
        return array;
    array = slots_ready(&process->arrays) ? heap.calloc(1, sizeof *array) : NULL;
    if (!array)
        return NULL;
    array->whole = whole;
    array->level = level;
    array->context = whole->context;
    array->device = whole->device;
    array->start = whole->start + whole->layout.level[level].at;
    describe_level(array);
    addrmap_init(&array->tiles, 0);
    begin(process, array, made);
    whole->levels[level] = array;
    return array;
}

static void drop_tile(struct sim_process *process, struct sim_array *array, struct sim_tile *tile)
{
    addrmap_remove(&array->tiles, tile->number);
    sim_block_drop(process->machine, tile->block);
    pool_free(&process->tile_pool, tile);
}

static void drop_tiles(struct sim_process *process, struct sim_array *array)
{
    struct sim_tile *tile;
    while ((tile = addrmap_ceil(&array->tiles, 0)) != NULL)
        drop_tile(process, array, tile);
    addrmap_clear(&array->tiles);
}

static void drop_memory(struct sim_process *process, struct sim_array *array)
{
    if (array->chunk)
        leave_chunk(process, array);
    if (array->block)
        sim_block_drop(process->machine, array->block);
    array->block = NULL;
}

void sim_array_end(struct sim_process *process, struct sim_array *array, struct sim_origin ended)
{
    assert_locked(process->machine);
    for (unsigned i = 0; i < array->layout.levels; i++)
        if (array->levels[i]) {
            array->levels[i]->ended = ended;
            array->levels[i]->whole = NULL;
            slots_end(&process->arrays, array->levels[i]->value);
            array->levels[i] = NULL;
        }
    drop_tiles(process, array);
    drop_memory(process, array);
    if (array->tables)
        sim_block_drop(process->machine, array->tables);
    array->tables = NULL;
    leave_addresses(process, array);
    array->ended = ended;
    slots_end(&process->arrays, array->value);
}

void arrays_end_of(struct sim_process *process, uint64_t context, struct sim_origin ended)
{
    struct sim_array *array = addrmap_ceil(&process->array_ranges, ARRAYS_START);
    while (array) {
        struct sim_array *next = addrmap_ceil(&process->array_ranges, array->start + 1);
        if (!context || array->context == context)
            sim_array_end(process, array, ended);
        array = next;
    }
}

void arrays_end_all(struct sim_process *process)
{
    while (process->array_binds)
        array_binds_free(process->array_binds);
    arrays_end_of(process, 0, (struct sim_origin){0, 0, 0});
}

/* ---- bytes ---- */

struct array_run sim_array_run(const struct sim_array *array, uint64_t address, uint64_t size)
{
    const uint64_t byte = address - array->start, left = array->layout.bytes - byte, length = size < left ? size : left;
    if (!sim_array_has(array, VMM_ARRAY3D_SPARSE))
        return (struct array_run){array->block, array->block_at + byte, length};
    const struct array_place place = array_place_of(&array->layout, byte);
    const struct sim_tile *tile = addrmap_floor(&array->tiles, place.tile);
    const bool there = tile && tile->number == place.tile;
    return (struct array_run){there ? tile->block : &arrays_nothing, there ? tile->at + place.offset : 0,
                              length < place.length ? length : place.length};
}

/* ---- binding ---- */

struct array_binds *array_binds_new(struct sim_process *process, unsigned room)
{
    assert_locked(process->machine);
    struct array_binds *binds = heap.calloc(1, sizeof *binds + room * sizeof binds->bind[0]);
    if (!binds)
        return NULL;
    binds->process = process;
    binds->room = room;
    binds->next = process->array_binds;
    process->array_binds = binds;
    return binds;
}

void array_binds_add(struct array_binds *binds, const struct array_bind *bind)
{
    binds->bind[binds->count++] = *bind;
    if (bind->block)
        sim_block_hold(bind->block);
}

void array_binds_free(struct array_binds *binds)
{
    struct sim_process *process = binds->process;
    assert_locked(process->machine);
    for (unsigned i = 0; i < binds->count; i++)
        if (binds->bind[i].block)
            sim_block_drop(process->machine, binds->bind[i].block);
    struct array_binds **link = &process->array_binds;
    while (*link != binds)
        link = &(*link)->next;
    *link = binds->next;
    heap.free(binds);
}

/* Binds memory to a tile, or unbinds it (NULL). */
static bool bind_tile(struct sim_process *process, struct sim_array *array, uint64_t number, struct sim_block *block, uint64_t at)
{
    struct sim_tile *tile = addrmap_floor(&array->tiles, number);
    if (tile && tile->number == number)
        drop_tile(process, array, tile);
    if (!block)
        return true;
    tile = pool_alloc(&process->tile_pool);
    if (!tile)
        return false;
    *tile = (struct sim_tile){number, block, at};
    if (!addrmap_insert(&array->tiles, number, tile)) {
        pool_free(&process->tile_pool, tile);
        return false;
    }
    sim_block_hold(block);
    return true;
}

/* Tiles are bound in the order of x, then y, then z. */
static bool bind_box(struct sim_process *process, struct sim_array *array, const struct array_bind *bind)
{
    uint64_t at = bind->at;
    for (uint32_t z = 0; z < bind->count[2]; z++)
        for (uint32_t y = 0; y < bind->count[1]; y++)
            for (uint32_t x = 0; x < bind->count[0]; x++, at += ARRAY_TILE) {
                const uint64_t number = array_tile_at(&array->layout, bind->level, bind->layer, bind->from[0] + x,
                                                      bind->from[1] + y, bind->from[2] + z);
                if (!bind_tile(process, array, number, bind->block, at))
                    return false;
            }
    return true;
}

static bool bind_tail(struct sim_process *process, struct sim_array *array, const struct array_bind *bind)
{
    for (uint64_t done = 0; done < bind->size; done += ARRAY_TILE)
        if (!bind_tile(process, array, array_tail_tile(&array->layout, bind->layer, bind->offset + done), bind->block,
                       bind->at + done))
            return false;
    return true;
}

static bool bind_all(struct sim_process *process, struct sim_array *array, const struct array_bind *bind)
{
    drop_memory(process, array);
    if (bind->block)
        sim_block_hold(bind->block);
    array->block = bind->block;
    array->block_at = bind->at;
    return true;
}

static bool bind_one(struct sim_process *process, const struct array_bind *bind)
{
    struct sim_array *array;
    if (sim_array_find(process, bind->array, &array) != SLOT_LIVE)
        return true;
    return bind->part == ARRAY_ALL   ? bind_all(process, array, bind)
           : bind->part == ARRAY_BOX ? bind_box(process, array, bind)
                                     : bind_tail(process, array, bind);
}

bool array_binds_do(struct array_binds *binds)
{
    assert_locked(binds->process->machine);
    for (unsigned i = 0; i < binds->count; i++)
        if (!bind_one(binds->process, &binds->bind[i]))
            return false;
    return true;
}
