/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.h - refusals and warnings shared by calls and queued work.
 *
 * Each function sets the thread's detail and returns the matching result. Under the machine's lock.
 */
#ifndef SIM_REFUSAL_H
#define SIM_REFUSAL_H

#include "process.h"

/* The call breaks a documented rule that the recorded driver does not enforce: true (and a warning) in observed mode, false
 * (and the detail of a refusal) in strict mode. */
bool sim_warn_or_refuse(const struct sim_process *process, enum vmm_rule_id rule, uint64_t value, uint64_t expected,
                        const vmm_object *nearest);

/* No context is current, or the current context has been destroyed. */
vmm_result sim_no_context(const struct sim_process *process);

/* Host memory is exhausted. */
vmm_result sim_out_of_host_memory(void);

/* The system cannot change what the host sees: sim_host_show or sim_host_hide (host.h) returned false. */
vmm_result sim_host_refuse(void);

/* The machine's shared state is unusable, for the reason why. */
vmm_result sim_machine_unreachable(const char *why);

/* Checks that value is a stream that accepts work; NULL is the default stream of the current context (*stream NULL). */
vmm_result sim_stream_check(const struct sim_process *process, vmm_stream value, struct sim_stream **stream);

/* The context in which work on a stream runs. */
vmm_result sim_stream_context(const struct sim_process *process, vmm_stream value, struct sim_context **context);

#endif
