/* SPDX-License-Identifier: Apache-2.0 */
/* Takes arguments from a line's words in order, and options from anywhere. */
#include <string.h>

#include "script_state.h"

static bool granule(void *user, bool host, uint64_t *bytes)
{
    struct script *script = user;
    if (!script->granule[host]) {
        struct step step;
        step_begin(&step, VMM_CALL_mem_get_allocation_granularity);
        step.prop.location = host ? (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, 0}
                                  : (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, 0};
        if (!script_system(script) || script_invoke(script, &step) != VMM_SUCCESS || !step.out[0].u64)
            return false;
        script->granule[host] = step.out[0].u64;
    }
    *bytes = script->granule[host];
    return true;
}

struct value_env script_env(struct script *script)
{
    return (struct value_env){&script->symbols, granule, script, script_process_symbols, NULL};
}

bool args_more(const struct script *script)
{
    for (size_t i = script->next; i < script->words.count; i++)
        if (!script->words.word[i].key)
            return true;
    return false;
}

struct word *args_next(struct script *script, const char *what)
{
    struct words *words = &script->words;
    while (script->next < words->count && words->word[script->next].key)
        script->next++;
    if (script->next < words->count) {
        words->word[script->next].used = true;
        return &words->word[script->next++];
    }
    script_wrong(script, (int)script->length + 1, "%s is missing; the command is: %s %s", what, script->command->name,
                 script->command->usage);
    return NULL;
}

/* Is the next argument a count, which can be neither the name of an object nor a location? */
static bool counts(const char *what)
{
    static const char *const counted[] = {"SIZE", "OFFSET", "N", "DEVICES"};
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
        if (strcmp(what, counted[i]) == 0)
            return true;
    return false;
}

/* Arguments in the wrong order: the message names the argument in place of the size, instead of the
 * driver's complaint about it. */
static bool in_its_place(struct script *script, const char *what, const struct word *word)
{
    struct words_error error;
    vmm_mem_location location;
    struct value_env env = script_env(script);
    const struct symbol *symbol = symbols_find(&script->symbols, word->text, strlen(word->text));
    const char *is = symbol && symbol->kind != SYMBOL_NUMBER                ? symbols_kind_text(symbol->kind)
                     : !symbol && value_location(&env, word, &location, &error) ? "a location"
                                                                                : NULL;
    return !counts(what) || !is ||
           script_wrong(script, word->column, "\"%.40s\" is %s, and %s comes here; the command is: %s %s", word->text, is, what,
                        script->command->name, script->command->usage);
}

/* "3 MiB": the unit is a separate word. False, after reporting it, if word is one. */
static bool no_unit(struct script *script, const struct word *word)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB", "TB", "gran"};
    const struct word *before = word > script->words.word ? word - 1 : NULL;
    for (size_t i = 0; before && !word->key && before->text[strspn(before->text, "0123456789")] == 0 && i < sizeof units / sizeof units[0]; i++)
        if (text_same(units[i], word->text))
            return script_wrong(script, word->column, "\"%.40s\" belongs to the number before it, without a blank: %.40s%.40s",
                                word->text,
                                before->text, word->text);
    return true;
}

/* A grant in place of an omitted size. */
static bool no_grant(struct script *script, const char *what, const struct word *word)
{
    struct words_error error;
    struct value_env env = script_env(script);
    vmm_mem_access_desc grant;
    return !counts(what) || word->quoted || !value_grant(&env, word, &grant, &error) ||
           script_wrong(script, word->column, "%s is missing before \"%.40s\"; the command is: %s %s", what, word->text,
                        script->command->name, script->command->usage);
}

bool args_number(struct script *script, const char *what, uint64_t *out)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, what);
    env.what = what;
    return word && in_its_place(script, what, word) && no_grant(script, what, word) && (value_number(&env, word, out, &error) || script_wrong_at(script, &error));
}

bool args_int(struct script *script, const char *what, int *out)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, what);
    return word && (value_int(&env, word, out, &error) || script_wrong_at(script, &error));
}

bool args_location(struct script *script, const char *what, vmm_mem_location *out)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, what);
    return word && no_unit(script, word) && (value_location(&env, word, out, &error) || script_wrong_at(script, &error));
}

struct word *args_option(struct script *script, const char *key)
{
    for (size_t i = 0; i < script->words.count; i++) {
        struct word *word = &script->words.word[i];
        if (word->key && !word->used && strcmp(word->key, key) == 0) {
            word->used = true;
            return word;
        }
    }
    return NULL;
}

bool args_option_number(struct script *script, const char *key, uint64_t *out)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_option(script, key);
    return !word || value_number(&env, word, out, &error) || script_wrong_at(script, &error);
}

bool args_handle_type(struct script *script, int *type)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_option(script, "type");
    *type = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return !word || value_handle_types(&env, word, type, &error) || script_wrong_at(script, &error);
}

bool args_object(struct script *script, const char *what, void **out)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, what);
    uint64_t value = 0;
    if (!word)
        return false;
    if (strcmp(word->text, "none") != 0 && !value_number(&env, word, &value, &error))
        return script_wrong_at(script, &error);
    *out = (void *)(uintptr_t)value;
    return true;
}

bool args_stream(struct script *script, bool *given, vmm_stream *stream)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_option(script, "stream");
    uint64_t value = 0;
    if (given)
        *given = word != NULL;
    if (word && strcmp(word->text, "none") != 0 && !value_number(&env, word, &value, &error))
        return script_wrong_at(script, &error);
    *stream = (vmm_stream)(uintptr_t)value;
    return true;
}

bool args_option_int(struct script *script, const char *key, int *out)
{
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_option(script, key);
    return !word || value_int(&env, word, out, &error) || script_wrong_at(script, &error);
}

bool args_done(struct script *script)
{
    for (size_t i = 0; i < script->words.count; i++) {
        const struct word *word = &script->words.word[i];
        if (word->used)
            continue;
        if (word->key)
            return script_wrong(script, word->column - (int)strlen(word->key) - 1,
                                "%s has no option \"%.40s\"; the command is: %s %s", script->command->name, word->key,
                                script->command->name, script->command->usage);
        return no_unit(script, word) &&
               script_wrong(script, word->column, "\"%.40s\" is one argument too many; the command is: %s %s",
                            word->text, script->command->name, script->command->usage);
    }
    return true;
}
