/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors over sockets of every type: which messages pass, which are refused, with which text, and that no descriptor
 * leaks. */
#define _GNU_SOURCE /* ucred, SO_PASSCRED */
#include "fd_rig.h"

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

static const struct {
    int type;
    const char *name;
} kinds[] = {{SOCK_STREAM, "stream"}, {SOCK_SEQPACKET, "seqpacket"}, {SOCK_DGRAM, "dgram"}};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int64_t milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Lowers the limit to the number of open descriptors; *old is the previous limit. False if a tool makes the limit ineffective. */
static bool no_more_descriptors(struct rlimit *old)
{
    int lowest = dup(0), more[2];
    struct rlimit few;
    getrlimit(RLIMIT_NOFILE, old);
    few = *old;
    few.rlim_cur = (rlim_t)lowest;
    close(lowest);
    setrlimit(RLIMIT_NOFILE, &few);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, more))
        return true;
    rig_close(more);
    setrlimit(RLIMIT_NOFILE, old);
    tap_skip("a tool makes the limit of descriptors ineffective", "refusals at the limit of descriptors");
    return false;
}

/* ---- valid messages ---- */

static void whole(const int ends[2], const char *kind, size_t size)
{
    unsigned char sent[VMM_FD_MOST], got[VMM_FD_MOST];
    int file[2], fd = -1;
    unsigned before = rig_open_now();
    rig_pipe(file);
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (unsigned char)(i * 7 + size);
    memset(got, 0xee, sizeof got);
    tap_result(vmm_fd_send(ends[0], file[1], size ? sent : NULL, size, RIG_SOON), VMM_SUCCESS, "%s: %zu bytes are sent", kind,
               size);
    tap_ok(fcntl(file[1], F_GETFD) >= 0, "%s: the sender's descriptor stays open", kind);
    close(file[1]);
    tap_ok(!rig_nobody_writes(file[0]), "%s: the message holds the descriptor", kind);
    vmm_fd_receive(-1, &fd, NULL, 0, 0); /* sets a detail, which must be cleared */
    tap_result(vmm_fd_receive(ends[1], &fd, size ? got : NULL, size, RIG_SOON), VMM_SUCCESS, "%s: and received", kind);
    tap_ok(vmm_last_detail()->severity == VMM_SEVERITY_NONE && !vmm_last_detail()->note[0], "%s: success leaves no detail", kind);
    tap_ok(!memcmp(sent, got, size) && (size == sizeof got || got[size] == 0xee), "%s: exactly the sent bytes arrive",
           kind);
    tap_ok(fcntl(fd, F_GETFD) == FD_CLOEXEC, "%s: the received descriptor is close-on-exec", kind);
    tap_ok(write(fd, "x", 1) == 1 && read(file[0], got, 1) == 1 && got[0] == 'x', "%s: it refers to the same open file", kind);
    close(fd);
    tap_ok(rig_nobody_writes(file[0]), "%s: no other descriptor of it is left", kind);
    close(file[0]);
    tap_u64(rig_open_now(), before, "%s: no descriptor leaks", kind);
}

static void in_turn(const int ends[2], const char *kind)
{
    bool right = true;
    for (uint64_t i = 0; i < 3; i++)
        right = right && vmm_fd_send(ends[1], (int)i, &i, 1 + i, RIG_SOON) == VMM_SUCCESS;
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t got = 0;
        int fd = -1;
        right = right && vmm_fd_receive(ends[0], &fd, &got, 1 + i, RIG_SOON) == VMM_SUCCESS && got == i &&
                rig_same_file(fd, (int)i);
        close(fd);
    }
    tap_ok(right, "%s: several messages pass in order, in the other direction", kind);
}

