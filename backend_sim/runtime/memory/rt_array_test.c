/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: creation from channel descriptors, queries, planes, levels, sparse ones; also built as a CUDA 12 program. */
#include <unistd.h>

#include "testing/memory_rig.h"

static const struct cudaExtent flat = {64, 32, 0}, cube = {8, 8, 6};
static cudaArray_t array;

static bool is_desc(struct cudaChannelFormatDesc a, int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
    return a.x == x && a.y == y && a.z == z && a.w == w && a.f == kind;
}

/* An array of that descriptor has it. */
static void comes_back(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
    const struct cudaChannelFormatDesc desc = cudaCreateChannelDesc(x, y, z, w, kind);
    struct cudaChannelFormatDesc read = {0, 0, 0, 0, cudaChannelFormatKindNone};
    OK(cudaMallocArray(&array, &desc, 64, 32, 0));
    OK(cudaGetChannelDesc(&read, array));
    tap_ok(is_desc(read, x, y, z, w, kind), "%d %d %d %d of kind %d comes back", x, y, z, w, kind);
    OK(cudaFreeArray(array));
}

static void test_descriptors(void)
{
    static const int counts[] = {1, 2, 4};
    for (int bits = 8; bits <= 32; bits *= 2)
        for (enum cudaChannelFormatKind kind = cudaChannelFormatKindSigned; kind <= cudaChannelFormatKindFloat; kind++)
            for (size_t i = 0; i < 3 && (bits > 8 || kind != cudaChannelFormatKindFloat); i++)
                comes_back(bits, counts[i] > 1 ? bits : 0, counts[i] > 2 ? bits : 0, counts[i] > 3 ? bits : 0, kind);
    comes_back(8, 0, 0, 0, cudaChannelFormatKindUnsignedNormalized8X1);
    comes_back(16, 16, 0, 0, cudaChannelFormatKindSignedNormalized16X2);
    comes_back(16, 16, 16, 16, cudaChannelFormatKindUnsignedNormalized16X4);
    comes_back(8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed1);
    comes_back(8, 0, 0, 0, cudaChannelFormatKindSignedBlockCompressed4);
    comes_back(8, 8, 0, 0, cudaChannelFormatKindUnsignedBlockCompressed5);
    comes_back(16, 16, 16, 0, cudaChannelFormatKindSignedBlockCompressed6H);
    comes_back(8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed7SRGB);
    comes_back(10, 10, 10, 2, cudaChannelFormatKindUnsignedNormalized1010102);
}

static void test_wrong_descriptors(void)
{
    static const struct cudaChannelFormatDesc wrong[] = {
        {0, 0, 0, 0, cudaChannelFormatKindSigned},      {8, 0, 0, 0, cudaChannelFormatKindFloat},
        {64, 0, 0, 0, cudaChannelFormatKindUnsigned},   {8, 16, 0, 0, cudaChannelFormatKindSigned},
        {8, 0, 8, 0, cudaChannelFormatKindSigned},      {8, 8, 0, 8, cudaChannelFormatKindSigned},
        {0, 8, 0, 0, cudaChannelFormatKindSigned},      {-8, 0, 0, 0, cudaChannelFormatKindSigned},
        {8, 0, 0, 0, cudaChannelFormatKindNone},        {8, 8, 0, 0, cudaChannelFormatKindUnsignedNormalized8X1},
        {8, 0, 0, 0, (enum cudaChannelFormatKind)32},   {8, 0, 0, 0, (enum cudaChannelFormatKind)-1},
        {8, 8, 8, 0, cudaChannelFormatKindUnsigned},
    };
    const struct cudaChannelFormatDesc byte = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    array = (cudaArray_t)(uintptr_t)8;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        REFUSED(cudaMallocArray(&array, &wrong[i], 64, 32, 0), ErrorInvalidChannelDescriptor);
    REFUSED(cudaMalloc3DArray(&array, &wrong[0], flat, 0), ErrorInvalidChannelDescriptor);
    tap_ok(!array, "a descriptor that is refused leaves NULL");
    array = (cudaArray_t)(uintptr_t)8;
    REFUSED(cudaMallocArray(&array, &byte, SIZE_MAX, 1, 0), ErrorInvalidValue);
    tap_ok(!array, "so does a size");
    array = (cudaArray_t)(uintptr_t)8;
    REFUSED(cudaMallocArray(&array, NULL, 64, 32, 0), ErrorInvalidValue);
    tap_ok(array == (cudaArray_t)(uintptr_t)8, "no descriptor leaves what was there");
}

