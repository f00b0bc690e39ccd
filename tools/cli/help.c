/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

const char help_title[] = "CUDA Virtual Memory Management without or with a GPU";
const char *const help_examples[] = {"printf 'init\\nr = reserve 4gran\\ndraw\\nfree r\\n' | cuvmm run -",
                                     "cuvmm explain VMM-MAP-OVERLAP", "cuvmm rules --call cuMemMap", NULL};
const char help_end[] = "Exit status: 0 success; 1 a call, a check or a comparison did not go as expected; 2 the command line or the "
                        "input is invalid.";

/* Paragraphs that '\n' ends, each wrapped; every line begins at indent, the first of all at column at. */
static void print_wrapped(FILE *out, const char *text, size_t at, size_t indent)
{
    while (*text) {
        struct text paragraph = {0};
        size_t length = strcspn(text, "\n");
        text_add_bytes(&paragraph, text, length);
        fprintf(out, "%*s", (int)(indent - at), "");
        text_wrap(out, paragraph.data, indent, indent, text_columns());
        fputs("\n", out);
        text_free(&paragraph);
        text += length + (text[length] == '\n');
        at = 0;
    }
}

/* A label longer than its column gets a line of its own. */
static void print_item(FILE *out, const char *label, const char *about, size_t column)
{
    size_t at = strlen(label) + 2;
    fprintf(out, "  %s", label);
    if (at + 2 > column) {
        fputs("\n", out);
        at = 0;
    }
    print_wrapped(out, about, at, column);
}

static void print_examples(FILE *out, const char *const *examples)
{
    fputs("\nExamples:\n", out);
    for (; *examples; examples++)
        fprintf(out, "  %s\n", *examples);
}

void help_overview(FILE *out)
{
    const struct command *command;
    fprintf(out, "cuvmm - %s\n\n", help_title);
    for (size_t i = 0; (command = command_at(i)); i++) {
        char *label = NULL;
        size_t size;
        FILE *file = open_memstream(&label, &size);
        if (!file)
            return;
        command_print_usage(file, command, true);
        fclose(file);
        print_item(out, label, command->summary, 30);
        free(label);
    }
    print_item(out, "cuvmm --version", "prints the version", 30);
    print_examples(out, help_examples);
    fputs("\n", out);
    print_wrapped(out, help_end, 0, 0);
}

static void print_usage(FILE *out, const struct command *command)
{
    for (const char *const *usage = command->usage; usage && *usage; usage++)
        fprintf(out, "cuvmm %s %s\n", command->name, *usage);
    if (command->usage)
        return;
    command_print_usage(out, command, false);
    fputs("\n", out);
}

/* Options are printed in two columns; the first is as wide as the longest label, up to a limit. */
static void print_options(FILE *out, const struct command *command)
{
    char label[COMMAND_LABEL];
    size_t width = 0;
    for (const struct command_option *option = command->option; option->name; option++) {
        size_t length = strlen(command_option_label(option, label));
        width = length > width && length <= 24 ? length : width;
    }
    if (command->option->name)
        fputs("\n", out);
    for (const struct command_option *option = command->option; option->name; option++)
        print_item(out, command_option_label(option, label), option->about, width + 5);
}

void help_command(FILE *out, const struct command *command)
{
    struct command_item item;
    print_usage(out, command);
    fputs("\n", out);
    print_wrapped(out, command->about, 0, 0);
    print_options(out, command);
    if (command->more) {
        fputs("\n", out);
        print_wrapped(out, command->more, 0, 0);
    }
    print_examples(out, command->examples);
    if (command->list)
        fprintf(out, "\n%s:\n", command->list);
    for (size_t i = 0; command->list && command->item(i, &item); i++)
        print_item(out, item.name, item.about, 19);
}
