/* SPDX-License-Identifier: Apache-2.0 */
/* Updates of instances. */
#include "abi_graph.h"

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    ABI_GRAPH_CALL("cuGraphExecUpdate", graph_exec_update, abi_exec(hGraphExec), abi_graph(hGraph),
                   (vmm_graph_exec_update_result_info *)(void *)resultInfo);
}

#undef cuGraphExecUpdate
#pragma GCC visibility push(default)
CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out);
#pragma GCC visibility pop

static CUresult update(CUgraphExec value, CUgraph of, CUgraphNode *node, CUgraphExecUpdateResult *how)
{
    struct graph_update_answer answer;
    vmm_result result = graph_update_exec(abi_graphs_lock(), abi_exec(value), abi_graph(of), true, &answer);
    if (node)
        *node = answer.node ? abi_node_value(answer.node) : NULL;
    if (how)
        *how = (CUgraphExecUpdateResult)answer.how;
    return abi_graphs_answer("cuGraphExecUpdate", result);
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out)
{
    ABI_INITIALISED(update(hGraphExec, hGraph, hErrorNode_out, updateResult_out));
}
