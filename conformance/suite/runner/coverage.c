/* SPDX-License-Identifier: Apache-2.0 */
#include "coverage.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "test.h"

#define LINE_MAX_LENGTH 400

static void path_of(const char *name, char *path, size_t size)
{
    const char *source = getenv("CUVMM_SOURCE");
    snprintf(path, size, "%s/conformance/%s", source && source[0] ? source : ".", name);
}

/* Opens a file of conformance/recorded/decisions. */
static FILE *decisions(const char *name)
{
    char path[512], inside[128];
    snprintf(inside, sizeof inside, "recorded/decisions/%s", name);
    path_of(inside, path, sizeof path);
    return fopen(path, "r");
}

/* Reads the next line that is neither blank nor a comment ('#'), without its newline. */
static bool next_line(FILE *file, char *line, int size)
{
    while (fgets(line, size, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] && line[0] != '#')
            return true;
    }
    return false;
}

/* Is there a line whose first column is id, followed by a reason? */
static bool is_untestable(const char *id)
{
    char line[LINE_MAX_LENGTH];
    FILE *file = decisions("untestable.tsv");
    bool found = false;
    while (file && !found && next_line(file, line, sizeof line)) {
        size_t length = strcspn(line, "\t");
        found = length == strlen(id) && strncmp(line, id, length) == 0 && line[length] == '\t' && line[length + 1];
    }
    if (file)
        fclose(file);
    return found;
}

static bool has_rule_test(const char *id, enum test_kind kind)
{
    char own[96];
    for (const struct test *test = test_first(); test; test = test->next) {
        if (test->kind != kind)
            continue;
        test_rule_id(test->subject, own, sizeof own);
        if (strcmp(own, id) == 0)
            return true;
    }
    return false;
}

/* Does the file have the rule, with a line of one form alone? */
static bool has_forms(const char *path, const char *id)
{
    char line[LINE_MAX_LENGTH];
    bool here = false, found = false;
    FILE *file = fopen(path, "r");
    while (file && !found && next_line(file, line, sizeof line)) {
        if (strncmp(line, "VMM-", 4) == 0)
            here = strcmp(line, id) == 0;
        found = here && (line[0] == '+' || line[0] == '-');
    }
    if (file)
        fclose(file);
    return found;
}

/* A near miss as a script: the corrected form of the rule's pair in the rule book, which tools/explain/rule_pairs_test.c runs. */
static bool has_pair(const char *id)
{
    char pattern[512];
    glob_t files;
    bool found = false;
    path_of("corpus/rulebook/*.txt", pattern, sizeof pattern);
    if (glob(pattern, 0, NULL, &files))
        return false;
    for (size_t i = 0; i < files.gl_pathc && !found; i++)
        found = has_forms(files.gl_pathv[i], id);
    globfree(&files);
    return found;
}

static bool has_expectation(const char *name)
{
    for (const struct test *test = test_first(); test; test = test->next)
        if (test->kind == TEST_KIND_EXPECTS && strcmp(test->subject, name) == 0)
            return true;
    return false;
}

static void check_rules(void)
{
    size_t count = 0, missing = 0;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rules[i].needs, "libcuda.so.1") == 0)
            continue;
        bool breaks = has_rule_test(rules[i].id, TEST_KIND_BREAKS);
        bool near = has_rule_test(rules[i].id, TEST_KIND_NEAR_MISS) || has_pair(rules[i].id);
        if ((breaks && near) || is_untestable(rules[i].id))
            continue;
        missing++;
        tap_note("  %s has no %s", rules[i].id, !breaks && !near ? "test" : breaks ? "near miss" : "breaking test");
    }
    tap_ok(count > 0 && missing == 0, "every rule has a breaking test and a near miss: %zu of %zu", count - missing,
           count);
}

/* --after takes a name, so a second test of that name would hide what lies between the two. */
static unsigned count_namesakes(void)
{
    unsigned count = 0;
    for (const struct test *test = test_first(); test; test = test->next)
        for (const struct test *other = test->next; other; other = other->next)
            if (strcmp(test->name, other->name) == 0) {
                count++;
                tap_note("  two tests have the name %s", test->name);
            }
    return count;
}

/* A test of a misspelt rule would test nothing; a tested rule listed as untestable would hide the next gap. */
static void check_names(void)
{
    unsigned wrong = count_namesakes();
    char line[LINE_MAX_LENGTH], id[96];
    for (const struct test *test = test_first(); test; test = test->next) {
        if (test->kind == TEST_KIND_EXPECTS)
            continue;
        test_rule_id(test->subject, id, sizeof id);
        if (!vmm_rule_find(id)) {
            wrong++;
            tap_note("  %s is about %s, which is not a rule", test->name, id);
        }
    }
    FILE *file = decisions("untestable.tsv");
    while (file && next_line(file, line, sizeof line)) {
        line[strcspn(line, "\t")] = '\0';
        if (!vmm_rule_find(line) || (has_rule_test(line, TEST_KIND_BREAKS) && has_rule_test(line, TEST_KIND_NEAR_MISS))) {
            wrong++;
            tap_note("  untestable.tsv: %s is not a rule, or is tested", line);
        }
    }
    if (file)
        fclose(file);
    tap_ok(wrong == 0, "tests and decisions name rules that exist, and none twice; no two tests have one name");
}

static void check_expectations(void)
{
    unsigned count = 0, missing = 0;
    char line[LINE_MAX_LENGTH];
    FILE *file = decisions("expectations.txt");
    if (!file) {
        tap_skip("needs conformance/recorded/decisions/expectations.txt (set CUVMM_SOURCE to the source folder)",
                 "every expectation has a test");
        return;
    }
    while (next_line(file, line, sizeof line)) {
        line[strcspn(line, " \t")] = '\0';
        count++;
        if (!has_expectation(line)) {
            missing++;
            tap_note("  nothing expects %s", line);
        }
    }
    fclose(file);
    tap_ok(count > 0 && missing == 0, "every expectation has a test: %u of %u", count - missing, count);
}

void coverage_check(void)
{
    check_rules();
    check_names();
    check_expectations();
}
