/* SPDX-License-Identifier: Apache-2.0 */
/* managed.h - memory that the host and every device use at the same address. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_MANAGED_H
#define CUVMM_VMM_MANAGED_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VMM_MEM_ATTACH_GLOBAL 1
#define VMM_MEM_ATTACH_HOST 2
#define VMM_MEM_ATTACH_SINGLE 4

#define VMM_DEVICE_CPU (-1)     /* the host, in place of a device number */
#define VMM_DEVICE_INVALID (-2) /* none */

typedef int vmm_mem_advice; /* CUmem_advise */
#define VMM_MEM_ADVISE_SET_READ_MOSTLY 1
#define VMM_MEM_ADVISE_UNSET_READ_MOSTLY 2
#define VMM_MEM_ADVISE_SET_PREFERRED_LOCATION 3
#define VMM_MEM_ADVISE_UNSET_PREFERRED_LOCATION 4
#define VMM_MEM_ADVISE_SET_ACCESSED_BY 5
#define VMM_MEM_ADVISE_UNSET_ACCESSED_BY 6

typedef int vmm_mem_range_attribute;
#define VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY 1
#define VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION 2
#define VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY 3
#define VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION 4
#define VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE 5
#define VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID 6
#define VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE 7
#define VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID 8

VMM_API vmm_result vmm_mem_alloc_managed(vmm_system *sys, vmm_deviceptr *dptr, uint64_t bytesize, unsigned int flags);
VMM_API vmm_result vmm_mem_prefetch_async(vmm_system *sys, vmm_deviceptr dev_ptr, uint64_t count, vmm_mem_location location,
                                          unsigned int flags, vmm_stream stream);
VMM_API vmm_result vmm_mem_advise(vmm_system *sys, vmm_deviceptr dev_ptr, uint64_t count, vmm_mem_advice advice,
                                  vmm_mem_location location);

/* Advice and prefetches hold of whole pages of 4 KiB. Pages of which the same holds form a part. Measured (580.159.04): the driver
 * walks the pages of a range from part to part, and each step is as long as the part that it is in, even where the range begins in the
 * middle of it. So an answer leaves out as many pages behind the first part as the part has before the range; and advice or a
 * prefetch, whose part may just have become longer by what it changed, leaves out pages behind it, which keep what held of them. The
 * simulator does the same. On a driver small allocations lie 512 bytes apart and share pages; here each has its own. */
VMM_API vmm_result vmm_mem_range_get_attribute(vmm_system *sys, void *data, uint64_t data_size, vmm_mem_range_attribute attribute,
                                               vmm_deviceptr dev_ptr, uint64_t count);
VMM_API vmm_result vmm_stream_attach_mem_async(vmm_system *sys, vmm_stream stream, vmm_deviceptr dptr, uint64_t length,
                                               unsigned int flags);
VMM_API vmm_result vmm_mem_prefetch_batch_async(vmm_system *sys, const vmm_deviceptr *dptrs, const uint64_t *sizes, uint64_t count,
                                                const vmm_mem_location *prefetch_locs, const uint64_t *prefetch_loc_idxs,
                                                uint64_t num_prefetch_locs, uint64_t flags, vmm_stream stream);
VMM_API vmm_result vmm_mem_discard_batch_async(vmm_system *sys, const vmm_deviceptr *dptrs, const uint64_t *sizes, uint64_t count,
                                               uint64_t flags, vmm_stream stream);
VMM_API vmm_result vmm_mem_discard_and_prefetch_batch_async(vmm_system *sys, const vmm_deviceptr *dptrs, const uint64_t *sizes,
                                                            uint64_t count, const vmm_mem_location *prefetch_locs,
                                                            const uint64_t *prefetch_loc_idxs, uint64_t num_prefetch_locs,
                                                            uint64_t flags, vmm_stream stream);

#ifdef __cplusplus
}
#endif

#endif
