/* SPDX-License-Identifier: Apache-2.0 */
/* path_pattern.h - the name of a process's own file.
 *
 *     "t.%p.jsonl" in process 4711     ->   "t.4711.jsonl"
 *     "100%%.jsonl"                    ->   "100%.jsonl"
 *     "t.%h"                           ->   refused: %p and %% are all there is
 */
#ifndef CUVMM_PATH_PATTERN_H
#define CUVMM_PATH_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

enum { PATH_PATTERN = 4096 };

/* Does each process get its own file? */
bool path_pattern_is_own(const char *pattern);

/* Returns NULL, or a text in `why` that states what is wrong with the pattern. */
const char *path_pattern_wrong(const char *pattern, char *why, size_t size);

/* Writes the name of the file of the process with that number. Returns false if the name does not fit into path. The pattern is
 * right. */
bool path_pattern(const char *pattern, long process, char *path, size_t size);

#endif
