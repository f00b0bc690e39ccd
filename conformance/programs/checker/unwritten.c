/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is read before anything was written to it. */
#include "tensor.h"

/* A checkpoint of the whole arena, which has just grown. The correct form has cleared the new chunk through a second address. */
PROGRAM(grown_tail_downloaded, .group = "unwritten")
{
    struct arena arena;
    arena_open(&arena, 0);
    DO(arena_grow(&arena, 1));
    DO(cuMemsetD8(arena.base, 1, arena.chunk));
    DO(arena_grow(&arena, 1));
    if (!BUG) {
        CUdeviceptr second;
        DO(cuMemAddressReserve(&second, arena.chunk, 0, 0, 0));
        DO(cuMemMap(second, arena.chunk, 0, arena.handle[1], 0));
        DO(buffer_allow(second, arena.chunk, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
        DO(cuMemsetD8(second, 0, arena.chunk));
        DO(cuCtxSynchronize());
        DO(cuMemUnmap(second, arena.chunk));
        DO(cuMemAddressFree(second, arena.chunk));
    }
    unsigned char *checkpoint = malloc(2 * arena.chunk);
    DO(cuMemcpyDtoH(checkpoint, arena.base, 2 * arena.chunk)); /* finding: grown_tail_downloaded VMM-UNWRITTEN-READ */
    free(checkpoint);
    arena_close(&arena);
}

/* A model that sleeps gives its memory up; what wakes is other memory, unless its bytes were kept. */
PROGRAM(woken_without_its_bytes, .group = "unwritten")
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    struct tensor weights;
    CUdeviceptr sum = buffer_new(BYTES);
    tensor_open(&weights, BYTES);
    FILL(stream, weights.at, WORDS, 7);
    DO(cuStreamSynchronize(stream));
    tensor_sleep(&weights, !BUG);
    tensor_wake(&weights);
    SUM(stream, weights.at, WORDS, sum); /* finding: woken_without_its_bytes VMM-UNWRITTEN-READ */
    stream_end(stream);
    tensor_close(&weights);
    buffer_free(sum, BYTES);
}

/* The size of a copy in words where bytes are meant. */
PROGRAM(size_in_words, .group = "unwritten")
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr table = buffer_new(BYTES), sum = buffer_new(BYTES);
    static unsigned int host[WORDS];
    for (unsigned int i = 0; i < WORDS; i++)
        host[i] = i;
    DO(cuMemcpyHtoDAsync(table, host, BUG ? WORDS : BYTES, stream));
    SUM(stream, table, WORDS, sum); /* finding: size_in_words VMM-UNWRITTEN-READ */
    stream_end(stream);
    buffer_free(table, BYTES);
    buffer_free(sum, BYTES);
}

/* A kernel that adds to the existing contents. */
PROGRAM(accumulator_not_cleared, .group = "unwritten")
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr grads = buffer_new(BYTES);
    if (!BUG)
        DO(cuMemsetD2D32Async(grads, 4 * WORDS / 64, 0, WORDS / 64, 64, stream));
    for (unsigned int micro = 0; micro < 4; micro++)
        ADD(stream, grads, WORDS, micro); /* finding: accumulator_not_cleared VMM-UNWRITTEN-READ */
    stream_end(stream);
    buffer_free(grads, BYTES);
}

/* Rows with padding behind each: the padding comes along in one copy of everything, and not in a copy of rows. */
PROGRAM(padding_of_rows, .group = "unwritten")
{
    enum { WIDTH = 100, PITCH = 128, ROWS = 32 };
    static unsigned char host[PITCH * ROWS];
    CUdeviceptr image = buffer_new(BYTES);
    rows_upload(image, PITCH, host, WIDTH, ROWS);
    if (BUG)
        DO(cuMemcpyDtoH(host, image, PITCH * ROWS)); /* finding: padding_of_rows VMM-UNWRITTEN-READ */
    else
        rows_download(host, image, PITCH, WIDTH, ROWS);
    buffer_free(image, BYTES);
}

/* Memory of cuMemAlloc is not cleared either. */
PROGRAM(ordinary_memory_not_cleared, .group = "unwritten")
{
    CUdeviceptr flags, sum = buffer_new(BYTES);
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    DO(cuMemAlloc(&flags, BYTES));
    DO(cuMemsetD32Async(flags, 0, BUG ? WORDS - 1 : WORDS, stream));
    SUM(stream, flags, WORDS, sum); /* finding: ordinary_memory_not_cleared VMM-UNWRITTEN-READ */
    stream_end(stream);
    DO(cuMemFree(flags));
    buffer_free(sum, BYTES);
}

/* Blocks of 64 words: the last one of 10 words is read whole. The correct form has written the rest in another copy. */
PROGRAM(last_block_read_whole, .group = "unwritten")
{
    enum { BLOCK = 64, N = 3 * BLOCK + 10 };
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr list = buffer_new(BYTES), sum = buffer_new(BYTES);
    FILL(stream, list, N, 1);
    if (!BUG)
        DO(cuMemsetD32Async(list + 4 * N, 0, BLOCK - N % BLOCK, stream));
    for (unsigned int block = 0; block < 4; block++)
        SUM(stream, list + 4 * block * BLOCK, BLOCK, sum + 4 * block); /* finding: last_block_read_whole VMM-UNWRITTEN-READ */
    stream_end(stream);
    buffer_free(list, BYTES);
    buffer_free(sum, BYTES);
}

/* Memory keeps its bytes wherever it is mapped; an address does not. */
PROGRAM(moved_without_its_memory, .group = "unwritten")
{
    struct tensor cache;
    static unsigned int host[WORDS];
    tensor_open(&cache, BYTES);
    DO(cuMemcpyHtoD(cache.at, host, BYTES));
    tensor_move(&cache, !BUG);
    DO(cuMemcpyDtoH(host, cache.at, BYTES)); /* finding: moved_without_its_memory VMM-UNWRITTEN-READ */
    tensor_close(&cache);
}
