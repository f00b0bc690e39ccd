/* SPDX-License-Identifier: Apache-2.0 */
/* Shards of a campaign, and their merge (campaign.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff_parts.h"
#include "lockstep_child.h"
#include "tap.h"

/* ---- a shard ---- */

/* The random calls of a shard's episodes; the last episode of all may be shorter. */
static uint64_t calls_of_shard(const struct options *o, uint64_t calls)
{
    const uint64_t whole = calls / o->episode, rest = calls % o->episode, first = o->campaign->shard - 1, of = o->campaign->of;
    const uint64_t mine = whole > first ? (whole - first + of - 1) / of : 0;
    return mine * o->episode + (whole % of == first ? rest : 0);
}

/* Goes on behind a difference. */
static void shard_simulator(const struct options *o, const char *spec, uint64_t calls)
{
    struct run run = diff_run_of(o, spec);
    uint64_t seed = o->seed + o->campaign->shard - 1;
    for (uint64_t done = 0; done < calls; done += o->episode, seed += o->campaign->of)
        diff_episode(&run, seed, calls - done < o->episode ? calls - done : o->episode);
    campaign_made(o->campaign, run.spec, calls);
}

static void shard_driver(const struct options *o, const char *spec, uint64_t calls)
{
    char named[96];
    struct drive_report *report = child_share(sizeof *report);
    struct drive_options drive = diff_drive_of(o, spec, named, report);
    drive.calls = calls;
    drive.seed += o->campaign->shard - 1;
    drive.stride = o->campaign->of;
    drive.later = true;
    drive_run(&drive, report);
    for (size_t i = 0; i < report->table.count; i++) {
        const struct table_row *row = &report->table.row[i];
        if (row->times && !row->explained[0])
            campaign_found(o->campaign, spec, row->signature, row->seed, row->times, row->difference);
    }
    if (report->table.lost)
        tap_note("%" PRIu64 " more differences of other kinds", report->table.lost);
    campaign_made(o->campaign, spec, report->made);
}

/* A simulator's difference has no signature; the call is a part of its kind. */
void diff_found(const struct run *run, const struct script *script, uint64_t seed, const char *difference)
{
    char text[700];
    const char *call = script->count ? vmm_call_name(script->steps[script->count - 1].call) : "open";
    snprintf(text, sizeof text, "%s: %s", call, difference);
    campaign_found(run->options->campaign, run->spec, "", seed, 1, text);
}

/* Differences are the merge's verdict: where a rank ends with another status than 0, some starters end the others. */
bool diff_shard(const struct options *o, FILE *err)
{
    const struct campaign *c = o->campaign;
    for (size_t i = 0; i < o->specs.count; i++) {
        const uint64_t calls = calls_of_shard(o, o->calls / o->specs.count);
        (diff_is_driven(o, o->specs.at[i]) ? shard_driver : shard_simulator)(o, o->specs.at[i], calls);
    }
    return tap_ok(campaign_write(c, o->findings, err), "shard %u of %u: %zu kinds of differences, for cuvmm diff --merge %s", c->shard, c->of,
                  c->findings, o->findings);
}

/* ---- what they found together ---- */

static void merge_simulator(const struct options *o, const struct campaign_finding *finding)
{
    struct run run = {.options = o};
    snprintf(run.spec, sizeof run.spec, "%s", finding->spec);
    if (diff_episode(&run, finding->seed, o->episode))
        tap_note("it does not recur in the episode of --seed %" PRIu64, finding->seed);
}

/* Kinds that are shrunk in other episodes are not shrunk in this one. */
static void merge_driver(const struct options *o, const struct campaign_finding *finding)
{
    char named[96];
    struct drive_report *report = child_share(sizeof *report);
    struct drive_options drive = diff_drive_of(o, finding->spec, named, report);
    for (size_t i = 0; i < o->campaign->findings; i++)
        if (strcmp(o->campaign->finding[i].signature, finding->signature) != 0)
            table_known(&report->table, o->campaign->finding[i].signature, "another kind of this campaign");
    drive.seed = finding->seed;
    drive.calls = o->episode;
    drive.episodes = 1;
    drive_run(&drive, report);
    if (!table_show(&report->table))
        tap_note("it does not recur in the episode of --seed %" PRIu64, finding->seed);
}

static bool merge_spec(const struct options *o, const struct campaign_ran *ran)
{
    size_t kinds = 0;
    for (size_t i = 0; i < o->campaign->findings; i++) {
        const struct campaign_finding *finding = &o->campaign->finding[i];
        if (strcmp(finding->spec, ran->spec) != 0)
            continue;
        kinds++;
        tap_note("%s, %" PRIu64 " times: %s", finding->spec, finding->times, finding->signature);
        tap_note("    first: %s", finding->difference);
        (diff_is_driven(o, finding->spec) ? merge_driver : merge_simulator)(o, finding);
    }
    return tap_ok(!kinds, "%s: system and model agree, %" PRIu64 " random calls in %u shards", ran->spec, ran->calls, o->campaign->of);
}

