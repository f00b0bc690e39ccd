/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_drive.c - episodes on a driver. */
#include "lockstep_drive.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fnv.h"
#include "lockstep_child.h"
#include "lockstep_parts.h"
#include "shrink.h"
#include "tap.h"

enum { DEATHS = 12, DEATHS_ALONE = 400, TAIL = 6, SCRIPT_MOST = 100000 };

struct run {
    const struct drive_options *options;
    struct drive_report *report; /* shared with the child */
    struct shared {
        uint64_t seed;   /* of the episode that is running */
        uint64_t unit;
        time_t until;    /* when the budget ends; 0: never */
        bool tainted;    /* the child's driver may hold objects that the model does not know, so the child ends */
        bool lost;       /* the driver's context is, so the child ends */
        struct step last;
        char scene[LOCKSTEP_SCENE];
        struct table_row *fresh; /* of an episode alone in its child: the kind of difference to be shrunk, and the first one */
        char difference[600];
        size_t shown;            /* of a try to shorten: where it shows again */
        size_t steps;            /* of the episode, so far */
        bool opening;            /* no call has been made yet */
        bool closing;            /* its calls are done; its leftovers are freed */
        const char *volatile sweeping; /* of that: what */
    } *shared;
    struct step *steps;          /* shared with the child; NULL for nowhere */
};

/* Pools keep their memory, and the value of a destroyed one may be reused: then each episode runs in a separate process. */
static bool alone(const struct drive_options *options)
{
    return options->mix >= 2;
}

static uint64_t stride(const struct drive_options *options)
{
    return options->stride ? options->stride : 1;
}

/* ---- the hash of the answers ---- */

static uint64_t fold(uint64_t hash, const char *text)
{
    return fnv1a(fnv1a(hash, text, strlen(text)), "\n", 1);
}

/* ---- a new kind of difference ---- */

struct search {
    struct run *run;
    const char *signature;
    time_t until;
    char difference[600];
    const struct script *script;
};

static void try_once(void *user)
{
    struct search *search = user;
    struct shared *shared = search->run->shared;
    bool clean = true;
    alarm(search->run->options->patience);
    shared->shown = lockstep_run_for(search->run->options->spec, search->script, search->run->options->check_every,
                                     search->signature, shared->difference, sizeof shared->difference, &clean);
    shared->tainted |= !clean;
}

static bool shows(void *user, const struct script *script, size_t *length)
{
    struct search *search = user;
    struct shared *shared = search->run->shared;
    if (time(NULL) > search->until)
        return false;
    search->script = script;
    shared->shown = script->count;
    if (!alone(search->run->options))
        try_once(search);
    else if (child_run(try_once, search))
        return false;
    if (shared->shown == script->count)
        return false;
    snprintf(search->difference, sizeof search->difference, "%s", shared->difference);
    *length = shared->shown + 1;
    return true;
}

/* The pair that showed it is closed already. */
static void note(struct run *run, struct table_row *row, struct script *script, const char *difference, uint64_t seed)
{
    struct search search = {.run = run, .signature = row->signature, .until = time(NULL) + (time_t)run->options->shrinking};
    char head[700];
    size_t length = script->count, first = 0;
    snprintf(row->difference, sizeof row->difference, "%.560s", difference);
    if (run->options->later || !run->options->shrinking) /* on a driver even one try costs an episode */
        return;
    bool again = shows(&search, script, &length);
    if (again) {
        shrink(script, shows, &search);
        snprintf(row->difference, sizeof row->difference, "%.560s", search.difference);
    } else {
        first = script->count > TAIL ? script->count - TAIL : 0;
    }
    table_script(row, script, first, run->shared->unit);
    snprintf(head, sizeof head, "%s%s", row->difference,
             again ? "" : " (does not recur in a new episode; the last steps are shown)");
    snprintf(row->difference, sizeof row->difference, "%.599s", head);
    tap_note("seed %" PRIu64 ": %s", seed, row->signature);
}

/* ---- one episode ---- */

struct episode {
    uint64_t hash, calls; /* of the part that can be recorded */
    bool clean;           /* nothing has ended that part */
};

static void __attribute__((format(printf, 2, 3))) remark(const struct run *run, const char *format, ...)
{
    va_list args;
    if (!run->options->transcript)
        return;
    va_start(args, format);
    vfprintf(run->options->transcript, format, args);
    va_end(args);
    fputc('\n', run->options->transcript);
}

