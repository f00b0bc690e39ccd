/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_random_array.c - random calls of arrays, and of the tiles of sparse ones. */
#include <string.h>

#include "lockstep_maker.h"
#include "model/model_array.h"

enum { MANY_ARRAYS = 12, MANY_TILE_POOLS = 4 };

/* ---- what there is ---- */

typedef bool (*is_wanted)(const struct model_array *array);

static const struct model_array *some_array(const struct maker *m, is_wanted wanted)
{
    const struct model_arrays *all = m->model->arrays;
    const size_t from = choose(m->dice, all->count);
    for (size_t i = 0; i < all->count; i++) {
        const struct model_array *one = all->at[(from + i) % all->count];
        if (!one->ended && one->tag && wanted(one))
            return one;
    }
    return NULL;
}

static bool is_any(const struct model_array *array)
{
    (void)array;
    return true;
}

static bool is_plain(const struct model_array *array)
{
    return !array->mipmapped;
}

static bool is_whole(const struct model_array *array)
{
    return !array->mipmapped && array->whole == array;
}

static bool is_mipmapped(const struct model_array *array)
{
    return array->mipmapped;
}

static bool is_sparse(const struct model_array *array)
{
    return is_whole(array) && model_array_is_sparse(array);
}

static bool is_sparse_mipmapped(const struct model_array *array)
{
    return array->mipmapped && model_array_is_sparse(array);
}

static bool is_deferred(const struct model_array *array)
{
    return is_whole(array) && model_array_is_deferred(array);
}

static bool is_deferred_mipmapped(const struct model_array *array)
{
    return array->mipmapped && model_array_is_deferred(array);
}

static bool has_tiles(const struct model_array *array)
{
    return array->whole == array && (model_array_is_sparse(array) || model_array_is_deferred(array));
}

/* A copy to or from it would not lose the device. */
static bool has_bytes(const struct model_array *array)
{
    return !array->mipmapped && (!model_array_is_deferred(array->whole) || array->whole->serial);
}

static struct step_arg named(const struct model_array *array)
{
    return array ? (struct step_arg){array->tag, 0} : literal(0);
}

struct step_arg maker_old_array(const struct maker *m)
{
    const struct model_arrays *all = m->model->arrays;
    const size_t from = choose(m->dice, all->count);
    for (size_t i = 0; i < all->count && one_in(m, 2); i++)
        if (all->at[(from + i) % all->count]->ended)
            return named(all->at[(from + i) % all->count]);
    return one_in(m, 2) ? named(some_array(m, is_any)) : literal(0);
}

static size_t arrays_of(const struct model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < model->arrays->count; i++)
        count += !model->arrays->at[i]->ended && model->arrays->at[i]->whole == model->arrays->at[i];
    return count;
}

/* ---- creation ---- */

/* Order of the fields: call_structs.def. */
enum { WIDTH, HEIGHT, DEPTH, FORMAT, CHANNELS, FLAGS };

static void make_descriptor(const struct maker *m, uint64_t width, uint64_t height, uint64_t depth, unsigned flags)
{
    static const struct {
        uint64_t format, channels;
    } formats[] = {{0x20, 1}, {0x20, 1}, {0x20, 4}, {1, 1}, {8, 4}, {2, 1}, {0x10, 2}, {3, 2}, {0xc0, 1}, {0xc5, 4}, {0x50, 4}, {0x91, 4}, {0x9d, 4}, {0x99, 2}};
    const size_t i = choose(m->dice, sizeof formats / sizeof formats[0]);
    const uint64_t fields[] = {width, height, depth, formats[i].format, formats[i].channels, flags};
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
        m->step->field[0][f] = literal(fields[f]);
}

/* Around the sizes of tiles, and of less. */
static uint64_t some_side(const struct maker *m)
{
    const uint64_t sides[] = {1, 4, 16, 32, 33, 64, 100, 128, 128, 200, 256, 256, 300, 512};
    return PICK(m, sides);
}

