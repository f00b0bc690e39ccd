/* SPDX-License-Identifier: Apache-2.0 */
/* scheduled.h - systems whose queued work is done when the test says.
 *
 *     TEST_EXPECTS(...)
 *         scheduled_open(f, &own, "late")     own: the same backend with ,schedule=late, to be closed with fix_close
 *
 * A fault takes the device from the whole process, so what faults has a process of its own.
 */
#ifndef CUVMM_SUITE_SCHEDULED_H
#define CUVMM_SUITE_SCHEDULED_H

#include "fixture.h"

#define SCHEDULED_ARGS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
/* In a test: launches a kernel of 64 threads. */
#define LAUNCH(stream, kernel, ...) vmm_launch(S, VMM_KERNEL_##kernel, 1, 64, SCHEDULED_ARGS(__VA_ARGS__), stream)

enum { SCHEDULES = 4 };
extern const char *const schedules[SCHEDULES]; /* late, eager and two seeds */

/* On a driver the test ends as one that does not apply. */
void scheduled_open(struct fix *f, struct fix *own, const char *schedule);

/* A stream that is ordered with the default one; fix_stream makes the other kind. */
vmm_stream blocking_stream(struct fix *f);

/* A word, read by the host in a way that waits for nothing: the copy is on a stream of its own. */
uint64_t glance(struct fix *f, vmm_stream aside, vmm_deviceptr p);

#endif
