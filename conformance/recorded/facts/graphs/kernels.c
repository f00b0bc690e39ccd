/* SPDX-License-Identifier: Apache-2.0 */
/* The program's kernels for libcuda.so.1 on the simulator, equal to the PTX in common.c. */
#include "vmm_kernel.h"

VMM_KERNEL(put, vmm_ptr, uint32_t)
{
    vmm_store_i32(k, vmm_param_ptr(k, 0), (int32_t)vmm_param_u32(k, 1));
}

VMM_KERNEL(add, vmm_ptr, uint32_t)
{
    vmm_ptr p = vmm_param_ptr(k, 0);
    vmm_store_i32(k, p, (int32_t)((uint32_t)vmm_load_i32(k, p) + vmm_param_u32(k, 1)));
}

VMM_KERNEL(get, vmm_ptr, vmm_ptr)
{
    vmm_store_i32(k, vmm_param_ptr(k, 0), vmm_load_i32(k, vmm_param_ptr(k, 1)));
}
