/* SPDX-License-Identifier: Apache-2.0 */
/* os_write.h - write(2) for output of this library: a failure to write must not end the program.
 *
 *   write to a pipe without readers            SIGPIPE ends the program      here: -1, EPIPE
 *   write beyond what a file may be (ulimit)   SIGXFSZ ends the program      here: -1, EFBIG
 *
 * A signal that was already pending belongs to the program, and stays pending.
 */
#ifndef CUVMM_OS_WRITE_H
#define CUVMM_OS_WRITE_H

#include <stdbool.h>
#include <sys/types.h>

/* Can a write to a regular file raise a signal? If not, plain write(2) is used, which costs less. */
bool os_write_is_limited(void);

ssize_t os_write_quietly(int file, const void *bytes, size_t length);

#endif
