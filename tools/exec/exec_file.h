/* SPDX-License-Identifier: Apache-2.0 */
/* exec_file.h - files that this process and the program map. */
#ifndef CUVMM_TOOLS_EXEC_FILE_H
#define CUVMM_TOOLS_EXEC_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The folders for a run's files, the best first, with NULL after the last: TMPDIR or, if that is unset, /dev/shm, because
 * files in memory do not wait for a busy disk; then /tmp. */
const char *exec_place(unsigned number);

/* Creates a file of that many zeros in TMPDIR or, if that is unset, in the first of the others with enough space: a hole in a
 * full file system would be a SIGBUS for a process that maps it. Returns false, with the system's error and no file
 * left, on failure. */
bool exec_zeros(char *path, size_t path_size, size_t size);

/* The same, mapped; NULL on failure. munmap and unlink end it. */
void *exec_shared(char *path, size_t path_size, size_t size);

#endif
