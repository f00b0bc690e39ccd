/* SPDX-License-Identifier: Apache-2.0 */
/* abi_graphs.h - graphs, nodes and instances as seen through libcuda.so.1. They are the engine's (backend_sim/graph), whose
 * calls the entry points make; what the engine has no use for is kept here, with each node.
 *
 *     cuGraphAddKernelNode(&m, g, &n, 1, &params)   node of the engine [work: shown -> params, the launch with its packed arguments]
 *     cuGraphKernelNodeGetParams(m, &params)        what is shown
 *
 * All of it is under the machine's lock, which is taken for each call here; no function below takes it but abi_graphs_lock.
 * Refusals under the lock are reported once it is released: abi_graphs_answer.
 */
#ifndef SIM_ABI_GRAPHS_H
#define SIM_ABI_GRAPHS_H

#include "abi.h"
#include "call_graph.h"
#include "graphs.h"
#include "user_objects.h"

/* What queries of a kernel or an allocation return. The pointers in params point into its own memory, or into the arguments
 * of the work. */
struct abi_shown {
    CUgraphNodeParams params;
    void **list;  /* of a kernel: kernelParams, then extra */
    bool packed;  /* for a kernel: the program passed extra, so queries return that */
    void *rights; /* of an allocation: accessDescs */
};

/* Work that does not belong to a node yet. */
struct abi_work {
    struct graph_work work; /* shown points to what follows, or is NULL */
    struct abi_shown shown;
};

/* Is any stream being captured, or was an event recorded in one? Takes no lock, because frequent calls use it. */
bool abi_capture_any(void);

/* The machine is open. */
struct sim_process *abi_graphs_lock(void);
/* Calls the functions of user objects that ended, without the lock. */
void abi_graphs_unlock(void);
/* The same, and reports that function's refusal or warning. */
CUresult abi_graphs_answer(const char *function, vmm_result result);

/* The whole body of an entry point that is a single call of the engine: ABI_GRAPH_CALL("cuGraphDestroy", graph_destroy,
 * graph). */
#define ABI_GRAPH_CALL(function, name, ...)                                                                              \
    ABI_INITIALISED(abi_graphs_answer(function, sim_##name(abi_graphs_lock(), &(const struct vmm_call_##name){           \
                                                                                  {VMM_CALL_##name, 0}, __VA_ARGS__})))

/* Values are the same in both APIs. */
static inline vmm_graph abi_graph(CUgraph value)
{
    return (vmm_graph)(void *)value;
}

static inline vmm_graph_node abi_node(CUgraphNode value)
{
    return (vmm_graph_node)(void *)value;
}

static inline vmm_graph_exec abi_exec(CUgraphExec value)
{
    return (vmm_graph_exec)(void *)value;
}

static inline const vmm_graph_node *abi_nodes(const CUgraphNode *values)
{
    return (const vmm_graph_node *)(const void *)values;
}

static inline CUgraph abi_graph_value(const struct graph *graph)
{
    return (CUgraph)(uintptr_t)graph->value;
}

static inline CUgraphNode abi_node_value(const struct graph_node *node)
{
    return (CUgraphNode)(uintptr_t)node->value;
}

static inline CUgraphNodeType abi_type_of(const struct graph_node *node)
{
    return (CUgraphNodeType)graphs_work(node)->type;
}

/* Makes work from a kernel: a copy of launch, and kernelParams that point into its arguments. offset[i] is the offset of
 * parameter i in the bytes from args[first] on; offset[count] is their total size. */
bool abi_work_kernel(struct abi_work *work, const struct vmm_call_launch *launch, size_t first, const size_t *offset,
                     unsigned count);
/* Frees what a work item owns if it was never given to a node. */
void abi_work_drop(struct abi_work *work);

#endif
