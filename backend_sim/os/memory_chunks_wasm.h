/* SPDX-License-Identifier: Apache-2.0 */
/* memory_chunks_wasm.h - the contents of a file in memory (memory_files_wasm.h), sparse.
 *
 *   chunks    [0: piece A][1: none, zero][2: piece B][3: piece B] . . .
 *   memory    A [64 KiB]                  B [64 KiB][64 KiB]
 *
 *   map [1, 3)   before  [1: none][2: piece C]          a mapping is one run of memory, so separate chunks are moved
 *                after   [1: piece D][2: piece D]       into a new piece; mapped chunks cannot move
 *
 * Invariants (memory_chunks_check):
 *     a chunk     lies inside the piece that it names, and no other chunk of the file lies there
 *     a piece     counts the chunks that name it, and is free when it counts none and is not mapped
 */
#ifndef SIM_MEMORY_CHUNKS_WASM_H
#define SIM_MEMORY_CHUNKS_WASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_CHUNK = 65536 };

struct memory_leaf;

struct memory_chunks {
    struct memory_leaf **leaf; /* NULL if no chunk ever existed */
    size_t leaves;
};

/* The byte at offset; all bytes after it up to the next multiple of MEMORY_CHUNK follow it. NULL if the chunk does
 * not exist; with make, if memory is exhausted or the offset exceeds the maximum size of a file. */
unsigned char *memory_chunks_byte(struct memory_chunks *chunks, uint64_t offset, bool make);

/* The run of memory with the bytes [offset, offset + size); offset must be a multiple of MEMORY_CHUNK. NULL if memory
 * is exhausted, or part of the range is mapped elsewhere. Each map needs an unmap with the same range. */
unsigned char *memory_chunks_map(struct memory_chunks *chunks, uint64_t offset, uint64_t size);
void memory_chunks_unmap(struct memory_chunks *chunks, uint64_t offset, uint64_t size);

/* Zeroes the range, and frees its unmapped parts. */
void memory_chunks_clear_range(struct memory_chunks *chunks, uint64_t offset, uint64_t size);
/* Frees everything; nothing may be mapped. */
void memory_chunks_clear(struct memory_chunks *chunks);

/* Does a chunk exist at offset? *length: the maximum number of bytes to examine; on return the number of bytes with
 * the same answer. */
bool memory_chunks_has_data(const struct memory_chunks *chunks, uint64_t offset, uint64_t *length);

const char *memory_chunks_check(const struct memory_chunks *chunks);

/* Zeroed memory for that many chunks; NULL when memory is exhausted. The implementation is in memory_pages_wasm.c. */
unsigned char *memory_pages_take(size_t chunks);
void memory_pages_free(unsigned char *memory, size_t chunks);

#endif
