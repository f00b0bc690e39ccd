/* SPDX-License-Identifier: Apache-2.0 */
/* check_order.h - the calls that copy, fill, record, wait or launch, as the order of the program's work sees them (follow.h).
 *
 *     program     cuMemcpyHtoDAsync_v2(dst, src, n, S)
 *                   check_step_begin    number and stack of the call; its accesses are noted
 *                   the driver's        and the shadow's, as for every call
 *                   check_step_end      reports what was found
 */
#ifndef CUDA_CHECK_ORDER_H
#define CUDA_CHECK_ORDER_H

#include "call.h"
#include "check.h"
#include "follow.h"

struct vmm_backend;

/* NULL if order is not tracked: because of CUVMM_CHECK_ORDER=no, or because host memory is exhausted. */
struct follow *check_order_open(struct vmm_backend *shadow);

/* For calls that the shadow has no rules for: the tracker to inform, or NULL if only the driver gets the call. Then
 * check_order_leave. */
struct follow *check_order_enter(void);
void check_order_leave(void);
/* The tracker of this process, and its system; NULL if nothing is tracked. Between check_enter or check_order_enter and the
 * leave. */
struct follow *check_order_of(vmm_system **sys);

/* Is a call of that kind a tracked step? */
static inline bool check_steps(enum vmm_call_id id)
{
    return (id >= VMM_CALL_memcpy_htod && id <= VMM_CALL_memcpy_batch_async_v1) || id == VMM_CALL_mem_free_async ||
           id == VMM_CALL_mem_alloc_async || id == VMM_CALL_mem_alloc_from_pool_async || id == VMM_CALL_mem_free ||
           id == VMM_CALL_ctx_destroy || id == VMM_CALL_device_primary_ctx_release || id == VMM_CALL_device_primary_ctx_reset;
}

/* A call of the program, on its thread's stack. */
struct check_step {
    struct follow *follow; /* NULL: it is not followed */
    const struct vmm_call *call;
    struct follow_step step;
};

/* Call it before the driver's call, within the program's call (program_call.h). The record lives until the end. */
void check_step_begin(struct check_step *step, enum check_row row, const struct vmm_call *call);
/* Rows of bytes that the call fills, which have no record. */
struct check_fill {
    vmm_deviceptr dst;
    size_t pitch, width, height;
    vmm_stream stream;
    bool waits;
};
void check_step_fill(struct check_step *step, enum check_row row, const struct check_fill *fill);
void check_step_end(struct check_step *step, vmm_result result);

#endif
