/* SPDX-License-Identifier: Apache-2.0 */
/* script_state.h - the inside of the interpreter, for the files that implement commands.
 *
 *     line -> words -> [expect ...:] [NAME =] COMMAND arguments
 *                                        |
 *              script_command.run:  args_* fill a step, script_make makes the call and judges the outcome
 */
#ifndef CUVMM_TOOLS_SCRIPT_STATE_H
#define CUVMM_TOOLS_SCRIPT_STATE_H

#include "descriptors.h"
#include "fabrics.h"
#include "script.h"
#include "step.h"
#include "text.h"
#include "values.h"
#include "vmm.h"
#include "words.h"

struct script_expect {
    enum { EXPECT_NOTHING, EXPECT_RESULT, EXPECT_WARNING } kind;
    vmm_result result;
    const char *rule; /* of the rule table, or NULL: any */
};

/* One process of the machine: what is swapped when a script changes from one to another. */
struct script_process {
    char name[SYMBOL_NAME_MAX + 1];
    vmm_system *sys;
    struct symbols symbols;
    uint64_t granule[2];
    uint64_t calls;
    int *call_line;
    size_t call_room;
};

/* A kernel that a launch has loaded. */
struct script_kernel {
    vmm_kernel number;
    char *path, *name; /* its file, and its name there */
    vmm_ptx_kernel shape; /* the rest of the record, without text and name */
};

#define SCRIPT_PROCESSES 8

/* The lines that made calls, in their order. */
struct script_source {
    struct script_source_line {
        int number;
        char *text; /* without blanks around it */
    } *line;
    size_t count, room;
};

/* Observes every call of a script's lines (script->step): before the call, when names still mean
 * what they mean in the line, and after it, with result and reason. The interpreter's own calls are not printed. */
struct script_watch {
    void *user;
    void (*before)(void *user, struct script *script);
    void (*after)(void *user, struct script *script, const vmm_detail *detail);
};

struct script {
    struct script_options options;
    char *name;
    char *spec;              /* the spec of the system; NULL: the default */
    vmm_system *sys;         /* NULL until a command needs it */
    struct symbols symbols;
    uint64_t granule[2];     /* of dev0 and of the host; 0: not known yet */
    enum script_status worst;

    int line;                /* number of the current line, from 1 */
    const char *text;        /* its bytes */
    size_t length;
    struct words words;
    size_t next;             /* first word not yet taken as an argument */
    const struct script_command *command;
    struct script_expect expect;
    char bind[SYMBOL_NAME_MAX + 1]; /* NAME of NAME = COMMAND, or "" */
    int bind_column;
    struct step step;
    struct words_error mistake; /* the last one that was reported */
    unsigned char **kept;    /* host memory of asynchronous copies, which the copies may access until the end */
    size_t kept_count;
    struct descriptors open; /* the named ones */
    struct fabrics fabrics;  /* fabric handles with names */
    struct script_kernel *kernels; /* in the order of their first launch */
    size_t kernel_count;
    const char **reported;       /* rules whose texts were printed; they point into the rule table */
    size_t told_count;

    struct script_process process[SCRIPT_PROCESSES]; /* all but the current one, whose state is in the members above */
    size_t processes, current;                       /* processes is 0 while there is only the first, "main" */

    struct script_source source;
    struct text picture;     /* the last picture, so that an unchanged one is not drawn again */
    uint64_t calls;          /* calls made on sys so far: the ordinal of the last one */
    int *call_line;          /* the line that made call i + 1 */
    size_t call_room;
};

