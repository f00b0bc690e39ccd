/* SPDX-License-Identifier: Apache-2.0 */
/* os_write: no signal of a failed write remains, unless it was the program's. */
#include "os_write.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tap.h"

static bool pending(int number)
{
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, number) == 1;
}

static void refused(int file, const char *which)
{
    errno = 0;
    tap_ok(os_write_quietly(file, "x", 1) == -1 && errno == EPIPE, "a write to a pipe without readers fails: %s", which);
}

static void test_pipe(void)
{
    sigset_t set, before;
    int ends[2];
    if (pipe(ends))
        tap_bail("no pipe");
    close(ends[0]);
    refused(ends[1], "the signal would end the program");
    tap_ok(!pending(SIGPIPE), "no signal is left");
    signal(SIGPIPE, SIG_IGN);
    refused(ends[1], "the program ignores the signal");
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    raise(SIGPIPE);
    refused(ends[1], "the program has one pending");
    tap_ok(pending(SIGPIPE), "the program's signal stays pending");
    int caught = 0;
    sigwait(&set, &caught);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    tap_ok(caught == SIGPIPE && !pending(SIGPIPE), "once");
    close(ends[1]);
}

static void test_limit(void)
{
    struct rlimit before, small;
    if (getrlimit(RLIMIT_FSIZE, &before))
        tap_bail("no limits");
    tap_ok(os_write_is_limited() == (before.rlim_cur != RLIM_INFINITY), "as the system was started");
    small = before;
    small.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &small);
    tap_ok(os_write_is_limited(), "a limit on the size of files");
    setrlimit(RLIMIT_FSIZE, &before);
}

int main(void)
{
    test_pipe();
    test_limit();
    return tap_done();
}
