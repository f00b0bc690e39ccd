/* SPDX-License-Identifier: Apache-2.0 */
/* --junit: a failed test for each finding; a passed one if there is none. */
#include <string.h>

#include "findings_record.h"
#include "json.h"
#include "report.h"

/* XML does not allow most control characters, not even escaped, nor the last two characters of the first plane. */
static size_t fits(const char *text)
{
    size_t length = jsonw_character(text);
    bool last = length == 3 && (strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0);
    return last ? 0 : length;
}

static void put(FILE *out, const char *text)
{
    size_t length;
    for (; *text; text += length ? length : 1) {
        unsigned char byte = (unsigned char)*text;
        length = fits(text);
        if (byte >= 0x80)
            fwrite(length ? text : "?", 1, length ? length : 1, out);
        else if (byte == '&')
            fputs("&amp;", out);
        else if (byte == '<')
            fputs("&lt;", out);
        else if (byte == '>')
            fputs("&gt;", out);
        else if (byte == '"')
            fputs("&quot;", out);
        else if (byte >= 0x20 && byte != 0x7f)
            fputc(byte, out);
        else
            fputc(byte == '\n' ? '\n' : ' ', out);
    }
}

static void put_stack(FILE *out, const char *label, const struct places *places)
{
    char text[1000];
    for (unsigned i = 0; i < places->count; i++) {
        fprintf(out, "%-9s ", i ? "" : label);
        put(out, place_text(&places->place[i], text, sizeof text));
        fputs("\n", out);
    }
}

static void put_text(FILE *out, const struct group *group)
{
    const struct json_doc *doc = &group->doc;
    const struct json_node *list = json_doc_member(doc, doc->node, "text", JSON_LIST), *pair = NULL;
    while (list && (pair = json_doc_next(doc, list, pair))) {
        const struct json_node *label = json_doc_next(doc, pair, NULL), *text = label ? json_doc_next(doc, pair, label) : NULL;
        if (!text)
            continue;
        fprintf(out, "%-9s ", label->text);
        put(out, text->text);
        fputs("\n", out);
    }
    put_stack(out, group->class == FINDING_LEAK ? "made by" : "called by", &group->places);
    for (unsigned i = 0; i < group->others; i++)
        put_stack(out, group->other[i].role, &group->other[i].places);
    if (group->row) {
        fputs("fix       ", out);
        put(out, group->row->way_out);
        fputs("\n", out);
    }
    fprintf(out, "%llu times\n", (unsigned long long)group->times);
}

static void put_case(FILE *out, const struct group *group)
{
    char place[1000] = "";
    if (group->places.count)
        place_text(&group->places.place[0], place, sizeof place);
    fputs("    <testcase classname=\"cuvmm.", out);
    put(out, group->rule[0] ? group->rule : "result");
    fputs("\" name=\"", out);
    put(out, group->function);
    fputs(place[0] ? " in " : "", out);
    put(out, place);
    fputs("\" time=\"0\">\n", out);
    if (group->suppressed) {
        fputs("      <skipped message=\"suppressed: ", out);
        put(out, group->suppressed->name);
        fputs("\"/>\n", out);
    } else {
        fprintf(out, "      <failure type=\"%s\" message=\"", findings_class_name(group->class));
        put(out, group_what(group));
        fputs("\">", out);
        put_text(out, group);
        fputs("</failure>\n", out);
    }
    fputs("    </testcase>\n", out);
}

void report_junit(const struct report *report, FILE *out)
{
    const struct run *run = report->run;
    unsigned cases = 0, failures = 0, skipped = 0;
    for (unsigned i = 0; i < groups_count(run->groups); i++) {
        const struct group *group = groups_at(run->groups, i);
        cases += group->class != FINDING_NOTE;
        skipped += group->class != FINDING_NOTE && group->suppressed;
    }
    failures = cases - skipped;
    bool alone = cases == 0;
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                 "  <testsuite name=\"cuvmm check\" tests=\"%u\" failures=\"%u\" errors=\"%d\" skipped=\"%u\" time=\"0\">\n",
            alone ? 1 : cases, failures, alone && !report->checked, skipped);
    for (unsigned i = 0; i < groups_count(run->groups); i++)
        if (groups_at(run->groups, i)->class != FINDING_NOTE)
            put_case(out, groups_at(run->groups, i));
    if (alone) {
        fputs("    <testcase classname=\"cuvmm\" name=\"check\" time=\"0\">", out);
        if (!report->checked) {
            fputs("<error message=\"", out);
            put(out, report->text);
            fputs("\"/>", out);
        }
        fputs("</testcase>\n", out);
    }
    fputs("  </testsuite>\n</testsuites>\n", out);
}
