/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of copies; also built as a CUDA 12 program, whose calls return the index of the refused copy. */
#include <unistd.h>

#include "testing/memory_rig.h"

#if CUDART_VERSION >= 13000
#define BATCH(to, from, sizes, count, attributes, firsts, number, stream) \
    cudaMemcpyBatchAsync(to, (const void *const *)(from), sizes, count, attributes, firsts, number, stream)
#define BOXES(count, list, flags, stream) cudaMemcpy3DBatchAsync(count, list, flags, stream)
#define FAILED(index) (void)failed
#else
#define BATCH(to, from, sizes, count, attributes, firsts, number, stream) \
    cudaMemcpyBatchAsync(to, from, sizes, count, attributes, firsts, number, &failed, stream)
#define BOXES(count, list, flags, stream) cudaMemcpy3DBatchAsync(count, list, &failed, flags, stream)
#define FAILED(index) EQUAL(failed, index)
#endif

static char *device;
static cudaStream_t stream;
static size_t failed = 77;

static void test_bytes(void)
{
    char from[2][16] = {"one", "the other"};
    void *to[] = {device, device + 4096}, *sources[] = {from[0], from[1]};
    size_t sizes[] = {16, 16}, first = 0;
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    OK(BATCH(to, sources, sizes, 2, &attributes, &first, 1, stream));
    OK(cudaDeviceSynchronize());
    EQUAL(byte_of(device + 4096), 't');
    sizes[1] = 2 * RT_G;
    failed = 77;
    REFUSED(BATCH(to, sources, sizes, 2, &attributes, &first, 1, stream), ErrorInvalidValue);
    FAILED(1);
    REFUSED(BATCH(NULL, sources, sizes, 2, &attributes, &first, 1, stream), ErrorInvalidValue);
    FAILED(SIZE_MAX);
    sizes[1] = 16;
    REFUSED(BATCH(to, sources, sizes, 2, &attributes, &first, 1, CU_STREAM_LEGACY), ErrorInvalidValue);
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    OK(BATCH(to, sources, sizes, 2, &attributes, &first, 1, NULL));
#else
    REFUSED(BATCH(to, sources, sizes, 2, &attributes, &first, 1, NULL), ErrorInvalidValue);
#endif
}

static void test_boxes(void)
{
    char from[2][8] = {"abcdefg", "hijklmn"};
    struct cudaMemcpy3DBatchOp box = {.src = {.type = cudaMemcpyOperandTypePointer, .op = {.ptr = {.ptr = from, .rowLength = 8, .layerHeight = 2}}},
                                      .dst = {.type = cudaMemcpyOperandTypePointer, .op = {.ptr = {.ptr = device, .rowLength = 64, .layerHeight = 2}}},
                                      .extent = {.width = 3, .height = 2, .depth = 1},
                                      .srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    OK(cudaMemset(device, 0, 4096));
    OK(BOXES(1, &box, 0, stream));
    OK(cudaDeviceSynchronize());
    EQUAL(byte_of(device + 66), 'j');
    EQUAL(byte_of(device + 67), 0);
    failed = 77;
    box.extent.height = 0;
    REFUSED(BOXES(1, &box, 0, stream), ErrorInvalidValue);
    FAILED(0);
    REFUSED(BOXES(1, NULL, 0, stream), ErrorInvalidValue);
}

int main(void)
{
    alarm(60);
    setenv("CUVMM_SIM", "sim:h100", 1);
    CUmemGenericAllocationHandle handle = 0;
    OK(cudaFree(NULL));
    device = mapped(0, RT_G, &handle);
    EQUAL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    test_bytes();
    test_boxes();
    EQUAL(cuStreamDestroy(stream), CUDA_SUCCESS);
    unmapped(device, RT_G, handle);
    return tap_done();
}
