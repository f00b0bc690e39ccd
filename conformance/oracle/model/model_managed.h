/* SPDX-License-Identifier: Apache-2.0 */
/* model_managed.h - managed memory (facts: managed).
 *
 *     allocation   [ page ][ page ][ page ] ...
 *     said of it   1: all of it is read mostly    2: pages 1 to 2 were prefetched to device 0    3: ...
 *
 * What holds of a page is what was said of it, from the first saying to the last. Every device may use the memory, and the host. On
 * a driver it moves to the processor that uses it, so what the device has free is not foreseen while there is some.
 */
#ifndef CUVMM_MODEL_MANAGED_H
#define CUVMM_MODEL_MANAGED_H

#include "model_parts.h"

#define MODEL_PAGE UINT64_C(4096)

/* Of the pages [first, end). advice 0: they were prefetched. */
struct model_saying {
    uint64_t first, end;
    vmm_mem_advice advice;
    vmm_mem_location where;
};

struct model_managed {
    uint64_t start, size, span; /* span: of addresses, and of the host's memory */
    uint32_t tag;
    size_t context;
    int device;                 /* of the context */
    uint64_t buffer, block;     /* ids from the pointer attributes, 0 before a query */
    struct model_saying *said;
    size_t count, room;
};

void model_managed_close(struct model *model);

/* The allocation at an address; NULL: none. */
struct model_managed *model_managed_at(const struct model *model, uint64_t address);

/* Bytes of the host's memory, of node 0. */
uint64_t model_managed_holds(const struct model *model);

/* Is the advice, which is good, one that looks at the memory? */
bool model_managed_heeds(const struct model *model, const struct vmm_call_mem_advise *call);

/* cuMemFree of one. */
void model_managed_free(struct model *model, struct model_managed *managed);

#endif
