/* SPDX-License-Identifier: Apache-2.0 */
/* Names and descriptions of codes, as the driver has them. */
#include "abi.h"
#include "result.h"

static CUresult tell(const char *function, CUresult code, const char *text, const char **pStr)
{
    if (!pStr) /* a driver crashes here */
        return abi_null(function, "pStr");
    *pStr = text;
    return text ? CUDA_SUCCESS : abi_refuse(VMM_RULE_CALL_VALUE, function, "%d is not a result code of the driver", (int)code);
}

CUresult cuGetErrorName(CUresult result, const char **pStr)
{
    return tell("cuGetErrorName", result, driver_result_name((int)result), pStr);
}

CUresult cuGetErrorString(CUresult result, const char **pStr)
{
    return tell("cuGetErrorString", result, driver_result_text((int)result), pStr);
}
