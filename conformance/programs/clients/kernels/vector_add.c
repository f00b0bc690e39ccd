/* SPDX-License-Identifier: Apache-2.0 */
/* vectorAddMMAP and vectorAddDrv, and cuda.core's test: C = A + B. */
#include "vmm_kernel.h"

VMM_KERNEL_THREADS(VecAdd_kernel, vmm_ptr, vmm_ptr, vmm_ptr, int)
{
    vmm_ptr a = vmm_param_ptr(k, 0), b = vmm_param_ptr(k, 1), c = vmm_param_ptr(k, 2);
    uint64_t i = vmm_thread(k);
    if (i < vmm_param_u32(k, 3))
        vmm_store_f32(k, c + 4 * i, vmm_load_f32(k, a + 4 * i) + vmm_load_f32(k, b + 4 * i));
}
