/* SPDX-License-Identifier: Apache-2.0 */
/* Primary contexts. The engine counts the retains; this file stores the flags. */
#include <stdatomic.h>

#include "abi.h"
#include "abi_host.h"
#include "abi_variable_memory.h"

static _Atomic unsigned flags_of[VMM_MAX_DEVICES];

unsigned abi_primary_flags(int device)
{
    return flags_of[device];
}

void abi_primary_set_flags(int device, unsigned flags)
{
    flags_of[device] = flags;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    ABI(vmm_device_primary_ctx_retain(sys, (vmm_context *)pctx, dev));
}

/* Variables of modules and managed memory end with their context. */
static CUresult swept(vmm_system *sys, vmm_result result)
{
    if (result == VMM_SUCCESS) {
        abi_variable_memory_sweep(sys);
        abi_host_sweep(sys);
    }
    return (CUresult)result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
    ABI(swept(sys, vmm_device_primary_ctx_release(sys, dev)));
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
    ABI(swept(sys, vmm_device_primary_ctx_reset(sys, dev)));
}

static CUresult set_flags(const vmm_system *sys, CUdevice dev, unsigned flags)
{
    CUresult result = abi_device(sys, "cuDevicePrimaryCtxSetFlags", dev);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags & CU_CTX_MAP_HOST)
        return abi_refuse(VMM_RULE_CTX_FLAGS, "cuDevicePrimaryCtxSetFlags",
                          "every primary context maps host memory; CU_CTX_MAP_HOST cannot be requested");
    result = abi_context_flags("cuDevicePrimaryCtxSetFlags", flags);
    if (result == CUDA_SUCCESS)
        flags_of[dev] = flags;
    return result;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    ABI_INITIALISED(set_flags(sys, dev, flags));
}

static CUresult get_state(const vmm_system *sys, CUdevice dev, unsigned *flags, int *active)
{
    CUresult result = flags && active ? abi_device(sys, "cuDevicePrimaryCtxGetState", dev)
                                      : abi_null("cuDevicePrimaryCtxGetState", flags ? "active" : "flags");
    if (result != CUDA_SUCCESS)
        return result;
    *flags = flags_of[dev];
    *active = abi_query_primary(sys, dev);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    ABI_INITIALISED(get_state(sys, dev, flags, active));
}
