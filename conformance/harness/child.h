/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - for tests: a process of its own, and a line to it.
 *
 *   this process   [ socket ]<------ passing.h ------>[ socket ]   the child
 */
#ifndef CUVMM_CHILD_H
#define CUVMM_CHILD_H

#include <sys/types.h>

/* Begins a child, in which it returns 0. *socket is the end of whoever it returns to; nobody keeps the other's. seconds: after
 * these the child is ended by a signal, so that no test waits for it for ever; 0: it is not. Where there can be no child the test
 * bails out. */
pid_t child_begin(int *socket, unsigned seconds);

#endif
