/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* unshare */
#include "pid_namespace.h"

#include <signal.h>
#include <unistd.h>

#include "child.h"
#include "tap.h"

#ifdef __linux__
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Process 1 ignores every signal from its own namespace without a handler, also SIGALRM. */
static pid_t fork_first(void)
{
    if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID))
        return -1;
    pid_t first = fork();
    if (first == 0 && (getpid() != 1 || prctl(PR_SET_PDEATHSIG, SIGKILL)))
        _exit(1);
    return first;
}

static _Noreturn void wait_for(pid_t first)
{
    int status = 0;
    waitpid(first, &status, 0);
    _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}
#else
static pid_t fork_first(void)
{
    return -1;
}

static _Noreturn void wait_for(pid_t first)
{
    (void)first;
    _exit(0);
}
#endif

pid_t pid_namespace_begin(int *socket, pid_t *first)
{
    int ends[2];
    if (pipe(ends))
        tap_bail("no pipe");
    pid_t parent = child_begin(socket, 60);
    close(ends[parent ? 1 : 0]);
    if (parent) {
        if (read(ends[0], first, sizeof *first) != sizeof *first)
            *first = 0;
        close(ends[0]);
        return parent;
    }
    pid_t made = fork_first();
    if (made < 0)
        _exit(0);
    if (made && write(ends[1], &made, sizeof made) != sizeof made)
        _exit(1);
    close(ends[1]);
    if (made)
        wait_for(made);
    return 0;
}
