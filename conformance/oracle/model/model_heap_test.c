/* SPDX-License-Identifier: Apache-2.0 */
/* The model's heap, compared with every step of the recorded random sequences (facts, pools, groups Q and S): where an allocation
 * lies, how much is reserved and used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_heap.h"
#include "tap.h"

#define MIB ((uint64_t)1 << 20)
enum { STREAMS = 4, NUMBERS = 48 };

/* A sequence: what its name says of it (pools/q_sequences.c). */
struct plan {
    const char *name;
    unsigned reuse;
    bool held; /* no free completes before the end */
    uint64_t threshold, limit;
};

#define KEEP UINT64_MAX
static const struct plan plans[] = {
    {"mib_synced", 7, false, 0, 0}, {"mib_synced_64M", 7, false, 64 * MIB, 0}, {"small_synced", 7, false, 0, 0}, {"wide_synced", 7, false, 0, 0},
    {"mib_plain_0", 7, false, 0, 0}, {"small_held", 7, true, KEEP, 0}, {"mib_held", 7, true, KEEP, 0}, {"two_done_none", 0, false, KEEP, 0},
    {"two_done_none_order", 0, false, KEEP, 0}, {"two_done_none_sync", 0, false, KEEP, 0}, {"two_done_follow", 1, false, KEEP, 0},
    {"two_done_opportunistic", 2, false, KEEP, 0}, {"two_done_internal", 4, false, KEEP, 0}, {"two_held", 7, true, KEEP, 0},
    {"two_held_none", 0, true, KEEP, 0}, {"two_held_order", 7, true, KEEP, 0}, {"two_held_follow", 1, true, KEEP, 0},
    {"two_held_opportunistic", 2, true, KEEP, 0}, {"two_held_internal", 4, true, KEEP, 0}, {"two_held_follow_opp", 3, true, KEEP, 0},
    {"two_held_small", 7, true, KEEP, 0}, {"two_synced", 7, false, 0, 0}, {"two_synced_64M", 7, false, 64 * MIB, 0},
    {"three_synced", 7, false, 100 * MIB, 0}, {"limited", 7, false, KEEP, 200 * MIB}, {"limited_two", 7, false, 0, 200 * MIB},
    {"three_held", 7, true, KEEP, 0}, {"three_opportunistic", 2, false, 0, 0}, {"three_follow_synced", 1, false, 0, 0},
    {"two_none_synced", 0, false, 64 * MIB, 0}, {"limited_held", 7, true, KEEP, 200 * MIB}, {"limited_held_internal", 4, true, KEEP, 200 * MIB},
    {"limited_held_none", 0, true, KEEP, 200 * MIB}, {"limited_three", 7, false, 0, 256 * MIB}, {"limited_three_none", 0, false, 64 * MIB, 256 * MIB},
    {"limited_three_internal", 4, false, 64 * MIB, 256 * MIB}, {"limited_small", 7, false, 0, 1},
};
static const struct plan usual = {"", 7, false, KEEP, 0};

/* A sequence on its way. after[t][s]: the frees of s up to this one are before what t does next. */
struct run {
    struct plan plan;
    struct model_heap heap;
    struct model_streams streams;
    uint64_t after[STREAMS][STREAMS];
    uint64_t place[NUMBERS], first;
    bool any;
    unsigned steps, wrong;
    char name[64];
};

static bool is_ordered(const void *user, uint64_t in, uint64_t of, uint64_t mark)
{
    const struct run *run = user;
    return mark <= run->after[in][of];
}

static bool is_complete(const void *user, uint64_t of, uint64_t mark)
{
    (void)of, (void)mark;
    return !((const struct run *)user)->plan.held;
}

static uint64_t endless(const void *user, uint64_t wanted)
{
    (void)user;
    return wanted;
}

static void begin(struct run *run, const char *name, uint64_t device)
{
    memset(run, 0, sizeof *run);
    run->plan = usual;
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        if (!strcmp(plans[i].name, name))
            run->plan = plans[i];
    snprintf(run->name, sizeof run->name, "%s", name);
    model_heap_open(&run->heap, run->plan.limit, MODEL_SLOT, model_heap_range(run->plan.limit, MODEL_SLOT, device),
                    &run->streams);
    run->heap.reuse = run->plan.reuse;
    run->heap.threshold = run->plan.threshold;
}

