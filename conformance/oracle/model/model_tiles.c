/* SPDX-License-Identifier: Apache-2.0 */
/* model_tiles.c - cuMemMapArrayAsync: memory for the tiles of sparse arrays, for mip tails, and for deferred arrays (facts: arrays, F E O).
 *
 * All elements of a list are checked before the first one is done. On a driver nothing is foreseen of elements whose sums wrap, and of an
 * array or a memory of another device than the stream's.
 *
 * A driver takes the size of a mip tail from the first element of its list (facts: arrays, J):
 *
 *     {tail of t, 64 KiB} {tail of u, 64 KiB}      both are mapped
 *     {a tile of a}       {tail of u, 64 KiB}      SUCCESS, but u keeps what it had
 *
 * With another size the model does not know what the tail has, until an element is done that covers all of it.
 */
#include "model_array.h"

#include <stdlib.h>

#define INVALID VMM_ERROR_INVALID_VALUE

/* ---- memory behind tiles ---- */

static struct model_backing *backing_by(struct model *m, uint64_t serial)
{
    for (size_t i = 0; i < m->arrays->backing_count; i++)
        if (m->arrays->backings[i].serial == serial)
            return &m->arrays->backings[i];
    abort(); /* LCOV_EXCL_LINE: what is mapped has its memory */
}

static uint64_t serial_of(struct model *m, const struct model_memory *memory)
{
    struct model_arrays *all = m->arrays;
    for (size_t i = 0; i < all->backing_count; i++)
        if (all->backings[i].handle == memory->handle)
            return all->backings[i].serial;
    all->backings = model_room(all->backings, &all->backing_room, all->backing_count, sizeof *all->backings);
    all->backings[all->backing_count++] =
        (struct model_backing){.serial = ++all->serials, .handle = memory->handle, .size = memory->size,
                               .place = model_pool_place(&memory->prop.location)};
    return all->serials;
}

static void settle(struct model *m, struct model_backing *backing)
{
    if (backing->handle || backing->tiles)
        return;
    model_backing_forget(m, backing->serial);
    *backing = m->arrays->backings[--m->arrays->backing_count];
}

void model_backing_ends(struct model *model, uint64_t handle)
{
    for (size_t i = 0; i < model->arrays->backing_count; i++)
        if (model->arrays->backings[i].handle == handle) {
            model->arrays->backings[i].handle = 0;
            settle(model, &model->arrays->backings[i]);
            return;
        }
}

static void drop(struct model *m, uint64_t serial)
{
    struct model_backing *backing = backing_by(m, serial);
    backing->tiles--;
    settle(m, backing);
}

void model_array_unmap(struct model *model, struct model_array *array)
{
    while (array->tile_count)
        drop(model, array->tiles[--array->tile_count].serial);
    if (array->serial)
        drop(model, array->serial);
    array->serial = 0;
}

/* ---- tiles ---- */

static struct model_tile *tile_at(const struct model_array *whole, unsigned layer, unsigned level, uint32_t x, uint32_t y, uint32_t z)
{
    for (size_t i = 0; i < whole->tile_count; i++) {
        struct model_tile *t = &whole->tiles[i];
        if (t->layer == layer && t->level == level && t->x == x && t->y == y && t->z == z)
            return t;
    }
    return NULL;
}

struct model_tile *model_array_tile(const struct model_array *whole, unsigned level, uint64_t x, uint64_t y, uint64_t z)
{
    const struct model_shape *s = &whole->shape;
    const uint64_t wide = s->tile[0] / s->element.side * s->element.bytes, high = s->tile[1] / s->element.side;
    const uint64_t layer = s->volume ? 0 : z, deep = s->volume ? z / s->tile[2] : 0;
    return tile_at(whole, (unsigned)layer, level, (uint32_t)(x / wide), (uint32_t)(y / high), (uint32_t)deep);
}

struct model_tile *model_array_tail(const struct model_array *whole, unsigned layer, uint32_t piece)
{
    return tile_at(whole, layer, whole->shape.tail_first, piece, 0, 0);
}

/* serial 0: the tile loses what it has. */
static void bind_tile(struct model *m, struct model_array *whole, struct model_tile as)
{
    struct model_tile *t = tile_at(whole, as.layer, as.level, as.x, as.y, as.z);
    const uint64_t had = t ? t->serial : 0;
    if (as.serial)
        backing_by(m, as.serial)->tiles++;
    if (as.serial && !t) {
        whole->tiles = model_room(whole->tiles, &whole->tile_room, whole->tile_count, sizeof *whole->tiles);
        t = &whole->tiles[whole->tile_count++];
    }
    if (as.serial)
        *t = as;
    else if (t)
        *t = whole->tiles[--whole->tile_count];
    if (had)
        drop(m, had);
}

/* ---- what an element says ---- */

