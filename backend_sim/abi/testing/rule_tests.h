/* SPDX-License-Identifier: Apache-2.0 */
/* rule_tests.h - for tests of the rules of api/rules/library.def: each rule has a call that breaks it, which is refused by it
 * as the driver's log shows, and the nearest call that is accepted and logs nothing.
 *
 *     TEST_BREAKS(PEER_SAME, peer_same_broken)
 *     {
 *         REFUSED(cuCtxEnablePeerAccess(first, 0), ERROR_INVALID_DEVICE);
 *     }
 *
 *     TEST_NEAR_MISS(PEER_SAME, peer_same_kept) ...
 *
 *     int main(void)
 *     {
 *         return rule_tests();
 *     }
 *
 * A family's tests are in its room, in a file whose name ends in rules_test.c; abi_rules_test.c checks in all of them that every
 * rule has tests. Included by one file of a program.
 */
#ifndef SIM_ABI_TESTING_RULE_TESTS_H
#define SIM_ABI_TESTING_RULE_TESTS_H

#include "testing/rig.h"
#include "vmm.h"

/* ---- the tests ---- */

struct rule_test {
    const char *symbol;
    bool breaks;
    void (*run)(void);
};

static struct rule_test tests[300];
static size_t count;

static void enter(const char *symbol, bool breaks, void (*run)(void))
{
    if (count == sizeof tests / sizeof tests[0])
        abort();
    tests[count++] = (struct rule_test){symbol, breaks, run};
}

#define TEST(symbol, name, breaks)                                                                  \
    static void name(void);                                                                         \
    __attribute__((constructor)) static void name##_enter(void) { enter(#symbol, breaks, name); }   \
    static void name(void)
#define TEST_BREAKS(symbol, name) TEST(symbol, name, true)
#define TEST_NEAR_MISS(symbol, name) TEST(symbol, name, false)

/* ---- what they use ---- */

static const char *rule; /* the id of the rule that the test is about */
static char heard[600];
static unsigned lines;
static CUcontext first, second; /* primary contexts of devices 0 and 1; the first is current */
static CUstream stream;
static CUdeviceptr memory; /* of cuMemAlloc */
enum { SIZE = 1 << 16 };

static void CUDA_CB hear(void *user, CUlogLevel level, char *message, size_t length)
{
    (void)user, (void)level, (void)length;
    snprintf(heard, sizeof heard, "%s", message);
    lines++;
}

static bool refused_by_rule(void)
{
    char want[120];
    snprintf(want, sizeof want, ": %s: ", rule);
    return lines == 1 && strstr(heard, want) != NULL && is_whole_line(heard);
}

/* The call is refused with the code, by the rule of the test and in one line. */
#define REFUSED(call, code)                                                               \
    do {                                                                                  \
        lines = 0;                                                                        \
        IS(call, code);                                                                   \
        if (!tap_ok(refused_by_rule(), "by %s", rule))                                    \
            tap_note("%u lines, the last: %s", lines, lines ? heard : "none");            \
    } while (0)

#define ACCEPTED(call)                                                                    \
    do {                                                                                  \
        lines = 0;                                                                        \
        OK(call);                                                                         \
        if (!tap_u64(lines, 0, "and nothing is logged"))                                  \
            tap_note("%s", heard);                                                        \
    } while (0)

static inline CUfunction function(const char *name)
{
    static CUmodule module;
    CUfunction found = NULL;
    if (!module)
        OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&found, module, name));
    return found;
}

/* ---- all of them ---- */

static const struct rule_row {
    const char *symbol, *id;
} rule_table[] = {
#define VMM_RULE(symbol, id, ...) {#symbol, id},
#include "rules/library.def"
#undef VMM_RULE
};

/* Runs the tests of a rule; returns how many there are. */
static inline size_t run(const struct rule_row *row, bool breaks)
{
    size_t ran = 0;
    rule = row->id;
    for (size_t i = 0; i < count; i++)
        if (strcmp(tests[i].symbol, row->symbol) == 0 && tests[i].breaks == breaks) {
            tests[i].run();
            ran++;
        }
    return ran;
}

/* The state that each test starts with. */
static inline void rule_tests_begin(void)
{
    CUlogsCallbackHandle callback;
    setenv("CUVMM_SIM", "sim:h200x2,schedule=late", 1); /* no thread but this one reports */
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    OK(cuLogsRegisterCallback(hear, NULL, &callback));
}

static inline void rule_tests_run(void)
{
    size_t ran = 0;
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, SIZE));
    for (size_t i = 0; i < sizeof rule_table / sizeof rule_table[0]; i++) {
        const vmm_rule *row = vmm_rule_find(rule_table[i].id);
        const size_t broken = run(&rule_table[i], true), kept = run(&rule_table[i], false);
        ran += broken + kept;
        if (broken + kept == 0)
            continue; /* of another family */
        tap_ok(broken && kept, "%s has a test that breaks it and a near miss", rule_table[i].id);
        tap_ok(row && row->message[0] && row->explanation[0] && row->way_out[0], "%s states what, why and the fix", rule_table[i].id);
    }
    EQUAL(ran, count); /* each belongs to a rule of the table */
    OK(cuMemFree(memory));
}

/* The whole program. */
static inline int rule_tests(void)
{
    rule_tests_begin();
    first = begin();
    rule_tests_run();
    return tap_done();
}

#endif
