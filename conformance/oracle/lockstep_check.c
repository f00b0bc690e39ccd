/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_check.c - compares every query of system and model. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lockstep.h"
#include "lockstep_parts.h"
#include "model/model_array.h"
#include "model/model_managed.h"

enum { GRANULES_LOOKED_AT = 8 };

/* ---- the objects that the system shows ---- */

struct visit {
    struct lockstep *pair;
    size_t reservations, mappings, handles, blocks, pools, arrays;
    bool same;
};

static void unlike(struct visit *visit, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void unlike(struct visit *visit, const char *format, ...)
{
    if (!visit->same)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(visit->pair->difference, sizeof visit->pair->difference, format, args);
    va_end(args);
    visit->same = false;
}

static void see_reservation(struct visit *visit, const vmm_object *object)
{
    const struct model_reservation *r = model_reservation_at(&visit->pair->model, object->start);
    visit->reservations++;
    if (!r || r->start != object->start || r->size != object->size)
        unlike(visit, "state: the system shows a reservation of %#llx at %#llx, the model has no match",
               (unsigned long long)object->size, (unsigned long long)object->start);
}

static void see_mapping(struct visit *visit, const vmm_object *object)
{
    const struct model_mapping *p = model_mapping_at(&visit->pair->model, object->start);
    visit->mappings++;
    if (!p || p->start != object->start || p->size != object->size || p->handle != object->handle ||
        p->offset != object->offset) {
        unlike(visit, "state: the system shows a mapping of %#llx at %#llx, the model has no match",
               (unsigned long long)object->size, (unsigned long long)object->start);
        return;
    }
    for (int device = 0; device < visit->pair->profile.devices; device++) {
        int rights = vmm_object_access(object, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, device});
        if (rights != p->device[device])
            unlike(visit, "state: device %d may %d at %#llx, the model says %d", device, rights,
                   (unsigned long long)p->start, p->device[device]);
    }
    int rights = vmm_object_access(object, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, 0});
    if (rights != p->host)
        unlike(visit, "state: the host may %d at %#llx, the model says %d", rights, (unsigned long long)p->start,
               p->host);
}

static void see_handle(struct visit *visit, const vmm_object *object)
{
    struct model *model = &visit->pair->model;
    const struct model_memory *memory = model_memory_of(model, object->value);
    visit->handles++;
    if (!memory)
        unlike(visit, "state: the system shows handle %#llx, the model has none", (unsigned long long)object->value);
    else if (memory->size != object->size || memory->references != object->references ||
             model_mappings_of(model, memory->handle) != object->mappings ||
             memory->prop.location.type != object->location.type || memory->prop.location.id != object->location.id)
        unlike(visit, "state: handle %#llx: the system shows %u references and %u mappings, the model %u and %u",
               (unsigned long long)object->value, object->references, object->mappings, memory->references,
               model_mappings_of(model, memory->handle));
}

static void see_block(struct visit *visit, const vmm_object *object)
{
    const struct model_block *b = model_block_at(&visit->pair->model, object->start);
    const struct model_managed *managed = model_managed_at(&visit->pair->model, object->start);
    visit->blocks++;
    if (managed && managed->start == object->start && managed->size == object->size)
        return;
    if (!b || b->start != object->start || b->size != object->size || (b->pool->value && b->pool->value != object->handle))
        unlike(visit, "state: the system shows an allocation of %#llx at %#llx, the model has no match",
               (unsigned long long)object->size, (unsigned long long)object->start);
}

static void see_pool(struct visit *visit, const vmm_object *object)
{
    const struct model_pool *pool = model_pool_of(&visit->pair->model, object->value);
    visit->pools++;
    if (pool && (pool->ended || object->size != pool->heap.reserved * pool->heap.slot))
        unlike(visit, "state: the system shows a pool of %#llx bytes, the model says %#llx", (unsigned long long)object->size,
               (unsigned long long)(pool->gone ? 0 : pool->heap.reserved * pool->heap.slot));
}

