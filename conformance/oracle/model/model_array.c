/* SPDX-License-Identifier: Apache-2.0 */
/* model_array.c - the lifetimes of arrays, their memory, and queries about them. */
#include "model_array.h"

#include <stdlib.h>
#include <string.h>

#include "model_graph.h"

#define INVALID VMM_ERROR_INVALID_VALUE

void model_arrays_open(struct model *model)
{
    model->arrays = model_new(sizeof *model->arrays);
    memset(model->arrays, 0, sizeof *model->arrays);
}

void model_arrays_close(struct model *model)
{
    struct model_arrays *all = model->arrays;
    for (size_t i = 0; i < all->count; i++) {
        free(all->at[i]->tiles);
        free(all->at[i]);
    }
    free(all->at);
    free(all->chunks);
    free(all->backings);
    free(all->windows);
    free(all);
}

struct model_array *model_array_of(const struct model *model, const void *value)
{
    struct model_array *found = NULL;
    for (size_t i = 0; value && i < model->arrays->count; i++) {
        struct model_array *one = model->arrays->at[i];
        if (one->value == (uint64_t)(uintptr_t)value && (!found || found->ended))
            found = one;
    }
    return found;
}

bool model_array_is_sparse(const struct model_array *array)
{
    return array->is.flags & VMM_ARRAY3D_SPARSE;
}

bool model_array_is_deferred(const struct model_array *array)
{
    return array->is.flags & VMM_ARRAY3D_DEFERRED_MAPPING;
}

/* ---- memory ---- */

static uint64_t unit_of(const struct model *m)
{
    return m->profile->device_granularity[0];
}

static bool is_small(const struct model *m, const vmm_array3d_descriptor *is, const struct model_shape *shape)
{
    return !(is->flags & (VMM_ARRAY3D_SPARSE | VMM_ARRAY3D_DEFERRED_MAPPING)) && shape->need < unit_of(m);
}

static unsigned units_of(const struct model *m, const struct model_shape *shape)
{
    const uint64_t unit = unit_of(m) / MODEL_UNITS;
    return (unsigned)((shape->need + unit - 1) / unit);
}

static bool has_units(const struct model_chunk *chunk)
{
    for (unsigned i = 0; i < MODEL_UNITS; i++)
        if (chunk->taken[i])
            return true;
    return false;
}

/* The first place in the chunk; MODEL_UNITS where there is none. */
static unsigned place_in(const struct model_chunk *chunk, unsigned units)
{
    for (unsigned at = 0, run = 0; at < MODEL_UNITS; at++) {
        run = chunk->taken[at] ? 0 : run + 1;
        if (run == units)
            return at + 1 - units;
    }
    return MODEL_UNITS;
}

/* The chunk that was made last of those with room counts. Its place plus 1; 0 where a new one is needed. Ours: which one. */
static size_t chunk_for(const struct model *m, size_t context, unsigned units)
{
    for (size_t i = m->arrays->chunk_count; i > 0; i--) {
        const struct model_chunk *chunk = &m->arrays->chunks[i - 1];
        if (chunk->context == context && has_units(chunk) && place_in(chunk, units) < MODEL_UNITS)
            return i;
    }
    return 0;
}

/* What a new array takes: whole granules; of a large sparse one, 8 bytes for each tile. */
static uint64_t takes(const struct model *m, const vmm_array3d_descriptor *is, const struct model_shape *shape, size_t context)
{
    const uint64_t unit = unit_of(m);
    if (is_small(m, is, shape))
        return chunk_for(m, context, units_of(m, shape)) ? 0 : unit;
    if (is->flags & VMM_ARRAY3D_SPARSE)
        return shape->need / MODEL_TILE * 8 / unit * unit;
    return is->flags & VMM_ARRAY3D_DEFERRED_MAPPING ? 0 : (shape->need + unit - 1) / unit * unit;
}

