/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h - the contents of a block of physical memory, sparse: what was never written reads as zero and takes no room.
 *
 *   block     [........................................]
 *   written    ####......###                    ##        a bit for every 64 KiB of it
 *
 * The bytes lie in the machine's memory file (frames.h), so that they can be shown at other addresses of the host as
 * well; where there is no file, in memory of their own.
 *
 * All locking is up to the caller.
 */
#ifndef SIM_BYTES_H
#define SIM_BYTES_H

#include "frames.h"

#define BYTES_CHUNK UINT64_C(65536)

struct bytes {
    uint64_t size;
    struct frames *frames;
    uint64_t place;      /* in the file; FRAMES_NOWHERE before the first write and without a file */
    unsigned char *own;  /* memory of its own; NULL before the first write and with a file */
    uint64_t *written;   /* NULL until the first write; then a bit for each BYTES_CHUNK */
    bool open;           /* others may write to it unseen: nothing is known to be zero any more */
    bool borrowed;       /* the place is another's to give back */
    bool apart;          /* nothing lies right behind it in the file: the system sees in what is shown of it and of the next
                            two mappings, of which either can be taken away without a third */
};

void bytes_init(struct bytes *bytes, struct frames *frames, uint64_t size);
void bytes_clear(struct bytes *bytes);

/* Bytes at a place that another has taken in a file, opened by it to others. frames can see them. */
void bytes_borrow(struct bytes *bytes, struct frames *frames, uint64_t place, uint64_t size);

/* Makes sure that writing [offset, offset + length) needs no more memory. False when memory is out: contents and later
 * calls are unharmed. */
bool bytes_touch(struct bytes *bytes, uint64_t offset, uint64_t length);

/* The longest run from offset, at most *length bytes, that lies together: its address (NULL: all zero, never written)
 * and in *length how long it is. */
unsigned char *bytes_run(const struct bytes *bytes, uint64_t offset, uint64_t *length);

/* Opens the bytes to others than the simulator, who will find them in the file at bytes->place. False when memory is
 * out, or without a file. */
bool bytes_open(struct bytes *bytes);

#endif
