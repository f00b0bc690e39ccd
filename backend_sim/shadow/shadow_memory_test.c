/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary memory with a backend: the simulator has it at the backend's address. */
#include "program_call.h"
#include "shadow_rig.h"
#include "thread.h"

static uint64_t held(struct world *w)
{
    return vmm_leaks(w->sys, NULL, NULL);
}

static void test_freed(void)
{
    struct world w = opened("", "h100");
    const uint64_t before = held(&w);
    vmm_deviceptr at = 0, ordered = 0;
    tap_result(vmm_mem_alloc(w.sys, &at, 1000), VMM_SUCCESS, "memory");
    tap_result(vmm_mem_alloc_async(w.sys, &ordered, 1000, NULL), VMM_SUCCESS, "memory of a pool");
    tap_u64(held(&w), before + 2, "both are held");
    tap_result(vmm_mem_free(w.sys, at + 256), VMM_ERROR_INVALID_VALUE, "an address inside it is freed");
    said("VMM-ALLOC-FREE-UNKNOWN", "", "an address inside");
    tap_ok(vmm_last_detail()->nearest.start == at && vmm_last_detail()->nearest.size == 1000, "the message has the allocation");
    tap_result(vmm_mem_free(w.sys, at), VMM_SUCCESS, "it is freed");
    said(NULL, "", "it is freed");
    tap_result(vmm_mem_free(w.sys, at), VMM_ERROR_INVALID_VALUE, "twice");
    said("VMM-ALLOC-FREE-UNKNOWN", "", "twice");
    tap_ok(vmm_last_detail()->nearest.ended != 0, "the message has the call that freed it");
    tap_result(vmm_mem_free_async(w.sys, ordered, NULL), VMM_SUCCESS, "memory of a pool is freed");
    tap_result(vmm_mem_free_async(w.sys, ordered, NULL), VMM_ERROR_INVALID_VALUE, "twice");
    said("VMM-POOL-FREE-UNKNOWN", "", "of a pool twice");
    tap_result(vmm_mem_free(w.sys, w.at), VMM_ERROR_INVALID_VALUE, "a mapping is freed");
    said("VMM-ALLOC-FREE-VMM", "", "a mapping");
    tap_u64(held(&w), before, "nothing more is held than before");
    tap_result(vmm_mem_free(w.sys, 0), VMM_SUCCESS, "nothing is freed");
    said(NULL, "", "nothing");
    vmm_close(w.sys);
}

/* A refused free keeps the memory; freeing memory whose allocation was not seen causes no report; if the backend
 * returns an address twice, the first memory was freed unseen. */
static void test_against_the_rules(void)
{
    struct world w = opened("", "h100");
    const uint64_t before = held(&w);
    vmm_deviceptr at = 0, again = 0;
    vmm_mem_alloc(w.sys, &at, 1000);
    answer(&w, VMM_CALL_mem_free, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_free(w.sys, at), VMM_ERROR_INVALID_VALUE, "a right free that is refused");
    tap_u64(held(&w), before + 1, "the memory is still held");
    answer(&w, VMM_CALL_mem_free, VMM_ERROR_DEINITIALIZED + 1000);
    vmm_mem_free(w.sys, at);
    tap_u64(held(&w), before + 1, "also after an error that has nothing to do with it");
    answer(&w, VMM_CALL_mem_free, VMM_SUCCESS);
    tap_result(vmm_mem_free(w.sys, UINT64_C(1) << 41), VMM_SUCCESS, "memory that came unseen is freed");
    said(NULL, "", "memory that came unseen");
    answer_with(&w, VMM_CALL_mem_alloc, at, sizeof again);
    tap_result(vmm_mem_alloc(w.sys, &again, 4000), VMM_SUCCESS, "its addresses are given again");
    said(NULL, "", "given again");
    tap_u64(held(&w), before + 1, "then the older memory has ended unseen");
    tap_result(vmm_mem_free(w.sys, again), VMM_SUCCESS, "the newer is freed");
    said(NULL, "", "the newer");
    tap_u64(held(&w), before, "and nothing is left");
    vmm_close(w.sys);
}

