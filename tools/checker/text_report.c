/* SPDX-License-Identifier: Apache-2.0 */
#include "text_report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_log.h"
#include "collect.h"
#include "columns.h"
#include "fnv.h"
#include "suppress.h"
#include "units.h"

enum { LEAKS_SHOWN = 10, AGAIN_SHOWN = 10, FRAMES_SHOWN = 8 };

/* ---- the files ---- */

bool texts_begin(struct text_reports *texts, const struct check_options *options, FILE *err)
{
    *texts = (struct text_reports){.options = options};
    bool own = options->log && !options->log_by_process;
    texts->common = own ? fopen(options->log, "a") : err;
    if (!texts->common) {
        fprintf(err, "cuvmm check: --log-file %.200s: %s\n", options->log, strerror(errno));
        return false;
    }
    texts->width = columns_of(options->log ? -1 : fileno(err));
    texts->coloured = !options->log && columns_coloured(fileno(err));
    return true;
}

void texts_free(struct text_reports *texts)
{
    for (unsigned i = 0; i < texts->count; i++)
        free(texts->report[i].explained);
    free(texts->report);
    if (texts->common && texts->options->log && !texts->options->log_by_process)
        fclose(texts->common);
    *texts = (struct text_reports){0};
}

/* The report of one process, or of all. NULL when memory is out. */
static struct text_report *report_of(struct text_reports *texts, uint64_t pid)
{
    pid = texts->options->log_by_process ? pid : 0;
    for (unsigned i = texts->count; i > 0; i--)
        if (texts->report[i - 1].pid == pid)
            return &texts->report[i - 1];
    size_t rules;
    vmm_rules(&rules);
    struct text_report *larger = realloc(texts->report, (texts->count + 1) * sizeof *larger);
    if (!larger)
        return NULL;
    texts->report = larger;
    struct text_report *report = &larger[texts->count];
    *report = (struct text_report){.pid = pid, .to = pid ? NULL : texts->common, .explained = calloc(rules, sizeof(bool))};
    if (!report->explained)
        return NULL;
    /* analysers: malloc-leak is wrong: it is the report's, which is counted from here on */
    texts->count++;
    return report;
}

/* A process's file is opened for each text, because there may be many files. NULL where it cannot be. */
static FILE *open_text(const struct text_reports *texts, struct text_report *report)
{
    char path[CHECK_PATH];
    const char *how = report->begun ? "a" : "w";
    report->begun = true;
    if (report->to)
        return report->to;
    return check_log_path(texts->options->log, report->pid, path, sizeof path) ? fopen(path, how) : NULL;
}

/* Writes a text as it is. */
static void emit_plain(const struct text_reports *texts, struct text_report *report, const char *text)
{
    FILE *to = open_text(texts, report);
    if (!to)
        return;
    fputs(text, to);
    fflush(to);
    /* analysers: file-leak is wrong: it is closed where it was opened here */
    /* analysers: malloc-leak is wrong, likewise */
    if (to != report->to)
        fclose(to);
}

/* The first line, "[4711] error VMM-MAP-OVERLAP: ...", in red, or in yellow if nothing was wrong yet. The room is there. */
static void colour_head(char *text, size_t size)
{
    const char *kind = strstr(text, "] ");
    const bool calm = kind && (strncmp(kind + 2, "note", 4) == 0 || strncmp(kind + 2, "leak", 4) == 0);
    const size_t length = strlen(text), head = strcspn(text, "\n");
    enum { BEGIN = 5, END = 4 };
    if (length + BEGIN + END >= size)
        return;
    memmove(text + head + BEGIN + END, text + head, length - head + 1);
    memmove(text + BEGIN, text, head);
    memcpy(text, calm ? "\033[33m" : "\033[31m", BEGIN);
    memcpy(text + BEGIN + head, "\033[0m", END);
}

/* Writes a text wrapped to the maximum line width. */
static void emit(const struct text_reports *texts, struct text_report *report, const char *text)
{
    size_t length = strlen(text), size = 2 * length + 4096;
    char *folded = malloc(size);
    if (!folded)
        return;
    memcpy(folded, text, length + 1);
    columns_fold(folded, size, texts->width);
    if (texts->coloured)
        colour_head(folded, size);
    emit_plain(texts, report, folded);
    free(folded);
}

void texts_line(struct text_reports *texts, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(texts->common, format, arguments);
    va_end(arguments);
    fputs("\n", texts->common);
    fflush(texts->common);
}

/* ---- a finding ---- */

