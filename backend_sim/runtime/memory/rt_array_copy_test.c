/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from and to arrays: of rows, of bytes that continue in the next row, and of boxes; also built as a CUDA 12
 * program, and with per-thread default streams. */
#include <unistd.h>

#include "testing/memory_rig.h"

enum { WIDTH = 8, ROWS = 4, BYTES = WIDTH * ROWS }; /* of the byte arrays */

static cudaArray_t bytes, other, words; /* words: 4 x 4 x 2 elements of 8 bytes */
static char *device;
static cudaStream_t stream;
static unsigned char from[256], back[256];

static cudaArray_t new_array(int bits, int channels, struct cudaExtent extent, unsigned flags)
{
    const struct cudaChannelFormatDesc desc = {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
                                               cudaChannelFormatKindUnsigned};
    cudaArray_t made = NULL;
    OK(cudaMalloc3DArray(&made, &desc, extent, flags));
    return made;
}

/* All bytes of the byte array. */
static void read_bytes(cudaArray_t array)
{
    memset(back, 0xee, sizeof back);
    OK(cudaMemcpy2DFromArray(back, WIDTH, array, 0, 0, WIDTH, ROWS, cudaMemcpyDeviceToHost));
}

static void clear(cudaArray_t array)
{
    OK(cudaMemcpy2DToArray(array, 0, 0, memset(back, 0, sizeof back), WIDTH, WIDTH, ROWS, cudaMemcpyHostToDevice));
}