/* With the CUDA runtime such a result says nothing about the program; otherwise it is the program's mistake. */
static void test_tries(void)
{
    vmm_deviceptr at = 0;
    struct world w = opened("runtime", "h100");
    answer(&w, VMM_CALL_mem_alloc, VMM_ERROR_INVALID_CONTEXT);
    tap_result(vmm_mem_alloc(w.sys, &at, 10), VMM_ERROR_INVALID_CONTEXT, "a try without a context, as the CUDA runtime makes");
    said(NULL, "", "a try");
    tap_ok(vmm_last_detail()->severity == VMM_SEVERITY_NONE, "nothing is reported of it");
    answer(&w, VMM_CALL_mem_free, VMM_ERROR_INVALID_CONTEXT);
    vmm_mem_free(w.sys, at);
    tap_ok(vmm_last_detail()->severity == VMM_SEVERITY_NONE, "nor of such a free");
    vmm_ctx_set_current(w.sys, NULL);
    tap_result(vmm_memset_d8(w.sys, w.at, 1, G), VMM_ERROR_INVALID_CONTEXT, "a fill without a context");
    tap_ok(vmm_last_detail()->severity == VMM_SEVERITY_NONE, "nor of such a fill");
    vmm_close(w.sys);
    w = opened("", "h100");
    vmm_ctx_set_current(w.sys, NULL);
    tap_result(vmm_memset_d8(w.sys, w.at, 1, G), VMM_ERROR_INVALID_CONTEXT, "the same without a runtime");
    said("VMM-CTX-CURRENT", "", "without a runtime it is reported");
    vmm_close(w.sys);
}

static void test_copies(void)
{
    static unsigned char bytes[8 << 20];
    struct world w = opened("", "h100");
    vmm_deviceptr at = 0;
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    vmm_mem_set_access(w.sys, w.at, 2 * G, &desc, 1);
    vmm_mem_alloc(w.sys, &at, 1000);
    tap_result(vmm_memcpy_dtod(w.sys, w.at, at, 1000), VMM_SUCCESS, "a copy from ordinary memory");
    said(NULL, "", "a copy");
    tap_result(vmm_memcpy_dtoh(w.sys, bytes, at, sizeof bytes), VMM_ERROR_INVALID_VALUE, "a copy past its end, which is refused");
    said("VMM-COPY-RUNS-PAST", "", "a refused copy");
    answer(&w, VMM_CALL_memcpy_dtoh, VMM_SUCCESS);
    tap_result(vmm_memcpy_dtoh(w.sys, bytes, at, 1001), VMM_SUCCESS, "one byte past its end, which passes");
    said("VMM-COPY-RUNS-PAST", "the driver accepted the copy", "a copy that passes");
    tap_ok(vmm_last_detail()->severity == VMM_SEVERITY_WARNING && vmm_last_detail()->nearest.start == at, "with the allocation it left");
    answer(&w, VMM_CALL_memcpy_dtod, VMM_SUCCESS);
    tap_result(vmm_memcpy_dtod(w.sys, w.at, UINT64_C(1) << 41, 1000), VMM_SUCCESS, "a copy from memory that came unseen");
    said(NULL, "", "memory that came unseen");
    vmm_mem_set_access(w.sys, w.at, 2 * G, &(vmm_mem_access_desc){desc.location, VMM_MEM_ACCESS_FLAGS_PROT_READ}, 1);
    answer(&w, VMM_CALL_memcpy_dtod, VMM_SUCCESS);
    tap_result(vmm_memcpy_dtod(w.sys, w.at, UINT64_C(1) << 41, 1000), VMM_SUCCESS, "the same, without the right to write");
    said("VMM-SHADOW-DIFFERS", "", "without the right to write");
    vmm_close(w.sys);
}

static void test_batch(void)
{
    static unsigned char bytes[64];
    struct world w = opened("", "h100");
    vmm_deviceptr at = 0, dsts[3], srcs[3];
    uint64_t sizes[3] = {10, 10, 10};
    vmm_mem_alloc(w.sys, &at, 1000);
    for (int i = 0; i < 3; i++) {
        dsts[i] = at + 100 * (unsigned)i;
        srcs[i] = (uintptr_t)bytes;
    }
    answer(&w, VMM_CALL_memcpy_batch_async, VMM_SUCCESS);
    tap_result(vmm_memcpy_batch_async(w.sys, dsts, srcs, sizes, 3, NULL, NULL, 0, NULL), VMM_SUCCESS, "a batch");
    said(NULL, "", "a batch");
    sizes[2] = 801;
    answer(&w, VMM_CALL_memcpy_batch_async, VMM_SUCCESS);
    tap_result(vmm_memcpy_batch_async(w.sys, dsts, srcs, sizes, 3, NULL, NULL, 0, NULL), VMM_SUCCESS, "a batch whose last copy runs past the end");
    said("VMM-COPY-RUNS-PAST", "", "a batch");
    dsts[2] = w.at;
    sizes[2] = 8;
    answer(&w, VMM_CALL_memcpy_batch_async, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_memcpy_batch_async(w.sys, dsts, srcs, sizes, 3, NULL, NULL, 0, NULL), VMM_ERROR_INVALID_VALUE, "a batch that writes without rights");
    said("VMM-COPY-NO-WRITE", "", "a batch without rights");
    vmm_close(w.sys);
}

