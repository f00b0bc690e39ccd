/* SPDX-License-Identifier: Apache-2.0 */
/* Details for the reader of a script: raw addresses and handles become the script's names, ordinals of calls become
 * lines, long lines are folded.
 *
 *     nearest   mapping M1 [0x7000000000, 0x7000200000), 2 MiB; made by call 5 (cuMemMap)
 *     nearest   mapping M1 [r0, r0+2MiB), 2 MiB; made by line 4 (cuMemMap)
 *     line 4    map r0 1gran h
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "script_state.h"

#define BODY 18 /* the column where a block's text begins */

const char *script_label(const struct script *script, const vmm_object *object, char buffer[SCRIPT_LABEL])
{
    static const char letters[] = "?DRMHACSEBPY";
    const struct symbol *symbol = NULL;
    switch (object->kind) {
    case VMM_OBJECT_RESERVATION:
    case VMM_OBJECT_ALLOCATION:
        symbol = symbols_at(&script->symbols, object->start);
        if (symbol && (symbol->ended || symbol->value != object->start))
            symbol = NULL;
        break;
    case VMM_OBJECT_HANDLE: symbol = symbols_named(&script->symbols, SYMBOL_HANDLE, object->value); break;
    case VMM_OBJECT_CONTEXT: symbol = symbols_named(&script->symbols, SYMBOL_CONTEXT, object->value); break;
    case VMM_OBJECT_STREAM: symbol = symbols_named(&script->symbols, SYMBOL_STREAM, object->value); break;
    case VMM_OBJECT_POOL: symbol = symbols_named(&script->symbols, SYMBOL_POOL, object->value); break;
    case VMM_OBJECT_ARRAY: symbol = symbols_named(&script->symbols, SYMBOL_ARRAY, object->value); break;
    case VMM_OBJECT_EVENT: symbol = symbols_named(&script->symbols, SYMBOL_EVENT, object->value); break;
    default: break;
    }
    char letter = object->kind < sizeof letters - 1 ? letters[object->kind] : '?';
    if (symbol)
        snprintf(buffer, SCRIPT_LABEL, "%s (%c%" PRIu32 ")", symbol->name, letter, object->number);
    else
        snprintf(buffer, SCRIPT_LABEL, "%c%" PRIu32, letter, object->number);
    return buffer;
}

/* The last bytes of a fabric handle, as a detail shows them: its name in this process, or its kind. */
static const char *fabric_name(const struct script *script, uint64_t last)
{
    uint64_t number = fabrics_ending(&script->fabrics, last);
    const struct symbol *symbol = number ? symbols_named(&script->symbols, SYMBOL_DESCRIPTOR, number) : NULL;
    return symbol ? symbol->name : number ? "64 bytes" : NULL;
}

/* 0x... at text: its name, if it has one. Returns the length of the number, 0 when there is none. */
static size_t hex_name(const struct script *script, const char *text, struct text *out)
{
    char *end;
    if (text[0] != '0' || text[1] != 'x')
        return 0;
    uint64_t value = strtoull(text, &end, 16);
    size_t length = (size_t)(end - text);
    if (length < 3 || value == 0)
        return 0;
    const struct symbol *range = symbols_at(&script->symbols, value);
    char size[TEXT_SIZE_ROOM];
    if (range) {
        text_add(out, "%s", range->name);
        if (value != range->value)
            text_add(out, "+%s", text_size(value - range->value, size));
        return length;
    }
    static const enum symbol_kind kinds[] = {SYMBOL_HANDLE, SYMBOL_CONTEXT, SYMBOL_STREAM, SYMBOL_EVENT, SYMBOL_POOL, SYMBOL_ARRAY,
                                             SYMBOL_GRAPH,  SYMBOL_NODE,    SYMBOL_EXEC,   SYMBOL_OBJECT};
    const char *name = fabric_name(script, value);
    for (size_t i = 0; !name && i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct symbol *symbol = symbols_named(&script->symbols, kinds[i], value);
        name = symbol ? symbol->name : NULL;
    }
    if (name)
        text_add(out, "%s", name);
    return name ? length : 0;
}

