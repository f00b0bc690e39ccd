/* SPDX-License-Identifier: Apache-2.0 */
/* diff.h - random calls, valid and invalid, on a system and on the reference model, side by side. `cuvmm diff` and
 * bin/lockstep.
 *
 *   diff [--backend SPEC]... [--seed S] [--calls N] [--episode N] [--strict] [--script FILE] [--rules] [--flip N]
 *        [--mix N] [--counts]
 *   diff --backend cuda [--as-driver] [--seed S] [--calls N] [--episode N] [--check-every N] [--budget SECONDS]
 *        [--explained FILE] [--record FILE] [--transcript FILE] [--patience SECONDS] [--shrink SECONDS]
 *   diff --shard I/N|auto --findings FOLDER --backend SPEC [...]
 *   diff --merge FOLDER
 *   diff --replay FILE
 *   diff --replay-recording FILE [--backend SPEC]
 *   diff --follow FILE [--backend SPEC] [--transcript FILE]
 *
 * A run consists of episodes, each on a fresh system with its own seed. When both differ, the episode is shrunk,
 * printed, written to FILE if one is named, and the run ends with status 1. One TAP point per spec.
 * --mix N: the calls that are mixed (LOCKSTEP_MIX in lockstep.h); --counts prints how often each call was made, and which
 * were left out and why. --rules prints how often each rule was the answer; --flip N inverts the model's Nth prediction of every episode,
 * which must be noticed.
 *
 * On a driver (cuda, or any spec with --as-driver) a run continues after a difference: each kind is shrunk once and
 * counted, and all are printed at the end. Kinds listed in the FILE of --explained (signature, tab, reason; by default
 * conformance/recorded/recordings/explained.tsv) are not failures. With a shadow layer (shadow|cuda) the simulator runs
 * beside the driver, and each difference that it reports is one. --check-every sets the number of calls between checks
 * of the whole state; --budget stops the run cleanly. --record writes a line for each episode, which --replay-recording
 * compares with a simulator's answers; --transcript writes every call with its answer, and --follow
 * makes those calls again on a simulator and prints each answer that differs. A call may take --patience seconds, and
 * the shrinking of a difference --shrink. CUVMM_TEST_SCALE is the
 * percentage of the default number of calls.
 *
 * --shard makes the episodes of one shard of a campaign (campaign.h) and writes what they found to FOLDER; its status is 0 whatever
 * that was. --merge prints the kinds that all shards found, each shrunk, and has the verdict.
 */
#ifndef CUVMM_DIFF_H
#define CUVMM_DIFF_H

#include <stdio.h>

/* Prints TAP on standard output, and errors in the options on err. spec: the system where --backend is absent; NULL:
 * every simulated machine and a recording. Returns the exit status: 0 no difference, 1 some, 2 wrong options. */
int diff_main(int argc, char **argv, const char *spec, FILE *err);

#endif
