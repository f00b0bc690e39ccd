/* SPDX-License-Identifier: Apache-2.0 */
#include "traced.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "replay.h"
#include "subject.h"

static int replay_it(struct traced *traced)
{
    FILE *trace = fopen(traced->path, "r");
    int status = trace ? replay(trace, traced->path, traced->spec, traced->silent, stderr) : 2;
    if (trace)
        fclose(trace);
    return status;
}

bool traced_open(struct traced *traced, const char *spec, unsigned lives, bool binary)
{
    char text[256];
    struct live live;
    *traced = (struct traced){.folder = "/tmp/bench-trace-XXXXXX", .spec = spec};
    traced->silent = fopen("/dev/null", "w");
    if (!mkdtemp(traced->folder) || !traced->silent) {
        perror("a trace");
        return false;
    }
    snprintf(traced->path, sizeof traced->path, "%s/%s", traced->folder, binary ? "lives.vtrace" : "lives.jsonl");
    snprintf(text, sizeof text, "trace=%s | %s", traced->path, spec);
    live_open(&live, text, 1, UINT64_C(2) << 20);
    live_lives(&live, lives);
    live_close(&live);
    return replay_it(traced) == 0;
}

void traced_close(struct traced *traced)
{
    remove(traced->path);
    remove(traced->folder);
    if (traced->silent)
        fclose(traced->silent);
}

double traced_replays(void *state, unsigned units)
{
    double start = spent();
    (void)units;
    if (replay_it(state) != 0)
        exit(1);
    return spent() - start;
}
