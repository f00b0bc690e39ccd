/* SPDX-License-Identifier: Apache-2.0 */
/* Primary contexts. The engine counts the retains; this file stores the flags. */
#include <stdatomic.h>

#include "abi.h"
#include "abi_host.h"
#include "abi_parts.h"
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

static _Atomic uint64_t context_of[VMM_MAX_DEVICES]; /* the most recently retained one; an ended one keeps its value */

static CUresult retain(vmm_system *sys, CUcontext *pctx, CUdevice dev)
{
    vmm_result result = vmm_device_primary_ctx_retain(sys, (vmm_context *)pctx, dev);
    if (result == VMM_SUCCESS)
        context_of[dev] = (uint64_t)(uintptr_t)*pctx;
    return (CUresult)result;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    ABI(retain(sys, pctx, dev));
}

/* Variables of modules, host memory, limits and settings end with their context. */
static CUresult swept(vmm_system *sys, CUdevice dev, vmm_result result)
{
    struct abi_query_context context;
    if (result == VMM_SUCCESS) {
        if (!(abi_query_context(sys, context_of[dev], &context) && context.alive))
            abi_note_drop(context_of[dev]);
        abi_variable_memory_sweep(sys);
        abi_host_sweep(sys);
    }
    return (CUresult)result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
    ABI(swept(sys, dev, vmm_device_primary_ctx_release(sys, dev)));
}

static CUresult reset(vmm_system *sys, CUdevice dev)
{
    CUresult result = swept(sys, dev, vmm_device_primary_ctx_reset(sys, dev));
    if (result == CUDA_SUCCESS)
        flags_of[dev] = 0;
    return result;
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
    ABI(reset(sys, dev));
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
