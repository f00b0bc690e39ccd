/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of `cuvmm diff`: a line that parses as a step prints as one that parses the same. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "lockstep.h"

enum { MOST = 8192 };

static const uint64_t unit = 2 << 20;

static void again(const struct step *step)
{
    char line[2000], error[200] = "";
    struct step read;
    int length = step_print(step, unit, line, sizeof line);
    if (length < 0 || (size_t)length >= sizeof line)
        fuzz_finding("a step of %d bytes", length);
    if (!step_parse(line, unit, &read, error, sizeof error))
        fuzz_finding("\"%s\" does not parse again: %s", line, error);
    /* analysers: bugprone-suspicious-memory-comparison is wrong: both were cleared before */
    if (read.call != step->call || read.name != step->name || memcmp(read.arg, step->arg, sizeof read.arg) != 0)
        fuzz_finding("\"%s\" parses as another step", line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script script = {0};
    char spec[96] = "", error[200] = "";
    FILE *in = size > MOST ? NULL : fuzz_reading(data, size);
    if (!in)
        return 0;
    bool good = steps_read(in, spec, sizeof spec, &script, error, sizeof error);
    if (!good && !error[0])
        fuzz_finding("refused without a message");
    for (size_t i = 0; good && i < script.count; i++)
        again(&script.steps[i]);
    fclose(in);
    steps_free(&script);
    return 0;
}
