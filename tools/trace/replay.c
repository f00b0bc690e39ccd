/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "in_place.h"
#include "replay_state.h"

/* ---- threads ---- */

/* A trace contains the calls of several threads, each with its own current context; a single thread replays them all. */
static bool enter_thread(struct replay *r, uint32_t thread)
{
    if (thread == r->thread)
        return true;
    if (!thread || thread >= REPLAY_THREADS)
        return false;
    const size_t most = thread > r->thread ? thread : r->thread;
    if (most >= r->threads) {
        const size_t room = 2 * most + 16;
        r->current = text_grow(r->current, room * sizeof *r->current);
        memset(r->current + r->threads, 0, (room - r->threads) * sizeof *r->current);
        r->threads = room;
    }
    if (r->thread) {
        if (vmm_ctx_get_current(r->sys, &r->current[r->thread]) != VMM_SUCCESS)
            r->current[r->thread] = NULL;
        vmm_ctx_set_current(r->sys, r->current[thread]);
    }
    r->thread = thread;
    return true;
}

/* ---- playing ---- */

/* The position of the call: its line, or the line that it would have in the readable form. */
static void print_place(FILE *out, const struct replay *r)
{
    fprintf(out, "%s:%llu: ", r->store.name, (unsigned long long)r->calls + 1);
}

static void print_difference(struct replay *r, const struct text *difference, const vmm_detail *detail)
{
    char text[4096];
    print_place(r->out, r);
    fprintf(r->out, "the replay differs here, after %llu calls without a difference\n  ", (unsigned long long)r->played);
    trace_print_call(r->out, &r->room->event, &r->named);
    fprintf(r->out, "\n%s", difference->data);
    if (detail->severity != VMM_SEVERITY_NONE) {
        vmm_detail_text(detail, text, sizeof text);
        columns_fold(text, sizeof text, (unsigned)text_columns());
        fputs(text, r->out);
    }
}

/* 0, 1 or 2 as replay(). */
static int play_call(struct replay *r)
{
    struct text difference = {0};
    r->calls++;
    if (!enter_thread(r, r->room->event.thread)) {
        print_place(r->err, r);
        fprintf(r->err, "its thread is %u; 1 to %d are possible\n", r->room->event.thread, REPLAY_THREADS - 1);
        return 2;
    }
    replay_prepare(r);
    if (r->skip) {
        r->skipped++;
        if (!names_learn(&r->names, &r->room->event))
            text_grow(NULL, SIZE_MAX); /* which ends the process with a message */
        return 0;
    }
    r->result = step_make(r->sys, &r->call);
    replay_compare(r, vmm_last_detail(), &difference);
    const int status = difference.length ? 1 : 0;
    if (status)
        print_difference(r, &difference, vmm_last_detail());
    r->played += !status;
    text_free(&difference);
    return status;
}

static int print_complaint(struct replay *r, const char *complaint)
{
    fflush(r->out);
    fprintf(r->err, "%s\n", complaint);
    return 2;
}

static int play(struct replay *r)
{
    struct trace_at at = {0, 0}, found;
    int status = 0;
    while (status == 0 && trace_store_next(&r->store, &at, r->room, &found))
        status = play_call(r);
    if (status == 0 && r->store.complaint.length)
        return print_complaint(r, r->store.complaint.data);
    if (status == 0 && r->store.whole && r->store.said != r->calls) {
        print_place(r->err, r);
        fprintf(r->err, "the trace claims to have %llu calls, but has %llu\n", (unsigned long long)r->store.said,
                (unsigned long long)r->calls);
        return 2;
    }
    return status;
}

static void ignore_object(void *user, const vmm_object *object)
{
    (void)user;
    (void)object;
}

static void ignore_leak(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

static void print_summary(struct replay *r)
{
    fprintf(r->out, "%s: %llu calls replayed, all with the same results\n", r->store.name, (unsigned long long)r->played);
    if (r->skipped)
        fprintf(r->out, "  %llu calls were skipped: the trace lacks the memory that they name\n",
                (unsigned long long)r->skipped);
    if (r->unknown_bytes)
        fprintf(r->out, "  contents were not compared after a copy whose bytes the trace lacks\n");
    if (!r->store.whole)
        fprintf(r->out, "  the trace has no end: its recording was interrupted\n");
}

/* 0, 1 or 2 as in replay(), for an opened trace. */
static int play_on(struct replay *r, const char *backend)
{
    if (open_in_place_backed(backend, &r->sys) != VMM_SUCCESS) {
        fprintf(r->err, "cuvmm replay: the backend cannot be opened: %s\n", vmm_last_detail()->note);
        return 2;
    }
    /* A driver reports no rules, so there are none to compare. */
    r->rules = vmm_visit(r->sys, ignore_object, NULL) == VMM_SUCCESS && !r->store.driver;
    const int status = play(r);
    if (status == 0)
        print_summary(r);
    vmm_set_report(r->sys, ignore_leak, NULL);
    vmm_close(r->sys);
    return status;
}

int replay(FILE *in, const char *name, const char *backend, FILE *out, FILE *err)
{
    struct replay *r = text_grow(NULL, sizeof *r);
    memset(r, 0, sizeof *r);
    r->out = out;
    r->err = err;
    r->foreign = -1;
    r->names.keeps = true;
    r->room = text_grow(NULL, sizeof *r->room);
    const int status = trace_store_open(&r->store, in, name) ? play_on(r, backend) : print_complaint(r, r->store.complaint.data);
    descriptors_clear(&r->open);
    fabrics_clear(&r->fabrics);
    replay_memory_end(&r->memory);
    trace_store_close(&r->store);
    names_free(&r->names);
    spans_clear(&r->nodes);
    for (int kind = 0; kind < NAME_KINDS; kind++)
        free(r->object[kind].object);
    free(r->current);
    free(r->room);
    free(r);
    return status;
}

int replay_file(const char *path, const char *backend, FILE *out, FILE *err)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    if (!in) {
        fprintf(err, "cuvmm replay: %s: %s\n", path, strerror(errno));
        return 2;
    }
    /* Layers from the environment would wrap the replay, too; tracing it into the file that it reads is never intended. */
    unsetenv("CUVMM_LAYERS");
    int status = replay(in, standard ? "standard input" : text_base_name(path), backend, out, err);
    if (!standard)
        fclose(in);
    return status;
}