static uint64_t tiles_of(const struct model_shape *shape)
{
    uint64_t tiles = shape->single ? 0 : shape->tail / MODEL_TILE;
    for (unsigned i = 0; i < shape->tail_first; i++) {
        uint64_t in_level = 1;
        for (int side = 0; side < 3; side++)
            in_level *= ((uint64_t)shape->extent[i][side] + shape->tile[side] - 1) / shape->tile[side];
        tiles += in_level;
    }
    return shape->single ? shape->tail / MODEL_TILE : tiles * shape->layers;
}

static void see_array(struct visit *visit, const vmm_object *object)
{
    const struct model_array *array = model_array_of(&visit->pair->model, (const void *)(uintptr_t)object->value);
    visit->arrays++;
    if (!array || array->ended || array->whole != array) {
        unlike(visit, "state: the system shows an array %#llx, the model has no match", (unsigned long long)object->value);
        return;
    }
    const bool sparse = model_array_is_sparse(array), own = !sparse && !model_array_is_deferred(array);
    if (object->location.id != array->device || object->size != (own ? array->shape.need : 0) ||
        object->offset != (sparse ? tiles_of(&array->shape) : 0) || object->mappings != array->tile_count)
        unlike(visit, "state: the system shows an array of %#llx bytes with %u of %llu tiles, the model says %#llx, %zu and %llu",
               (unsigned long long)object->size, object->mappings, (unsigned long long)object->offset,
               (unsigned long long)(own ? array->shape.need : 0), array->tile_count,
               (unsigned long long)(sparse ? tiles_of(&array->shape) : 0));
}

static size_t arrays_of(const struct model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < model->arrays->count; i++)
        count += !model->arrays->at[i]->ended && model->arrays->at[i]->whole == model->arrays->at[i];
    return count;
}

static size_t pools_of(const struct model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < model->pool_count; i++)
        count += !model->pools[i]->ended && !model->pools[i]->own; /* a device's own one is not the program's */
    return count;
}

static void see(void *user, const vmm_object *object)
{
    struct visit *visit = user;
    if (object->kind == VMM_OBJECT_RESERVATION)
        see_reservation(visit, object);
    else if (object->kind == VMM_OBJECT_MAPPING)
        see_mapping(visit, object);
    else if (object->kind == VMM_OBJECT_HANDLE)
        see_handle(visit, object);
    else if (object->kind == VMM_OBJECT_ALLOCATION)
        see_block(visit, object);
    else if (object->kind == VMM_OBJECT_POOL)
        see_pool(visit, object);
    else if (object->kind == VMM_OBJECT_ARRAY)
        see_array(visit, object);
    else if (object->kind == VMM_OBJECT_DEVICE &&
             object->size != model_device_free(&visit->pair->model, (int)object->value))
        unlike(visit, "state: device %d has %#llx bytes free, the model says %#llx", (int)object->value,
               (unsigned long long)object->size,
               (unsigned long long)model_device_free(&visit->pair->model, (int)object->value));
}

bool lockstep_check_objects(struct lockstep *pair)
{
    struct visit visit = {.pair = pair, .same = true};
    const struct model *model = &pair->model;
    if (pair->driver) /* which shows none */
        return true;
    if (vmm_visit(pair->sys, see, &visit) != VMM_SUCCESS)
        unlike(&visit, "state: vmm_visit failed");
    if (visit.reservations != model->reservation_count || visit.mappings != model->mapping_count ||
        visit.handles != model->memory_count)
        unlike(&visit, "state: the system shows %zu reservations, %zu mappings, %zu handles; the model %zu, %zu, %zu",
               visit.reservations, visit.mappings, visit.handles, model->reservation_count, model->mapping_count,
               model->memory_count);
    const size_t blocks = model->block_count + model->managed_count;
    if (visit.blocks != blocks || visit.pools != pools_of(model))
        unlike(&visit, "state: the system shows %zu allocations and %zu pools, the model %zu and %zu", visit.blocks, visit.pools, blocks,
               pools_of(model));
    if (visit.arrays != arrays_of(model))
        unlike(&visit, "state: the system shows %zu arrays, the model %zu", visit.arrays, arrays_of(model));
    return visit.same;
}

/* ---- questions ---- */

