/* SPDX-License-Identifier: Apache-2.0 */
/* Updates of instances. */
#include <string.h>

#include "abi_graph.h"

static CUresult update(CUgraphExec value, CUgraph of, bool old, CUgraphExecUpdateResultInfo *out)
{
    struct graph_update_answer answer = {GRAPH_UPDATE_DONE, NULL};
    vmm_result result = VMM_SUCCESS;
    const struct sim_process *process = abi_graphs_lock();
    const struct graph_exec *exec = graph_need_exec(process->graphs, abi_exec(value), &result);
    const struct graph *graph = exec ? graph_need(process->graphs, abi_graph(of), &result) : NULL;
    if (graph && old)
        result = graph_update_as_added(exec->graph, graph, &answer);
    if (graph && result == VMM_SUCCESS)
        result = graph_update(process, exec->graph, graph, &answer);
    if (out) {
        memset(out, 0, sizeof *out); /* with the bytes between its members, as the driver does */
        out->result = (CUgraphExecUpdateResult)answer.how;
        out->errorNode = answer.node ? abi_node_value(answer.node) : NULL;
    }
    return abi_graphs_answer("cuGraphExecUpdate", result);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    ABI_INITIALISED(update(hGraphExec, hGraph, false, resultInfo));
}

#undef cuGraphExecUpdate
#pragma GCC visibility push(default)
CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out);
#pragma GCC visibility pop

static CUresult update_v1(CUgraphExec value, CUgraph of, CUgraphNode *node, CUgraphExecUpdateResult *how)
{
    CUgraphExecUpdateResultInfo info;
    CUresult result = update(value, of, true, &info);
    if (node)
        *node = info.errorNode;
    if (how)
        *how = info.result;
    return result;
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out)
{
    ABI_INITIALISED(update_v1(hGraphExec, hGraph, hErrorNode_out, updateResult_out));
}
