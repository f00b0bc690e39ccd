/* SPDX-License-Identifier: Apache-2.0 */
/* adopt.h - takes over what another backend made, where that backend put it: the shadow layer's side of a simulator.
 *
 *   cuMemAlloc on a driver -> 0x7f30a0000200, 4000 bytes      sim_adopt_memory: A1 [0x7f30a0000200, + 4000), in no budget
 *   an import on a driver  -> 0x55d0c8, size unknown          sim_adopt_handle: H1, whose first mapping gives the size
 *   an answer that no rule explains                           sim_forget_*: the range is as if nothing were there
 *
 * Each function takes the machine's lock itself. call gives what is made its number and name.
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

/* Memory of the calling thread's context. What was adopted at these addresses before has ended unseen, unless both are openings of
 * the same memory, which count. False, with nothing changed, when memory is out or the address is none of a driver's. */
bool sim_adopt_memory(struct vmm_backend *sim, const struct vmm_call *call, uint64_t start, uint64_t size, enum sim_adopted kind);
/* Ends the memory that starts there, if it is of one of the kinds (a bit for each); else refuses with the rule of the call. */
vmm_result sim_end_memory(struct vmm_backend *sim, const struct vmm_call *call, uint64_t start, unsigned kinds,
                          struct sim_adopted_memory *was);
/* The backend refused that end: the memory lives on as it was. */
void sim_keep_memory(struct vmm_backend *sim, const struct sim_adopted_memory *was);
/* The kind of the adopted memory that holds the address, NONE where there is none; object, which may be NULL, is it. */
enum sim_adopted sim_adopted_at(struct vmm_backend *sim, uint64_t address, vmm_object *object);

/* The physical memory behind addresses from one on. */
struct sim_bytes {
    uint64_t block, offset, length;
    bool host, managed;
};
/* At most size bytes from the address on; false where nothing is, or what several devices show as one. */
bool sim_bytes_at(struct vmm_backend *sim, uint64_t address, uint64_t size, struct sim_bytes *bytes);

/* Physical memory of size bytes; 0: unknown until the first mapping. 0 when memory is out or the location is not of this machine. */
uint64_t sim_adopt_handle(struct vmm_backend *sim, const struct vmm_call *call, uint64_t size, const vmm_mem_allocation_prop *prop,
                          bool imported);

/* One more reference to a live handle. */
void sim_hold_handle(struct vmm_backend *sim, uint64_t value);
/* Is the handle's size still unknown? */
bool sim_is_unsized(struct vmm_backend *sim, uint64_t value);

/* Ends each mapping that overlaps the range, and widens the range to what they covered. */
void sim_forget_mappings(struct vmm_backend *sim, const struct vmm_call *call, uint64_t *start, uint64_t *size);
/* Ends the reservation that holds the address, and the mappings in it; false when there is none. */
bool sim_forget_reservation(struct vmm_backend *sim, const struct vmm_call *call, uint64_t address, uint64_t *start, uint64_t *size);

/* From now on calls are checked and, where no check fails, change nothing. Copies and cuMemSetAccess are not concerned. */
void sim_check_only(struct vmm_backend *sim, bool only);

/* Is anything mapped or allocated there? */
bool sim_is_memory(struct vmm_backend *sim, uint64_t address);

#endif
