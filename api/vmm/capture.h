/* SPDX-License-Identifier: Apache-2.0 */
/* capture.h - captured streams. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_CAPTURE_H
#define CUVMM_VMM_CAPTURE_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int vmm_stream_capture_mode;         /* which other calls a capture forbids while it is active */
#define VMM_STREAM_CAPTURE_MODE_GLOBAL 0       /* unsafe calls by all threads */
#define VMM_STREAM_CAPTURE_MODE_THREAD_LOCAL 1 /* unsafe calls by the thread that began it */
#define VMM_STREAM_CAPTURE_MODE_RELAXED 2      /* no calls; any thread may end the capture */

typedef int vmm_stream_capture_status;
#define VMM_STREAM_CAPTURE_STATUS_NONE 0
#define VMM_STREAM_CAPTURE_STATUS_ACTIVE 1
#define VMM_STREAM_CAPTURE_STATUS_INVALIDATED 2 /* a refused call has invalidated it: it can only be ended */

#define VMM_STREAM_ADD_CAPTURE_DEPENDENCIES 0
#define VMM_STREAM_SET_CAPTURE_DEPENDENCIES 1

/* --------------------------------------------------------------------------------------------------- captured streams
 * Between its begin and its end, a captured stream does no work: each asynchronous call becomes a node of a graph.
 *
 *   stream A   begin   fill F    record E    kernel K            wait G   end -> graph   F > K     F > H    K > end
 *   stream B                     wait E      host function H     record G
 *
 * A stream that waits for an event of a captured one joins the capture. The capture ends with the stream that began it,
 * which must by then have waited for the work of all other streams. A call that is refused because of a capture invalidates it:
 * the calls that follow are refused [VMM-CAPTURE-INVALIDATED], and ending it yields no graph.
 *
 * Refused with STREAM_CAPTURE_UNSUPPORTED [VMM-CAPTURE-FORBIDS]: waiting for or querying a captured stream, waiting for the
 * context, and, except in mode RELAXED, calls that might wait: vmm_mem_alloc, vmm_mem_free, queries, instantiations. With
 * STREAM_CAPTURE_IMPLICIT [VMM-CAPTURE-IMPLICIT]: the default stream, while a stream that is ordered with it is being captured.
 * Virtual memory management calls work as usual (580). Stream-ordered allocations and frees become nodes as
 * well: the graph keeps their addresses, and a launch allocates and frees [VMM-GRAPH-MEMORY-FREE, VMM-GRAPH-MEMORY-LIVE,
 * VMM-GRAPH-MEMORY-FULL, VMM-GRAPH-MEMORY-KIND]; what may be done with such a graph is limited [VMM-GRAPH-MEMORY-FIXED]. Copies
 * of boxes become nodes. Batches and copies between contexts do not: they are refused, like a query of the stream. */

/* Begins to capture the stream. mode is VMM_STREAM_CAPTURE_MODE_. STREAM_CAPTURE_UNSUPPORTED for the default stream
 * [VMM-CAPTURE-DEFAULT], INVALID_HANDLE [VMM-STREAM-UNKNOWN], INVALID_VALUE [VMM-CAPTURE-MODE], ILLEGAL_STATE
 * [VMM-CAPTURE-STATE], the fault of the device. cuStreamBeginCapture. */
VMM_API vmm_result vmm_stream_begin_capture(vmm_system *sys, vmm_stream stream, vmm_stream_capture_mode mode);

/* The same, into an existing graph, after the given nodes of it. If the capture fails, the graph is destroyed with it (580).
 * INVALID_VALUE also for a value that is not a graph [VMM-GRAPH-UNKNOWN], or no node of it [VMM-GRAPH-NODE], [VMM-GRAPH-NULL],
 * ILLEGAL_STATE for a graph that another stream is captured into [VMM-CAPTURE-STATE]. dependency_data must be such as an edge may
 * have [VMM-GRAPH-EDGE]; the nodes' edges have none. cuStreamBeginCaptureToGraph. */
VMM_API vmm_result vmm_stream_begin_capture_to_graph(vmm_system *sys, vmm_stream stream, vmm_graph graph,
                                                     const vmm_graph_node *dependencies,
                                                     const vmm_graph_edge_data *dependency_data, uint64_t num_dependencies,
                                                     vmm_stream_capture_mode mode);

