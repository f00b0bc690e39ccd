/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_words.h"

#include <string.h>

static const struct {
    const char *text;
    unsigned short bits;
    char kind;
} types[PTX_TYPES] = {
    {"", 0, 0},
#define PTX_TYPE(NAME, text, bits, kind) {text, bits, kind},
#include "ptx_types.def"
};

static const char *const modifiers[] = {
#define PTX_MODIFIER(NAME, text) text,
#include "ptx_modifiers.def"
};

static const char *const opcodes[] = {
#define PTX_OPCODE(NAME, text) text,
#include "ptx_opcodes.def"
};

static const struct {
    const char *text;
    unsigned char bits;
    bool vector;
} specials[] = {
#define PTX_SPECIAL(NAME, text, bits, vector) {text, bits, vector},
#include "ptx_specials.def"
};

/* Most comparisons end at the first letter. */
static bool is_word(const char *word, struct ptx_text text)
{
    return word[0] == text.at[0] && strncmp(word, text.at, text.length) == 0 && !word[text.length];
}

unsigned ptx_word_modifier(struct ptx_text text)
{
    for (unsigned i = 1; i < PTX_TYPES; i++)
        if (is_word(types[i].text, text))
            return i;
    for (unsigned i = PTX_TYPES; i < PTX_MODIFIERS; i++)
        if (is_word(modifiers[i - PTX_TYPES], text))
            return i;
    return PTX_NONE;
}

/* The opcodes are in alphabetical order. */
unsigned ptx_word_opcode(struct ptx_text text)
{
    unsigned low = 0, high = PTX_OPCODES;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        int order = strncmp(text.at, opcodes[middle], text.length);
        if (order == 0 && !opcodes[middle][text.length])
            return middle;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return PTX_OPCODES;
}

unsigned ptx_word_special(struct ptx_text text, unsigned *number)
{
    uint32_t digits = 0;
    *number = 0;
    if (text.at[0] != '%')
        return PTX_SPECIALS;
    for (unsigned i = 0; i < PTX_SPECIALS; i++)
        if (is_word(specials[i].text, text))
            return i;
    while (digits < text.length && text.at[text.length - digits - 1] >= '0' && text.at[text.length - digits - 1] <= '9')
        digits++;
    struct ptx_text stem = {text.at, text.length - digits};
    for (uint32_t i = 0; i < digits && digits < 4; i++)
        *number = *number * 10 + (unsigned)(text.at[stem.length + i] - '0');
    if (!digits || digits > 2)
        return PTX_SPECIALS;
    if (ptx_text_is(stem, "%envreg") && *number < 32)
        return PTX_SR_ENVREG;
    return ptx_text_is(stem, "%pm") && *number < 8 ? PTX_SR_PM : PTX_SPECIALS;
}

const char *ptx_modifier_text(unsigned modifier)
{
    return modifier < PTX_TYPES ? types[modifier].text : modifiers[modifier - PTX_TYPES];
}

const char *ptx_opcode_text(unsigned opcode)
{
    return opcodes[opcode];
}

unsigned ptx_special_bits(unsigned special)
{
    return specials[special].bits;
}

bool ptx_special_is_vector(unsigned special)
{
    return specials[special].vector;
}

unsigned ptx_type_bits(unsigned type)
{
    return types[type].bits;
}

char ptx_type_kind(unsigned type)
{
    return types[type].kind;
}
