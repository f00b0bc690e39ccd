/* SPDX-License-Identifier: Apache-2.0 */
#include "installed_script.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static const struct installed_script script = {"teach", "CUVMM_TEST_SCRIPTS", "lessons", "teach.sh"};
static char *const argv[] = {(char *)"teach", (char *)"a b", (char *)"c", NULL};

/* What the script writes, or installed_script_start does; the exit status into *status. */
static const char *started(int *status)
{
    static char text[8192];
    int ends[2];
    if (pipe(ends))
        tap_bail("no pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        FILE *err = fdopen(ends[1], "w");
        printf("before\n");
        int result = err ? installed_script_start(&script, (char **)argv, stdout, err) : 99;
        fflush(NULL); /* counters of coverage are written by exit */
        exit(result);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    int how = 0;
    waitpid(child, &how, 0);
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    return text;
}

int main(void)
{
    char folder[] = "/tmp/installed_test.XXXXXX", path[64];
    int status = 0;
    if (!mkdtemp(folder))
        tap_bail("cannot make %s", folder);
    snprintf(path, sizeof path, "%s/teach.sh", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        tap_bail("cannot make %s", path);
    fputs("#!/bin/sh\necho \"$1|$2|$#|${CUVMM_PREFIX-none}\"\nexit 7\n", file);
    fclose(file);
    chmod(path, 0700);

    setenv("CUVMM_TEST_SCRIPTS", folder, 1);
    unsetenv("CUVMM_PREFIX");
    const char *text = started(&status);
    tap_ok(strncmp(text, "before\na b|c|2|/", 16) == 0, "the script gets the arguments and the prefix, behind what was printed");
    tap_u64((uint64_t)status, 7, "its status is the command's");
    setenv("CUVMM_PREFIX", "/opt/mine", 1);
    tap_ok(strstr(started(&status), "|/opt/mine\n") != NULL, "a prefix of the environment stays");

    setenv("CUVMM_TEST_SCRIPTS", "/nowhere", 1);
    tap_text(started(&status),
             "before\ncuvmm teach: /nowhere/teach.sh: No such file or directory; name the folder of teach.sh in CUVMM_TEST_SCRIPTS\n",
             "a missing script is named, with the fix");
    tap_u64((uint64_t)status, 2, "as a usage error");
    setenv("CUVMM_TEST_SCRIPTS", "", 1);
    text = started(&status);
    tap_ok(strstr(text, "/share/cuvmm/lessons/teach.sh: No such file") != NULL, "without it, share/cuvmm is where it is looked for");
    unlink(path);
    rmdir(folder);
    return tap_done();
}
