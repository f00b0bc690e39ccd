/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "view.h"
#include "web.h"

const char *web_trace(const char *name)
{
    struct text text = {0};
    char *memory = NULL;
    size_t size;
    struct timeline timeline;
    FILE *in = fopen(name, "rb");
    if (!in) {
        text_add(&text, "!%s: %s", name, strerror(errno));
        return web_answer_text(&text);
    }
    const bool good = timeline_read(&timeline, in, name);
    const struct view_traces traces = {&timeline, &name, 1};
    FILE *out = good ? open_memstream(&memory, &size) : NULL;
    if (out) {
        struct view_pages pages;
        view_pages_of(&pages, &traces, 0, VIEW_PAGE_MOST, false);
        view_page(out, &pages);
        view_pages_free(&pages);
        fclose(out);
    }
    if (memory)
        text_add_bytes(&text, memory, size);
    else
        text_add(&text, "!%s", timeline.complaint.data ? timeline.complaint.data : "it is no trace");
    fclose(in);
    timeline_free(&timeline);
    free(memory);
    return web_answer_text(&text);
}
