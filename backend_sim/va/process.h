/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - one process's view of a machine: addresses, handles, contexts, streams, events.
 *
 *   reservation  [R1 .................................]
 *   mapping           [M1 of H1][M2 of H2]   [M3 of H1]      a mapping holds its handle, a handle its block
 *   allocation                                            [A1]  (cuMemAlloc)
 *
 * Every address is either free in the space or covered by a reservation or an allocation. A mapping takes no addresses:
 * it starts in a reservation and may run past its end, where others may come to lie, as measured.
 * Guarded by the machine's lock.
 *
 * Invariants (process_check; of what a call touched process_check_at and process_check_value):
 *     the space       = free + reservations + allocations + the first context's + excluded, none over another (va_allocator.h)
 *     a mapping       starts in a reservation, overlaps no mapping, lies inside its handle's memory, and its handle is live
 *     maps            = mappings of the handle; refs + maps > 0 exactly while it is live, and then it has its block
 *     aliased         = handles with maps > 1;  host_sees = mappings with host_shown
 *     rdma_first, rdma_late   of a handle: a mapping of that handle, or NULL
 *     host_shown      = 0 or the host's rights; no rights are WRITE without READ, or for devices that are not there
 *     a value         finds the object that has it; streams, events and allocations name a context that can be used
 *     primary[i]      = a primary context of device i, retained or ended, or NULL and not retained
 */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include <pthread.h>

#include "addrmap.h"
#include "host_window.h"
#include "backend.h"
#include "context_stack.h"
#include "retired_ranges.h"
#include "machine.h"
#include "open_options.h"
#include "pool.h"
#include "slots.h"
#include "va_allocator.h"
#include "thread.h"

/* Which call made a thing, for its history. */
struct sim_origin {
    uint64_t number;
    uint16_t call; /* vmm_reported_call */
};

static inline struct sim_origin sim_origin(const struct vmm_call *call)
{
    return (struct sim_origin){call->number, vmm_reported_call(call->id)};
}

struct sim_reservation {
    uint64_t start, size;
    struct sim_origin made;
    uint32_t number;
};

struct sim_handle {
    uint64_t value;
    uint64_t shown; /* what objects tell as the value: another one where the simulator is somebody's shadow */
    struct sim_block *block; /* NULL once ended */
    uint32_t refs; /* not beside maps: what is read as one word must not have been written as two just before */
    uint32_t number;
    uint32_t maps;
    uint32_t counted; /* scratch of process_check */
    uint64_t size;
    vmm_mem_allocation_prop prop;
    uint32_t team_size; /* of a multicast object, whose block has a team: how many devices it is for; else 0 */
    bool tile_pool, decompress; /* usages asked for; they do not read back */
    bool imported;
    const struct sim_mapping *rdma_first, *rdma_late; /* rdma.h */
    struct sim_origin made, ended;
};

/* There may be millions: a line of the processor's cache each. */
struct sim_mapping {
    uint64_t start, size, offset;
    struct sim_handle *handle;
    uint64_t access; /* two bits a location: device i at 2i, the host at 2 * VMM_MAX_DEVICES */
    struct sim_origin made;
    uint32_t number;
    uint8_t host_shown; /* the rights with which the program sees it in place (host.h) */
    bool sync; /* P2P_TOKENS was asked for, which sets SYNC_MEMOPS */
    bool host_latest; /* of device 0 and the host, the host was the last to be granted anything: it answers for HOST */
};

/* What device work did that it may not, as it was then. From then on the device is lost to the process. */
/* What kind of work it was, which decides how the loss is told. */
enum sim_fault_kind {
    SIM_FAULT_KERNEL,
    SIM_FAULT_COPY,     /* moved by the device: fills, and copies between device addresses */
    SIM_FAULT_HOST_COPY, /* bytes that go with the command: copies from and to the host, fills of one byte */
    SIM_FAULT_MULTICAST, /* an ordinary access of a kernel through a multicast address */
    SIM_FAULT_MULTIMEM,  /* a multimem access through an ordinary address */
    SIM_FAULT_UNBOUND    /* a multimem access where a device of the team has bound nothing */
};

struct sim_fault {
    bool lost, reported;
    bool asked; /* a query for work that it stopped was answered with NOT_READY (schedule=device) */
    enum sim_fault_kind kind;
    uint16_t call; /* vmm_reported_call: that issued the work */
    unsigned use; /* enum twin_use */
    int unbound;  /* of SIM_FAULT_UNBOUND: the device; ~device of another node */
    vmm_fault what;
    vmm_object nearest;
};

struct sim_context {
    uint64_t value;
    uint64_t shown; /* as of a handle */
    int device;
    bool primary;
    bool ended_primary; /* the last retain was released; the next one revives it with the same value */
    uint32_t number;
    struct sim_origin made, ended;
};

struct sim_stream {
    uint64_t value, context;
    uint32_t number;
    bool non_blocking; /* not ordered with the default stream */
    struct sim_origin made, ended;
};

struct sim_event {
    uint64_t value, context;
    uint64_t mark;     /* in the queue of work, what it stands for; 0 before it was recorded */
    uint64_t recorded; /* by which call */
    uint32_t number;
    struct sim_origin made, ended;
};

struct sim_allocation {
    uint64_t start, size; /* as asked for */
    uint64_t span;        /* addresses and memory taken */
    uint64_t context;
    struct sim_block *block;
    struct sim_origin made;
    uint32_t number;
    bool sync; /* as of a mapping */
};

struct in_flight;

