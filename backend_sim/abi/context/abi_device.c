/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation and devices. The profile defines most values; bus addresses and identifiers are derived from the device's
 * ordinal, so they never change. */
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "abi_attribute.h"

CUresult cuInit(unsigned int flags)
{
    VMM_ENTRY_POINT(entry);
    struct abi_call call;
    CUresult result = abi_enter(&entry, &call);
    if (result != CUDA_SUCCESS)
        return result;
    result = (CUresult)vmm_init(call.sys, flags);
    if (result == CUDA_SUCCESS)
        abi_initialised();
    abi_leave(&call);
    return result;
}

CUresult cuDriverGetVersion(int *driverVersion)
{
    ABI(vmm_driver_get_version(sys, driverVersion));
}

CUresult cuDeviceGetCount(int *count)
{
    ABI(vmm_device_get_count(sys, count));
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    ABI(vmm_device_get(sys, device, ordinal));
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
    ABI(vmm_device_get_name(sys, name, len, dev));
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
    ABI(vmm_device_total_mem(sys, (uint64_t *)bytes, dev));
}

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    ABI(vmm_device_can_access_peer(sys, canAccessPeer, dev, peerDev));
}

CUresult abi_null(const char *function, const char *argument)
{
    return abi_refuse(VMM_RULE_CALL_NULL, function, "%s is NULL: pass the address of a variable for the result", argument);
}

CUresult abi_graph_null(const char *function, const char *argument)
{
    return abi_refuse(VMM_RULE_GRAPH_NULL, function, "%s is NULL", argument);
}

CUresult abi_device(const vmm_system *sys, const char *function, CUdevice device)
{
    int devices = abi_query_profile(sys)->devices;
    if (device >= 0 && device < devices)
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_DEVICE_ID, function, "%d is not a device: this machine has %d, from 0", device,
                      devices);
}

/* ---- attributes ---- */

static CUresult attribute(vmm_system *sys, int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    const struct sim_profile *profile = abi_query_profile(sys);
    int value;
    if (pi && dev >= 0 && dev < profile->devices && abi_attribute(profile, (int)attrib, abi_query_place(sys, dev), &value)) {
        *pi = value;
        return CUDA_SUCCESS;
    }
    return (CUresult)vmm_device_get_attribute(sys, pi, (int)attrib, dev);
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    ABI_INITIALISED(attribute(sys, pi, attrib, dev));
}

static CUresult capability(vmm_system *sys, int *major, int *minor, CUdevice dev)
{
    CUresult result = attribute(sys, major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev);
    return result == CUDA_SUCCESS ? attribute(sys, minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev) : result;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    ABI_INITIALISED(capability(sys, major, minor, dev));
}

/* ---- identifiers ---- */

static CUresult uuid_of(const vmm_system *sys, CUuuid *uuid, CUdevice dev)
{
    CUresult result = uuid ? abi_device(sys, "cuDeviceGetUuid", dev) : abi_null("cuDeviceGetUuid", "uuid");
    if (result != CUDA_SUCCESS)
        return result;
    abi_query_uuid(sys, dev, (unsigned char *)uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    ABI_INITIALISED(uuid_of(sys, uuid, dev));
}

static CUresult luid_of(const vmm_system *sys, const char *luid, const unsigned *mask, CUdevice dev)
{
    if (!luid || !mask)
        return abi_null("cuDeviceGetLuid", luid ? "deviceNodeMask" : "luid");
    CUresult result = abi_device(sys, "cuDeviceGetLuid", dev);
    if (result != CUDA_SUCCESS)
        return result;
    return abi_refuse(VMM_RULE_ENTRY_ABSENT, "cuDeviceGetLuid", "only devices on Windows have a LUID");
}

CUresult cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev)
{
    ABI_INITIALISED(luid_of(sys, luid, deviceNodeMask, dev));
}

enum { BUS_ID = 13 }; /* "0000:01:00.0" with its terminator */

static void bus_text(const vmm_system *sys, char text[BUS_ID], CUdevice dev)
{
    snprintf(text, BUS_ID, "0000:%02x:00.0", (unsigned)abi_bus(abi_query_place(sys, dev)) & 0xff);
}

static CUresult bus_id(const vmm_system *sys, char *pciBusId, int len, CUdevice dev)
{
    char text[BUS_ID];
    CUresult result = pciBusId ? abi_device(sys, "cuDeviceGetPCIBusId", dev)
                               : abi_null("cuDeviceGetPCIBusId", "pciBusId");
    if (result != CUDA_SUCCESS)
        return result;
    bus_text(sys, text, dev);
    /* truncated to the buffer, as recorded */
    snprintf(pciBusId, len < 0 || len > BUS_ID ? (size_t)BUS_ID : (size_t)len, "%s", text);
    if (len < BUS_ID)
        return abi_refuse(VMM_RULE_CALL_VALUE, "cuDeviceGetPCIBusId", "len is %d, but the text needs %d bytes", len, BUS_ID);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    ABI_INITIALISED(bus_id(sys, pciBusId, len, dev));
}

/* The domain and the function are optional. */
static CUresult by_bus_id(const vmm_system *sys, CUdevice *dev, const char *text)
{
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    if (!dev || !text)
        return abi_null("cuDeviceGetByPCIBusId", dev ? "pciBusId" : "dev");
    bool read = sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) >= 3;
    if (!read) {
        domain = function = 0;
        read = sscanf(text, "%x:%x.%x", &bus, &slot, &function) >= 2;
    }
    if (!read)
        return abi_refuse(VMM_RULE_CALL_VALUE, "cuDeviceGetByPCIBusId", "\"%.40s\" does not have the form 0000:01:00.0", text);
    for (CUdevice i = 0; i < abi_query_profile(sys)->devices; i++)
        if (!domain && !slot && !function && bus == (unsigned)abi_bus(abi_query_place(sys, i))) {
            *dev = i;
            return CUDA_SUCCESS;
        }
    return abi_refuse(VMM_RULE_DEVICE_BUS, "cuDeviceGetByPCIBusId", "no device has the bus address %.40s", text);
}

CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    ABI_INITIALISED(by_bus_id(sys, dev, pciBusId));
}

/* All pairs of peers on a machine have the same attributes. */
static CUresult p2p(vmm_system *sys, int *value, CUdevice_P2PAttribute attrib, CUdevice src, CUdevice dst)
{
    static const char name[] = "cuDeviceGetP2PAttribute";
    CUresult result = value ? abi_device(sys, name, src) : abi_null(name, "value");
    if (result == CUDA_SUCCESS)
        result = abi_device(sys, name, dst);
    if (result != CUDA_SUCCESS)
        return result;
    if (src == dst)
        return abi_refuse(VMM_RULE_PEER_SAME, name, "source and destination are the same device");
    int peers = 0;
    result = (CUresult)vmm_device_can_access_peer(sys, &peers, src, dst);
    if (result != CUDA_SUCCESS)
        return result;
    switch ((int)attrib) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: *value = 0; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: *value = peers; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: /* arrays are not simulated */
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED: *value = 0; return CUDA_SUCCESS;
    default: return abi_refuse(VMM_RULE_CALL_VALUE, name, "attribute %d is unknown", (int)attrib);
    }
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice)
{
    ABI_INITIALISED(p2p(sys, value, attrib, srcDevice, dstDevice));
}
