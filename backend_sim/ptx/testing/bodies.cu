/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of bodies.h: thread i computes words 4 i to 4 i + 3 of out from those of in. */
#ifndef __CUDACC__
#error "this is for a compiler of device code"
#endif
#ifndef __CUDA_RUNTIME_H__ /* clang without a toolkit */
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define THREAD (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#else
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#endif
#include "bodies.h"

#define KERNEL(name)                                                                  \
    extern "C" __global__ void name(const uint64_t *in, uint64_t *out)                \
    {                                                                                 \
        unsigned i = THREAD;                                                          \
        for (int k = 0; k < BODY_OUT; k++)                                            \
            out[BODY_OUT * i + k] = 0;                                                \
        body_##name(in + BODY_IN * i, out + BODY_OUT * i);                            \
    }
BODIES(KERNEL)
