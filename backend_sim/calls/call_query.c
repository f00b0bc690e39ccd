/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about an address. The results are the measured ones, even if they look odd. */
#include <string.h>

#include "launch.h"
#include "sim.h"

/* The objects at an address: a mapping or an allocation, never both; and the reservation. */
struct place {
    const struct sim_mapping *mapping;
    const struct sim_allocation *allocation;
    const struct sim_reservation *reservation;
    const struct sim_block *block; /* NULL where nothing is mapped */
    const struct mempool_chunk *chunk; /* for an allocation from a memory pool */
    uint64_t address;
};

static struct place find(const struct sim_process *process, uint64_t address)
{
    struct place place = {.address = address};
    place.mapping = sim_mapping_at(process, address);
    place.allocation = place.mapping ? NULL : sim_allocation_at(process, address);
    place.reservation = sim_reservation_at(process, address);
    if (place.mapping)
        place.block = place.mapping->handle->block;
    else if (place.allocation && place.allocation->pooled)
        place.chunk = sim_chunk_at(process, address);
    else if (place.allocation)
        place.block = place.allocation->block;
    if (place.chunk)
        place.block = place.chunk->block;
    return place;
}

/* Managed memory counts as the device's. */
static bool on_host(const struct place *place)
{
    return !(place->allocation && place->allocation->managed) && sim_on_host(place->block->prop.location);
}

/* The rights of the current context's device at the address; none without a context. */
static unsigned device_rights(const struct sim_process *process, const struct place *place)
{
    const struct sim_context *context = sim_current(process);
    if (!context)
        return VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    if (place->mapping)
        return sim_access_of(place->mapping->access, (unsigned)context->device);
    return sim_allocation_open(process, place->allocation, context->device) ? VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                                            : VMM_MEM_ACCESS_FLAGS_PROT_NONE;
}

static void put(void *data, vmm_pointer_attribute attribute, uint64_t value)
{
    unsigned char bytes[VMM_POINTER_ATTRIBUTE_MAX_SIZE] = {0};
    size_t size = vmm_pointer_attribute_size(attribute);
    uint32_t narrow = (uint32_t)value;
    if (size == sizeof narrow)
        memcpy(bytes, &narrow, sizeof narrow);
    else
        memcpy(bytes, &value, sizeof value);
    memcpy(data, bytes, size);
}

/* The bound that the attribute names: of the reservation, of the mapping, or of the allocation that stands for both. */
static uint64_t bounds(const struct place *place, vmm_pointer_attribute attribute)
{
    const struct sim_mapping *m = place->mapping;
    const struct sim_allocation *a = place->allocation;
    const struct sim_reservation *r = place->reservation;
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        if (place->chunk && on_host(place)) /* measured: relative to the start of the chunk that it begins in */
            return a->start % place->chunk->size;
        /* analysers: null-dereference is wrong: one of the two holds the address */
        return r ? r->start : a->start;
    case VMM_POINTER_ATTRIBUTE_RANGE_SIZE:
        /* analysers: null-dereference is wrong: one of the two holds the address */
        return r ? r->size : a->size;
    case VMM_POINTER_ATTRIBUTE_MAPPING_SIZE:
        /* analysers: null-dereference is wrong: one of the two holds the address */
        return m ? m->size : place->chunk ? place->chunk->size : a->span;
    default:
        /* analysers: null-dereference is wrong: one of the two holds the address */
        return m ? m->start : place->chunk ? place->chunk->start : a->start;
    }
}

/* The pool that a chunk's memory belongs to. */
static const struct sim_pool *pool_of(const struct place *place)
{
    return ((const struct sim_piece *)(const void *)place->allocation)->pool;
}

static bool decompresses(const struct place *place)
{
    if (place->mapping)
        return place->mapping->handle->decompress;
    if (place->allocation->opens || place->allocation->managed) /* measured on two H200 */
        return false;
    return !place->chunk || pool_of(place)->props.usage & VMM_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS;
}

/* The device of the context that the managed memory belongs to. */
static int device_of(const struct sim_process *process, const struct sim_allocation *allocation)
{
    void *context = NULL;
    return slots_find(&process->contexts, allocation->context, &context) == SLOT_LIVE ? ((const struct sim_context *)context)->device : 0;
}

