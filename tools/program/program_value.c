/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the script's language in C. See program_state.h; values.c reads the same language.
 *
 *     r0+2gran            r0 + 2 * gran
 *     roundup(5MiB)       round_up(5 * MiB, gran)
 *     r0.end-1            (r0 + r0_size) - UINT64_C(1)
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program_state.h"

struct reader {
    struct program *program;
    const char *at;
    struct text *out;
    bool alone; /* a number that stands for itself needs no type */
};

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (is_name(text[length]))
        length++;
    return length;
}

static bool take(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0 || is_name(r->at[length]))
        return false;
    r->at += length;
    return true;
}

/* The granularity is asked for where it is needed first, as the script does. */
static void use_granule(struct program *program, bool host)
{
    static const char *const name[] = {"gran", "hgran"}, *const place[] = {"DEVICE", "HOST"};
    program_use(program, PROGRAM_USES_GRANULARITY);
    if (program->granule[host])
        return;
    program->granule[host] = true;
    struct program_piece *piece = program_piece(program);
    text_add(&piece->code[PROGRAM_VMM], "    %s = granularity(VMM_MEM_LOCATION_TYPE_%s);\n", name[host], place[host]);
    text_add(&piece->code[PROGRAM_DRIVER], "    %s = granularity(CU_MEM_LOCATION_TYPE_%s);\n", name[host], place[host]);
}

static bool read_unit(struct reader *r)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    for (size_t i = 0; i < 4; i++)
        if (take(r, units[i])) {
            text_add(r->out, " * %s", units[i]);
            return true;
        }
    if (take(r, "hgran") || take(r, "gran")) {
        bool host = r->at[-5] == 'h';
        use_granule(r->program, host);
        text_add(r->out, host ? " * hgran" : " * gran");
        return true;
    }
    return take(r, "B") || !is_name(*r->at);
}

static bool read_literal(struct reader *r)
{
    char *end;
    bool hex = r->at[0] == '0' && (r->at[1] == 'x' || r->at[1] == 'X');
    uint64_t value = strtoull(r->at, &end, hex ? 16 : 10);
    r->at = end;
    if (r->at[0] == '<' && r->at[1] == '<') {
        text_add(r->out, "(UINT64_C(%" PRIu64 ") << %lu)", value, strtoul(r->at + 2, &end, 0));
        r->at = end;
        return true;
    }
    bool plain = value <= INT32_MAX && (is_name(*r->at) || r->alone);
    text_add(r->out, plain ? "" : "UINT64_C(");
    text_add(r->out, hex ? "0x%" PRIx64 : "%" PRIu64, value);
    text_add(r->out, plain ? "" : ")");
    return read_unit(r);
}

static bool read_name(struct reader *r)
{
    size_t length = name_length(r->at);
    struct program_variable *v = length ? program_find(r->program, r->at, length) : NULL;
    if (!v || r->at[length] == '@' || v->type == PROGRAM_FABRIC || v->type == PROGRAM_IPC ||
        v->type == PROGRAM_IPC_EVENT)
        return false;
    r->at += length;
    if (*r->at != '.') {
        bool narrow = v->type == PROGRAM_INT || v->type == PROGRAM_FD;
        text_add(r->out, program_is_pointer(v->type) ? "(uint64_t)(uintptr_t)%s" : narrow ? "(uint64_t)%s" : "%s", v->name);
        return true;
    }
    r->at++;
    bool size = take(r, "size"), end = !size && take(r, "end");
    if (size || end) {
        v->size_used = true;
        if (end)
            text_add(r->out, "(%s + %s)", v->name, v->size);
        else
            text_add(r->out, "%s", v->size);
        return true;
    }
    text_add(r->out, "%s", v->total);
    return v->has_total && take(r, "total");
}

static bool read_sum(struct reader *r);

