/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_run.h - runs a kernel of a program.
 *
 *     launch (grid, block, parameters)  ->  blocks, one after the other or a few on each host thread
 *                                             warps, in turns, until each has ended or waits
 *                                               all lanes at the same position of the code at once
 *     memory  ->  twin_memory.run: the rights, faults and aliases of the device that launched it
 *
 * Every lane makes progress: lanes of a warp, warps of a block and running blocks take turns, so
 * that a lane's wait for another lane eventually ends. A wait that no lane can end is reported as a deadlock.
 */
#ifndef PTX_RUN_H
#define PTX_RUN_H

#include "ptx_code.h"
#include "twin.h"

/* How a kernel ended. */
enum ptx_end {
    PTX_END_DONE,
    PTX_END_ACCESS,      /* the accessor refused and recorded an address */
    PTX_END_MISALIGNED,  /* an address that is not a multiple of the access's size */
    PTX_END_SPACE,       /* an access outside the block's shared memory, the lane's local memory or the parameters */
    PTX_END_TRAP,
    PTX_END_ASSERT,
    PTX_END_BREAKPOINT,
    PTX_END_POINTER,     /* a call of something that is not a function */
    PTX_END_STACK,       /* more local memory than a lane may have */
    PTX_END_HEAP,        /* free got an address that malloc did not return, or the heap's words were overwritten */
    PTX_END_UNSUPPORTED, /* an unsupported instruction */
    PTX_END_DEADLOCK,    /* every lane waits */
    PTX_END_BUDGET,      /* more steps than allowed */
    PTX_END_MEMORY,      /* the host's */
    PTX_END_STOPPED      /* the process is ending, or lost the device because of other work */
};

struct ptx_launch {
    const struct ptx_program *program;
    const struct ptx_kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    const unsigned char *params;
    const uint64_t *globals; /* the addresses of the program's variables; NULL if it has none */
    unsigned threads;        /* host threads; 0 and 1: only the caller */
    uint64_t budget;         /* steps; 0: no limit */
    uint32_t local_most;     /* bytes of local memory of a lane */
    uint32_t multiprocessors;
    bool cooperative;        /* its blocks may wait for each other: %envreg1 and 2 hold the address of the words used for that */
    bool strict;             /* shared memory ends at the requested size, not at a device's granule */
    bool narrow;             /* do not use the steps for wider vectors, which compute the same */
    uint64_t *counts;        /* NULL, or the number of lanes that executed each step, routine by routine */
};

/* The first error, with its position in the PTX and in the program's source. */
struct ptx_outcome {
    enum ptx_end end;
    uint32_t block[3], thread[3];
    uint32_t lanes;          /* the lanes of the warp with the same error */
    const struct ptx_routine *routine;
    struct ptx_line line;
    uint64_t address;
    uint32_t bytes;
    enum twin_use use;
    char text[160];          /* an assertion's message, or other details */
    uint64_t steps;          /* steps executed, counted by warp */
};

/* memory->dry: nothing is written or printed; memory acts as the inner accessor of an overlay (ptx_overlay.h). */
void ptx_run(struct twin_memory *memory, const struct ptx_launch *launch, struct ptx_outcome *outcome);

/* "line 12, column 3 of the PTX", or "fill.cu:12" where it is known. */
void ptx_describe_line(const struct ptx_program *program, const struct ptx_line *line, char *text, size_t size);

#endif
