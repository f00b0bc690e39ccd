/* SPDX-License-Identifier: Apache-2.0 */
/* threads - the throughput of threads that share one machine, as ratios within this run. Not a test: machines differ.
 *
 *   bench-threads [--backend SPEC] [--rounds N] [--result FILE]
 *
 * 1 to 16 threads live their own mappings on one machine, or on machines of their own, or work between their calls as well.
 * Processes that each live their own mappings show what the cores themselves lose when all of them are busy. Uses wall-clock time, because waiting is what is measured. A second table shows how long single calls took. See
 * docs/bench.md. */
#include <stdio.h>
#include <unistd.h>

#include "lib/aims.h"
#include "lib/crowd.h"
#include "lib/driver.h"
#include "lib/live.h"
#include "lib/patience.h"
#include "lib/subject.h"
#include "options.h"

/* Lives and queries in a batch, by all threads together: long enough that its beginning and end hardly count. A system may
 * start two threads on one core and move one of them only after some milliseconds. */
enum { LIVES = 128000, READS = 4000000, SPACED = 10000, MOST = 16, FEW = 1000, CROWDS = 5 };

static const unsigned crowd[CROWDS] = {1, 2, 4, 8, 16};

enum row { TOGETHER, APART = TOGETHER + CROWDS, APART_ONE, PROCESSES, READ_ONE, READ_TWO, SPACED_ONE, SPACED_TWO,
           DRIVER_ONE, DRIVER_TWO, ROWS };

/* The threads of a row: each runs the body with its own state. */
struct team {
    unsigned threads;
    void (*body)(void *state, unsigned units);
    void *state[MOST];
};

struct bench {
    struct live one, own[MOST]; /* a machine that all use, and one for each thread */
    struct crowd crowd;         /* as many processes, each with its machine */
    struct subject row[ROWS];
    struct team team[ROWS];
    struct patience patience[CROWDS];
    unsigned cores, rounds;
    bool driver; /* libcuda.so.1 is there */
    struct aims aims;
};

/* ---- what threads do ---- */

static double batch(void *state, unsigned units)
{
    struct team *team = state;
    return threads_run(team->threads, team->body, team->state, units / team->threads);
}

/* About a microsecond of work that needs no machine. */
static void own_work(void)
{
    volatile unsigned work = 0;
    for (unsigned i = 0; i < 2000; i++)
        work = work * 3 + i;
}

static void spaced_calls(void *state, unsigned units)
{
    struct live *live = state;
    for (unsigned i = 0; i < units; i++) {
        vmm_deviceptr at;
        need(vmm_mem_address_reserve(live->sys, &at, live->size, 0, 0, 0), "reserve");
        own_work();
        need(vmm_mem_address_free(live->sys, at, live->size), "free");
        own_work();
    }
}

struct timed {
    struct live *live;
    struct patience patience;
    double last; /* when the call before ended */
};

static void timed(struct timed *timed, vmm_result result, const char *what)
{
    double end = now();
    need(result, what);
    patience_note(&timed->patience, (uint64_t)(1e9 * (end - timed->last)));
    timed->last = end;
}

/* Lives of which each call is timed. */
static void timed_lives(void *state, unsigned units)
{
    struct timed *t = state;
    vmm_system *sys = t->live->sys;
    const uint64_t size = t->live->size;
    t->last = now();
    for (unsigned i = 0; i < units; i++) {
        vmm_deviceptr at;
        vmm_mem_generic_allocation_handle handle;
        timed(t, vmm_mem_address_reserve(sys, &at, size, 0, 0, 0), "reserve");
        timed(t, vmm_mem_create(sys, &handle, size, &live_memory, 0), "create");
        timed(t, vmm_mem_map(sys, at, size, 0, handle, 0), "map");
        timed(t, vmm_mem_set_access(sys, at, size, &live_rights, 1), "set access");
        timed(t, vmm_mem_unmap(sys, at, size), "unmap");
        timed(t, vmm_mem_release(sys, handle), "release");
        timed(t, vmm_mem_address_free(sys, at, size), "free");
    }
}

/* ---- what processes do ---- */

static double crowd_batch(void *state, unsigned units)
{
    struct crowd *processes = state;
    return crowd_run(processes, units / processes->count);
}

static void *open_machine(const char *spec)
{
    static struct live live;
    live_open(&live, spec, FEW, UINT64_C(2) << 20);
    return &live;
}

/* ---- rows ---- */

static void row(struct bench *b, enum row at, const char *name, void (*body)(void *, unsigned), unsigned threads, bool apart,
                unsigned units)
{
    struct team *team = &b->team[at];
    *team = (struct team){.threads = threads, .body = body};
    for (unsigned i = 0; i < threads; i++)
        team->state[i] = apart ? &b->own[i] : &b->one;
    b->row[at] = (struct subject){.name = name, .batch = batch, .state = team, .units = units};
}

static void rows(struct bench *b)
{
    static const char *const together[CROWDS] = {"lives, 1 thread", "lives, 2 threads at once", "lives, 4 threads at once",
                                                 "lives, 8 threads at once", "lives, 16 threads at once"};
    for (unsigned i = 0; i < CROWDS; i++)
        row(b, TOGETHER + i, together[i], live_some_lives, crowd[i], false, LIVES);
    row(b, APART_ONE, "lives, 1 thread on its machine", live_some_lives, 1, true, LIVES);
    /* Each has as many lives as the one above: with a share of them, the start of many threads would be a part of the time. */
    row(b, APART, "lives, a machine for each core", live_some_lives, b->cores, true, LIVES * b->cores);
    b->row[PROCESSES] = (struct subject){.name = "lives, a process for each core", .batch = crowd_batch, .state = &b->crowd,
                                         .units = LIVES * b->cores};
    b->driver = driver_open(BENCH_LIBCUDA);
    if (b->driver) {
        row(b, DRIVER_ONE, "lives through libcuda.so.1, 1 thread", driver_some_lives, 1, false, LIVES);
        row(b, DRIVER_TWO, "lives through libcuda.so.1, 2 threads", driver_some_lives, 2, false, LIVES);
    }
    row(b, READ_ONE, "queries, 1 thread", live_some_reads, 1, false, READS);
    row(b, READ_TWO, "queries, 2 threads at once", live_some_reads, 2, false, READS);
    row(b, SPACED_ONE, "calls and other work, 1 thread", spaced_calls, 1, false, SPACED);
    row(b, SPACED_TWO, "calls and other work, 2 threads", spaced_calls, 2, false, SPACED);
}

