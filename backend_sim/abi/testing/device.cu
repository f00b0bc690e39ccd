/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for the tests of PTX through libcuda.so.1 (abi_ptx_test.c): `make ptx-device` compiles them to device.ptx. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>

__constant__ int factors[4] = {1, 2, 3, 4};
__device__ int total = 1000;
__device__ int *where = &total;
__device__ uint8_t zeros[300];

extern "C" __global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void scale(int *out)
{
    out[threadIdx.x] = factors[threadIdx.x & 3] * *where + zeros[threadIdx.x];
}

extern "C" __global__ void count(int by)
{
    atomicAdd(&total, by);
}

extern "C" __global__ void turn(int *words, int n)
{
    __shared__ int fixed[64];
    extern __shared__ int sized[];
    fixed[threadIdx.x] = sized[threadIdx.x] = words[threadIdx.x];
    __syncthreads();
    words[threadIdx.x] = fixed[n - 1 - threadIdx.x] + sized[threadIdx.x];
}

extern "C" __global__ void fill(uint64_t *words, uint64_t value)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    words[i] = value + i;
}

extern "C" __global__ void unaligned(char *bytes)
{
    *(volatile int *)(bytes + 4 * threadIdx.x + 2) = 7;
}

extern "C" __global__ void hold(const int *word, int wanted)
{
    assert(*word == wanted);
}

extern "C" __global__ void stop(int block)
{
    if (blockIdx.x == block && threadIdx.x == 3)
        __trap();
}

extern "C" __global__ void outside(int *out, int at)
{
    __shared__ int words[8];
    words[threadIdx.x & 7] = 1;
    __syncthreads();
    *out = words[at];
}

extern "C" __global__ void wait_for(volatile int *word)
{
    while (*word == 0)
        ;
}

extern "C" __global__ void greet(const char *whom, double much)
{
    printf("hello %d %g %s\n", (int)(blockIdx.x * blockDim.x + threadIdx.x), much, "device");
}

extern "C" __global__ void barriers(uint64_t *word)
{
    __shared__ uint64_t state;
    if (word)
        *word = 1;
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(&state)) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) bounded(int *out)
{
    out[threadIdx.x] = (int)clock();
}
