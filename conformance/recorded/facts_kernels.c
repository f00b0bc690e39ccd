/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that go where their rights, or the mappings, do not reach: the launch is SUCCESS and the wait is not. */
#include "facts_calls.h"

#include <stdio.h>

#define G FACTS_G

/* ---- the two kernels of the recording program, each with its wait ---- */

static vmm_result run(struct facts *f, vmm_kernel kernel, const uint64_t *args)
{
    fc_begin(f, "cuLaunchKernel");
    vmm_result result = vmm_launch(f->sys, kernel, 64, 256, args, vmm_kernel_arguments(kernel), NULL);
    return result == VMM_SUCCESS ? fc_ctx_synchronize(f) : result;
}

vmm_result fc_kernel_fill(struct facts *f, vmm_deviceptr dst, unsigned char value, uint64_t n)
{
    const uint64_t args[] = {dst, n, value};
    return run(f, VMM_KERNEL_FILL, args);
}

vmm_result fc_kernel_sum(struct facts *f, vmm_deviceptr src, uint64_t n, uint64_t *sum)
{
    vmm_deviceptr out = 0;
    vmm_result result = fc_alloc(f, &out, 8);
    if (result == VMM_SUCCESS)
        result = fc_fill(f, out, 0, 8);
    if (result == VMM_SUCCESS)
        result = run(f, VMM_KERNEL_SUM, (const uint64_t[]){src, n, out});
    if (result != VMM_SUCCESS)
        return result;
    result = fc_dtoh(f, sum, out, 8);
    facts_setup(f, fc_alloc_free(f, out), "free");
    return result;
}

/* ---- one kernel to a process: it may lose the device ---- */

static const struct kernel_case {
    const char *name;
    int rights; /* of facts_beforehand */
    bool sum;   /* it reads; else it fills */
    uint64_t at, size;
} cases[] = {
    {"k_reserved_only", FACTS_UNMAPPED, false, 0, 16},
    {"k_mapped_noaccess", FACTS_NO_RIGHTS, false, 0, 16},
    {"k_none", VMM_MEM_ACCESS_FLAGS_PROT_NONE, false, 0, 16},
    {"k_ro_write", VMM_MEM_ACCESS_FLAGS_PROT_READ, false, 0, 16},
    {"k_ro_read", VMM_MEM_ACCESS_FLAGS_PROT_READ, true, 0, 16},
    {"k_rw", VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, false, 0, 2 * G},
    {"k_overrun", VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, false, 0, 2 * G + 1},
    {"k_unreserved", VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, false, (uint64_t)1 << 38, 16},
};

void facts_kernels(struct facts *f)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct kernel_case *c = &cases[i];
        uint64_t sum;
        facts_renew(f);
        vmm_mem_generic_allocation_handle handle;
        vmm_deviceptr p = facts_beforehand(f, c->rights, &handle);
        facts_result(f, c->sum ? fc_kernel_sum(f, p + c->at, c->size, &sum) : fc_kernel_fill(f, p + c->at, 1, c->size),
                     c->name);
        facts_afterwards(f, c->name, p, handle);
    }
}

/* Memory of device 1 that device 0 was never given. */
void facts_peer_kernel(struct facts *f)
{
    const vmm_mem_access_desc second = fc_desc(1, 3);
    vmm_mem_allocation_prop prop = fc_prop(1);
    vmm_mem_generic_allocation_handle handle = 0;
    facts_setup(f, fc_create(f, &handle, G, &prop, 0), "create on device 1");
    vmm_deviceptr d = fc_take(f, G);
    fc_put(f, d, G, handle);
    facts_setup(f, fc_set_access(f, d, G, &second, 1), "set access");
    facts_result(f, fc_kernel_fill(f, d, 1, 16), "peer2.dev0_kernel_without_access");
}
