/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts and streams. */
#include "test.h"

/* Driver 580 reads memory that the context has freed (use-after-free): right answers, wrong ones, crashes. */
static const char ended[] = "needs a backend that answers for contexts that ended, the same in every run";

TEST_BREAKS(CTX_NULL, contexts_without_place_for_them)
{
    REFUSED(vmm_ctx_create(S, NULL, 0, 0), INVALID_VALUE, "pctx", 0);
    REFUSED(vmm_ctx_get_current(S, NULL), INVALID_VALUE, "pctx", 0);
    REFUSED(vmm_ctx_get_device(S, NULL), INVALID_VALUE, "device", 0);
    REFUSED(vmm_device_primary_ctx_retain(S, NULL, 0), INVALID_VALUE, "pctx", 0);
    REFUSED(vmm_ctx_destroy(S, NULL), INVALID_VALUE, "ctx", 0);
}

TEST_NEAR_MISS(CTX_NULL, contexts_with_place_for_them)
{
    vmm_context ctx = NULL, current = NULL;
    vmm_device device = 77;
    ACCEPTED(vmm_ctx_create(S, &ctx, 0, f->devices - 1));
    fix_note(f, FIX_CONTEXT, (uintptr_t)ctx, 0);
    ACCEPTED(vmm_ctx_get_current(S, &current));
    CHECK(current == ctx && ctx != NULL, "a new context is not current");
    ACCEPTED(vmm_ctx_get_device(S, &device));
    CHECK_U64((uint64_t)device, (uint64_t)f->devices - 1);
}

TEST_BREAKS(CTX_FLAGS, context_with_unknown_flags)
{
    vmm_context ctx = NULL;
    REFUSED(vmm_ctx_create(S, &ctx, 0x200, 0), INVALID_VALUE, "flags", 0x200);
    REFUSED(vmm_ctx_create(S, &ctx, 0x80000000u, 0), INVALID_VALUE, "flags", 0x80000000u);
    CHECK(!ctx, "a context was written");
}

TEST_NEAR_MISS(CTX_FLAGS, context_with_known_flags)
{
    vmm_context ctx = NULL;
    ACCEPTED(vmm_ctx_create(S, &ctx, 0x80, 0));
    fix_note(f, FIX_CONTEXT, (uintptr_t)ctx, 0);
}

TEST_BREAKS(CTX_PRIMARY_UNUSED, release_a_primary_context_that_nobody_has)
{
    REFUSED(vmm_device_primary_ctx_release(S, 0), INVALID_CONTEXT, "dev", 0);
}

TEST_NEAR_MISS(CTX_PRIMARY_UNUSED, release_a_primary_context)
{
    vmm_context first = NULL, second = NULL;
    ACCEPTED(vmm_device_primary_ctx_retain(S, &first, 0));
    ACCEPTED(vmm_device_primary_ctx_retain(S, &second, 0));
    CHECK(first == second && first != f->ctx, "the primary context is a different one");
    ACCEPTED(vmm_device_primary_ctx_release(S, 0));
    ACCEPTED(vmm_device_primary_ctx_release(S, 0));
    REFUSED(vmm_device_primary_ctx_release(S, 0), INVALID_CONTEXT, "dev", 0);
}

TEST_BREAKS(CTX_UNKNOWN, use_a_context_that_ended)
{
    fix_need_simulator(f, ended);
    vmm_context ctx = fix_context(f, 0);
    fix_context_destroy(f, ctx);
    REFUSED_NEAR(vmm_ctx_destroy(S, ctx), INVALID_CONTEXT, "ctx", (uintptr_t)ctx, CONTEXT, 0);
}

TEST_BREAKS(CTX_FORGED, use_a_context_that_never_was)
{
    vmm_context forged = (vmm_context)((uintptr_t)f->ctx ^ 0x5a5a5a5au);
    REFUSED(vmm_ctx_destroy(S, forged), INVALID_CONTEXT, "ctx", (uintptr_t)forged);
    REFUSED(vmm_ctx_set_current(S, forged), INVALID_CONTEXT, "ctx", (uintptr_t)forged);
}

TEST_NEAR_MISS(CTX_FORGED, use_a_context_that_is_one)
{
    vmm_context ctx = fix_context(f, f->devices - 1);
    ACCEPTED(vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_ctx_destroy(S, ctx));
    fix_forget(f, FIX_CONTEXT, (uintptr_t)ctx, 0);
}

TEST_NEAR_MISS(CTX_UNKNOWN, use_a_context_again)
{
    vmm_context ctx = fix_context(f, 0);
    ACCEPTED(vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_ctx_set_current(S, ctx));
    ACCEPTED(vmm_ctx_set_current(S, NULL));
    ACCEPTED(vmm_ctx_destroy(S, ctx));
    fix_forget(f, FIX_CONTEXT, (uintptr_t)ctx, 0);
}

