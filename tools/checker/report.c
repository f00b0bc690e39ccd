/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <string.h>

static bool open_one(FILE **file, const char *option, const char *path, FILE *err)
{
    *file = path ? fopen(path, "we") : NULL;
    if (path && !*file)
        fprintf(err, "cuvmm check: %s %.200s: %s; nothing was started\n", option, path, strerror(errno));
    return !path || *file;
}

bool report_open(struct report_files *files, const struct check_options *options, FILE *err)
{
    *files = (struct report_files){0};
    if (open_one(&files->json, "--json", options->json, err) && open_one(&files->sarif, "--sarif", options->sarif, err) &&
        open_one(&files->junit, "--junit", options->junit, err))
        return true;
    report_close(files);
    return false;
}

static bool write_one(FILE **file, void (*form)(const struct report *report, FILE *out), const struct report *report,
                      const char *option, FILE *err)
{
    if (!*file)
        return true;
    form(report, *file);
    bool bad = ferror(*file);
    bad |= fclose(*file) != 0;
    *file = NULL;
    if (bad)
        fprintf(err, "cuvmm check: %s: the file is incomplete: %s\n", option, strerror(errno));
    return !bad;
}

bool report_write(struct report_files *files, const struct report *report, FILE *out, FILE *err)
{
    bool json = write_one(&files->json, report_json, report, "--json", err);
    bool sarif = write_one(&files->sarif, report_sarif, report, "--sarif", err);
    bool junit = write_one(&files->junit, report_junit, report, "--junit", err);
    if (report->run->options->github)
        report_github(report, out);
    return json && sarif && junit;
}

void report_close(struct report_files *files)
{
    FILE *all[] = {files->json, files->sarif, files->junit};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i])
            fclose(all[i]);
    *files = (struct report_files){0};
}
