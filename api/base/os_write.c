/* SPDX-License-Identifier: Apache-2.0 */
#include "os_write.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "posix.h"

bool os_write_is_limited(void)
{
    struct rlimit longest;
    return posix.getrlimit(RLIMIT_FSIZE, &longest) || longest.rlim_cur != RLIM_INFINITY;
}

/* Removes the signal that an error has raised, unless it was pending before. */
static void take_away(int number, const sigset_t *already)
{
    sigset_t one, pending;
    int caught;
    sigpending(&pending);
    if (!sigismember(&pending, number) || sigismember(already, number))
        return;
    sigemptyset(&one);
    sigaddset(&one, number);
    sigwait(&one, &caught);
}

ssize_t os_write_quietly(int file, const void *bytes, size_t length)
{
    sigset_t ours, before, already;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    sigpending(&already);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    ssize_t written = posix.write(file, bytes, length);
    int error = errno;
    if (written < 0 && error == EPIPE)
        take_away(SIGPIPE, &already);
    if (written < 0 && error == EFBIG)
        take_away(SIGXFSZ, &already);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return written;
}
