/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - stream-ordered memory and the pools it comes from. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_POOL_H
#define CUVMM_VMM_POOL_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int vmm_mem_pool_attribute; /* type read or written through value */
#define VMM_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES 1   /* int: reuse freed memory if an event orders the free first */
#define VMM_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC 2         /* int: reuse memory whose free has already completed */
#define VMM_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES 3 /* int: let an allocation wait for another stream's free */
#define VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD 4                 /* uint64_t: bytes that a synchronisation leaves in the pool */
#define VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT 5              /* uint64_t: the pool's physical memory */
#define VMM_MEMPOOL_ATTR_RESERVED_MEM_HIGH 6                 /* uint64_t: the maximum since it was reset to 0 */
#define VMM_MEMPOOL_ATTR_USED_MEM_CURRENT 7                  /* uint64_t: the part of it in use by allocations */
#define VMM_MEMPOOL_ATTR_USED_MEM_HIGH 8                     /* uint64_t: the maximum since it was reset to 0 */

#define VMM_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS 2

/* What kind of memory pool to create; CUmemPoolProps. Zero the struct first. */
typedef struct vmm_mem_pool_props {
    vmm_mem_allocation_type alloc_type;          /* PINNED */
    vmm_mem_allocation_handle_type handle_types; /* how the pool may be exported; fixed at creation */
    vmm_mem_location location;                   /* where its memory is */
    void *win32_security_attributes;             /* NULL except on Windows */
    uint64_t max_size;                           /* the size in bytes that it may grow to; 0: the driver's choice */
    unsigned short usage;                        /* VMM_MEM_POOL_CREATE_USAGE_ bits */
    unsigned char reserved[54];                  /* 0 */
} vmm_mem_pool_props;

/* Names an allocation of a pool in another process; CUmemPoolPtrExportData. */
typedef struct vmm_mem_pool_ptr_export_data {
    unsigned char reserved[64];
} vmm_mem_pool_ptr_export_data;

/* -------------------------------------------------------------------------------- memory in the order of a stream
 *
 *   stream S    alloc P    kernel that uses P    free P    alloc Q         Q may have P's memory: S orders the two
 *   stream T                                               alloc R         R may not, unless T waits for the free
 *
 * An allocation may be used by work that the stream orders after it, and by other calls once the stream has reached
 * it. Memory comes from a pool, which takes it from its device in chunks and keeps it when an allocation is
 * freed: until cuMemPoolTrimTo, or until a synchronising call finds more than the release threshold. */

/* Allocates from the current pool of the stream's device, or from the given pool. INVALID_VALUE [VMM-POOL-ALLOC-NULL]; a
 * call that is refused from here on writes 0 to *dptr. INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN];
 * INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-UNKNOWN]; OUT_OF_MEMORY [VMM-POOL-ALLOC-MAX-SIZE, VMM-POOL-ALLOC-MEMORY]. Warned
 * of: [VMM-POOL-ALLOC-SIZE-ZERO], which allocates nothing, at address 0. */
VMM_API vmm_result vmm_mem_alloc_async(vmm_system *sys, vmm_deviceptr *dptr, uint64_t bytesize, vmm_stream stream);
VMM_API vmm_result vmm_mem_alloc_from_pool_async(vmm_system *sys, vmm_deviceptr *dptr, uint64_t bytesize,
                                                 vmm_memory_pool pool, vmm_stream stream);
/* Frees the memory when the stream reaches this call; address 0 is ignored. INVALID_CONTEXT [VMM-CTX-CURRENT],
 * INVALID_HANDLE [VMM-STREAM-UNKNOWN]; INVALID_VALUE [VMM-POOL-FREE-ORDINARY, VMM-POOL-FREE-UNKNOWN]. Warned of:
 * [VMM-POOL-FREE-IN-FLIGHT]; work that uses the memory: [VMM-POOL-USE-FREED, VMM-POOL-USE-UNORDERED]. */
VMM_API vmm_result vmm_mem_free_async(vmm_system *sys, vmm_deviceptr dptr, vmm_stream stream);

/* INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-CREATE-TYPE, VMM-POOL-CREATE-LOCATION, VMM-POOL-CREATE-DEVICE,
 * VMM-POOL-CREATE-HANDLE-TYPES, VMM-POOL-CREATE-RESERVED]; NOT_SUPPORTED [VMM-POOL-CREATE-MANAGED]:
 * the simulator has pools on devices only; OUT_OF_MEMORY [VMM-POOL-CREATE-MAX-SIZE]. */
VMM_API vmm_result vmm_mem_pool_create(vmm_system *sys, vmm_memory_pool *pool, const vmm_mem_pool_props *pool_props);
/* Destroys the pool, once its last allocation is freed. If it is its device's current pool, the default pool becomes
 * current again. INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-UNKNOWN, VMM-POOL-DESTROY-DEFAULT]. */
VMM_API vmm_result vmm_mem_pool_destroy(vmm_system *sys, vmm_memory_pool pool);

/* A device's default pool, and its current pool, from which vmm_mem_alloc_async allocates; the three calls of CUDA 13.0 name the
 * device by a location. INVALID_DEVICE [VMM-POOL-DEVICE]; INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-CURRENT-DEVICE,
 * VMM-POOL-UNKNOWN, VMM-POOL-SET-ELSEWHERE], and the checks of creation; NOT_SUPPORTED [VMM-POOL-LOCATION-TYPE]. Warned of:
 * [VMM-POOL-ENDED]. */
