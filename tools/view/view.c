/* SPDX-License-Identifier: Apache-2.0 */
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "view_page.h"

/* Everything up to a mark of the page, which is left out. Returns what follows it; NULL when out does not take it. */
static const char *put_until(FILE *out, const char *from, const char *mark)
{
    const char *at = strstr(from, mark);
    size_t length = at ? (size_t)(at - from) : strlen(from);
    if (fwrite(from, 1, length, out) != length)
        return NULL;
    return at ? at + strlen(mark) : from + length;
}

/* Inside a script element a '<' could begin its end, or a comment; outside strings JSON has none. */
static bool put_data(FILE *out, const struct json *json)
{
    const char *at = json->text, *end = at + json->length, *less;
    while ((less = memchr(at, '<', (size_t)(end - at))) != NULL) {
        fwrite(at, 1, (size_t)(less - at), out);
        fputs("\\u003c", out);
        at = less + 1;
    }
    fwrite(at, 1, (size_t)(end - at), out);
    return !ferror(out);
}

bool view_page(FILE *out, const struct view_traces *traces)
{
    struct json json = {0};
    view_data_all(&json, traces);
    const char *rest = view_page_html;
    bool good = !json.failed && (rest = put_until(out, rest, "/*style*/")) != NULL && fputs(view_page_css, out) >= 0 &&
                (rest = put_until(out, rest, "/*data*/")) != NULL && put_data(out, &json) &&
                (rest = put_until(out, rest, "/*script*/")) != NULL && fputs(view_page_js, out) >= 0 &&
                put_until(out, rest, "/*end*/") != NULL;
    jsonw_free(&json);
    return good && !ferror(out);
}

/* ---- its files ---- */

static int fail(FILE *err, const char *path, const char *what)
{
    fprintf(err, "cuvmm view: %s: %s\n", path, what);
    return 2;
}

static int write_page(const struct view_traces *traces, const char *path, FILE *err)
{
    struct output output;
    if (!output_open(&output, path, "cuvmm view", err))
        return 2;
    if (view_page(output.file, traces) || ferror(output.file))
        return output_close(&output, err) ? 0 : 2;
    output_abandon(&output);
    return fail(err, path, "out of memory");
}

static void summarise(FILE *out, const struct view_traces *traces, const char *path)
{
    size_t calls = 0, objects = 0, errors = 0, warnings = 0;
    for (size_t n = 0; n < traces->count; n++) {
        const struct timeline *t = &traces->timeline[n];
        calls += t->calls;
        objects += t->objects;
        for (size_t i = 0; i < t->calls; i++) {
            errors += timeline_is_error(&t->call[i]);
            warnings += !timeline_is_error(&t->call[i]) && t->call[i].severity == VMM_SEVERITY_WARNING;
        }
    }
    fprintf(out, "%s: ", path);
    if (traces->count > 1)
        fprintf(out, "%zu processes, ", traces->count);
    fprintf(out, "%zu calls, %zu objects, %zu refused, %zu warned of\n", calls, objects, errors, warnings);
}

static bool read_one(const char *trace, struct timeline *timeline, const char **name, FILE *err)
{
    bool standard = strcmp(trace, "-") == 0;
    *name = standard ? "standard input" : text_base_name(trace);
    FILE *in = standard ? stdin : fopen(trace, "rb");
    if (!in) {
        fail(err, trace, strerror(errno));
        return false;
    }
    bool good = timeline_read(timeline, in, *name);
    if (!standard)
        fclose(in);
    if (timeline->complaint.length)
        fprintf(err, "%s\n", timeline->complaint.data);
    if (good && timeline->complaint.length)
        fprintf(err, "cuvmm view: the page shows the %zu calls before that line\n", timeline->calls);
    return good;
}

static int write_files(struct view_traces *traces, const char *page, FILE *out, FILE *err)
{
    char why[700];
    if (!view_together(traces, why, sizeof why)) {
        fprintf(err, "cuvmm view: %s\n", why);
        return 2;
    }
    if (strcmp(page, "-") == 0)
        return view_page(out, traces) ? 0 : 2;
    int status = write_page(traces, page, err);
    if (status == 0)
        summarise(out, traces, page);
    return status;
}

int view_files(const char *const *trace, size_t count, const char *page, FILE *out, FILE *err)
{
    struct view_traces traces = {text_grow(NULL, count * sizeof *traces.timeline), text_grow(NULL, count * sizeof *traces.name),
                                 0};
    bool good = true;
    memset(traces.timeline, 0, count * sizeof *traces.timeline);
    for (; traces.count < count && good; traces.count++)
        good = read_one(trace[traces.count], &traces.timeline[traces.count], &traces.name[traces.count], err);
    int status = good ? write_files(&traces, page, out, err) : 2;
    for (size_t i = 0; i < traces.count; i++)
        timeline_free(&traces.timeline[i]);
    free(traces.timeline);
    free(traces.name);
    return status;
}
