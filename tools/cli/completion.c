/* SPDX-License-Identifier: Apache-2.0 */
#include "completion.h"

#include <ctype.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "lessons.h"
#include "profile.h"
#include "vmm.h"

/* The request: words that begin with `typed` after `prefix` is prepended. */
struct asked {
    FILE *out;
    const char *typed, *prefix;
    size_t prefix_length;
};

/* Removes the part that was already typed; returns false if the word does not begin with it. */
static bool take_typed(const char **typed, const char *part, size_t length)
{
    size_t left = strlen(*typed);
    if (left < length)
        length = left;
    if (length && memcmp(*typed, part, length) != 0)
        return false;
    *typed += length;
    return true;
}

static void offer(const struct asked *asked, const char *word, size_t length, const char *ending, const char *about)
{
    const char *typed = asked->typed;
    if (take_typed(&typed, asked->prefix, asked->prefix_length) && take_typed(&typed, word, length) && !*typed)
        fprintf(asked->out, "%.*s%.*s%s\t%s\n", (int)asked->prefix_length, asked->prefix, (int)length, word, ending, about);
}

static void offer_word(const struct asked *asked, const char *word, const char *about)
{
    offer(asked, word, strlen(word), "", about);
}

static void offer_rules(const struct asked *asked)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++)
        offer_word(asked, rules[i].id, rules[i].message);
}

/* Rules are in the order of their calls, so those of one call are adjacent. */
static void offer_calls(const struct asked *asked)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(rules[i].function, rules[i - 1].function) != 0)
            offer_word(asked, rules[i].function, "");
}

static void offer_results(const struct asked *asked)
{
    static const struct {
        const char *name, *text;
    } results[] = {
#define VMM_RESULT(name, number, text) {"CUDA_" #name, text},
#include "results.def"
    };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        offer_word(asked, results[i].name, results[i].text);
}

static void offer_profiles(const struct asked *asked)
{
    const char *name;
    for (size_t i = 0; (name = sim_profile_builtin_name(i)); i++)
        offer_word(asked, name, "a simulated machine");
}

static void offer_specs(const struct asked *asked)
{
    const char *name;
    char spec[64];
    for (size_t i = 0; (name = sim_profile_builtin_name(i)); i++) {
        snprintf(spec, sizeof spec, "sim:%s", name);
        offer_word(asked, spec, "a simulated machine");
    }
    offer_word(asked, "cuda", "this machine's driver");
}

/* By name, without the number before it. */
static void offer_lessons(const struct asked *asked)
{
    for (const struct lesson_source *lesson = lessons; lesson->name; lesson++)
        offer_word(asked, lesson->name + strspn(lesson->name, "0123456789-"), lesson->name);
}

static void offer_shells(const struct asked *asked)
{
    const char *name;
    for (size_t i = 0; (name = completion_shell(i)); i++)
        offer_word(asked, name, "");
}

static void offer_commands(const struct asked *asked)
{
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++)
        offer_word(asked, command->name, command->summary);
}

/* In the order of enum command_words. */
static void (*const kinds[])(const struct asked *asked) = {offer_rules,    offer_results, offer_calls,  offer_specs,
                                                           offer_profiles, offer_commands, offer_shells, offer_lessons};

static void offer_words(const struct asked *asked, unsigned words)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (words >> i & 1)
            kinds[i](asked);
}

/* Of "CALL|error" the words in small letters stand for themselves. */
static void offer_values(const struct asked *asked, const struct command_option *option)
{
    const char *choices = option->value ? option->value : "", *choice;
    size_t length;
    while (command_next_choice(&choices, &choice, &length))
        if (islower((unsigned char)choice[0]))
            offer(asked, choice, length, "", "");
    offer_words(asked, option->words);
}

static void offer_options(const struct asked *asked, const struct command *command)
{
    for (const struct command_option *option = command->option; option->name; option++) {
        offer(asked, option->name, strlen(option->name), option->joined ? "=" : "", option->about);
        if (option->alias)
            offer_word(asked, option->alias, option->about);
    }
    offer_word(asked, "--help", "more about this command");
}

/* "--backend=sim:o": the option before the "=" of what was typed; NULL if there is none. */
static const struct command_option *option_before(const struct command *command, const char *typed, const char *equals)
{
    size_t length = (size_t)(equals - typed);
    for (const struct command_option *option = command->option; option->name; option++)
        if (option->value && strlen(option->name) == length && memcmp(typed, option->name, length) == 0)
            return option;
    return NULL;
}

/* What the preceding words mean for the last one. */
struct place {
    const struct command_option *lacking; /* the option whose value it is; NULL if it is none */
    bool argument, rest, plain;           /* an argument was already given; the word is passed on unread; it is not an option */
};

static struct place place_of(const struct command *command, int count, char **words)
{
    struct argument_walk walk = {.command = command, .word = words, .count = count, .at = 1};
    const struct command_option *option;
    const char *value;
    struct place place = {0};
    for (;;) {
        switch (argument_next(&walk, &option, &value)) {
        case ARGUMENT_WORD: place.argument = true; break;
        case ARGUMENT_LACKS: place.lacking = option; break;
        case ARGUMENT_REST: place.rest = true; return place;
        case ARGUMENT_END: place.plain = walk.plain; return place;
        case ARGUMENT_OPTION:
        case ARGUMENT_HELP:
        case ARGUMENT_UNKNOWN: break;
        }
    }
}

void completion_words(FILE *out, int count, char **words)
{
    struct asked asked = {.out = out, .typed = count ? words[count - 1] : "", .prefix = ""};
    if (count < 2) {
        offer_commands(&asked);
        offer_word(&asked, "--version", "the version");
        offer_word(&asked, "--help", "what there is");
        return;
    }
    const struct command *command = command_find(words[0]);
    if (!command)
        return;
    const char *equals = strchr(asked.typed, '=');
    struct place place = place_of(command, count - 1, words);
    if (place.rest)
        return;
    if (place.lacking) {
        offer_values(&asked, place.lacking);
    } else if (asked.typed[0] == '-' && !place.plain && equals) {
        const struct command_option *option = option_before(command, asked.typed, equals);
        asked.prefix = asked.typed;
        asked.prefix_length = (size_t)(equals + 1 - asked.typed);
        if (option)
            offer_values(&asked, option);
    } else if (asked.typed[0] == '-' && !place.plain) {
        offer_options(&asked, command);
    } else if (!place.argument || command->argument.many) {
        offer_words(&asked, command->argument.words);
    }
}
