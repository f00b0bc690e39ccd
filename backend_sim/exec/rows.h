/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - rows of memory, in layers: what a driver checks of a copy of boxes or a fill of rows, and what it then accesses.
 *
 *     base + y * pitch + x        [ row 0 .. width .. ]
 *     ... + pitch                 [ row 1             ]
 *
 *     checked      [base, + (height - 1) * pitch + width): a single range, including gaps, without x and y, modulo 2^64
 *     accessed     the rows themselves
 *
 * So the driver accepts rows that leave their memory through x, y or a wrap, and they fault at their turn, as recorded
 * (conformance/recorded/facts, copies). Such a call writes nothing, and strict mode refuses it. To find the fault beforehand, the
 * call checks every row before it moves the first. Everything here is under the machine's lock.
 */
#ifndef SIM_ROWS_H
#define SIM_ROWS_H

#include "objects.h"
#include "process.h"
#include "refusal.h"
#include "translate.h"

/* Rows of width bytes, height of them in a layer. */
struct rows_extent {
    uint64_t width, height, depth;
};

/* The first row begins at start, each later one pitch bytes after the one before, modulo 2^64; layers likewise, layer bytes
 * apart. */
struct rows_side {
    const char *argument;
    bool host;
    bool outside; /* pinned, or the program's own */
    bool pooled;    /* pool memory: a row may exceed its pitch, as in mapped memory */
    bool planned; /* it is memory that a graph will allocate */
    bool array;   /* belongs to an array: start is an address of its bytes (arrays.h), which need no rights */
    struct array_block block; /* of an array */
    uint64_t base, start;
    uint64_t given, pitch;      /* given: the caller's pitch; 0 means that rows are adjacent */
    uint64_t given_rows, layer; /* given_rows: the caller's height of a layer */
    uint64_t left; /* bytes from base to the end of the allocation or registered range; UINT64_MAX if the driver knows no end */
};

/* Host memory that the program has pinned, known only to the driver's ABI. */
struct rows_pinned {
    uint64_t start, size;
    bool registered, read_only;
};

/* Sets the function that finds the pinned range of an address; without one there are none. */
typedef bool (*rows_find_pinned)(uint64_t address, struct rows_pinned *range);
void rows_set_pinned(rows_find_pinned find);
bool rows_is_pinned(uint64_t address);
bool rows_is_registered(uint64_t address);

/* Checks size bytes of pinned memory, if the address is registered. */
vmm_result rows_check_pinned(uint64_t address, uint64_t size, bool writes, const char *argument);

enum rows_there { ROWS_NOTHING, ROWS_RESERVED, ROWS_MAPPED, ROWS_ALLOCATED };

/* What the driver knows about the memory at a side's base; sets host and left. */
enum rows_there rows_look_up(const struct sim_process *process, uint64_t base, struct rows_side *side);

/* Finds memory that a graph will allocate, which only graphs know (graph_alloc.h): returns the bytes from an address to its
 * end, or 0. */
typedef uint64_t (*rows_find_planned)(const struct sim_process *process, uint64_t address);

/* Checks the single range that a driver computes for the rows. */
vmm_result rows_check_span(const struct sim_process *process, int device, const struct rows_side *side,
                           const struct rows_extent *extent, enum translate_use use);

/* Finds the first row of a layer without access. */
bool rows_bad_row(const struct sim_process *process, int device, const struct rows_side *side, uint64_t width, uint64_t height,
                  enum translate_use use, uint64_t *row);

/* Refuses the row, at which a driver's call faults later. */
vmm_result rows_refuse_row(const struct rows_side *side, uint64_t row);

/* Checks a fill of rows, which is not empty, for work of that device: its memory, but not alignment. */
vmm_result rows_check_fill(const struct sim_process *process, int device, const vmm_memset_node_params *fill, rows_find_planned find);
/* Refuses rows that leave their memory. */
vmm_result rows_refuse_end(const struct rows_side *side);

/* ---- arrays ---- */

/* The bytes of an array as rows: where they begin, bytes of a row, rows of a layer, layers. */
struct rows_array {
    uint64_t start, row, rows, layers;
    struct array_block block;
};

/* Returns false if the value is not an existing array of one level. */
bool rows_array_of(const struct sim_process *process, vmm_array value, struct rows_array *array);

/* ---- copies of boxes ---- */

struct rows_copy {
    struct rows_side to, from;
    struct rows_extent extent;
    enum translate_use write, read;
};

/* Checks what the caller declares about both sides. Neither extent is 0. */
vmm_result rows_copy_of(const struct sim_process *process, const vmm_memcpy3d *asked, struct rows_copy *copy);

/* The checks alone, for work of that device; memory that `find` finds counts as present. open: rights to a side within one
 * mapping or one pool allocation are not checked, as measured for a node without a context. */
enum { ROWS_FROM_PROGRAM = 1, ROWS_TO_PROGRAM = 2 };
vmm_result rows_check_copy(const struct sim_process *process, int device, bool open, const vmm_memcpy3d *asked,
                           rows_find_planned find, unsigned *programs);

/* Finds the first row of a side without access, in the first layer that has one. */
bool rows_bad_layer(const struct sim_process *process, int device, const struct rows_side *side, const struct rows_extent *extent,
                    enum translate_use use, uint64_t *layer, uint64_t *row);

#endif
