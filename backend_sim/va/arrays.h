/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.h - the arrays of a process, and the memory behind each.
 *
 *     ordinary         Y1 [ block of its own ................ ]    small ones of a context share blocks (struct sim_array_chunk)
 *     deferred         Y2 [ nothing ] or [ a part of a block  ]     what is mapped, all at once
 *     sparse           Y3 [tile][    ][tile][tile]                  tile by tile; each holds the block behind it
 *     level of Y3      Y4  = the bytes of level 1 of Y3             lives as long as Y3
 *
 * The bytes of an array have hidden addresses from ARRAYS_START on, in the order of array_layout.h; programs do not
 * see them and kernels cannot use them. This way copies handle them like any other memory. A tile without memory
 * reads as zeros, and writes to it are lost, as measured.
 *
 * A call's memory is bound in stream order. Until then, a list of binds holds the memory.
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
    vmm_array3d_descriptor is; /* for a level, with that level's sizes */
    bool mipmapped;
    struct sim_array *whole;   /* the array of a level; else the array itself */
    unsigned level;            /* its number */
    struct array_layout layout;             /* the rest: of whole arrays */
    struct sim_array *levels[ARRAY_LEVELS]; /* the flags that the program requested */
    struct sim_block *block;   /* all its memory, unless it is sparse; NULL: deferred and still without memory */
    uint64_t block_at;
    struct sim_array_chunk *chunk; /* for a small one: the position of its memory */
    struct sim_block *tables;  /* for a large sparse one: memory in which the device keeps the table of its tiles, as measured */
    struct addrmap tiles;      /* tiles with memory, by their numbers */
    struct sim_origin made, ended;
};

/* A block shared by small arrays of one context, divided into one unit per bit. */
struct sim_array_chunk {
    struct sim_array_chunk *next; /* of the process */
    uint64_t context;
    struct sim_block *block;
    uint32_t used;
};

/* A tile with memory. */
struct sim_tile {
    uint64_t number;
    struct sim_block *block;
    uint64_t at;
};

/* Does the array have any of these flags? */
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
/* Destroys all arrays, and drops pending binds. */
void arrays_end_all(struct sim_process *process);

/* The array, mipmapped or not, with that value, live or ended, as in slots_find. */
enum slot_state sim_array_find(const struct sim_process *process, uint64_t value, struct sim_array **array);

/* The array whose bytes hold the address; NULL: none. */
struct sim_array *sim_array_at(const struct sim_process *process, uint64_t address);

/* The device memory that such an array would take now. */
uint64_t sim_array_takes(const struct sim_process *process, const vmm_array3d_descriptor *is, unsigned levels, bool mipmapped,
                         const struct sim_context *context);

/* Creates the array; `is` comes from array_check. The device must have enough memory. NULL, with nothing changed,
 * when host memory or the addresses of arrays are exhausted. */
struct sim_array *sim_array_new(struct sim_process *process, const vmm_array3d_descriptor *is, unsigned levels, bool mipmapped,
                                const struct sim_context *context, struct sim_origin made);
/* The level of a mipmapped array, always with the same value; NULL when host memory is exhausted. */
struct sim_array *sim_array_level(struct sim_process *process, struct sim_array *whole, unsigned level, struct sim_origin made);
/* Destroys a complete array with its levels. */
void sim_array_end(struct sim_process *process, struct sim_array *array, struct sim_origin ended);
/* Destroys the arrays of a context; 0: all. */
void arrays_end_of(struct sim_process *process, uint64_t context, struct sim_origin ended);

/* The contiguous bytes of an array from an address on. */
struct array_run {
    struct sim_block *block; /* arrays_nothing: reads as zeros; NULL: there is no memory, and access faults */
    uint64_t offset, length;
};

extern struct sim_block arrays_nothing;

struct array_run sim_array_run(const struct sim_array *array, uint64_t address, uint64_t size);

/* ---- binding ---- */

enum array_part { ARRAY_ALL, ARRAY_BOX, ARRAY_TAIL };

/* One entry of a list: a map or an unmap. */
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

/* A list with room for that many entries. NULL when the host's memory is exhausted. */
struct array_binds *array_binds_new(struct sim_process *process, unsigned room);
/* Adds one; the list holds its block from then on. */
void array_binds_add(struct array_binds *binds, const struct array_bind *bind);
void array_binds_free(struct array_binds *binds);

/* Executes them in order; entries for destroyed arrays have no effect. False when the host's memory is exhausted. */
bool array_binds_do(struct array_binds *binds);

/* ---- checks ---- */

const char *arrays_check(struct sim_process *process);
/* As process_check_blocks. */
const char *arrays_check_blocks(struct sim_process *process, struct machine_sum *sum, enum machine_pass pass);

#endif
