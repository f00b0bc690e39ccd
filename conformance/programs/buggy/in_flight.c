/* SPDX-License-Identifier: Apache-2.0 */
/* Unmapping memory and revoking rights that in-flight work still needs. */
#include "buggy.h"

/* An allocator's free: the caller's kernel is still running. */
PROGRAM(unmap_under_a_kernel, .does = "frees a buffer while a kernel still writes it", .rule = "VMM-UNMAP-IN-FLIGHT",
        .at = "cuMemUnmap", .way = "synchronise, then unmap", .driver = "SUCCESS; the kernel may fault later",
        .argument = "ptr", .near = VMM_OBJECT_MAPPING, .then = "VMM-FAULT-ACCESS")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    CAUSE(LAUNCH(NULL, FILL, p, G, 7));
    FIX(DO(vmm_ctx_synchronize(S)); RIGHT(byte_at(b, p + G - 1) == 7));
    VALUE(p);
    REPORTED(vmm_mem_unmap(S, p, G));
    THEN(vmm_ctx_synchronize(S));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

PROGRAM(unmap_under_a_fill, .does = "frees a buffer after cuMemsetD8Async, as if that had waited",
        .rule = "VMM-UNMAP-IN-FLIGHT", .at = "cuMemUnmap", .way = "synchronise the stream first",
        .driver = "SUCCESS; the fill may fault later", .near = VMM_OBJECT_MAPPING,
        .then = "VMM-FAULT-COPY")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    CAUSE(vmm_memset_d8_async(S, p, 0x5a, G, NULL));
    FIX(DO(vmm_stream_synchronize(S, NULL)); RIGHT(byte_at(b, p) == 0x5a));
    REPORTED(vmm_mem_unmap(S, p, G));
    THEN(vmm_ctx_synchronize(S));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

/* Growing by copying: the old memory is unmapped while the copy out of it is in flight. */
PROGRAM(grow_by_copy_frees_the_source, .does = "moves an array with cuMemcpyDtoDAsync and frees the old one at once",
        .rule = "VMM-UNMAP-IN-FLIGHT", .at = "cuMemUnmap", .way = "wait for the copy",
        .driver = "SUCCESS; the copy may fault later", .near = VMM_OBJECT_MAPPING,
        .then = "VMM-FAULT-COPY")
{
    vmm_handle small, large;
    vmm_deviceptr old = mapped(b, G, RW, &small), grown = mapped(b, 2 * G, RW, &large);
    DO(vmm_memset_d8(S, old, 9, G));
    CAUSE(vmm_memcpy_dtod_async(S, grown, old, G, NULL));
    FIX(DO(vmm_ctx_synchronize(S)); RIGHT(byte_at(b, grown + G - 1) == 9));
    VALUE(old);
    REPORTED(vmm_mem_unmap(S, old, G));
    THEN(vmm_ctx_synchronize(S));
    DO(vmm_mem_release(S, small));
    DO(vmm_mem_address_free(S, old, G));
    give_back(b, grown, 2 * G, large);
}

PROGRAM(unmap_after_waiting_for_the_wrong_stream, .does = "waits for one stream and frees what another one uses",
        .rule = "VMM-UNMAP-IN-FLIGHT", .at = "cuMemUnmap", .way = "wait for the stream that uses it",
        .driver = "SUCCESS; the kernel may fault later", .then = "VMM-FAULT-ACCESS")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    vmm_stream compute = stream(b), copies = stream(b);
    CAUSE(LAUNCH(compute, PATTERN_WRITE, p, G, 3));
    DO(vmm_stream_synchronize(S, BUG_OR_FIX(copies, compute)));
    FIX(RIGHT(byte_at(b, p) || byte_at(b, p + 1)));
    REPORTED(vmm_mem_unmap(S, p, G));
    DO(vmm_stream_destroy(S, compute));
    DO(vmm_stream_destroy(S, copies));
    THEN(vmm_ctx_synchronize(S));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

/* cuStreamDestroy returns at once; the issued work continues. */
PROGRAM(unmap_after_destroying_the_stream, .does = "takes the end of a stream for the end of its work",
        .rule = "VMM-UNMAP-IN-FLIGHT", .at = "cuMemUnmap", .way = "synchronise the stream before it is destroyed",
        .driver = "SUCCESS; the kernel may fault later", .then = "VMM-FAULT-ACCESS")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    vmm_stream work = stream(b);
    CAUSE(LAUNCH(work, ATOMIC_ADD, p, 100));
    FIX(DO(vmm_stream_synchronize(S, work)); RIGHT(byte_at(b, p) == 100));
    DO(vmm_stream_destroy(S, work));
    REPORTED(vmm_mem_unmap(S, p, G));
    THEN(vmm_ctx_synchronize(S));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

/* A pool frees its last chunk; the kernel works on that one, too, and not only on the first. */
PROGRAM(shrink_under_a_kernel, .does = "shrinks an array by the last chunk while a kernel goes over all of it",
        .rule = "VMM-UNMAP-IN-FLIGHT", .at = "cuMemUnmap", .way = "shrink after the kernel, or launch it for the rest only",
        .driver = "SUCCESS; the kernel may fault later", .near = VMM_OBJECT_MAPPING, .then = "VMM-FAULT-ACCESS")
{
    vmm_deviceptr p = chunks(b, 2, RW);
    CAUSE(LAUNCH(NULL, FILL, p, BUG_OR_FIX(2 * G, G), 7));
    VALUE(p + G);
    NEAR(p + G);
    REPORTED(vmm_mem_unmap(S, p + G, G)); /* no overlap with the work: the corrected form has no report */
    THEN(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p + G - 1) == 7));
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_address_free(S, p, 2 * G));
}

