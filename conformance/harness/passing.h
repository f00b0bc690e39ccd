/* SPDX-License-Identifier: Apache-2.0 */
/* passing.h - turns between two processes over a pair of sockets, and descriptors (vmm_fd.h with a smaller interface);
 * nothing sleeps, and every call returns when the other side is gone.
 *
 *   passing_send(s, fd)   ---[ vmm_fd   ]---->   passing_receive(s)
 *   passing_go_on(s)      ---[ one byte  ]---->   passing_wait(s)
 */
#ifndef CUVMM_PASSING_H
#define CUVMM_PASSING_H

#include <stdbool.h>

bool passing_pair(int ends[2]);
bool passing_send(int socket, int fd);
/* -1 when none came. */
int passing_receive(int socket);

bool passing_go_on(int socket);
/* False when the other side is gone. */
bool passing_wait(int socket);

#endif
