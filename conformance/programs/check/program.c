/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "program.h"

#include <time.h>

static struct program *first, **last = &first;

void program_add(struct program *program)
{
    *last = program;
    last = &program->next;
}

void program_do(int line, const char *call, CUresult result, bool succeeds)
{
    if ((result == CUDA_SUCCESS) == succeeds)
        return;
    fprintf(stderr, "line %d: %s gives %d\n", line, call, (int)result);
    exit(3);
}

void begin(void)
{
    CUcontext context;
    DO(cuInit(0));
    DO(cuDevicePrimaryCtxRetain(&context, 0));
    DO(cuCtxSetCurrent(context));
}

CUmemAllocationProp pinned(void)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return prop;
}

size_t granule(void)
{
    size_t size = 0;
    CUmemAllocationProp prop = pinned();
    DO(cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return size;
}

CUdeviceptr reserve(size_t size)
{
    CUdeviceptr at = 0;
    DO(cuMemAddressReserve(&at, size, 0, 0, 0));
    return at;
}

CUmemGenericAllocationHandle create(size_t size)
{
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp prop = pinned();
    DO(cuMemCreate(&handle, size, &prop, 0));
    return handle;
}

void allow(CUdeviceptr at, size_t size, CUmemAccess_flags flags)
{
    CUmemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    desc.flags = flags;
    DO(cuMemSetAccess(at, size, &desc, 1));
}

CUdeviceptr whole(size_t size)
{
    CUdeviceptr at = reserve(size);
    CUmemGenericAllocationHandle handle = create(size);
    DO(cuMemMap(at, size, 0, handle, 0));
    DO(cuMemRelease(handle));
    allow(at, size, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    return at;
}

void drop(CUdeviceptr at, size_t size)
{
    DO(cuMemUnmap(at, size));
    DO(cuMemAddressFree(at, size));
}

static int list(void)
{
    static const char *const places[] = {[DEVICE] = "device", [SIM] = "sim", [UNASKED] = "unasked"};
    for (const struct program *p = first; p; p = p->next)
        printf("%s|%s|%s|%s\n", p->name, p->driver, p->simulator ? p->simulator : p->driver, places[p->where]);
    return 0;
}

/* The cost of a mapping: the fewest microseconds for one round of map, rights and unmap over several tries. */
static int loop(int rounds)
{
    double best = 1e30;
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    CUmemGenericAllocationHandle handle = create(g);
    for (int go = 0; go < 7; go++) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (int i = 0; i < rounds; i++) {
            DO(cuMemMap(at, g, 0, handle, 0));
            allow(at, g, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
            DO(cuMemUnmap(at, g));
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        double took = (double)(end.tv_sec - start.tv_sec) * 1e6 + (double)(end.tv_nsec - start.tv_nsec) / 1e3;
        best = took / rounds < best ? took / rounds : best;
    }
    DO(cuMemRelease(handle));
    DO(cuMemAddressFree(at, g));
    printf("%.3f\n", best);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list();
    if (argc == 3 && strcmp(argv[1], "--loop") == 0)
        return loop(atoi(argv[2]));
    for (const struct program *p = first; p && argc == 2; p = p->next)
        if (strcmp(p->name, argv[1]) == 0) {
            p->run();
            return 0;
        }
    fprintf(stderr, "which program? --list names them\n");
    return 2;
}
