/* SPDX-License-Identifier: Apache-2.0 */
/* trace_self.h - the process that writes a trace, for the header of its own file.
 *
 *     "host":"node7","boot":"6e0c...","process":4711,"parent":4700,"program":"/usr/bin/python3.12",
 *     "started":"2026-11-23T17:31:22Z","clock":812345678901
 *
 * Processes with one boot share the clock, CLOCK_MONOTONIC in nanoseconds; `clock` is its value when the file was begun.
 */
#ifndef CUVMM_LAYERS_TRACE_SELF_H
#define CUVMM_LAYERS_TRACE_SELF_H

#include <stdint.h>

#include "json.h"

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t trace_clock(void);

/* The members above. fork_of: the traced process that this one was forked from, without an exec in between; 0 if none. */
void trace_self(struct json *json, uint64_t clock, int64_t fork_of);

#endif
