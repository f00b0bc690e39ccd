/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and functions: their heads, and the labels of their bodies. */
#include "ptx_parts.h"

/* Up to three numbers. */
static void three(struct ptx_parser *parser, uint32_t number[3])
{
    for (int i = 0; i < 3; i++)
        number[i] = 1;
    int i = 0;
    do {
        const struct ptx_place place = parser->lexer.token.place;
        uint64_t value = ptx_parse_constant(parser);
        if (i == 3 || !value || value > UINT32_MAX)
            ptx_fail(parser->context, place, "expected up to three numbers, each at least 1");
        number[i++] = (uint32_t)value;
    } while (ptx_pass_mark(&parser->lexer, ','));
}

/* Directives with one number, which have no effect here. */
static bool pass_hint(struct ptx_parser *parser)
{
    static const char *const numbered[] = {"minnctapersm", "maxnctapersm", "maxclusterrank", "abi_preserve",
                                           "abi_preserve_control"};
    static const char *const alone[] = {"explicitcluster", "noreturn", "unique", "blocksareclusters"};
    for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++)
        if (ptx_pass_dot(&parser->lexer, numbered[i])) {
            ptx_parse_constant(parser);
            return true;
        }
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
        if (ptx_pass_dot(&parser->lexer, alone[i]))
            return true;
    return false;
}

/* Directives between the parameters and the body. */
static void parse_directives(struct ptx_parser *parser, struct ptx_function *f)
{
    struct ptx_lexer *lexer = &parser->lexer;
    for (;;)
        if (ptx_pass_dot(lexer, "maxntid"))
            three(parser, f->max_threads);
        else if (ptx_pass_dot(lexer, "reqntid"))
            three(parser, f->required_threads);
        else if (ptx_pass_dot(lexer, "reqnctapercluster"))
            three(parser, f->cluster);
        else if (ptx_pass_dot(lexer, "maxnreg"))
            f->max_registers = (uint32_t)ptx_parse_constant(parser);
        else if (ptx_pass_dot(lexer, "pragma"))
            ptx_pass_pragma(parser);
        else if (!pass_hint(parser))
            return;
}

/* Resolves the numbers of labels: those that turned out to be the same label get the same position. */
static void settle_labels(struct ptx_parser *parser)
{
    struct ptx_function *f = parser->function;
    const struct ptx_symbols *symbols = &parser->symbols;
    uint32_t *labels = ptx_alloc(parser->context, symbols->labels, sizeof *labels);
    for (uint32_t i = 0; i < symbols->labels; i++) {
        uint32_t is = i;
        while (symbols->label_is[is] != is)
            is = symbols->label_is[is];
        labels[i] = f->labels[is];
    }
    f->labels = labels;
    f->label_count = symbols->labels;
}

static void parse_code(struct ptx_parser *parser, struct ptx_function *f)
{
    parser->registers_room = parser->instructions_room = parser->labels_room = 0;
    parser->source = 0;
    parser->symbols.labels = parser->symbols.label_room = 0;
    f->has_body = true;
    parser->function = f;
    parser->last_local = &f->locals;
    ptx_parse_body(parser);
    ptx_symbols_leave(&parser->symbols, true);
    settle_labels(parser);
    parser->function = NULL;
    ptx_expect_mark(&parser->lexer, '}');
}

/* The head of a function, before it is known whether a body follows. */
struct head {
    struct ptx_variable *results, *params;
    uint32_t result_count, param_count;
    enum ptx_linking linking;
    struct ptx_place place;
};

static struct ptx_function *new_function(struct ptx_parser *parser, struct ptx_text name, struct ptx_place place, bool is_entry)
{
    struct ptx_function *f = ptx_alloc(parser->context, 1, sizeof *f);
    f->name = name;
    f->place = place;
    f->is_entry = is_entry;
    f->number = parser->module->function_count++;
    *parser->last_function = f;
    parser->last_function = &f->next;
    return f;
}

/* A function may be declared before it is defined. */
static struct ptx_function *function_named(struct ptx_parser *parser, struct ptx_text name, const struct head *head, bool is_entry)
{
    uint32_t unused;
    struct ptx_symbols *symbols = &parser->symbols;
    struct ptx_symbol *symbol = ptx_symbols_find(symbols, name, &unused);
    const bool own = head->linking == PTX_LINK_NONE;
    if (symbol && symbol->kind == PTX_SYMBOL_FUNCTION && symbol->function->is_entry == is_entry && (!own || symbol->module == symbols->module))
        return symbol->function;
    struct ptx_function *f = new_function(parser, name, head->place, is_entry);
    (own ? ptx_symbols_add_own : ptx_symbols_add)(symbols, name, head->place, PTX_SYMBOL_FUNCTION)->function = f;
    return f;
}

