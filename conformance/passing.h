/* passing.h - turns between two processes over a pair of sockets (vmm_fd_pair); nothing sleeps, everything ends when the
 * other side is gone. Descriptors go over them as well: vmm_fd.h.
 *
 *   passing_go_on(s)      ---[ one byte  ]---->   passing_wait(s)
 */
#ifndef CUVMM_PASSING_H
#define CUVMM_PASSING_H

#include <stdbool.h>

bool passing_go_on(int socket);
/* False when the other side is gone. */
bool passing_wait(int socket);

#endif
