/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_host.h"
#include "abi_registered.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "abi_capture.h"
#include "abi_parts.h"
#include "addrmap.h"
#include "heap.h"
#include "lifecycle.h"

struct range {
    struct abi_host_range is;
    vmm_mem_generic_allocation_handle handle;
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct addrmap ranges; /* the ranges do not overlap */
static _Atomic unsigned count, registered;
static uint64_t last_id = UINT64_C(1) << 32; /* beyond the machine's block numbers */

static struct range *holding(uint64_t address, uint64_t size)
{
    struct range *r = addrmap_floor(&ranges, address);
    return r && address - r->is.start < r->is.size && size <= r->is.size - (address - r->is.start) ? r : NULL;
}

bool abi_host_find(uint64_t address, uint64_t size, struct abi_host_range *range)
{
    life_acquire(&lock);
    const struct range *found = holding(address, size);
    if (found)
        *range = found->is;
    life_release(&lock);
    return found != NULL;
}

bool abi_host_any(void)
{
    return count != 0;
}

bool abi_host_any_registered(void)
{
    return registered != 0;
}

/* The range that overlaps these addresses: the last one that starts before their end reaches furthest. A registered range
 * covers its bytes; a range allocated here covers its pages. */
static const struct range *overlapping(uint64_t start, uint64_t size)
{
    uint64_t last = size - 1 > UINT64_MAX - start ? UINT64_MAX : start + (size - 1);
    const struct range *r = addrmap_floor(&ranges, last);
    return r && r->is.start + (r->is.registered ? r->is.size : r->is.span) > start ? r : NULL;
}

bool abi_host_made_in(uint64_t address, uint64_t size)
{
    life_acquire(&lock);
    const struct range *found = overlapping(address, size);
    bool made = found && !found->is.registered;
    life_release(&lock);
    return made;
}

void abi_host_set_sync(uint64_t address, bool sync)
{
    life_acquire(&lock);
    struct range *found = holding(address, 1);
    if (found)
        found->is.sync = sync;
    life_release(&lock);
}

static CUresult insert(struct range *range)
{
    if (!ranges.nodes.size) /* the very first range */
        addrmap_init(&ranges, 0);
    if (overlapping(range->is.start, range->is.size))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (!addrmap_insert(&ranges, range->is.start, range))
        return CUDA_ERROR_OUT_OF_MEMORY;
    range->is.id = ++last_id;
    count++;
    atomic_fetch_add(&registered, range->is.registered);
    return CUDA_SUCCESS;
}

/* ALREADY_REGISTERED when a part is registered already; lookup and insertion are one step under the lock. */
static CUresult enter(const struct range *range)
{
    struct range *kept = heap.malloc(sizeof *kept);
    if (!kept)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *kept = *range;
    abi_registered_offer();
    life_acquire(&lock);
    CUresult result = insert(kept);
    life_release(&lock);
    /* analysers: memleak is wrong: the map owns it */
    if (result != CUDA_SUCCESS)
        heap.free(kept);
    return result;
}

/* Removes the range of that kind that starts there. */
static bool leave(uint64_t start, bool was_registered, struct range *range)
{
    life_acquire(&lock);
    struct range *found = addrmap_floor(&ranges, start);
    if (found && (found->is.start != start || found->is.registered != was_registered))
        found = NULL;
    if (found) {
        *range = *found;
        addrmap_remove(&ranges, start);
        count--;
        atomic_fetch_sub(&registered, found->is.registered);
        heap.free(found);
    }
    life_release(&lock);
    return found != NULL;
}

void abi_host_close(void)
{
    const struct range *range;
    while ((range = addrmap_ceil(&ranges, 0)) != NULL)
        heap.free(addrmap_remove(&ranges, range->is.start));
    addrmap_clear(&ranges);
}

/* ---- allocated here ---- */

static void give_back(vmm_system *sys, const struct range *range, bool mapped)
{
    if (mapped)
        vmm_mem_unmap(sys, range->is.pages, range->is.span);
    if (range->handle)
        vmm_mem_release(sys, range->handle);
    if (range->is.pages)
        vmm_mem_address_free(sys, range->is.pages, range->is.span);
}

/* Grants the host and every device read and write access. */
static vmm_result open_to_all(vmm_system *sys, const struct range *range)
{
    vmm_mem_access_desc desc[VMM_MAX_DEVICES + 1];
    int devices = abi_query_profile(sys)->devices;
    for (int i = 0; i < devices; i++)
        desc[i] = (vmm_mem_access_desc){{VMM_MEM_LOCATION_TYPE_DEVICE, i}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    desc[devices] = (vmm_mem_access_desc){{VMM_MEM_LOCATION_TYPE_HOST, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return vmm_mem_set_access(sys, range->is.pages, range->is.span, desc, (uint64_t)devices + 1);
}

/* Creates host-located memory of at least size bytes, mapped for all devices; on failure frees what it created. */
static vmm_result make(vmm_system *sys, struct range *range, uint64_t size)
{
    const struct sim_profile *profile = abi_query_profile(sys);
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {VMM_MEM_LOCATION_TYPE_HOST, 0}};
    uint64_t host = profile->host_granularity[0], unit = host > profile->va_granularity ? host : profile->va_granularity;
    if (size > UINT64_MAX - unit)
        return VMM_ERROR_OUT_OF_MEMORY;
    range->is.span = (size + unit - 1) / unit * unit;
    vmm_result result = vmm_mem_create(sys, &range->handle, range->is.span, &prop, 0);
    if (result == VMM_SUCCESS)
        result = vmm_mem_address_reserve(sys, &range->is.pages, range->is.span, 0, 0, 0);
    if (result == VMM_SUCCESS && !abi_query_backed(sys, range->is.pages, range->is.span))
        result = VMM_ERROR_OUT_OF_MEMORY;
    if (result == VMM_SUCCESS)
        result = vmm_mem_map(sys, range->is.pages, range->is.span, 0, range->handle, 0);
    if (result != VMM_SUCCESS) {
        give_back(sys, range, false);
        return result;
    }
    range->is.start = range->is.pages;
    result = open_to_all(sys, range);
    if (result != VMM_SUCCESS)
        give_back(sys, range, true);
    return result;
}

CUresult abi_host_create(vmm_system *sys, const char *function, struct abi_host_range *is)
{
    if (!sim_profile_has(abi_query_profile(sys), VMM_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
        return abi_refuse(VMM_RULE_CREATE_HOST_UNSUPPORTED, function,
                          "this machine has no host memory that devices can use; use cuMemHostRegister or another profile");
    struct range range = {.is = *is};
    CUresult result = (CUresult)make(sys, &range, is->size);
    if (result != CUDA_SUCCESS)
        return result;
    result = enter(&range);
    if (result != CUDA_SUCCESS) {
        give_back(sys, &range, true);
        return abi_no_memory(function);
    }
    *is = range.is;
    return CUDA_SUCCESS;
}

bool abi_host_end(vmm_system *sys, uint64_t start)
{
    struct range range;
    if (!leave(start, false, &range))
        return false;
    vmm_ctx_synchronize(sys); /* in-flight work may use it */
    give_back(sys, &range, true);
    return true;
}

/* The first range at or after an address. */
static bool next_range(uint64_t from, struct abi_host_range *range)
{
    life_acquire(&lock);
    const struct range *found = addrmap_ceil(&ranges, from);
    if (found)
        *range = found->is;
    life_release(&lock);
    return found != NULL;
}

void abi_host_sweep(vmm_system *sys)
{
    struct abi_host_range at;
    struct range ended;
    struct abi_query_context context;
    for (uint64_t from = 0; count && next_range(from, &at); from = at.start + 1)
        if (!(abi_query_context(sys, at.context, &context) && context.alive) && leave(at.start, at.registered, &ended) && !at.registered)
            give_back(sys, &ended, true);
}

/* If the driver allocates nothing, it returns address 0; for a size of 0 with SUCCESS. */
static CUresult allocate(vmm_system *sys, const char *function, void **pp, size_t size, unsigned flags)
{
    uint64_t current;
    struct abi_query_context context;
    CUresult result = abi_current(sys, function, &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pp)
        return abi_null(function, "pp");
    if (flags & ~7u)
        return abi_refuse(VMM_RULE_CALL_VALUE, function, "flags: only CU_MEMHOSTALLOC_ bits");
    if (!size)
        return CUDA_SUCCESS;
    struct abi_host_range range = {.size = size, .context = current, .device = context.device,
                                   .flags = flags | CU_MEMHOSTALLOC_DEVICEMAP};
    result = abi_host_create(sys, function, &range);
    if (result != CUDA_SUCCESS)
        return result;
    *pp = (void *)(uintptr_t)range.start;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    if (pp)
        *pp = NULL; /* written in any case, as recorded */
    ABI_NO_CAPTURE();
    ABI_INITIALISED(allocate(sys, "cuMemHostAlloc", pp, bytesize, Flags));
}

CUresult cuMemAllocHost(void **pp, size_t bytesize)
{
    if (pp)
        *pp = NULL;
    ABI_NO_CAPTURE();
    ABI_INITIALISED(allocate(sys, "cuMemAllocHost", pp, bytesize, 0));
}

static CUresult free_host(vmm_system *sys, const void *p)
{
    uint64_t current;
    struct abi_query_context context;
    CUresult result = abi_current(sys, "cuMemFreeHost", &current, &context);
    if (result != CUDA_SUCCESS || !p || abi_host_end(sys, (uint64_t)(uintptr_t)p))
        return result;
    return abi_refuse_by(sys, VMM_RULE_ALLOC_FREE_UNKNOWN, "cuMemFreeHost", (uint64_t)(uintptr_t)p);
}

CUresult cuMemFreeHost(void *p)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(free_host(sys, p));
}

/* ---- memory of the program ---- */

enum { REGISTER_FLAGS = 0xf, HOST_PAGE = 4096, ADDRESS_BITS = 47 };

/* The pages that a driver would pin. */
static void take_pages(struct abi_host_range *is)
{
    is->pages = is->start / HOST_PAGE * HOST_PAGE;
    is->span = (is->start - is->pages + is->size + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE;
}

static CUresult check_register(vmm_system *sys, const struct abi_host_range *is)
{
    static const char name[] = "cuMemHostRegister";
    if (!is->start || !is->size || is->size - 1 > UINT64_MAX - is->start || (is->flags & ~(unsigned)REGISTER_FLAGS))
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "%s", !is->start ? "p is NULL" : (is->flags & ~(unsigned)REGISTER_FLAGS)
                          ? "flags: only CU_MEMHOSTREGISTER_ bits" : "bytesize is 0 or passes the end of memory");
    if (is->start >> ADDRESS_BITS)
        return abi_refuse(VMM_RULE_REGISTER_ADDRESS, name, "0x%llx is not an address that a program can have",
                          (unsigned long long)is->start);
    life_acquire(&lock);
    const struct range *there = overlapping(is->start, is->size);
    bool again = there && there->is.registered;
    life_release(&lock);
    if (again)
        return CUDA_SUCCESS; /* enter reports that */
    if (is->flags & CU_MEMHOSTREGISTER_IOMEMORY)
        return abi_refuse(VMM_RULE_REGISTER_MEMORY, name, "memory of other devices is not simulated: "
                          "without CU_MEMHOSTREGISTER_IOMEMORY, memory of the program can be registered");
    if (abi_query_device_address(sys, is->start) || abi_query_backed(sys, is->start, 1))
        return abi_refuse(VMM_RULE_REGISTER_MEMORY, name, "0x%llx belongs to the driver: devices can access it without "
                                                          "registration",
                          (unsigned long long)is->start);
    unsigned need = is->flags & CU_MEMHOSTREGISTER_READ_ONLY ? VMM_MEM_ACCESS_FLAGS_PROT_READ
                                                             : VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if ((abi_host_pages(is->pages, is->span) & need) != need)
        return abi_refuse(VMM_RULE_REGISTER_MEMORY, name, "the program may not %s all of [0x%llx, +0x%llx): register what it "
                          "may, or with CU_MEMHOSTREGISTER_READ_ONLY what it may read", need == VMM_MEM_ACCESS_FLAGS_PROT_READ
                          ? "read" : "write", (unsigned long long)is->start, (unsigned long long)is->size);
    return CUDA_SUCCESS;
}

static CUresult do_register(vmm_system *sys, const void *p, size_t size, unsigned flags)
{
    static const char name[] = "cuMemHostRegister";
    uint64_t current;
    struct abi_query_context context;
    CUresult result = abi_current(sys, name, &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    struct range range = {.is = {.start = (uint64_t)(uintptr_t)p, .size = size, .context = current, .device = context.device,
                                 .flags = flags, .registered = true}};
    take_pages(&range.is);
    result = check_register(sys, &range.is);
    if (result != CUDA_SUCCESS)
        return result;
    result = enter(&range);
    if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
        return abi_refuse(VMM_RULE_REGISTER_TWICE, name, "part of [%p, +%zu) is already registered", p, size);
    return result == CUDA_SUCCESS ? result : abi_no_memory(name);
}

CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(do_register(sys, p, bytesize, Flags));
}

/* Does the driver know memory at this address? */
static bool is_known(const vmm_system *sys, uint64_t address)
{
    struct abi_host_range range;
    uint64_t left;
    enum abi_query_there there = abi_query_there(sys, address, &left);
    return abi_host_find(address, 1, &range) || there == ABI_QUERY_MAPPED || there == ABI_QUERY_ALLOCATED;
}

static CUresult unregister(vmm_system *sys, const void *p)
{
    struct range range;
    uint64_t current;
    struct abi_query_context context;
    CUresult result = abi_current(sys, "cuMemHostUnregister", &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    vmm_ctx_synchronize(sys); /* kernels in flight may use it */
    if (leave((uint64_t)(uintptr_t)p, true, &range))
        return CUDA_SUCCESS;
    if (!p || is_known(sys, (uint64_t)(uintptr_t)p))
        return abi_refuse(VMM_RULE_REGISTER_NOT_START, "cuMemHostUnregister", "%p is not where registered memory starts", p);
    return abi_refuse(VMM_RULE_REGISTER_NONE, "cuMemHostUnregister", "%p is not registered", p);
}

CUresult cuMemHostUnregister(void *p)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(unregister(sys, p));
}

/* ---- queries about both kinds ---- */

static bool read_only(const struct abi_host_range *range)
{
    return range->registered && (range->flags & CU_MEMHOSTREGISTER_READ_ONLY);
}

bool abi_host_attribute(const struct abi_host_range *range, CUpointer_attribute attribute, uint64_t address, uint64_t *value)
{
    *value = 0;
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: return false;
    case CU_POINTER_ATTRIBUTE_CONTEXT: *value = range->context; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *value = CU_MEMORYTYPE_HOST; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: *value = address; break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *value = range->sync; break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: *value = range->id; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *value = (uint64_t)range->device; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *value = range->start; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *value = range->size; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *value = 1; break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *value = read_only(range) ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: *value = range->span; break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: *value = range->pages; break;
    default: break;
    }
    return true;
}

/* Mapped memory to which the current device has access also counts as such memory: *start is the mapping's start. */
static CUresult mapping_of(vmm_system *sys, const char *function, uint64_t address, uint64_t *start)
{
    uint64_t left;
    if (abi_query_there(sys, address, &left) == ABI_QUERY_MAPPED) {
        CUresult result = (CUresult)vmm_pointer_get_attribute(sys, start, VMM_POINTER_ATTRIBUTE_DEVICE_POINTER, address);
        return result != CUDA_SUCCESS ? result : (CUresult)vmm_pointer_get_attribute(
                                                     sys, start, VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, address);
    }
    return abi_refuse(VMM_RULE_PINNED_UNKNOWN, function, "0x%llx is neither registered nor from cuMemHostAlloc",
                      (unsigned long long)address);
}

static CUresult device_pointer(vmm_system *sys, CUdeviceptr *pdptr, const void *p, unsigned flags)
{
    static const char name[] = "cuMemHostGetDevicePointer";
    struct abi_host_range range;
    uint64_t address = (uint64_t)(uintptr_t)p;
    if (!pdptr)
        return abi_null(name, "pdptr");
    *pdptr = 0; /* written in any case, as recorded */
    if (flags)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "Flags is %u: it must be 0", flags);
    if (abi_host_find(address, 1, &range)) {
        *pdptr = address;
        return CUDA_SUCCESS;
    }
    uint64_t start = 0;
    CUresult result = mapping_of(sys, name, address, &start);
    *pdptr = result == CUDA_SUCCESS ? start : 0;
    return result;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    ABI_INITIALISED(device_pointer(sys, pdptr, p, Flags));
}

/* Devices always have access; the flags do not show that the range is read-only. */
static CUresult host_flags(vmm_system *sys, unsigned *flags, const void *p)
{
    static const char name[] = "cuMemHostGetFlags";
    struct abi_host_range range = {.flags = CU_MEMHOSTALLOC_PORTABLE};
    uint64_t address = (uint64_t)(uintptr_t)p, start;
    if (!flags)
        return abi_null(name, "pFlags");
    CUresult result = CUDA_SUCCESS;
    if (abi_query_managed(sys, address))
        range.flags = 0;
    else if (!abi_host_find(address, 1, &range))
        result = mapping_of(sys, name, address, &start);
    if (result == CUDA_SUCCESS)
        *flags = (range.flags & (range.registered ? CU_MEMHOSTREGISTER_PORTABLE : 7u)) | CU_MEMHOSTALLOC_DEVICEMAP;
    return result;
}

CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    ABI_INITIALISED(host_flags(sys, pFlags, p));
}
