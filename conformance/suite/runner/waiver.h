/* SPDX-License-Identifier: Apache-2.0 */
/* waiver.h - documented rules that a named driver does not enforce: the table of docs/waivers.md.
 *
 *     | WAIVER-580-UNMAP-HOLE | VMM-UNMAP-HOLE | 580.159.04 | what it means for users |
 *
 * On a driver such a rule is a TODO in the TAP output: expected to fail. If it holds after all, the waiver is stale and
 * the run fails.
 */
#ifndef CUVMM_SUITE_WAIVER_H
#define CUVMM_SUITE_WAIVER_H

#include <stdbool.h>

struct waiver {
    char id[64], rule[64], drivers[64], effect[400];
};

/* The waiver of a rule (its id); waiver may be NULL. False when there is none, or no table. */
bool waiver_find(const char *rule, struct waiver *waiver);

/* Makes one TAP point: documented rules that driver 580 accepts have a waiver each, and no other rules have one. */
void waiver_check(void);

#endif
