/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_block.h - the warps of a block, their shared memory and barriers.
 *
 *     barrier 0, 64 threads:   warp 0 waits [32 of 64]   warp 1 arrives [64 of 64]   both go on
 *
 * A barrier does not wait for a thread that has exited.
 */
#ifndef PTX_BLOCK_H
#define PTX_BLOCK_H

#include "ptx_warp.h"

enum { PTX_BARRIERS = 16 };

struct ptx_barrier {
    uint32_t arrived;   /* threads */
    uint32_t expected;  /* 0: all that are alive */
    uint32_t all, some; /* of a reduction: 1 while all were true, and 1 if any was */
    uint32_t count;
};

struct ptx_grid;

struct ptx_block {
    struct ptx_grid *grid;
    uint32_t index[3];
    uint64_t number;
    unsigned char *shared; /* at the address shared_start of its space */
    uint32_t shared_start, shared_size;
    struct ptx_warp *warps;
    uint32_t warp_count, threads, alive;
    struct ptx_barrier barrier[PTX_BARRIERS];
    bool printed;
};

/* If memory is exhausted, the launch has ended. A reopened block keeps its memory. */
void ptx_block_open(struct ptx_block *block, struct ptx_grid *grid, uint64_t number);
void ptx_block_close(struct ptx_block *block);

/* Gives each warp a turn. ENDED: all its threads have exited; WAITS: all wait, and nothing can wake them. */
enum ptx_turn ptx_block_turn(struct ptx_block *block, struct ptx_port *port);

/* Threads of a warp arrive at a barrier. True: the barrier is complete, and the waiting threads are ready again. */
void ptx_block_arrive(struct ptx_block *block, unsigned barrier, uint32_t threads, uint32_t expected);
/* Lanes of a warp have exited. */
void ptx_block_exit(struct ptx_block *block, uint32_t threads);

#endif
