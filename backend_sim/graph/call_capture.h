/* SPDX-License-Identifier: Apache-2.0 */
/* call_capture.h - how calls on captured streams are handled. vmm.h's calls get here automatically (call_graph.h,
 * capture_takes); libcuda.so.1, whose entry points make further calls, checks here whether an entry point concerns a
 * capture.
 *
 * Under the machine's lock. A refusal is in the thread's detail, and has invalidated the captures concerned.
 */
#ifndef SIM_CALL_CAPTURE_H
#define SIM_CALL_CAPTURE_H

#include "call_graph.h"

/* The stream, if it is being captured; NULL otherwise. */
struct capture_stream *capture_of(const struct sim_process *process, vmm_stream stream);
vmm_stream_capture_status capture_status(const struct sim_process *process, vmm_stream stream);
/* Information about a capture; zeros if there is none, and only the status if it is invalidated. The lists are valid until
 * the next call on the stream. */
struct capture_info {
    vmm_stream_capture_status status;
    uint64_t id;
    vmm_graph graph;
    const vmm_graph_node *nodes;
    const vmm_graph_edge_data *edges;
    uint64_t count;
};
struct capture_info capture_info(const struct sim_process *process, vmm_stream stream);
/* Writes it to the call's outputs. */
vmm_result capture_info_tell(const struct capture_info *info, const struct vmm_call_stream_get_capture_info *to);
/* SUCCESS if the stream is captured and the capture is valid. */
vmm_result capture_goes_on(const struct sim_process *process, vmm_stream stream);
/* A refused call has invalidated the stream's capture, if there is one. */
void capture_spoil(const struct sim_process *process, vmm_stream stream);

/* Exchanges the mode of the thread, at first GLOBAL: which captures forbid it calls that a graph cannot hold.
 *
 *     mode of the thread    captures that forbid the call
 *     GLOBAL                the thread's own in modes GLOBAL and THREAD_LOCAL, others' in mode GLOBAL
 *     THREAD_LOCAL          the thread's own in modes GLOBAL and THREAD_LOCAL
 *     RELAXED               none
 */
vmm_stream_capture_mode capture_exchange_mode(vmm_stream_capture_mode mode);

/* The legacy default stream waits for blocking streams, so a call on it is refused while one of them is captured; asks: the call
 * only queries, and captures stay as they are. */
vmm_result capture_implicit(const struct sim_process *process, vmm_stream stream, bool asks);
/* Refuses a wait for the stream, or a query of it, if it is captured. */
vmm_result capture_asks_stream(struct sim_process *process, vmm_stream stream);
/* The same for an event that was recorded in a captured stream. */
vmm_result capture_asks_event(const struct sim_process *process, vmm_event event);

/* Sets, or adds to, the nodes that the stream continues from: cuStreamUpdateCaptureDependencies. */
vmm_result capture_update(const struct sim_process *process, vmm_stream stream, const vmm_graph_node *nodes,
                          const vmm_graph_edge_data *data, uint64_t count, unsigned flags);

/* ---- work as nodes; the stream is captured ---- */

vmm_result capture_add(const struct sim_process *process, vmm_stream stream, const struct graph_work *work);
/* The same for a fill, a copy, and one of the calls of memory operations, in the current context; an empty one adds nothing. */
vmm_result capture_add_fill(const struct sim_process *process, vmm_stream stream, const vmm_memset_node_params *fill);
vmm_result capture_add_copy(const struct sim_process *process, vmm_stream stream, const vmm_memcpy3d *copy);
vmm_result capture_add_mem_op(const struct sim_process *process, vmm_stream stream, const struct vmm_call *call);
/* As recorded, a NULL function is refused before the capture's validity is checked. */
vmm_result capture_add_host(const struct sim_process *process, vmm_stream stream, vmm_host_fn fn, void *data);
/* Memory from the pool, or from the current device without one. As measured, the address is 0 if the call is refused. */
vmm_result capture_add_alloc(struct sim_process *process, vmm_stream stream, vmm_deviceptr *dptr, uint64_t size,
                             const vmm_memory_pool *pool);
vmm_result capture_add_free(const struct sim_process *process, vmm_stream stream, vmm_deviceptr at);

/* ---- events ---- */

/* outside: the record itself becomes a node. */
vmm_result capture_records(const struct sim_process *process, vmm_stream stream, vmm_event event, bool outside);
/* Returns false if neither the stream nor the event belongs to a capture. */
bool capture_waits(struct sim_process *process, const struct vmm_call_stream_wait_event *call, vmm_result *result);

/* The stream ends, or the event is recorded elsewhere or ends. */
void capture_stream_ends(struct sim_process *process, vmm_stream stream);
void capture_event_ends(const struct sim_process *process, vmm_event event);

#endif
