/* SPDX-License-Identifier: Apache-2.0 */
/* pid_namespace.h - for tests: process 1 of a new PID namespace, and a socket to it.
 *
 *   this process [ socket ] ------- passing.h ------- [ socket ] process 1
 *        |                                                |
 *        +--- fork ---> parent, which waits <--- fork ----+
 */
#ifndef CUVMM_PID_NAMESPACE_H
#define CUVMM_PID_NAMESPACE_H

#include <sys/types.h>

/* Returns 0 in process 1, which ends with its parent, after a minute at the latest. In the caller it returns the
 * parent's pid; the parent's exit status is that of process 1, or 128 plus a signal's number. *first is the pid for
 * signals to process 1, and 0 where no namespace can be made. */
pid_t pid_namespace_begin(int *socket, pid_t *first);

#endif
