/* SPDX-License-Identifier: Apache-2.0 */
/* `cuvmm lesson` on a terminal, which a pseudo-terminal is: it waits and asks, in colours; what changes that. */
#define _XOPEN_SOURCE 700 /* posix_openpt */

#include "cuvmm.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "text.h"

/* The command with a terminal for input and output; does not return. */
static void be_child(const char *terminal, int argc, char **argv)
{
    setsid();
    int fd = open(terminal, O_RDWR);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
        _exit(99);
    int status = cuvmm_main(argc, argv, stdout, stderr);
    fflush(stdout);
    _exit(status);
}

/* What the terminal shows, typed keys included, until the command ends; its exit status in *status. */
static char *on_terminal(const char *typed, int argc, char **argv, int *status)
{
    struct text shown = {0};
    char buffer[1024];
    int master = posix_openpt(O_RDWR | O_NOCTTY), wait_status = 0;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return NULL;
    char *terminal = ptsname(master);
    int slave = open(terminal, O_RDWR | O_NOCTTY); /* open before the child's, so that nothing typed is lost */
    if (slave < 0 || write(master, typed, strlen(typed)) != (ssize_t)strlen(typed))
        tap_bail("nothing can be typed");
    fflush(NULL); /* or the child would print it once more */
    pid_t child = fork();
    if (child == 0)
        be_child(terminal, argc, argv);
    close(slave);
    /* At the end there is an error on Linux, and nothing more elsewhere. */
    for (ssize_t n; (n = read(master, buffer, sizeof buffer)) > 0;)
        text_add_bytes(&shown, buffer, (size_t)n);
    close(master);
    if (child < 0 || waitpid(child, &wait_status, 0) != child)
        tap_bail("no process");
    *status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
    return shown.data ? shown.data : strdup("");
}

static const struct {
    const char *what, *typed, *option, *no_colour;
    int status;
    const char *seen, *unseen;
} cases[] = {
    {"it waits, and q leaves", "q\n", NULL, NULL, 0, "[Enter goes on, q leaves] ", "cuInit(0)"},
    {"Enter continues to the first question", "\n\nq\n", NULL, NULL, 0, "[a to c answers, Enter shows the answer, q leaves] ",
     "Question 2"},
    {"a wrong answer is answered, and the next try taken", "\n\na\nc\nq\n", NULL, NULL, 0, "+ c) Right.", "Question 2"},
    {"the title is in colour", "q\n", NULL, NULL, 0, "\033[1;36m1. Address and memory", "cuInit(0)"},
    {"but not for people who want none", "q\n", NULL, "1", 0, "1. Address and memory", "\033["},
    {"Enter to the end ends it", "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", NULL, NULL, 0,
     "That was the lesson. You answered 0 of 4 questions at the first try.\r\nIts page says more: cuvmm lesson 1 --page."
     " The next one: cuvmm lesson 2.", "VMM-LEAK"},
    {"--all asks nothing", "", "--all", NULL, 0, "check leaks 0", "[Enter"},
    {"a missing backend", "\n\n", "--backend=sim:nowhere", NULL, 2, "1. Address", "That was"},
};

int main(void)
{
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_LAYERS");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *argv[] = {(char *)(uintptr_t)"cuvmm", (char *)(uintptr_t)"lesson", (char *)(uintptr_t)"1",
                        (char *)(uintptr_t)cases[i].option, NULL};
        setenv("NO_COLOR", cases[i].no_colour ? cases[i].no_colour : "", 1);
        int status = -1;
        char *shown = on_terminal(cases[i].typed, cases[i].option ? 4 : 3, argv, &status);
        if (!shown) {
            tap_skip("no pseudo-terminal here", "%s", cases[i].what);
            continue;
        }
        if (!tap_ok(status == cases[i].status && strstr(shown, cases[i].seen) && !strstr(shown, cases[i].unseen), "%s",
                    cases[i].what))
            tap_note("status %d, shown: %.3000s", status, shown);
        free(shown);
    }
    return tap_done();
}
