/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_host.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "abi_parts.h"
#include "addrmap.h"
#include "lifecycle.h"

struct range {
    struct abi_host_range is;
    uint64_t asked; /* bytes */
    vmm_mem_generic_allocation_handle handle;
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct addrmap ranges; /* which do not overlap */
static _Atomic unsigned registered;

static const struct range *holding(uint64_t address, uint64_t size)
{
    const struct range *r = addrmap_floor(&ranges, address);
    return r && address - r->is.start < r->is.size && size <= r->is.size - (address - r->is.start) ? r : NULL;
}

bool abi_host_find(uint64_t address, uint64_t size, struct abi_host_range *range)
{
    life_take(&lock);
    const struct range *found = holding(address, size);
    if (found)
        *range = found->is;
    life_give(&lock);
    return found != NULL;
}

bool abi_host_any_registered(void)
{
    return registered != 0;
}

/* The last that starts before the end reaches furthest. */
static bool overlaps(uint64_t start, uint64_t size)
{
    const struct range *r = addrmap_floor(&ranges, start + size - 1);
    return r && r->is.start + r->is.size > start;
}

static CUresult insert(struct range *range)
{
    if (!ranges.nodes.size) /* the first of all */
        addrmap_init(&ranges, 0);
    if (overlaps(range->is.start, range->is.size))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (!addrmap_insert(&ranges, range->is.start, range))
        return CUDA_ERROR_OUT_OF_MEMORY;
    registered += range->is.registered;
    return CUDA_SUCCESS;
}

/* ALREADY_REGISTERED where a part of it is there, looked up and entered in one piece. */
static CUresult enter(const struct range *range)
{
    struct range *kept = malloc(sizeof *kept);
    if (!kept)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *kept = *range;
    life_take(&lock);
    CUresult result = insert(kept);
    life_give(&lock);
    /* analysers: memleak is wrong: it is in the map */
    if (result != CUDA_SUCCESS)
        free(kept);
    return result;
}

/* Takes out the range that starts there. */
static bool leave(uint64_t start, bool was_registered, struct range *range)
{
    life_take(&lock);
    struct range *found = addrmap_floor(&ranges, start);
    if (found && (found->is.start != start || found->is.registered != was_registered))
        found = NULL;
    if (found) {
        *range = *found;
        addrmap_remove(&ranges, start);
        registered -= found->is.registered;
        free(found);
    }
    life_give(&lock);
    return found != NULL;
}

void abi_host_close(void)
{
    const struct range *range;
    while ((range = addrmap_ceil(&ranges, 0)) != NULL)
        free(addrmap_remove(&ranges, range->is.start));
    addrmap_clear(&ranges);
}

/* ---- made here ---- */

static void give_back(vmm_system *sys, const struct range *range, bool mapped)
{
    if (mapped)
        vmm_mem_unmap(sys, range->is.start, range->is.size);
    if (range->handle)
        vmm_mem_release(sys, range->handle);
    if (range->is.start)
        vmm_mem_address_free(sys, range->is.start, range->is.size);
}

/* The host and every device may read and write. */
static vmm_result open_to_all(vmm_system *sys, const struct range *range)
{
    vmm_mem_access_desc desc[VMM_MAX_DEVICES + 1];
    int devices = ask_profile(sys)->devices;
    for (int i = 0; i < devices; i++)
        desc[i] = (vmm_mem_access_desc){{VMM_MEM_LOCATION_TYPE_DEVICE, i}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    desc[devices] = (vmm_mem_access_desc){{VMM_MEM_LOCATION_TYPE_HOST, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return vmm_mem_set_access(sys, range->is.start, range->is.size, desc, (uint64_t)devices + 1);
}

/* Host-located memory of at least size bytes, mapped for all; gives back what it took where that fails. */
static vmm_result make(vmm_system *sys, struct range *range, uint64_t size)
{
    const struct sim_profile *profile = ask_profile(sys);
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {VMM_MEM_LOCATION_TYPE_HOST, 0}};
    uint64_t host = profile->host_granularity[0], unit = host > profile->va_granularity ? host : profile->va_granularity;
    if (size > UINT64_MAX - unit)
        return VMM_ERROR_OUT_OF_MEMORY;
    range->is.size = (size + unit - 1) / unit * unit;
    vmm_result result = vmm_mem_create(sys, &range->handle, range->is.size, &prop, 0);
    if (result == VMM_SUCCESS)
        result = vmm_mem_address_reserve(sys, &range->is.start, range->is.size, 0, 0, 0);
    if (result == VMM_SUCCESS && !ask_backed(sys, range->is.start, range->is.size))
        result = VMM_ERROR_OUT_OF_MEMORY;
    if (result == VMM_SUCCESS)
        result = vmm_mem_map(sys, range->is.start, range->is.size, 0, range->handle, 0);
    if (result != VMM_SUCCESS) {
        give_back(sys, range, false);
        return result;
    }
    result = open_to_all(sys, range);
    if (result != VMM_SUCCESS)
        give_back(sys, range, true);
    return result;
}

static CUresult allocate(vmm_system *sys, const char *function, void **pp, size_t size, unsigned flags)
{
    uint64_t current;
    struct ask_context context;
    struct range range = {.is = {.flags = flags}, .asked = size};
    CUresult result = abi_current(sys, function, &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pp || !size || (flags & ~7u))
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, function, "%s", !pp ? "pp is NULL" : !size ? "bytesize is 0"
                          : "flags: only CU_MEMHOSTALLOC_ bits");
    if (!sim_profile_has(ask_profile(sys), VMM_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
        return abi_refuse(CUDA_ERROR_NOT_SUPPORTED, function,
                          "this machine has no host memory that devices can use; use cuMemHostRegister or another profile");
    result = (CUresult)make(sys, &range, size);
    if (result != CUDA_SUCCESS)
        return result;
    result = enter(&range);
    if (result != CUDA_SUCCESS) {
        give_back(sys, &range, true);
        return result;
    }
    *pp = (void *)(uintptr_t)range.is.start;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    ABI_INITIALISED(allocate(sys, "cuMemHostAlloc", pp, bytesize, Flags));
}

CUresult cuMemAllocHost(void **pp, size_t bytesize)
{
    ABI_INITIALISED(allocate(sys, "cuMemAllocHost", pp, bytesize, 0));
}

static CUresult free_host(vmm_system *sys, const void *p)
{
    struct range range;
    uint64_t current;
    struct ask_context context;
    CUresult result = abi_current(sys, "cuMemFreeHost", &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!leave((uint64_t)(uintptr_t)p, false, &range))
        return abi_refuse_by(sys, VMM_RULE_ALLOC_FREE_UNKNOWN, "cuMemFreeHost", (uint64_t)(uintptr_t)p);
    vmm_ctx_synchronize(sys); /* work in flight may use it */
    give_back(sys, &range, true);
    return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *p)
{
    ABI_INITIALISED(free_host(sys, p));
}

/* ---- the program's own ---- */

static CUresult do_register(vmm_system *sys, const void *p, size_t size, unsigned flags)
{
    static const char name[] = "cuMemHostRegister";
    uint64_t current, start = (uint64_t)(uintptr_t)p;
    struct ask_context context;
    struct range range = {.is = {start, size, flags, true}, .asked = size};
    CUresult result = abi_current(sys, name, &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!p || !size || size > UINT64_MAX - start || (flags & ~0xfu))
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, name, "%s", !p ? "p is NULL" : (flags & ~0xfu)
                          ? "flags: only CU_MEMHOSTREGISTER_ bits" : "bytesize is 0 or passes the end of memory");
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
        return abi_refuse(CUDA_ERROR_NOT_SUPPORTED, name, "memory of other devices is not simulated");
    result = enter(&range);
    if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
        return abi_refuse(result, name, "a part of [%p, +%zu) is registered already", p, size);
    return result;
}

CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    ABI_INITIALISED(do_register(sys, p, bytesize, Flags));
}

static CUresult unregister(vmm_system *sys, const void *p)
{
    struct range range;
    uint64_t current;
    struct ask_context context;
    CUresult result = abi_current(sys, "cuMemHostUnregister", &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    vmm_ctx_synchronize(sys); /* kernels in flight may use it */
    if (!leave((uint64_t)(uintptr_t)p, true, &range))
        return abi_refuse(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "cuMemHostUnregister",
                          "%p is not where registered memory starts", p);
    return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *p)
{
    ABI_INITIALISED(unregister(sys, p));
}

/* ---- asked of both ---- */

static CUresult device_pointer(CUdeviceptr *pdptr, const void *p, unsigned flags)
{
    struct abi_host_range range;
    if (!pdptr || flags)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, "cuMemHostGetDevicePointer", "pdptr is NULL, or Flags not 0");
    if (!abi_host_find((uint64_t)(uintptr_t)p, 1, &range))
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, "cuMemHostGetDevicePointer",
                          "%p is neither of cuMemHostAlloc nor registered", p);
    *pdptr = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    ABI_INITIALISED(((void)sys, device_pointer(pdptr, p, Flags)));
}

static CUresult host_flags(unsigned *flags, const void *p)
{
    struct abi_host_range range;
    if (!flags)
        return abi_null("cuMemHostGetFlags", "pFlags");
    if (!abi_host_find((uint64_t)(uintptr_t)p, 1, &range))
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, "cuMemHostGetFlags", "%p is neither of cuMemHostAlloc nor registered",
                          p);
    *flags = range.flags;
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    ABI_INITIALISED(((void)sys, host_flags(pFlags, p)));
}
