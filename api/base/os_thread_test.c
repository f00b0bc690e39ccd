/* SPDX-License-Identifier: Apache-2.0 */
/* The number of a thread: its own, and the same each time. */
#include "os_thread.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static void *number_of(void *number)
{
    *(uint64_t *)number = os_thread_number();
    return NULL;
}

int main(void)
{
    const uint64_t mine = os_thread_number();
    uint64_t other = 0;
    pthread_t thread;
    int status = -1;
    tap_ok(mine != 0 && os_thread_number() == mine, "a thread's number stays");
#ifdef __linux__
    tap_u64(mine, (uint64_t)getpid(), "the first thread has the number of its process");
#endif
    if (pthread_create(&thread, NULL, number_of, &other) || pthread_join(thread, NULL))
        tap_bail("no thread");
    tap_ok(other != 0 && other != mine, "another thread has another number");
    pid_t child = fork();
    if (child == 0)
        _exit(os_thread_number() == mine);
    waitpid(child, &status, 0);
    tap_ok(child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0, "so has the thread of a forked child");
    return tap_done();
}
