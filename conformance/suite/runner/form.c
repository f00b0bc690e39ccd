/* SPDX-License-Identifier: Apache-2.0 */
#include "form.h"

#include "kernels_ptx.h"

void form_need(struct fix *f)
{
    if (fix_attribute(f, VMM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) < 9)
        fix_skip(f, "needs a device of compute capability 9.0, for which the PTX is");
}

vmm_kernel form_of(struct fix *f, vmm_kernel kernel, bool ptx)
{
    const vmm_ptx_kernel what = {.ptx = (const char *)kernels_ptx, .size = kernels_ptx_size, .name = vmm_kernel_name(kernel)};
    vmm_kernel number = kernel;
    if (ptx)
        fix_need(f, vmm_kernel_load(&what, &number));
    return number;
}
