/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - the same life through the driver's own entry points of a loaded libcuda.so.1: the simulator's, or the
 * driver's on a machine with a device. */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <stdbool.h>

/* Returns false, with a message on standard error, if the library or a device is missing. The library stays
 * loaded. */
bool driver_open(const char *library);
void driver_some_lives(void *state, unsigned units); /* on any number of threads at once */
double driver_lives(void *state, unsigned units);
double driver_questions(void *state, unsigned units); /* cuMemGetAccess of one mapping, again and again */

#endif
