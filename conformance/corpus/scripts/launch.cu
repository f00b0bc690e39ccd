/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for launch.vmm and launch-faults.vmm: `make ptx-device` makes launch.ptx of them. */
#include <assert.h>

__device__ int total;

extern "C" __global__ void scale(float *values, int count, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] *= by;
}

/* The index of each thread, and of the last one. */
extern "C" __global__ void places(unsigned *out)
{
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block << 16 | thread;
}

/* Sums of a block in shared memory, of all blocks in a variable. */
extern "C" __global__ void sum(const int *values, int *out)
{
    extern __shared__ int part[];
    part[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x];
    for (int half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *out = atomicAdd(&total, part[0]) + part[0];
}

extern "C" __global__ void narrow(signed char byte, unsigned short half, long long word, double number, long long *out)
{
    out[0] = byte;
    out[1] = half;
    out[2] = word;
    out[3] = (long long)(number * 1000);
}

extern "C" __global__ void skewed(char *bytes)
{
    *(int *)(bytes + 1) = 7;
}

extern "C" __global__ void hold(const int *value, int wanted)
{
    assert(*value == wanted);
}

extern "C" __global__ void wait_for(volatile int *value)
{
    while (*value == 0)
        ;
}
