/* SPDX-License-Identifier: Apache-2.0 */
/* Invalid lines: the same line with the intended word, or an example of the command. See advice.h. */
#include <string.h>

#include "advice.h"

/* The word that a message suggests: `...; is "reserve" meant?` or `; is VMM-MAP-FLAGS meant?`. */
static bool meant(const char *message, char *word, size_t size)
{
    const char *end = strstr(message, " meant?"), *from = end;
    while (from && from > message && from[-1] != ' ')
        from--;
    if (!from || from == message)
        return false;
    size_t quoted = *from == '"';
    size_t length = (size_t)(end - from) - 2 * quoted;
    if (length + 1 > size)
        return false;
    memcpy(word, from + quoted, length);
    word[length] = 0;
    return true;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Units as people write them elsewhere. */
static const char *unit_meant(const char *text, size_t length)
{
    static const struct {
        const char *said, *unit;
    } units[] = {{"K", "KiB"}, {"KB", "KiB"}, {"M", "MiB"}, {"MB", "MiB"},
                 {"G", "GiB"}, {"GB", "GiB"}, {"T", "TiB"}, {"TB", "TiB"}};
    char said[8];
    if (length >= sizeof said)
        return NULL;
    memcpy(said, text, length);
    said[length] = 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (text_same(units[i].said, said) || text_same(units[i].unit, said))
            return units[i].unit;
    return NULL;
}

static void advice_whole(struct script *script, const struct script_command *command, const char *line, struct text *out);

/* Removes the word that begins there, and the blanks before it. */
static void without_word(struct text *out, const char *line, size_t from)
{
    size_t to = from + strcspn(line + from, " \t");
    while (from > 0 && line[from - 1] == ' ')
        from--;
    text_add(out, "%.*s%s\n", (int)from, line, line + to);
}

/* Removes the blanks before it. */
static void joined(struct text *out, const char *line, size_t from)
{
    size_t end = from;
    while (end > 0 && (line[end - 1] == ' ' || line[end - 1] == '\t'))
        end--;
    text_add(out, "%.*s%s\n", (int)end, line, line + from);
}

struct advice advice_mistake(struct script *script, const char *line)
{
    struct advice advice = {{0}, false};
    const struct words_error *mistake = &script->mistake;
    size_t from = mistake->column > 0 ? (size_t)mistake->column - 1 : 0, to;
    char word[64];
    if (from > strlen(line))
        return advice;
    for (to = from; is_word(line[to]);)
        to++;
    const char *unit = strncmp(mistake->text, "unknown unit", 12) == 0 ? unit_meant(line + from, to - from) : NULL;
    if (unit)
        snprintf(word, sizeof word, "%s", unit);
    if (unit || (to > from && meant(mistake->text, word, sizeof word)))
        text_add(&advice.lines, "%.*s%s%s\n", (int)from, line, word, line + to);
    else if (strstr(mistake->text, "not known before init"))
        text_add(&advice.lines, "init\n"), advice.first = true;
    else if (strstr(mistake->text, "; leave it out"))
        text_add(&advice.lines, "%.*s%s\n", (int)from, line, line + from + 1);
    else if (strstr(mistake->text, "belongs to the number before it"))
        joined(&advice.lines, line, from);
    else if (strstr(mistake->text, " is missing before "))
        text_add(&advice.lines, "%.*s1gran %s\n", (int)from, line, line + from);
    else if (strstr(mistake->text, "one argument too many") || strstr(mistake->text, "has no option"))
        without_word(&advice.lines, line, from);
    else if (script->command && strstr(mistake->text, "is missing"))
        advice_whole(script, script->command, line, &advice.lines);
    return advice;
}

/* ---- examples */

/* A live name of that kind, else a plausible one. */
static const char *name_of(const struct script *script, enum symbol_kind kind, const char *none)
{
    for (size_t i = script->symbols.count; i-- > 0;)
        if (script->symbols.list[i].kind == kind && !script->symbols.list[i].ended)
            return script->symbols.list[i].name;
    return none;
}

static const char *example_word(const struct script *script, const char *word, size_t length)
{
    const struct {
        const char *word, *example;
    } words[] = {
        {"SIZE", "2gran"},
        {"SPEC", "sim:h200x2"},
        {"NAME", "other"},
        {"DEVICE", "dev0"},
        {"DEVICES", "2"},
        {"LOCATION", "dev0"},
        {"LOCATION|null", "dev0"},
        {"RIGHTS", "rw"},
        {"PROPERTIES", "handle=fd"},
        {"BYTES", "\"text\""},
        {"VALUE", "0xff"},
        {"OFFSET", "0"},
        {"N", "1"},
        {"A", "1gran"},
        {"B", "2MiB"},
        {"==|!=|<|<=|>|>=", "=="},
        {"TEXT", "this is what happens"},
        {"COMMAND", "map"},
        {"RULE-ID|RESULT", "VMM-MAP-OVERLAP"},
        {"HANDLE", name_of(script, SYMBOL_HANDLE, "h0")},
        {"OBJECT", name_of(script, SYMBOL_HANDLE, "team")},
        {"ADDRESS", name_of(script, SYMBOL_RESERVATION, "r0")},
        {"TO", name_of(script, SYMBOL_RESERVATION, "r0")},
        {"FROM", name_of(script, SYMBOL_RESERVATION, "r0")},
        {"DESCRIPTOR", name_of(script, SYMBOL_DESCRIPTOR, "f0")},
        {"CONTEXT|none", name_of(script, SYMBOL_CONTEXT, "none")},
        {"CONTEXT|STREAM|EVENT|POOL|ARRAY|GRAPH|NODE|INSTANCE", name_of(script, SYMBOL_CONTEXT, "c0")},
        {"GRAPH", name_of(script, SYMBOL_GRAPH, "g0")},
        {"CHILD", name_of(script, SYMBOL_GRAPH, "g1")},
        {"STREAM", name_of(script, SYMBOL_STREAM, "s0")},
        {"FROM-NODE", name_of(script, SYMBOL_NODE, "n0")},
        {"TO-NODE", name_of(script, SYMBOL_NODE, "n1")},
        {"INSTANCE", name_of(script, SYMBOL_EXEC, "x0")},
        {"{KERNEL", "{fill 1 32 0 64 1}"},
        {"STREAM|EVENT", name_of(script, SYMBOL_STREAM, "s0")},
        {"STREAM|none", name_of(script, SYMBOL_STREAM, "none")},
        {"EVENT", name_of(script, SYMBOL_EVENT, "e0")},
        {"POOL", name_of(script, SYMBOL_POOL, "p0")},
        {"POOL-ATTRIBUTE", "USED_MEM_HIGH"},
        {"LOCATION:RIGHTS", "dev0:rw"},
        {"DRIVER-CALL", "cuDeviceGetCount"},
        {"ARGUMENT", "out"},
        {"{OPERATION", "{barrier 0}"},
        {"FILE.ptx:KERNEL|KERNEL", "pattern_write"},
        {"GRID", "4"},
        {"BLOCK", "128"},
        {"ARRAY", name_of(script, SYMBOL_ARRAY, "y0")},
        {"WIDTHxHEIGHTxDEPTH", "512x512"},
        {"X,Y,Z", "0,0,0"},
        {"LEVEL", "0"},
        {"PLANE", "0"},
        {"ADVICE", "read-mostly"},
        {"{FIELD=VALUE", "{operation=2}"},
        {"{ADDRESS", "{0 1}"},
        {"DATA", "1"}, /* any number may denote the bytes of an export */
    };
    if (strncmp(word, "value|access|", 13) == 0) /* the kinds of check */
        return "leaks 0";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0)
            return words[i].example;
    return NULL;
}

