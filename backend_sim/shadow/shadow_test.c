/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow layer over a simulator: the same results and the same reasons, with the backend's values. */
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "vmm.h"

#define G (UINT64_C(2) << 20)

struct world {
    vmm_system *sys;
    vmm_context context;
    vmm_deviceptr at;
    vmm_mem_generic_allocation_handle handle;
};

static const vmm_mem_access_desc read_write = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};

static struct world open_world(const char *spec)
{
    struct world w = {0};
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {1, 0}};
    if (vmm_open(spec, &w.sys) != VMM_SUCCESS)
        tap_bail("%s cannot be opened: %s", spec, vmm_last_detail()->note);
    vmm_init(w.sys, 0);
    vmm_ctx_create(w.sys, &w.context, 0, 0);
    /* A released handle shifts the inner backend's values, which then differ from the shadow's. */
    vmm_mem_create(w.sys, &w.handle, G, &prop, 0);
    vmm_mem_create(w.sys, &w.handle, 2 * G, &prop, 0);
    vmm_mem_address_reserve(w.sys, &w.at, 4 * G, 0, 0, 0);
    vmm_mem_map(w.sys, w.at, 2 * G, 0, w.handle, 0);
    return w;
}

static void test_reasons(void)
{
    struct world w = open_world("shadow|sim:h100");
    tap_result(vmm_mem_map(w.sys, w.at + G, 2 * G, 0, w.handle, 0), VMM_ERROR_INVALID_VALUE,
               "the backend refuses an overlapping mapping");
    const vmm_detail *d = vmm_last_detail();
    tap_text(d->rule, "VMM-MAP-OVERLAP", "the message has the shadow's rule");
    tap_u64(d->nearest.start, w.at, "the message has the mapping in the way");
    tap_u64(d->nearest.handle, w.handle, "the message has the program's handle value");
    tap_result(vmm_memset_d8(w.sys, w.at, 1, 16), VMM_ERROR_INVALID_VALUE, "the backend refuses a fill without rights");
    tap_text(d->rule, "VMM-COPY-NO-WRITE", "the message has the rule of the fill");
    vmm_mem_set_access(w.sys, w.at, 2 * G, &read_write, 1);
    tap_result(vmm_memset_d8(w.sys, w.at, 7, 16), VMM_SUCCESS, "the backend accepts a fill with rights");
    unsigned char byte = 0;
    vmm_memcpy_dtoh(w.sys, &byte, w.at + 3, 1);
    tap_u64(byte, 7, "the bytes are in the backend's memory");
    tap_result(vmm_mem_unmap(w.sys, w.at, 4 * G), VMM_SUCCESS, "the backend unmaps a range with a gap");
    tap_text(d->rule, "VMM-UNMAP-HOLE", "the shadow warns about the gap");
    vmm_close(w.sys);
}

static void test_unknown(void)
{
    struct world w = open_world("shadow|sim:h100");
    vmm_deviceptr plain = 0;
    unsigned int type = 0;
    vmm_mem_alloc(w.sys, &plain, 100);
    tap_result(vmm_memset_d8(w.sys, plain, 1, 100), VMM_SUCCESS, "a fill of memory that the shadow never saw");
    tap_ok(!vmm_last_detail()->rule, "the shadow is silent about it");
    tap_result(vmm_pointer_get_attribute(w.sys, &type, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, plain), VMM_SUCCESS,
               "queries about that memory");
    tap_ok(!vmm_last_detail()->rule && type == VMM_MEMORYTYPE_DEVICE, "so are queries about it");
    tap_result(vmm_mem_release(w.sys, 0xdead0), VMM_ERROR_INVALID_VALUE, "the backend refuses an unknown handle");
    vmm_mem_free(w.sys, plain);
    tap_result(vmm_mem_address_free(w.sys, w.at, 4 * G), VMM_ERROR_INVALID_VALUE,
               "the shadow still follows the program afterwards");
    tap_text(vmm_last_detail()->rule, "VMM-FREE-MAPPED", "the message has the rule of the free");
    vmm_close(w.sys);
}

