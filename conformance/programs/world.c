/* world - every state of the small world visited, every call tried from each, on simulator and model.
 *
 *   world [--devices 1|2] [--max-refs N] [--max-states N] [--strict] [--dump FILE] [--script FILE] [--flip N]
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

#include "tap.h"
#include "world.h"

static uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    uint64_t value = text ? strtoull(text, &end, 0) : 0;
    if (!text || errno || *end || end == text || value < least || value > most)
        tap_bail("%s wants a number from %" PRIu64 " to %" PRIu64 ", not \"%s\"", option, least, most,
                 text ? text : "");
    return value;
}

static FILE *create(const char *option, const char *path)
{
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        tap_bail("%s %s: %s", option, path ? path : "", path ? strerror(errno) : "no file named");
    return file;
}

static const char *read_options(struct world_options *o, int argc, char **argv)
{
    const char *script = NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--strict")) {
            o->strict = true;
            continue;
        }
        if (!strcmp(argv[i], "--devices"))
            o->devices = (int)number(argv[i], value, 1, 2);
        else if (!strcmp(argv[i], "--max-refs"))
            o->max_refs = (unsigned)number(argv[i], value, 1, 15);
        else if (!strcmp(argv[i], "--max-states"))
            o->max_states = number(argv[i], value, 1, 1 << 28);
        else if (!strcmp(argv[i], "--flip"))
            o->flip = number(argv[i], value, 0, UINT64_MAX);
        else if (!strcmp(argv[i], "--dump"))
            o->dump = create(argv[i], value);
        else if (!strcmp(argv[i], "--script"))
            script = value;
        else
            tap_bail("%s: use --devices --max-refs --max-states --strict --dump --script --flip", argv[i]);
        i++;
    }
    return script;
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
    script_write(file, strict, unit, &report->path);
    fclose(file);
    tap_note("again: lockstep --replay %s", script);
}

int main(int argc, char **argv)
{
    struct world_options options = {.devices = 1, .max_refs = 2, .max_states = 1 << 22};
    struct world_report report;
    const char *scale = getenv("CUVMM_TEST_SCALE");
    bool part = scale && *scale && number("CUVMM_TEST_SCALE", scale, 0, 10000) < 100;
    if (part)
        options.max_states = 1 + 16 * number("CUVMM_TEST_SCALE", scale, 0, 100);
    const char *script = read_options(&options, argc, argv);
    world_explore(&options, &report);
    tap_note("%zu states, %zu calls in the alphabet, %zu transitions: %zu refused (%zu halfway), %zu without a change, "
             "%zu to another state, %zu out of the world",
             report.states, report.calls, report.transitions, report.refused, report.halfway, report.kept,
             report.changed, report.outside);
    if (!tap_ok(report.same, "%d device%s: system and model agree on every transition", options.devices,
                options.devices == 1 ? "" : "s"))
        show(&options, &report, script);
    if (part && report.same && !report.closed)
        tap_skip("CUVMM_TEST_SCALE asks for a part of it", "the search closed");
    else
        tap_ok(report.closed, "the search closed: no state is left unvisited");
    script_free(&report.path);
    if (options.dump)
        fclose(options.dump);
    return tap_done();
}
