/* SPDX-License-Identifier: Apache-2.0 */
/* facts: replays the recordings of real drivers on the simulator, line by line, as TAP.
 *
 *   facts [--facts DIR] [--profile h100 | h200x2]... [--open SPEC]
 */
#include "factcheck.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DRIVER "580.159.04"

static const char *const profiles[] = {"h100", "h200x2"};
#define PROFILES (sizeof profiles / sizeof profiles[0])

struct options {
    const char *folder;
    const char *spec; /* NULL: sim:PROFILE */
    bool wanted[PROFILES];
};

static int usage(void)
{
    fprintf(stderr, "usage: facts [--facts DIR] [--profile NAME]... [--open SPEC]\n"
                    "  --facts DIR     where the recordings are (conformance/recorded/facts)\n"
                    "  --profile NAME  which recording: h100, h200x2 (both)\n"
                    "  --open SPEC     what to replay on (sim:NAME)\n");
    return 2;
}

static bool want(struct options *options, const char *name)
{
    for (size_t i = 0; i < PROFILES; i++)
        if (strcmp(profiles[i], name) == 0)
            return options->wanted[i] = true;
    fprintf(stderr, "facts: no recording of profile '%s'\n", name);
    return false;
}

static bool parse(struct options *options, int argc, char **argv)
{
    bool some = false;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            return false;
        if (strcmp(argv[i], "--facts") == 0)
            options->folder = argv[i + 1];
        else if (strcmp(argv[i], "--open") == 0)
            options->spec = argv[i + 1];
        else if (strcmp(argv[i], "--profile") == 0 && want(options, argv[i + 1]))
            some = true;
        else
            return false;
    }
    for (size_t i = 0; i < PROFILES; i++)
        options->wanted[i] = options->wanted[i] || !some;
    return true;
}

static void check_exceptions(const struct facts *f)
{
    for (size_t i = 0; i < f->exceptions->count; i++)
        if (strcmp(f->exceptions->rows[i].profile, f->profile) == 0)
            tap_ok(f->exceptions->rows[i].used || !strncmp(f->exceptions->rows[i].reason, "varies: ", 8),
                   "%s: exception still needed: %s", f->profile, f->exceptions->rows[i].name);
}

/* One recording of a profile, where there is one; edges says which of the two kinds of replay it needs. */
static void replay_file(const struct options *options, struct facts *f, const char *profile, const char *suffix,
                        bool edges)
{
    char path[512];
    struct fact_book book;
    snprintf(path, sizeof path, "%s/%s-" DRIVER "%s.tsv", options->folder, profile, suffix);
    if (*suffix && access(path, F_OK) != 0)
        return;
    fact_book_read(&book, path);
    f->book = &book;
    bool ran = true;
    if (edges)
        ran = facts_replay_edges(f);
    else
        facts_replay(f);
    if (ran) {
        facts_settle(f);
        check_exceptions(f);
    } else {
        f->count->not_run++;
        tap_skip("needs a build with -Iconformance/recorded/facts/driver", "%s: %zu lines", f->profile, book.count);
    }
    f->book = NULL;
    fact_book_free(&book);
}

static void replay(const struct options *options, const char *profile, struct fact_exceptions *exceptions,
                   struct facts_count *count)
{
    char path[512], open[64], spec[200], order[64], edges[64];
    struct fact_book words;
    snprintf(path, sizeof path, "%s/%s-" DRIVER "-words.tsv", options->folder, profile);
    fact_book_read(&words, path);
    snprintf(open, sizeof open, "sim:%s,arena=profile,faults=plain", profile);
    /* Both processes of a recording were on one machine. */
    snprintf(spec, sizeof spec, "%.100s,machine=facts-%ld", options->spec ? options->spec : open, (long)getpid());
    struct facts f = {.profile = profile,
                      .spec = spec,
                      .words = &words,
                      .exceptions = exceptions,
                      .later = facts_later_rows,
                      .count = count};
    replay_file(options, &f, profile, "", false);
    f.words = NULL;
    snprintf(order, sizeof order, "%s-order", profile);
    f.profile = order;
    replay_file(options, &f, profile, "-order", false);
    snprintf(edges, sizeof edges, "%s-edges", profile);
    f.profile = edges;
    replay_file(options, &f, profile, "-edges", true);
    fact_book_free(&words);
}

/* Rows of the list of later capabilities that no line needed; only a whole replay can find them. */
static void check_later(const struct options *options, const struct facts_count *count)
{
    const char *name;
    bool whole = !count->not_run;
    for (size_t p = 0; p < PROFILES; p++)
        whole = whole && options->wanted[p];
    for (size_t i = 0; whole && (name = fact_later_stale(facts_later_rows, count->later_used, i)); i++)
        tap_ok(false, "nothing waits for this row of the list of later capabilities: %s", name);
}

int main(int argc, char **argv)
{
    struct options options = {.folder = "conformance/recorded/facts"};
    struct facts_count count = {0};
    struct fact_exceptions exceptions;
    char path[512];
    if (!parse(&options, argc, argv))
        return usage();
    snprintf(path, sizeof path, "%s/exceptions.tsv", options.folder);
    fact_exceptions_read(&exceptions, path);
    for (size_t i = 0; i < PROFILES; i++)
        if (options.wanted[i])
            replay(&options, profiles[i], &exceptions, &count);
    check_later(&options, &count);
    tap_note("facts: %u of %u reproduced, %u later, %u exceptions", count.reproduced, count.lines, count.later,
             count.exceptions);
    tap_note("failing calls: %u, fully explained: %u (the driver's own log explains 146 of 216)", count.failing,
             count.explained);
    tap_note("refused for the reason that the driver's log gives: %u of %u", count.same_reasons, count.reasons);
    fact_exceptions_free(&exceptions);
    return tap_done();
}
