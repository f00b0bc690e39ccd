/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for the tests of libcuda.so.1. */
#include "vmm_kernel.h"

VMM_KERNEL_THREADS(vectorAdd, vmm_ptr, vmm_ptr, vmm_ptr, int)
{
    uint64_t i = vmm_thread(k);
    if (i < vmm_param_u32(k, 3))
        vmm_store_f32(k, vmm_param_ptr(k, 2) + 4 * i,
                      vmm_load_f32(k, vmm_param_ptr(k, 0) + 4 * i) + vmm_load_f32(k, vmm_param_ptr(k, 1) + 4 * i));
}

/* Small and large parameters, so that there are gaps between them. */
struct pair {
    int32_t first, second;
};
VMM_KERNEL(gaps, uint8_t, uint64_t, struct pair, uint16_t, vmm_ptr)
{
    struct pair pair;
    memcpy(&pair, k->params + k->offset[2], sizeof pair);
    vmm_store_u64(k, vmm_param_ptr(k, 4),
                  vmm_param_u8(k, 0) + vmm_param_u64(k, 1) + (uint64_t)pair.first * 1000 + (uint64_t)pair.second * 100 +
                      vmm_param_u16(k, 3));
}

VMM_KERNEL(fill_span, vmm_ptr, uint64_t, uint8_t)
{
    size_t part;
    for (uint64_t done = 0; done < vmm_param_u64(k, 1); done += part) {
        part = vmm_param_u64(k, 1) - done;
        void *bytes = vmm_span(k, vmm_param_ptr(k, 0) + done, &part, 1);
        memset(bytes, vmm_param_u8(k, 2), part);
    }
}

VMM_KERNEL_THREADS(count_threads, vmm_ptr)
{
    vmm_add_u64(k, vmm_param_ptr(k, 0), 1);
    if (vmm_thread(k) == vmm_threads(k) - 1)
        vmm_store_u32(k, vmm_param_ptr(k, 0) + 8, k->block_idx.z * 100 + k->thread_idx.z * 10 + k->thread_idx.y);
}

/* Makes a driver call, which a kernel must not do. */
VMM_KERNEL(calls, uint64_t, vmm_ptr)
{
    uint64_t address = vmm_param_u64(k, 0);
    int (*call)(void);
    memcpy(&call, &address, sizeof call);
    vmm_store_i32(k, vmm_param_ptr(k, 1), call());
}

/* More parameters than a launch accepts. */
struct many {
    uint8_t bytes[40000];
};
VMM_KERNEL(wide, struct many)
{
    (void)k;
}

/* A kernel built with an old version. */
VMM_KERNEL_EXPORT const vmm_kernel_entry vmm_kernel_old = {.version = VMM_KERNEL_VERSION + 1};

/* Counts the nonzero bytes of a range, and the pieces in which it arrived. */
VMM_KERNEL(look_at, vmm_ptr, uint64_t, vmm_ptr)
{
    uint64_t pieces = 0, set = 0;
    size_t part = 0;
    vmm_span(k, vmm_param_ptr(k, 0), &part, 0); /* an empty span */
    for (uint64_t done = 0; done < vmm_param_u64(k, 1); done += part, pieces++) {
        part = vmm_param_u64(k, 1) - done;
        const unsigned char *bytes = vmm_span(k, vmm_param_ptr(k, 0) + done, &part, 0);
        for (size_t i = 0; i < part; i++)
            set += bytes[i] != 0;
    }
    set += vmm_load_u64(k, vmm_param_ptr(k, 0)) != 0;
    vmm_store_u64(k, vmm_param_ptr(k, 2), set);
    vmm_store_u64(k, vmm_param_ptr(k, 2) + 8, pieces);
}

VMM_KERNEL(nothing)
{
    (void)k;
}

/* Takes the same time on the simulator as on a device. */
VMM_KERNEL(slow, vmm_ptr, uint64_t, uint8_t)
{
    vmm_take_time(k, vmm_param_u64(k, 1));
    vmm_store_u8(k, vmm_param_ptr(k, 0), vmm_param_u8(k, 2));
}

/* Device variables. */
VMM_VARIABLE_OF(uint32_t, counter, 1, 42);
VMM_VARIABLE(uint64_t, table, 100);
VMM_VARIABLE(uint8_t, flag);

/* Counts up, and writes the table's address. */
VMM_KERNEL(count_up, vmm_ptr)
{
    vmm_add_u32(k, vmm_variable(k, counter), 1);
    vmm_store_u64(k, vmm_param_ptr(k, 0), vmm_variable(k, table));
}
