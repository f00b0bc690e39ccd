/* SPDX-License-Identifier: Apache-2.0 */
/* life - the cost of one life of memory on the simulator, as ratios within this run. Not a test: machines differ.
 *
 *   bench-life [--backend SPEC] [--rounds N] [--result FILE]
 *
 * A life is reserve, create, map, set access, unmap, release, free. The program compares it with the same life made of
 * mmap's calls, with the recorded drivers and with a bare container; beside 1 thousand to 1 million live mappings;
 * through layers and through libcuda.so.1. FILE keeps the ratios; the next run prints them beside its own. See
 * docs/bench.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/aims.h"
#include "lib/driver.h"
#include "lib/live.h"
#include "lib/recorded.h"
#include "lib/rivals.h"
#include "lib/room.h"
#include "lib/subject.h"
#include "lib/traced.h"
#include "options.h"

#define MIB (UINT64_C(1) << 20)
enum { FEW = 1000, MANY = 100000, MOST = 1000000 };

/* Lives in a batch: it takes as long as 300 of mmap's, so that the state of the caches after the previous row matters
 * equally little. */
enum { LIVES = 8000 };

/* Rows that other rows are compared with. */
enum row {
    MMAP,
    LIFE_FEW, LIFE_MANY, LIFE_MOST, LIFE_GIB,
    REMAP_FEW, REMAP_MANY, REMAP_MOST,
    FLOOR_FEW, FLOOR_MANY, FLOOR_MOST,
    POINTERS_FEW, POINTERS_MOST,
    RESERVE, CREATE, MAP, SET_ACCESS, GET_ACCESS, ATTRIBUTE, UNMAP, RELEASE, FREE,
    DRIVER, TRACE, TRACE_BINARY, SHADOW, REPLAY, REPLAY_BINARY,
    READ_FEW, READ_MOST, WORK_FEW, WORK_MOST, PIECE,
    ROWS
};

struct bench {
    struct subject row[ROWS];
    struct live few, many, most, gib, trace, trace_binary, shadow, pool;
    struct mmap_rival mmap;
    struct container_rival floor[3];
    struct pointers_rival pointers[2];
    struct traced lines, records;
    char trace_file[64]; /* of the lives with a binary trace */
    struct aims aims;
    unsigned rounds;
};

static void row(struct bench *b, enum row at, const char *name, double (*batch)(void *, unsigned), void *state,
                unsigned units)
{
    b->row[at] = (struct subject){.name = name, .batch = batch, .state = state, .units = units};
}

/* A row that cannot run here has time 0 and is not printed. */
static double nothing(void *state, unsigned units)
{
    (void)state;
    (void)units;
    return 0;
}

static void lives(struct bench *b, const char *spec)
{
    live_open(&b->few, spec, FEW, 2 * MIB);
    live_open(&b->many, spec, MANY, 2 * MIB);
    live_open(&b->gib, spec, FEW, 1024 * MIB);
    row(b, LIFE_FEW, "life, 1 thousand live", live_lives, &b->few, LIVES);
    row(b, LIFE_MANY, "life, 100 thousand live", live_lives, &b->many, LIVES);
    row(b, LIFE_MOST, "life, 1 million live", live_lives, &b->most, LIVES);
    row(b, LIFE_GIB, "life of 1 GiB, 1 thousand live", live_lives, &b->gib, LIVES);
    row(b, REMAP_FEW, "remap anywhere, 1 thousand live", live_remaps, &b->few, 2000);
    row(b, REMAP_MANY, "remap anywhere, 100 thousand live", live_remaps, &b->many, 2000);
    row(b, REMAP_MOST, "remap anywhere, 1 million live", live_remaps, &b->most, 2000);
    row(b, READ_FEW, "question, 1 thousand live", live_reads, &b->few, 20000);
    row(b, READ_MOST, "question, 1 million live", live_reads, &b->most, 20000);
    live_open(&b->pool, spec, 1, 2 * MIB);
    row(b, PIECE, "piece of a warm pool, made and freed", live_pieces, &b->pool, LIVES);
    row(b, WORK_FEW, "work, waited for by the hundred", live_works_by_the_hundred, &b->few, 20000);
    row(b, WORK_MOST, "work, as much as is kept in flight", live_works, &b->few, 20000);
}

