/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills of rows and boxes. */
#include <unistd.h>

#include "testing/memory_rig.h"

static char *device, *gap; /* 4 MiB; nothing follows the second */
static char from[4][8] = {"abcdefg", "hijklmn", "opqrstu", "vwxyz01"}, back[4][8];
static cudaStream_t stream;

static void test_rows(void)
{
    OK(cudaMemset(device, 0, 4096));
    OK(cudaMemcpy2D(device, 256, from, 8, 3, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DAsync(device + 1024, 512, device, 256, 3, 4, cudaMemcpyDeviceToDevice, stream));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy2D(back, 8, device + 1024, 512, 3, 4, cudaMemcpyDeviceToHost));
    tap_ok(!memcmp(back[0], "abc\0", 4) && !memcmp(back[3], "vwx\0", 4), "four rows of three bytes there and back");
    memset(back, 0, sizeof back);
    OK(cudaMemcpy2D(back, 8, device, 256, 2, 2, cudaMemcpyDefault));
    tap_ok(!memcmp(back[1], "hi\0", 3), "the kind that follows from the addresses");
    OK(cudaMemcpy2D(back, 8, from, 8, 8, 4, cudaMemcpyHostToHost));
    EQUAL(memcmp(back, from, sizeof from), 0);
    OK(cudaMemcpy2D(device, 256, from, 8, 0, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(device, 256, from, 8, 3, 0, cudaMemcpyHostToDevice));
}

static void test_wrong_rows(void)
{
    OK(cudaMemset(device, 0, 4096));
    REFUSED(cudaMemcpy2D(device, 2, from, 8, 3, 4, cudaMemcpyHostToDevice), ErrorInvalidPitchValue);
    REFUSED(cudaMemcpy2D(device, 256, from, 2, 3, 4, cudaMemcpyHostToDevice), ErrorInvalidPitchValue);
    REFUSED(cudaMemcpy2DAsync(device, 2, from, 8, 3, 4, cudaMemcpyHostToDevice, stream), ErrorInvalidPitchValue);
    REFUSED(cudaMemcpy2D(device, (size_t)1 << 31, from, 8, 3, 4, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy2D(device, 256, from, 8, 3, 4, (enum cudaMemcpyKind)5), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpy2DAsync(device, 256, from, 8, 3, 4, (enum cudaMemcpyKind)-1, stream), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpy2D(NULL, 256, from, 8, 3, 4, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy2D(device, 256, NULL, 8, 3, 4, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy2D(gap, RT_G, from, 8, 3, 4, cudaMemcpyHostToDevice), ErrorInvalidValue);
    EQUAL(byte_of(device), 0);
}

static struct cudaMemcpy3DParms whole(void *to, size_t to_pitch, void *source, size_t pitch, enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {.ptr = source, .pitch = pitch, .xsize = 8, .ysize = 2},
                                      .dstPtr = {.ptr = to, .pitch = to_pitch, .xsize = 8, .ysize = 2},
                                      .extent = {.width = 8, .height = 2, .depth = 2},
                                      .kind = kind};
}

static void test_layers(void)
{
    struct cudaMemcpy3DParms to = whole(device, 64, from, 8, cudaMemcpyHostToDevice);
    struct cudaMemcpy3DParms home = whole(back, 8, device, 64, cudaMemcpyDeviceToHost);
    memset(back, 0, sizeof back);
    OK(cudaMemcpy3D(&to));
    OK(cudaMemcpy3D(&home));
    EQUAL(memcmp(back, from, sizeof from), 0);
    home.kind = cudaMemcpyDefault;
    home.extent = (struct cudaExtent){.width = 1, .height = 1, .depth = 1};
    home.srcPos = (struct cudaPos){.x = 2, .y = 1, .z = 1};
    home.dstPos = (struct cudaPos){.x = 7, .y = 0, .z = 1};
    OK(cudaMemcpy3DAsync(&home, stream));
    OK(cudaDeviceSynchronize());
    EQUAL(back[2][7], 'x');
}

/* Each possible mistake in an otherwise valid copy. */
static void test_wrong_layers(void)
{
    const struct cudaMemcpy3DParms right = whole(device, 64, from, 8, cudaMemcpyHostToDevice);
    struct cudaMemcpy3DParms wrong = right;
    REFUSED(cudaMemcpy3D(NULL), ErrorInvalidValue);
    REFUSED(cudaMemcpy3DAsync(NULL, stream), ErrorInvalidValue);
    wrong.kind = (enum cudaMemcpyKind)7;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidMemcpyDirection);
    wrong = right;
    wrong.dstPtr.pitch = 7;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidPitchValue);
    wrong = right;
    wrong.srcPtr.pitch = 7;
    REFUSED(cudaMemcpy3DAsync(&wrong, stream), ErrorInvalidPitchValue);
    wrong = right;
    wrong.dstPos.x = 57;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidValue);
    wrong = right;
    wrong.srcPos.y = 1;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidValue);
    wrong = right;
    wrong.srcPtr.ptr = NULL;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidValue);
    wrong = right;
    wrong.dstArray = (cudaArray_t)(uintptr_t)0x1000;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidValue);
    wrong.dstPtr = (struct cudaPitchedPtr){.ptr = NULL};
    REFUSED(cudaMemcpy3D(&wrong), ErrorDeviceUninitialized); /* the driver's result for forged handles */
    wrong = right;
    wrong.srcArray = (cudaArray_t)(uintptr_t)0x1000;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidValue);
}

