/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of these programs for the simulator; kernels_ptx.c has them for a GPU. */
#include "vmm_kernel.h"

VMM_KERNEL(fill, vmm_ptr, uint64_t, uint32_t)
{
    for (uint64_t i = 0; i < vmm_param_u64(k, 1); i++)
        vmm_store_u32(k, vmm_param_ptr(k, 0) + 4 * i, vmm_param_u32(k, 2));
}

VMM_KERNEL(add, vmm_ptr, uint64_t, uint32_t)
{
    for (uint64_t i = 0; i < vmm_param_u64(k, 1); i++)
        vmm_add_u32(k, vmm_param_ptr(k, 0) + 4 * i, vmm_param_u32(k, 2));
}

VMM_KERNEL(copy, vmm_ptr, vmm_ptr, uint64_t)
{
    for (uint64_t i = 0; i < vmm_param_u64(k, 2); i++)
        vmm_store_u32(k, vmm_param_ptr(k, 0) + 4 * i, vmm_load_u32(k, vmm_param_ptr(k, 1) + 4 * i));
}

VMM_KERNEL(sum, vmm_ptr, uint64_t, vmm_ptr)
{
    uint32_t total = 0;
    for (uint64_t i = 0; i < vmm_param_u64(k, 1); i++)
        total += vmm_load_u32(k, vmm_param_ptr(k, 0) + 4 * i);
    vmm_store_u32(k, vmm_param_ptr(k, 2), total);
}
