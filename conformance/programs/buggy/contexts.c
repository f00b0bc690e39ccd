/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts and streams that are missing, destroyed or lost. */
#include "buggy.h"

PROGRAM(init_forgotten, .does = "forgets cuInit", .rule = "VMM-INIT-REQUIRED", .at = "cuMemAddressReserve",
        .way = "cuInit(0) before everything", .bare = true)
{
    vmm_deviceptr p = 0;
    FIX(DO(vmm_init(S, 0)));
    REPORTED(vmm_mem_address_reserve(S, &p, G, 0, 0, 0));
    FIX(RIGHT(p != 0); DO(vmm_mem_address_free(S, p, G)));
}

/* Managing memory needs no context, so a program gets as far as its first copy. */
PROGRAM(no_context_current, .does = "maps and grants without a context, and then copies", .rule = "VMM-CTX-CURRENT",
        .at = "cuMemsetD8", .way = "retain the primary context and make it current", .bare = true)
{
    vmm_handle memory;
    vmm_context context = NULL;
    DO(vmm_init(S, 0));
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    FIX(DO(vmm_device_primary_ctx_retain(S, &context, 0)); DO(vmm_ctx_set_current(S, context)));
    REPORTED(vmm_memset_d8(S, p, 1, G));
    FIX(RIGHT(byte_at(b, p) == 1); DO(vmm_device_primary_ctx_release(S, 0)));
    give_back(b, p, G, memory);
}

/* The context is still current in this thread, and already destroyed. */
PROGRAM(work_after_the_last_release, .does = "goes on working after releasing the primary context",
        .rule = "VMM-CTX-DESTROYED", .at = "cuMemsetD8", .way = "release after the last work", .bare = true)
{
    vmm_handle memory;
    vmm_context context = NULL;
    DO(vmm_init(S, 0));
    DO(vmm_device_primary_ctx_retain(S, &context, 0));
    DO(vmm_ctx_set_current(S, context));
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    BUG(DO(vmm_device_primary_ctx_release(S, 0)));
    REPORTED(vmm_memset_d8(S, p, 1, G));
    FIX(RIGHT(byte_at(b, p) == 1); DO(vmm_device_primary_ctx_release(S, 0)));
    give_back(b, p, G, memory);
}

PROGRAM(primary_released_too_often, .does = "releases the primary context in two destructors",
        .rule = "VMM-CTX-PRIMARY-UNUSED", .at = "cuDevicePrimaryCtxRelease", .way = "one release for each retain",
        .bare = true)
{
    vmm_context context = NULL;
    DO(vmm_init(S, 0));
    DO(vmm_device_primary_ctx_retain(S, &context, 0));
    RIGHT(context != NULL);
    DO(vmm_device_primary_ctx_release(S, 0));
    BUG(REPORTED(vmm_device_primary_ctx_release(S, 0)));
}

PROGRAM(context_destroyed_twice, .does = "destroys a context twice", .rule = "VMM-CTX-UNKNOWN", .at = "cuCtxDestroy",
        .way = "set the variable to NULL when it is destroyed", .driver = "INVALID_CONTEXT or CONTEXT_IS_DESTROYED",
        .argument = "ctx")
{
    vmm_context context = NULL;
    DO(vmm_ctx_create(S, &context, 0, 0));
    RIGHT(context != NULL);
    VALUE((uintptr_t)context);
    DO(vmm_ctx_destroy(S, context));
    BUG(REPORTED(vmm_ctx_destroy(S, context)));
}

PROGRAM(stream_after_destroy, .does = "issues work on a stream that was destroyed", .rule = "VMM-STREAM-UNKNOWN",
        .at = "cuMemsetD8Async", .way = "destroy streams last")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    vmm_stream work = stream(b);
    BUG(DO(vmm_stream_destroy(S, work)));
    REPORTED(vmm_memset_d8_async(S, p, 1, G, work));
    FIX(DO(vmm_stream_synchronize(S, work)); RIGHT(byte_at(b, p) == 1); DO(vmm_stream_destroy(S, work)));
    give_back(b, p, G, memory);
}

PROGRAM(stream_after_its_context, .does = "destroys a context, and then the streams in it", .rule = "VMM-STREAM-UNKNOWN",
        .at = "cuStreamDestroy", .way = "streams go with their context: destroy them before it")
{
    vmm_context context = NULL;
    DO(vmm_ctx_create(S, &context, 0, 0));
    vmm_stream work = stream(b);
    RIGHT(work != NULL);
    FIX(DO(vmm_stream_destroy(S, work)));
    DO(vmm_ctx_destroy(S, context));
    BUG(REPORTED(vmm_stream_destroy(S, work)));
}

/* Mapped memory outlives contexts; memory of cuMemAlloc does not. */
PROGRAM(cumemalloc_after_its_context, .does = "uses memory of cuMemAlloc after its context was destroyed",
        .rule = "VMM-COPY-NOT-MAPPED", .at = "cuMemcpyDtoH", .way = "copy before, or use virtual memory management",
        .argument = "srcDevice")
{
    vmm_context context = NULL;
    vmm_deviceptr p = 0;
    unsigned char back = 0;
    DO(vmm_ctx_create(S, &context, 0, 0));
    DO(vmm_mem_alloc(S, &p, 4096));
    DO(vmm_memset_d8(S, p, 4, 4096));
    FIX(DO(vmm_memcpy_dtoh(S, &back, p, 1)));
    DO(vmm_ctx_destroy(S, context));
    BUG(REPORTED(vmm_memcpy_dtoh(S, &back, p, 1)));
    RIGHT(back == 4);
}

/* A fault affects more than its kernel. */
PROGRAM(work_on_a_lost_device, .does = "goes on after a kernel faulted, as if that call alone had failed",
        .rule = "VMM-FAULT-ACCESS", .at = "cuCtxSynchronize", .way = "end the process; calls that unmap and release still work",
        .then = "VMM-FAULT-STICKY")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped_below_free(b, &memory);
    CAUSE(LAUNCH(NULL, FILL, p, BUG_OR_FIX(2 * G, G), 1));
    REPORTED(vmm_ctx_synchronize(S));
    THEN(vmm_memset_d8(S, p, 0, 16));
    FIX(RIGHT(byte_at(b, p) == 0 && byte_at(b, p + 16) == 1));
    give_back_below_free(b, p, memory);
}
