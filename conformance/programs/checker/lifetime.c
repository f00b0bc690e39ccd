/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, handles and addresses after their end. */
#include "growing.h"
#include "share.h"

/* A pointer into the part that was given up. In the correct form there is other memory by then. */
PROGRAM(pointer_into_what_shrank, .group = "other")
{
    struct arena arena;
    unsigned char first[64];
    arena_open(&arena, 0);
    DO(arena_grow(&arena, 3));
    DO(cuMemsetD8(arena.base, 0, 3 * arena.chunk));
    CUdeviceptr saved = arena.base + 2 * arena.chunk;
    DO(arena_shrink(&arena, 1));
    if (!BUG) {
        DO(arena_grow(&arena, 1));
        DO(cuMemsetD8(saved, 0, arena.chunk));
    }
    TRY(cuMemcpyDtoH(first, saved, sizeof first)); /* finding: pointer_into_what_shrank VMM-COPY-NOT-MAPPED */
    arena_close(&arena);
}

/* A copy of all pages, one too many. The correct form crosses the seam of two pages. */
PROGRAM(copy_past_the_end, .group = "other")
{
    struct arena pages;
    arena_open(&pages, 0);
    DO(arena_grow(&pages, 2));
    DO(cuMemsetD8(pages.base, 0, 2 * pages.chunk));
    size_t page = pages.chunk / 4, from = BUG ? 6 * page : 3 * page;
    unsigned char *host = malloc(3 * page);
    TRY(cuMemcpyDtoH(host, pages.base + from, 3 * page)); /* finding: copy_past_the_end VMM-COPY-RUNS-PAST */
    free(host);
    arena_close(&pages);
}

/* Two owners, each of which assumes that it is the last. The correct form has a reference of the second one's own. */
PROGRAM(released_twice, .group = "other", .sim = true)
{
    struct counted first = {.holders = 1}, second = {.holders = 1};
    CUdeviceptr at;
    size_t unit = buffer_unit();
    CUmemAllocationProp prop = buffer_prop(0);
    DO(cuMemCreate(&first.memory, unit, &prop, 0));
    DO(cuMemAddressReserve(&at, unit, 0, 0, 0));
    DO(cuMemMap(at, unit, 0, first.memory, 0));
    second.memory = first.memory;
    if (!BUG)
        DO(cuMemRetainAllocationHandle(&second.memory, (void *)(uintptr_t)at));
    DO(cuMemUnmap(at, unit));
    counted_drop(&first, true);
    counted_drop(&second, true); /* caller: released_twice */
    DO(cuMemAddressFree(at, unit));
}

/* Handles may be released as soon as their memory is mapped, and not before. */
PROGRAM(mapped_after_release, .group = "other", .sim = true)
{
    struct counted page = {.holders = 1};
    CUdeviceptr at;
    size_t unit = buffer_unit();
    CUmemAllocationProp prop = buffer_prop(0);
    DO(cuMemAddressReserve(&at, unit, 0, 0, 0));
    DO(cuMemCreate(&page.memory, unit, &prop, 0));
    if (BUG)
        counted_drop(&page, true);
    bool mapped = TRY(cuMemMap(at, unit, 0, page.memory, 0)); /* finding: mapped_after_release VMM-MAP-HANDLE-STALE */
    if (!BUG)
        counted_drop(&page, true);
    if (mapped) {
        DO(buffer_allow(at, unit, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
        DO(cuMemsetD8(at, 1, unit));
        DO(cuMemUnmap(at, unit));
    }
    DO(cuMemAddressFree(at, unit));
}

/* The general-purpose free function of a library whose buffers are of two kinds. */
PROGRAM(freed_as_ordinary_memory, .group = "other")
{
    CUdeviceptr ordinary, page = buffer_new(BYTES);
    unsigned int kind = 0;
    DO(cuMemAlloc(&ordinary, BYTES));
    CUdeviceptr list[2] = {page, ordinary};
    for (int i = 0; i < 2; i++) {
        DO(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, list[i]));
        if (!BUG && list[i] == page) /* both are CU_MEMORYTYPE_DEVICE */
            buffer_free(page, BYTES);
        else if (kind == CU_MEMORYTYPE_DEVICE)
            TRY(cuMemFree(list[i])); /* finding: freed_as_ordinary_memory VMM-ALLOC-FREE-VMM */
    }
    if (BUG)
        buffer_free(page, BYTES);
}

/* Two releases of one block, by its user and by the end of the request. */
PROGRAM(pool_memory_freed_twice, .group = "other")
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUmemoryPool pool = scratch_pool();
    CUdeviceptr block, again = 0;
    DO(cuMemAllocFromPoolAsync(&block, BYTES, pool, stream));
    FILL(stream, block, WORDS, 1);
    scratch_free(block, stream);
    if (!BUG)
        DO(cuMemAllocFromPoolAsync(&again, BYTES, pool, stream)); /* the same address, most likely */
    scratch_free(BUG ? block : again, stream); /* caller: pool_memory_freed_twice */
    stream_end(stream);
    DO(cuMemPoolDestroy(pool));
}

/* The free is in the stream's order, and so is the use: after it. */
PROGRAM(used_after_the_free, .group = "other")
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUmemoryPool pool = scratch_pool();
    CUdeviceptr block, result = buffer_new(BYTES);
    DO(cuMemAllocFromPoolAsync(&block, BYTES, pool, stream));
    DO(cuMemsetD32Async(block, 1, WORDS, stream));
    if (!BUG)
        DO(cuMemcpyDtoDAsync(result, block, BYTES, stream));
    scratch_free(block, stream);
    if (BUG)
        COPY(stream, result, block, WORDS); /* finding: used_after_the_free VMM-POOL-USE-FREED */
    stream_end(stream);
    DO(cuMemPoolDestroy(pool));
    buffer_free(result, BYTES);
}
