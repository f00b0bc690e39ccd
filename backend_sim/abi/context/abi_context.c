/* SPDX-License-Identifier: Apache-2.0 */
/* Creating, destroying and selecting contexts, and the parameters of their creation. */
#include "abi.h"
#include "abi_capture.h"
#include "abi_parts.h"
#include "abi_host.h"
#include "abi_variable_memory.h"

CUresult abi_current(const vmm_system *sys, const char *function, uint64_t *value, struct abi_query_context *context)
{
    *value = abi_query_current(sys);
    *context = (struct abi_query_context){0};
    if (!*value)
        return abi_refuse(VMM_RULE_CTX_CURRENT, function,
                          "no context is current on this thread: call cuCtxSetCurrent, with cuDevicePrimaryCtxRetain before it");
    abi_query_context(sys, *value, context); /* a current context is always known */
    if (!context->alive)
        return abi_refuse(VMM_RULE_CTX_DESTROYED, function, "the thread's current context has been destroyed");
    return CUDA_SUCCESS;
}

static CUresult create(vmm_system *sys, CUcontext *pctx, unsigned flags, CUdevice dev)
{
    CUresult result = pctx ? abi_context_flags("cuCtxCreate", flags) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        return result;
    result = (CUresult)vmm_ctx_create(sys, (vmm_context *)pctx, flags, dev);
    if (result == CUDA_SUCCESS) {
        /* analysers: clang-analyzer-core.NullDereference is wrong: vmm_ctx_create refuses NULL */
        abi_note_set((uint64_t)(uintptr_t)*pctx, &(struct abi_note){.flags = flags});
        abi_stack_created();
    }
    return result;
}

static CUresult no_affinity(void)
{
    return abi_refuse(VMM_RULE_CTX_AFFINITY, "cuCtxCreate",
                      "execution affinity is not simulated: pass no parameters");
}

static CUresult create_affine(vmm_system *sys, CUcontext *pctx, const CUexecAffinityParam *params, int count,
                              unsigned flags, CUdevice dev)
{
    return params && count ? no_affinity() : create(sys, pctx, flags, dev);
}

static CUresult create_new(vmm_system *sys, CUcontext *pctx, const CUctxCreateParams *params, unsigned flags,
                           CUdevice dev)
{
    if (params && params->cigParams)
        return abi_refuse(VMM_RULE_ENTRY_ABSENT, "cuCtxCreate", "sharing a context with graphics is not simulated");
    if (params && params->execAffinityParams && params->numExecAffinityParams)
        return no_affinity();
    return create(sys, pctx, flags, dev);
}

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    ABI(create(sys, pctx, flags, dev));
}

CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                        CUdevice dev)
{
    ABI(create_affine(sys, pctx, paramsArray, numParams, flags, dev));
}

CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
    ABI(create_new(sys, pctx, ctxCreateParams, flags, dev));
}

static CUresult destroy(vmm_system *sys, CUcontext ctx)
{
    CUresult result = abi_stack_destroy(sys, ctx);
    if (result == CUDA_SUCCESS) {
        abi_note_drop((uint64_t)(uintptr_t)ctx);
        abi_variable_memory_sweep(sys);
        abi_host_sweep(sys);
    }
    return result;
}

CUresult cuCtxDestroy(CUcontext ctx)
{
    ABI(destroy(sys, ctx));
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    ABI(abi_stack_set(sys, ctx));
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
    ABI(vmm_ctx_get_current(sys, (vmm_context *)pctx));
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    ABI(vmm_ctx_get_device(sys, device));
}

/* Resolves a context; NULL stands for the current one. */
static CUresult named(const vmm_system *sys, const char *function, CUcontext ctx, uint64_t *value,
                      struct abi_query_context *context)
{
    if (!ctx)
        return abi_current(sys, function, value, context);
    *value = (uint64_t)(uintptr_t)ctx;
    if (!abi_query_context(sys, *value, context))
        return abi_refuse(VMM_RULE_CTX_FORGED, function, "%p is not a context", (void *)ctx);
    if (!context->alive)
        return abi_refuse(VMM_RULE_CTX_ENDED, function, "the context has been destroyed");
    return CUDA_SUCCESS;
}

static CUresult device_of(vmm_system *sys, CUdevice *device, CUcontext ctx)
{
    uint64_t value;
    struct abi_query_context context;
    if (!ctx || !device)
        return (CUresult)vmm_ctx_get_device(sys, device);
    CUresult result = named(sys, "cuCtxGetDevice", ctx, &value, &context);
    if (result == CUDA_SUCCESS)
        *device = context.device;
    return result;
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    ABI_INITIALISED(device_of(sys, device, ctx));
}

/* While a stream is being captured, in any mode, there is nothing to wait for. */
CUresult cuCtxSynchronize(void)
{
    CUresult captured = abi_capture_forbids(__func__, true);
    if (captured != CUDA_SUCCESS)
        return captured;
    ABI(vmm_ctx_synchronize(sys));
}

/* Makes the context current during the wait. */
static CUresult synchronize(vmm_system *sys, CUcontext ctx)
{
    uint64_t value, now = abi_query_current(sys);
    struct abi_query_context context;
    if (!ctx || (uint64_t)(uintptr_t)ctx == now)
        return (CUresult)vmm_ctx_synchronize(sys);
    CUresult result = named(sys, "cuCtxSynchronize", ctx, &value, &context);
    if (result == CUDA_SUCCESS)
        result = (CUresult)vmm_ctx_set_current(sys, abi_context(ctx));
    if (result != CUDA_SUCCESS)
        return result;
    result = (CUresult)vmm_ctx_synchronize(sys);
    vmm_ctx_set_current(sys, (vmm_context)(uintptr_t)now);
    return result;
}

CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
    ABI_INITIALISED(synchronize(sys, ctx));
}

static CUresult id_of(const vmm_system *sys, CUcontext ctx, unsigned long long *id)
{
    uint64_t value;
    struct abi_query_context context;
    CUresult result = id ? named(sys, "cuCtxGetId", ctx, &value, &context) : abi_null("cuCtxGetId", "ctxId");
    if (result == CUDA_SUCCESS)
        *id = context.id;
    return result;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    ABI_INITIALISED(id_of(sys, ctx, ctxId));
}

/* The version of the oldest form, whichever form created the context, as recorded. */
static CUresult version_of(const vmm_system *sys, CUcontext ctx, unsigned *version)
{
    enum { VERSION = 3020 };
    uint64_t value;
    struct abi_query_context context;
    CUresult result = named(sys, "cuCtxGetApiVersion", ctx, &value, &context);
    if (result == CUDA_SUCCESS && !version)
        result = abi_null("cuCtxGetApiVersion", "version");
    if (result == CUDA_SUCCESS)
        *version = VERSION;
    return result;
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    ABI_INITIALISED(version_of(sys, ctx, version));
}
