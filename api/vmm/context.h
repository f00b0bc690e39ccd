/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - contexts and streams. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_CONTEXT_H
#define CUVMM_VMM_CONTEXT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VMM_STREAM_DEFAULT 0
#define VMM_STREAM_NON_BLOCKING 1

/* ---------------------------------------------------------------------------------------------- contexts and streams
 * Only copies, fills, streams, vmm_mem_get_info, vmm_mem_alloc and some queries need a current context. The calls
 * that manage physical memory, addresses, mappings and rights need none, and their objects outlive every context.
 *
 * In-flight work: launches, and copies and fills with _async, are issued on a stream and run at some point before
 * a call that waits for them returns. Work on one stream runs in order. The default stream of a context is ordered with the
 * context's other streams except those that are VMM_STREAM_NON_BLOCKING: its work waits for what was issued on
 * them before, and their work waits for its work. VMM_STREAM_PER_THREAD is a non-blocking stream for each thread and context.
 *
 *   default stream   ......... C .........        A and B may run together, C after both, D and E after C
 *   blocking         A .............. D ..
 *   blocking         ..... B ........... E        F at any time
 *   non-blocking     ...... F ............
 *
 *   call                                            waits for
 *   vmm_ctx_synchronize                             all work of the current context
 *   vmm_stream_synchronize                          that stream's; for the default stream all that it is ordered with
 *   copies and fills without _async                 as the default stream, and they are done when they return
 *   vmm_memcpy_dtoh_async                           what is ordered before it, and it is done when it returns
 *   vmm_mem_free                                    all work on the device of the memory
 *   vmm_ctx_destroy, the last                       all work of that context (580; of the others: ours)
 *   vmm_device_primary_ctx_release, ..._reset
 *   everything else                                 nothing; vmm_stream_query lets work proceed
 *
 * On the simulator the spec's schedule decides when work runs. By default that is as late as possible, so a missing
 * wait shows every time (docs/in-flight.md). Observed (580): fills without _async return before they are done, so
 * unmapping after one without synchronising is a mistake there that the simulator does not show. */

/* The device's primary context, made on first use and counted. INVALID_VALUE [VMM-CTX-NULL], INVALID_DEVICE
 * [VMM-DEVICE-ID]. cuDevicePrimaryCtxRetain. */
VMM_API vmm_result vmm_device_primary_ctx_retain(vmm_system *sys, vmm_context *pctx, vmm_device dev);

/* Undoes one retain; the last one ends the primary context (retaining again revives it). INVALID_DEVICE
 * [VMM-DEVICE-ID], INVALID_CONTEXT [VMM-CTX-PRIMARY-UNUSED]. cuDevicePrimaryCtxRelease. */
VMM_API vmm_result vmm_device_primary_ctx_release(vmm_system *sys, vmm_device dev);

/* Waits for the primary context's work, then destroys what it holds (streams, events, vmm_mem_alloc memory) and ends it
 * until the next retain, which returns the same value; earlier retains still count. Mappings, rights and data of
 * virtual memory management stay. INVALID_DEVICE [VMM-DEVICE-ID]. cuDevicePrimaryCtxReset. */
VMM_API vmm_result vmm_device_primary_ctx_reset(vmm_system *sys, vmm_device dev);

/* A new context on dev, current on the calling thread. flags: scheduling bits, 0 .. 0x1ff as in cuda.h, no effect on
 * the simulator. INVALID_VALUE [VMM-CTX-NULL, VMM-CTX-FLAGS], INVALID_DEVICE [VMM-DEVICE-ID]. cuCtxCreate. */
VMM_API vmm_result vmm_ctx_create(vmm_system *sys, vmm_context *pctx, unsigned int flags, vmm_device dev);

/* Waits for a context's work, then destroys it with its streams, events and vmm_mem_alloc memory; virtual memory management
 * objects stay. If it is the calling thread's current context, the one before its creation becomes current again.
 * INVALID_VALUE [VMM-CTX-NULL], INVALID_CONTEXT [VMM-CTX-FORGED, VMM-CTX-UNKNOWN]. cuCtxDestroy. */
VMM_API vmm_result vmm_ctx_destroy(vmm_system *sys, vmm_context ctx);

/* Replaces the calling thread's current context by ctx. NULL removes the current context and makes the one
 * below it (of nested vmm_ctx_create calls) current again. A destroyed context is accepted (580); calls that need
 * it return CONTEXT_IS_DESTROYED [VMM-CTX-DESTROYED], whereas without a context they return INVALID_CONTEXT
 * [VMM-CTX-CURRENT]. INVALID_CONTEXT [VMM-CTX-FORGED]. cuCtxSetCurrent. */
VMM_API vmm_result vmm_ctx_set_current(vmm_system *sys, vmm_context ctx);

/* The calling thread's current context, NULL when it has none. INVALID_VALUE [VMM-CTX-NULL]. cuCtxGetCurrent. */
VMM_API vmm_result vmm_ctx_get_current(vmm_system *sys, vmm_context *pctx);

/* The device of the current context. INVALID_VALUE [VMM-CTX-NULL], INVALID_CONTEXT [VMM-CTX-CURRENT].
 * cuCtxGetDevice. */
VMM_API vmm_result vmm_ctx_get_device(vmm_system *sys, vmm_device *device);

/* Waits for all work of the current context. INVALID_CONTEXT [VMM-CTX-CURRENT]; ILLEGAL_ADDRESS, LAUNCH_FAILED for
 * work that faulted, see "kernels". cuCtxSynchronize. */
VMM_API vmm_result vmm_ctx_synchronize(vmm_system *sys);

/* A new stream of the current context. flags: VMM_STREAM_DEFAULT or VMM_STREAM_NON_BLOCKING. INVALID_VALUE
 * [VMM-STREAM-NULL, VMM-STREAM-FLAGS], INVALID_CONTEXT [VMM-CTX-CURRENT] (all bits 1 written). cuStreamCreate. */
VMM_API vmm_result vmm_stream_create(vmm_system *sys, vmm_stream *stream, unsigned int flags);

/* Destroys a stream at once; work already issued still runs. INVALID_HANDLE [VMM-STREAM-DEFAULT, VMM-STREAM-UNKNOWN].
 * cuStreamDestroy. */
VMM_API vmm_result vmm_stream_destroy(vmm_system *sys, vmm_stream stream);

/* Waits for the stream's work. NULL and VMM_STREAM_LEGACY are the current context's default stream,
 * VMM_STREAM_PER_THREAD the thread's own. INVALID_HANDLE [VMM-STREAM-UNKNOWN], INVALID_CONTEXT [VMM-CTX-CURRENT].
 * cuStreamSynchronize. */
VMM_API vmm_result vmm_stream_synchronize(vmm_system *sys, vmm_stream stream);

/* SUCCESS when the work that vmm_stream_synchronize would wait for is done, else NOT_READY. In that case the
 * simulator does some of the work, so that polling ends. Errors as for vmm_stream_synchronize. cuStreamQuery. */
VMM_API vmm_result vmm_stream_query(vmm_system *sys, vmm_stream stream);

#ifdef __cplusplus
}
#endif

#endif
