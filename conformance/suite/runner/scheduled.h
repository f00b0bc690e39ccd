/* SPDX-License-Identifier: Apache-2.0 */
/* scheduled.h - systems that run queued work when the test chooses.
 *
 *     TEST_EXPECTS(...)
 *         scheduled_open(f, &own, "late")     own: the same backend with ,schedule=late, to be closed with fix_close
 *
 * A fault takes the device from the whole process, so each faulting test has a process of its own.
 */
#ifndef CUVMM_SUITE_SCHEDULED_H
#define CUVMM_SUITE_SCHEDULED_H

#include "fixture.h"

#define SCHEDULED_ARGS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
/* In a test: launches a kernel of 64 threads. */
#define LAUNCH(stream, kernel, ...) vmm_launch(S, VMM_KERNEL_##kernel, 1, 64, SCHEDULED_ARGS(__VA_ARGS__), stream)

enum { SCHEDULES = 4 };
extern const char *const schedules[SCHEDULES]; /* late, eager and two seeds */

/* Skips the test on a driver. */
void scheduled_open(struct fix *f, struct fix *own, const char *schedule);

/* A blocking stream, ordered with the default one; fix_stream makes a non-blocking one. */
vmm_stream blocking_stream(struct fix *f);

/* A word that the host reads without waiting for other work: the copy is on a stream of its own, and so races with it (f->races). */
uint64_t glance(struct fix *f, vmm_stream aside, vmm_deviceptr p);

#endif
