/* SPDX-License-Identifier: Apache-2.0 */
/* Lookup of driver functions, and of the runtime's private tables, which do not exist here. */
#include <stdatomic.h>

#include "rt_entry_point.h"

/* A driver ends the process if symbol or function is NULL. */
cudaError_t rt_entry_point(const struct rt_entry_point *asked)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    if (!asked->symbol || !asked->function)
        return cudaErrorInvalidValue;
    cudaError_t result = DRIVER(cuGetProcAddress, asked->symbol, asked->function, (int)asked->version, asked->flags, &status);
    if (result == cudaSuccess && asked->status)
        *asked->status = (enum cudaDriverEntryPointQueryResult)status;
    return result;
}

cudaError_t rt_entry_point_of_version(const struct rt_entry_point *asked)
{
    int newest = 0;
    cudaError_t result = DRIVER_CORE(cuDriverGetVersion, &newest);
    if (result == cudaSuccess && asked->version > (unsigned)newest)
        result = cudaErrorInvalidValue;
    return result == cudaSuccess ? rt_entry_point(asked) : result;
}

/* The toolkit's library returns this for an unknown table, and sets no last error. */
cudaError_t cudaGetExportTable(const void **ppExportTable, const cudaUUID_t *pExportTableId)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!ppExportTable || !pExportTableId)
        return cudaErrorInvalidValue;
    *ppExportTable = NULL;
    if (!atomic_flag_test_and_set(&said))
        rt_say("a library asks for a private table of NVIDIA's runtime (cudaGetExportTable), which does not exist here: it "
               "needs NVIDIA's driver and runtime (docs/runtime.md)");
    return cudaErrorUnknown;
}
