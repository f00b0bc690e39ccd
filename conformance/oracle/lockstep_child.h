/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_child.h - work in a child process, since a driver can end the process that calls it.
 *
 *   parent: [ share a page ][ wait ........ ][ read the page: calls made, call in progress ]
 *   child:                  [ make calls, note each in the page ... ] dies or returns
 */
#ifndef CUVMM_LOCKSTEP_CHILD_H
#define CUVMM_LOCKSTEP_CHILD_H

#include <stddef.h>

/* Zeroed memory that children share; ends the program if memory is exhausted. It lives until the program ends. */
void *child_share(size_t size);

/* Runs work(user) in a child. Returns 0 when it finished, the number of the signal that ended it, or -1 when it ended
 * otherwise. */
int child_run(void (*work)(void *user), void *user);

#endif
