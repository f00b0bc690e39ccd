#define _GNU_SOURCE /* SOCK_CLOEXEC, MSG_CMSG_CLOEXEC */
#include "passing.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef MSG_CMSG_CLOEXEC
#define MSG_CMSG_CLOEXEC 0
#define SOCK_CLOEXEC 0
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

bool passing_pair(int ends[2])
{
    return !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

union control {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

bool passing_send(int socket, int fd)
{
    char byte = 'f';
    union control control;
    struct iovec io = {&byte, 1};
    struct msghdr message;
    memset(&control, 0, sizeof control);
    memset(&message, 0, sizeof message);
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    ssize_t sent;
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == 1;
}

int passing_receive(int socket)
{
    int fd = -1;
    char byte;
    union control control;
    struct iovec io = {&byte, 1};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    ssize_t got;
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    const struct cmsghdr *header = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

bool passing_go_on(int socket)
{
    return send(socket, "g", 1, MSG_NOSIGNAL) == 1;
}

bool passing_wait(int socket)
{
    char byte;
    ssize_t got;
    do
        got = read(socket, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}
