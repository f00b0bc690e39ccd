/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

struct job {
    struct job *next;
    enum job_kind kind;
    const char *reason; /* of a skip */
    bool (*work)(const void *data);
    void *data;
    int printed; /* a file, -1: none; a stream of each would be one more page that the end of each later process writes */
    bool done;
    pid_t process; /* while it runs */
    int status;
    char name[512];
};

bool jobs_options(struct jobs *jobs, int *argc, char ***argv)
{
    jobs->most = 1;
    for (;;) {
        const char *option = *argc > 1 ? (*argv)[1] : "";
        int taken = 1;
        if (strcmp(option, "--jobs") == 0 && *argc > 2) {
            char *end;
            unsigned long number = strtoul((*argv)[2], &end, 10);
            if (*end || number < 1 || number > 1000)
                return false;
            jobs->most = (unsigned)number;
            taken = 2;
        } else if (strcmp(option, "--together") == 0) {
            jobs->together = true;
        } else {
            return true;
        }
        (*argv)[taken] = (*argv)[0];
        *argv += taken;
        *argc -= taken;
    }
}

/* ---- the points ---- */

static struct job *add(struct jobs *jobs, const char *format, va_list arguments)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        tap_bail("no memory for a job");
    job->printed = -1;
    vsnprintf(job->name, sizeof job->name, format, arguments);
    if (jobs->last)
        jobs->last->next = job;
    else
        jobs->first = job;
    jobs->last = job;
    jobs->count++;
    return job;
}

void jobs_point(struct jobs *jobs, enum job_kind kind, bool (*work)(const void *data), const void *data, size_t size,
                const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct job *job = add(jobs, format, arguments);
    va_end(arguments);
    job->kind = kind;
    job->work = work;
    job->data = malloc(size);
    if (!job->data)
        tap_bail("no memory for a job");
    memcpy(job->data, data, size);
}

void jobs_skip(struct jobs *jobs, const char *reason, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct job *job = add(jobs, format, arguments);
    va_end(arguments);
    job->reason = reason;
    job->done = true;
}