static void calls(struct bench *b)
{
    static const struct {
        enum row row;
        const char *name;
        double (*batch)(void *state, unsigned units);
    } call[] = {
        {RESERVE, "reserve", live_reserve}, {CREATE, "create", live_create},
        {MAP, "map", live_map}, {SET_ACCESS, "setaccess", live_set_access},
        {GET_ACCESS, "getaccess", live_get_access}, {ATTRIBUTE, "pointer attribute", live_pointer_attribute},
        {UNMAP, "unmap", live_unmap}, {RELEASE, "release", live_release}, {FREE, "free", live_free},
    };
    for (size_t i = 0; i < sizeof call / sizeof call[0]; i++)
        row(b, call[i].row, call[i].name, call[i].batch, &b->few, LIVE_BATCH);
}

static void pointers(struct bench *b)
{
    static const uint64_t live[] = {FEW, MOST};
    static const char *const name[] = {"pointers, 1 thousand live", "pointers, 1 million live"};
    for (unsigned i = 0; i < 2; i++) {
        bool there = pointers_rival_open(&b->pointers[i], live[i]);
        row(b, POINTERS_FEW + i, name[i], there ? pointers_rival_changes : nothing, &b->pointers[i], LIVES);
    }
}

static void rivals(struct bench *b)
{
    static const uint64_t live[] = {FEW, MANY, MOST};
    static const char *const name[] = {"container, 1 thousand live", "container, 100 thousand live",
                                       "container, 1 million live"};
    bool there = mmap_rival_open(&b->mmap, FEW);
    row(b, MMAP, "life of mmap, 1 thousand live", there ? mmap_rival_lives : nothing, &b->mmap, 300);
    for (unsigned i = 0; i < 3; i++) {
        there = container_rival_open(&b->floor[i], live[i]);
        row(b, FLOOR_FEW + i, name[i], there ? container_rival_lives : nothing, &b->floor[i], LIVES);
    }
}

/* Lives with a trace, and calls of one that are replayed, in either form. Lines go to /dev/null, records into a file. */
static void traces(struct bench *b, const char *spec)
{
    enum { LINES = 1000, RECORDS = 10000 };
    char text[256];
    snprintf(text, sizeof text, "trace=/dev/null | %s", spec);
    live_open(&b->trace, text, FEW, 2 * MIB);
    row(b, TRACE, "life with trace, of lines", live_lives, &b->trace, 500);
    row(b, REPLAY, "replay of lines, a call", traced_open(&b->lines, spec, LINES, false) ? traced_replays : nothing, &b->lines,
        TRACED_CALLS * LINES);
    const bool good = traced_open(&b->records, spec, RECORDS, true);
    row(b, REPLAY_BINARY, "replay of the binary form, a call", good ? traced_replays : nothing, &b->records, TRACED_CALLS * RECORDS);
    snprintf(b->trace_file, sizeof b->trace_file, "%s/life.vtrace", b->records.folder);
    snprintf(text, sizeof text, "trace=%s | %s", b->trace_file, spec);
    if (good)
        live_open(&b->trace_binary, text, FEW, 2 * MIB);
    row(b, TRACE_BINARY, "life with trace, binary", good ? live_lives : nothing, &b->trace_binary, LIVES);
}

static void ways(struct bench *b, const char *spec)
{
    char text[256];
    snprintf(text, sizeof text, "shadow | %s", spec);
    live_open(&b->shadow, text, FEW, 2 * MIB);
    row(b, SHADOW, "life with shadow", live_lives, &b->shadow, 500);
    row(b, DRIVER, "life through libcuda.so.1", driver_open(BENCH_LIBCUDA) ? driver_lives : nothing, NULL, LIVES);
}

/* ---- the table ---- */

static double median(const struct bench *b, enum row at)
{
    return subject_median(&b->row[at], b->rounds);
}

static void print_life(struct bench *b, enum row at)
{
    double mine = median(b, at), theirs = median(b, MMAP);
    if (mine <= 0)
        return;
    printf("  %-34s %9.0f ns", b->row[at].name, mine);
    if (theirs > 0)
        aims_ratio(&b->aims, b->row[at].name, theirs / mine, AIM_LEAST, "of it in one life of mmap");
    else
        putchar('\n');
}

static void print_call(struct bench *b, enum row at)
{
    const char *name = b->row[at].name;
    double mine = median(b, at), h100 = recorded_call("h100", name), h200 = recorded_call("h200x2", name);
    printf("  %-34s %9.0f ns", name, mine);
    if (h100 > 0 && h200 > 0)
        printf("   recorded: H100 %.0f, H200 %.0f ns,", 1000 * h100, 1000 * h200);
    aims_ratio(&b->aims, name, mine / median(b, LIFE_FEW), AIM_MOST, "of a life");
}

