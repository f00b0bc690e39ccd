/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_table.c - counting differences by kind. */
#include "lockstep_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

enum { LINES = 40 };

static struct table_row *row_of(struct table *table, const char *signature)
{
    for (size_t i = 0; i < table->count; i++)
        if (!strcmp(table->row[i].signature, signature))
            return &table->row[i];
    return NULL;
}

static struct table_row *add(struct table *table, const char *signature)
{
    if (table->count == TABLE_ROWS)
        return NULL;
    struct table_row *row = &table->row[table->count++];
    memset(row, 0, sizeof *row);
    snprintf(row->signature, sizeof row->signature, "%.199s", signature);
    return row;
}

struct table_row *table_count(struct table *table, const char *signature)
{
    struct table_row *row = row_of(table, signature), *fresh = row ? NULL : add(table, signature);
    if (!row)
        row = fresh;
    if (row)
        row->times++;
    else
        table->lost++;
    return fresh;
}

bool table_explain(struct table *table, const char *path, char *error, size_t size)
{
    char line[500];
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(error, size, "%s: %s", path, strerror(errno));
        return false;
    }
    bool good = true;
    for (int number = 1; good && fgets(line, sizeof line, file); number++) {
        line[strcspn(line, "\r\n")] = 0;
        if (!*line || *line == '#')
            continue;
        char *tab = strchr(line, '\t');
        good = tab && tab[1] && tab != line;
        if (!good) {
            snprintf(error, size, "%s line %d: expected a signature, a tab and a reason", path, number);
            break;
        }
        *tab = 0;
        struct table_row *row = row_of(table, line);
        row = row ? row : add(table, line);
        if (row)
            snprintf(row->explained, sizeof row->explained, "%.199s", tab + 1);
    }
    fclose(file);
    return good;
}

void table_known(struct table *table, const char *signature, const char *reason)
{
    struct table_row *row = row_of(table, signature) ? NULL : add(table, signature);
    if (row)
        snprintf(row->explained, sizeof row->explained, "%s", reason);
}

void table_script(struct table_row *row, const struct script *script, size_t first, uint64_t unit)
{
    size_t length = 0;
    row->script[0] = 0;
    for (size_t i = first; i < script->count && length + 512 < sizeof row->script; i++) {
        char line[511];
        step_print(&script->steps[i], unit, line, sizeof line);
        length += (size_t)snprintf(row->script + length, sizeof row->script - length, "%s\n", line);
    }
}

static void show_row(const struct table_row *row)
{
    char text[sizeof row->script];
    tap_note("%" PRIu64 " times: %s", row->times, row->signature);
    if (row->explained[0]) {
        tap_note("    explained: %s", row->explained);
        return;
    }
    tap_note("    first: %s", row->difference);
    snprintf(text, sizeof text, "%s", row->script);
    int lines = 0;
    for (char *line = text, *end; *line && lines++ < LINES; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = 0;
        tap_note("    | %s", line);
    }
}

size_t table_show(const struct table *table)
{
    size_t unexplained = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (!table->row[i].times)
            continue;
        show_row(&table->row[i]);
        unexplained += !table->row[i].explained[0];
    }
    if (table->lost)
        tap_note("%" PRIu64 " more differences of other kinds", table->lost);
    return unexplained + (table->lost != 0);
}