/* The same value in decimal, " (139...)", which adds nothing to a name. */
static size_t decimal_length(const char *text)
{
    if (text[0] != ' ' || text[1] != '(')
        return 0;
    size_t digits = strspn(text + 2, "-0123456789");
    return digits && text[2 + digits] == ')' ? digits + 3 : 0;
}

/* Lines that a message names, each once. */
struct named {
    int line[16];
    size_t count;
};

static void name_line(struct named *named, int line)
{
    for (size_t i = 0; i < named->count; i++)
        if (named->line[i] == line)
            return;
    if (named->count < sizeof named->line / sizeof *named->line)
        named->line[named->count++] = line;
}

/* They are shown below it in rows; the current line is shown above it. */
static void show_named(const struct script *script, const struct named *named, bool current, struct text *text)
{
    for (size_t i = 0; i < named->count; i++) {
        const char *line = script_source_line(script, named->line[i]);
        char label[24];
        snprintf(label, sizeof label, "line %d", named->line[i]);
        if (line && (current || named->line[i] != script->line))
            text_add(text, "  %-9s %s\n", label, line);
    }
}

/* "call 12" with the line that made it. */
static size_t call_line(const struct script *script, const char *text, struct text *out, struct named *named)
{
    if (strncmp(text, "call ", 5) != 0 || text[5] < '0' || text[5] > '9')
        return 0;
    char *end;
    uint64_t call = strtoull(text + 5, &end, 10);
    if (call == 0 || call > script->calls)
        return 0;
    text_add(out, "line %d", script->call_line[call - 1]);
    name_line(named, script->call_line[call - 1]);
    return (size_t)(end - text);
}

static void translate(const struct script *script, const char *text, struct text *out, struct named *named)
{
    while (*text) {
        size_t taken = script->options.addresses ? 0 : hex_name(script, text, out);
        if (taken)
            taken += decimal_length(text + taken);
        else
            taken = call_line(script, text, out, named);
        if (taken) {
            text += taken;
            continue;
        }
        text_add_bytes(out, text++, 1);
    }
}

/* The text in lines; continuation lines are indented under the first one's text. */
static void fold(struct text *folded, const char *text, size_t at, size_t width)
{
    char *memory = NULL;
    size_t size;
    FILE *file = open_memstream(&memory, &size);
    if (!file)
        return;
    text_wrap(file, text, at, BODY, width);
    fclose(file);
    text_add(folded, "%s", memory);
    free(memory);
}

/* Lines after the first begin with the block's bar in place of blanks. */
static void print_with_bars(FILE *out, const char *text)
{
    for (bool first = true; *text; first = false) {
        size_t length = strcspn(text, "\n");
        if (first)
            fprintf(out, "%.*s\n", (int)length, text);
        else
            fprintf(out, "    |%.*s\n", (int)(length > 5 ? length - 5 : 0), text + (length > 5 ? 5 : length));
        text += length + (text[length] == '\n');
    }
}

/* For a leak, only the call that made the object and the fix matter; the rest is always the same. */
static bool of_the_end(const vmm_detail *detail)
{
    return detail->severity == VMM_SEVERITY_LEAK || detail->severity == VMM_SEVERITY_HINT;
}

static bool dull(const vmm_detail *detail, const char *line)
{
    return of_the_end(detail) && (strncmp(line, "  why ", 6) == 0 || strncmp(line, "  more ", 7) == 0 ||
                                  (strncmp(line, "  what ", 7) == 0 && detail->severity == VMM_SEVERITY_LEAK));
}

