/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - physical memory and its handles. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_MEMORY_H
#define CUVMM_VMM_MEMORY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int vmm_mem_allocation_granularity_flags;
#define VMM_MEM_ALLOC_GRANULARITY_MINIMUM 0
#define VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED 1

#define VMM_MEM_ALLOCATION_COMP_NONE 0
#define VMM_MEM_ALLOCATION_COMP_GENERIC 1

#define VMM_MEM_CREATE_USAGE_TILE_POOL 1
#define VMM_MEM_CREATE_USAGE_HW_DECOMPRESS 2

/* What kind of physical memory to create; CUmemAllocationProp. Zero the struct first: reserved fields are checked. */
typedef struct vmm_mem_allocation_prop {
    vmm_mem_allocation_type type;                          /* PINNED */
    vmm_mem_allocation_handle_type requested_handle_types; /* how the memory may be exported; fixed at creation */
    vmm_mem_location location;                             /* where the memory is */
    void *win32_handle_meta_data;                          /* NULL except on Windows */
    struct {
        unsigned char compression_type;        /* a hint; read the properties back to see what was obtained */
        unsigned char gpu_direct_rdma_capable; /* 0 or 1 */
        unsigned short usage;                  /* VMM_MEM_CREATE_USAGE_ bits */
        unsigned char reserved[4];             /* 0 */
    } alloc_flags;
} vmm_mem_allocation_prop;

/* The granularity of memory with these properties: sizes and addresses of create, reserve and map are multiples of
 * it. option: VMM_MEM_ALLOC_GRANULARITY_MINIMUM or _RECOMMENDED. INVALID_VALUE [VMM-GRANULARITY-NULL,
 * VMM-GRANULARITY-NULL-PROP, VMM-GRANULARITY-OPTION]. Observed (580): prop is not validated at all; a property that
 * create refuses on every machine of this kind (not because a capability or memory is missing) draws a warning
 * [VMM-GRANULARITY-PROP-UNCHECKED]. cuMemGetAllocationGranularity; cuda.h 13.0; guide 4.16.3.1. */
VMM_API vmm_result vmm_mem_get_allocation_granularity(vmm_system *sys, uint64_t *granularity,
                                                      const vmm_mem_allocation_prop *prop,
                                                      vmm_mem_allocation_granularity_flags option);

/* Physical memory without an address. size > 0, a multiple of the minimum granularity of prop; flags 0.
 *
 *   before: device [free ..............]          after: device [H1 size][free .......]   no address anywhere
 *
 * The memory reads as zero when it is first mapped. The handle is one reference; vmm_mem_release releases it.
 * Checked in this order (580, every pair of mistakes measured):
 * INVALID_VALUE [VMM-CREATE-NULL-HANDLE, VMM-CREATE-NULL-PROP, VMM-CREATE-FLAGS, VMM-CREATE-SIZE-ZERO,
 *   VMM-CREATE-LOCATION-TYPE, VMM-CREATE-NUMA-CURRENT, VMM-CREATE-HOST-SHARED, VMM-CREATE-NUMA-ID,
 *   VMM-CREATE-SIZE-GRANULARITY];
 * INVALID_DEVICE [VMM-CREATE-DEVICE-ID];
 * INVALID_VALUE [VMM-CREATE-TYPE, VMM-CREATE-HANDLE-TYPE-WINDOWS, VMM-CREATE-COMPRESSION-TYPE, VMM-CREATE-RESERVED
 *   (bytes 0 to 2), VMM-CREATE-WIN32-META, VMM-CREATE-HOST-COMPRESSION, VMM-CREATE-HOST-RDMA];
 * NOT_SUPPORTED [VMM-CREATE-UNSUPPORTED, VMM-CREATE-HOST-UNSUPPORTED, VMM-CREATE-NUMA-UNSUPPORTED,
 *   VMM-CREATE-FD-UNSUPPORTED, VMM-CREATE-FABRIC-UNSUPPORTED] where the machine lacks the capability;
 * INVALID_VALUE [VMM-CREATE-TILE-POOL, VMM-CREATE-USAGE-COMPRESSION];
 * OUT_OF_MEMORY [VMM-CREATE-MEMORY]; INVALID_VALUE [VMM-CREATE-HOST-ID] instead, where a driver would crash:
 *   location.id of HOST memory is not a device (0 always is one);
 * NOT_PERMITTED [VMM-CREATE-FABRIC-IMEX]: FABRIC without a usable IMEX channel, although the attribute says 1;
 * ours: OPERATING_SYSTEM [VMM-SHARE-STATE] where shared memory cannot be stored.
 * Warned of, in this order: [VMM-CREATE-HANDLE-TYPE-UNKNOWN, VMM-CREATE-RDMA-VALUE, VMM-CREATE-USAGE-UNKNOWN,
 *   VMM-CREATE-RESERVED-LAST, VMM-CREATE-USAGE-DROPPED, VMM-CREATE-RDMA-NOT-OBTAINED,
 *   VMM-CREATE-COMPRESSION-NOT-OBTAINED]: the memory is created without the requested property.
 * cuMemCreate; cuda.h 13.0; guide 4.16.3.1. */
