/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.h - refusals and warnings that calls and queued work have in common.
 *
 * Each sets the thread's detail and returns the result that goes with it. Called with the machine's lock held.
 */
#ifndef SIM_REFUSAL_H
#define SIM_REFUSAL_H

#include "process.h"

/* A documented rule is broken that the recorded driver lets pass: true (and a warning) in observed mode, false (and
 * the detail of a refusal) in strict mode. */
bool sim_lets_pass(const struct sim_process *process, enum vmm_rule_id rule, uint64_t value, uint64_t expected,
                   const vmm_object *nearest);

/* No context is current, or the one that is has been destroyed. */
vmm_result sim_no_context(const struct sim_process *process);

/* The host's memory is exhausted. */
vmm_result sim_out_of_host_memory(void);

/* The system cannot change what the host sees: sim_host_show or sim_host_hide (host.h) returned false. */
vmm_result sim_host_refuse(void);

/* What the machine shares with other processes cannot be used: why. */
vmm_result sim_machine_unreachable(const char *why);

/* Is value a stream that work may be issued on; NULL is the default stream of the current context (*stream NULL). */
vmm_result sim_stream_check(const struct sim_process *process, vmm_stream value, struct sim_stream **stream);

/* The context that work on a stream runs in. */
vmm_result sim_stream_context(const struct sim_process *process, vmm_stream value, struct sim_context **context);

#endif
