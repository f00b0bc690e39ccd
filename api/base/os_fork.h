/* SPDX-License-Identifier: Apache-2.0 */
/* os_fork.h - memory that the children of a fork find zeroed.
 *
 *   parent   [7][page of its own]   fork()   child   [0][its copy]
 */
#ifndef CUVMM_OS_FORK_H
#define CUVMM_OS_FORK_H

#include <stdbool.h>
#include <stdint.h>

/* From now on the memory, whole pages of the program, is zero in the child of every fork. False, without effect, when the system
 * cannot do that. An emulator may return true and do nothing. */
bool os_wipe_at_fork(void *memory, uint64_t size);

#endif
