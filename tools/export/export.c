/* SPDX-License-Identifier: Apache-2.0 */
/* Exports a trace from one file into another. */
#include "export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

static bool wrong(FILE *err, const char *format, const char *what)
{
    fputs("cuvmm export: ", err);
    fprintf(err, format, what);
    fputs("\n", err);
    return false;
}

enum export_format export_format(const char *name)
{
    static const char *const names[] = {"chrome", "memory-viz", "dot", "lines", "binary"};
    int i = EXPORT_BINARY;
    while (i > 0 && strcmp(name, names[i]) != 0)
        i--;
    return (enum export_format)i;
}

static uint32_t first_error(const struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->all_said; i++)
        if (timeline_is_error(timeline, timeline->said[i]))
            return timeline->said[i];
    return TIMELINE_NONE;
}

/* The index of the call that --at names: its number in the trace, or "error" for the first that was refused. */
static bool find_call(const struct timeline *timeline, const char *at, uint32_t *index, FILE *err)
{
    char *end = NULL;
    *index = timeline->calls ? (uint32_t)timeline->calls - 1 : TIMELINE_NONE;
    if (!at)
        return true;
    if (strcmp(at, "error") == 0) {
        *index = first_error(timeline);
        return *index != TIMELINE_NONE || wrong(err, "--at=%.60s: no call of this trace was refused", at);
    }
    errno = 0;
    unsigned long long ordinal = strtoull(at, &end, 10);
    if (at[0] < '0' || at[0] > '9' || *end || errno)
        return wrong(err, "--at=%.60s: expected the number of a call, or \"error\" for the first that was refused", at);
    for (uint32_t i = 0; i < timeline->calls; i++)
        if (timeline_call(timeline, i)->ordinal == ordinal) {
            *index = i;
            return true;
        }
    return wrong(err, "--at=%.60s: the trace has no call of this number; \"n\" in its lines are the numbers", at);
}

static bool write_format(const struct timeline *timeline, const struct export_request *request, uint32_t at, FILE *out)
{
    switch (request->format) {
    case EXPORT_CHROME: return export_chrome(timeline, out);
    case EXPORT_MEMORY_VIZ: export_memory_viz(timeline, text_base_name(request->trace), out); break;
    case EXPORT_DOT: export_dot(timeline, at, out); break;
    case EXPORT_LINES:
    case EXPORT_BINARY: break; /* not of a timeline */
    }
    return true;
}

static int write_file(const struct timeline *timeline, const struct export_request *request, FILE *out, FILE *err)
{
    struct output output = {.file = out};
    bool named = request->file && strcmp(request->file, "-") != 0;
    uint32_t at;
    if (!find_call(timeline, request->at, &at, err))
        return 2;
    if (named && !output_open(&output, request->file, "cuvmm export", err))
        return 2;
    if (!write_format(timeline, request, at, output.file)) {
        if (named)
            output_abandon(&output);
        fputs("cuvmm export: memory ran out\n", err);
        return 2;
    }
    if (named)
        return output_close(&output, err) ? 0 : 2;
    if (fflush(out) == 0 && !ferror(out))
        return 0;
    fprintf(err, "cuvmm export: standard output: %s\n", strerror(errno));
    return 2;
}

/* A truncated trace, such as that of a killed program, is exported up to that point, with a note. */
static int export_trace(FILE *in, const char *name, const struct export_request *request, FILE *out, FILE *err)
{
    struct timeline timeline;
    int status = 2;
    if (request->format == EXPORT_LINES || request->format == EXPORT_BINARY)
        return export_convert(in, name, request, out, err);
    bool good = timeline_read(&timeline, in, name);
    if (timeline.complaint.length)
        fprintf(err, "%s\n", timeline.complaint.data);
    if (good && timeline.complaint.length)
        fprintf(err, "cuvmm export: what is shown are the %zu calls before that line\n", timeline.calls);
    if (good)
        status = write_file(&timeline, request, out, err);
    timeline_free(&timeline);
    return status;
}

int export_file(const struct export_request *request, FILE *out, FILE *err)
{
    if (strcmp(request->trace, "-") == 0)
        return export_trace(stdin, "standard input", request, out, err);
    FILE *in = fopen(request->trace, "rb");
    if (!in) {
        fprintf(err, "cuvmm export: %s: %s\n", request->trace, strerror(errno));
        return 2;
    }
    int status = export_trace(in, text_base_name(request->trace), request, out, err);
    fclose(in);
    return status;
}
