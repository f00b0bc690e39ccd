/* SPDX-License-Identifier: Apache-2.0 */
/* The same code over system calls that fail, do part of the work and are interrupted as the test demands, and on a system that
 * cannot receive descriptors as close-on-exec. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "fd_rig.h"
#include "posix.h"

/* The faults to inject. */
static struct {
    size_t most;        /* the most bytes that one call moves; 0: no limit */
    bool often;         /* every second call is interrupted */
    size_t good_bytes;  /* bytes sent or received before the failure */
    int send, receive;  /* the injected error; 0: none */
    int poll, pair;     /* the injected error; -1: the deadline passes */
    bool lose;          /* the descriptor does not arrive */
    bool boast;         /* a control message claims to be longer than it is */
    bool foreign;       /* the control message belongs to another protocol */
    bool empty;         /* the control message is empty */
    bool more;          /* some of the descriptors were dropped */
    int fcntl;          /* the error of duplicating a descriptor */
    bool nameless;      /* the socket's address is unavailable */
    unsigned calls, polls;
    size_t moved;
} bad;

static int fails(int error)
{
    if (bad.often && bad.calls++ % 2 == 0)
        errno = EINTR;
    else if (error && bad.moved >= bad.good_bytes)
        errno = error;
    else
        return 0;
    return -1;
}

static size_t at_most(size_t count)
{
    return bad.most && count > bad.most ? bad.most : count;
}

static ssize_t bad_sendmsg(int socket, const struct msghdr *message, int flags)
{
    struct msghdr less = *message;
    struct iovec io = *message->msg_iov;
    if (fails(bad.send))
        return -1;
    io.iov_len = at_most(io.iov_len);
    less.msg_iov = &io;
    ssize_t n = sendmsg(socket, &less, flags);
    bad.moved += n > 0 ? (size_t)n : 0;
    return n;
}

/* Behaves like a system at its limit of descriptors, or one that reports the length that was sent, not the one that fitted. */
static void spoil(struct msghdr *message)
{
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    if (head && (bad.lose || bad.foreign || bad.empty)) {
        int fd;
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
        close(fd);
    }
    if (head && bad.foreign)
        head->cmsg_level = SOL_SOCKET + 1;
    if (head && bad.empty)
        head->cmsg_len = CMSG_LEN(0);
    if (head && bad.more)
        message->msg_flags |= MSG_CTRUNC;
    if (head && bad.lose) {
        message->msg_controllen = 0;
        message->msg_flags |= MSG_CTRUNC;
    } else if (head && bad.boast) {
        message->msg_controllen = CMSG_LEN(sizeof(int));
        head->cmsg_len = CMSG_LEN(40 * sizeof(int));
        message->msg_flags |= MSG_CTRUNC;
    }
}

static ssize_t bad_recvmsg(int socket, struct msghdr *message, int flags)
{
    size_t whole = message->msg_iov->iov_len;
    if (fails(bad.receive))
        return -1;
    message->msg_iov->iov_len = at_most(whole);
    ssize_t n = recvmsg(socket, message, flags);
    message->msg_iov->iov_len = whole;
    bad.moved += n > 0 ? (size_t)n : 0;
    spoil(message);
    return n;
}

static int bad_poll(struct pollfd *one, nfds_t count, int timeout)
{
    bad.polls++;
    if (bad.often && bad.calls++ % 2 == 0)
        errno = EINTR;
    else if (bad.poll > 0)
        errno = bad.poll;
    else
        return bad.poll < 0 ? 0 : poll(one, count, timeout);
    return -1;
}

static int bad_socketpair(int domain, int type, int protocol, int ends[2])
{
    errno = bad.pair;
    return bad.pair ? -1 : socketpair(domain, type, protocol, ends);
}

/* The command takes one more argument, a number. */
static int bad_fcntl(int fd, int what, ...)
{
    va_list list;
    va_start(list, what);
    int with = what == F_GETFD ? 0 : va_arg(list, int);
    va_end(list);
    errno = bad.fcntl;
    return bad.fcntl && what == F_DUPFD_CLOEXEC ? -1 : fcntl(fd, what, with);
}

