/* SPDX-License-Identifier: Apache-2.0 */
/* room.h - how much of the host's memory this process has, and what live mappings take of it. */
#ifndef BENCH_ROOM_H
#define BENCH_ROOM_H

#include <stdint.h>

#include "live.h"

/* Resident memory of this process in bytes, 0 where the system does not tell. */
uint64_t resident(void);

/* live_open, and the bytes that each of the mappings took; 0 where the system does not tell. To be called before others
 * have left memory that could be used again. */
double room_of_mappings(struct live *live, const char *spec, uint64_t count);

#endif
