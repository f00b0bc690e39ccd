/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - a subcommand, described once: help, the manual page, the completion of shells and the reader of arguments all
 * work from this description.
 *
 *   command_run.c: struct command command_run --+--> help.c         cuvmm help run
 *                                               +--> manual.c       cuvmm help --man
 *                                               +--> completion.c   cuvmm completion --words run --b
 *                                               '--> arguments.c    cuvmm run my.vmm --backend sim:h100
 *
 * Texts are not broken into lines: whatever prints them wraps them. '\n' ends a paragraph.
 */
#ifndef CUVMM_TOOLS_COMMAND_H
#define CUVMM_TOOLS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What a value may be; a shell offers all kinds of a set, in this order. Files need no kind. */
enum command_words {
    WORDS_RULES = 1 << 0,    /* ids of rules */
    WORDS_RESULTS = 1 << 1,  /* CUDA_ERROR_... */
    WORDS_CALLS = 1 << 2,    /* the driver's calls */
    WORDS_SPECS = 1 << 3,    /* sim:h100, cuda */
    WORDS_PROFILES = 1 << 4, /* h100 */
    WORDS_COMMANDS = 1 << 5, /* of this table */
    WORDS_SHELLS = 1 << 6,
    WORDS_LESSONS = 1 << 7
};

struct command_option {
    const char *name;    /* "--backend", "-o" */
    const char *alias;   /* "-q"; NULL: none */
    const char *value;   /* "SPEC"; in small letters the choices that there are, "yes|no"; NULL: the option takes none */
    const char *example; /* an example value, for the message that it is missing; NULL: none */
    const char *missing; /* the message if a required option is missing; NULL: it is optional */
    const char *about;
    unsigned words;      /* a set of command_words that the value may be */
    char group;          /* options of one group exclude each other; 0: of none */
    bool joined;         /* help and completion write --name=VALUE; both forms are read */
    bool rest;           /* everything after the option is passed on unread */
};

/* The one argument that is not an option. */
struct command_argument {
    const char *name;    /* "FILE|-"; NULL: the command takes none */
    const char *missing; /* the message if a required argument is missing; NULL: it is optional */
    unsigned words;
    bool rest;           /* it is a program, and everything after it belongs to the program */
    bool many;           /* several may be given */
};

/* An item of a list at the end of a help text. */
struct command_item {
    const char *name, *about;
};

struct arguments;

#define COMMAND_OPTIONS 24

struct command {
    const char *name;
    const char *summary;      /* one line of the overview */
    const char *about;
    const char *hint;         /* ends the message about an unknown argument; NULL: none */
    const char *more;         /* a paragraph after the options; NULL: none */
    const char *const *usage; /* what follows "cuvmm NAME ", ended by NULL; NULL: generated */
    const char *const *examples;
    const char *list;         /* the heading of a list; NULL: none */
    bool (*item)(size_t index, struct command_item *item); /* false past the last */
    struct command_argument argument;
    struct command_option option[COMMAND_OPTIONS + 1]; /* ended by one without a name */
    bool unread; /* run reads the arguments itself, from arguments->rest */
    int (*run)(const struct arguments *arguments, FILE *out, FILE *err);
};

/* The table, in the order of the overview; NULL past the last. */
const struct command *command_at(size_t index);

/* NULL if there is none with that name. */
const struct command *command_find(const char *name);

/* How the command is called: "cuvmm machine [NAME] [--json]". Brief: the argument alone. */
void command_print_usage(FILE *out, const struct command *command, bool brief);

/* An option as help shows it: "--backend SPEC", "--leaks=yes|no", "--quiet, -q". Returns label. */
#define COMMAND_LABEL 80
const char *command_option_label(const struct command_option *option, char label[COMMAND_LABEL]);

/* Is value a list of choices? Removes the next choice from *choices; returns false at the end of the list. */
bool command_has_choices(const struct command_option *option);
bool command_next_choice(const char **choices, const char **choice, size_t *length);

/* Ends a usage error: names the help to read, for a command or, if NULL, for all. Returns 2. */
int command_usage(FILE *err, const struct command *command);

#endif
