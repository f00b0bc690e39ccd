/* SPDX-License-Identifier: Apache-2.0 */
/* The program's device code for libcuda.so.1 on the simulator, equal to the PTX in d_devices.c. */
#include "vmm_kernel.h"

VMM_KERNEL(fault, vmm_ptr)
{
    vmm_store_u32(k, vmm_param_ptr(k, 0), 1);
}
