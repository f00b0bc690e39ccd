/* SPDX-License-Identifier: Apache-2.0 */
/* room.h - the host memory of this process, and the share that live mappings take. */
#ifndef BENCH_ROOM_H
#define BENCH_ROOM_H

#include <stdint.h>

#include "live.h"

/* Resident memory of this process in bytes, 0 if the system does not report it. */
uint64_t resident(void);

/* live_open, and the bytes that each of the mappings took; 0 if the system does not report it. Call it first, before
 * other measurements leave memory for reuse. */
double room_of_mappings(struct live *live, const char *spec, uint64_t count);

#endif
