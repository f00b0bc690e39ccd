/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of variables with their initial values, of parameters and of registers. */
#include "ptx_parts.h"

/* The part between the space and the name. */
struct declared {
    unsigned type, vector;
    uint32_t align;
    bool managed;
};

enum { ALIGN_MOST = 1 << 20, PARAM_MOST = 32764, SIZE_SHIFT = 40 };

static uint32_t parse_align(struct ptx_parser *parser)
{
    const struct ptx_place place = parser->lexer.token.place;
    uint64_t align = ptx_parse_constant(parser);
    if (!align || (align & (align - 1)) || align > ALIGN_MOST)
        ptx_fail(parser->context, place, "an alignment must be a power of two up to %d", ALIGN_MOST);
    return (uint32_t)align;
}

/* .attribute(.managed) and .attribute(.unified(1, 2)) */
static void parse_attribute(struct ptx_parser *parser, struct declared *d)
{
    ptx_expect_mark(&parser->lexer, '(');
    for (int open = 1; open; ptx_next(&parser->lexer)) {
        if (parser->lexer.token.kind == PTX_T_END)
            ptx_unexpected(&parser->lexer, "')'");
        d->managed = d->managed || ptx_at_dot(&parser->lexer, "managed");
        open += ptx_at_mark(&parser->lexer, '(') - ptx_at_mark(&parser->lexer, ')');
    }
}

/* .ptr, with the space and the alignment of the pointed-to memory. */
static void pass_pointer(struct ptx_parser *parser)
{
    static const char *const spaces[] = {"global", "const", "local", "shared", "generic"};
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        ptx_pass_dot(&parser->lexer, spaces[i]);
    if (ptx_pass_dot(&parser->lexer, "align"))
        parse_align(parser);
}

static struct declared parse_declared(struct ptx_parser *parser, bool is_param)
{
    struct declared d = {0, 1, 0, false};
    struct ptx_lexer *lexer = &parser->lexer;
    for (;; ) {
        unsigned word = lexer->token.kind == PTX_T_DOT ? ptx_word_modifier(lexer->token.text) : PTX_NONE;
        if (ptx_pass_dot(lexer, "align"))
            d.align = parse_align(parser);
        else if (ptx_pass_dot(lexer, "attribute"))
            parse_attribute(parser, &d);
        else if (d.type && is_param && ptx_pass_dot(lexer, "ptr"))
            pass_pointer(parser);
        else if (ptx_pass_dot(lexer, "v2"))
            d.vector = 2;
        else if (ptx_pass_dot(lexer, "v4"))
            d.vector = 4;
        else if (!d.type && ptx_is_type(word)) {
            d.type = word;
            ptx_next(lexer);
        } else
            break;
    }
    if (!d.type)
        ptx_unexpected(lexer, "a type");
    return d;
}

/* ---- initial values ---- */

static void add_initial(struct ptx_parser *parser, struct ptx_variable *v, struct ptx_initial ***last,
                        const struct ptx_expression *e, uint64_t at, struct ptx_place place)
{
    struct ptx_initial *initial = ptx_alloc(parser->context, 1, sizeof *initial);
    initial->at = at;
    initial->size = (uint8_t)ptx_type_size(v->type);
    initial->variable = e->variable;
    initial->function = e->function;
    initial->generic = e->generic;
    if (e->variable || e->function) {
        initial->value = e->value;
        for (uint64_t mask = e->masked ? e->mask : 1; mask && !(mask & 0xff); mask >>= 8)
            initial->shift = (uint8_t)(initial->shift + 8);
        if (!e->masked && initial->size < 4)
            ptx_fail(parser->context, place, "an address does not fit in .%s", ptx_modifier_text(v->type));
    } else {
        initial->value = ptx_constant_of(parser, e, v->type, place);
    }
    **last = initial;
    *last = &initial->next;
}

/* A value, or values in braces: the innermost dimension first. *at: the position of the next one. */
static void parse_values(struct ptx_parser *parser, struct ptx_variable *v, struct ptx_initial ***last, uint64_t *at)
{
    const struct ptx_place place = parser->lexer.token.place;
    if (!ptx_pass_mark(&parser->lexer, '{')) {
        struct ptx_expression e = ptx_parse_expression(parser);
        uint64_t size = ptx_type_size(v->type);
        if (v->size && *at >= v->size)
            ptx_fail(parser->context, place, "%.*s has more initial values than elements", PTX_TEXT(v->name));
        add_initial(parser, v, last, &e, *at, place);
        *at += size;
        return;
    }
    ptx_enter(parser);
    while (!ptx_at_mark(&parser->lexer, '}')) {
        parse_values(parser, v, last, at);
        if (!ptx_pass_mark(&parser->lexer, ','))
            break;
    }
    ptx_leave(parser);
    ptx_expect_mark(&parser->lexer, '}');
}

