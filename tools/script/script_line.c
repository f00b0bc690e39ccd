/* SPDX-License-Identifier: Apache-2.0 */
/* One line: [expect RESULT [RULE]:] [NAME =] COMMAND arguments. See script_state.h. */
#include <string.h>

#include "script_state.h"

static bool find_result(const char *name, vmm_result *result)
{
    static const struct {
        const char *name;
        vmm_result value;
    } results[] = {
#define VMM_RESULT(name, number, text) {#name, VMM_##name},
#include "results.def"
    };
    if (strncmp(name, "CUDA_", 5) == 0)
        name += 5;
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        const char *full = results[i].name;
        if (strcmp(name, full) == 0 || (strncmp(full, "ERROR_", 6) == 0 && strcmp(name, full + 6) == 0)) {
            *result = results[i].value;
            return true;
        }
    }
    return false;
}

static const char *nearest_rule(const char *id)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count), *best = NULL;
    unsigned least = 7;
    for (size_t i = 0; i < count; i++) {
        unsigned distance = text_distance(id, rules[i].id, least - 1);
        if (distance < least) {
            least = distance;
            best = &rules[i];
        }
    }
    return best ? best->id : NULL;
}

static bool expect_rule(struct script *script, const struct word *word)
{
    const vmm_rule *rule = vmm_rule_find(word->text);
    const char *near = rule ? NULL : nearest_rule(word->text);
    if (!rule)
        return script_wrong(script, word->column, "there is no rule \"%.60s\"%s%s%s", word->text,
                            near ? "; is " : "; `cuvmm rules` lists them", near ? near : "", near ? " meant?" : "");
    script->expect.rule = rule->id;
    return true;
}

static bool expect_outcome(struct script *script, const struct word *word)
{
    if (strcmp(word->text, "warning") == 0) {
        script->expect.kind = EXPECT_WARNING;
        return true;
    }
    script->expect.kind = EXPECT_RESULT;
    if (find_result(word->text, &script->expect.result))
        return true;
    return script_wrong(script, word->column,
                        "\"%.40s\" is not a result; write warning, SUCCESS, INVALID_VALUE or another name of the driver",
                        word->text);
}

/* expect RESULT [RULE]: -- the colon may touch the word before it. */
static bool take_expect(struct script *script)
{
    struct words *words = &script->words;
    size_t given = 0;
    for (script->next = 1; script->next < words->count; script->next++) {
        struct word *word = &words->word[script->next];
        size_t length = strlen(word->text);
        bool last = length && word->text[length - 1] == ':' && !word->key;
        if (last)
            word->text[length - 1] = 0;
        word->used = true;
        if (word->text[0] && given > 1)
            return script_wrong(script, word->column, "\"%.40s\" after the rule; a ':' must end the expectation",
                                word->text);
        if (word->text[0] && !(given++ ? expect_rule(script, word) : expect_outcome(script, word)))
            return false;
        if (last && given) {
            script->next++;
            return true;
        }
    }
    return script_wrong(script, (int)script->length + 1, "expect is: expect RESULT [RULE-ID]: COMMAND, or: expect "
                        "warning RULE-ID: COMMAND; the ':' is missing");
}

static bool bind_name(struct script *script, const char *name, int column)
{
    const struct symbol *old = symbols_find(&script->symbols, name, strlen(name));
    if (!symbols_name_ok(name, strlen(name)))
        return script_wrong(script, column,
                            "\"%.40s\" cannot be a name; a name is a letter, then letters, digits and _, at most %d in "
                            "all, and not a word of the language", name, SYMBOL_NAME_MAX);
    if (old && old->kind != SYMBOL_NUMBER && !old->ended)
        return script_wrong(script, column, "%s already names %s that still exists; choose another name", name,
                            symbols_kind_text(old->kind));
    strcpy(script->bind, name);
    script->bind_column = column;
    return true;
}

