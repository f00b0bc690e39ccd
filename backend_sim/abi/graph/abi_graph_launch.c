/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of instances. Compiled for both default streams. */
#include "abi_capture.h"
#include "abi_graph.h"

/* After the instance is looked up, an empty fill gives the launch its number and checks context and stream. */
static CUresult check_launch(vmm_system *sys, const char *function, CUgraphExec exec, vmm_stream stream)
{
    vmm_result found = VMM_SUCCESS;
    CUresult result = abi_captured(stream, function);
    if (result != CUDA_SUCCESS)
        return result;
    graph_need_exec(abi_graphs_lock()->graphs, abi_exec(exec), &found);
    result = abi_graphs_answer(function, found);
    return result == CUDA_SUCCESS ? (CUresult)vmm_memset_d8_async(sys, 0, 0, 0, stream) : result;
}

static CUresult launch(vmm_system *sys, CUgraphExec exec, vmm_stream stream)
{
    static const char name[] = "cuGraphLaunch";
    CUresult result = check_launch(sys, name, exec, stream);
    if (result != CUDA_SUCCESS)
        return result;
    const struct vmm_call_graph_launch call = {{VMM_CALL_graph_launch, vmm_last_detail()->call}, abi_exec(exec), stream};
    return abi_graphs_answer(name, sim_graph_launch(abi_graphs_lock(), &call));
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
    ABI_INITIALISED(launch(sys, hGraphExec, abi_stream(hStream)));
}

static CUresult upload(vmm_system *sys, CUgraphExec exec, vmm_stream stream)
{
    static const char name[] = "cuGraphUpload";
    CUresult result = abi_graphs_answer(name, graph_check_upload(abi_graphs_lock(), stream));
    if (result == CUDA_SUCCESS)
        result = check_launch(sys, name, exec, stream);
    if (result != CUDA_SUCCESS)
        return result;
    const struct vmm_call_graph_upload call = {{VMM_CALL_graph_upload, vmm_last_detail()->call}, abi_exec(exec), stream};
    return abi_graphs_answer(name, sim_graph_upload(abi_graphs_lock(), &call));
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
    ABI_INITIALISED(upload(sys, hGraphExec, abi_stream(hStream)));
}