/* One allocation at two addresses, without a wait. What counts is the mapping that the kernel uses. */
PROGRAM(unmap_the_view_in_use, .does = "keeps the wrong one of two mappings of the same memory for a kernel",
        .rule = "VMM-UNMAP-IN-FLIGHT", .at = "cuMemUnmap", .way = "unmap the view that no work uses, or wait",
        .driver = "SUCCESS; the kernel may fault later", .near = VMM_OBJECT_MAPPING, .then = "VMM-FAULT-ACCESS")
{
    vmm_handle memory = create(b, G);
    vmm_deviceptr views = reserve(b, 2 * G), used = views, other = views + G;
    DO(vmm_mem_map(S, used, G, 0, memory, 0));
    DO(vmm_mem_map(S, other, G, 0, memory, 0));
    DO(grant(b, views, 2 * G, DEVICE(0), RW));
    CAUSE(LAUNCH(NULL, FILL, used, G, 7));
    NEAR(used);
    REPORTED(vmm_mem_unmap(S, BUG_OR_FIX(used, other), G));
    THEN(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, used) == 7));
    DO(vmm_mem_unmap(S, BUG_OR_FIX(other, used), G));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, views, 2 * G));
}

/* Sealing a buffer after it was filled; the corrected form also releases the handle in flight, which is harmless. */
PROGRAM(seal_under_the_writer, .does = "makes a buffer READ while the kernel that fills it still runs",
        .rule = "VMM-ACCESS-IN-FLIGHT", .at = "cuMemSetAccess", .way = "synchronise before taking rights away",
        .driver = "SUCCESS; the kernel may fault later", .near = VMM_OBJECT_MAPPING, .then = "VMM-FAULT-ACCESS")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    CAUSE(LAUNCH(NULL, FILL, p, G, 7));
    DO(vmm_mem_release(S, memory));
    FIX(DO(vmm_ctx_synchronize(S)));
    REPORTED(grant(b, p, G, DEVICE(0), READ));
    THEN(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p + G - 1) == 7));
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_address_free(S, p, G));
}

PROGRAM(revoke_under_a_reader, .does = "takes all rights away while a kernel still reads",
        .rule = "VMM-ACCESS-IN-FLIGHT", .at = "cuMemSetAccess", .way = "synchronise before taking rights away",
        .driver = "SUCCESS; the kernel may fault later", .then = "VMM-FAULT-ACCESS")
{
    vmm_handle memory, answer;
    vmm_deviceptr p = mapped(b, G, READ, &memory), sum = mapped(b, G, RW, &answer);
    CAUSE(LAUNCH(NULL, SUM, p, G, sum));
    FIX(DO(vmm_ctx_synchronize(S)); RIGHT(byte_at(b, sum) == 0));
    REPORTED(grant(b, p, G, DEVICE(0), NONE));
    THEN(vmm_ctx_synchronize(S));
    give_back(b, p, G, memory);
    give_back(b, sum, G, answer);
}

/* Narrowing rights to what the work needs is allowed, even in flight: the corrected form does not wait. */
PROGRAM(seal_under_an_atomic, .does = "takes a kernel that counts with atomics for one that only reads",
        .rule = "VMM-ACCESS-IN-FLIGHT", .at = "cuMemSetAccess", .way = "atomics write: leave READWRITE until they are done",
        .driver = "SUCCESS; the kernel may fault later", .then = "VMM-FAULT-ACCESS")
{
    vmm_handle memory, answer;
    vmm_deviceptr p = mapped(b, G, RW, &memory), sum = mapped(b, G, RW, &answer);
    DO(vmm_memset_d8(S, p, 1, 8));
    CAUSE(BUG_OR_FIX(LAUNCH(NULL, ATOMIC_ADD, p, 1), LAUNCH(NULL, SUM, p, 8, sum)));
    REPORTED(grant(b, p, G, DEVICE(0), READ));
    THEN(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, sum) == 8));
    give_back(b, p, G, memory);
    give_back(b, sum, G, answer);
}

/* A ring of chunks: the range is one chunk too long, so the chunk in use loses its rights as well. */
PROGRAM(revoke_one_chunk_too_many, .does = "revokes a range that reaches into the chunk a fill is working on",
        .rule = "VMM-ACCESS-IN-FLIGHT", .at = "cuMemSetAccess", .way = "revoke only the chunks that nothing uses",
        .driver = "SUCCESS; the fill may fault later", .then = "VMM-FAULT-COPY")
{
    vmm_deviceptr p = chunks(b, 3, RW);
    CAUSE(vmm_memset_d8_async(S, p + 2 * G, 4, G, NULL));
    NEAR(p + 2 * G);
    REPORTED(grant(b, p, BUG_OR_FIX(3 * G, 2 * G), DEVICE(0), NONE));
    THEN(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p + 2 * G) == 4));
    give_chunks_back(b, p, 3);
}
