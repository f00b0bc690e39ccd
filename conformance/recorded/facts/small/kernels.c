/* SPDX-License-Identifier: Apache-2.0 */
/* The program's kernels for libcuda.so.1 on the simulator, equal to the PTX in scripts.c. */
#include "vmm_kernel.h"

VMM_KERNEL(reads, vmm_ptr)
{
    if (vmm_load_i32(k, vmm_param_ptr(k, 0)) == 123456789)
        vmm_store_i32(k, vmm_param_ptr(k, 0), 0);
}

VMM_KERNEL(writes, vmm_ptr)
{
    vmm_store_i32(k, vmm_param_ptr(k, 0), 0x33333333);
}
