/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - the same life through the driver's own entry points, in a libcuda.so.1 that is loaded: the simulator's, or on
 * a machine with a device the driver's. */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <stdbool.h>

/* False, with a sentence on standard error, where the library or a device is missing. Stays loaded. */
bool driver_open(const char *library);
double driver_lives(void *state, unsigned units);
double driver_questions(void *state, unsigned units); /* cuMemGetAccess of one mapping, again and again */

#endif
