/* SPDX-License-Identifier: Apache-2.0 */
/* Before initialisation, without a context, and what the machine says about itself. */
#include "facts_calls.h"

#include <inttypes.h>

void facts_no_init(struct facts *f)
{
    vmm_mem_allocation_prop prop = fc_prop(0);
    vmm_mem_access_desc desc = fc_desc(0, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr ptr;
    uint64_t g, flags;
    facts_result(f, fc_granularity(f, &g, &prop, 0), "noinit.granularity");
    facts_result(f, fc_create(f, &handle, FACTS_G, &prop, 0), "noinit.create");
    facts_result(f, fc_reserve(f, &ptr, FACTS_G, 0, 0, 0), "noinit.reserve");
    facts_result(f, fc_free(f, 4096, 4096), "noinit.free");
    facts_result(f, fc_map(f, 4096, 4096, 0, 1, 0), "noinit.map");
    facts_result(f, fc_unmap(f, 4096, 4096), "noinit.unmap");
    facts_result(f, fc_set_access(f, 4096, 4096, &desc, 1), "noinit.setaccess");
    facts_result(f, fc_get_access(f, &flags, &desc.location, 4096), "noinit.getaccess");
    facts_result(f, fc_reserve(f, NULL, FACTS_G, 0, 0, 0), "noinit.reserve_null");
}

void facts_no_context(struct facts *f)
{
    vmm_mem_allocation_prop prop = fc_prop(0);
    vmm_mem_access_desc desc = fc_desc(0, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr ptr = 0;
    uint64_t g = 0, flags = 9;
    facts_result(f, fc_granularity(f, &g, &prop, 0), "noctx.granularity");
    facts_result(f, fc_create(f, &handle, FACTS_G, &prop, 0), "noctx.create");
    facts_result(f, fc_reserve(f, &ptr, FACTS_G, 0, 0, 0), "noctx.reserve");
    facts_result(f, fc_map(f, ptr, FACTS_G, 0, handle, 0), "noctx.map");
    facts_result(f, fc_set_access(f, ptr, FACTS_G, &desc, 1), "noctx.setaccess");
    facts_result(f, fc_get_access(f, &flags, &desc.location, ptr), "noctx.getaccess");
    facts_value(f, "noctx.getaccess.flags", "%" PRIu64, flags);
    facts_result(f, fc_fill(f, ptr, 1, 16), "noctx.memset");
    facts_result(f, fc_unmap(f, ptr, FACTS_G), "noctx.unmap");
    facts_result(f, fc_release(f, handle), "noctx.release");
    facts_result(f, fc_free(f, ptr, FACTS_G), "noctx.free");
}

static const struct {
    const char *name;
    vmm_device_attribute attribute;
} attributes[] = {
    {"attr.VMM", VMM_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED},
    {"attr.FD", VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED},
    {"attr.WIN32", VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED},
    {"attr.KMT", VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED},
    {"attr.COMPRESSION", VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED},
    {"attr.RDMA_VMM", VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED},
    {"attr.GDR", VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED},
    {"attr.FABRIC", VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED},
    {"attr.MULTICAST", VMM_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED},
    {"attr.HOST_NUMA_ID", VMM_DEVICE_ATTRIBUTE_HOST_NUMA_ID},
    {"attr.HOST_NUMA_VMM", VMM_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED},
    {"attr.HOST_VMM", VMM_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED},
    {"attr.HOST_NUMA_MULTINODE_IPC", VMM_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED},
    {"attr.DMA_BUF", VMM_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED},
    {"attr.UVA", VMM_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
    {"attr.PAGEABLE", VMM_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
    {"attr.PAGEABLE_HPT", VMM_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES},
    {"attr.CONC_MANAGED", VMM_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
    {"attr.SPARSE_ARRAY", VMM_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED},
};

void facts_attributes(struct facts *f)
{
    char name[99] = "";
    uint64_t total = 0;
    int version = 0;
    facts_setup(f, vmm_driver_get_version(f->sys, &version), "driver version");
    facts_value(f, "driver", "%d", version);
    facts_setup(f, vmm_device_get_name(f->sys, name, sizeof name, 0), "device name");
    facts_value(f, "device", "%s", name);
    facts_setup(f, vmm_device_total_mem(f->sys, &total, 0), "total memory");
    facts_value(f, "totalmem", "%" PRIu64, total);
    facts_value(f, "ndev", "%d", f->devices);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        int value = -1;
        vmm_result result = fc_device_attribute(f, &value, attributes[i].attribute, 0);
        facts_explain(f, result, attributes[i].name);
        facts_line(f, attributes[i].name, "%s=%d", facts_code(result), value);
    }
}
