/* SPDX-License-Identifier: Apache-2.0 */
/* Names and descriptions of codes, as the driver has them. */
#include "abi.h"
#include "result.h"

static CUresult tell(const char *text, const char **pStr)
{
    if (!pStr) /* a driver crashes here */
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = text;
    return text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult result, const char **pStr)
{
    return tell(driver_result_name((int)result), pStr);
}

CUresult cuGetErrorString(CUresult result, const char **pStr)
{
    return tell(driver_result_text((int)result), pStr);
}
