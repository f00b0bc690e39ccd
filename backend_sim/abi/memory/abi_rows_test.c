/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills of rows: memory with gaps between the rows, rows that leave it, and earlier work that faults only when a row
 * waits for it. Each case runs in a process of its own, because a fault ends its context. */
#include <sys/wait.h>
#include <unistd.h>

#include "testing/rig.h"

enum { G = 2 << 20, GRANULES = 8, WIDTH = 64 };

static CUdeviceptr at;
static unsigned char host[4096];

/* A reservation of granules: those in the mask are mapped, and filled with their number. */
static void map(unsigned mask)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc all = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemAddressReserve(&at, (size_t)GRANULES * G, 0, 0, 0));
    for (unsigned i = 0; i < GRANULES; i++) {
        CUmemGenericAllocationHandle handle;
        if (!(mask >> i & 1))
            continue;
        OK(cuMemCreate(&handle, G, &prop, 0));
        OK(cuMemMap(at + (CUdeviceptr)i * G, G, 0, handle, 0));
        OK(cuMemSetAccess(at + (CUdeviceptr)i * G, G, &all, 1));
        OK(cuMemsetD8(at + (CUdeviceptr)i * G, (unsigned char)(10 + i), G));
    }
    OK(cuCtxSynchronize());
}

/* Issues work that faults when a call waits for it, because its memory is unmapped first. The fault of a fill of that few bytes
 * is LAUNCH_FAILED. */
static void fault_later(void)
{
    OK(cuMemsetD8Async(at, 1, 16, NULL));
    OK(cuMemUnmap(at, G));
}

static CUDA_MEMCPY2D between(CUdeviceptr dst, CUdeviceptr src, size_t rows)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = src, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = dst, .WidthInBytes = WIDTH, .Height = rows};
}

static CUDA_MEMCPY2D on_host(size_t pitch, size_t rows)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host + 2048, .srcPitch = pitch,
                           .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = host, .dstPitch = pitch, .WidthInBytes = WIDTH,
                           .Height = rows};
}

static unsigned host_is(unsigned char value, size_t from, size_t size)
{
    unsigned same = 0;
    for (size_t i = from; i < from + size; i++)
        same += host[i] == value;
    return same;
}

/* Rows spaced as far apart as the first one is from the base. The granule between them is not mapped, and not accessed. */
static void holes(void)
{
    map(0x1 | 0x8 | 0x40 | 0x80); /* 0, 3, 6 and 7 */
    CUDA_MEMCPY2D copy = between(at, at + 7 * (CUdeviceptr)G, 2);
    copy.dstXInBytes = 3 * (size_t)G; /* rows at 3 G and at 6 G + WIDTH */
    OK(cuMemcpy2D(&copy));
    EQUAL(byte_at(at + 3 * (CUdeviceptr)G), 17);
    EQUAL(byte_at(at + 3 * (CUdeviceptr)G + WIDTH - 1), 17);
    EQUAL(byte_at(at + 3 * (CUdeviceptr)G + WIDTH), 13);
    EQUAL(byte_at(at + 6 * (CUdeviceptr)G), 16);
    EQUAL(byte_at(at + 6 * (CUdeviceptr)G + WIDTH), 17);
    EQUAL(byte_at(at + 6 * (CUdeviceptr)G + 2 * WIDTH - 1), 17);
    EQUAL(byte_at(at + 6 * (CUdeviceptr)G + 2 * WIDTH), 16);
}

/* The second row is not mapped. */
static CUresult leaving(void)
{
    map(0x1 | 0x8 | 0x80);
    CUDA_MEMCPY2D copy = between(at, at + 7 * (CUdeviceptr)G, 2);
    copy.dstXInBytes = 3 * (size_t)G;
    return cuMemcpy2DAsync(&copy, NULL);
}

static void strict_copy(void)
{
    IS(leaving(), ERROR_INVALID_VALUE);
    EQUAL(byte_at(at + 3 * (CUdeviceptr)G), 13);
    OK(cuCtxSynchronize());
}

static void copy_that_faults(void)
{
    OK(leaving());
    IS(cuCtxSynchronize(), ERROR_ILLEGAL_ADDRESS);
}

/* A row of one granule, and the next row one granule before it: the footprint is 0 modulo 2^64. */
static CUresult filling(unsigned mask)
{
    map(mask);
    return cuMemsetD2D8Async(at + G, (size_t)0 - G, 5, G, 2, NULL);
}

static void strict_fill(void)
{
    IS(filling(0x2), ERROR_INVALID_VALUE);
    EQUAL(byte_at(at + G), 11);
    OK(cuCtxSynchronize());
}

static void fill_that_faults(void)
{
    OK(filling(0x2));
    IS(cuCtxSynchronize(), ERROR_ILLEGAL_ADDRESS);
}

static void fill_backwards(void)
{
    OK(filling(0x3));
    OK(cuCtxSynchronize());
    EQUAL(byte_at(at), 5);
    EQUAL(byte_at(at + 2 * (CUdeviceptr)G - 1), 5);
}

