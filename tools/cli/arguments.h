/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h - the arguments of a subcommand, parsed according to its description (command.h).
 *
 *   my.vmm --draw --backend=sim:odd   ->   word "my.vmm", --draw given, --backend "sim:odd"
 */
#ifndef CUVMM_TOOLS_ARGUMENTS_H
#define CUVMM_TOOLS_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"

enum { ARGUMENTS_WORDS = 1024 };
struct arguments {
    const struct command *command;
    const char *word;                   /* the argument that is not an option; NULL: not given */
    const char *words[ARGUMENTS_WORDS]; /* all of them, if the command takes several */
    size_t word_count;
    const char *given[COMMAND_OPTIONS]; /* parallel to command->option: its value, or "" if it takes none; NULL if not given */
    int rest_count;
    char **rest;                        /* what is passed on unread, ended by NULL */
    char *const *argv;                  /* all of them */
    int argc;
};

/* Reads argv, whose first is the command's name. ARGUMENTS_WRONG: err gets the reason and where to read more. */
enum arguments_status { ARGUMENTS_FINE, ARGUMENTS_HELP, ARGUMENTS_WRONG };
enum arguments_status arguments_read(struct arguments *arguments, const struct command *command, int argc, char **argv,
                                     FILE *err);

/* The value of an option; NULL if it was not given. The last one counts. */
const char *arguments_value(const struct arguments *arguments, const char *option);
/* The values of an option that may be given more than once, in order, starting from *at, which is 0 at first. NULL past the
 * last. */
const char *arguments_next_value(const struct arguments *arguments, const char *option, int *at);
bool arguments_given(const struct arguments *arguments, const char *option);

/* Reads words one by one, as completion also does for an unfinished line. */
enum argument_kind {
    ARGUMENT_END,
    ARGUMENT_WORD,   /* value */
    ARGUMENT_OPTION, /* option and value; "" if it takes none */
    ARGUMENT_HELP,
    ARGUMENT_REST,   /* from word[at] on nothing is read; option is the one that ends the reading, or NULL */
    ARGUMENT_UNKNOWN, /* value looks like an option but is not one of the command's */
    ARGUMENT_LACKS    /* option is the last word, and its value is missing */
};
struct argument_walk {
    const struct command *command;
    char *const *word;
    int count, at;
    bool plain; /* "--" was read: the remaining words are not options */
};
enum argument_kind argument_next(struct argument_walk *walk, const struct command_option **option, const char **value);

/* Colours are used on a terminal, unless NO_COLOR is set. */
bool arguments_colour(FILE *out);

#endif
