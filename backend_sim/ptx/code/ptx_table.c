/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_table.h"

#include <string.h>

const struct ptx_row ptx_rows[] = {
#define ROW(opcode, modifiers, operands, handler, data, version, capability) \
    {PTX_OPCODE_##opcode, modifiers, operands, ptx_lower_##handler, data, version, capability},
#include "ptx_table.def"
};
const unsigned ptx_row_count = sizeof ptx_rows / sizeof ptx_rows[0];

const char *ptx_table_set(char name)
{
    switch (name) {
    case 'i': return "u16|u32|u64|s16|s32|s64";
    case 'b': return "b16|b32|b64";
    case 'r': return "rn|rz|rm|rp";
    case 'c': return "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan";
    case 'l': return "and|or|xor";
    case 'k': return "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate";
    case 'h': return "L2::evict_normal|L2::evict_first|L2::evict_last";
    case 'p': return "L2::64B|L2::128B|L2::256B";
    case 's': return "cta|cluster|gpu|sys";
    case 't': return "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64";
    default: return "f16|f16x2|bf16|bf16x2"; /* n */
    }
}

/* Is the modifier in the list, or in the list that its @ names? */
static bool in_list(const char *list, size_t length, const char *text)
{
    size_t size = strlen(text);
    for (const char *at = list, *end = list + length; at < end;) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        size_t part = (size_t)((bar ? bar : end) - at);
        if (*at == '@') {
            const char *set = ptx_table_set(at[1]);
            if (in_list(set, strlen(set), text))
                return true;
        } else if (part == size && memcmp(at, text, size) == 0) {
            return true;
        }
        at += part + 1;
    }
    return false;
}

/* Matches one element with the modifiers from *at on. */
static bool take(const char *element, size_t length, const struct ptx_instruction *ins, unsigned *at)
{
    const char *plus = memchr(element, '+', length);
    if (plus) {
        unsigned first = *at;
        size_t head = (size_t)(plus - element);
        if (take(element, head, ins, at) && take(plus + 1, length - head - 1, ins, at))
            return true;
        *at = first;
        return false;
    }
    if (*at >= ins->modifiers || !in_list(element, length, ptx_modifier_text(ins->modifier[*at])))
        return false;
    ++*at;
    return true;
}

static void types_of(const struct ptx_instruction *ins, unsigned type[4])
{
    unsigned types = 0;
    for (unsigned i = 0; i < ins->modifiers; i++)
        if (ptx_is_type(ins->modifier[i]) && types < 4)
            type[types++] = ins->modifier[i];
    while (types < 4)
        type[types++] = PTX_NONE;
}

bool ptx_table_match(const char *pattern, const struct ptx_instruction *ins, unsigned *taken)
{
    *taken = 0;
    while (*pattern) {
        size_t length = strcspn(pattern, " ");
        bool optional = *pattern == '?';
        if (!take(pattern + optional, length - optional, ins, taken) && !optional)
            return false;
        pattern += length + (pattern[length] == ' ');
    }
    return *taken == ins->modifiers;
}

/* Marks the modifier that the element matches, at any position; for a type, the first remaining one. */
static bool take_anywhere(const char *element, size_t length, const struct ptx_instruction *ins, bool *used)
{
    const char *plus = memchr(element, '+', length);
    if (plus) {
        size_t head = (size_t)(plus - element);
        return take_anywhere(element, head, ins, used) && take_anywhere(plus + 1, length - head - 1, ins, used);
    }
    bool passed = false; /* a type that does not match */
    for (unsigned i = 0; i < ins->modifiers; i++) {
        bool is_type = ptx_is_type(ins->modifier[i]);
        if (used[i])
            continue;
        if (in_list(element, length, ptx_modifier_text(ins->modifier[i])) && !(passed && is_type)) {
            used[i] = true;
            return true;
        }
        passed = passed || is_type;
    }
    return false;
}

/* In any order, as the assembler accepts them. */
static bool match_anywhere(const char *pattern, const struct ptx_instruction *ins)
{
    bool used[PTX_MODIFIERS_MOST] = {false};
    while (*pattern) {
        size_t length = strcspn(pattern, " ");
        bool optional = *pattern == '?', before[PTX_MODIFIERS_MOST];
        memcpy(before, used, sizeof before);
        if (!take_anywhere(pattern + optional, length - optional, ins, used)) {
            if (!optional)
                return false;
            memcpy(used, before, sizeof used);
        }
        pattern += length + (pattern[length] == ' ');
    }
    for (unsigned i = 0; i < ins->modifiers; i++)
        if (!used[i])
            return false;
    return true;
}

const struct ptx_row *ptx_table_find(const struct ptx_instruction *ins, unsigned type[4], unsigned *best)
{
    *best = 0;
    types_of(ins, type);
    for (unsigned i = 0; i < ptx_row_count; i++) {
        unsigned taken;
        if (ptx_rows[i].opcode != ins->opcode)
            continue;
        if (ptx_table_match(ptx_rows[i].modifiers, ins, &taken))
            return &ptx_rows[i];
        *best = taken > *best ? taken : *best;
    }
    for (unsigned i = 0; i < ptx_row_count; i++)
        if (ptx_rows[i].opcode == ins->opcode && match_anywhere(ptx_rows[i].modifiers, ins))
            return &ptx_rows[i];
    return NULL;
}