static int by_place(const void *a, const void *b)
{
    const struct campaign_finding *x = a, *y = b;
    const int order = strcmp(x->spec, y->spec);
    return order ? order : x->seed != y->seed ? (x->seed > y->seed) - (x->seed < y->seed) : strcmp(x->signature, y->signature);
}

/* How a shard that is missing is run again. */
static void note_missing(const struct options *o, unsigned shard)
{
    char command[2048] = "cuvmm diff";
    size_t length = strlen(command);
    for (int i = 0; i < o->campaign->options && length < sizeof command; i++)
        length += (size_t)snprintf(command + length, sizeof command - length, strpbrk(o->campaign->option[i], " |&;$") ? " '%s'" : " %s",
                                   o->campaign->option[i]);
    tap_note("missing: %s --shard %u/%u --findings %s", command, shard, o->campaign->of, o->merge);
}

void diff_merge(const struct options *o)
{
    struct campaign *c = o->campaign;
    unsigned missing = 0;
    for (unsigned shard = 0; (shard = campaign_next_missing(c, shard)) != 0; missing++)
        note_missing(o, shard);
    tap_ok(!missing, "all %u shards are there", c->of);
    if (c->findings)
        qsort(c->finding, c->findings, sizeof *c->finding, by_place);
    for (size_t i = 0; i < c->specs; i++)
        merge_spec(o, &c->ran[i]);
}

/* ---- options ---- */

static bool add_number(struct campaign *campaign, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return campaign_option(campaign, name, text);
}

/* All that decide which calls are made, and how what they show is shrunk. */
static bool write_options(const struct options *o, struct campaign *c)
{
    bool good = true;
    for (size_t i = 0; i < o->specs.count; i++)
        good = good && campaign_option(c, "--backend", o->specs.at[i]);
    const struct {
        const char *name;
        uint64_t value;
    } number[] = {{"--seed", o->seed}, {"--calls", o->calls}, {"--episode", o->episode}, {"--mix", o->mix}, {"--flip", o->flip},
                  {"--check-every", o->check_every}, {"--patience", o->patience}, {"--shrink", o->shrinking}, {"--budget", o->budget}};
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        good = good && add_number(c, number[i].name, number[i].value);
    good = good && (!o->strict || campaign_option(c, "--strict", NULL)) && (!o->as_driver || campaign_option(c, "--as-driver", NULL));
    return good && (!o->explained || campaign_option(c, "--explained", o->explained));
}

static bool is_alone(const struct options *o)
{
    return !o->script && !o->replay && !o->recording && !o->record && !o->transcript && !o->follow && !o->rules && !o->counts;
}

static bool begin_shard(struct options *o, FILE *err)
{
    if (!o->findings || !is_alone(o) || !o->specs.count) {
        fprintf(err, !o->findings ? "--shard: name the folder for what it finds: --findings FOLDER\n"
                     : !o->specs.count ? "--shard: name what is compared: --backend SPEC\n"
                                       : "--shard cannot be combined with options that write, replay or count: run those "
                                         "separately\n");
        return false;
    }
    if (!campaign_place(o->campaign, o->shard, err))
        return false;
    const bool good = write_options(o, o->campaign);
    if (!good)
        fprintf(err, "--shard: the options contain a tab or a newline, or are too long\n");
    return good;
}

/* The campaign's own options replace the given ones, which are only --merge. */
static bool begin_merge(struct options *o, int argc, const struct options *fresh, FILE *err)
{
    char *argv[CAMPAIGN_OPTIONS + 1] = {(char *)(uintptr_t) "diff"};
    const char *folder = o->merge;
    struct campaign *campaign = o->campaign;
    if (argc > 3 || o->shard || o->findings) {
        fprintf(err, "--merge: the folder's files contain the options of their campaign: give no others\n");
        return false;
    }
    if (!campaign_read(campaign, folder, err))
        return false;
    memcpy(argv + 1, campaign->option, (size_t)campaign->options * sizeof argv[0]);
    *o = *fresh;
    o->merge = folder;
    o->campaign = campaign;
    return diff_read_options(o, err, campaign->options + 1, argv);
}

bool diff_campaign_begin(struct options *o, int argc, const struct options *fresh, FILE *err)
{
    if (!o->merge && !o->shard && o->findings)
        fprintf(err, "--findings is for part of a campaign: --shard 1/8\n");
    return o->merge ? begin_merge(o, argc, fresh, err) : o->shard ? begin_shard(o, err) : !o->findings;
}
