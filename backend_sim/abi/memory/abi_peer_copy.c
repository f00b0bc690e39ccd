/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_peer_copy.h"

static bool lives(const vmm_system *sys, CUcontext value)
{
    struct abi_query_context context;
    return !value || (abi_query_context(sys, (uint64_t)(uintptr_t)value, &context) && context.alive);
}

CUresult abi_peer_contexts(const vmm_system *sys, const char *function, CUcontext to, CUcontext from)
{
    if (lives(sys, to) && lives(sys, from))
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_PEER_CONTEXT, function, "%p or %p is no context that lives", (void *)to, (void *)from);
}
