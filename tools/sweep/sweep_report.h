/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_report.h - the report of a sweep. */
#ifndef CUVMM_TOOLS_SWEEP_REPORT_H
#define CUVMM_TOOLS_SWEEP_REPORT_H

#include "sweep_calls.h"

struct sweep_report {
    const struct sweep_options *options;
    const struct sweep_calls *calls;
    size_t runs;
    bool sampled;
    bool differs;         /* the two runs without a failure made other calls */
    double timeout;
    uint64_t leaks;       /* held at the end without a failure */
    uint64_t lost;        /* calls that there was no room to count */
    size_t sites[SWEEP_CLASSES]; /* by their worst outcome */
};

/* The command that shows a run again, for a shell. */
void sweep_print_command(const struct sweep_report *report, const struct sweep_call *call, FILE *out);

void sweep_print_text(const struct sweep_report *report, FILE *out);

/* False, which has been said, where this command was built without jansson. */
bool sweep_print_json(const struct sweep_report *report, FILE *out, FILE *err);

#endif
