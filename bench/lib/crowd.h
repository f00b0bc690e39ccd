/* SPDX-License-Identifier: Apache-2.0 */
/* crowd.h - processes that do the same work side by side, each with a state of its own: what threads are measured against
 * when the question is whether they get in each other's way inside a process.
 *
 *   crowd_open    parent --+-- child 0: open()           each opens its state after the fork, and waits
 *                          +-- child 1: open()
 *   crowd_run     parent ----- units ---> body(state, units) in a thread ---> when it began and ended
 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

enum { CROWD_MOST = 16 };

struct crowd {
    int socket[CROWD_MOST]; /* to each child */
    unsigned count;
};

/* Starts count processes (at most CROWD_MOST). Call it before the parent has threads or machines. Ends the program on failure. */
void crowd_open(struct crowd *crowd, unsigned count, void *(*open)(const char *spec), const char *spec,
                void (*body)(void *state, unsigned units));
/* All of them do that many units each; returns the seconds from the first start to the last end. */
double crowd_run(struct crowd *crowd, unsigned units);
void crowd_close(struct crowd *crowd);

#endif
