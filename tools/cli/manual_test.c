/* SPDX-License-Identifier: Apache-2.0 */
/* The manual page: every command with all its options; characters that are special to roff are escaped. */
#include "manual.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "tap.h"

static bool stands(const char *page, const char *text)
{
    return strstr(page, text) != NULL;
}

/* Words as shown on the page: a hyphen is written as a minus sign. */
static void as_shown(const char *words, char *shown, size_t size)
{
    size_t at = 0;
    for (; *words && at + 8 < size; words++)
        at += (size_t)snprintf(shown + at, size - at, *words == '-' ? "\\%c" : "%c", *words);
}

static void as_item(const char *label, char *item, size_t size)
{
    char shown[2 * COMMAND_LABEL] = "";
    as_shown(label, shown, sizeof shown);
    snprintf(item, size, ".TP\n\\fB%s\\fR\n", shown);
}

static void test_command(const char *page, const struct command *command)
{
    char item[400], label[COMMAND_LABEL], name[COMMAND_LABEL] = "";
    as_shown(command->name, name, sizeof name);
    snprintf(item, sizeof item, ".SS %s\n.nf\ncuvmm %s", name, name);
    tap_ok(stands(page, item), "%s has a part that begins with its usage", command->name);
    for (const struct command_option *option = command->option; option->name; option++) {
        as_item(command_option_label(option, label), item, sizeof item);
        if (!stands(page, item))
            tap_ok(false, "%s: no item \"%s\"", command->name, label);
    }
}

/* No line of text begins with a roff request. */
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
        {".TH 1", "\\&.TH 1"}, {"'quoted'", "\\&'quoted'"}, {"a.b'c", "a.b'c"}, {"-x\\n", "\\-x\\en"}, {"a\n.b", "a\n.PP\n\\&.b"}, {"", ""},
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
    const struct command *command;
    size_t size;
    FILE *file = open_memstream(&page, &size);
    if (!file)
        tap_bail("no memory");
    manual(file);
    fclose(file);
    tap_ok(stands(page, ".SH NAME\ncuvmm \\- CUDA"), "it has a name");
    for (size_t i = 0; (command = command_at(i)); i++)
        test_command(page, command);
    tap_ok(stands(page, ".TP\n\\fBreserve\\fR\n"), "the language of scripts is in it");
    test_requests(page);
    test_text();
    free(page);
    return tap_done();
}