static void print(const struct job *job)
{
    char bytes[4096];
    ssize_t count;
    if (job->reason) {
        tap_skip(job->reason, "%s", job->name);
        return;
    }
    lseek(job->printed, 0, SEEK_SET);
    while ((count = read(job->printed, bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)count, stdout);
    if (WIFSIGNALED(job->status))
        tap_note("ended by signal %d", WTERMSIG(job->status));
    tap_ok(WIFEXITED(job->status) && WEXITSTATUS(job->status) == 0, "%s", job->name);
}

/* Those before the first that is not done. */
static void print_done(struct jobs *jobs)
{
    for (; jobs->unprinted && jobs->unprinted->done; jobs->unprinted = jobs->unprinted->next)
        print(jobs->unprinted);
}

static void drop_all(struct jobs *jobs)
{
    for (struct job *job = jobs->first, *next; job; job = next) {
        next = job->next;
        if (job->printed >= 0)
            close(job->printed);
        free(job->data);
        free(job);
    }
    jobs->first = jobs->last = jobs->unprinted = NULL;
    jobs->count = 0;
}

/* ---- processes ---- */

/* In the child of a fork: what it prints is kept. */
static void print_into(int file)
{
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
}

static void open_file(struct job *job)
{
    if (job->printed >= 0)
        close(job->printed); /* of its share in another process */
    FILE *file = tmpfile();
    job->printed = file ? dup(fileno(file)) : -1;
    if (job->printed < 0)
        tap_bail("no file for a job");
    fclose(file);
}

static pid_t begin(void)
{
    fflush(NULL); /* or the child would write the buffered output, too */
    pid_t child = fork();
    if (child < 0)
        tap_bail("no process for a job");
    return child;
}

static pid_t await(int *status)
{
    pid_t process = waitpid(-1, status, 0);
    if (process < 0)
        tap_bail("a job is lost");
    return process;
}

/* ---- points that share a process ---- */

/* In memory that all processes see. */
struct shared {
    atomic_size_t next; /* of list: the first that no process has begun */
    atomic_bool passed[]; /* of list */
};

static void *in_thread(void *argument)
{
    const struct job *job = argument;
    return job->work(job->data) ? argument : NULL;
}

enum { PATIENCE = 2 }; /* seconds for a point in company */

/* One process: takes points until there are no more. */
static void share(struct shared *shared, struct job **list, size_t count)
{
    for (size_t i; (i = atomic_fetch_add(&shared->next, 1)) < count;) {
        pthread_t thread;
        void *passed = NULL;
        alarm(PATIENCE);
        print_into(list[i]->printed);
        if (pthread_create(&thread, NULL, in_thread, list[i]) == 0)
            pthread_join(thread, &passed);
        fflush(stdout);
        atomic_store(&shared->passed[i], passed != NULL);
    }
    _exit(0);
}

/* If a process dies, its current point fails, and another process continues with the next point. */
static void run_processes(const struct jobs *jobs, struct shared *shared, struct job **list, size_t count)
{
    unsigned running = 0;
    int status;
    while (running || atomic_load(&shared->next) < count) {
        if (running < (jobs->most ? jobs->most : 1) && atomic_load(&shared->next) < count) {
            if (begin() == 0)
                share(shared, list, count);
            running++;
        } else {
            await(&status);
            running--;
        }
    }
}

/* Zeros. */
static void *shared_memory(size_t size)
{
    FILE *file = tmpfile();
    void *memory = MAP_FAILED;
    if (file && ftruncate(fileno(file), (off_t)size) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (memory == MAP_FAILED)
        tap_bail("cannot create memory that processes share");
    fclose(file);
    return memory;
}

static void run_together(struct jobs *jobs)
{
    size_t count = 0, size = sizeof(struct shared) + jobs->count * sizeof(atomic_bool);
    struct job **list = malloc((jobs->count + 1) * sizeof *list);
    struct shared *shared = shared_memory(size);
    if (!list)
        tap_bail("no memory for jobs");
    for (struct job *job = jobs->first; job; job = job->next)
        if (!job->done && job->kind == JOB_SHARES) {
            open_file(job);
            list[count++] = job;
        }
    run_processes(jobs, shared, list, count);
    size_t passed = 0;
    for (size_t i = 0; i < count; i++)
        passed += list[i]->done = atomic_load(&shared->passed[i]);
    tap_note("%zu of %zu points passed in shared processes; each of the others gets its own process", passed, count);
    munmap(shared, size);
    free(list);
    print_done(jobs);
}

/* ---- points in separate processes ---- */

static void start(const struct jobs *jobs, struct job *job)
{
    open_file(job);
    job->process = begin();
    if (job->process == 0) {
        alarm(jobs->seconds);
        print_into(job->printed);
        exit(!job->work(job->data));
    }
}

static void await_one(struct jobs *jobs)
{
    int status;
    pid_t process = await(&status);
    for (struct job *job = jobs->first; job; job = job->next)
        if (job->process == process && !job->done) {
            job->status = status;
            job->done = true;
        }
    print_done(jobs);
}

/* Those that may fault, one after the other, or all others. */
static void run_alone(struct jobs *jobs, bool faulting)
{
    unsigned running = 0, most = faulting || !jobs->most ? 1 : jobs->most;
    for (struct job *job = jobs->first; job; job = job->next) {
        if (job->done || (job->kind == JOB_FAULTS) != faulting)
            continue;
        start(jobs, job);
        if (++running == most) {
            await_one(jobs);
            running--;
        }
    }
    for (; running; running--)
        await_one(jobs);
}

void jobs_end(struct jobs *jobs)
{
    jobs->unprinted = jobs->first;
    print_done(jobs);
    if (jobs->together)
        run_together(jobs);
    run_alone(jobs, false);
    run_alone(jobs, true);
    drop_all(jobs);
}
