/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every script of conformance/corpus/scripts and compares what it prints, errors and exit status included, with the .out
 * file beside it; and the scripts of the demo.
 *
 *     CUVMM_UPDATE=1 build/test/tools/script/script_test      writes the .out files anew, to be read before they are committed
 *     CUVMM_SRC=DIR                                    where the source tree is; default: the current directory
 *
 * A first line "# options: --draw" gives a script options. Details are printed in brief, so that a
 * rule's wording can change without changing a script.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuvmm.h"
#include "script.h"
#include "tap.h"
#include "text.h"

#define SCRIPTS_MAX 500

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t list_scripts(const char *folder, char **names)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    if (!dir)
        tap_bail("%s cannot be opened; run the test in the source tree or set CUVMM_SRC", folder);
    for (struct dirent *entry; (entry = readdir(dir)) && count < SCRIPTS_MAX;) {
        if (!ends_with(entry->d_name, ".vmm"))
            continue;
        names[count] = text_grow(NULL, strlen(entry->d_name) + 1);
        strcpy(names[count++], entry->d_name);
    }
    closedir(dir);
    qsort(names, count, sizeof *names, by_name);
    return count;
}

/* The whole file, or NULL. */
static char *read_file(const char *path)
{
    struct text text = {0};
    char buffer[4096];
    FILE *in = fopen(path, "rb");
    if (!in)
        return NULL;
    text_add_bytes(&text, "", 0);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        text_add_bytes(&text, buffer, n);
    fclose(in);
    return text.data;
}

/* Adds the words of a first line "# options: ..." to argv. */
static int add_options(const char *path, char *line, size_t size, char **argv, int argc, int max)
{
    FILE *in = fopen(path, "rb");
    if (in && fgets(line, (int)size, in) && strncmp(line, "# options:", 10) == 0)
        for (char *word = strtok(line + 10, " \n"); word && argc < max; word = strtok(NULL, " \n"))
            argv[argc++] = word;
    if (in)
        fclose(in);
    return argc;
}

static char *run_script(const char *path)
{
    char line[256], last[32], *text = NULL, *argv[12] = {"cuvmm", "run", (char *)(uintptr_t)path, "--brief"};
    size_t size;
    int argc = add_options(path, line, sizeof line, argv, 4, 11);
    FILE *out = open_memstream(&text, &size);
    if (!out)
        tap_bail("no memory for the output of %s", path);
    int status = cuvmm_main(argc, argv, out, out);
    snprintf(last, sizeof last, "exit status %d\n", status);
    fputs(last, out);
    fclose(out);
    return text;
}

static void show_difference(const char *got, const char *want)
{
    int line = 1;
    while (*got && *want) {
        size_t a = strcspn(got, "\n"), b = strcspn(want, "\n");
        if (a != b || memcmp(got, want, a) != 0)
            break;
        got += a + (got[a] == '\n');
        want += b + (want[b] == '\n');
        line++;
    }
    tap_note("first difference in line %d of the output", line);
    tap_note("got:  %.*s", (int)strcspn(got, "\n"), got);
    tap_note("want: %.*s", (int)strcspn(want, "\n"), want);
}

static void update(const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0)
        tap_bail("%s cannot be written", path);
}

static void test_script(const char *folder, const char *name)
{
    char path[512], expected[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(expected, sizeof expected, "%s/%.*s.out", folder, (int)(strlen(name) - 4), name);
    char *got = run_script(path);
    if (getenv("CUVMM_UPDATE"))
        update(expected, got);
    char *want = read_file(expected);
    bool same = want && strcmp(got, want) == 0;
    if (!tap_ok(same, "%s", name) && want)
        show_difference(got, want);
    else if (!same)
        tap_note("%s is missing; CUVMM_UPDATE=1 writes it", expected);
    free(got);
    free(want);
}

/* The demo's scripts show the full texts of rules, so only their success is checked. */
static void test_demo(const char *source)
{
    char folder[400], path[700], *names[SCRIPTS_MAX];
    snprintf(folder, sizeof folder, "%s/conformance/corpus/demo", source);
    size_t count = list_scripts(folder, names);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        char *text = run_script(path);
        if (!tap_ok(ends_with(text, "exit status 0\n"), "demo %s goes as it says", names[i]))
            tap_note("%s", text);
        free(text);
        free(names[i]);
    }
}

int main(void)
{
    const char *source = getenv("CUVMM_SRC");
    char folder[400], *names[SCRIPTS_MAX];
    /* The outputs were not made with the backend that the user's environment may select. */
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_LAYERS");
    /* Nor do the outputs depend on open descriptors. */
    for (int fd = 3; fd < 12; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            dup2(STDERR_FILENO, fd);
    snprintf(folder, sizeof folder, "%s/conformance/corpus/scripts", source ? source : ".");
    size_t count = list_scripts(folder, names);
    tap_ok(count >= 25, "%zu scripts exist", count);
    for (size_t i = 0; i < count; i++) {
        test_script(folder, names[i]);
        free(names[i]);
    }
    test_demo(source ? source : ".");
    return tap_done();
}
