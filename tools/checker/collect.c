/* SPDX-License-Identifier: Apache-2.0 */
#include "collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json_read.h"
#include "module_symbols.h"
#include "report.h"
#include "units.h"

/* ---- records, by kind; each takes ownership of the document ---- */

static void on_begin(struct run *run, struct json_doc *doc)
{
    struct process *larger = realloc(run->process, (run->processes + 1) * sizeof *larger);
    const char *program = json_doc_string(doc, doc->node, "program");
    run->begun++;
    if (larger) {
        struct process *process = &larger[run->processes++];
        run->process = larger;
        process->pid = json_doc_number(doc, doc->node, "pid");
        process->parent = json_doc_number(doc, doc->node, "parent");
        process->program = strdup(program ? program : "");
        /* analysers: malloc-leak is wrong: the program's name is the process's */
        process->ended = false;
    }
    json_doc_free(doc);
}

static void on_checked(struct run *run, struct json_doc *doc)
{
    run->checked++;
    json_doc_free(doc);
}

static void on_stopped(struct run *run, struct json_doc *doc)
{
    const char *obstacle = json_doc_string(doc, doc->node, "obstacle");
    run->stopped[obstacle && strcmp(obstacle, "runtime") == 0 ? FINDINGS_RUNTIME : FINDINGS_NO_MACHINE]++;
    json_doc_free(doc);
}

/* A process that executes another program begins again under the same number: the previous one has ended. */
static void on_end(struct run *run, struct json_doc *doc)
{
    uint64_t pid = json_doc_number(doc, doc->node, "pid");
    const char *note = json_doc_string(doc, doc->node, "note");
    run->ended++;
    if (note && !run->options->quiet && !run->live)
        texts_note(&run->texts, pid, note);
    for (unsigned i = run->processes; i > 0; i--)
        if (run->process[i - 1].pid == pid) {
            run->process[i - 1].ended = true;
            break;
        }
    json_doc_free(doc);
}

static void on_finding(struct run *run, struct json_doc *doc)
{
    struct share *share;
    struct group *group = groups_add(run->groups, doc, &share);
    if (!group) {
        run->unread++;
        return;
    }
    if (group->times == 1)
        group->suppressed = suppress_find(&run->suppressions, group->rule, &group->places);
    if (group->times == 1 && run->live)
        report_finding(group, run->live);
    if (share->times == 1 && !group->suppressed && !run->live)
        texts_finding(&run->texts, group, share, group->times == 1);
}

static const struct {
    const char *kind;
    void (*take)(struct run *run, struct json_doc *doc);
} kinds[] = {{"begin", on_begin}, {"checked", on_checked}, {"stopped", on_stopped}, {"end", on_end}, {"finding", on_finding}};

void collect_record(void *user, const char *text, size_t length)
{
    struct run *run = user;
    struct json_doc doc;
    if (!json_doc_read(&doc, text, length)) {
        run->unread++;
        return;
    }
    const char *kind = json_doc_string(&doc, doc.node, "kind");
    for (size_t i = 0; kind && json_doc_number(&doc, doc.node, "v") == 1 && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kind, kinds[i].kind) == 0) {
            kinds[i].take(run, &doc);
            return;
        }
    run->unread++;
    json_doc_free(&doc);
}

/* ---- a run ---- */

static bool open_live(struct run *run, FILE *err)
{
    const char *path = run->options->live;
    run->live = path ? fopen(path, "we") : NULL;
    if (path && !run->live)
        fprintf(err, "cuvmm check: --live %.200s: %s; nothing was started\n", path, strerror(errno));
    return !path || run->live;
}

bool collect_begin(struct run *run, const struct check_options *options, const struct findings_tally *tally, size_t again, FILE *err)
{
    *run = (struct run){.options = options, .tally = tally, .again = again, .groups = groups_new()};
    if (!run->groups) {
        fprintf(err, "cuvmm check: memory is exhausted\n");
        return false;
    }
    for (unsigned i = 0; i < options->suppression_count; i++)
        if (!suppress_read(&run->suppressions, options->suppression[i], err))
            return false;
    return texts_begin(&run->texts, options, err) && open_live(run, err);
}