static int bad_getsockname(int socket, struct sockaddr *name, socklen_t *length)
{
    errno = ENOBUFS;
    return bad.nameless ? -1 : getsockname(socket, name, length);
}

static struct posix faulty; /* the system's functions, except for the injected ones */

static void begin_faults(void)
{
    faulty = posix;
    faulty.sendmsg = bad_sendmsg;
    faulty.recvmsg = bad_recvmsg;
    faulty.poll = bad_poll;
    faulty.socketpair = bad_socketpair;
    faulty.fcntl = bad_fcntl;
}

#define CUVMM_FD_PLAIN
#define posix faulty
#define getsockname bad_getsockname
#include "fd.c"
#include "fd_receive.c"
#undef posix
#undef getsockname

#define BAD(...) memset(&bad, 0, sizeof bad), bad = (__typeof__(bad)){__VA_ARGS__}

static void all_is_well(void)
{
    int ends[2], fd = -1;
    BAD(.pair = 0);
    tap_result(vmm_fd_pair(ends), VMM_SUCCESS, "a pair");
    tap_result(vmm_fd_send(ends[0], 0, "abc", 3, RIG_SOON), VMM_SUCCESS, "a message is sent without faults");
    char got[3];
    tap_result(vmm_fd_receive(ends[1], &fd, got, 3, RIG_SOON), VMM_SUCCESS, "the message is received");
    tap_ok(fcntl(fd, F_GETFD) == FD_CLOEXEC, "the descriptor is close-on-exec, even if the system cannot do that on receipt");
    close(fd);
    rig_close(ends);
    BAD(.pair = EMFILE);
    ends[0] = ends[1] = -7;
    tap_result(vmm_fd_pair(ends), VMM_ERROR_OPERATING_SYSTEM, "no pair");
    tap_ok(ends[0] == -7 && ends[1] == -7 && strstr(vmm_last_detail()->note, strerror(EMFILE)), "the note has the reason: %s",
           vmm_last_detail()->note);
}

/* Pieces of every size, with every second call interrupted: one descriptor and the same bytes arrive. */
static void in_pieces(void)
{
    char sent[50], got[50];
    memset(sent, 'p', sizeof sent);
    for (size_t most = 1; most <= FD_HEAD + sizeof sent; most++) {
        int ends[2], fd = -1;
        unsigned before = rig_open_now();
        rig_pair(SOCK_STREAM, ends);
        BAD(.most = most, .often = true);
        bool ok = vmm_fd_send(ends[0], 1, sent, sizeof sent, RIG_SOON) == VMM_SUCCESS;
        memset(got, 0, sizeof got);
        ok = ok && vmm_fd_receive(ends[1], &fd, got, sizeof got, RIG_SOON) == VMM_SUCCESS && !memcmp(sent, got, sizeof got) &&
             rig_same_file(fd, 1);
        close(fd);
        BAD(.often = true);
        ok = ok && vmm_fd_receive(ends[1], &fd, got, sizeof got, 3) == VMM_ERROR_NOT_READY; /* no bytes are left over */
        rig_close(ends);
        tap_ok(ok && rig_open_now() == before, "in pieces of %zu bytes, interrupted", most);
    }
}

static void send_is(vmm_result want, const char *says, bool shut, const char *name)
{
    char bytes[FD_WHOLE];
    int ends[2], file[2];
    unsigned before = rig_open_now();
    rig_pair(SOCK_STREAM, ends);
    rig_pipe(file);
    tap_result(vmm_fd_send(ends[0], file[1], "abcdefgh", 8, 50), want, "sending: %s", name);
    tap_ok(strstr(vmm_last_detail()->note, says) && !strcmp(vmm_last_detail()->function, "vmm_fd_send"), "sending: %s: said: %s",
           name,
           vmm_last_detail()->note);
    tap_ok(fcntl(file[1], F_GETFD) >= 0, "sending: %s: the sender keeps its descriptor", name);
    ssize_t left = recv(ends[1], bytes, sizeof bytes, MSG_DONTWAIT);
    tap_ok(left == (ssize_t)(bad.moved ? bad.moved : (size_t)-1), "sending: %s: the socket has the %zu bytes that were moved",
           name,
           bad.moved);
    tap_ok((recv(ends[1], bytes, 1, MSG_DONTWAIT) == 0) == shut, "sending: %s: the stream is %s", name,
           shut ? "shut down" : "unchanged");
    close(file[1]);
    tap_ok(rig_nobody_writes(file[0]), "sending: %s: the descriptor was not passed on", name);
    close(file[0]);
    rig_close(ends);
    tap_u64(rig_open_now(), before, "sending: %s: no descriptor leaks", name);
}

