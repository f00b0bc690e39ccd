/* SPDX-License-Identifier: Apache-2.0 */
/* A file is replaced whole or stays: what is there before, while it is written, and after, and that nothing lies beside it. */
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char folder[200], path[260];

static const char *content(void)
{
    static char text[100];
    FILE *in = fopen(path, "rb");
    size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[n] = 0;
    if (in)
        fclose(in);
    return in ? text : "(no file)";
}

static void put(const char *text)
{
    FILE *out = fopen(path, "wb");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0)
        tap_bail("%s cannot be written", path);
}

/* Files in the folder. */
static size_t files(void)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

/* old NULL: none is there. */
static void test_replaces(const char *old)
{
    struct output output;
    struct stat is;
    mode_t before = umask(027);
    unlink(path);
    if (old)
        put(old);
    tap_ok(output_open(&output, path, "test", stderr), "%s: opened", old ? old : "new");
    fputs("second", output.file);
    fflush(output.file);
    tap_text(content(), old ? old : "(no file)", "the old file exists while the new one is written");
    tap_ok(output_close(&output, stderr), "closed");
    tap_text(content(), "second", "then the new one is");
    tap_u64(files(), 1, "and nothing beside it");
    tap_ok(stat(path, &is) == 0 && (is.st_mode & 0777) == 0640, "with the rights that the mask leaves");
    umask(before);
}

static void test_abandons(void)
{
    struct output output;
    put("first");
    tap_ok(output_open(&output, path, "test", stderr), "opened");
    fputs("second", output.file);
    output_abandon(&output);
    tap_text(content(), "first", "abandoning keeps the old file");
    tap_u64(files(), 1, "and nothing beside it");
}

static void test_fails(void)
{
    char *said = NULL;
    size_t size = 0;
    struct output output;
    struct stat there;
    FILE *err = open_memstream(&said, &size);
    if (!err)
        tap_bail("no memory");
    unlink(path);
    if (mkfifo(path, 0600) != 0)
        tap_bail("%s: no pipe", path);
    tap_ok(!output_open(&output, path, "test", err), "a pipe or a device is not replaced by a file");
    tap_ok(stat(path, &there) == 0 && S_ISFIFO(there.st_mode), "and stays");
    unlink(path);
    tap_ok(output_open(&output, path, "test", err), "a name that nothing has");
    if (mkdir(path, 0700) != 0)
        tap_bail("%s: no folder", path);
    tap_ok(!output_close(&output, err), "and a folder takes meanwhile is not replaced");
    tap_ok(!output_open(&output, path, "test", err), "nor is one that is there");
    fflush(err);
    tap_ok(said && strncmp(said, "test: ", 6) == 0 && strstr(said, path), "which is said with its name: %s", said);
    tap_u64(files(), 1, "and nothing is left");
    rmdir(path);
    char none[300];
    snprintf(none, sizeof none, "%s/none/file", folder);
    tap_ok(!output_open(&output, none, "test", err), "nor is there a file in a folder that is not there");
    tap_u64(files(), 0, "and none was made");
    fclose(err);
    free(said);
}

/* What the system refused long before the end is reported as what it was. */
static void test_full(void)
{
    char *said = NULL;
    size_t size = 0;
    struct output output;
    struct rlimit kept, low;
    FILE *err = open_memstream(&said, &size);
    put("first");
    if (!err || getrlimit(RLIMIT_FSIZE, &kept) || !output_open(&output, path, "test", err))
        tap_bail("no file");
    signal(SIGXFSZ, SIG_IGN);
    low = (struct rlimit){.rlim_cur = 4096, .rlim_max = kept.rlim_max};
    setrlimit(RLIMIT_FSIZE, &low);
    for (int i = 0; i < 100000; i++)
        fputs("second", output.file);
    fflush(output.file);
    bool closed = output_close(&output, err);
    setrlimit(RLIMIT_FSIZE, &kept);
    signal(SIGXFSZ, SIG_DFL);
    fclose(err);
    tap_ok(!closed && said && strstr(said, strerror(EFBIG)), "a file that cannot be written is reported with the reason: %s",
           said);
    tap_text(content(), "first", "the old file stays");
    tap_u64(files(), 1, "and nothing beside it");
    free(said);
}

int main(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/output-XXXXXX", temporary && temporary[0] ? temporary : "/tmp");
    if (!mkdtemp(folder))
        tap_bail("%s: no folder", folder);
    snprintf(path, sizeof path, "%s/file", folder);
    test_replaces(NULL);
    test_replaces("first");
    test_abandons();
    test_fails();
    test_full();
    unlink(path);
    rmdir(folder);
    return tap_done();
}
