/* SPDX-License-Identifier: Apache-2.0 */
/* abi_capture.h - stream capture, as far as possible without graphs.
 *
 *     begin capture on S        work, wait or query on S             end capture
 *     ACTIVE                                                         an empty graph, which can be destroyed
 *     ACTIVE                    work is refused: NOT_SUPPORTED,      CAPTURE_INVALIDATED, no graph
 *                               wait and query: CAPTURE_UNSUPPORTED
 *
 *     ACTIVE, not RELAXED       cuMemAlloc and other calls that no graph could hold:
 *                               CAPTURE_UNSUPPORTED                  CAPTURE_INVALIDATED, no graph
 *
 * Work issued to a stream during capture belongs in the graph and must not run. cuvmm has no graphs to hold the work, so it
 * refuses the call and invalidates the capture, instead of running the work at once or losing it. Other calls work as usual,
 * including those of virtual memory management, as measured.
 */
#ifndef SIM_ABI_CAPTURE_H
#define SIM_ABI_CAPTURE_H

#include "abi.h"

enum abi_capture_use { ABI_CAPTURE_WORK, ABI_CAPTURE_ASK };

/* SUCCESS if the stream is not being captured. function is the name of the calling entry point. */
CUresult abi_captured(vmm_stream stream, enum abi_capture_use use, const char *function);

/* The status that cuStreamIsCapturing returns. */
CUstreamCaptureStatus abi_capture_status(vmm_stream stream);

/* What a capture tells about itself; zeros without one, and of an invalidated one the status alone. */
struct abi_capture_info {
    CUstreamCaptureStatus status;
    uint64_t id;
    CUgraph graph;
};
struct abi_capture_info abi_capture_info(vmm_stream stream);

CUresult abi_capture_begin(const vmm_system *sys, vmm_stream stream, CUstreamCaptureMode mode);
CUresult abi_capture_end(const vmm_system *sys, vmm_stream stream, CUgraph *graph);

/* For calls that a graph cannot hold: refuses the call and invalidates captures that forbid it; always: all of them.
 *
 *     mode of the thread    captures that forbid the call
 *     GLOBAL                the thread's own in modes GLOBAL and THREAD_LOCAL, others' in mode GLOBAL
 *     THREAD_LOCAL          the thread's own in modes GLOBAL and THREAD_LOCAL
 *     RELAXED               none
 */
CUresult abi_capture_forbids(const char *function, bool always);

/* Put this first in the entry point of such a call. */
#define ABI_NO_CAPTURE()                                               \
    do {                                                               \
        CUresult captured_ = abi_capture_forbids(__func__, false);     \
        if (captured_ != CUDA_SUCCESS)                                 \
            return captured_;                                          \
    } while (0)

/* Put this first in an entry point that uses a stream. */
#define ABI_NOT_CAPTURED(stream, use)                                           \
    do {                                                                        \
        CUresult captured_ = abi_captured(abi_stream(stream), use, __func__);   \
        if (captured_ != CUDA_SUCCESS)                                          \
            return captured_;                                                   \
    } while (0)

#endif
