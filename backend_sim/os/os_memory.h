/* SPDX-License-Identifier: Apache-2.0 */
/* os_memory.h - how much memory this process and its neighbours may still take.
 *
 *   limit 128 MiB   [ used by all in the group: 90 | caches, which the system can drop: 20 ]   left: 128 - 90 = 38
 *
 * A group of processes that takes more than its limit (a container's, a service's) is not told so: one of them is killed. Files
 * in memory count, and stay when their process is killed, so the next process of the group could be killed as soon as it starts.
 */
#ifndef SIM_OS_MEMORY_H
#define SIM_OS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes up to the nearest limit, of this group or of one around it; UINT64_MAX where there is none, or the system tells none.
 * *limit is that limit. */
uint64_t os_memory_left(uint64_t *limit);

/* Is there so much left that an eighth of the limit, and 64 MiB at most, stays for others? *more: what may be taken besides without
 * asking again, which takes its time. */
bool os_memory_room(uint64_t size, uint64_t *more);

#endif
