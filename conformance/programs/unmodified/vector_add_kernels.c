/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of vector_add.c for the simulator. In CUDA C it is
 *
 *     extern "C" __global__ void vectorAdd(const float *a, const float *b, float *c, int n)
 *     {
 *         int i = blockDim.x * blockIdx.x + threadIdx.x;
 *         if (i < n)
 *             c[i] = a[i] + b[i];
 *     }
 */
#include "vmm_kernel.h"

VMM_KERNEL_THREADS(vectorAdd, vmm_ptr, vmm_ptr, vmm_ptr, int)
{
    vmm_ptr a = vmm_param_ptr(k, 0), b = vmm_param_ptr(k, 1), c = vmm_param_ptr(k, 2);
    uint64_t i = vmm_thread(k);
    if (i < vmm_param_u32(k, 3))
        vmm_store_f32(k, c + 4 * i, vmm_load_f32(k, a + 4 * i) + vmm_load_f32(k, b + 4 * i));
}
