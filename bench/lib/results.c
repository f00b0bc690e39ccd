/* SPDX-License-Identifier: Apache-2.0 */
#include "results.h"

#include <errno.h>
#include <string.h>

#define TITLE "# ratios of one run of bench-life; see docs/bench.md\n"

void results_add(struct results *results, const char *name, double value)
{
    if (results->count == RESULTS_MOST)
        return;
    struct result *result = &results->result[results->count++];
    snprintf(result->name, sizeof result->name, "%s", name);
    result->value = value;
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
        ok = sscanf(line, "%63[^\t]\t%lf", result.name, &result.value) == 2;
        if (ok)
            results_add(results, result.name, result.value);
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
        ok = fprintf(file, "%s\t%.4f\n", results->result[i].name, results->result[i].value) > 0;
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
