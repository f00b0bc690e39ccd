/* SPDX-License-Identifier: Apache-2.0 */
/* call_mem_op.h - the checks of stream memory operations that need no machine state: those that a captured call gets, too. */
#ifndef SIM_CALL_MEM_OP_H
#define SIM_CALL_MEM_OP_H

#include "call.h"
#include "profile.h"

/* Count, flags, operations, support and alignment: SUCCESS, or a refusal. call is one of the five. */
vmm_result sim_mem_op_check_form(const struct sim_profile *profile, const struct vmm_call *call);

#endif