/* An attribute of the memory itself, as opposed to its addresses. */
static uint64_t nature(const struct sim_process *process, const struct place *place, vmm_pointer_attribute attribute)
{
    const vmm_mem_allocation_prop *prop = place->mapping ? &place->mapping->handle->prop : &place->block->prop;
    bool allocation = place->allocation && !place->allocation->opens && !place->allocation->managed; /* measured: of the others none has these */
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return on_host(place) ? VMM_MEMORYTYPE_HOST : VMM_MEMORYTYPE_DEVICE;
    case VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return place->mapping ? place->mapping->sync : place->allocation->sync;
    case VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return place->block->id;
    case VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        if (place->block->team)
            return (uint64_t)-2; /* no device: CU_DEVICE_INVALID */
        if (place->allocation && place->allocation->opens) /* measured: that of the context that opened it */
            return (uint64_t)place->allocation->opened_for;
        if (place->allocation && place->allocation->managed)
            return (uint64_t)(int64_t)device_of(process, place->allocation);
        return on_host(place) ? 0 : (uint64_t)prop->location.id;
    case VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return place->block->team ? place->block->team->handle_types : (uint64_t)prop->requested_handle_types;
    case VMM_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return (allocation && !place->chunk) || prop->alloc_flags.gpu_direct_rdma_capable;
    case VMM_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return allocation && !place->chunk;
    case VMM_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return place->chunk ? pool_of(place)->value : 0;
    case VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return decompresses(place);
    case VMM_POINTER_ATTRIBUTE_IS_MANAGED:
        return place->allocation && place->allocation->managed;
    default: /* P2P_TOKENS (whose contents are not modelled) */
        return 0;
    }
}

/* The ordinal of the memory's device; 0 for a device that is not visible to the process, as measured. */
static uint64_t ordinal(const struct sim_process *process, const struct place *place)
{
    int device = (int)nature(process, place, VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
    return device < process->machine->profile.devices ? (uint64_t)(int64_t)device : 0;
}

static uint64_t answer(const struct sim_process *process, const struct place *place, vmm_pointer_attribute attribute)
{
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return ordinal(process, place);
    case VMM_POINTER_ATTRIBUTE_CONTEXT:
        return place->allocation ? place->allocation->context : 0;
    case VMM_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case VMM_POINTER_ATTRIBUTE_HOST_POINTER:
        return place->address;
    case VMM_POINTER_ATTRIBUTE_BUFFER_ID: /* of the mapping: an alias or a later mapping has another one */
        return place->mapping ? place->mapping->made.number : place->allocation->made.number;
    case VMM_POINTER_ATTRIBUTE_MAPPED:
        return 1;
    case VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS: /* measured: memory of cuMemAlloc has READWRITE in any context */
        return place->allocation ? VMM_MEM_ACCESS_FLAGS_PROT_READWRITE : device_rights(process, place);
    case VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case VMM_POINTER_ATTRIBUTE_RANGE_SIZE:
    case VMM_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return bounds(place, attribute);
    default:
        return nature(process, place, attribute);
    }
}

/* The rule by which mapped memory lacks an attribute; VMM_RULE_COUNT if it has the attribute. */
static enum vmm_rule_id lacking(const struct sim_process *process, const struct place *place,
                                vmm_pointer_attribute attribute)
{
    const bool managed = place->allocation && place->allocation->managed;
    bool host_reads = managed || (on_host(place) && (place->chunk || (place->mapping && sim_access_of(place->mapping->access, SIM_HOST_SLOT))));
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_HOST_POINTER:
        return host_reads ? VMM_RULE_COUNT : VMM_RULE_POINTER_HOST;
    case VMM_POINTER_ATTRIBUTE_P2P_TOKENS:
        return on_host(place) ? VMM_RULE_POINTER_HOST : VMM_RULE_COUNT;
    case VMM_POINTER_ATTRIBUTE_DEVICE_POINTER:
        if (place->allocation && place->allocation->opens && place->allocation->context != context_stack_get(&process->current))
            return VMM_RULE_POINTER_DEVICE; /* measured: another process's memory has one in the context that opened it */
        return device_rights(process, place) ? VMM_RULE_COUNT : VMM_RULE_POINTER_DEVICE;
    default:
        return VMM_RULE_COUNT;
    }
}

static bool is_range(vmm_pointer_attribute attribute)
{
    return attribute == VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR || attribute == VMM_POINTER_ATTRIBUTE_RANGE_SIZE;
}

/* Writes an attribute that the memory has. Where a mapping runs past its reservation there is no range, and the output is left
 * unchanged. */
static void put_answer(const struct sim_process *process, const struct place *place, vmm_pointer_attribute attribute,
                       void *data)
{
    if (!is_range(attribute) || place->reservation || place->allocation)
        put(data, attribute, answer(process, place, attribute));
}

static vmm_result refuse_place(const struct sim_process *process, enum vmm_rule_id rule, uint64_t address)
{
    vmm_object nearest = sim_object_nearest(process, address);
    return vmm_detail_refuse(rule, address, 0, &nearest);
}

static vmm_result refuse_attribute(vmm_pointer_attribute attribute)
{
    return vmm_detail_refuse(VMM_RULE_POINTER_ATTRIBUTE, (uint64_t)(int64_t)attribute, 0, NULL);
}

