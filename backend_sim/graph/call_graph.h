/* SPDX-License-Identifier: Apache-2.0 */
/* call_graph.h - the common part of graph and capture calls. */
#ifndef SIM_CALL_GRAPH_H
#define SIM_CALL_GRAPH_H

#include "graphs.h"
#include "launch.h"
#include "mem_op.h"
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
/* A value that the program passed, for a message: "0x4701000001000000" or "NULL", which %p spells as the C library likes. */
enum { GRAPH_SHOWN = 24 };
const char *graph_shown(uint64_t value, char text[GRAPH_SHOWN]);

/* The object; NULL after a refusal. */
struct graph *graph_need(const struct sim_graphs *all, vmm_graph value, vmm_result *result);
struct graph_node *graph_need_node(const struct sim_graphs *all, vmm_graph_node value, vmm_result *result);
struct graph_exec *graph_need_exec(const struct sim_graphs *all, vmm_graph_exec value, vmm_result *result);
/* An upload to a default stream needs a current context before it needs an instance, as measured. */
vmm_result graph_check_upload(const struct sim_process *process, vmm_stream stream);

/* Also of that type. */
struct graph_node *graph_need_type(const struct sim_graphs *all, vmm_graph_node value, vmm_graph_node_type type, vmm_result *result);
struct graph_node *graph_of_type(struct graph_node *node, vmm_graph_node_type type, vmm_result *result);
/* The node of the instance that was made from that one. */
struct graph_node *graph_need_node_in(const struct sim_graphs *all, vmm_graph_exec exec, vmm_graph_node value, vmm_result *result);

/* Refuses an operation that a graph which allocates or frees memory does not allow; `what` describes it. SUCCESS for other
 * graphs. */
vmm_result graph_fixed(const struct graph *graph, const char *what);

/* ---- nodes and edges ---- */

/* The common part of the calls that add a node. data may be NULL, for zeros. */
struct graph_add {
    vmm_graph_node *out;
    vmm_graph graph;
    const vmm_graph_node *on;
    const vmm_graph_edge_data *data;
    uint64_t count;
    bool kernel; /* is it a kernel node? graph_add_node sets this itself */
};
/* Adds a node with a copy of the work. */
vmm_result graph_add_node(const struct sim_graphs *all, const struct graph_add *add, const struct graph_work *work);

/* Adds a child graph node: with a copy of the graph, or the graph itself. */
vmm_result graph_add_child(const struct sim_graphs *all, const struct graph_add *add, vmm_graph child, bool move);

/* The dependencies of a new node, looked up. */
struct graph_ends {
    struct graph_node **node;
    uint64_t *data; /* NULL: zeros */
    size_t count;
};
/* graph_ends_drop frees them, also after a refusal. */
vmm_result graph_find_ends(const struct sim_graphs *all, const struct graph *graph, const struct graph_add *add,
                           struct graph_ends *ends);
void graph_ends_drop(struct graph_ends *ends);

/* Is each one valid data for an edge between some nodes? NULL: zeros. */
vmm_result graph_check_edge_data(const vmm_graph_edge_data *data, uint64_t count);

/* Lists of nodes and edges. A list has room for *count entries: the entries that fit are written, the rest becomes NULL, and
 * *count the number of entries written. Without a list, *count becomes the total number. */
vmm_result graph_list_nodes(const struct sim_graphs *all, vmm_graph value, vmm_graph_node *nodes, uint64_t *count, bool roots);
vmm_result graph_list_edges(const struct sim_graphs *all, vmm_graph value, vmm_graph_node *from, vmm_graph_node *to,
                            vmm_graph_edge_data *data, uint64_t *count);
/* Lists the nodes that the node depends on, or those that depend on it. */
vmm_result graph_list_ends(const struct sim_graphs *all, vmm_graph_node value, bool in, vmm_graph_node *nodes,
                           vmm_graph_edge_data *data, uint64_t *count);

/* ---- instances ---- */

/* Does the call accept these flags? Flags that no call accepts are checked before a capture that forbids the call. */
bool graph_known_flags(uint64_t flags, bool uploads);
vmm_result graph_check_flags(uint64_t flags, bool uploads);
/* Creates an instance; if there is a cycle, *cycle becomes a node of it. */
vmm_result graph_instantiate(struct sim_process *process, vmm_graph_exec *out, vmm_graph value, uint64_t flags,
                             struct graph_node **cycle);
/* Replaces the work of a node of the graph, or of the instance, by other work of its type; it stays enabled or disabled. */
vmm_result graph_set_work(const struct sim_process *process, vmm_graph_node value, const struct graph_work *work);
vmm_result graph_set_work_in(const struct sim_process *process, vmm_graph_exec exec, vmm_graph_node value, const struct graph_work *work);
/* The same for a node that was already looked up. */
vmm_result graph_replace_work(struct graph_node *node, const struct graph_work *work);
/* Why an instance's node cannot have this work of its type instead of its own; NULL if it can. */
const char *graph_update_forbids(const struct graph_work *now, const struct graph_work *next);

