/* SPDX-License-Identifier: Apache-2.0 */
/* capture_parts.h - what the files of call_capture.h share:
 *
 *     call_capture.c        how a call is handled: whether a capture takes it, forbids it or is invalidated by it
 *     capture_lifetime.c    begin, update and end
 *     capture_work.c        work as nodes
 *     capture_events.c      records of events, and waits for them
 *
 * Only for those files, and under the machine's lock.
 */
#ifndef SIM_CAPTURE_PARTS_H
#define SIM_CAPTURE_PARTS_H

#include "call_capture.h"

/* A number that no other thread of the process has. */
uint64_t capture_thread(void);
/* The key of a stream in captures; the default stream of a thread has one for each thread. */
uint64_t capture_key(vmm_stream stream);

static inline bool capture_is_legacy(vmm_stream stream)
{
    return !stream || stream == VMM_STREAM_LEGACY;
}

/* Call after a capture has begun or ended, or a stream or event has joined or left one. */
void capture_watch(const struct sim_process *process);

/* Refuses by a rule about the stream, whose value is shown unless it is the default one. */
vmm_result capture_refuse(enum vmm_rule_id rule, vmm_stream stream, const char *note);
vmm_result capture_invalidated(vmm_stream stream);
/* The legacy default stream is that of the current context: without one, the call is refused before all else, as measured. */
vmm_result capture_check_context(const struct sim_process *process, vmm_stream stream);
/* Only a stream that a call created, or the thread's own default stream, can be captured. *blocking: does it wait for the legacy
 * default stream? */
vmm_result capture_check_stream(const struct sim_process *process, vmm_stream stream, bool *blocking);

/* Adds the work of the call as a node. The stream is captured, and its capture valid. */
vmm_result capture_add_work(struct sim_process *process, vmm_stream stream, const union vmm_any_call *call);

#endif
