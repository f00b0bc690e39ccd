/* SPDX-License-Identifier: Apache-2.0 */
/* check_watch.h - what `cuvmm check` records besides findings: growth between marks, a trace of each process, and their last
 * calls.
 *
 *     --growth=4 --trace=t.%p.jsonl --recorder=calls.%p.txt
 *
 *     simulator   CUVMM_LAYERS="trace=...|recorder=FOLDER", CUVMM_CHECK_GROWTH
 *     driver      CUVMM_CHECK_TRACE, CUVMM_CHECK_RECORDER, CUVMM_CHECK_GROWTH
 */
#ifndef CUVMM_TOOLS_CHECK_WATCH_H
#define CUVMM_TOOLS_CHECK_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "exec_environment.h"
#include "recorder_watch.h"

enum { CHECK_WATCH_PATH = 2048 };

struct check_watch {
    const char *growth;               /* the value for CUVMM_CHECK_GROWTH; NULL if not given */
    char trace[CHECK_WATCH_PATH];     /* absolute; "" */
    char recorder[CHECK_WATCH_PATH];  /* absolute; "" */
    uint64_t history;                 /* the address whose history is requested; 0 for none */
};

/* Makes an option's file name absolute, because the program may change its folder. Returns false, with the reason on err. */
bool check_watch_file(const char *option, const char *name, char path[CHECK_WATCH_PATH], FILE *err);

/* Begins the recorder, and sets the environment for a program on a driver or on the simulator. */
struct recorder_watch *check_watch_begin(const struct check_watch *watch, bool driver, struct exec_environment *environment, FILE *to);

#endif
