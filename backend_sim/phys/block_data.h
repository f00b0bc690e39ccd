/* SPDX-License-Identifier: Apache-2.0 */
/* block_data.h - the contents of a block of physical memory, sparse: what was never written reads as zero and takes no room.
 *
 *   block     [........................................]
 *   written    ####......###                    ##        a bit for every 64 KiB of it
 *
 * The bytes lie in the machine's memory file (backing_file.h), so that they can be shown at other addresses of the host as
 * well; where there is no file, in memory of their own.
 *
 * All locking is up to the caller.
 */
#ifndef SIM_BLOCK_DATA_H
#define SIM_BLOCK_DATA_H

#include "backing_file.h"

#define BLOCK_DATA_CHUNK UINT64_C(65536)

struct block_data {
    uint64_t size;
    struct backing_file *frames;
    uint64_t place;      /* in the file; BACKING_FILE_NOWHERE before the first write and without a file */
    unsigned char *own;  /* memory of its own; NULL before the first write and with a file */
    uint64_t *written;   /* NULL until the first write; then a bit for each BLOCK_DATA_CHUNK */
    bool open;           /* others may write to it unseen: nothing is known to be zero any more */
    bool borrowed;       /* the place is another's to give back */
    bool apart;          /* nothing lies right behind it in the file: the system sees in what is shown of it and of the next
                            two mappings, of which either can be taken away without a third */
};

void block_data_init(struct block_data *bytes, struct backing_file *frames, uint64_t size);
void block_data_clear(struct block_data *bytes);

/* Bytes at a place that another has taken in a file, opened by it to others. frames can see them. */
void block_data_borrow(struct block_data *bytes, struct backing_file *frames, uint64_t place, uint64_t size);

/* Makes sure that writing [offset, offset + length) needs no more memory. False when memory is out: contents and later
 * calls are unharmed. */
bool block_data_touch(struct block_data *bytes, uint64_t offset, uint64_t length);

/* The longest run from offset, at most *length bytes, that lies together: its address (NULL: all zero, never written)
 * and in *length how long it is. */
unsigned char *block_data_run(const struct block_data *bytes, uint64_t offset, uint64_t *length);

/* Opens the bytes to others than the simulator, who will find them in the file at bytes->place. False when memory is
 * out, or without a file. */
bool block_data_open(struct block_data *bytes);

#endif