struct element {
    const vmm_array_map_info *info;
    struct model_array *array;
    const struct model_memory *memory; /* NULL: it unmaps */
    uint64_t tiles[3];                 /* of a box, how many each way; of a mip tail, the first */
    uint64_t bytes;
    bool wraps;
};

static bool form_allowed(const vmm_array_map_info *i, int device, struct model_answer *a)
{
    const bool kind = i->resource_type == VMM_RESOURCE_TYPE_ARRAY || i->resource_type == VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    const bool operation = i->mem_operation_type == VMM_MEM_OPERATION_TYPE_MAP || i->mem_operation_type == VMM_MEM_OPERATION_TYPE_UNMAP;
    if (i->flags || i->reserved[0] || i->reserved[1])
        return model_refuse(a, INVALID, "VMM-TILES-FLAGS");
    if (i->device_bit_mask != 1u << device)
        return model_refuse(a, INVALID, "VMM-TILES-DEVICE");
    const bool handle = i->mem_handle_type == VMM_MEM_HANDLE_TYPE_GENERIC || i->mem_operation_type == VMM_MEM_OPERATION_TYPE_UNMAP;
    return (kind && operation && handle) || model_refuse(a, INVALID, "VMM-TILES-TYPE");
}

static bool array_allowed(struct model *m, struct element *e, int device, struct model_answer *a)
{
    e->array = model_array_of(m, e->info->resource.array);
    const bool mipmapped = e->info->resource_type == VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    if (!e->array || e->array->ended || e->array->whole != e->array || e->array->mipmapped != mipmapped ||
        !(model_array_is_sparse(e->array) || model_array_is_deferred(e->array)))
        return model_refuse(a, INVALID, "VMM-TILES-ARRAY");
    a->foreseen &= !m->driver || e->array->device == device;
    return true;
}

/* One side of a box, in numbers of 32 bits. */
static bool side_allowed(struct element *e, int side, uint32_t from, uint32_t extent, struct model_answer *a)
{
    const uint32_t size = e->array->shape.extent[e->info->subresource.sparse_level.level][side], tile = e->array->shape.tile[side];
    const uint32_t last = from + extent;
    if (!extent)
        return model_refuse(a, INVALID, "VMM-TILES-RANGE");
    if (from % tile)
        return model_refuse(a, INVALID, "VMM-TILES-ALIGNMENT");
    if (last > size)
        return model_refuse(a, INVALID, "VMM-TILES-RANGE");
    if (extent % tile && last != size)
        return model_refuse(a, INVALID, "VMM-TILES-ALIGNMENT");
    e->wraps |= last < from;
    e->tiles[side] = ((uint64_t)extent + tile - 1) / tile;
    return true;
}

static bool box_allowed(struct element *e, struct model_answer *a)
{
    const struct vmm_array_sparse_level *l = &e->info->subresource.sparse_level;
    if (l->level >= e->array->shape.tail_first || l->layer >= e->array->shape.layers)
        return model_refuse(a, INVALID, "VMM-TILES-LEVEL");
    if (!side_allowed(e, 0, l->offset_x, l->extent_width, a) || !side_allowed(e, 1, l->offset_y, l->extent_height, a) ||
        !side_allowed(e, 2, l->offset_z, l->extent_depth, a))
        return false;
    e->bytes = MODEL_TILE * e->tiles[0] * e->tiles[1] * e->tiles[2];
    return true;
}

static bool tail_allowed(struct element *e, struct model_answer *a)
{
    const struct vmm_array_miptail *t = &e->info->subresource.miptail;
    const struct model_shape *s = &e->array->shape;
    const bool whole = t->offset % MODEL_TILE == 0 && t->size % MODEL_TILE == 0 && t->size;
    if (!whole || t->layer >= (s->single ? 1 : s->layers) || t->size > s->tail || t->offset > s->tail - t->size)
        return model_refuse(a, INVALID, "VMM-TILES-TAIL");
    e->tiles[0] = t->offset / MODEL_TILE;
    e->bytes = t->size;
    return true;
}

static bool part_allowed(struct element *e, struct model_answer *a)
{
    if (model_array_is_deferred(e->array)) {
        e->bytes = e->array->shape.need;
        return true;
    }
    switch (e->info->subresource_type) {
    case VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL: return box_allowed(e, a);
    case VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL: return tail_allowed(e, a);
    default: return model_refuse(a, INVALID, "VMM-TILES-TYPE");
    }
}

