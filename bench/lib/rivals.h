/* SPDX-License-Identifier: Apache-2.0 */
/* rivals.h - what the simulator's lives are compared with.
 *
 *   mmap        the life as a fake would make it from the host's own calls:
 *               mmap none, memfd, mmap over it, mprotect, mmap none over it, close, munmap
 *   container   insert, find and delete a key in the C library's balanced tree: the lower bound of any book-keeping
 *
 *   pointers    find a pointer in a plain table at a random place, and change the cache line that it leads to, before the next place is
 *               known: what the memory takes for the two look-ups that a map of objects cannot do without
 *
 * Each has that many live elements beside the timed one.
 */
#ifndef BENCH_RIVALS_H
#define BENCH_RIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mmap_rival {
    unsigned char *live;
    uint64_t count;
    int file;
};

/* Returns false if the system has no memfd, or no more mappings. */
bool mmap_rival_open(struct mmap_rival *rival, uint64_t count);
void mmap_rival_close(struct mmap_rival *rival);
double mmap_rival_lives(void *state, unsigned units);

struct container_rival {
    void *root;
    uint64_t *key;
    uint64_t count;
};

bool container_rival_open(struct container_rival *rival, uint64_t count);
void container_rival_close(struct container_rival *rival);
double container_rival_lives(void *state, unsigned units);

struct pointers_rival {
    uint64_t (*line)[8];
    uint64_t **pointer;
    uint64_t count, chance;
    void *memory;
};

bool pointers_rival_open(struct pointers_rival *rival, uint64_t count);
void pointers_rival_close(struct pointers_rival *rival);
double pointers_rival_changes(void *state, unsigned units);

#endif