static void enter_chunk(struct model *m, struct model_array *array)
{
    struct model_arrays *all = m->arrays;
    array->units = units_of(m, &array->shape);
    array->chunk = chunk_for(m, array->context, array->units);
    if (!array->chunk) {
        all->chunks = model_room(all->chunks, &all->chunk_room, all->chunk_count, sizeof *all->chunks);
        all->chunks[all->chunk_count++] = (struct model_chunk){.context = array->context, .device = array->device};
        array->chunk = all->chunk_count;
    }
    struct model_chunk *chunk = &all->chunks[array->chunk - 1];
    array->unit = place_in(chunk, array->units);
    memset(chunk->taken + array->unit, true, array->units);
}

uint64_t model_arrays_hold(const struct model *model, int place)
{
    const struct model_arrays *all = model->arrays;
    uint64_t bytes = 0;
    for (size_t i = 0; i < all->count; i++)
        if (!all->at[i]->ended && all->at[i]->device == place)
            bytes += all->at[i]->holds;
    for (size_t i = 0; i < all->chunk_count; i++)
        if (all->chunks[i].device == place && has_units(&all->chunks[i]))
            bytes += unit_of(model);
    for (size_t i = 0; i < all->backing_count; i++) /* with a handle, it is counted as that handle's */
        if (all->backings[i].place == place && !all->backings[i].handle)
            bytes += all->backings[i].size;
    return bytes;
}

/* ---- creation ---- */

static void expect_new(const struct model *m, uint64_t value, struct model_answer *a)
{
    const struct model_array *other = model_array_of(m, (const void *)(uintptr_t)value);
    model_expect(a, "array is NULL", value == 0, false);
    model_expect(a, "array equals a live one", other && !other->ended, false);
}

static struct model_array *add(struct model *m, const struct model_array *as)
{
    struct model_arrays *all = m->arrays;
    struct model_array *array = model_new(sizeof *array);
    *array = *as;
    array->tag = m->tag;
    all->at = model_room(all->at, &all->room, all->count, sizeof(struct model_array *));
    all->at[all->count++] = array;
    return array;
}

