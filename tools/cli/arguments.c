/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"
#include "columns.h"

/* Does the option have this name? *value is the part after its "=", or NULL. */
static bool names(const struct command_option *option, const char *word, const char **value)
{
    size_t length = strlen(option->name);
    *value = NULL;
    if (strcmp(word, option->name) == 0 || (option->alias && strcmp(word, option->alias) == 0))
        return true;
    if (!option->value || option->name[1] != '-' || strncmp(word, option->name, length) != 0 || word[length] != '=')
        return false;
    *value = word + length + 1;
    return true;
}

static enum argument_kind next_option(struct argument_walk *walk, const char *word, const struct command_option **option,
                                      const char **value)
{
    for (*option = walk->command->option; (*option)->name; ++*option) {
        if (!names(*option, word, value))
            continue;
        if ((*option)->rest)
            return ARGUMENT_REST;
        if (!(*option)->value)
            *value = "";
        else if (!*value && walk->at == walk->count)
            return ARGUMENT_LACKS;
        else if (!*value)
            *value = walk->word[walk->at++];
        return ARGUMENT_OPTION;
    }
    *option = NULL;
    *value = word;
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ? ARGUMENT_HELP : ARGUMENT_UNKNOWN;
}

enum argument_kind argument_next(struct argument_walk *walk, const struct command_option **option, const char **value)
{
    *option = NULL;
    if (walk->at < walk->count && !walk->plain && strcmp(walk->word[walk->at], "--") == 0) {
        walk->plain = true;
        walk->at++;
    }
    if (walk->at >= walk->count)
        return ARGUMENT_END;
    const char *word = walk->word[walk->at];
    if (!walk->plain && word[0] == '-' && word[1]) {
        walk->at++;
        return next_option(walk, word, option, value);
    }
    *value = word;
    if (walk->command->argument.rest)
        return ARGUMENT_REST;
    walk->at++;
    return ARGUMENT_WORD;
}

static enum arguments_status wrong(const struct command *command, FILE *err)
{
    fputs("\n", err);
    command_usage(err, command);
    return ARGUMENTS_WRONG;
}

static enum arguments_status unknown(const struct command *command, const char *word, FILE *err)
{
    const char *near = NULL;
    bool dashed = word[0] == '-' && word[1];
    for (const struct command_option *option = command->option; dashed && option->name; option++)
        if (text_distance(word, option->name, 2) <= 2)
            near = option->name;
    fprintf(err, "cuvmm %s: unknown %s \"%.60s\"", command->name, dashed ? "option" : "argument", word);
    if (near)
        fprintf(err, "; is \"%s\" meant?", near);
    else if (command->hint)
        fprintf(err, "; %s", command->hint);
    return wrong(command, err);
}

static enum arguments_status second(const struct command *command, const char *word, FILE *err)
{
    const char *name = command->argument.name;
    fprintf(err, "cuvmm %s: one %.*s at a time; \"%.60s\" is a second", command->name, (int)strcspn(name, "|"), name, word);
    return wrong(command, err);
}

/* "wants yes, no or auto" */
static void print_choices(FILE *err, const char *choices)
{
    const char *choice;
    size_t length;
    fputs("wants ", err);
    for (bool first = true; command_next_choice(&choices, &choice, &length); first = false)
        fprintf(err, "%s%.*s", first ? "" : *choices ? ", " : " or ", (int)length, choice);
}

/* "an OUT", "an N", "a FILE" */
static const char *article(const char *word)
{
    return strchr("AEIO", word[0]) || (word[0] == 'N' && !word[1]) ? "an" : "a";
}

static enum arguments_status lacks(const struct command *command, const struct command_option *option, FILE *err)
{
    fprintf(err, "cuvmm %s: %s ", command->name, option->name);
    if (command_has_choices(option))
        print_choices(err, option->value);
    else
        fprintf(err, "needs %s %.*s%s%s", article(option->value), (int)strcspn(option->value, "|"), option->value,
                option->example ? ", for example " : "", option->example ? option->example : "");
    return wrong(command, err);
}

static bool is_choice(const struct command_option *option, const char *value)
{
    const char *choices = option->value, *choice;
    size_t length;
    while (command_next_choice(&choices, &choice, &length))
        if (strlen(value) == length && memcmp(value, choice, length) == 0)
            return true;
    return false;
}

/* An option given earlier that excludes this one; NULL if there is none. */
static const char *excluded(const struct arguments *arguments, const struct command_option *option)
{
    for (const struct command_option *other = arguments->command->option; other->name; other++)
        if (option->group && other != option && other->group == option->group &&
            arguments->given[other - arguments->command->option])
            return other->name;
    return NULL;
}