static void make_plain(const struct maker *m)
{
    const unsigned more = one_in(m, 5) ? VMM_ARRAY3D_SURFACE_LDST : one_in(m, 2) ? VMM_ARRAY3D_DEFERRED_MAPPING : 0;
    const uint64_t side = some_side(m), kind = choose(m->dice, 8);
    if (kind == 0)
        make_descriptor(m, some_side(m) * 8, 0, 0, more);
    else if (kind == 1)
        make_descriptor(m, some_side(m) / 4 + 1, some_side(m) / 4 + 1, 1 + choose(m->dice, 40), more);
    else if (kind == 2)
        make_descriptor(m, side, some_side(m), 1 + choose(m->dice, 6), more | VMM_ARRAY3D_LAYERED);
    else if (kind == 3)
        make_descriptor(m, side / 2 + 1, side / 2 + 1, 6, more | VMM_ARRAY3D_CUBEMAP);
    else if (kind == 4)
        make_descriptor(m, side, some_side(m), 0, more | VMM_ARRAY3D_TEXTURE_GATHER);
    else
        make_descriptor(m, some_side(m) * (one_in(m, 6) ? 8 : 1), some_side(m), 0, more);
}

static void make_sparse(const struct maker *m)
{
    const uint64_t kind = choose(m->dice, 6);
    if (kind == 0)
        make_descriptor(m, some_side(m), some_side(m), 1 + choose(m->dice, 3), VMM_ARRAY3D_SPARSE | VMM_ARRAY3D_LAYERED);
    else if (kind == 1)
        make_descriptor(m, some_side(m) / 2 + 1, some_side(m) / 2 + 1, 8 + choose(m->dice, 40), VMM_ARRAY3D_SPARSE);
    else
        make_descriptor(m, some_side(m), some_side(m), 0, VMM_ARRAY3D_SPARSE);
}

static void destroy_instead(const struct maker *m)
{
    const struct model_array *array = some_array(m, has_tiles);
    array = array && one_in(m, 2) ? array : some_array(m, is_whole);
    array = array && !one_in(m, 3) ? array : some_array(m, is_mipmapped);
    const uint32_t name = m->step->name;
    *m->step = step_of(array && array->mipmapped ? VMM_CALL_mipmapped_array_destroy : VMM_CALL_array_destroy);
    m->step->name = name;
    m->step->arg[0] = named(array);
}

static void make_array(const struct maker *m)
{
    if (arrays_of(m->model) > MANY_ARRAYS) {
        destroy_instead(m);
        return;
    }
    (one_in(m, 2) ? make_sparse : make_plain)(m);
    if (m->step->call == VMM_CALL_mipmapped_array_create)
        maker_set(m, "num_mipmap_levels", literal(choose(m->dice, 12)));
}

static void make_end(const struct maker *m)
{
    const bool mipmapped = m->step->call == VMM_CALL_mipmapped_array_destroy;
    m->step->arg[0] = named(some_array(m, mipmapped != one_in(m, 30) ? is_mipmapped : is_plain));
}

/* ---- questions ---- */

static is_wanted wanted_by(enum vmm_call_id call)
{
    switch (call) {
    case VMM_CALL_array_get_sparse_properties: return is_sparse;
    case VMM_CALL_array_get_memory_requirements: return is_deferred;
    case VMM_CALL_mipmapped_array_get_sparse_properties: return is_sparse_mipmapped;
    case VMM_CALL_mipmapped_array_get_memory_requirements: return is_deferred_mipmapped;
    case VMM_CALL_mipmapped_array_get_level: return is_mipmapped;
    default: return is_plain;
    }
}

static void make_question(const struct maker *m)
{
    const enum vmm_call_id call = (enum vmm_call_id)m->step->call;
    const struct model_array *array = some_array(m, wanted_by(call));
    m->step->arg[1] = named(array || one_in(m, 2) ? array : some_array(m, is_any));
    if (call == VMM_CALL_mipmapped_array_get_level)
        m->step->arg[2] = literal(choose(m->dice, array ? array->shape.levels + (one_in(m, 12) ? 2 : 0) : 2));
}

/* ---- tiles ---- */

static const struct model_memory *some_pool(const struct maker *m)
{
    const size_t count = m->model->memory_count, from = choose(m->dice, count);
    for (size_t i = 0; i < count; i++) {
        const struct model_memory *one = &m->model->memories[(from + i) % count];
        if (one->tile_pool && one->references)
            return one;
    }
    return NULL;
}

