/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_run.h - runs a kernel of a program.
 *
 *     launch (grid, block, parameters)  ->  blocks, one after the other or a few on each host thread
 *                                             warps, in turns, until each has ended or waits
 *                                               lanes that are at one place of the code, all at once
 *     memory  ->  twin_memory.run: the rights, faults and aliases of the device that launched it
 *
 * Every lane makes progress: lanes of a warp, warps of a block and blocks that are under way take turns, so that a lane that waits for
 * another one finds in the end what it waits for. A wait that no lane can end is a deadlock, and reported as one.
 */
#ifndef PTX_RUN_H
#define PTX_RUN_H

#include "ptx_code.h"
#include "twin.h"

/* How a kernel ended. */
enum ptx_end {
    PTX_END_DONE,
    PTX_END_ACCESS,      /* the accessor refused an address, and has recorded it */
    PTX_END_MISALIGNED,  /* an address that is no multiple of the access's size */
    PTX_END_SPACE,       /* outside the block's shared memory, the lane's local memory or the parameters */
    PTX_END_TRAP,
    PTX_END_ASSERT,
    PTX_END_BREAKPOINT,
    PTX_END_POINTER,     /* a call of what is no function */
    PTX_END_STACK,       /* more local memory than a lane may have */
    PTX_END_UNSUPPORTED, /* an instruction that does not run here */
    PTX_END_DEADLOCK,    /* every lane waits */
    PTX_END_BUDGET,      /* more steps than allowed */
    PTX_END_MEMORY,      /* the host's */
    PTX_END_STOPPED      /* the process ends, or lost the device to other work */
};

struct ptx_launch {
    const struct ptx_program *program;
    const struct ptx_kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    const unsigned char *params;
    const uint64_t *globals; /* the addresses of the program's variables; NULL where it has none */
    unsigned threads;        /* of the host; 0 and 1: the caller alone */
    uint64_t budget;         /* steps; 0: no limit */
    uint32_t local_most;     /* bytes of local memory of a lane */
    uint32_t multiprocessors;
    bool cooperative;        /* its blocks may wait for each other: %envreg1 and 2 are the address of the words for that */
    bool strict;             /* shared memory ends where it was asked to, and not at a device's granule */
    bool narrow;             /* without the steps for wider vectors, where the processor has them: they compute the same */
    uint64_t *counts;        /* NULL, or for each step of each routine how many lanes made it: routine by routine */
};

/* The first thing that went wrong, with the place in the PTX and in the program it was made of. */
struct ptx_outcome {
    enum ptx_end end;
    uint32_t block[3], thread[3];
    uint32_t lanes;          /* of the warp that did the same */
    const struct ptx_routine *routine;
    struct ptx_line line;
    uint64_t address;
    uint32_t bytes;
    enum twin_use use;
    char text[160];          /* of an assertion, or what else there is to say */
    uint64_t steps;          /* of warps, made in all */
};

/* memory->dry: nothing is written or printed; memory answers as the inner accessor of an overlay (ptx_overlay.h). */
void ptx_run(struct twin_memory *memory, const struct ptx_launch *launch, struct ptx_outcome *outcome);

/* "line 12, column 3 of the PTX", or "fill.cu:12" where it is known. */
void ptx_describe_line(const struct ptx_program *program, const struct ptx_line *line, char *text, size_t size);

#endif
