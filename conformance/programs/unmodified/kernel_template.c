/* SPDX-License-Identifier: Apache-2.0 */
/* Copy this for a kernel of yours: its name, the types of its parameters (pointers are vmm_ptr), and what it does.
 *
 *     cc -shared -fPIC -I<include>/cuvmm -o my_kernels.so kernel_template.c
 *     CUVMM_KERNELS=./my_kernels.so LD_LIBRARY_PATH=<lib>/cuvmm ./program
 */
#include "vmm_kernel.h"

/* Once for each thread. For a kernel that is simpler, or faster, as one loop: VMM_KERNEL, called once for the launch. */
VMM_KERNEL_THREADS(my_kernel, vmm_ptr, uint64_t)
{
    vmm_ptr out = vmm_param_ptr(k, 0);
    uint64_t n = vmm_param_u64(k, 1);
    for (uint64_t i = vmm_thread(k); i < n; i += vmm_threads(k))
        vmm_store_u32(k, out + 4 * i, (uint32_t)i);
}
