/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_registered.h"

#include <string.h>

#include "mem_op.h"
#include "abi_rows.h"
#include "rows.h"

static bool find(CUdeviceptr address, struct abi_host_range *range)
{
    return abi_host_any_registered() && abi_host_find(address, 1, range) && range->registered;
}

bool abi_is_registered(CUdeviceptr address)
{
    struct abi_host_range range;
    return find(address, &range);
}

CUresult abi_registered_check(const char *function, CUdeviceptr address, size_t size, bool writes)
{
    return abi_rows_reported((CUresult)rows_check_pinned(address, size, writes, ""), function);
}

static void write_elements(unsigned char *to, unsigned element, unsigned value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (unsigned byte = 0; byte < element; byte++)
            to[i * element + byte] = (unsigned char)(value >> (8 * byte));
}

CUresult abi_registered_fill(vmm_system *sys, CUdeviceptr address, unsigned element, unsigned value, size_t count,
                             vmm_stream stream)
{
    static const char name[] = "cuMemset";
    if (address % element)
        return abi_refuse(VMM_RULE_SET_ALIGNMENT, name, "0x%llx is not a multiple of the %u bytes of an element", address,
                          element);
    CUresult result = abi_registered_check(name, address, count > SIZE_MAX / element ? SIZE_MAX : count * element, true);
    if (result == CUDA_SUCCESS)
        result = (CUresult)vmm_stream_synchronize(sys, stream);
    if (result == CUDA_SUCCESS)
        write_elements((unsigned char *)(uintptr_t)address, element, value, count);
    return result;
}

/* Returns the memory of a range only if all of it is there; the device can write it unless it was registered as read-only. */
static unsigned char *memory_at(uint64_t address, uint64_t size, bool writes)
{
    struct abi_host_range range;
    if (!find(address, &range) || size > range.start + range.size - address ||
        (writes && (range.flags & CU_MEMHOSTREGISTER_READ_ONLY)))
        return NULL;
    return (unsigned char *)(uintptr_t)address;
}

static bool pinned_at(uint64_t address, struct rows_pinned *pinned)
{
    struct abi_host_range range;
    if (!abi_host_any() || !abi_host_find(address, 1, &range))
        return false;
    *pinned = (struct rows_pinned){range.start, range.size, range.registered,
                                   range.registered && (range.flags & CU_MEMHOSTREGISTER_READ_ONLY)};
    return true;
}

void abi_registered_offer(void)
{
    rows_set_pinned(pinned_at);
    mem_op_set_host_memory(memory_at);
}