static void print_folded(FILE *out, const vmm_detail *detail, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = text_grow(NULL, length + 1);
        memcpy(line, text, length);
        line[length] = 0;
        text += length + (text[length] == '\n');
        if (dull(detail, line)) {
            free(line);
            continue;
        }
        size_t indent = strspn(line, " ");
        struct text folded = {0};
        fold(&folded, line + indent, 6 + indent, text_columns());
        fprintf(out, "    | %.*s", (int)indent, line);
        print_with_bars(out, folded.data ? folded.data : "");
        text_free(&folded);
        free(line);
    }
}

/* Is the argument a size, which is clearest in units? The table of calls has the answer if it has the name. */
static bool is_size(const struct script *script, const char *argument)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(script->step.call.head.id, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(params[i].name, argument) == 0)
            return params[i].kind == VMM_PARAM_SIZE;
    return false;
}

/* The value as a name, in units, or as it is. */
static void add_value(const struct script *script, const vmm_detail *detail, struct text *text)
{
    char size[TEXT_SIZE_ROOM], hex[24];
    snprintf(hex, sizeof hex, "0x%" PRIx64, detail->value);
    bool small = detail->value >> 40 == 0 || detail->value == UINT64_MAX;
    size_t before = text->length;
    if (detail->value && !script->options.addresses && hex_name(script, hex, text) == 0)
        text->length = before;
    if (text->length == before)
        text_add(text, "%s", small || is_size(script, detail->argument) ? text_size(detail->value, size) : hex);
}

/* One line made from the record, for readers who know the texts. */
static void print_brief(struct script *script, const vmm_detail *detail)
{
    char label[SCRIPT_LABEL];
    struct text text = {0};
    text_add(&text, "%s %s",
             detail->severity == VMM_SEVERITY_ERROR     ? "error"
             : detail->severity == VMM_SEVERITY_WARNING ? "warning"
             : detail->severity == VMM_SEVERITY_HINT    ? "hint"
                                                        : "leak",
             detail->rule ? detail->rule : "without a rule");
    if (detail->argument && detail->argument[0]) {
        text_add(&text, ", %s = ", detail->argument);
        add_value(script, detail, &text);
    }
    if (detail->nearest.kind != VMM_OBJECT_NONE && detail->nearest.kind != VMM_OBJECT_DEVICE)
        text_add(&text, ", nearest %s", script_label(script, &detail->nearest, label));
    text_add(&text, "%s", script->options.brief ? "" : " (explained above)");
    struct text folded = {0};
    fold(&folded, text.data, 6, text_columns_of_lines());
    fputs("    | ", script->options.out);
    print_with_bars(script->options.out, folded.data);
    text_free(&folded);
    text_free(&text);
}

/* A rule is explained once in a script, but every leak is reported, briefly. */
static bool told_before(struct script *script, const vmm_detail *detail)
{
    if (!detail->rule || of_the_end(detail))
        return false;
    for (size_t i = 0; i < script->told_count; i++)
        if (strcmp(script->reported[i], detail->rule) == 0)
            return true;
    script->reported = text_grow(script->reported, (script->told_count + 1) * sizeof *script->reported);
    script->reported[script->told_count++] = detail->rule;
    return false;
}

void script_detail_text(const struct script *script, const vmm_detail *detail, struct text *text)
{
    char raw[4096];
    struct named named = {.count = 0};
    vmm_detail_text(detail, raw, sizeof raw);
    translate(script, raw, text, &named);
    show_named(script, &named, of_the_end(detail), text);
}

void script_print_detail(struct script *script, const vmm_detail *detail)
{
    struct text text = {0};
    if (script->options.brief || told_before(script, detail)) {
        print_brief(script, detail);
        return;
    }
    script_detail_text(script, detail, &text);
    script_colour(script, detail->severity == VMM_SEVERITY_ERROR ? "31" : "33");
    print_folded(script->options.out, detail, text.data ? text.data : "");
    script_plain(script);
    text_free(&text);
}
