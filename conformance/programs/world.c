/* SPDX-License-Identifier: Apache-2.0 */
/* world - visits every state of the small world and tries every call from each, on simulator and model.
 *
 *   world [--devices 1|2] [--max-refs N] [--max-states N] [--strict] [--dump FILE] [--script FILE] [--flip N]
 *
 *   world --spec cuda [--as-driver] [--budget SECONDS] [--from STATE] [--to STATE] [--explained FILE] [--record FILE]
 *   world --replay-recording FILE [--spec SPEC]
 *
 * On a driver (cuda, or any spec with --as-driver) the search goes on after a difference, each kind is counted and
 * shown at the end, and those that FILE of --explained lists are no failures. --budget stops the search cleanly.
 * --from and --to ask it about a part of the states. --record writes what the driver answered (world_record.h; the
 * files of parts may be put together with cat), --replay-recording compares a simulator with that.
 *
 * --dump writes the alphabet (aN call), the transitions (t state call result rule next; "=" the same state, "x" out of
 * the world) and the states (sN key, the state before and the call that leads here), for replay on another backend.
 * When both differ the shortest path is shown, written to the script's FILE, and the status is 1.
 * CUVMM_TEST_SCALE below 100 is the percent of the states to visit; whether the search closes is then not asked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep_child.h"
#include "lockstep_drive.h"
#include "options.h"
#include "tap.h"
#include "world.h"

enum { PATIENCE = 60 };

struct names {
    const char *script, *explained, *recording, *record;
    bool as_driver;
    char spec[96];
};

/* What the child that makes the calls leaves. */
struct shared {
    const struct world_options *options;
    struct world_report report;
    struct table table;
    struct step last;
};

static FILE *create(const char *option, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        tap_bail("%s %s: %s", option, path, strerror(errno));
    return file;
}

static void read_options(struct world_options *o, struct names *names, int argc, char **argv)
{
    uint64_t devices = 1, max_refs = o->max_refs, max_states = o->max_states, budget = 0, from = 0, to = 0;
    const char *dump = NULL, *driver;
    const struct option_row rows[] = {
        {"devices", OPTION_NUMBER, &devices, 1, 2},
        {"max-refs", OPTION_NUMBER, &max_refs, 1, 15},
        {"max-states", OPTION_NUMBER, &max_states, 1, 1 << 28},
        {"budget", OPTION_NUMBER, &budget, 0, 86400},
        {"from", OPTION_NUMBER, &from, 0, 1 << 28},
        {"to", OPTION_NUMBER, &to, 1, 1 << 28},
        {"flip", OPTION_NUMBER, &o->flip, 0, UINT64_MAX},
        {"dump", OPTION_TEXT, &dump, 0, 0},
        {"script", OPTION_TEXT, &names->script, 0, 0},
        {"spec", OPTION_TEXT, &o->spec, 0, 0},
        {"explained", OPTION_TEXT, &names->explained, 0, 0},
        {"record", OPTION_TEXT, &names->record, 0, 0},
        {"replay-recording", OPTION_TEXT, &names->recording, 0, 0},
        {"strict", OPTION_FLAG, &o->strict, 0, 0},
        {"as-driver", OPTION_FLAG, &names->as_driver, 0, 0},
    };
    if (!options_read(rows, sizeof rows / sizeof rows[0], argc, argv, stderr))
        exit(2);
    o->devices = (int)devices;
    o->max_refs = (unsigned)max_refs;
    o->max_states = (size_t)max_states;
    o->budget = (unsigned)budget;
    if (to && to <= from) {
        fprintf(stderr, "--from %" PRIu64 " --to %" PRIu64 " asks for no state\n", from, to);
        exit(2);
    }
    if ((from || to) && !names->as_driver && !(o->spec && lockstep_names_driver(o->spec, &driver))) {
        fputs("--from and --to are for drivers: a simulator visits all states\n", stderr);
        exit(2);
    }
    o->from = (size_t)from;
    o->to = (size_t)to;
    if (dump)
        o->dump = create("--dump", dump);
}

static void show(const struct world_options *options, const struct world_report *report, const char *script)
{
    const char *spec = options->devices == 1 ? "sim:h100" : "sim:h200x2";
    char line[512], strict[64];
    struct lockstep pair;
    snprintf(strict, sizeof strict, "%s%s", spec, options->strict ? ",strict" : "");
    uint64_t unit = lockstep_open(&pair, strict) ? lockstep_unit(&pair) : 1;
    if (pair.sys)
        lockstep_close(&pair);
    for (size_t i = 0; i < report->path.count; i++) {
        step_print(&report->path.steps[i], unit, line, sizeof line);
        tap_note("  %s", line);
    }
    tap_note("%s", report->difference);
    if (!script)
        return;
    FILE *file = create("--script", script);
    steps_write(file, strict, unit, &report->path);
    fclose(file);
    tap_note("again: cuvmm diff --replay %s", script);
}

