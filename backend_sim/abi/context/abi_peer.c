/* SPDX-License-Identifier: Apache-2.0 */
/* Access to another device's memory by context: to cuMemAlloc's memory on the peer's device, for all contexts of the current
 * one's device. Mapped memory has separate access rights (cuMemSetAccess), which these calls do not change. */
#include "abi.h"
#include "abi_capture.h"

/* The devices of the current context and of the peer's. */
static CUresult both(const vmm_system *sys, const char *name, CUcontext peer, int *device, int *owner)
{
    uint64_t value;
    struct abi_query_context own, other;
    CUresult result = abi_current(sys, name, &value, &own);
    if (result != CUDA_SUCCESS)
        return result;
    if (!abi_query_context(sys, (uint64_t)(uintptr_t)peer, &other) || !other.alive)
        return abi_refuse(VMM_RULE_PEER_CONTEXT, name, "%p is not a live context", (void *)peer);
    *device = own.device;
    *owner = other.device;
    return CUDA_SUCCESS;
}

static CUresult enable(vmm_system *sys, CUcontext peer, unsigned flags)
{
    static const char name[] = "cuCtxEnablePeerAccess";
    int device = 0, owner = 0, can = 0;
    CUresult result = both(sys, name, peer, &device, &owner);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "Flags is %u: it must be 0", flags);
    result = (CUresult)vmm_device_can_access_peer(sys, &can, device, owner); /* a device is not its own peer */
    if (result != CUDA_SUCCESS)
        return result;
    if (!can)
        return abi_refuse(VMM_RULE_PEER_UNSUPPORTED, name, "device %d has no access to memory of device %d", device, owner);
    result = abi_capture_forbids(name, false);
    if (result != CUDA_SUCCESS)
        return result;
    if (!abi_query_open_peer(sys, device, owner, true))
        return abi_refuse(VMM_RULE_PEER_ENABLED, name, "device %d already has access to memory of device %d",
                          device, owner);
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    ABI_INITIALISED(enable(sys, peerContext, Flags));
}

static CUresult disable(vmm_system *sys, CUcontext peer)
{
    static const char name[] = "cuCtxDisablePeerAccess";
    int device = 0, owner = 0;
    CUresult result = both(sys, name, peer, &device, &owner);
    if (result == CUDA_SUCCESS)
        result = abi_capture_forbids(name, false);
    if (result != CUDA_SUCCESS)
        return result;
    if (device == owner || !abi_query_open_peer(sys, device, owner, false))
        return abi_refuse(VMM_RULE_PEER_NOT_ENABLED, name, "device %d had no access to memory of device %d",
                          device, owner);
    return CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext)
{
    ABI_INITIALISED(disable(sys, peerContext));
}
