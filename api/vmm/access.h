/* SPDX-License-Identifier: Apache-2.0 */
/* access.h - access rights of locations to mappings. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_ACCESS_H
#define CUVMM_VMM_ACCESS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the access rights of the named locations to the mappings in [ptr, ptr + size); other locations keep theirs.
 *
 *   before: [M1 dev0 --|M2 dev0 --]    RW for dev0 on both    after: [M1 dev0 RW|M2 dev0 RW]
 *
 * The range starts and ends at boundaries of mappings. If two descriptors name one location, the last one wins. By default no
 * location has access, not even the device that owns the memory. size is a multiple of 2 MiB, count > 0.
 * INVALID_VALUE [VMM-ACCESS-PTR-ZERO, VMM-ACCESS-SIZE-ZERO, VMM-ACCESS-COUNT-ZERO, VMM-ACCESS-NULL-DESC,
 * VMM-ACCESS-SIZE-GRANULARITY (2 MiB is the profile's va.granularity here, as in vmm_mem_unmap), then for each
 * descriptor VMM-ACCESS-FLAGS, VMM-ACCESS-LOCATION-TYPE, VMM-ACCESS-DEVICE-ID, then VMM-ACCESS-NOT-MAPPED,
 * VMM-ACCESS-PARTIAL for the start and then for the end]: nothing is changed. Then, for each mapping in order of
 * address, and for each descriptor: NOT_SUPPORTED [VMM-ACCESS-HOST-ON-DEVICE] for HOST or
 * HOST_NUMA on device memory (NONE is accepted, and does nothing), PEER_ACCESS_UNSUPPORTED [VMM-ACCESS-PEER],
 * INVALID_DEVICE [VMM-ACCESS-TEAM] on a multicast object. Observed (580): rights that were set before the error stay set.
 * Warnings: [VMM-ACCESS-HOLE, VMM-ACCESS-DUPLICATE, VMM-ACCESS-IN-FLIGHT]: rights revoked while in-flight work needs them,
 * for which the call does not wait (580). Observed (580): in a range with a hole only the mappings before the first
 * hole are changed, and the call succeeds. Documents: INVALID_DEVICE for a bad device id. cuMemSetAccess; cuda.h
 * 13.0; guide 4.16.3.4. */
VMM_API vmm_result vmm_mem_set_access(vmm_system *sys, vmm_deviceptr ptr, uint64_t size,
                                      const vmm_mem_access_desc *desc, uint64_t count);

/* The access rights of location to the mapping at ptr (any byte of it): VMM_MEM_ACCESS_FLAGS_PROT_ in *flags.
 * Checked in this order: INVALID_VALUE [VMM-GETACCESS-NULL-FLAGS, VMM-GETACCESS-NULL-LOCATION, VMM-GETACCESS-PTR-ZERO];
 * INVALID_DEVICE [VMM-GETACCESS-LOCATION]; INVALID_VALUE [VMM-GETACCESS-NOT-MAPPED], which writes 0 to *flags.
 * Observed (580): the id of HOST and HOST_NUMA is ignored; memory of vmm_mem_alloc yields 0. HOST_NUMA yields the
 * host's rights, none on device memory. HOST yields the rights of device 0 or of the host: those that were changed
 * last (to something other than NONE) and still exist. cuMemGetAccess. */
VMM_API vmm_result vmm_mem_get_access(vmm_system *sys, uint64_t *flags, const vmm_mem_location *location,
                                      vmm_deviceptr ptr);

#ifdef __cplusplus
}
#endif

#endif
