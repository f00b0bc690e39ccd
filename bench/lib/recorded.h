/* SPDX-License-Identifier: Apache-2.0 */
/* recorded.h - the time that the recorded drivers took for calls on 2 MiB: conformance/recorded/facts/times.tsv. */
#ifndef BENCH_RECORDED_H
#define BENCH_RECORDED_H

#include <stdbool.h>

/* Microseconds that the machine ("h100", "h200x2") took for a call ("create", "setaccess"); 0 where not recorded. */
double recorded_call(const char *machine, const char *call);
/* For reserve, create, map, set access, unmap, release and free together. */
double recorded_life(const char *machine);

#endif
