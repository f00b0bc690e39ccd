/* SPDX-License-Identifier: Apache-2.0 */
#include "manual.h"

#include <stdlib.h>

#include "command.h"
#include "help.h"
#include "vmm.h"

/* Characters that are special to roff are escaped, and "-" is written so that terminals show a minus sign. */
void manual_text(FILE *out, const char *text)
{
    for (size_t i = 0; text[i]; i++) {
        char c = text[i];
        if ((i == 0 || text[i - 1] == '\n') && (c == '.' || c == '\''))
            fputs("\\&", out);
        if (c == '\\')
            fputs("\\e", out);
        else if (c == '-')
            fputs("\\-", out);
        else if (c == '\n')
            fputs("\n.PP\n", out);
        else
            fputc(c, out);
    }
}

static void print_item(FILE *out, const char *label, const char *about)
{
    fputs(".TP\n\\fB", out);
    manual_text(out, label);
    fputs("\\fR\n", out);
    manual_text(out, about);
    fputs("\n", out);
}

static void print_paragraph(FILE *out, const char *text)
{
    fputs(".PP\n", out);
    manual_text(out, text);
    fputs("\n", out);
}

/* Lines as they are. */
static void print_lines(FILE *out, const char *const *lines, const char *before)
{
    fputs(".nf\n", out);
    for (; *lines; lines++) {
        manual_text(out, before);
        manual_text(out, *lines);
        fputs("\n", out);
    }
    fputs(".fi\n", out);
}

static void print_usage(FILE *out, const struct command *command)
{
    char *text = NULL, before[40];
    size_t size;
    snprintf(before, sizeof before, "cuvmm %s ", command->name);
    FILE *file = command->usage ? NULL : open_memstream(&text, &size);
    if (file) {
        command_print_usage(file, command, false);
        fclose(file);
    }
    print_lines(out, command->usage ? command->usage : (const char *const[]){text, NULL}, command->usage ? before : "");
    free(text);
}

static void print_command(FILE *out, const struct command *command)
{
    char label[COMMAND_LABEL];
    struct command_item item;
    fputs(".SS ", out);
    manual_text(out, command->name);
    fputs("\n", out);
    print_usage(out, command);
    print_paragraph(out, command->about);
    for (const struct command_option *option = command->option; option->name; option++)
        print_item(out, command_option_label(option, label), option->about);
    if (command->more)
        print_paragraph(out, command->more);
    print_paragraph(out, "Examples:");
    print_lines(out, command->examples, "");
    if (command->list)
        print_paragraph(out, command->list);
    for (size_t i = 0; command->list && command->item(i, &item); i++)
        print_item(out, item.name, item.about);
}

static const struct command_item variables[] = {
    {"CUVMM_BACKEND", "The machine of a command that is given none: sim:h100, sim:odd,strict, cuda, and so on."},
    {"CUVMM_LAYERS", "Layers for a machine that names none: trace=FILE, shadow, fault=CALL:N, joined by a bar."},
    {"CUVMM_LIBCUDA", "The driver's library, in the place of the one that the loader finds."},
    {"CUVMM_MACHINES", "The folder of the machines that processes share."},
    {"NO_COLOR", "Not empty: no colours on a terminal."},
};

static void print_end(FILE *out)
{
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        print_item(out, variables[i].name, variables[i].about);
    fputs(".SH COPYRIGHT\nCopyright 2026 the cuvmm authors.\nApache License, version 2.0 (SPDX: Apache\\-2.0).\n", out);
    fputs(".SH SEE ALSO\n.BR libcuvmm (3),\n.BR cuvmm\\-libcuda (7)\n", out);
}

void manual(FILE *out)
{
    const struct command *command;
    fprintf(out, ".\\\" Made by `cuvmm help --man`.\n.TH CUVMM 1 \"\" \"cuvmm %d.%d.%d\" \"User Commands\"\n.SH NAME\n",
            VMM_VERSION_MAJOR, VMM_VERSION_MINOR, VMM_VERSION_PATCH);
    fputs("cuvmm \\- ", out);
    manual_text(out, help_title);
    fputs("\n.SH SYNOPSIS\n.B cuvmm\n.I COMMAND\n[\n.IR ARGUMENT \" ...]\"\n.SH DESCRIPTION\n", out);
    for (size_t i = 0; (command = command_at(i)); i++)
        print_item(out, command->name, command->summary);
    print_paragraph(out, "Examples:");
    print_lines(out, help_examples, "");
    print_paragraph(out, help_end);
    fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; (command = command_at(i)); i++)
        print_command(out, command);
    print_end(out);
}
