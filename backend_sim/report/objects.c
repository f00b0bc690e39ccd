/* SPDX-License-Identifier: Apache-2.0 */
#include "objects.h"

static vmm_object make(vmm_object_kind kind, uint32_t number, struct sim_origin made)
{
    vmm_object object = {0};
    object.kind = kind;
    object.number = number;
    object.created = made.number;
    object.created_stack = made.stack;
    if (made.number)
        object.created_by = vmm_reported_name(made.call);
    return object;
}

static void end(vmm_object *object, struct sim_origin ended)
{
    object->ended = ended.number;
    object->ended_stack = ended.stack;
    if (ended.number)
        object->ended_by = vmm_reported_name(ended.call);
}

vmm_object sim_object_device(const struct sim_process *process, int device)
{
    const struct sim_origin nowhere = {0, 0, 0};
    vmm_object object = make(VMM_OBJECT_DEVICE, (uint32_t)device, nowhere);
    object.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, device};
    object.value = (uint64_t)device;
    object.start = process->machine->profile.device_memory;
    object.size = sim_machine_free_bytes(process->machine, object.location);
    return object;
}

vmm_object sim_object_reservation(const struct sim_reservation *reservation)
{
    vmm_object object = make(VMM_OBJECT_RESERVATION, reservation->number, reservation->made);
    object.start = reservation->start;
    object.size = reservation->size;
    return object;
}

vmm_object sim_object_mapping(const struct sim_mapping *mapping)
{
    const struct sim_handle *handle = mapping->handle;
    vmm_object object = make(VMM_OBJECT_MAPPING, mapping->number, mapping->made);
    object.start = mapping->start;
    object.size = mapping->size;
    object.offset = mapping->offset;
    object.handle = handle->shown;
    object.handle_number = handle->number;
    object.location = handle->prop.location;
    object.access = mapping->access;
    object.block = handle->block->id;
    return object;
}

vmm_object sim_object_handle(const struct sim_handle *handle)
{
    vmm_object object = make(VMM_OBJECT_HANDLE, handle->number, handle->made);
    object.value = handle->shown;
    object.size = handle->size;
    object.location = handle->prop.location;
    object.references = handle->refs;
    object.mappings = handle->maps;
    object.block = handle->block ? handle->block->id : 0;
    object.team = handle->team_size;
    if (handle->block)
        object.binds = handle->block->binds;
    if (handle->block && handle->block->team) {
        object.devices = team_devices(handle->block->team);
        object.binds = handle->block->team->count;
    }
    object.retained = handle->retained.number;
    object.retained_stack = handle->retained.stack;
    if (object.retained)
        object.retained_by = vmm_reported_name(handle->retained.call);
    end(&object, handle->ended);
    return object;
}

vmm_object sim_object_bind(const struct sim_handle *handle, const struct team_bind *bind)
{
    const struct sim_origin made = {bind->made, bind->made_by, bind->made_stack};
    vmm_object object = make(VMM_OBJECT_BIND, bind->number, made);
    object.start = bind->offset;
    object.size = bind->size;
    object.offset = bind->at;
    object.handle = handle->shown;
    object.handle_number = handle->number;
    object.location = bind->block->prop.location;
    object.block = bind->block->id;
    return object;
}

vmm_object sim_object_allocation(const struct sim_allocation *allocation)
{
    vmm_object object = make(VMM_OBJECT_ALLOCATION, allocation->number, allocation->made);
    object.start = allocation->start;
    object.size = allocation->size;
    object.location = allocation->block->prop.location;
    object.block = allocation->block->id;
    if (allocation->pooled) {
        const struct sim_pool *pool = ((const struct sim_piece *)(const void *)allocation)->pool;
        object.handle = pool->shown;
        object.handle_number = pool->number;
    }
    return object;
}

vmm_object sim_object_pool(const struct sim_pool *pool)
{
    vmm_object object = make(VMM_OBJECT_POOL, pool->number, pool->made);
    object.value = pool->shown;
    object.size = pool->memory.reserved;
    object.location = pool->props.location;
    object.access = pool->access;
    end(&object, pool->ended);
    return object;
}

