/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors over UNIX sockets: sending, and the code shared with receiving. All socket calls are non-blocking and only poll
 * waits, so a call ends in time whatever the socket's mode. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "posix.h"

#ifdef MSG_NOSIGNAL
#define SEND_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL)
#else
#define SEND_FLAGS MSG_DONTWAIT
#endif
#ifdef SOCK_CLOEXEC
#define PAIR_FLAGS SOCK_CLOEXEC
#else
#define PAIR_FLAGS 0
#endif

const unsigned char fd_mark[FD_HEAD - 2] = {'v', 'm', 'f', 'd', 1, 0};

/* ---- refusals ---- */

vmm_result fd_argument(vmm_result result, const char *argument, int64_t value, uint64_t expected)
{
    vmm_detail *detail = vmm_detail_here();
    detail->argument = argument;
    detail->value = (uint64_t)value;
    detail->expected = expected;
    return result;
}

vmm_result fd_done(void)
{
    *vmm_detail_here() = (vmm_detail){0};
    return VMM_SUCCESS;
}

vmm_result fd_system_said(const struct fd_job *job, const char *what, int error)
{
    if (error == EINVAL || error == ENOTCONN || error == EDESTADDRREQ)
        return FD_FAIL(job, VMM_ERROR_INVALID_VALUE, "%s: the socket is not connected; connect it, or pass the socket that "
                                                     "accept returned",
                       what);
    return FD_FAIL(job, VMM_ERROR_OPERATING_SYSTEM, "%s: %s", what, strerror(error));
}

vmm_result fd_gone(const struct fd_job *job)
{
    return FD_FAIL(job, VMM_ERROR_NOT_FOUND, "the other side closed its socket or exited; close this one");
}

vmm_result fd_out_of_step(const struct fd_job *job, const char *why, size_t bytes)
{
    shutdown(job->socket, SHUT_RDWR);
    return FD_FAIL(job, VMM_ERROR_ILLEGAL_STATE, "%s (after %zu bytes of a message); the stream was shut down: close it", why,
                   bytes);
}

/* ---- arguments, time ---- */

static int64_t now(void)
{
    struct timespec t;
    posix.clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Checks that it is a UNIX socket, and determines its type. */
static vmm_result look_at(struct fd_job *job)
{
    union {
        struct sockaddr any;
        struct sockaddr_storage room;
    } name;
    socklen_t size = sizeof job->type, length = sizeof name;
    if (getsockopt(job->socket, SOL_SOCKET, SO_TYPE, &job->type, &size))
        return FD_FAIL(job, VMM_ERROR_INVALID_VALUE, "%s; pass a UNIX socket",
                       errno == ENOTSOCK ? "the descriptor is not a socket" : "the descriptor is not open");
    /* analysers: clang-analyzer-core.UndefinedBinaryOperatorResult is wrong: getsockname has written the family */
    if (getsockname(job->socket, &name.any, &length) || name.any.sa_family != AF_UNIX)
        return FD_FAIL(job, VMM_ERROR_INVALID_VALUE, "not a UNIX socket (AF_UNIX); others cannot carry descriptors");
    return VMM_SUCCESS;
}

vmm_result fd_begin(struct fd_job *job, const char *function, int socket, const void *about, size_t size, int timeout_ms)
{
    *job = (struct fd_job){.function = function, .socket = socket, .end = timeout_ms < 0 ? -1 : now() + timeout_ms};
    if (size > VMM_FD_MOST)
        return FD_REFUSE(function, VMM_ERROR_INVALID_VALUE, "size", size, VMM_FD_MOST,
                         "too many bytes for one message; write more of them before or after it");
    if (!about && size)
        return FD_REFUSE(function, VMM_ERROR_INVALID_VALUE, "about", 0, 0, "about is NULL and size is not 0");
    return look_at(job);
}

int fd_wait(const struct fd_job *job, short events)
{
    for (;;) {
        struct pollfd one = {.fd = job->socket, .events = events};
        int64_t left = job->end < 0 ? -1 : job->end - now();
        if (job->end >= 0 && left <= 0)
            return 0;
        int ready = posix.poll(&one, 1, (int)left); /* at most the original timeout_ms */
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready;
    }
}

bool fd_would_block(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK; /* LCOV_EXCL_BR_LINE: Linux has one number for both, some systems two */
}

/* ---- sending ---- */

union one_descriptor {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr head;
};

/* Sends some of the remaining bytes; the descriptor goes with the first of them. */
static ssize_t send_some(int socket, unsigned char *bytes, size_t count, const int *fd)
{
    struct iovec io = {bytes, count};
    struct msghdr message;
    union one_descriptor control;
    memset(&message, 0, sizeof message);
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    if (fd) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.room;
        message.msg_controllen = sizeof control.room;
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof *fd);
        memcpy(CMSG_DATA(&control.head), fd, sizeof *fd);
    }
    return posix.sendmsg(socket, &message, SEND_FLAGS);
}

