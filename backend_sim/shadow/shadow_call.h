/* SPDX-License-Identifier: Apache-2.0 */
/* shadow_call.h - repeats one call of the program on the simulator.
 *
 *     program's record  [head | handle 0x5589.. | &out | ...]        the inner backend's values
 *     shadow's record   [head | handle 0x4d48.. | &own | ...]        the simulator's values, with outputs of its own
 */
#ifndef CUVMM_LAYERS_SHADOW_CALL_H
#define CUVMM_LAYERS_SHADOW_CALL_H

#include <stdbool.h>

#include "backend.h"
#include "pairs.h"

/* Pairs of the inner backend's value and the simulator's, for each kind of object. */
struct shadow_pairs {
    struct vmm_backend *sim; /* its messages show the inner values */
    struct pairs handles, pools, arrays, contexts;
    struct pairs fabrics; /* fabric handles of pools, each paired with itself (trace_fabric) */
    struct pairs offers;  /* IPC handles of memory that the process created, likewise */
};

void shadow_pairs_clear(struct shadow_pairs *pairs);

enum { SHADOW_PARAMS = 8, SHADOW_ATTRIBUTES = 64, SHADOW_TILES = 16 };

struct shadow_call {
    union vmm_any_call call;
    union {
        uint64_t wide;
        vmm_mem_allocation_prop prop;
        unsigned char bytes[64];
    } out[SHADOW_PARAMS];
    unsigned char attribute[SHADOW_ATTRIBUTES][VMM_POINTER_ATTRIBUTE_MAX_SIZE];
    void *attributes[SHADOW_ATTRIBUTES];
    vmm_array_map_info tiles[SHADOW_TILES];
};

/* Fills in `made` from call, which the inner backend has already executed. False when the call names an object
 * without a counterpart in the shadow (an unknown handle or context). */
bool shadow_call_begin(struct shadow_call *made, const struct vmm_call *call, bool succeeded,
                       const struct shadow_pairs *pairs);

/* Called after both sides have executed: records the pairs of new values. False when the outputs do not match. */
bool shadow_call_end(const struct shadow_call *made, const struct vmm_call *call, vmm_result inner, vmm_result sim,
                     struct shadow_pairs *pairs);

/* The backend succeeded, and its pool has no counterpart in the shadow. Its value may be that of a destroyed pool. */
void shadow_call_forget_pool(const struct vmm_call *call, struct shadow_pairs *pairs);

/* Opens and initialises a simulator of inner's machine; it has no memory contents and can reserve every address. nodes: the
 * number of the host's NUMA nodes. False when the machine cannot be described or opened; *sim may be set even then, and the
 * caller closes it. */
bool shadow_machine(struct vmm_backend *inner, int nodes, struct vmm_backend **sim);

#endif
