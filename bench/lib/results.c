/* SPDX-License-Identifier: Apache-2.0 */
#include "results.h"

#include <errno.h>
#include <string.h>

#define TITLE "# ratios of one run; see docs/bench.md\n"

static const char *const better[] = {[AIM_LEAST] = "more", [AIM_MOST] = "less"};

void results_add(struct results *results, const char *name, double value, enum aim which)
{
    if (results->count == RESULTS_MOST)
        return;
    struct result *result = &results->result[results->count++];
    snprintf(result->name, sizeof result->name, "%s", name);
    result->value = value;
    result->better = which;
}

const double *results_find(const struct results *results, const char *name)
{
    for (unsigned i = 0; i < results->count; i++)
        if (strcmp(results->result[i].name, name) == 0)
            return &results->result[i].value;
    return NULL;
}

bool results_read(struct results *results, const char *path, FILE *err)
{
    char line[256];
    unsigned number = 1;
    *results = (struct results){.count = 0};
    FILE *file = fopen(path, "r");
    if (!file && errno == ENOENT)
        return true;
    if (!file) {
        fprintf(err, "%s: %s\n", path, strerror(errno));
        return false;
    }
    bool ok = fgets(line, sizeof line, file) && strcmp(line, TITLE) == 0;
    while (ok && fgets(line, sizeof line, file)) {
        struct result result;
        number++;
        char word[8] = "";
        ok = sscanf(line, "%63[^\t]\t%lf\t%7s", result.name, &result.value, word) == 3 &&
             (strcmp(word, better[AIM_LEAST]) == 0 || strcmp(word, better[AIM_MOST]) == 0);
        if (ok)
            results_add(results, result.name, result.value, strcmp(word, better[AIM_MOST]) == 0 ? AIM_MOST : AIM_LEAST);
    }
    fclose(file);
    if (!ok)
        fprintf(err, "%s:%u: not a file of this program; name another with --result, or remove it\n", path, number);
    return ok;
}

bool results_write(const struct results *results, const char *path, FILE *err)
{
    char beside[4096];
    int length = snprintf(beside, sizeof beside, "%s.new", path);
    FILE *file = length > 0 && (size_t)length < sizeof beside ? fopen(beside, "w") : NULL;
    bool ok = file && fputs(TITLE, file) >= 0;
    for (unsigned i = 0; ok && i < results->count; i++)
        ok = fprintf(file, "%s\t%.4f\t%s\n", results->result[i].name, results->result[i].value, better[results->result[i].better]) > 0;
    if (file && fclose(file) != 0)
        ok = false;
    ok = ok && rename(beside, path) == 0;
    if (!ok) {
        fprintf(err, "%s cannot be written: %s; the old file is untouched\n", path, strerror(errno));
        if (file)
            remove(beside);
    }
    return ok;
}
