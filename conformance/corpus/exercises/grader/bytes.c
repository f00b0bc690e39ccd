/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about memory: bytes, rights, the physical memory, the amount in use. */
#include "grader.h"

#include <stdlib.h>
#include <string.h>

bool grade_fill(struct grade *g, vmm_deviceptr at, uint64_t n, unsigned char value)
{
    return vmm_memset_d8(g->sys, at, value, n) == VMM_SUCCESS && vmm_ctx_synchronize(g->sys) == VMM_SUCCESS;
}

bool grade_is(struct grade *g, vmm_deviceptr at, uint64_t n, unsigned char value)
{
    static unsigned char bytes[1 << 16];
    for (uint64_t done = 0, now; done < n; done += now) {
        now = n - done < sizeof bytes ? n - done : sizeof bytes;
        if (vmm_memcpy_dtoh(g->sys, bytes, at + done, now) != VMM_SUCCESS)
            return false;
        if (bytes[0] != value || (now > 1 && memcmp(bytes, bytes + 1, now - 1) != 0))
            return false;
    }
    return true;
}

unsigned char *grade_room(uint64_t n)
{
    unsigned char *room = calloc(1, n);
    if (!room)
        tap_bail("no memory for %llu bytes", (unsigned long long)n);
    return room;
}

bool grade_uses(struct grade *g, uint64_t want)
{
    uint64_t now = 0;
    return !g->before || (vmm_mem_get_info(g->sys, &now, NULL) == VMM_SUCCESS && g->before - now == want);
}

vmm_mem_access_flags grade_rights(struct grade *g, vmm_device device, vmm_deviceptr at)
{
    uint64_t flags = 0;
    const vmm_mem_location location = {VMM_MEM_LOCATION_TYPE_DEVICE, device};
    bool before = g->expects;
    g->expects = true; /* an unmapped address is a valid result here */
    vmm_result got = vmm_mem_get_access(g->sys, &flags, &location, at);
    g->expects = before;
    return got == VMM_SUCCESS ? (vmm_mem_access_flags)flags : VMM_MEM_ACCESS_FLAGS_PROT_NONE;
}

uint64_t grade_block(struct grade *g, vmm_deviceptr at)
{
    unsigned long long block = 0;
    bool before = g->expects;
    g->expects = true;
    vmm_result got = vmm_pointer_get_attribute(g->sys, &block, VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, at);
    g->expects = before;
    return got == VMM_SUCCESS ? block : 0;
}

bool grade_others_have_none(struct grade *g, vmm_deviceptr at, uint64_t size)
{
    int count = 0;
    if (vmm_device_get_count(g->sys, &count) != VMM_SUCCESS)
        return false;
    for (vmm_device device = 0; device < count; device++)
        for (uint64_t offset = 0; device != g->device && offset < size; offset += g->unit)
            if (grade_rights(g, device, at + offset) != VMM_MEM_ACCESS_FLAGS_PROT_NONE)
                return false;
    return true;
}
