/* SPDX-License-Identifier: Apache-2.0 */
#include "advice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How the advised line is made from the refused one. */
enum kind {
    FIRST,   /* the template, and then the line again */
    INSTEAD, /* the template instead of the line */
    WORD,    /* the line with the template in place of the word that was refused */
    DROP     /* the line without that option */
};

/* In templates: %p address and %s size of the call, %h its handle; %n address and %N size of the object in the way; %H a
 * live handle; %d the current context's device; %g address and %G size of the first gap between mappings in the call's
 * range, %e the first place in its reservation where the range would overlap no mapping; %r, %k, %c, %f unused names for
 * a reservation, a handle, a context and a descriptor; %w the word. A rule that begins with '*' matches every id with
 * this ending. The first match is used. */
static const struct row {
    const char *rule;
    enum kind kind;
    const char *type;
} rows[] = {
    {"VMM-INIT-REQUIRED", FIRST, "init"},
    {"VMM-INIT-FLAGS", INSTEAD, "init"},
    {"VMM-CTX-CURRENT", FIRST, "%c = context dev0"},
    {"VMM-CTX-DESTROYED", FIRST, "%c = context dev0"},
    {"VMM-DEVICE-ID", WORD, "dev0"},
    {"VMM-CREATE-DEVICE-ID", WORD, "dev0"},
    {"VMM-MAP-SIZE-GRANULARITY", WORD, "roundup(%w)"},
    {"VMM-ACCESS-SIZE-GRANULARITY", WORD, "roundup(%w)"},
    {"VMM-CREATE-SIZE-GRANULARITY", WORD, "roundup(%w)"},
    {"VMM-RESERVE-SIZE-GRANULARITY", WORD, "roundup(%w)"},
    {"VMM-MAP-PTR-GRANULARITY", WORD, "roundup(%w)"},
    {"VMM-FREE-SIZE-ZERO", INSTEAD, "free %p"},
    {"*-SIZE-ZERO", WORD, "1gran"},
    {"*-FLAGS", DROP, "flags"},
    {"*-NULL-PTR", DROP, "out"},
    {"*-NULL-HANDLE", DROP, "out"},
    {"*-NULL-PROP", DROP, "prop"},
    {"VMM-RESERVE-ALIGNMENT-POWER", DROP, "align"},
    {"VMM-RESERVE-ALIGNMENT-LIMIT", DROP, "align"},
    {"VMM-RESERVE-HINT-GRANULARITY", DROP, "at"},
    {"VMM-RESERVE-HINT-ALIGNMENT", DROP, "at"},
    {"VMM-RESERVE-HINT-LIMIT", DROP, "at"},
    {"VMM-CREATE-HANDLE-TYPE-WINDOWS", DROP, "handle"},
    {"VMM-CREATE-FD-UNSUPPORTED", DROP, "handle"},
    {"VMM-CREATE-COMPRESSION-TYPE", DROP, "compression"},
    {"VMM-CREATE-RESERVED", DROP, "reserved"},
    {"VMM-CREATE-TYPE", DROP, "type"},
    {"VMM-CREATE-WIN32-META", DROP, "meta"},
    {"VMM-MAP-OFFSET", DROP, "offset"},
    {"VMM-MAP-SIZE-WHOLE", WORD, "%h.size"},
    {"VMM-MAP-OFFSET-RANGE", WORD, "%h.size"},
    {"VMM-MAP-OVERLAP", WORD, "%e"},
    {"VMM-MAP-OVERLAP", FIRST, "unmap %n %N"},
    {"VMM-MAP-NOT-RESERVED", INSTEAD, "%r = reserve %s\nmap %r %s %h"},
    {"VMM-MAP-HANDLE-STALE", INSTEAD, "%k = create %s dev0\nmap %p %s %k"},
    {"VMM-MAP-HANDLE-FORGED", INSTEAD, "%k = create %s dev0\nmap %p %s %k"},
    {"VMM-MAP-HANDLE-ZERO", INSTEAD, "%k = create %s dev0\nmap %p %s %k"},
    {"VMM-FREE-MAPPED", FIRST, "unmap %n %N"},
    {"VMM-FREE-SIZE-MATCH", INSTEAD, "free %n %N"},
    {"VMM-FREE-NOT-START", INSTEAD, "free %n %N"},
    {"VMM-UNMAP-PARTIAL", INSTEAD, "unmap %n %N"},
    {"VMM-ACCESS-NOT-MAPPED", FIRST, "%k = create %G dev0\nmap %g %G %k"},
    {"VMM-ACCESS-PARTIAL", INSTEAD, "access %n %N %d:rw"},
    {"VMM-COPY-NO-WRITE", FIRST, "access %n %N %d:rw"},
    {"VMM-COPY-NO-READ", FIRST, "access %n %N %d:rw"},
    {"VMM-EXPORT-NOT-REQUESTED", INSTEAD, "%k = create %N dev0 handle=fd\n%f = export %k"},
    {"VMM-RELEASE-HANDLE-STALE", WORD, "%H"},
    {"VMM-RELEASE-HANDLE-ZERO", WORD, "%H"},
    {"VMM-PROPERTIES-HANDLE-ZERO", WORD, "%H"},
    {"VMM-EXPORT-HANDLE-STALE", WORD, "%H"},
};

