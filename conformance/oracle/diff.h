/* SPDX-License-Identifier: Apache-2.0 */
/* diff.h - random calls, valid and invalid, on a system and on the reference model, side by side. `cuvmm diff` and
 * bin/lockstep.
 *
 *   diff [--backend SPEC]... [--seed S] [--calls N] [--episode N] [--strict] [--script FILE] [--rules] [--flip N]
 *   diff --backend cuda [--as-driver] [--seed S] [--calls N] [--episode N] [--check-every N] [--budget SECONDS]
 *        [--explained FILE] [--record FILE] [--transcript FILE]
 *   diff --replay FILE
 *   diff --replay-recording FILE [--backend SPEC]
 *
 * A run is cut into episodes, each on a fresh system with a seed of its own. When both differ, the episode is shrunk,
 * shown, written to FILE where one is named, and the run ends with status 1. One TAP point per spec.
 * --rules tells how often each rule was the answer; --flip N turns the model's Nth prediction of every episode round,
 * which must be noticed.
 *
 * On a driver (cuda, or any spec with --as-driver) a run goes on after a difference: each kind is shrunk once and
 * counted, and all are shown at the end. Kinds that FILE of --explained lists (signature, tab, reason;
 * conformance/recorded/recordings/explained.tsv where none is named) are no failures. With a shadow layer (shadow|cuda) the
 * simulator runs beside the driver, and what it says of a difference is one. --check-every says after how many calls
 * the whole state is looked at; --budget stops the run cleanly. --record writes a line for each episode, which
 * --replay-recording compares with what a simulator answers; --transcript writes every call with its answer.
 * CUVMM_TEST_SCALE is the percent of the default number of calls to make.
 */
#ifndef CUVMM_DIFF_H
#define CUVMM_DIFF_H

#include <stdio.h>

/* Prints TAP on standard output, and what is wrong with the options on err. spec: what is compared where --backend names nothing; NULL: every simulated machine and
 * a recording. Returns the exit status: 0 no difference, 1 some, 2 the options are wrong. */
int diff_main(int argc, char **argv, const char *spec, FILE *err);

#endif