static bool read_roundup(struct reader *r)
{
    r->alone = false;
    program_use(r->program, PROGRAM_USES_ROUND_UP);
    text_add(r->out, "round_up(");
    if (!read_sum(r))
        return false;
    if (*r->at == ',') {
        r->at++;
        text_add(r->out, ", ");
        if (!read_sum(r))
            return false;
    } else {
        use_granule(r->program, false);
        text_add(r->out, ", gran");
    }
    text_add(r->out, ")");
    return *r->at++ == ')';
}

static bool read_term(struct reader *r)
{
    if (*r->at >= '0' && *r->at <= '9')
        return read_literal(r);
    if (strncmp(r->at, "roundup(", 8) == 0) {
        r->at += 8;
        return read_roundup(r);
    }
    if (take(r, "max")) {
        text_add(r->out, "UINT64_MAX");
        return true;
    }
    if (take(r, "null")) {
        text_add(r->out, r->alone ? "0" : "UINT64_C(0)");
        return true;
    }
    return read_name(r);
}

static bool read_sum(struct reader *r)
{
    if (!read_term(r))
        return false;
    while (*r->at == '+' || *r->at == '-') {
        text_add(r->out, " %c ", *r->at++);
        if (!read_term(r))
            return false;
    }
    return true;
}

bool program_expression(struct program *program, const char *text, struct text *out)
{
    struct text made = {0};
    struct reader r = {program, text, &made, text[strcspn(text, "+-<(")] == 0};
    bool ok = read_sum(&r) && *r.at == 0 && made.data;
    if (ok)
        text_add(out, "%s", made.data);
    text_free(&made);
    return ok;
}

void program_quote(struct text *out, const char *text, size_t length)
{
    text_add(out, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            text_add(out, "\\%c", c);
        else if (c >= 0x20 && c < 0x7f && c != '?')
            text_add(out, "%c", c);
        else
            text_add(out, "\\%03o", c);
    }
    text_add(out, "\"");
}

/* byte:VALUE:SIZE and pattern:SEED:SIZE as calls of a helper. */
static bool made_bytes(struct program *program, const struct word *word, struct text *out)
{
    bool pattern = strncmp(word->text, "pattern:", 8) == 0;
    if (word->quoted || (!pattern && strncmp(word->text, "byte:", 5) != 0))
        return false;
    struct text first = {0}, size = {0}, head = {0};
    const char *from = word->text + (pattern ? 8 : 5), *colon = strchr(from, ':');
    text_add_bytes(&head, from, colon ? (size_t)(colon - from) : 0);
    bool ok = colon && program_expression(program, head.data, &first) && program_expression(program, colon + 1, &size);
    if (ok) {
        program_use(program, PROGRAM_USES_HOST | (pattern ? PROGRAM_USES_PATTERN : PROGRAM_USES_FILLED));
        text_add(out, "%s(%s, %s)", pattern ? "pattern" : "filled", first.data, size.data);
    }
    text_free(&first);
    text_free(&size);
    text_free(&head);
    return ok;
}

void program_bytes(struct program *program, const struct word *word, const unsigned char *bytes, uint64_t size, struct text *out)
{
    if (word && made_bytes(program, word, out))
        return;
    if (size == 0 || (word && word->quoted)) {
        program_quote(out, (const char *)bytes, (size_t)size);
        return;
    }
    text_add(out, "(const unsigned char[]){");
    for (uint64_t i = 0; i < size; i++)
        text_add(out, "%s0x%02x", i ? ", " : "", bytes[i]);
    text_add(out, "}");
}

const struct word *program_bytes_word(const struct script *script)
{
    for (size_t i = 1; i < script->words.count; i++) {
        const struct word *word = &script->words.word[i];
        if (!word->key && (word->quoted || strncmp(word->text, "hex:", 4) == 0 || strncmp(word->text, "byte:", 5) == 0 ||
                           strncmp(word->text, "pattern:", 8) == 0))
            return word;
    }
    return NULL;
}
