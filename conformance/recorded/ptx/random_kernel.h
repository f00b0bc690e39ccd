/* SPDX-License-Identifier: Apache-2.0 */
/* random_kernel.h - a kernel made of a seed: the same text on every machine, with one right result.
 *
 *     seed 7   ->   branches, loops and tables of jumps that lanes take differently, calls, arithmetic with explicit rounding,
 *                   local, shared and global memory, atomics, barriers, shuffles, votes
 *              ->   out[checkpoint][thread]: what the thread's registers held, mixed into one word; and cells that all threads add to
 *
 * What one thread leaves is never read by another without a barrier between, a NaN counts as a NaN, and nothing is approximated.
 */
#ifndef PTX_RANDOM_KERNEL_H
#define PTX_RANDOM_KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum { RANDOM_TEXT = 1 << 17, RANDOM_CHECKPOINTS = 16, RANDOM_THREADS_MOST = 640, RANDOM_CELLS = 32, RANDOM_INPUTS = 8, RANDOM_GROUPS = 16 };

struct random_kernel {
    uint64_t seed;
    unsigned grid, block; /* block is a multiple of 32 */
    char text[RANDOM_TEXT];
};

/* The kernel "k" (in, out, cells), all of them arrays of words of 64 bits: in has RANDOM_INPUTS a thread, out RANDOM_CHECKPOINTS. */
void random_kernel_make(struct random_kernel *kernel, uint64_t seed);

/* in, of all threads. */
uint64_t random_kernel_input(const struct random_kernel *kernel, unsigned i);

/* One line: the seed, a hash of each checkpoint over all threads, of all checkpoints over a sixteenth of the threads each, of cells. */
size_t random_kernel_row(const struct random_kernel *kernel, const uint64_t *out, const uint64_t *cells, char *line, size_t size);

#endif
