/* SPDX-License-Identifier: Apache-2.0 */
/* address.h - reservations and mappings. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_ADDRESS_H
#define CUVMM_VMM_ADDRESS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reserves a range of addresses that nothing else will get. No physical memory, no access.
 *
 *   before: [............ free ............]        after: [.. free ..|R1 size|.. free ..]
 *
 * size > 0, a multiple of 2 MiB (Documents: of the host page). alignment: 0 or a power of two below 1<<63; the result
 * is a multiple of it and of 2 MiB. addr: 0, or a hint, a multiple of 2 MiB and of alignment. flags 0.
 *
 * Placement, as measured (580); a profile gives the size of a chunk (va.chunk: 32 MiB on the recorded machines, the
 * granularity elsewhere, which makes every reservation a large one):
 *   - A size below a chunk is packed, first fit by address, into the chunks that hold other such ranges; when none
 *     has room, a new chunk, aligned to its size, opens at the lowest free place; it closes with its last range.
 *   - Larger sizes get chunks of their own at the lowest free place.
 *   - With a hint only places at or above it count, first in open chunks (exactly there when it is free), then new
 *     space from the hint rounded up to a chunk. The search does not wrap to lower addresses. Memory of the program
 *     itself (its heap, mappings, libraries) is in use.
 *   - The part of a mapping beyond its reservation is not protected: a later reservation can get it
 *     [VMM-RESERVE-OVER-MAPPING].
 *   - The first context of the process opens two chunks at the profile's va.context (unless it is 0): the lower one
 *     has only its last 2 MiB free, the upper one all but its first 8 MiB. They stay open. No reservation gets the
 *     addresses of va.taken.
 * INVALID_VALUE [VMM-RESERVE-NULL-PTR, VMM-RESERVE-FLAGS, VMM-RESERVE-SIZE-ZERO, VMM-RESERVE-SIZE-GRANULARITY,
 *   VMM-RESERVE-ALIGNMENT-POWER, VMM-RESERVE-ALIGNMENT-LIMIT, VMM-RESERVE-HINT-GRANULARITY,
 *   VMM-RESERVE-HINT-ALIGNMENT]; then OUT_OF_MEMORY [VMM-RESERVE-HINT-LIMIT, VMM-RESERVE-SPACE];
 * warned of: [VMM-RESERVE-HINT-NOT-TAKEN, VMM-RESERVE-OVER-MAPPING]. cuMemAddressReserve; cuda.h 13.0; guide
 * 4.16.3.3. */
VMM_API vmm_result vmm_mem_address_reserve(vmm_system *sys, vmm_deviceptr *ptr, uint64_t size, uint64_t alignment,
                                           vmm_deviceptr addr, uint64_t flags);

/* Frees a whole reservation: ptr and size as reserved, and nothing mapped in it.
 *
 *   before: [.. free ..|R1 .......|.. free ..]      after: [............ free ............]
 *
 * INVALID_VALUE [VMM-FREE-PTR-ZERO, VMM-FREE-SIZE-ZERO, VMM-FREE-NOT-RESERVED, VMM-FREE-NOT-START,
 * VMM-FREE-SIZE-MATCH, VMM-FREE-MAPPED]. cuMemAddressFree; cuda.h 13.0; guide 4.16.3.5. */
VMM_API vmm_result vmm_mem_address_free(vmm_system *sys, vmm_deviceptr ptr, uint64_t size);

/* Maps physical memory at reserved addresses. No location has access yet.
 *
 *   before: [R1 ............................]       H1 refs r maps m
 *   after:  [R1 .....|M1 of H1, no access|..]       H1 refs r maps m+1
 *
 * ptr: a multiple of G (of its own granularity for a multicast object) inside a reservation. size: the whole memory,
 * offset 0 (Documents: parts are possible; the recorded driver answers NOT_SUPPORTED; profiles with partial_map = yes
 * allow them). flags 0. Checked in this order:
 * INVALID_VALUE [VMM-MAP-SIZE-ZERO, VMM-MAP-FLAGS, VMM-MAP-PTR-ZERO, VMM-MAP-HANDLE-ZERO, VMM-MAP-HANDLE-FORGED,
 *   VMM-MAP-HANDLE-STALE]; ILLEGAL_STATE [VMM-MAP-INCOMPLETE] for a multicast object;
 * INVALID_VALUE [VMM-MAP-TILE-POOL];
 * NOT_SUPPORTED [VMM-MAP-OFFSET, VMM-MAP-SIZE-WHOLE], or with partial_map INVALID_VALUE
 *   [VMM-MAP-OFFSET-GRANULARITY, VMM-MAP-SIZE-GRANULARITY, VMM-MAP-OFFSET-RANGE];
 * INVALID_VALUE [VMM-MAP-PTR-GRANULARITY, VMM-MAP-NOT-RESERVED, VMM-MAP-OVERLAP];
 * warned of: [VMM-MAP-PAST-RESERVATION, VMM-MAP-CROSSES-RESERVATIONS]: only the start must be reserved on driver 580.
 * A reservation that a mapping reaches into cannot be freed until the mapping is unmapped.
 * cuMemMap; cuda.h 13.0; guide 4.16.3.3. */
VMM_API vmm_result vmm_mem_map(vmm_system *sys, vmm_deviceptr ptr, uint64_t size, uint64_t offset,
                               vmm_mem_generic_allocation_handle handle, uint64_t flags);

/* Removes every mapping in [ptr, ptr + size); each must lie wholly inside. The addresses stay reserved.
 *
 *   before: [R1 ..|M1|M2|....|M3|..]    unmap [M1 .. M3]    after: [R1 .......................]
 *
 * The call does not wait for in-flight work (580): work that accesses the range afterwards faults. The call warns about it
 * [VMM-UNMAP-IN-FLIGHT].
 * INVALID_VALUE [VMM-UNMAP-PTR-ZERO, VMM-UNMAP-SIZE-ZERO, VMM-UNMAP-NOT-RESERVED, VMM-UNMAP-PARTIAL];
 * warnings, because the documentation requires exactly what was mapped: [VMM-UNMAP-WRAPS, VMM-UNMAP-UNALIGNED,
 * VMM-UNMAP-NOTHING, VMM-UNMAP-HOLE]. Observed (580): a range whose end passes 2^64 succeeds and unmaps nothing,
 * unless its
 * start or its wrapped end lies inside a mapping [VMM-UNMAP-PARTIAL]; a range that runs past its reservation unmaps
 * all it covers. cuMemUnmap; cuda.h 13.0; guide 4.16.3.5. */
VMM_API vmm_result vmm_mem_unmap(vmm_system *sys, vmm_deviceptr ptr, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
