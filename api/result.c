/* SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

struct row {
    vmm_result result;
    const char *name, *text;
};

/* The codes that the API's calls return, with this project's texts. */
static const struct row rows[] = {
#define VMM_RESULT(name, number, text) {VMM_##name, "CUDA_" #name, text},
#include "results.def"
};

/* All codes of a driver. */
static const struct row driver_rows[] = {
#define DRIVER_RESULT(name, number, text) {(vmm_result)(number), #name, text},
#include "driver_results.def"
};

static const struct row *find(const struct row *row, size_t count, vmm_result result)
{
    for (size_t i = 0; i < count; i++)
        if (row[i].result == result)
            return &row[i];
    return NULL;
}

#define FIND(rows, result) find(rows, sizeof(rows) / sizeof((rows)[0]), result)

static const struct row *find_any(vmm_result result)
{
    const struct row *row = FIND(rows, result);
    return row ? row : FIND(driver_rows, result);
}

const char *vmm_result_name(vmm_result result)
{
    const struct row *row = find_any(result);
    return row ? row->name : "unrecognized error code";
}

const char *vmm_result_text(vmm_result result)
{
    const struct row *row = find_any(result);
    return row ? row->text : "a code that this version of cuvmm does not know";
}

const char *driver_result_name(int result)
{
    const struct row *row = FIND(driver_rows, (vmm_result)result);
    return row ? row->name : NULL;
}

const char *driver_result_text(int result)
{
    const struct row *row = FIND(driver_rows, (vmm_result)result);
    return row ? row->text : NULL;
}
