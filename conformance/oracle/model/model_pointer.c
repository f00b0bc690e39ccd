/* SPDX-License-Identifier: Apache-2.0 */
/* model_pointer.c - queries about an address. */
#include <string.h>

#include "model_edges.h"
#include "model_managed.h"

#define INVALID VMM_ERROR_INVALID_VALUE

enum {
    FIRST_ATTRIBUTE = VMM_POINTER_ATTRIBUTE_CONTEXT,
    LAST_ATTRIBUTE = VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE
};

static bool known_attribute(vmm_pointer_attribute attribute)
{
    return attribute >= FIRST_ATTRIBUTE && attribute <= LAST_ATTRIBUTE;
}

/* Is an attribute written as 4 bytes? The others have 8. */
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

/* The rule by which an attribute does not exist for this memory; NULL when it exists. */
static const char *missing(struct model *m, const struct model_mapping *mapping, vmm_pointer_attribute attribute)
{
    bool device = model_in_device(m, mapping);
    if (attribute == VMM_POINTER_ATTRIBUTE_HOST_POINTER && (device || !mapping->host))
        return "VMM-POINTER-HOST";
    if (attribute == VMM_POINTER_ATTRIBUTE_P2P_TOKENS && !device)
        return "VMM-POINTER-HOST";
    if (attribute == VMM_POINTER_ATTRIBUTE_DEVICE_POINTER && !model_device_rights(mapping, model_current_device(m)))
        return "VMM-POINTER-DEVICE";
    return NULL;
}

/* The value of an attribute that the facts determine. */
static uint64_t value_of(struct model *m, const struct model_mapping *mapping, vmm_pointer_attribute attribute,
                         uint64_t address)
{
    const struct model_memory *memory = model_memory_of(m, mapping->handle);
    const struct model_reservation *r = model_reservation_at(m, address);
    bool device = memory->prop.location.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_MEMORY_TYPE: return device ? VMM_MEMORYTYPE_DEVICE : VMM_MEMORYTYPE_HOST;
    case VMM_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case VMM_POINTER_ATTRIBUTE_HOST_POINTER: return address;
    case VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS: return mapping->sync;
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
    case VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return memory->decompress;
    default: return 0; /* context, managed, legacy sharing, pool: none of VMM memory */
    }
}

/* The system chooses the id of the memory: the same for each of its mappings, another for other memory. */
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

/* Each mapping has its own buffer id. */
static void expect_buffer(struct model *m, uint64_t address, uint64_t got, struct model_answer *a)
{
    struct model_mapping *mapping = model_mapping_at(m, address);
    model_expect(a, "data (buffer id) is 0", got == 0, false);
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
    bool range = attribute == VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR || attribute == VMM_POINTER_ATTRIBUTE_RANGE_SIZE;
    if (range && !model_reservation_at(m, address))
        return; /* left as it was */
    if (attribute == VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID)
        expect_block(m, mapping, got, a);
    else if (attribute == VMM_POINTER_ATTRIBUTE_BUFFER_ID)
        expect_buffer(m, address, got, a);
    else if (attribute != VMM_POINTER_ATTRIBUTE_P2P_TOKENS) /* those are not modelled */
        model_expect(a, "data", got, value_of(m, mapping, attribute, address));
}

/* ---- memory of pools ---- */

static bool block_lacks(struct model *m, const struct model_block *block, vmm_pointer_attribute attribute)
{
    int device = model_current_device(m);
    if (attribute == VMM_POINTER_ATTRIBUTE_DEVICE_POINTER)
        return device < 0 || !block->pool->rights[device];
    return attribute == (model_on_host(block->pool) ? VMM_POINTER_ATTRIBUTE_P2P_TOKENS : VMM_POINTER_ATTRIBUTE_HOST_POINTER);
}

static uint64_t value_in_block(const struct model_block *block, vmm_pointer_attribute attribute, uint64_t address)
{
    const struct model_pool *pool = block->pool;
    const bool host = model_on_host(pool);
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_MEMORY_TYPE: return host ? VMM_MEMORYTYPE_HOST : VMM_MEMORYTYPE_DEVICE;
    case VMM_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case VMM_POINTER_ATTRIBUTE_HOST_POINTER: return address;
    case VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS: return block->sync;
    case VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return host ? 0 : (uint64_t)pool->device;
    case VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR: return host ? (block->start - pool->start) % pool->heap.slot : block->start;
    case VMM_POINTER_ATTRIBUTE_RANGE_SIZE: return block->size;
    case VMM_POINTER_ATTRIBUTE_MAPPED: return 1;
    case VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return (uint64_t)pool->handle_types;
    case VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS: return VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    case VMM_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return pool->value;
    case VMM_POINTER_ATTRIBUTE_MAPPING_SIZE: return pool->heap.slot;
    case VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return address - address % pool->heap.slot;
    case VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return pool->decompress;
    default: return 0; /* context, managed, legacy sharing, RDMA */
    }
}

