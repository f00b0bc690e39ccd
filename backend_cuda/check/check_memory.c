/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary memory and copies whose forms differ from the API's: the driver handles them, then the shadow gets the equivalent
 * calls of the API, under the program's name (program_call.h).
 *
 *     cuMemHostAlloc(&p, n, flags) -> the driver's      then  mem_alloc(&p, n)      of the call "cuMemHostAlloc"
 *     cuMemcpy2D(&rows)            -> the driver's      then  memcpy_3d(&box)       of the call "cuMemcpy2D"
 */
#include <string.h>

#include "check.h"
#include "check_order.h"
#include "thread.h"

/* The driver's structure of a copy of rows. */
struct check_rows {
    size_t src_x, src_y;
    int src_type;
    const void *src_host;
    vmm_deviceptr src_device;
    void *src_array;
    size_t src_pitch, dst_x, dst_y;
    int dst_type;
    void *dst_host;
    vmm_deviceptr dst_device;
    void *dst_array;
    size_t dst_pitch, width, height;
};

#pragma GCC visibility push(default)
vmm_result cuMemAllocPitch_v2(vmm_deviceptr *dptr, size_t *pitch, size_t width, size_t height, unsigned element);
vmm_result cuMemAllocHost_v2(void **pp, size_t size);
vmm_result cuMemHostAlloc(void **pp, size_t size, unsigned flags);
vmm_result cuMemAllocManaged(vmm_deviceptr *dptr, size_t size, unsigned flags);
vmm_result cuMemFreeHost(void *p);
vmm_result cuMemcpy(vmm_deviceptr dst, vmm_deviceptr src, size_t size);
vmm_result cuMemcpy_ptds(vmm_deviceptr dst, vmm_deviceptr src, size_t size);
vmm_result cuMemcpyAsync(vmm_deviceptr dst, vmm_deviceptr src, size_t size, vmm_stream stream);
vmm_result cuMemcpyAsync_ptsz(vmm_deviceptr dst, vmm_deviceptr src, size_t size, vmm_stream stream);
vmm_result cuMemcpy2D_v2(const struct check_rows *rows);
vmm_result cuMemcpy2D_v2_ptds(const struct check_rows *rows);
vmm_result cuMemcpy2DUnaligned_v2(const struct check_rows *rows);
vmm_result cuMemcpy2DUnaligned_v2_ptds(const struct check_rows *rows);
vmm_result cuMemcpy2DAsync_v2(const struct check_rows *rows, vmm_stream stream);
vmm_result cuMemcpy2DAsync_v2_ptsz(const struct check_rows *rows, vmm_stream stream);
#pragma GCC visibility pop

