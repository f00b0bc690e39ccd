/* SPDX-License-Identifier: Apache-2.0 */
/* Does a way back give everything back? A piece of code is run once for each call it makes, with that call failing. */
#include <cuvmm/vmm.h>
#include <stdio.h>

/* The code under test: memory mapped at an address of its own. It has a mistake. */
static vmm_result make(vmm_system *sys, vmm_deviceptr *at, uint64_t size)
{
    vmm_mem_generic_allocation_handle memory = 0;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_access_desc access = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_result result = vmm_mem_create(sys, &memory, size, &prop, 0);
    if (result != VMM_SUCCESS)
        return result;
    result = vmm_mem_address_reserve(sys, at, size, 0, 0, 0);
    if (result != VMM_SUCCESS)
        return result; /* the mistake: memory is not released */
    result = vmm_mem_map(sys, *at, size, 0, memory, 0);
    vmm_mem_release(sys, memory);
    if (result == VMM_SUCCESS) {
        result = vmm_mem_set_access(sys, *at, size, &access, 1);
        if (result != VMM_SUCCESS)
            vmm_mem_unmap(sys, *at, size);
    }
    if (result != VMM_SUCCESS)
        vmm_mem_address_free(sys, *at, size);
    return result;
}

int main(void)
{
    static const char *const calls[] = {"mem_create", "mem_address_reserve", "mem_map", "mem_set_access"};
    for (int i = 0; i < 4; i++) {
        char spec[64];
        vmm_system *sys = NULL;
        vmm_deviceptr at = 0;
        snprintf(spec, sizeof spec, "fault=%s:1 | sim:min", calls[i]);
        if (vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
            return 1;
        vmm_result result = make(sys, &at, 2 << 20);
        printf("%s fails: %s, %llu left\n", calls[i], vmm_result_name(result),
               (unsigned long long)vmm_leaks(sys, NULL, NULL));
        vmm_close(sys);
    }
}