/* Ends the capture, whatever it returns except [VMM-CAPTURE-UNMATCHED], and stores its graph, which the program must destroy;
 * NULL if the call is refused. If graph is NULL, the captured graph is discarded. INVALID_HANDLE [VMM-STREAM-UNKNOWN],
 * ILLEGAL_STATE [VMM-CAPTURE-STATE], STREAM_CAPTURE_WRONG_THREAD [VMM-CAPTURE-THREAD], STREAM_CAPTURE_UNMATCHED
 * [VMM-CAPTURE-UNMATCHED], STREAM_CAPTURE_INVALIDATED [VMM-CAPTURE-INVALIDATED], STREAM_CAPTURE_UNJOINED if another stream of
 * the capture has work that this one does not wait for [VMM-CAPTURE-UNJOINED]. cuStreamEndCapture. */
VMM_API vmm_result vmm_stream_end_capture(vmm_system *sys, vmm_stream stream, vmm_graph *graph);

/* Stores VMM_STREAM_CAPTURE_STATUS_. INVALID_VALUE [VMM-GRAPH-NULL], INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE
 * [VMM-STREAM-UNKNOWN]. cuStreamIsCapturing. */
VMM_API vmm_result vmm_stream_is_capturing(vmm_system *sys, vmm_stream stream, vmm_stream_capture_status *capture_status);

/* Information about a capture; all outputs except the status may be NULL. *id is the same for the streams of a capture and for no
 * other capture. *graph is captured into, and ends with the capture where that is refused. *dependencies are the nodes that the
 * stream's next work comes after, *edge_data as many zeros; the lists are valid until the next call on the stream. For a
 * stream that is not being captured, or whose capture is invalid, only the status is written (580). INVALID_VALUE
 * [VMM-GRAPH-NULL] if status is NULL, and, after status, id and graph were written (580), for edge_data without dependencies;
 * INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN], STREAM_CAPTURE_IMPLICIT [VMM-CAPTURE-IMPLICIT].
 * cuStreamGetCaptureInfo. */
VMM_API vmm_result vmm_stream_get_capture_info(vmm_system *sys, vmm_stream stream, vmm_stream_capture_status *capture_status_out,
                                               uint64_t *id_out, vmm_graph *graph_out, const vmm_graph_node **dependencies_out,
                                               const vmm_graph_edge_data **edge_data_out, uint64_t *num_dependencies_out);

/* Sets the calling thread's mode and stores the previous one in *mode; a thread starts with VMM_STREAM_CAPTURE_MODE_GLOBAL.
 * The mode decides which captures forbid the thread to make calls that might wait. Any value is accepted (580). INVALID_VALUE
 * [VMM-GRAPH-NULL].
 *
 *   mode of the thread   forbidden by
 *   GLOBAL               its own captures but those of mode RELAXED, and other threads' captures of mode GLOBAL
 *   THREAD_LOCAL         its own captures but those of mode RELAXED
 *   RELAXED              none
 *
 * cuThreadExchangeStreamCaptureMode. */
VMM_API vmm_result vmm_thread_exchange_stream_capture_mode(vmm_system *sys, vmm_stream_capture_mode *mode);

/* Sets the dependencies of a captured stream's next work: these nodes of its graph in addition to its current ones (flags 0), or
 * instead of them (VMM_STREAM_SET_CAPTURE_DEPENDENCIES). INVALID_VALUE [VMM-GRAPH-FLAGS, VMM-GRAPH-NULL, VMM-GRAPH-EDGE,
 * VMM-GRAPH-NODE], INVALID_HANDLE [VMM-STREAM-UNKNOWN], ILLEGAL_STATE [VMM-CAPTURE-STATE], [VMM-CAPTURE-INVALIDATED].
 * dependency_data as above. cuStreamUpdateCaptureDependencies. */
VMM_API vmm_result vmm_stream_update_capture_dependencies(vmm_system *sys, vmm_stream stream, const vmm_graph_node *dependencies,
                                                          const vmm_graph_edge_data *dependency_data, uint64_t num_dependencies,
                                                          unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif
