/* SPDX-License-Identifier: Apache-2.0 */
#include "crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subject.h"

struct times {
    double began, ended;
};

struct task {
    void (*body)(void *state, unsigned units);
    void *state;
    struct times times;
};

static void timed(void *state, unsigned units)
{
    struct task *task = state;
    task->times.began = now();
    task->body(task->state, units);
    task->times.ended = now();
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* Until the parent closes its end. A thread does the work, so that the C library takes locks as it does among threads. */
static void child(int socket, struct task *task)
{
    unsigned units;
    while (read(socket, &units, sizeof units) == sizeof units) {
        void *states[] = {task};
        threads_run(1, timed, states, units);
        if (write(socket, &task->times, sizeof task->times) != sizeof task->times)
            break;
    }
    _exit(0);
}

void crowd_open(struct crowd *crowd, unsigned count, void *(*open)(const char *spec), const char *spec,
                void (*body)(void *state, unsigned units))
{
    *crowd = (struct crowd){.count = count};
    for (unsigned i = 0; i < count; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
            fail("socketpair");
        pid_t pid = fork();
        if (pid < 0)
            fail("fork");
        if (pid == 0) {
            for (unsigned other = 0; other < i; other++)
                close(crowd->socket[other]);
            close(pair[0]);
            child(pair[1], &(struct task){.body = body, .state = open(spec)});
        }
        close(pair[1]);
        crowd->socket[i] = pair[0];
    }
}

double crowd_run(struct crowd *crowd, unsigned units)
{
    double began = 0, ended = 0;
    for (unsigned i = 0; i < crowd->count; i++)
        if (write(crowd->socket[i], &units, sizeof units) != sizeof units)
            fail("a process of the crowd");
    for (unsigned i = 0; i < crowd->count; i++) {
        struct times times;
        if (read(crowd->socket[i], &times, sizeof times) != sizeof times)
            fail("a process of the crowd");
        if (!i || times.began < began)
            began = times.began;
        if (!i || times.ended > ended)
            ended = times.ended;
    }
    return ended - began;
}

void crowd_close(struct crowd *crowd)
{
    for (unsigned i = 0; i < crowd->count; i++)
        close(crowd->socket[i]);
    while (wait(NULL) > 0)
        ;
}