/* Each call with its answer, one line each, so that two runs can be compared. */
static void transcribe(struct run *run, const struct lockstep *pair, const struct step *step, uint64_t i)
{
    char line[512];
    if (!run->options->transcript)
        return;
    step_print(step, lockstep_unit(pair), line, sizeof line);
    fprintf(run->options->transcript, "%" PRIu64 "\t%s\t%s", i, line, pair->skip ? "not made" : pair->reported);
    if (step->name && step->name < pair->value_room && pair->values[step->name])
        fprintf(run->options->transcript, "\t%#" PRIx64, pair->values[step->name]);
    else if (*pair->more)
        fputc('\t', run->options->transcript);
    fprintf(run->options->transcript, *pair->more ? "\t%s\n" : "%s\n", pair->more);
}

/* After a difference: what the driver has at the step's addresses, and what each pool has. Asked in relaxed mode, because the
 * questions would spoil a capture. */
static void remark_around(struct run *run, struct lockstep *pair, const struct step *step)
{
    size_t count;
    vmm_stream_capture_mode mode = VMM_STREAM_CAPTURE_MODE_RELAXED;
    vmm_thread_exchange_stream_capture_mode(pair->sys, &mode);
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    for (size_t i = 0; run->options->transcript && i < count && i < STEP_ARGS; i++) {
        uint64_t base = 0, size = 0;
        const uint64_t at = lockstep_value(pair, step->arg[i]);
        if (params[i].kind == VMM_PARAM_ADDRESS && vmm_mem_get_address_range(pair->sys, &base, &size, at) == VMM_SUCCESS)
            remark(run, "#   %s %#" PRIx64 " lies in %#" PRIx64 " bytes at %#" PRIx64, params[i].name, at, size, base);
    }
    for (size_t i = 0; run->options->transcript && i < pair->model.pool_count; i++) {
        const struct model_pool *pool = pair->model.pools[i];
        uint64_t reserved = 0;
        if (pool->value && !pool->ended && vmm_mem_pool_get_attribute(pair->sys, (vmm_memory_pool)(uintptr_t)pool->value,
                                                                      VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) == VMM_SUCCESS)
            remark(run, "#   p%u has %#" PRIx64 " bytes, the model says %#" PRIx64, pool->tag, reserved, pool->heap.reserved * pool->heap.slot);
    }
    vmm_thread_exchange_stream_capture_mode(pair->sys, &mode);
}

/* One random step. False when its answer or the state differs. */
static bool advance(struct run *run, struct lockstep *pair, struct chooser *dice, struct script *script,
                    struct episode *e, uint64_t i, bool look)
{
    struct step step;
    uint64_t strayed = pair->model.strayed;
    lockstep_random(dice, pair, STEP_FIRST_NAME + (uint32_t)i, &step);
    steps_add(script, &step);
    if (run->steps && i < SCRIPT_MOST)
        run->steps[run->shared->steps++] = step;
    alarm(run->options->patience); /* for each call, not for all: another process may have the machine too */
    bool same = lockstep_step(pair, &step);
    transcribe(run, pair, &step, i);
    if (!same) {
        remark(run, "# %s: %s", pair->signature, pair->difference);
        remark_around(run, pair, &step);
    }
    run->report->succeeded += pair->changed && same;
    lockstep_count(&run->report->counts, pair, &step);
    e->clean &= same && pair->model.strayed == strayed;
    if (e->clean) {
        e->hash = fold(e->hash, pair->reported);
        e->calls = i + 1;
    }
    if (!same || !look || lockstep_check(pair))
        return same;
    remark(run, "# %s: %s", pair->signature, pair->difference);
    remark_around(run, pair, &step);
    return false;
}

static void finish(struct run *run, struct lockstep *pair, const struct episode *e, uint64_t seed)
{
    struct drive_report *report = run->report;
    report->episodes++;
    report->compared += pair->calls;
    report->skipped += pair->skipped;
    report->unasked += pair->unasked;
    report->placed += pair->model.placed;
    report->strayed += pair->model.strayed;
    report->adopted += pair->model.adopted;
    run->shared->lost |= pair->dead;
    if (run->options->record && e->calls) {
        fprintf(run->options->record, "seed %" PRIu64 " calls %" PRIu64 " hash %016" PRIx64 " mix %u cautious%s\n", seed, e->calls, e->hash,
                pair->mix, pair->choosy ? " choosy" : "");
        fflush(run->options->record);
        report->recorded += e->calls;
    }
    run->shared->closing = true;
    run->shared->sweeping = "start";
    pair->sweeping = &run->shared->sweeping;
    alarm(run->options->patience);
    run->shared->tainted |= !lockstep_close(pair);
    run->shared->closing = false;
}

