/* SPDX-License-Identifier: Apache-2.0 */
/* Programs whose driver calls are made to fail one by one (cuvmm exec --fault=each): one that takes it well, and one for each thing that
 * can go wrong. They know nothing of this project.
 *
 *     ./program careful     each failure undoes what was done, and the program ends with 0
 *     ./program unchecked   ... but for a cuMemMap whose result is not checked
 */
#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECES = 3 };

static const char *mistake = "";

static int is(const char *name)
{
    return strcmp(mistake, name) == 0;
}

struct pool {
    size_t piece;
    CUdeviceptr at;
    size_t mapped;
};

static CUmemAllocationProp pinned(void)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return prop;
}

/* ---- a pool of mapped pieces ---- */

static CUresult allow(const struct pool *pool, size_t index)
{
    CUmemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return cuMemSetAccess(pool->at + index * pool->piece, pool->piece, &desc, 1);
}

/* One piece more, or none. */
static CUresult grow(struct pool *pool)
{
    CUmemAllocationProp prop = pinned();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at = pool->at + pool->mapped * pool->piece;
    CUresult result = cuMemCreate(&handle, pool->piece, &prop, 0);
    if (result != CUDA_SUCCESS)
        return result;
    result = cuMemMap(at, pool->piece, 0, handle, 0);
    if (is("unchecked"))
        result = CUDA_SUCCESS;
    if (result != CUDA_SUCCESS && is("leaks"))
        return result;
    cuMemRelease(handle);
    if (result != CUDA_SUCCESS)
        return result;
    result = allow(pool, pool->mapped);
    if (result != CUDA_SUCCESS && is("crashes"))
        raise(SIGSEGV);
    if (result != CUDA_SUCCESS && !is("unchecked"))
        cuMemUnmap(at, pool->piece);
    else
        pool->mapped++;
    return is("unchecked") ? CUDA_SUCCESS : result;
}

static void drop(struct pool *pool)
{
    for (size_t i = 0; i < pool->mapped; i++)
        cuMemUnmap(pool->at + i * pool->piece, pool->piece);
    if (pool->at)
        cuMemAddressFree(pool->at, PIECES * pool->piece);
}

static void use(struct pool *pool)
{
    unsigned value = 7;
    CUmemAllocationProp prop = pinned();
    if (cuMemGetAllocationGranularity(&pool->piece, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS)
        return;
    if (cuMemAddressReserve(&pool->at, PIECES * pool->piece, 0, 0, 0) != CUDA_SUCCESS) {
        if (is("exits"))
            exit(3);
        return;
    }
    for (int i = 0; i < PIECES; i++)
        if (grow(pool) != CUDA_SUCCESS)
            return;
    if (cuMemsetD32(pool->at, 0xc0ffee, 1) != CUDA_SUCCESS)
        return;
    CUresult result = cuMemcpyDtoH(&value, pool->at, sizeof value);
    if (result == CUDA_SUCCESS && value != 0xc0ffee && !is("unchecked"))
        exit(4);
    while (result != CUDA_SUCCESS && is("hangs")) /* for an answer that never comes */
        pause();
}

static int lifecycle(void)
{
    struct pool pool = {.piece = 0};
    CUcontext context;
    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS)
        return 0;
    if (cuCtxSetCurrent(context) == CUDA_SUCCESS)
        use(&pool);
    drop(&pool);
    cuDevicePrimaryCtxRelease(0);
    return 0;
}

/* ---- two processes, one after the other, then a child that has the driver to itself ---- */

static int forks(void)
{
    int status = 0;
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            if (i == 1)
                mistake = "crashes";
            exit(lifecycle());
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 1;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            return 5;
    }
    mistake = "";
    return lifecycle();
}

/* ---- many calls, many places ---- */

#define ONE \
    if (cuMemGetInfo(&free_bytes, &total) != CUDA_SUCCESS) \
        failed++;
#define TEN ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static int many(int rounds)
{
    size_t free_bytes, total;
    CUcontext context;
    int failed = 0;
    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS || cuCtxSetCurrent(context) != CUDA_SUCCESS)
        return 0;
    for (int i = 0; i < rounds; i++) {
        HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
    }
    cuDevicePrimaryCtxRelease(0);
    return failed > 1; /* one was asked for */
}

/* ---- another way each time ---- */

static int varies(const char *file)
{
    size_t free_bytes, total;
    int runs = 0;
    FILE *count = fopen(file, "r+");
    if (!count || fscanf(count, "%d", &runs) != 1)
        return 1;
    rewind(count);
    fprintf(count, "%d\n", runs + 1);
    fclose(count);
    CUcontext context;
    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS || cuCtxSetCurrent(context) != CUDA_SUCCESS)
        return 0;
    if (is("wanders") && runs >= 2) /* as twice before, and then otherwise */
        cuMemGetInfo(&free_bytes, &total);
    for (int i = 0; i <= (is("wanders") ? 0 : runs % 3); i++)
        cuMemGetInfo(&free_bytes, &total);
    cuDevicePrimaryCtxRelease(0);
    return lifecycle();
}

static void *thread(void *unused)
{
    return (void)unused, lifecycle(), NULL;
}

/* Two threads: which call is the Nth is chance. */
static int threads(void)
{
    pthread_t one, two;
    if (pthread_create(&one, NULL, thread, NULL) != 0 || pthread_create(&two, NULL, thread, NULL) != 0)
        return 1;
    return pthread_join(one, NULL) + pthread_join(two, NULL);
}

int main(int argc, char **argv)
{
    mistake = argc > 1 ? argv[1] : "";
    if (is("forks"))
        return forks();
    if (is("many") && argc == 3)
        return many(atoi(argv[2]));
    if ((is("varies") || is("wanders")) && argc == 3)
        return varies(argv[2]);
    if (is("threads"))
        return threads();
    if (is("fails"))
        return fputs("no good\n", stderr), lifecycle(), 9;
    if (is("idle"))
        return 0;
    if (is("endless"))
        for (;;)
            pause();
    return lifecycle();
}
