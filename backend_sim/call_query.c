/* Questions about an address. */
#include <string.h>

#include "sim.h"

/* What holds an address: a mapping or an allocation, never both. */
struct place {
    const struct sim_mapping *mapping;
    const struct sim_allocation *allocation;
    const struct sim_block *block;
};

static bool find(const struct sim_process *process, uint64_t address, struct place *place)
{
    place->mapping = sim_mapping_at(process, address);
    place->allocation = place->mapping ? NULL : sim_allocation_at(process, address);
    place->block = place->mapping      ? place->mapping->handle->block
                   : place->allocation ? place->allocation->block
                                       : NULL;
    return place->block != NULL;
}

static bool on_host(const struct place *place)
{
    return place->block->prop.location.type != VMM_MEM_LOCATION_TYPE_DEVICE;
}

/* What the current context's device may do there; without a context there is no such device. */
static unsigned rights(const struct sim_process *process, const struct place *place)
{
    const struct sim_context *context = sim_current(process);
    if (!context)
        return VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    if (place->mapping)
        return sim_access_of(place->mapping->access, (unsigned)context->device);
    return place->block->prop.location.id == context->device ? VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                              : VMM_MEM_ACCESS_FLAGS_PROT_NONE;
}

/* The value of an attribute and how many bytes of it are written. */
struct answer {
    uint64_t value;
    size_t size;
};

/* Bounds of what addresses were reserved together, and of what was mapped together. */
static struct answer bounds(const struct sim_process *process, const struct place *place, uint64_t address,
                            vmm_pointer_attribute attribute)
{
    const struct sim_mapping *m = place->mapping;
    const struct sim_allocation *a = place->allocation;
    const struct sim_reservation *r = m ? sim_reservation_at(process, m->start) : NULL;
    (void)address;
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return (struct answer){r ? r->start : m ? m->start : a->start, 8};
    case VMM_POINTER_ATTRIBUTE_RANGE_SIZE:
        return (struct answer){r ? r->size : m ? m->size : a->size, 8};
    case VMM_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return (struct answer){m ? m->size : a->size, 8};
    default:
        return (struct answer){m ? m->start : a->start, 8};
    }
}

static bool known(vmm_pointer_attribute attribute)
{
    return attribute >= VMM_POINTER_ATTRIBUTE_CONTEXT && attribute <= VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE &&
           attribute != VMM_POINTER_ATTRIBUTE_P2P_TOKENS;
}

static struct answer answer(const struct sim_process *process, const struct place *place, uint64_t address,
                            vmm_pointer_attribute attribute)
{
    const vmm_mem_allocation_prop *prop = &place->block->prop;
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_CONTEXT:
        return (struct answer){place->allocation ? place->allocation->context : 0, 8};
    case VMM_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return (struct answer){on_host(place) ? VMM_MEMORYTYPE_HOST : VMM_MEMORYTYPE_DEVICE, 4};
    case VMM_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case VMM_POINTER_ATTRIBUTE_HOST_POINTER:
        return (struct answer){address, 8};
    case VMM_POINTER_ATTRIBUTE_BUFFER_ID:
        return (struct answer){place->mapping ? place->mapping->made.number : place->allocation->made.number, 8};
    case VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return (struct answer){place->block->id, 8};
    case VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return (struct answer){on_host(place) ? 0 : (uint64_t)prop->location.id, 4};
    case VMM_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return (struct answer){place->allocation != NULL, 4};
    case VMM_POINTER_ATTRIBUTE_MAPPED:
        return (struct answer){1, 4};
    case VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return (struct answer){(uint64_t)prop->requested_handle_types, 8};
    case VMM_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return (struct answer){prop->alloc_flags.gpu_direct_rdma_capable, 4};
    case VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return (struct answer){rights(process, place), 4};
    case VMM_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return (struct answer){0, 8};
    case VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case VMM_POINTER_ATTRIBUTE_IS_MANAGED:
    case VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return (struct answer){0, 4};
    default:
        return bounds(process, place, address, attribute);
    }
}

