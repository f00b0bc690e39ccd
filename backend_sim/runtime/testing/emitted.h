/* SPDX-License-Identifier: Apache-2.0 */
/* emitted.h - a hand-written version of the code that compilers emit for device code: a fat binary, host stubs, and
 * registration.
 *
 *     __global__ void vectorAdd(...);    static void vectorAdd(...)      the stub: pops the configuration and launches itself
 *     __device__ unsigned counter;       static unsigned counter         stands for the variable
 *     vectorAdd<<<4, 32>>>(x, y, z, n)   push(4, 32) ? (void)0 : vectorAdd(x, y, z, n)
 *
 * The image holds no code: the kernels are those of the plugins in CUVMM_KERNELS.
 */
#ifndef SIM_RUNTIME_TESTING_EMITTED_H
#define SIM_RUNTIME_TESTING_EMITTED_H

#include <stdint.h>

#include "rt_rig.h"

struct fat_binary_wrapper {
    int magic, version;
    const void *code, *more;
};

/* A header without entries. */
static const uint64_t no_entries[2] = {0x00100001ba55ed50, 0};
static struct fat_binary_wrapper fat_binary = {0x466243b1, 1, no_entries, NULL};

static inline void register_function(void **image, const void *stub, const char *name)
{
    __cudaRegisterFunction(image, stub, NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static inline void register_variable(void **image, void *host, const char *name, size_t size)
{
    __cudaRegisterVar(image, host, NULL, name, 0, size, 0, 0);
}

static inline cudaError_t stub_launch(const void *stub, void **args)
{
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    cudaError_t result = __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
    return result == cudaSuccess ? cudaLaunchKernel(stub, grid, block, args, shared, stream) : result;
}

static inline dim3 dim(unsigned x)
{
    return (dim3){x, 1, 1};
}

/* stub<<<grid, block, shared, stream>>>(...) */
#define LAUNCH(grid, block, shared, stream, call) \
    (__cudaPushCallConfiguration(grid, block, shared, stream) ? (void)0 : (call))

#endif
