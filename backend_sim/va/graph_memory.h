/* SPDX-License-Identifier: Apache-2.0 */
/* graph_memory.h - the memory that graphs allocate on one device: a graph keeps its addresses, and launches share the
 * memory behind them.
 *
 *     graph G adds an allocation of 8 MiB    addresses   [ G: 32 MiB ][ free .............................. ]
 *     graph H adds one of 40 MiB                         [ G: 32 MiB ][ H: 64 MiB .......... ][ free ...... ]
 *     launch of G                            memory      [ chunk 32  ]
 *     G has freed its memory, launch of H                             [ chunk 32 ][ chunk 32 ]                G's chunk, and a new one
 *     H has freed its memory, trim                                                                            none
 *
 * A chunk with an allocation, or with possibly unfinished work, is pinned: it cannot move. The chunks are those of a
 * pool that the program never sees (pools.h); an allocation is a sim_piece without a region. All functions: under the
 * machine's lock.
 *
 * Invariants (sim_graph_memory_check):
 *     ranges       lie in the pool's, in order, and do not overlap; each is a multiple of a chunk
 *     pins of the pool's chunks = those of allocations and of the pins below
 *     used_high    >= reserved of the pool
 */
#ifndef SIM_GRAPH_MEMORY_H
#define SIM_GRAPH_MEMORY_H

#include "pools.h"

/* Addresses of a graph. */
struct sim_graph_range {
    uint64_t start, size;
    struct sim_graph_range *next;
};

/* Chunks that work issued in the stream, up to that item, may use. */
struct sim_graph_pin {
    uint64_t start, size;
    struct queue_place place;
    uint64_t until;
    bool held; /* the launch has not issued all of its work yet */
    struct sim_graph_pin *next;
};

struct sim_graph_memory {
    struct sim_pool *pool;
    struct sim_graph_range *ranges; /* by address */
    struct sim_graph_pin *pins;
    uint64_t used_high; /* as measured, the memory in use equals the memory present */
};

/* Created on first use. NULL when addresses or host memory are exhausted. */
struct sim_graph_memory *sim_graph_memory_of(struct sim_process *process, int device);

/* Takes the first free addresses for at least size bytes that hold no allocation; *start is 0 if there are none.
 * False when host memory is exhausted. */
bool sim_graph_memory_take(const struct sim_process *process, struct sim_graph_memory *memory, uint64_t size, uint64_t *start);
/* Extends a range by the addresses after it; false if they are not free. */
bool sim_graph_memory_grow(const struct sim_process *process, struct sim_graph_memory *memory, uint64_t start, uint64_t more);
void sim_graph_memory_give(struct sim_graph_memory *memory, uint64_t start);

/* Backs all chunks of a range and pins them, until sim_graph_pin_end of the pin. If the device has too little memory,
 * *left is less than the missing amount. Returns NULL then, and when host memory is exhausted, with nothing changed. */
struct sim_graph_pin *sim_graph_memory_back(struct sim_process *process, struct sim_graph_memory *memory, uint64_t start,
                                            uint64_t size, uint64_t *lacks, uint64_t *left);
/* Ends the pins that are not held and that `done` accepts. */
void sim_graph_pins_settle(struct sim_graph_memory *memory, bool (*done)(void *user, const struct sim_graph_pin *pin), void *user);
/* Ends this pin at once. */
void sim_graph_pin_end(struct sim_graph_memory *memory, struct sim_graph_pin *pin);

/* Records an allocation at backed addresses without another allocation; NULL when host memory is exhausted. */
struct sim_piece *sim_graph_piece_new(struct sim_process *process, struct sim_graph_memory *memory, uint64_t start, uint64_t size,
                                      const struct queue_place *place, struct sim_origin made);
/* Ends it. Its chunks may move at once. */
void sim_graph_piece_free(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended);
/* Ends it; its chunks stay in place until the pin ends. NULL, with nothing changed, when host memory is exhausted. */
struct sim_graph_pin *sim_graph_piece_pend(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended);

void sim_graph_memory_end(struct sim_process *process);

const char *sim_graph_memory_check(const struct sim_process *process, const struct sim_graph_memory *memory);

#endif