/* Device work needs a context; the calls of virtual memory management do not. */
TEST_BREAKS(CTX_CURRENT, work_without_a_context)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL), base = 0, old = 0;
    uint64_t out = FIX_UNTOUCHED, room = FIX_UNTOUCHED;
    vmm_device device = 77;
    vmm_stream stream = NULL;
    fix_need(f, vmm_ctx_set_current(S, NULL));
    REFUSED(vmm_memset_d8(S, ptr, 1, 1), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_memcpy_htod(S, ptr, &out, 8), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_memcpy_dtoh(S, &out, ptr, 8), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_memcpy_dtod(S, ptr, ptr + 8, 8), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_memset_d8_async(S, ptr, 1, 1, NULL), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_mem_get_info(S, &room, NULL), INVALID_CONTEXT, NULL, 0);
    CHECK_U64(room, 0);
    REFUSED(vmm_mem_alloc(S, &old, f->g), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_mem_alloc(S, NULL, 0), INVALID_CONTEXT, NULL, 0);
    base = FIX_UNTOUCHED;
    REFUSED(vmm_mem_get_address_range(S, &base, NULL, ptr), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_ctx_get_device(S, &device), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_ctx_synchronize(S), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_stream_create(S, &stream, 0), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_stream_synchronize(S, NULL), INVALID_CONTEXT, NULL, 0);
    CHECK_U64(out, FIX_UNTOUCHED);
    CHECK_U64(base, 0);
    CHECK_U64(old, 0);
    CHECK_U64((uint64_t)device, 77);
    CHECK_U64((uintptr_t)stream, UINTPTR_MAX);
}

TEST_NEAR_MISS(CTX_CURRENT, work_with_a_context)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    uint64_t free_bytes = 0;
    fix_need(f, vmm_ctx_set_current(S, NULL));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_memset_d8(S, ptr, 1, 1));
    ACCEPTED(vmm_mem_get_info(S, &free_bytes, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_stream_synchronize(S, NULL));
}

/* A destroyed context can still be made current; calls that need it are then refused. */
TEST_BREAKS(CTX_DESTROYED, work_in_a_context_that_ended)
{
    fix_need_simulator(f, ended);
    vmm_context ctx = fix_context(f, 0), current = NULL;
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL), old = 0;
    fix_context_destroy(f, ctx);
    fix_need(f, vmm_ctx_get_current(S, &current));
    CHECK(current == f->ctx, "the previous context is not current again");
    fix_need(f, vmm_ctx_set_current(S, ctx));
    REFUSED_NEAR(vmm_ctx_synchronize(S), CONTEXT_IS_DESTROYED, NULL, (uintptr_t)ctx, CONTEXT, 0);
    REFUSED_NEAR(vmm_memset_d8(S, ptr, 1, 1), CONTEXT_IS_DESTROYED, NULL, (uintptr_t)ctx, CONTEXT, 0);
    REFUSED_NEAR(vmm_mem_alloc(S, &old, f->g), CONTEXT_IS_DESTROYED, NULL, (uintptr_t)ctx, CONTEXT, 0);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
}

TEST_NEAR_MISS(CTX_DESTROYED, work_after_a_context_ended)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    fix_context_destroy(f, fix_context(f, 0));
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_memset_d8(S, ptr, 1, 1));
}

TEST_BREAKS(STREAM_NULL, stream_without_place_for_it)
{
    REFUSED(vmm_stream_create(S, NULL, VMM_STREAM_DEFAULT), INVALID_VALUE, "stream", 0);
}

TEST_NEAR_MISS(STREAM_NULL, stream_with_place_for_it)
{
    vmm_stream stream = NULL;
    ACCEPTED(vmm_stream_create(S, &stream, VMM_STREAM_DEFAULT));
    CHECK(stream != NULL, "the stream is NULL");
    ACCEPTED(vmm_stream_destroy(S, stream));
}

TEST_BREAKS(STREAM_FLAGS, stream_with_unknown_flags)
{
    vmm_stream stream = NULL;
    REFUSED(vmm_stream_create(S, &stream, 2), INVALID_VALUE, "flags", 2);
    CHECK(!stream, "a stream was written");
}

TEST_BREAKS(STREAM_UNKNOWN, use_a_stream_that_ended)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    char bytes[4] = "abc";
    vmm_stream stream = fix_stream(f);
    uint64_t value = (uintptr_t)stream;
    fix_stream_destroy(f, stream);
    REFUSED_NEAR(vmm_stream_synchronize(S, stream), INVALID_HANDLE, "stream", value, STREAM, 0);
    REFUSED_NEAR(vmm_stream_query(S, stream), INVALID_HANDLE, "stream", value, STREAM, 0);
    REFUSED_NEAR(vmm_stream_destroy(S, stream), INVALID_HANDLE, "stream", value, STREAM, 0);
    REFUSED_NEAR(vmm_memset_d8_async(S, ptr, 1, 4, stream), INVALID_HANDLE, "stream", value, STREAM, 0);
    REFUSED_NEAR(vmm_memcpy_dtoh_async(S, bytes, ptr, 4, stream), INVALID_HANDLE, "stream", value, STREAM, 0);
    CHECK(bytes[0] == 'a', "the destination was written");
}