static void passing(void)
{
    static const size_t sizes[] = {0, 1, 64, VMM_FD_MOST};
    for (size_t k = 0; k < KINDS; k++) {
        int ends[2];
        rig_pair(kinds[k].type, ends);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            whole(ends, kinds[k].name, sizes[i]);
        in_turn(ends, kinds[k].name);
        rig_close(ends);
    }
}

/* A message that is never received is freed with its socket. */
static void never_received(void)
{
    for (size_t k = 0; k < KINDS; k++) {
        int ends[2], file[2];
        rig_pair(kinds[k].type, ends);
        rig_pipe(file);
        vmm_fd_send(ends[0], file[1], "1234", 4, RIG_SOON);
        close(file[1]);
        rig_close(ends);
        tap_ok(rig_nobody_writes(file[0]), "%s: an unreceived message is freed with its socket", kinds[k].name);
        close(file[0]);
    }
}

static void pairs(void)
{
    int ends[2] = {-7, -7};
    struct rlimit old;
    tap_result(vmm_fd_pair(NULL), VMM_ERROR_INVALID_VALUE, "vmm_fd_pair refuses NULL");
    tap_text(vmm_last_detail()->argument, "ends", "the refusal names the argument");
    if (no_more_descriptors(&old)) {
        tap_result(vmm_fd_pair(ends), VMM_ERROR_OPERATING_SYSTEM, "vmm_fd_pair fails at the limit of descriptors");
        setrlimit(RLIMIT_NOFILE, &old);
    }
    tap_ok(ends[0] == -7 && ends[1] == -7, "the failure writes nothing");
    tap_result(vmm_fd_pair(ends), VMM_SUCCESS, "a pair");
    tap_ok(fcntl(ends[0], F_GETFD) == FD_CLOEXEC && fcntl(ends[1], F_GETFD) == FD_CLOEXEC,
           "both ends are close-on-exec");
    tap_ok(rig_passes(ends, RIG_SOON), "the two ends are connected");
    rig_close(ends);
}

/* ---- arguments ---- */

static void send_refused(int socket, int fd, const void *about, size_t size, const char *argument, const char *says,
                         const char *name)
{
    char text[512];
    tap_result(vmm_fd_send(socket, fd, about, size, 0), VMM_ERROR_INVALID_VALUE, "send: %s", name);
    tap_text(vmm_last_detail()->argument, argument, "send: %s: the refusal names the argument", name);
    tap_ok(strstr(vmm_last_detail()->note, says), "send: %s: said: %s", name, vmm_last_detail()->note);
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    tap_ok(strstr(text, "vmm_fd_send -> CUDA_ERROR_INVALID_VALUE"), "send: %s: the text has function and result", name);
}

static void sockets_refused(const int ends[2])
{
    int file[2], inet = socket(AF_INET, SOCK_DGRAM, 0), lone = socket(AF_UNIX, SOCK_STREAM, 0), plain;
    rig_pipe(file);
    plain = file[0];
    send_refused(-1, 0, NULL, 0, "socket", "not open", "no descriptor");
    send_refused(999, 0, NULL, 0, "socket", "not open", "a closed one");
    send_refused(plain, 0, NULL, 0, "socket", "not a socket", "a pipe");
    send_refused(lone, 0, NULL, 0, "socket", "not connected", "a socket without another side");
    rig_refused(-1, 0, 0, VMM_ERROR_INVALID_VALUE, "not open", "no descriptor");
    rig_refused(plain, 0, 0, VMM_ERROR_INVALID_VALUE, "not a socket", "a pipe");
    rig_refused(lone, 0, -1, VMM_ERROR_INVALID_VALUE, "not connected", "a socket without another side");
    tap_ok(vmm_last_detail()->value == (uint64_t)lone && !strcmp(vmm_last_detail()->argument, "socket"),
           "the refusal has the argument's value");
    if (inet >= 0) {
        send_refused(inet, 0, NULL, 0, "socket", "AF_UNIX", "an internet socket");
        rig_refused(inet, 0, 0, VMM_ERROR_INVALID_VALUE, "AF_UNIX", "an internet socket");
        close(inet);
    }
    send_refused(ends[0], 999, NULL, 0, "fd", "not open", "a closed descriptor to send");
    send_refused(ends[0], -1, NULL, 0, "fd", "not open", "none to send");
    rig_close(file);
    close(lone);
}

