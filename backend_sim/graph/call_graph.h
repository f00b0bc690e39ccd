/* SPDX-License-Identifier: Apache-2.0 */
/* call_graph.h - what the calls of graphs and of captures share. */
#ifndef SIM_CALL_GRAPH_H
#define SIM_CALL_GRAPH_H

#include "graphs.h"
#include "objects.h"
#include "process.h"
#include "refusal.h"

/* The calls, as calls/sim.h declares them. */
#define VMM_CALL(name, ...) vmm_result sim_##name(struct sim_process *process, const struct vmm_call_##name *call);
#include "calls.def"

/* Refuses by a rule that several calls have, so the text says which value of this one is wrong. */
vmm_result graph_refuse(enum vmm_rule_id rule, uint64_t value, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same of a parameter. */
vmm_result graph_refuse_value(enum vmm_rule_id rule, const char *argument, uint64_t value, const char *note);
/* A pointer that the call needs is NULL. */
vmm_result graph_null(const char *argument);

/* The object; NULL after a refusal. */
struct graph *graph_need(const struct sim_process *process, vmm_graph value, vmm_result *result);
struct graph_node *graph_need_node(const struct sim_process *process, vmm_graph_node value, vmm_result *result);
struct graph_exec *graph_need_exec(const struct sim_process *process, vmm_graph_exec value, vmm_result *result);

/* ---- work: checks parameters, and makes of them what a node holds. Pointers in the work stay the caller's ---- */

/* A fill in the context that the program gives, which may be NULL or have ended, and in that of a node. */
vmm_result graph_fill_in_context(struct sim_process *process, const vmm_memset_node_params *params, vmm_context context,
                                 struct graph_work *work);
vmm_result graph_fill_work(struct sim_process *process, const vmm_memset_node_params *params, vmm_context context,
                           struct graph_work *work);
vmm_result graph_host_work(const vmm_host_node_params *params, struct graph_work *work);
vmm_result graph_kernel_work(const vmm_kernel_node_params *params, struct graph_work *work);
vmm_result graph_event_work(const struct sim_process *process, vmm_graph_node_type type, vmm_event event, struct graph_work *work);

/* A fill is checked again when its graph is instantiated, as measured. */
vmm_result graph_fill_check(const struct sim_process *process, const vmm_memset_node_params *fill, vmm_context context);
/* Is the event alive? */
vmm_result graph_event_check(const struct sim_process *process, vmm_event event);

/* Issues the work of the graph's nodes to the stream, in order; their work counts as issued by the call. */
vmm_result graph_issue(struct sim_process *process, const struct vmm_call *call, const struct graph *graph, vmm_stream stream);

/* ---- captures ---- */

/* Refuses a call that no graph can hold while a capture forbids it, and invalidates such captures; always: all of them. */
vmm_result capture_forbids(struct sim_process *process, bool always);

/* While streams are captured, or events stand for what they had reached: is the call a capture's concern, or refused because of
 * one? False: it is made as usual. */
bool capture_takes(struct sim_process *process, const struct vmm_call *call, vmm_result *result);
/* What the success of the call means for captures. */
void capture_done(struct sim_process *process, const struct vmm_call *call);

#endif
