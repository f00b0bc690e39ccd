/* SPDX-License-Identifier: Apache-2.0 */
/* The program's device code for libcuda.so.1 on the simulator, equal to the PTX in ptx.c. */
#include "vmm_kernel.h"

VMM_VARIABLE_OF(uint32_t, word, 1, 42);
VMM_VARIABLE(uint8_t, byte);
VMM_VARIABLE_OF(uint8_t, sixteen, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
VMM_VARIABLE(uint8_t, thirteen, 13);
VMM_VARIABLE(uint8_t, big, 1 << 20);
VMM_VARIABLE(uint8_t, huge, 64 << 20);
VMM_VARIABLE_OF(uint32_t, fixed, 1, 7);
VMM_VARIABLE_OF(uint32_t, hidden, 1, 9);

VMM_KERNEL(reads, vmm_ptr)
{
    if (vmm_load_i32(k, vmm_param_ptr(k, 0)) == 123456789)
        vmm_store_i32(k, vmm_param_ptr(k, 0), 0);
}

VMM_KERNEL(tells, vmm_ptr)
{
    vmm_ptr to = vmm_param_ptr(k, 0);
    vmm_store_u32(k, to, vmm_load_u32(k, vmm_variable(k, word)));
    vmm_store_u32(k, to + 4, vmm_load_u32(k, vmm_variable(k, hidden)));
    vmm_store_u32(k, to + 8, vmm_load_u32(k, vmm_variable(k, fixed)));
    vmm_store_u64(k, to + 16, vmm_variable(k, word));
}

VMM_KERNEL(adds, vmm_ptr)
{
    uint32_t value = vmm_load_u32(k, vmm_variable(k, word)) + 1;
    vmm_store_u32(k, vmm_variable(k, word), value);
    vmm_store_u32(k, vmm_variable(k, hidden), value);
}
