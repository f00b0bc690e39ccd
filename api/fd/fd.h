/* SPDX-License-Identifier: Apache-2.0 */
/* fd.h - internals of vmm_fd.h, shared by sending and receiving. A job is one call in progress.
 *
 *   fd_begin   checks arguments and the socket's type, sets the deadline     INVALID_VALUE
 *   fd_wait    polls until the deadline
 *   fd_...     the refusals that both functions share
 */
#ifndef CUVMM_FD_H
#define CUVMM_FD_H

#include <stdbool.h>
#include <string.h>

#include "detail.h"
#include "vmm_fd.h"

enum { FD_HEAD = 8, FD_WHOLE = FD_HEAD + VMM_FD_MOST };

/* The magic bytes of a message; two bytes with its size follow. */
extern const unsigned char fd_mark[FD_HEAD - 2];

struct fd_job {
    const char *function;
    int socket, type;
    int64_t end; /* the deadline in milliseconds of the monotonic clock; -1: none */
};

/* Fills job, or refuses the arguments. */
vmm_result fd_begin(struct fd_job *job, const char *function, int socket, const void *about, size_t size, int timeout_ms);

/* Waits until the socket may be ready, or has ended: 1; 0 at the deadline, -1 with errno. */
int fd_wait(const struct fd_job *job, short events);

bool fd_would_block(int error);

/* Clears the thread's detail. */
vmm_result fd_done(void);

vmm_result fd_gone(const struct fd_job *job);
vmm_result fd_system_said(const struct fd_job *job, const char *what, int error);
/* Refuses after that many bytes inside a message: the start of the next message is unknown, so this shuts the stream down. */
vmm_result fd_out_of_step(const struct fd_job *job, const char *why, size_t bytes);

/* Completes a refusal with the argument that it is about. */
vmm_result fd_argument(vmm_result result, const char *argument, int64_t value, uint64_t expected);

#define FD_REFUSE(function, result, argument, value, expected, ...) \
    (vmm_detail_fail(result, function, __VA_ARGS__), fd_argument(result, argument, (int64_t)(value), expected))

#define FD_FAIL(job, result, ...) FD_REFUSE((job)->function, result, "socket", (job)->socket, 0, __VA_ARGS__)

#endif