/* A name for the command's result. */
static const char *example_name(const char *command)
{
    static const char *const names[][2] = {{"reserve", "r"}, {"create", "h"},  {"retain", "h"}, {"import", "h"},
                                           {"export", "f"},  {"alloc", "a"},   {"stream", "s"}, {"event", "e"},
                                           {"meminfo", "m"}, {"context", "c"}, {"multicast", "team"}, {"pool", "p"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i][0], command) == 0)
            return names[i][1];
    return NULL;
}

/* From the beginning of a reservation to its middle: two rows in one layer, or a range where the usage has no rows. */
static void example_copy(const struct script *script, const char *usage, struct text *out)
{
    const char *at = name_of(script, SYMBOL_RESERVATION, "r0");
    text_add(out, strncmp(usage, "{TO FROM WIDTH", 14) == 0 ? " {%s+1gran %s 64 2 1}" : " {%s+1gran %s 64}", at, at);
}

/* A live handle whose size is the word before it, as in "map r 1gran "; else any. */
static const char *handle_of_size(struct script *script, const struct words *words)
{
    struct value_env env = script_env(script);
    struct words_error error;
    uint64_t size;
    if (words->count && value_number(&env, &words->word[words->count - 1], &size, &error))
        for (size_t i = script->symbols.count; i-- > 0;) {
            const struct symbol *symbol = &script->symbols.list[i];
            if (symbol->kind == SYMBOL_HANDLE && !symbol->ended && symbol->size == size)
                return symbol->name;
        }
    return name_of(script, SYMBOL_HANDLE, "h0");
}