static void test_peer_layers(void)
{
    void *there = NULL;
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&there, 4096));
    OK(cudaSetDevice(0));
    struct cudaMemcpy3DParms to = whole(device, 64, from, 8, cudaMemcpyHostToDevice);
    struct cudaMemcpy3DPeerParms over = {.srcPtr = to.dstPtr, .srcDevice = 0, .dstPtr = {.ptr = there, .pitch = 32, .xsize = 8, .ysize = 2},
                                         .dstDevice = 1, .extent = to.extent};
    struct cudaMemcpy3DPeerParms home = {.srcPtr = over.dstPtr, .srcDevice = 1, .dstPtr = over.srcPtr, .dstDevice = 0, .extent = to.extent};
    OK(cudaMemcpy3D(&to));
    OK(cudaMemcpy3DPeer(&over));
    OK(cudaMemset(device, 0, 4096));
    OK(cudaMemcpy3DPeerAsync(&home, stream));
    OK(cudaDeviceSynchronize());
    EQUAL(byte_of(device + 3 * 64 + 5), '0');
    REFUSED(cudaMemcpy3DPeer(NULL), ErrorInvalidValue);
    REFUSED(cudaMemcpy3DPeerAsync(NULL, stream), ErrorInvalidValue);
    over.dstDevice = 2;
    REFUSED(cudaMemcpy3DPeer(&over), ErrorInvalidDevice);
    home.srcDevice = -1;
    REFUSED(cudaMemcpy3DPeerAsync(&home, stream), ErrorInvalidDevice);
    over.dstPtr.pitch = 7;
    REFUSED(cudaMemcpy3DPeer(&over), ErrorInvalidDevice);
    over.dstDevice = 1;
    REFUSED(cudaMemcpy3DPeer(&over), ErrorInvalidPitchValue);
    over.srcPtr.pitch = 7;
    REFUSED(cudaMemcpy3DPeer(&over), ErrorInvalidPitchValue);
    OK(cudaFree(there));
}

static void test_fills(void)
{
    OK(cudaMemset(device, 0, 4096));
    OK(cudaMemset(device, 0x1ff, 3)); /* a byte of the value */
    EQUAL(byte_of(device + 2), 0xff);
    EQUAL(byte_of(device + 3), 0);
    OK(cudaMemsetAsync(device, 2, 1, stream));
    OK(cudaMemset2D(device + 512, 64, 9, 3, 4));
    OK(cudaMemset2DAsync(device + 1024, 64, 8, 3, 4, stream));
    OK(cudaDeviceSynchronize());
    tap_ok(byte_of(device) == 2 && byte_of(device + 512 + 194) == 9 && byte_of(device + 1024 + 194) == 8 && !byte_of(device + 515),
           "fills of rows");
    OK(cudaMemset(NULL, 0, 0));
    REFUSED(cudaMemset(NULL, 0, 1), ErrorInvalidValue);
    REFUSED(cudaMemset(gap, 0, 2 * RT_G + 1), ErrorInvalidValue);
    REFUSED(cudaMemset(from, 0, 1), ErrorInvalidValue);
    REFUSED(cudaMemset2D(device, 2, 0, 3, 4), ErrorInvalidValue);
    REFUSED(cudaMemset2DAsync(NULL, 64, 0, 3, 4, stream), ErrorInvalidValue);
    REFUSED(cudaMemsetAsync(gap + 2 * RT_G, 0, 1, stream), ErrorInvalidValue);
}

