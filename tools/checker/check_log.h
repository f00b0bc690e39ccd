/* SPDX-License-Identifier: Apache-2.0 */
/* check_log.h - the file of cuvmm check's text, or one for each process.
 *
 *     --log-file=check.txt      /home/eve/check.txt
 *     --log-file=check.%p.txt   /home/eve/check.4711.txt, check.4712.txt, and the sum of all on standard error
 */
#ifndef CUVMM_TOOLS_CHECK_LOG_H
#define CUVMM_TOOLS_CHECK_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "check.h"

enum { CHECK_PATH = 8192 };

/* Sets options->log, as an absolute path, for programs that change their folder; truncates it, because one run is one report.
 * Returns false, after reporting it, if that fails. */
bool check_log(struct check_options *options, const char *path, FILE *err);

/* The log of a process: the pattern with its number for %p, and % for %%. Returns false if it is too long. */
bool check_log_path(const char *pattern, uint64_t pid, char *path, size_t size);

#endif
