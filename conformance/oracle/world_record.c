/* SPDX-License-Identifier: Apache-2.0 */
/* world_record.c - numbering answers, and lines of runs. */
#include "world_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_ANSWER UINT32_MAX

static void *checked(void *memory)
{
    if (!memory) {
        fputs("record: the host has no memory left\n", stderr);
        exit(255);
    }
    return memory;
}

static void start(struct record *record, FILE *file, size_t calls)
{
    memset(record, 0, sizeof *record);
    record->file = file;
    record->calls = calls;
    record->line = checked(malloc(calls * sizeof *record->line));
    record->before = checked(malloc(calls * sizeof *record->before));
    memset(record->line, 0xFF, calls * sizeof *record->line);
    memset(record->before, 0xFF, calls * sizeof *record->before);
}

static uint32_t add(struct record *record, const char *answer)
{
    if (record->count == record->room) {
        record->room = record->room ? record->room * 2 : 64;
        record->answers = checked(realloc(record->answers, record->room * sizeof *record->answers));
    }
    char *copy = checked(malloc(strlen(answer) + 1));
    /* analysers: malloc-leak is wrong: the record keeps it, forget_answers frees it */
    record->answers[record->count] = strcpy(copy, answer);
    return (uint32_t)record->count++;
}

static void forget_answers(struct record *record)
{
    for (size_t i = 0; i < record->count; i++)
        free(record->answers[i]);
    record->count = 0;
    memset(record->line, 0xFF, record->calls * sizeof *record->line);
    memset(record->before, 0xFF, record->calls * sizeof *record->before);
}

void world_record_close(struct record *record)
{
    forget_answers(record);
    free(record->answers);
    free(record->line);
    free(record->before);
    memset(record, 0, sizeof *record);
}

/* ---- writing ---- */

void world_record_begin(struct record *record, FILE *file, size_t calls)
{
    start(record, file, calls);
    fprintf(file, "calls %zu\n", calls);
}

void world_record_put(struct record *record, size_t call, const char *answer)
{
    uint32_t known = record->before[call]; /* most calls answer as in the state before */
    if (known != NO_ANSWER && !strcmp(record->answers[known], answer)) {
        record->line[call] = known;
        return;
    }
    for (known = 0; known < record->count; known++)
        if (!strcmp(record->answers[known], answer))
            break;
    if (known == record->count) {
        fprintf(record->file, "k %zu %s\n", record->count, answer);
        add(record, answer);
    }
    record->line[call] = known;
}

/* How many answers from call on are as before. */
static size_t unchanged(const struct record *record, size_t call)
{
    size_t n = 0;
    while (call + n < record->calls && record->line[call + n] == record->before[call + n])
        n++;
    return n;
}

static size_t alike(const struct record *record, size_t call)
{
    size_t n = 1;
    while (call + n < record->calls && record->line[call + n] == record->line[call])
        n++;
    return n;
}

void world_record_state(struct record *record, size_t state)
{
    fprintf(record->file, "s %zu", state);
    for (size_t call = 0; call < record->calls;) {
        size_t same = unchanged(record, call), n = same ? same : alike(record, call);
        if (same)
            fprintf(record->file, " =%zu", n);
        else if (n > 1)
            fprintf(record->file, " %" PRIu32 "x%zu", record->line[call], n);
        else
            fprintf(record->file, " %" PRIu32, record->line[call]);
        call += n;
    }
    fputc('\n', record->file);
    fflush(record->file);
    uint32_t *line = record->line;
    record->line = record->before;
    record->before = line;
}

/* ---- reading ---- */

/* One line of any length; NULL at the end. */
static char *read_line(FILE *file)
{
    size_t size = 256, length = 0;
    char *line = checked(malloc(size));
    for (int c; (c = getc(file)) != EOF && c != '\n';) {
        if (length + 1 == size)
            line = checked(realloc(line, size *= 2));
        line[length++] = (char)c;
    }
    if (!length && feof(file)) {
        free(line);
        return NULL;
    }
    line[length] = 0;
    return line;
}

bool world_record_open(struct record *record, FILE *file, size_t calls)
{
    char *line = read_line(file);
    while (line && *line == '#') {
        free(line);
        line = read_line(file);
    }
    size_t number = 0;
    bool good = line && sscanf(line, "calls %zu", &number) == 1 && number == calls;
    free(line);
    start(record, file, calls);
    record->reading = true;
    return good;
}

/* The runs of a state's line; NULL or what is wrong. */
static const char *read_runs(struct record *record, const char *at)
{
    size_t call = 0;
    while (*at) {
        char *end;
        bool same = *at == ' ' && at[1] == '=';
        at += same ? 2 : 1;
        unsigned long value = strtoul(at, &end, 10), n = same ? value : 1;
        if (end == at)
            return "expected a number";
        if (!same && *end == 'x')
            n = strtoul(end + 1, &end, 10);
        if ((!same && value >= record->count) || n > record->calls - call || (*end && *end != ' '))
            return "a run that does not fit";
        for (; n; n--, call++)
            record->line[call] = same ? record->before[call] : (uint32_t)value;
        at = end;
    }
    return call == record->calls ? NULL : "too few answers";
}

bool world_record_next(struct record *record, const char **error)
{
    char *line;
    *error = NULL;
    uint32_t *before = record->line; /* what was read last */
    record->line = record->before;
    record->before = before;
    while (!*error && (line = read_line(record->file)) != NULL) {
        size_t number;
        int used = 0;
        if (*line == '#')
            used = 1;
        else if (sscanf(line, "calls %zu%n", &number, &used) == 1 && used && number == record->calls)
            forget_answers(record); /* another recording follows */
        else if (sscanf(line, "k %zu %n", &number, &used) == 1 && used && number == record->count)
            add(record, line + used);
        else if (sscanf(line, "s %zu%n", &record->state, &used) == 1 && used)
            *error = read_runs(record, line + used);
        else
            *error = "neither an answer nor a state";
        bool state = *line == 's';
        free(line);
        if (state && !*error)
            return true;
    }
    return false;
}

const char *world_record_answer(const struct record *record, size_t call)
{
    return record->line[call] == NO_ANSWER ? "-" : record->answers[record->line[call]];
}
