/* SPDX-License-Identifier: Apache-2.0 */
#include "os_memory.h"

bool os_memory_room(uint64_t size, uint64_t *more)
{
    const uint64_t most = UINT64_C(64) << 20, plenty = UINT64_C(128) << 20;
    uint64_t limit, left = os_memory_left(&limit), kept = limit / 8 < most ? limit / 8 : most;
    uint64_t free = left > kept ? left - kept : 0;
    *more = 0;
    if (size > free)
        return false;
    *more = (free - size < plenty ? free - size : plenty) / 16; /* other processes take some as well */
    return true;
}
