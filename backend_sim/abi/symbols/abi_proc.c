/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetProcAddress in its forms, and cuGetExportTable, which is refused. */
#define _GNU_SOURCE /* dladdr; before any header */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "abi.h"
#include "abi_proc.h"
#include "findings.h"

/* Defined under its own name, because the header's macro renames it. */
#undef cuGetProcAddress
#pragma GCC visibility push(default)
CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags);
CUresult cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *symbolStatus);
CUresult cuGetProcAddress_ptsz(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags);
#pragma GCC visibility pop

static CUresult check(const char *symbol, void **pfn, cuuint64_t flags)
{
    if (!symbol || !pfn)
        return abi_null("cuGetProcAddress", symbol ? "pfn" : "symbol");
    if (flags & ~(cuuint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
        return abi_refuse(VMM_RULE_CALL_VALUE, "cuGetProcAddress", "flags 0x%llx: 0, 1, 2 or both",
                          (unsigned long long)flags);
    return CUDA_SUCCESS;
}

/* Entry points newer than the machine's driver are not found; a version beyond the driver's finds everything that the driver
 * has. */
static int version_to_find(const vmm_system *sys, int asked)
{
    int driver = abi_query_profile(sys)->driver_version;
    return asked < driver ? asked : driver;
}

static CUresult get(const vmm_system *sys, const char *symbol, void **pfn, int version, bool per_thread,
                    CUdriverProcAddressQueryResult *status, CUresult missing)
{
    abi_function function;
    enum abi_found found = abi_find(symbol, version_to_find(sys, version), per_thread, &function);
    if (status)
        *status = (CUdriverProcAddressQueryResult)found;
    memcpy(pfn, &function, sizeof function);
    return found == ABI_FOUND ? CUDA_SUCCESS : missing; /* a query, not a mistake: no report */
}

/* missing: the result if nothing is found. For the second version it is SUCCESS, even without an output for the
 * status (measured). */
static CUresult find(const char *symbol, void **pfn, int version, cuuint64_t flags, bool per_thread,
                     CUdriverProcAddressQueryResult *status, CUresult missing)
{
    VMM_ENTRY_POINT(entry);
    struct abi_call call;
    CUresult result = abi_enter(&entry, &call); /* works before cuInit, because programs look up their functions first */
    if (result != CUDA_SUCCESS)
        return result;
    result = check(symbol, pfn, flags);
    if (flags)
        per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (result == CUDA_SUCCESS)
        result = get(call.sys, symbol, pfn, version, per_thread, status, missing);
    abi_leave(&call);
    return result;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus)
{
    return find(symbol, pfn, cudaVersion, flags, false, symbolStatus, CUDA_SUCCESS);
}

CUresult cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *symbolStatus)
{
    return find(symbol, pfn, cudaVersion, flags, true, symbolStatus, CUDA_SUCCESS);
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    return find(symbol, pfn, cudaVersion, flags, false, NULL, CUDA_ERROR_NOT_FOUND);
}

CUresult cuGetProcAddress_ptsz(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    return find(symbol, pfn, cudaVersion, flags, true, NULL, CUDA_ERROR_NOT_FOUND);
}

/* The file that holds the address; "" if there is none. */
static const char *file_of(void *address)
{
    Dl_info info;
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

/* The advice depends on whether the runtime is a separate library, which another one can replace, or part of the
 * program. */
static void advise(void *caller)
{
    static const char ours = 0;
    const char *file = file_of(caller), *folder = file_of((void *)(uintptr_t)&ours);
    const char *slash = strrchr(file, '/'), *end = strrchr(folder, '/');
    const char *name = slash ? slash + 1 : file;
    if (strncmp(name, "libcudart.so.", 13) == 0)
        abi_say("a program of the CUDA runtime stops here: %.200s is NVIDIA's, which works only with NVIDIA's driver. Start "
                "the program "
                "with cuvmm exec, or with LD_PRELOAD=%.*s%.15s (docs/runtime.md)",
                file, end ? (int)(end - folder) + 1 : 0, folder, name);
    else
        abi_say("a program of the CUDA runtime stops here: %.200s has NVIDIA's runtime linked into it, which works only with "
                "NVIDIA's driver. Link it with -cudart shared, and start it with cuvmm exec (docs/runtime.md)",
                file[0] ? file : "the program");
}

/* NVRTC has the runtime inside, asks for a table once, and compiles without it. */
static bool does_without(void *caller)
{
    const char *file = file_of(caller), *slash = strrchr(file, '/');
    return strncmp(slash ? slash + 1 : file, "libnvrtc.so.", 12) == 0;
}

/* Only the runtime library calls this entry point, and its error means nothing to the user. */
static void say_that_it_stops_here(void *caller)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (does_without(caller) || atomic_flag_test_and_set(&said))
        return;
    if (findings_wanted("simulator", false))
        findings_stopped(FINDINGS_RUNTIME);
    else
        advise(caller);
}

static CUresult decline_table(const void **table, void *caller)
{
    if (table)
        *table = NULL;
    say_that_it_stops_here(caller);
    return abi_refuse(VMM_RULE_ENTRY_ABSENT, "cuGetExportTable",
                      "such tables do not exist here: NVIDIA's CUDA runtime needs them; this project's does not "
                      "(docs/runtime.md)");
}

/* The tables are not part of the driver API; the runtime library depends on them. */
CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    VMM_ENTRY_POINT(entry);
    struct abi_call call;
    CUresult result = abi_enter(&entry, &call); /* works before cuInit */
    (void)pExportTableId;
    if (result != CUDA_SUCCESS)
        return result;
    result = decline_table(ppExportTable, __builtin_return_address(0));
    abi_leave(&call);
    return result;
}
