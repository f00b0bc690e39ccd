/* SPDX-License-Identifier: Apache-2.0 */
/* The table of subcommands, and what is derived from one. */
#include "command.h"

#include <ctype.h>
#include <string.h>

extern const struct command command_run, command_shell, command_explain, command_rules, command_profiles, command_replay,
    command_diff, command_machine, command_exec, command_check, command_lesson, command_view, command_export, command_exercise,
    command_record, command_diff_recordings, command_ptxas, command_completion, command_help;

/* A usage names so many options that may be left out; more are "[options]". */
#define FEW 4

static const struct command *const commands[] = {
    &command_run,     &command_shell, &command_explain, &command_rules, &command_profiles, &command_replay,     &command_diff,
    &command_machine, &command_exec,  &command_check,   &command_lesson, &command_view,    &command_export,   &command_exercise,
    &command_record,  &command_diff_recordings, &command_ptxas, &command_completion, &command_help};

const struct command *command_at(size_t index)
{
    return index < sizeof commands / sizeof commands[0] ? commands[index] : NULL;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

const char *command_option_label(const struct command_option *option, char label[COMMAND_LABEL])
{
    snprintf(label, COMMAND_LABEL, "%s%s%s%s%s", option->name, option->value ? option->joined ? "=" : " " : "",
             option->value ? option->value : "", option->alias ? ", " : "", option->alias ? option->alias : "");
    return label;
}

/* Required options, then the others: one by one where they are few. */
static void print_options(FILE *out, const struct command *command)
{
    const struct command_option *option, *last = NULL;
    char label[COMMAND_LABEL];
    size_t optional = 0;
    for (option = command->option; option->name; option++) {
        if (option->missing)
            fprintf(out, " %s", command_option_label(option, label));
        optional += !option->missing;
    }
    if (optional > FEW) {
        fputs(" [options]", out);
        return;
    }
    for (option = command->option; option->name; option++) {
        if (option->missing)
            continue;
        bool either = last && option->group && last->group == option->group;
        fprintf(out, "%s%s%s", either ? "|" : last ? "] [" : " [", option->name, option->value ? option->joined ? "=" : " " : "");
        fputs(option->value ? option->value : "", out);
        last = option;
    }
    fputs(last ? "]" : "", out);
}

void command_print_usage(FILE *out, const struct command *command, bool brief)
{
    const struct command_argument *argument = &command->argument;
    fprintf(out, "cuvmm %s%s", command->name, argument->rest && !brief ? " [options] [--]" : "");
    if (argument->name)
        fprintf(out, argument->missing ? " %s" : " [%s]", argument->name);
    if (argument->many)
        fputs(" ...", out);
    if (!brief && argument->rest)
        fputs(" [ARGUMENTS]", out);
    else if (!brief)
        print_options(out, command);
}

bool command_has_choices(const struct command_option *option)
{
    return option->value && islower((unsigned char)option->value[0]);
}

bool command_next_choice(const char **choices, const char **choice, size_t *length)
{
    *choice = *choices;
    *length = strcspn(*choices, "|");
    *choices += *length + ((*choices)[*length] == '|');
    return *length > 0;
}

int command_usage(FILE *err, const struct command *command)
{
    fprintf(err, "Try `cuvmm help%s%s`.\n", command ? " " : "", command ? command->name : "");
    return 2;
}