/* As made by the wrappers of libcuvmm-check.so: part of the program's call, whose name determines the kind. */
static vmm_result within(struct world *w, struct vmm_entry_point *entry, vmm_deviceptr *at, bool frees)
{
    vmm_within_begin(&vmm_this_thread()->within, entry);
    vmm_result result = frees ? vmm_mem_free(w->sys, *at) : vmm_mem_alloc(w->sys, at, 1000);
    vmm_within_end(&vmm_this_thread()->within);
    return result;
}

static void test_host(void)
{
    static struct vmm_entry_point alloc = {.name = "cuMemHostAlloc"}, unhost = {.name = "cuMemFreeHost"}, managed = {.name = "cuMemAllocManaged"};
    struct world w = opened("", "h100");
    const uint64_t before = held(&w);
    vmm_deviceptr host = 0, device = 0, shared = 0;
    within(&w, &alloc, &host, false);
    within(&w, &managed, &shared, false);
    vmm_mem_alloc(w.sys, &device, 1000);
    tap_u64(held(&w), before + 3, "memory of the host, managed memory, and the device's");
    answer(&w, VMM_CALL_mem_free, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_free(w.sys, host), VMM_ERROR_INVALID_VALUE, "the host's, freed by cuMemFree");
    said("VMM-ALLOC-FREE-UNKNOWN", "", "the host's");
    tap_text(vmm_last_detail()->nearest.created_by, "cuMemHostAlloc", "the message names the call that made it");
    answer(&w, VMM_CALL_mem_free, VMM_ERROR_INVALID_VALUE);
    tap_result(within(&w, &unhost, &device, true), VMM_ERROR_INVALID_VALUE, "the device's, freed by cuMemFreeHost");
    said("VMM-ALLOC-FREE-UNKNOWN", "", "the device's");
    within(&w, &unhost, &host, true);
    vmm_mem_free(w.sys, shared);
    vmm_mem_free(w.sys, device);
    tap_u64(held(&w), before, "each is freed by its own call");
    vmm_close(w.sys);
}

/* Destroying a context frees its memory; memory of a pool stays. */
static void test_contexts(void)
{
    struct world w = opened("", "h100");
    vmm_context context = NULL;
    const uint64_t before = held(&w);
    vmm_deviceptr at = 0, ordered = 0;
    vmm_ctx_create(w.sys, &context, 0, 0);
    vmm_mem_alloc(w.sys, &at, 1000);
    vmm_mem_alloc_async(w.sys, &ordered, 1000, NULL);
    vmm_ctx_destroy(w.sys, context);
    vmm_ctx_set_current(w.sys, w.context);
    tap_u64(held(&w), before + 1, "after the context's end the pool's memory is held");
    vmm_mem_free_async(w.sys, ordered, NULL);
    tap_u64(held(&w), before, "until it is freed");
    vmm_close(w.sys);
}

/* A program whose cuInit was not seen is tracked from its first call on. */
static void test_late(void)
{
    struct world w = unopened("", "h100");
    struct vmm_call_init init = {{VMM_CALL_init, 0}, 0};
    vmm_backend_call(&w.odd->base, &init.head);
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    tap_result(vmm_mem_create(w.sys, &w.handle, G, &prop, 0), VMM_SUCCESS, "a first call without cuInit");
    said(NULL, "", "a first call");
    tap_u64(held(&w), 1, "its memory is known");
    vmm_close(w.sys);
}

