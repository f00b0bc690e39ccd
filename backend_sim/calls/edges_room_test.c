/* SPDX-License-Identifier: Apache-2.0 */
/* Edge cases of space: machines whose memory or addresses are exhausted, and frees. */
#include <string.h>

#include "in_flight.h"
#include "process.h"
#include "system.h"
#include "edges_rig.h" /* after the others, because its macros would clash with their names */

/* Allocates sizes around the free memory and around the largest number: those succeed whose units are all free. */
static void allocations(void)
{
    const struct sim_profile *profile;
    uint64_t left = 0, total = 0, unit, wrong = 0;
    vmm_deviceptr first = 0;
    begin("sim:odd");
    profile = &((struct sim_process *)sys->top)->machine->profile;
    unit = profile->device_granularity[0] > profile->va_granularity ? profile->device_granularity[0] : profile->va_granularity;
    need(vmm_mem_get_info(sys, &left, &total), "free memory");
    tap_ok(left > 4 * unit && total == profile->device_memory, "the machine has free memory");
    need(vmm_mem_alloc(sys, &first, left - 3 * unit), "all but some");
    need(vmm_mem_get_info(sys, &left, NULL), "free memory");
    const uint64_t about[] = {unit, left / unit * unit, left, left + unit, UINT64_MAX - unit, UINT64_MAX};
    for (unsigned i = 0; i < sizeof about / sizeof about[0]; i++)
        for (uint64_t size = about[i] - 3; size != about[i] + 4 && size != 0; size++) {
            vmm_deviceptr at = 0x77;
            const vmm_result result = vmm_mem_alloc(sys, &at, size);
            const vmm_detail detail = *vmm_last_detail();
            if (size <= left / unit * unit) {
                wrong += result != VMM_SUCCESS || at % unit != 0 || vmm_mem_free(sys, at) != VMM_SUCCESS;
                continue;
            }
            wrong += result != VMM_ERROR_OUT_OF_MEMORY || at != 0 || strcmp(detail.rule, "VMM-ALLOC-MEMORY") != 0 ||
                     detail.value != size || detail.expected != left || detail.nearest.kind != VMM_OBJECT_DEVICE ||
                     detail.nearest.size != left;
        }
    tap_u64(wrong, 0, "allocations succeed up to the last free unit");
    end();
}

static void pools(void)
{
    begin("sim:odd");
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {DEVICE, 0}};
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    handle_t handle = 0x77;
    uint64_t left = 0, now = 0;
    need(vmm_mem_get_info(sys, &left, NULL), "free memory");
    by(vmm_mem_create(sys, &handle, UINT64_C(1) << 30, &prop, 0), "VMM-CREATE-TILE-POOL",
       "a tile pool larger than the free memory");
    prop.alloc_flags.usage = 0;
    by(vmm_mem_create(sys, &handle, UINT64_C(1) << 30, &prop, 0), "VMM-CREATE-MEMORY",
       "other memory larger than the free memory");
    need(vmm_mem_get_info(sys, &now, NULL), "free memory");
    tap_ok(handle == 0x77 && now == left, "the refused calls take no memory");
    end();
}

static void addresses(void)
{
    begin("sim:odd");
    vmm_deviceptr at = 0, p = 0x77;
    uint64_t size = UINT64_C(1) << 28, taken = 0, left = 0, now = 0;
    for (; size >= 65536; size /= 2)
        while (vmm_mem_address_reserve(sys, &at, size, 0, 0, 0) == VMM_SUCCESS)
            taken += size;
    tap_u64(taken, UINT64_C(1) << 28, "all addresses of a machine can be reserved");
    need(vmm_mem_get_info(sys, &left, NULL), "free memory");
    vmm_result result = vmm_mem_alloc(sys, &p, 4096);
    need(vmm_mem_get_info(sys, &now, NULL), "free memory");
    tap_ok(result == VMM_ERROR_OUT_OF_MEMORY && now == left, "cuMemAlloc then fails for lack of addresses and takes no memory");
    end();
}

