/* SPDX-License-Identifier: Apache-2.0 */
/* abi_host.h - memory of the host that devices may use in place: made by cuMemHostAlloc, or registered.
 *
 *     cuMemHostAlloc   host-located memory of the simulated machine, mapped with rights for the host and every device;
 *                      the address is the same for both
 *     cuMemHostRegister   the program's own memory: copies take it as any host address, kernels of plugins in place
 */
#ifndef SIM_ABI_HOST_H
#define SIM_ABI_HOST_H

#include "abi.h"

struct abi_host_range {
    uint64_t start, size;
    unsigned flags;
    bool registered; /* else made here */
};

/* The range that holds [address, address + size); false when none does. */
bool abi_host_find(uint64_t address, uint64_t size, struct abi_host_range *range);

/* Is anything registered? Without a lock, for kernels. */
bool abi_host_any_registered(void);

#endif
