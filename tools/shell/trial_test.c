/* SPDX-License-Identifier: Apache-2.0 */
/* Advice that does not work is not shown; a refused part of it is replaced again. */
#include "trial.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define BASE "init|c = context dev0|r = reserve 2gran|m = create 1gran dev0"

static struct session session;

static void begin(const char *lines)
{
    struct script_options options = {.brief = true};
    char text[512], *save = NULL;
    session_begin(&session, &options);
    snprintf(text, sizeof text, "%s", lines);
    for (char *line = strtok_r(text, "|", &save); line; line = strtok_r(NULL, "|", &save))
        if (session_run(&session, line)->status != SCRIPT_OK)
            tap_bail("\"%s\" does not go", line);
}

/* The advice after a line, following "first " or "instead "; "" if there is none. */
static void advises(const char *before, const char *line, const char *wanted)
{
    struct text got = {0};
    begin(before);
    const struct session_line *ran = session_run(&session, line);
    struct advice advice = trial_advice(&session, ran, line);
    if (advice.lines.data)
        text_add(&got, "%s %s", advice.first ? "first" : "instead", advice.lines.data);
    tap_text(got.data ? got.data : "", wanted, "%s", line);
    advice_free(&advice);
    text_free(&got);
    session_end(&session, NULL);
}

static void test_arguments(void)
{
    advises(BASE, "map r 1gran", "instead map r 1gran m\n");
    advises(BASE "|n = create 2gran dev0", "map r 1gran", "instead map r 1gran m\n");
    advises(BASE "|n = create 2gran dev0|release m", "map r 1gran", "instead map r n.size n\n");
    advises(BASE, "h = create 3000000", "instead h = create roundup(3000000) dev0\n");
    advises(BASE, "h = create 3MB dev0", "instead h = create roundup(3MiB) dev0\n");
    advises(BASE, "h = create 3 MB dev0", "instead h = create roundup(3MiB) dev0\n");
    advises(BASE "|map r 1gran m", "access r dev0:rw", "instead access r 1gran dev0:rw\n");
    advises(BASE "|map r 1gran m", "map r 1gran m;", "instead map r+2MiB 1gran m\n");
    advises(BASE, "h = create 1gran dev0", "");
}

/* Earlier, the first advice was refused and the next one unmapped the user's memory. */
static void test_partly_mapped(void)
{
    advises(BASE "|map r 1gran m", "access r 2gran dev0:rw", "first h = create 2MiB dev0\nmap r+2MiB 2MiB h\n");
    advises(BASE "|map r 1gran m", "access r 3gran dev0:rw", "");
    advises("init|r = reserve 2gran|m = create 1gran dev0|map r 1gran m", "fill r 16 7", "");
    advises(BASE "|map r 1gran m|map r+1gran 1gran m", "map r 1gran m", "first unmap r 2MiB\n");
}

static void test_meant(void)
{
    struct advice advice;
    begin(BASE);
    advice = trial_of(&session, "free r");
    tap_text(advice.lines.data, "free r\n", "a line that goes is shown");
    advice_free(&advice);
    tap_ok(session.count == 4 && session_run(&session, "free r")->result == VMM_SUCCESS, "and was not run here");
    advice = trial_of(&session, "free r");
    tap_ok(!advice.lines.data, "one that does not is not");
    advice = trial_of(&session, "expect INVALID_VALUE: reserve 0");
    tap_text(advice.lines.data ? advice.lines.data : "", "expect INVALID_VALUE: reserve 0\n", "a refusal that is expected goes");
    advice_free(&advice);
    session_end(&session, NULL);
}

/* If nothing can be tried, the advice is shown as derived. */
static void test_untried(void)
{
    struct session copy;
    setenv("CUVMM_LAYERS", "fault=mem_create:30", 1);
    begin(BASE);
    tap_ok(!session_copies(&session) && !session_copy(&session, &copy), "layers of the environment would write their files again");
    unsetenv("CUVMM_LAYERS");
    tap_ok(session_copies(&session), "without them, it can be copied");
    session_end(&session, NULL);
    begin("init|r = reserve 2gran");
    session_run(&session, "backend \"fault=mem_create:30|sim:h100\"");
    session_run(&session, "init");
    const struct session_line *ran = session_run(&session, "meminfo");
    tap_ok(!session_copies(&session), "nor can layers of a line");
    struct advice advice = trial_advice(&session, ran, "meminfo");
    tap_text(advice.lines.data ? advice.lines.data : "", "c = context dev0\n", "the advice is there all the same");
    advice_free(&advice);
    session_end(&session, NULL);
}

static void test_long(void)
{
    struct session copy;
    begin(BASE);
    while (session.count <= SESSION_COPY_MOST)
        session_run(&session, "# a remark");
    tap_ok(session_copies(&session) && !session_copy(&session, &copy), "a long session takes too long");
    const struct session_line *ran = session_run(&session, "map r 1gran");
    struct advice advice = trial_advice(&session, ran, "map r 1gran");
    tap_ok(!advice.lines.data, "and has no advice");
    session_end(&session, NULL);
}

/* A line of the session that cannot be run again because its profile's file has been deleted. */
static void test_gone(void)
{
    static const char profile[] = "base = h100\n";
    char path[] = "/tmp/trial-XXXXXX", line[64];
    struct session copy;
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file || fputs(profile, file) < 0 || fclose(file))
        tap_bail("%s: cannot be written", path);
    snprintf(line, sizeof line, "backend \"sim:%s\"", path);
    begin(line);
    tap_ok(session_copy(&session, &copy), "a session on the machine of a file");
    session_end(&copy, NULL);
    remove(path);
    tap_ok(!session_copy(&session, &copy), "is not copied without it");
    session_end(&session, NULL);
}

int main(void)
{
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_LAYERS");
    unsetenv("CUVMM_MACHINE");
    test_arguments();
    test_partly_mapped();
    test_meant();
    test_untried();
    test_long();
    test_gone();
    return tap_done();
}
