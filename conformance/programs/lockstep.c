/* lockstep - random calls on the simulator and on the reference model, side by side.
 *
 *   lockstep [--spec SPEC]... [--seed S] [--calls N] [--episode N] [--strict] [--script FILE] [--rules]
 *            [--flip N]
 *   lockstep --spec cuda [--as-driver] [--seed S] [--calls N] [--episode N] [--check-every N] [--budget SECONDS]
 *            [--explained FILE] [--record FILE]
 *   lockstep --replay FILE
 *   lockstep --replay-recording FILE [--spec SPEC]
 *
 * A run is cut into episodes, each on a fresh system with a seed of its own. When both differ, the episode is shrunk,
 * shown, written to FILE where one is named, and the run ends with status 1. One TAP point per spec.
 * --rules tells how often each rule was the answer; --flip N turns the model's Nth prediction of every episode round,
 * which must be noticed.
 *
 * On a driver (cuda, or any spec with --as-driver) a run goes on after a difference: each kind is shrunk once and
 * counted, and all are shown at the end. Kinds that FILE of --explained lists (signature, tab, reason;
 * conformance/recordings/explained.tsv where none is named) are no failures. --check-every says after how many calls
 * the whole state is looked at; --budget stops the run cleanly. --record writes a line for each episode, which
 * --replay-recording compares with what a simulator answers.
 * CUVMM_TEST_SCALE is the percent of the default number of calls to make.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep.h"
#include "lockstep_child.h"
#include "lockstep_drive.h"
#include "rules.h"
#include "shrink.h"
#include "tap.h"

enum { MAX_SPECS = 16, CHECK_EVERY = 250, PATIENCE = 60, SHRINKING = 8 };

struct options {
    const char *specs[MAX_SPECS];
    size_t spec_count;
    uint64_t seed, calls, episode, flip;
    bool strict, as_driver;
    uint64_t check_every, budget;
    const char *script, *replay, *recording, *record, *explained;
    uint64_t *rules; /* how often each rule was the answer, in the order of vmm_rules(); NULL: not counted */
};

struct run {
    const struct options *options;
    char spec[96];
    uint64_t made, succeeded, unit;
    char difference[600];
};

/* ---- shrinking ---- */

struct search {
    const char *spec;
    uint64_t flip;
    char *difference;
    size_t size;
};

static bool differs(void *user, const struct script *script, size_t *length)
{
    const struct search *search = user;
    size_t at = lockstep_run(search->spec, script, CHECK_EVERY, search->flip, search->difference, search->size);
    if (at < script->count)
        *length = at + 1;
    return at < script->count;
}

static void show(struct run *run, struct script *script, uint64_t seed)
{
    char line[512];
    struct search search = {run->spec, run->options->flip, run->difference, sizeof run->difference};
    size_t length = script->count;
    if (!differs(&search, script, &length))
        tap_note("the difference does not come back when the episode is run again: unshrunk");
    else
        tap_note("shrunk with %zu runs", shrink(script, differs, &search));
    lockstep_run(run->spec, script, CHECK_EVERY, run->options->flip, run->difference, sizeof run->difference);
    for (size_t i = 0; i < script->count; i++) {
        step_print(&script->steps[i], run->unit, line, sizeof line);
        tap_note("  %s", line);
    }
    tap_note("last step: %s", run->difference);
    tap_note("again: lockstep --spec %s --seed %" PRIu64 " --episode %" PRIu64 " --calls %" PRIu64 " --flip %" PRIu64,
             run->spec, seed, run->options->episode, run->options->episode, run->options->flip);
    if (!run->options->script)
        return;
    FILE *file = fopen(run->options->script, "w");
    if (!file)
        tap_bail("--script %s: %s", run->options->script, strerror(errno));
    script_write(file, run->spec, run->unit, script);
    fclose(file);
    tap_note("again: lockstep --replay %s", run->options->script);
}

/* ---- rules ---- */

static void count_rule(const struct options *options, const char *id)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; options->rules && id && i < count; i++)
        options->rules[i] += !strcmp(rules[i].id, id);
}

static void show_rules(const struct options *options)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; options->rules && i < count; i++)
        tap_note("%10" PRIu64 " %s", options->rules[i], rules[i].id);
}

/* ---- running ---- */

