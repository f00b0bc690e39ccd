/* SPDX-License-Identifier: Apache-2.0 */
/* C compiled for a device computes the same as compiled for the host: bodies-*.ptx of nvcc and clang, optimised and not. */
#include "testing/bodies.h"
#include "testing/ptx_rig.h"

#include "random.h"

enum { THREADS = 96, GRID = 2 };

static const struct {
    const char *name;
    void (*body)(const uint64_t *in, uint64_t *out);
} bodies[] = {
#define NAMED(name) {#name, body_##name},
    BODIES(NAMED)
};

static char *contents(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (!file || fread(text, 1, (1 << 20) - 1, file) == 0)
        tap_bail("%s cannot be read", path);
    fclose(file);
    return text;
}

static void test_text(const char *path, uint64_t *random)
{
    struct rig rig;
    char *text = contents(path);
    rig_open(&rig, text);
    const unsigned threads = THREADS * GRID, rounds = random_rounds(4);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        unsigned wrong = 0;
        for (unsigned round = 0; round < rounds; round++) {
            uint64_t *in = rig_u64(&rig), *out = in + BODY_IN * threads;
            const uint64_t params[] = {RIG_BASE, RIG_BASE + 8 * BODY_IN * threads};
            for (unsigned k = 0; k < BODY_IN * threads; k++)
                in[k] = random_next(random) >> (random_below(random, 4) ? random_below(random, 64) : 0);
            rig.threads = round & 1 ? 2 : 1;
            wrong += rig_launch(&rig, bodies[i].name, GRID, THREADS, params, 2) != PTX_END_DONE;
            for (unsigned t = 0; t < threads; t++) {
                uint64_t want[BODY_OUT] = {0};
                bodies[i].body(in + BODY_IN * t, want);
                wrong += memcmp(want, out + BODY_OUT * t, sizeof want) != 0;
            }
        }
        tap_u64(wrong, 0, "%s: %s", path, bodies[i].name);
    }
    rig_close(&rig);
    free(text);
}

int main(void)
{
    static const char *const paths[] = {"bodies-nvcc.ptx", "bodies-nvcc-debug.ptx", "bodies-clang-O0.ptx", "bodies-clang-O2.ptx"};
    uint64_t random = random_seed(3);
    for (int i = 0; i < 4; i++) {
        char path[80];
        snprintf(path, sizeof path, "backend_sim/ptx/testing/%s", paths[i]);
        test_text(path, &random);
    }
    return tap_done();
}
