/* SPDX-License-Identifier: Apache-2.0 */
/* Any of these may be a program's first runtime call: each is the first call of a separate process, which then has a context. */
#include <sys/wait.h>
#include <unistd.h>

#include "testing/rt_rig.h"

static char bytes[64];
static void *pointer;
static size_t size;
static struct cudaPointerAttributes is;
static struct cudaPitchedPtr pitched;
static cudaMemPool_t pool;

static cudaError_t first(int call)
{
    switch (call) {
    case 0: return cudaMalloc(&pointer, 1);
    case 1: return cudaMalloc(&pointer, 0);
    case 2: return cudaFree(NULL);
    case 3: return cudaMallocHost(&pointer, 1);
    case 4: return cudaHostAlloc(&pointer, 1, 0);
    case 5: return cudaFreeHost(NULL);
    case 6: return cudaMallocManaged(&pointer, 1, cudaMemAttachGlobal);
    case 7: return cudaMallocPitch(&pointer, &size, 1, 1);
    case 8: return cudaMalloc3D(&pitched, (struct cudaExtent){.width = 1, .height = 1, .depth = 1});
    case 9: return cudaMallocAsync(&pointer, 1, NULL);
    case 10: return cudaMemGetInfo(&size, &size);
    case 11: return cudaPointerGetAttributes(&is, bytes);
    case 12: return cudaMemcpy(bytes, bytes + 8, 8, cudaMemcpyHostToHost);
    case 13: return cudaMemcpy2D(bytes, 8, bytes + 32, 8, 8, 2, cudaMemcpyDefault);
    case 14: return cudaMemset(NULL, 0, 0);
    case 15: return cudaHostRegister(bytes, 64, 0);
    case 16: return cudaDeviceGetDefaultMemPool(&pool, 0);
    case 17: return cudaMemcpyPeer(NULL, 0, NULL, 0, 0);
    default: return cudaMemcpyAsync(bytes, bytes + 8, 8, cudaMemcpyDefault, NULL);
    }
}

enum { CALLS = 19 };

/* Calls that do not create a context. */
static bool is_question(int call)
{
    return call == 11 || call == 16;
}

/* 0, or the number of the failed check. */
static int alone(int call)
{
    CUcontext current = NULL;
    alarm(20);
    if (first(call) != cudaSuccess)
        return 1;
    if (cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current != is_question(call))
        return 2;
    return cudaPeekAtLastError() == cudaSuccess ? 0 : 3;
}

/* Their invalid arguments are reported only if there is a driver, as observed with the toolkit's library. */
static cudaError_t wrong_first(int call)
{
    switch (call) {
    case 0: return cudaMalloc(NULL, 0);
    case 1: return cudaMallocPitch(NULL, NULL, 0, 0);
    case 2: return cudaMalloc3D(NULL, (struct cudaExtent){.width = 0});
    case 3: return cudaPointerGetAttributes(NULL, NULL);
    case 4: return cudaMemcpy(NULL, NULL, 0, (enum cudaMemcpyKind)9);
    case 5: return cudaMemcpy2D(bytes, 1, bytes, 1, 2, 2, (enum cudaMemcpyKind)9);
    case 6: return cudaMemcpy3D(NULL);
    case 7: return cudaMemcpyPeer(bytes, -1, bytes, 0, 8);
    case 8: return cudaMemcpy3DPeer(NULL);
    case 9: return cudaHostRegister(NULL, 0, 99);
    default: return cudaMemPoolCreate(NULL, NULL);
    }
}

enum { WRONG_CALLS = 11 };

/* Without a driver each of them is refused for that reason: returns the number of those that are not. */
static int without_driver(int calls)
{
    int wrong = 0;
    alarm(20);
    for (int call = 0; call < calls; call++)
        wrong += first(call) != cudaErrorInsufficientDriver || cudaGetLastError() != cudaErrorInsufficientDriver;
    for (int call = 0; call < WRONG_CALLS; call++)
        wrong += wrong_first(call) != cudaErrorInsufficientDriver;
    return wrong;
}

static int of_child(int (*work)(int), int call)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        exit(work(call));
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    for (int call = 0; call < CALLS; call++)
        tap_u64((uint64_t)of_child(alone, call), 0, "call %d as a process's first", call);
    setenv("CUVMM_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    tap_u64((uint64_t)of_child(without_driver, CALLS), 0, "each of them without a driver");
    return tap_done();
}