static void arguments(void)
{
    static char big[VMM_FD_MOST + 1];
    int ends[2], fd = -7;
    rig_pair(SOCK_STREAM, ends);
    sockets_refused(ends);
    send_refused(ends[0], 0, big, sizeof big, "size", "too many", "too many bytes");
    tap_u64(vmm_last_detail()->expected, VMM_FD_MOST, "the refusal has the limit");
    send_refused(ends[0], 0, NULL, 1, "about", "NULL", "NULL with a size of 1");
    tap_result(vmm_fd_receive(ends[1], &fd, big, sizeof big, 0), VMM_ERROR_INVALID_VALUE, "too many bytes to receive");
    tap_result(vmm_fd_receive(ends[1], &fd, NULL, 1, 0), VMM_ERROR_INVALID_VALUE, "NULL for one byte");
    tap_result(vmm_fd_receive(ends[1], NULL, big, 1, 0), VMM_ERROR_INVALID_VALUE, "NULL for the descriptor");
    tap_text(vmm_last_detail()->argument, "fd", "the refusal names the argument");
    tap_ok(fd == -7, "the refusal writes nothing");
    rig_refused(ends[1], 0, 0, VMM_ERROR_NOT_READY, "no message", "refused calls send nothing");
    tap_ok(rig_passes(ends, 0), "the sockets still work");
    rig_close(ends);
}

/* A socket with a path, in a folder of its own. */
static int bound(int type, struct sockaddr_un *name)
{
    char folder[] = "/tmp/cuvmm-fd-XXXXXX";
    int made = socket(AF_UNIX, type, 0);
    if (!mkdtemp(folder))
        tap_bail("no folder");
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(name->sun_path, sizeof name->sun_path, "%s/s", folder);
    if (bind(made, (struct sockaddr *)name, sizeof *name))
        tap_bail("no socket with a path: %s", strerror(errno));
    return made;
}

static void unbound(int made, struct sockaddr_un *name)
{
    close(made);
    unlink(name->sun_path);
    *strrchr(name->sun_path, '/') = '\0';
    rmdir(name->sun_path);
}

/* A listening socket has no peer; accept returns one that has. */
static void listening(void)
{
    struct sockaddr_un name;
    int ends[2], listener = bound(SOCK_STREAM, &name);
    listen(listener, 1);
    rig_refused(listener, 0, -1, VMM_ERROR_INVALID_VALUE, "the socket that accept returned", "a listening socket");
    send_refused(listener, 0, NULL, 0, "socket", "the socket that accept returned", "a listening socket");
    ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
    ends[1] = connect(ends[0], (struct sockaddr *)&name, sizeof name) ? -1 : accept(listener, NULL, NULL);
    tap_ok(rig_passes(ends, RIG_SOON), "a socket from accept is connected");
    rig_close(ends);
    unbound(listener, &name);
}

/* ---- time ---- */

static void full(const int ends[2], const char *kind)
{
    uint64_t sent = 0, got = 0, number;
    bool right = true;
    int fd;
    while (vmm_fd_send(ends[0], 0, &sent, sizeof sent, 0) == VMM_SUCCESS)
        sent++;
    tap_ok(vmm_last_detail()->result == VMM_ERROR_NOT_READY && sent > 0, "%s: the socket is full after %llu messages: %s", kind,
           (unsigned long long)sent, vmm_last_detail()->note);
    tap_result(vmm_fd_send(ends[0], 0, &sent, sizeof sent, 20), VMM_ERROR_NOT_READY, "%s: it stays full while sending waits",
               kind);
    for (; vmm_fd_receive(ends[1], &fd, &number, sizeof number, 0) == VMM_SUCCESS; got++) {
        right = right && number == got;
        close(fd);
    }
    tap_ok(right && got == sent, "%s: exactly the sent messages arrive", kind);
    tap_ok(rig_passes(ends, 0), "%s: the socket has room again", kind);
}

