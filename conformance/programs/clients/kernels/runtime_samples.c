/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of NVIDIA's samples of the runtime (docs/clients.md), by their mangled names where two samples share one. What waits
 * for a clock or uses a block's shared memory is written so that the result is the same. */
#include "vmm_kernel.h"

static vmm_ptr at32(vmm_ptr base, uint64_t i)
{
    return base + 4 * i;
}

/* simpleStreams: of one block after the other, so the number of them does not matter */
VMM_KERNEL(init_array, vmm_ptr, vmm_ptr, int)
{
    int32_t more = vmm_param_i32(k, 2) * vmm_load_i32(k, vmm_param_ptr(k, 1));
    uint64_t size = 4 * vmm_threads(k);
    size_t part = 0;
    for (uint64_t done = 0; done < size; done += part) {
        part = size - done;
        int32_t *data = vmm_span(k, vmm_param_ptr(k, 0) + done, &part, 1);
        for (size_t i = 0; i < part / 4; i++)
            data[i] += more;
    }
}

/* vectorAdd */
static void add(vmm_kernel_launch *k)
{
    uint64_t i = vmm_thread(k);
    if (i < vmm_param_u32(k, 3))
        vmm_store_f32(k, at32(vmm_param_ptr(k, 2), i),
                      vmm_load_f32(k, at32(vmm_param_ptr(k, 0), i)) + vmm_load_f32(k, at32(vmm_param_ptr(k, 1), i)));
}
VMM_KERNEL_THREADS(vectorAdd, vmm_ptr, vmm_ptr, vmm_ptr, int)
{
    add(k);
}

/* simpleHyperQ: a kernel that takes some ticks of a clock, and their sum */
VMM_KERNEL(kernel_A, vmm_ptr, int64_t)
{
    vmm_store_i64(k, vmm_param_ptr(k, 0), vmm_param_i64(k, 1));
}
VMM_KERNEL(kernel_B, vmm_ptr, int64_t)
{
    vmm_store_i64(k, vmm_param_ptr(k, 0), vmm_param_i64(k, 1));
}
VMM_KERNEL(_Z3sumPli, vmm_ptr, int)
{
    int64_t sum = 0;
    for (uint64_t i = 0; i < vmm_param_u32(k, 1); i++)
        sum += vmm_load_i64(k, vmm_param_ptr(k, 0) + 8 * i);
    vmm_store_i64(k, vmm_param_ptr(k, 0), sum);
}

/* simpleIPC, streamOrderedAllocationIPC */
VMM_KERNEL(simpleKernel, vmm_ptr, int, int8_t)
{
    for (uint64_t i = 0; i < vmm_param_u32(k, 1); i++)
        vmm_store_u8(k, vmm_param_ptr(k, 0) + i, vmm_param_u8(k, 2));
}

/* asyncAPI, cudaOpenMP */
VMM_KERNEL_THREADS(increment_kernel, vmm_ptr, int)
{
    vmm_ptr data = at32(vmm_param_ptr(k, 0), vmm_thread(k));
    vmm_store_i32(k, data, vmm_load_i32(k, data) + vmm_param_i32(k, 1));
}
VMM_KERNEL_THREADS(kernelAddConstant, vmm_ptr, int)
{
    vmm_ptr data = at32(vmm_param_ptr(k, 0), vmm_thread(k));
    vmm_store_i32(k, data, vmm_load_i32(k, data) + vmm_param_i32(k, 1));
}

/* simpleCallback */
VMM_KERNEL_THREADS(_Z9incKernelPii, vmm_ptr, int)
{
    vmm_ptr data = at32(vmm_param_ptr(k, 0), vmm_thread(k));
    if (vmm_thread(k) < vmm_param_u32(k, 1))
        vmm_store_i32(k, data, vmm_load_i32(k, data) + 1);
}

/* simpleMultiCopy */
VMM_KERNEL_THREADS(_Z9incKernelPiS_ii, vmm_ptr, vmm_ptr, int, int)
{
    uint64_t i = vmm_thread(k);
    if (i < vmm_param_u32(k, 2) && vmm_param_i32(k, 3) > 0)
        vmm_store_i32(k, at32(vmm_param_ptr(k, 0), i), vmm_load_i32(k, at32(vmm_param_ptr(k, 1), i)) + 1);
}

/* simpleZeroCopy, streamOrderedAllocation */
VMM_KERNEL_THREADS(vectorAddGPU, vmm_ptr, vmm_ptr, vmm_ptr, int)
{
    add(k);
}

/* simpleMultiGPU */
VMM_KERNEL_THREADS(reduceKernel, vmm_ptr, vmm_ptr, int)
{
    float sum = 0;
    for (uint64_t i = vmm_thread(k); i < vmm_param_u32(k, 2); i += vmm_threads(k))
        sum += vmm_load_f32(k, at32(vmm_param_ptr(k, 1), i));
    vmm_store_f32(k, at32(vmm_param_ptr(k, 0), vmm_thread(k)), sum);
}

/* simpleP2P */
VMM_KERNEL_THREADS(SimpleKernel, vmm_ptr, vmm_ptr)
{
    uint64_t i = vmm_thread(k);
    vmm_store_f32(k, at32(vmm_param_ptr(k, 1), i), 2 * vmm_load_f32(k, at32(vmm_param_ptr(k, 0), i)));
}

/* simpleOccupancy */
VMM_KERNEL_THREADS(square, vmm_ptr, int)
{
    vmm_ptr data = at32(vmm_param_ptr(k, 0), vmm_thread(k));
    if (vmm_thread(k) < vmm_param_u32(k, 1))
        vmm_store_i32(k, data, vmm_load_i32(k, data) * vmm_load_i32(k, data));
}

/* simpleTemplates */
VMM_KERNEL_THREADS(_Z10testKernelIiEvPT_S1_, vmm_ptr, vmm_ptr)
{
    vmm_store_i32(k, at32(vmm_param_ptr(k, 1), vmm_thread(k)),
                  (int)k->block_dim.x * vmm_load_i32(k, at32(vmm_param_ptr(k, 0), vmm_thread(k))));
}
VMM_KERNEL_THREADS(_Z10testKernelIfEvPT_S1_, vmm_ptr, vmm_ptr)
{
    vmm_store_f32(k, at32(vmm_param_ptr(k, 1), vmm_thread(k)),
                  (float)k->block_dim.x * vmm_load_f32(k, at32(vmm_param_ptr(k, 0), vmm_thread(k))));
}

/* streamOrderedAllocationP2P */
VMM_KERNEL_THREADS(copyP2PAndScale, vmm_ptr, vmm_ptr, int)
{
    uint64_t i = vmm_thread(k);
    if (i < vmm_param_u32(k, 2))
        vmm_store_i32(k, at32(vmm_param_ptr(k, 1), i), 2 * vmm_load_i32(k, at32(vmm_param_ptr(k, 0), i)));
}

/* StreamPriorities */
VMM_KERNEL(memcpy_kernel, vmm_ptr, vmm_ptr, uint64_t)
{
    size_t part = 0;
    for (uint64_t done = 0; done < vmm_param_u64(k, 2); done += part) {
        part = vmm_param_u64(k, 2) - done;
        const void *from = vmm_span(k, vmm_param_ptr(k, 1) + done, &part, 0);
        void *to = vmm_span(k, vmm_param_ptr(k, 0) + done, &part, 1);
        memcpy(to, from, part);
    }
}
