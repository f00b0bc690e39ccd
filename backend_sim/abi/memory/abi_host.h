/* SPDX-License-Identifier: Apache-2.0 */
/* abi_host.h - memory of the host that devices may use in place: made by cuMemHostAlloc, or registered.
 *
 *     cuMemHostAlloc   host-located memory of the simulated machine, mapped with rights for the host and every device;
 *                      the address is the same for both
 *     cuMemHostRegister   the program's own memory: the host moves what copies and fills do there, kernels of plugins use it in
 *                      place
 *
 * A driver answers alike for both (conformance/recorded/facts, answers), and as for neither reserved nor mapped memory: questions about
 * an address come here first, and calls of virtual memory management are kept from it.
 */
#ifndef SIM_ABI_HOST_H
#define SIM_ABI_HOST_H

#include "abi.h"

struct abi_host_range {
    uint64_t start, size;  /* as asked for */
    uint64_t pages, span;  /* the addresses taken: whole pages */
    uint64_t context;      /* that made it */
    int device;            /* of that context */
    uint64_t id;           /* no two have the same */
    unsigned flags;
    bool registered; /* else made here */
    bool sync;       /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS was set */
};

/* The range that holds [address, address + size); false when none does. */
bool abi_host_find(uint64_t address, uint64_t size, struct abi_host_range *range);

/* Is there any range, or any registered one, at all? Without a lock, for calls that are made often. */
bool abi_host_any(void);
bool abi_host_any_registered(void);

/* Does a range that was made here have a part of [address, address + size)? */
bool abi_host_made_in(uint64_t address, uint64_t size);

/* Sets SYNC_MEMOPS of the range that holds the address. */
void abi_host_set_sync(uint64_t address, bool sync);

/* The value of an attribute that such memory has, 0 for those that it has none of; false where a driver refuses it. address is
 * in the range. */
bool abi_host_attribute(const struct abi_host_range *range, CUpointer_attribute attribute, uint64_t address, uint64_t *value);

/* What the program itself may do with its memory there (abi_host_pages.c): the least of all pages, as VMM_MEM_ACCESS_FLAGS_.
 * Everything, where the system does not tell. */
unsigned abi_host_pages(uint64_t start, uint64_t size);

#endif
