/* SPDX-License-Identifier: Apache-2.0 */
#include "complete.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "complete_files.h"
#include "profile.h"
#include "shell.h"

#define WORDS 64

/* The words before the cursor; the last one, which may be empty, is to be completed. */
struct typed {
    char *text;
    char *word[WORDS];
    size_t count;
};

static void cut(struct typed *typed, const char *line, size_t length)
{
    *typed = (struct typed){.text = text_grow(NULL, length + 1)};
    memcpy(typed->text, line, length);
    typed->text[length] = 0;
    for (char *at = typed->text; typed->count < WORDS; at++) {
        at += strspn(at, " \t");
        typed->word[typed->count++] = at;
        at += strcspn(at, " \t");
        if (!*at)
            break;
        *at = 0;
    }
}

struct offer {
    struct lines_words *words;
    const char *begin; /* the common beginning of all of them */
    size_t kept;       /* bytes of the word that remain before a completion: "r0+" */
};

static void offer(const struct offer *offer, const char *word)
{
    if (strncmp(word, offer->begin + offer->kept, strlen(offer->begin + offer->kept)) == 0)
        lines_add_word(offer->words, "%.*s%s", (int)offer->kept, offer->begin, word);
}

static void offer_commands(const struct offer *to)
{
    const struct script_command *command;
    for (size_t i = 0; (command = script_command(i)); i++)
        offer(to, command->name);
    for (size_t i = 0; shell_commands[i].name; i++)
        offer(to, shell_commands[i].name);
}

static void offer_results(const struct offer *to)
{
    static const char *const names[] = {
#define VMM_RESULT(name, number, text) #name,
#include "results.def"
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        offer(to, strncmp(names[i], "ERROR_", 6) == 0 ? names[i] + 6 : names[i]);
}

static void offer_rules(const struct offer *to)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++)
        offer(to, rules[i].id);
}

static void offer_machines(const struct offer *to)
{
    const char *name;
    char spec[SIM_NAME_MAX + 8];
    for (size_t i = 0; (name = sim_profile_builtin_name(i)); i++) {
        snprintf(spec, sizeof spec, "sim:%s", name);
        offer(to, spec);
    }
    offer(to, "cuda");
}

static void count_device(void *user, const vmm_object *object)
{
    *(int *)user += object->kind == VMM_OBJECT_DEVICE;
}

static void offer_devices(const struct offer *to, const struct script *script, const char *tail)
{
    int devices = 0;
    char name[16];
    if (script->sys)
        vmm_visit(script->sys, count_device, &devices);
    for (int i = 0; i < (devices ? devices : 1); i++) {
        snprintf(name, sizeof name, "dev%d%s", i, tail);
        offer(to, name);
    }
}

/* Live names of these kinds; each kind is a bit. */
static void offer_symbols(const struct offer *to, const struct script *script, unsigned kinds, const char *tail)
{
    char name[SYMBOL_NAME_MAX + 8];
    for (size_t i = 0; i < script->symbols.count; i++) {
        const struct symbol *symbol = &script->symbols.list[i];
        if (symbol->ended || !(kinds >> symbol->kind & 1))
            continue;
        snprintf(name, sizeof name, "%s%s", symbol->name, tail);
        offer(to, name);
    }
}

static void offer_names(const struct offer *to, const struct script *script)
{
    offer_symbols(to, script, ~0u, "");
    offer_devices(to, script, "");
    offer(to, "host");
}

/* dev0:rw */
static void offer_grants(const struct offer *to, const struct script *script)
{
    if (to->kept && to->begin[to->kept - 1] == ':') {
        offer(to, "none");
        offer(to, "r");
        offer(to, "rw");
    } else {
        offer_devices(to, script, ":");
        offer(to, "host:");
    }
}

#define KIND(name) (1u << SYMBOL_##name)
#define SIZED (KIND(RESERVATION) | KIND(HANDLE) | KIND(ALLOCATION) | KIND(DESCRIPTOR))

/* A word of a usage that stands for an object of some kind. False: any name is possible. */
static bool offer_kind(const struct offer *to, const struct script *script, const char *what, size_t length)
{
    static const struct {
        const char *what;
        unsigned kinds;
    } rows[] = {{"HANDLE", KIND(HANDLE)},   {"ADDRESS", KIND(RESERVATION) | KIND(ALLOCATION)}, {"TO", KIND(RESERVATION) | KIND(ALLOCATION)},
                {"CONTEXT", KIND(CONTEXT)}, {"FROM", KIND(RESERVATION) | KIND(ALLOCATION)},    {"STREAM", KIND(STREAM)},
                {"EVENT", KIND(EVENT)},     {"POOL", KIND(POOL)},                              {"GRAPH", KIND(GRAPH)}};
    if (length == 8 && strncmp(what, "LOCATION", 8) == 0) {
        offer_devices(to, script, "");
        offer(to, "host");
        return true;
    }
    if (length == 6 && strncmp(what, "DEVICE", 6) == 0) {
        offer_devices(to, script, "");
        return true;
    }
    if (length == 4 && strncmp(what, "SIZE", 4) == 0) {
        offer_symbols(to, script, KIND(NUMBER), "");
        offer_symbols(to, script, SIZED, ".size");
        return true;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strlen(rows[i].what) == length && strncmp(what, rows[i].what, length) == 0) {
            offer_symbols(to, script, rows[i].kinds, "");
            return true;
        }
    return false;
}

