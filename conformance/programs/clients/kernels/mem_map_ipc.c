/* SPDX-License-Identifier: Apache-2.0 */
/* memMapIPCDrv: all threads together fill size bytes. */
#include "vmm_kernel.h"

VMM_KERNEL(memMapIpc_kernel, vmm_ptr, int, char)
{
    vmm_ptr at = vmm_param_ptr(k, 0), end = at + vmm_param_u32(k, 1);
    while (at < end) {
        size_t size = (size_t)(end - at);
        void *bytes = vmm_span(k, at, &size, 1);
        memset(bytes, vmm_param_u8(k, 2), size);
        at += size;
    }
}