/* ---- the tables ---- */

static double median(const struct bench *b, enum row at)
{
    return subject_median(&b->row[at], b->rounds);
}

static void measure_patience(struct bench *b)
{
    static struct timed timed[MOST];
    for (unsigned i = 0; i < CROWDS; i++) {
        void *state[MOST];
        for (unsigned t = 0; t < crowd[i]; t++) {
            timed[t] = (struct timed){.live = &b->one};
            state[t] = &timed[t];
        }
        threads_run(crowd[i], timed_lives, state, LIVES / crowd[i]);
        for (unsigned t = 0; t < crowd[i]; t++)
            patience_add(&b->patience[i], &timed[t].patience);
    }
}

static void print_patience(const struct bench *b)
{
    puts("how long a call takes, its clock included; ns");
    printf("  %-34s %9s %9s %9s %9s %9s\n", "", "half", "99 %", "99.9 %", "99.99 %", "all");
    for (unsigned i = 0; i < CROWDS; i++) {
        static const double share[] = {0.5, 0.99, 0.999, 0.9999, 1};
        printf("  %-34s", b->row[TOGETHER + i].name);
        for (unsigned s = 0; s < sizeof share / sizeof share[0]; s++)
            printf(" %9.0f", patience_within(&b->patience[i], share[s]));
        putchar('\n');
    }
}

static void print_aims(struct bench *b)
{
    const double one = median(b, TOGETHER);
    puts("wanted");
    for (unsigned i = 1; i < CROWDS; i++) {
        char name[RESULT_NAME];
        snprintf(name, sizeof name, "lives of %u threads to 1's", crowd[i]);
        aims_wanted(&b->aims, name, one / median(b, TOGETHER + i), AIM_LEAST, 0.9);
    }
    for (unsigned i = 1; i < CROWDS; i++) {
        char name[RESULT_NAME];
        snprintf(name, sizeof name, "99 of 100 calls, %u threads to 1", crowd[i]);
        aims_wanted(&b->aims, name, patience_within(&b->patience[i], 0.99) / patience_within(&b->patience[0], 0.99), AIM_MOST, 4);
    }
    /* The cores of a virtual machine are slower when all of them work, for processes as for threads: that is not the simulator's. */
    aims_wanted(&b->aims, "machines of their own, of each core", median(b, APART_ONE) / median(b, APART) / b->cores, AIM_LEAST, 0);
    aims_wanted(&b->aims, "processes, of each core", median(b, APART_ONE) / median(b, PROCESSES) / b->cores, AIM_LEAST, 0);
    aims_wanted(&b->aims, "machines of their own, to processes", median(b, PROCESSES) / median(b, APART), AIM_LEAST, 0.9);
    aims_wanted(&b->aims, "queries of 2 threads to 1's", median(b, READ_ONE) / median(b, READ_TWO), AIM_LEAST, 1.6);
    aims_wanted(&b->aims, "calls and other work, 2 threads to 1", median(b, SPACED_ONE) / median(b, SPACED_TWO), AIM_LEAST, 0.9);
    if (b->driver)
        aims_wanted(&b->aims, "libcuda.so.1, 2 threads to 1", median(b, DRIVER_ONE) / median(b, DRIVER_TWO), AIM_LEAST, 0.9);
}

int main(int argc, char **argv)
{
    static struct bench b;
    uint64_t rounds = 9;
    const char *spec = "sim:h100", *result = NULL;
    const struct option_row options[] = {
        {"backend", OPTION_TEXT, &spec, 0, 0},
        {"rounds", OPTION_NUMBER, &rounds, 1, SUBJECT_ROUNDS},
        {"result", OPTION_TEXT, &result, 0, 0},
    };
    if (!options_read(options, sizeof options / sizeof options[0], argc, argv, stderr) || !aims_open(&b.aims, result))
        return 2;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    b.cores = cores < 1 ? 1 : cores > MOST ? MOST : (unsigned)cores;
    b.rounds = (unsigned)rounds;
    crowd_open(&b.crowd, b.cores, open_machine, spec, live_some_lives);
    live_open(&b.one, spec, FEW, UINT64_C(2) << 20);
    for (unsigned i = 0; i < b.cores; i++)
        live_open(&b.own[i], spec, FEW, UINT64_C(2) << 20);
    rows(&b);
    const unsigned count = b.driver ? ROWS : DRIVER_ONE;
    subjects_run(b.row, count, b.rounds);
    measure_patience(&b);
    printf("medians of %u interleaved rounds, wall-clock time, %u cores\n", b.rounds, b.cores);
    for (enum row at = 0; at < count; at++)
        printf("  %-34s %9.0f ns\n", b.row[at].name, median(&b, at));
    print_patience(&b);
    print_aims(&b);
    for (unsigned i = 0; i < b.cores; i++)
        live_close(&b.own[i]);
    live_close(&b.one);
    crowd_close(&b.crowd);
    return !aims_close(&b.aims);
}