static bool fits(const char *pattern, const char *rule)
{
    size_t length = strlen(rule), tail = strlen(pattern) - 1;
    if (pattern[0] != '*')
        return strcmp(pattern, rule) == 0;
    return length >= tail && strcmp(rule + length - tail, pattern + 1) == 0;
}

/* ---- words of the line */

/* The position of word i in the line, including its key. */
static void extent(const struct script *script, size_t i, const char *line, size_t *from, size_t *to)
{
    const struct word *word = &script->words.word[i];
    size_t length = strlen(line);
    *from = (size_t)word->column - 1 - (word->key ? strlen(word->key) + 1 : 0);
    *to = length;
    if (i + 1 < script->words.count) {
        const struct word *next = word + 1;
        *to = (size_t)next->column - 1 - (next->key ? strlen(next->key) + 1 : 0) - (next->quoted ? 1 : 0);
    } else {
        for (size_t c = *from; c < length && *to == length; c++) /* a comment after it */
            if (line[c] == '#' && c > 0 && (line[c - 1] == ' ' || line[c - 1] == '\t'))
                *to = c;
    }
    while (*to > *from && (line[*to - 1] == ' ' || line[*to - 1] == '\t'))
        --*to;
}

/* The word after the command that the value came from; words->count if there is none. */
static size_t word_of_value(struct script *script, uint64_t value)
{
    struct value_env env = script_env(script);
    struct words_error error;
    const struct words *words = &script->words;
    char device[16];
    size_t i = 0;
    snprintf(device, sizeof device, "dev%d", (int)(int64_t)value);
    while (i < words->count && strcmp(words->word[i].text, script->command->name) != 0)
        i++;
    for (i++; i < words->count; i++) {
        uint64_t got;
        if (!words->word[i].quoted && !words->word[i].key &&
            (strcmp(words->word[i].text, device) == 0 || (value_number(&env, &words->word[i], &got, &error) && got == value)))
            return i;
    }
    return words->count;
}

static void put_line(struct text *out, const char *line, size_t from, const char *with, size_t to)
{
    /* analysers: clang-analyzer-core.NullDereference is wrong: a proposal has a text, be it empty */
    while (!*with && from > 0 && line[from - 1] == ' ') /* dropped words leave no gap */
        from--;
    text_add(out, "%.*s%s%s\n", (int)from, line, with, line + to);
}

/* ---- templates */

/* A name of the script that is not in use: r, r2, r3 ... */
static bool free_name(struct script *script, struct text *out, const char *stem)
{
    char name[SYMBOL_NAME_MAX + 1];
    for (unsigned n = 1; n < 1000; n++) {
        snprintf(name, sizeof name, n > 1 ? "%s%u" : "%s", stem, n);
        const struct symbol *symbol = symbols_find(&script->symbols, name, strlen(name));
        if (!symbol || symbol->ended) {
            text_add(out, "%s", name);
            return true;
        }
    }
    return false;
}

