/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetProcAddress in its forms, and cuGetExportTable, which is refused. */
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
    if (flags & ~(cuuint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) ||
        flags == (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
        return abi_refuse(VMM_RULE_CALL_VALUE, "cuGetProcAddress", "flags 0x%llx: 0, 1 or 2",
                          (unsigned long long)flags);
    return CUDA_SUCCESS;
}

/* Entry points newer than the machine's driver are not found; a version beyond the driver's finds all that the driver has. */
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

/* missing: the result when nothing is found. Of the second version it is SUCCESS, also without a status that says so (measured). */
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

/* Only the runtime library calls this entry point, and its error tells the user nothing. */
static void say_that_it_stops_here(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&said))
        return;
    if (findings_wanted("simulator", false))
        findings_stopped(FINDINGS_RUNTIME);
    else
        abi_say("a program of the CUDA runtime stops here: it needs cuGetExportTable, which the simulator does not have. "
                "Programs of the driver API run (docs/unmodified.md)");
}

static CUresult decline_table(const void **table)
{
    if (table)
        *table = NULL;
    say_that_it_stops_here();
    return abi_refuse(VMM_RULE_ENTRY_ABSENT, "cuGetExportTable",
                      "there are no such tables: programs of the driver API run here, those of the CUDA runtime do not");
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
    result = decline_table(ppExportTable);
    abi_leave(&call);
    return result;
}
