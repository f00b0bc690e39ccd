/* SPDX-License-Identifier: Apache-2.0 */
/* help.h - what `cuvmm help` prints, generated from the descriptions of command.h. */
#ifndef CUVMM_TOOLS_HELP_H
#define CUVMM_TOOLS_HELP_H

#include <stdio.h>

#include "command.h"

/* The first line of all: what the command is for. */
extern const char help_title[];

/* All commands, one line each, and what applies to all. */
void help_overview(FILE *out);

/* One command: usage, description, options, examples. */
void help_command(FILE *out, const struct command *command);

/* The overview's examples, ended by NULL, and its last paragraph. */
extern const char *const help_examples[];
extern const char help_end[];

#endif
