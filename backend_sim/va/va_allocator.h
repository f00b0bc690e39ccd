/* SPDX-License-Identifier: Apache-2.0 */
/* va_allocator.h - the free addresses of a process, and the placement of a new range.
 *
 *   small ranges  [ chunk: R1 R2 .. R3 ][ chunk: R7 ........ ]     packed into chunks, a chunk closes with its last range
 *   large ranges  [ R4 .............. whole chunks ........ ]     space of their own
 *
 * As measured on driver 580, see vmm_mem_address_reserve in vmm.h. Where the profile's chunk is the granularity, every
 * range is a large one and the allocator is plain first fit. The caller does all locking.
 *
 * The free of the range that was taken last is deferred until the next different request. A program that takes and frees in
 * turn repeats the same request and gets the same address, the one that a search would find again.
 *
 *     take 2 MiB  -> a          free a (deferred)       take 2 MiB  -> a          take 4 MiB: a is freed first
 *
 * Invariants (va_allocator_check), where taken ranges are the caller's and the one whose free is deferred:
 *     [start, end)   = free in large + whole chunks of large taken ranges + open chunks + excluded, of which no two overlap
 *     an open chunk  = its used bytes, which small taken ranges have, + its free ones in small; and used > 0
 *     small          has nothing outside open chunks, large nothing inside
 */
#ifndef SIM_VA_ALLOCATOR_H
#define SIM_VA_ALLOCATOR_H

#include "addrmap.h"
#include "free_ranges.h"

/* The last range taken. */
struct va_allocator_last {
    uint64_t size, alignment, from, address;
    bool newest; /* nothing was taken or freed since */
    bool freed;  /* newest, and freed since; the free is deferred */
};

struct va_allocator {
    struct va_allocator_last last;
    struct free_ranges large;    /* free space outside open chunks */
    struct free_ranges small;    /* free space inside open chunks */
    struct addrmap chunks; /* open chunks */
    uint64_t chunk;        /* their size */
    struct pool chunk_pool;
};

/* All of [start, end) is free at first; chunk is a power of two. False when out of memory. */
bool va_allocator_init(struct va_allocator *va, uint64_t start, uint64_t end, uint64_t chunk);
/* Takes [start, end), which is whole free chunks, permanently. False when out of memory. */
bool va_allocator_exclude(struct va_allocator *va, uint64_t start, uint64_t end);
void va_allocator_clear(struct va_allocator *va);

enum va_allocator_result { VA_ALLOCATOR_TAKEN, VA_ALLOCATOR_FULL, VA_ALLOCATOR_NO_MEMORY };

/* Takes the lowest place for size bytes at a multiple of alignment (a power of two), at or above from. Unless the
 * result is VA_ALLOCATOR_TAKEN nothing has changed. */
enum va_allocator_result va_allocator_take(struct va_allocator *va, uint64_t size, uint64_t alignment, uint64_t from,
                                           uint64_t *address);
/* Frees a range exactly as it was taken. */
void va_allocator_free(struct va_allocator *va, uint64_t address, uint64_t size);

/* The sums of what the caller took and did not free: large ranges in whole chunks, including excluded ranges. */
struct va_allocator_taken {
    uint64_t large_bytes, small_bytes;
    size_t large, small; /* ranges */
};
/* Adds a range. NULL, or a description if the range is not taken. */
const char *va_allocator_check_taken(const struct va_allocator *va, uint64_t address, uint64_t size,
                                     struct va_allocator_taken *taken);
/* Checks the whole allocator, which has size bytes of addresses. */
const char *va_allocator_check(const struct va_allocator *va, uint64_t size, const struct va_allocator_taken *taken);
/* Checks the surroundings of one address. */
const char *va_allocator_check_at(const struct va_allocator *va, uint64_t address);

#endif