VMM_API vmm_result vmm_mem_create(vmm_system *sys, vmm_mem_generic_allocation_handle *handle, uint64_t size,
                                  const vmm_mem_allocation_prop *prop, uint64_t flags);

/* Releases one reference. Memory returns to the device when no reference and no mapping is left:
 *
 *   create    refs 1 maps 0    map  refs 1 maps 1    release  refs 0 maps 1 (still usable)    unmap  -> freed
 *
 * INVALID_VALUE [VMM-RELEASE-HANDLE-ZERO, VMM-RELEASE-HANDLE-STALE, VMM-RELEASE-HANDLE-FORGED]. Warned of, as at
 * vmm_mem_unmap: [VMM-RELEASE-MEMORY-BOUND, VMM-RELEASE-TEAM-BOUND], see "multicast".
 * Observed (580): a value that never was a handle crashes the process. cuMemRelease; cuda.h 13.0; guide 4.16.3.5. */
VMM_API vmm_result vmm_mem_release(vmm_system *sys, vmm_mem_generic_allocation_handle handle);

/* One more reference to the memory mapped at addr (any byte of the mapping); *handle is the very value that was
 * mapped, even after all its references were released. INVALID_VALUE [VMM-RETAIN-NULL-HANDLE, VMM-RETAIN-ADDRESS-ZERO,
 * VMM-RETAIN-NOT-MAPPED]: also for the part of a mapping that no reservation covers (580).
 * cuMemRetainAllocationHandle (whose addr is a void *); cuda.h 13.0. */
VMM_API vmm_result vmm_mem_retain_allocation_handle(vmm_system *sys, vmm_mem_generic_allocation_handle *handle,
                                                    vmm_deviceptr addr);

/* The properties that the memory has, which may differ from the requested ones: HOST reads back as HOST_NUMA node 0,
 * unknown handle-type bits as 0, compression as obtained. INVALID_VALUE [VMM-PROPERTIES-NULL-PROP,
 * VMM-PROPERTIES-HANDLE-ZERO, VMM-PROPERTIES-HANDLE-FORGED, VMM-PROPERTIES-MULTICAST]; [VMM-PROPERTIES-HANDLE-STALE] is
 * a warning for one of the last 256 handles that ended (driver 580 answers as long as nothing else has taken their place)
 * and a refusal for older ones. cuMemGetAllocationPropertiesFromHandle. */
VMM_API vmm_result vmm_mem_get_allocation_properties_from_handle(vmm_system *sys, vmm_mem_allocation_prop *prop,
                                                                 vmm_mem_generic_allocation_handle handle);

#ifdef __cplusplus
}
#endif

#endif