static void time_is_up(void)
{
    for (size_t k = 0; k < KINDS; k++) {
        int ends[2];
        unsigned before = rig_open_now();
        rig_pair(kinds[k].type, ends);
        rig_refused(ends[1], 4, 0, VMM_ERROR_NOT_READY, "no message", kinds[k].name);
        int64_t start = milliseconds();
        rig_refused(ends[1], 4, 30, VMM_ERROR_NOT_READY, "no message", kinds[k].name);
        tap_ok(milliseconds() - start >= 30, "%s: it waited", kinds[k].name);
        full(ends, kinds[k].name);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        rig_refused(ends[1], 4, 10, VMM_ERROR_NOT_READY, "no message", "a non-blocking socket");
        full(ends, kinds[k].name);
        rig_close(ends);
        tap_u64(rig_open_now(), before, "%s: no descriptor leaks", kinds[k].name);
    }
}

/* Datagrams to a path, from any socket that is connected to it. */
static void to_a_path(void)
{
    struct sockaddr_un name;
    int ends[2] = {socket(AF_UNIX, SOCK_DGRAM, 0), bound(SOCK_DGRAM, &name)};
    send_refused(ends[0], 0, NULL, 0, "socket", "not connected", "datagrams without an address");
    rig_refused(ends[1], 0, 5, VMM_ERROR_NOT_READY, "no message", "a path without messages");
    tap_ok(!connect(ends[0], (struct sockaddr *)&name, sizeof name), "the socket is connected to the path");
    full(ends, "a path");
    unbound(ends[1], &name);
    tap_result(vmm_fd_send(ends[0], 0, NULL, 0, -1), VMM_ERROR_NOT_FOUND, "the path has no receiver any more");
    close(ends[0]);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int number)
{
    (void)number;
    alarms++;
}

/* A signal every millisecond: the call continues, and ends in time. */
static void interrupted(void)
{
    struct sigaction action = {.sa_handler = count_alarm};
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    int ends[2];
    rig_pair(SOCK_STREAM, ends);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    int64_t start = milliseconds();
    rig_refused(ends[1], 4, 60, VMM_ERROR_NOT_READY, "no message", "interrupted");
    tap_ok(milliseconds() - start >= 60 && alarms > 0, "the call waited for the full time in spite of signals");
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN); /* drops a pending signal */
    signal(SIGALRM, SIG_DFL);
    alarm(RIG_ALARM); /* both use the same timer */
    rig_close(ends);
}

/* ---- the other side ---- */

static void other_side_gone(void)
{
    for (size_t k = 0; k < KINDS; k++) {
        int ends[2], fd = -1;
        uint64_t got = 0;
        rig_pair(kinds[k].type, ends);
        vmm_fd_send(ends[0], 0, "12345678", 8, RIG_SOON);
        close(ends[0]);
        tap_ok(vmm_fd_receive(ends[1], &fd, &got, 8, RIG_SOON) == VMM_SUCCESS && rig_same_file(fd, 0),
               "%s: a message sent before the end is received", kinds[k].name);
        close(fd);
        if (kinds[k].type != SOCK_DGRAM) {
            rig_refused(ends[1], 8, -1, VMM_ERROR_NOT_FOUND, "other side", kinds[k].name);
            rig_refused(ends[1], 8, -1, VMM_ERROR_NOT_FOUND, "other side", "later calls");
        }
        tap_result(vmm_fd_send(ends[1], 0, "1", 1, -1), VMM_ERROR_NOT_FOUND, "%s: sending fails without a signal",
                   kinds[k].name);
        close(ends[1]);
    }
}

