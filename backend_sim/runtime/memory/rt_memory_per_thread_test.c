/* SPDX-License-Identifier: Apache-2.0 */
/* The per-thread forms: all exist and do the same as the others, but with another stream 0. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include <unistd.h>

#include "testing/memory_rig.h"

enum { SIZE = 4096 };

static char from[4][8] = {"abcdefg", "hijklmn", "opqrstu", "vwxyz01"}, back[4][8];

static void test_copies(char *device)
{
    struct cudaMemcpy3DParms layers = {.srcPtr = {.ptr = from, .pitch = 8, .xsize = 8, .ysize = 2},
                                       .dstPtr = {.ptr = device + 1024, .pitch = 64, .xsize = 8, .ysize = 2},
                                       .extent = {.width = 8, .height = 2, .depth = 2},
                                       .kind = cudaMemcpyHostToDevice};
    struct cudaMemcpy3DPeerParms peers = {.srcPtr = layers.dstPtr, .dstPtr = layers.dstPtr, .extent = layers.extent};
    peers.dstPtr.ptr = device + 2048;
    OK(cudaMemcpy(device, from, 32, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(device + 64, device, 32, cudaMemcpyDeviceToDevice, NULL));
    OK(cudaMemcpy2D(device + 128, 16, from, 8, 8, 4, cudaMemcpyDefault));
    OK(cudaMemcpy2DAsync(device + 256, 16, device + 128, 16, 8, 4, cudaMemcpyDeviceToDevice, NULL));
    OK(cudaMemcpy3D(&layers));
    OK(cudaMemcpy3DAsync(&layers, NULL));
    OK(cudaMemcpy3DPeer(&peers));
    OK(cudaMemcpy3DPeerAsync(&peers, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(back, device + 64, 32, cudaMemcpyDeviceToHost));
    EQUAL(memcmp(back, from, 32), 0);
    tap_ok(byte_of(device + 256 + 16) == 'h' && byte_of(device + 2048 + 3 * 64) == 'v', "rows and layers");
}

static void test_batches(char *device)
{
    void *to[] = {device};
    const void *sources[] = {from};
    size_t sizes[] = {8}, first = 0;
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    OK(cudaMemcpyBatchAsync(to, sources, sizes, 1, &attributes, &first, 1, NULL));
    REFUSED(cudaMemcpyBatchAsync(to, sources, sizes, 1, &attributes, &first, 1, CU_STREAM_LEGACY), ErrorInvalidValue);
    REFUSED(cudaMemcpy3DBatchAsync(1, NULL, 0, NULL), ErrorInvalidValue);
}

static void test_fills(char *device)
{
    struct cudaPitchedPtr to = {.ptr = device + 1024, .pitch = 64, .xsize = 8, .ysize = 2};
    OK(cudaMemset(device, 1, 8));
    OK(cudaMemsetAsync(device + 8, 2, 8, NULL));
    OK(cudaMemset2D(device + 64, 16, 3, 8, 2));
    OK(cudaMemset2DAsync(device + 128, 16, 4, 8, 2, NULL));
    OK(cudaMemset3D(to, 5, (struct cudaExtent){.width = 8, .height = 2, .depth = 2}));
    to.ptr = device + 2048;
    OK(cudaMemset3DAsync(to, 6, (struct cudaExtent){.width = 8, .height = 1, .depth = 2}, NULL));
    OK(cudaDeviceSynchronize());
    tap_ok(byte_of(device + 7) == 1 && byte_of(device + 8) == 2 && byte_of(device + 80) == 3 && byte_of(device + 144) == 4 &&
               byte_of(device + 1024 + 192) == 5 && byte_of(device + 2048 + 128) == 6,
           "fills");
}

static void test_ordered(void)
{
    cudaMemPool_t pool = NULL;
    void *p = NULL;
    OK(cudaDeviceGetMemPool(&pool, 0));
    OK(cudaMallocAsync(&p, 8, NULL));
    OK(cudaFreeAsync(p, NULL));
    OK(cudaMallocFromPoolAsync(&p, 8, pool, NULL));
    OK(cudaFreeAsync(p, NULL));
    OK(cudaDeviceSynchronize());
}

/* During the capture of another stream, the per-thread stream accepts work, but not the legacy one, which would wait
 * for that stream. */
static void test_own_stream(char *device)
{
    CUstream capturing;
    CUgraph graph = NULL;
    EQUAL(cuStreamCreate(&capturing, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    EQUAL(cuStreamBeginCapture(capturing, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    OK(cudaMemsetAsync(device, 9, 8, NULL));
    EQUAL(cuStreamEndCapture(capturing, &graph), CUDA_SUCCESS);
    EQUAL(cuGraphDestroy(graph), CUDA_SUCCESS);
    EQUAL(cuStreamBeginCapture(capturing, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    IS(cudaMemsetAsync(device, 9, 8, CU_STREAM_LEGACY), ErrorStreamCaptureImplicit);
    EQUAL(cuStreamEndCapture(capturing, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EQUAL(cuStreamDestroy(capturing), CUDA_SUCCESS);
}

int main(void)
{
    char *device = NULL;
    alarm(60);
    setenv("CUVMM_SIM", "sim:h100", 1);
    OK(cudaMalloc((void **)&device, SIZE));
    test_copies(device);
    test_batches(device);
    test_fills(device);
    test_ordered();
    test_own_stream(device);
    OK(cudaFree(device));
    return tap_done();
}
