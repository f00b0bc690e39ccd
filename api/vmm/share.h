/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - memory for other processes, passed as handles that they import. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_SHARE_H
#define CUVMM_VMM_SHARE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------ memory for other processes
 *
 *   process A   create -> H1 == export ==> fd          process B    fd == import ==> H1' -> map, set access, use
 *                                          '-- SCM_RIGHTS, inherited, pidfd_getfd --^
 *
 * The memory is freed when no handle, mapping or descriptor is left in any process; a process that dies releases what
 * it held. On the simulator the processes open the same machine=NAME (vmm_open; docs/sharing.md). */

/* A shareable handle for memory: for POSIX_FILE_DESCRIPTOR each call stores a new close-on-exec descriptor,
 * an int, in *(int *)shareable_handle; the caller closes it. Needs no context. The memory must have been
 * created with this type among its requested_handle_types. Checked in this order (ours; all these mistakes have the
 * same code, and nothing is written): INVALID_VALUE [VMM-EXPORT-NULL-HANDLE, VMM-EXPORT-FLAGS, VMM-EXPORT-TYPE (one
 * type, not several), VMM-EXPORT-HANDLE-ZERO, VMM-EXPORT-HANDLE-STALE, VMM-EXPORT-HANDLE-FORGED (580: both crash),
 * VMM-EXPORT-IMPORTED, VMM-EXPORT-NOT-REQUESTED]; ours: NOT_PERMITTED [VMM-EXPORT-FABRIC-IMEX], OPERATING_SYSTEM
 * [VMM-EXPORT-SYSTEM, VMM-SHARE-STATE]. A multicast object is exported and imported in the same way, with the
 * handle_types of its properties.
 * Observed (580): the descriptor refers to a device and can be neither read nor mapped; the simulator's is a small
 * read-only file.
 * For FABRIC 64 bytes are stored (VMM_FABRIC_HANDLE_SIZE), which may be sent by any means and imported any number of
 * times. They hold no reference: the exporter must keep the memory until the importers have it. docs/fabric.md.
 * cuMemExportToShareableHandle; cuda.h 13.0; guide 4.16.3.2. */
VMM_API vmm_result vmm_mem_export_to_shareable_handle(vmm_system *sys, void *shareable_handle,
                                                      vmm_mem_generic_allocation_handle handle,
                                                      vmm_mem_allocation_handle_type handle_type, uint64_t flags);

/* A handle of this process for memory that was exported, by this process or another. For POSIX_FILE_DESCRIPTOR os_handle is
 * the descriptor by value, (void *)(uintptr_t)fd (the guide passes its address; 580: by value, the low 32 bits
 * count). The caller keeps it and may close it at once. Every import is a new handle with one reference. Needs no
 * context. No call returns the size of the memory, so the exporter must send it. The memory is mapped as a whole,
 * like other memory.
 * Observed (580): its properties are those of the memory, except requested_handle_types and gpu_direct_rdma_capable,
 * which are 0. It cannot be exported again [VMM-EXPORT-IMPORTED].
 * Checked in this order: INVALID_VALUE [VMM-IMPORT-NULL-HANDLE, VMM-IMPORT-TYPE, VMM-IMPORT-FABRIC-NULL,
 * VMM-IMPORT-ZERO (also when descriptor 0 is open)]; NOT_SUPPORTED [VMM-IMPORT-WINDOWS]; for a descriptor UNKNOWN
 * [VMM-IMPORT-CLOSED, VMM-IMPORT-FOREIGN, VMM-IMPORT-MACHINE]; for FABRIC NOT_SUPPORTED
 * [VMM-IMPORT-FABRIC], NOT_PERMITTED [VMM-IMPORT-FABRIC-DOMAIN (ours), VMM-IMPORT-FABRIC-IMEX (documented)],
 * INVALID_VALUE [VMM-IMPORT-FABRIC-GONE (ours)]; ours: OPERATING_SYSTEM [VMM-IMPORT-SYSTEM, VMM-SHARE-STATE].
 * Nothing is written then.
 * For FABRIC os_handle is the address of the 64 bytes; the imported memory may belong to another node
 * (docs/fabric.md), and is used like memory of the device with that number on this node (ours; properties as for a descriptor's
 * import). In this case the detail shows the last eight of the bytes as os_handle's value. cuMemImportFromShareableHandle;
 * cuda.h 13.0; guide 4.16.3.2. */
VMM_API vmm_result vmm_mem_import_from_shareable_handle(vmm_system *sys, vmm_mem_generic_allocation_handle *handle,
                                                        void *os_handle, vmm_mem_allocation_handle_type sh_handle_type);

#ifdef __cplusplus
}
#endif

#endif