/* The parameters of a declaration and of the definition must have the same sizes. */
static void check_same(struct ptx_parser *parser, const struct ptx_variable *a, const struct ptx_variable *b, struct ptx_place place)
{
    for (; a && b; a = a->next, b = b->next)
        if (a->size != b->size)
            break;
    if (a || b)
        ptx_fail(parser->context, place, "the parameters differ from those of the function's declaration");
}

static void check_head(struct ptx_parser *parser, const struct ptx_function *f, const struct head *head)
{
    if (!f->params && !f->results && !f->has_body)
        return;
    check_same(parser, f->params, head->params, head->place);
    check_same(parser, f->results, head->results, head->place);
}

/* A declaration after the body has no effect: the body has its own parameters. */
static void take_head(struct ptx_function *f, const struct head *head)
{
    if (f->has_body)
        return;
    f->linking = f->linking == PTX_LINK_NONE || f->linking == PTX_LINK_EXTERN ? head->linking : f->linking;
    f->params = head->params;
    f->results = head->results;
    f->param_count = head->param_count;
    f->result_count = head->result_count;
    for (struct ptx_variable *v = head->params; v; v = v->next)
        v->of = f;
    for (struct ptx_variable *v = head->results; v; v = v->next)
        v->of = f;
}

static void drop_body(struct ptx_function *f)
{
    f->has_body = false;
    f->linking = PTX_LINK_NONE;
    f->locals = NULL;
    f->registers = NULL;
    f->instructions = NULL;
    f->labels = NULL;
    f->local_count = f->register_count = f->instruction_count = f->label_count = 0;
}

/* A second body of a function, when modules are linked: returns the function that gets it. */
static struct ptx_function *defined_again(struct ptx_parser *parser, struct ptx_function *f, const struct head *head)
{
    if (parser->linked && head->linking == PTX_LINK_WEAK)
        return new_function(parser, f->name, head->place, f->is_entry); /* which nothing names */
    if (!parser->linked || f->linking != PTX_LINK_WEAK)
        ptx_fail(parser->context, head->place, "%.*s was defined before", PTX_TEXT(f->name));
    drop_body(f);
    return f;
}

static void parse_attribute(struct ptx_parser *parser)
{
    if (!ptx_pass_dot(&parser->lexer, "attribute"))
        return;
    ptx_expect_mark(&parser->lexer, '(');
    for (int open = 1; open; ptx_next(&parser->lexer)) {
        if (parser->lexer.token.kind == PTX_T_END)
            ptx_unexpected(&parser->lexer, "')'");
        open += ptx_at_mark(&parser->lexer, '(') - ptx_at_mark(&parser->lexer, ')');
    }
}

void ptx_parse_function(struct ptx_parser *parser, bool is_entry, enum ptx_linking linking)
{
    struct ptx_lexer *lexer = &parser->lexer;
    struct head head = {.linking = linking};
    parse_attribute(parser);
    ptx_symbols_enter(&parser->symbols, lexer->token.place);
    if (!is_entry && ptx_at_mark(lexer, '('))
        head.results = ptx_parse_params(parser, &head.result_count, true, false);
    head.place = lexer->token.place;
    struct ptx_text name = ptx_parse_name(parser, is_entry ? "a kernel's name" : "a function's name");
    if (ptx_at_mark(lexer, '('))
        head.params = ptx_parse_params(parser, &head.param_count, true, is_entry);
    uint32_t depth = parser->symbols.depth;
    parser->symbols.depth = 0; /* the function's own name belongs to the module */
    struct ptx_function *f = function_named(parser, name, &head, is_entry);
    parser->symbols.depth = depth;
    check_head(parser, f, &head);
    take_head(f, &head);
    parse_directives(parser, f);
    if (ptx_pass_mark(lexer, ';')) {
        ptx_symbols_leave(&parser->symbols, false);
        return;
    }
    if (f->has_body) {
        f = defined_again(parser, f, &head);
        take_head(f, &head);
    }
    ptx_expect_mark(lexer, '{');
    parse_code(parser, f);
}

/* .alias NAME, OTHER; */
void ptx_parse_alias(struct ptx_parser *parser)
{
    const struct ptx_place place = parser->lexer.token.place;
    uint32_t unused;
    struct ptx_text name = ptx_parse_name(parser, "a function's name");
    ptx_expect_mark(&parser->lexer, ',');
    struct ptx_text other = ptx_parse_name(parser, "a function's name");
    ptx_expect_mark(&parser->lexer, ';');
    struct ptx_symbol *a = ptx_symbols_find(&parser->symbols, name, &unused), *b = ptx_symbols_find(&parser->symbols, other, &unused);
    if (!a || !b || a->kind != PTX_SYMBOL_FUNCTION || b->kind != PTX_SYMBOL_FUNCTION || b->function->is_entry ||
        b->function->alias || a->function == b->function)
        ptx_fail(parser->context, place, "an alias must be a declared function, and its target a function that is neither a "
                                         "kernel nor an alias");
    a->function->alias = b->function;
}
