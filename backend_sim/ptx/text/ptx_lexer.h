/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_lexer.h - the tokens of a PTX text, with one token of lookahead.
 *
 *     @%p1 add.s32 %r1, %r2, 0f3F800000;     @  word %p1  word add  dot s32  word %r1  ,  word %r2  ,  float 1.0  ;
 *
 * A dot and the following letters are one token: a modifier, a type, a directive or a part of a
 * vector; its text excludes the dot, and may contain double colons ("L2::128B"). The text may
 * contain NULs: the first one ends it.
 */
#ifndef PTX_LEXER_H
#define PTX_LEXER_H

#include "ptx_context.h"

enum ptx_token_kind {
    PTX_T_END,
    PTX_T_WORD,    /* an identifier */
    PTX_T_DOT,     /* .letters */
    PTX_T_INTEGER, /* its value, and whether it is unsigned */
    PTX_T_FLOAT,   /* the bits of a double; single: of a float */
    PTX_T_STRING,  /* without the quotes */
    PTX_T_MARK     /* an operator or a bracket, of one or two characters: value */
};

#define PTX_MARK2(a, b) ((uint64_t)(a) << 8 | (uint64_t)(b))

struct ptx_token {
    enum ptx_token_kind kind;
    struct ptx_place place;
    struct ptx_text text;
    uint64_t value;
    bool is_unsigned, single;
};

struct ptx_lexer {
    struct ptx_context *context;
    const char *at, *end, *line_start;
    uint32_t line;
    struct ptx_token token; /* the current one */
};

/* Opens the lexer at the first token. */
void ptx_lexer_open(struct ptx_lexer *lexer, struct ptx_context *context, struct ptx_text text);
/* Advances to the next token. */
void ptx_next(struct ptx_lexer *lexer);

/* The value of an integer or float that begins at the lexer's position. */
void ptx_number(struct ptx_lexer *lexer, struct ptx_token *token);

static inline bool ptx_at_mark(const struct ptx_lexer *lexer, uint64_t mark)
{
    return lexer->token.kind == PTX_T_MARK && lexer->token.value == mark;
}

bool ptx_at_dot(const struct ptx_lexer *lexer, const char *text);
bool ptx_at_word(const struct ptx_lexer *lexer, const char *text);

/* Consumes the mark or dot if it is the current token. */
bool ptx_pass_mark(struct ptx_lexer *lexer, uint64_t mark);
bool ptx_pass_dot(struct ptx_lexer *lexer, const char *text);

/* Consumes it, or fails. */
void ptx_expect_mark(struct ptx_lexer *lexer, uint64_t mark);

/* Fails at the current token: "expected WHAT, found ...". */
_Noreturn void ptx_unexpected(const struct ptx_lexer *lexer, const char *what);

#endif
