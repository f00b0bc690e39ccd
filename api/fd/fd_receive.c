/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving: any input is parsed completely and judged only when all of it is there, so that every descriptor that arrives is
 * either returned or closed. */
#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC, POLLRDHUP */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fd.h"
#include "posix.h"

#ifdef CUVMM_FD_PLAIN /* simulates a system without it, for the tests */
#undef MSG_CMSG_CLOEXEC
#endif
#ifdef MSG_CMSG_CLOEXEC
#define RECEIVE_FLAGS (MSG_DONTWAIT | MSG_CMSG_CLOEXEC)
#else
#define RECEIVE_FLAGS MSG_DONTWAIT
#define CLOSE_ON_EXEC_AFTERWARDS
#endif
#ifdef POLLRDHUP
#define POLL_ENDED (POLLHUP | POLLRDHUP)
#else
#define POLL_ENDED POLLHUP
#endif
#if defined(__linux__) && !defined(SCM_PIDFD)
#define SCM_PIDFD 4
#endif

enum { DESCRIPTORS = 253 }; /* the most descriptors that Linux allows in one message */

/* What has been received so far. */
struct parcel {
    unsigned char bytes[FD_WHOLE];
    size_t length;
    int fd;       /* the first descriptor, or -1; later ones are closed at once */
    unsigned fds; /* how many have arrived */
    bool lost;    /* some descriptors could not be received */
    bool cut;     /* more bytes arrived than fit */
};

union many_descriptors {
    /* with room for other control messages that the receiver may have enabled */
    char room[CMSG_SPACE(DESCRIPTORS * sizeof(int)) + 512];
    struct cmsghdr align;
};

/* Takes over one more descriptor: keeps the first, and closes others. */
static void take_descriptor(struct parcel *parcel, int fd)
{
#ifdef CLOSE_ON_EXEC_AFTERWARDS
    posix.fcntl(fd, F_SETFD, FD_CLOEXEC);
#endif
    if (parcel->fds++ == 0)
        parcel->fd = fd;
    else
        close(fd);
}

/* Takes the descriptors of a control message, whose length field may be too large. */
static void take_header(struct parcel *parcel, struct msghdr *message, struct cmsghdr *head)
{
    const unsigned char *data = CMSG_DATA(head);
    size_t there = (size_t)((const unsigned char *)message->msg_control + message->msg_controllen - data);
    size_t size = head->cmsg_len - CMSG_LEN(0) < there ? head->cmsg_len - CMSG_LEN(0) : there;
    for (int fd; size >= sizeof fd; size -= sizeof fd, data += sizeof fd) {
        memcpy(&fd, data, sizeof fd);
        if (head->cmsg_type == SCM_RIGHTS)
            take_descriptor(parcel, fd);
        else
            close(fd); /* a pidfd of the sender: the receiver enabled it and gets it with every message */
    }
}

static bool carries_descriptors(const struct cmsghdr *head)
{
#ifdef SCM_PIDFD
    if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_PIDFD)
        return true;
#endif
    return head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS;
}

/* Receives up to count more bytes, with recvmsg's result; takes over any descriptors that come with them. */
static ssize_t receive_some(int socket, struct parcel *parcel, size_t count)
{
    struct iovec io = {parcel->bytes + parcel->length, count};
    struct msghdr message;
    union many_descriptors control;
    memset(&message, 0, sizeof message);
    memset(&control, 0, sizeof control);
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    ssize_t n = posix.recvmsg(socket, &message, RECEIVE_FLAGS);
    if (n < 0)
        return n;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head))
        if (carries_descriptors(head) && head->cmsg_len > CMSG_LEN(0))
            take_header(parcel, &message, head);
    parcel->lost = parcel->lost || (message.msg_flags & MSG_CTRUNC);
    parcel->cut = (message.msg_flags & MSG_TRUNC) != 0; /* only for records, which arrive as a whole */
    parcel->length += (size_t)n;
    return n;
}

static vmm_result receive_failed(const struct fd_job *job, int error, size_t taken)
{
    if (taken)
        return fd_out_of_step(job, strerror(error), taken);
    return error == ECONNRESET ? fd_gone(job) : fd_system_said(job, "recvmsg", error);
}

/* Waits before receiving. *count is 0 at the end, and for a message without bytes. */
static vmm_result receive_wait(const struct fd_job *job, struct parcel *parcel, size_t most, size_t *count)
{
    for (;;) {
        ssize_t n = receive_some(job->socket, parcel, most);
        *count = n < 0 ? 0 : (size_t)n;
        if (n >= 0)
            return VMM_SUCCESS;
        if (errno == EINTR)
            continue;
        if (!fd_would_block(errno))
            return receive_failed(job, errno, parcel->length);
        int ready = fd_wait(job, POLLIN);
        if (ready < 0)
            return receive_failed(job, errno, parcel->length);
        if (ready == 0)
            return parcel->length ? fd_out_of_step(job, "time was up", parcel->length)
                                  : FD_FAIL(job, VMM_ERROR_NOT_READY, "no message arrived before the timeout; try again, or "
                                                                      "wait longer");
    }
}

