/* SPDX-License-Identifier: Apache-2.0 */
/* rights.h - the access rights of a device or the host to a mapping: two bits per location, as the API numbers them.
 *
 *   sim_mapping.access   | dev0 | dev1 | ... | dev30 | host |      bits 2i and 2i + 1 are those of device i
 *                          rw     r-          --      rw
 */
#ifndef SIM_RIGHTS_H
#define SIM_RIGHTS_H

#include <stdint.h>

#include "vmm.h"

/* The host's slot follows those of the devices. */
enum { SIM_HOST_SLOT = VMM_MAX_DEVICES };

static inline unsigned sim_access_of(uint64_t access, unsigned slot)
{
    return (unsigned)(access >> (2 * slot)) & 3;
}

static inline uint64_t sim_access_with(uint64_t access, unsigned slot, unsigned rights)
{
    return (access & ~(UINT64_C(3) << (2 * slot))) | (uint64_t)rights << (2 * slot);
}

#endif
