/* SPDX-License-Identifier: Apache-2.0 */
/* abi_host.h - memory that the host and all devices can access in place: created by cuMemHostAlloc or cuMemAllocManaged, or
 * registered.
 *
 *     cuMemHostAlloc   host-located memory of the simulated machine, mapped with rights for the host and every device;
 *                      the address is the same for both
 *     cuMemHostRegister   the program's own memory: the host moves what copies and fills do there, kernels of plugins use it in
 *                      place
 *
 * A driver gives the same answers for both (conformance/recorded/facts, answers), and they differ from those for reserved and
 * mapped memory: queries of an address come here first, and calls of virtual memory management have no access to such memory.
 */
#ifndef SIM_ABI_HOST_H
#define SIM_ABI_HOST_H

#include "abi.h"

struct abi_host_range {
    uint64_t start, size;  /* the range that the program passed */
    uint64_t pages, span;  /* the whole pages that contain it */
    uint64_t context;      /* the context that created it */
    int device;            /* the device of that context */
    uint64_t id;           /* unique */
    unsigned flags;
    bool registered; /* false: created here */
    bool sync;       /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS was set */
};

/* Finds the range that contains [address, address + size); false if none does. */
bool abi_host_find(uint64_t address, uint64_t size, struct abi_host_range *range);

/* Creates memory of is->size bytes and sets its addresses; `function` is the name of the entry point. */
CUresult abi_host_create(vmm_system *sys, const char *function, struct abi_host_range *is);

/* Waits for the current context's work and ends the memory that was created here and starts there. False when
 * there is none. */
bool abi_host_end(vmm_system *sys, uint64_t start);

/* Ends the memory of contexts that have ended, portable memory too; registered memory stays with the program. */
void abi_host_sweep(vmm_system *sys);

/* Is there any range, or any registered range, at all? Takes no lock, because frequent calls use it. */
bool abi_host_any(void);
bool abi_host_any_registered(void);

/* Does a range created here overlap [address, address + size)? */
bool abi_host_made_in(uint64_t address, uint64_t size);


/* Sets SYNC_MEMOPS of the range that contains the address. */
void abi_host_set_sync(uint64_t address, bool sync);

/* The value of an attribute of such memory, or 0 if the attribute does not apply; false if a driver refuses it. address lies in
 * the range. */
bool abi_host_attribute(const struct abi_host_range *range, CUpointer_attribute attribute, uint64_t address, uint64_t *value);

/* The program's own access rights to this memory (abi_host_pages.c): the minimum over all pages, as VMM_MEM_ACCESS_FLAGS_. Full
 * rights when the system does not report them. */
unsigned abi_host_pages(uint64_t start, uint64_t size);

#endif