static void print_table(struct bench *b)
{
    printf("medians of %u interleaved rounds, processor time; more lives in one of mmap's is better\n", b->rounds);
    printf("  %-34s %9.0f ns\n", b->row[MMAP].name, median(b, MMAP));
    printf("  %-34s %9.0f ns\n", "recorded on the H100", 1000 * recorded_life("h100"));
    printf("  %-34s %9.0f ns\n", "recorded on the H200", 1000 * recorded_life("h200x2"));
    for (enum row at = LIFE_FEW; at <= POINTERS_MOST; at++)
        print_life(b, at);
    for (enum row at = DRIVER; at <= SHADOW; at++)
        print_life(b, at);
    puts("calls, each for many mappings before the next");
    for (enum row at = RESERVE; at <= FREE; at++)
        print_call(b, at);
}

static void print_aims(struct bench *b, double room)
{
    const double life = median(b, LIFE_FEW);
    puts("wanted");
    aims_wanted(&b->aims, "lives in one of mmap's", median(b, MMAP) / life, AIM_LEAST, 20);
    aims_wanted(&b->aims, "1 million live to 1 thousand", median(b, LIFE_MOST) / life, AIM_MOST, 1.5);
    aims_wanted(&b->aims, "1 GiB to 2 MiB", median(b, LIFE_GIB) / life, AIM_MOST, 2);
    aims_wanted(&b->aims, "remap anywhere, 1 million to 1 thousand", median(b, REMAP_MOST) / median(b, REMAP_FEW), AIM_MOST, 4);
    aims_wanted(&b->aims, "what a million adds to a remap, to pointers",
                (median(b, REMAP_MOST) - median(b, REMAP_FEW)) / (median(b, POINTERS_MOST) - median(b, POINTERS_FEW)), AIM_MOST, 2);
    aims_wanted(&b->aims, "container, 1 million to 1 thousand", median(b, FLOOR_MOST) / median(b, FLOOR_FEW), AIM_MOST, 0);
    aims_wanted(&b->aims, "bytes a live mapping", room, AIM_MOST, 96);
    aims_wanted(&b->aims, "piece of a warm pool to a life", median(b, PIECE) / life, AIM_MOST, 1);
    aims_wanted(&b->aims, "work: all that is kept to 100", median(b, WORK_MOST) / median(b, WORK_FEW), AIM_MOST, 2);
    aims_wanted(&b->aims, "life with binary trace to without", median(b, TRACE_BINARY) / life, AIM_MOST, 3);
    aims_wanted(&b->aims, "replayed call to a call of a life", TRACED_CALLS * median(b, REPLAY_BINARY) / life, AIM_MOST, 20);
}

static void print_rest(struct bench *b)
{
    puts("questions, at random places; work in flight");
    for (enum row at = READ_FEW; at < ROWS; at++)
        printf("  %-36s %7.0f ns\n", b->row[at].name, median(b, at));
    for (enum row at = REPLAY; at <= REPLAY_BINARY; at++)
        if (median(b, at) > 0)
            printf("  %-34s %9.0f ns, %.0f thousand calls a second\n", b->row[at].name, median(b, at), 1e6 / median(b, at));
}

static void close_all(struct bench *b)
{
    struct live *const live[] = {&b->few, &b->many, &b->most, &b->gib, &b->trace, &b->trace_binary, &b->shadow, &b->pool};
    for (size_t i = 0; i < sizeof live / sizeof live[0]; i++)
        live_close(live[i]);
    for (unsigned i = 0; i < 3; i++)
        container_rival_close(&b->floor[i]);
    for (unsigned i = 0; i < 2; i++)
        pointers_rival_close(&b->pointers[i]);
    mmap_rival_close(&b->mmap);
    remove(b->trace_file);
    traced_close(&b->lines);
    traced_close(&b->records);
}

int main(int argc, char **argv)
{
    static struct bench b;
    uint64_t rounds = 15;
    const char *spec = "sim:h100", *result = NULL;
    const struct option_row options[] = {
        {"backend", OPTION_TEXT, &spec, 0, 0},
        {"rounds", OPTION_NUMBER, &rounds, 1, SUBJECT_ROUNDS},
        {"result", OPTION_TEXT, &result, 0, 0},
    };
    if (!options_read(options, sizeof options / sizeof options[0], argc, argv, stderr) || !aims_open(&b.aims, result))
        return 2;
    b.rounds = (unsigned)rounds;
    double room = room_of_mappings(&b.most, spec, MOST);
    lives(&b, spec);
    calls(&b);
    rivals(&b);
    pointers(&b);
    ways(&b, spec);
    traces(&b, spec);
    subjects_run(b.row, ROWS, b.rounds);
    print_table(&b);
    print_rest(&b);
    print_aims(&b, room);
    close_all(&b);
    return !aims_close(&b.aims);
}
