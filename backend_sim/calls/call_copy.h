/* SPDX-License-Identifier: Apache-2.0 */
/* call_copy.h - copies as parts of other calls. */
#ifndef SIM_CALL_COPY_H
#define SIM_CALL_COPY_H

#include "sim.h"

/* Makes an asynchronous copy or fill as the call that is a part of issued_by. */
vmm_result copy_on_stream(struct sim_process *process, const struct vmm_call *call, vmm_stream stream, enum vmm_call_id issued_by);

#endif
