/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "practice.h"
#include "text.h"

const struct practice_source *practice_find(const char *word)
{
    for (const struct practice_source *source = practices; source->name; source++) {
        const char *dash = strchr(source->name, '-');
        const size_t digits = (size_t)(dash - source->name);
        if (strcmp(word, source->name) == 0 || strcmp(word, dash + 1) == 0 || (strlen(word) == digits && memcmp(word, source->name, digits) == 0))
            return source;
    }
    return NULL;
}

static void put_part(const struct practice *practice, const struct practice_part *part, const char *before, FILE *out)
{
    for (size_t i = 0; i < part->count; i++)
        fprintf(out, "%s%s\n", before, practice->source->lines[part->first + i]);
}

void practice_begin(const struct practice *practice, FILE *out)
{
    fprintf(out, "# %s: %s\n#\n", practice->source->name, practice->title);
    for (size_t i = 0; i < practice->task.count; i++)
        fprintf(out, "%s\n", practice->source->lines[practice->task.first + i] + 1); /* "## ..." */
    if (practice->given.count)
        fputs("#\n# Before your lines these have run:\n#\n", out);
    put_part(practice, &practice->given, "#     ", out);
    fputs("\n", out);
    put_part(practice, &practice->start, "", out);
}

/* ---- the command ---- */

static int list(FILE *out, FILE *err)
{
    struct practice practice;
    for (const struct practice_source *source = practices; source->name; source++) {
        if (!practice_parse(&practice, source, err))
            return 2;
        const char *dash = strchr(source->name, '-');
        fprintf(out, "  %.*s  %s: %s\n", (int)(dash - source->name), source->name, dash + 1, practice.title);
        practice_free(&practice);
    }
    fputs("\n  cuvmm exercise script N > mine.vmm, then cuvmm exercise script N mine.vmm\n", out);
    return 0;
}

/* False: errno says why. */
static bool read_all(FILE *file, struct text *text)
{
    char bytes[4096];
    text_add_bytes(text, "", 0);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        text_add_bytes(text, bytes, n);
    return !ferror(file);
}

static int grade(const struct practice *practice, const struct practice_request *request, FILE *in, FILE *out, FILE *err)
{
    struct text lines = {0};
    const bool piped = strcmp(request->file, "-") == 0;
    FILE *file = piped ? in : fopen(request->file, "r");
    errno = file ? 0 : errno;
    const bool fine = file && read_all(file, &lines);
    if (!fine)
        fprintf(err, "cuvmm exercise: \"%s\": %s\n", request->file, strerror(errno));
    else if (memchr(lines.data, 0, lines.length))
        fprintf(err, "cuvmm exercise: \"%s\" holds a byte 0, so it is no script\n", request->file);
    const bool whole = fine && !memchr(lines.data, 0, lines.length);
    const struct practice_result result = whole ? practice_grade(practice, lines.data, out, request->colour) : (struct practice_result){0, 0};
    if (file && !piped)
        fclose(file);
    text_free(&lines);
    return !whole ? 2 : result.points < result.of;
}

int practice_tell(const struct practice_request *request, FILE *in, FILE *out, FILE *err)
{
    struct practice practice;
    if (!request->exercise)
        return list(out, err);
    const struct practice_source *source = practice_find(request->exercise);
    if (!source) {
        fprintf(err, "cuvmm exercise: there is no exercise \"%s\"; `cuvmm exercise script` lists them\n", request->exercise);
        return 2;
    }
    if (!practice_parse(&practice, source, err))
        return 2;
    int status = 0;
    if (request->file)
        status = grade(&practice, request, in, out, err);
    else
        practice_begin(&practice, out);
    practice_free(&practice);
    return status;
}
