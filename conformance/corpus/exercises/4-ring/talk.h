/* SPDX-License-Identifier: Apache-2.0 */
/* talk.h - numbers between the two processes of exercise 4, over their socket; a part of the task, not of the solution.
 *
 *     talk_tell(s, 100)   --[ 100 ]-->   talk_hear(s, &n, true) -> TALK_HEARD, n == 100
 */
#ifndef EXERCISE_TALK_H
#define EXERCISE_TALK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

enum talk { TALK_HEARD, TALK_NOTHING, TALK_GONE };

/* False when the other side is gone. */
static inline bool talk_tell(int socket, uint64_t number)
{
    ssize_t sent;
    do
        sent = send(socket, &number, sizeof number, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof number;
}

/* The next number; without wait TALK_NOTHING if none has arrived yet. */
static inline enum talk talk_hear(int socket, uint64_t *number, bool wait)
{
    ssize_t got;
    do
        got = recv(socket, number, sizeof *number, wait ? MSG_WAITALL : MSG_DONTWAIT | MSG_PEEK);
    while (got < 0 && errno == EINTR);
    if (!wait && got == (ssize_t)sizeof *number)
        return talk_hear(socket, number, true);
    if (!wait && (got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))))
        return TALK_NOTHING;
    return got == (ssize_t)sizeof *number ? TALK_HEARD : TALK_GONE;
}

#endif
