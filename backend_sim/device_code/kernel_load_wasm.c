/* SPDX-License-Identifier: Apache-2.0 */
/* The module for browsers has no PTX translator. */
#include "detail.h"

vmm_result vmm_kernel_load(const vmm_ptx_kernel *what, vmm_kernel *kernel)
{
    (void)what;
    (void)kernel;
    return vmm_detail_fail(VMM_ERROR_NOT_SUPPORTED, "vmm_kernel_load", "PTX does not run in a browser; the cuvmm command runs it");
}
