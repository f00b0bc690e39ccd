/* SPDX-License-Identifier: Apache-2.0 */
/* The reported differences between a backend and the rules: copies of boxes and batches, queries, pools, and reused values. */
#include "program_call.h"
#include "shadow_rig.h"
#include "thread.h"

static const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
static unsigned char bytes[4096];

static const vmm_deviceptr nowhere = UINT64_C(1) << 41; /* which the shadow has never seen */

static void allow(struct world *w, vmm_mem_access_flags flags)
{
    const vmm_mem_access_desc desc = {device, flags};
    if (vmm_mem_set_access(w->sys, w->at, 2 * G, &desc, 1))
        tap_bail("no rights: %s", vmm_last_detail()->note);
}

/* ---- boxes ---- */

static vmm_memcpy3d box(vmm_deviceptr dst, vmm_deviceptr src)
{
    return (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = src, .dst_memory_type = VMM_MEMORYTYPE_DEVICE,
                          .dst_device = dst, .src_pitch = 64, .dst_pitch = 64, .width_in_bytes = 16, .height = 2, .depth = 1};
}

static void boxed(struct world *w, bool async, const vmm_memcpy3d *p_copy, vmm_result inner, const char *rule, const char *name)
{
    answer(w, async ? VMM_CALL_memcpy_3d_async : VMM_CALL_memcpy_3d, inner);
    tap_result(async ? vmm_memcpy_3d_async(w->sys, p_copy, NULL) : vmm_memcpy_3d(w->sys, p_copy), inner, "%s", name);
    said(rule, "", name);
}

static void test_boxes(void)
{
    for (int async = 0; async < 2; async++) {
        struct world w = opened("", "h100");
        vmm_memcpy3d mapped = box(w.at, w.at + G), unseen = box(w.at, nowhere), array = box(w.at, w.at + G), to_array = array;
        array.src_memory_type = to_array.dst_memory_type = VMM_MEMORYTYPE_ARRAY;
        allow(&w, VMM_MEM_ACCESS_FLAGS_PROT_READ);
        boxed(&w, async, &mapped, VMM_SUCCESS, "VMM-SHADOW-DIFFERS", "a box to where nothing may be written, accepted");
        boxed(&w, async, &mapped, VMM_ERROR_INVALID_VALUE, "VMM-COPY-NO-WRITE", "the same, refused");
        allow(&w, VMM_MEM_ACCESS_FLAGS_PROT_NONE);
        vmm_memcpy3d up = box(nowhere, w.at);
        up.dst_memory_type = VMM_MEMORYTYPE_HOST;
        up.dst_host = bytes;
        boxed(&w, async, &up, VMM_SUCCESS, "VMM-SHADOW-DIFFERS", "a box from where nothing may be read, accepted");
        allow(&w, RW);
        boxed(&w, async, &unseen, VMM_SUCCESS, NULL, "a box from memory that came unseen");
        boxed(&w, async, &mapped, VMM_ERROR_INVALID_CONTEXT, NULL, "a box that lacks only a context");
        boxed(&w, async, &array, VMM_ERROR_INVALID_VALUE, NULL, "a box from an array");
        boxed(&w, async, &to_array, VMM_ERROR_INVALID_VALUE, NULL, "a box to an array");
        answer(&w, async ? VMM_CALL_memcpy_3d_async : VMM_CALL_memcpy_3d, VMM_ERROR_INVALID_VALUE);
        tap_result(async ? vmm_memcpy_3d_async(w.sys, NULL, NULL) : vmm_memcpy_3d(w.sys, NULL), VMM_ERROR_INVALID_VALUE, "no box");
        tap_ok(vmm_last_detail()->rule && strcmp(vmm_last_detail()->rule, "VMM-SHADOW-DIFFERS") != 0, "no box: the rule is the simulator's");
        vmm_close(w.sys);
    }
}

/* ---- copies without memory types ---- */

