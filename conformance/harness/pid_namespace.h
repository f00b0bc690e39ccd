/* SPDX-License-Identifier: Apache-2.0 */
/* pid_namespace.h - for tests: process 1 of a PID namespace of its own, and a line to it.
 *
 *   this process [ socket ] ------- passing.h ------- [ socket ] process 1
 *        |                                                |
 *        +--- fork ---> parent, which waits <--- fork ----+
 */
#ifndef CUVMM_PID_NAMESPACE_H
#define CUVMM_PID_NAMESPACE_H

#include <sys/types.h>

/* Returns 0 in process 1, which ends when its parent does: after a minute at the latest. Here it returns the parent, whose exit
 * status is that of process 1, or 128 and a signal's number; *first is process 1, as this process may signal it, and 0 where no
 * namespace can be made. */
pid_t pid_namespace_begin(int *socket, pid_t *first);

#endif