static void sending_fails(void)
{
    BAD(.send = ENOBUFS);
    send_is(VMM_ERROR_OPERATING_SYSTEM, strerror(ENOBUFS), false, "no buffers");
    BAD(.send = ETOOMANYREFS);
    send_is(VMM_ERROR_OPERATING_SYSTEM, strerror(ETOOMANYREFS), false, "too many descriptors on their way");
    BAD(.nameless = true);
    send_is(VMM_ERROR_INVALID_VALUE, "not a UNIX socket", false, "a socket that does not say what it is");
    BAD(.send = ENOTCONN);
    send_is(VMM_ERROR_INVALID_VALUE, "not connected", false, "no connection");
    BAD(.send = EDESTADDRREQ);
    send_is(VMM_ERROR_INVALID_VALUE, "not connected", false, "datagrams without an address");
    BAD(.send = ECONNRESET);
    send_is(VMM_ERROR_NOT_FOUND, "other side", false, "a reset");
    BAD(.send = EAGAIN, .poll = -1);
    send_is(VMM_ERROR_NOT_READY, "nothing was sent", false, "never any room");
    tap_ok(bad.polls > 0, "the call waited for the socket");
    BAD(.send = EAGAIN, .poll = ENOMEM);
    send_is(VMM_ERROR_OPERATING_SYSTEM, strerror(ENOMEM), false, "it cannot be waited for");
    for (size_t some = 1; some < FD_HEAD + 8; some += 4) {
        BAD(.most = some, .good_bytes = some, .send = EAGAIN, .poll = -1);
        send_is(VMM_ERROR_ILLEGAL_STATE, "time was up", true, "no room for the rest");
        BAD(.most = some, .good_bytes = some, .send = EIO);
        send_is(VMM_ERROR_ILLEGAL_STATE, strerror(EIO), true, "an error before the rest");
        BAD(.most = some, .good_bytes = some, .send = EPIPE);
        send_is(VMM_ERROR_NOT_FOUND, "other side", false, "an end before the rest");
    }
}

/* A whole message has arrived, and receiving it fails. */
static void receive_is(int type, vmm_result want, const char *says, const char *name)
{
    int ends[2], file[2];
    rig_pair(type, ends);
    rig_pipe(file);
    unsigned char bytes[FD_WHOLE];
    rig_send(ends[0], bytes, rig_message(bytes, "abcdefgh", 8), file[1], 1);
    close(file[1]);
    rig_refused(ends[1], 8, 50, want, says, name);
    close(ends[1]);
    tap_ok(rig_nobody_writes(file[0]), "receiving: %s: no copy of the descriptor is left", name);
    close(ends[0]);
    close(file[0]);
}