/* The same for host memory that no device knows. */
static void fill_of_host(void)
{
    memset(host, 7, sizeof host);
    OK(cuMemsetD2D8Async((CUdeviceptr)(uintptr_t)(host + 1024), (size_t)0 - 16, 5, 16, 2, NULL));
    IS(cuCtxSynchronize(), ERROR_ILLEGAL_ADDRESS);
    EQUAL(host_is(7, 0, sizeof host), sizeof host);
}

/* Rows must end with their allocation. */
static void past_the_end(void)
{
    CUdeviceptr p = 0;
    OK(cuMemAlloc(&p, 4096));
    OK(cuMemsetD8(p, 1, 4096));
    IS(cuMemsetD2D8(p, 2048, 2, 2049, 2), ERROR_INVALID_VALUE);
    IS(cuMemsetD2D8(p + 1, 2048, 2, 2048, 2), ERROR_INVALID_VALUE);
    EQUAL(byte_at(p), 1);
    EQUAL(byte_at(p + 4095), 1);
    OK(cuMemsetD2D8(p, 2048, 2, 2048, 2));
    EQUAL(byte_at(p + 4095), 2);
    OK(cuMemFree(p));
}

/* ---- waiting for work that has faulted ---- */

static void host_after_fault(size_t pitch)
{
    map(1);
    memset(host, 7, sizeof host);
    memset(host + 2048, 9, 1024);
    fault_later();
    CUDA_MEMCPY2D copy = on_host(pitch, 3);
    IS(cuMemcpy2D(&copy), ERROR_LAUNCH_FAILED);
    EQUAL(host_is(7, 0, 2048), 2048);
}

static void apart_after_fault(void)
{
    host_after_fault(2 * WIDTH);
}

static void together_after_fault(void)
{
    host_after_fault(WIDTH);
}

static void registered_after_fault(void)
{
    memset(host, 7, sizeof host);
    OK(cuMemHostRegister(host, sizeof host, 0));
    map(1);
    fault_later();
    IS(cuMemsetD2D8((CUdeviceptr)(uintptr_t)host, 2 * WIDTH, 5, WIDTH, 3), ERROR_LAUNCH_FAILED);
    EQUAL(host_is(7, 0, sizeof host), sizeof host);
}

static void device_after_fault(void)
{
    map(0x3);
    fault_later();
    CUDA_MEMCPY2D copy = between(at + G, at + G + 4096, 3);
    IS(cuMemcpy2D(&copy), ERROR_LAUNCH_FAILED);
}

/* Without faults each of these calls moves its bytes. */
static void host_rows(void)
{
    memset(host, 7, sizeof host);
    memset(host + 2048, 9, 1024);
    CUDA_MEMCPY2D copy = on_host(2 * WIDTH, 3);
    OK(cuMemcpy2D(&copy));
    EQUAL(host_is(9, 0, WIDTH), WIDTH);
    EQUAL(host_is(7, WIDTH, WIDTH), WIDTH);
    EQUAL(host_is(9, 4 * WIDTH, WIDTH), WIDTH);
    EQUAL(host_is(7, 5 * WIDTH, 512), 512);
    memset(host, 7, 2048);
    copy = on_host(WIDTH, 3);
    OK(cuMemcpy2D(&copy));
    EQUAL(host_is(9, 0, 2048), 3 * WIDTH);
}

static const struct {
    const char *name, *spec;
    void (*code)(void);
} cases[] = {
    {"gaps between rows", "sim:h100", holes},
    {"a row outside the memory, refused", "sim:h100,strict", strict_copy},
    {"a row outside the memory", "sim:h100", copy_that_faults},
    {"a fill outside the memory, refused", "sim:h100,strict", strict_fill},
    {"a fill outside the memory", "sim:h100", fill_that_faults},
    {"a fill backwards", "sim:h100", fill_backwards},
    {"a fill of host memory", "sim:h100", fill_of_host},
    {"the end of an allocation", "sim:h100", past_the_end},
    {"separate host rows after a fault", "sim:h100,schedule=late", apart_after_fault},
    {"adjacent host rows after a fault", "sim:h100,schedule=late", together_after_fault},
    {"registered rows after a fault", "sim:h100,schedule=late", registered_after_fault},
    {"device rows after a fault", "sim:h100,schedule=late", device_after_fault},
    {"host rows without a fault", "sim:h100", host_rows},
};

static void show(FILE *points)
{
    char line[512];
    rewind(points);
    while (fgets(line, sizeof line, points))
        printf("#   %s", line);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int status = -1;
        FILE *points = tmpfile();
        if (!points)
            tap_bail("no file for a child's output");
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) { /* its output goes to a file that is shown only on failure; its exit status counts */
            setenv("CUVMM_SIM", cases[i].spec, 1);
            dup2(fileno(points), STDOUT_FILENO);
            begin();
            cases[i].code();
            exit(tap_done());
        }
        waitpid(child, &status, 0);
        tap_u64((uint64_t)status, 0, "%s", cases[i].name);
        if (status)
            show(points);
        fclose(points);
    }
    return tap_done();
}