static void make_pool(const struct maker *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->model->memory_count; i++)
        count += m->model->memories[i].tile_pool && m->model->memories[i].references;
    if (count > MANY_TILE_POOLS) {
        const struct model_memory *pool = some_pool(m);
        const uint32_t name = m->step->name;
        *m->step = step_of(VMM_CALL_mem_release);
        m->step->name = name;
        maker_set(m, "handle", (struct step_arg){pool->tag, 0});
        return;
    }
    m->step->prop.location.id = (int)choose(m->dice, (uint64_t)m->model->profile->devices);
    m->step->prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    if (one_in(m, 12) && !m->model->driver)
        m->step->prop.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    const bool host = m->step->prop.location.type != VMM_MEM_LOCATION_TYPE_DEVICE;
    maker_set(m, "size", literal((host ? m->model->profile->host_granularity[0] : m->unit) * (1 + choose(m->dice, 2))));
}

enum { RESOURCE_TYPE, RESOURCE, SUBRESOURCE_TYPE, LEVEL, LAYER, X, Y, Z, BOX_WIDTH, BOX_HEIGHT, BOX_DEPTH, TAIL_LAYER, TAIL_OFFSET, TAIL_SIZE,
       OPERATION, HANDLE_TYPE, HANDLE, OFFSET, MASK };

/* From a tile on, some tiles or to the end of the level. Returns how many. */
static uint64_t make_extent(const struct maker *m, struct step_arg *field, const struct model_shape *s, unsigned level, int side)
{
    const uint32_t size = s->extent[level][side], tile = s->tile[side];
    const uint64_t tiles = (size + tile - 1) / tile, from = choose(m->dice, tiles), count = 1 + choose(m->dice, tiles - from);
    const uint64_t last = (from + count) * tile;
    field[X + side] = literal(from * tile);
    field[BOX_WIDTH + side] = literal((last < size ? last : size) - from * tile);
    return count;
}

/* Part of the array; returns how many bytes of memory that needs. */
static uint64_t make_part(const struct maker *m, struct step_arg *field, const struct model_array *array)
{
    const struct model_shape *s = &array->shape;
    if (model_array_is_deferred(array))
        return s->need;
    const bool tail = s->tail && (!s->tail_first || one_in(m, 3));
    field[SUBRESOURCE_TYPE] = literal(tail);
    if (tail) {
        const uint64_t pieces = s->tail / MODEL_TILE, from = one_in(m, 3) ? choose(m->dice, pieces) : 0;
        const uint64_t count = one_in(m, 3) ? 1 + choose(m->dice, pieces - from) : pieces - from;
        field[TAIL_LAYER] = literal(s->single ? 0 : choose(m->dice, s->layers));
        field[TAIL_OFFSET] = literal(from * MODEL_TILE);
        field[TAIL_SIZE] = literal(count * MODEL_TILE);
        return count * MODEL_TILE;
    }
    const unsigned level = (unsigned)choose(m->dice, s->tail_first);
    uint64_t tiles = 1;
    field[LEVEL] = literal(level);
    field[LAYER] = literal(choose(m->dice, s->layers));
    for (int side = 0; side < 3; side++)
        tiles *= make_extent(m, field, s, level, side);
    return tiles * MODEL_TILE;
}

static void make_element(const struct maker *m, struct step_arg *field, int device)
{
    const struct model_array *array = some_array(m, has_tiles);
    const struct model_memory *pool = some_pool(m);
    const bool unmaps = one_in(m, 5);
    for (int i = 0; i < 4 && array && array->device != device; i++)
        array = some_array(m, has_tiles);
    for (int i = 0; i < 4 && pool && pool->prop.location.id != device; i++)
        pool = some_pool(m);
    const uint64_t bytes = array ? make_part(m, field, array) : MODEL_TILE;
    field[RESOURCE_TYPE] = literal(array && array->mipmapped ? VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY : VMM_RESOURCE_TYPE_ARRAY);
    field[RESOURCE] = named(array);
    field[OPERATION] = literal(unmaps ? VMM_MEM_OPERATION_TYPE_UNMAP : VMM_MEM_OPERATION_TYPE_MAP);
    field[HANDLE] = unmaps || !pool ? literal(0) : (struct step_arg){pool->tag, 0};
    field[OFFSET] = literal(pool && bytes < pool->size && !unmaps ? MODEL_TILE * choose(m->dice, (pool->size - bytes) / MODEL_TILE + 1) : 0);
    field[MASK] = literal(1u << device);
}