/* NAME = COMMAND, or NAME=COMMAND, which splits like an option. */
static bool take_name(struct script *script)
{
    struct words *words = &script->words;
    struct word *first = &words->word[script->next];
    if (first->key) {
        if (!bind_name(script, first->key, first->column - (int)strlen(first->key) - 1))
            return false;
        first->key = NULL;
        return true;
    }
    if (script->next + 1 == words->count || strcmp(words->word[script->next + 1].text, "=") != 0 ||
        words->word[script->next + 1].quoted || words->word[script->next + 1].key)
        return true;
    if (!bind_name(script, first->text, first->column))
        return false;
    first->used = words->word[script->next + 1].used = true;
    script->next += 2;
    if (script->next == words->count)
        return script_wrong(script, (int)script->length + 1, "a command is missing after \"%s =\"", script->bind);
    return true;
}

static bool take_command(struct script *script)
{
    struct word *word = &script->words.word[script->next];
    const struct script_command *near;
    script->command = script_command_find(word->text, &near);
    if (word->quoted || !script->command)
        return script_wrong(script, word->column, "unknown command \"%.40s\"%s%s%s", word->text,
                            near ? "; is \"" : "; `cuvmm help run` lists the commands", near ? near->name : "",
                            near ? "\" meant?" : "");
    word->used = true;
    script->next++;
    if (script->command->driver[0] == 0 && (script->bind[0] || script->expect.kind != EXPECT_NOTHING))
        return script_wrong(script, script->bind[0] ? script->bind_column : 1,
                            "%s makes no call, so there is nothing to %s", script->command->name,
                            script->bind[0] ? "name" : "expect");
    return true;
}

static void echo_line(struct script *script)
{
    if (script->options.quiet || script->options.interactive || script->command->free_text)
        return;
    script_colour(script, "1");
    fprintf(script->options.out, "> %.*s", (int)script->length, script->text);
    script_plain(script);
    fputs("\n", script->options.out);
}

/* echo, note, title: the rest is text for the reader and is not split into words. */
static const struct script_command *text_command(const char *line, size_t length, size_t *start)
{
    size_t from = 0, to;
    char name[16];
    while (from < length && (line[from] == ' ' || line[from] == '\t'))
        from++;
    for (to = from; to < length && line[to] != ' ' && line[to] != '\t'; to++)
        if (to - from + 1 >= sizeof name)
            return NULL;
    memcpy(name, line + from, to - from);
    name[to - from] = 0;
    const struct script_command *near, *command = script_command_find(name, &near);
    *start = to < length ? to + 1 : to;
    return command && command->free_text ? command : NULL;
}

static bool run_text(struct script *script, const struct script_command *command, size_t start)
{
    for (size_t i = 0; i < script->length; i++) {
        unsigned char byte = (unsigned char)script->text[i];
        if (script->length > WORDS_LINE_MAX || (byte < 0x20 && byte != '\t') || byte == 0x7f)
            return script_wrong(script, (int)i + 1, "byte 0x%02x in a text of %zu bytes; text has no control characters "
                                "and at most %d bytes a line", byte, script->length, WORDS_LINE_MAX);
    }
    script->command = command;
    script->next = start;
    return command->run(script);
}

static bool run_words(struct script *script)
{
    struct words_error error;
    if (!words_split(script->text, script->length, &script->words, &error))
        return script_wrong_at(script, &error);
    if (script->words.count == 0)
        return true;
    script->next = 0;
    const struct word *first = &script->words.word[0];
    if (!first->key && !first->quoted && strcmp(first->text, "expect") == 0) {
        script->words.word[0].used = true;
        if (!take_expect(script))
            return false;
    }
    if (script->next == script->words.count)
        return script_wrong(script, (int)script->length + 1, "a command is missing after \"expect ...:\"");
    if (!take_name(script) || !take_command(script))
        return false;
    echo_line(script);
    return script->command->run(script);
}

enum script_status script_line(struct script *script, const char *line, size_t length)
{
    enum script_status before = script->worst;
    size_t start;
    script->line++;
    script->text = line;
    script->length = length;
    script->bind[0] = 0;
    script->expect = (struct script_expect){.kind = EXPECT_NOTHING};
    script->worst = SCRIPT_OK;
    const struct script_command *text = text_command(line, length, &start);
    bool ok = text ? run_text(script, text, start) : run_words(script);
    if (ok && script->options.draw)
        script_draw(script, false);
    enum script_status status = script->worst;
    if (before > status)
        script->worst = before;
    return status;
}