static bool live_handle(const struct script *script, struct text *out)
{
    for (size_t i = 0; i < script->symbols.count; i++) {
        const struct symbol *symbol = &script->symbols.list[i];
        if (symbol->kind == SYMBOL_HANDLE && !symbol->ended) {
            text_add(out, "%s", symbol->name);
            return true;
        }
    }
    return false;
}

static bool address(const struct script *script, struct text *out, uint64_t value)
{
    struct step_names names = {.symbols = &script->symbols, .open = &script->open};
    char *memory = NULL;
    size_t size;
    FILE *file = value ? open_memstream(&memory, &size) : NULL;
    if (!file)
        return false;
    step_print_address(file, value, &names);
    fclose(file);
    text_add(out, "%s", memory);
    free(memory);
    return true;
}

/* The first parameter of that kind. */
static bool parameter(const struct script *script, enum vmm_param_kind kind, uint64_t *value)
{
    size_t count;
    const struct vmm_call *call = &script->step.call.head;
    const struct vmm_param *params = vmm_call_params(call->id, &count);
    for (size_t i = 0; i < count; i++)
        if (params[i].kind == kind) {
            *value = vmm_call_scalar(call, &params[i]);
            return true;
        }
    return false;
}

static bool size(struct text *out, uint64_t value)
{
    char buffer[TEXT_SIZE_ROOM];
    text_add(out, "%s", text_size(value, buffer));
    return value > 0;
}

/* The current context's device, queried from the driver. */
static bool current_device(struct script *script, struct text *out)
{
    struct step step;
    step_begin(&step, VMM_CALL_ctx_get_device);
    bool ok = script_invoke(script, &step) == VMM_SUCCESS;
    text_add(out, "dev%d", ok ? step.out[0].i : 0);
    step_end(&step);
    return ok;
}

/* ---- gaps between mappings */

struct gap {
    uint64_t from, end, size; /* search [from, end) for a gap of this size; 0: of any size */
    uint64_t start, length;   /* the gap that was found; length 0: none yet */
};

static void take_gap(struct gap *gap, uint64_t from, uint64_t end)
{
    if (gap->length || from >= end || end - from < gap->size)
        return;
    gap->start = from;
    gap->length = end - from;
}

/* Mappings come in the order of their addresses. */
static void gap_before(void *user, const vmm_object *object)
{
    struct gap *gap = user;
    if (object->kind != VMM_OBJECT_MAPPING || object->start >= gap->end || object->start + object->size <= gap->from)
        return;
    take_gap(gap, gap->from, object->start);
    gap->from = object->start + object->size;
}

static bool first_gap(const struct script *script, uint64_t from, uint64_t end, uint64_t least, struct gap *gap)
{
    *gap = (struct gap){.from = from, .end = end, .size = least};
    vmm_visit(script->sys, gap_before, gap);
    take_gap(gap, gap->from, gap->end);
    return gap->length > 0;
}

struct around {
    uint64_t address;
    vmm_object reservation;
};

static void note_around(void *user, const vmm_object *object)
{
    struct around *around = user;
    if (object->kind == VMM_OBJECT_RESERVATION && around->address >= object->start && around->address - object->start < object->size)
        around->reservation = *object;
}

/* The reservation around an address; its size is 0 where there is none. */
static vmm_object reservation_around(const struct script *script, uint64_t address)
{
    struct around around = {.address = address};
    vmm_visit(script->sys, note_around, &around);
    return around.reservation;
}

/* Within the call's range, and entirely inside a reservation. */
static bool gap_of_call(const struct script *script, struct gap *gap)
{
    uint64_t from, size;
    if (!parameter(script, VMM_PARAM_ADDRESS, &from) || !parameter(script, VMM_PARAM_SIZE, &size) || size > UINT64_MAX - from ||
        !first_gap(script, from, from + size, 0, gap))
        return false;
    const vmm_object in = reservation_around(script, gap->start);
    return in.size && gap->length <= in.start + in.size - gap->start;
}

/* Elsewhere in the call's reservation, for a range that overlapped a mapping. */
static bool elsewhere(const struct script *script, struct text *out)
{
    struct gap gap;
    uint64_t at, size;
    if (!parameter(script, VMM_PARAM_ADDRESS, &at) || !parameter(script, VMM_PARAM_SIZE, &size))
        return false;
    const vmm_object in = reservation_around(script, at);
    return in.size && first_gap(script, in.start, in.start + in.size, size, &gap) && address(script, out, gap.start);
}

