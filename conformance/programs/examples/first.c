/* SPDX-License-Identifier: Apache-2.0 */
#include <cuvmm/vmm.h>
#include <stdio.h>

int main(void)
{
    vmm_system *sys = NULL;
    vmm_mem_generic_allocation_handle memory = 0;
    vmm_deviceptr at = 0;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    const uint64_t size = 2 << 20;
    char text[1024];

    if (vmm_open("sim:h100", &sys) != VMM_SUCCESS)
        return 1;
    vmm_init(sys, 0);
    vmm_mem_create(sys, &memory, size, &prop, 0);
    vmm_mem_address_reserve(sys, &at, 2 * size, 0, 0, 0);
    vmm_mem_map(sys, at, size, 0, memory, 0);
    if (vmm_mem_map(sys, at, size, 0, memory, 0) != VMM_SUCCESS) { /* the same addresses again */
        vmm_detail_text(vmm_last_detail(), text, sizeof text);
        printf("%s", text);
    }
    printf("%d objects are still held\n", (int)vmm_leaks(sys, NULL, NULL));
    vmm_close(sys);
}
