/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

bool options_number(FILE *err, const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 0);
    bool good = !errno && !*end && end != text && *text != '-' && *value >= least && *value <= most;
    if (!good)
        fprintf(err, "%s needs a number from %" PRIu64 " to %" PRIu64 ", not \"%.60s\"\n", name, least, most, text);
    return good;
}

static bool take(const struct option_row *row, FILE *err)
{
    struct option_list *list = row->to;
    char name[40];
    snprintf(name, sizeof name, "--%s", row->name);
    switch (row->kind) {
    case OPTION_FLAG: *(bool *)row->to = true; return true;
    case OPTION_NUMBER: return options_number(err, name, optarg, row->least, row->most, row->to);
    case OPTION_TEXT: *(const char **)row->to = optarg; return true;
    case OPTION_LIST: break;
    }
    if (list->count == OPTION_LIST_MOST) {
        fprintf(err, "%s: %d at most\n", name, OPTION_LIST_MOST);
        return false;
    }
    list->at[list->count++] = optarg;
    return true;
}

bool options_read(const struct option_row *rows, size_t count, int argc, char **argv, FILE *err)
{
    struct option known[OPTIONS_MOST + 1] = {{0}};
    int at;
    for (size_t i = 0; i < count && i < OPTIONS_MOST; i++)
        known[i] = (struct option){rows[i].name, rows[i].kind == OPTION_FLAG ? no_argument : required_argument, NULL,
                                   (int)i};
    opterr = 0;
    optind = 1;
    while ((at = getopt_long(argc, argv, "", known, NULL)) >= 0) {
        if (at == '?') {
            fprintf(err, "\"%.60s\" is not an option, is short for several, or lacks its value\n", argv[optind - 1]);
            return false;
        }
        if (!take(&rows[at], err))
            return false;
    }
    if (optind < argc)
        fprintf(err, "\"%.60s\" belongs to no option\n", argv[optind]);
    return optind >= argc;
}
