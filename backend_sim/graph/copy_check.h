/* SPDX-License-Identifier: Apache-2.0 */
/* copy_check.h - an asynchronous copy as it is checked at the call, for a graph that will hold it. In calls/call_copy.c. */
#ifndef SIM_COPY_CHECK_H
#define SIM_COPY_CHECK_H

#include "call.h"
#include "process.h"

/* Checks the copy for work of the device. *made: the same copy, between device addresses where both sides are; *size: its bytes. */
vmm_result copy_check(const struct sim_process *process, int device, const union vmm_any_call *call, union vmm_any_call *made,
                      uint64_t *size);

#endif
