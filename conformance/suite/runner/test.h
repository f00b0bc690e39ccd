/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - how a test is written and registered, and what it asserts.
 *
 *     TEST_BREAKS(MAP_OVERLAP, map_over_a_mapping)      breaks this rule and no other
 *     TEST_NEAR_MISS(MAP_OVERLAP, map_beside_a_mapping) the closest call that is accepted
 *     TEST_EXPECTS("map.alias_shares_bytes", aliases)   behaviour that is expected without a rule
 *     { body with struct fix *f }
 *
 * Tests register themselves before main, so a test is one block in one file and no list needs updating. The _ON forms
 * set what the test runs on: lines added to the machine's profile (simulator only), a mode, options of the fixture.
 */
#ifndef CUVMM_SUITE_TEST_H
#define CUVMM_SUITE_TEST_H

#include "fixture.h"

enum test_kind { TEST_KIND_BREAKS, TEST_KIND_NEAR_MISS, TEST_KIND_EXPECTS };

enum test_modes {
    TEST_AS_GIVEN,
    TEST_OBSERVED,  /* the recorded driver's answers */
    TEST_BOTH_MODES /* twice, for rules that the recorded driver does not enforce; once where there are no modes */
};

struct test {
    enum test_kind kind;
    const char *subject; /* rule symbol, or name of the expectation */
    const char *name;
    void (*run)(struct fix *f);
    const char *lines;
    enum test_modes modes;
    int options; /* enum fix_options */
    struct test *next;
};

/* All tests, in the order of their files; for main. */
struct test *test_first(void);
void test_register(struct test *test);

/* "MAP_OVERLAP" -> "VMM-MAP-OVERLAP". */
void test_rule_id(const char *symbol, char *id, size_t size);

#define TEST_DEFINE(kind, subject, function, lines, modes, options)                                               \
    static void function(struct fix *f);                                                                         \
    static struct test function##_test = {kind, subject, #function, function, lines, modes, options, NULL};      \
    __attribute__((constructor)) static void function##_register(void) { test_register(&function##_test); }     \
    static void function(struct fix *f)

#define TEST_BREAKS(rule, function) TEST_DEFINE(TEST_KIND_BREAKS, #rule, function, NULL, TEST_AS_GIVEN, 0)
#define TEST_BREAKS_ON(rule, function, lines, modes, options) \
    TEST_DEFINE(TEST_KIND_BREAKS, #rule, function, lines, modes, options)
/* For rules that the recorded driver does not enforce: runs in both modes, with WARNED in the body. */
#define TEST_WARNS(rule, function) TEST_DEFINE(TEST_KIND_BREAKS, #rule, function, NULL, TEST_BOTH_MODES, 0)
#define TEST_NEAR_MISS(rule, function) TEST_DEFINE(TEST_KIND_NEAR_MISS, #rule, function, NULL, TEST_AS_GIVEN, 0)
#define TEST_NEAR_MISS_ON(rule, function, lines, modes, options) \
    TEST_DEFINE(TEST_KIND_NEAR_MISS, #rule, function, lines, modes, options)
#define TEST_EXPECTS(what, function) TEST_DEFINE(TEST_KIND_EXPECTS, what, function, NULL, TEST_AS_GIVEN, 0)
#define TEST_EXPECTS_ON(what, function, lines, modes, options) \
    TEST_DEFINE(TEST_KIND_EXPECTS, what, function, lines, modes, options)

/* In the body of a test, the system under test. */
#define S (f->sys)

/* ---------------------------------------------------------------------------------------------------------- checks */

#define CHECK(cond, ...)                                      \
    do {                                                      \
        if (!(cond))                                          \
            fix_failed(f, __FILE__, __LINE__, __VA_ARGS__);   \
    } while (0)

void check_u64(struct fix *f, const char *file, int line, const char *what, uint64_t got, uint64_t want);
#define CHECK_U64(got, want) check_u64(f, __FILE__, __LINE__, #got, (got), (want))

/* Free memory of the current context's device equals before minus taken. */
void check_free(struct fix *f, const char *file, int line, uint64_t before, uint64_t taken);
#define CHECK_FREE(before, taken) check_free(f, __FILE__, __LINE__, (before), (taken))

/* The call succeeds without a report. */
void check_accepted(struct fix *f, const char *file, int line, const char *what, vmm_result result);
#define ACCEPTED(call) check_accepted(f, __FILE__, __LINE__, #call, (call))

/* The expected refusal or warning. */
struct refusal {
    const char *rule;     /* id; NULL: the rule of the test */
    vmm_result result;
    const char *argument; /* NULL when the rule has none */
    uint64_t value;
    vmm_object_kind near; /* NONE: not checked */
    uint64_t start;       /* of the nearest object; 0: not checked */
};

/* The call is refused as expected and changed nothing. state is fix_state from before the call, freed here. */
void check_refused(struct fix *f, const char *file, int line, const char *what, char *state, vmm_result result,
                   struct refusal want);

/* Does this mode refuse what the rule (NULL: the test's) warns of? Strict mode does, except hazards, which stay
 * warnings. */
bool test_refuses(struct fix *f, const char *rule);

/* The call succeeds with the rule's warning; where test_refuses, the rule refuses it and nothing changed. The test ends
 * there on a driver that refuses what its waiver (waiver.h) records as accepted. */
void check_warned(struct fix *f, const char *file, int line, const char *what, char *state, vmm_result result,
                  struct refusal want);

#define REFUSED_LIKE(call, ...)                                                                     \
    do {                                                                                            \
        char *state_ = fix_state(f);                                                                \
        vmm_result result_ = (call);                                                                \
        check_refused(f, __FILE__, __LINE__, #call, state_, result_, (struct refusal){__VA_ARGS__}); \
    } while (0)

/* By the test's rule, naming this argument and value. */
#define REFUSED(call, code, argument, value) \
    REFUSED_LIKE(call, NULL, VMM_ERROR_##code, argument, value, VMM_OBJECT_NONE, 0)
/* The same, with the nearest object that the detail must show. */
#define REFUSED_NEAR(call, code, argument, value, kind, start) \
    REFUSED_LIKE(call, NULL, VMM_ERROR_##code, argument, value, VMM_OBJECT_##kind, start)
/* By another rule. */
#define REFUSED_BY(id, call, code, argument, value) \
    REFUSED_LIKE(call, id, VMM_ERROR_##code, argument, value, VMM_OBJECT_NONE, 0)

#define WARNED(call, code, argument, value) WARNED_BY(NULL, call, code, argument, value)
#define WARNED_BY(id, call, code, argument, value)                                                        \
    do {                                                                                                  \
        char *state_ = fix_state(f);                                                                      \
        vmm_result result_ = (call);                                                                      \
        check_warned(f, __FILE__, __LINE__, #call, state_, result_,                                       \
                     (struct refusal){id, VMM_ERROR_##code, argument, value, VMM_OBJECT_NONE, 0});        \
    } while (0)

#endif
