/* SPDX-License-Identifier: Apache-2.0 */
/* dmabuf.h - memory shared with other devices of the machine. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_DMABUF_H
#define CUVMM_VMM_DMABUF_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int vmm_mem_range_handle_type; /* what kind of handle an address range gets */
#define VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD 1 /* an int, the file descriptor of a dma-buf */
#define VMM_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE 1

/* ----------------------------------------------------------------------------- memory for other devices of the machine
 * A dma-buf is the kernel's way to pass one device's memory to the driver of another, such as a network card. */

/* A file descriptor for [dptr, dptr + size), stored in *(int *)handle: new at every call, close-on-exec, and closed
 * by the caller. Seeking to its end returns the size.
 *
 *   [=== M1 ===|=== M2 ===|....]        dptr and size are multiples of the host's page size (4096 bytes on most),
 *        [--- range ---)                and every byte is mapped; the ends need not be those of mappings
 *
 * Needs a current context, but no access rights (580: mapped is enough). Memory of vmm_mem_alloc may be exported as
 * well, in whole pages even where fewer bytes were allocated. Checked in this order: INVALID_VALUE
 * [VMM-DMABUF-NULL-HANDLE, VMM-DMABUF-SIZE-ZERO, VMM-DMABUF-PTR-ZERO, VMM-DMABUF-TYPE, VMM-DMABUF-FLAGS,
 * VMM-DMABUF-ALIGNMENT, VMM-DMABUF-OVERFLOW]; INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_VALUE
 * [VMM-DMABUF-NOT-MAPPED, VMM-DMABUF-HOLE]; NOT_SUPPORTED [VMM-DMABUF-UNSUPPORTED, VMM-DMABUF-PCIE]; INVALID_VALUE
 * for a multicast object [VMM-DMABUF-MULTICAST] or memory of the host [VMM-DMABUF-HOST] anywhere in the range;
 * UNKNOWN for compressible memory [VMM-DMABUF-COMPRESSED]; INVALID_VALUE [VMM-DMABUF-DEVICES]; OPERATING_SYSTEM
 * [VMM-DMABUF-FILE].
 * Observed (580), contrary to the rule that refused calls leave outputs alone, a call that is refused after
 * the check of the context writes -1; one that is refused earlier writes nothing. Memory with different properties in one range
 * is accepted, contrary to the documentation [VMM-DMABUF-MIXED], and flags other than the PCIe one are ignored. Documents:
 * that flag requests a mapping over PCIe if the platform supports it; observed: NOT_SUPPORTED on the recorded machines, as
 * on the simulator. Not measured: whether arguments are checked before or after the context, a context whose device was lost
 * [VMM-FAULT-STICKY], memory of two devices, devices without dma-bufs. On a driver before CUDA 11.7: NOT_SUPPORTED.
 * Ours: without a device to share them, the simulator's file is a copy of the bytes at the time of the call (it does
 * not wait for in-flight work): neither side sees what the other writes later. A dma-buf (580) cannot be read or
 * mapped by the host and holds the memory: what was unmapped and released is freed only when it is closed. The copy
 * can be read and holds nothing. The documentation requires a new one whenever the memory behind the addresses
 * changes (docs/dmabuf.md). If there is no memory for the copy: OUT_OF_MEMORY [VMM-SYSTEM-HOST-MEMORY].
 * cuMemGetHandleForAddressRange; cuda.h 13.0. */
VMM_API vmm_result vmm_mem_get_handle_for_address_range(vmm_system *sys, void *handle, vmm_deviceptr dptr, uint64_t size,
                                                        vmm_mem_range_handle_type handle_type, uint64_t flags);

#ifdef __cplusplus
}
#endif

#endif