static void parse_initial(struct ptx_parser *parser, struct ptx_variable *v)
{
    struct ptx_initial **last = &v->initial;
    uint64_t at = 0;
    if (v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST)
        ptx_fail(parser->context, v->place, "only variables of .global and .const have initial values");
    parse_values(parser, v, &last, &at);
    if (!v->size) {
        v->size = at;
        v->unsized = false;
    }
}

/* ---- declarations ---- */

/* [4][8]; a first [] is as long as its values. */
static void parse_dimensions(struct ptx_parser *parser, struct ptx_variable *v)
{
    for (bool first = true; ptx_pass_mark(&parser->lexer, '['); first = false) {
        v->is_array = true;
        if (first && ptx_pass_mark(&parser->lexer, ']')) {
            v->unsized = true;
            continue;
        }
        const struct ptx_place place = parser->lexer.token.place;
        uint64_t count = ptx_parse_constant(parser);
        if (count && v->size > (UINT64_C(1) << SIZE_SHIFT) / count)
            ptx_fail(parser->context, place, "the variable %.*s is larger than 2^%d bytes", PTX_TEXT(v->name), SIZE_SHIFT);
        v->size *= count;
        ptx_expect_mark(&parser->lexer, ']');
    }
    if (v->unsized)
        v->size = 0;
}

static struct ptx_variable *new_variable(struct ptx_parser *parser, const struct declared *d, enum ptx_space space,
                                         struct ptx_text name, struct ptx_place place)
{
    struct ptx_variable *v = ptx_alloc(parser->context, 1, sizeof *v);
    unsigned size = ptx_type_size(d->type) * d->vector;
    if (d->type == PTX_PRED)
        ptx_fail(parser->context, place, "a variable cannot be a predicate");
    *v = (struct ptx_variable){.name = name, .place = place, .space = space, .type = (uint8_t)d->type,
                               .vector = (uint8_t)d->vector, .align = d->align > size ? d->align : size, .size = size,
                               .managed = d->managed, .of = parser->function};
    return v;
}

static bool is_weak(const struct ptx_variable *v)
{
    return v->linking == PTX_LINK_WEAK || v->linking == PTX_LINK_COMMON;
}

/* The last declaration of a name that may be declared repeatedly (an extern, or a weak one of
 * linked modules); NULL: it is new. */
static struct ptx_variable *declared_before(struct ptx_parser *parser, const struct ptx_variable *v)
{
    uint32_t unused;
    struct ptx_symbol *symbol = ptx_symbols_find(&parser->symbols, v->name, &unused);
    if (!symbol || symbol->kind != PTX_SYMBOL_VARIABLE || parser->function || symbol->variable->space != v->space)
        return NULL;
    if (v->linking == PTX_LINK_NONE && symbol->module != parser->symbols.module)
        return NULL;
    struct ptx_variable *before = (struct ptx_variable *)(uintptr_t)symbol->variable;
    const bool one_definition = before->linking == PTX_LINK_EXTERN || v->linking == PTX_LINK_EXTERN;
    const bool first_stays = parser->linked && is_weak(v);
    return one_definition || first_stays || (parser->linked && is_weak(before)) ? before : NULL;
}

static void add_variable(struct ptx_parser *parser, struct ptx_variable *v)
{
    struct ptx_variable *before = declared_before(parser, v);
    if (before) {
        if (before->linking == PTX_LINK_EXTERN || (is_weak(before) && v->linking == PTX_LINK_VISIBLE)) {
            before->linking = v->linking;
            before->size = v->size;
            before->align = v->align;
            before->initial = v->initial;
            before->unsized = v->unsized;
        }
        return;
    }
    const bool own = v->linking == PTX_LINK_NONE && !parser->function;
    (own ? ptx_symbols_add_own : ptx_symbols_add)(&parser->symbols, v->name, v->place, PTX_SYMBOL_VARIABLE)->variable = v;
    if (parser->function) {
        v->in_body = true;
        v->number = parser->function->local_count++;
        *parser->last_local = v;
        parser->last_local = &v->next;
    } else {
        v->number = parser->module->variable_count++;
        *parser->last_variable = v;
        parser->last_variable = &v->next;
    }
}

void ptx_parse_variables(struct ptx_parser *parser, enum ptx_space space, enum ptx_linking linking)
{
    struct declared d = parse_declared(parser, false);
    do {
        const struct ptx_place place = parser->lexer.token.place;
        struct ptx_variable *v = new_variable(parser, &d, space, ptx_parse_name(parser, "a name"), place);
        v->linking = linking;
        parse_dimensions(parser, v);
        if (ptx_pass_mark(&parser->lexer, '='))
            parse_initial(parser, v);
        if (v->unsized && !(linking == PTX_LINK_EXTERN && !parser->function))
            ptx_fail(parser->context, place, "%.*s has no size: write it in the brackets", PTX_TEXT(v->name));
        add_variable(parser, v);
    } while (ptx_pass_mark(&parser->lexer, ','));
    ptx_expect_mark(&parser->lexer, ';');
}

