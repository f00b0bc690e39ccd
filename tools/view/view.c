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

bool view_page(FILE *out, const struct timeline *timeline, const char *name)
{
    struct json json = {0};
    view_data(&json, timeline, name);
    const char *rest = view_page_html;
    bool good = !json.failed && (rest = put_until(out, rest, "/*style*/")) != NULL && fputs(view_page_css, out) >= 0 &&
                (rest = put_until(out, rest, "/*data*/")) != NULL && put_data(out, &json) &&
                (rest = put_until(out, rest, "/*script*/")) != NULL && fputs(view_page_js, out) >= 0 &&
                put_until(out, rest, "/*end*/") != NULL;
    json_free(&json);
    return good && !ferror(out);
}

/* ---- its file ---- */

static int fail(FILE *err, const char *path, const char *what)
{
    fprintf(err, "cuvmm view: %s: %s\n", path, what);
    return 2;
}

static int write_page(const struct timeline *timeline, const char *name, const char *path, FILE *err)
{
    struct output output;
    if (!output_open(&output, path, "cuvmm view", err))
        return 2;
    if (view_page(output.file, timeline, name) || ferror(output.file))
        return output_close(&output, err) ? 0 : 2;
    output_abandon(&output);
    return fail(err, path, "out of memory");
}

static void summarise(FILE *out, const struct timeline *t, const char *path)
{
    size_t errors = 0, warnings = 0;
    for (size_t i = 0; i < t->calls; i++) {
        errors += timeline_is_error(&t->call[i]);
        warnings += !timeline_is_error(&t->call[i]) && t->call[i].severity == VMM_SEVERITY_WARNING;
    }
    fprintf(out, "%s: %zu calls, %zu objects, %zu refused, %zu warned of\n", path, t->calls, t->objects, errors, warnings);
}

int view_file(const char *trace, const char *page, FILE *out, FILE *err)
{
    bool standard = strcmp(trace, "-") == 0;
    const char *name = standard ? "standard input" : text_base_name(trace);
    struct timeline timeline;
    int status = 2;
    FILE *in = standard ? stdin : fopen(trace, "rb");
    if (!in)
        return fail(err, trace, strerror(errno));
    bool good = timeline_read(&timeline, in, name);
    if (!standard)
        fclose(in);
    if (timeline.complaint.length)
        fprintf(err, "%s\n", timeline.complaint.data);
    if (good) {
        if (timeline.complaint.length)
            fprintf(err, "cuvmm view: the page shows the %zu calls before that line\n", timeline.calls);
        bool to_out = strcmp(page, "-") == 0;
        status = !to_out ? write_page(&timeline, name, page, err) : view_page(out, &timeline, name) ? 0 : 2;
        if (status == 0 && !to_out)
            summarise(out, &timeline, page);
    }
    timeline_free(&timeline);
    return status;
}
