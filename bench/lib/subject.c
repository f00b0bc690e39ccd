/* SPDX-License-Identifier: Apache-2.0 */
#include "subject.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double now(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double spent(void)
{
    return seconds(CLOCK_THREAD_CPUTIME_ID);
}

void subjects_run(struct subject *subjects, size_t count, unsigned rounds)
{
    for (size_t i = 0; i < count; i++)
        subjects[i].batch(subjects[i].state, subjects[i].units);
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++)
            subjects[i].second[round] = subjects[i].batch(subjects[i].state, subjects[i].units) / subjects[i].units;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double subject_median(const struct subject *subject, unsigned rounds)
{
    double sorted[SUBJECT_ROUNDS];
    memcpy(sorted, subject->second, rounds * sizeof *sorted);
    qsort(sorted, rounds, sizeof *sorted, by_size);
    return 1e9 * sorted[rounds / 2];
}

enum { MOST_THREADS = 16 };

struct worker {
    pthread_t thread;
    pthread_barrier_t *start;
    void (*body)(void *state, unsigned units);
    void *state;
    unsigned units;
    double began, ended;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    pthread_barrier_wait(worker->start);
    worker->began = now();
    worker->body(worker->state, worker->units);
    worker->ended = now();
    return NULL;
}

double threads_run(unsigned threads, void (*body)(void *state, unsigned units), void *const *states, unsigned units)
{
    struct worker worker[MOST_THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        worker[i] = (struct worker){.start = &start, .body = body, .state = states[i], .units = units};
        if (pthread_create(&worker[i].thread, NULL, work, &worker[i]) != 0) {
            fputs("the system cannot start another thread\n", stderr);
            exit(1);
        }
    }
    double began = 0, ended = 0;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(worker[i].thread, NULL);
        if (!i || worker[i].began < began)
            began = worker[i].began;
        if (!i || worker[i].ended > ended)
            ended = worker[i].ended;
    }
    pthread_barrier_destroy(&start);
    return ended - began;
}
