/* SPDX-License-Identifier: Apache-2.0 */
/* block_data.h - the sparse contents of a block of physical memory: bytes that were never written read as zero and take no
 * space.
 *
 *   block     [........................................]
 *   written    ####......###                    ##        a bit for every 64 KiB of it
 *
 * The bytes are stored in the machine's backing file (backing_file.h), so that they can also be mapped at other host
 * addresses; without a file, they are in private memory.
 *
 * The caller does all locking.
 *
 * Invariants (block_data_check):
 *     written    -> a place or private memory, and not both; without written neither, unless another owner has the place
 *     open       -> a place, mapped for the simulator
 *     its place  is in use (backing_file.h)
 */
#ifndef SIM_BLOCK_DATA_H
#define SIM_BLOCK_DATA_H

#include "backing_file.h"

#define BLOCK_DATA_CHUNK UINT64_C(65536)

struct block_data {
    uint64_t size;
    struct backing_file *backing;
    uint64_t place;      /* in the file; BACKING_FILE_NOWHERE before the first write and without a file */
    unsigned char *own;  /* private memory; NULL before the first write and with a file */
    uint64_t *written;   /* NULL until the first write; then a bit for each BLOCK_DATA_CHUNK */
    bool open;           /* code outside the simulator can write the bytes: the simulator no longer knows which are zero */
    bool borrowed;       /* another owner frees the place */
    bool apart;          /* a page separates it from the next block in the file, so that the kernel never merges
                            the mappings of both; unmapping one of them then needs no further mapping */
};

void block_data_init(struct block_data *bytes, struct backing_file *backing, uint64_t size);
void block_data_clear(struct block_data *bytes);

/* Uses bytes at a place that another owner allocated in a file and opened; backing must have them mapped. */
void block_data_borrow(struct block_data *bytes, struct backing_file *backing, uint64_t place, uint64_t size);

/* Makes sure that writing [offset, offset + length) needs no more memory. False when out of memory: the contents are unchanged,
 * and later calls work. */
bool block_data_touch(struct block_data *bytes, uint64_t offset, uint64_t length);

/* The same only for block_data_fill: bytes that were never written still count as never written. */
bool block_data_reserve(struct block_data *bytes, uint64_t offset, uint64_t length);
/* Fills [offset, offset + length), which block_data_reserve has prepared, with a value of width bytes (1, 2 or 4); offset and
 * length must be multiples of width. Zeros leave never-written bytes as they are, and need no space there. */
void block_data_fill(struct block_data *bytes, uint64_t offset, uint64_t length, const unsigned char *value, unsigned width);

/* The longest contiguous run from offset, at most *length bytes: returns its address (NULL: never written, so all zero) and its
 * length in *length. */
unsigned char *block_data_run(const struct block_data *bytes, uint64_t offset, uint64_t *length);

/* The same for reading only: also returns NULL for open bytes that take no space in the file. */
const unsigned char *block_data_run_to_read(const struct block_data *bytes, uint64_t offset, uint64_t *length);

/* Opens the bytes to code other than the simulator, in the file at bytes->place. False when out of memory or without a file. */
bool block_data_open(struct block_data *bytes);

/* Moves the bytes to another file, or into private memory if there is no file. False when out of memory: nothing has changed.
 * Not for borrowed bytes. */
bool block_data_move(struct block_data *bytes, struct backing_file *backing);

const char *block_data_check(const struct block_data *bytes);
/* Adds the block's own place in that file, if it has one. */
void block_data_use(const struct block_data *bytes, const struct backing_file *backing, struct backing_file_use *used);

#endif
