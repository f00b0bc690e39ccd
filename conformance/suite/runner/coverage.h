/* SPDX-License-Identifier: Apache-2.0 */
/* coverage.h - checks that every promise has a test.
 *
 *     every rule of vmm_rules()                 a test that breaks it, and a near miss here or in conformance/corpus/rulebook,
 *                                               or a line in conformance/recorded/decisions/untestable.tsv (id <tab> why);
 *                                               those of libcuda.so.1 alone are backend_sim/abi/library/abi_rules_test.c's
 *     every line of decisions/expectations.txt  a test that expects it
 *
 * The files are read from CUVMM_SOURCE, or from the current directory.
 */
#ifndef CUVMM_SUITE_COVERAGE_H
#define CUVMM_SUITE_COVERAGE_H

/* Makes one TAP point for the rules, one for stale or wrong names, one for the expectations. */
void coverage_check(void);

#endif
