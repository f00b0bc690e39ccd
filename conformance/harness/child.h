/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - for tests: a child process, and a socket to it.
 *
 *   this process   [ socket ]<------ passing.h ------>[ socket ]   the child
 */
#ifndef CUVMM_CHILD_H
#define CUVMM_CHILD_H

#include <sys/types.h>

/* Forks a child, in which it returns 0. *socket is the caller's end of the pair, in parent and child; the other end is
 * closed. seconds: after these a signal ends the child, so that no test waits for ever; 0: no limit. Bails out where
 * fork fails. */
pid_t child_begin(int *socket, unsigned seconds);

#endif
