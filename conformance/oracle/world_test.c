/* SPDX-License-Identifier: Apache-2.0 */
/* world_test.c - the number of states of the small world, counted in another way, and that a difference is noticed. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "tap.h"

/* Ways to fill the granules from `from` to the third with mappings that start there, each with `rights` sets of
 * rights: nothing, A (one granule), or B (two; at the third it runs past). */
static uint64_t ways(int from, uint64_t rights)
{
    if (from >= 3)
        return 1;
    return ways(from + 1, rights) * (1 + rights) + ways(from + 2, rights) * rights;
}

/* R1 and R2 reserved, R1 alone (its mapping at granule 0, if any), R2 alone, neither; each handle has 0 to max_refs
 * references, where 0 means gone unless it is mapped. */
static uint64_t counted(int devices, unsigned max_refs)
{
    uint64_t rights = devices == 1 ? 3 : 9, references = max_refs + 1;
    return (ways(0, rights) + (1 + 2 * rights) + ways(1, rights) + 1) * references * references;
}

static void reached_all(const struct world_options *options, const struct world_report *report)
{
    uint64_t all = counted(options->devices, options->max_refs);
    if (options->max_states < all) {
        tap_skip("CUVMM_TEST_SCALE limits the search to a part", "the search closed");
        return;
    }
    tap_ok(report->closed, "the search closed");
    if (options->strict)
        tap_ok(report->states < all, "strict: no mapping runs past or across reservations");
    else
        tap_u64(report->states, all, "every state was reached");
}

/* With CUVMM_TEST_SCALE below 100, only that percentage of the states. */
static void closes(struct world_options *options)
{
    struct world_report report;
    unsigned percent = random_rounds(100);
    options->max_states = percent < 100 ? counted(options->devices, options->max_refs) * percent / 100 : 100000;
    world_explore(options, &report);
    tap_ok(report.same, "max_refs %u%s: no difference%s%s", options->max_refs, options->strict ? ", strict" : "",
           report.same ? "" : ": ", report.difference);
    reached_all(options, &report);
    tap_u64(report.refused + report.kept + report.changed + report.outside, report.transitions,
            "every call was refused, kept the state, changed it or left the world");
    tap_ok(report.halfway < report.refused / 100, "few refused calls have side effects");
    tap_ok(report.transitions > report.states * 800, "hundreds of calls were tried from each state");
    steps_free(&report.path);
}

static void stops_at_the_bound(void)
{
    struct world_report report;
    world_explore(&(struct world_options){.devices = 1, .max_refs = 1, .max_states = 20}, &report);
    tap_u64(report.states, 20, "at most max_states states");
    tap_ok(report.same && !report.closed, "and the report states that some are left");
    steps_free(&report.path);
}

static void notices(void)
{
    struct world_report report;
    char error[600];
    world_explore(&(struct world_options){.devices = 1, .max_refs = 1, .max_states = 1000, .flip = 200}, &report);
    tap_ok(!report.same && !report.closed, "an inverted prediction is noticed");
    tap_ok(report.path.count > 0 && report.difference[0], "with the path there and the difference: %s",
           report.difference);
    tap_u64(lockstep_run("sim:h100", &report.path, 0, 0, error, sizeof error), report.path.count,
            "a path on which correct predictions agree");
    steps_free(&report.path);
}

