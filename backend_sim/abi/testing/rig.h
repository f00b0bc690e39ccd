/* SPDX-License-Identifier: Apache-2.0 */
/* rig.h - helpers for the tests of libcuda.so.1, which are programs of the driver API and do not access its internals. */
#ifndef SIM_ABI_TESTING_RIG_H
#define SIM_ABI_TESTING_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/cuda.h"
#include "tap.h"

static inline const char *code_name(CUresult code)
{
    const char *name = NULL;
    return cuGetErrorName(code, &name) == CUDA_SUCCESS ? name : "no code";
}

static inline bool answers(const char *file, int line, const char *call, CUresult got, CUresult want)
{
    return tap_check(file, line, got == want, "%.100s is %s%s%s", call, code_name(want), got == want ? "" : ", not ",
                     got == want ? "" : code_name(got));
}

/* The call returns CUDA_code. */
#define IS(call, code) answers(__FILE__, __LINE__, #call, (call), CUDA_##code)
#define OK(call) IS(call, SUCCESS)
#define EQUAL(got, want) tap_u64((uint64_t)(got), (uint64_t)(want), "%s is %s", #got, #want)

/* Is a line of the driver's log complete? An empty part would leave blanks or commas behind. */
static inline bool is_whole_line(const char *line)
{
    static const char *const torn[] = {"  ", " ,", " ;", " :", " .", ",,", ";;", "(null)"};
    const size_t length = strlen(line);
    bool whole = length && !strchr(" ,;:", line[length - 1]);
    for (size_t i = 0; i < sizeof torn / sizeof torn[0]; i++)
        whole = whole && !strstr(line, torn[i]);
    return whole;
}

/* Makes the primary context of device 0 current. */
static inline CUcontext begin(void)
{
    CUcontext context = NULL;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    return context;
}

/* The byte at a device address; 256 if the copy fails. */
static inline unsigned byte_at(CUdeviceptr at)
{
    unsigned char byte = 0;
    return cuMemcpyDtoH(&byte, at, 1) == CUDA_SUCCESS ? byte : 256;
}

#endif
