/* SPDX-License-Identifier: Apache-2.0 */
/* mem_op.h - stream memory operations: writes of a value to memory, and waits until memory holds one.
 *
 *     call             vmm_stream_wait_value32(s, p, 5, EQ)       vmm_stream_batch_mem_op(s, 3, {write, wait, write}, 0)
 *     work item        [wait p == 5]                              [write][wait][write]
 *     done by                                                      ^next: the first operation that is not done
 *
 * A wait is done when its memory satisfies it at a time when some thread polls it. Until then its item, and everything ordered
 * after it, is not ready; there is no notification of memory changes, so a search for ready work reads the memory first
 * (in_flight.c). Values are read and written whole, so a program may store and load them meanwhile where the host can.
 */
#ifndef SIM_MEM_OP_H
#define SIM_MEM_OP_H

#include "process.h"

struct work;

/* The operations of a call, which has one or a list; `one` is storage for a single one. */
struct mem_ops {
    const vmm_stream_batch_mem_op_params *op;
    uint64_t count;
    vmm_stream_batch_mem_op_params one;
};

/* Is the call one of the five memory-operation calls? */
bool mem_op_is(enum vmm_call_id id);

/* The operations of such a call. ops is filled in place, because op may point into it. */
void mem_op_list(const struct vmm_call *call, struct mem_ops *ops);

static inline bool mem_op_waits(vmm_stream_batch_mem_op_type operation)
{
    return operation == VMM_STREAM_MEM_OP_WAIT_VALUE_32 || operation == VMM_STREAM_MEM_OP_WAIT_VALUE_64;
}

/* The bytes of its value; 0 for an operation without one. */
static inline unsigned mem_op_width(vmm_stream_batch_mem_op_type operation)
{
    if (!vmm_mem_op_has_value(operation))
        return 0;
    return operation == VMM_STREAM_MEM_OP_WAIT_VALUE_64 || operation == VMM_STREAM_MEM_OP_WRITE_VALUE_64 ? 8 : 4;
}

/* Does this value in memory satisfy the wait? */
bool mem_op_satisfied(const vmm_stream_batch_mem_op_params *wait, uint64_t memory);

/* Memory that has a device address but does not belong to the engine: registered host memory. The bytes at [address, address +
 * size); NULL if there is none. Set by libcuda.so.1 before the first call, and the same for all machines. */
typedef unsigned char *(*mem_op_host_memory)(uint64_t address, uint64_t size, bool writes);
void mem_op_set_host_memory(mem_op_host_memory find);
unsigned char *mem_op_find_host(uint64_t address, uint64_t size, bool writes);

enum mem_op_progress { MEM_OP_DONE, MEM_OP_WAITS, MEM_OP_OUT_OF_MEMORY };

/* Does the work's operations from the first one that is not done, up to a wait that is not satisfied. At an access without the
 * right to it the process loses the device, and the rest is dropped. */
enum mem_op_progress mem_op_do(struct sim_process *process, struct work *work);

/* Would mem_op_do get past the wait at which the work is blocked? Changes nothing. */
bool mem_op_may_go_on(struct sim_process *process, const struct work *work);

/* The address at which the work waits. */
uint64_t mem_op_waits_at(const struct work *work);

/* The wait at which the work is blocked faults: the process loses the device. */
void mem_op_fault(struct sim_process *process, const struct work *work);

/* Does the device still have access to the memory that the work waits for? */
bool mem_op_has_memory(const struct sim_process *process, const struct work *work);

/* Can another process write the memory that the work waits for? */
bool mem_op_is_shared(const struct sim_process *process, const struct work *work);

#endif
