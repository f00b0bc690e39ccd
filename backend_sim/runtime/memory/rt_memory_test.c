/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory and managed memory: allocations, refusals, results; at scale. */
#include <unistd.h>

#include "testing/memory_rig.h"

static void *const NOWHERE = (void *)0x77;

static void test_alloc(void)
{
    size_t before = free_now();
    void *p = NULL, *none = NOWHERE;
    OK(cudaMalloc(&p, 3));
    tap_ok(p && free_now() == before - RT_G, "an allocation takes memory of the device");
    OK(cudaMemset(p, 0x5a, 3));
    EQUAL(byte_of((char *)p + 2), 0x5a);
    OK(cudaMalloc(&none, 0));
    tap_ok(!none, "a request for nothing gives NULL");
    OK(cudaFree(none));
    none = NOWHERE;
    REFUSED(cudaMalloc(&none, (size_t)1 << 60), ErrorMemoryAllocation);
    REFUSED(cudaMalloc(&none, SIZE_MAX), ErrorMemoryAllocation);
    REFUSED(cudaMalloc(NULL, 1), ErrorInvalidValue);
    REFUSED(cudaMalloc(NULL, 0), ErrorInvalidValue);
    EQUAL(free_now(), before - RT_G);
    OK(cudaFree(p));
    EQUAL(free_now(), before);
}

static void test_free(void)
{
    char *p = NULL, *host = NULL, pageable = 0;
    CUmemGenericAllocationHandle handle = 0;
    OK(cudaMalloc((void **)&p, 8192));
    OK(cudaMallocHost((void **)&host, 4096));
    REFUSED(cudaFree(p + 1), ErrorInvalidValue);
    REFUSED(cudaFree(p + 8192), ErrorInvalidValue);
    REFUSED(cudaFree(host), ErrorInvalidValue);
    REFUSED(cudaFree(&pageable), ErrorInvalidValue);
    REFUSED(cudaFreeHost(p), ErrorInvalidValue);
    OK(cudaMemset(p, 1, 8192));
    OK(cudaFree(p));
    REFUSED(cudaFree(p), ErrorInvalidValue);
    OK(cudaFree(NULL));
    OK(cudaFreeHost(host));
    char *at = mapped(0, RT_G, &handle);
    REFUSED(cudaFree(at), ErrorInvalidValue);
    OK(cudaMemset(at, 1, RT_G));
    unmapped(at, RT_G, handle);
}

static void test_rows(void)
{
    char *p = NULL;
    void *none = NOWHERE;
    size_t pitch = 0;
    OK(cudaMallocPitch((void **)&p, &pitch, 513, 3));
    EQUAL(pitch, 1024);
    OK(cudaMemset2D(p, pitch, 7, 513, 3));
    EQUAL(byte_of(p + 2 * pitch + 512), 7);
    OK(cudaFree(p));
    OK(cudaMallocPitch(&none, &pitch, 0, 3));
    tap_ok(!none && !pitch, "rows of nothing are NULL");
    none = NOWHERE;
    OK(cudaMallocPitch(&none, &pitch, 3, 0));
    tap_ok(!none && !pitch, "no rows are NULL");
    REFUSED(cudaMallocPitch(NULL, &pitch, 1, 1), ErrorInvalidValue);
    REFUSED(cudaMallocPitch(&none, NULL, 1, 1), ErrorInvalidValue);
    REFUSED(cudaMallocPitch(NULL, &pitch, 0, 1), ErrorInvalidValue);
    REFUSED(cudaMallocPitch(&none, NULL, 0, 1), ErrorInvalidValue);
    REFUSED(cudaMallocPitch(&none, &pitch, SIZE_MAX, 1), ErrorInvalidValue);
    REFUSED(cudaMallocPitch(&none, &pitch, 1, SIZE_MAX), ErrorMemoryAllocation);
}

static void test_layers(void)
{
    struct cudaPitchedPtr made = {NULL, 0, 0, 0}, same = {NOWHERE, 1, 2, 3};
    OK(cudaMalloc3D(&made, (struct cudaExtent){.width = 100, .height = 5, .depth = 3}));
    tap_ok(made.ptr && made.pitch == 512 && made.xsize == 100 && made.ysize == 5, "layers: pitch, width and height");
    OK(cudaMemset((char *)made.ptr, 9, made.pitch * 15));
    EQUAL(byte_of((char *)made.ptr + made.pitch * 15 - 1), 9);
    OK(cudaFree(made.ptr));
    OK(cudaMalloc3D(&made, (struct cudaExtent){.width = 100, .height = 5, .depth = 0}));
    tap_ok(!made.ptr && made.ysize == 5, "no layers are NULL");
    REFUSED(cudaMalloc3D(NULL, (struct cudaExtent){.width = 1, .height = 1, .depth = 1}), ErrorInvalidValue);
    REFUSED(cudaMalloc3D(&same, (struct cudaExtent){.width = SIZE_MAX, .height = 1, .depth = 1}), ErrorInvalidValue);
    REFUSED(cudaMalloc3D(&same, (struct cudaExtent){.width = 1, .height = SIZE_MAX, .depth = 1}), ErrorMemoryAllocation);
    REFUSED(cudaMalloc3D(&same, (struct cudaExtent){.width = 1, .height = 1, .depth = SIZE_MAX}), ErrorMemoryAllocation);
    REFUSED(cudaMalloc3D(&same, (struct cudaExtent){.width = 1, .height = SIZE_MAX / 2, .depth = 3}), ErrorMemoryAllocation);
    REFUSED(cudaMalloc3D(&same, (struct cudaExtent){.width = SIZE_MAX, .height = SIZE_MAX, .depth = SIZE_MAX}), ErrorInvalidValue);
    tap_ok(same.ptr == NULL && same.pitch == 0 && same.xsize == 2 && same.ysize == 3, "a refused call wrote what the driver's wrote");
}

