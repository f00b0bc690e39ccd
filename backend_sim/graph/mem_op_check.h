/* SPDX-License-Identifier: Apache-2.0 */
/* mem_op_check.h - the checks of stream memory operations, also used for graph nodes. In calls/call_mem_op.c. */
#ifndef SIM_MEM_OP_CHECK_H
#define SIM_MEM_OP_CHECK_H

#include "call.h"
#include "profile.h"

/* Count, flags, operations, support and alignment: SUCCESS, or a refusal. call is one of the five. */
vmm_result sim_mem_op_check_form(const struct sim_profile *profile, const struct vmm_call *call);

struct sim_process;

/* The same, and whether work of that device has access to the memory. Under the machine's lock. */
vmm_result sim_mem_op_check(const struct sim_process *process, int device, const struct vmm_call *call);

#endif