/* One episode on a fresh system; calls: how many at most. False when both differ. */
static bool episode(struct run *run, uint64_t seed, uint64_t calls)
{
    struct lockstep pair;
    struct chooser dice = {seed};
    struct script script = {0};
    if (!lockstep_open(&pair, run->spec))
        tap_bail("%s", pair.difference);
    pair.flip = run->options->flip;
    run->unit = lockstep_unit(&pair);
    bool same = true;
    for (uint64_t i = 0; same && i < calls; i++) {
        struct step step;
        lockstep_random(&dice, &pair, STEP_FIRST_NAME + (uint32_t)i, &step);
        script_add(&script, &step);
        same = lockstep_step(&pair, &step);
        run->succeeded += pair.changed;
        count_rule(run->options, pair.rule);
        if (same && ((i + 1) % CHECK_EVERY == 0 || i + 1 == calls))
            same = lockstep_check(&pair);
        else if (same && pair.refused && i % 8 == 0)
            same = lockstep_check_objects(&pair);
    }
    run->made += pair.calls;
    lockstep_close(&pair);
    if (!same)
        show(run, &script, seed);
    script_free(&script);
    return same;
}

static bool random_run(const struct options *options, const char *spec, uint64_t calls)
{
    struct run run = {.options = options};
    snprintf(run.spec, sizeof run.spec, "%s%s", spec, options->strict && !strstr(spec, ",strict") ? ",strict" : "");
    bool same = true;
    uint64_t seed = options->seed;
    for (uint64_t done = 0; same && done < calls; done += options->episode)
        same = episode(&run, seed++, calls - done < options->episode ? calls - done : options->episode);
    tap_note("%s: %" PRIu64 " calls compared, %" PRIu64 " random ones succeeded", run.spec, run.made, run.succeeded);
    return tap_ok(same, "%s: system and model agree, --seed %" PRIu64 " --calls %" PRIu64, run.spec, options->seed,
                  calls);
}

/* ---- drivers ---- */

static bool drive(const struct options *options, const char *spec, uint64_t calls)
{
    char named[96], error[200];
    struct drive_report *report = child_share(sizeof *report);
    struct drive_options drive = {.spec = named, .seed = options->seed, .calls = calls, .episode = options->episode,
                                  .check_every = options->check_every, .patience = PATIENCE, .shrinking = SHRINKING,
                                  .budget = (unsigned)options->budget};
    snprintf(named, sizeof named, "%s%s", options->as_driver ? "as-driver:" : "", spec);
    const char *explained = drive_explained(options->explained);
    if (explained && !table_explain(&report->table, explained, error, sizeof error))
        tap_bail("--explained %s", error);
    if (options->record && !(drive.record = fopen(options->record, "w")))
        tap_bail("--record %s: %s", options->record, strerror(errno));
    if (drive.record)
        fprintf(drive.record, "# random calls on %s: lockstep --seed S --episode N; see conformance/lockstep_drive.h\n",
                named);
    drive_run(&drive, report);
    if (drive.record)
        fclose(drive.record);
    size_t unexplained = table_show(&report->table);
    tap_note("%s: %" PRIu64 " random calls in %" PRIu64 " episodes (%" PRIu64 " succeeded, %" PRIu64 " left out), %"
             PRIu64 " calls compared in all; %" PRIu64 " calls ended the process; %" PRIu64 " of %" PRIu64
             " reservations elsewhere than expected; %" PRIu64 " calls recorded",
             named, report->made, report->episodes, report->succeeded, report->skipped, report->compared,
             report->deaths, report->strayed, report->placed, report->recorded);
    return tap_ok(unexplained == 0 && report->made > 0,
                  "%s: driver and model agree, --seed %" PRIu64 " --calls %" PRIu64,
                  named, options->seed, calls);
}

static bool replay_recording(const struct options *options, const char *path, uint64_t most)
{
    char spec[96];
    uint64_t episodes, calls;
    FILE *file = fopen(path, "r");
    if (!file)
        tap_bail("--replay-recording %s: %s", path, strerror(errno));
    snprintf(spec, sizeof spec, "as-driver:%s", options->spec_count ? options->specs[0] : "sim:h100");
    uint64_t different = drive_replay(spec, file, most, &episodes, &calls);
    fclose(file);
    return tap_ok(different == 0 && episodes > 0,
                  "%s answers as %s: %" PRIu64 " of %" PRIu64 " episodes, %" PRIu64 " calls",
                  spec, path, episodes - different, episodes, calls);
}