/* Declares the driver's function of this name, with these parameters; without one, the call is refused. */
#define DRIVER(symbol, ...)                                  \
    vmm_result (*driver)(__VA_ARGS__) = NULL;                \
    check_function function_ = check_driver(CHECK_##symbol); \
    memcpy(&driver, &function_, sizeof driver);              \
    if (!driver)                                             \
    return VMM_ERROR_NOT_FOUND

/* Makes the driver's call; then the shadow gets the equivalent call, with the driver's result. Passes the record to the
 * tracking of work order, if it is a copy. */
#define AND_THEN_OF(symbol, record, answer, shadowed)                       \
    do {                                                                    \
        VMM_ENTRY_POINT(entry_);                                            \
        const struct vmm_call *record_ = (record);                          \
        struct check_step step_;                                            \
        vmm_system *sys = check_enter(CHECK_##symbol);                      \
        if (!sys) {                                                         \
            vmm_result alone_ = (answer);                                   \
            check_alone(CHECK_##symbol, alone_);                            \
            return alone_;                                                  \
        }                                                                   \
        vmm_within_begin(&vmm_this_thread()->within, &entry_);              \
        if (record_)                                                        \
            check_step_begin(&step_, CHECK_##symbol, record_);              \
        vmm_result result_ = (answer);                                      \
        check_answered(result_);                                            \
        (void)(shadowed);                                                   \
        if (record_)                                                        \
            check_step_end(&step_, result_);                                \
        vmm_within_end(&vmm_this_thread()->within);                         \
        check_leave();                                                      \
        return result_;                                                     \
    } while (0)
#define AND_THEN(symbol, answer, shadowed) AND_THEN_OF(symbol, NULL, answer, shadowed)

/* ---- memory ---- */

/* The address that the driver wrote, in the API's type. */
static vmm_result allocated(vmm_system *sys, void *const *pp, size_t size)
{
    vmm_deviceptr at = pp ? (vmm_deviceptr)(uintptr_t)*pp : 0;
    return vmm_mem_alloc(sys, pp ? &at : NULL, size);
}

vmm_result cuMemAllocPitch_v2(vmm_deviceptr *dptr, size_t *pitch, size_t width, size_t height, unsigned element)
{
    DRIVER(cuMemAllocPitch_v2, vmm_deviceptr *, size_t *, size_t, size_t, unsigned);
    AND_THEN(cuMemAllocPitch_v2, driver(dptr, pitch, width, height, element),
             vmm_mem_alloc(sys, dptr, width && height && pitch ? *pitch * height : 0));
}

vmm_result cuMemAllocHost_v2(void **pp, size_t size)
{
    DRIVER(cuMemAllocHost_v2, void **, size_t);
    AND_THEN(cuMemAllocHost_v2, driver(pp, size), allocated(sys, pp, size));
}

vmm_result cuMemHostAlloc(void **pp, size_t size, unsigned flags)
{
    DRIVER(cuMemHostAlloc, void **, size_t, unsigned);
    AND_THEN(cuMemHostAlloc, driver(pp, size, flags), allocated(sys, pp, size));
}

vmm_result cuMemAllocManaged(vmm_deviceptr *dptr, size_t size, unsigned flags)
{
    DRIVER(cuMemAllocManaged, vmm_deviceptr *, size_t, unsigned);
    AND_THEN(cuMemAllocManaged, driver(dptr, size, flags), vmm_mem_alloc(sys, dptr, size));
}

/* The innermost backend calls the pending function, which takes an address here as there: the shadow ends memory before the
 * driver does. */
vmm_result cuMemFreeHost(void *p)
{
    DRIVER(cuMemFreeHost, void *);
    VMM_ENTRY_POINT(entry);
    vmm_system *sys = check_enter(CHECK_cuMemFreeHost);
    if (!sys) {
        vmm_result result = driver(p);
        check_alone(CHECK_cuMemFreeHost, result);
        return result;
    }
    vmm_within_begin(&vmm_this_thread()->within, &entry);
    vmm_result result = vmm_mem_free(sys, (vmm_deviceptr)(uintptr_t)p);
    if (result == VMM_SUCCESS && check_order_of(&sys))
        follow_all_done(check_order_of(&sys));
    vmm_within_end(&vmm_this_thread()->within);
    check_leave();
    return result;
}

/* ---- copies between any addresses ---- */

#define COPY(symbol)                                                                                                           \
    vmm_result symbol(vmm_deviceptr dst, vmm_deviceptr src, size_t size)                                                       \
    {                                                                                                                          \
        const struct vmm_call_memcpy_dtod copy = {{VMM_CALL_memcpy_dtod, 0}, dst, src, size};                                  \
        DRIVER(symbol, vmm_deviceptr, vmm_deviceptr, size_t);                                                                  \
        AND_THEN_OF(symbol, &copy.head, driver(dst, src, size), vmm_memcpy_dtod(sys, dst, src, size));                         \
    }
#define COPY_ASYNC(symbol)                                                                                                     \
    vmm_result symbol(vmm_deviceptr dst, vmm_deviceptr src, size_t size, vmm_stream stream)                                    \
    {                                                                                                                          \
        const struct vmm_call_memcpy_dtod_async copy = {{VMM_CALL_memcpy_dtod_async, 0}, dst, src, size, stream};              \
        DRIVER(symbol, vmm_deviceptr, vmm_deviceptr, size_t, vmm_stream);                                                      \
        AND_THEN_OF(symbol, &copy.head, driver(dst, src, size, stream), vmm_memcpy_dtod_async(sys, dst, src, size, NULL));     \
    }

COPY(cuMemcpy)
COPY(cuMemcpy_ptds)
COPY_ASYNC(cuMemcpyAsync)
COPY_ASYNC(cuMemcpyAsync_ptsz)

/* ---- copies of rows ---- */

static vmm_memcpy3d box_of(const struct check_rows *rows)
{
    return (vmm_memcpy3d){.src_x_in_bytes = rows->src_x, .src_y = rows->src_y, .src_memory_type = rows->src_type,
                          .src_host = rows->src_host, .src_device = rows->src_device, .src_pitch = rows->src_pitch,
                          .dst_x_in_bytes = rows->dst_x, .dst_y = rows->dst_y, .dst_memory_type = rows->dst_type,
                          .dst_host = rows->dst_host, .dst_device = rows->dst_device, .dst_pitch = rows->dst_pitch,
                          .width_in_bytes = rows->width, .height = rows->height, .depth = 1};
}

static vmm_result copied(vmm_system *sys, const struct check_rows *rows)
{
    vmm_memcpy3d box = rows ? box_of(rows) : (vmm_memcpy3d){0};
    return vmm_memcpy_3d(sys, rows ? &box : NULL);
}

#define ROWS(symbol)                                                                                        \
    vmm_result symbol(const struct check_rows *rows)                                                        \
    {                                                                                                       \
        const vmm_memcpy3d box = rows ? box_of(rows) : (vmm_memcpy3d){0};                                   \
        const struct vmm_call_memcpy_3d copy = {{VMM_CALL_memcpy_3d, 0}, rows ? &box : NULL};               \
        DRIVER(symbol, const struct check_rows *);                                                          \
        AND_THEN_OF(symbol, &copy.head, driver(rows), copied(sys, rows));                                   \
    }
#define ROWS_ASYNC(symbol)                                                                                  \
    vmm_result symbol(const struct check_rows *rows, vmm_stream stream)                                     \
    {                                                                                                       \
        const vmm_memcpy3d box = rows ? box_of(rows) : (vmm_memcpy3d){0};                                   \
        const struct vmm_call_memcpy_3d_async copy = {{VMM_CALL_memcpy_3d_async, 0}, rows ? &box : NULL, stream}; \
        DRIVER(symbol, const struct check_rows *, vmm_stream);                                              \
        AND_THEN_OF(symbol, &copy.head, driver(rows, stream), copied(sys, rows));                           \
    }

ROWS(cuMemcpy2D_v2)
ROWS(cuMemcpy2D_v2_ptds)
ROWS(cuMemcpy2DUnaligned_v2)
ROWS(cuMemcpy2DUnaligned_v2_ptds)
ROWS_ASYNC(cuMemcpy2DAsync_v2)
ROWS_ASYNC(cuMemcpy2DAsync_v2_ptsz)
