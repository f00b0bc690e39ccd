/* SPDX-License-Identifier: Apache-2.0 */
/* The width of output, and messages wrapped to it. */
#define _XOPEN_SOURCE 600 /* posix_openpt */
#define _DEFAULT_SOURCE
#include "columns.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tap.h"

static void test_width(void)
{
    static const struct {
        const char *set;
        unsigned columns;
    } cases[] = {{"80", 80}, {"59", 60}, {"60", 60}, {"1", 60}, {"100000", 1000}, {"0", 100}, {"", 100}, {"wide", 100}};
    int ends[2];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        setenv("COLUMNS", cases[i].set, 1);
        tap_u64(columns_of(-1), cases[i].columns, "COLUMNS=%s", cases[i].set);
    }
    unsetenv("COLUMNS");
    tap_u64(columns_of(-1), 100, "without a terminal");
    tap_ok(!columns_are_limited(-1) && !columns_coloured(-1), "where nothing limits the width, and nothing takes colours");
    if (pipe(ends) == 0) {
        tap_u64(columns_of(ends[1]), 100, "into a pipe");
        close(ends[0]);
        close(ends[1]);
    }
}

static void test_terminal(void)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    struct winsize size = {.ws_row = 24, .ws_col = 72};
    bool there = terminal >= 0 && ioctl(terminal, TIOCSWINSZ, &size) == 0;
    if (there) {
        tap_u64(columns_of(terminal), 72, "a terminal's own");
        tap_ok(columns_are_limited(terminal), "which limits it");
        unsetenv("NO_COLOR");
        tap_ok(columns_coloured(terminal), "it takes colours");
        setenv("NO_COLOR", "1", 1);
        tap_ok(!columns_coloured(terminal), "but not where NO_COLOR is set");
        setenv("NO_COLOR", "", 1);
        tap_ok(columns_coloured(terminal), "to something");
        unsetenv("NO_COLOR");
    } else {
        tap_skip("this system has no pseudo-terminals", "a terminal's own");
    }
    setenv("COLUMNS", "90", 1);
    tap_u64(columns_of(terminal), 90, "the variable overrides the terminal");
    unsetenv("COLUMNS");
    if (terminal >= 0)
        close(terminal);
}

static void folds(const char *text, size_t room, const char *want, unsigned width, const char *name)
{
    char got[300];
    snprintf(got, sizeof got, "%s", text);
    size_t length = columns_fold(got, room, width);
    tap_text(got, want, "%s", name);
    tap_u64(length, strlen(want), "%s: its length", name);
}

static void test_fold(void)
{
    static const char four[] = "  why       one two three four\n",
        folded[] = "  why       one two\n            three\n            four\n";
    folds("", 300, "", 60, "nothing");
    folds("error X: call\n  why       short\n", 300, "error X: call\n  why       short\n", 60, "text that fits is unchanged");
    folds(four, 300, folded, 20, "continuation lines are aligned with the first");
    folds(four, sizeof folded, folded, 20, "in just enough room");
    folds(four, sizeof folded - 1, "  why       one two\n            three four\n", 20, "with less the last stays");
    folds("  why       one two\n", 300, "  why       one two\n", 19, "a line that is just full");
    folds("  why       unbreakable_name(x) end\n", 300, "  why       unbreakable_name(x)\n            end\n", 16,
          "a wide word gets a line to itself");
    folds("  why       unbreakable_name(x) end\n  a\n", 300, "  why       unbreakable_name(x)\n            end\n  a\n", 16,
          "the next line begins anew");
    folds("  a  b", 300, "  a  b", 60, "blanks stay, and a text without an end");
}

int main(void)
{
    test_width();
    test_terminal();
    test_fold();
    return tap_done();
}
