/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm diff: the conformance harness's random calls, on the driver unless another backend is named. */
#include "diff.h"

#include "cuvmm.h"
#include "usage.h"

/* The run writes to the process's own standard output, from children too. */
int cuvmm_diff(int argc, char **argv, FILE *out, FILE *err)
{
    fflush(out);
    int status = diff_main(argc, argv, "shadow|cuda", err);
    return status == 2 ? cuvmm_usage(err, "diff") : status;
}