/* A level shows what it belongs to as its handle. */
vmm_object sim_object_array(const struct sim_array *array)
{
    vmm_object object = make(VMM_OBJECT_ARRAY, array->number, array->made);
    const struct sim_array *whole = array->whole;
    object.value = array->shown;
    object.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, array->device};
    if (whole && whole != array) {
        object.handle = whole->shown;
        object.handle_number = whole->number;
    } else if (whole) {
        object.size = whole->block && !sim_array_has(array, VMM_ARRAY3D_DEFERRED_MAPPING) ? whole->layout.need : 0;
        object.offset = sim_array_has(array, VMM_ARRAY3D_SPARSE) ? array_tiles(&whole->layout) : 0;
        object.mappings = (uint32_t)whole->tiles.count;
    }
    end(&object, array->ended);
    return object;
}

vmm_object sim_object_context(const struct sim_context *context)
{
    vmm_object object = make(VMM_OBJECT_CONTEXT, context->number, context->made);
    object.value = context->shown;
    object.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, context->device};
    end(&object, context->ended);
    return object;
}

vmm_object sim_object_stream(const struct sim_stream *stream)
{
    vmm_object object = make(VMM_OBJECT_STREAM, stream->number, stream->made);
    object.value = stream->value;
    end(&object, stream->ended);
    return object;
}

vmm_object sim_object_event(const struct sim_event *event)
{
    vmm_object object = make(VMM_OBJECT_EVENT, event->number, event->made);
    object.value = event->value;
    end(&object, event->ended);
    return object;
}

vmm_object sim_object_retired(const struct retired_range *retired)
{
    const struct sim_origin made = {retired->created, retired->created_by, retired->created_stack};
    const struct sim_origin ended = {retired->ended, retired->ended_by, retired->ended_stack};
    vmm_object object = make((vmm_object_kind)retired->kind, retired->number, made);
    object.start = retired->start;
    object.size = retired->size;
    object.handle = retired->handle;
    object.handle_number = retired->handle_number;
    object.location = retired->location;
    end(&object, ended);
    return object;
}

/* Finds the live object that holds address. False when there is none. */
static bool living(const struct sim_process *process, uint64_t address, vmm_object *object)
{
    const struct sim_mapping *m = sim_mapping_at(process, address);
    const struct sim_allocation *a = sim_allocation_at(process, address);
    const struct sim_reservation *r = sim_reservation_at(process, address);
    const struct sim_array *array = sim_array_at(process, address);
    if (array)
        *object = sim_object_array(array);
    else if (m)
        *object = sim_object_mapping(m);
    else if (a)
        *object = sim_object_allocation(a);
    else if (r)
        *object = sim_object_reservation(r);
    return m || a || r || array;
}

/* Bytes between address and a range that does not hold it. */
static uint64_t distance(uint64_t address, uint64_t start, uint64_t size)
{
    return address < start ? start - address : address - (start + size);
}

/* The reservation or allocation whose bounds are closest to address; of two at the same distance, the one before it. */
static vmm_object closest(const struct sim_process *process, uint64_t address)
{
    uint64_t best = UINT64_MAX;
    vmm_object object = {0};
    for (int after = 0; after < 2; after++) {
        void *(*const look)(const struct addrmap *, uint64_t) = after ? addrmap_ceil : addrmap_floor_walk;
        const struct sim_reservation *r = look(&process->reservations, address);
        const struct sim_allocation *a[] = {look(&process->allocations, address), look(&process->adopted, address)};
        if (r && distance(address, r->start, r->size) < best) {
            best = distance(address, r->start, r->size);
            object = sim_object_reservation(r);
        }
        for (int i = 0; i < 2; i++)
            if (a[i] && distance(address, a[i]->start, a[i]->size) < best) {
                best = distance(address, a[i]->start, a[i]->size);
                object = sim_object_allocation(a[i]);
            }
    }
    return object;
}

vmm_object sim_object_nearest(const struct sim_process *process, uint64_t address)
{
    vmm_object object;
    const struct retired_range *retired = retired_ranges_find(&process->retired, VMM_OBJECT_MAPPING, address);
    if (retired && !sim_mapping_at(process, address))
        return sim_object_retired(retired);
    if (living(process, address, &object))
        return object;
    retired = retired_ranges_find(&process->retired, VMM_OBJECT_RESERVATION, address);
    const struct retired_range *freed = retired_ranges_find(&process->retired, VMM_OBJECT_ALLOCATION, address);
    if (freed && (!retired || retired->ended < freed->ended))
        retired = freed;
    return retired ? sim_object_retired(retired) : closest(process, address);
}