static void test_managed(void)
{
    char *p = NULL;
    void *none = NOWHERE;
    OK(cudaMallocManaged((void **)&p, 8192, cudaMemAttachGlobal));
    OK(cudaMemset(p, 0x21, 8192));
    OK(cudaDeviceSynchronize());
    EQUAL(p[8191], 0x21);
    p[1] = 0x22;
    EQUAL(byte_of(p + 1), 0x22);
    OK(cudaFree(p));
    OK(cudaMallocManaged((void **)&p, 1, cudaMemAttachHost));
    REFUSED(cudaFreeHost(p), ErrorInvalidValue);
    OK(cudaFree(p));
    OK(cudaMallocManaged(&none, 0, cudaMemAttachGlobal));
    tap_ok(!none, "nothing is NULL");
    none = NOWHERE;
    REFUSED(cudaMallocManaged(&none, 1, 0), ErrorInvalidValue);
    REFUSED(cudaMallocManaged(&none, 1, cudaMemAttachSingle), ErrorInvalidValue);
    REFUSED(cudaMallocManaged(NULL, 1, cudaMemAttachGlobal), ErrorInvalidValue);
    REFUSED(cudaMallocManaged(&none, SIZE_MAX, cudaMemAttachGlobal), ErrorMemoryAllocation);
}

/* Free memory is that of the thread's device. */
static void test_info(void)
{
    size_t left = 0, all = 0, there = 0;
    void *p = NULL;
    OK(cudaMemGetInfo(&left, &all));
    tap_ok(left && left <= all, "free memory is a part of all");
    OK(cudaSetDevice(1));
    there = free_now();
    OK(cudaMalloc(&p, 1));
    EQUAL(free_now(), there - RT_G);
    OK(cudaSetDevice(0));
    EQUAL(free_now(), left);
    OK(cudaFree(p)); /* another device's memory, recognised by its address */
    OK(cudaSetDevice(1));
    EQUAL(free_now(), there);
    OK(cudaSetDevice(0));
}

/* More than 4 GiB: the first and the last byte, and past the end. */
static void test_large(void)
{
    const size_t size = ((size_t)5 << 30) + 3;
    char *p = NULL;
    OK(cudaMalloc((void **)&p, size));
    OK(cudaMemset(p + size - 1, 0x31, 1));
    OK(cudaMemcpy(p, p + size - 1, 1, cudaMemcpyDeviceToDevice));
    EQUAL(byte_of(p), 0x31);
    EQUAL(byte_of(p + ((size_t)4 << 30)), 0);
    REFUSED(cudaMemset(p, 1, size + RT_G), ErrorInvalidValue);
    EQUAL(byte_of(p), 0x31);
    OK(cudaFree(p));
}

/* Each has its own bytes. */
static void test_many(void)
{
    enum { MANY = 65537 };
    static void *all[MANY];
    size_t before = free_now();
    unsigned wrong = 0;
    uint32_t back = 0;
    for (uint32_t i = 0; i < MANY; i++)
        wrong += cudaMalloc(&all[i], 512) != cudaSuccess;
    for (uint32_t i = 0; i < MANY; i += 4096)
        wrong += cudaMemcpy(all[i], &i, sizeof i, cudaMemcpyHostToDevice) != cudaSuccess;
    for (uint32_t i = 0; i < MANY; i += 4096)
        wrong += cudaMemcpy(&back, all[i], sizeof back, cudaMemcpyDeviceToHost) != cudaSuccess || back != i;
    for (uint32_t i = 0; i < MANY; i++)
        wrong += cudaFree(all[i]) != cudaSuccess;
    tap_u64(wrong, 0, "65,537 allocations at once");
    EQUAL(free_now(), before);
}

/* A reset frees the device's memory, and managed memory; the next call starts from scratch. */
static void test_reset(void)
{
    void *p = NULL, *managed = NULL, *next = NULL;
    size_t before = free_now();
    OK(cudaMalloc(&p, 64 * (size_t)RT_G));
    OK(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal));
    OK(cudaDeviceReset());
    EQUAL(free_now(), before);
    REFUSED(cudaFree(p), ErrorInvalidValue);
    REFUSED(cudaFree(managed), ErrorInvalidValue);
    OK(cudaMalloc(&next, 64));
    OK(cudaMemset(next, 1, 64));
    OK(cudaFree(next));
}

int main(void)
{
    alarm(120);
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    test_alloc();
    test_free();
    test_rows();
    test_layers();
    test_managed();
    test_info();
    test_large();
    test_many();
    test_reset();
    return tap_done();
}
