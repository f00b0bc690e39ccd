/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - events. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_EVENT_H
#define CUVMM_VMM_EVENT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VMM_EVENT_DEFAULT 0 /* a set: values may be combined with | */
#define VMM_EVENT_BLOCKING_SYNC 1
#define VMM_EVENT_DISABLE_TIMING 2
#define VMM_EVENT_INTERPROCESS 4 /* with DISABLE_TIMING only */

#define VMM_EVENT_WAIT_DEFAULT 0
#define VMM_EVENT_WAIT_EXTERNAL 1 /* in a captured stream the wait becomes a node */

/* ------------------------------------------------------------------------------------------------------------- events
 *
 * An event stands for the work of a stream at the moment when it was recorded there.
 *
 *   stream A   fill F   record E   launch K              E stands for F; waiting for E does not wait for K
 *   stream B            wait E     launch L              L runs after F, and at any time relative to K
 *   host                           event_synchronize E   F is done, and the host knows: it may unmap what F used
 *
 * Recording again moves the event; a wait issued before still waits for the earlier work. An event that was never
 * recorded stands for no work, so it is always complete. On the default stream a record stands for all that the
 * default stream waits for. Elapsed times (cuEventElapsedTime) are not available here: a replay of a trace could not reproduce
 * them.
 *
 * After a fault (see "kernels"), a wait for work that the fault stopped reports it. The other calls succeed until the fault
 * was reported (580), and then return its error. cuda.h 13.0, event management; docs/in-flight.md. */

/* A new event of the current context, without work. flags: any of VMM_EVENT_BLOCKING_SYNC, DISABLE_TIMING and, with
 * DISABLE_TIMING only, INTERPROCESS; on the simulator they change nothing. INVALID_CONTEXT [VMM-CTX-CURRENT], then
 * INVALID_VALUE [VMM-EVENT-NULL, VMM-EVENT-FLAGS, VMM-EVENT-INTERPROCESS]. cuEventCreate. */
VMM_API vmm_result vmm_event_create(vmm_system *sys, vmm_event *event, unsigned int flags);

/* Destroys an event at once, even if its work is not done: the work continues, and so do the streams that wait for
 * it. INVALID_HANDLE [VMM-EVENT-NONE, VMM-EVENT-UNKNOWN], CONTEXT_IS_DESTROYED [VMM-EVENT-ENDED]: events end with
 * their context. cuEventDestroy. */
VMM_API vmm_result vmm_event_destroy(vmm_system *sys, vmm_event event);

/* Makes the event stand for the stream's work up to this point, replacing whatever it stood for before. Event and stream
 * belong to the same context; NULL and VMM_STREAM_LEGACY are the current context's default stream. Checked in this
 * order: INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN, VMM-EVENT-NONE, VMM-EVENT-UNKNOWN] or
 * CONTEXT_IS_DESTROYED [VMM-EVENT-ENDED], INVALID_HANDLE [VMM-EVENT-CONTEXT]. cuEventRecord. */
VMM_API vmm_result vmm_event_record(vmm_system *sys, vmm_event event, vmm_stream stream);

/* SUCCESS when the event's work is done, and that work then counts as waited for, as after
 * vmm_event_synchronize; otherwise NOT_READY. The simulator then does some of it, so that polling ends. Errors as for
 * vmm_event_synchronize. cuEventQuery. */
VMM_API vmm_result vmm_event_query(vmm_system *sys, vmm_event event);

/* Waits for the event's work on any stream, context and device, but not for what came after the record. Needs no
 * current context. INVALID_HANDLE [VMM-EVENT-NONE, VMM-EVENT-UNKNOWN], CONTEXT_IS_DESTROYED [VMM-EVENT-ENDED].
 * cuEventSynchronize. */
VMM_API vmm_result vmm_event_synchronize(vmm_system *sys, vmm_event event);

/* Work issued on the stream from now on runs after the work that the event stands for now. The host does not wait,
 * and no work counts as waited for. The event may belong to another context or device, or to the same stream. flags 0
 * (VMM_EVENT_WAIT_DEFAULT). Checked in this order: INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE
 * [VMM-STREAM-UNKNOWN], ILLEGAL_STATE [VMM-EVENT-WAIT-EXTERNAL], INVALID_VALUE [VMM-EVENT-WAIT-FLAGS], INVALID_HANDLE
 * [VMM-EVENT-NONE, VMM-EVENT-UNKNOWN], CONTEXT_IS_DESTROYED [VMM-EVENT-ENDED]. cuStreamWaitEvent. */
VMM_API vmm_result vmm_stream_wait_event(vmm_system *sys, vmm_stream stream, vmm_event event, unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif
