/* SPDX-License-Identifier: Apache-2.0 */
/* exec_file.h - files that this process and the program map. */
#ifndef CUVMM_TOOLS_EXEC_FILE_H
#define CUVMM_TOOLS_EXEC_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The folders for what a run needs, the best first, NULL behind the last: TMPDIR, or where that names none /dev/shm, since what lies
 * in memory does not wait for a disk that others write to; then /tmp. */
const char *exec_place(unsigned number);

/* Makes one of that many zeros in TMPDIR, or where that names none in the first of the others, all of which have room: a hole in a full file system is a SIGBUS for who maps it. False, with the
 * system's error and nothing made, when it cannot be. */
bool exec_zeros(char *path, size_t path_size, size_t size);

/* The same, mapped; NULL when it cannot be. munmap and unlink end it. */
void *exec_shared(char *path, size_t path_size, size_t size);

#endif
