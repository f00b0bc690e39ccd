/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_grid.h - the state that the blocks of a running launch share. */
#ifndef PTX_GRID_H
#define PTX_GRID_H

#include <pthread.h>
#include <stdatomic.h>

#include "ptx_block.h"
#include "ptx_steps.h"

enum { PTX_WORKSPACE = 8 }; /* bytes */

struct ptx_grid {
    const struct ptx_launch *launch;
    struct twin_memory *memory;
    pthread_mutex_t lock;         /* around the accessor, the outcome and the printer */
    pthread_mutex_t heap;         /* around the heap's words */
    bool locked;                  /* the launch uses several host threads */
    pthread_cond_t changed;       /* one of these three, or ended; if there are several host threads */
    unsigned hands, resting;      /* unfinished threads; those, except the caller, that have nothing to do until time passes */
    uint64_t rests;               /* the number of times that time has passed */
    struct ptx_outcome *outcome;
    atomic_bool ended;            /* an error occurred: no further step runs */
    _Atomic uint32_t writes;      /* write requests, after which memory that reads as zeros is requested again */
    unsigned char **constants;    /* of each routine, with the launch's addresses; NULL: not created yet */
    uint32_t workspace[PTX_WORKSPACE / 4]; /* of a cooperative launch: its size in bytes, and the barrier that blocks count at */
    uint64_t blocks;
    uint32_t shared_bytes;        /* static and dynamic */
    uint32_t warps;               /* of a block */
    uint64_t *counts;             /* NULL, or as struct ptx_launch has them */
    const uint64_t *count_of;     /* with counts: the first count of each routine */
    const ptx_step_function *steps;
    /* steps of completed turns: in a separate cache line, because every thread writes it each turn */
    _Alignas(64) _Atomic uint64_t made;
};

void ptx_grid_lock(struct ptx_grid *grid);
void ptx_grid_unlock(struct ptx_grid *grid);

/* The routine's constants. NULL: memory is out. */
const unsigned char *ptx_grid_constants(struct ptx_grid *grid, uint32_t routine);

/* The first reason wins. */
void ptx_grid_fail(struct ptx_grid *grid, const struct ptx_outcome *outcome);

#endif
