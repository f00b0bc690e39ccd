/* SPDX-License-Identifier: Apache-2.0 */
/* call_copy.h - copies that are parts of other calls. */
#ifndef SIM_CALL_COPY_H
#define SIM_CALL_COPY_H

#include "sim.h"
#include "transfer.h"

/* The rights that a copy on a stream of that context has: as measured on two H200 those of the current context's device;
 * without a current context those of the stream's. A fill always has the rights of the stream's device. */
struct transfer_rights copy_rights(const struct sim_process *process, const struct sim_context *context);

/* Makes an asynchronous copy or fill as a part of the call issued_by. rights: NULL for the usual rights of such a call. */
vmm_result copy_on_stream(struct sim_process *process, const struct vmm_call *call, vmm_stream stream,
                          const struct transfer_rights *rights, enum vmm_call_id issued_by);

/* Copies a box in stream order, as a part of that call. */
vmm_result copy_box_on_stream(struct sim_process *process, const struct vmm_call *call, const vmm_memcpy3d *asked, vmm_stream stream);

/* Waits for the stream's work, without returning freed memory to pools: copies of boxes do not, as measured (call_context.c). */
vmm_result sim_stream_wait(struct sim_process *process, vmm_stream stream);

/* Moves bytes between two host ranges in stream order, without the lock: an invalid address faults. */
vmm_result copy_between_hosts(struct sim_process *process, vmm_stream stream, uint64_t dst, uint64_t src, uint64_t size);

#endif
