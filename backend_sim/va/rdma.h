/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.h - memory for GPUDirect RDMA that is mapped at several addresses, as the recorded driver treats it.
 *
 *   map A, map B             first = A                everything works
 *   unmap A                  first = none             no rights on B for another device, until:
 *     map C                    first = C                everything works again
 *     rights on B              late = B                 no further mapping, no rights elsewhere, until B is unmapped
 *                                                       or its device loses them
 *
 * "Rights" are those of the memory's own device, where it had others or none on that mapping. Other memory is never
 * affected.
 */
#ifndef SIM_RDMA_H
#define SIM_RDMA_H

#include "process.h"

/* Is it such memory? All the others below are for that alone. */
static inline bool rdma_concerns(const struct sim_handle *handle)
{
    return handle->prop.alloc_flags.gpu_direct_rdma_capable;
}

/* The mapping that came to its rights too late and keeps the memory from being mapped once more, or NULL. */
static inline const struct sim_mapping *rdma_late(const struct sim_handle *handle)
{
    return handle->rdma_late;
}

/* What keeps a device from the rights that it is about to get on this mapping, as drawn above. */
enum rdma_bar {
    RDMA_NONE,
    RDMA_LATE, /* another mapping, rdma_late(), was granted its own device's rights too late */
    RDMA_PEER  /* another device asks, and the memory has no first mapping any more */
};
enum rdma_bar rdma_bar(const struct sim_mapping *mapping, const vmm_mem_access_desc *desc);

/* The mapping was made; the grant, which may be made, is about to be; the mapping is about to go. */
void rdma_mapped(struct sim_mapping *mapping);
void rdma_grant(const struct sim_mapping *mapping, const vmm_mem_access_desc *desc);
void rdma_unmapped(const struct sim_mapping *mapping);

#endif
