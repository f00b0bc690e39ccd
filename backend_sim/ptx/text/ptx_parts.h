/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_parts.h - what the parts of the parser share. Each ptx_parse_X begins at the token where an X begins, ends behind it, and
 * does not return on an error. */
#ifndef PTX_PARTS_H
#define PTX_PARTS_H

#include "ptx_lexer.h"
#include "ptx_parse.h"
#include "ptx_symbols.h"

struct ptx_parser {
    struct ptx_lexer lexer;
    struct ptx_context *context;
    struct ptx_symbols symbols;
    struct ptx_module *module;
    struct ptx_variable **last_variable, **last_local;
    struct ptx_function **last_function;
    struct ptx_function *function; /* whose body is read; NULL: none */
    uint32_t registers_room, instructions_room, labels_room, sources_room, files_room;
    uint32_t source; /* of the instructions that follow */
    bool linked;     /* the text has several modules */
    uint32_t first_file; /* what number 0 of the current one's files is */
    uint32_t nesting; /* of operands, values and expressions in each other */
};

enum { PTX_NESTING_MOST = 100 };

/* One deeper, where a text could go as deep as it is long. */
static inline void ptx_enter(struct ptx_parser *parser)
{
    if (++parser->nesting > PTX_NESTING_MOST)
        ptx_fail(parser->context, parser->lexer.token.place, "more than %d brackets or operators are open at this point",
                 PTX_NESTING_MOST);
}

static inline void ptx_leave(struct ptx_parser *parser)
{
    parser->nesting--;
}

/* What an expression is: a number, or the address of something that is known when the module is loaded. */
struct ptx_expression {
    bool is_unsigned, is_float, single, generic, masked;
    uint64_t value; /* the number, or what is added to the address */
    uint64_t mask;  /* of mask(): 0xff00(name) */
    const struct ptx_variable *variable;
    const struct ptx_function *function;
};

struct ptx_expression ptx_parse_expression(struct ptx_parser *parser);
/* A constant that is a whole number. */
uint64_t ptx_parse_constant(struct ptx_parser *parser);
/* The bits of the number as a constant of that type. */
uint64_t ptx_constant_of(struct ptx_parser *parser, const struct ptx_expression *e, unsigned type, struct ptx_place place);

/* Behind the word that names the space: everything up to the semicolon, one variable or several. */
void ptx_parse_variables(struct ptx_parser *parser, enum ptx_space space, enum ptx_linking linking);
/* Parameters in parentheses: *count of them, in a list. named: they are names in the current scope. */
struct ptx_variable *ptx_parse_params(struct ptx_parser *parser, uint32_t *count, bool named, bool of_entry);
/* ".reg" and what follows. */
void ptx_parse_registers(struct ptx_parser *parser);
/* A register for the parser's function. */
uint32_t ptx_add_register(struct ptx_parser *parser, unsigned type);

/* Behind ".entry" or ".func". */
void ptx_parse_function(struct ptx_parser *parser, bool is_entry, enum ptx_linking linking);
void ptx_parse_alias(struct ptx_parser *parser);

/* Between the braces of a body, or of a block in it. */
void ptx_parse_body(struct ptx_parser *parser);
void ptx_parse_instruction(struct ptx_parser *parser);
struct ptx_operand ptx_parse_operand(struct ptx_parser *parser);
/* Directives of a body: .loc, .pragma, .branchtargets ... False: it is none of these. */
bool ptx_parse_loc(struct ptx_parser *parser);
void ptx_parse_file(struct ptx_parser *parser);
void ptx_parse_targets(struct ptx_parser *parser, struct ptx_text name, struct ptx_place place);
/* Passes a section of debug data, or a pragma. */
void ptx_pass_section(struct ptx_parser *parser);
void ptx_pass_pragma(struct ptx_parser *parser);

/* A word, which ends up behind it. */
struct ptx_text ptx_parse_name(struct ptx_parser *parser, const char *what);

#endif
