/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels and variables of c_code.c's image, and the kernel of d_devices.c, for the simulator. */
#include "vmm_kernel.h"

VMM_VARIABLE_OF(uint32_t, counter, 1, 42);
VMM_VARIABLE(int32_t, table, 25);

VMM_KERNEL(fill, vmm_ptr, uint64_t, uint8_t)
{
    for (uint64_t i = 0; i < vmm_param_u64(k, 1); i++)
        vmm_store_u8(k, vmm_param_ptr(k, 0) + i, vmm_param_u8(k, 2));
}

VMM_KERNEL(nothing)
{
    (void)k;
}

VMM_KERNEL(fault, vmm_ptr)
{
    vmm_store_u32(k, vmm_param_ptr(k, 0), 1);
}