static struct ptx_variable *parse_param(struct ptx_parser *parser, bool named, bool of_entry)
{
    struct ptx_lexer *lexer = &parser->lexer;
    bool in_register = ptx_pass_dot(lexer, "reg");
    if (!in_register && !ptx_pass_dot(lexer, "param"))
        ptx_unexpected(lexer, of_entry ? ".param" : ".param or .reg");
    struct declared d = parse_declared(parser, true);
    const struct ptx_place place = lexer->token.place;
    struct ptx_text name = ptx_parse_name(parser, "a name");
    struct ptx_variable *v = new_variable(parser, &d, PTX_SPACE_PARAM, name, place);
    parse_dimensions(parser, v);
    if (in_register)
        ptx_fail(parser->context, place, "parameters in registers belong to PTX before 2.0; declare %.*s with .param",
                 PTX_TEXT(name));
    if (v->unsized || v->size > PARAM_MOST)
        ptx_fail(parser->context, place, "the parameter %.*s needs a size of at most %d bytes", PTX_TEXT(name), PARAM_MOST);
    if (named && !ptx_text_is(name, "_"))
        ptx_symbols_add(&parser->symbols, name, place, PTX_SYMBOL_VARIABLE)->variable = v;
    return v;
}

struct ptx_variable *ptx_parse_params(struct ptx_parser *parser, uint32_t *count, bool named, bool of_entry)
{
    struct ptx_variable *first = NULL, **last = &first;
    *count = 0;
    ptx_expect_mark(&parser->lexer, '(');
    while (!ptx_at_mark(&parser->lexer, ')')) {
        *last = parse_param(parser, named, of_entry);
        (*last)->number = (*count)++;
        last = &(*last)->next;
        if (!ptx_pass_mark(&parser->lexer, ','))
            break;
    }
    ptx_expect_mark(&parser->lexer, ')');
    return first;
}

/* ---- registers ---- */

uint32_t ptx_add_register(struct ptx_parser *parser, unsigned type)
{
    struct ptx_function *f = parser->function;
    f->registers = ptx_more(parser->context, f->registers, f->register_count, &parser->registers_room, sizeof *f->registers);
    f->registers[f->register_count].type = (uint8_t)type;
    return f->register_count++;
}

enum { REGISTERS_MOST = 1 << 20 };

static void add_registers(struct ptx_parser *parser, const struct declared *d, struct ptx_text name, struct ptx_place place)
{
    uint64_t count = 1;
    bool numbered = ptx_pass_mark(&parser->lexer, '<');
    if (numbered) { /* not an expression, which would consume the closing bracket '>' as an operator */
        if (parser->lexer.token.kind != PTX_T_INTEGER)
            ptx_unexpected(&parser->lexer, "how many registers");
        count = parser->lexer.token.value;
        ptx_next(&parser->lexer);
        ptx_expect_mark(&parser->lexer, '>');
    }
    if (count > REGISTERS_MOST || parser->function->register_count > REGISTERS_MOST || (numbered && d->vector > 1))
        ptx_fail(parser->context, place, "%.*s are more than %d registers, or vectors", PTX_TEXT(name), REGISTERS_MOST);
    struct ptx_symbol *symbol = ptx_symbols_add(&parser->symbols, name, place, numbered         ? PTX_SYMBOL_REGISTERS
                                                                               : d->vector > 1 ? PTX_SYMBOL_VECTOR
                                                                                               : PTX_SYMBOL_REGISTER);
    symbol->number = parser->function->register_count;
    symbol->count = (uint32_t)(d->vector > 1 ? d->vector : count);
    for (uint32_t i = 0; i < symbol->count; i++)
        ptx_add_register(parser, d->type);
}

void ptx_parse_registers(struct ptx_parser *parser)
{
    const struct ptx_place place = parser->lexer.token.place;
    struct declared d = parse_declared(parser, false);
    if (ptx_type_kind(d.type) == 'o' || d.align)
        ptx_fail(parser->context, place, "a register cannot be of .%s", d.align ? "align" : ptx_modifier_text(d.type));
    do {
        const struct ptx_place at = parser->lexer.token.place;
        add_registers(parser, &d, ptx_parse_name(parser, "a name"), at);
    } while (ptx_pass_mark(&parser->lexer, ','));
    ptx_expect_mark(&parser->lexer, ';');
}
