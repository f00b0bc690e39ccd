/* SPDX-License-Identifier: Apache-2.0 */
#include "manual.h"

#include <stdbool.h>
#include <string.h>

#include "cuvmm.h"
#include "help_parts.h"
#include "script.h"
#include "vmm.h"

/* What roff takes for its own is written otherwise, and "-" is what a terminal wants. */
static void print_span(FILE *out, struct span text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.at[i];
        if (i == 0 && (c == '.' || c == '\''))
            fputs("\\&", out);
        if (c == '\\')
            fputs("\\e", out);
        else if (c == '-')
            fputs("\\-", out);
        else
            fputc(c, out);
    }
}

void manual_text(FILE *out, const char *text)
{
    print_span(out, (struct span){text, strlen(text)});
}

static void print_item(FILE *out, struct span label)
{
    fputs(".TP\n\\fB", out);
    print_span(out, label);
    fputs("\\fR\n", out);
}

static void print_line(FILE *out, struct span text)
{
    if (!text.length)
        return;
    print_span(out, text);
    fputs("\n", out);
}

/* What has to end, and what to begin, where a line of one kind follows one of another. */
static void turn(FILE *out, enum help_kind was, enum help_kind is)
{
    bool as_it_is = is == HELP_USAGE || is == HELP_EXAMPLE, was_so = was == HELP_USAGE || was == HELP_EXAMPLE;
    if (was_so && !as_it_is)
        fputs(".fi\n", out);
    if ((is == HELP_TEXT && was != HELP_TEXT) || (is == HELP_HEADING))
        fputs(".PP\n", out);
    if (as_it_is && !was_so)
        fputs(".nf\n", out);
}

/* Everything of a help text from its reader's line on. */
static void print_help(FILE *out, struct help_reader *reader)
{
    struct help_line line;
    enum help_kind was = HELP_BLANK;
    while (help_next(reader, &line)) {
        turn(out, was, line.kind);
        if (line.kind == HELP_ITEM)
            print_item(out, line.label);
        print_line(out, line.text);
        was = line.kind;
    }
    turn(out, was, HELP_BLANK);
}

/* The language of scripts, which the help of run lists as well. */
static void print_script_commands(FILE *out)
{
    const struct script_command *command;
    for (size_t i = 0; (command = script_command(i)); i++) {
        print_item(out, (struct span){command->name, strlen(command->name)});
        manual_text(out, command->about);
        fputs("\n", out);
    }
}

static const struct {
    const char *name, *about;
} variables[] = {
    {"CUVMM_BACKEND", "The machine of a command that is given none: sim:h100, sim:odd,strict, cuda, and so on."},
    {"CUVMM_LAYERS", "Layers for a machine that names none: trace=FILE, shadow, fault=CALL:N, joined by a bar."},
    {"CUVMM_LIBCUDA", "The driver's library, in the place of the one that the loader finds."},
    {"CUVMM_MACHINES", "The folder of the machines that processes share."},
    {"NO_COLOR", "Not empty: no colours on a terminal."},
};

static void print_end(FILE *out)
{
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        print_item(out, (struct span){variables[i].name, strlen(variables[i].name)});
        manual_text(out, variables[i].about);
        fputs("\n", out);
    }
    fputs(".SH COPYRIGHT\nCopyright 2026 the cuvmm authors.\nApache License, version 2.0 (SPDX: Apache\\-2.0).\n", out);
    fputs(".SH SEE ALSO\n.BR libcuvmm (3),\n.BR cuvmm\\-libcuda (7)\n", out);
}

void manual(FILE *out)
{
    const char *name;
    struct help_reader reader = {.at = help_text(NULL)};
    struct help_line line;
    fprintf(out, ".\\\" Made by `cuvmm help --man`.\n.TH CUVMM 1 \"\" \"cuvmm %d.%d.%d\" \"User Commands\"\n.SH NAME\n",
            VMM_VERSION_MAJOR, VMM_VERSION_MINOR, VMM_VERSION_PATCH);
    if (help_next(&reader, &line)) { /* "cuvmm - what it is", which is how a page's name is written */
        fputs("cuvmm \\- ", out);
        print_span(out, (struct span){line.text.at + strlen("cuvmm - "), line.text.length - strlen("cuvmm - ")});
    }
    fputs("\n.SH SYNOPSIS\n.B cuvmm\n.I COMMAND\n[\n.IR ARGUMENT \" ...]\"\n.SH DESCRIPTION\n", out);
    print_help(out, &reader);
    fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; (name = cuvmm_command(i)); i++) {
        if (!help_text(name))
            continue;
        fputs(".SS ", out);
        manual_text(out, name);
        fputs("\n", out);
        print_help(out, &(struct help_reader){.at = help_text(name)});
        if (strcmp(name, "run") == 0)
            print_script_commands(out);
    }
    print_end(out);
}
