/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - runs a test, once for each of its modes, and makes its TAP points.
 *
 *     breaks VMM-UNMAP-HOLE: unmap_over_holes (observed)     what the recorded driver does
 *     breaks VMM-UNMAP-HOLE: unmap_over_holes (strict)       simulator: refused, as documented
 *     ...                    unmap_over_holes (documents)    driver: TODO, by the rule's waiver
 */
#ifndef CUVMM_SUITE_RUN_H
#define CUVMM_SUITE_RUN_H

#include "house.h"
#include "test.h"

struct run {
    const char *spec;
    struct fix_house *house; /* set when the system under test is a driver or treated as one; else NULL */
};

void run_test(const struct run *run, const struct test *test);

/* The rule's id, or the expectation's name. */
const char *test_subject(const struct test *test, char *id, size_t size);

extern const char *const test_kind_names[];

#endif
