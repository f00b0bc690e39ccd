/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_warp.h - 32 lanes, and the ways they go.
 *
 *     if (lane < 8) a(); else b(); c();
 *
 *     splits   [ all: if ]  ->  [ 0-7: a ] [ 8-31: b ]  ->  [ 8-31: b ] [ 0-7: c ]  ->  [ all: c ]
 *
 * A split is a set of lanes at one place of one frame. The one that is behind in the code runs first, so that those that part meet
 * again where their ways join. One that goes round a loop while others wait gives way from time to time (ptx_warp.c).
 *
 * Invariants (ptx_warp_check):
 *     the masks of splits are disjoint, not empty, and together the lanes that are alive
 *     no two splits that are ready are at the same step of the same frame while one of them is run
 */
#ifndef PTX_WARP_H
#define PTX_WARP_H

#include "ptx_run.h"

#define PTX_ALL UINT32_C(0xffffffff)

struct ptx_block;
struct ptx_port;

/* An activation of a routine: the registers of all lanes that are in it. */
struct ptx_frame {
    const struct ptx_routine *routine;
    struct ptx_frame *parent;
    unsigned char *registers; /* routine->units * PTX_UNIT */
    uint32_t *predicates;
    uint32_t carry;           /* CC.CF of each lane */
    uint32_t local, extra;    /* where its memory begins in a lane's local memory, and what alloca took behind it */
    uint32_t depth;
    uint32_t lanes;           /* that are in it, or in what it called */
    uint32_t return_to;       /* a step of the parent */
    const struct ptx_op *call;
    struct ptx_frame *spare;  /* the next one that is not in use, of the same routine */
};

enum ptx_split_state {
    PTX_READY,
    PTX_BEHIND,     /* ready, and has given way */
    PTX_WAITS_WARP, /* for other lanes of the warp: at a step with .sync */
    PTX_WAITS_BLOCK /* at a barrier */
};

struct ptx_split {
    struct ptx_frame *frame;
    uint32_t step, mask;
    uint8_t state;
    uint8_t barrier;     /* of PTX_WAITS_BLOCK */
    uint32_t members;    /* of PTX_WAITS_WARP: the lanes that are to come */
    uint32_t loops;      /* since it was ready, or gave way */
    uint32_t spins;      /* of these, the last ones in which it only looked */
};

struct ptx_warp {
    struct ptx_block *block;
    struct ptx_port *port;
    /* of the split that runs */
    unsigned char *registers;
    uint32_t *predicates;
    struct ptx_frame *frame;
    uint32_t step;
    bool ended;               /* the launch has ended: something went wrong */
    bool looked, changed;     /* since the last loop: read what others may write; wrote what others may wait for */
    uint32_t number;          /* in the block */
    uint32_t alive;           /* lanes that have not exited */
    struct ptx_split split[PTX_LANES];
    uint32_t splits;
    struct ptx_frame **spare; /* for each routine */
    unsigned char *local;     /* PTX_LANES times local_size */
    uint32_t local_size;
    uint64_t made;            /* steps */
    uint64_t turn_ends;       /* when made reaches it, others get a turn */
    uint32_t spun;            /* in this turn: loops that only looked */
    uint32_t tid[3][PTX_LANES];
};

static inline unsigned ptx_first_lane(uint32_t mask)
{
    return (unsigned)__builtin_ctz(mask);
}

/* Makes the warp of the block's threads from 32 * number on, of zeros or of what the same warp of an earlier block was. False: memory is
 * out. */
bool ptx_warp_open(struct ptx_warp *warp, struct ptx_block *block, uint32_t number);
void ptx_warp_close(struct ptx_warp *warp);

enum ptx_turn { PTX_TURN_ENDED, PTX_TURN_WAITS, PTX_TURN_OVER, PTX_TURN_SPINS };

/* Runs it until all its lanes have exited or wait, or its turn is over; or spins: it went round loops that only look at memory, and
 * so wait for others. */
enum ptx_turn ptx_warp_turn(struct ptx_warp *warp);

/* Ends the launch with a reason, at the step that runs. */
void ptx_warp_fail(struct ptx_warp *warp, enum ptx_end end, uint32_t lanes, uint64_t address, uint32_t bytes, enum twin_use use);

/* The lane's local memory as far as offset + size, which grows where the kernel recurses. NULL: it is outside, or memory is out, and
 * then the launch has ended. */
unsigned char *ptx_warp_local(struct ptx_warp *warp, unsigned lane, uint64_t offset, uint32_t size);

/* NULL, or what is wrong with it. */
const char *ptx_warp_check(const struct ptx_warp *warp);

#endif