static bool memory_allowed(struct model *m, struct element *e, int device, struct model_answer *a)
{
    const uint64_t from = e->info->offset, last = from + e->bytes;
    if (e->info->mem_operation_type == VMM_MEM_OPERATION_TYPE_UNMAP)
        return true;
    const struct model_memory *memory = model_memory_of(m, e->info->mem_handle.mem_handle);
    if (!memory || !memory->references)
        return model_refuse(a, INVALID, "VMM-TILES-HANDLE");
    if (!memory->tile_pool)
        return model_refuse(a, INVALID, "VMM-TILES-POOL");
    if (from % MODEL_TILE)
        return model_refuse(a, INVALID, "VMM-TILES-OFFSET");
    if (last > memory->size)
        return model_refuse(a, INVALID, "VMM-TILES-MEMORY");
    e->wraps |= last < from || e->bytes > memory->size;
    e->memory = memory;
    a->foreseen &= !m->driver || (memory->prop.location.type == VMM_MEM_LOCATION_TYPE_DEVICE && memory->prop.location.id == device);
    return true;
}

static bool element_allowed(struct model *m, struct element *e, int device, struct model_answer *a)
{
    if (!form_allowed(e->info, device, a) || !array_allowed(m, e, device, a) || !part_allowed(e, a) || !memory_allowed(m, e, device, a))
        return false;
    a->foreseen &= !m->driver || !e->wraps;
    if (e->wraps)
        model_hazard(a, "VMM-TILES-WRAPS");
    return true;
}

/* ---- doing them ---- */

static void bind_box(struct model *m, const struct element *e, uint64_t serial)
{
    const struct vmm_array_sparse_level *l = &e->info->subresource.sparse_level;
    const uint32_t *tile = e->array->shape.tile;
    const uint64_t count = e->tiles[0] * e->tiles[1] * e->tiles[2];
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t x = i % e->tiles[0], y = i / e->tiles[0] % e->tiles[1], z = i / e->tiles[0] / e->tiles[1];
        const struct model_tile as = {l->layer, l->level, (uint32_t)(l->offset_x / tile[0] + x), (uint32_t)(l->offset_y / tile[1] + y),
                                      (uint32_t)(l->offset_z / tile[2] + z), serial, serial ? e->info->offset + i * MODEL_TILE : 0};
        bind_tile(m, e->array, as);
    }
}

static void bind_tail(struct model *m, const struct element *e, uint64_t serial)
{
    for (uint64_t i = 0; i < e->bytes / MODEL_TILE; i++) {
        const struct model_tile as = {.layer = e->info->subresource.miptail.layer, .level = e->array->shape.tail_first,
                                      .x = (uint32_t)(e->tiles[0] + i), .serial = serial,
                                      .offset = serial ? e->info->offset + i * MODEL_TILE : 0};
        bind_tile(m, e->array, as);
    }
    model_array_forget(m, e->array);
}

static void bind_all(struct model *m, const struct element *e, uint64_t serial)
{
    const uint64_t had = e->array->serial;
    if (serial)
        backing_by(m, serial)->tiles++;
    e->array->serial = serial;
    e->array->offset = serial ? e->info->offset : 0;
    if (had)
        drop(m, had);
    model_array_forget(m, e->array);
}

static void bind(struct model *m, const struct element *e)
{
    const uint64_t serial = e->memory ? serial_of(m, e->memory) : 0;
    if (model_array_is_deferred(e->array))
        bind_all(m, e, serial);
    else if (e->info->subresource_type == VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL)
        bind_tail(m, e, serial);
    else
        bind_box(m, e, serial);
}

static bool is_tail(const struct element *e)
{
    return !model_array_is_deferred(e->array) && e->info->subresource_type == VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
}

/* What a driver takes for the size of an element's mip tail. */
static uint64_t size_read(const vmm_array_map_info *list)
{
    const struct vmm_array_sparse_level *l = &list->subresource.sparse_level;
    return list->subresource_type == VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL ? list->subresource.miptail.size
                                                                               : (uint64_t)l->extent_width << 32 | l->offset_z;
}

static void note_doubt(const struct model *m, const struct element *e, uint64_t size)
{
    const struct model_shape *s = &e->array->shape;
    if (m->driver && size != e->info->subresource.miptail.size)
        e->array->doubtful = true;
    else if (e->info->subresource.miptail.size == s->tail && (s->single || s->layers == 1))
        e->array->doubtful = false;
}

MODEL_ON(mem_map_array_async)
{
    if (!c->map_info_list || !c->count) {
        model_refuse(a, INVALID, "VMM-TILES-LIST");
        return;
    }
    const int lane = model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a);
    for (unsigned turn = 0; lane >= 0 && turn < 2; turn++)
        for (unsigned i = 0; i < c->count; i++) {
            struct element e = {.info = &c->map_info_list[i]};
            struct model_answer again = *a;
            if (!element_allowed(m, &e, m->lane[lane].device, turn ? &again : a))
                return;
            if (turn && !e.wraps && model_succeeded(a)) {
                bind(m, &e);
                if (is_tail(&e))
                    note_doubt(m, &e, size_read(c->map_info_list));
            }
        }
}
