/* SPDX-License-Identifier: Apache-2.0 */
/* rt_rig.h - helpers for the tests of libcudart, which use the runtime like any program and do not access its internals. */
#ifndef SIM_RUNTIME_TESTING_RT_RIG_H
#define SIM_RUNTIME_TESTING_RT_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/cuda_runtime_api.h"
#include "tap.h"

static inline bool rt_answers(const char *file, int line, const char *call, cudaError_t got, cudaError_t want)
{
    return tap_check(file, line, got == want, "%.100s is %s%s%s", call, cudaGetErrorName(want), got == want ? "" : ", not ",
                     got == want ? "" : cudaGetErrorName(got));
}

/* The call returns cudacode: IS(cudaFree(p), ErrorInvalidValue). */
#define IS(call, code) rt_answers(__FILE__, __LINE__, #call, (call), cuda##code)
#define OK(call) IS(call, Success)
#define EQUAL(got, want) tap_u64((uint64_t)(got), (uint64_t)(want), "%s is %s", #got, #want)
/* The call is refused, and that is the thread's last error, once. */
#define REFUSED(call, code)                  \
    do {                                     \
        IS(call, code);                      \
        IS(cudaPeekAtLastError(), code);     \
        IS(cudaGetLastError(), code);        \
        IS(cudaGetLastError(), Success);     \
    } while (0)
/* The queried work is not done, which is not an error. */
#define NOT_READY(call)                      \
    do {                                     \
        IS(call, ErrorNotReady);             \
        IS(cudaPeekAtLastError(), Success);  \
    } while (0)

#endif
