/* SPDX-License-Identifier: Apache-2.0 */
/* The program's kernels for libcuda.so.1 on the simulator, equal to the PTX in ../first.c. */
#include "vmm_kernel.h"

#include <string.h>

VMM_KERNEL(fill, vmm_ptr, uint64_t, uint8_t)
{
    uint64_t left = vmm_param_u64(k, 1);
    for (vmm_ptr at = vmm_param_ptr(k, 0); left;) {
        size_t part = left;
        void *bytes = vmm_span(k, at, &part, 1);
        if (!bytes)
            return;
        memset(bytes, vmm_param_u8(k, 2), part);
        at += part;
        left -= part;
    }
}

VMM_KERNEL(sum, vmm_ptr, uint64_t, vmm_ptr)
{
    uint64_t left = vmm_param_u64(k, 1), total = 0;
    for (vmm_ptr at = vmm_param_ptr(k, 0); left;) {
        size_t part = left;
        const unsigned char *bytes = vmm_span(k, at, &part, 0);
        if (!bytes)
            return;
        for (size_t i = 0; i < part; i++)
            total += bytes[i];
        at += part;
        left -= part;
    }
    vmm_add_u64(k, vmm_param_ptr(k, 2), total);
}
