/* SPDX-License-Identifier: Apache-2.0 */
#include "vmm.h"

struct row {
    vmm_result result;
    const char *name, *text;
};

static const struct row rows[] = {
#define VMM_RESULT(name, number, text) {VMM_##name, "CUDA_" #name, text},
#include "results.def"
};

static const struct row *find(vmm_result result)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].result == result)
            return &rows[i];
    return NULL;
}

const char *vmm_result_name(vmm_result result)
{
    const struct row *row = find(result);
    return row ? row->name : "unrecognized error code";
}

const char *vmm_result_text(vmm_result result)
{
    const struct row *row = find(result);
    return row ? row->text : "a code that this version of cuvmm does not list";
}