static void expect_in_block(struct model *m, struct model_block *block, vmm_pointer_attribute attribute, const void *data,
                            uint64_t address, struct model_answer *a)
{
    uint64_t got = written(data, attribute);
    if (attribute == VMM_POINTER_ATTRIBUTE_P2P_TOKENS || attribute == VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID)
        return; /* not modelled, and the slot's: its memory may have been another slot's */
    if (attribute == VMM_POINTER_ATTRIBUTE_MEMPOOL_HANDLE && !block->pool->value)
        block->pool->value = got; /* of a pool that no call has named so far */
    if (attribute != VMM_POINTER_ATTRIBUTE_BUFFER_ID) {
        model_expect(a, "data of a pool's memory", got, value_in_block(block, attribute, address));
        return;
    }
    model_expect(a, "data (buffer id) is 0", got == 0, false);
    if (!block->buffer)
        block->buffer = got;
    model_expect(a, "data (buffer id)", got, block->buffer);
    for (size_t i = 0; i < m->block_count; i++)
        if (&m->blocks[i] != block)
            model_expect(a, "data (buffer id) equals another's", m->blocks[i].buffer == got, false);
}

static void ask_block(struct model *m, struct model_block *block, const struct vmm_call_pointer_get_attribute *c,
                      struct model_answer *a)
{
    if (c->attribute == VMM_POINTER_ATTRIBUTE_DEVICE_POINTER && model_current_device(m) < 0)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    else if (block_lacks(m, block, c->attribute))
        model_refuse(a, INVALID,
                     c->attribute == VMM_POINTER_ATTRIBUTE_DEVICE_POINTER ? "VMM-POINTER-DEVICE" : "VMM-POINTER-HOST");
    else if (model_succeeded(a)) {
        expect_in_block(m, block, c->attribute, c->data, c->ptr, a);
        block->sync |= c->attribute == VMM_POINTER_ATTRIBUTE_P2P_TOKENS;
    }
    a->writes_zero = a->result != VMM_SUCCESS;
}

/* ---- managed memory ---- */

/* It counts as the device's of its context, and every device and the host may use it. */
static uint64_t value_in_managed(const struct model *m, const struct model_managed *managed, vmm_pointer_attribute attribute, uint64_t address)
{
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_CONTEXT: return (uint64_t)(uintptr_t)m->contexts[managed->context].value;
    case VMM_POINTER_ATTRIBUTE_MEMORY_TYPE: return VMM_MEMORYTYPE_DEVICE;
    case VMM_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case VMM_POINTER_ATTRIBUTE_HOST_POINTER: return address;
    case VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case VMM_POINTER_ATTRIBUTE_IS_MANAGED:
    case VMM_POINTER_ATTRIBUTE_MAPPED: return 1;
    case VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return (uint64_t)managed->device;
    case VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR: return managed->start;
    case VMM_POINTER_ATTRIBUTE_RANGE_SIZE: return managed->size;
    case VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS: return VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    case VMM_POINTER_ATTRIBUTE_MAPPING_SIZE: return managed->span;
    case VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return managed->start;
    default: return 0; /* sharing, RDMA, pool, decompression */
    }
}

/* On a driver small ones share what is mapped. */
static void expect_in_managed(struct model *m, struct model_managed *managed, vmm_pointer_attribute attribute, const void *data,
                              uint64_t address, struct model_answer *a)
{
    const uint64_t got = written(data, attribute);
    const bool mapping = attribute == VMM_POINTER_ATTRIBUTE_MAPPING_SIZE || attribute == VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR;
    if (attribute == VMM_POINTER_ATTRIBUTE_P2P_TOKENS || attribute == VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID || (mapping && m->driver))
        return;
    if (attribute != VMM_POINTER_ATTRIBUTE_BUFFER_ID) {
        model_expect(a, "data of managed memory", got, value_in_managed(m, managed, attribute, address));
        return;
    }
    model_expect(a, "data (buffer id) is 0", got == 0, false);
    managed->buffer = managed->buffer ? managed->buffer : got;
    model_expect(a, "data (buffer id)", got, managed->buffer);
}

static void ask_managed(struct model *m, struct model_managed *managed, const struct vmm_call_pointer_get_attribute *c, struct model_answer *a)
{
    if (c->attribute == VMM_POINTER_ATTRIBUTE_DEVICE_POINTER && m->current < 0)
        a->writes_zero = !model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    else if (model_succeeded(a))
        expect_in_managed(m, managed, c->attribute, c->data, c->ptr, a);
}

/* ---- one ---- */

