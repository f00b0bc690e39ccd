/* model_edges.h - the decisions that the first measurements left open, each in one place with what it rests on.
 *
 * A fact is cited by its case name in ../facts. "Ours" is a choice of the project where no driver was asked.
 */
#ifndef CUVMM_MODEL_EDGES_H
#define CUVMM_MODEL_EDGES_H

#include "model.h"
#include "model_parts.h"

/* Two rules broken at once, where no driver was asked and the rule table's rows stand the other way round: 1 is the
 * order that the simulator has. Each pair returns INVALID_VALUE either way, except the second (INVALID_DEVICE or
 * INVALID_VALUE). Move the rows, or the checks and this line. */
enum {
    MODEL_EDGE_SET_ALIGNMENT_FIRST = 1,   /* VMM-SET-ALIGNMENT before VMM-COPY-OVERFLOW .. VMM-COPY-NO-WRITE */
    MODEL_EDGE_DEVICE_ID_FIRST = 1,       /* VMM-DEVICE-ID before VMM-DEVICE-ATTRIBUTE */
    MODEL_EDGE_USAGE_BEFORE_RDMA = 1,     /* VMM-CREATE-USAGE-UNKNOWN, -DROPPED before VMM-CREATE-RDMA-NOT-OBTAINED */
    MODEL_EDGE_SPACE_END_FIRST = 1,       /* VMM-MAP-SPACE-END before VMM-MAP-OVERLAP */
};

/* Ranges are judged from the front: of two things wrong with a copy's range (the destination's before the source's),
 * with the ends of vmm_mem_set_access's range, or with its mappings and descriptors (mappings by address, for each the
 * descriptors in turn), the first one met decides the rule. Ours; see reachable, set_range, set_memory. */

/* Memory without references that a mapping still holds: its handle is stale to release, and as good as ever to map
 * and to the properties. */
static inline bool model_edge_release(const struct model_memory *memory)
{
    return memory->references > 0;
}

/* A reservation cannot be freed while any mapping reaches into it, also one that starts in its neighbour. */
static inline bool model_edge_pins(const struct model_reservation *r, const struct model_mapping *mapping)
{
    return model_overlap(r->start, r->size, mapping->start, mapping->size);
}

/* The reservation that the range attributes report: the one in which the mapping starts. */
static inline uint64_t model_edge_range_address(const struct model_mapping *mapping, uint64_t address)
{
    (void)address;
    return mapping->start;
}

/* A range that wraps around the end of the addresses reaches up to the end. Ours. */
static inline uint64_t model_edge_clamp(uint64_t start, uint64_t size)
{
    return size > UINT64_MAX - start ? UINT64_MAX - start : size;
}

/* Which granularity an unmap's address and size are measured by. Ours: the devices'. */
static inline uint64_t model_edge_unmap_unit(const struct model *model)
{
    return model->profile->device_granularity[0];
}

/* Which unit a set access's size is a multiple of; on the recorded machines all are 2 MiB. Ours. */
static inline uint64_t model_edge_access_unit(const struct model *model)
{
    return model->profile->va_granularity;
}

/* A NUMA node's id in vmm_mem_get_access is not looked at, as vmm_mem_set_access does not. Ours. */
static inline bool model_edge_get_access_node(const struct model *model, int node)
{
    (void)model;
    (void)node;
    return true;
}

/* Whether the granularity query also warns of what this machine lacks. No: it warns of properties that create would
 * refuse on any machine, and of an id that no device has. Ours. */
static inline bool model_edge_unchecked_lacks(void)
{
    return false;
}

/* Memory in the host has an address range whoever may access it; in a device, only where the current one may. */
static inline bool model_edge_range_found(bool in_device, int rights)
{
    return !in_device || rights;
}

#endif
