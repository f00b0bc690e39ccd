/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - queries about an address. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_QUERY_H
#define CUVMM_VMM_QUERY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VMM_MEMORYTYPE_HOST 1
#define VMM_MEMORYTYPE_DEVICE 2
#define VMM_MEMORYTYPE_ARRAY 3
#define VMM_MEMORYTYPE_UNIFIED 4
typedef int vmm_memorytype;

typedef int vmm_pointer_attribute;                              /* type written through data */
#define VMM_POINTER_ATTRIBUTE_CONTEXT 1                         /* vmm_context */
#define VMM_POINTER_ATTRIBUTE_MEMORY_TYPE 2                     /* unsigned int, VMM_MEMORYTYPE_ */
#define VMM_POINTER_ATTRIBUTE_DEVICE_POINTER 3                  /* vmm_deviceptr */
#define VMM_POINTER_ATTRIBUTE_HOST_POINTER 4                    /* void * */
#define VMM_POINTER_ATTRIBUTE_P2P_TOKENS 5                      /* 12 bytes; the simulator writes 0 */
#define VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS 6                     /* int: 1 after P2P_TOKENS was queried there */
#define VMM_POINTER_ATTRIBUTE_BUFFER_ID 7                       /* unsigned long long */
#define VMM_POINTER_ATTRIBUTE_IS_MANAGED 8                      /* int (0 or 1) */
#define VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL 9                  /* int */
#define VMM_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE 10     /* int (0 or 1) */
#define VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR 11               /* vmm_deviceptr: of the reservation */
#define VMM_POINTER_ATTRIBUTE_RANGE_SIZE 12                     /* uint64_t: of the reservation */
#define VMM_POINTER_ATTRIBUTE_MAPPED 13                         /* int (0 or 1) */
#define VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES 14           /* uint64_t */
#define VMM_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE 15     /* int (0 or 1) */
#define VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS 16                   /* unsigned int: of the current context's device */
#define VMM_POINTER_ATTRIBUTE_MEMPOOL_HANDLE 17                 /* vmm_memory_pool */
#define VMM_POINTER_ATTRIBUTE_MAPPING_SIZE 18                   /* uint64_t */
#define VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR 19              /* vmm_deviceptr */
#define VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID 20                /* unsigned long long: of the physical memory */
#define VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE 21       /* int (0 or 1) */
#define VMM_POINTER_ATTRIBUTE_MAX_SIZE 16                       /* the maximum size of any of them; ours */

/* One attribute of a mapped address, through data (types beside VMM_POINTER_ATTRIBUTE_). RANGE_ is the reservation
 * at ptr (left untouched if a mapping runs past its reservation), MAPPING_ the mapping. Needs no context, except
 * DEVICE_POINTER (INVALID_CONTEXT [VMM-CTX-CURRENT]).
 * INVALID_VALUE [VMM-POINTER-NULL-DATA, VMM-POINTER-ATTRIBUTE, VMM-POINTER-NOT-MAPPED], and for an attribute that this
 * memory does not have [VMM-POINTER-HOST]: HOST_POINTER of device memory or of host memory that the host has no
 * access to, P2P_TOKENS of host memory; [VMM-POINTER-DEVICE]: DEVICE_POINTER if the current device has no access.
 * In these cases 0 is written. Documents: reserved addresses have a range too; observed (580):
 * INVALID_VALUE. cuPointerGetAttribute; cuda.h 13.0. */
VMM_API vmm_result vmm_pointer_get_attribute(vmm_system *sys, void *data, vmm_pointer_attribute attribute,
                                             vmm_deviceptr ptr);

/* Several attributes at once: data[i] points to storage for attributes[i]; they are processed in order. An address that
 * is not mapped is not an error: HOST_POINTER is then ptr, DEVICE_ORDINAL -2, RANGE_ the reservation, or
 * left untouched if there is none, all others 0; attributes that mapped memory lacks are 0 too. INVALID_VALUE
 * [VMM-POINTER-NULL-DATA] (for the arrays and a count of 0 before anything is written, for an element when it is
 * processed), [VMM-POINTER-ATTRIBUTE] for unknown ones and P2P_TOKENS, when they are processed. cuPointerGetAttributes. */
VMM_API vmm_result vmm_pointer_get_attributes(vmm_system *sys, unsigned int num_attributes,
                                              const vmm_pointer_attribute *attributes, void **data, vmm_deviceptr ptr);

/* Base and size of the mapping, or of the vmm_mem_alloc memory, that dptr lies in. Either output may be NULL, and if
 * both are NULL, the call succeeds whatever dptr is. NOT_FOUND [VMM-RANGE-NOT-FOUND], 0 written to the outputs, also for a
 * mapping that the current context's device has no access to. Observed (580): host-located memory reports base 0.
 * INVALID_CONTEXT [VMM-CTX-CURRENT] (0 written), unless both outputs are NULL. cuMemGetAddressRange. */
VMM_API vmm_result vmm_mem_get_address_range(vmm_system *sys, vmm_deviceptr *pbase, uint64_t *psize,
                                             vmm_deviceptr dptr);

#ifdef __cplusplus
}
#endif

#endif
