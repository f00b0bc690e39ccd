/* SPDX-License-Identifier: Apache-2.0 */
/* gpu - the cost of one life of memory on this machine's driver, and the overhead of the API and its layers. Not a test.
 *
 *   bench-gpu [--backend cuda] [--driver libcuda.so.1] [--rounds N]
 *
 * Times the driver's own calls and the same calls through vmm.h, with a trace and with the shadow, interleaved in one
 * run; then each call next to the recorded machines. --backend sim:h100 with the simulator's library shows that the
 * program runs. See docs/bench.md. */
#include <stdio.h>

#include "lib/driver.h"
#include "lib/live.h"
#include "lib/recorded.h"
#include "lib/subject.h"
#include "options.h"

#define GRANULE (UINT64_C(2) << 20)
enum { LIVE = 16, LIVES = 20, CALLS = 64, QUESTIONS = 1000 };
enum row { DRIVER, API, TRACE, SHADOW, LAST_LIFE = SHADOW, QUESTION, FIRST_CALL, ROWS = FIRST_CALL + 9 };

static struct subject rows[ROWS];
static struct live api, trace, shadow;

static void row(unsigned at, const char *name, double (*batch)(void *state, unsigned units), void *state, unsigned units)
{
    rows[at] = (struct subject){.name = name, .batch = batch, .state = state, .units = units};
}

static void open_all(const char *spec)
{
    char text[256];
    live_open(&api, spec, LIVE, GRANULE);
    snprintf(text, sizeof text, "trace=/dev/null | %s", spec);
    live_open(&trace, text, LIVE, GRANULE);
    snprintf(text, sizeof text, "shadow | %s", spec);
    live_open(&shadow, text, LIVE, GRANULE);
    row(DRIVER, "the driver's own calls", driver_lives, NULL, LIVES);
    row(API, "through vmm.h", live_lives, &api, LIVES);
    row(TRACE, "with trace", live_lives, &trace, LIVES);
    row(SHADOW, "with shadow", live_lives, &shadow, LIVES);
    row(QUESTION, "getaccess, driver's own", driver_questions, NULL, QUESTIONS);
    row(FIRST_CALL, "reserve", live_reserve, &api, CALLS);
    row(FIRST_CALL + 1, "create", live_create, &api, CALLS);
    row(FIRST_CALL + 2, "map", live_map, &api, CALLS);
    row(FIRST_CALL + 3, "setaccess", live_set_access, &api, CALLS);
    row(FIRST_CALL + 4, "getaccess", live_get_access, &api, CALLS);
    row(FIRST_CALL + 5, "pointer attribute", live_pointer_attribute, &api, CALLS);
    row(FIRST_CALL + 6, "unmap", live_unmap, &api, CALLS);
    row(FIRST_CALL + 7, "release", live_release, &api, CALLS);
    row(FIRST_CALL + 8, "free", live_free, &api, CALLS);
}

static void print_table(unsigned rounds)
{
    double own = subject_median(&rows[DRIVER], rounds);
    printf("medians of %u interleaved rounds; a life is reserve, create, map, set access, unmap, release, free\n", rounds);
    for (unsigned i = 0; i <= LAST_LIFE; i++)
        printf("  %-24s %10.0f ns %8.3f of the driver's own\n", rows[i].name, subject_median(&rows[i], rounds),
               subject_median(&rows[i], rounds) / own);
    printf("  recorded: H100 %.0f ns, H200 %.0f ns\n", 1000 * recorded_life("h100"), 1000 * recorded_life("h200x2"));
    printf("  %-24s %10.0f ns\n", rows[QUESTION].name, subject_median(&rows[QUESTION], rounds));
    for (unsigned i = FIRST_CALL; i < ROWS; i++)
        printf("  %-24s %10.0f ns   recorded: H100 %.0f, H200 %.0f ns\n", rows[i].name, subject_median(&rows[i], rounds),
               1000 * recorded_call("h100", rows[i].name), 1000 * recorded_call("h200x2", rows[i].name));
}

int main(int argc, char **argv)
{
    uint64_t rounds = 15;
    const char *spec = "cuda", *library = "libcuda.so.1";
    const struct option_row options[] = {
        {"backend", OPTION_TEXT, &spec, 0, 0},
        {"driver", OPTION_TEXT, &library, 0, 0},
        {"rounds", OPTION_NUMBER, &rounds, 1, SUBJECT_ROUNDS},
    };
    if (!options_read(options, sizeof options / sizeof options[0], argc, argv, stderr))
        return 2;
    open_all(spec);
    if (!driver_open(library))
        return 1;
    subjects_run(rows, ROWS, (unsigned)rounds);
    print_table((unsigned)rounds);
    live_close(&api);
    live_close(&trace);
    live_close(&shadow);
    return 0;
}
