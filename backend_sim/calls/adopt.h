/* SPDX-License-Identifier: Apache-2.0 */
/* adopt.h - takes over objects that another backend made, at the addresses that it chose: the shadow layer's side of a simulator.
 *
 *   cuMemAlloc on a driver -> 0x7f30a0000200, 4000 bytes      sim_adopt_memory: A1 [0x7f30a0000200, + 4000), in no budget
 *   an import on a driver  -> 0x55d0c8, size unknown          sim_adopt_handle: H1, whose first mapping gives the size
 *   an answer that no rule explains                           sim_forget_*: the range is as if nothing were there
 *
 * Each function takes the machine's lock itself. call provides the number and name for the new objects.
 */
#ifndef SIM_ADOPT_H
#define SIM_ADOPT_H

#include <stdbool.h>

#include "backend.h"
#include "call.h"
#include "process.h"

/* The kinds of memory, which differ in the calls that free them. */
enum sim_adopted {
    SIM_ADOPTED_NONE,
    SIM_ADOPTED_DEVICE,  /* cuMemAlloc, cuMemAllocPitch */
    SIM_ADOPTED_ORDERED, /* cuMemAllocAsync, and pointers imported from a pool */
    SIM_ADOPTED_HOST,    /* cuMemAllocHost, cuMemHostAlloc */
    SIM_ADOPTED_MANAGED,
    SIM_ADOPTED_OPENED   /* cuIpcOpenMemHandle */
};

/* An adopted allocation, as sim_end_memory found it. */
struct sim_adopted_memory {
    uint64_t start, size, context;
    struct sim_origin made;
    uint32_t number, opens;
    enum sim_adopted kind;
    int device;
};

/* Memory of the calling thread's context. Objects adopted earlier at these addresses have ended unnoticed, unless both are
 * openings of the same memory, which are counted. Returns false, with nothing changed, when memory is exhausted or the
 * address cannot be a driver's. */
bool sim_adopt_memory(struct vmm_backend *sim, const struct vmm_call *call, uint64_t start, uint64_t size, enum sim_adopted kind);
/* Ends the memory that starts there, if it is of one of the kinds (a bit for each); otherwise refuses with the rule of the
 * call. */
vmm_result sim_end_memory(struct vmm_backend *sim, const struct vmm_call *call, uint64_t start, unsigned kinds,
                          struct sim_adopted_memory *was);
/* The backend refused to end it: the memory lives on unchanged. */
void sim_keep_memory(struct vmm_backend *sim, const struct sim_adopted_memory *was);
/* The kind of the adopted memory that holds the address, NONE if there is none; the memory is stored in object, which may be
 * NULL. */
enum sim_adopted sim_adopted_at(struct vmm_backend *sim, uint64_t address, vmm_object *object);

/* The physical memory behind the addresses from one on. */
struct sim_bytes {
    uint64_t block, offset, length;
    bool host, managed;
};
/* At most size bytes from the address on; returns false if there is none, or if several devices form one object there. */
bool sim_bytes_at(struct vmm_backend *sim, uint64_t address, uint64_t size, struct sim_bytes *bytes);

/* Physical memory of size bytes; 0: unknown until the first mapping. Returns 0 when memory is exhausted or the location does
 * not belong to this machine. */
uint64_t sim_adopt_handle(struct vmm_backend *sim, const struct vmm_call *call, uint64_t size, const vmm_mem_allocation_prop *prop,
                          bool imported);

/* One more reference to a live handle. */
void sim_hold_handle(struct vmm_backend *sim, uint64_t value);
/* Is the handle's size still unknown? */
bool sim_is_unsized(struct vmm_backend *sim, uint64_t value);

/* Ends each mapping that overlaps the range, and widens the range to what they covered. */
void sim_forget_mappings(struct vmm_backend *sim, const struct vmm_call *call, uint64_t *start, uint64_t *size);
/* Ends the reservation that holds the address, and the mappings in it; returns false if there is none. */
bool sim_forget_reservation(struct vmm_backend *sim, const struct vmm_call *call, uint64_t address, uint64_t *start, uint64_t *size);

/* From now on calls are only checked; accepted calls change nothing. Copies and cuMemSetAccess are not concerned. */
void sim_check_only(struct vmm_backend *sim, bool only);

/* Is anything mapped or allocated there? */
bool sim_is_memory(struct vmm_backend *sim, uint64_t address);

#endif
