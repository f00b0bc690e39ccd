/* SPDX-License-Identifier: Apache-2.0 */
#include "completion.h"

#include <ctype.h>
#include <string.h>

#include "cuvmm.h"
#include "help_parts.h"
#include "lessons.h"
#include "profile.h"
#include "vmm.h"

/* What is asked for: words that begin with typed, once the prefix stands before them. */
struct asked {
    FILE *out;
    const char *typed;
    struct span prefix;
    const char *command; /* NULL where the command itself is asked for */
    unsigned *offered;   /* kinds that were, a bit each: several usages may have the same */
};

static struct span span_of(const char *text)
{
    return (struct span){text, text ? strlen(text) : 0};
}

/* Is what was typed the beginning of prefix, word and ending, one behind the other? */
static bool begins_with_typed(const struct asked *asked, struct span word)
{
    const char *typed = asked->typed;
    size_t left = strlen(typed);
    const struct span parts[] = {asked->prefix, word};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && left; i++) {
        size_t length = left < parts[i].length ? left : parts[i].length;
        if (length && memcmp(typed, parts[i].at, length) != 0)
            return false;
        typed += length;
        left -= length;
    }
    return left == 0;
}

static void offer(const struct asked *asked, struct span word, const char *ending, struct span about)
{
    if (begins_with_typed(asked, word))
        fprintf(asked->out, "%.*s%.*s%s\t%.*s\n", (int)asked->prefix.length, asked->prefix.at, (int)word.length, word.at, ending,
                (int)about.length, about.at);
}

static void offer_rules(const struct asked *asked)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++)
        offer(asked, span_of(rules[i].id), "", span_of(rules[i].message));
}

/* Rules stand in the order of their calls, so those of one call are together. */
static void offer_calls(const struct asked *asked)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(rules[i].function, rules[i - 1].function) != 0)
            offer(asked, span_of(rules[i].function), "", span_of(""));
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
        offer(asked, span_of(results[i].name), "", span_of(results[i].text));
}

static void offer_profiles(const struct asked *asked)
{
    const char *name;
    for (size_t i = 0; strcmp(asked->command, "profiles") == 0 && (name = sim_profile_builtin_name(i)); i++)
        offer(asked, span_of(name), "", span_of("a simulated machine"));
}

static void offer_specs(const struct asked *asked)
{
    const char *name;
    char spec[64];
    for (size_t i = 0; (name = sim_profile_builtin_name(i)); i++) {
        snprintf(spec, sizeof spec, "sim:%s", name);
        offer(asked, span_of(spec), "", span_of("a simulated machine"));
    }
    offer(asked, span_of("cuda"), "", span_of("this machine's driver"));
}

/* By name, without the number before it. */
static void offer_lessons(const struct asked *asked)
{
    for (const struct lesson_source *lesson = lessons; lesson->name; lesson++)
        offer(asked, span_of(lesson->name + strspn(lesson->name, "0123456789-")), "", span_of(lesson->name));
}

static void offer_shells(const struct asked *asked)
{
    const char *name;
    for (size_t i = 0; (name = completion_shell(i)); i++)
        offer(asked, span_of(name), "", span_of(""));
}

/* What the general text says of a command, in its item "cuvmm NAME ...". */
static struct span about_command(const char *name)
{
    struct help_reader reader = {.at = help_text(NULL)};
    struct help_line line;
    const size_t skip = strlen("cuvmm "), length = strlen(name);
    while (help_next(&reader, &line))
        if (line.kind == HELP_ITEM && line.label.length >= skip + length && memcmp(line.label.at + skip, name, length) == 0 &&
            (line.label.length == skip + length || line.label.at[skip + length] == ' '))
            return line.text;
    return span_of("");
}

static void offer_commands(const struct asked *asked)
{
    const char *name;
    for (size_t i = 0; (name = cuvmm_command(i)); i++)
        offer(asked, span_of(name), "", about_command(name));
}

static const struct {
    const char *placeholder;
    void (*offer)(const struct asked *asked);
} kinds[] = {{"RULE-ID", offer_rules}, {"RULE", offer_rules}, {"RESULT", offer_results}, {"CALL", offer_calls},
             {"SPEC", offer_specs},    {"NAME", offer_profiles}, {"COMMAND", offer_commands}, {"SHELL", offer_shells},
             {"LESSON", offer_lessons}};

/* What a placeholder stands for; small letters stand for themselves. */
static void offer_kind(const struct asked *asked, struct span what)
{
    if (what.length && islower((unsigned char)what.at[0])) {
        offer(asked, what, "", span_of(""));
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (span_is(what, kinds[i].placeholder) && !(*asked->offered >> i & 1)) {
            *asked->offered |= 1u << i;
            kinds[i].offer(asked);
        }
}

/* "RULE-ID|RESULT": each of them. */
static void offer_values(const struct asked *asked, struct span values)
{
    const char *end = values.at + values.length;
    for (const char *at = values.at; at < end;) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        const char *stop = bar ? bar : end;
        offer_kind(asked, (struct span){at, (size_t)(stop - at)});
        at = stop + 1;
    }
}

