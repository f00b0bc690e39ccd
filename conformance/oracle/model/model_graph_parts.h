/* SPDX-License-Identifier: Apache-2.0 */
/* model_graph_parts.h - what the files about graphs share: model_graph.c (graphs and dependencies), model_node.c (what nodes hold) and
 * model_exec_node.c (the same in instances). */
#ifndef CUVMM_MODEL_GRAPH_PARTS_H
#define CUVMM_MODEL_GRAPH_PARTS_H

#include "model_graph.h"

#define INVALID VMM_ERROR_INVALID_VALUE
#define need_graph model_need_graph
#define need_node model_need_node

/* True, and a refusal, for NULL. */
bool model_graph_null(const void *pointer, struct model_answer *a);
/* The copy of a node in a graph; deep: in graphs of its nodes, too. NULL for none. */
struct model_node *model_copy_of(const struct model *model, const struct model_graph *graph, uint64_t value, bool deep);
/* The system reported the value of a node. */
void model_node_know(struct model *m, struct model_node *node, uint64_t value, struct model_answer *a);
void model_node_end(struct model *m, struct model_node *node);
/* The nodes of a list; false, with a refusal, if one does not belong to the graph. */
bool model_find_nodes(struct model *m, const struct model_graph *graph, const vmm_graph_node *list, uint64_t count,
                      struct model_node **nodes, struct model_answer *a);

/* The node, if it is of that type; NULL, with a refusal, otherwise. */
struct model_node *model_node_is(struct model_node *node, int type, struct model_answer *a);

/* ---- what nodes hold, by their parameters; false, with a refusal, for parameters that no node can have ---- */

/* The context that the call passes for a fill; NULL is invalid for mapped device memory. */
bool model_context_given(struct model *m, const vmm_memset_node_params *p, vmm_context context, struct model_answer *a);
bool model_fill_work(struct model *m, const vmm_memset_node_params *p, vmm_context context, struct model_work *work,
                     struct model_answer *a);
/* Something is to be copied, and the context lives; NULL is the current one. */
/* open: rights to memory in one piece do not count. */
bool model_copy_work(struct model *m, const vmm_memcpy3d *p, vmm_context context, bool open, struct model_work *work,
                     struct model_answer *a);
bool model_host_work(const vmm_host_node_params *p, struct model_work *work, struct model_answer *a);
bool model_kernel_work(const struct model *m, const vmm_kernel_node_params *p, struct model_work *work, struct model_answer *a);
bool model_event_work(const struct model *m, int type, vmm_event event, struct model_work *work, struct model_answer *a);

#endif