static vmm_result send_failed(const struct fd_job *job, int error, size_t sent)
{
    if (error == EPIPE || error == ECONNRESET || error == ECONNREFUSED)
        return fd_gone(job);
    return sent ? fd_out_of_step(job, strerror(error), sent) : fd_system_said(job, "sendmsg", error);
}

/* Waits for room, or for the end of the connection. */
static vmm_result wait_for_room(const struct fd_job *job, size_t sent)
{
    int ready = fd_wait(job, POLLOUT);
    if (ready > 0)
        return VMM_SUCCESS;
    if (ready < 0)
        return send_failed(job, errno, sent);
    return sent ? fd_out_of_step(job, "time was up", sent)
                : FD_FAIL(job, VMM_ERROR_NOT_READY, "the socket had no room before the timeout; nothing was sent; try again");
}

static vmm_result send_all(const struct fd_job *job, unsigned char *bytes, size_t count, int fd)
{
    size_t sent = 0;
    vmm_result result = VMM_SUCCESS;
    while (sent < count && result == VMM_SUCCESS) {
        ssize_t n = send_some(job->socket, bytes + sent, count - sent, sent ? NULL : &fd);
        if (n >= 0)
            sent += (size_t)n;
        else if (fd_would_block(errno))
            result = wait_for_room(job, sent);
        else if (errno != EINTR)
            result = send_failed(job, errno, sent);
    }
    return result == VMM_SUCCESS ? fd_done() : result;
}

vmm_result vmm_fd_send(int socket, int fd, const void *about, size_t size, int timeout_ms)
{
    struct fd_job job;
    unsigned char bytes[FD_WHOLE];
    vmm_result result = fd_begin(&job, "vmm_fd_send", socket, about, size, timeout_ms);
    if (result != VMM_SUCCESS)
        return result;
    if (posix.fcntl(fd, F_GETFD) < 0)
        return FD_REFUSE("vmm_fd_send", VMM_ERROR_INVALID_VALUE, "fd", fd, 0,
                         "the descriptor is not open; close it after sending, not before");
#ifdef SO_NOSIGPIPE
    setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
    memcpy(bytes, fd_mark, sizeof fd_mark);
    bytes[sizeof fd_mark] = (unsigned char)(size & 0xff);
    bytes[sizeof fd_mark + 1] = (unsigned char)(size >> 8);
    if (size)
        memcpy(bytes + FD_HEAD, about, size);
    return send_all(&job, bytes, FD_HEAD + size, fd);
}

/* ---- a pair ---- */

vmm_result vmm_fd_pair(int ends[2])
{
    int made[2];
    if (!ends)
        return FD_REFUSE("vmm_fd_pair", VMM_ERROR_INVALID_VALUE, "ends", 0, 0, "ends is NULL: pass an array for two sockets");
    if (posix.socketpair(AF_UNIX, SOCK_STREAM | PAIR_FLAGS, 0, made))
        return vmm_detail_fail(VMM_ERROR_OPERATING_SYSTEM, "vmm_fd_pair", "socketpair: %s", strerror(errno));
#ifndef SOCK_CLOEXEC
    posix.fcntl(made[0], F_SETFD, FD_CLOEXEC);
    posix.fcntl(made[1], F_SETFD, FD_CLOEXEC);
#endif
    ends[0] = made[0];
    ends[1] = made[1];
    return fd_done();
}