void collect_finish(struct run *run)
{
    const struct findings_tally *tally = run->tally;
    const uint64_t counts[] = {[FINDING_ERROR] = tally->errors, [FINDING_HAZARD] = tally->hazards, [FINDING_LEAK] = tally->leaks};
    for (size_t i = 0; i < run->again; i++) {
        const struct findings_again *again = &tally->again[i];
        unsigned class = again->class;
        if (!again->times || groups_again(run->groups, again->print, again->times, again->bytes) || class > FINDING_LEAK)
            continue;
        run->unknown.times[class] += again->times;
    }
    for (unsigned class = FINDING_ERROR; class <= FINDING_LEAK; class++) {
        run->unknown.findings[class] += counts[class];
        run->unknown.times[class] += counts[class];
    }
    run->begun += tally->begun;
    run->ended += tally->ended;
    run->checked += tally->checked;
    for (size_t i = 0; i < FINDINGS_OBSTACLES; i++)
        run->stopped[i] += tally->stopped[i];
    for (unsigned i = 0; i < groups_count(run->groups); i++) {
        const struct group *group = groups_at(run->groups, i);
        if (group->suppressed)
            ((struct suppression *)group->suppressed)->used += group->times;
    }
}

void collect_free(struct run *run)
{
    texts_free(&run->texts);
    if (run->live)
        fclose(run->live);
    groups_free(run->groups);
    suppress_free(&run->suppressions);
    for (unsigned i = 0; i < run->processes; i++)
        free(run->process[i].program);
    free(run->process);
    module_symbols_forget();
}

/* ---- sums ---- */

struct sum collect_sum(const struct run *run, uint64_t pid)
{
    const struct sum none = {0};
    struct sum sum = pid ? none : run->unknown;
    for (unsigned i = 0; i < groups_count(run->groups); i++) {
        struct group *group = groups_at(run->groups, i);
        const struct share whole = {.times = group->times, .bytes = group->bytes};
        const struct share *share = pid ? group_share(group, pid) : &whole;
        if (!share)
            continue;
        if (group->suppressed) {
            sum.suppressed += share->times;
            continue;
        }
        sum.findings[group->class]++;
        sum.times[group->class] += share->times;
        if (group->class == FINDING_LEAK && group_is_memory(group))
            sum.leaked += share->bytes;
    }
    return sum;
}

const char *collect_reason(const struct run *run)
{
    struct findings_tally tally = {0};
    for (size_t i = 0; i < FINDINGS_OBSTACLES; i++)
        tally.stopped[i] = run->stopped[i];
    return findings_reason(&tally);
}

static void put(FILE *out, const struct sum *sum, enum finding class, const char *name)
{
    uint64_t findings = sum->findings[class], times = sum->times[class];
    char bytes[UNITS_TEXT];
    fprintf(out, "%s%llu %s%s", class == FINDING_ERROR ? "" : ", ", (unsigned long long)findings, name, findings == 1 ? "" : "s");
    if (times <= findings)
        return;
    fprintf(out, " (%llu times", (unsigned long long)times);
    if (class == FINDING_LEAK && sum->leaked)
        fprintf(out, ", %s of memory", units_text(sum->leaked, bytes));
    fputs(")", out);
}

bool collect_text(const struct run *run, const struct sum *sum, char *text, size_t size)
{
    struct findings_tally tally = {.begun = run->begun, .checked = run->checked};
    for (size_t i = 0; i < FINDINGS_OBSTACLES; i++)
        tally.stopped[i] = run->stopped[i];
    tally.errors = sum->times[FINDING_ERROR] + sum->times[FINDING_HAZARD] + sum->times[FINDING_LEAK] + sum->suppressed;
    if (!findings_sum(&tally, text, size))
        return false;
    FILE *out = fmemopen(text, size, "w");
    if (!out)
        return true;
    put(out, sum, FINDING_ERROR, "error");
    put(out, sum, FINDING_HAZARD, "hazard");
    put(out, sum, FINDING_LEAK, "leak");
    if (sum->suppressed)
        fprintf(out, "; %llu suppressed", (unsigned long long)sum->suppressed);
    fclose(out);
    return true;
}
