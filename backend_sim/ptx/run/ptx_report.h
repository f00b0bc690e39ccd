/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_report.h - how a kernel ended, in the words of its source.
 *
 *     outcome (misaligned, lanes 0xff, line of the PTX)  ->  twin_memory.ended: "the address is not a multiple of 8",
 *                                                            "thread (0,0,0) and 7 more of block (2,0,0), fill.cu:12"
 */
#ifndef PTX_REPORT_H
#define PTX_REPORT_H

#include "ptx_run.h"

/* Reports an outcome that is not PTX_END_DONE; one that is, or that the process's end made, needs no report. */
void ptx_report(struct twin_memory *memory, const struct ptx_program *program, const struct ptx_outcome *outcome);

#endif