static void episode(struct run *run, uint64_t seed, uint64_t calls)
{
    const struct drive_options *o = run->options;
    struct lockstep pair;
    struct chooser dice = {.state = seed};
    struct script script = {0};
    struct episode e = {FNV1A, 0, true};
    struct table_row *fresh = NULL;
    char difference[600] = "";
    if (!lockstep_open(&pair, o->spec))
        tap_bail("%s", pair.difference);
    pair.mix = o->mix;
    pair.choosy = o->choosy;
    pair.last = &run->shared->last;
    pair.scene = run->shared->scene;
    run->shared->unit = lockstep_unit(&pair);
    run->shared->opening = false;
    remark(run, "# seed %" PRIu64, seed);
    for (uint64_t i = 0; i < calls && !fresh; i++) {
        bool look = i + 1 == calls || (o->check_every && (i + 1) % o->check_every == 0);
        bool same = advance(run, &pair, &dice, &script, &e, i, look);
        run->report->made++;
        if (same)
            continue;
        fresh = table_count(&run->report->table, pair.signature);
        if (fresh)
            fresh->seed = seed;
        snprintf(difference, sizeof difference, "%s", pair.difference);
        if (pair.parted)
            break;
    }
    finish(run, &pair, &e, seed);
    if (fresh && alone(o)) { /* the parent shrinks it */
        run->shared->fresh = fresh;
        snprintf(run->shared->difference, sizeof run->shared->difference, "%s", difference);
    } else if (fresh && run->shared->lost)
        table_script(fresh, &script, script.count > TAIL ? script.count - TAIL : 0, run->shared->unit);
    else if (fresh)
        note(run, fresh, &script, difference, seed);
    steps_free(&script);
}

/* ---- the child, and what it leaves ---- */

static bool in_time(const struct run *run)
{
    const struct drive_options *o = run->options;
    return run->report->made < o->calls && (!o->episodes || run->report->episodes + run->report->deaths < o->episodes) && (!run->shared->until || time(NULL) < run->shared->until);
}

/* Seconds that a driver has for its initialisation, which takes several for each device that no other process uses. */
enum { OPENING = 60 };

static void work(void *user)
{
    struct run *run = user;
    const struct drive_options *o = run->options;
    bool more = true;
    run->shared->tainted = false;
    while (more && in_time(run) && !run->shared->lost && !run->shared->tainted) {
        uint64_t left = o->calls - run->report->made;
        alarm(o->patience > OPENING ? o->patience : OPENING);
        run->shared->opening = true;
        run->shared->steps = 0;
        run->shared->closing = false;
        episode(run, run->shared->seed, left < o->episode ? left : o->episode);
        run->shared->seed += stride(o);
        more = !alone(o);
    }
}

/* The call that ended the child counts as a difference. */
static void note_death(struct run *run, int signal)
{
    char signature[200];
    struct script script = {.steps = run->steps, .count = run->shared->steps};
    const char *call = run->shared->opening   ? "beginning of an episode"
                       : run->shared->closing ? "end of an episode"
                                              : vmm_call_name(run->shared->last.call);
    if (signal < 0)
        tap_bail("the child that makes the calls exited on its own");
    const bool closing = run->shared->closing && !run->shared->opening;
    snprintf(signature, sizeof signature, "%s%s%s: the process ends with signal %d", call, closing ? ", " : "", closing ? run->shared->sweeping : "", signal);
    remark(run, "# %s: %s", signature, run->shared->scene);
    struct table_row *fresh = table_count(&run->report->table, signature);
    if (fresh) {
        fresh->seed = run->shared->seed;
        snprintf(fresh->difference, sizeof fresh->difference, "in the episode of --seed %" PRIu64 ": %.400s",
                 run->shared->seed, run->shared->scene);
        table_script(fresh, &script, script.count > TAIL ? script.count - TAIL : 0, run->shared->unit ? run->shared->unit : 1);
    }
    if (!fresh)
        tap_note("again, seed %" PRIu64 ": %s", run->shared->seed, run->shared->scene);
    run->report->deaths++;
    run->shared->seed += stride(run->options);
}

