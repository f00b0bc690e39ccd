/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes by name, as cuda.h spells them without their prefix. */
#include <stddef.h>
#include <string.h>

#include "step.h"
#include "text.h"

struct named {
    const char *name;
    int value;
};

#define POINTER(name) {#name, VMM_POINTER_ATTRIBUTE_##name}
static const struct named pointer_attributes[] = {
    POINTER(CONTEXT),          POINTER(MEMORY_TYPE),
    POINTER(DEVICE_POINTER),   POINTER(HOST_POINTER),
    POINTER(P2P_TOKENS),       POINTER(SYNC_MEMOPS),
    POINTER(BUFFER_ID),        POINTER(IS_MANAGED),
    POINTER(DEVICE_ORDINAL),   POINTER(IS_LEGACY_CUDA_IPC_CAPABLE),
    POINTER(RANGE_START_ADDR), POINTER(RANGE_SIZE),
    POINTER(MAPPED),           POINTER(ALLOWED_HANDLE_TYPES),
    POINTER(IS_GPU_DIRECT_RDMA_CAPABLE), POINTER(ACCESS_FLAGS),
    POINTER(MEMPOOL_HANDLE),   POINTER(MAPPING_SIZE),
    POINTER(MAPPING_BASE_ADDR), POINTER(MEMORY_BLOCK_ID),
    POINTER(IS_HW_DECOMPRESS_CAPABLE),
};

#define DEVICE(name) {#name, VMM_DEVICE_ATTRIBUTE_##name}
static const struct named device_attributes[] = {
    DEVICE(MAX_THREADS_PER_BLOCK),
    DEVICE(MULTIPROCESSOR_COUNT),
    DEVICE(COMPUTE_MODE),
    DEVICE(UNIFIED_ADDRESSING),
    DEVICE(COMPUTE_CAPABILITY_MAJOR),
    DEVICE(COMPUTE_CAPABILITY_MINOR),
    DEVICE(PAGEABLE_MEMORY_ACCESS),
    DEVICE(CONCURRENT_MANAGED_ACCESS),
    DEVICE(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES),
    DEVICE(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
    DEVICE(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED),
    DEVICE(HANDLE_TYPE_WIN32_HANDLE_SUPPORTED),
    DEVICE(HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED),
    DEVICE(GENERIC_COMPRESSION_SUPPORTED),
    DEVICE(GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED),
    DEVICE(SPARSE_CUDA_ARRAY_SUPPORTED),
    DEVICE(GPU_DIRECT_RDMA_SUPPORTED),
    DEVICE(DMA_BUF_SUPPORTED),
    DEVICE(HANDLE_TYPE_FABRIC_SUPPORTED),
    DEVICE(MULTICAST_SUPPORTED),
    DEVICE(HOST_NUMA_ID),
    DEVICE(HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
    DEVICE(HOST_NUMA_MULTINODE_IPC_SUPPORTED),
    DEVICE(HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
};

#define POOL(name) {#name, VMM_MEMPOOL_ATTR_##name}
static const struct named pool_attributes[] = {
    POOL(REUSE_FOLLOW_EVENT_DEPENDENCIES), POOL(REUSE_ALLOW_OPPORTUNISTIC), POOL(REUSE_ALLOW_INTERNAL_DEPENDENCIES),
    POOL(RELEASE_THRESHOLD),               POOL(RESERVED_MEM_CURRENT),      POOL(RESERVED_MEM_HIGH),
    POOL(USED_MEM_CURRENT),                POOL(USED_MEM_HIGH),
};

#define RANGE(name) {#name, VMM_MEM_RANGE_ATTRIBUTE_##name}
static const struct named range_attributes[] = {
    RANGE(READ_MOSTLY),             RANGE(PREFERRED_LOCATION),    RANGE(ACCESSED_BY),
    RANGE(LAST_PREFETCH_LOCATION),  RANGE(PREFERRED_LOCATION_TYPE), RANGE(PREFERRED_LOCATION_ID),
    RANGE(LAST_PREFETCH_LOCATION_TYPE), RANGE(LAST_PREFETCH_LOCATION_ID),
};

#define ADVICE(name) {#name, VMM_MEM_ADVISE_##name}
static const struct named advices[] = {
    ADVICE(SET_READ_MOSTLY),          ADVICE(UNSET_READ_MOSTLY), ADVICE(SET_PREFERRED_LOCATION),
    ADVICE(UNSET_PREFERRED_LOCATION), ADVICE(SET_ACCESSED_BY),   ADVICE(UNSET_ACCESSED_BY),
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const char *name_of(const struct named *table, size_t count, int value)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].value == value)
            return table[i].name;
    return NULL;
}

static bool value_of(const struct named *table, size_t count, const char *name, int *value)
{
    for (size_t i = 0; i < count; i++)
        if (text_same(table[i].name, name)) {
            *value = table[i].value;
            return true;
        }
    return false;
}

const char *step_attribute_name(int attribute)
{
    return name_of(pointer_attributes, COUNT(pointer_attributes), attribute);
}

bool step_attribute_find(const char *name, int *attribute)
{
    return value_of(pointer_attributes, COUNT(pointer_attributes), name, attribute);
}

const char *step_device_attribute_name(int attribute)
{
    return name_of(device_attributes, COUNT(device_attributes), attribute);
}

bool step_device_attribute_find(const char *name, int *attribute)
{
    return value_of(device_attributes, COUNT(device_attributes), name, attribute);
}

const char *step_pool_attribute_name(int attribute)
{
    return name_of(pool_attributes, COUNT(pool_attributes), attribute);
}

bool step_pool_attribute_find(const char *name, int *attribute)
{
    return value_of(pool_attributes, COUNT(pool_attributes), name, attribute);
}

const char *step_enumerator_name(enum vmm_call_id id, const char *param, int value)
{
    static const char *const options[] = {"MINIMUM", "RECOMMENDED"};
    const bool of_graphs = id == VMM_CALL_device_get_graph_mem_attribute || id == VMM_CALL_device_set_graph_mem_attribute;
    const bool of_range = id == VMM_CALL_mem_range_get_attribute;
    return of_range && strcmp(param, "attribute") == 0                       ? name_of(range_attributes, COUNT(range_attributes), value)
           : strcmp(param, "attribute") == 0                                 ? step_attribute_name(value)
           : strcmp(param, "advice") == 0                                    ? name_of(advices, COUNT(advices), value)
           : strcmp(param, "attr") == 0 && !of_graphs                        ? step_pool_attribute_name(value)
           : strcmp(param, "attrib") == 0                                    ? step_device_attribute_name(value)
           : strcmp(param, "kernel") == 0                                    ? vmm_kernel_name(value)
           : strcmp(param, "option") == 0 && (value == 0 || value == 1)      ? options[value]
                                                                             : NULL;
}