/* Ranges exported to other devices: only the backend creates a descriptor; the shadow supplies the reasons. */
static void test_dmabuf(void)
{
    struct world w = open_world("shadow|sim:h100");
    vmm_deviceptr plain = 0;
    int fd = -7, next = dup(STDERR_FILENO);
    close(next);
    tap_result(vmm_mem_get_handle_for_address_range(w.sys, &fd, w.at, 2 * G, 1, 0), VMM_SUCCESS, "a dma-buf");
    tap_ok(!vmm_last_detail()->rule && lseek(fd, 0, SEEK_END) == (off_t)(2 * G),
           "the descriptor is the backend's, without a message");
    close(fd);
    fd = -7;
    tap_result(vmm_mem_get_handle_for_address_range(w.sys, &fd, w.at, 3 * G, 1, 0), VMM_ERROR_INVALID_VALUE, "over a hole");
    tap_text(vmm_last_detail()->rule, "VMM-DMABUF-HOLE", "the message has the rule of the dma-buf");
    tap_ok(fd == -1, "the backend's output stays: no descriptor");
    vmm_mem_alloc(w.sys, &plain, 2 * G);
    tap_result(vmm_mem_get_handle_for_address_range(w.sys, &fd, plain, G, 1, 0), VMM_SUCCESS,
               "a dma-buf of memory that the shadow never saw");
    tap_ok(!vmm_last_detail()->rule, "the shadow is silent about it");
    close(fd);
    fd = dup(STDERR_FILENO);
    tap_u64((uint64_t)fd, (uint64_t)next, "the shadow has not opened any descriptor");
    close(fd);
    vmm_close(w.sys);
    w = open_world("shadow|sim:min");
    tap_result(vmm_mem_get_handle_for_address_range(w.sys, &fd, w.at, G, 1, 0), VMM_ERROR_NOT_SUPPORTED,
               "a dma-buf on a machine without support");
    tap_text(vmm_last_detail()->rule, "VMM-DMABUF-UNSUPPORTED", "the shadow knows that the machine has no support");
    vmm_close(w.sys);
}

static void count(void *user, const vmm_detail *detail)
{
    unsigned *seen = user;
    seen[0]++;
    seen[1] += detail->severity == VMM_SEVERITY_LEAK;
}

static void test_leaks(void)
{
    struct world w = open_world("shadow|sim:h200x2");
    unsigned seen[2] = {0, 0};
    tap_u64(vmm_leaks(w.sys, count, seen), 5, "five leaks: two handles, a reservation, a mapping and a context");
    tap_ok(seen[0] == 5 && seen[1] == 5, "each leak is reported");
    vmm_close(w.sys);
}

static void test_hint(void)
{
    struct world w = open_world("shadow|sim:h100");
    vmm_deviceptr other = 0;
    tap_result(vmm_mem_address_reserve(w.sys, &other, G, 0, w.at, 0), VMM_SUCCESS, "a hint that is in use");
    tap_text(vmm_last_detail()->rule, "VMM-RESERVE-HINT-NOT-TAKEN", "the shadow warns that the hint was not taken");
    vmm_close(w.sys);
}

static void test_open(void)
{
    static const char *const wrong[] = {"shadow=1|sim", "shadow=nodes=0|sim", "shadow=nodes=9|sim", "shadow=nodes=1x|sim",
                                        "shadow=nodes=|sim"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        vmm_system *sys = NULL;
        tap_ok(vmm_open(wrong[i], &sys) == VMM_ERROR_INVALID_VALUE && !sys &&
                   strstr(vmm_last_detail()->note, "expected nothing, runtime, or nodes=N"),
               "\"%s\" is refused: %s", wrong[i], vmm_last_detail()->note);
    }
    vmm_system *sys = NULL;
    tap_result(vmm_open("shadow=nodes=2|sim:max", &sys), VMM_SUCCESS, "shadow=nodes=2 opens");
    tap_result(vmm_mem_release(sys, 1), VMM_ERROR_NOT_INITIALIZED, "before cuInit only the backend's result counts");
    vmm_close(sys);
}

int main(void)
{
    test_reasons();
    test_unknown();
    test_dmabuf();
    test_leaks();
    test_hint();
    test_open();
    return tap_done();
}
