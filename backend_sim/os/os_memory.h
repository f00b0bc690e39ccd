/* SPDX-License-Identifier: Apache-2.0 */
/* os_memory.h - the amount of memory that this process and its control group may still use.
 *
 *   limit 128 MiB   [ used by all in the group: 90 | caches, which the system can drop: 20 ]   left: 128 - 90 = 38
 *
 * A control group that exceeds its limit (a container's, a service's) gets no error: the system kills one of its processes. Files
 * in memory count, and outlive a killed process, so the system could kill the group's next process as soon as it starts.
 */
#ifndef SIM_OS_MEMORY_H
#define SIM_OS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes left below the nearest limit, of this group or of an enclosing one; UINT64_MAX when there is none, or the system reports
 * none. *limit is that limit. */
uint64_t os_memory_left(uint64_t *limit);

/* After taking size bytes, does an eighth of the limit, at most 64 MiB, stay free for others? *more: how much more the caller may
 * take without another query, which is slow. */
bool os_memory_room(uint64_t size, uint64_t *more);

#endif
