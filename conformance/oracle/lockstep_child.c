/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_child.c - a shared page of an unnamed file, fork and wait. */
#include "lockstep_child.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

void *child_share(size_t size)
{
    FILE *file = tmpfile();
    if (!file || ftruncate(fileno(file), (off_t)size))
        tap_bail("no temporary file: %s", strerror(errno));
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    fclose(file);
    if (page == MAP_FAILED)
        tap_bail("no shared memory: %s", strerror(errno));
    return page;
}

int child_run(void (*work)(void *user), void *user)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        tap_bail("fork: %s", strerror(errno));
    if (child == 0) {
        work(user);
        fflush(NULL);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            tap_bail("waitpid: %s", strerror(errno));
    if (WIFSIGNALED(status))
        return WTERMSIG(status);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}