static void test_direct(void)
{
    static struct vmm_entry_point plain = {.name = "cuMemcpy"}, async = {.name = "cuMemcpyAsync"};
    struct world w = opened("", "h100");
    vmm_deviceptr host = (uintptr_t)bytes;
    allow(&w, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "cuMemcpyAsync" : "cuMemcpy";
        for (int mapped = 0; mapped < 2; mapped++) {
            vmm_deviceptr dst = mapped ? w.at : nowhere;
            answer(&w, i ? VMM_CALL_memcpy_dtod_async : VMM_CALL_memcpy_dtod, VMM_ERROR_INVALID_VALUE);
            vmm_within_begin(&vmm_this_thread()->within, i ? &async : &plain);
            vmm_result result = i ? vmm_memcpy_dtod_async(w.sys, dst, host, 16, NULL) : vmm_memcpy_dtod(w.sys, dst, host, 16);
            vmm_within_end(&vmm_this_thread()->within);
            tap_result(result, VMM_ERROR_INVALID_VALUE, "%s is refused", name);
            said(mapped ? "VMM-COPY-NO-WRITE" : NULL, "", name);
        }
    }
    answer(&w, VMM_CALL_memcpy_dtod_async, VMM_ERROR_INVALID_VALUE);
    vmm_memcpy_dtod_async(w.sys, nowhere, w.at, 16, NULL);
    said("VMM-COPY-NOT-MAPPED", "", "where the program said that both sides are the device's, an unknown one is explained");
    answer(&w, VMM_CALL_memset_d8, VMM_ERROR_INVALID_CONTEXT);
    vmm_memset_d8(w.sys, nowhere, 1, 1);
    said(NULL, "", "a fill of memory that came unseen, and that lacks a context");
    allow(&w, RW);
    answer(&w, VMM_CALL_memset_d8, VMM_ERROR_INVALID_CONTEXT);
    vmm_memset_d8(w.sys, w.at, 1, 1);
    said("VMM-SHADOW-DIFFERS", "the rules say CUDA_SUCCESS", "a fill that lacks a context, as the rules do not see");
    vmm_close(w.sys);
}

/* ---- batches ---- */

static void batch(struct world *w, bool v1, uint64_t count, vmm_deviceptr *dsts, vmm_deviceptr *srcs, uint64_t *sizes,
                  vmm_result inner, const char *rule, const char *name)
{
    uint64_t at = 0;
    answer(w, v1 ? VMM_CALL_memcpy_batch_async_v1 : VMM_CALL_memcpy_batch_async, inner);
    tap_result(v1 ? vmm_memcpy_batch_async_v1(w->sys, dsts, srcs, sizes, count, NULL, NULL, 0, &at, NULL)
                  : vmm_memcpy_batch_async(w->sys, dsts, srcs, sizes, count, NULL, NULL, 0, NULL),
               inner, "%s", name);
    said(rule, "", name);
}

static void test_batches(void)
{
    for (int v1 = 0; v1 < 2; v1++) {
        struct world w = opened("", "h100");
        vmm_deviceptr open = 0, far = 0;
        answer_with(&w, VMM_CALL_ipc_open_mem_handle, nowhere, sizeof open);
        vmm_ipc_open_mem_handle(w.sys, &open, (vmm_ipc_mem_handle){{0}}, 1);
        vmm_mem_alloc(w.sys, &open, 1000);
        answer_with(&w, VMM_CALL_mem_address_reserve, UINT64_C(1) << 40, sizeof far);
        vmm_mem_address_reserve(w.sys, &far, 4 * G, 3, 0, 0);
        vmm_deviceptr dsts[3] = {far, nowhere, w.at}, srcs[3] = {(uintptr_t)bytes, nowhere + G, (uintptr_t)bytes};
        uint64_t sizes[3] = {16, 16, 16};
        allow(&w, VMM_MEM_ACCESS_FLAGS_PROT_READ);
        batch(&w, v1, 2, dsts, srcs, sizes, VMM_ERROR_INVALID_VALUE, NULL, "copies that are not followed");
        batch(&w, v1, 3, dsts, srcs, sizes, VMM_ERROR_INVALID_VALUE, "VMM-COPY-NO-WRITE", "a third, which may not write");
        batch(&w, v1, 3, dsts, srcs, sizes, VMM_SUCCESS, "VMM-SHADOW-DIFFERS", "the same, accepted");
        batch(&w, v1, 3, dsts, srcs, sizes, VMM_ERROR_NOT_SUPPORTED, NULL, "the same, not supported");
        allow(&w, RW);
        batch(&w, v1, 3, dsts, srcs, sizes, VMM_ERROR_INVALID_VALUE, NULL, "refused for what no copy of it shows");
        batch(&w, v1, 3, NULL, srcs, sizes, VMM_ERROR_INVALID_VALUE, NULL, "no destinations");
        batch(&w, v1, 3, dsts, NULL, sizes, VMM_ERROR_INVALID_VALUE, NULL, "no sources");
        batch(&w, v1, 3, dsts, srcs, NULL, VMM_ERROR_INVALID_VALUE, NULL, "no sizes");
        vmm_close(w.sys);
    }
}