static enum arguments_status take(struct arguments *arguments, const struct command_option *option, const char *value, FILE *err)
{
    const struct command *command = arguments->command;
    const char *other = excluded(arguments, option);
    if (other) {
        fprintf(err, "cuvmm %s: %s and %s exclude each other; give one", command->name, other, option->name);
        return wrong(command, err);
    }
    if (command_has_choices(option) && !is_choice(option, value)) {
        fprintf(err, "cuvmm %s: %s ", command->name, option->name);
        print_choices(err, option->value);
        fprintf(err, ", not \"%.60s\"", value);
        return wrong(command, err);
    }
    arguments->given[option - command->option] = value;
    return ARGUMENTS_FINE;
}

static enum arguments_status take_word(struct arguments *arguments, const char *word, FILE *err)
{
    if (!arguments->command->argument.name)
        return unknown(arguments->command, word, err);
    if (arguments->word && !arguments->command->argument.many)
        return second(arguments->command, word, err);
    if (arguments->word_count == ARGUMENTS_WORDS) {
        fprintf(err, "cuvmm %s: more than %d arguments", arguments->command->name, ARGUMENTS_WORDS);
        return wrong(arguments->command, err);
    }
    arguments->words[arguments->word_count++] = word;
    arguments->word = arguments->words[0];
    return ARGUMENTS_FINE;
}

/* Checks that all required options and arguments are present. */
static enum arguments_status complete(const struct arguments *arguments, FILE *err)
{
    const struct command *command = arguments->command;
    const char *missing = arguments->word ? NULL : command->argument.missing;
    for (size_t i = 0; command->option[i].name && !missing; i++)
        missing = arguments->given[i] ? NULL : command->option[i].missing;
    if (!missing)
        return ARGUMENTS_FINE;
    fprintf(err, "cuvmm %s: %s", command->name, missing);
    return wrong(command, err);
}

static enum arguments_status read_all(struct arguments *arguments, int argc, char **argv, FILE *err)
{
    struct argument_walk walk = {.command = arguments->command, .word = argv, .count = argc, .at = 1};
    const struct command_option *option;
    const char *value = NULL;
    enum arguments_status status = ARGUMENTS_FINE;
    while (status == ARGUMENTS_FINE) {
        switch (argument_next(&walk, &option, &value)) {
        case ARGUMENT_WORD: status = take_word(arguments, value, err); break;
        case ARGUMENT_OPTION: status = take(arguments, option, value, err); break;
        case ARGUMENT_HELP: return ARGUMENTS_HELP;
        case ARGUMENT_UNKNOWN: return unknown(arguments->command, value, err);
        case ARGUMENT_LACKS: return lacks(arguments->command, option, err);
        case ARGUMENT_REST:
            arguments->rest = argv + walk.at;
            arguments->rest_count = argc - walk.at;
            if (option)
                return take(arguments, option, "", err);
            arguments->word = value;
            return complete(arguments, err);
        case ARGUMENT_END: return complete(arguments, err);
        }
    }
    return status;
}

enum arguments_status arguments_read(struct arguments *arguments, const struct command *command, int argc, char **argv, FILE *err)
{
    *arguments = (struct arguments){.command = command, .rest = argv, .rest_count = argc, .argv = argv, .argc = argc};
    if (!command->unread)
        return read_all(arguments, argc, argv, err);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return ARGUMENTS_HELP;
    return ARGUMENTS_FINE;
}

const char *arguments_value(const struct arguments *arguments, const char *option)
{
    size_t i = 0;
    while (arguments->command->option[i].name && strcmp(arguments->command->option[i].name, option) != 0)
        i++;
    assert(arguments->command->option[i].name);
    return arguments->given[i];
}

const char *arguments_next_value(const struct arguments *arguments, const char *option, int *at)
{
    struct argument_walk walk = {.command = arguments->command, .word = arguments->argv, .count = arguments->argc, .at = *at ? *at : 1};
    const struct command_option *found;
    const char *value;
    enum argument_kind kind;
    do
        kind = argument_next(&walk, &found, &value);
    while ((kind == ARGUMENT_OPTION && strcmp(found->name, option) != 0) || kind == ARGUMENT_WORD);
    *at = walk.at;
    return kind == ARGUMENT_OPTION ? value : NULL;
}

bool arguments_given(const struct arguments *arguments, const char *option)
{
    return arguments_value(arguments, option) != NULL;
}

bool arguments_colour(FILE *out)
{
    return columns_coloured(fileno(out));
}
