/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* madvise */
#include "os_fork.h"

#include <sys/mman.h>
#include <unistd.h>

bool os_wipe_at_fork(void *memory, uint64_t size)
{
#ifdef MADV_WIPEONFORK
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return ((uintptr_t)memory | size) % page == 0 && !madvise(memory, (size_t)size, MADV_WIPEONFORK);
#else
    (void)memory, (void)size;
    return false;
#endif
}
