/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of the recording programs, for ci/abi-probe. */
#include "vmm_kernel.h"

VMM_KERNEL(fill, vmm_ptr, uint64_t, uint8_t)
{
    size_t part;
    for (uint64_t done = 0, n = vmm_param_u64(k, 1); done < n; done += part) {
        part = n - done;
        void *bytes = vmm_span(k, vmm_param_ptr(k, 0) + done, &part, 1);
        memset(bytes, vmm_param_u8(k, 2), part);
    }
}

VMM_KERNEL(sum, vmm_ptr, uint64_t, vmm_ptr)
{
    uint64_t total = 0;
    size_t part;
    for (uint64_t done = 0, n = vmm_param_u64(k, 1); done < n; done += part) {
        part = n - done;
        const unsigned char *bytes = vmm_span(k, vmm_param_ptr(k, 0) + done, &part, 0);
        for (size_t i = 0; i < part; i++)
            total += bytes[i];
    }
    vmm_add_u64(k, vmm_param_ptr(k, 2), total);
}

VMM_KERNEL(spin, vmm_ptr, uint64_t, uint8_t)
{
    vmm_take_time(k, vmm_param_u64(k, 1));
    if (vmm_param_ptr(k, 0))
        vmm_store_u8(k, vmm_param_ptr(k, 0), vmm_param_u8(k, 2));
}

VMM_KERNEL(alias2, vmm_ptr, vmm_ptr, vmm_ptr)
{
    vmm_store_i32(k, vmm_param_ptr(k, 0), 1);
    vmm_store_i32(k, vmm_param_ptr(k, 2), vmm_load_i32(k, vmm_param_ptr(k, 1)));
}
