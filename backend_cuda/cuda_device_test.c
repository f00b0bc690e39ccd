/* SPDX-License-Identifier: Apache-2.0 */
/* The whole life of a mapping on a real device, and the driver's messages about refused calls; skipped without a device. `make
 * bench-gpu` measures the cost of a call through the API.
 *
 * Values that are specific to one driver belong in the suite and the recordings, not in this file. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_library.h"
#include "fake/rig.h"

struct life {
    vmm_system *sys;
    vmm_context context;
    vmm_mem_allocation_prop prop;
    uint64_t size;
    vmm_deviceptr ptr;
    vmm_mem_generic_allocation_handle handle;
};

static void say(const char *what)
{
    char text[600];
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        tap_note("%s: %s", what, line);
}

static void check_refusal(vmm_result result, vmm_result want, const char *what)
{
    tap_result(result, want, "%s is refused", what);
    tap_ok(vmm_last_detail()->severity == VMM_SEVERITY_ERROR && !vmm_last_detail()->rule &&
               vmm_last_detail()->result == result,
           "the record has the result and no rule");
    say(what);
}

static void test_start(struct life *life)
{
    char name[100] = "";
    int count = 0, supported = 0;
    check_refusal(vmm_device_get_count(life->sys, &count), VMM_ERROR_NOT_INITIALIZED, "a call before vmm_init");
    check_refusal(vmm_init(life->sys, 1), VMM_ERROR_INVALID_VALUE, "vmm_init with flags");
    tap_result(vmm_init(life->sys, 0), VMM_SUCCESS, "the driver is initialised");
    vmm_device_get_count(life->sys, &count);
    tap_ok(count > 0, "devices: %d", count);
    for (int i = 0; i < count; i++) {
        uint64_t bytes = 0;
        bool reported = vmm_device_get_name(life->sys, name, sizeof name, i) == VMM_SUCCESS &&
                    vmm_device_total_mem(life->sys, &bytes, i) == VMM_SUCCESS;
        tap_ok(reported && name[0] && bytes > 0, "device %d: %s, %" PRIu64 " bytes", i, name, bytes);
    }
    vmm_device_get_attribute(life->sys, &supported, VMM_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0);
    if (!supported)
        tap_bail("device 0 has no virtual memory management");
}

static void test_contexts(struct life *life)
{
    vmm_context own = NULL, current = NULL;
    vmm_device device = -1;
    vmm_stream stream = NULL;
    tap_result(vmm_ctx_create(life->sys, &own, 0, 0), VMM_SUCCESS, "creating a context");
    tap_ok(vmm_ctx_get_current(life->sys, &current) == VMM_SUCCESS && current == own, "the created context is current");
    tap_ok(vmm_ctx_get_device(life->sys, &device) == VMM_SUCCESS && device == 0, "it is on device 0");
    tap_result(vmm_stream_create(life->sys, &stream, VMM_STREAM_NON_BLOCKING), VMM_SUCCESS, "creating a stream");
    tap_result(vmm_stream_query(life->sys, stream), VMM_SUCCESS, "the stream is idle");
    tap_result(vmm_stream_destroy(life->sys, stream), VMM_SUCCESS, "destroying the stream");
    tap_result(vmm_ctx_destroy(life->sys, own), VMM_SUCCESS, "destroying the created context");
    tap_result(vmm_device_primary_ctx_retain(life->sys, &life->context, 0), VMM_SUCCESS, "the primary context");
    tap_result(vmm_ctx_set_current(life->sys, life->context), VMM_SUCCESS, "the primary context is made current");
}

static void test_make(struct life *life)
{
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    uint64_t rights = 0;
    life->prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    life->prop.location.type = VMM_MEM_LOCATION_TYPE_DEVICE;
    vmm_mem_get_allocation_granularity(life->sys, &life->size, &life->prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    tap_ok(life->size > 0, "granularity %" PRIu64, life->size);
    check_refusal(vmm_mem_create(life->sys, &life->handle, life->size + 1, &life->prop, 0), VMM_ERROR_INVALID_VALUE,
                  "memory of an odd size");
    tap_result(vmm_mem_create(life->sys, &life->handle, life->size, &life->prop, 0), VMM_SUCCESS, "memory");
    tap_result(vmm_mem_address_reserve(life->sys, &life->ptr, life->size, 0, 0, 0), VMM_SUCCESS, "addresses");
    tap_result(vmm_mem_map(life->sys, life->ptr, life->size, 0, life->handle, 0), VMM_SUCCESS, "a mapping");
    check_refusal(vmm_mem_map(life->sys, life->ptr, life->size, 0, life->handle, 0), VMM_ERROR_INVALID_VALUE,
                  "a second mapping at the same place");
    check_refusal(vmm_mem_address_free(life->sys, life->ptr, life->size), VMM_ERROR_INVALID_VALUE,
                  "freeing the addresses of a mapping");
    check_refusal(vmm_memset_d8(life->sys, life->ptr, 1, 1), VMM_ERROR_INVALID_VALUE, "a fill without rights");
    tap_result(vmm_mem_set_access(life->sys, life->ptr, life->size, &desc, 1), VMM_SUCCESS, "rights");
    tap_ok(vmm_mem_get_access(life->sys, &rights, &desc.location, life->ptr) == VMM_SUCCESS && rights == 3,
           "the rights are reported");
}

static void test_use(struct life *life)
{
    uint32_t words[4] = {0};
    vmm_mem_generic_allocation_handle again = 0;
    vmm_deviceptr base = 0;
    uint64_t size = 0;
    tap_result(vmm_memset_d32(life->sys, life->ptr, 0x12345678, 4), VMM_SUCCESS, "a fill");
    tap_result(vmm_memcpy_dtoh(life->sys, words, life->ptr, sizeof words), VMM_SUCCESS, "copying to the host");
    tap_ok(words[0] == 0x12345678 && words[3] == 0x12345678, "the copy has the filled value");
    tap_ok(vmm_mem_get_address_range(life->sys, &base, &size, life->ptr + 5) == VMM_SUCCESS && base == life->ptr &&
               size == life->size,
           "an address inside the mapping is traced to its range");
    tap_ok(vmm_mem_retain_allocation_handle(life->sys, &again, life->ptr) == VMM_SUCCESS && again == life->handle,
           "the address inside is traced to its handle");
    tap_result(vmm_mem_release(life->sys, again), VMM_SUCCESS, "the retained handle is released");
}

static void test_end(struct life *life)
{
    tap_result(vmm_mem_unmap(life->sys, life->ptr, life->size), VMM_SUCCESS, "unmap");
    tap_result(vmm_mem_release(life->sys, life->handle), VMM_SUCCESS, "release");
    tap_result(vmm_mem_address_free(life->sys, life->ptr, life->size), VMM_SUCCESS, "free the addresses");
    check_refusal(vmm_mem_address_free(life->sys, life->ptr, life->size), VMM_ERROR_INVALID_VALUE, "freeing them twice");
    tap_result(vmm_device_primary_ctx_release(life->sys, 0), VMM_SUCCESS, "the primary context is released");
}

/* Looked up by version or by symbol, the driver must return the same function: otherwise a column of entries.def is wrong. */
static void test_columns(const char *path)
{
    struct cuda_library by_version, by_symbol;
    struct cuda_entries versions, symbols;
    if (cuda_library_open(&by_version, path) != VMM_SUCCESS || cuda_library_open(&by_symbol, path) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    by_symbol.get_proc_address = NULL;
    tap_result(cuda_library_entries(&by_version, &versions), VMM_SUCCESS, "the driver has every function by version");
    tap_result(cuda_library_entries(&by_symbol, &symbols), VMM_SUCCESS, "the driver exports every function");
#define SAME_AS_SYMBOL_OWN(call, name, version, symbol)
#define SAME_AS_SYMBOL_SAME(call, name, version, symbol)    \
    if (versions.call != symbols.call)                      \
        tap_ok(false, "%s of CUDA %d is %s", name, version, symbol);
#define VMM_CALL(name, symbol, form, traits) \
    SAME_AS_SYMBOL_##form(name, VMM_ENTRY_NAME(symbol), VMM_ENTRY_VERSION(symbol), #symbol)
#include "calls.def"
    tap_ok(memcmp(&versions, &symbols, sizeof versions) == 0, "both lookups return the same functions");
    cuda_library_close(&by_version);
    cuda_library_close(&by_symbol);
}

/* The error from opening or initialising, or that there are no devices. */
static vmm_result look(void)
{
    vmm_system *sys;
    int count = 0;
    vmm_result result = vmm_open("cuda", &sys);
    if (result == VMM_SUCCESS)
        result = vmm_init(sys, 0);
    if (result == VMM_SUCCESS)
        result = vmm_device_get_count(sys, &count);
    return result == VMM_SUCCESS && count == 0 ? VMM_ERROR_NO_DEVICE : result;
}

/* Runs in a child, so that this process stays uninitialised. */
static vmm_result look_apart(void)
{
    int ends[2], status;
    vmm_result result = VMM_ERROR_UNKNOWN;
    fflush(stdout);
    if (pipe(ends) != 0)
        tap_bail("no pipe is available");
    pid_t child = fork();
    if (child == 0) {
        result = look();
        _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &result, sizeof result) != sizeof result)
        result = VMM_ERROR_UNKNOWN;
    close(ends[0]);
    if (child > 0)
        waitpid(child, &status, 0);
    return result;
}

int main(void)
{
    struct life life = {0};
    const char *set = getenv("CUVMM_LIBCUDA"), *path = set && *set ? set : "libcuda.so.1";
    unsetenv("CUVMM_LAYERS");
    vmm_result there = look_apart();
    if (there != VMM_SUCCESS) {
        char why[80];
        snprintf(why, sizeof why, "no CUDA device: %s (%d)", vmm_result_name(there), (int)there);
        tap_skip(why, "the life of a mapping on a device");
        return tap_done();
    }
    if (vmm_open("cuda", &life.sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    test_start(&life);
    test_contexts(&life);
    test_make(&life);
    test_use(&life);
    test_columns(path);
    test_end(&life);
    vmm_close(life.sys);
    return tap_done();
}
