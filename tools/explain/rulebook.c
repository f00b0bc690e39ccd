/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rules as a book: text, Markdown, tab-separated or a page. See explain.h. */
#include <string.h>

#include "explain.h"
#include "columns.h"
#include "rule_words.h"
#include "text.h"

static void print_safe_cell(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(*text == '\t' || *text == '\n' ? ' ' : *text, out);
}

static void print_tsv(FILE *out, const vmm_rule *r)
{
    const char *cells[] = {r->id, r->function, r->argument, vmm_result_name(r->result), explain_class(r->rule_class),
                           explain_origin(r->origin), explain_behaviour(r->driver_580), r->needs, r->documents,
                           r->observed, r->message, r->explanation, r->way_out};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        if (i)
            fputc('\t', out);
        print_safe_cell(out, cells[i]);
    }
    fputc('\n', out);
}

/* Escapes characters that are special to Markdown. */
static void print_markdown(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("*_<>`|[]\\", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void markdown_field(FILE *out, const char *name, const char *text)
{
    if (!text[0])
        return;
    fprintf(out, "- **%s:** ", name);
    print_markdown(out, text);
    fputs("\n", out);
}

static void markdown_recorded(FILE *out, const char *machine, const char *sentence, bool first)
{
    (void)first;
    fprintf(out, "- **Recorded, %s:** ", machine);
    print_markdown(out, sentence);
    fputs("\n", out);
}

static void markdown_example(FILE *out, const char *rule)
{
    struct rule_example example;
    struct text text = {0}, machine = {0};
    if (!rule_example_find(rule, &example))
        return;
    if (rule_example_part(&example, EXAMPLE_REASON, &text)) {
        text.data[--text.length] = 0;
        fputs("- **Example:** no script can break it: ", out);
        print_markdown(out, text.data);
        fputs("\n", out);
    } else if (rule_example_part(&example, EXAMPLE_BOTH, &text)) {
        if (rule_example_part(&example, EXAMPLE_MACHINE, &machine))
            fprintf(out, "\nIn `my.profile`:\n\n```text\n%s```\n", machine.data);
        fprintf(out, "\n```diff\n%s```\n", text.data);
    }
    text_free(&text);
    text_free(&machine);
}

/* What documents say, what was measured and what is this project's choice are on separate lines. */
static void markdown_rule(FILE *out, const vmm_rule *r)
{
    struct text result = {0};
    rule_words_result(r, &result);
    fprintf(out, "### %s\n\n", r->id);
    if (r->message[0]) {
        print_markdown(out, r->message);
        fputs("\n\n", out);
    }
    markdown_field(out, "Calls", rule_words_calls(r->function));
    markdown_field(out, "Result", result.data);
    if (r->argument[0])
        fprintf(out, "- **Argument:** `%s`\n", r->argument);
    fprintf(out, "- **Kind:** %s rule\n", explain_class(r->rule_class));
    markdown_field(out, "Matters where", r->needs);
    fputs("- **Documents:** ", out);
    print_markdown(out, r->documents[0] ? r->documents : "silent.");
    fputs("\n- **Observed:** ", out);
    print_markdown(out, r->observed[0] ? r->observed : "not measured.");
    fprintf(out, " Driver 580.159.04: %s.\n", explain_behaviour(r->driver_580));
    if (r->origin == VMM_ORIGIN_OURS)
        fputs("- **Ours:** neither documents nor a recording ask for this; it is a choice of this project.\n", out);
    rule_words_each_recorded(out, r->id, markdown_recorded);
    markdown_field(out, "Why", r->explanation);
    markdown_field(out, "Fix", r->way_out);
    markdown_example(out, r->id);
    fputs("\n", out);
    text_free(&result);
}

static void print_text(FILE *out, const vmm_rule *r)
{
    fprintf(out, "  %-38s %-10s %-10s %-9s ", r->id, explain_class(r->rule_class), explain_origin(r->origin),
            explain_behaviour(r->driver_580));
    /* On a narrow terminal the message gets its own lines. */
    if (text_columns() >= COLUMNS_USUAL) {
        text_wrap(out, r->message, 73, 42, text_columns());
    } else {
        fputs("\n      ", out);
        text_wrap(out, r->message, 6, 6, text_columns());
    }
    fputs("\n", out);
}

/* The anchor of a heading, as Markdown renderers make it: lower case, blanks as '-', other characters removed. */
static void print_anchor(FILE *out, const char *heading)
{
    for (; *heading; heading++)
        if (*heading >= 'A' && *heading <= 'Z')
            fputc(*heading - 'A' + 'a', out);
        else if (*heading == ' ')
            fputc('-', out);
        else if (!strchr("(),.'", *heading))
            fputc(*heading, out);
}

static void markdown_contents(FILE *out)
{
    const char *function = "";
    for (const vmm_rule *r = NULL; (r = rule_words_next(r));) {
        if (strcmp(function, r->function) == 0)
            continue;
        function = r->function;
        fprintf(out, "- [%s](#", rule_words_calls(function));
        print_anchor(out, rule_words_calls(function));
        fputs(")\n", out);
    }
    fputs("\n", out);
}

static void print_heading(FILE *out, enum rulebook_format format, const char *function, bool first)
{
    if (format == RULEBOOK_MARKDOWN)
        fprintf(out, "## %s\n\n", rule_words_calls(function));
    if (format == RULEBOOK_TEXT)
        fprintf(out, "%s\n", function);
    if (format == RULEBOOK_HTML)
        rulebook_html_section(out, function, first);
}

static void print_start(FILE *out, enum rulebook_format format, const char *call)
{
    static const char book[] =
        "# The rule book\n\n"
        "Generated by `make rulebook` from the table of rules; do not edit. Each rule separates what the documentation says,\n"
        "what a recorded driver was observed to do, and what this project chose. The rules of a call are in the order in\n"
        "which they are checked. The anchor of VMM-MAP-OVERLAP is `#vmm-map-overlap`.\n\n"
        "Each example is two scripts in one: without the lines that begin with `+` it breaks this rule and no other, and\n"
        "without those that begin with `-` it breaks none. `cuvmm explain RULE --broken | cuvmm run -` runs the first,\n"
        "`--corrected` the second, and `make check` runs all of them\n"
        "([../conformance/corpus/rulebook](../conformance/corpus/rulebook/README.md)).\n"
        "`cuvmm rules --html` prints this book as a page with a search box.\n\n";
    if (format == RULEBOOK_MARKDOWN)
        fputs(book, out);
    if (format == RULEBOOK_MARKDOWN && !call)
        markdown_contents(out);
    if (format == RULEBOOK_HTML)
        rulebook_html_start(out, call);
    if (format == RULEBOOK_TSV)
        fputs("id\tfunction\targument\tresult\tclass\torigin\tdriver_580\tneeds\tdocuments\tobserved\tmessage\t"
              "explanation\tway_out\n", out);
}

size_t rulebook(FILE *out, enum rulebook_format format, const char *call)
{
    size_t shown = 0;
    const char *function = "";
    for (const vmm_rule *r = NULL; (r = rule_words_next(r));) {
        if (call && !text_same(call, r->function))
            continue;
        if (!shown++)
            print_start(out, format, call);
        if (strcmp(function, r->function) != 0)
            print_heading(out, format, function = r->function, shown == 1);
        switch (format) {
        case RULEBOOK_TEXT: print_text(out, r); break;
        case RULEBOOK_MARKDOWN: markdown_rule(out, r); break;
        case RULEBOOK_TSV: print_tsv(out, r); break;
        case RULEBOOK_HTML: rulebook_html_rule(out, r, call); break;
        }
    }
    if (shown && format == RULEBOOK_HTML)
        rulebook_html_end(out);
    return shown;
}