/* Reports an error in the text at a column. Returns false, for commands to pass on. */
bool script_wrong(struct script *script, int column, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool script_wrong_at(struct script *script, const struct words_error *error);

/* Reports that an expectation of the script was not met. Returns false. */
bool script_failed(struct script *script, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The current line makes a call. NULL if the line made no call. */
void script_source_keep(struct script *script);
const char *script_source_line(const struct script *script, int number);
void script_source_free(struct script *script);

/* The system, opened when needed; NULL after an error that was reported. script_open ends the
 * previous one, or keeps it if the new one cannot be opened. */
vmm_system *script_system(struct script *script);
bool script_open(struct script *script, const char *spec);

/* The names of a process, the current one's included; NULL when there is none of that name. */
struct symbols *script_process_symbols(void *script, const char *name, size_t length);

/* The command `process`. */
bool script_run_process(struct script *script);

/* The checks `host` and `host-bytes`. */
bool script_check_host(struct script *script);
bool script_check_host_bytes(struct script *script);

/* Prints whether a check holds: the actual value, and the expected one if it differs. */
bool script_verdict(struct script *script, bool holds, const char *is, const char *wanted);

/* Continues as that process. */
void script_process_switch(struct script *script, size_t index);

/* Ends the system, with a report of leaks unless quiet. */
void script_close(struct script *script);

/* ---- arguments: each takes the next word. False: the error was reported. */
struct value_env script_env(struct script *script);
struct word *args_next(struct script *script, const char *what);
bool args_more(const struct script *script);
bool args_number(struct script *script, const char *what, uint64_t *out);
bool args_int(struct script *script, const char *what, int *out);
bool args_location(struct script *script, const char *what, vmm_mem_location *out);

/* Options may be anywhere; a missing one leaves *out unchanged. */
struct word *args_option(struct script *script, const char *key);
bool args_option_number(struct script *script, const char *key, uint64_t *out);
bool args_option_int(struct script *script, const char *key, int *out);
/* type=fd etc., or a number; fd by default. */
bool args_handle_type(struct script *script, int *type);
/* The next word, the value of a context, stream, event, graph and so on; "none" is NULL. */
bool args_object(struct script *script, const char *what, void **out);
/* stream=NAME: *given, unless it is NULL, receives whether the option is present; "none", or no option, is the default stream. */
bool args_stream(struct script *script, bool *given, vmm_stream *stream);

/* False if a word or an option was not used. */
bool args_done(struct script *script);

/* The kernel with that number; NULL: the script has not loaded it. */
const struct script_kernel *script_kernel_find(const struct script *script, vmm_kernel number);
void script_kernels_free(struct script *script);

/* ---- calls */
/* Begins script->step. */
struct step *script_step(struct script *script, enum vmm_call_id id);

/* Checks that no argument is left, makes the call of script->step, prints it, compares it with the expectation, assigns the
 * name. True if the line is valid and met so far; answered (may be NULL): whether the call succeeded. */
bool script_make(struct script *script, bool *answered);

/* Prints and judges a refusal that occurred before the step's call, from vmm_last_detail; the call is not made. */
bool script_refused(struct script *script, const char *call);

/* The same without printing or judging, for calls that the interpreter makes itself. */
vmm_result script_invoke(struct script *script, struct step *step);

/* The format of values. */
struct step_names script_names(const struct script *script);

/* Prints the current detail as an indented block, with the script's names and lines instead of raw numbers. */
void script_print_detail(struct script *script, const vmm_detail *detail);
/* The same, appended to text: whole, and not folded into lines. */
void script_detail_text(const struct script *script, const vmm_detail *detail, struct text *text);

/* "r0 (R1)" for an object of vmm_visit, in a buffer. */
#define SCRIPT_LABEL 64
const char *script_label(const struct script *script, const vmm_object *object, char buffer[SCRIPT_LABEL]);

/* The current process's objects with the script's names; valid until the script's next line. Free it with
 * picture_free. False, with nothing to free, if there is no machine or it does not show its objects. */
struct picture;
bool script_picture(const struct script *script, struct picture *picture);

/* Draws unless nothing changed since the last picture and force is false. */
void script_draw(struct script *script, bool force);

/* Starts and ends a colour ("31" is red, see script_colour.c); nothing without colours. */
void script_colour(struct script *script, const char *code);
void script_plain(struct script *script);

/* The tables of commands, one per file. */
extern const struct script_command script_system_commands[], script_memory_commands[], script_pool_commands[], script_array_commands[],
    script_managed_commands[], script_address_commands[], script_use_commands[], script_launch_commands[], script_mem_op_commands[],
    script_graph_commands[], script_host_commands[], script_multicast_commands[],
    script_check_commands[], script_text_commands[],
    script_raw_commands[];

#endif