static void tell(const struct world_report *r)
{
    tap_note("%zu states, %zu calls in the alphabet, %zu transitions: %zu refused (%zu halfway), %zu without a change, "
             "%zu to another state, %zu out of the world",
             r->states, r->calls, r->transitions, r->refused, r->halfway, r->kept, r->changed, r->outside);
}

/* ---- drivers ---- */

static void work(void *user)
{
    struct shared *shared = user;
    world_explore(shared->options, &shared->report);
    steps_free(&shared->report.path);
}

/* The driver may end the process: what was found until then is in the shared page, and in the recording. */
static int drive(struct world_options *options, struct names *names)
{
    struct shared *shared = child_share(sizeof *shared);
    char error[200], line[512];
    snprintf(names->spec, sizeof names->spec, "%s%s", names->as_driver ? "as-driver:" : "",
             options->spec ? options->spec : "sim:h100");
    options->spec = names->spec;
    options->table = &shared->table;
    options->last = &shared->last;
    options->patience = PATIENCE;
    shared->options = options;
    const char *explained = drive_explained(names->explained);
    if (explained && !table_explain(&shared->table, explained, error, sizeof error))
        tap_bail("--explained %s", error);
    if (names->record)
        options->record = create("--record", names->record);
    if (options->record)
        fprintf(options->record, "# world --spec %s --devices %d --max-refs %u; see conformance/oracle/world_record.h\n",
                names->spec, options->devices, options->max_refs);
    int signal = child_run(work, shared);
    if (options->record)
        fclose(options->record);
    const struct world_report *report = &shared->report;
    if (report->lacking) {
        tap_skip("needs 2 devices", "%s: the small world of 2 devices", names->spec);
        return tap_done();
    }
    tell(report);
    tap_note("%zu states visited, %zu could not be built again, %zu transitions left out", report->visited,
             report->unreached, report->spared);
    if (!tap_ok(signal == 0, "%s: no call ends the process", names->spec)) {
        step_print(&shared->last, 2 << 20, line, sizeof line);
        tap_note("signal %d in %s", signal, line);
    }
    size_t unexplained = table_show(&shared->table);
    tap_ok(report->same && unexplained == 0, "%s: driver and model agree on every transition", names->spec);
    if (!report->same)
        tap_note("%s", report->difference);
    if (report->ended)
        tap_skip(options->to ? "a part was asked for" : "the budget ended before", "the search closed");
    else
        tap_ok(report->closed, "the search closed: no state is left unvisited");
    return tap_done();
}

static void replay(struct world_options *options, struct names *names)
{
    struct table *table = calloc(1, sizeof *table);
    struct world_report report;
    options->recording = fopen(names->recording, "r");
    if (!options->recording || !table)
        tap_bail("--replay-recording %s: %s", names->recording, strerror(errno));
    snprintf(names->spec, sizeof names->spec, "as-driver:%s", options->spec ? options->spec : "sim:h100");
    options->spec = names->spec;
    options->table = table;
    world_explore(options, &report);
    fclose(options->recording);
    bool same = report.same && report.unlike == 0 && table_show(table) == 0;
    if (!tap_ok(same && report.compared > 0, "%s answers as %s: %zu states, %zu answers", names->spec,
                names->recording, report.visited, report.compared))
        tap_note("%zu answers are different; the first: %s", report.unlike, report.difference);
    steps_free(&report.path);
    free(table);
}

int main(int argc, char **argv)
{
    struct world_options options = {.devices = 1, .max_refs = 2, .max_states = 1 << 22};
    struct world_report report;
    const char *scale = getenv("CUVMM_TEST_SCALE");
    uint64_t percent = 100;
    if (scale && *scale && !options_number(stderr, "CUVMM_TEST_SCALE", scale, 0, 10000, &percent))
        return 2;
    bool part = percent < 100;
    if (part)
        options.max_states = 1 + 16 * percent;
    struct names names = {.script = NULL};
    read_options(&options, &names, argc, argv);
    if (names.recording) {
        replay(&options, &names);
        return tap_done();
    }
    bool usual = options.devices == 1 && !options.strict && !options.spec && !options.flip && options.max_refs == 2;
    const char *backend;
    if (names.as_driver || (options.spec && lockstep_names_driver(options.spec, &backend)))
        return drive(&options, &names);
    world_explore(&options, &report);
    tell(&report);
    if (!tap_ok(report.same, "%d device%s: system and model agree on every transition", options.devices,
                options.devices == 1 ? "" : "s"))
        show(&options, &report, names.script);
    if (part && report.same && !report.closed)
        tap_skip("CUVMM_TEST_SCALE limits the search to a part", "the search closed");
    else
        tap_ok(report.closed, "the search closed: no state is left unvisited");
    steps_free(&report.path);
    if (options.dump)
        fclose(options.dump);
    options.dump = NULL;
    names.recording = "conformance/recorded/recordings/h100-580.159.04-world.txt";
    if (usual && !names.as_driver)
        replay(&options, &names);
    return tap_done();
}
