/* SPDX-License-Identifier: Apache-2.0 */
/* The amount of memory that a device's graphs hold. */
#include "abi_graph.h"

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    ABI_GRAPH_CALL(__func__, device_get_graph_mem_attribute, device, (vmm_graph_mem_attribute)attr, value);
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    ABI_GRAPH_CALL(__func__, device_set_graph_mem_attribute, device, (vmm_graph_mem_attribute)attr, value);
}

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    ABI_GRAPH_CALL(__func__, device_graph_mem_trim, device);
}
