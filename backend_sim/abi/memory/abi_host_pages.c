/* SPDX-License-Identifier: Apache-2.0 */
/* The access rights of a process to its own memory, as Linux reports them:
 *
 *     7f1c2a000000-7f1c2a400000 rw-p ...      /proc/self/maps, in address order
 */
#include <stdio.h>
#include <stdlib.h>

#include "abi_host.h"
#include "posix.h"

#ifdef __linux__

static unsigned rights_of(const char *text)
{
    if (text[0] != 'r')
        return VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    return text[1] == 'w' ? VMM_MEM_ACCESS_FLAGS_PROT_READWRITE : VMM_MEM_ACCESS_FLAGS_PROT_READ;
}

static unsigned least_of(FILE *maps, uint64_t start, uint64_t end)
{
    unsigned rights = VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    unsigned long long from, to;
    char text[5];
    while (start < end && rights && fscanf(maps, "%llx-%llx %4s%*[^\n]", &from, &to, text) == 3) {
        if (to <= start)
            continue;
        rights &= from <= start ? rights_of(text) : VMM_MEM_ACCESS_FLAGS_PROT_NONE;
        start = to;
    }
    return start < end ? VMM_MEM_ACCESS_FLAGS_PROT_NONE : rights;
}

unsigned abi_host_pages(uint64_t start, uint64_t size)
{
    FILE *maps = posix.fopen("/proc/self/maps", "re");
    if (!maps)
        return VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    unsigned rights = least_of(maps, start, start + size);
    fclose(maps);
    return rights;
}

#else

unsigned abi_host_pages(uint64_t start, uint64_t size)
{
    (void)start, (void)size;
    return VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

#endif