/* The note on the mappings that still hold memory has a singular and a plural. */
static void holders(void)
{
    static const char *const reported[] = {"1 mapping still holds the memory", "2 mappings still hold the memory"};
    for (unsigned i = 0; i < 2; i++) {
        begin("sim:h100");
        vmm_deviceptr p = reserved(2 * G);
        handle_t handle = created(DEVICE, 0, G);
        for (unsigned k = 0; k <= i; k++)
            need(vmm_mem_map(sys, p + k * G, G, 0, handle, 0), "mapping");
        need(vmm_mem_release(sys, handle), "release");
        tap_ok(vmm_mem_release(sys, handle) != VMM_SUCCESS && strstr(vmm_last_detail()->note, reported[i]), "%s",
               vmm_last_detail()->note);
        end();
    }
}

/* A destroyed context can be made current, also after so many others that the simulator has forgotten it. */
static void forgotten(void)
{
    vmm_context gone = NULL, other = NULL;
    int device = 0x77;
    begin("sim:h100");
    need(vmm_ctx_create(sys, &gone, 0, 0), "context");
    need(vmm_ctx_destroy(sys, gone), "destroy");
    for (int i = 0; i < 300; i++) {
        need(vmm_ctx_create(sys, &other, 0, 0), "another");
        need(vmm_ctx_destroy(sys, other), "destroy");
    }
    tap_result(vmm_ctx_set_current(sys, gone), VMM_SUCCESS, "a forgotten context can be made current");
    by(vmm_ctx_get_device(sys, &device), "VMM-CTX-DESTROYED", "a forgotten context has no device");
    tap_u64((uint64_t)device, 0x77, "the device is not written");
    end();
}

/* In-flight work does not depend on the host's rights. An unmap that starts at the last address removes its memory. */
static void in_flight(void)
{
    vmm_stream stream = NULL;
    begin("sim:h100");
    vmm_deviceptr at = reserved(G);
    need(vmm_mem_map(sys, at, G, 0, created(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, G), 0), "mapping");
    granted(at, G, DEVICE, 0, RW);
    need(vmm_stream_create(sys, &stream, 0), "stream");
    need(vmm_memset_d8_async(sys, at, 1, G, stream), "work");
    granted(at, G, VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, RW);
    tap_ok(!vmm_last_detail()->rule, "a grant to the host gives no warning about in-flight work");
    tap_result(vmm_mem_unmap(sys, UINT64_MAX, at + G + 1), VMM_SUCCESS, "an unmap from the last address on unmaps everything");
    const char *rule = vmm_last_detail()->rule;
    tap_ok(rule && !strcmp(rule, "VMM-UNMAP-IN-FLIGHT"), "the unmap warns about the in-flight work: %s", rule ? rule : "nothing");
    end();
}

/* TSan's own memory takes most addresses of the program, which a hint cannot get. */
#ifdef __SANITIZE_THREAD__
enum { NO_ADDRESSES = 1 };
#else
enum { NO_ADDRESSES = 0 };
#endif

/* A hint at addresses that the profile marks as taken gets other addresses. */
static void addresses_of_others(void)
{
    static const vmm_deviceptr theirs[] = {UINT64_C(0x10000000000), UINT64_C(0x555500000000)};
    begin("sim:h100,arena=profile");
    for (unsigned i = 0; i < sizeof theirs / sizeof theirs[0]; i++) {
        vmm_deviceptr at = 0;
        need(vmm_mem_address_reserve(sys, &at, 16 * G, 0, theirs[i], 0), "addresses"); /* a chunk */
        tap_ok(at && at != theirs[i], "addresses of taken range %u are not reserved", i);
    }
    end();
}

