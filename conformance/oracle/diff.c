/* SPDX-License-Identifier: Apache-2.0 */
/* The options, and the report of a run; lockstep does the work. */
#include "diff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff_parts.h"
#include "lockstep_child.h"
#include "lockstep_follow.h"
#include "rules.h"
#include "shrink.h"
#include "tap.h"

enum { CHECK_EVERY = 250, CHECK_WIDE_LESS = 4, WIDE_ONE_IN = 16, WIDE = 8, PATIENCE = 60, SHRINKING = 8, NEWER_ONE_IN = 8 };

/* ---- shrinking ---- */

struct search {
    const char *spec;
    uint64_t flip, every;
    char *difference;
    size_t size;
};

static bool differs(void *user, const struct script *script, size_t *length)
{
    const struct search *search = user;
    size_t at = lockstep_run(search->spec, script, search->every, search->flip, search->difference, search->size);
    if (at < script->count)
        *length = at + 1;
    return at < script->count;
}

static void show(struct run *run, struct script *script, uint64_t seed, const char *difference)
{
    char line[512];
    struct search search = {run->spec, run->options->flip, run->options->check_every, run->difference, sizeof run->difference};
    size_t length = script->count;
    if (!differs(&search, script, &length))
        tap_note("%s: the difference does not recur when the episode runs again: unshrunk", difference);
    else
        tap_note("shrunk with %zu runs", shrink(script, differs, &search));
    lockstep_run(run->spec, script, run->options->check_every, run->options->flip, run->difference, sizeof run->difference);
    for (size_t i = 0; i < script->count; i++) {
        step_print(&script->steps[i], run->unit, line, sizeof line);
        tap_note("  %s", line);
    }
    tap_note("last step: %s", run->difference);
    tap_note("again: cuvmm diff --backend %s --seed %" PRIu64 " --episode %" PRIu64 " --calls %" PRIu64 " --flip %" PRIu64
             " --mix %" PRIu64,
             run->spec, seed, run->options->episode, run->options->episode, run->options->flip, run->options->mix);
    if (!run->options->script)
        return;
    FILE *file = fopen(run->options->script, "w");
    if (!file)
        tap_bail("--script %s: %s", run->options->script, strerror(errno));
    steps_write(file, run->spec, run->unit, script);
    fclose(file);
    tap_note("again: cuvmm diff --replay %s", run->options->script);
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

/* ---- calls ---- */

static void show_left_out(const struct lockstep_counts *counts, uint64_t made)
{
    uint64_t all = 0;
    for (int why = LEFT_OUT_NOT + 1; why < LEFT_OUT_KINDS; why++) {
        uint64_t times = 0;
        for (int call = 0; call < VMM_CALL_COUNT; call++)
            times += counts->left_out[call][why];
        all += times;
        if (times)
            tap_note("%10" PRIu64 " left out: %s", times, lockstep_left_out[why]);
        for (int call = 0; call < VMM_CALL_COUNT; call++)
            if (counts->left_out[call][why])
                tap_note("%10" PRIu64 "     %s", counts->left_out[call][why], vmm_call_name((enum vmm_call_id)call));
    }
    tap_note("%10" PRIu64 " of %" PRIu64 " random calls left out, %.3f%%", all, made, made ? 100.0 * (double)all / (double)made : 0);
}

static void show_counts(const struct options *options, const struct lockstep_counts *counts)
{
    uint64_t made = 0;
    for (int call = 0; options->counts && call < VMM_CALL_COUNT; call++) {
        if (counts->made[call])
            tap_note("%10" PRIu64 " %10" PRIu64 " succeeded %3.0f%% %s", counts->made[call], counts->succeeded[call],
                     100.0 * (double)counts->succeeded[call] / (double)counts->made[call], vmm_call_name((enum vmm_call_id)call));
        made += counts->made[call];
    }
    if (options->counts)
        show_left_out(counts, made);
}

/* ---- running ---- */

bool diff_episode(struct run *run, uint64_t seed, uint64_t calls)
{
    struct lockstep pair;
    struct chooser dice = {.state = seed};
    struct script script = {0};
    if (!lockstep_open(&pair, run->spec))
        tap_bail("%s", pair.difference);
    pair.flip = run->options->flip;
    pair.mix = (unsigned)run->options->mix;
    pair.wide = seed % WIDE_ONE_IN == WIDE;
    run->unit = lockstep_unit(&pair);
    uint64_t every = run->options->check_every * (pair.wide ? CHECK_WIDE_LESS : 1); /* 0: only at the end */
    bool same = true;
    for (uint64_t i = 0; same && i < calls; i++) {
        struct step step;
        lockstep_random(&dice, &pair, STEP_FIRST_NAME + (uint32_t)i, &step);
        steps_add(&script, &step);
        same = lockstep_step(&pair, &step);
        run->succeeded += pair.changed;
        lockstep_count(&run->counts, &pair, &step);
        count_rule(run->options, pair.rule);
        if (same && ((every && (i + 1) % every == 0) || i + 1 == calls))
            same = lockstep_check(&pair);
        else if (same && pair.refused && i % 8 == 0)
            same = lockstep_check_objects(&pair);
    }
    run->made += pair.calls;
    char difference[sizeof pair.difference];
    snprintf(difference, sizeof difference, "%s", pair.difference);
    lockstep_close(&pair);
    if (!same && run->options->shard)
        diff_found(run, &script, seed, difference);
    else if (!same)
        show(run, &script, seed, difference);
    steps_free(&script);
    return same;
}

struct run diff_run_of(const struct options *options, const char *spec)
{
    struct run run = {.options = options};
    snprintf(run.spec, sizeof run.spec, "%s%s", spec, options->strict && !strstr(spec, ",strict") ? ",strict" : "");
    return run;
}

static bool random_run(const struct options *options, const char *spec, uint64_t calls)
{
    struct run run = diff_run_of(options, spec);
    bool same = true;
    uint64_t seed = options->seed;
    for (uint64_t done = 0; same && done < calls; done += options->episode)
        same = diff_episode(&run, seed++, calls - done < options->episode ? calls - done : options->episode);
    tap_note("%s: %" PRIu64 " calls compared, %" PRIu64 " random ones succeeded", run.spec, run.made, run.succeeded);
    show_counts(options, &run.counts);
    return tap_ok(same, "%s: system and model agree, --seed %" PRIu64 " --calls %" PRIu64, run.spec, options->seed,
                  calls);
}

/* ---- drivers ---- */

struct drive_options diff_drive_of(const struct options *o, const char *spec, char named[96], struct drive_report *report)
{
    char error[200];
    const char *explained = drive_explained(o->explained);
    snprintf(named, 96, "%s%s", o->as_driver ? "as-driver:" : "", spec);
    if (explained && !table_explain(&report->table, explained, error, sizeof error))
        tap_bail("--explained %s", error);
    return (struct drive_options){.spec = named, .seed = o->seed, .episode = o->episode, .check_every = o->check_every,
                                  .patience = (unsigned)o->patience, .shrinking = (unsigned)o->shrinking, .budget = (unsigned)o->budget,
                                  .mix = (unsigned)o->mix, .choosy = true};
}

static bool drive(const struct options *options, const char *spec, uint64_t calls)
{
    char named[96];
    struct drive_report *report = child_share(sizeof *report);
    struct drive_options drive = diff_drive_of(options, spec, named, report);
    drive.calls = calls;
    if (options->record && !(drive.record = fopen(options->record, "w")))
        tap_bail("--record %s: %s", options->record, strerror(errno));
    if (options->transcript && !(drive.transcript = fopen(options->transcript, "w")))
        tap_bail("--transcript %s: %s", options->transcript, strerror(errno));
    if (drive.record)
        fprintf(drive.record, "# random calls on %s: lockstep --seed S --episode N; see conformance/oracle/lockstep_drive.h\n",
                named);
    drive_run(&drive, report);
    if (drive.record)
        fclose(drive.record);
    if (drive.transcript)
        fclose(drive.transcript);
    size_t unexplained = table_show(&report->table);
    tap_note("%s: %" PRIu64 " random calls in %" PRIu64 " episodes (%" PRIu64 " succeeded, %" PRIu64 " left out), %"
             PRIu64 " calls compared in all, %" PRIu64 " questions of checks not asked; %" PRIu64 " calls ended the process; %" PRIu64 " of %" PRIu64
             " reservations at unexpected addresses; %" PRIu64 " times it chose the memory itself; %" PRIu64 " calls recorded",
             named, report->made, report->episodes, report->succeeded, report->skipped, report->compared,
             report->unasked, report->deaths, report->strayed, report->placed, report->adopted, report->recorded);
    show_counts(options, &report->counts);
    return tap_ok(unexplained == 0 && report->made > 0,
                  "%s: driver and model agree, --seed %" PRIu64 " --calls %" PRIu64,
                  named, options->seed, calls);
}

/* ---- recordings and scripts ---- */

static bool replay_recording(const struct options *options, const char *path, uint64_t most)
{
    char spec[96];
    uint64_t episodes, calls;
    FILE *file = fopen(path, "r");
    if (!file)
        tap_bail("--replay-recording %s: %s", path, strerror(errno));
    snprintf(spec, sizeof spec, "as-driver:%s", options->specs.count ? options->specs.at[0] : "sim:h100");
    uint64_t different = drive_replay(spec, file, most, &episodes, &calls);
    fclose(file);
    return tap_ok(different == 0 && episodes > 0,
                  "%s answers as %s: %" PRIu64 " of %" PRIu64 " episodes, %" PRIu64 " calls",
                  spec, path, episodes - different, episodes, calls);
}

static void replay(const struct options *options)
{
    char spec[96] = "", error[200], difference[600];
    struct script script;
    FILE *file = fopen(options->replay, "r");
    if (!file)
        tap_bail("--replay %s: %s", options->replay, strerror(errno));
    if (!steps_read(file, spec, sizeof spec, &script, error, sizeof error))
        tap_bail("--replay %s: %s", options->replay, error);
    fclose(file);
    size_t at = lockstep_run(spec, &script, 1, options->flip, difference, sizeof difference);
    if (!tap_ok(at == script.count, "%s: system and model agree on %s", spec, options->replay))
        tap_note("step %zu: %s", at + 1, difference);
    steps_free(&script);
}

/* --transcript: where what the simulator answered goes. */
static void follow(const struct options *options)
{
    char spec[96];
    struct follow_report report = {0};
    FILE *file = fopen(options->follow, "r"), *log = options->transcript ? fopen(options->transcript, "w") : NULL;
    if (!file || (options->transcript && !log))
        tap_bail("%s: %s", file ? options->transcript : options->follow, strerror(errno));
    snprintf(spec, sizeof spec, "as-driver:%s", options->specs.count ? options->specs.at[0] : "sim:h100");
    follow_transcript(spec, file, log, &report);
    fclose(file);
    if (log)
        fclose(log);
    tap_note("%" PRIu64 " calls left out on one side; %" PRIu64 " times the driver chose the memory itself", report.left_out,
             report.own);
    tap_ok(report.different == 0 && report.calls > 0, "%s answers as %s: %" PRIu64 " of %" PRIu64 " calls of %" PRIu64 " episodes", spec,
           options->follow, report.calls - report.different, report.calls, report.episodes);
}

/* ---- options ---- */

bool diff_read_options(struct options *o, FILE *err, int argc, char **argv)
{
    bool count = false;
    const struct option_row rows[] = {
        {"spec", OPTION_LIST, &o->specs, 0, 0},
        {"backend", OPTION_LIST, &o->specs, 0, 0},
        {"seed", OPTION_NUMBER, &o->seed, 0, UINT64_MAX},
        {"calls", OPTION_NUMBER, &o->calls, 0, UINT64_MAX},
        {"episode", OPTION_NUMBER, &o->episode, 1, UINT64_MAX},
        {"mix", OPTION_NUMBER, &o->mix, 0, LOCKSTEP_NEWEST_MIX},
        {"flip", OPTION_NUMBER, &o->flip, 0, UINT64_MAX},
        {"check-every", OPTION_NUMBER, &o->check_every, 0, UINT64_MAX},
        {"budget", OPTION_NUMBER, &o->budget, 0, 86400},
        {"patience", OPTION_NUMBER, &o->patience, 1, 86400},
        {"shrink", OPTION_NUMBER, &o->shrinking, 0, 86400},
        {"script", OPTION_TEXT, &o->script, 0, 0},
        {"replay", OPTION_TEXT, &o->replay, 0, 0},
        {"explained", OPTION_TEXT, &o->explained, 0, 0},
        {"record", OPTION_TEXT, &o->record, 0, 0},
        {"replay-recording", OPTION_TEXT, &o->recording, 0, 0},
        {"transcript", OPTION_TEXT, &o->transcript, 0, 0},
        {"follow", OPTION_TEXT, &o->follow, 0, 0},
        {"shard", OPTION_TEXT, &o->shard, 0, 0},
        {"findings", OPTION_TEXT, &o->findings, 0, 0},
        {"merge", OPTION_TEXT, &o->merge, 0, 0},
        {"strict", OPTION_FLAG, &o->strict, 0, 0},
        {"as-driver", OPTION_FLAG, &o->as_driver, 0, 0},
        {"rules", OPTION_FLAG, &count, 0, 0},
        {"counts", OPTION_FLAG, &o->counts, 0, 0},
    };
    bool good = options_read(rows, sizeof rows / sizeof rows[0], argc, argv, err);
    if (good && count && !(o->rules = calloc(VMM_RULE_COUNT, sizeof *o->rules)))
        tap_bail("--rules: no memory");
    return good;
}

/* All built-in machines of the simulator, and a recording of random calls. */
static void run_usual(struct options *o)
{
    static const char *const everything[] = {"sim:h100",        "sim:h200x2",     "sim:min",       "sim:max", "sim:odd",
                                             "sim:h100,strict", "sim:max,strict", "sim:odd,strict"};
    const size_t count = sizeof everything / sizeof everything[0];
    for (size_t i = 0; i < count; i++)
        random_run(o, everything[i], o->calls / count - (i < 2 ? o->calls / count / NEWER_ONE_IN * 2 : 0));
    random_run(o, "as-driver:sim:h100", o->calls / count);
    o->mix = LOCKSTEP_NEWEST_MIX;
    for (size_t i = 0; i < 2; i++)
        random_run(o, everything[i], o->calls / count / NEWER_ONE_IN);
    o->specs.at[0] = "sim:h100";
    o->specs.count = 1;
    replay_recording(o, "conformance/recorded/recordings/h100-580.159.04-random.txt", o->calls);
    replay_recording(o, "conformance/recorded/recordings/h100-580.159.04-random-2.txt", o->calls / NEWER_ONE_IN);
    static const char *const transcripts[][2] = {{"sim:h100", "conformance/recorded/recordings/h100-580.159.04-calls-3.tsv"},
                                                 {"sim:h200", "conformance/recorded/recordings/h200-580.159.04-calls-3.tsv"},
                                                 {"sim:h200x2", "conformance/recorded/recordings/h200x2-580.159.04-calls-3.tsv"},
                                                 {"sim:h200x2", "conformance/recorded/recordings/h200x2-580.159.04-calls-4.tsv"},
                                                 {"sim:h200", "conformance/recorded/recordings/h200-580.159.04-calls-4.tsv"}};
    for (size_t i = 0; i < sizeof transcripts / sizeof transcripts[0]; i++) {
        struct options transcript = {.follow = transcripts[i][1], .specs = o->specs};
        transcript.specs.at[0] = transcripts[i][0];
        follow(&transcript);
    }
}

/* Before the run, so that a wrong spec or a missing driver does not count as a difference. */
static bool opens(const char *spec, FILE *err)
{
    char text[1024];
    vmm_system *sys;
    if (vmm_open(spec, &sys) == VMM_SUCCESS) {
        vmm_close(sys);
        return true;
    }
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    fprintf(err, "--backend %s: %s", spec, text);
    return false;
}

static bool all_open(const struct options *o, FILE *err)
{
    for (size_t i = 0; i < o->specs.count; i++)
        if (!opens(o->specs.at[i], err))
            return false;
    return true;
}

bool diff_is_driven(const struct options *o, const char *spec)
{
    const char *backend;
    return o->as_driver || lockstep_names_driver(spec, &backend);
}

static void run_specs(const struct options *o)
{
    for (size_t i = 0; i < o->specs.count; i++)
        (diff_is_driven(o, o->specs.at[i]) ? drive : random_run)(o, o->specs.at[i], o->calls / o->specs.count);
}

int diff_main(int argc, char **argv, const char *spec, FILE *err)
{
    const char *scale = getenv("CUVMM_TEST_SCALE");
    struct options options = {.seed = 1, .calls = 800000, .episode = 2000, .check_every = CHECK_EVERY, .mix = LOCKSTEP_MIX,
                              .patience = PATIENCE, .shrinking = SHRINKING};
    uint64_t percent = 100;
    bool good = !scale || !*scale || options_number(err, "CUVMM_TEST_SCALE", scale, 0, 10000, &percent);
    struct campaign campaign = {0};
    options.calls = options.calls * percent / 100;
    options.campaign = &campaign;
    struct options fresh = options;
    good = good && diff_read_options(&options, err, argc, argv);
    if (!options.specs.count && spec && !options.replay && !options.recording && !options.follow)
        options.specs.at[options.specs.count++] = spec;
    good = good && diff_campaign_begin(&options, argc, &fresh, err);
    if (!good || !all_open(&options, err)) {
        campaign_free(&campaign);
        free(options.rules);
        return 2;
    }
    if (options.merge)
        diff_merge(&options);
    else if (options.shard)
        diff_shard(&options, err);
    else if (options.replay)
        replay(&options);
    else if (options.recording)
        replay_recording(&options, options.recording, UINT64_MAX);
    else if (options.follow)
        follow(&options);
    else if (options.specs.count)
        run_specs(&options);
    else
        run_usual(&options);
    show_rules(&options);
    campaign_free(&campaign);
    free(options.rules);
    return tap_done();
}
