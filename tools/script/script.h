/* SPDX-License-Identifier: Apache-2.0 */
/* script.h - the interpreter of cuvmm scripts: give it a line, it makes the calls and prints what happened.
 *
 *     struct script *s = script_new(&options, "first.vmm");
 *     script_line(s, "init", 4);
 *     script_line(s, "r0 = reserve 4gran", 18);
 *     return script_finish(s);
 *
 * It holds no global state and reads nothing but the lines it is given, so a file, a test and an interactive shell use
 * it alike. docs/scripts.md is the language's reference.
 */
#ifndef CUVMM_TOOLS_SCRIPT_H
#define CUVMM_TOOLS_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct script_watch;

struct script_options {
    FILE *out;           /* steps, pictures, answers */
    FILE *err;           /* errors of the script and unmet expectations */
    const char *folder;  /* folder in which `launch` looks for files; NULL: the current one */
    const char *backend; /* spec that overrides the script's own `backend` line; NULL: the script decides */
    bool draw;           /* a picture after every step that changes something */
    bool keep_going;     /* continue after a failure */
    bool quiet;          /* only echo, title, note, draw, explain and leaks print */
    bool brief;          /* a refusal, warning or leak in one line */
    bool addresses;      /* show raw addresses and handles beside names; they differ between machines */
    bool colour;         /* with terminal colours */
    bool trusted;        /* its `backend` lines may write files and load libraries (spec_trust.h) */
    bool interactive;    /* for a prompt: lines are not echoed, and a refused call is not a failure */
    const struct script_watch *watch; /* observes every call that a line makes (script_state.h); NULL: no observer */
};

/* Also the exit status of `cuvmm run`. A larger value is worse. */
enum script_status {
    SCRIPT_OK = 0,
    SCRIPT_FAILED = 1, /* a call was refused, or an expectation or a check failed */
    SCRIPT_WRONG = 2   /* the script is invalid, or the backend cannot be opened */
};

struct script;

struct script *script_new(const struct script_options *options, const char *name);

/* Runs one line, without its newline; the bytes may be anything. Returns the status of this line. */
enum script_status script_line(struct script *script, const char *line, size_t length);

/* Runs the lines of in up to its end or the first failure (all of them with keep_going). */
enum script_status script_read(struct script *script, FILE *in);

/* Ends the system, reports the script's leaks, frees everything. Returns the worst status of all lines. */
enum script_status script_finish(struct script *script);

/* A script from a file, - for standard input. Returns the exit status. */
int script_run_file(const char *path, const struct script_options *options);

/* The commands: name, arguments, a description, and the driver calls that it makes. NULL past the last. */
struct script_command {
    const char *name;
    const char *usage;
    const char *about;
    const char *driver;
    bool (*run)(struct script *script);
    bool free_text; /* the rest of the line is text */
};
const struct script_command *script_command(size_t index);

/* The same in groups, for help: "pools", "memory pools", its commands, ended by one without a name. NULL past the last. */
struct script_group {
    const char *name, *about;
    const struct script_command *commands;
};
const struct script_group *script_group(size_t index);

/* A line of a list, wrapped to the terminal's width: blanks, a name and a description. */
void script_print_command(FILE *out, int blanks, const char *name, const char *about);
/* A command's line, and below it what it does and the driver's calls. */
void script_print_usage(FILE *out, const struct script_command *command);

/* The forms of `check`, in the same way. */
const struct script_command *script_check(size_t index);

/* The command of that name; NULL when there is none. *near is then one with a similar name, or NULL. */
const struct script_command *script_command_find(const char *name, const struct script_command **near);
/* The first command that makes the driver call at the beginning of text ("cuMemMap(r, ..."); NULL if there is none. */
const struct script_command *script_command_of_call(const char *text);

#endif
