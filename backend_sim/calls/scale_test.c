/* SPDX-License-Identifier: Apache-2.0 */
/* Large sizes and counts that are too slow for each run of the suite: copies past 4 GiB from and to the host, zeros, which take
 * no space, imports, exports up to the machine's limit, and host mappings up to the system's limit. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "share_rig.h"

enum { MANY = 65537, RW = VMM_MEM_ACCESS_FLAGS_PROT_READWRITE };
#define G (UINT64_C(2) << 20)
#define GIB (UINT64_C(1) << 30)
#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

typedef vmm_mem_generic_allocation_handle handle_t;

static void need_at(int line, vmm_result result, const char *what)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s:%d: %s: %s %s", __FILE__, line, what, vmm_result_name(result), vmm_last_detail()->note);
}
#define NEED(call) need_at(__LINE__, call, #call)

/* Checks that the call was refused with this result by this rule. */
static void refused(vmm_result got, vmm_result want, const char *rule, const char *what)
{
    const char *by = vmm_last_detail()->rule ? vmm_last_detail()->rule : "no rule";
    tap_ok(got == want && strcmp(by, rule) == 0, "%s: %s by %s", what, vmm_result_name(want), rule);
    if (got != want || strcmp(by, rule) != 0)
        tap_note("%s by %s", vmm_result_name(got), by);
}

static vmm_system *opened(const char *spec)
{
    vmm_system *sys = NULL;
    vmm_context context = NULL;
    NEED(vmm_open(spec, &sys));
    NEED(vmm_init(sys, 0));
    NEED(vmm_ctx_create(sys, &context, 0, 0));
    return sys;
}

static vmm_mem_allocation_prop prop_of(vmm_mem_location_type type, int types)
{
    return (vmm_mem_allocation_prop){.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .requested_handle_types = types,
                                     .location = {type, 0}};
}

static void allow(vmm_system *sys, vmm_deviceptr ptr, uint64_t size, vmm_mem_location_type type)
{
    const vmm_mem_access_desc desc = {{type, 0}, RW};
    NEED(vmm_mem_set_access(sys, ptr, size, &desc, 1));
}

