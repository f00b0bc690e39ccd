/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - copies and fills. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_COPY_H
#define CUVMM_VMM_COPY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------------------- copies and fills
 * The current context's device does them with its rights: reading needs READ, writing READWRITE, on every byte; a
 * range may span mappings. If one byte is refused, nothing is copied. Size 0 does nothing and checks no address.
 * A fill checks alignment and count before its range; a copy between device addresses checks the destination, then
 * the source; within a range the first inaccessible byte determines the error.
 * Host-located memory, as measured on 580: the first byte decides whether the device or the host copies. The
 * host copies, with its own rights, if the device has none, or if a copy to or from the host, or a short one (below 32
 * KiB) between device addresses, begins in memory that the host has rights to. If the host then lacks a right or
 * reaches device memory, the process dies; the simulator returns [VMM-COPY-HOST-RIGHTS]. It also dies if such a copy
 * begins elsewhere and reaches memory that the host has rights to [VMM-COPY-MIXED]. The device does all fills;
 * they are refused if a later mapping in the range is such memory and the host's rights were changed after the device's
 * [VMM-SET-INTO-HOST].
 * A device address in place of a host address makes it a copy between device addresses, as measured on 580; but memory of a
 * host pool can only be the host side of a copy, never the device side [VMM-POOL-COPY-HOST]. A copy whose
 * size passes the end of the address space starts if its start is accessible, and the process then loses the device
 * (580) [VMM-COPY-OVERFLOW, a warning; copies with the host: LAUNCH_FAILED, VMM-FAULT-HOST-COPY].
 * INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_VALUE [VMM-COPY-NULL, VMM-COPY-NOT-MAPPED, VMM-COPY-MULTICAST,
 * VMM-COPY-RUNS-PAST, VMM-COPY-NO-READ, VMM-COPY-NO-WRITE, VMM-COPY-HOST-RIGHTS, VMM-COPY-MIXED, VMM-SET-ALIGNMENT,
 * VMM-SET-INTO-HOST, VMM-POOL-COPY-HOST]; the _async forms also INVALID_HANDLE [VMM-STREAM-UNKNOWN]. All of this is checked at
 * the call and again when queued work runs: memory that has become inaccessible causes a fault [VMM-FAULT-COPY; for a copy
 * from the host VMM-FAULT-HOST-COPY]. A copy from the host reads the host's bytes during the call. cuMemcpy* and
 * cuMemset* of the same names; cuda.h 13.0. */
VMM_API vmm_result vmm_memcpy_htod(vmm_system *sys, vmm_deviceptr dst, const void *src, uint64_t byte_count);
VMM_API vmm_result vmm_memcpy_dtoh(vmm_system *sys, void *dst, vmm_deviceptr src, uint64_t byte_count);
/* The documentation leaves overlapping ranges undefined. The simulator copies as memmove does where the addresses
 * overlap; where only aliases overlap, the order is unspecified. */
VMM_API vmm_result vmm_memcpy_dtod(vmm_system *sys, vmm_deviceptr dst, vmm_deviceptr src, uint64_t byte_count);
/* n elements of 1, 2 or 4 bytes; dst is a multiple of the element's size. Observed (580): n times the size wraps at 64
 * bits, and the remainder is filled [VMM-SET-COUNT-WRAPS]. */
VMM_API vmm_result vmm_memset_d8(vmm_system *sys, vmm_deviceptr dst, unsigned char value, uint64_t n);
VMM_API vmm_result vmm_memset_d16(vmm_system *sys, vmm_deviceptr dst, unsigned short value, uint64_t n);
VMM_API vmm_result vmm_memset_d32(vmm_system *sys, vmm_deviceptr dst, unsigned int value, uint64_t n);
/* The same, ordered on a stream of the current context; NULL is its default stream. */
VMM_API vmm_result vmm_memcpy_htod_async(vmm_system *sys, vmm_deviceptr dst, const void *src, uint64_t byte_count,
                                         vmm_stream stream);
VMM_API vmm_result vmm_memcpy_dtoh_async(vmm_system *sys, void *dst, vmm_deviceptr src, uint64_t byte_count,
                                         vmm_stream stream);
VMM_API vmm_result vmm_memcpy_dtod_async(vmm_system *sys, vmm_deviceptr dst, vmm_deviceptr src, uint64_t byte_count,
                                         vmm_stream stream);
VMM_API vmm_result vmm_memset_d8_async(vmm_system *sys, vmm_deviceptr dst, unsigned char value, uint64_t n,
                                       vmm_stream stream);
VMM_API vmm_result vmm_memset_d16_async(vmm_system *sys, vmm_deviceptr dst, unsigned short value, uint64_t n,
                                        vmm_stream stream);
VMM_API vmm_result vmm_memset_d32_async(vmm_system *sys, vmm_deviceptr dst, unsigned int value, uint64_t n,
                                        vmm_stream stream);

#ifdef __cplusplus
}
#endif

#endif
