/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a device's graphs hold. A capture forbids none of these calls, and they need no context, as measured. */
#include "abi_graph.h"
#include "abi_graph_memory.h"

static CUresult get(vmm_system *sys, CUdevice device, CUgraphMem_attribute attribute, cuuint64_t *value)
{
    static const char name[] = "cuDeviceGetGraphMemAttribute";
    CUresult result = value ? abi_device(sys, name, device) : abi_graph_null(name, "value");
    if (result != CUDA_SUCCESS)
        return result;
    const struct abi_graph_memory_use use = abi_graph_memory_use(sys, device);
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: *value = use.used; return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: *value = use.used_high; return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: *value = use.reserved; return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: *value = use.reserved_high; return CUDA_SUCCESS;
    default: return abi_refuse(VMM_RULE_CALL_VALUE, name, "attr %d is not a CUgraphMem_attribute", (int)attribute);
    }
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    ABI_INITIALISED(get(sys, device, attr, value));
}

static CUresult set(vmm_system *sys, CUdevice device, CUgraphMem_attribute attribute, const cuuint64_t *value)
{
    static const char name[] = "cuDeviceSetGraphMemAttribute";
    bool used = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    CUresult result = value ? abi_device(sys, name, device) : abi_graph_null(name, "value");
    if (result != CUDA_SUCCESS)
        return result;
    if (!used && attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "attr %d cannot be set: the high marks can", (int)attribute);
    if (*value)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "value is %llu: a high mark can only be set to 0", (unsigned long long)*value);
    abi_graph_memory_reset_high(sys, device, used);
    return CUDA_SUCCESS;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    ABI_INITIALISED(set(sys, device, attr, value));
}

static CUresult trim(vmm_system *sys, CUdevice device)
{
    CUresult result = abi_device(sys, "cuDeviceGraphMemTrim", device);
    if (result == CUDA_SUCCESS)
        abi_graph_memory_trim(sys, device);
    return result;
}

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    ABI_INITIALISED(trim(sys, device));
}
