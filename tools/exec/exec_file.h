/* SPDX-License-Identifier: Apache-2.0 */
/* exec_file.h - files that this process and the program map, in TMPDIR or /tmp. */
#ifndef CUVMM_TOOLS_EXEC_FILE_H
#define CUVMM_TOOLS_EXEC_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Makes one of that many zeros, all of which have room: a hole in a full file system is a SIGBUS for who maps it. False, with the
 * system's error and nothing made, when it cannot be. */
bool exec_zeros(char *path, size_t path_size, size_t size);

/* The same, mapped; NULL when it cannot be. munmap and unlink end it. */
void *exec_shared(char *path, size_t path_size, size_t size);

#endif
