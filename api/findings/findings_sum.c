/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of a tally, as a text. */
#include <stdio.h>

#include "findings.h"

static size_t put(char *text, size_t size, size_t length, uint64_t number, const char *what)
{
    if (length >= size)
        return length;
    int wrote = number ? snprintf(text + length, size - length, "%s%llu %s%s", length ? ", " : "",
                                  (unsigned long long)number, what, number == 1 ? "" : "s")
                       : snprintf(text + length, size - length, "%s0 %ss", length ? ", " : "", what);
    return length + (wrote > 0 ? (size_t)wrote : 0);
}

const char *findings_reason(const struct findings_tally *sum)
{
    if (sum->stopped[FINDINGS_NO_MACHINE])
        return "the simulated machine cannot be opened";
    if (sum->stopped[FINDINGS_RUNTIME])
        return "a program of the CUDA runtime stops at cuGetExportTable, which NVIDIA's runtime needs; link it with -cudart shared "
               "(docs/runtime.md), or check it on a machine with a driver";
    return NULL;
}

bool findings_sum(const struct findings_tally *sum, char *text, size_t size)
{
    const char *reason = findings_reason(sum);
    if (!(sum->checked + sum->errors + sum->hazards + sum->leaks)) {
        snprintf(text, size, "nothing was checked: %s",
                 reason       ? reason
                 : sum->begun ? "the program made no context and no memory"
                              : "no call of the driver was seen");
        return false;
    }
    size_t length = put(text, size, 0, sum->errors, "error");
    length = put(text, size, length, sum->hazards, "hazard");
    put(text, size, length, sum->leaks, "leak");
    return true;
}