VMM_API vmm_result vmm_device_get_default_mem_pool(vmm_system *sys, vmm_memory_pool *pool_out, vmm_device dev);
VMM_API vmm_result vmm_device_get_mem_pool(vmm_system *sys, vmm_memory_pool *pool, vmm_device dev);
VMM_API vmm_result vmm_device_set_mem_pool(vmm_system *sys, vmm_device dev, vmm_memory_pool pool);
VMM_API vmm_result vmm_mem_get_default_mem_pool(vmm_system *sys, vmm_memory_pool *pool_out,
                                                const vmm_mem_location *location, vmm_mem_allocation_type type);
VMM_API vmm_result vmm_mem_get_mem_pool(vmm_system *sys, vmm_memory_pool *pool, const vmm_mem_location *location,
                                        vmm_mem_allocation_type type);
VMM_API vmm_result vmm_mem_set_mem_pool(vmm_system *sys, const vmm_mem_location *location, vmm_mem_allocation_type type,
                                        vmm_memory_pool pool);

/* INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-UNKNOWN, VMM-POOL-ATTRIBUTE, VMM-POOL-ATTRIBUTE-READ-ONLY, VMM-POOL-ATTRIBUTE-HIGH].
 * A wait that does not cover a free trims nothing, but vmm_ctx_synchronize trims pools whose threshold was lowered, and
 * so does vmm_stream_synchronize of a stream that a pool was used on (580). */
VMM_API vmm_result vmm_mem_pool_set_attribute(vmm_system *sys, vmm_memory_pool pool, vmm_mem_pool_attribute attr,
                                              void *value);
VMM_API vmm_result vmm_mem_pool_get_attribute(vmm_system *sys, vmm_memory_pool pool, vmm_mem_pool_attribute attr,
                                              void *value);
VMM_API vmm_result vmm_mem_pool_trim_to(vmm_system *sys, vmm_memory_pool pool, uint64_t min_bytes_to_keep);
/* The rights of devices to all memory of a pool. INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-UNKNOWN, VMM-POOL-ACCESS-FLAGS,
 * VMM-POOL-GET-ACCESS-LOCATION, VMM-POOL-ACCESS-NOWHERE]; NOT_SUPPORTED [VMM-POOL-ACCESS-LOCATION, VMM-POOL-ACCESS-READ,
 * VMM-POOL-ACCESS-HOST]; INVALID_DEVICE [VMM-POOL-ACCESS-DEVICE, VMM-POOL-ACCESS-OWN, VMM-POOL-ACCESS-PEER]. Warned of:
 * [VMM-POOL-ENDED]. If a list has several mistakes, READ or a bad location is reported first, then other flags, then what the
 * pool cannot grant (580). */
VMM_API vmm_result vmm_mem_pool_set_access(vmm_system *sys, vmm_memory_pool pool, const vmm_mem_access_desc *map,
                                           uint64_t count);
VMM_API vmm_result vmm_mem_pool_get_access(vmm_system *sys, vmm_mem_access_flags *flags, vmm_memory_pool mem_pool,
                                           const vmm_mem_location *location);

/* Between processes: first a pool, as a descriptor or fabric handle, then each of its allocations, as 64 bytes. INVALID_VALUE
 * [VMM-POOL-NULL, VMM-POOL-UNKNOWN, VMM-EXPORT-FLAGS, VMM-EXPORT-TYPE, VMM-EXPORT-NOT-REQUESTED, VMM-POOL-EXPORT-KIND,
 * VMM-POOL-IMPORT-FLAGS, VMM-IMPORT-TYPE, VMM-POOL-POINTER-UNKNOWN, VMM-POOL-POINTER-POOL, VMM-POOL-IMPORT-POOL,
 * VMM-POOL-IMPORT-DATA, VMM-POOL-IMPORT-TAKEN]; NOT_SUPPORTED [VMM-IMPORT-KIND, VMM-IMPORT-WINDOWS]; NOT_PERMITTED
 * [VMM-EXPORT-FABRIC-IMEX]; UNKNOWN [VMM-IMPORT-CLOSED, VMM-IMPORT-FOREIGN, VMM-IMPORT-MACHINE]. An imported pool allocates
 * nothing [VMM-POOL-IMPORTED], and is destroyed after its allocations [VMM-POOL-DESTROY-IMPORTED]; a pool that was imported
 * several times must be destroyed as often. */
VMM_API vmm_result vmm_mem_pool_export_to_shareable_handle(vmm_system *sys, void *handle_out, vmm_memory_pool pool,
                                                           vmm_mem_allocation_handle_type handle_type, uint64_t flags);
VMM_API vmm_result vmm_mem_pool_import_from_shareable_handle(vmm_system *sys, vmm_memory_pool *pool_out, void *handle,
                                                             vmm_mem_allocation_handle_type handle_type, uint64_t flags);
VMM_API vmm_result vmm_mem_pool_export_pointer(vmm_system *sys, vmm_mem_pool_ptr_export_data *share_data_out,
                                               vmm_deviceptr ptr);
VMM_API vmm_result vmm_mem_pool_import_pointer(vmm_system *sys, vmm_deviceptr *ptr_out, vmm_memory_pool pool,
                                               const vmm_mem_pool_ptr_export_data *share_data);

#ifdef __cplusplus
}
#endif

#endif