MODEL_ON(pointer_get_attribute)
{
    struct model_block *block = model_block_at(m, c->ptr);
    if (block && c->data && known_attribute(c->attribute)) {
        ask_block(m, block, c, a);
        return;
    }
    struct model_managed *managed = model_managed_at(m, c->ptr);
    if (managed && c->data && known_attribute(c->attribute)) {
        ask_managed(m, managed, c, a);
        return;
    }
    struct model_mapping *mapping = model_mapping_at(m, c->ptr);
    const char *rule = !c->data                           ? "VMM-POINTER-NULL-DATA"
                       : !known_attribute(c->attribute)   ? "VMM-POINTER-ATTRIBUTE"
                       : !mapping                         ? "VMM-POINTER-NOT-MAPPED"
                                                          : NULL;
    if (rule) {
        model_refuse(a, INVALID, rule);
        return;
    }
    rule = missing(m, mapping, c->attribute);
    if (c->attribute == VMM_POINTER_ATTRIBUTE_DEVICE_POINTER && model_current_device(m) < 0)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    else if (rule)
        model_refuse(a, INVALID, rule);
    else if (model_succeeded(a)) {
        expect_attribute(m, mapping, c->attribute, c->data, c->ptr, a);
        mapping->sync |= c->attribute == VMM_POINTER_ATTRIBUTE_P2P_TOKENS;
    }
    a->writes_zero = a->result != VMM_SUCCESS;
}

/* ---- several ---- */

/* Of an address where nothing is mapped. */
static void expect_unmapped(struct model *m, vmm_pointer_attribute attribute, const void *data, uint64_t address,
                            struct model_answer *a)
{
    const struct model_reservation *r = model_reservation_at(m, address);
    uint64_t want = attribute == VMM_POINTER_ATTRIBUTE_HOST_POINTER     ? address
                    : attribute == VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? (uint32_t)-2
                                                                        : 0;
    if (attribute == VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR || attribute == VMM_POINTER_ATTRIBUTE_RANGE_SIZE) {
        if (!r)
            return; /* left as it was */
        want = attribute == VMM_POINTER_ATTRIBUTE_RANGE_SIZE ? r->size : r->start;
    }
    model_expect(a, "data of an unmapped address", written(data, attribute), want);
}

static void expect_element(struct model *m, vmm_pointer_attribute attribute, const void *data, uint64_t address,
                           struct model_answer *a)
{
    const struct model_mapping *mapping = model_mapping_at(m, address);
    struct model_block *block = mapping ? NULL : model_block_at(m, address);
    struct model_managed *managed = mapping ? NULL : model_managed_at(m, address);
    if (managed && attribute == VMM_POINTER_ATTRIBUTE_DEVICE_POINTER && m->current < 0)
        model_expect(a, "data of an attribute that is 0 here", written(data, attribute), 0);
    else if (managed)
        expect_in_managed(m, managed, attribute, data, address, a);
    else if (block && block_lacks(m, block, attribute))
        model_expect(a, "data of an attribute that is 0 here", written(data, attribute), 0);
    else if (block)
        expect_in_block(m, block, attribute, data, address, a);
    else if (!mapping)
        expect_unmapped(m, attribute, data, address, a);
    else if (missing(m, mapping, attribute))
        model_expect(a, "data of an attribute that is 0 here", written(data, attribute), 0);
    else
        expect_attribute(m, mapping, attribute, data, address, a);
}

/* One after the other, up to the first refusal. */
MODEL_ON(pointer_get_attributes)
{
    if (!c->num_attributes || !c->attributes || !c->data) {
        model_refuse(a, INVALID, "VMM-POINTER-NULL-DATA");
        return;
    }
    unsigned good = 0;
    for (const char *rule = NULL; good < c->num_attributes && !rule; good += !rule) {
        vmm_pointer_attribute attribute = c->attributes[good];
        if (!known_attribute(attribute) || attribute == VMM_POINTER_ATTRIBUTE_P2P_TOKENS)
            rule = "VMM-POINTER-ATTRIBUTE";
        else if (!c->data[good])
            rule = "VMM-POINTER-NULL-DATA";
        if (rule)
            model_refuse(a, INVALID, rule);
    }
    a->written = a->result ? good : 0;
    for (unsigned i = 0; a->actual == a->result && i < good; i++)
        expect_element(m, c->attributes[i], c->data[i], c->ptr, a);
}

/* ---- the range ---- */

MODEL_ON(mem_get_address_range)
{
    const struct model_mapping *mapping = model_mapping_at(m, c->dptr);
    int device = model_current_device(m);
    if (device < 0 && (c->pbase || c->psize)) {
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
        a->writes_zero = true;
        return;
    }
    if (!c->pbase && !c->psize)
        return;
    const struct model_block *block = mapping ? NULL : model_block_at(m, c->dptr);
    const struct model_managed *managed = mapping ? NULL : model_managed_at(m, c->dptr);
    if (managed && model_succeeded(a) && c->pbase)
        model_expect(a, "pbase", *c->pbase, managed->start);
    if (managed && model_succeeded(a) && c->psize)
        model_expect(a, "psize", *c->psize, managed->size);
    if (managed)
        return;
    if (block ? !block->pool->rights[device] : !mapping || !model_device_rights(mapping, device)) {
        model_refuse(a, VMM_ERROR_NOT_FOUND, "VMM-RANGE-NOT-FOUND");
        a->writes_zero = true;
        return;
    }
    if (!model_succeeded(a))
        return;
    if (c->pbase)
        model_expect(a, "pbase", *c->pbase, block ? block->start : model_in_device(m, mapping) ? mapping->start : 0);
    if (c->psize)
        model_expect(a, "psize", *c->psize, block ? block->size : mapping->size);
}
