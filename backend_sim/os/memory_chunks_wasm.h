/* SPDX-License-Identifier: Apache-2.0 */
/* memory_chunks_wasm.h - the contents of a file in memory (memory_files_wasm.h), sparse.
 *
 *   chunks    [0: piece A][1: none, zero][2: piece B][3: piece B] . . .
 *   memory    A [64 KiB]                  B [64 KiB][64 KiB]
 *
 *   map [1, 3)   before  [1: none][2: piece C]          a mapping is one run of memory, so what lies apart is moved
 *                after   [1: piece D][2: piece D]       into a new piece; what is mapped already cannot move
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
    struct memory_leaf **leaf; /* NULL where no chunk of it was ever there */
    size_t leaves;
};

/* The byte at offset; all bytes after it up to the next multiple of MEMORY_CHUNK follow it. NULL where the chunk is not there, and
 * with make when memory is out or the offset is beyond what a file can have. */
unsigned char *memory_chunks_byte(struct memory_chunks *chunks, uint64_t offset, bool make);

/* The run of memory that holds [offset, offset + size), offset a multiple of MEMORY_CHUNK. NULL when memory is out, or part of it is
 * mapped elsewhere. Each map needs an unmap with the same range. */
unsigned char *memory_chunks_map(struct memory_chunks *chunks, uint64_t offset, uint64_t size);
void memory_chunks_unmap(struct memory_chunks *chunks, uint64_t offset, uint64_t size);

/* Zeroes the range, and frees what of it is not mapped. */
void memory_chunks_clear_range(struct memory_chunks *chunks, uint64_t offset, uint64_t size);
/* Frees everything; nothing is mapped. */
void memory_chunks_clear(struct memory_chunks *chunks);

/* Is a chunk there at offset? *length: for how many bytes at most; on return for how many that holds. */
bool memory_chunks_has_data(const struct memory_chunks *chunks, uint64_t offset, uint64_t *length);

const char *memory_chunks_check(const struct memory_chunks *chunks);

/* Zeroed memory of that many chunks; NULL when it is out. What the system has for this is in memory_pages_wasm.c. */
unsigned char *memory_pages_take(size_t chunks);
void memory_pages_free(unsigned char *memory, size_t chunks);

#endif