/* Receives a stream's bytes up to length, and none of the next message. */
static vmm_result receive_until(const struct fd_job *job, struct parcel *parcel, size_t length)
{
    while (parcel->length < length) {
        size_t count;
        vmm_result result = receive_wait(job, parcel, length - parcel->length, &count);
        if (result != VMM_SUCCESS)
            return result;
        if (!count)
            return parcel->length ? fd_out_of_step(job, "the other side closed its socket", parcel->length) : fd_gone(job);
    }
    return VMM_SUCCESS;
}

static size_t announced(const struct parcel *parcel)
{
    return (size_t)parcel->bytes[sizeof fd_mark] | (size_t)parcel->bytes[sizeof fd_mark + 1] << 8;
}

static bool is_ours(const struct parcel *parcel)
{
    return parcel->length >= FD_HEAD && !memcmp(parcel->bytes, fd_mark, sizeof fd_mark) && announced(parcel) <= VMM_FD_MOST;
}

static vmm_result receive_stream(const struct fd_job *job, struct parcel *parcel)
{
    vmm_result result = receive_until(job, parcel, FD_HEAD);
    if (result == VMM_SUCCESS && !is_ours(parcel))
        result = fd_out_of_step(job, "the message is not from vmm_fd_send, or from another version of it", FD_HEAD);
    return result == VMM_SUCCESS ? receive_until(job, parcel, FD_HEAD + announced(parcel)) : result;
}

/* The end of the connection looks like a message without bytes. */
static bool has_ended(const struct fd_job *job)
{
    struct pollfd one = {.fd = job->socket, .events = POLLIN | (POLL_ENDED & ~POLLHUP)};
    return posix.poll(&one, 1, 0) == 1 && (one.revents & POLL_ENDED);
}

static vmm_result receive_record(const struct fd_job *job, struct parcel *parcel)
{
    size_t count;
    vmm_result result = receive_wait(job, parcel, FD_WHOLE, &count);
    if (result == VMM_SUCCESS && !count && !parcel->fds && !parcel->lost && has_ended(job))
        result = fd_gone(job);
    return result;
}

/* Determines why descriptors were lost: this process's limit, or too many in the message. */
static vmm_result descriptors_lost(const struct fd_job *job, const struct parcel *parcel)
{
    int probe = posix.fcntl(job->socket, F_DUPFD_CLOEXEC, 0), error = probe < 0 ? errno : 0;
    const char *why = error ? strerror(error) : "the system refused it";
    if (probe >= 0)
        close(probe);
    if (!error && parcel->fds > 1)
        return FD_FAIL(job, VMM_ERROR_INVALID_HANDLE, "too many descriptors in one message; all were closed");
    if (error == EMFILE)
        why = "the limit RLIMIT_NOFILE is reached: close some, or raise it";
    return FD_FAIL(job, VMM_ERROR_OPERATING_SYSTEM,
                   "the message's descriptor could not be received (%s); the message is lost, so send it again", why);
}

/* Checks that a whole message is one descriptor with size bytes. */
static vmm_result judge(const struct fd_job *job, const struct parcel *parcel, size_t size)
{
    if (!is_ours(parcel) || parcel->cut || parcel->length != FD_HEAD + announced(parcel))
        return FD_FAIL(job, VMM_ERROR_INVALID_HANDLE, "the message is not from vmm_fd_send, or from another version of it; "
                                                      "discarded");
    if (parcel->lost)
        return descriptors_lost(job, parcel);
    if (parcel->fds != 1)
        return FD_FAIL(job, VMM_ERROR_INVALID_HANDLE, "received %u descriptors instead of one; the message was discarded",
                       parcel->fds);
    if (announced(parcel) != size)
        return FD_REFUSE(job->function, VMM_ERROR_INVALID_HANDLE, "size", size, announced(parcel),
                         "%zu bytes came with the descriptor instead of %zu; the message was discarded: check that both sides "
                         "agree on the size",
                         announced(parcel), size);
    return VMM_SUCCESS;
}

vmm_result vmm_fd_receive(int socket, int *fd, void *about, size_t size, int timeout_ms)
{
    struct fd_job job;
    struct parcel parcel = {.fd = -1};
    vmm_result result = fd_begin(&job, "vmm_fd_receive", socket, about, size, timeout_ms);
    if (result == VMM_SUCCESS && !fd)
        result = FD_REFUSE("vmm_fd_receive", VMM_ERROR_INVALID_VALUE, "fd", 0, 0,
                           "fd is NULL: pass the address of an int for the descriptor");
    if (result != VMM_SUCCESS)
        return result;
    result = job.type == SOCK_STREAM ? receive_stream(&job, &parcel) : receive_record(&job, &parcel);
    if (result == VMM_SUCCESS)
        result = judge(&job, &parcel, size);
    if (result != VMM_SUCCESS) {
        if (parcel.fd >= 0)
            close(parcel.fd);
        return result;
    }
    if (size)
        memcpy(about, parcel.bytes + FD_HEAD, size);
    *fd = parcel.fd;
    return fd_done();
}