static void test_info(void)
{
    const struct cudaChannelFormatDesc desc = cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindFloat);
    struct cudaChannelFormatDesc read;
    struct cudaExtent extent = {77, 77, 77};
    unsigned flags = 77;
    size_t before = free_now();
    OK(cudaMalloc3DArray(&array, &desc, cube, cudaArrayCubemap | cudaArraySurfaceLoadStore));
    OK(cudaArrayGetInfo(&read, &extent, &flags, array));
    tap_ok(is_desc(read, 32, 32, 0, 0, cudaChannelFormatKindFloat) && extent.width == 8 && extent.height == 8 && extent.depth == 6 &&
               flags == (cudaArrayCubemap | cudaArraySurfaceLoadStore), "the description of a cubemap");
    OK(cudaArrayGetInfo(NULL, NULL, NULL, array));
    OK(cudaFreeArray(array));
    OK(cudaMallocArray(&array, &desc, 64, 0, cudaArrayDefault));
    OK(cudaArrayGetInfo(NULL, &extent, NULL, array));
    tap_ok(extent.width == 64 && !extent.height && !extent.depth, "one dimension");
    REFUSED(cudaGetChannelDesc(NULL, array), ErrorInvalidValue);
    OK(cudaFreeArray(array));
    EQUAL(free_now(), before);
}

static void test_wrong_arrays(void)
{
    const struct cudaChannelFormatDesc desc = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    struct cudaExtent extent = {77, 77, 77};
    REFUSED(cudaMallocArray(NULL, &desc, 64, 32, 0), ErrorInvalidValue);
    REFUSED(cudaMallocArray(&array, NULL, 64, 32, 0), ErrorInvalidValue);
    REFUSED(cudaMallocArray(&array, &desc, 0, 32, 0), ErrorInvalidValue);
    REFUSED(cudaMallocArray(&array, &desc, 1 << 20, 32, 0), ErrorInvalidValue);
    REFUSED(cudaMallocArray(&array, &desc, 64, 32, 0x1000), ErrorInvalidValue);
    REFUSED(cudaMalloc3DArray(&array, &desc, (struct cudaExtent){8, 4, 6}, cudaArrayCubemap), ErrorInvalidValue);
    REFUSED(cudaMalloc3DArray(NULL, &desc, flat, 0), ErrorInvalidValue);
    OK(cudaFreeArray(NULL));
    REFUSED(cudaFreeArray((cudaArray_t)(uintptr_t)0x1000), ErrorDeviceUninitialized); /* the driver's result for forged handles */
    REFUSED(cudaArrayGetInfo(NULL, &extent, NULL, NULL), ErrorInvalidResourceHandle);
    EQUAL(extent.width, 77);
}

