/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.h - memory for GPUDirect RDMA that is mapped at several addresses, as the recorded driver treats it.
 *
 *   map A, map B             first = A                everything works
 *   unmap A                  first = none             no rights on B for another device, until:
 *     map C                    first = C                everything works again
 *     rights on B              late = B                 no further mapping, no rights elsewhere, until B is unmapped
 *                                                       or its device loses them
 *
 * "Rights" are those of the memory's own device, where it had other rights or none on that mapping. No other memory is
 * affected.
 */
#ifndef SIM_RDMA_H
#define SIM_RDMA_H

#include "process.h"

/* Is it memory for GPUDirect RDMA? The functions below are for such memory only. */
static inline bool rdma_concerns(const struct sim_handle *handle)
{
    return handle->prop.alloc_flags.gpu_direct_rdma_capable;
}

/* The mapping that was granted its rights too late and so prevents further mappings of the memory, or NULL. */
static inline const struct sim_mapping *rdma_late(const struct sim_handle *handle)
{
    return handle->rdma_late;
}

/* The reason why a device cannot get rights on this mapping, as drawn above. */
enum rdma_bar {
    RDMA_NONE,
    RDMA_LATE, /* another mapping, rdma_late(), was granted its own device's rights too late */
    RDMA_PEER  /* the grant is to another device, and the memory no longer has a first mapping */
};
enum rdma_bar rdma_bar(const struct sim_mapping *mapping, const vmm_mem_access_desc *desc);

/* Call rdma_mapped after mapping, rdma_grant before a grant that rdma_bar allows, rdma_unmapped before unmapping. */
void rdma_mapped(struct sim_mapping *mapping);
void rdma_grant(const struct sim_mapping *mapping, const vmm_mem_access_desc *desc);
void rdma_unmapped(const struct sim_mapping *mapping);

#endif
