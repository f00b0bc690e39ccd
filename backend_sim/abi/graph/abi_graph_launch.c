/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of instances. Compiled for both default streams. */
#include "abi_capture.h"
#include "abi_graph.h"
#include "abi_graph_launch_memory.h"

/* The instance, which is not freed before abi_launch_ends; NULL: result says why not. */
static struct abi_exec *begin_launch(const char *function, CUgraphExec value, CUresult *result)
{
    abi_graphs_lock();
    struct abi_exec *exec = abi_need_exec(function, value, result);
    if (exec)
        exec->launches++;
    abi_graphs_unlock();
    return exec;
}

static void end_launch(struct abi_exec *exec)
{
    abi_graphs_lock();
    exec->launches--;
    if (exec->ended)
        abi_exec_end(exec);
    abi_graphs_unlock();
}

/* Checks context and stream, as an empty fill does. */
static CUresult check_launch(vmm_system *sys, vmm_stream stream)
{
    return (CUresult)vmm_memset_d8_async(sys, 0, 0, 0, stream);
}

static CUresult launch(vmm_system *sys, const char *function, CUgraphExec value, vmm_stream stream, bool runs)
{
    CUresult result = abi_captured(stream, function);
    struct abi_exec *exec = result == CUDA_SUCCESS ? begin_launch(function, value, &result) : NULL;
    if (!exec)
        return result;
    result = check_launch(sys, stream);
    if (result == CUDA_SUCCESS && runs)
        result = abi_graph_check_launch(sys, function, exec->graph);
    struct abi_launch_memory memory = {NULL, 0};
    if (result == CUDA_SUCCESS && (result = abi_launch_memory_begin(sys, function, exec, !runs, &memory)) == CUDA_SUCCESS) {
        if (runs)
            result = abi_graph_issue(sys, exec->graph, stream);
        abi_launch_memory_end(sys, exec, stream, result == CUDA_SUCCESS, &memory);
    }
    end_launch(exec);
    return result;
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
    ABI_INITIALISED(launch(sys, "cuGraphLaunch", hGraphExec, abi_stream(hStream), true));
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
    ABI_INITIALISED(launch(sys, "cuGraphUpload", hGraphExec, abi_stream(hStream), false));
}