static bool put_name(struct script *script, const vmm_detail *detail, char what, const char *word, struct text *out)
{
    bool none = detail->nearest.kind == VMM_OBJECT_NONE;
    const struct symbol *symbol;
    struct gap gap;
    uint64_t value;
    switch (what) {
    case 'p': return parameter(script, VMM_PARAM_ADDRESS, &value) && address(script, out, value);
    case 's': return parameter(script, VMM_PARAM_SIZE, &value) && size(out, value);
    case 'h':
        symbol = parameter(script, VMM_PARAM_HANDLE, &value) ? symbols_named(&script->symbols, SYMBOL_HANDLE, value) : NULL;
        text_add(out, "%s", symbol ? symbol->name : "");
        return symbol && !symbol->ended;
    case 'n': return !none && address(script, out, detail->nearest.start);
    case 'N': return !none && size(out, detail->nearest.size);
    case 'g': return gap_of_call(script, &gap) && address(script, out, gap.start);
    case 'G': return gap_of_call(script, &gap) && size(out, gap.length);
    case 'e': return elsewhere(script, out);
    case 'H': return live_handle(script, out);
    case 'd': return current_device(script, out);
    case 'r': return free_name(script, out, "r");
    case 'k': return free_name(script, out, "h");
    case 'c': return free_name(script, out, "c");
    case 'f': return free_name(script, out, "f");
    case 'w': text_add(out, "%s", word); return true;
    default: return false;
    }
}

/* False if the template needs something that does not exist. */
static bool fill(struct script *script, const vmm_detail *detail, const char *template, const char *word, struct text *out)
{
    for (; *template; template++) {
        if (*template != '%')
            text_add_bytes(out, template, 1);
        else if (!put_name(script, detail, *++template, word, out))
            return false;
    }
    return true;
}

static bool replace_word(struct script *script, const vmm_detail *detail, const struct row *row, const char *line,
                         struct text *out)
{
    uint64_t value = detail->value;
    if (strcmp(row->type, "%e") == 0) /* the address, regardless of which argument the rule is about */
        parameter(script, VMM_PARAM_ADDRESS, &value);
    size_t from, to, i = word_of_value(script, value);
    struct text with = {0};
    bool ok = i < script->words.count && fill(script, detail, row->type, script->words.word[i].text, &with);
    if (ok) {
        extent(script, i, line, &from, &to);
        put_line(out, line, from, with.data, to);
    }
    text_free(&with);
    return ok;
}

static bool drop_option(struct script *script, const char *key, const char *line, struct text *out)
{
    size_t from, to;
    for (size_t i = 0; i < script->words.count; i++)
        if (script->words.word[i].key && strcmp(script->words.word[i].key, key) == 0) {
            extent(script, i, line, &from, &to);
            put_line(out, line, from, "", to);
            return true;
        }
    return false;
}

static bool apply(struct script *script, const vmm_detail *detail, const struct row *row, const char *line, struct text *out)
{
    if (row->kind == WORD)
        return replace_word(script, detail, row, line, out);
    if (row->kind == DROP)
        return drop_option(script, row->type, line, out);
    bool ok = fill(script, detail, row->type, "", out);
    text_add(out, "\n");
    return ok;
}

struct advice advice_refusal(struct script *script, const vmm_detail *detail, const char *line)
{
    struct advice advice = {{0}, false};
    /* no advice for `call`, which passes anything on */
    bool raw = !script->command || strcmp(script->command->name, "call") == 0;
    for (size_t i = 0; !raw && detail->rule && i < sizeof rows / sizeof rows[0]; i++) {
        if (!fits(rows[i].rule, detail->rule))
            continue;
        if (apply(script, detail, &rows[i], line, &advice.lines)) {
            advice.first = rows[i].kind == FIRST;
            return advice;
        }
        text_free(&advice.lines);
    }
    return advice;
}

void advice_free(struct advice *advice)
{
    text_free(&advice->lines);
}
