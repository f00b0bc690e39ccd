/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - a script that grows by a line at a time, and can go back.
 *
 *     lines  [1: init] [2: r0 = reserve 4gran] [3: map r0 2gran h0]      each with what it printed
 *                                               '--- session_undo: a new machine, lines 1 and 2 again, line 3 gone
 *
 * Lines that are mistakes of the text leave no trace. What a line prints is kept, so that a line that answers otherwise when it
 * is run again is noticed. Everything that the lines did is also there as a C program (program.h).
 */
#ifndef CUVMM_TOOLS_SESSION_H
#define CUVMM_TOOLS_SESSION_H

#include "program.h"
#include "script_state.h"

struct session_line {
    char *text;               /* as it was typed */
    char *output;             /* steps, explanations, pictures */
    enum script_status status;
    bool step;                /* it made a call, or changed something without one */
    bool called;              /* it made a call, answered with the following */
    bool expected;            /* `expect` stood before it */
    vmm_result result;
    vmm_severity severity;
    const char *rule;         /* of the rule table, or NULL */
    char *why;                /* of a call that was refused or warned of: script_detail_text; otherwise NULL */
};

struct session {
    struct script_options options; /* out and err are filled line by line */
    struct script_watch watch;
    struct script *script;
    struct program *program;
    struct session_line *line;
    size_t count;
    size_t fixed;             /* lines at the beginning that undo leaves alone */
    size_t runs;              /* lines that session_run was given, mistakes included; undo leaves it as it is */
    struct session_line now;  /* the line that runs, or the last one that was a mistake */
    vmm_detail detail;        /* of the last call; its severity is NONE where the line made none */
};

/* options: colour, draw, addresses, brief; interactive is implied. */
void session_begin(struct session *session, const struct script_options *options);

/* Ends the machine and frees everything; what is still held is reported to out, unless out is NULL. */
void session_end(struct session *session, FILE *out);

/* Runs a line. What it printed and how it went; valid until the next call. */
const struct session_line *session_run(struct session *session, const char *text);

/* How many of the lines are steps, which undo takes back. */
size_t session_steps(const struct session *session);

/* Why nothing can be taken back here, or NULL. */
const char *session_keeps(const struct session *session);

/* Takes the last steps back, and what was said after them: the other lines are run again on a new machine. Printed to out: the lines
 * that are gone, and those that answered otherwise than before. False when the machine cannot be had again; nothing has
 * changed then. steps is at least 1 and at most session_steps, and session_keeps is NULL. */
bool session_undo(struct session *session, size_t steps, FILE *out);

/* The same lines in a session of their own, for what must not happen to this one; end it with session_end. False, and nothing to end, where
 * that cannot be had: a driver's calls are not made twice, a layer would write its file again, and more than SESSION_COPY_MOST lines take
 * longer than a person waits. session_copies says only whether the first two stand in the way. */
enum { SESSION_COPY_MOST = 300 };
bool session_copies(const struct session *session);
bool session_copy(const struct session *session, struct session *copy);

/* The lines as a script that `cuvmm run` runs to the end: `expect` stands before calls that were refused, and what cannot succeed
 * is a remark. */
void session_save_script(const struct session *session, FILE *out);

#endif
