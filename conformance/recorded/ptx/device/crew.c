/* SPDX-License-Identifier: Apache-2.0 */
#include "crew.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 17 }; /* more than the longest line has */

static struct shared {
    _Atomic unsigned next[CREW_TEAMS], done[CREW_TEAMS];
} *shared;

static time_t end; /* of the monotonic clock */

static time_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec;
}

void crew_begin(unsigned seconds)
{
    end = now() + (time_t)seconds;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
}

unsigned crew_left(void)
{
    time_t at = now();
    return at < end ? (unsigned)(end - at) : 1;
}

/* ---- files ---- */

static FILE *file_opened(const char *name, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("PTX_OUT"), name);
    FILE *file = fopen(path, mode);
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

FILE *crew_file(const char *name)
{
    FILE *file = file_opened(name, "a");
    setvbuf(file, NULL, _IOFBF, BUFFER);
    return file;
}

void crew_empty(const char *name)
{
    fclose(file_opened(name, "w"));
}

/* ---- processes ---- */

static pid_t fork_flushed(void)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(1);
    }
    return child;
}

int crew_child(void (*what)(size_t i), size_t i, unsigned seconds)
{
    int status = -1;
    pid_t child = fork_flushed();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(seconds < crew_left() ? seconds : crew_left());
        what(i);
        fflush(NULL);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static void work(const struct team *team, unsigned number)
{
    unsigned job;
    signal(SIGALRM, SIG_DFL);
    alarm(crew_left()); /* whatever it waits for then */
    team->begin();
    while (now() < end && (job = atomic_fetch_add(&shared->next[number], 1)) < team->jobs) {
        team->job(job);
        fflush(NULL);
        atomic_fetch_add(&shared->done[number], 1);
    }
    _exit(0);
}

/* Which team a process is of. */
static struct {
    pid_t id;
    unsigned team;
} processes[CREW_PROCESSES];

static void start(const struct team *teams, unsigned number, unsigned place)
{
    processes[place].team = number;
    processes[place].id = fork_flushed();
    if (processes[place].id == 0)
        work(&teams[number], number);
}

static void time_is_over(int signal)
{
    (void)signal; /* it interrupts waitpid() */
}

/* Puts another process where one died with jobs left. */
static void wait_for_all(const struct team *teams, unsigned running)
{
    unsigned deaths = 0;
    int status;
    while (running) {
        pid_t child = waitpid(-1, &status, 0);
        if (child < 0)
            return; /* a process that not even its alarm ends stays behind */
        for (unsigned i = 0; i < CREW_PROCESSES; i++) {
            if (processes[i].id != child)
                continue;
            const struct team *team = &teams[processes[i].team];
            if (status && now() < end && ++deaths < CREW_DEATHS && atomic_load(&shared->next[processes[i].team]) < team->jobs)
                start(teams, processes[i].team, i);
            else
                running--;
            break;
        }
    }
}

unsigned crew_run(const struct team *teams, unsigned count)
{
    unsigned running = 0, missing = 0;
    struct sigaction action = {.sa_handler = time_is_over};
    sigaction(SIGALRM, &action, NULL);
    for (unsigned t = 0; t < count; t++)
        for (unsigned i = 0; i < teams[t].processes && running < CREW_PROCESSES; i++)
            start(teams, t, running++);
    alarm(crew_left() + 2);
    wait_for_all(teams, running);
    for (unsigned t = 0; t < count; t++) {
        unsigned done = atomic_load(&shared->done[t]);
        fprintf(stderr, "%s: %u of %u\n", teams[t].name, done, teams[t].jobs);
        missing += teams[t].jobs - done;
    }
    return missing;
}