/* Records a query for P2P_TOKENS: from then on the driver synchronises copies of this memory, and SYNC_MEMOPS is set. */
static void note_tokens_query(struct sim_process *process, uint64_t address)
{
    struct sim_mapping *mapping = sim_mapping_at(process, address);
    struct sim_allocation *allocation = sim_allocation_at(process, address);
    if (mapping)
        mapping->sync = true;
    else if (allocation)
        allocation->sync = true;
}

vmm_result sim_pointer_get_attribute(struct sim_process *process, const struct vmm_call_pointer_get_attribute *call)
{
    if (!call->data)
        return vmm_detail_refuse(VMM_RULE_POINTER_NULL_DATA, 0, 0, NULL);
    if (!vmm_pointer_attribute_size(call->attribute))
        return refuse_attribute(call->attribute);
    struct place place = find(process, call->ptr);
    if (!place.block)
        return refuse_place(process, VMM_RULE_POINTER_NOT_MAPPED, call->ptr);
    bool device_pointer = call->attribute == VMM_POINTER_ATTRIBUTE_DEVICE_POINTER;
    enum vmm_rule_id rule = lacking(process, &place, call->attribute);
    if (rule != VMM_RULE_COUNT) {
        put(call->data, call->attribute, 0); /* measured: the driver writes the output although it refuses */
        return device_pointer && !sim_current(process) ? sim_no_context(process)
                                                       : refuse_place(process, rule, call->ptr);
    }
    put_answer(process, &place, call->attribute, call->data);
    if (call->attribute == VMM_POINTER_ATTRIBUTE_P2P_TOKENS)
        note_tokens_query(process, call->ptr);
    return VMM_SUCCESS;
}

/* Writes an attribute of an unmapped address, as cuPointerGetAttributes does. */
static void put_unmapped(const struct place *place, vmm_pointer_attribute attribute, void *data)
{
    if (is_range(attribute) && !place->reservation)
        return; /* the output is left unchanged */
    if (is_range(attribute))
        put(data, attribute, bounds(place, attribute));
    else if (attribute == VMM_POINTER_ATTRIBUTE_HOST_POINTER)
        put(data, attribute, place->address);
    else if (attribute == VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        put(data, attribute, (uint64_t)-2);
    else
        put(data, attribute, 0);
}

static vmm_result refuse_null(const char *argument)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_POINTER_NULL_DATA, 0, 0, NULL);
    vmm_detail_argument(argument);
    return result;
}

vmm_result sim_pointer_get_attributes(struct sim_process *process, const struct vmm_call_pointer_get_attributes *call)
{
    if (!call->num_attributes || !call->attributes || !call->data)
        return refuse_null(!call->num_attributes ? "numAttributes" : !call->attributes ? "attributes" : "data");
    struct place place = find(process, call->ptr);
    for (unsigned i = 0; i < call->num_attributes; i++) {
        vmm_pointer_attribute attribute = call->attributes[i];
        if (!call->data[i])
            return refuse_null("data");
        if (!vmm_pointer_attribute_size(attribute) || attribute == VMM_POINTER_ATTRIBUTE_P2P_TOKENS) {
            vmm_result result = refuse_attribute(attribute);
            vmm_detail_argument("attributes");
            vmm_detail_note("element %u of the list is refused; the elements before it have been written", i);
            return result;
        }
        if (!place.block)
            put_unmapped(&place, attribute, call->data[i]);
        else if (lacking(process, &place, attribute) != VMM_RULE_COUNT)
            put(call->data[i], attribute, 0);
        else
            put_answer(process, &place, attribute, call->data[i]);
    }
    return VMM_SUCCESS;
}

vmm_result sim_mem_get_address_range(struct sim_process *process, const struct vmm_call_mem_get_address_range *call)
{
    if (!call->pbase && !call->psize)
        return VMM_SUCCESS;
    if (call->pbase)
        *call->pbase = 0; /* measured: the driver writes both outputs, also when it refuses */
    if (call->psize)
        *call->psize = 0;
    const struct sim_context *context = sim_current(process);
    vmm_result result = context ? sim_context_check(process, context, false) : sim_no_context(process);
    if (result != VMM_SUCCESS)
        return result;
    struct place place = find(process, call->dptr);
    const struct sim_mapping *m = place.mapping;
    if (!place.block || !device_rights(process, &place))
        return refuse_place(process, VMM_RULE_RANGE_NOT_FOUND, call->dptr);
    if (call->pbase && (!m || !on_host(&place))) /* measured: for a mapping of host memory it is 0 */
        *call->pbase = m ? m->start : place.allocation->start;
    if (call->psize)
        *call->psize = m ? m->size : place.allocation->size;
    return VMM_SUCCESS;
}
