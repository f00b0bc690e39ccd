/* SPDX-License-Identifier: Apache-2.0 */
/* results: the next run reads what a run wrote, and a file of another kind is left alone. */
#include "results.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "subject.h"
#include "tap.h"

static char folder[] = "/tmp/results-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void test_round_trip(FILE *err)
{
    struct results wrote = {.count = 0}, read;
    const char *path = in_folder("run.tsv");
    tap_ok(results_read(&read, path, err) && read.count == 0, "no file yet: no old values");
    results_add(&wrote, "life, 1 thousand live", 12.5, AIM_LEAST);
    results_add(&wrote, "bytes a live mapping", 72, AIM_MOST);
    tap_ok(results_write(&wrote, path, err), "written");
    results_add(&wrote, "one more", 3, AIM_MOST);
    tap_ok(results_write(&wrote, path, err), "and written over");
    tap_ok(results_read(&read, path, err) && read.count == 3, "read again");
    const double *life = results_find(&read, "life, 1 thousand live");
    tap_ok(life && *life > 12.49 && *life < 12.51, "with its figures");
    tap_ok(read.result[0].better == AIM_LEAST && read.result[1].better == AIM_MOST, "and what is better of each");
    tap_ok(!results_find(&read, "life"), "a prefix of a name does not match");
    remove(path);
}

static void test_foreign(FILE *err)
{
    struct results results = {.count = 0};
    const char *path = in_folder("diary.txt");
    char line[32] = "";
    FILE *file = fopen(path, "w");
    fputs("dear diary\n", file);
    fclose(file);
    tap_ok(!results_read(&results, path, err), "a file of another kind is refused");
    file = fopen(path, "r");
    tap_ok(fgets(line, sizeof line, file) && strcmp(line, "dear diary\n") == 0, "and untouched");
    fclose(file);
    remove(path);
    tap_ok(!results_write(&results, in_folder("none/run.tsv"), err), "no folder, no file");
}

static double steady(void *state, unsigned units)
{
    unsigned *calls = state;
    return (*calls)++ == 3 ? 100.0 : 2e-9 * units; /* one round in five is disturbed */
}

static void test_median(void)
{
    unsigned calls = 0;
    struct subject subject = {.name = "steady", .batch = steady, .state = &calls, .units = 10};
    subjects_run(&subject, 1, 5);
    double median = subject_median(&subject, 5);
    tap_ok(calls == 6 && median > 1.99 && median < 2.01, "a disturbance of one round does not count");
}

int main(void)
{
    FILE *err = tmpfile();
    if (!err || !mkdtemp(folder))
        tap_bail("no folder for files");
    test_round_trip(err);
    test_foreign(err);
    test_median();
    fclose(err);
    rmdir(folder);
    return tap_done();
}
