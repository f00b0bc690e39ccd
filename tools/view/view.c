/* SPDX-License-Identifier: Apache-2.0 */
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "view_page.h"
#include "view_server.h"

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

void view_pages_of(struct view_pages *pages, const struct view_traces *traces, uint32_t first, uint32_t most, bool live)
{
    *pages = (struct view_pages){.trace = text_grow(NULL, traces->count * sizeof *pages->trace), .count = traces->count,
                                 .first = first, .most = most, .live = live};
    for (size_t i = 0; i < traces->count; i++)
        view_trace_of(&pages->trace[i], &traces->timeline[i], traces->name[i]);
    if (traces->count > 1)
        view_links_find(traces->timeline, traces->count, &pages->links);
}

void view_pages_free(struct view_pages *pages)
{
    for (size_t i = 0; i < pages->count; i++)
        view_trace_free(&pages->trace[i]);
    free(pages->trace);
    view_links_free(&pages->links);
}

bool view_page(FILE *out, const struct view_pages *pages)
{
    struct json json = {0};
    view_data_all(&json, pages);
    const char *rest = view_page_html;
    bool good = !json.failed && (rest = put_until(out, rest, "/*connect*/")) != NULL &&
                fputs(pages->live ? "; connect-src 'self'" : "", out) >= 0 && (rest = put_until(out, rest, "/*style*/")) != NULL && fputs(view_page_css, out) >= 0 &&
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

static int write_page(const struct view_pages *pages, const char *path, FILE *err)
{
    struct output output;
    if (!output_open(&output, path, "cuvmm view", err))
        return 2;
    if (view_page(output.file, pages) || ferror(output.file))
        return output_close(&output, err) ? 0 : 2;
    output_abandon(&output);
    return fail(err, path, "out of memory");
}

static void summarise(FILE *out, const struct view_traces *traces, const char *path)
{
    size_t calls = 0, objects = 0, errors = 0, said = 0;
    for (size_t n = 0; n < traces->count; n++) {
        const struct timeline *t = &traces->timeline[n];
        calls += t->calls;
        objects += t->objects;
        said += t->all_said;
        for (size_t i = 0; i < t->all_said; i++)
            errors += timeline_is_error(t, t->said[i]);
    }
    fprintf(out, "%s: ", path);
    if (traces->count > 1)
        fprintf(out, "%zu processes, ", traces->count);
    fprintf(out, "%zu calls, %zu objects, %zu refused, %zu warned of\n", calls, objects, errors, said - errors);
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
        fprintf(err, "cuvmm view: the page shows the %zu calls before that\n", timeline->calls);
    return good;
}

/* "1000-2000": the first call, from 0, and how many. */
static bool read_calls(const char *calls, uint32_t *first, uint32_t *most, FILE *err)
{
    char *end = NULL;
    *first = 0;
    *most = UINT32_MAX;
    if (!calls)
        return true;
    const unsigned long long from = strtoull(calls, &end, 10), to = *end == '-' ? strtoull(end + 1, &end, 10) : 0;
    if (calls[0] >= '0' && calls[0] <= '9' && !*end && from >= 1 && to >= from && to <= UINT32_MAX) {
        *first = (uint32_t)from - 1;
        *most = (uint32_t)(to - from) + 1;
        return true;
    }
    fprintf(err, "cuvmm view: --calls=%.60s: expected the first and the last call to show, as in --calls=1000-2000\n", calls);
    return false;
}

/* Is there something to show, and not more than a browser takes? */
static bool fits(const struct view_traces *traces, uint32_t first, uint32_t most, FILE *err)
{
    for (size_t i = 0; i < traces->count; i++) {
        const size_t calls = traces->timeline[i].calls, shown = first < calls ? calls - first : 0;
        if (first && !shown) {
            fprintf(err, "cuvmm view: %s: it has %zu calls, and --calls begins after them\n", traces->name[i], calls);
            return false;
        }
        if ((shown < most ? shown : most) > VIEW_PAGE_MOST) {
            fprintf(err, "cuvmm view: %s: a page of %zu calls is larger than browsers take; look at all of them with --serve, or "
                         "make a page of some: --calls=1-%d\n",
                    traces->name[i], shown < most ? shown : (size_t)most, VIEW_PAGE_MOST);
            return false;
        }
    }
    return true;
}

static int write_pages(const struct view_traces *traces, const struct view_request *request, FILE *out, FILE *err)
{
    struct view_pages pages;
    uint32_t first, most;
    if (!read_calls(request->calls, &first, &most, err) || !fits(traces, first, most, err))
        return 2;
    view_pages_of(&pages, traces, first, most, false);
    const bool standard = strcmp(request->page, "-") == 0;
    const int status = standard ? view_page(out, &pages) ? 0 : 2 : write_page(&pages, request->page, err);
    if (status == 0 && !standard)
        summarise(out, traces, request->page);
    view_pages_free(&pages);
    return status;
}

static int serve_pages(const struct view_traces *traces, const struct view_request *request, FILE *out, FILE *err)
{
    struct view_pages pages;
    view_pages_of(&pages, traces, 0, VIEW_SERVED, true);
    const int status = view_serve(&pages, request->port, out, err);
    view_pages_free(&pages);
    return status;
}

static int show(struct view_traces *traces, const struct view_request *request, FILE *out, FILE *err)
{
    char why[700];
    if (!view_together(traces, why, sizeof why)) {
        fprintf(err, "cuvmm view: %s\n", why);
        return 2;
    }
    return request->page ? write_pages(traces, request, out, err) : serve_pages(traces, request, out, err);
}

int view_files(const struct view_request *request, FILE *out, FILE *err)
{
    const size_t count = request->count;
    struct view_traces traces = {text_grow(NULL, count * sizeof *traces.timeline), text_grow(NULL, count * sizeof *traces.name),
                                 0};
    bool good = true;
    memset(traces.timeline, 0, count * sizeof *traces.timeline);
    for (; traces.count < count && good; traces.count++)
        good = read_one(request->trace[traces.count], &traces.timeline[traces.count], &traces.name[traces.count], err);
    int status = good ? show(&traces, request, out, err) : 2;
    for (size_t i = 0; i < traces.count; i++)
        timeline_free(&traces.timeline[i]);
    free(traces.timeline);
    free(traces.name);
    return status;
}
