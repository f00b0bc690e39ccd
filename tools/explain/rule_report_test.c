/* SPDX-License-Identifier: Apache-2.0 */
/* What is reported for each rule: the broken form of its example runs, and argument, address and objects of every message
 * match conformance/corpus/rulebook/told.out, word for word. The texts of the table of rules are left out: they have their
 * own page.
 *
 * CUVMM_UPDATE=1 rewrites the file, to be read before a commit (make scripts-update). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rule_examples.h"
#include "script_ran.h"
#include "tap.h"
#include "text.h"

#define BOOK "conformance/corpus/rulebook/told.out"

/* Does the line begin a part of a message that comes from the table of rules? */
static bool is_of_the_table(const char *line)
{
    static const char *const parts[] = {"what ", "why ", "fix ", "more "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strncmp(line, parts[i], strlen(parts[i])) == 0)
            return true;
    return false;
}

/* The lines of messages in the output: "    | error ...", "    |   argument ..." and what goes on in the next line,
 * indented further. What a refusal leaves behind is reported at the end; only leak rules concern that. */
static void take(struct text *book, const char *said, bool leaks)
{
    bool left_out = false, leak = false;
    for (const char *line = said; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        if (strncmp(line, "    | ", 6) != 0)
            continue;
        const char *words = line + 6 + strspn(line + 6, " ");
        if (words == line + 6)
            leak = strncmp(words, "leak ", 5) == 0;
        if (words - line < 12)
            left_out = is_of_the_table(words);
        if (!left_out && leak == leaks)
            text_add(book, "%.*s\n", (int)strcspn(line, "\n") - 6, line + 6);
    }
}

/* Writes the file that a spec of the example names. */
static void write_machine(const char *lines)
{
    FILE *out = fopen("my.profile", "w");
    if (!out || fputs(lines, out) < 0 || fclose(out))
        tap_bail("my.profile cannot be written");
}

static void take_rule(struct text *book, const char *id)
{
    struct rule_example example;
    struct text broken = {0}, machine = {0};
    if (!rule_example_find(id, &example) || !rule_example_part(&example, EXAMPLE_BROKEN, &broken))
        return;
    if (rule_example_part(&example, EXAMPLE_MACHINE, &machine))
        write_machine(machine.data);
    struct script_ran ran = script_ran(broken.data, false);
    text_add(book, "%s\n", id);
    take(book, ran.out, strncmp(id, "VMM-LEAK-", 9) == 0);
    script_ran_free(&ran);
    text_free(&broken);
    text_free(&machine);
    remove("my.profile");
}

/* A book's text about a rule: from the line after its id to the next id. NULL where it has none. */
static const char *section(const char *book, const char *id, size_t *length)
{
    struct text key = {0};
    text_add(&key, "\n%s\n", id);
    const char *at = strstr(book, key.data);
    if (at) {
        at += key.length;
        const char *end = strstr(at - 1, "\nVMM-");
        *length = end ? (size_t)(end + 1 - at) : strlen(at);
    }
    text_free(&key);
    return at;
}

/* Each C library writes the pointer NULL in its own way, and the expected texts are glibc's. */
static void write_nulls(char *want)
{
    static const char glibc[] = "(nil)";
    char here[16];
    snprintf(here, sizeof here, "%p", NULL);
    size_t was = sizeof glibc - 1, is = strlen(here);
    for (char *at = want; is <= was && (at = strstr(at, glibc)) != NULL; at += is) {
        memcpy(at, here, is);
        memmove(at + is, at + was, strlen(at + was) + 1);
    }
}

static void compare(const char *want, const char *got)
{
    size_t count, missing = 0;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++) {
        size_t is_size = 0, was_size = 0;
        const char *is = section(got, rules[i].id, &is_size), *was = section(want, rules[i].id, &was_size);
        missing += !is != !was;
        if (!is || !was)
            continue;
        if (!tap_ok(is_size == was_size && memcmp(is, was, is_size) == 0, "%s: what is reported", rules[i].id))
            tap_note("reported:\n%.*sexpected:\n%.*s", (int)is_size, is, (int)was_size, was);
    }
    tap_u64(missing, 0, "the rules that are reported are those of " BOOK);
}

static void read_book(const char *path, struct text *book)
{
    FILE *in = fopen(path, "r");
    char bytes[4096];
    if (!in)
        tap_bail("%s cannot be read", path);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        text_add_bytes(book, bytes, n);
    fclose(in);
}

static void write_book(const char *path, const struct text *book)
{
    FILE *out = fopen(path, "w");
    if (!out || fwrite(book->data, 1, book->length, out) != book->length || fclose(out))
        tap_bail("%s cannot be written", path);
}

int main(void)
{
    char folder[300], here[300], path[700];
    const char *given = getenv("CUVMM_SRC"), *temporary = getenv("TMPDIR"), *update = getenv("CUVMM_UPDATE");
    unsetenv("CUVMM_BACKEND"); /* the book describes the default */
    unsetenv("CUVMM_LAYERS");
    unsetenv("CUVMM_MACHINE");
    if (!getcwd(here, sizeof here))
        tap_bail("this folder has too long a name");
    snprintf(path, sizeof path, "%s/%s/" BOOK, given && given[0] == '/' ? "" : here, given ? given : ".");
    snprintf(folder, sizeof folder, "%s/told-XXXXXX", temporary && temporary[0] ? temporary : "/tmp");
    if (!mkdtemp(folder) || chdir(folder))
        tap_bail("%s: no folder for my.profile", folder);
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    struct text book = {0};
    text_add(&book, "# The report on the broken form of each rule's example (tools/explain/rule_report_test.c).\n");
    for (size_t i = 0; i < count; i++)
        take_rule(&book, rules[i].id);
    if (update)
        write_book(path, &book);
    struct text want = {0};
    read_book(path, &want);
    if (want.data)
        write_nulls(want.data);
    compare(want.data ? want.data : "", book.data);
    text_free(&want);
    text_free(&book);
    if (chdir("/") || rmdir(folder))
        tap_note("%s stays behind", folder);
    return tap_done();
}
