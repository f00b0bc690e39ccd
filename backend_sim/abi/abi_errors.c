/* SPDX-License-Identifier: Apache-2.0 */
/* Names and descriptions of codes. The names come from the list of the ABI's enumerators; a description is this
 * project's where it has one, else the name as words. */
#include <ctype.h>
#include <pthread.h>
#include <string.h>

#include "abi.h"

enum { TEXT = 64 };

static struct {
    const char *name;
    long long value;
    char text[TEXT];
} rows[] = {
#define CU_VALUE(name, value) {#name, value, ""},
#include "abi/cuda_values.def"
};

enum { ROWS = (int)(sizeof rows / sizeof rows[0]) };

static const char code[] = "CUDA_", error[] = "CUDA_ERROR_";

/* "CUDA_ERROR_NOT_PERMITTED" -> "not permitted" */
static void fill_texts(void)
{
    for (int i = 0; i < ROWS; i++) {
        const char *from = rows[i].name;
        if (strncmp(from, code, sizeof code - 1) != 0)
            continue;
        from += strncmp(from, error, sizeof error - 1) == 0 ? sizeof error - 1 : sizeof code - 1;
        for (size_t at = 0; from[at] && at + 1 < TEXT; at++)
            rows[i].text[at] = from[at] == '_' ? ' ' : (char)tolower((unsigned char)from[at]);
    }
}

/* Only the codes among the enumerators start so. */
static int find(CUresult result)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].value == (long long)result && strncmp(rows[i].name, code, sizeof code - 1) == 0)
            return i;
    return -1;
}

CUresult cuGetErrorName(CUresult result, const char **pStr)
{
    int row = find(result);
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = row < 0 ? NULL : rows[row].name;
    return row < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult result, const char **pStr)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int row = find(result);
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = NULL;
    if (row < 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_once(&once, fill_texts);
    bool ours = strcmp(vmm_result_name((vmm_result)result), rows[row].name) == 0;
    *pStr = ours ? vmm_result_text((vmm_result)result) : rows[row].text;
    return CUDA_SUCCESS;
}