/* Makes the step on both; the difference names the query. Some questions would end a driver's process. */
static bool ask(struct lockstep *pair, const struct step *step)
{
    if (pair->driver && lockstep_foresee(pair, step)) {
        pair->unasked++;
        return true;
    }
    if (lockstep_step(pair, step))
        return true;
    char line[200], reason[300];
    step_print(step, lockstep_unit(pair), line, sizeof line);
    snprintf(reason, sizeof reason, "%.290s", pair->difference);
    snprintf(pair->difference, sizeof pair->difference, "state: asked \"%s\": %s", line, reason);
    return false;
}

static bool ask_rights(struct lockstep *pair, uint64_t address)
{
    struct step step = step_of(VMM_CALL_mem_get_access);
    step_arg(&step, "ptr")->add = address;
    for (int who = -2; who < pair->profile.devices; who++) {
        step.desc[0].location.type = who >= 0    ? VMM_MEM_LOCATION_TYPE_DEVICE
                                     : who == -1 ? VMM_MEM_LOCATION_TYPE_HOST
                                                 : VMM_MEM_LOCATION_TYPE_HOST_NUMA;
        step.desc[0].location.id = who >= 0 ? who : 0;
        if (!ask(pair, &step))
            return false;
    }
    return true;
}

static bool ask_attributes(struct lockstep *pair, uint64_t address)
{
    struct step step = step_of(VMM_CALL_pointer_get_attribute);
    step_arg(&step, "ptr")->add = address;
    for (uint64_t a = VMM_POINTER_ATTRIBUTE_CONTEXT; a <= VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE; a++) {
        if (a == VMM_POINTER_ATTRIBUTE_P2P_TOKENS)
            continue; /* the query sets SYNC_MEMOPS, and a check must not change the state */
        step_arg(&step, "attribute")->add = a;
        if (!ask(pair, &step))
            return false;
    }
    step = step_of(VMM_CALL_mem_get_address_range);
    step_arg(&step, "dptr")->add = address;
    return ask(pair, &step);
}

/* The first and the last bytes of a part of a mapping, as the current device reads them. */
static bool ask_bytes(struct lockstep *pair, uint64_t address)
{
    struct step step = step_of(VMM_CALL_memcpy_dtoh);
    step_arg(&step, "src")->add = address;
    step_arg(&step, "byte_count")->add = MODEL_WINDOW;
    return ask(pair, &step);
}

static bool ask_mapping(struct lockstep *pair, const struct model_mapping *mapping)
{
    uint64_t unit = model_memory_of(&pair->model, mapping->handle)->granularity, granules = mapping->size / unit;
    uint64_t end = mapping->start + mapping->size;
    for (uint64_t i = 0; i < granules && i < GRANULES_LOOKED_AT; i++) {
        uint64_t granule = mapping->start + i * unit;
        if (!ask_rights(pair, granule) || !ask_bytes(pair, granule) || !ask_bytes(pair, granule + unit / 2) ||
            !ask_bytes(pair, granule + unit - MODEL_WINDOW))
            return false;
    }
    return ask_rights(pair, end - 1) && ask_rights(pair, end) && ask_attributes(pair, mapping->start) &&
           ask_attributes(pair, end - 1);
}

static bool ask_reservation(struct lockstep *pair, const struct model_reservation *r)
{
    return ask_rights(pair, r->start) && ask_rights(pair, r->start + r->size - 1) && ask_attributes(pair, r->start);
}

static bool ask_dmabuf(struct lockstep *pair, uint64_t start, uint64_t size, uint64_t type, uint64_t flags)
{
    struct step step = step_of(VMM_CALL_mem_get_handle_for_address_range);
    step_arg(&step, "dptr")->add = start;
    step_arg(&step, "size")->add = size;
    step_arg(&step, "handle_type")->add = type;
    step_arg(&step, "flags")->add = flags;
    return ask(pair, &step);
}