/* The peer closed without reading what was sent: the system calls that a reset. */
static void reset_by_peer(void)
{
    for (size_t k = 0; k < 2; k++) {
        int ends[2];
        rig_pair(kinds[k].type, ends);
        vmm_fd_send(ends[1], 0, "1", 1, RIG_SOON);
        close(ends[0]);
        rig_refused(ends[1], 1, -1, VMM_ERROR_NOT_FOUND, "other side", kinds[k].name);
        close(ends[1]);
    }
}

/* Only some bytes of a message arrive, then the end, or nothing until the deadline. */
static void stopped_inside(void)
{
    unsigned char bytes[FD_WHOLE];
    size_t size = rig_message(bytes, "abcdefgh", 8);
    for (size_t some = 1; some < size; some += 5)
        for (int ends_there = 0; ends_there < 2; ends_there++) {
            int ends[2], file[2];
            rig_pair(SOCK_STREAM, ends);
            rig_pipe(file);
            rig_send(ends[0], bytes, some, file[1], 1);
            close(file[1]);
            if (ends_there)
                close(ends[0]);
            rig_refused(ends[1], 8, ends_there ? -1 : 5, VMM_ERROR_ILLEGAL_STATE, "shut down",
                        ends_there ? "an end inside" : "a pause inside");
            tap_ok(rig_nobody_writes(file[0]), "after %zu bytes: the descriptor is closed", some);
            tap_ok(ends_there || (send(ends[0], "x", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE),
                   "after %zu bytes: the sender gets EPIPE", some);
            rig_refused(ends[1], 8, -1, VMM_ERROR_NOT_FOUND, "other side", "later calls report the end");
            close(file[0]);
            close(ends[1]);
            if (!ends_there)
                close(ends[0]);
        }
}

/* ---- wrong messages ---- */

/* Sends one message by hand, where size bytes are expected. The sockets stay usable unless the message begins with other bytes
 * than ours. */
static void wrong(const unsigned char *bytes, size_t length, size_t count, size_t size, bool begins, const char *says,
                  const char *name)
{
    for (size_t k = 0; k < KINDS; k++) {
        bool stream = kinds[k].type == SOCK_STREAM;
        int ends[2], file[2];
        char what[96];
        if (stream && !length) /* an empty message on a stream has no effect */
            continue;
        snprintf(what, sizeof what, "%s: %s", kinds[k].name, name);
        rig_pair(kinds[k].type, ends);
        rig_pipe(file);
        const bool sent = rig_send(ends[0], bytes, length, file[1], count);
        if (!sent && errno == ENOMEM && count == RIG_MOST_FDS) {
            tap_skip("musl sends a few descriptors less in a message", "%s", what);
            close(file[0]);
            close(file[1]);
            rig_close(ends);
            continue;
        }
        if (!sent)
            tap_bail("%s cannot be sent: %s", what, strerror(errno));
        close(file[1]);
        if (stream && !begins)
            rig_refused(ends[1], size, 5, VMM_ERROR_ILLEGAL_STATE, "shut down", what);
        else
            rig_refused(ends[1], size, RIG_SOON, VMM_ERROR_INVALID_HANDLE, says, what);
        tap_ok(rig_nobody_writes(file[0]), "%s: its descriptors are closed", what);
        tap_ok(rig_passes(ends, 0) == (begins || !stream), "%s: the next message %s", what,
               begins || !stream ? "passes" : "does not");
        close(file[0]);
        rig_close(ends);
    }
}

static void wrong_messages(void)
{
    static const char about[VMM_FD_MOST];
    unsigned char good[FD_WHOLE + 1] = {0}, bad[FD_WHOLE + 1];
    size_t length = rig_message(good, "abcdefgh", 8);
    wrong(good, length, 0, 8, true, "0 descriptors", "no descriptor");
    wrong(good, length, 2, 8, true, "2 descriptors", "two descriptors");
    wrong(good, length, RIG_MOST_FDS, 8, true, "253 descriptors", "as many as there may be");
    wrong(good, length, 1, 7, true, "8 bytes came", "more bytes than expected");
    wrong(good, length, 1, 9, true, "8 bytes came", "fewer bytes than expected");
    wrong(good, length, 1, 0, true, "8 bytes came", "bytes where none are expected");
    for (size_t i = 0; i < sizeof fd_mark; i++) {
        memcpy(bad, good, sizeof bad);
        bad[i] ^= 0x20;
        wrong(bad, length, 1, 8, false, "not from vmm_fd_send", i == 4 ? "another version" : "another mark");
    }
    memcpy(bad, good, sizeof bad);
    bad[7] = 0x7f;
    wrong(bad, length, 1, 8, false, "not from vmm_fd_send", "a size that cannot be");
    length = rig_message(bad, about, VMM_FD_MOST);
    for (int type = 1; type < KINDS; type++) { /* records have a length */
        int ends[2];
        rig_pair(kinds[type].type, ends);
        rig_send(ends[0], good, FD_HEAD + 7, 0, 1);
        rig_refused(ends[1], 8, RIG_SOON, VMM_ERROR_INVALID_HANDLE, "not from vmm_fd_send", "a truncated record");
        rig_send(ends[0], good, FD_HEAD + 9, 0, 1);
        rig_refused(ends[1], 8, RIG_SOON, VMM_ERROR_INVALID_HANDLE, "not from vmm_fd_send", "a record with extra bytes");
        rig_send(ends[0], bad, length + 1, 0, 1);
        rig_refused(ends[1], VMM_FD_MOST, RIG_SOON, VMM_ERROR_INVALID_HANDLE, "not from vmm_fd_send",
                    "the longest record with extra bytes");
        rig_send(ends[0], good, 3, 0, 1);
        rig_refused(ends[1], 8, RIG_SOON, VMM_ERROR_INVALID_HANDLE, "not from vmm_fd_send", "less than a header");
        rig_send(ends[0], good, 0, 0, 1);
        rig_refused(ends[1], 0, RIG_SOON, VMM_ERROR_INVALID_HANDLE, "not from vmm_fd_send", "a descriptor without a byte");
        rig_send(ends[0], good, 0, 0, 0);
        rig_refused(ends[1], 0, RIG_SOON, VMM_ERROR_INVALID_HANDLE, "not from vmm_fd_send",
                    "an empty record, which is not the end");
        tap_ok(rig_passes(ends, 0), "%s: the next message passes", kinds[type].name);
        int fd = -1;
        vmm_fd_send(ends[0], 0, NULL, 0, 0);
        vmm_fd_receive(ends[1], &fd, NULL, 0, 0); /* a used socket returns the same result */
        close(fd);
        rig_send(ends[0], good, 0, 0, 0);
        vmm_fd_send(ends[0], 0, NULL, 0, 0);
        rig_refused(ends[1], 0, RIG_SOON, VMM_ERROR_INVALID_HANDLE, "not from vmm_fd_send", "an empty record before a message");
        tap_ok(vmm_fd_receive(ends[1], &fd, NULL, 0, 0) == VMM_SUCCESS && rig_same_file(fd, 0), "the message after it arrives");
        close(fd);
        rig_close(ends);
    }
}

/* A stream has no boundaries: foreign bytes, a refused message, a valid one and more foreign bytes, all available at once. */
static void no_byte_too_many(void)
{
    unsigned char bytes[FD_WHOLE];
    char turn = 0;
    int ends[2], fd = -1;
    size_t length = rig_message(bytes, "abcdefgh", 8);
    rig_pair(SOCK_STREAM, ends);
    rig_send(ends[0], "1", 1, -1, 0);
    rig_send(ends[0], bytes, length, -1, 0);
    rig_send(ends[0], bytes, length, 0, 1);
    rig_send(ends[0], "2", 1, -1, 0);
    tap_ok(read(ends[1], &turn, 1) == 1 && turn == '1', "bytes before");
    rig_refused(ends[1], 8, 0, VMM_ERROR_INVALID_HANDLE, "0 descriptors", "a message without its descriptor");
    tap_result(vmm_fd_receive(ends[1], &fd, bytes, 8, 0), VMM_SUCCESS, "the message after it is whole");
    tap_ok(rig_same_file(fd, 0) && read(ends[1], &turn, 1) == 1 && turn == '2', "so are the bytes after that");
    close(fd);
    rig_close(ends);
}

/* The receiver's socket has enabled options that identify the sender. */
static void told_who_sends(void)
{
#if defined(SO_PASSCRED) && defined(SCM_CREDENTIALS)
    for (size_t k = 0; k < KINDS; k++) {
        unsigned char bytes[FD_WHOLE];
        int ends[2];
        size_t length = rig_message(bytes, "abcdefgh", 8);
        rig_pair(kinds[k].type, ends);
        setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int));
        tap_ok(rig_passes(ends, RIG_SOON), "%s: credentials beside the descriptor are ignored", kinds[k].name);
        rig_send(ends[0], bytes, length, 0, 0);
        rig_refused(ends[1], 8, RIG_SOON, VMM_ERROR_INVALID_HANDLE, "0 descriptors", "credentials without a descriptor");
        unsigned before = rig_open_now();
        if (!setsockopt(ends[1], SOL_SOCKET, 76 /* SO_PASSPIDFD */, &(int){1}, sizeof(int))) {
            tap_ok(rig_passes(ends, RIG_SOON), "%s: a pidfd is not taken for the descriptor", kinds[k].name);
            tap_u64(rig_open_now(), before, "%s: the pidfd is closed", kinds[k].name);
        }
        rig_close(ends);
    }
