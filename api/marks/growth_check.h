/* SPDX-License-Identifier: Apache-2.0 */
/* growth_check.h - marks and growth of a process that `cuvmm check` runs; the interface for both sides.
 *
 *   CUVMM_CHECK_GROWTH   "no": marks only name findings; "own" or a number: without marks of the program it gets some of its own, a
 *                        number is how many in a row are growth; without it the program's marks are compared
 */
#ifndef CUVMM_GROWTH_CHECK_H
#define CUVMM_GROWTH_CHECK_H

#include "vmm.h"

/* The program is at a mark. sys is the system to examine; if it is NULL, the mark only names findings. */
void growth_check_mark(vmm_system *sys, const char *mark, vmm_report_fn report, void *user);

/* A call of the program has ended; the caller holds no lock of the system. */
void growth_check_call(vmm_system *sys);

/* The process exits normally. */
void growth_check_end(vmm_report_fn report, void *user);

#endif