/* A command's options one by one: those of its usage, then those that have an item. */
struct walk {
    struct help_reader reader;
    struct help_line line;
    struct span text;
    size_t at;
};

static bool walk_next(struct walk *walk, struct help_option *option)
{
    for (;;) {
        if (walk->text.length && help_option_next(walk->text, &walk->at, option)) {
            option->about = walk->line.kind == HELP_ITEM ? walk->line.text : span_of("");
            return true;
        }
        if (!help_next(&walk->reader, &walk->line))
            return false;
        walk->text = walk->line.kind == HELP_ITEM ? walk->line.label : walk->line.text;
        if (walk->line.kind != HELP_ITEM && walk->line.kind != HELP_USAGE)
            walk->text.length = 0;
        walk->at = 0;
    }
}

/* The last that the text says of an option: of usage and item, the item. */
static bool find_option(const char *text, struct span name, struct help_option *found)
{
    struct walk walk = {.reader = {.at = text}};
    struct help_option option;
    bool is_there = false;
    while (walk_next(&walk, &option)) {
        if (option.name.length != name.length || memcmp(option.name.at, name.at, name.length) != 0)
            continue;
        *found = option;
        is_there = true;
    }
    return is_there;
}

static void offer_options(const struct asked *asked, const char *text)
{
    struct walk walk = {.reader = {.at = text}};
    struct help_option option, last;
    while (walk_next(&walk, &option))
        if (find_option(text, option.name, &last) && last.name.at == option.name.at)
            offer(asked, option.name, option.joined ? "=" : "", option.about);
    if (!find_option(text, span_of("--help"), &last))
        offer(asked, span_of("--help"), "", span_of("more about this command"));
}

/* The usage's words that are neither options nor their values: "cuvmm explain RULE-ID|RESULT" -> RULE-ID|RESULT. */
static void offer_arguments(const struct asked *asked, const char *text)
{
    struct help_reader reader = {.at = text};
    struct help_line line;
    while (help_next(&reader, &line) && line.kind == HELP_USAGE) {
        const char *end = line.text.at + line.text.length, *before = "";
        for (const char *at = line.text.at; at < end;) {
            const char *blank = memchr(at, ' ', (size_t)(end - at)), *stop = blank ? blank : end, *word = at;
            at = stop + 1;
            bool of_option = word[0] == '-' || (word[0] == '[' && word[1] == '-');
            bool of_value = before[0] == '-' && before[1] == '-' && isupper((unsigned char)word[0]);
            before = word[0] == '[' ? word + 1 : word;
            word += word[0] == '[';
            stop -= stop > word && stop[-1] == ']';
            if (!of_option && !of_value && stop > word && isupper((unsigned char)word[0]))
                offer_values(asked, (struct span){word, (size_t)(stop - word)});
        }
    }
}

/* How many of the words behind the command's name are arguments: no options and no values of such. */
static int arguments_among(const char *text, int count, char **words)
{
    struct help_option option;
    int arguments = 0;
    for (int i = 0; i < count; i++) {
        if (words[i][0] != '-' || !words[i][1])
            arguments++;
        else if (find_option(text, span_of(words[i]), &option) && option.value.length && !option.joined)
            i++;
    }
    return arguments;
}

void completion_words(FILE *out, int count, char **words)
{
    struct help_option option;
    unsigned offered = 0;
    struct asked asked = {.out = out, .typed = count ? words[count - 1] : "", .prefix = span_of(""), .offered = &offered};
    if (count < 2) {
        offer_commands(&asked);
        offer(&asked, span_of("--version"), "", span_of("the version"));
        offer(&asked, span_of("--help"), "", span_of("what there is"));
        return;
    }
    const char *text = help_text(words[0]), *equals = strchr(asked.typed, '=');
    asked.command = words[0];
    if (!text)
        return;
    int arguments = arguments_among(text, count - 2, words + 1);
    if (arguments && strstr(text, "PROGRAM [ARGUMENTS]"))
        return; /* what follows is the program's */
    if (count > 2 && find_option(text, span_of(words[count - 2]), &option) && option.value.length && !option.joined) {
        offer_values(&asked, option.value);
    } else if (asked.typed[0] == '-' && equals) {
        asked.prefix = (struct span){asked.typed, (size_t)(equals + 1 - asked.typed)};
        if (find_option(text, (struct span){asked.typed, (size_t)(equals - asked.typed)}, &option))
            offer_values(&asked, option.value);
    } else if (asked.typed[0] == '-') {
        offer_options(&asked, text);
    } else if (!arguments) {
        offer_arguments(&asked, text);
    }
}
