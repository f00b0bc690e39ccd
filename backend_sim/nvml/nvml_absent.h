/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_absent.h - functions that exist only for the linker and return NOT_SUPPORTED. The first call of each is reported on
 * standard error, because a program might ignore the result.
 *
 *     nvmlDeviceGetPowerUsage(...)  ->  "cuvmm: libnvidia-ml.so.1: nvmlDeviceGetPowerUsage is not simulated ..." (once)
 */
#ifndef SIM_NVML_ABSENT_H
#define SIM_NVML_ABSENT_H

#include <stdatomic.h>

/* Returns the code for the caller. *said: the function has been reported before. */
int nvml_absent(const char *symbol, atomic_flag *said);

#endif