static void test_layer_fills(void)
{
    struct cudaPitchedPtr to = {.ptr = device, .pitch = 64, .xsize = 8, .ysize = 4}, past = to, flat = to;
    OK(cudaMemset(device, 0, 4096));
    OK(cudaMemset3D(to, 5, (struct cudaExtent){.width = 8, .height = 4, .depth = 2}));
    EQUAL(byte_of(device + 7 * 64 + 7), 5);
    EQUAL(byte_of(device + 8 * 64), 0);
    OK(cudaMemset3DAsync(to, 6, (struct cudaExtent){.width = 1, .height = 2, .depth = 3}, stream));
    OK(cudaDeviceSynchronize());
    tap_ok(byte_of(device) == 6 && byte_of(device + 9 * 64) == 6 && byte_of(device + 2 * 64) == 5 && byte_of(device + 10 * 64) == 0,
           "two of the four rows of each layer");
    flat.ysize = 0;
    REFUSED(cudaMemset3D(flat, 4, (struct cudaExtent){.width = 1, .height = 2, .depth = SIZE_MAX}), ErrorInvalidValue); /* no rows */
    EQUAL(byte_of(device + 64), 6);
    flat = (struct cudaPitchedPtr){.ptr = device, .pitch = 0, .ysize = SIZE_MAX};
    REFUSED(cudaMemset3D(flat, 4, (struct cudaExtent){.width = 1, .height = SIZE_MAX, .depth = 2}), ErrorInvalidValue);
    past.ptr = gap + 2 * RT_G - 512; /* two layers are left */
    OK(cudaMemset(past.ptr, 0, 512));
    REFUSED(cudaMemset3D(past, 7, (struct cudaExtent){.width = 1, .height = 2, .depth = 3}), ErrorInvalidValue);
    REFUSED(cudaMemset3D(past, 7, (struct cudaExtent){.width = 1, .height = 4, .depth = 3}), ErrorInvalidValue);
    const unsigned char *last = past.ptr;
    tap_ok(byte_of(last) == 7 && byte_of(last + 5 * 64) == 7 && byte_of(last + 2 * 64) == 0,
           "two rows of each layer were filled before the one that is refused, and nothing of whole layers");
    OK(cudaMemset3D(past, 7, (struct cudaExtent){.width = 1, .height = 2, .depth = 2}));
    OK(cudaMemset3D(past, 7, (struct cudaExtent){.width = 0, .height = 9, .depth = 9}));
    OK(cudaMemset3D(past, 7, (struct cudaExtent){.width = 9, .height = 0, .depth = 9}));
    OK(cudaMemset3D(past, 7, (struct cudaExtent){.width = 9, .height = 9, .depth = 0}));
    REFUSED(cudaMemset3D(to, 7, (struct cudaExtent){.width = 1, .height = 2, .depth = SIZE_MAX}), ErrorInvalidValue);
    REFUSED(cudaMemset3D(to, 7, (struct cudaExtent){.width = 1, .height = 3, .depth = SIZE_MAX / 2}), ErrorInvalidValue);
    REFUSED(cudaMemset3D(to, 7, (struct cudaExtent){.width = 1, .height = 1, .depth = SIZE_MAX / 2}), ErrorInvalidValue);
    past.ysize = SIZE_MAX;
    REFUSED(cudaMemset3D(past, 7, (struct cudaExtent){.width = 1, .height = 2, .depth = 2}), ErrorInvalidValue);
}

/* Memory that the driver's API mapped works like the runtime's own. */
static void test_mapped(void)
{
    struct cudaMemcpy3DParms to = whole(gap, 64, from, 8, cudaMemcpyHostToDevice), home = whole(back, 8, gap, 64, cudaMemcpyDefault);
    struct cudaMemcpy3DPeerParms peers = {.srcPtr = to.dstPtr, .dstPtr = {.ptr = gap + 4096, .pitch = 64, .xsize = 8, .ysize = 2},
                                          .extent = to.extent};
    struct cudaPitchedPtr layers = {.ptr = gap + 8192, .pitch = 64, .xsize = 8, .ysize = 4};
    OK(cudaMemcpy3D(&to));
    OK(cudaMemcpy3DAsync(&to, stream));
    OK(cudaMemcpy3DPeer(&peers));
    memset(back, 0, sizeof back);
    OK(cudaMemcpy3D(&home));
    EQUAL(memcmp(back, from, sizeof from), 0);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy2D(back, 8, gap + 4096, 64, 8, 4, cudaMemcpyDeviceToHost));
    EQUAL(memcmp(back, from, sizeof from), 0);
    OK(cudaMemcpy2DAsync(gap + 2048, 64, gap, 64, 8, 4, cudaMemcpyDeviceToDevice, stream));
    OK(cudaMemset2DAsync(gap + 1024, 64, 3, 8, 4, stream));
    OK(cudaMemset3D(layers, 4, (struct cudaExtent){.width = 8, .height = 3, .depth = 2}));
    OK(cudaDeviceSynchronize());
    tap_ok(byte_of(gap + 2048 + 64) == 'h' && byte_of(gap + 1024 + 199) == 3 && byte_of(gap + 8192 + 6 * 64) == 4, "rows and layers");
}

int main(void)
{
    alarm(60);
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    CUmemGenericAllocationHandle handle = 0;
    OK(cudaMalloc((void **)&device, 2 * RT_G));
    gap = mapped(0, 2 * RT_G, &handle);
    EQUAL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    test_rows();
    test_wrong_rows();
    test_layers();
    test_wrong_layers();
    test_peer_layers();
    test_fills();
    test_layer_fills();
    test_mapped();
    EQUAL(cuStreamDestroy(stream), CUDA_SUCCESS);
    unmapped(gap, 2 * RT_G, handle);
    OK(cudaFree(device));
    return tap_done();
}
