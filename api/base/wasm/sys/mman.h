/* SPDX-License-Identifier: Apache-2.0 */
/* sys/mman.h - no file is mapped: code reads files with read, posix.mmap fails with ENOSYS, and os.h provides what the
 * simulator maps. */
#ifndef CUVMM_WASM_MMAN_H
#define CUVMM_WASM_MMAN_H

#include <stddef.h>

enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_FIXED = 16, MAP_ANONYMOUS = 32 };
#define MAP_FAILED ((void *)-1)

static inline void *mmap(void *at, size_t size, int rights, int flags, int file, long long from)
{
    (void)at, (void)size, (void)rights, (void)flags, (void)file, (void)from;
    return MAP_FAILED;
}

static inline int munmap(void *at, size_t size)
{
    (void)at, (void)size;
    return -1;
}

#endif
