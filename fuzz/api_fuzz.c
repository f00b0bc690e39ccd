/* SPDX-License-Identifier: Apache-2.0 */
/* The API: bytes choose calls, which run on a simulator and on the reference model. A difference in an answer or in the
 * state is a finding; the target writes the calls up to it as a script for `cuvmm diff --replay`.
 *
 *   input   [ machine | choices ... ]   see chooser in lockstep.h; the calls end with the bytes */
#include "fuzz.h"

#include <stdlib.h>

#include "lockstep.h"

enum { CALLS = 100, LOOK_EVERY = 8 };

static const char *const machines[] = {"sim:h100", "sim:h200x2", "sim:min", "sim:max", "sim:odd", "sim:h100,strict",
                                       "sim:gb200x4", "sim:odd,strict"};

static _Noreturn void differ(const struct lockstep *pair, const struct script *script)
{
    steps_write(stderr, pair->spec, lockstep_unit(pair), script);
    fuzz_finding("%s", pair->difference);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes in = {data, size};
    const char *spec = machines[fuzz_byte(&in) % (sizeof machines / sizeof machines[0])];
    struct chooser dice = {.bytes = in.at, .left = in.left};
    struct script script = {0};
    struct lockstep pair;
    fuzz_room();
    if (!in.left)
        return 0;
    if (!lockstep_open(&pair, spec))
        fuzz_finding("%s: %s", spec, pair.difference);
    for (uint32_t i = 0; i < CALLS && dice.left; i++) {
        struct step step;
        lockstep_random(&dice, &pair, STEP_FIRST_NAME + i, &step);
        steps_add(&script, &step);
        if (!lockstep_step(&pair, &step) || (i % LOOK_EVERY == 0 && !lockstep_check_objects(&pair)))
            differ(&pair, &script);
    }
    if (!lockstep_check(&pair))
        differ(&pair, &script);
    lockstep_close(&pair);
    steps_free(&script);
    return 0;
}
