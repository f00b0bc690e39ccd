/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* madvise */
#include "os_huge.h"

#ifdef __linux__
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void os_huge_pages(void *memory, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)memory + page - 1) & ~(page - 1);
    const uintptr_t end = ((uintptr_t)memory + size) & ~(page - 1);
    const int before = errno;
    if (end > first)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
    errno = before;
}
#else
void os_huge_pages(void *memory, size_t size)
{
    (void)memory, (void)size;
}
#endif
