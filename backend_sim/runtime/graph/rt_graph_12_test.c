/* SPDX-License-Identifier: Apache-2.0 */
/* Edges and nodes of graphs in CUDA 12: without edge data, and with it under other names. */
#include "testing/rt_rig.h"

int main(void)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node[3], from[4], to[4];
    cudaGraphEdgeData data[4];
    struct cudaGraphNodeParams empty = {.type = cudaGraphNodeTypeEmpty};
    size_t count = 4;
    setenv("CUVMM_SIM", "sim:h100", 1);
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddNode(&node[0], graph, NULL, 0, &empty));
    OK(cudaGraphAddNode(&node[1], graph, node, 1, &empty));
    OK(cudaGraphAddNode_v2(&node[2], graph, node + 1, NULL, 1, &empty));
    OK(cudaGraphGetEdges(graph, from, to, &count));
    tap_ok(count == 2 && from[0] == node[0] && to[1] == node[2], "two edges");
    count = 4;
    OK(cudaGraphGetEdges_v2(graph, from, to, data, &count));
    tap_ok(count == 2 && data[1].type == cudaGraphDependencyTypeDefault, "two edges and their data");
    count = 4;
    OK(cudaGraphNodeGetDependencies(node[1], from, &count));
    tap_ok(count == 1 && from[0] == node[0], "the dependencies of a node");
    OK(cudaGraphNodeGetDependencies_v2(node[1], from, data, &count));
    count = 4;
    OK(cudaGraphNodeGetDependentNodes(node[1], to, &count));
    tap_ok(count == 1 && to[0] == node[2], "the dependents of a node");
    OK(cudaGraphNodeGetDependentNodes_v2(node[1], to, data, &count));
    OK(cudaGraphRemoveDependencies(graph, node, node + 1, 1));
    OK(cudaGraphRemoveDependencies_v2(graph, node + 1, node + 2, NULL, 1));
    OK(cudaGraphAddDependencies(graph, node, node + 2, 1));
    OK(cudaGraphAddDependencies_v2(graph, node + 1, node + 2, NULL, 1));
    count = 4;
    OK(cudaGraphGetRootNodes(graph, from, &count));
    EQUAL(count, 2);
    REFUSED(cudaGraphAddDependencies(graph, node, node + 2, 1), ErrorInvalidValue);
    REFUSED(cudaGraphRemoveDependencies(graph, node, node + 1, 1), ErrorInvalidValue);
    REFUSED(cudaGraphGetEdges(graph, NULL, NULL, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphAddNode(&node[0], graph, NULL, 0, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphAddNode_v2(&node[0], graph, NULL, NULL, 0, NULL), ErrorInvalidValue);
    OK(cudaGraphDestroy(graph));
    return tap_done();
}