static void test_memory_needs(void)
{
    const struct cudaChannelFormatDesc desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    struct cudaArrayMemoryRequirements needs = {.size = 0};
    struct cudaArraySparseProperties tiles = {.flags = 77};
    cudaArray_t plane = NULL;
    OK(cudaMallocArray(&array, &desc, 1024, 1024, cudaArraySparse));
    OK(cudaArrayGetSparseProperties(&tiles, array));
    tap_ok(tiles.tileExtent.width == 128 && tiles.tileExtent.height == 128 && tiles.tileExtent.depth == 1, "tiles of 64 KiB");
    REFUSED(cudaArrayGetMemoryRequirements(&needs, array, 0), ErrorInvalidValue);
    OK(cudaFreeArray(array));
    OK(cudaMallocArray(&array, &desc, 64, 64, cudaArrayDeferredMapping));
    OK(cudaArrayGetMemoryRequirements(&needs, array, 0));
    tap_ok(needs.size >= 64 * 64 * 4 && needs.alignment >= 65536, "memory of a deferred array: %zu, %zu", needs.size, needs.alignment);
    REFUSED(cudaArrayGetSparseProperties(&tiles, array), ErrorInvalidValue);
    REFUSED(cudaArrayGetMemoryRequirements(NULL, array, 0), ErrorInvalidValue);
    REFUSED(cudaArrayGetPlane(&plane, array, 0), ErrorInvalidValue);
    tap_ok(!plane, "no plane");
    OK(cudaFreeArray(array));
}

static void test_levels(void)
{
    const struct cudaChannelFormatDesc desc = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
    struct cudaArrayMemoryRequirements needs = {.size = 0};
    struct cudaArraySparseProperties tiles = {.flags = 77};
    cudaMipmappedArray_t levels = NULL;
    cudaArray_t level = NULL;
    struct cudaExtent extent;
    OK(cudaMallocMipmappedArray(&levels, &desc, flat, 3, 0));
    OK(cudaGetMipmappedArrayLevel(&level, levels, 2));
    OK(cudaArrayGetInfo(NULL, &extent, NULL, level));
    tap_ok(extent.width == 16 && extent.height == 8, "the third level has a quarter of the width");
    REFUSED(cudaGetMipmappedArrayLevel(&level, levels, 3), ErrorInvalidValue);
    OK(cudaFreeMipmappedArray(levels));
    OK(cudaFreeMipmappedArray(NULL));
    OK(cudaMallocMipmappedArray(&levels, &desc, (struct cudaExtent){1024, 1024, 0}, 11, cudaArraySparse));
    OK(cudaMipmappedArrayGetSparseProperties(&tiles, levels));
    tap_ok(tiles.tileExtent.width == 128 && tiles.miptailFirstLevel == 4, "the tail begins at level %u", tiles.miptailFirstLevel);
    REFUSED(cudaMipmappedArrayGetMemoryRequirements(&needs, levels, 0), ErrorInvalidValue);
    OK(cudaFreeMipmappedArray(levels));
    OK(cudaMallocMipmappedArray(&levels, &desc, flat, 3, cudaArrayDeferredMapping));
    OK(cudaMipmappedArrayGetMemoryRequirements(&needs, levels, 0));
    tap_ok(needs.size >= 64 * 32 * 4, "memory for all levels: %zu", needs.size);
    OK(cudaFreeMipmappedArray(levels));
    REFUSED(cudaMallocMipmappedArray(NULL, &desc, flat, 3, 0), ErrorInvalidValue);
    REFUSED(cudaMallocMipmappedArray(&levels, NULL, flat, 3, 0), ErrorInvalidValue);
    levels = (cudaMipmappedArray_t)(uintptr_t)8;
    REFUSED(cudaMallocMipmappedArray(&levels, &desc, flat, 3, 0x1000), ErrorInvalidValue);
    tap_ok(!levels, "a refusal leaves NULL");
}

int main(void)
{
    alarm(60);
    setenv("CUVMM_LIBCUDA", "/nowhere/libcuda.so.1", 0);
    const struct cudaChannelFormatDesc desc = cudaCreateChannelDesc(1, -2, 3, 4, (enum cudaChannelFormatKind)99);
    tap_ok(is_desc(desc, 1, -2, 3, 4, (enum cudaChannelFormatKind)99), "a descriptor is made of anything");
    unsetenv("CUVMM_LIBCUDA");
    setenv("CUVMM_SIM", "sim:h100", 1);
    OK(cudaFree(NULL));
    test_descriptors();
    test_wrong_descriptors();
    test_info();
    test_wrong_arrays();
    test_memory_needs();
    test_levels();
    return tap_done();
}