static void end(struct run *run, const char *machine)
{
    if (run->name[0])
        tap_ok(run->wrong == 0 && run->steps > 0, "%s, %s: %u steps", machine, run->name, run->steps);
    model_heap_close(&run->heap);
    free(run->streams.stream);
    run->name[0] = '\0';
}

static void order(struct run *run, unsigned before, unsigned then)
{
    uint64_t *mine = run->after[then];
    mine[before] = run->heap.frees;
    for (unsigned s = 0; s < STREAMS; s++)
        if (s != then && run->after[before][s] > mine[s])
            mine[s] = run->after[before][s];
}

/* Makes the call of a line. True with *at for an allocation that succeeds. */
static bool act(struct run *run, const char *call, uint64_t *at)
{
    const struct model_order streams = {is_ordered, is_complete, endless, run};
    unsigned a = 0, s = 0;
    bool release = false;
    unsigned long long size = 0;
    if (sscanf(call, "a%u.%llu.%u", &a, &size, &s) == 3) {
        uint64_t got = model_heap_take(&run->heap, size, s, &streams);
        if (got != UINT64_MAX)
            *at = run->place[a] = got;
        return got != UINT64_MAX;
    }
    if (sscanf(call, "f%u.%u", &a, &s) == 2)
        model_heap_free(&run->heap, model_heap_block(&run->heap, run->place[a]), s);
    else if (sscanf(call, "p%u", &a) == 1)
        model_heap_free_now(&run->heap, model_heap_block(&run->heap, run->place[a]));
    else if (sscanf(call, "o%u.%u", &a, &s) == 2)
        order(run, a, s);
    else if (sscanf(call, "t%llu", &size) == 1)
        model_heap_trim_to(&run->heap, size);
    else if (sscanf(call, "s%u", &s) == 1 || !strcmp(call, "c0"))
        release = model_heap_synchronise(&run->heap, call[0] == 'c', s, &streams);
    if (release)
        model_heap_trim(&run->heap, run->heap.threshold);
    return false;
}

/* One line: Q.NAME.STEP.CALL<TAB>[OUT_OF_MEMORY ][off=N ]res=N used=N */
static void step(struct run *run, const char *call, const char *answer)
{
    char want[128], off[48] = "";
    uint64_t at = 0;
    bool taken = act(run, call, &at);
    if (taken && !run->any)
        run->first = at;
    run->any |= taken;
    if (taken)
        snprintf(off, sizeof off, "off=%lld ", (long long)(at - run->first));
    snprintf(want, sizeof want, "%s%sres=%llu used=%llu", call[0] == 'a' && !taken ? "OUT_OF_MEMORY " : "", off,
             (unsigned long long)(run->heap.reserved * MODEL_SLOT), (unsigned long long)run->heap.used);
    run->steps++;
    if (strcmp(want, answer) != 0 && run->wrong++ == 0)
        tap_note("%s, step %u, %s: recorded \"%s\", the model says \"%s\"", run->name, run->steps - 1, call, answer, want);
}

static void replay(const char *machine, uint64_t device)
{
    char path[128], line[512];
    snprintf(path, sizeof path, "conformance/recorded/facts/%s-580.159.04-pools.tsv", machine);
    FILE *file = fopen(path, "r");
    if (!file)
        tap_bail("%s cannot be read", path);
    struct run run = {.steps = 0};
    while (fgets(line, sizeof line, file)) {
        char name[64], call[64], group;
        unsigned number;
        char *answer = strchr(line, '\t');
        line[strcspn(line, "\n")] = '\0';
        if (!answer || sscanf(line, "%c.%63[^.].%u.%63s", &group, name, &number, call) != 4 || (group != 'Q' && group != 'S'))
            continue;
        if (number == 0) {
            end(&run, machine);
            begin(&run, name, device);
        }
        step(&run, call, answer + 1);
    }
    end(&run, machine);
    fclose(file);
}

int main(void)
{
    replay("h100", 81088 * MIB);
    replay("h200x2", 143360 * MIB);
    return tap_done();
}
