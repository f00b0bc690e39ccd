/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels and variables of sums.cu for the simulator. */
#include "vmm_kernel.h"

VMM_VARIABLE_OF(int32_t, factor, 1, 1);
VMM_VARIABLE(int32_t, launches);

VMM_KERNEL_THREADS(_Z3addIiEvPKT_S2_PS0_i, vmm_ptr, vmm_ptr, vmm_ptr, int)
{
    vmm_ptr a = vmm_param_ptr(k, 0), b = vmm_param_ptr(k, 1), c = vmm_param_ptr(k, 2);
    uint64_t i = vmm_thread(k);
    if (i < vmm_param_u32(k, 3))
        vmm_store_i32(k, c + 4 * i,
                      vmm_load_i32(k, vmm_variable(k, factor)) * (vmm_load_i32(k, a + 4 * i) + vmm_load_i32(k, b + 4 * i)));
    if (!i)
        vmm_add_u32(k, vmm_variable(k, launches), 1);
}
