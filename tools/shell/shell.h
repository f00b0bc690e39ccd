/* SPDX-License-Identifier: Apache-2.0 */
/* shell.h - `cuvmm shell`: a prompt for the lines of a script, each answered with the driver's call, its answer, its reason and
 * the picture; with commands of its own.
 *
 *     lines.h ---line---> shell_line --+--> shell_commands: help, history, undo, redo, save, picture, quit
 *                                      '--> session.h: everything that a script can say; trial.h: what to type instead
 */
#ifndef CUVMM_TOOLS_SHELL_H
#define CUVMM_TOOLS_SHELL_H

#include <stdbool.h>
#include <stdio.h>

#include "session.h"

struct shell {
    FILE *out;
    struct session session;
    bool ended;  /* quit was said */
    bool failed; /* a line was a mistake, or could not be done; a refused call is none */
    struct shell_undone {
        char *text;
        bool step;
    } *undone;   /* lines that undo took back, the next one to redo last; another line that is run forgets them */
    size_t undone_count;
};

/* The commands that scripts do not have. NULL past the last. words[0] is the command. */
struct shell_command {
    const char *name, *usage, *about, *example;
    bool (*run)(struct shell *shell, const struct words *words);
};
extern const struct shell_command shell_commands[];

/* Runs one line. A prompt that was copied along with it, "cuvmm> init" or "> init", is left out. */
void shell_line(struct shell *shell, const char *line, size_t length);

/* Says that something cannot be done, on a line of its own. Returns false. */
bool shell_wrong(struct shell *shell, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Frees what redo would run. The session is ended by its owner. */
void shell_forget(struct shell *shell);

/* Runs a line of the script, and prints what to type instead; what was undone stays to be redone. */
void shell_run(struct shell *shell, const char *line);

/* The commands undo, redo, save and help, in files of their own. */
bool shell_undo(struct shell *shell, const struct words *words);
bool shell_redo(struct shell *shell, const struct words *words);
bool shell_save(struct shell *shell, const struct words *words);
bool shell_help(struct shell *shell, const struct words *words);

/* Reads lines from standard input until they end or `quit`. options->backend opens a machine first. Returns the exit status. */
int shell_main(const struct script_options *options, FILE *out, FILE *err);

#endif
