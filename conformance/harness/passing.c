/* SPDX-License-Identifier: Apache-2.0 */
#include "passing.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vmm_fd.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

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

bool passing_pair(int ends[2])
{
    return vmm_fd_pair(ends) == VMM_SUCCESS;
}

bool passing_send(int socket, int fd)
{
    return vmm_fd_send(socket, fd, NULL, 0, -1) == VMM_SUCCESS;
}

int passing_receive(int socket)
{
    int fd = -1;
    return vmm_fd_receive(socket, &fd, NULL, 0, -1) == VMM_SUCCESS ? fd : -1;
}
