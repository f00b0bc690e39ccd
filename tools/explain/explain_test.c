/* SPDX-License-Identifier: Apache-2.0 */
/* explain and the rule book: every row is printed, with documentation, measurement and choice kept separate, and docs/ is up to
 * date. */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "tap.h"
#include "text.h"

struct capture {
    char *text;
    size_t size;
    FILE *file;
};

static FILE *begin(struct capture *c)
{
    c->file = open_memstream(&c->text, &c->size);
    if (!c->file)
        tap_bail("no memory");
    return c->file;
}

static const char *end(struct capture *c)
{
    fclose(c->file);
    return c->text;
}

static size_t occurrences(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

static void test_rules(void)
{
    size_t count, bad = 0;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++) {
        struct capture out, err;
        bool ok = explain(begin(&out), begin(&err), rules[i].id);
        const char *text = end(&out);
        bool good = ok && end(&err)[0] == 0 && strncmp(text, rules[i].id, strlen(rules[i].id)) == 0 &&
                    strstr(text, "\n  documents ") && strstr(text, "\n  observed ") && strstr(text, "\n  fix ") &&
                    strstr(text, explain_origin(rules[i].origin));
        if (!good)
            tap_note("%s: %s", rules[i].id, text);
        bad += !good;
        free(out.text);
        free(err.text);
    }
    tap_ok(count > 50 && bad == 0, "each of %zu rules is explained", count);
}

static void test_results(void)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {{"CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_INVALID_VALUE (1)"},
                 {"INVALID_VALUE", "VMM-MAP-OVERLAP"},
                 {"invalid_value", "(1)"},
                 {"801", "CUDA_ERROR_NOT_SUPPORTED (801)"},
                 {"0", "CUDA_SUCCESS (0)"},
                 {"vmm-map-overlap", "VMM-MAP-OVERLAP"}};
    static const struct {
        const char *name, *near;
    } wrong[] = {{"VMM-MAP-OVERLAB", "VMM-MAP-OVERLAP"}, {"INVALID_VALU", "CUDA_ERROR_INVALID_VALUE"},
                 {"MAP-OVERLAP", "VMM-MAP-OVERLAP"},     {"zebra", "cuvmm rules"},
                 {"", "cuvmm rules"},                    {"12345", "neither"},
                 {"EX-VECTOR-MOVES", "exercise grade"},
                 {"-1", "neither"},                      {"%s%n", "neither"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct capture out, err;
        bool ok = explain(begin(&out), begin(&err), cases[i].name);
        tap_ok(ok && strstr(end(&out), cases[i].shown) && end(&err)[0] == 0, "explain %s", cases[i].name);
        free(out.text);
        free(err.text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct capture out, err;
        bool ok = explain(begin(&out), begin(&err), wrong[i].name);
        bool silent = end(&out)[0] == 0;
        const char *said = end(&err);
        tap_ok(!ok && silent && strstr(said, wrong[i].near), "\"%s\" is reported as unknown: %s", wrong[i].name, said);
        free(out.text);
        free(err.text);
    }
}

static void test_book(void)
{
    size_t count, missing = 0, columns_wrong = 0;
    const vmm_rule *rules = vmm_rules(&count);
    struct capture md, tsv, some, none;
    tap_u64(rulebook(begin(&md), RULEBOOK_MARKDOWN, NULL), count, "the book counts every rule");
    tap_u64(rulebook(begin(&tsv), RULEBOOK_TSV, NULL), count, "the table counts every rule");
    end(&md);
    end(&tsv);
    for (size_t i = 0; i < count; i++) {
        char heading[80];
        snprintf(heading, sizeof heading, "\n### %s\n", rules[i].id);
        missing += occurrences(md.text, heading) != 1;
    }
    tap_u64(missing, 0, "every rule has its heading, once");
    tap_u64(occurrences(md.text, "\n- **Documents:** "), count, "the documentation is on a separate line");
    tap_u64(occurrences(md.text, "\n- **Observed:** "), count, "the observation, too");
    for (const char *line = tsv.text; *line; line += strcspn(line, "\n") + 1) {
        size_t tabs = 0;
        for (const char *c = line; *c && *c != '\n'; c++)
            tabs += *c == '\t';
        columns_wrong += tabs != 12;
    }
    tap_u64(columns_wrong, 0, "every line of the table has 13 columns");
    tap_u64(occurrences(tsv.text, "\n"), count + 1, "and there is a line for each rule and one of names");
    size_t map = rulebook(begin(&some), RULEBOOK_TEXT, "cuMemMap");
    tap_ok(map > 10 && map < count && strstr(end(&some), "VMM-MAP-OVERLAP") && !strstr(some.text, "VMM-UNMAP"),
           "the rules of one call");
    tap_ok(rulebook(begin(&none), RULEBOOK_TEXT, "cuMemFrob") == 0 && end(&none)[0] == 0, "a call without rules");
    free(md.text);
    free(tsv.text);
    free(some.text);
    free(none.text);
}

static char *read_doc(const char *name)
{
    const char *source = getenv("CUVMM_SRC");
    char path[400], buffer[4096];
    struct text text = {0};
    snprintf(path, sizeof path, "%s/docs/%s", source ? source : ".", name);
    FILE *in = fopen(path, "rb");
    if (!in)
        tap_bail("%s cannot be opened; run the test in the source tree or set CUVMM_SRC", path);
    text_add_bytes(&text, "", 0);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        text_add_bytes(&text, buffer, n);
    fclose(in);
    return text.data;
}

/* Replaces in place; the new text must not be longer. */
static void replace(char *text, const char *old, const char *new)
{
    char *at = strstr(text, old);
    if (!at)
        return;
    memmove(at + strlen(new), at + strlen(old), strlen(at + strlen(old)) + 1);
    memcpy(at, new, strlen(new));
}

/* The row that docs/scripts.md must have for a command: "| `map ADDRESS ...` | what it does |". */
static bool documented(const char *doc, const struct script_command *command)
{
    char usage[300], escaped[400];
    size_t n = 0;
    snprintf(usage, sizeof usage, "| `%s%s%s` | %s |", command->name, command->usage[0] ? " " : "", command->usage,
             command->about);
    replace(usage, "[handle=TYPES] [compression=N] [rdma=N] [usage=N] [type=N] [reserved=N] [meta=N]", "PROPERTIES");
    bool code = false;
    for (const char *c = usage; *c && n + 2 < sizeof escaped; c++) {
        code ^= *c == '`';
        if (*c == '|' && code)
            escaped[n++] = '\\';
        escaped[n++] = *c;
    }
    escaped[n] = 0;
    if (!strstr(doc, escaped))
        tap_note("missing: %s", escaped);
    return strstr(doc, escaped) != NULL;
}

static void test_docs(void)
{
    struct capture md;
    char *book = read_doc("rulebook.md"), *doc = read_doc("scripts.md");
    const struct script_command *command;
    rulebook(begin(&md), RULEBOOK_MARKDOWN, NULL);
    tap_ok(strcmp(book, end(&md)) == 0, "docs/rulebook.md is what the table of rules makes (`make rulebook` renews it)");
    for (size_t i = 0; (command = script_command(i)); i++)
        if (strcmp(command->name, "check") != 0)
            tap_ok(documented(doc, command), "docs/scripts.md has the command %s as it is", command->name);
    for (size_t i = 0; (command = script_check(i)); i++)
        tap_ok(documented(doc, command), "docs/scripts.md has %s as it is", command->name);
    free(md.text);
    free(book);
    free(doc);
}

int main(void)
{
    test_rules();
    test_results();
    test_book();
    test_docs();
    return tap_done();
}