/* The word at a position of the usage; NULL if only options can follow. */
static const char *usage_place(const char *usage, size_t place, size_t *length)
{
    static const char grants[] = "[LOCATION:RIGHTS";
    const char *at = usage;
    for (; *at && *at != '['; at += *length + strspn(at + *length, " ")) {
        *length = strcspn(at, " ");
        if (--place == 0)
            return at;
    }
    *length = strlen(grants);
    return strncmp(at, grants, strlen(grants)) == 0 ? at : NULL;
}

/* "[offset=SIZE]" in a usage means the option "offset=". */
static void offer_options(const struct offer *to, const char *usage)
{
    char option[32];
    for (const char *at = usage; (at = strchr(at, '[')); at++) {
        size_t length = strcspn(at + 1, "= ]|");
        if (at[1 + length] != '=' || length + 2 > sizeof option)
            continue;
        memcpy(option, at + 1, length + 1);
        option[length + 1] = 0;
        offer(to, option);
    }
}

static void offer_attributes(const struct offer *to, bool device)
{
    const char *name;
    for (int i = 0; i < 256; i++)
        if ((name = device ? step_device_attribute_name(i) : step_attribute_name(i)))
            offer(to, name);
}

static void offer_calls(const struct offer *to)
{
    for (int id = 0; id < VMM_CALL_COUNT; id++)
        offer(to, vmm_call_driver_name((enum vmm_call_id)id));
}

static void offer_checks(const struct offer *to)
{
    const struct script_command *check;
    for (size_t i = 0; (check = script_check(i)); i++)
        offer(to, check->name + strlen("check "));
}

static void offer_word(const void *to, const char *word)
{
    offer(to, word);
}

static void offer_kernels(const struct offer *to)
{
    for (vmm_kernel i = 0; i < vmm_kernel_count(); i++)
        offer(to, vmm_kernel_name(i));
    complete_kernels(to->begin, offer_word, to);
}

/* Completions for a position of the command's usage; options if nothing else is possible. */
static void offer_usage(struct offer *to, const struct script *script, const struct script_command *command, size_t place)
{
    size_t length, before = to->words->count;
    const char *what = usage_place(command->usage, place, &length);
    const struct offer whole = *to;
    if (strstr(command->usage, "ATTRIBUTE"))
        offer_attributes(to, strcmp(command->name, "attribute") == 0);
    for (to->kept = strlen(to->begin); to->kept > 0 && !strchr("+-({:,=", to->begin[to->kept - 1]);)
        to->kept--;
    if (what && *what == '[')
        offer_grants(to, script);
    else if (what ? !offer_kind(to, script, what, length) : to->kept > 0 || strchr(command->usage, '{'))
        offer_names(to, script);
    if (to->words->count == before)
        offer_options(&whole, command->usage);
}

/* Completions after a command; place counts the words after it, from 1. */
static void offer_arguments(struct offer *to, const struct script *script, const char *name, size_t place)
{
    const struct script_command *near, *command = script_command_find(name, &near);
    bool first = place == 1;
    if (strcmp(name, "explain") == 0) {
        offer_rules(to);
        offer_results(to);
    } else if (strcmp(name, "help") == 0 && first) {
        offer_commands(to);
    } else if (strcmp(name, "backend") == 0 && first) {
        offer_machines(to);
    } else if ((strcmp(name, "draw") == 0 || strcmp(name, "picture") == 0) && first) {
        offer(to, "on");
        offer(to, "off");
    } else if (strcmp(name, "save") == 0) {
        offer(to, "--api=driver");
        offer(to, "--api=vmm");
        offer(to, "--force");
    } else if (command && strcmp(name, "check") == 0 && first) {
        offer_checks(to);
    } else if (command && strcmp(name, "call") == 0 && first) {
        offer_calls(to);
    } else if (command && strcmp(name, "launch") == 0 && first) {
        offer_kernels(to);
    } else if (command && !command->free_text) {
        offer_usage(to, script, command, place);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(struct lines_words *words)
{
    size_t kept = 0;
    if (words->count)
        qsort(words->word, words->count, sizeof *words->word, by_name);
    for (size_t i = 0; i < words->count; i++) {
        if (kept && strcmp(words->word[kept - 1], words->word[i]) == 0)
            free(words->word[i]);
        else
            words->word[kept++] = words->word[i];
    }
    words->count = kept;
}

/* The position of the command: after "expect ...:" and "NAME =". words->count if the cursor is inside expect. */
static size_t command_place(const struct typed *typed)
{
    size_t at = 0;
    if (strcmp(typed->word[0], "expect") == 0 && typed->count > 1) {
        for (at = 1; at + 1 < typed->count && !strchr(typed->word[at], ':');)
            at++;
        if (at + 1 == typed->count)
            return typed->count;
        at++;
    }
    if (at + 2 < typed->count && strcmp(typed->word[at + 1], "=") == 0)
        at += 2;
    return at;
}

void complete_line(const struct script *script, const char *line, size_t length, struct lines_words *words)
{
    struct typed typed;
    cut(&typed, line, length);
    struct offer to = {words, typed.word[typed.count - 1], 0};
    size_t at = command_place(&typed);
    if (at == typed.count) {
        offer(&to, "warning");
        offer_results(&to);
        offer_rules(&to);
    } else if (at + 1 == typed.count) {
        offer_commands(&to);
        if (at == 0)
            offer(&to, "expect");
    } else {
        offer_arguments(&to, script, typed.word[at], typed.count - 1 - at);
    }
    sort(words);
    free(typed.text);
}