static void test_rows(void)
{
    clear(bytes);
    OK(cudaMemcpy2DToArray(bytes, 1, 2, from, 16, 3, 2, cudaMemcpyHostToDevice));
    read_bytes(bytes);
    tap_ok(back[16] == 0 && back[17] == from[0] && back[19] == from[2] && back[20] == 0 && back[25] == from[16], "rows to a place");
    OK(cudaMemcpy2DToArrayAsync(bytes, 0, 0, from, WIDTH, WIDTH, ROWS, cudaMemcpyDefault, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemset(device, 0, 4096));
    OK(cudaMemcpy2DFromArrayAsync(device, 64, bytes, 2, 1, 4, 2, cudaMemcpyDeviceToDevice, stream));
    OK(cudaStreamSynchronize(stream));
    tap_ok(byte_of(device) == from[10] && byte_of(device + 3) == from[13] && !byte_of(device + 4) && byte_of(device + 64) == from[18],
           "rows to memory of the device");
    OK(cudaMemcpy2DArrayToArray(other, 0, 0, bytes, 4, 3, 4, 1, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy2DArrayToArray(other, 4, 0, bytes, 0, 0, 4, 1, cudaMemcpyDefault));
    read_bytes(other);
    tap_ok(back[0] == from[28] && back[4] == from[0], "rows between arrays");
    OK(cudaMemcpy2DFromArray(back, 1, bytes, 0, 0, 1, 1, cudaMemcpyDefault));
    OK(cudaMemcpy2DToArray(bytes, 0, 0, NULL, 0, 0, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DToArray(bytes, 0, 0, NULL, 0, 4, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DFromArray(NULL, 0, bytes, 0, 0, 0, 4, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy2DFromArray(NULL, 0, bytes, 0, 0, 4, 0, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy2DArrayToArray(other, 0, 0, bytes, 0, 0, 0, 1, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy2DArrayToArray(other, 0, 0, bytes, 0, 0, 1, 0, cudaMemcpyDeviceToDevice));
}

static void test_wrong_rows(void)
{
    clear(bytes);
    REFUSED(cudaMemcpy2DToArray(bytes, 0, 0, from, 3, 4, 2, cudaMemcpyHostToDevice), ErrorInvalidPitchValue);
    /* the driver's pitch for a single row */
    REFUSED(cudaMemcpy2DToArray(bytes, 0, 0, from, 3, 4, 1, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy2DFromArrayAsync(back, 3, bytes, 0, 0, 4, 2, cudaMemcpyDeviceToHost, stream), ErrorInvalidPitchValue);
    REFUSED(cudaMemcpy2DToArray(bytes, 0, 0, from, 8, 8, 1, cudaMemcpyDeviceToHost), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpy2DToArray(bytes, 0, 0, from, 8, 8, 1, cudaMemcpyHostToHost), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpy2DToArrayAsync(bytes, 0, 0, from, 8, 8, 1, (enum cudaMemcpyKind)5, stream), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpy2DFromArray(back, 8, bytes, 0, 0, 8, 1, cudaMemcpyHostToDevice), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpy2DArrayToArray(other, 0, 0, bytes, 0, 0, 8, 1, cudaMemcpyHostToDevice), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpy2DToArray(bytes, 1, 0, from, 8, 8, 1, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy2DToArray(bytes, 0, 3, from, 8, 8, 2, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy2DFromArray(NULL, 8, bytes, 0, 0, 8, 1, cudaMemcpyDeviceToHost), ErrorInvalidValue);
    REFUSED(cudaMemcpy2DToArray(NULL, 0, 0, from, 8, 8, 1, cudaMemcpyHostToDevice), ErrorInvalidResourceHandle);
    REFUSED(cudaMemcpy2DFromArray(back, 8, NULL, 0, 0, 8, 1, cudaMemcpyDeviceToHost), ErrorInvalidResourceHandle);
    REFUSED(cudaMemcpy2DArrayToArray(bytes, 0, 0, NULL, 0, 0, 8, 1, cudaMemcpyDeviceToDevice), ErrorInvalidResourceHandle);
    REFUSED(cudaMemcpy2DArrayToArray(NULL, 0, 0, bytes, 0, 0, 8, 1, cudaMemcpyDeviceToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy2DArrayToArray(other, 0, 1, bytes, 0, 0, 8, 4, cudaMemcpyDeviceToDevice), ErrorInvalidValue);
    read_bytes(bytes);
    tap_ok(!memcmp(back, back + 1, BYTES - 1) && !back[0], "nothing is copied");
}

/* The same copy of bytes in a row, by the host. */
static bool agrees(size_t at, size_t count)
{
    unsigned char wanted[BYTES] = {0};
    memcpy(wanted + at, from, count);
    read_bytes(bytes);
    return memcmp(back, wanted, BYTES) == 0;
}

static void test_bytes(void)
{
    unsigned wrong = 0;
    for (size_t at = 0; at < BYTES; at++)
        for (size_t count = 0; count <= BYTES - at; count += 5) {
            clear(bytes);
            OK(cudaMemcpyToArray(bytes, at % WIDTH, at / WIDTH, from, count, cudaMemcpyHostToDevice));
            wrong += !agrees(at, count);
        }
    EQUAL(wrong, 0);
    OK(cudaMemcpyToArrayAsync(bytes, 0, 0, from, BYTES, cudaMemcpyDefault, stream));
    OK(cudaStreamSynchronize(stream));
    tap_ok(agrees(0, BYTES), "all bytes, on a stream");
    memset(back, 0, sizeof back);
    OK(cudaMemcpyFromArray(back, bytes, 5, 1, 15, cudaMemcpyDeviceToHost));
    tap_ok(!memcmp(back, from + 13, 15) && !back[15], "bytes from a place in a row on");
    OK(cudaMemset(device, 0, 64));
    OK(cudaMemcpyFromArrayAsync(device, bytes, 0, 2, 16, cudaMemcpyDeviceToDevice, stream));
    OK(cudaStreamSynchronize(stream));
    tap_ok(byte_of(device + 15) == from[31] && !byte_of(device + 16), "whole rows to memory of the device");
}

static void test_bytes_between(void)
{
    const cudaArray_t narrow = new_array(8, 1, (struct cudaExtent){5, 8, 0}, 0), line = new_array(8, 1, (struct cudaExtent){16, 0, 0}, 0);
    OK(cudaMemcpyToArray(bytes, 0, 0, from, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemcpyArrayToArray(narrow, 2, 1, bytes, 3, 0, 20, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyFromArray(back, narrow, 2, 1, 20, cudaMemcpyDeviceToHost));
    tap_ok(!memcmp(back, from + 3, 20), "rows of other lengths");
    OK(cudaMemcpyArrayToArray(other, 0, 0, bytes, 0, 1, 20, cudaMemcpyDefault));
    OK(cudaMemcpyFromArray(back, other, 0, 0, 20, cudaMemcpyDefault));
    tap_ok(!memcmp(back, from + 8, 20), "whole rows and a rest");
    OK(cudaMemcpyArrayToArray(line, 1, 0, bytes, 0, 1, 15, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyFromArray(back, line, 1, 0, 15, cudaMemcpyDeviceToHost));
    tap_ok(!memcmp(back, from + 8, 15), "an array of one dimension");
    OK(cudaMemcpyArrayToArray(other, 0, 0, bytes, 0, 0, 0, cudaMemcpyHostToHost));
    REFUSED(cudaMemcpyArrayToArray(other, 0, 0, bytes, 0, 0, 1, cudaMemcpyHostToHost), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpyArrayToArray(line, 0, 0, bytes, 0, 0, 17, cudaMemcpyDeviceToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpyArrayToArray(other, 0, 0, bytes, 1, 0, BYTES, cudaMemcpyDeviceToDevice), ErrorInvalidValue);
    OK(cudaFreeArray(narrow));
    OK(cudaFreeArray(line));
}

static void test_wrong_bytes(void)
{
    clear(bytes);
    REFUSED(cudaMemcpyToArray(bytes, 0, 0, from, BYTES + 1, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpyToArray(bytes, 1, 0, from, BYTES, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpyToArray(bytes, WIDTH, ROWS - 1, from, 1, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpyToArray(bytes, WIDTH + 1, 0, from, 1, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpyToArray(bytes, 0, ROWS, from, 1, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpyToArray(bytes, 0, 0, from, SIZE_MAX, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpyToArray(bytes, 0, 0, from, 1, cudaMemcpyDeviceToHost), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpyFromArray(back, bytes, 0, 0, 1, cudaMemcpyHostToHost), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpyFromArray(NULL, bytes, 0, 0, 1, cudaMemcpyDeviceToHost), ErrorInvalidValue);
    REFUSED(cudaMemcpyToArray(NULL, 0, 0, from, 1, cudaMemcpyHostToDevice), ErrorInvalidResourceHandle);
    REFUSED(cudaMemcpyArrayToArray(bytes, 0, 0, NULL, 0, 0, 1, cudaMemcpyDeviceToDevice), ErrorInvalidResourceHandle);
    OK(cudaMemcpyFromArray(NULL, bytes, 0, 0, 0, cudaMemcpyHostToHost));
    OK(cudaMemcpyToArray(bytes, 0, 0, NULL, 0, cudaMemcpyDeviceToHost));
    OK(cudaMemcpyToArray(bytes, 0, 0, from, 1, (enum cudaMemcpyKind)5));
    OK(cudaMemcpyFromArray(back, bytes, 0, 0, 1, (enum cudaMemcpyKind)-1));
    REFUSED(cudaMemcpyArrayToArray(bytes, 0, 0, bytes, 8, 0, 1, (enum cudaMemcpyKind)5), ErrorInvalidMemcpyDirection);
    read_bytes(bytes);
    tap_ok(!memcmp(back, back + 1, BYTES - 1) && !back[0], "nothing is copied");
    OK(cudaMemcpyToArray(bytes, WIDTH, 0, from + 1, 1, cudaMemcpyHostToDevice));
    read_bytes(bytes);
    tap_ok(back[WIDTH] == from[1] && !back[0], "a place at the end of its row is the next one's first");
}

/* ---- layers ---- */

static struct cudaMemcpy3DParms to_words(void)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {.ptr = from, .pitch = 16, .ysize = 2}, .dstArray = words, .dstPos = {1, 2, 0},
                                      .extent = {2, 2, 2}, .kind = cudaMemcpyHostToDevice};
}

static void test_layers(void)
{
    struct cudaMemcpy3DParms to = to_words(), home = {.srcArray = words, .srcPos = {2, 3, 1}, .dstPtr = {.ptr = back, .pitch = 16, .ysize = 1},
                                                      .dstPos = {1, 0, 0}, .extent = {1, 1, 1}, .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3D(&to));
    memset(back, 0xee, sizeof back);
    OK(cudaMemcpy3D(&home));
    tap_ok(back[7] == 0xee && !memcmp(back + 8, from + 32 + 16 + 8, 8) && back[16] == 0xee, "an element of the array is eight bytes of the host");
    home.kind = cudaMemcpyHostToHost;
    REFUSED(cudaMemcpy3D(&home), ErrorInvalidValue); /* an array is on a device */
    home.kind = cudaMemcpyDefault;
    home.srcPos.z = 0;
    OK(cudaMemcpy3DAsync(&home, stream));
    OK(cudaStreamSynchronize(stream));
    tap_ok(!memcmp(back + 8, from + 16 + 8, 8), "the first layer's");
    const cudaArray_t copy = new_array(32, 2, (struct cudaExtent){4, 4, 2}, cudaArrayLayered);
    struct cudaMemcpy3DParms over = {.srcArray = words, .dstArray = copy, .extent = {4, 4, 2}, .kind = cudaMemcpyDeviceToDevice};
    OK(cudaMemcpy3D(&over));
    home.srcArray = copy;
    memset(back, 0, sizeof back);
    OK(cudaMemcpy3D(&home));
    tap_ok(!memcmp(back + 8, from + 16 + 8, 8), "between arrays");
    over.dstArray = bytes;
    over.extent = (struct cudaExtent){1, 1, 1};
    REFUSED(cudaMemcpy3D(&over), ErrorInvalidValue); /* elements of other sizes */
    OK(cudaFreeArray(copy));
}

static void test_wrong_layers(void)
{
    struct cudaMemcpy3DParms wrong = to_words();
    wrong.srcPtr.pitch = 15; /* two elements, which pass the runtime's comparison; the driver refuses the sixteen bytes */
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidValue);
    wrong.srcPtr.pitch = 1;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidPitchValue);
    wrong = to_words();
    wrong.srcPtr.ysize = 1;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidPitchValue);
    wrong = to_words();
    wrong.dstPtr.ptr = device;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidValue);
    wrong = to_words();
    wrong.extent.width = SIZE_MAX / 8 + 1;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidPitchValue);
    wrong = to_words();
    wrong.dstPos.x = SIZE_MAX / 8 + 1; /* in bytes that is 0 again */
    OK(cudaMemcpy3D(&wrong));
    wrong = to_words();
    wrong.dstPos.x = SIZE_MAX / 8;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidValue);
    wrong = to_words();
    wrong.dstPos.x = 3;
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidValue);
    wrong = (struct cudaMemcpy3DParms){.srcArray = words, .srcPos = {SIZE_MAX / 8, 0, 0}, .dstPtr = {.ptr = back}, .extent = {1, 1, 1},
                                       .kind = cudaMemcpyDeviceToHost};
    REFUSED(cudaMemcpy3D(&wrong), ErrorInvalidValue);
    wrong.srcArray = (cudaArray_t)(uintptr_t)0x1000;
    REFUSED(cudaMemcpy3D(&wrong), ErrorDeviceUninitialized);
}

/* Blocks of 4 x 4 elements, 8 bytes each; sizes are still in elements. */
static void test_blocks(void)
{
    const struct cudaChannelFormatDesc desc = {8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed1};
    cudaArray_t blocks = NULL;
    OK(cudaMallocArray(&blocks, &desc, 16, 8, 0));
    struct cudaMemcpy3DParms to = {.srcPtr = {.ptr = from, .pitch = 32}, .dstArray = blocks, .extent = {16, 8, 1}, .kind = cudaMemcpyDefault};
    struct cudaMemcpy3DParms home = {.srcArray = blocks, .srcPos = {8, 4, 0}, .dstPtr = {.ptr = back, .pitch = 16}, .extent = {5, 3, 1},
                                     .kind = cudaMemcpyDefault};
    OK(cudaMemcpy3D(&to));
    memset(back, 0, sizeof back);
    OK(cudaMemcpy3D(&home));
    tap_ok(!memcmp(back, from + 32 + 16, 16) && !back[16], "two blocks of the second row");
    OK(cudaMemcpyFromArray(back, blocks, 24, 0, 16, cudaMemcpyDeviceToHost));
    tap_ok(!memcmp(back, from + 24, 16), "bytes continue in the next row of blocks");
    struct cudaMemcpy3DParms over = {.srcArray = blocks, .dstArray = words, .extent = {4, 4, 1}, .kind = cudaMemcpyDefault};
    REFUSED(cudaMemcpy3D(&over), ErrorInvalidValue); /* a block is not an element, although it has the same size */
    OK(cudaFreeArray(blocks));
}

/* A column of two layers; elements of a format with one number of channels. */
static void test_normalized(void)
{
    const struct cudaChannelFormatDesc desc = {8, 8, 0, 0, cudaChannelFormatKindUnsignedNormalized8X2};
    cudaArray_t pairs = NULL;
    OK(cudaMalloc3DArray(&pairs, &desc, (struct cudaExtent){4, 1, 2}, 0));
    struct cudaMemcpy3DParms to = {.srcPtr = {.ptr = from, .pitch = 6, .ysize = 1}, .dstArray = pairs, .dstPos = {1, 0, 0}, .extent = {3, 1, 2},
                                   .kind = cudaMemcpyDefault};
    OK(cudaMemcpy3D(&to));
    OK(cudaMemcpyFromArray(back, pairs, 2, 0, 6, cudaMemcpyDeviceToHost));
    tap_ok(!memcmp(back, from, 6), "three elements of two bytes");
    to.srcPtr.pitch = 5;
    REFUSED(cudaMemcpy3D(&to), ErrorInvalidValue);
    to.srcPtr.pitch = 2;
    REFUSED(cudaMemcpy3D(&to), ErrorInvalidPitchValue);
    OK(cudaFreeArray(pairs));
}

static void test_peers(void)
{
    OK(cudaSetDevice(1));
    const cudaArray_t there = new_array(32, 2, (struct cudaExtent){4, 4, 2}, 0);
    OK(cudaSetDevice(0));
    struct cudaMemcpy3DParms fill = {.srcPtr = {.ptr = from, .pitch = 32, .ysize = 4}, .dstArray = words, .extent = {4, 4, 2}, .kind = cudaMemcpyDefault};
    struct cudaMemcpy3DPeerParms over = {.srcArray = words, .srcDevice = 0, .dstArray = there, .dstDevice = 1, .extent = {4, 4, 2}};
    struct cudaMemcpy3DPeerParms home = {.srcArray = there, .srcPos = {3, 3, 1}, .srcDevice = 1, .dstPtr = {.ptr = device, .pitch = 64, .ysize = 1},
                                         .dstDevice = 0, .extent = {1, 1, 1}};
    OK(cudaMemcpy3D(&fill));
    OK(cudaMemcpy3DPeer(&over));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy3DPeerAsync(&home, stream));
    OK(cudaStreamSynchronize(stream));
    tap_ok(byte_of(device) == from[248] && byte_of(device + 7) == from[255], "an element of an array of the other device");
    over.dstPtr.ptr = device;
    REFUSED(cudaMemcpy3DPeer(&over), ErrorInvalidValue);
    OK(cudaFreeArray(there));
}

/* While a stream is captured, work is refused on the legacy default stream but not on the per-thread one. */
static void test_default_stream(void)
{
    cudaStream_t capturing;
    cudaGraph_t graph = NULL;
    OK(cudaStreamCreate(&capturing));
    OK(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    OK(cudaMemcpyToArrayAsync(bytes, 0, 0, from, 4, cudaMemcpyHostToDevice, NULL));
    OK(cudaMemcpy2DFromArray(back, 4, bytes, 0, 0, 4, 1, cudaMemcpyDeviceToHost));
    OK(cudaStreamEndCapture(capturing, &graph));
    OK(cudaGraphDestroy(graph));
#else
    REFUSED(cudaMemcpyToArrayAsync(bytes, 0, 0, from, 4, cudaMemcpyHostToDevice, NULL), ErrorStreamCaptureImplicit);
    REFUSED(cudaStreamEndCapture(capturing, &graph), ErrorStreamCaptureInvalidated);
#endif
    OK(cudaStreamDestroy(capturing));
}

int main(void)
{
    alarm(60);
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 7 + 1);
    OK(cudaMalloc((void **)&device, 4096));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    bytes = new_array(8, 1, (struct cudaExtent){WIDTH, ROWS, 0}, 0);
    other = new_array(8, 1, (struct cudaExtent){WIDTH, ROWS, 0}, 0);
    words = new_array(32, 2, (struct cudaExtent){4, 4, 2}, 0);
    test_rows();
    test_wrong_rows();
    test_bytes();
    test_bytes_between();
    test_wrong_bytes();
    test_layers();
    test_wrong_layers();
    test_blocks();
    test_normalized();
    test_peers();
    test_default_stream();
    OK(cudaFreeArray(bytes));
    OK(cudaFreeArray(other));
    OK(cudaFreeArray(words));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(device));
    return tap_done();
}
