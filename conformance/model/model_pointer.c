/* model_pointer.c - what can be asked about an address. */
#include <string.h>

#include "model_edges.h"
#include "model_parts.h"

#define INVALID VMM_ERROR_INVALID_VALUE

enum { FIRST_ATTRIBUTE = VMM_POINTER_ATTRIBUTE_CONTEXT, LAST_ATTRIBUTE = VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE };

static bool known_attribute(vmm_pointer_attribute attribute)
{
    return attribute >= FIRST_ATTRIBUTE && attribute <= LAST_ATTRIBUTE;
}

static bool modelled(vmm_pointer_attribute attribute)
{
    return attribute != VMM_POINTER_ATTRIBUTE_P2P_TOKENS;
}

/* Whether an attribute is written as 4 bytes; the others are 8. */
static bool narrow(vmm_pointer_attribute attribute)
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
        return true;
    default:
        return false;
    }
}

static uint64_t written(const void *data, vmm_pointer_attribute attribute)
{
    uint32_t four;
    uint64_t eight;
    memcpy(&four, data, sizeof four);
    if (narrow(attribute))
        return four;
    memcpy(&eight, data, sizeof eight);
    return eight;
}

/* The value of an attribute whose value is told by the facts. */
static uint64_t value_of(struct model *m, const struct model_mapping *mapping, vmm_pointer_attribute attribute,
                         uint64_t address)
{
    const struct model_memory *memory = model_memory_of(m, mapping->handle);
    const struct model_reservation *r = model_reservation_at(m, model_edge_range_address(mapping, address));
    bool device = memory->prop.location.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_MEMORY_TYPE: return device ? VMM_MEMORYTYPE_DEVICE : VMM_MEMORYTYPE_HOST;
    case VMM_POINTER_ATTRIBUTE_DEVICE_POINTER: return address;
    case VMM_POINTER_ATTRIBUTE_HOST_POINTER: return device ? 0 : address;
    case VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS: return MODEL_FACT_SYNC_MEMOPS && device;
    case VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return device ? (uint64_t)memory->prop.location.id : 0;
    case VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR: return r ? r->start : 0;
    case VMM_POINTER_ATTRIBUTE_RANGE_SIZE: return r ? r->size : 0;
    case VMM_POINTER_ATTRIBUTE_MAPPED: return 1;
    case VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return (uint64_t)memory->prop.requested_handle_types;
    case VMM_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return memory->prop.alloc_flags.gpu_direct_rdma_capable;
    case VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return (uint64_t)model_device_rights(mapping, model_current_device(m));
    case VMM_POINTER_ATTRIBUTE_MAPPING_SIZE: return mapping->size;
    case VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return mapping->start;
    default: return 0; /* context, sync, managed, legacy sharing, pool, decompression: none of VMM memory */
    }
}

/* The id of the memory is the system's choice: one for every mapping of it, another for other memory. */
static void expect_block(struct model *m, const struct model_mapping *mapping, uint64_t got, struct model_answer *a)
{
    struct model_memory *memory = model_memory_of(m, mapping->handle);
    if (!memory->block)
        memory->block = got;
    model_expect(a, "data (memory block id)", got, memory->block);
    for (size_t i = 0; i < m->memory_count; i++)
        if (&m->memories[i] != memory)
            model_expect(a, "data (memory block id) equals another's", m->memories[i].block == got, false);
}

/* A mapping has a buffer id of its own. */
static void expect_buffer(struct model *m, uint64_t address, uint64_t got, struct model_answer *a)
{
    struct model_mapping *mapping = model_mapping_at(m, address);
    model_expect(a, "data (buffer id) is 0", got == 0, false);
    if (!MODEL_FACT_BUFFER_PER_MAPPING)
        return;
    if (!mapping->buffer)
        mapping->buffer = got;
    model_expect(a, "data (buffer id)", got, mapping->buffer);
    for (size_t i = 0; i < m->mapping_count; i++)
        if (&m->mappings[i] != mapping)
            model_expect(a, "data (buffer id) equals another's", m->mappings[i].buffer == got, false);
}

static void expect_attribute(struct model *m, const struct model_mapping *mapping, vmm_pointer_attribute attribute,
                             const void *data, uint64_t address, struct model_answer *a)
{
    uint64_t got = written(data, attribute);
    if (attribute == VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID)
        expect_block(m, mapping, got, a);
    else if (attribute == VMM_POINTER_ATTRIBUTE_BUFFER_ID)
        expect_buffer(m, address, got, a);
    else
        model_expect(a, "data", got, value_of(m, mapping, attribute, address));
}

MODEL_ON(pointer_get_attribute)
{
    const struct model_mapping *mapping = model_mapping_at(m, c->ptr);
    a->foreseen = modelled(c->attribute);
    bool host_only = c->attribute == VMM_POINTER_ATTRIBUTE_HOST_POINTER;
    const char *rule = !c->data                                              ? "VMM-POINTER-NULL-DATA"
                       : !known_attribute(c->attribute)                      ? "VMM-POINTER-ATTRIBUTE"
                       : !mapping                                            ? "VMM-POINTER-NOT-MAPPED"
                       : host_only && model_in_device(m, mapping) ? "VMM-POINTER-HOST"
                                                                             : NULL;
    if (rule)
        model_refuse(a, INVALID, rule);
    else if (a->foreseen && model_succeeded(a))
        expect_attribute(m, mapping, c->attribute, c->data, c->ptr, a);
}

/* An unmapped address is no error here: every attribute is written as 0. */
MODEL_ON(pointer_get_attributes)
{
    const struct model_mapping *mapping = model_mapping_at(m, c->ptr);
    if (!c->data || !c->attributes) {
        model_refuse(a, INVALID, "VMM-POINTER-NULL-DATA");
        return;
    }
    for (unsigned i = 0; i < c->num_attributes; i++) {
        a->foreseen &= modelled(c->attributes[i]);
        if (!known_attribute(c->attributes[i])) {
            model_refuse(a, INVALID, "VMM-POINTER-ATTRIBUTE");
            return;
        }
    }
    for (unsigned i = 0; model_succeeded(a) && a->foreseen && i < c->num_attributes; i++) {
        if (mapping)
            expect_attribute(m, mapping, c->attributes[i], c->data[i], c->ptr, a);
        else
            model_expect(a, "data of an unmapped address", written(c->data[i], c->attributes[i]), 0);
    }
}

MODEL_ON(mem_get_address_range)
{
    const struct model_mapping *mapping = model_mapping_at(m, c->dptr);
    int device = model_current_device(m);
    if (device < 0) {
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
        return;
    }
    if (MODEL_FACT_RANGE_OF_NOTHING && !c->pbase && !c->psize)
        return;
    if (!mapping || !model_edge_range_found(model_in_device(m, mapping), model_device_rights(mapping, device))) {
        model_refuse(a, VMM_ERROR_NOT_FOUND, "VMM-RANGE-NOT-FOUND");
        return;
    }
    if (!model_succeeded(a))
        return;
    if (c->pbase)
        model_expect(a, "pbase", *c->pbase, model_in_device(m, mapping) ? mapping->start : 0);
    if (c->psize)
        model_expect(a, "psize", *c->psize, mapping->size);
}
