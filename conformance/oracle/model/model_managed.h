/* SPDX-License-Identifier: Apache-2.0 */
/* model_managed.h - managed memory (facts: managed).
 *
 *     pages   [ A, read mostly ][ A, prefetched to device 0 ]     [ B ]     one list for all allocations, by address
 *
 * Advice applies to whole pages, so a driver's small allocations, which are 512 bytes apart, share it. A call walks
 * its pages part by part, and advances by the length of the part from any page in it (measured), so it skips pages
 * after it. Every device may use the memory, and the host. On a driver it moves to the processor that uses it, so
 * what the device has free is not foreseen while there is some.
 */
#ifndef CUVMM_MODEL_MANAGED_H
#define CUVMM_MODEL_MANAGED_H

#include "model_parts.h"

#define MODEL_PAGE UINT64_C(4096)

/* What holds of a page. Locations of type 0: none. */
struct model_hint {
    vmm_mem_location preferred, prefetched;
    bool read_mostly, by[VMM_MAX_DEVICES], by_host;
};

/* The pages [first, end) of the address space, with some advice. Neighbours differ, or belong to different blocks. */
struct model_part {
    uint64_t first, end;
    struct model_hint hint;
};

/* A page that an allocation had in common with others when it ended, and which attributes a driver may have kept of it. */
struct model_doubt {
    uint64_t page;
    unsigned attributes; /* one bit each */
};

struct model_managed {
    uint64_t start, size, span; /* span: of addresses, and of the host's memory */
    uint32_t tag;
    size_t context;
    int device;                 /* of the context */
    uint64_t buffer, block;     /* ids from the pointer attributes, 0 before a query */
};

void model_managed_close(struct model *model);

/* The allocation at an address; NULL: none. */
struct model_managed *model_managed_at(const struct model *model, uint64_t address);

/* Bytes of the host's memory, of node 0. */
uint64_t model_managed_holds(const struct model *model);

/* Is the advice, which is good, one that looks at the memory? */
bool model_managed_heeds(const struct model *model, const struct vmm_call_mem_advise *call);

/* Is it of a type that memory can be prefetched to? */
bool model_managed_place(vmm_mem_location where);

/* cuMemFree of one. */
void model_managed_free(struct model *model, struct model_managed *managed);

#endif
