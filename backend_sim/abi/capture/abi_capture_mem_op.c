/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations as nodes: their form is checked when the node is made, and their memory at each launch, as measured. */
#include "abi_capture.h"
#include "call_mem_op.h"
#include "mem_op.h"

CUresult abi_mem_op_form(const vmm_system *sys, const struct vmm_call *call)
{
    vmm_result result = sim_mem_op_check_form(abi_query_profile(sys), call);
    if (result != VMM_SUCCESS) {
        const vmm_detail detail = *vmm_last_detail();
        abi_report(NULL, &detail);
    }
    return (CUresult)result;
}

CUresult abi_capture_add_mem_op(const vmm_system *sys, const char *function, vmm_stream stream, const struct vmm_call *call)
{
    struct mem_ops ops;
    struct abi_work work = {.params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    CUresult result = abi_capture_goes_on(function, stream);
    if (result == CUDA_SUCCESS)
        result = abi_mem_op_form(sys, call);
    if (result != CUDA_SUCCESS)
        return result;
    mem_op_list(call, &ops);
    work.params.memOp.ctx = (CUcontext)(uintptr_t)abi_query_current(sys);
    work.params.memOp.count = (unsigned)ops.count;
    work.params.memOp.paramArray = (CUstreamBatchMemOpParams *)(uintptr_t)ops.op; /* of one layout (api/cuda_abi_test.c) */
    return abi_capture_add(function, stream, &work);
}
