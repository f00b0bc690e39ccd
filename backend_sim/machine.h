/* machine.h - the physical side: devices, host nodes and the memory that they hold, shared by the machine's processes.
 *
 *   create  device 0 [block 1][block 2][.......... free ..........]
 *   A block lives while a handle, a mapping or an allocation of any process holds it, and its bytes with it.
 *
 * One lock guards a machine and everything of its processes (struct sim_process). Lock order: the list of watched
 * processes (host_fault.c), then a machine; a call never holds both.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <pthread.h>

#include "bytes.h"
#include "profile.h"

struct team;

struct sim_block {
    uint64_t id;                  /* MEMORY_BLOCK_ID: counted from 1, never used again */
    uint64_t size;
    uint32_t holders;
    uint32_t binds;               /* of the holders: multicast objects that it is bound to */
    vmm_mem_allocation_prop prop; /* as obtained; location.type is DEVICE or HOST_NUMA */
    struct bytes bytes;
    struct team *team;            /* NULL; of a multicast object, which has no bytes and no location (INVALID): team.h */
};

struct sim_machine {
    pthread_mutex_t lock;
    struct sim_profile profile;
    bool bytes; /* contents are kept; without, copies and fills are checked only */
    struct frames frames;
    unsigned processes;
    uint64_t blocks; /* ids given so far */
    uint64_t device_used[VMM_MAX_DEVICES], device_compressed[VMM_MAX_DEVICES];
    uint64_t node_used[SIM_MAX_NODES];
};

/* A machine without processes; NULL when memory is out. */
struct sim_machine *sim_machine_new(const struct sim_profile *profile);
void sim_machine_free(struct sim_machine *machine);

/* Bytes still free at a location of type DEVICE or HOST_NUMA with a valid id. */
uint64_t sim_machine_free_bytes(const struct sim_machine *machine, vmm_mem_location location);

/* A block with one holder, taken from prop.location's budget, which must have room. NULL when the host's memory is
 * out. */
struct sim_block *sim_block_new(struct sim_machine *machine, uint64_t size, const vmm_mem_allocation_prop *prop);
void sim_block_hold(struct sim_block *block);
/* At the last drop the bytes are gone and the budget has them back. */
void sim_block_drop(struct sim_machine *machine, struct sim_block *block);

#endif
