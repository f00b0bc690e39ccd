/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_warp.h - a warp: 32 lanes and their control flow.
 *
 *     if (lane < 8) a(); else b(); c();
 *
 *     splits   [ all: if ]  ->  [ 0-7: a ] [ 8-31: b ]  ->  [ 8-31: b ] [ 0-7: c ]  ->  [ all: c ]
 *
 * A split is a set of lanes at the same position of the same frame. The split that is earliest in
 * the code runs first, so that diverged lanes meet again where their paths join. A split that loops
 * while others wait yields from time to time (ptx_warp.c).
 *
 * Invariants (ptx_warp_check):
 *     the masks of splits are disjoint, not empty, and together the live lanes
 *     no two splits that are ready are at the same step of the same frame while one of them is run
 */
#ifndef PTX_WARP_H
#define PTX_WARP_H

#include "ptx_run.h"

#define PTX_ALL UINT32_C(0xffffffff)

struct ptx_block;
struct ptx_port;

/* An activation of a routine: the registers of all lanes in it. */
struct ptx_frame {
    const struct ptx_routine *routine;
    struct ptx_frame *parent;
    unsigned char *registers; /* routine->units * PTX_UNIT */
    uint32_t *predicates;
    uint32_t carry;           /* CC.CF of each lane */
    uint32_t local, extra;    /* the offset of its memory in a lane's local memory, and the size that alloca added */
    uint32_t depth;
    uint32_t lanes;           /* lanes in it or in its callees */
    uint32_t return_to;       /* a step of the parent */
    const struct ptx_op *call;
    struct ptx_frame *spare;  /* the next unused one of the same routine */
};

enum ptx_split_state {
    PTX_READY,
    PTX_BEHIND,     /* ready, but has yielded */
    PTX_WAITS_WARP, /* for other lanes of the warp: at a step with .sync */
    PTX_WAITS_BLOCK /* at a barrier */
};

struct ptx_split {
    struct ptx_frame *frame;
    uint32_t step, mask;
    uint8_t state;
    uint8_t barrier;     /* of PTX_WAITS_BLOCK */
    uint32_t members;    /* of PTX_WAITS_WARP: the missing lanes */
    uint32_t loops;      /* iterations since it became ready, or yielded */
    uint32_t spins;      /* of these, the latest consecutive ones that only polled */
};

struct ptx_warp {
    struct ptx_block *block;
    struct ptx_port *port;
    /* of the running split */
    unsigned char *registers;
    uint32_t *predicates;
    struct ptx_frame *frame;
    uint32_t step;
    bool ended;               /* the launch has ended with an error */
    /* since the last backward jump: read memory that others may write; wrote memory that others may wait for */
    bool looked, changed;
    uint32_t number;          /* in the block */
    uint32_t alive;           /* lanes that have not exited */
    struct ptx_split split[PTX_LANES];
    uint32_t splits;
    struct ptx_frame **spare; /* for each routine */
    unsigned char *local;     /* PTX_LANES times local_size */
    uint32_t local_size;
    uint64_t made;            /* steps */
    uint64_t turn_ends;       /* others get a turn when made reaches it */
    uint32_t spun;            /* in this turn: iterations that only polled */
    uint32_t tid[3][PTX_LANES];
};

static inline unsigned ptx_first_lane(uint32_t mask)
{
    return (unsigned)__builtin_ctz(mask);
}

/* Sets up the warp of the block's threads from 32 * number on; it is zeroed, or was used for the
 * same warp of an earlier block. False: memory is out. */
bool ptx_warp_open(struct ptx_warp *warp, struct ptx_block *block, uint32_t number);
void ptx_warp_close(struct ptx_warp *warp);

enum ptx_turn { PTX_TURN_ENDED, PTX_TURN_WAITS, PTX_TURN_OVER, PTX_TURN_SPINS };

/* Runs it until all its lanes have exited or wait, its turn is over, or it spins: its iterations
 * only poll memory, so it waits for others. */
enum ptx_turn ptx_warp_turn(struct ptx_warp *warp);

/* Ends the launch with a reason, at the current step. */
void ptx_warp_fail(struct ptx_warp *warp, enum ptx_end end, uint32_t lanes, uint64_t address, uint32_t bytes, enum twin_use use);

/* The lane's local memory up to offset + size; it grows if the kernel recurses. NULL: the range is
 * outside, or memory is exhausted; the launch has ended. */
unsigned char *ptx_warp_local(struct ptx_warp *warp, unsigned lane, uint64_t offset, uint32_t size);

/* Returns NULL, or the broken invariant. */
const char *ptx_warp_check(const struct ptx_warp *warp);

#endif
