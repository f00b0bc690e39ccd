/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_parts.h - declarations shared by the parts of the parser. Each ptx_parse_X starts at the
 * first token of an X, ends after the X, and does not return on an error. */
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
    struct ptx_function *function; /* the function whose body is being read; NULL: none */
    uint32_t registers_room, instructions_room, labels_room, sources_room, files_room;
    uint32_t source; /* of the instructions that follow */
    bool linked;     /* the text has several modules */
    uint32_t first_file; /* offset of the current module's file numbers */
    uint32_t nesting; /* nesting depth of operands, values and expressions */
};

enum { PTX_NESTING_MOST = 100 };

/* Enters a nesting level; limits the depth, which could otherwise be as large as the text. */
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

/* The value of an expression: a number, or an address that is known when the module is loaded. */
struct ptx_expression {
    bool is_unsigned, is_float, single, generic, masked;
    uint64_t value; /* the number, or the offset from the address */
    uint64_t mask;  /* of mask(): 0xff00(name) */
    const struct ptx_variable *variable;
    const struct ptx_function *function;
};

struct ptx_expression ptx_parse_expression(struct ptx_parser *parser);
/* A constant integer. */
uint64_t ptx_parse_constant(struct ptx_parser *parser);
/* The bits of the number as a constant of that type. */
uint64_t ptx_constant_of(struct ptx_parser *parser, const struct ptx_expression *e, unsigned type, struct ptx_place place);

/* After the word that names the space: everything up to the semicolon, one variable or several. */
void ptx_parse_variables(struct ptx_parser *parser, enum ptx_space space, enum ptx_linking linking);
/* Parameters in parentheses: *count of them, in a list. named: they are declared in the current scope. */
struct ptx_variable *ptx_parse_params(struct ptx_parser *parser, uint32_t *count, bool named, bool of_entry);
/* ".reg" and what follows. */
void ptx_parse_registers(struct ptx_parser *parser);
/* A register for the parser's function. */
uint32_t ptx_add_register(struct ptx_parser *parser, unsigned type);

/* After ".entry" or ".func". */
void ptx_parse_function(struct ptx_parser *parser, bool is_entry, enum ptx_linking linking);
void ptx_parse_alias(struct ptx_parser *parser);

/* Between the braces of a body, or of a block in it. */
void ptx_parse_body(struct ptx_parser *parser);
void ptx_parse_instruction(struct ptx_parser *parser);
struct ptx_operand ptx_parse_operand(struct ptx_parser *parser);
/* Directives of a body: .loc, .pragma, .branchtargets ... False: it is not one of these. */
bool ptx_parse_loc(struct ptx_parser *parser);
void ptx_parse_file(struct ptx_parser *parser);
void ptx_parse_targets(struct ptx_parser *parser, struct ptx_text name, struct ptx_place place);
/* Skips a section of debug data, or a pragma. */
void ptx_pass_section(struct ptx_parser *parser);
void ptx_pass_pragma(struct ptx_parser *parser);

/* Reads a word and advances past it. */
struct ptx_text ptx_parse_name(struct ptx_parser *parser, const char *what);

#endif
