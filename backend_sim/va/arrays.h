/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.h - the arrays of a process, and the memory behind each.
 *
 *     ordinary         Y1 [ block of its own ................ ]    small ones of a context share blocks (struct sim_array_chunk)
 *     deferred         Y2 [ nothing ] or [ a part of a block  ]     what is mapped, all at once
 *     sparse           Y3 [tile][    ][tile][tile]                  tile by tile; each holds the block behind it
 *     level of Y3      Y4  = the bytes of level 1 of Y3             lives as long as Y3
 *
 * The bytes of an array have addresses that no program sees and no kernel may use, from ARRAYS_START on, in the order of
 * array_layout.h. So copies move them as they move any memory. A tile without memory reads as zeros, and what is written there is
 * lost, as measured.
 *
 * What a call maps is bound in the order of its stream. Until then a list of binds holds the memory.
 *
 * Invariants (arrays_check):
 *     an array    has addresses of its own, from the allocator of those; a level has none, and its array is live
 *     chunk       its bits are those of the arrays in it, and it has some
 *     a tile      its number is one of its array's, and its 64 KiB lie in its block
 *     lists       of binds: each bind that maps has a block
 */
#ifndef SIM_ARRAYS_H
#define SIM_ARRAYS_H

#include "array_layout.h"
#include "process.h"

#define ARRAYS_START UINT64_C(0xa700000000000000)
#define ARRAYS_END UINT64_C(0xa800000000000000)

struct sim_array {
    uint64_t start; /* of its bytes */
    uint64_t value, shown; /* shown: as in sim_handle */
    uint64_t context;
    int device;
    uint32_t number;
    vmm_array3d_descriptor is; /* of a level, with that level's sizes */
    bool mipmapped;
    struct sim_array *whole;   /* what a level belongs to; else the array itself */
    unsigned level;            /* its number */
    struct array_layout layout;             /* the rest: of whole arrays */
    struct sim_array *levels[ARRAY_LEVELS]; /* those that the program asked for */
    struct sim_block *block;   /* all its memory, unless it is sparse; NULL: it is deferred and has none */
    uint64_t block_at;
    struct sim_array_chunk *chunk; /* of a small one: where its memory lies */
    struct sim_block *tables;  /* of a large sparse one: memory in which the device notes where its tiles lie, as measured */
    struct addrmap tiles;      /* that have memory, by their numbers */
    struct sim_origin made, ended;
};

/* A block that small arrays of one context share, divided into as many units as there are bits. */
struct sim_array_chunk {
    struct sim_array_chunk *next; /* of the process */
    uint64_t context;
    struct sim_block *block;
    uint32_t used;
};

/* A tile that has memory. */
struct sim_tile {
    uint64_t number;
    struct sim_block *block;
    uint64_t at;
};

/* One of these flags? */
static inline bool sim_array_has(const struct sim_array *array, unsigned flags)
{
    return (array->is.flags & flags) != 0;
}

/* Is it an address of an array's bytes? */
static inline bool arrays_have(uint64_t address)
{
    return address - ARRAYS_START < ARRAYS_END - ARRAYS_START;
}

bool arrays_open(struct sim_process *process);
void arrays_clear(struct sim_process *process);
/* Ends all of them, and drops what is not bound yet. */
void arrays_end_all(struct sim_process *process);

/* The array, mipmapped or not, that has such a value: live or ended, as slots_find. */
enum slot_state sim_array_find(const struct sim_process *process, uint64_t value, struct sim_array **array);

/* The array whose bytes hold the address; NULL: none. */
struct sim_array *sim_array_at(const struct sim_process *process, uint64_t address);

/* The memory that such an array would take of its device now. */
uint64_t sim_array_takes(const struct sim_process *process, const vmm_array3d_descriptor *is, unsigned levels, bool mipmapped,
                         const struct sim_context *context);

/* Makes the array; is: of array_check. The device has the memory that it takes. NULL when the host's memory or the
 * addresses of arrays are exhausted: nothing has changed. */
struct sim_array *sim_array_new(struct sim_process *process, const vmm_array3d_descriptor *is, unsigned levels, bool mipmapped,
                                const struct sim_context *context, struct sim_origin made);
/* The level of a mipmapped array, always the same for one; NULL when the host's memory is exhausted. */
struct sim_array *sim_array_level(struct sim_process *process, struct sim_array *whole, unsigned level, struct sim_origin made);
/* Ends a whole array, with its levels. */
void sim_array_end(struct sim_process *process, struct sim_array *array, struct sim_origin ended);
/* Ends those of a context; 0: all. */
void arrays_end_of(struct sim_process *process, uint64_t context, struct sim_origin ended);

/* The bytes of an array that follow an address in one piece. */
struct array_run {
    struct sim_block *block; /* arrays_nothing: reads as zeros; NULL: there is no memory, and access faults */
    uint64_t offset, length;
};

extern struct sim_block arrays_nothing;

struct array_run sim_array_run(const struct sim_array *array, uint64_t address, uint64_t size);

/* ---- binding ---- */

enum array_part { ARRAY_ALL, ARRAY_BOX, ARRAY_TAIL };

/* What one entry of a list maps or unmaps. */
struct array_bind {
    uint64_t array;          /* its value */
    struct sim_block *block; /* held; NULL: unmaps */
    uint64_t at;
    enum array_part part;
    unsigned level, layer;   /* of a box; layer also of a part of the tail */
    uint32_t from[3], count[3]; /* of a box, in tiles */
    uint64_t offset, size;   /* of a part of the tail, in bytes */
};

struct array_binds {
    struct array_binds *next; /* of the process */
    struct sim_process *process;
    unsigned count, room;
    struct array_bind bind[];
};

/* A list of room for that many. NULL when the host's memory is exhausted. */
struct array_binds *array_binds_new(struct sim_process *process, unsigned room);
/* Adds one; the list holds its block from then on. */
void array_binds_add(struct array_binds *binds, const struct array_bind *bind);
void array_binds_free(struct array_binds *binds);

/* Binds them in order; those of arrays that have ended do nothing. False when the host's memory is exhausted. */
bool array_binds_do(struct array_binds *binds);

/* ---- checks ---- */

const char *arrays_check(struct sim_process *process);
/* As process_check_blocks. */
const char *arrays_check_blocks(struct sim_process *process, struct machine_sum *sum, enum machine_pass pass);

#endif