TEST_BREAKS(STREAM_DEFAULT, destroy_a_default_stream)
{
    const vmm_stream streams[] = {NULL, VMM_STREAM_LEGACY, VMM_STREAM_PER_THREAD};
    for (size_t i = 0; i < 3; i++)
        REFUSED(vmm_stream_destroy(S, streams[i]), INVALID_HANDLE, "stream", (uintptr_t)streams[i]);
}

TEST_NEAR_MISS(STREAM_DEFAULT, use_a_default_stream)
{
    const vmm_stream streams[] = {NULL, VMM_STREAM_LEGACY, VMM_STREAM_PER_THREAD};
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    for (size_t i = 0; i < 3; i++) {
        ACCEPTED(vmm_memset_d8_async(S, ptr + i, (unsigned char)(i + 1), 1, streams[i]));
        ACCEPTED(vmm_stream_synchronize(S, streams[i]));
        CHECK_U64(fix_peek(f, ptr + i), i + 1);
    }
}

TEST_NEAR_MISS(STREAM_UNKNOWN, use_a_stream)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_memset_d8_async(S, ptr, 6, 4, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    ACCEPTED(vmm_stream_query(S, stream));
    CHECK_U64(fix_peek(f, ptr), 6);
}

/* The end of a context ends its streams and its memory of cuMemAlloc, but nothing of virtual memory management. */
TEST_EXPECTS("context.takes_its_own_along", context_end_ends_streams)
{
    fix_need_simulator(f, "needs a backend that answers for streams that ended (driver 580 crashes)");
    vmm_context ctx = fix_context(f, 0);
    uint64_t before = fix_free_memory(f);
    vmm_stream stream = NULL;
    vmm_deviceptr old = 0;
    fix_need(f, vmm_stream_create(S, &stream, 0));
    fix_need(f, vmm_mem_alloc(S, &old, f->g));
    fix_context_destroy(f, ctx);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    CHECK_FREE(before, 0);
    REFUSED_BY("VMM-STREAM-UNKNOWN", vmm_stream_synchronize(S, stream), INVALID_HANDLE, "stream", (uintptr_t)stream);
    REFUSED_BY("VMM-ALLOC-FREE-UNKNOWN", vmm_mem_free(S, old), INVALID_VALUE, "dptr", old);
}

/* K.destroy_primary: the primary context is reference-counted, so cuCtxDestroy refuses it. */
TEST_BREAKS(CTX_UNKNOWN, destroy_the_primary_context)
{
    vmm_context primary = NULL;
    fix_need(f, vmm_device_primary_ctx_retain(S, &primary, 0));
    REFUSED(vmm_ctx_destroy(S, primary), INVALID_CONTEXT, "ctx", (uintptr_t)primary);
    ACCEPTED(vmm_ctx_set_current(S, primary));
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_ctx_set_current(S, f->ctx));
    fix_need(f, vmm_device_primary_ctx_release(S, 0));
}

/* K.primary: the last release ends the primary context where it is current, and the next retain revives it. */
TEST_EXPECTS("context.primary_revives", primary_context_again)
{
    vmm_context first = NULL, again = NULL, current = NULL;
    fix_need(f, vmm_device_primary_ctx_retain(S, &first, 0));
    fix_need(f, vmm_ctx_set_current(S, first));
    fix_need(f, vmm_device_primary_ctx_release(S, 0));
    fix_need(f, vmm_ctx_get_current(S, &current));
    CHECK(current == first, "the context is not current any more");
    vmm_result result = vmm_ctx_synchronize(S);
    CHECK(result == VMM_ERROR_CONTEXT_IS_DESTROYED, "%s", vmm_result_name(result));
    fix_need(f, vmm_device_primary_ctx_retain(S, &again, 0));
    CHECK(again == first, "the primary context is a different one");
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    fix_need(f, vmm_device_primary_ctx_release(S, 0));
}

/* K.two: after destruction the context from before the creation is current again, even if it has ended too. */
TEST_EXPECTS("context.stack", contexts_made_one_after_the_other)
{
    fix_need_simulator(f, ended);
    vmm_context first = fix_context(f, 0), second = fix_context(f, 0), current = NULL;
    fix_context_destroy(f, first);
    fix_need(f, vmm_ctx_get_current(S, &current));
    CHECK(current == second, "destroying another context changed the current one");
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_context_destroy(f, second);
    fix_need(f, vmm_ctx_get_current(S, &current));
    CHECK(current == first, "the previous context is not current");
    vmm_result result = vmm_ctx_synchronize(S);
    CHECK(result == VMM_ERROR_CONTEXT_IS_DESTROYED, "%s", vmm_result_name(result));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
}
