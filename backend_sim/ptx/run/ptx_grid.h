/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_grid.h - a launch under way: what its blocks share. */
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
    bool locked;                  /* there is more than one thread */
    pthread_cond_t changed;       /* one of these three, or ended, where there is more than one thread */
    unsigned hands, resting;      /* threads that are not done; those but the caller that have nothing to do before time passes */
    uint64_t rests;               /* how often time passed */
    struct ptx_outcome *outcome;
    atomic_bool ended;            /* something went wrong: no step is made any more */
    _Atomic uint32_t writes;      /* requests to write, after which what reads as zeros is asked for again */
    unsigned char **constants;    /* of each routine, with the launch's addresses; NULL: not made yet */
    uint32_t workspace[PTX_WORKSPACE / 4]; /* of a cooperative launch: its size in bytes, and the barrier that blocks count at */
    uint64_t blocks;
    uint32_t shared_bytes;        /* static and dynamic */
    uint32_t warps;               /* of a block */
    uint64_t *counts;             /* NULL, or as struct ptx_launch has them */
    const uint64_t *count_of;     /* with counts: where each routine's begin */
    const ptx_step_function *steps;
    _Alignas(64) _Atomic uint64_t made; /* steps of turns that are over: in a cache line of its own, since every thread writes it at each turn */
};

void ptx_grid_lock(struct ptx_grid *grid);
void ptx_grid_unlock(struct ptx_grid *grid);

/* The routine's constants. NULL: memory is out. */
const unsigned char *ptx_grid_constants(struct ptx_grid *grid, uint32_t routine);

/* The first reason counts. */
void ptx_grid_fail(struct ptx_grid *grid, const struct ptx_outcome *outcome);

#endif
