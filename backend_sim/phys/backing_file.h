/* SPDX-License-Identifier: Apache-2.0 */
/* backing_file.h - the machine's physical memory as a file: the offset of each block, and the addresses where the
 * simulator maps it.
 *
 *   file      [ block 1 ][ block 2 ]......[ block 5 ]............   only written bytes take space
 *   free 2    [ block 1 ][.................][ block 5 ]............  its space is freed, the next block reads as zero
 *   windows   [ window 0, 64 MiB ][ window 1 ]                       a window is mapped once, on first use
 *
 * A block gets its place, a contiguous range, at its first access. The file can be far larger than the memory that it
 * represents, so fragmentation of the free ranges does no harm. Blocks that are first accessed one after another are
 * adjacent, so that work on all of them is one contiguous run. Without a file (backing.file -1) there are no places.
 * The caller does all locking.
 *
 * Invariants (backing_file_check; backing_file_check_place and backing_file_check_seen for one place in use):
 *     the file    = free + places of the blocks + lost places, in pieces (free_ranges.h), and each byte is in one of them
 *     a place     begins and ends at pages inside the file, and no byte of it is free
 *     no file     -> no places and no windows
 *     windows     counts the entries of window, and is 0 exactly where there are none
 */
#ifndef SIM_BACKING_FILE_H
#define SIM_BACKING_FILE_H

#include "free_ranges.h"

#define BACKING_FILE_NOWHERE UINT64_MAX
#ifdef __SANITIZE_THREAD__ /* TSan's runtime clears four times the mapped size, however little of it is used */
#define BACKING_FILE_WINDOW (UINT64_C(2) << 20)
#elif defined(__wasm__) /* a chunk of a file in memory (backend_sim/os/memory_chunks_wasm.h), which needs no neighbour */
#define BACKING_FILE_WINDOW (UINT64_C(64) << 10)
#else
#define BACKING_FILE_WINDOW (UINT64_C(64) << 20)
#endif

/* Places in use, in whole pages. */
struct backing_file_use {
    uint64_t bytes, ends; /* ends: the sum of range_ends of the places */
    size_t places;
};

struct backing_file {
    int file; /* -1: not opened yet, or the system refused it */
    int (*make)(void *user); /* opens it; NULL: a file without a name */
    void *user;
    bool abandoned; /* the file belongs to another process, whose bytes must not be cleared */
    bool limited; /* its file system can run out of space, so space is allocated before bytes are accessed */
    struct free_ranges free;
    struct backing_file_use lost; /* places that the system could not clear */
    unsigned char **window;
    uint64_t windows;
};

void backing_file_init(struct backing_file *backing);
void backing_file_clear(struct backing_file *backing);
/* Sets the function that opens the file. Call it before the first place is taken. */
void backing_file_open_with(struct backing_file *backing, int (*make)(void *user), void *user);

/* A place for size bytes that read as zero; BACKING_FILE_NOWHERE without a file, or when the file cannot grow that far. */
uint64_t backing_file_take(struct backing_file *backing, uint64_t size);
/* In a forked child: the file is the parent's; from now on, freeing places clears nothing. */
void backing_file_abandon(struct backing_file *backing);
/* Frees a place and clears its bytes. A place that the system cannot clear is never reused. */
void backing_file_free(struct backing_file *backing, uint64_t place, uint64_t size);

/* Maps [place, place + size) of a taken place for the simulator. False when out of memory. */
bool backing_file_map(struct backing_file *backing, uint64_t place, uint64_t size);
/* Makes sure that later writes there cannot run out of space. */
bool backing_file_allocate(struct backing_file *backing, uint64_t place, uint64_t size);
/* The address of a mapped byte; all bytes after it up to the next multiple of BACKING_FILE_WINDOW follow it. */
unsigned char *backing_file_at(const struct backing_file *backing, uint64_t place);

/* used: the sum of the blocks' places in this file. */
const char *backing_file_check(const struct backing_file *backing, const struct backing_file_use *used);
void backing_file_add(struct backing_file_use *used, uint64_t place, uint64_t size);
const char *backing_file_check_place(const struct backing_file *backing, uint64_t place, uint64_t size);
/* Its first and last byte are mapped for the simulator. */
const char *backing_file_check_seen(const struct backing_file *backing, uint64_t place, uint64_t size);

#endif
