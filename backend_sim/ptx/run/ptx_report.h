/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_report.h - describes how a kernel ended, in terms of its source.
 *
 *     outcome (misaligned, lanes 0xff, line of the PTX)  ->  twin_memory.ended: "the address is not a multiple of 8",
 *                                                            "thread (0,0,0) and 7 more of block (2,0,0), fill.cu:12"
 */
#ifndef PTX_REPORT_H
#define PTX_REPORT_H

#include "ptx_run.h"

/* Reports an outcome, unless it is PTX_END_DONE or was caused by the end of the process. */
void ptx_report(struct twin_memory *memory, const struct ptx_program *program, const struct ptx_outcome *outcome);

#endif
