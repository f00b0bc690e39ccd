/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's stack of contexts. The engine's stack supports cuCtxCreate, which pushes, and cuCtxSetCurrent, which replaces the
 * top; the rest of cuCtxPushCurrent's state is kept here, so that the engine receives only calls that a trace can record.
 *
 *     call          engine      this file                      the program sees
 *     create A      [A]         [engine]                       A
 *     push B        [B]         [engine, restore A]           A B
 *     pop           [A]         [engine]                       A
 *     pop           []          []
 */
#include "abi.h"

enum { DEPTH = 128 };

/* For each context on the stack: 0 if removing it makes the engine show the one below it; otherwise the context to restore. */
static _Thread_local struct {
    uint64_t below[DEPTH];
    unsigned count;
} stack;

static CUresult set_current(vmm_system *sys, uint64_t value)
{
    return (CUresult)vmm_ctx_set_current(sys, (vmm_context)(uintptr_t)value);
}

void abi_stack_created(void)
{
    if (stack.count < DEPTH)
        stack.below[stack.count++] = 0;
}

static CUresult pop(vmm_system *sys)
{
    uint64_t below = stack.count ? stack.below[stack.count - 1] : 0;
    CUresult result = set_current(sys, below);
    if (result == CUDA_SUCCESS && stack.count)
        stack.count--;
    return result;
}

CUresult abi_stack_set(vmm_system *sys, CUcontext context)
{
    bool empty = !abi_query_current(sys);
    if (!context)
        return pop(sys);
    CUresult result = set_current(sys, (uint64_t)(uintptr_t)context);
    if (result == CUDA_SUCCESS && empty) {
        stack.count = 0;
        abi_stack_created();
    }
    return result;
}

static CUresult push(vmm_system *sys, CUcontext context)
{
    uint64_t now = abi_query_current(sys);
    if (!context)
        return abi_refuse(VMM_RULE_CALL_NULL, "cuCtxPushCurrent",
                          "ctx is NULL: use cuCtxPopCurrent to remove the current context");
    if (!now)
        return abi_stack_set(sys, context);
    if (stack.count == DEPTH)
        return abi_refuse(VMM_RULE_CTX_STACK, "cuCtxPushCurrent",
                          "this thread's stack holds %d contexts: check for a loop that pushes without popping", DEPTH);
    CUresult result = set_current(sys, (uint64_t)(uintptr_t)context);
    if (result == CUDA_SUCCESS)
        stack.below[stack.count++] = now;
    return result;
}

CUresult cuCtxPushCurrent(CUcontext ctx)
{
    ABI_INITIALISED(push(sys, ctx));
}

static CUresult pop_told(vmm_system *sys, CUcontext *pctx)
{
    uint64_t now = abi_query_current(sys);
    if (!now)
        return abi_refuse(VMM_RULE_CTX_CURRENT, "cuCtxPopCurrent", "no context is current on this thread");
    CUresult result = pop(sys);
    if (result == CUDA_SUCCESS && pctx)
        *pctx = (CUcontext)(uintptr_t)now;
    return result;
}

CUresult cuCtxPopCurrent(CUcontext *pctx)
{
    ABI_INITIALISED(pop_told(sys, pctx));
}

/* When a context is destroyed, the engine removes it from the top of its stack and shows the one below. So this function restores
 * the context below before the call, and undoes that when the destruction is refused. */
CUresult abi_stack_destroy(vmm_system *sys, CUcontext context)
{
    uint64_t value = (uint64_t)(uintptr_t)context;
    uint64_t below = stack.count ? stack.below[stack.count - 1] : 0;
    bool top = value && abi_query_current(sys) == value;
    if (top && below)
        set_current(sys, below);
    CUresult result = (CUresult)vmm_ctx_destroy(sys, abi_context(context));
    if (result == CUDA_SUCCESS && top && stack.count)
        stack.count--;
    else if (result != CUDA_SUCCESS && top && below)
        set_current(sys, value);
    return result;
}
