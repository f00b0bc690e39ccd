/* SPDX-License-Identifier: Apache-2.0 */
/* shell.h - `cuvmm shell`: a prompt for lines of a script; for each it shows the driver's call, its
 * result, the reason and a picture. The shell has additional commands.
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
    bool ended;  /* the user typed quit */
    bool failed; /* a line was invalid or could not be carried out; a refused call does not count */
    struct shell_undone {
        char *text;
        bool step;
    } *undone;   /* undone lines, the next one to redo last; running any other line discards them */
    size_t undone_count;
};

/* The commands that exist only in the shell. NULL past the last. words[0] is the command. */
struct shell_command {
    const char *name, *usage, *about, *example;
    bool (*run)(struct shell *shell, const struct words *words);
};
extern const struct shell_command shell_commands[];

/* Runs one line. A prompt that was copied along with it, "cuvmm> init" or "> init", is left out. */
void shell_line(struct shell *shell, const char *line, size_t length);

/* Reports on a separate line that something cannot be done. Returns false. */
bool shell_wrong(struct shell *shell, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Frees the lines kept for redo. The owner ends the session. */
void shell_forget(struct shell *shell);

/* Runs a line of the script and prints the advice for it; undone lines can still be redone. */
void shell_run(struct shell *shell, const char *line);

/* The commands undo, redo, save and help, in files of their own. */
bool shell_undo(struct shell *shell, const struct words *words);
bool shell_redo(struct shell *shell, const struct words *words);
bool shell_save(struct shell *shell, const struct words *words);
bool shell_help(struct shell *shell, const struct words *words);

/* Reads lines from standard input until end of file or `quit`; options->backend opens a machine
 * first. Returns the exit status. */
int shell_main(const struct script_options *options, FILE *out, FILE *err);

#endif