/* The dump has one line for each call, transition and state, and does not change from run to run. */
static void dumps(void)
{
    char *text[2];
    size_t length[2];
    struct world_report report;
    for (int i = 0; i < 2; i++) {
        FILE *file = open_memstream(&text[i], &length[i]);
        if (!file)
            tap_bail("open_memstream failed");
        world_explore(&(struct world_options){.devices = 1, .max_refs = 1, .max_states = 20, .dump = file}, &report);
        fclose(file);
        steps_free(&report.path);
    }
    size_t lines = 0;
    for (const char *at = text[0]; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    tap_u64(lines, 2 + report.calls + report.transitions + report.states, "a line each");
    tap_ok(length[0] == length[1] && !memcmp(text[0], text[1], length[0]), "the same every time");
    tap_ok(strstr(text[0], "\nt s0 a0 0 - s1\n") != NULL, "the first reservation leads to the second state");
    free(text[0]);
    free(text[1]);
}

/* ---- as a driver ---- */

static struct table *empty_table(void)
{
    struct table *table = calloc(1, sizeof *table);
    if (!table)
        tap_bail("no memory");
    return table;
}

/* A replay of the recording agrees, and one on a system with different answers does not. */
static void recordings(void)
{
    struct table *table = empty_table();
    struct world_report report;
    struct world_options options = {.devices = 1, .max_refs = 1, .max_states = 60, .spec = "as-driver:sim:h100",
                                    .table = table, .record = tmpfile()};
    FILE *file = options.record;
    if (!file)
        tap_bail("no temporary file");
    world_explore(&options, &report);
    tap_ok(report.same && !table->count && report.visited == 60, "a driver as predicted: no difference in 60 states");
    tap_ok(report.spared > 0 && report.spared < report.transitions / 10, "some calls were skipped");
    options.record = NULL;
    options.recording = file;
    rewind(file);
    world_explore(&options, &report);
    tap_ok(report.same && !report.unlike && report.visited == 60, "it gives the recorded answers");
    options.spec = "as-driver:fault=mem_retain_allocation_handle:9:NOT_FOUND:forever|sim:h100";
    rewind(file);
    world_explore(&options, &report);
    tap_ok(report.unlike > 0 && strstr(report.difference, "NOT_FOUND"),
           "another system does not: %s", report.difference);
    options.max_refs = 2;
    options.devices = 2;
    options.spec = "as-driver:sim:h200x2";
    rewind(file);
    world_explore(&options, &report);
    tap_text(report.difference, "the recording has a different alphabet", "the alphabet must be the same");
    fclose(file);
    free(table);
}

/* The search continues after a difference, counts its kind, and shows the shortest path to it. */
static void differences(void)
{
    struct table *table = empty_table();
    struct world_report report;
    size_t states = random_rounds(200);
    world_explore(&(struct world_options){.devices = 1, .max_refs = 1, .max_states = states, .table = table,
                                          .spec = "as-driver:fault=mem_release:50:NOT_PERMITTED|sim:h100"},
                  &report);
    tap_ok(table->count > 0 && table->count < 4, "a fault of each system opened is few kinds of differences");
    tap_ok(table->row[0].times > 0, "the first: %s", table->row[0].signature);
    tap_ok(strstr(table->row[0].script, "mem_release") != NULL, "with a path to it");
    tap_ok((report.closed || report.states == states) && report.same, "and all the rest was searched");
    free(table);
}

/* A budget ends the search between two states. */
static void budgets(void)
{
    struct table *table = empty_table();
    struct world_report report;
    world_explore(&(struct world_options){.devices = 1, .max_refs = 15, .max_states = 1 << 22, .budget = 1,
                                          .table = table, .spec = "as-driver:sim:h100"},
                  &report);
    tap_ok(report.ended && !report.closed && report.same, "a budget of a second ends the search");
    /* the number depends on the machine's speed */
    tap_ok(report.visited < report.states, "before all states were visited");
    free(table);
}

/* One part of the states, and then another; the recordings of both make one. */
static void parts(void)
{
    struct table *table = empty_table();
    struct world_report first, second, whole;
    struct world_options options = {.devices = 1, .max_refs = 1, .max_states = 40, .spec = "as-driver:sim:h100",
                                    .table = table, .record = tmpfile()};
    FILE *file = options.record;
    if (!file)
        tap_bail("no temporary file");
    options.to = 4;
    world_explore(&options, &first);
    tap_ok(first.same && first.ended && first.visited == 4, "to: the first 4 states");
    options.from = 4;
    options.to = 10;
    world_explore(&options, &second);
    tap_ok(second.same && second.ended && second.visited == 6, "from and to: the next 6");
    options = (struct world_options){.devices = 1, .max_refs = 1, .max_states = 40, .spec = "as-driver:sim:h100",
                                     .table = table, .recording = file};
    rewind(file);
    world_explore(&options, &whole);
    tap_ok(whole.same && !whole.unlike && whole.visited == 10, "recorded one after another they form one recording");
    tap_u64(whole.transitions, first.transitions + second.transitions, "of as many transitions");
    tap_u64(whole.compared, 10 * whole.calls, "and each answer is compared");
    options.recording = NULL;
    options.from = 41;
    world_explore(&options, &whole);
    tap_text(whole.difference, "there are only 40 states", "a part beyond the last state is refused");
    tap_ok(!whole.same && !whole.visited, "and nothing is visited");
    fclose(file);
    free(table);
}

int main(void)
{
    parts();
    closes(&(struct world_options){.devices = 1, .max_refs = 1});
    closes(&(struct world_options){.devices = 1, .max_refs = 1, .strict = true});
    stops_at_the_bound();
    notices();
    dumps();
    recordings();
    differences();
    budgets();
    return tap_done();
}