static void write_head(FILE *out, const struct group *group, const struct share *share, bool counted)
{
    char bytes[UNITS_TEXT];
    fprintf(out, "[%llu] %s%s%s: %s", (unsigned long long)share->pid,
            group->class == FINDING_HAZARD ? "hazard" : group->class == FINDING_NOTE ? "note" : group->class == FINDING_LEAK ? "leak" : "error",
            group->rule[0] ? " " : "", group->rule, group->function);
    if (group->call)
        fprintf(out, " (call %llu)", (unsigned long long)group->call);
    if (group->result)
        fprintf(out, " -> %s", vmm_result_name((vmm_result)group->result));
    if (counted && share->times > 1)
        fprintf(out, ", %llu times, %s", (unsigned long long)share->times, units_text(share->bytes, bytes));
    fputs("\n", out);
    if (group->phases && group->phase[0].mark[0])
        fprintf(out, "  during    %s\n", group->phase[0].mark);
}

static void write_texts(FILE *out, const struct group *group)
{
    const struct json_doc *doc = &group->doc;
    const struct json_node *list = json_doc_member(doc, doc->node, "text", JSON_LIST), *pair = NULL;
    while (list && (pair = json_doc_next(doc, list, pair))) {
        const struct json_node *label = json_doc_next(doc, pair, NULL), *text = label ? json_doc_next(doc, pair, label) : NULL;
        if (text)
            fprintf(out, "  %-9s %s\n", label->text, text->text);
    }
    if (group->cut)
        fputs("  note      this finding was too long for a message and was shortened\n", out);
}

static void write_stack(FILE *out, const char *label, const struct places *places, bool full)
{
    char text[600];
    for (unsigned i = 0; i < places->count && (full || i < FRAMES_SHOWN); i++)
        fprintf(out, "  %-9s %s\n", i ? "" : label, place_text(&places->place[i], text, sizeof text));
}

/* Once in a text. */
static void write_rule(FILE *out, const struct group *group, struct text_report *report)
{
    if (!group->row)
        return;
    bool *explained = &report->explained[group->row - vmm_rules(NULL)];
    if (*explained) {
        fprintf(out, "  why, fix  above; cuvmm explain %s\n", group->rule);
        return;
    }
    *explained = true;
    fprintf(out, "  why       %s\n  fix       %s\n  more      cuvmm explain %s\n", group->row->explanation, group->row->way_out, group->rule);
}

static void write_finding(struct text_reports *texts, struct text_report *report, const struct group *group,
                          const struct share *share, bool counted)
{
    char *text = NULL;
    size_t size = 0;
    bool full = texts->options->stacks == CHECK_STACKS_FULL;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    write_head(out, group, share, counted);
    write_texts(out, group);
    write_stack(out, group->class == FINDING_LEAK ? "made by" : "called by", &group->places, full);
    for (unsigned i = 0; i < group->others; i++)
        if (group->class != FINDING_LEAK || strcmp(group->other[i].role, "made by") != 0)
            write_stack(out, group->other[i].role, &group->other[i].places, full);
    write_rule(out, group, report);
    fclose(out);
    emit(texts, report, text);
    free(text);
    if (texts->options->gen_suppressions && (out = open_memstream(&text, &size))) {
        suppress_write(group->rule, &group->places, out);
        fclose(out);
        emit_plain(texts, report, text);
        free(text);
    }
}

void texts_finding(struct text_reports *texts, const struct group *group, const struct share *share, bool fresh)
{
    struct text_report *report = report_of(texts, share->pid);
    if (report && group->class != FINDING_LEAK && (fresh || texts->options->log_by_process))
        write_finding(texts, report, group, share, false);
}

/* ---- at the end ---- */

/* A group, with its numbers in this text. */
struct entry {
    const struct group *group;
    struct share share;
};

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Memory comes before addresses; of equal ones the older comes first. */
static int larger_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (group_is_memory(x->group) != group_is_memory(y->group))
        return group_is_memory(x->group) ? -1 : 1;
    int bytes = order(y->share.bytes, x->share.bytes), times = order(y->share.times, x->share.times);
    return bytes ? bytes : times ? times : order(x->group->call, y->group->call);
}

/* The findings of the text that are, or are not, leaks. NULL: there are none. */
static struct entry *entries_of(const struct text_report *report, const struct run *run, bool leaks, unsigned *count)
{
    unsigned all = groups_count(run->groups);
    struct entry *entry = all ? malloc(all * sizeof *entry) : NULL;
    *count = 0;
    for (unsigned i = 0; entry && i < all; i++) {
        struct group *group = groups_at(run->groups, i);
        const struct share whole = {group->pid, group->times, group->bytes};
        const struct share *share = report->pid ? group_share(group, report->pid) : &whole;
        if (share && !group->suppressed && (group->class == FINDING_LEAK) == leaks && group->class != FINDING_NOTE)
            entry[(*count)++] = (struct entry){group, *share};
    }
    return entry;
}

