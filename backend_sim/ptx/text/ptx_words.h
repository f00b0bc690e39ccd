/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_words.h - the words of PTX as numbers: types, modifiers, opcodes and special registers, from tables.
 *
 *     add.sat.s32 %r1, %tid.x, 5        opcode PTX_ADD, modifiers PTX_MOD_SAT and the type PTX_S32, special PTX_SR_TID part x
 */
#ifndef PTX_WORDS_H
#define PTX_WORDS_H

#include "ptx_context.h"

/* Types and other modifiers share one numbering, because both can follow an opcode. */
enum ptx_modifier {
    PTX_NONE,
#define PTX_TYPE(NAME, text, bits, kind) PTX_##NAME,
#include "ptx_types.def"
    PTX_TYPES,
    PTX_MOD_BEFORE = PTX_TYPES - 1,
#define PTX_MODIFIER(NAME, text) PTX_MOD_##NAME,
#include "ptx_modifiers.def"
    PTX_MODIFIERS
};

enum ptx_opcode {
#define PTX_OPCODE(NAME, text) PTX_OPCODE_##NAME,
#include "ptx_opcodes.def"
    PTX_OPCODES
};

enum ptx_special {
#define PTX_SPECIAL(NAME, text, bits, vector) PTX_SR_##NAME,
#include "ptx_specials.def"
    PTX_SPECIALS
};

/* Look up a type, modifier, opcode or special register; PTX_NONE, PTX_OPCODES and PTX_SPECIALS mean
 * that there is none. *number: the 3 of %envreg3. */
unsigned ptx_word_modifier(struct ptx_text text);
unsigned ptx_word_opcode(struct ptx_text text);
unsigned ptx_word_special(struct ptx_text text, unsigned *number);

const char *ptx_modifier_text(unsigned modifier);
const char *ptx_opcode_text(unsigned opcode);
unsigned ptx_special_bits(unsigned special);
bool ptx_special_is_vector(unsigned special);

static inline bool ptx_is_type(unsigned modifier)
{
    return modifier > PTX_NONE && modifier < PTX_TYPES;
}

unsigned ptx_type_bits(unsigned type);
char ptx_type_kind(unsigned type);

/* The size in bytes of a variable of the type; variables cannot be predicates. */
static inline unsigned ptx_type_size(unsigned type)
{
    return ptx_type_bits(type) / 8;
}

#endif
