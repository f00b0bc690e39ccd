/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes: runtime and driver use the same numbers, except for codes that only one of them has. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "os_write.h"
#include "rt.h"

static const struct {
    int number;
    const char *name, *text;
} results[] = {
#define RT_RESULT(name, number, text) {number, #name, text},
#include "rt_results.def"
};

enum { RESULTS = sizeof results / sizeof *results };

/* The index of the code; RESULTS if the runtime does not have it. */
static size_t find(int code)
{
    size_t i = 0;
    while (i < RESULTS && results[i].number != code)
        i++;
    return i;
}

static const char unrecognized[] = "unrecognized error code";

const char *cudaGetErrorName(cudaError_t error)
{
    size_t i = find((int)error);
    return i < RESULTS ? results[i].name : unrecognized;
}

const char *cudaGetErrorString(cudaError_t error)
{
    size_t i = find((int)error);
    return i < RESULTS ? results[i].text : unrecognized;
}

cudaError_t rt_code(CUresult code)
{
    if (code == CUDA_SUCCESS || find((int)code) < RESULTS)
        return (cudaError_t)code;
    return cudaErrorUnknown;
}

void rt_say(const char *format, ...)
{
    char text[1024];
    int start = snprintf(text, sizeof text, "cuvmm: libcudart.so.%d: ", rt_major());
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + start, sizeof text - (size_t)start - 1, format, arguments);
    va_end(arguments);
    strcat(text, "\n");
    (void)os_write_quietly(2, text, strlen(text));
}