/* Only the backend knows the size of memory shared by another process. */
static void test_opened(void)
{
    struct world w = opened("", "h100");
    vmm_deviceptr open = 0, pasts[1], srcs[1] = {(uintptr_t)bytes};
    uint64_t sizes[1] = {2000};
    const uint64_t before = vmm_leaks(w.sys, NULL, NULL);
    struct vmm_call_mem_alloc alloc = {{VMM_CALL_mem_alloc, 0}, &open, 1000};
    vmm_backend_call(w.odd->base.inner, &alloc.head);
    answer_with(&w, VMM_CALL_ipc_open_mem_handle, open, sizeof open);
    tap_result(vmm_ipc_open_mem_handle(w.sys, &open, (vmm_ipc_mem_handle){{0}}, 1), VMM_SUCCESS, "memory of another process");
    tap_u64(vmm_leaks(w.sys, NULL, NULL), before + 1, "it is held");
    pasts[0] = open;
    batch(&w, false, 1, pasts, srcs, sizes, VMM_SUCCESS, NULL, "a copy past its end");
    answer(&w, VMM_CALL_mem_free, VMM_ERROR_INVALID_VALUE);
    vmm_mem_free(w.sys, open);
    said("VMM-IPC-FREE", "", "it is freed as the process's own");
    answer(&w, VMM_CALL_ipc_close_mem_handle, VMM_ERROR_INVALID_VALUE);
    vmm_ipc_close_mem_handle(w.sys, open + 256);
    said("VMM-IPC-CLOSE", "", "another address is closed");
    answer(&w, VMM_CALL_pointer_get_attribute, VMM_ERROR_NOT_SUPPORTED);
    vmm_pointer_get_attribute(w.sys, bytes, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, open);
    said(NULL, "", "a query of it that the rules would answer");
    answer(&w, VMM_CALL_pointer_get_attribute, VMM_ERROR_INVALID_VALUE);
    vmm_pointer_get_attribute(w.sys, NULL, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, open);
    tap_ok(vmm_last_detail()->rule != NULL, "a query that the rules refuse as well is explained: %s", vmm_last_detail()->rule);
    vmm_pointer_attribute list[65] = {0};
    void *data[65] = {0};
    answer(&w, VMM_CALL_pointer_get_attributes, VMM_ERROR_INVALID_VALUE);
    vmm_pointer_get_attributes(w.sys, 65, list, data, open);
    said(NULL, "", "more attributes than the shadow compares");
    vmm_close(w.sys);
}

/* ---- pools and reused values ---- */

static void test_values(void)
{
    struct world w = opened("", "h200x2");
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = 2 * G};
    vmm_memory_pool pool = NULL;
    handle_t object = 0;
    int descriptor = 3;
    answer(&w, VMM_CALL_mem_pool_import_from_shareable_handle, VMM_ERROR_NOT_SUPPORTED);
    vmm_mem_pool_import_from_shareable_handle(w.sys, &pool, &descriptor, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1);
    said("VMM-SHADOW-DIFFERS", "the rules say CUDA_ERROR_INVALID_VALUE", "a pool is imported with flags");
    vmm_mem_unmap(w.sys, w.at, 2 * G);
    vmm_mem_release(w.sys, w.handle);
    answer(&w, VMM_CALL_multicast_create, VMM_ERROR_INVALID_VALUE);
    vmm_multicast_create(w.sys, &object, &prop);
    answer(&w, VMM_CALL_multicast_create, VMM_SUCCESS);
    vmm_multicast_create(w.sys, NULL, &prop);
    answer(&w, VMM_CALL_mem_map, VMM_ERROR_INVALID_VALUE);
    vmm_mem_map(w.sys, w.at + 2 * G, 2 * G, 0, w.handle, 0);
    said("VMM-MAP-HANDLE-STALE", "", "a released handle");
    answer_with(&w, VMM_CALL_multicast_create, w.handle, sizeof object);
    tap_result(vmm_multicast_create(w.sys, &object, &prop), VMM_SUCCESS, "a multicast object with its value");
    answer(&w, VMM_CALL_mem_map, VMM_ERROR_INVALID_VALUE);
    vmm_mem_map(w.sys, w.at + 2 * G, 2 * G, 0, w.handle, 0);
    said(NULL, "", "the object is not the released handle");
    answer(&w, VMM_CALL_mem_map, VMM_SUCCESS);
    vmm_mem_map(w.sys, w.at + 2 * G, 2 * G, 0, object, 0);
    said("VMM-SHADOW-OPAQUE", "such as a multicast object", "the object is mapped");
    answer(&w, VMM_CALL_mem_map, VMM_ERROR_INVALID_VALUE);
    vmm_mem_map(w.sys, w.at + 2 * G, 2 * G, 0, 0, 0);
    said("VMM-MAP-HANDLE-ZERO", "", "a mapping there without a handle");
    answer(&w, VMM_CALL_mem_map, VMM_ERROR_UNKNOWN);
    vmm_mem_map(w.sys, w.at + 2 * G, 2 * G, 0, 0, 0);
    said(NULL, "", "the same, refused for another reason");
    vmm_close(w.sys);
}

int main(void)
{
    test_boxes();
    test_direct();
    test_batches();
    test_opened();
    test_values();
    return tap_done();
}
