/* SPDX-License-Identifier: Apache-2.0 */
/* mem_op.h - stream memory operations: values that a stream writes, or waits for. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_MEM_OP_H
#define CUVMM_VMM_MEM_OP_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VMM_STREAM_WAIT_VALUE_GEQ 0 /* until (int32_t)(*addr - value) >= 0, int64_t for 64 bits: works across a wrap-around */
#define VMM_STREAM_WAIT_VALUE_EQ 1  /* until *addr == value */
#define VMM_STREAM_WAIT_VALUE_AND 2 /* until (*addr & value) != 0 */
#define VMM_STREAM_WAIT_VALUE_NOR 3 /* until ~(*addr | value) != 0 */
#define VMM_STREAM_WAIT_VALUE_FLUSH (1 << 30) /* and then flush remote writes; not on the recorded machines */

#define VMM_STREAM_WRITE_VALUE_DEFAULT 0
#define VMM_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER 1 /* the write may pass the stream's earlier writes */

typedef int vmm_stream_batch_mem_op_type;
#define VMM_STREAM_MEM_OP_WAIT_VALUE_32 1
#define VMM_STREAM_MEM_OP_WRITE_VALUE_32 2
#define VMM_STREAM_MEM_OP_FLUSH_REMOTE_WRITES 3
#define VMM_STREAM_MEM_OP_WAIT_VALUE_64 4
#define VMM_STREAM_MEM_OP_WRITE_VALUE_64 5
#define VMM_STREAM_MEM_OP_BARRIER 6

#define VMM_STREAM_MEMORY_BARRIER_TYPE_SYS 0
#define VMM_STREAM_MEMORY_BARRIER_TYPE_GPU 1

/* One operation of a batch, of 48 bytes; operation says which member holds it. CUstreamBatchMemOpParams. */
typedef union vmm_stream_batch_mem_op_params {
    vmm_stream_batch_mem_op_type operation;
    struct vmm_stream_mem_op_value_params {
        vmm_stream_batch_mem_op_type operation; /* WAIT_VALUE_ or WRITE_VALUE_ */
        vmm_deviceptr address;
        union {
            uint32_t value;   /* used by the 32-bit operations */
            uint64_t value64; /* of those of 64 */
        };
        unsigned int flags;  /* VMM_STREAM_WAIT_VALUE_ or VMM_STREAM_WRITE_VALUE_ */
        vmm_deviceptr alias; /* the driver's; ignored */
    } wait_value, write_value;
    struct vmm_stream_mem_op_flag_params {
        vmm_stream_batch_mem_op_type operation; /* FLUSH_REMOTE_WRITES or BARRIER */
        unsigned int flags;                     /* 0, or VMM_STREAM_MEMORY_BARRIER_TYPE_ */
    } flush_remote_writes, memory_barrier;
    uint64_t pad[6];
} vmm_stream_batch_mem_op_params;

/* ------------------------------------------------------------------------------------------- stream memory operations
 * Values that a stream writes to memory in its turn, or waits for, without a kernel.
 *
 *   stream A   wait until *p == 1 . . . . . . . . . . . . |   fill F         F after the write of B
 *   stream B   copy C      write 1 to *p                  ^
 *
 * A wait holds up the later work of its stream, until anything has made the memory hold the value: an operation, copy, fill or
 * kernel of another stream, or a store of the host where the host can write the memory. Calls and events do not know about this
 * order: work after a wait is in flight like any other.
 *
 * The memory may come from vmm_mem_alloc or be mapped, and lie on the device or the host. It is looked up at the call:
 * INVALID_VALUE [VMM-MEMOP-ADDRESS, VMM-MEMOP-NO-ACCESS]; and again when the stream reaches the operation, with the rights of
 * that time: missing rights are a fault, LAUNCH_FAILED [VMM-FAULT-MEMOP]. A wait that the stream has reached faults as
 * soon as its memory is unmapped. A write to memory that the device may only read is accepted at the call [VMM-MEMOP-READ-ONLY]
 * and faults (580).
 *
 * A device does not report a wait that never ends. On the simulator a call that waits for such a stream returns NOT_READY
 * [VMM-MEMOP-NEVER] and keeps the work, once no work that could write the value is left and no other thread or process could
 * write it; with schedule=device it waits for ever, as on a driver.
 *
 * Checked in this order: INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN], the fault of the device,
 * INVALID_VALUE [VMM-MEMOP-FLAGS], NOT_SUPPORTED [VMM-MEMOP-UNSUPPORTED], INVALID_VALUE [VMM-MEMOP-ALIGNMENT] and then the
 * memory. Inside a host function: NOT_PERMITTED on a default stream [VMM-HOSTFUNC-CALL], and a warning on others
 * [VMM-HOSTFUNC-WORK]. */

/* Writes value (4 or 8 bytes) to addr, which must be aligned to that size. flags is 0; VMM_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER
 * is documented, and refused (580). cuStreamWriteValue32, cuStreamWriteValue64. */
VMM_API vmm_result vmm_stream_write_value32(vmm_system *sys, vmm_stream stream, vmm_deviceptr addr, uint32_t value,
                                            unsigned int flags);
VMM_API vmm_result vmm_stream_write_value64(vmm_system *sys, vmm_stream stream, vmm_deviceptr addr, uint64_t value,
                                            unsigned int flags);

/* Holds back the stream's later work until the value at addr compares with value as specified by flags: one of
 * VMM_STREAM_WAIT_VALUE_GEQ, _EQ, _AND, _NOR. cuStreamWaitValue32, cuStreamWaitValue64. */
VMM_API vmm_result vmm_stream_wait_value32(vmm_system *sys, vmm_stream stream, vmm_deviceptr addr, uint32_t value,
                                           unsigned int flags);
VMM_API vmm_result vmm_stream_wait_value64(vmm_system *sys, vmm_stream stream, vmm_deviceptr addr, uint64_t value,
                                           unsigned int flags);

/* Performs count operations (at most 255) in the order of the list. All are checked before any is queued; a list that is refused
 * has no effect. flags is 0. The list is read before the call returns. INVALID_VALUE [VMM-MEMOP-COUNT, VMM-MEMOP-BATCH-FLAGS,
 * VMM-MEMOP-NULL], and for each entry [VMM-MEMOP-OPERATION] and the checks of a single operation. cuStreamBatchMemOp. */
VMM_API vmm_result vmm_stream_batch_mem_op(vmm_system *sys, vmm_stream stream, unsigned int count,
                                           const vmm_stream_batch_mem_op_params *param_array, unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif
