/* SPDX-License-Identifier: Apache-2.0 */
/* matrixMulDrv: C = A * B, each thread one element. On a device blocks share tiles of A and B, which only saves loads;
 * its three kernels differ in the size of a tile, and the sample takes the largest that fits a block. */
#include "vmm_kernel.h"

VMM_KERNEL_THREADS(matrixMul_bs32_64bit, vmm_ptr, vmm_ptr, vmm_ptr, size_t, size_t)
{
    vmm_ptr c = vmm_param_ptr(k, 0), a = vmm_param_ptr(k, 1), b = vmm_param_ptr(k, 2);
    uint64_t width_a = vmm_param_u64(k, 3), width_b = vmm_param_u64(k, 4);
    uint64_t row = (uint64_t)k->block_idx.y * k->block_dim.y + k->thread_idx.y;
    uint64_t column = (uint64_t)k->block_idx.x * k->block_dim.x + k->thread_idx.x;
    float sum = 0;
    for (uint64_t i = 0; i < width_a; i++)
        sum += vmm_load_f32(k, a + 4 * (row * width_a + i)) * vmm_load_f32(k, b + 4 * (i * width_b + column));
    vmm_store_f32(k, c + 4 * (row * width_b + column), sum);
}