static int replay(const struct options *options)
{
    char spec[96] = "", error[200], difference[600];
    struct script script;
    FILE *file = fopen(options->replay, "r");
    if (!file)
        tap_bail("--replay %s: %s", options->replay, strerror(errno));
    if (!script_read(file, spec, sizeof spec, &script, error, sizeof error))
        tap_bail("--replay %s: %s", options->replay, error);
    fclose(file);
    size_t at = lockstep_run(spec, &script, 1, options->flip, difference, sizeof difference);
    if (!tap_ok(at == script.count, "%s: system and model agree on %s", spec, options->replay))
        tap_note("step %zu: %s", at + 1, difference);
    script_free(&script);
    return tap_done();
}

/* ---- options ---- */

static uint64_t number(const char *option, const char *text)
{
    char *end;
    errno = 0;
    uint64_t value = text ? strtoull(text, &end, 0) : 0;
    if (!text || errno || *end || end == text)
        tap_bail("%s wants a number, not \"%s\"", option, text ? text : "");
    return value;
}

static void read_options(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--strict")) {
            o->strict = true;
            continue;
        }
        if (!strcmp(argv[i], "--as-driver")) {
            o->as_driver = true;
            continue;
        }
        if (!strcmp(argv[i], "--rules")) {
            if (!o->rules && !(o->rules = calloc(VMM_RULE_COUNT, sizeof *o->rules)))
                tap_bail("--rules: no memory");
            continue;
        }
        if (!value)
            tap_bail("%s: unknown, or without its value", argv[i]);
        if (!strcmp(argv[i], "--spec") && o->spec_count < MAX_SPECS)
            o->specs[o->spec_count++] = value;
        else if (!strcmp(argv[i], "--seed"))
            o->seed = number(argv[i], value);
        else if (!strcmp(argv[i], "--calls"))
            o->calls = number(argv[i], value);
        else if (!strcmp(argv[i], "--episode"))
            o->episode = number(argv[i], value);
        else if (!strcmp(argv[i], "--flip"))
            o->flip = number(argv[i], value);
        else if (!strcmp(argv[i], "--script"))
            o->script = value;
        else if (!strcmp(argv[i], "--replay"))
            o->replay = value;
        else if (!strcmp(argv[i], "--check-every"))
            o->check_every = number(argv[i], value);
        else if (!strcmp(argv[i], "--budget"))
            o->budget = number(argv[i], value);
        else if (!strcmp(argv[i], "--explained"))
            o->explained = value;
        else if (!strcmp(argv[i], "--record"))
            o->record = value;
        else if (!strcmp(argv[i], "--replay-recording"))
            o->recording = value;
        else
            tap_bail("%s: use --spec --seed --calls --episode --strict --script --replay --flip --rules --as-driver "
                     "--check-every --budget --explained --record --replay-recording", argv[i]);
        i++;
    }
    if (!o->episode)
        tap_bail("--episode 0: an episode has at least one call");
}

int main(int argc, char **argv)
{
    static const char *const everything[] = {"sim:h100",        "sim:h200x2",     "sim:min",       "sim:max", "sim:odd",
                                             "sim:h100,strict", "sim:max,strict", "sim:odd,strict"};
    const char *scale = getenv("CUVMM_TEST_SCALE");
    struct options options = {.seed = 1, .calls = 800000, .episode = 2000, .check_every = CHECK_EVERY};
    if (scale && *scale)
        options.calls = options.calls * number("CUVMM_TEST_SCALE", scale) / 100;
    read_options(&options, argc, argv);
    if (options.replay)
        return replay(&options);
    if (options.recording) {
        replay_recording(&options, options.recording, UINT64_MAX);
        return tap_done();
    }
    bool usual = options.spec_count == 0 && !options.as_driver;
    if (!options.spec_count)
        for (size_t i = 0; i < sizeof everything / sizeof everything[0]; i++)
            options.specs[options.spec_count++] = everything[i];
    for (size_t i = 0; i < options.spec_count; i++) {
        const char *backend;
        bool driver = options.as_driver || lockstep_names_driver(options.specs[i], &backend);
        (driver ? drive : random_run)(&options, options.specs[i], options.calls / options.spec_count);
    }
    if (usual) {
        const char *backend = options.specs[0];
        random_run(&options, "as-driver:sim:h100", options.calls / options.spec_count);
        options.specs[0] = "sim:h100";
        replay_recording(&options, "conformance/recordings/h100-580.159.04-random.txt", options.calls);
        options.specs[0] = backend;
    }
    show_rules(&options);
    free(options.rules);
    return tap_done();
}
