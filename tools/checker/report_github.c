/* SPDX-License-Identifier: Apache-2.0 */
/* --github: commands for GitHub's workflow runner, which shows them next to the source lines. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

/* A colon and a comma end a property; a percent sign and line breaks are escaped everywhere. */
static void put(FILE *out, const char *text, bool property)
{
    for (; *text; text++)
        if (*text == '%' || *text == '\r' || *text == '\n' || (property && (*text == ':' || *text == ',')))
            fprintf(out, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, out);
}

static void put_group(FILE *out, const struct group *group, const char *folder)
{
    const struct place *source = places_source(&group->places);
    const char *here = group_text(group, "here");
    char place[1000];
    fprintf(out, "::%s ", group->class == FINDING_ERROR ? "error" : group->class == FINDING_NOTE ? "notice" : "warning");
    if (source) {
        fputs("file=", out);
        put(out, place_below(source->file, folder), true);
        fprintf(out, ",line=%u,", source->line);
    }
    fputs("title=", out);
    put(out, group->rule[0] ? group->rule : "cuvmm check", true);
    fputs("::", out);
    put(out, group->function, false);
    fputs(": ", out);
    put(out, group_what(group), false);
    fputs(here[0] ? "; " : "", out);
    put(out, here, false);
    if (!source && group->places.count) {
        fputs(", called by ", out);
        put(out, place_text(&group->places.place[0], place, sizeof place), false);
    }
    if (group->times > 1)
        fprintf(out, " (%llu times)", (unsigned long long)group->times);
    if (group->row) {
        fputs("%0AFix: ", out);
        put(out, group->row->way_out, false);
    }
    fputs("\n", out);
}

void report_github(const struct report *report, FILE *out)
{
    const struct run *run = report->run;
    const char *root = getenv("GITHUB_WORKSPACE");
    char here[4096];
    const char *folder = root && root[0] ? root : getcwd(here, sizeof here) ? here : "";
    if (!report->checked) {
        fputs("::error title=cuvmm check::", out);
        put(out, report->text, false);
        fputs("\n", out);
    }
    for (unsigned i = 0; i < groups_count(run->groups); i++)
        if (!groups_at(run->groups, i)->suppressed)
            put_group(out, groups_at(run->groups, i), folder);
    fflush(out);
}
