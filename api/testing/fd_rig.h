/* SPDX-License-Identifier: Apache-2.0 */
/* fd_rig.h - for tests of vmm_fd.h: pairs of sockets, hand-made messages, and checks for leaked descriptors. */
#ifndef CUVMM_FD_RIG_H
#define CUVMM_FD_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "tap.h"

enum { RIG_SOON = 10000, RIG_MOST_FDS = 253, RIG_LOOK_AT = 1024, RIG_ALARM = 300 };

/* The number of descriptors that this process has open. */
static inline unsigned rig_open_now(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < RIG_LOOK_AT; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static inline void rig_pair(int type, int ends[2])
{
    if (socketpair(AF_UNIX, type, 0, ends))
        tap_bail("no sockets: %s", strerror(errno));
}

static inline void rig_close(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* A pipe shows whether its writing end is open anywhere: if not, a read returns the end of the file. */
static inline void rig_pipe(int ends[2])
{
    if (pipe(ends))
        tap_bail("no pipe: %s", strerror(errno));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

static inline bool rig_nobody_writes(int reading)
{
    char byte;
    return read(reading, &byte, 1) == 0;
}

/* The same for descriptors that were in a message when their socket was closed: the system drops them, but not always before
 * close returns (once in some million times on Linux 6.18). A leaked descriptor is detected after ten seconds. */
static inline bool rig_nobody_will_write(int reading)
{
    struct pollfd one = {.fd = reading, .events = POLLIN};
    return poll(&one, 1, 10000) == 1 && rig_nobody_writes(reading);
}

static inline bool rig_same_file(int a, int b)
{
    struct stat first, second;
    return !fstat(a, &first) && !fstat(b, &second) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

union rig_control {
    char room[CMSG_SPACE(RIG_MOST_FDS * sizeof(int))];
    struct cmsghdr align;
};

/* Sends a raw message: count descriptors, all of them fd, with size bytes. */
static inline bool rig_send(int socket, const void *bytes, size_t size, int fd, size_t count)
{
    union rig_control control;
    unsigned char copy[4096];
    struct iovec io = {copy, size};
    struct msghdr message;
    memcpy(copy, bytes, size);
    memset(&message, 0, sizeof message);
    memset(&control, 0, sizeof control);
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    if (count) {
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(count * sizeof fd);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        /* analysers: null-dereference is wrong: the buffer holds a header */
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(count * sizeof fd);
        for (size_t i = 0; i < count; i++)
            memcpy(CMSG_DATA(head) + i * sizeof fd, &fd, sizeof fd);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)size;
}

/* Builds the bytes of a whole message; returns how many. */
static inline size_t rig_message(unsigned char *bytes, const void *about, size_t size)
{
    memcpy(bytes, fd_mark, sizeof fd_mark);
    bytes[sizeof fd_mark] = (unsigned char)(size & 0xff);
    bytes[sizeof fd_mark + 1] = (unsigned char)(size >> 8);
    memcpy(bytes + FD_HEAD, about, size);
    return FD_HEAD + size;
}

/* Does receiving size bytes fail like this, with outputs unchanged, that text, and no leaked descriptor? */
static inline void rig_refused(int socket, size_t size, int timeout_ms, vmm_result want, const char *says, const char *name)
{
    unsigned char about[VMM_FD_MOST];
    int fd = -7;
    bool untouched = true;
    unsigned before = rig_open_now();
    memset(about, 0xee, sizeof about);
    tap_result(vmm_fd_receive(socket, &fd, about, size, timeout_ms), want, "%s", name);
    for (size_t i = 0; i < sizeof about; i++)
        untouched = untouched && about[i] == 0xee;
    tap_ok(fd == -7 && untouched, "%s: no output is written", name);
    tap_ok(vmm_last_detail()->result == want && strstr(vmm_last_detail()->note, says), "%s: said: %s", name,
           vmm_last_detail()->note);
    tap_u64(rig_open_now(), before, "%s: the number of open descriptors is unchanged", name);
}

/* Does a whole message pass? */
static inline bool rig_passes(const int ends[2], int timeout_ms)
{
    uint64_t sent = 0x1122334455667788, got = 0;
    int fd = -1;
    bool ok = vmm_fd_send(ends[0], 0, &sent, sizeof sent, timeout_ms) == VMM_SUCCESS &&
              vmm_fd_receive(ends[1], &fd, &got, sizeof got, timeout_ms) == VMM_SUCCESS && got == sent && rig_same_file(fd, 0);
    if (fd >= 0)
        close(fd);
    return ok;
}

#endif
