/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - batches of copies. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_BATCH_H
#define CUVMM_VMM_BATCH_H

#include "box.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int vmm_memcpy_src_access_order;
#define VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM 1
#define VMM_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL 2
#define VMM_MEMCPY_SRC_ACCESS_ORDER_ANY 3

#define VMM_MEMCPY_FLAG_DEFAULT 0
#define VMM_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE 1

typedef int vmm_memcpy3d_operand_type;
#define VMM_MEMCPY_OPERAND_TYPE_POINTER 1
#define VMM_MEMCPY_OPERAND_TYPE_ARRAY 2

/* Attributes that several copies of a batch share; CUmemcpyAttributes. */
typedef struct vmm_memcpy_attributes {
    vmm_memcpy_src_access_order src_access_order; /* VMM_MEMCPY_SRC_ACCESS_ORDER_; when the source is read: here, in the stream's turn */
    vmm_mem_location src_loc_hint, dst_loc_hint;  /* for managed memory: a location, or type 0 */
    unsigned int flags;                           /* VMM_MEMCPY_FLAG_ */
} vmm_memcpy_attributes;

/* One side of a copy in a batch of boxes; CUmemcpy3DOperand. */
typedef struct vmm_memcpy3d_operand {
    vmm_memcpy3d_operand_type type; /* VMM_MEMCPY_OPERAND_TYPE_POINTER: arrays are not simulated */
    union {
        struct vmm_memcpy3d_operand_ptr {
            vmm_deviceptr ptr;                /* where the box begins, on a device or on the host */
            uint64_t row_length, layer_height; /* bytes between rows, rows between layers; 0: adjacent */
            vmm_mem_location loc_hint;        /* of managed memory; ignored */
        } ptr;
        struct vmm_memcpy3d_operand_array {
            vmm_array array;
            uint64_t x, y, z;
        } array;
    } op;
} vmm_memcpy3d_operand;

/* A copy of a batch of boxes; CUDA_MEMCPY3D_BATCH_OP. Zero the struct first. */
typedef struct vmm_memcpy3d_batch_op {
    vmm_memcpy3d_operand src, dst;
    struct vmm_extent3d {
        uint64_t width, height, depth; /* bytes per row, rows per layer, layers */
    } extent;
    vmm_memcpy_src_access_order src_access_order;
    unsigned int flags; /* VMM_MEMCPY_FLAG_ */
} vmm_memcpy3d_batch_op;

/* ------------------------------------------------------------------------------------------------- batches of copies
 *
 *   copies      0    1    2    3    4          attrs_idxs {0, 3}: the first attributes are those of copies 0 to 2, the second those
 *   attributes  0    0    0    1    1          of 3 and 4
 *
 * Batches of ranges, on devices and the host, and of boxes. The whole batch is checked first: that its stream has a context and
 * is not the legacy stream, and that a context is current: INVALID_VALUE [VMM-BATCH-STREAM], for a NULL stream even
 * before vmm_init (580); its arrays and numbers: INVALID_VALUE [VMM-BATCH-ARGUMENTS]; its attributes: INVALID_VALUE
 * [VMM-BATCH-ATTRIBUTES]; for boxes also each extent and operand: INVALID_VALUE [VMM-BATCH-SIZE, VMM-BATCH-OPERAND].
 * NOT_SUPPORTED [VMM-CAPTURE-FORBIDS] for a stream that is being captured; the capture stays valid (580). Then the copies are
 * issued one after the other, each as if called alone, in the order of the stream; if one is refused, the copies before it are
 * still made (580). A range of 0 bytes is refused in this way [VMM-BATCH-SIZE].
 *
 * The forms _v1 are those of CUDA 12.8, the others those of 13.0; fail_idx, which may be NULL, is the index of the copy that was
 * refused, or UINT64_MAX if the batch as a whole, or nothing, was refused. Every source is read in stream order, whatever its
 * access order allows. */

/* cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync. */
VMM_API vmm_result vmm_memcpy_batch_async(vmm_system *sys, const vmm_deviceptr *dsts, const vmm_deviceptr *srcs, const uint64_t *sizes,
                                          uint64_t count, const vmm_memcpy_attributes *attrs, const uint64_t *attrs_idxs,
                                          uint64_t num_attrs, vmm_stream stream);
VMM_API vmm_result vmm_memcpy_batch_async_v1(vmm_system *sys, const vmm_deviceptr *dsts, const vmm_deviceptr *srcs,
                                             const uint64_t *sizes, uint64_t count, const vmm_memcpy_attributes *attrs,
                                             const uint64_t *attrs_idxs, uint64_t num_attrs, uint64_t *fail_idx, vmm_stream stream);
/* flags is 0. cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync. */
VMM_API vmm_result vmm_memcpy_3d_batch_async(vmm_system *sys, uint64_t num_ops, const vmm_memcpy3d_batch_op *op_list, uint64_t flags,
                                             vmm_stream stream);
VMM_API vmm_result vmm_memcpy_3d_batch_async_v1(vmm_system *sys, uint64_t num_ops, const vmm_memcpy3d_batch_op *op_list,
                                                uint64_t *fail_idx, uint64_t flags, vmm_stream stream);

#ifdef __cplusplus
}
#endif

#endif
