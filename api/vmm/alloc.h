/* SPDX-License-Identifier: Apache-2.0 */
/* alloc.h - ordinary memory. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_ALLOC_H
#define CUVMM_VMM_ALLOC_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Free and total bytes of the current context's device. free falls at vmm_mem_create by exactly the size, not at
 * reserve or map. Either pointer may be NULL. INVALID_CONTEXT [VMM-CTX-CURRENT] (0 written). cuMemGetInfo. */
VMM_API vmm_result vmm_mem_get_info(vmm_system *sys, uint64_t *free, uint64_t *total);

/* Ordinary memory on the current context's device, mapped and accessible at once; provided so that programs that mix
 * both kinds run. bytesize > 0. INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_VALUE [VMM-ALLOC-NULL,
 * VMM-ALLOC-SIZE-ZERO], OUT_OF_MEMORY [VMM-ALLOC-MEMORY]; 0 is then written to *dptr. cuMemAlloc. */
VMM_API vmm_result vmm_mem_alloc(vmm_system *sys, vmm_deviceptr *dptr, uint64_t bytesize);

/* Waits for all work on the memory's device, then frees memory of vmm_mem_alloc; 0 is accepted and ignored.
 * INVALID_VALUE [VMM-ALLOC-FREE-VMM] for an address of virtual memory management, [VMM-ALLOC-FREE-UNKNOWN] for any
 * other that vmm_mem_alloc did not return. cuMemFree. */
VMM_API vmm_result vmm_mem_free(vmm_system *sys, vmm_deviceptr dptr);

#ifdef __cplusplus
}
#endif

#endif
