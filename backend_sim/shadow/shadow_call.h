/* SPDX-License-Identifier: Apache-2.0 */
/* shadow_call.h - one call of the program, made again on the simulator.
 *
 *     program's record  [head | handle 0x5589.. | &out | ...]        values of the inner backend
 *     shadow's record   [head | handle 0x4d48.. | &own | ...]        values of the simulator, outputs of its own
 */
#ifndef CUVMM_LAYERS_SHADOW_CALL_H
#define CUVMM_LAYERS_SHADOW_CALL_H

#include <stdbool.h>

#include "backend.h"
#include "pairs.h"

/* The inner backend's values and the simulator's, per kind of thing. */
struct shadow_pairs {
    struct vmm_backend *sim; /* which tells the inner values in its objects */
    struct pairs handles, contexts;
};

void shadow_pairs_clear(struct shadow_pairs *pairs);

enum { SHADOW_PARAMS = 6, SHADOW_ATTRIBUTES = 64 };

struct shadow_call {
    union vmm_any_call call;
    union {
        uint64_t wide;
        vmm_mem_allocation_prop prop;
        unsigned char bytes[64];
    } out[SHADOW_PARAMS];
    unsigned char attribute[SHADOW_ATTRIBUTES][VMM_POINTER_ATTRIBUTE_MAX_SIZE];
    void *attributes[SHADOW_ATTRIBUTES];
};

/* Fills made from call, which the inner backend has answered. False when the call is about something that the shadow
 * has no counterpart of (an unknown handle or context). */
bool shadow_call_begin(struct shadow_call *made, const struct vmm_call *call, bool succeeded,
                       const struct shadow_pairs *pairs);

/* After both answered: notes which new values belong together. False when they do not fit each other. */
bool shadow_call_end(const struct shadow_call *made, const struct vmm_call *call, vmm_result inner, vmm_result sim,
                     struct shadow_pairs *pairs);

/* A simulator of the machine that inner is on, initialised; it has no memory contents and every address is its own to
 * give. nodes: NUMA nodes of the host. False when the machine cannot be described or opened; what stands in *sim then,
 * if anything, is the caller's to close all the same. */
bool shadow_machine(struct vmm_backend *inner, int nodes, struct vmm_backend **sim);

#endif