/* Exports the mapping as a range for other devices: all of it, its last page, and past its end. */
static bool abi_query_range(struct lockstep *pair, const struct model_mapping *mapping)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = mapping->start + mapping->size;
    return ask_dmabuf(pair, mapping->start, mapping->size, 1, 0) && ask_dmabuf(pair, end - page, page, 1, 0) &&
           ask_dmabuf(pair, end - page, 2 * page, 1, 0) && ask_dmabuf(pair, mapping->start, 2 * mapping->size, 1, 1) &&
           ask_dmabuf(pair, mapping->start + 1, page, 1, 0) && ask_dmabuf(pair, mapping->start, mapping->size, 1, 3) &&
           ask_dmabuf(pair, mapping->start, 2 * mapping->size, 1, 0);
}

/* The remaining mistakes, one at a time. */
static bool ask_wrong_ranges(struct lockstep *pair, const struct model_reservation *r)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return ask_dmabuf(pair, r->start, r->size, 1, 0) && ask_dmabuf(pair, r->start, 0, 1, 0) &&
           ask_dmabuf(pair, r->start, page, 2, 0) && ask_dmabuf(pair, r->start, page, 1, 2) &&
           ask_dmabuf(pair, r->start, page + 1, 1, 0) && ask_dmabuf(pair, r->start, 0 - r->start, 1, 0) &&
           ask_dmabuf(pair, 0, page, 1, 0) && ask_dmabuf(pair, r->start, 0 - page, 1, 0);
}

/* Ranges for other devices: one mapping and one reservation in turn, since each answer is a file to read. Not on a
 * driver, whose dma-bufs cannot be read and hold memory. */
static bool ask_ranges(struct lockstep *pair)
{
    const struct model *model = &pair->model;
    uint64_t turn = pair->looks++;
    return (!model->mapping_count || abi_query_range(pair, &model->mappings[turn % model->mapping_count])) &&
           (!model->reservation_count || ask_wrong_ranges(pair, &model->reservations[turn % model->reservation_count]));
}

static bool ask_export(struct lockstep *pair, uint64_t handle, uint64_t type, uint64_t flags)
{
    struct step step = step_of(VMM_CALL_mem_export_to_shareable_handle);
    step_arg(&step, "handle")->add = handle;
    step_arg(&step, "handle_type")->add = type;
    step_arg(&step, "flags")->add = flags;
    return ask(pair, &step);
}

static bool ask_import(struct lockstep *pair, uint64_t fd, uint64_t type)
{
    struct step step = step_of(VMM_CALL_mem_import_from_shareable_handle);
    step_arg(&step, "os_handle")->add = fd;
    step_arg(&step, "sh_handle_type")->add = type;
    return ask(pair, &step);
}

static bool ask_release(struct lockstep *pair, uint64_t handle)
{
    struct step step = step_of(VMM_CALL_mem_release);
    step_arg(&step, "handle")->add = handle;
    return ask(pair, &step);
}

static bool ask_handle(struct lockstep *pair, uint64_t handle);
static bool ask_memory(struct lockstep *pair);

/* Checks a live import: its properties, that it cannot be exported again, that it takes no memory. */
static bool ask_imported(struct lockstep *pair, uint64_t fd)
{
    size_t before = pair->model.memory_count;
    if (!ask_import(pair, fd, 1))
        return false;
    if (pair->model.memory_count == before)
        return true; /* it was refused, rightly */
    uint64_t copy = pair->model.memories[before].handle;
    return ask_handle(pair, copy) && ask_export(pair, copy, 1, 0) && ask_memory(pair) && ask_import(pair, fd, 2) &&
           ask_import(pair, fd, 3) && lockstep_check_objects(pair) && ask_release(pair, copy) && ask_release(pair, copy);
}