/* How an update ended, and at which node of the graph: CUgraphExecUpdateResult. */
enum graph_update_how {
    GRAPH_UPDATE_DONE,
    GRAPH_UPDATE_ERROR,
    GRAPH_UPDATE_TOPOLOGY,
    GRAPH_UPDATE_NODE_TYPE,
    GRAPH_UPDATE_PARAMETERS = 5,
    GRAPH_UPDATE_NOT_SUPPORTED
};
struct graph_update_answer {
    enum graph_update_how how;
    const struct graph_node *node;
};
/* Gives the nodes of the instance's graph the work of the other graph's, all of them or none. */
vmm_result graph_update(const struct sim_process *process, struct graph *instance, const struct graph *graph,
                        struct graph_update_answer *answer);
/* Checks that the nodes were added alike, in the same order: the first version of the call. */
vmm_result graph_update_as_added(const struct graph *instance, const struct graph *graph, struct graph_update_answer *answer);
/* cuGraphExecUpdate; old: its first version. */
vmm_result graph_update_exec(const struct sim_process *process, vmm_graph_exec value, vmm_graph of, bool old,
                             struct graph_update_answer *answer);

/* ---- work: checks parameters, and makes a node's work from them. Pointers in the work still belong to the caller ---- */

/* Has the context that the program gives a fill or copy ended? */
vmm_result graph_context_check(const struct sim_process *process, vmm_context context);
/* A fill in the context that the program gives, which is checked, and in that of a node; NULL: the current one. */
vmm_result graph_fill_in_context(struct sim_process *process, const vmm_memset_node_params *params, vmm_context context,
                                 struct graph_work *work);
vmm_result graph_fill_work(struct sim_process *process, const vmm_memset_node_params *params, vmm_context context,
                           struct graph_work *work);
vmm_result graph_host_work(const vmm_host_node_params *params, struct graph_work *work);
vmm_result graph_kernel_work(const struct sim_process *process, const vmm_kernel_node_params *params, struct graph_work *work);
vmm_result graph_event_work(const struct sim_process *process, vmm_graph_node_type type, vmm_event event, struct graph_work *work);

/* open: a driver does not check rights to contiguous memory, for a new node without a named context while none is current
 * (rows_check_copy). */
vmm_result graph_copy_work(struct sim_process *process, const vmm_memcpy3d *params, vmm_context context, bool open,
                           struct graph_work *work);
/* The operations of one of the five calls; the work points into ops. Their context is not the current one by default, as
 * measured. */
vmm_result graph_mem_op_work(const struct sim_process *process, vmm_context context, const struct vmm_call *call,
                             struct mem_ops *ops, struct graph_work *work);

/* A fill is checked again when its graph is instantiated, as measured, unless a graph will allocate its memory. */
vmm_result graph_fill_check_again(const struct sim_process *process, const struct graph_work *fill);
/* The device of a node's context; 0 for one that has ended. */
int graph_device(const struct sim_process *process, vmm_context value);
/* A record of an event, or a wait for one, as a node that is not the stream's own: memory pools see no order in it (calls/call_event.c). */
vmm_result event_record_beside(struct sim_process *process, const struct vmm_call_event_record *call);
vmm_result event_wait_beside(struct sim_process *process, const struct vmm_call_stream_wait_event *call);
/* Is the event alive? */
vmm_result graph_event_check(const struct sim_process *process, vmm_event event);

/* Issues the work of the graph's nodes to the stream, in order; their work counts as issued by the call. */
vmm_result graph_issue(struct sim_process *process, const struct vmm_call *call, const struct graph *graph, vmm_stream stream);

/* ---- captures ---- */

/* Refuses a call that no graph can hold while a capture forbids it, and invalidates such captures; always: a wait for all work
 * of the current context, which each capture of a stream of that context forbids, whatever its mode. */
vmm_result capture_forbids(struct sim_process *process, bool always);

/* Refuses a call whose work a graph cannot hold on a captured stream; the capture stays valid. */
vmm_result capture_holds_no(const struct sim_process *process, vmm_stream stream, const char *work);

/* Is a stream being captured into the graph, or into the graph of a node in it? */
bool capture_within(const struct sim_process *process, const struct graph *graph);

/* While streams are being captured, or events refer to captured work: does the call concern a capture, or is it refused
 * because of one? Returns false if the call is made as usual. */
bool capture_takes(struct sim_process *process, const struct vmm_call *call, vmm_result *result);
/* The effect of a successful call on captures. */
void capture_done(struct sim_process *process, const struct vmm_call *call);

#endif