/* Bytes that an attribute's type has, also where there is no answer. */
static size_t width(vmm_pointer_attribute attribute)
{
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case VMM_POINTER_ATTRIBUTE_IS_MANAGED:
    case VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case VMM_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case VMM_POINTER_ATTRIBUTE_MAPPED:
    case VMM_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return 4;
    default:
        return 8;
    }
}

static void put(void *data, uint64_t value, size_t size)
{
    uint32_t narrow = (uint32_t)value;
    if (size == 4)
        memcpy(data, &narrow, 4);
    else
        memcpy(data, &value, 8);
}

/* May this attribute be had of this memory at all? */
static bool applies(const struct sim_process *process, const struct place *place, vmm_pointer_attribute attribute)
{
    (void)process;
    return attribute != VMM_POINTER_ATTRIBUTE_HOST_POINTER || on_host(place);
}

vmm_result sim_pointer_get_attribute(struct sim_process *process, const struct vmm_call_pointer_get_attribute *call)
{
    struct place place;
    if (!call->data)
        return vmm_detail_refuse(VMM_RULE_POINTER_NULL_DATA, 0, 0, NULL);
    if (!known(call->attribute))
        return vmm_detail_refuse(VMM_RULE_POINTER_ATTRIBUTE, (uint64_t)(int64_t)call->attribute, 0, NULL);
    if (!find(process, call->ptr, &place)) {
        vmm_object nearest = sim_object_nearest(process, call->ptr);
        return vmm_detail_refuse(VMM_RULE_POINTER_NOT_MAPPED, call->ptr, 0, &nearest);
    }
    if (!applies(process, &place, call->attribute)) {
        vmm_object nearest = sim_object_nearest(process, call->ptr);
        return vmm_detail_refuse(VMM_RULE_POINTER_HOST, call->ptr, 0, &nearest);
    }
    struct answer a = answer(process, &place, call->ptr, call->attribute);
    put(call->data, a.value, a.size);
    return VMM_SUCCESS;
}

vmm_result sim_pointer_get_attributes(struct sim_process *process, const struct vmm_call_pointer_get_attributes *call)
{
    struct place place;
    bool found = find(process, call->ptr, &place);
    if (!call->num_attributes || !call->attributes || !call->data) {
        vmm_result result = vmm_detail_refuse(VMM_RULE_POINTER_NULL_DATA, 0, 0, NULL);
        vmm_detail_argument(!call->num_attributes ? "numAttributes" : !call->attributes ? "attributes" : "data");
        return result;
    }
    for (unsigned i = 0; i < call->num_attributes; i++) {
        if (!call->data[i])
            return vmm_detail_refuse(VMM_RULE_POINTER_NULL_DATA, 0, 0, NULL);
        if (!known(call->attributes[i]))
            return vmm_detail_refuse(VMM_RULE_POINTER_ATTRIBUTE, (uint64_t)(int64_t)call->attributes[i], 0, NULL);
    }
    for (unsigned i = 0; i < call->num_attributes; i++) {
        struct answer a = {0, width(call->attributes[i])};
        if (found && applies(process, &place, call->attributes[i]))
            a = answer(process, &place, call->ptr, call->attributes[i]);
        put(call->data[i], a.value, a.size);
    }
    return VMM_SUCCESS;
}

vmm_result sim_mem_get_address_range(struct sim_process *process, const struct vmm_call_mem_get_address_range *call)
{
    struct place place;
    if (!sim_current(process))
        return vmm_detail_refuse(VMM_RULE_CTX_CURRENT, 0, 0, NULL);
    if (!find(process, call->dptr, &place) || (!rights(process, &place) && !on_host(&place))) {
        vmm_object nearest = sim_object_nearest(process, call->dptr);
        return vmm_detail_refuse(VMM_RULE_RANGE_NOT_FOUND, call->dptr, 0, &nearest);
    }
    const struct sim_mapping *m = place.mapping;
    if (call->pbase)
        *call->pbase = on_host(&place) ? 0 : m ? m->start : place.allocation->start;
    if (call->psize)
        *call->psize = m ? m->size : place.allocation->size;
    return VMM_SUCCESS;
}
