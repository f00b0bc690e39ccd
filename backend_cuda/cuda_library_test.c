/* SPDX-License-Identifier: Apache-2.0 */
/* Messages when the driver is missing, is not a driver, or is too old; and where it is searched for. */
#include <stdlib.h>

#include "fake/rig.h"
#include "cuda_library.h"

static void check_refused(const char *spec, vmm_result want, const char *const *says)
{
    vmm_system *const untouched = (vmm_system *)&want;
    vmm_system *sys = untouched;
    tap_result(vmm_open(spec, &sys), want, "%.30s... cannot be opened", spec);
    tap_ok(sys == untouched, "no system is stored");
    for (; *says; says++)
        tap_ok(strstr(vmm_last_detail()->note, *says), "the note contains \"%s\": %s", *says, vmm_last_detail()->note);
}

static void test_missing(const struct rig *ancient)
{
    char spec[RIG_PATH + 8];
    check_refused("cuda:libnothing.so.1", VMM_ERROR_NOT_FOUND,
                  (const char *[]){"libnothing.so.1 cannot be loaded", "No such file", "column 1",
                                   "install the driver", "CUVMM_LIBCUDA", NULL});
    snprintf(spec, sizeof spec, "cuda:%s.c", ancient->path);
    check_refused(spec, VMM_ERROR_NOT_FOUND, (const char *[]){"cannot be loaded", "No such file", NULL});
    check_refused("cuda:Makefile", VMM_ERROR_NOT_FOUND, (const char *[]){"Makefile cannot be loaded", NULL});
    check_refused("cuda:libm.so.6", VMM_ERROR_NOT_SUPPORTED,
                  (const char *[]){"libm.so.6 has no cuInit", "not a CUDA driver", "CUVMM_LIBCUDA", NULL});
    check_refused(ancient->spec, VMM_ERROR_NOT_SUPPORTED,
                  (const char *[]){"has no cuMemGetAllocationGranularity", "before CUDA 10.2", "update the driver",
                                   NULL});
}

/* An empty path means the library named by the environment, or else the loader's default name. */
static void test_where(const struct rig *rig)
{
    vmm_system *sys;
    setenv("CUVMM_LIBCUDA", rig->path, 1);
    tap_result(vmm_open("cuda", &sys), VMM_SUCCESS, "the spec 'cuda' opens the library that CUVMM_LIBCUDA names");
    rig->driver->calls = 0;
    tap_result(vmm_init(sys, 0), VMM_SUCCESS, "it can be initialised");
    tap_u64(rig->driver->calls, 1, "the call reaches that library");
    vmm_close(sys);
    check_refused("cuda:libnothing.so", VMM_ERROR_NOT_FOUND, (const char *[]){"libnothing.so cannot be loaded", NULL});
    setenv("CUVMM_LIBCUDA", "libnothing-either.so", 1);
    check_refused("cuda", VMM_ERROR_NOT_FOUND, (const char *[]){"libnothing-either.so cannot be loaded", NULL});
    setenv("CUVMM_BACKEND", rig->spec, 1);
    tap_result(vmm_open(NULL, &sys), VMM_SUCCESS, "CUVMM_BACKEND may name the driver's library");
    vmm_close(sys);
    unsetenv("CUVMM_LIBCUDA");
    unsetenv("CUVMM_BACKEND");
}

/* A driver with all required calls but without a later one: only that call is refused. */
static void test_first(const struct rig *first)
{
    vmm_system *sys;
    int fd = 7;
    tap_result(vmm_open(first->spec, &sys), VMM_SUCCESS, "a driver of CUDA 11.0 is accepted");
    first->driver->calls = 0;
    first->driver->result = 0;
    tap_result(vmm_mem_unmap(sys, 0x1000, 0x2000), VMM_SUCCESS, "a call that it has works");
    tap_result(vmm_mem_get_handle_for_address_range(sys, &fd, 0x1000, 0x1000, 1, 0), VMM_ERROR_NOT_SUPPORTED,
               "a call that it lacks is refused");
    tap_text(first->driver->symbol, "cuDeviceGetCount", "the only driver call is the query for initialisation");
    const vmm_detail *detail = vmm_last_detail();
    tap_ok(fd == 7 && detail->severity == VMM_SEVERITY_ERROR && detail->result == VMM_ERROR_NOT_SUPPORTED &&
               strcmp(detail->function, "cuMemGetHandleForAddressRange") == 0,
           "the record has the result and the function");
    tap_ok(strstr(detail->note, "older than CUDA 11.7") && strstr(detail->note, "update"), "the note has the reason: %s",
           detail->note);
    first->driver->result = VMM_ERROR_NOT_INITIALIZED;
    tap_result(vmm_mem_get_handle_for_address_range(sys, NULL, 0, 0, 0, 0), VMM_ERROR_NOT_INITIALIZED,
               "without initialisation, that is reported first");
    first->driver->result = 0;
    vmm_close(sys);
}

/* A name that cuGetProcAddress does not know is looked up as a symbol, which exists in the fake. */
static void test_hidden(struct rig *rig)
{
    vmm_system *sys;
    rig_reset(rig);
    rig->driver->hidden = "cuCtxCreate";
    tap_result(vmm_open(rig->spec, &sys), VMM_SUCCESS, "a function that exists only as a symbol is found");
    vmm_ctx_create(sys, NULL, 0, 0);
    tap_text(rig->driver->symbol, "cuCtxCreate_v2", "with the suffix of our signature");
    vmm_close(sys);
    rig_reset(rig);
}

/* The fake has the driver's other signatures, so a lookup with the wrong version would be detected. */
static void test_traps(const struct rig *rig)
{
    static const struct {
        const char *name;
        int version;
        const char *reached;
    } rows[] = {{"cuCtxCreate", 13000, "other cuCtxCreate_v4"},      {"cuCtxCreate", 2000, "other cuCtxCreate"},
                {"cuCtxGetDevice", 13000, "other cuCtxGetDevice_v2"}, {"cuMemAlloc", 3010, "other cuMemAlloc"},
                {"cuCtxSynchronize", 13000, "other cuCtxSynchronize_v2"}};
    struct cuda_library library;
    if (cuda_library_open(&library, rig->path) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void (*function)(uint64_t, uint64_t, uint64_t, uint64_t);
        cuda_function found = cuda_library_find(&library, rows[i].name, rows[i].version, rows[i].name);
        memcpy(&function, &found, sizeof function);
        function(0, 0, 0, 0);
        tap_text(rig->driver->symbol, rows[i].reached, "%s of CUDA %d has another signature", rows[i].name, rows[i].version);
    }
    tap_ok(!cuda_library_find(&library, "cuMemMap", 10010, "cuMemMap_v9"), "cuMemMap does not exist before CUDA 10.2");
    cuda_library_close(&library);
}

int main(int argc, char **argv)
{
    struct rig rig, first, ancient;
    (void)argc;
    unsetenv("CUVMM_LAYERS");
    rig_load(&rig, argv[0], "libcuda.so");
    rig_load(&first, argv[0], "libcuda-first.so");
    rig_find(&ancient, argv[0], "libcuda-ancient.so");
    test_missing(&ancient);
    test_where(&rig);
    test_first(&first);
    test_hidden(&rig);
    test_traps(&rig);
    return tap_done();
}