#endif
}

static void limit_reached(void)
{
    for (size_t k = 0; k < KINDS; k++) {
        struct rlimit old;
        int ends[2], file[2];
        rig_pair(kinds[k].type, ends);
        rig_pipe(file);
        vmm_fd_send(ends[0], file[1], "12345678", 8, RIG_SOON);
        if (no_more_descriptors(&old)) {
            rig_refused(ends[1], 8, RIG_SOON, VMM_ERROR_OPERATING_SYSTEM, "RLIMIT_NOFILE", kinds[k].name);
            setrlimit(RLIMIT_NOFILE, &old);
        } else {
            rig_refused(ends[1], 0, RIG_SOON, VMM_ERROR_INVALID_HANDLE, "8 bytes", kinds[k].name); /* received, to continue */
        }
        close(file[1]);
        tap_ok(rig_nobody_writes(file[0]), "%s: a descriptor that could not be received is closed", kinds[k].name);
        tap_ok(rig_passes(ends, 0), "%s: once the limit is raised the next message passes", kinds[k].name);
        close(file[0]);
        rig_close(ends);
    }
}

/* ---- other processes, threads ---- */

/* A process that sends one byte at a time, with a descriptor at some of them. */
static void byte_by_byte(size_t first, size_t every, bool good)
{
    unsigned char bytes[FD_WHOLE];
    size_t length = rig_message(bytes, "abcdefgh", 8);
    int ends[2], file[2], fd = -1;
    char got[8] = "";
    rig_pair(SOCK_STREAM, ends);
    rig_pipe(file);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool sent = true;
        for (size_t i = 0; i < length; i++)
            sent = sent && rig_send(ends[0], bytes + i, 1, file[1], i >= first && (i - first) % every == 0);
        _exit(!sent);
    }
    close(file[1]);
    if (good) {
        tap_result(vmm_fd_receive(ends[1], &fd, got, 8, RIG_SOON), VMM_SUCCESS, "byte by byte, the descriptor with byte %zu",
                   first);
        tap_ok(!memcmp(got, "abcdefgh", 8) && fd >= 0, "all bytes and the descriptor arrive");
        close(fd);
    } else {
        rig_refused(ends[1], 8, RIG_SOON, VMM_ERROR_INVALID_HANDLE, "descriptors instead of one",
                    "byte by byte, a descriptor with many of them");
    }
    int status = -1;
    tap_ok(waitpid(child, &status, 0) == child && status == 0, "the sender exits normally");
    tap_ok(rig_nobody_writes(file[0]) && rig_passes(ends, 0), "no descriptor is left, and the next message passes");
    close(file[0]);
    rig_close(ends);
}

