/* passing.h - descriptors and turns between two processes over a pair of sockets; nothing sleeps, everything ends when the
 * other side is gone.
 *
 *   passing_send(s, fd)   ---[ SCM_RIGHTS ]--->   passing_receive(s)
 *   passing_go_on(s)      ---[ one byte  ]---->   passing_wait(s)
 */
#ifndef CUVMM_PASSING_H
#define CUVMM_PASSING_H

#include <stdbool.h>

/* Two connected sockets, closed by programs that are executed. */
bool passing_pair(int ends[2]);

bool passing_send(int socket, int fd);
/* -1 when there was none. */
int passing_receive(int socket);

bool passing_go_on(int socket);
/* False when the other side is gone. */
bool passing_wait(int socket);

#endif