static void receiving_fails(void)
{
    BAD(.receive = EIO);
    receive_is(SOCK_STREAM, VMM_ERROR_OPERATING_SYSTEM, strerror(EIO), "an error");
    BAD(.receive = ECONNRESET);
    receive_is(SOCK_SEQPACKET, VMM_ERROR_NOT_FOUND, "other side", "a reset");
    BAD(.receive = EAGAIN, .poll = -1);
    receive_is(SOCK_DGRAM, VMM_ERROR_NOT_READY, "no message", "never a message");
    BAD(.receive = EAGAIN, .poll = ENOMEM);
    receive_is(SOCK_STREAM, VMM_ERROR_OPERATING_SYSTEM, strerror(ENOMEM), "it cannot be waited for");
    for (size_t some = 1; some < FD_HEAD + 8; some += 4) {
        BAD(.most = 1, .good_bytes = some, .receive = EIO);
        receive_is(SOCK_STREAM, VMM_ERROR_ILLEGAL_STATE, strerror(EIO), "an error inside");
        BAD(.most = 1, .good_bytes = some, .receive = ECONNRESET);
        receive_is(SOCK_STREAM, VMM_ERROR_ILLEGAL_STATE, "shut down", "a reset inside");
        BAD(.most = 1, .good_bytes = some, .receive = EAGAIN, .poll = -1);
        receive_is(SOCK_STREAM, VMM_ERROR_ILLEGAL_STATE, "time was up", "never the rest");
        BAD(.most = 1, .good_bytes = some, .receive = EAGAIN, .poll = ENOMEM);
        receive_is(SOCK_STREAM, VMM_ERROR_ILLEGAL_STATE, strerror(ENOMEM), "the rest cannot be waited for");
    }
    for (int type = 0; type < 2; type++) {
        BAD(.lose = true);
        receive_is(type ? SOCK_STREAM : SOCK_DGRAM, VMM_ERROR_OPERATING_SYSTEM, "the system refused it", "a descriptor withheld");
        BAD(.boast = true);
        receive_is(type ? SOCK_STREAM : SOCK_DGRAM, VMM_ERROR_OPERATING_SYSTEM, "the system refused it",
                   "fewer descriptors than the message claims");
        BAD(.lose = true, .fcntl = EMFILE);
        receive_is(type ? SOCK_STREAM : SOCK_DGRAM, VMM_ERROR_OPERATING_SYSTEM, "RLIMIT_NOFILE", "this process's limit");
        BAD(.lose = true, .fcntl = ENFILE);
        receive_is(type ? SOCK_STREAM : SOCK_DGRAM, VMM_ERROR_OPERATING_SYSTEM, strerror(ENFILE), "the system's limit");
        BAD(.foreign = true);
        receive_is(type ? SOCK_STREAM : SOCK_DGRAM, VMM_ERROR_INVALID_HANDLE, "0 descriptors", "another protocol's message");
        BAD(.empty = true);
        receive_is(type ? SOCK_STREAM : SOCK_DGRAM, VMM_ERROR_INVALID_HANDLE, "0 descriptors", "an empty control message");
    }
}

/* More descriptors than a message may have: those that arrived are closed. */
static void too_many(void)
{
    unsigned char bytes[FD_WHOLE];
    int ends[2], file[2];
    size_t length = rig_message(bytes, "abcdefgh", 8);
    rig_pair(SOCK_STREAM, ends);
    rig_pipe(file);
    BAD(.more = true);
    rig_send(ends[0], bytes, length, file[1], 2);
    rig_refused(ends[1], 8, 50, VMM_ERROR_INVALID_HANDLE, "too many descriptors", "some of many descriptors");
    BAD(.more = true, .fcntl = EMFILE);
    rig_send(ends[0], bytes, length, file[1], 2);
    rig_refused(ends[1], 8, 50, VMM_ERROR_OPERATING_SYSTEM, "RLIMIT_NOFILE", "some of many, at this process's limit");
    close(file[1]);
    tap_ok(rig_nobody_writes(file[0]), "all received descriptors are closed");
    close(file[0]);
    rig_close(ends);
}

/* A record that lost its descriptor and has no bytes is not mistaken for the end of the connection. */
static void nothing_left(void)
{
    int ends[2], file[2];
    rig_pair(SOCK_SEQPACKET, ends);
    rig_pipe(file);
    BAD(.lose = true);
    rig_send(ends[0], "", 0, file[1], 1);
    rig_refused(ends[1], 0, 50, VMM_ERROR_INVALID_HANDLE, "not from vmm_fd_send", "a lost descriptor without a byte");
    BAD(.pair = 0);
    tap_ok(rig_passes(ends, 50), "the next message passes");
    rig_close(file);
    rig_close(ends);
}

int main(void)
{
    alarm(RIG_ALARM);
    begin_faults();
    all_is_well();
    in_pieces();
    sending_fails();
    receiving_fails();
    too_many();
    nothing_left();
    return tap_done();
}
