/* model_edges.h - the decisions that the first measurements left open, each in one place with what it rests on.
 *
 * A fact is cited by its case name in ../facts. "Ours" is a choice of the project where no driver was asked.
 */
#ifndef CUVMM_MODEL_EDGES_H
#define CUVMM_MODEL_EDGES_H

#include "model.h"
#include "model_parts.h"

/* Measured later than the contract was written (facts/h100-580.159.04-edges.tsv). 1: the model says what the driver was
 * seen to do. 0: it says what the simulator does, which is not that; each 0 is a gap between the two. */
enum {
    MODEL_FACT_GET_ACCESS_LOCATION_LATE = 0, /* E.dev_mem.dev99.addr0, E.null_flags.dev99: NULLs and address 0 first */
    MODEL_FACT_RANGE_OF_ADDRESS = 0,  /* B.cross.*.place: RANGE_ is the reservation that holds the address; NULL, 0 */
    MODEL_FACT_RETAIN_RESERVED = 0,   /* B.past.*.beyond.retain: refused where no reservation holds the address */
    MODEL_FACT_UNMAP_WRAPS = 0,       /* C.size.max, .to_zero: a range that wraps holds nothing */
    MODEL_FACT_NO_HOST_ON_DEVICE = 0, /* D.host_none, D.numa_none: taking rights that nobody has is allowed */
    MODEL_FACT_HOLE_STOPS = 0,        /* D.seam_shape.*, D.gap.hole_inside_one: only mappings before the hole change */
    MODEL_FACT_REFUSED_HALFWAY = 0,   /* D.dev+host, D.mixed_back.host: what came before NOT_SUPPORTED stays done */
    MODEL_FACT_HOST_NEWEST = 0,       /* E.table, E.orders: HOST tells the newer grant of device 0 and the host */
    MODEL_FACT_DEVICE_BEFORE_PROP = 0, /* F.type0+dev99, F.dev99+win32: the id before the rest of the property */
    MODEL_FACT_RESERVED3 = 0,         /* F.dev.reserved3: the last reserved byte is not looked at */
    MODEL_FACT_SYNC_MEMOPS = 0,       /* I.rw.attr6: 1 for memory in a device */
    MODEL_FACT_BUFFER_PER_MAPPING = 1, /* I.identity.buffer_id: another for every mapping */
    MODEL_FACT_RANGE_OF_NOTHING = 0,  /* I.range.null_both_unmapped: with both outputs NULL nothing is looked up */
    MODEL_FACT_RANGE_NEEDS_DEVICE = 0, /* I.range.host_host_rw: host memory, too, only where the device has access */
};

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

/* Memory without references that a mapping still holds: its handle is stale to release (A.again.release2), and as good
 * as ever to map (A.second.map) and to the properties (A.properties.refs0_mapped). */
static inline bool model_edge_release(const struct model_memory *memory)
{
    return memory->references > 0;
}

/* A reservation cannot be freed while any mapping reaches into it, also one that starts in its neighbour
 * (B.free_b). */
static inline bool model_edge_pins(const struct model_reservation *r, const struct model_mapping *mapping)
{
    return model_overlap(r->start, r->size, mapping->start, mapping->size);
}

/* The reservation that the range attributes report is the one that holds this address. */
static inline uint64_t model_edge_range_address(const struct model_mapping *mapping, uint64_t address)
{
    return MODEL_FACT_RANGE_OF_ADDRESS ? address : mapping->start;
}

/* A range that wraps around the end of the addresses reaches up to the end; see MODEL_FACT_UNMAP_WRAPS. */
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

/* A NUMA node's id in vmm_mem_get_access is not looked at (E.dev_mem.numa99). */
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

/* Whether the current device finds the address range of a mapping on which it has these rights. */
static inline bool model_edge_range_found(bool in_device, int rights)
{
    return rights || (!in_device && !MODEL_FACT_RANGE_NEEDS_DEVICE);
}

#endif