static void create(struct model *m, const void *const *value, const vmm_array3d_descriptor *asked, unsigned levels, bool mipmapped,
                   struct model_answer *a)
{
    const int device = model_current_device(m);
    if (device < 0) {
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
        return;
    }
    if (!value || !asked) {
        model_refuse(a, INVALID, "VMM-ARRAY-NULL");
        return;
    }
    struct model_array made = {.device = device, .context = (size_t)m->current, .is = *asked, .mipmapped = mipmapped};
    made.is.width &= UINT32_MAX;
    made.is.height &= UINT32_MAX;
    made.is.depth &= UINT32_MAX;
    const char *fault = model_shape_fault(&made.is, mipmapped);
    if (fault) {
        model_refuse(a, strcmp(fault, "VMM-ARRAY-SURFACE") ? INVALID : VMM_ERROR_NOT_SUPPORTED, fault);
        return;
    }
    model_shape_of(&made.is, mipmapped, levels, &made.shape);
    const uint64_t wanted = takes(m, &made.is, &made.shape, made.context);
    if (!a->asked)
        model_pools_make_room(m, device, wanted);
    if (wanted > model_device_free(m, device) && !model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-ARRAY-MEMORY"))
        return;
    if (!model_succeeded(a))
        return;
    m->may_take += m->driver != NULL; /* a driver has memory of its own for arrays, which it takes and returns in granules */
    expect_new(m, (uint64_t)(uintptr_t)*value, a);
    made.value = (uint64_t)(uintptr_t)*value;
    struct model_array *array = add(m, &made);
    array->whole = array;
    if (is_small(m, &array->is, &array->shape))
        enter_chunk(m, array);
    else
        array->holds = wanted;
}

MODEL_ON(array_3d_create)
{
    create(m, (const void *const *)(const void *)c->p_handle, c->p_allocate_array, 1, false, a);
}

MODEL_ON(mipmapped_array_create)
{
    create(m, (const void *const *)(const void *)c->p_handle, c->p_mipmapped_array_desc, c->num_mipmap_levels, true, a);
}

/* ---- finding ---- */

/* A live array of the kind; a refusal if there is none. One of the other kind ends a driver's process. */
static struct model_array *find(struct model *m, const void *value, bool mipmapped, struct model_answer *a)
{
    struct model_array *array = model_array_of(m, value);
    if (!value)
        model_refuse(a, VMM_ERROR_INVALID_HANDLE, "VMM-ARRAY-HANDLE");
    else if (!array)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-ARRAY-FORGED");
    else if (array->ended)
        model_refuse(a, VMM_ERROR_CONTEXT_IS_DESTROYED, "VMM-ARRAY-ENDED");
    else if (array->mipmapped != mipmapped)
        model_refuse(a, INVALID, "VMM-ARRAY-UNKNOWN");
    else
        return array;
    return NULL;
}

/* ---- questions ---- */

MODEL_ON(array_3d_get_descriptor)
{
    const struct model_array *array = find(m, c->h_array, false, a);
    if (!array)
        return;
    if (!c->p_array_descriptor) {
        model_refuse(a, INVALID, "VMM-ARRAY-NULL");
        return;
    }
    if (!model_succeeded(a))
        return;
    model_expect(a, "Width", c->p_array_descriptor->width, array->is.width);
    model_expect(a, "Height", c->p_array_descriptor->height, array->is.height);
    model_expect(a, "Depth", c->p_array_descriptor->depth, array->is.depth);
    model_expect(a, "Format", (uint64_t)c->p_array_descriptor->format, (uint64_t)array->is.format);
    model_expect(a, "NumChannels", c->p_array_descriptor->num_channels, array->is.num_channels);
    model_expect(a, "Flags", c->p_array_descriptor->flags, array->is.flags);
}

MODEL_ON(array_get_plane)
{
    if (find(m, c->h_array, false, a))
        model_refuse(a, INVALID, "VMM-ARRAY-PLANE");
}

/* A whole array of the kind with the flag. What never was an array has none; one that ended ends a driver's process. */
static const struct model_array *with(struct model *m, const void *value, bool mipmapped, unsigned flag, struct model_answer *a)
{
    const struct model_array *array = model_array_of(m, value);
    if (array && array->ended)
        model_refuse(a, INVALID, "VMM-ARRAY-UNKNOWN");
    else if (array && array->mipmapped == mipmapped && array->whole == array && array->is.flags & flag)
        return array;
    else
        model_refuse(a, INVALID, flag == VMM_ARRAY3D_SPARSE ? "VMM-ARRAY-NOT-SPARSE" : "VMM-ARRAY-NOT-DEFERRED");
    return NULL;
}

static void sparse_properties(struct model *m, const void *value, bool mipmapped, const vmm_array_sparse_properties *got,
                              struct model_answer *a)
{
    if (!got) {
        model_refuse(a, INVALID, "VMM-ARRAY-NULL");
        return;
    }
    const struct model_array *array = with(m, value, mipmapped, VMM_ARRAY3D_SPARSE, a);
    if (!array || !model_succeeded(a))
        return;
    const struct model_shape *shape = &array->shape;
    model_expect(a, "tileExtent.width", got->tile_extent.width, shape->tile[0]);
    model_expect(a, "tileExtent.height", got->tile_extent.height, shape->tile[1]);
    model_expect(a, "tileExtent.depth", got->tile_extent.depth, shape->tile[2]);
    model_expect(a, "miptailFirstLevel", got->miptail_first_level, mipmapped ? shape->tail_first : 0);
    model_expect(a, "miptailSize", got->miptail_size, shape->tail);
    model_expect(a, "flags", got->flags, shape->single ? VMM_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL : 0);
}

MODEL_ON(array_get_sparse_properties)
{
    sparse_properties(m, c->array, false, c->sparse_properties, a);
}

MODEL_ON(mipmapped_array_get_sparse_properties)
{
    sparse_properties(m, c->mipmap, true, c->sparse_properties, a);
}

/* The device is not checked. */
static void requirements(struct model *m, const void *value, bool mipmapped, const vmm_array_memory_requirements *got,
                         struct model_answer *a)
{
    if (!got) {
        model_refuse(a, INVALID, "VMM-ARRAY-NULL");
        return;
    }
    const struct model_array *array = with(m, value, mipmapped, VMM_ARRAY3D_DEFERRED_MAPPING, a);
    if (!array || !model_succeeded(a))
        return;
    model_expect(a, "size", got->size, array->shape.need);
    model_expect(a, "alignment", got->alignment, MODEL_TILE);
}

MODEL_ON(array_get_memory_requirements)
{
    requirements(m, c->array, false, c->memory_requirements, a);
}

MODEL_ON(mipmapped_array_get_memory_requirements)
{
    requirements(m, c->mipmap, true, c->memory_requirements, a);
}

/* ---- levels ---- */

static struct model_array *new_level(struct model *m, struct model_array *whole, unsigned number, uint64_t value)
{
    struct model_array as = {.value = value, .device = whole->device, .context = whole->context, .is = whole->is, .whole = whole,
                             .level = number};
    const uint32_t *extent = whole->shape.extent[number];
    as.is.width = extent[0];
    as.is.height = as.is.height ? extent[1] : 0;
    as.is.depth = whole->shape.volume ? extent[2] : as.is.depth;
    return whole->levels[number] = add(m, &as);
}

MODEL_ON(mipmapped_array_get_level)
{
    struct model_array *whole = find(m, c->h_mipmapped_array, true, a);
    if (!whole)
        return;
    if (!c->p_level_array)
        model_refuse(a, INVALID, "VMM-ARRAY-NULL");
    else if (c->level >= whole->shape.levels)
        model_refuse(a, INVALID, "VMM-ARRAY-LEVEL");
    if (!model_succeeded(a))
        return;
    const uint64_t got = (uint64_t)(uintptr_t)*c->p_level_array;
    if (whole->levels[c->level]) {
        model_expect(a, "level's array", got, whole->levels[c->level]->value);
        return;
    }
    expect_new(m, got, a);
    new_level(m, whole, c->level, got);
}

/* ---- the end ---- */

static void end(struct model *m, struct model_array *array)
{
    for (unsigned i = 0; i < MODEL_LEVELS; i++)
        if (array->levels[i])
            array->levels[i]->ended = true;
    model_array_unmap(m, array);
    model_array_forget(m, array);
    if (array->chunk)
        memset(m->arrays->chunks[array->chunk - 1].taken + array->unit, false, array->units);
    free(array->tiles);
    array->tiles = NULL;
    array->tile_count = array->tile_room = 0;
    array->ended = true;
}

/* A level stays: what it is a level of ends. The device's work is waited for. To end one twice ends a driver's process. */
static void destroy(struct model *m, const void *value, bool mipmapped, struct model_answer *a)
{
    const struct model_array *there = model_array_of(m, value);
    if (there && there->ended) {
        model_refuse(a, INVALID, "VMM-ARRAY-UNKNOWN");
        return;
    }
    struct model_array *array = find(m, value, mipmapped, a);
    if (!array || array->whole != array || !model_succeeded(a))
        return;
    m->orders++;
    end(m, array);
}

MODEL_ON(array_destroy)
{
    const struct model_array *array = model_array_of(m, c->h_array);
    if (array && !array->ended && array->mipmapped && !model_array_is_sparse(array)) {
        a->ends = m->driver; /* seen both ways */
        model_breach(m, a, "VMM-ARRAY-KIND");
    } else {
        destroy(m, c->h_array, false, a);
    }
}

MODEL_ON(mipmapped_array_destroy)
{
    destroy(m, c->h_mipmapped_array, true, a);
}