/* A dma-buf begins in a pool allocation and continues past it, as measured, as far as the pool has memory there. */
static void pages_of_a_pool(void)
{
    const uint64_t page = os_page_size(), chunk = 16 * G;
    vmm_deviceptr at = 0;
    int file = -1;
    begin("sim:h100");
    need(vmm_mem_alloc_async(sys, &at, page + 512, NULL), "memory of a pool");
    tap_u64(at % chunk, 0, "which is the first of its chunk");
    need(vmm_mem_get_handle_for_address_range(sys, &file, at, 2 * page, 1, 0), "its two pages as a file");
    os_file_close(file);
    need(vmm_mem_get_handle_for_address_range(sys, &file, at, chunk, 1, 0), "and all of the chunk");
    os_file_close(file);
    file = -1;
    by(vmm_mem_get_handle_for_address_range(sys, &file, at, chunk + page, 1, 0), "VMM-DMABUF-HOLE", "but not the page behind it");
    tap_u64((uint64_t)(int64_t)file, UINT64_MAX, "which writes -1");
    by(vmm_mem_get_handle_for_address_range(sys, &file, at + 2 * page, page, 1, 0), "VMM-DMABUF-NOT-MAPPED", "nor what begins behind the allocation");
    need(vmm_mem_free(sys, at), "all is freed");
    end();
}

/* A copy of host memory from an address with a small remainder UINT64_MAX % address: catches a range check with % instead of a
 * subtraction. */
static void copy_of_a_divisor(void)
{
    const vmm_deviceptr from = G * (((UINT64_C(1) << 43) - 1) / 2099863); /* 2 to the 43rd, less 1, is 431 * 9719 * 2099863 */
    const vmm_deviceptr around = from / (16 * G) * (16 * G);
    vmm_deviceptr chunk = 0;
    begin("sim:h100,arena=profile");
    tap_ok(UINT64_MAX % from == G - 1, "the address leaves that remainder");
    need(vmm_mem_address_reserve(sys, &chunk, 16 * G, 0, around, 0), "addresses");
    const vmm_deviceptr to = reserved(2 * G);
    need(vmm_mem_map(sys, from, 2 * G, 0, created(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, 2 * G), 0), "mapping");
    need(vmm_mem_map(sys, to, 2 * G, 0, created(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, 2 * G), 0), "mapping");
    const vmm_deviceptr both[] = {from, to};
    for (unsigned i = 0; i < 2; i++) {
        granted(both[i], 2 * G, DEVICE, 0, RW);
        granted(both[i], 2 * G, VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, RW);
    }
    tap_u64(chunk, around, "the chunk is reserved at the hint");
    tap_ok(vmm_memcpy_dtod(sys, to, from, 2 * G) == VMM_SUCCESS,
           "the copy from that address succeeds: %s", vmm_last_detail()->note);
    end();
}

/* Memory belongs to a context, but freeing it needs none. */
static void test_free_without_a_context(void)
{
    vmm_deviceptr at = 0;
    uint64_t before = 0, after = 0, all = 0;
    vmm_context ctx = NULL;
    begin("sim:h100");
    need(vmm_ctx_get_current(sys, &ctx), "the context");
    need(vmm_mem_get_info(sys, &before, &all), "free memory");
    need(vmm_mem_alloc(sys, &at, G), "memory");
    need(vmm_ctx_set_current(sys, NULL), "no context");
    tap_result(vmm_mem_free(sys, at), VMM_SUCCESS, "memory is freed without a current context");
    need(vmm_ctx_set_current(sys, ctx), "the context again");
    need(vmm_mem_get_info(sys, &after, &all), "free memory");
    tap_u64(after, before, "and is free");
    end();
}

int main(void)
{
    allocations();
    pools();
    addresses();
    holders();
    forgotten();
    pages_of_a_pool();
    if (NO_ADDRESSES) {
        tap_skip("TSan has the addresses above the hints", "hints at addresses of others, and in the middle of a chunk");
    } else {
        addresses_of_others();
        copy_of_a_divisor();
    }
    in_flight();
    test_free_without_a_context();
    return tap_done();
}