static vmm_deviceptr mapped(vmm_system *sys, uint64_t size)
{
    const vmm_mem_allocation_prop prop = prop_of(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    vmm_deviceptr ptr = 0;
    handle_t handle = 0;
    NEED(vmm_mem_address_reserve(sys, &ptr, size, 0, 0, 0));
    NEED(vmm_mem_create(sys, &handle, size, &prop, 0));
    NEED(vmm_mem_map(sys, ptr, size, 0, handle, 0));
    NEED(vmm_mem_release(sys, handle));
    allow(sys, ptr, size, VMM_MEM_LOCATION_TYPE_DEVICE);
    return ptr;
}

static uint64_t word_at(vmm_system *sys, vmm_deviceptr ptr)
{
    uint64_t word = 7777;
    NEED(vmm_memcpy_dtoh(sys, &word, ptr, sizeof word));
    return word;
}

/* ---- bytes ---- */

/* The peak memory of this process in MiB. Tests that need a low peak must run first. */
static uint64_t most_room(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss / 1024;
}

static void zeros(void)
{
    enum { LIMIT = 200 };
    vmm_system *sys = opened("sim:max");
    const uint64_t size = 16 * GIB;
    vmm_deviceptr a = mapped(sys, size), b = mapped(sys, size);
    NEED(vmm_memset_d8(sys, a, 0, size));
    NEED(vmm_memcpy_dtod(sys, b, a, size));
    NEED(vmm_memset_d8(sys, a + size / 2, 5, 8));
    NEED(vmm_memcpy_dtod(sys, b, a, size));
    tap_ok(word_at(sys, b + size / 2) == UINT64_C(0x0505050505050505) && !word_at(sys, b) && !word_at(sys, b + size - 8),
           "a copy of 16 GiB with eight non-zero bytes");
    NEED(vmm_memset_d32(sys, b, 0, size / 4));
    tap_ok(!word_at(sys, b + size / 2), "a fill with zeros clears the copy");
    NEED(vmm_memcpy_dtod(sys, a + 100, a, size - 100)); /* an overlapping copy: written zeros become a source again */
    tap_ok(word_at(sys, a + size / 2 + 100) == UINT64_C(0x0505050505050505) && !word_at(sys, a + size / 2 + 108),
           "an overlapping copy moves 16 GiB by 100 bytes");
    vmm_close(sys);
    tap_ok(most_room() < LIMIT, "zeros take no memory: the peak is %llu MiB", (unsigned long long)most_room());
}

/* Maps size bytes that repeat one piece of memory, for copies that need many addresses and little memory. */
static unsigned char *folded(uint64_t size, uint64_t piece)
{
    FILE *file = tmpfile();
    unsigned char *at = file ? mmap(NULL, size, PROT_NONE, MAP_PRIVATE, fileno(file), 0) : MAP_FAILED;
    if (at == MAP_FAILED || ftruncate(fileno(file), (off_t)piece))
        tap_bail("no room: %s", strerror(errno));
    for (uint64_t done = 0; done < size; done += piece)
        if (mmap(at + done, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fileno(file), 0) == MAP_FAILED)
            tap_bail("no room: %s", strerror(errno));
    fclose(file);
    return at;
}

/* One copy in each direction: from the host, zeros with one word in every piece; to the host, bytes past 4 GiB. */
static void host_copies(void)
{
    const uint64_t piece = 64 << 20, size = 4 * GIB + piece;
    vmm_system *sys = opened("sim:h100");
    vmm_deviceptr p = mapped(sys, size);
    unsigned char *host = folded(size, piece);
    memset(host + 8, 3, 8);
    NEED(vmm_memcpy_htod(sys, p, host, size));
    tap_ok(word_at(sys, p + 8) == UINT64_C(0x0303030303030303) && word_at(sys, p + 4 * GIB + 8) == word_at(sys, p + 8) &&
               !word_at(sys, p + 4 * GIB) && !word_at(sys, p + 4 * GIB + 16),
           "a copy of more than 4 GiB from the host is complete");
    NEED(vmm_memset_d8(sys, p, 0, 4 * GIB)); /* all pieces share the host's memory, so the last one written remains */
    NEED(vmm_memset_d8(sys, p + 4 * GIB + 8, 9, 8));
    NEED(vmm_memcpy_dtoh(sys, host, p, size));
    tap_ok(host[7] == 0 && host[8] == 9 && host[15] == 9 && host[16] == 0, "a copy of more than 4 GiB to the host is complete");
    munmap(host, size);
    vmm_close(sys);
}

/* ---- sharing ---- */

static void imports(unsigned many)
{
    const vmm_mem_allocation_prop prop = prop_of(VMM_MEM_LOCATION_TYPE_DEVICE, FD);
    vmm_system *sys = opened("sim:h100");
    handle_t handle = 0, *import = calloc(many, sizeof *import);
    vmm_deviceptr ptr = 0;
    int fd = -1;
    unsigned wrong = 0;
    uint64_t free_before = 0, free_after = 0;
    NEED(vmm_mem_create(sys, &handle, G, &prop, 0));
    NEED(vmm_mem_get_info(sys, &free_before, NULL));
    NEED(vmm_mem_export_to_shareable_handle(sys, &fd, handle, FD, 0));
    for (unsigned i = 0; import && i < many; i++)
        NEED(vmm_mem_import_from_shareable_handle(sys, &import[i], (void *)(uintptr_t)fd, FD));
    close(fd);
    NEED(vmm_mem_get_info(sys, &free_after, NULL));
    tap_u64(free_after, free_before, "%u imports take no device memory", many);
    NEED(vmm_mem_address_reserve(sys, &ptr, 3 * G, 0, 0, 0));
    NEED(vmm_mem_map(sys, ptr, G, 0, import[0], 0));
    NEED(vmm_mem_map(sys, ptr + G, G, 0, import[many / 2], 0));
    NEED(vmm_mem_map(sys, ptr + 2 * G, G, 0, import[many - 1], 0));
    allow(sys, ptr, 3 * G, VMM_MEM_LOCATION_TYPE_DEVICE);
    NEED(vmm_memset_d8(sys, ptr, 6, 8));
    tap_ok(word_at(sys, ptr + G) == word_at(sys, ptr) && word_at(sys, ptr + 2 * G) == word_at(sys, ptr),
           "the first, the middle and the last import show the same memory");
    NEED(vmm_mem_unmap(sys, ptr, 3 * G));
    NEED(vmm_mem_release(sys, handle));
    for (unsigned i = 0; i < many - 1; i++)
        wrong += vmm_mem_release(sys, import[i]) != VMM_SUCCESS;
    NEED(vmm_mem_get_info(sys, &free_after, NULL));
    tap_ok(!wrong && free_after == free_before, "one import is left and holds the memory");
    NEED(vmm_mem_release(sys, import[many - 1]));
    NEED(vmm_mem_get_info(sys, &free_after, NULL));
    tap_u64(free_after, free_before + G, "the release of the last import frees the memory");
    free(import);
    vmm_close(sys);
}

/* Exports up to the limit; after a release another export succeeds. */
static void exports(void)
{
    enum { MOST = 8192 };
    const vmm_mem_allocation_prop prop = prop_of(VMM_MEM_LOCATION_TYPE_DEVICE, FD);
    vmm_system *sys = opened("sim:h100");
    static handle_t handle[MOST + 1];
    vmm_result result = VMM_SUCCESS;
    int fd = -1;
    unsigned made = 0;
    for (; result == VMM_SUCCESS && made <= MOST; made += result == VMM_SUCCESS) {
        NEED(vmm_mem_create(sys, &handle[made], G, &prop, 0));
        result = vmm_mem_export_to_shareable_handle(sys, &fd, handle[made], FD, 0);
        if (result == VMM_SUCCESS)
            close(fd);
    }
    tap_u64(made, MOST, "a machine can export 8192 handles");
    refused(result, VMM_ERROR_OPERATING_SYSTEM, "VMM-EXPORT-SYSTEM", "one export more");
    NEED(vmm_mem_release(sys, handle[MOST / 2]));
    NEED(vmm_mem_export_to_shareable_handle(sys, &fd, handle[MOST], FD, 0));
    close(fd);
    vmm_close(sys);
}

/* ---- host mappings ---- */

static void views(void)
{
    const vmm_mem_allocation_prop prop = prop_of(VMM_MEM_LOCATION_TYPE_HOST, 0);
    const vmm_mem_access_desc host = {{VMM_MEM_LOCATION_TYPE_HOST, 0}, RW};
    const vmm_mem_location location = host.location;
    vmm_system *sys = opened("sim:h100");
    uint64_t flags = 7777, first = 0, last = 0;
    vmm_deviceptr ptr = 0;
    handle_t handle = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    unsigned long most = 0;
    if (!file || fscanf(file, "%lu", &most) != 1 || most > MANY) {
        tap_skip("needs a system with a lower limit of mappings (vm.max_map_count)", "rights for the host at that limit");
    } else {
        NEED(vmm_mem_address_reserve(sys, &ptr, MANY * G, 0, 0, 0));
        NEED(vmm_mem_create(sys, &handle, G, &prop, 0));
        for (uint64_t i = 0; i < MANY; i++) /* of one handle, so that the system cannot merge two of them */
            NEED(vmm_mem_map(sys, ptr + i * G, G, 0, handle, 0));
        refused(vmm_mem_set_access(sys, ptr, MANY * G, &host, 1), VMM_ERROR_OUT_OF_MEMORY, "VMM-SYSTEM-HOST-MEMORY",
                "rights for the host at more mappings than the system allows");
        for (uint64_t i = 0; i < MANY; i++) {
            NEED(vmm_mem_get_access(sys, &flags, &location, ptr + i * G));
            first += i < MANY / 2 ? flags : 0;
            last += i < MANY / 2 ? 0 : flags;
        }
        tap_ok(!first && !last, "the refused call grants no right");
        NEED(vmm_mem_set_access(sys, ptr + (MANY - 1) * G, G, &host, 1));
        *(volatile char *)(uintptr_t)(ptr + (MANY - 1) * G) =
            1; /* analysers: core.FixedAddressDereference is wrong: the simulator shows it */
        tap_ok(!vmm_mem_get_access(sys, &flags, &location, ptr + (MANY - 1) * G) && flags == RW,
               "after the refusal a grant to the host at one mapping succeeds");
    }
    if (file)
        fclose(file);
    vmm_close(sys);
}

/* Valgrind and the sanitizers need mappings themselves, so only a plain run goes to the limit; check-long has time for
 * tests that take seconds. */
int main(void)
{
    const char *scale = getenv("CUVMM_TEST_SCALE");
    unsigned long percent = scale && *scale ? strtoul(scale, NULL, 10) : 100;
    rig_begin();
    zeros();
    imports(percent < 25 ? 1000 : MANY);
    if (percent >= 100)
        views();
    if (percent > 100) {
        host_copies();
        exports();
    }
    rig_end();
    return tap_done();
}
