/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm export: its command line and its file. */
#include "export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "usage.h"

enum format { FORMAT_NONE, FORMAT_CHROME, FORMAT_MEMORY_VIZ, FORMAT_DOT };

struct options {
    const char *trace, *file, *at;
    enum format format;
};

static const char *const formats[] = {"", "chrome", "memory-viz", "dot"};

static bool wrong(FILE *err, const char *format, const char *what)
{
    fputs("cuvmm export: ", err);
    fprintf(err, format, what);
    fputs("\n", err);
    return false;
}

static bool take_format(FILE *err, const char *name, struct options *options)
{
    for (enum format f = FORMAT_CHROME; f <= FORMAT_DOT; f++)
        if (strcmp(formats[f], name) == 0) {
            options->format = f;
            return true;
        }
    return wrong(err, "--format=%.60s: there are chrome, memory-viz and dot", name);
}

static bool take(int argc, char **argv, struct options *options, FILE *err)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (strncmp(a, "--format=", 9) == 0) {
            if (!take_format(err, a + 9, options))
                return false;
        } else if (strncmp(a, "--at=", 5) == 0) {
            options->at = a + 5;
        } else if (strcmp(a, "-o") == 0) {
            if (i + 1 == argc)
                return wrong(err, "-o needs a %s", "FILE");
            options->file = argv[++i];
        } else if (a[0] == '-' && a[1]) {
            return wrong(err, "unknown option \"%.60s\"", a);
        } else if (options->trace) {
            return wrong(err, "one TRACE at a time; \"%.60s\" is a second", a);
        } else {
            options->trace = a;
        }
    }
    if (!options->trace)
        return wrong(err, "which %s? Give a file, or - for standard input", "TRACE");
    if (!options->format)
        return wrong(err, "which format? %s", "--format=chrome, --format=memory-viz or --format=dot");
    if (options->at && options->format != FORMAT_DOT)
        return wrong(err, "--at=%.60s: only the format dot is of one call; the others show all", options->at);
    return true;
}

static uint32_t first_error(const struct timeline *timeline)
{
    for (uint32_t i = 0; i < timeline->calls; i++)
        if (timeline_is_error(&timeline->call[i]))
            return i;
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
        if (timeline->call[i].ordinal == ordinal) {
            *index = i;
            return true;
        }
    return wrong(err, "--at=%.60s: the trace has no call of this number; \"n\" in its lines are the numbers", at);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool write_format(const struct timeline *timeline, const struct options *options, uint32_t at, FILE *out)
{
    switch (options->format) {
    case FORMAT_CHROME: return export_chrome(timeline, out);
    case FORMAT_MEMORY_VIZ: export_memory_viz(timeline, base_name(options->trace), out); break;
    case FORMAT_DOT: export_dot(timeline, at, out); break;
    case FORMAT_NONE: break;
    }
    return true;
}

static int write_file(const struct timeline *timeline, const struct options *options, FILE *out, FILE *err)
{
    struct output output = {.file = out};
    bool named = options->file && strcmp(options->file, "-") != 0;
    uint32_t at;
    if (!find_call(timeline, options->at, &at, err))
        return 2;
    if (named && !output_open(&output, options->file, "cuvmm export", err))
        return 2;
    if (!write_format(timeline, options, at, output.file)) {
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

/* A trace that is cut off, as that of a program that was killed, is exported up to there, and that is said. */
static int export_trace(FILE *in, const char *name, const struct options *options, FILE *out, FILE *err)
{
    struct timeline timeline;
    int status = 2;
    bool good = timeline_read(&timeline, in, name);
    if (timeline.complaint.length)
        fprintf(err, "%s\n", timeline.complaint.data);
    if (good && timeline.complaint.length)
        fprintf(err, "cuvmm export: what is shown are the %zu calls before that line\n", timeline.calls);
    if (good)
        status = write_file(&timeline, options, out, err);
    timeline_free(&timeline);
    return status;
}

int cuvmm_export(int argc, char **argv, FILE *out, FILE *err)
{
    struct options options = {NULL, NULL, NULL, FORMAT_NONE};
    if (!take(argc, argv, &options, err))
        return cuvmm_usage(err, "export");
    if (strcmp(options.trace, "-") == 0)
        return export_trace(stdin, "standard input", &options, out, err);
    FILE *in = fopen(options.trace, "rb");
    if (!in) {
        fprintf(err, "cuvmm export: %s: %s\n", options.trace, strerror(errno));
        return 2;
    }
    int status = export_trace(in, base_name(options.trace), &options, out, err);
    fclose(in);
    return status;
}
