/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - a script to which lines are added one at a time, with undo.
 *
 *     lines  [1: init] [2: r0 = reserve 4gran] [3: map r0 2gran h0]      each with what it printed
 *                                               '--- session_undo: a new machine, lines 1 and 2 again, line 3 gone
 *
 * Invalid lines are not kept. The output of each line is kept; when a line is run again, a
 * different output is noticed. The session is also kept as a C program (program.h).
 */
#ifndef CUVMM_TOOLS_SESSION_H
#define CUVMM_TOOLS_SESSION_H

#include "program.h"
#include "script_state.h"

struct session_line {
    char *text;               /* as it was typed */
    char *output;             /* steps, explanations, pictures */
    enum script_status status;
    bool step;                /* it made a call, or changed state without one */
    bool called;              /* it made a call, with the following results */
    bool expected;            /* the line begins with `expect` */
    vmm_result result;
    vmm_severity severity;
    const char *rule;         /* of the rule table, or NULL */
    char *why;                /* of a refusal or warning: script_detail_text; otherwise NULL */
};

struct session {
    struct script_options options; /* holds the output of one line at a time */
    struct script_watch watch;
    struct script *script;
    struct program *program;
    struct session_line *line;
    size_t count;
    size_t fixed;             /* lines at the beginning that cannot be undone */
    size_t runs;              /* lines passed to session_run, including invalid ones; undo does not change it */
    struct session_line now;  /* the current line, or the last invalid one */
    vmm_detail detail;        /* of the last call; its severity is NONE if the line made no call */
};

/* options: colour, draw, addresses, brief; interactive is implied. */
void session_begin(struct session *session, const struct script_options *options);

/* Ends the machine and frees everything; leaks are reported to out, unless out is NULL. */
void session_end(struct session *session, FILE *out);

/* Runs a line. Its output and result; valid until the next call. */
const struct session_line *session_run(struct session *session, const char *text);

/* The number of lines that are steps, which undo can take back. */
size_t session_steps(const struct session *session);

/* Why nothing can be taken back here, or NULL. */
const char *session_keeps(const struct session *session);

/* Undoes the last steps and the lines after them: the other lines are run again on a new machine.
 * Prints to out the removed lines, and those whose results differ from before. False if the machine
 * cannot be opened again; nothing has changed then. steps is between 1 and session_steps, and
 * session_keeps must be NULL. */
bool session_undo(struct session *session, size_t steps, FILE *out);

/* A copy of the session, to try lines without changing this one; end it with session_end. False, with nothing to end, if no
 * copy is possible: a driver's calls must not be repeated, a layer would write its file again, and more than SESSION_COPY_MOST
 * lines would take too long. session_copies checks only the first two reasons. */
enum { SESSION_COPY_MOST = 300 };
bool session_copies(const struct session *session);
bool session_copy(const struct session *session, struct session *copy);

/* The lines as a script that `cuvmm run` completes: `expect` precedes refused calls, and lines that
 * cannot succeed become comments. */
void session_save_script(const struct session *session, FILE *out);

#endif