/* Invalid arguments of a refused allocation are explained; refusals for other reasons are not. */
static void test_refused(void)
{
    struct world w = opened("", "h100");
    vmm_deviceptr at = 0;
    vmm_memory_pool pool = NULL;
    vmm_device_get_default_mem_pool(w.sys, &pool, 0);
    tap_result(vmm_mem_alloc(w.sys, NULL, 10), VMM_ERROR_INVALID_VALUE, "nowhere to store the address");
    said("VMM-ALLOC-NULL", "", "nowhere to store it");
    tap_result(vmm_mem_alloc(w.sys, &at, 0), VMM_ERROR_INVALID_VALUE, "no bytes");
    said("VMM-ALLOC-SIZE-ZERO", "", "no bytes");
    tap_result(vmm_mem_alloc_async(w.sys, NULL, 10, NULL), VMM_ERROR_INVALID_VALUE, "nowhere to store that of a pool");
    said("VMM-POOL-ALLOC-NULL", "", "nowhere to store that of a pool");
    answer(&w, VMM_CALL_mem_alloc_from_pool_async, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_mem_alloc_from_pool_async(w.sys, &at, 0, pool, NULL), VMM_ERROR_INVALID_VALUE, "no bytes of a pool");
    said("VMM-POOL-ALLOC-SIZE-ZERO", "", "no bytes of a pool");
    answer(&w, VMM_CALL_mem_alloc, VMM_ERROR_INVALID_VALUE);
    vmm_mem_alloc(w.sys, &at, 10);
    said(NULL, "", "a right allocation that is refused");
    answer(&w, VMM_CALL_ipc_open_mem_handle, VMM_ERROR_INVALID_VALUE);
    vmm_ipc_open_mem_handle(w.sys, NULL, (vmm_ipc_mem_handle){{0}}, 1);
    said(NULL, "", "an opening");
    answer(&w, VMM_CALL_mem_pool_import_pointer, VMM_ERROR_INVALID_VALUE);
    vmm_mem_pool_import_pointer(w.sys, NULL, pool, NULL);
    said(NULL, "", "an import");
    answer(&w, VMM_CALL_mem_alloc, VMM_ERROR_NOT_SUPPORTED);
    vmm_mem_alloc(w.sys, &at, 0);
    said(NULL, "", "not supported");
    vmm_close(w.sys);
}

/* Memory whose size only the backend knows, and memory of a captured stream, which belongs to a graph. */
static void test_sizes_and_captures(void)
{
    struct world w = opened("", "h100");
    const uint64_t before = held(&w);
    vmm_deviceptr at = 0, other = 0;
    vmm_memory_pool pool = NULL;
    vmm_stream stream = NULL;
    vmm_device_get_default_mem_pool(w.sys, &pool, 0);
    answer_with(&w, VMM_CALL_mem_pool_import_pointer, UINT64_C(1) << 41, sizeof at);
    vmm_mem_pool_import_pointer(w.sys, &at, pool, NULL);
    tap_u64(held(&w), before, "a pointer of unknown size is not followed");
    struct vmm_call_mem_alloc alloc = {{VMM_CALL_mem_alloc, 0}, &other, 1000};
    vmm_backend_call(w.odd->base.inner, &alloc.head);
    answer_with(&w, VMM_CALL_mem_pool_import_pointer, other, sizeof at);
    vmm_mem_pool_import_pointer(w.sys, &at, pool, NULL);
    tap_u64(held(&w), before + 1, "one whose size the backend knows is");
    answer(&w, VMM_CALL_mem_alloc, VMM_SUCCESS);
    vmm_mem_alloc(w.sys, NULL, 10);
    at = 0;
    answer(&w, VMM_CALL_mem_alloc, VMM_SUCCESS);
    vmm_mem_alloc(w.sys, &at, 10);
    tap_u64(held(&w), before + 1, "a success without an address does not count as memory");
    vmm_stream_create(w.sys, &stream, 0);
    vmm_mem_alloc_from_pool_async(w.sys, &at, 1000, pool, stream);
    tap_u64(held(&w), before + 2, "memory of a stream");
    vmm_stream_begin_capture(w.sys, stream, VMM_STREAM_CAPTURE_MODE_RELAXED);
    tap_result(vmm_mem_alloc_from_pool_async(w.sys, &other, 1000, pool, stream), VMM_SUCCESS, "an allocation in a capture");
    tap_result(vmm_mem_alloc_async(w.sys, &other, 1000, stream), VMM_SUCCESS, "another");
    tap_u64(held(&w), before + 2, "they are a graph's");
    answer(&w, VMM_CALL_mem_free_async, VMM_SUCCESS);
    vmm_mem_free_async(w.sys, at, stream);
    tap_u64(held(&w), before + 2, "a free in a capture ends nothing yet");
    vmm_close(w.sys);
}

/* A copy to the host without memory types. */
static void test_to_host(void)
{
    static struct vmm_entry_point plain = {.name = "cuMemcpy"};
    static unsigned char bytes[64];
    struct world w = opened("", "h100");
    answer(&w, VMM_CALL_memcpy_dtod, VMM_ERROR_INVALID_VALUE);
    vmm_within_begin(&vmm_this_thread()->within, &plain);
    vmm_memcpy_dtod(w.sys, (uintptr_t)bytes, w.at, 16);
    vmm_within_end(&vmm_this_thread()->within);
    said("VMM-COPY-NO-READ", "", "a copy to the host without the right to read");
    vmm_close(w.sys);
}

int main(void)
{
    test_refused();
    test_sizes_and_captures();
    test_to_host();
    test_freed();
    test_against_the_rules();
    test_tries();
    test_copies();
    test_batch();
    test_host();
    test_contexts();
    test_late();
    return tap_done();
}