static void make_map(const struct maker *m)
{
    const struct step_arg stream = maker_stream(m);
    int device = maker_device_of(m, stream);
    device = device < 0 ? 0 : device;
    maker_set(m, "stream", stream);
    maker_set(m, "count", literal(1 + choose(m->dice, STEP_STRUCTS)));
    for (size_t i = 0; i < STEP_STRUCTS; i++)
        make_element(m, m->step->field[i], device);
}

/* ---- copies ---- */

/* The side is an array, and the extent lies in it, mostly. */
static void make_array_side(const struct maker *m, struct step_side *side, const struct model_array *array)
{
    const struct model_shape *s = &array->whole->shape;
    const uint64_t block = s->element.side > 1 ? s->element.bytes : 1, row = model_shape_row(s, array->level) / block;
    const uint64_t rows = model_shape_rows(s, array->level), layers = model_shape_layers(s, array->level);
    uint64_t *extent = m->step->extent;
    side->type = VMM_MEMORYTYPE_ARRAY;
    side->base = named(array);
    extent[0] = (extent[0] + block - 1) / block * block;
    extent[0] = extent[0] > row * block ? row * block : extent[0];
    extent[1] = extent[1] > rows ? rows : extent[1];
    extent[2] = extent[2] > layers ? layers : extent[2];
    const uint64_t tile = s->tile[0] ? s->tile[0] / s->element.side * s->element.bytes : 64, left = row - extent[0] / block + 1;
    side->x = one_in(m, 3) ? 0 : one_in(m, 3) ? choose(m->dice, left) * block : (tile - block) % (left * block) / block * block;
    side->y = one_in(m, 2) ? 0 : choose(m->dice, rows - extent[1] + 1);
    side->z = one_in(m, 2) ? 0 : choose(m->dice, layers - extent[2] + 1);
    side->pitch = side->height = 0;
}

static void make_copy(const struct maker *m)
{
    const bool async = m->step->call == VMM_CALL_memcpy_3d_async || m->step->call == VMM_CALL_memcpy_3d_peer_async;
    const struct step_arg stream = async ? maker_stream(m) : literal(0);
    const int which = (int)choose(m->dice, 2);
    const struct model_array *array = some_array(m, has_bytes), *other = one_in(m, 5) ? some_array(m, has_bytes) : NULL;
    maker_box(m, maker_device_of(m, stream));
    if (async)
        maker_set(m, "stream", stream);
    if (array)
        make_array_side(m, &m->step->side[which], array);
    if (array && other)
        make_array_side(m, &m->step->side[!which], other);
    if (array && !other && one_in(m, 2)) { /* with the program's memory, of which all bytes are known */
        m->step->side[!which] = (struct step_side){.type = VMM_MEMORYTYPE_HOST, .base = literal(1 + choose(m->dice, 255))};
    }
    for (int i = 0; i < 2; i++)
        m->step->side[i].context = literal(0);
}

static const struct maker_row rows[] = {
    {VMM_CALL_array_3d_create, 5, make_array},
    {VMM_CALL_mipmapped_array_create, 4, make_array},
    {VMM_CALL_array_destroy, 1, make_end},
    {VMM_CALL_mipmapped_array_destroy, 1, make_end},
    {VMM_CALL_array_3d_get_descriptor, 2, make_question},
    {VMM_CALL_array_get_plane, 4, make_question},
    {VMM_CALL_array_get_sparse_properties, 2, make_question},
    {VMM_CALL_array_get_memory_requirements, 2, make_question},
    {VMM_CALL_mipmapped_array_get_level, 4, make_question},
    {VMM_CALL_mipmapped_array_get_sparse_properties, 2, make_question},
    {VMM_CALL_mipmapped_array_get_memory_requirements, 2, make_question},
    {VMM_CALL_mem_create, 4, make_pool},
    {VMM_CALL_mem_map_array_async, 16, make_map},
    {VMM_CALL_memcpy_3d, 10, make_copy},
    {VMM_CALL_memcpy_3d_async, 8, make_copy},
    {VMM_CALL_memcpy_3d_peer, 2, make_copy},
    {VMM_CALL_memcpy_3d_peer_async, 2, make_copy},
};

const struct maker_row *maker_array_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}
