/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - a machine with many live mappings, and the operations timed beside them.
 *
 *   reservation   [M1 of H1][M2 of H1][M3 of H1] ..... [Mn of H1]    all with rights, one allocation behind all
 *   beside it                                                       [ the lives that are timed ]
 */
#ifndef BENCH_LIVE_H
#define BENCH_LIVE_H

#include "vmm.h"

struct live {
    vmm_system *sys;
    vmm_deviceptr at;
    uint64_t count, size; /* mappings of size bytes each */
    vmm_mem_generic_allocation_handle handle;
    uint64_t chance; /* state of the random generator */
    /* of the calls timed one by one */
    vmm_deviceptr *address;
    vmm_mem_generic_allocation_handle *made;
    uint64_t batch, life_size;
};

/* What lives use: memory and rights of device 0. */
extern const vmm_mem_allocation_prop live_memory;
extern const vmm_mem_access_desc live_rights;

/* Ends the program with the detail's text, unless result is VMM_SUCCESS. */
void need(vmm_result result, const char *what);

/* A system of that spec with count live mappings of 2 MiB; lives and calls take life_size bytes each. Ends the program
 * on failure. */
void live_open(struct live *live, const char *spec, uint64_t count, uint64_t life_size);
void live_close(struct live *live);

/* What several threads may do at once, on one machine: that many lives, and that many queries at random addresses. */
void live_some_lives(void *state, unsigned units);
void live_some_reads(void *state, unsigned units);

/* ---- as bodies of subjects: state is a struct live ---- */

/* reserve, create, map, set access, unmap, release, free */
double live_lives(void *state, unsigned units);
/* Each runs one call for all units. Run them in this order with the same number of units, at most LIVE_BATCH. */
enum { LIVE_BATCH = 1024 };
double live_reserve(void *state, unsigned units);
double live_create(void *state, unsigned units);
double live_map(void *state, unsigned units);
double live_set_access(void *state, unsigned units);
double live_get_access(void *state, unsigned units);
double live_pointer_attribute(void *state, unsigned units);
double live_unmap(void *state, unsigned units);
double live_release(void *state, unsigned units);
double live_free(void *state, unsigned units);
/* Queries at random addresses of the live mappings: rights and an attribute, in turn. */
double live_reads(void *state, unsigned units);
/* Pieces of life_size bytes of the device's own pool, which keeps its memory: each allocated and freed in default-stream
 * order. */
double live_pieces(void *state, unsigned units);
/* Sets a byte, by work without a wait before the end, or with a wait after each hundred. */
double live_works(void *state, unsigned units);
double live_works_by_the_hundred(void *state, unsigned units);
/* Unmaps a random one of the live mappings and maps it again, with its rights. */
double live_remaps(void *state, unsigned units);

#endif