/* The number of the usage's words that the line has after the command. */
static size_t arguments_of(const struct script *script, const struct script_command *command)
{
    size_t given = 0, i = 0;
    const struct words *words = &script->words;
    while (i < words->count && strcmp(words->word[i].text, command->name) != 0)
        i++;
    for (i++; i < words->count; i++)
        given += !words->word[i].key;
    return given;
}

/* The line with an example for each missing argument; an example of the command if the usage names
 * the arguments in a way unknown here. */
static void advice_whole(struct script *script, const struct script_command *command, const char *line, struct text *out)
{
    size_t given = arguments_of(script, command), length = strlen(line), place = 0;
    const char *remark = strstr(line, " #");
    if ((!given && !script->bind[0]) || strchr(command->usage, '{')) {
        advice_example(script, command, out);
        return;
    }
    if (remark)
        length = (size_t)(remark - line);
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    text_add(out, "%.*s", (int)length, line);
    for (const char *at = command->usage; *at && *at != '['; at += length + strspn(at + length, " ")) {
        length = strcspn(at, " ");
        if (place++ < given)
            continue;
        const char *example = length == 6 && strncmp(at, "HANDLE", 6) == 0 ? handle_of_size(script, &script->words) : example_word(script, at, length);
        text_add(out, " %s", example ? example : "0");
    }
    text_add(out, "\n");
}

void advice_example(struct script *script, const struct script_command *command, struct text *out)
{
    const char *name = example_name(command->name);
    if (name && symbols_find(&script->symbols, name, strlen(name)))
        text_add(out, "%s%zu = ", name, script->symbols.count + 1);
    else if (name)
        text_add(out, "%s = ", name);
    text_add(out, "%s", command->name);
    for (const char *at = command->usage; *at;) {
        size_t length = strcspn(at, " ");
        const char *example = *at == '[' ? NULL : example_word(script, at, length);
        if (strncmp(at, "{TO", length) == 0)
            example_copy(script, at, out);
        if (strcmp(command->name, "advised") == 0 && strncmp(at, "ATTRIBUTE", length) == 0)
            example = "1";
        else if (strcmp(command->name, "attribute") == 0 && strncmp(at, "ATTRIBUTE", length) == 0)
            example = "MULTICAST_SUPPORTED";
        else if (strncmp(at, "ATTRIBUTE", length) == 0 && length == 9)
            example = "MAPPING_SIZE";
        if (example)
            text_add(out, " %s", example);
        if (*at == '{') /* the example contains its words */
            length = strcspn(at, "}");
        at += length + strspn(at + length, " }");
    }
    if (strcmp(command->name, "access") == 0)
        text_add(out, " dev0:rw");
    if (strcmp(command->name, "launch") == 0)
        text_add(out, " {%s 64 7}", name_of(script, SYMBOL_RESERVATION, "r0"));
    text_add(out, "\n");
}
