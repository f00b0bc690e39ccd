/* SPDX-License-Identifier: Apache-2.0 */
/* sys/mman.h - names alone: posix.mmap answers ENOSYS, and os.h has what the simulator maps. */
#ifndef CUVMM_WASM_MMAN_H
#define CUVMM_WASM_MMAN_H

enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_FIXED = 16, MAP_ANONYMOUS = 32 };
#define MAP_FAILED ((void *)-1)

#endif
