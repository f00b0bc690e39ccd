/* SPDX-License-Identifier: Apache-2.0 */
/* The decisions of conformance/recorded/decisions/ are complete and name things that exist.
 *
 *     rules.tsv, facts.tsv   id, decision, target, reason    one line per catalogued rule and per measured fact
 *     own.tsv                id of a rule, why               rules that none of those lines led to
 *     untestable.tsv         id of a rule, why               rules that no test can break
 *     expectations.txt       name                            the targets of all expectations, sorted
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "vmm.h"

#define CELLS 4
#define FILES 2

struct row {
    char *cell[CELLS];
    int line;
};

struct table {
    const char *name;
    char *text; /* cut into cells */
    struct row *rows;
    size_t count;
    long promised;     /* of "# rows: N", -1 without one */
    unsigned problems;
    bool quiet;        /* problems are counted and not told: they are meant */
};

enum decision { DECISION_RULE, DECISION_EXPECTATION, DECISION_LATER, DECISION_UNTESTABLE, DECISION_UNKNOWN };

static const char *const decision_names[] = {"rule", "expectation", "later", "untestable"};
static const char *const capabilities[] = {"sharing",        "multicast", "sparse-arrays", "bytes-and-faults",
                                           "device-kernels", "driver-abi"};

static void complain(struct table *table, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void complain(struct table *table, int line, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    table->problems++;
    if (!table->quiet)
        tap_note("  %s:%d: %s", table->name, line, text);
}

/* ---- reading ---- */

static char *slurp(const char *name)
{
    char path[600];
    const char *source = getenv("CUVMM_SOURCE");
    snprintf(path, sizeof path, "%s/conformance/recorded/decisions/%s", source && source[0] ? source : ".", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        tap_bail("%s: %s (set CUVMM_SOURCE to the source folder)", path, strerror(errno));
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room);
    while (text) {
        used += fread(text + used, 1, room - used - 1, file);
        if (used < room - 1)
            break;
        room *= 2;
        char *larger = realloc(text, room);
        if (!larger)
            free(text);
        text = larger;
    }
    if (!text || ferror(file))
        tap_bail("%s: cannot be read", path);
    fclose(file);
    text[used] = '\0';
    return text;
}

/* Cuts a line into columns cells; reports when it has more or fewer, or an empty one. */
static void cut_line(struct table *table, char *line, int number, int columns)
{
    struct row *row = &table->rows[table->count++];
    int cells = 0;
    *row = (struct row){{NULL}, number};
    for (char *cell = line; cell; cells++) {
        char *end = strchr(cell, '\t');
        if (end)
            *end = '\0';
        size_t length = strlen(cell);
        if (!length || isspace((unsigned char)cell[0]) || isspace((unsigned char)cell[length - 1]))
            complain(table, number, "column %d is empty or has blanks around it", cells + 1);
        if (cells < CELLS)
            row->cell[cells] = cell;
        cell = end ? end + 1 : NULL;
    }
    if (cells != columns) {
        complain(table, number, "%d columns, expected %d", cells, columns);
        table->count--;
    }
}

static void read_table(struct table *table, char *text, int columns)
{
    size_t lines = 1;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    table->text = text;
    table->promised = -1;
    table->rows = calloc(lines, sizeof *table->rows);
    if (!table->rows)
        tap_bail("no memory for %zu lines", lines);
    int number = 1;
    for (char *line = text; *line; number++) {
        size_t length = strcspn(line, "\n");
        bool last = line[length] == '\0';
        line[length] = '\0';
        if (line[0] != '#')
            cut_line(table, line, number, columns);
        else if (strncmp(line, "# rows: ", 8) == 0)
            table->promised = strtol(line + 8, NULL, 10);
        if (last)
            complain(table, number, "the last line has no end");
        line += last ? length : length + 1;
    }
}

static void open_table(struct table *table, const char *name, int columns)
{
    *table = (struct table){.name = name};
    read_table(table, slurp(name), columns);
}

static void drop_table(struct table *table)
{
    free(table->rows);
    free(table->text);
}

/* ---- checks ---- */

static enum decision decision_of(const char *word)
{
    int i = 0;
    while (i < DECISION_UNKNOWN && strcmp(word, decision_names[i]) != 0)
        i++;
    return (enum decision)i;
}

/* Is id one of the comma separated words of list? */
static bool names(const char *list, const char *id)
{
    size_t length = strlen(id);
    for (const char *word = list; *word; word += strcspn(word, ",") + (word[strcspn(word, ",")] == ','))
        if (strcspn(word, ",") == length && strncmp(word, id, length) == 0)
            return true;
    return false;
}

static void check_rule_ids(struct table *table, const struct row *row)
{
    char id[96];
    for (const char *word = row->cell[2];; word++) {
        size_t length = strcspn(word, ",");
        snprintf(id, sizeof id, "%.*s", (int)length, word);
        if (!vmm_rule_find(id))
            complain(table, row->line, "no rule has the id '%s'", id);
        word += length;
        if (!*word)
            return;
        if (names(word + 1, id))
            complain(table, row->line, "%s stands twice", id);
    }
}

/* "area.what_it_does" */
static bool is_expectation(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot && dot > name && dot[1] && strspn(name, "abcdefghijklmnopqrstuvwxyz_") == (size_t)(dot - name) &&
           dot[1 + strspn(dot + 1, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static bool is_capability(const char *name)
{
    for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
        if (strcmp(name, capabilities[i]) == 0)
            return true;
    return false;
}

static void check_target(struct table *table, const struct row *row)
{
    const char *target = row->cell[2];
    switch (decision_of(row->cell[1])) {
    case DECISION_RULE:
        check_rule_ids(table, row);
        break;
    case DECISION_EXPECTATION:
        if (!is_expectation(target))
            complain(table, row->line, "'%s' is not the name of an expectation", target);
        break;
    case DECISION_LATER:
        if (!is_capability(target))
            complain(table, row->line, "'%s' is not a capability", target);
        break;
    case DECISION_UNTESTABLE:
        if (strcmp(target, "-") != 0)
            complain(table, row->line, "an untestable row has the target '%s', expected '-'", target);
        break;
    case DECISION_UNKNOWN:
        complain(table, row->line, "'%s' is not a decision", row->cell[1]);
    }
}

static void check_unique(struct table *table)
{
    for (size_t i = 1; i < table->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(table->rows[i].cell[0], table->rows[j].cell[0]) == 0)
                complain(table, table->rows[i].line, "%s is in line %d, too", table->rows[i].cell[0],
                         table->rows[j].line);
}

static void check_decisions(struct table *table)
{
    if (table->promised < 0 || (size_t)table->promised != table->count)
        complain(table, 1, "%zu rows, '# rows:' says %ld", table->count, table->promised);
    for (size_t i = 0; i < table->count; i++)
        check_target(table, &table->rows[i]);
    check_unique(table);
}

/* own.tsv, untestable.tsv: ids of rules. */
static void check_rules(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (!vmm_rule_find(table->rows[i].cell[0]))
            complain(table, table->rows[i].line, "no rule has the id '%s'", table->rows[i].cell[0]);
    check_unique(table);
}

static bool is_target(const struct table *tables, const char *id)
{
    for (int t = 0; t < FILES; t++)
        for (size_t i = 0; i < tables[t].count; i++)
            if (decision_of(tables[t].rows[i].cell[1]) == DECISION_RULE && names(tables[t].rows[i].cell[2], id))
                return true;
    return false;
}

static bool is_own(const struct table *own, const char *id)
{
    for (size_t i = 0; i < own->count; i++)
        if (strcmp(own->rows[i].cell[0], id) == 0)
            return true;
    return false;
}

/* Each rule comes from a decision or is cuvmm's own, not both: own.tsv would be stale. */
static void check_coverage(const struct table *tables, struct table *own)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    for (size_t i = 0; i < count; i++) {
        bool target = is_target(tables, rules[i].id), ours = is_own(own, rules[i].id);
        if (!target && !ours)
            complain(own, 0, "%s is the target of no decision and not listed here", rules[i].id);
        if (target && ours)
            complain(own, 0, "%s is listed, but a decision leads to it", rules[i].id);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* expectations.txt has each expectation once, in order. */
static void check_expectations(const struct table *tables, struct table *list)
{
    size_t found = 0, expected = 0;
    char **name = calloc(tables[0].count + tables[1].count + 1, sizeof *name);
    if (!name)
        tap_bail("no memory for the expectations");
    for (int t = 0; t < FILES; t++)
        for (size_t i = 0; i < tables[t].count; i++)
            if (decision_of(tables[t].rows[i].cell[1]) == DECISION_EXPECTATION)
                name[found++] = tables[t].rows[i].cell[2];
    qsort(name, found, sizeof *name, by_text);
    for (size_t i = 0; i < found; i++) {
        if (i && strcmp(name[i], name[i - 1]) == 0)
            continue;
        const char *listed = expected < list->count ? list->rows[expected].cell[0] : "the end";
        if (strcmp(listed, name[i]) != 0) {
            complain(list, expected < list->count ? list->rows[expected].line : 0, "%s, expected %s", listed, name[i]);
            break;
        }
        expected++;
    }
    if (!list->problems && expected != list->count)
        complain(list, list->rows[expected].line, "%s is expected nowhere", list->rows[expected].cell[0]);
    free(name);
}

/* ---- the checks notice what they are for ---- */

static unsigned problems_of(const char *words, int columns, void (*check)(struct table *table))
{
    struct table table = {.name = "broken.tsv", .quiet = true};
    char *text = malloc(strlen(words) + 1);
    if (!text)
        tap_bail("no memory for a line");
    strcpy(text, words);
    read_table(&table, text, columns);
    check(&table);
    drop_table(&table);
    return table.problems;
}

static void test_checks(void)
{
    static const struct {
        const char *what, *text;
        unsigned problems;
    } broken[] = {
        {"a sound file", "# rows: 2\na\trule\tVMM-MAP-OVERLAP,VMM-MAP-FLAGS\tx\nb\tuntestable\t-\ty\n", 0},
        {"a wrong number of rows", "# rows: 2\na\tlater\tsharing\tx\n", 1},
        {"no number of rows", "a\tlater\tsharing\tx\n", 1},
        {"a missing column", "# rows: 0\na\tlater\tsharing\n", 1},
        {"one column too many", "# rows: 0\na\tlater\tsharing\tx\ty\n", 1},
        {"an empty column", "# rows: 1\na\tlater\tsharing\t\n", 1},
        {"an unknown decision", "# rows: 1\na\tmaybe\tsharing\tx\n", 1},
        {"a rule that does not exist", "# rows: 1\na\trule\tVMM-MAP-FLAGS,VMM-NONE\tx\n", 1},
        {"a rule named twice", "# rows: 1\na\trule\tVMM-MAP-FLAGS,VMM-MAP-FLAGS\tx\n", 1},
        {"a trailing comma", "# rows: 1\na\trule\tVMM-MAP-FLAGS,\tx\n", 1},
        {"a bad expectation", "# rows: 1\na\texpectation\tMap.Whole\tx\n", 1},
        {"an unknown capability", "# rows: 1\na\tlater\tsome-day\tx\n", 1},
        {"a target of an untestable row", "# rows: 1\na\tuntestable\tx\ty\n", 1},
        {"a repeated id", "# rows: 2\na\tlater\tsharing\tx\na\tlater\tmulticast\tx\n", 1},
        {"a last line without end", "# rows: 1\na\tlater\tsharing\tx", 1},
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        tap_u64(problems_of(broken[i].text, CELLS, check_decisions), broken[i].problems, "the checks see %s",
                broken[i].what);
    tap_u64(problems_of("VMM-MAP-FLAGS\tx\nVMM-NONE\ty\nVMM-MAP-FLAGS\tz\n", 2, check_rules), 2,
            "the checks see wrong and repeated ids of rules");
}

/* A rule that no decision names, one that is listed without need, and a list of expectations that is out of step. */
static void test_cross_checks(void)
{
    struct table tables[FILES] = {{.name = "rules.tsv"}, {.name = "facts.tsv"}};
    struct table own = {.name = "own.tsv", .quiet = true}, list = {.name = "expectations.txt", .quiet = true};
    char rules[] = "a\trule\tVMM-MAP-FLAGS\tx\nb\texpectation\tmap.whole\tx\n", facts[] = "c\texpectation\tb.a\tx\n";
    char ours[] = "VMM-MAP-FLAGS\tx\n", stale[] = "b.a\nmap.gone\n";
    size_t count;
    vmm_rules(&count);
    read_table(&tables[0], rules, CELLS);
    read_table(&tables[1], facts, CELLS);
    read_table(&own, ours, 2);
    read_table(&list, stale, 1);
    check_coverage(tables, &own);
    tap_u64(own.problems, count, "the checks see every rule without a decision, and one listed without need");
    check_expectations(tables, &list);
    tap_u64(list.problems, 1, "the checks see a list of expectations that is out of step");
    for (int t = 0; t < FILES; t++)
        free(tables[t].rows);
    free(own.rows);
    free(list.rows);
}

int main(void)
{
    struct table tables[FILES], own, untestable, list;
    test_checks();
    test_cross_checks();
    open_table(&tables[0], "rules.tsv", CELLS);
    open_table(&tables[1], "facts.tsv", CELLS);
    open_table(&own, "own.tsv", 2);
    open_table(&untestable, "untestable.tsv", 2);
    open_table(&list, "expectations.txt", 1);
    for (int t = 0; t < FILES; t++) {
        check_decisions(&tables[t]);
        tap_ok(tables[t].count && !tables[t].problems, "%s: %zu rows, each decided", tables[t].name, tables[t].count);
    }
    check_rules(&own);
    check_coverage(tables, &own);
    tap_ok(!own.problems, "each rule comes from a decision or is listed in own.tsv");
    check_rules(&untestable);
    tap_ok(!untestable.problems, "untestable.tsv: %zu rules that exist", untestable.count);
    check_expectations(tables, &list);
    tap_ok(!list.problems, "expectations.txt: %zu names, in step with the decisions", list.count);
    for (int t = 0; t < FILES; t++)
        drop_table(&tables[t]);
    drop_table(&own);
    drop_table(&untestable);
    drop_table(&list);
    return tap_done();
}