/* A process is killed inside a message. */
static void killed_inside(void)
{
    unsigned char bytes[FD_WHOLE];
    int ends[2], status;
    rig_message(bytes, "abcdefgh", 8);
    rig_pair(SOCK_STREAM, ends);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        rig_send(ends[0], bytes, 11, 0, 1);
        raise(SIGKILL);
    }
    close(ends[0]);
    rig_refused(ends[1], 8, -1, VMM_ERROR_ILLEGAL_STATE, "after 11 bytes", "a killed sender");
    waitpid(child, &status, 0);
    close(ends[1]);
}

struct lane {
    int ends[2], type;
    unsigned rounds, wrong;
};

static void *sender(void *lane_)
{
    struct lane *lane = lane_;
    for (uint64_t i = 0; i < lane->rounds; i++)
        if (vmm_fd_send(lane->ends[0], (int)(i % 3), &i, sizeof i, RIG_SOON) != VMM_SUCCESS)
            lane->wrong++;
    return NULL;
}

static void *receiver(void *lane_)
{
    struct lane *lane = lane_;
    unsigned wrong = 0;
    for (uint64_t i = 0; i < lane->rounds; i++) {
        uint64_t got = 0;
        int fd = -1;
        wrong += vmm_fd_receive(lane->ends[1], &fd, &got, sizeof got, RIG_SOON) != VMM_SUCCESS || got != i ||
                 !rig_same_file(fd, (int)(i % 3));
        close(fd);
    }
    return (void *)(uintptr_t)wrong;
}