struct sim_process {
    struct vmm_backend backend; /* first: a backend is a process */
    struct sim_machine *machine;
    struct sim_options options;
    _Atomic uint64_t initialised; /* 0: not yet; else in which process, as life_stamp numbers them */
    uint64_t opened;              /* and where it was made */
    struct context_stack current;   /* each thread's contexts */
    struct host_window window;       /* which addresses space deals out, and which of them the host has taken for it */
    struct va_allocator space;
    struct addrmap reservations, mappings, allocations;
    struct pool reservation_pool, mapping_pool, handle_pool; /* room for these things */
    struct slots handles, contexts, streams, events;
    uint64_t host_sees; /* mappings that are shown in place (host.h) */
    uint32_t aliased; /* handles that are mapped more than once */
    bool context_space; /* the chunks that a first context opens are there */
    struct sim_context *primary[VMM_MAX_DEVICES]; /* the device's primary context, once it was retained */
    uint32_t primary_retains[VMM_MAX_DEVICES];
    uint32_t peers_opened[VMM_MAX_DEVICES]; /* bit j of [i]: work on i may use cuMemAlloc's memory of j (abi_query.h) */
    struct in_flight *in_flight;    /* its work that no call has waited for yet */
    struct sim_fault fault[VMM_MAX_DEVICES];
    uint32_t numbers[VMM_OBJECT_BIND + 1]; /* given so far, per kind */
    struct retired_ranges retired;
    struct sim_reservation context_taken[2]; /* of the first context's chunks, for good; size 0: nothing */
    struct sim_process *machine_next; /* of the machine's processes */
    struct sim_process *watched_next; /* host_fault.h; or of those left as they are (process_lifetime.c) */
};

/* Makes a process of zeroed memory: empty, on a machine that it has not joined yet. False, with nothing to clear, when memory
 * or thread keys are exhausted. */
bool sim_process_init(struct sim_process *process, struct sim_machine *machine, const struct sim_options *options);
/* Releases what the process holds of its machine: mappings, allocations and handles. Under the machine's lock. */
void sim_process_release(struct sim_process *process);
/* Frees what sim_process_init made, after sim_process_release. */
void sim_process_clear(struct sim_process *process);

/* Is this a forked child of the process that initialised? Takes no lock: a child may find it held for ever. */
bool sim_process_forked(const struct sim_process *process);

static inline bool sim_device_valid(const struct sim_process *process, int device)
{
    return device >= 0 && device < process->machine->profile.devices;
}

/* Granularity of memory at a location: DEVICE's, or the host's for every other type. */
uint64_t sim_granularity(const struct sim_process *process, vmm_mem_location_type type, int option);

/* Is it memory of the host? A multicast object lies nowhere. */
static inline bool sim_on_host(vmm_mem_location location)
{
    return location.type != VMM_MEM_LOCATION_TYPE_DEVICE && location.type != VMM_MEM_LOCATION_TYPE_INVALID;
}

/* What holds the byte at address, or NULL. */
struct sim_reservation *sim_reservation_at(const struct sim_process *process, uint64_t address);
struct sim_mapping *sim_mapping_at(const struct sim_process *process, uint64_t address);
struct sim_allocation *sim_allocation_at(const struct sim_process *process, uint64_t address);
/* The first mapping of which some byte lies in [start, start + size), or NULL. */
struct sim_mapping *sim_mapping_in(const struct sim_process *process, uint64_t start, uint64_t size);
/* The first mapping that starts at or after address and below end, or NULL. */
struct sim_mapping *sim_mapping_after(const struct sim_process *process, uint64_t address, uint64_t end);

static inline uint32_t sim_process_number(struct sim_process *process, vmm_object_kind kind)
{
    return ++process->numbers[kind];
}

/* What sim_handle_begin needs, so that it cannot fail; to be dropped where it is not called. NULL when the host's memory is
 * out. No value and no number is used up. */
struct sim_handle *sim_handle_ready(struct sim_process *process);
void sim_handle_drop(struct sim_process *process, struct sim_handle *handle); /* which may be NULL */
/* A handle with one reference for a block, whose holder it is from then on. */
void sim_handle_begin(struct sim_process *process, struct sim_handle *handle, struct sim_block *block, struct sim_origin made);

/* Takes one reference or mapping from handle; ends it when none is left. */
void sim_handle_settle(struct sim_process *process, struct sim_handle *handle, struct sim_origin ended);
/* Removes mapping, which the host does not see, or never will again, from the address space and lets its handle go; the mapping
 * is freed. */
void sim_mapping_end(struct sim_process *process, struct sim_mapping *mapping, struct sim_origin ended);
void sim_allocation_end(struct sim_process *process, struct sim_allocation *allocation, struct sim_origin ended);

/* May work on the device use memory of that allocation? */
static inline bool sim_allocation_open(const struct sim_process *process, const struct sim_allocation *allocation,
                                       int device)
{
    int owner = allocation->block->prop.location.id;
    return owner == device || (process->peers_opened[device] >> owner & 1);
}

/* Is this a context that can be used? */
bool sim_context_alive(const struct sim_process *process, const struct sim_context *context);
/* The calling thread's context when it can be used, else NULL. */
struct sim_context *sim_current(const struct sim_process *process);

/* With the machine's lock, alone: all of it, but what machine_check checks. */
const char *process_check(struct sim_process *process);
/* With the lock, or beside others who ask: what lies at, before and after an address, in as many steps as a search takes; and
 * what a value names, if anything. */
const char *process_check_at(const struct sim_process *process, uint64_t address);
const char *process_check_value(const struct sim_process *process, uint64_t value);
/* Each block that the process holds, as often as it holds it. */
const char *process_check_blocks(struct sim_process *process, struct machine_sum *sum, enum machine_pass pass);

#endif