static void line(const struct text_reports *texts, struct text_report *report, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void line(const struct text_reports *texts, struct text_report *report, const char *format, ...)
{
    char text[1400] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text - 1, format, arguments);
    va_end(arguments);
    strcat(text, "\n");
    emit(texts, report, text);
}

void texts_note(struct text_reports *texts, uint64_t pid, const char *note)
{
    struct text_report *report = report_of(texts, pid);
    uint64_t hash = fnv1a(FNV1A, note, strlen(note));
    if (!report || report->noted == hash)
        return;
    report->noted = hash;
    line(texts, report, "cuvmm check: %.800s", note);
}

static void finish_leaks(struct text_reports *texts, struct text_report *report, const struct run *run)
{
    unsigned count;
    struct entry *entry = entries_of(report, run, true, &count);
    unsigned shown = texts->options->all_leaks || count <= LEAKS_SHOWN ? count : LEAKS_SHOWN;
    struct share rest = {0};
    char bytes[UNITS_TEXT];
    if (count)
        qsort(entry, count, sizeof *entry, larger_first);
    for (unsigned i = 0; i < count; i++) {
        if (i < shown)
            write_finding(texts, report, entry[i].group, &entry[i].share, true);
        rest.times += i < shown ? 0 : entry[i].share.times;
        rest.bytes += i < shown || !group_is_memory(entry[i].group) ? 0 : entry[i].share.bytes;
    }
    if (count > shown && !texts->options->quiet)
        line(texts, report, "cuvmm check: %u more places made %llu objects, %s of memory, that were held at the end; --leaks=full lists them",
             count - shown, (unsigned long long)rest.times, units_text(rest.bytes, bytes));
    free(entry);
}

/* "; during load (2), train (3) and 5 more" */
static void phases_text(const struct group *group, char *text, size_t size)
{
    enum { SHOWN = 4 };
    size_t length = 0;
    text[0] = '\0';
    if (group->phases < 2)
        return;
    for (unsigned i = 0; i < group->phases && i < SHOWN && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%.60s (%llu)", i ? ", " : "; during ",
                                   group->phase[i].mark[0] ? group->phase[i].mark : "no mark", (unsigned long long)group->phase[i].times);
    if (group->phases > SHOWN && length < size)
        snprintf(text + length, size - length, " and %u more", group->phases - SHOWN);
}

/* Repeats, the most frequent first. */
static void finish_again(struct text_reports *texts, struct text_report *report, const struct run *run)
{
    unsigned count, shown = 0;
    char place[600], phases[400];
    struct entry *entry = entries_of(report, run, false, &count);
    for (unsigned i = 0; i < count; i++)
        entry[i].share.bytes = 0;
    if (count)
        qsort(entry, count, sizeof *entry, larger_first);
    for (; shown < count && shown < AGAIN_SHOWN && entry[shown].share.times > 1; shown++) {
        const struct group *group = entry[shown].group;
        phases_text(group, phases, sizeof phases);
        line(texts, report, "cuvmm check: %llu times %s%s%s%s%s%s", (unsigned long long)entry[shown].share.times, group->rule,
             group->rule[0] ? ": " : "", group->function, group->places.count ? " in " : "",
             group->places.count ? place_text(&group->places.place[0], place, sizeof place) : "", phases);
    }
    free(entry);
}

static void finish_process(struct text_reports *texts, struct text_report *report, const struct run *run)
{
    char text[COLLECT_TEXT];
    struct sum sum = collect_sum(run, report->pid);
    collect_text(run, &sum, text, sizeof text);
    line(texts, report, "cuvmm check: %s (process %llu)", text, (unsigned long long)report->pid);
}

void texts_finish(struct text_reports *texts, const struct run *run)
{
    if (!texts->options->log_by_process)
        report_of(texts, 0);
    for (unsigned i = 0; texts->options->log_by_process && i < run->processes; i++)
        report_of(texts, run->process[i].pid);
    for (unsigned i = 0; i < texts->count; i++) {
        struct text_report *report = &texts->report[i];
        finish_leaks(texts, report, run);
        if (!texts->options->quiet)
            finish_again(texts, report, run);
        if (report->pid && !texts->options->quiet)
            finish_process(texts, report, run);
    }
}