/* The child has ended before the parent shrinks what it found: a process that used a driver cannot have children that use it. */
static void note_later(struct run *run)
{
    struct script script = {0};
    char difference[600];
    snprintf(difference, sizeof difference, "%s", run->shared->difference);
    for (size_t i = 0; i < run->shared->steps; i++)
        steps_add(&script, &run->steps[i]);
    note(run, run->shared->fresh, &script, difference, run->shared->seed - stride(run->options));
    steps_free(&script);
}

void drive_run(const struct drive_options *options, struct drive_report *report)
{
    const uint64_t most = options->episode < SCRIPT_MOST ? options->episode : SCRIPT_MOST;
    struct run run = {.options = options, .report = report, .shared = child_share(sizeof(struct shared)),
                      .steps = child_share((size_t)most * sizeof(struct step))};
    struct shared *shared = run.shared;
    shared->seed = options->seed;
    shared->until = options->budget ? time(NULL) + (time_t)options->budget : 0;
    if (options->transcript)
        setvbuf(options->transcript, NULL, _IOLBF, 0); /* a call may end the process */
    for (bool more = true; more;) {
        shared->fresh = NULL;
        shared->lost = false;
        int signal = child_run(work, &run);
        if (signal)
            note_death(&run, signal);
        else if (shared->fresh)
            note_later(&run);
        more = alone(options) ? in_time(&run) && report->deaths < DEATHS_ALONE
                              : (signal || shared->tainted) && report->deaths < DEATHS && !shared->lost;
    }
    if (shared->lost && !alone(options))
        tap_note("the driver's context was lost: the run ends");
}

const char *drive_explained(const char *named)
{
    static const char usual[] = "conformance/recorded/recordings/explained.tsv";
    FILE *file = named ? NULL : fopen(usual, "r");
    if (!file)
        return named;
    fclose(file);
    return usual;
}

/* ---- replay ---- */

static bool replay_episode(const char *spec, uint64_t seed, uint64_t calls, uint64_t hash, unsigned mix, const char *how, bool tell)
{
    struct drive_report report = {.episodes = 0};
    struct shared shared = {.seed = seed};
    const struct drive_options options = {.spec = spec};
    struct run run = {.options = &options, .report = &report, .shared = &shared};
    struct lockstep pair;
    struct chooser dice = {.state = seed};
    struct script script = {0};
    struct episode e = {FNV1A, 0, true};
    if (!lockstep_open(&pair, spec))
        tap_bail("%s", pair.difference);
    pair.mix = mix;
    pair.model.cautious = strstr(how, " cautious");
    pair.choosy = strstr(how, " choosy");
    bool same = true;
    for (uint64_t i = 0; same && i < calls; i++)
        same = advance(&run, &pair, &dice, &script, &e, i, false);
    same &= e.calls == calls && e.hash == hash;
    if (!same && tell)
        tap_note("seed %" PRIu64 ": after %" PRIu64 " of %" PRIu64 " calls: %s", seed, e.calls, calls,
                 pair.difference[0] ? pair.difference : "results or outputs differ from the recording");
    lockstep_close(&pair);
    steps_free(&script);
    return same;
}

uint64_t drive_replay(const char *spec, FILE *recording, uint64_t most, uint64_t *episodes, uint64_t *calls)
{
    char line[200];
    uint64_t different = 0;
    *episodes = *calls = 0;
    for (int number = 1; *calls < most && fgets(line, sizeof line, recording); number++) {
        uint64_t seed, count, hash;
        unsigned mix = 0;
        if (*line == '#' || *line == '\n')
            continue;
        if (sscanf(line, "seed %" SCNu64 " calls %" SCNu64 " hash %" SCNx64 " mix %u", &seed, &count, &hash, &mix) < 3)
            tap_bail("line %d: expected \"seed N calls N hash X [mix M [cautious] [choosy]]\"", number);
        different += !replay_episode(spec, seed, count, hash, mix, line, different == 0);
        ++*episodes;
        *calls += count;
    }
    return different;
}
