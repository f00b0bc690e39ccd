/* SPDX-License-Identifier: Apache-2.0 */
/* findings_text.h - findings as lines of text, for processes without a parent that reads records. */
#ifndef CUVMM_FINDINGS_TEXT_H
#define CUVMM_FINDINGS_TEXT_H

#include <stdbool.h>

#include "findings.h"

/* Does the environment variable have this value? */
bool findings_setting(const char *name, const char *value);

/* Writes a finding with its place, which may have no frames, to the log or to standard error. */
void findings_write(const vmm_detail *detail, void *const *frames, int depth);

/* Writes the sum of this process. */
void findings_write_sum(const char *sum);

#endif