/* Two threads for each type of socket, all at the same time. */
static void threads(void)
{
    struct lane lane[KINDS];
    pthread_t thread[KINDS][2];
    unsigned before = rig_open_now();
    for (size_t k = 0; k < KINDS; k++) {
        lane[k] = (struct lane){.type = kinds[k].type, .rounds = 500};
        rig_pair(lane[k].type, lane[k].ends);
        if (pthread_create(&thread[k][0], NULL, sender, &lane[k]) || pthread_create(&thread[k][1], NULL, receiver, &lane[k]))
            tap_bail("no threads");
    }
    for (size_t k = 0; k < KINDS; k++) {
        void *wrong;
        pthread_join(thread[k][0], NULL);
        pthread_join(thread[k][1], &wrong);
        tap_ok(!wrong && !lane[k].wrong, "%s: two threads, %u messages", kinds[k].name, lane[k].rounds);
        rig_close(lane[k].ends);
    }
    tap_u64(rig_open_now(), before, "the threads leak no descriptor");
}

int main(void)
{
    alarm(RIG_ALARM);
    passing();
    never_received();
    pairs();
    arguments();
    listening();
    time_is_up();
    to_a_path();
    interrupted();
    other_side_gone();
    reset_by_peer();
    stopped_inside();
    wrong_messages();
    no_byte_too_many();
    told_who_sends();
    limit_reached();
    byte_by_byte(0, 1000, true);
    byte_by_byte(5, 1000, true);
    byte_by_byte(12, 1000, true);
    byte_by_byte(0, 3, false);
    killed_inside();
    threads();
    return tap_done();
}