/* One exportable allocation, another one in turn where there is none. */
static uint64_t to_export(const struct model *model, uint64_t turn)
{
    for (size_t i = 0; i < model->memory_count; i++) {
        const struct model_memory *memory = &model->memories[(turn + i) % model->memory_count];
        if (memory->prop.requested_handle_types & VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
            return memory->handle;
    }
    return model->memory_count ? model->memories[turn % model->memory_count].handle : 0;
}

/* Exports memory as a descriptor and imports it. Not with a shadow, which cannot follow an import. Restores the state
 * and closes the descriptor. */
static bool ask_sharing(struct lockstep *pair)
{
    static const unsigned char no_handle[VMM_FABRIC_HANDLE_SIZE];
    const uint64_t fabric = (uint64_t)(uintptr_t)no_handle;
    const struct model *model = &pair->model;
    uint64_t turn = pair->looks, gone = model->past_count ? model->past[turn % model->past_count].handle : 0;
    uint64_t handle = to_export(model, turn), any = model->memory_count ? model->memories[turn % model->memory_count].handle : 0;
    bool same = ask_export(pair, gone, 1, 0) && ask_export(pair, any, 1, 0) && ask_export(pair, handle, 1, 1) &&
                ask_export(pair, handle, 3, 0) && ask_export(pair, handle, 8, 0) && ask_export(pair, handle, 2, 0) &&
                ask_import(pair, fabric, 8) && ask_import(pair, 0, 8) && ask_import(pair, UINT32_MAX, 1) &&
                ask_export(pair, handle, 1, 0);
    if (same && pair->kept)
        same = ask_imported(pair, (uint64_t)pair->kept - 1) && ask_imported(pair, ((uint64_t)pair->kept - 1) | UINT64_C(1) << 32);
    lockstep_keep(pair, -1);
    return same;
}

static bool ask_handle(struct lockstep *pair, uint64_t handle)
{
    struct step step = step_of(VMM_CALL_mem_get_allocation_properties_from_handle);
    step_arg(&step, "handle")->add = handle;
    return ask(pair, &step);
}

/* A retain and a release find out which handle is mapped without changing the state; they may be refused past the end
 * of a reservation. */
static bool ask_retain(struct lockstep *pair, const struct model_mapping *mapping)
{
    struct step step = step_of(VMM_CALL_mem_retain_allocation_handle);
    uint64_t handle = mapping->handle;
    step_arg(&step, "addr")->add = mapping->start + mapping->size - 1;
    if (!ask(pair, &step))
        return false;
    if (pair->refused)
        return true;
    step = step_of(VMM_CALL_mem_release);
    step_arg(&step, "handle")->add = handle;
    return ask(pair, &step);
}

/* The first bytes and the last one of an allocation of a pool, and what is said of both. */
static bool ask_block(struct lockstep *pair, const struct model_block *block)
{
    const uint64_t end = block->start + block->size;
    struct step step = step_of(VMM_CALL_memcpy_dtoh);
    step_arg(&step, "src")->add = block->start;
    step_arg(&step, "byte_count")->add = block->size < MODEL_WINDOW ? block->size : MODEL_WINDOW;
    return ask(pair, &step) && ask_rights(pair, end - 1) && ask_attributes(pair, block->start) && ask_attributes(pair, end - 1);
}

/* Every attribute of a range of managed memory that is all of it, and of its first page, and what is said of its ends. */
static bool ask_managed(struct lockstep *pair, const struct model_managed *managed)
{
    struct step step = step_of(VMM_CALL_mem_range_get_attribute);
    for (uint64_t i = 0; pair->model.current >= 0 && i < 2 * VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID; i++) {
        const uint64_t attribute = 1 + i / 2;
        step_arg(&step, "attribute")->add = attribute;
        step_arg(&step, "data_size")->add = attribute == VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ? 16 : 4;
        step_arg(&step, "dev_ptr")->add = managed->start;
        step_arg(&step, "count")->add = i % 2 ? 1 : managed->size;
        if (!ask(pair, &step))
            return false;
    }
    return ask_attributes(pair, managed->start) && ask_attributes(pair, managed->start + managed->size - 1) &&
           ask_rights(pair, managed->start);
}

/* Every attribute of a pool. */
static bool ask_pool(struct lockstep *pair, const struct model_pool *pool)
{
    struct step step = step_of(VMM_CALL_mem_pool_get_attribute);
    step_arg(&step, "pool")->add = pool->value;
    for (uint64_t i = 1; pool->value && !pool->ended && i <= VMM_MEMPOOL_ATTR_USED_MEM_HIGH; i++) {
        step_arg(&step, "attr")->add = i;
        if (!ask(pair, &step))
            return false;
    }
    return true;
}

/* What an array is, and what it has in the first row of its first layer: at the start, and from the end of a tile on. */
static bool ask_array(struct lockstep *pair, const struct model_array *array)
{
    const struct model_shape *shape = &array->whole->shape;
    struct step step = step_of(array->mipmapped ? VMM_CALL_mipmapped_array_get_sparse_properties : VMM_CALL_array_3d_get_descriptor);
    step.arg[1] = (struct step_arg){array->tag, 0};
    if (!ask(pair, &step))
        return false;
    if (array->mipmapped || (model_array_is_deferred(array->whole) && !array->whole->serial) || pair->model.current < 0 ||
        shape->element.side > 1)
        return true;
    const uint64_t row = model_shape_row(shape, array->level), tile = (uint64_t)shape->tile[0] * shape->element.bytes;
    for (int turn = 0; turn < 2; turn++) {
        step = step_of(VMM_CALL_memcpy_3d);
        step.side[0] = (struct step_side){.type = VMM_MEMORYTYPE_ARRAY, .base = {array->tag, 0}};
        step.side[0].x = turn && tile && tile < row ? tile - 1 : 0;
        step.side[1] = (struct step_side){.type = VMM_MEMORYTYPE_HOST, .base = {0, 1}};
        step.extent[0] = row - step.side[0].x < MODEL_WINDOW ? row - step.side[0].x : MODEL_WINDOW;
        step.extent[1] = step.extent[2] = 1;
        if (!ask(pair, &step))
            return false;
    }
    return true;
}

/* Free memory of every device; restores the current context. */
static bool ask_memory(struct lockstep *pair)
{
    struct step set = step_of(VMM_CALL_ctx_set_current), info = step_of(VMM_CALL_mem_get_info);
    struct step device = step_of(VMM_CALL_ctx_get_device);
    int current = pair->model.current;
    for (size_t i = 0; i < pair->model.context_count; i++) {
        step_arg(&set, "ctx")->add = (uint64_t)(uintptr_t)pair->model.contexts[i].value;
        if (!ask(pair, &set) || !ask(pair, &device) || !ask(pair, &info))
            return false;
    }
    step_arg(&set, "ctx")->add = current < 0 ? 0 : (uint64_t)(uintptr_t)pair->model.contexts[current].value;
    return ask(pair, &set);
}

bool lockstep_check(struct lockstep *pair)
{
    if (!lockstep_check_objects(pair))
        return false;
    if (model_capturing(&pair->model)) /* which some of the questions would end */
        return true;
    if (pair->model.blocked >= 0) /* a stream waits for a value, and so would some of the questions */
        return true;
    for (size_t i = 0; i < pair->model.mapping_count; i++)
        if (!ask_mapping(pair, &pair->model.mappings[i]) || !ask_retain(pair, &pair->model.mappings[i]))
            return false;
    for (size_t i = 0; i < pair->model.reservation_count; i++)
        if (!ask_reservation(pair, &pair->model.reservations[i]))
            return false;
    for (size_t i = 0; i < pair->model.memory_count; i++)
        if (!ask_handle(pair, pair->model.memories[i].handle))
            return false;
    for (size_t i = 0; i < pair->model.block_count; i++)
        if (!ask_block(pair, &pair->model.blocks[i]))
            return false;
    for (size_t i = 0; i < pair->model.pool_count; i++)
        if (!ask_pool(pair, pair->model.pools[i]))
            return false;
    for (size_t i = 0; i < pair->model.managed_count; i++)
        if (!ask_managed(pair, &pair->model.managed[i]))
            return false;
    for (size_t i = 0; i < pair->model.arrays->count; i++)
        if (!pair->model.arrays->at[i]->ended && pair->model.arrays->at[i]->tag && !ask_array(pair, pair->model.arrays->at[i]))
            return false;
    if (!pair->driver && (!ask_ranges(pair) || (!strstr(pair->spec, "shadow") && !ask_sharing(pair))))
        return false;
    return ask_memory(pair) && lockstep_check_objects(pair);
}
