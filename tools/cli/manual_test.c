/* SPDX-License-Identifier: Apache-2.0 */
/* The manual page: every command with all its options; what roff would take for its own is written otherwise. */
#include "manual.h"

#include <stdlib.h>
#include <string.h>

#include "cuvmm.h"
#include "help_parts.h"
#include "tap.h"

static bool stands(const char *page, const char *text)
{
    return strstr(page, text) != NULL;
}

/* The words of an item as the page shows them. */
static void as_item(struct span label, char *item, size_t size)
{
    size_t at = (size_t)snprintf(item, size, ".TP\n\\fB");
    for (size_t i = 0; i < label.length && at + 8 < size; i++)
        at += (size_t)snprintf(item + at, size - at, label.at[i] == '-' ? "\\%c" : "%c", label.at[i]);
    snprintf(item + at, size - at, "\\fR\n");
}

static void test_command(const char *page, const char *name)
{
    struct help_reader reader = {.at = help_text(name)};
    struct help_line line;
    char item[400];
    snprintf(item, sizeof item, ".SS %s\n.nf\ncuvmm %s", name, name);
    tap_ok(stands(page, item), "%s has a part that begins with its usage", name);
    while (help_next(&reader, &line)) {
        if (line.kind != HELP_ITEM)
            continue;
        as_item(line.label, item, sizeof item);
        if (!stands(page, item))
            tap_ok(false, "%s: no item \"%.*s\"", name, (int)line.label.length, line.label.at);
    }
}

/* No line of text begins with what is a request to roff. */
static void test_requests(const char *page)
{
    static const char *const requests[] = {".\\\"", ".TH ", ".SH ", ".SS ", ".TP", ".PP", ".nf", ".fi", ".B ", ".BR ", ".I ", ".IR "};
    for (const char *line = page; *line;) {
        bool known = *line != '.' && *line != '\'';
        for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
            known |= strncmp(line, requests[i], strlen(requests[i])) == 0;
        if (!known)
            tap_ok(false, "an accidental request: %.40s", line);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    tap_ok(stands(page, "'init\\en"), "a backslash is shown");
    tap_ok(!stands(page + strcspn(page, "\n"), "--"), "every hyphen behind the remark at the top is one that can be typed");
}

static void test_text(void)
{
    static const char *const cases[][2] = {
        {".TH 1", "\\&.TH 1"}, {"'quoted'", "\\&'quoted'"}, {"a.b'c", "a.b'c"}, {"-x\\n", "\\-x\\en"}, {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *got = NULL;
        size_t size;
        FILE *file = open_memstream(&got, &size);
        if (!file)
            tap_bail("no memory");
        manual_text(file, cases[i][0]);
        fclose(file);
        tap_text(got, cases[i][1], "\"%s\" for roff", cases[i][0]);
        free(got);
    }
}

int main(void)
{
    char *page = NULL;
    const char *name;
    size_t size;
    FILE *file = open_memstream(&page, &size);
    if (!file)
        tap_bail("no memory");
    manual(file);
    fclose(file);
    tap_ok(stands(page, ".SH NAME\ncuvmm \\- CUDA"), "it has a name");
    for (size_t i = 0; (name = cuvmm_command(i)); i++)
        test_command(page, name);
    tap_ok(stands(page, ".TP\n\\fBreserve\\fR\n"), "the language of scripts is in it");
    test_requests(page);
    test_text();
    free(page);
    return tap_done();
}
