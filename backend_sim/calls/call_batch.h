/* SPDX-License-Identifier: Apache-2.0 */
/* call_batch.h - batches of copies and of boxes, in the forms of CUDA 12.8, which also say where they failed, and 13.0.
 *
 *     checked first    the arguments and attributes of the batch; of boxes also each operand, its extent and flags
 *     then, in order   each copy as if it were called alone: where one is refused, those before it are made, as recorded
 */
#ifndef SIM_CALL_BATCH_H
#define SIM_CALL_BATCH_H

#include "sim.h"

/* What is checked even before the process initialises: a batch has no default stream. */
vmm_result batch_check_there(vmm_stream stream);

/* The checks of a batch of ranges; of a batch of boxes, *failed is where one failed. */
vmm_result batch_check(const struct sim_process *process, const struct vmm_call_memcpy_batch_async *call);
vmm_result batch_check_boxes(const struct sim_process *process, const struct vmm_call_memcpy_3d_batch_async *call, uint64_t *failed);

#endif
