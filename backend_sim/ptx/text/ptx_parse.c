/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ptx_parts.h"

struct ptx_text ptx_parse_name(struct ptx_parser *parser, const char *what)
{
    struct ptx_text name = parser->lexer.token.text;
    if (parser->lexer.token.kind != PTX_T_WORD)
        ptx_unexpected(&parser->lexer, what);
    ptx_next(&parser->lexer);
    return name;
}

/* "8.0" as 80: the digits before the point and the one after it. */
static void parse_version(struct ptx_parser *parser)
{
    const struct ptx_token token = parser->lexer.token;
    uint32_t major = 0, i = 0;
    for (; i < token.text.length && token.text.at[i] >= '0' && token.text.at[i] <= '9' && major < 1000; i++)
        major = major * 10 + (uint32_t)(token.text.at[i] - '0');
    if (token.kind != PTX_T_FLOAT || i + 2 != token.text.length || token.text.at[i] != '.')
        ptx_unexpected(&parser->lexer, "a version such as 8.0");
    const uint32_t version = major * 10 + (uint32_t)(token.text.at[i + 1] - '0'), newest = parser->context->newest;
    if (newest && version > newest) {
        parser->context->error->too_new = true;
        ptx_fail(parser->context, token.place, "the PTX has version %u.%u, but the newest supported version is %u.%u",
                 version / 10,
                 version % 10, newest / 10, newest % 10);
    }
    if (version > parser->module->version)
        parser->module->version = version;
    ptx_next(&parser->lexer);
}

/* sm_90, sm_90a: the digits, and whether a letter follows. False: it is not such a word. */
static bool parse_capability(struct ptx_module *module, struct ptx_text word)
{
    static const char prefix[] = "sm_";
    uint32_t i = sizeof prefix - 1, capability = 0;
    if (word.length < i || memcmp(word.at, prefix, i) != 0)
        return false;
    for (; i < word.length && word.at[i] >= '0' && word.at[i] <= '9' && capability < 1000; i++)
        capability = capability * 10 + (uint32_t)(word.at[i] - '0');
    const bool specific = i + 1 == word.length;
    module->capability = capability > module->capability ? capability : module->capability; /* the highest of linked modules */
    module->specific = module->specific || specific;
    return capability >= 10 && (i == word.length || specific);
}

/* A later module of a linked text. */
static void begin_next(struct ptx_parser *parser)
{
    parse_version(parser);
    if (!ptx_at_dot(&parser->lexer, "target"))
        ptx_unexpected(&parser->lexer, ".target");
    ptx_symbols_end_module(&parser->symbols);
    parser->first_file = parser->module->file_count;
}

/* A device, and words after commas that have no effect here. */
static void parse_target(struct ptx_parser *parser)
{
    static const char *const words[] = {"debug", "texmode_unified", "texmode_independent", "map_f64_to_f32"};
    do {
        const struct ptx_place place = parser->lexer.token.place;
        struct ptx_text word = ptx_parse_name(parser, "a target such as sm_90");
        bool known = false;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            known = known || ptx_text_is(word, words[i]);
        if (!known && !parse_capability(parser->module, word))
            ptx_fail(parser->context, place, "expected a target such as sm_90");
    } while (ptx_pass_mark(&parser->lexer, ','));
}

static void parse_address_size(struct ptx_parser *parser)
{
    const struct ptx_place place = parser->lexer.token.place;
    parser->module->address_bits = (uint32_t)ptx_parse_constant(parser);
    if (parser->module->address_bits != 64)
        ptx_fail(parser->context, place, "only PTX with 64-bit addresses is supported");
}

static enum ptx_linking parse_linking(struct ptx_parser *parser)
{
    static const char *const names[] = {[PTX_LINK_EXTERN] = "extern", [PTX_LINK_VISIBLE] = "visible", [PTX_LINK_WEAK] = "weak",
                                        [PTX_LINK_COMMON] = "common"};
    for (int i = PTX_LINK_EXTERN; i <= PTX_LINK_COMMON; i++)
        if (ptx_pass_dot(&parser->lexer, names[i]))
            return (enum ptx_linking)i;
    return PTX_LINK_NONE;
}

/* .const[2], of PTX before 2.2 */
static void refuse_bank(struct ptx_parser *parser)
{
    if (ptx_at_mark(&parser->lexer, '['))
        ptx_fail(parser->context, parser->lexer.token.place, "banks of constant memory belong to PTX before 2.2");
}

static void parse_linked(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    enum ptx_linking linking = parse_linking(parser);
    if (ptx_pass_dot(lexer, "entry"))
        ptx_parse_function(parser, true, linking);
    else if (ptx_pass_dot(lexer, "func"))
        ptx_parse_function(parser, false, linking);
    else if (ptx_pass_dot(lexer, "global"))
        ptx_parse_variables(parser, PTX_SPACE_GLOBAL, linking);
    else if (ptx_pass_dot(lexer, "shared"))
        ptx_parse_variables(parser, PTX_SPACE_SHARED, linking);
    else if (ptx_pass_dot(lexer, "const")) {
        refuse_bank(parser);
        ptx_parse_variables(parser, PTX_SPACE_CONST, linking);
    } else
        ptx_unexpected(lexer, "a kernel, a function, a variable or a directive");
}

static void parse_statement(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    if (ptx_pass_dot(lexer, "target"))
        parse_target(parser);
    else if (ptx_pass_dot(lexer, "address_size"))
        parse_address_size(parser);
    else if (ptx_pass_dot(lexer, "file"))
        ptx_parse_file(parser);
    else if (ptx_pass_dot(lexer, "section"))
        ptx_pass_section(parser);
    else if (ptx_pass_dot(lexer, "pragma"))
        ptx_pass_pragma(parser);
    else if (parser->linked && ptx_pass_dot(lexer, "version"))
        begin_next(parser);
    else if (ptx_pass_dot(lexer, "alias"))
        ptx_parse_alias(parser);
    else if (ptx_pass_dot(lexer, "loc"))
        ptx_parse_loc(parser);
    else if (!ptx_pass_mark(lexer, ';'))
        parse_linked(parser);
}

static void parse_module(struct ptx_parser *parser, struct ptx_text text)
{
    struct ptx_lexer *lexer = &parser->lexer;
    parser->linked = text.length >= sizeof PTX_LINKED - 1 && memcmp(text.at, PTX_LINKED, sizeof PTX_LINKED - 1) == 0;
    ptx_lexer_open(lexer, parser->context, text);
    if (!ptx_pass_dot(lexer, "version"))
        ptx_unexpected(lexer, ".version at the beginning of the PTX");
    parse_version(parser);
    if (!ptx_at_dot(lexer, "target"))
        ptx_unexpected(lexer, ".target");
    while (lexer->token.kind != PTX_T_END)
        parse_statement(parser);
}

struct ptx_module *ptx_parse(struct ptx_context *context, struct ptx_text text)
{
    struct ptx_parser *volatile parser = NULL;
    if (setjmp(context->fail))
        return NULL;
    parser = ptx_alloc(context, 1, sizeof *parser);
    struct ptx_module *module = ptx_alloc(context, 1, sizeof *module);
    parser->context = context;
    ptx_symbols_open(&parser->symbols, context);
    parser->module = module;
    parser->last_variable = &module->variables;
    parser->last_function = &module->functions;
    parser->sources_room = 0;
    module->address_bits = 32;
    module->sources = ptx_more(context, NULL, 0, &parser->sources_room, sizeof *module->sources);
    module->source_count = 1;
    parse_module(parser, text);
    return module;
}
