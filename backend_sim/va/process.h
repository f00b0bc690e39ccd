/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - one process's view of a machine: addresses, handles, contexts, streams, events.
 *
 *   reservation  [R1 .................................]
 *   mapping           [M1 of H1][M2 of H2]   [M3 of H1]      a mapping holds its handle, a handle its block
 *   allocation                                            [A1]  (cuMemAlloc)
 *   memory pool                                                [A2|A3| free ......]  (cuMemAllocAsync: pools.h)
 *
 * Every address is either free in the VA allocator or covered by a reservation, an allocation or a memory pool. A mapping takes no addresses:
 * it starts in a reservation and may run past the reservation's end, where later reservations may lie, as measured.
 * Guarded by the machine's lock.
 *
 * Invariants (process_check; process_check_at and process_check_value check only what a call used):
 *     the window      = free + reservations + allocations + memory pools + the first context's + excluded, none over another (va_allocator.h)
 *     a mapping       starts in a reservation, overlaps no mapping, lies inside its handle's memory, and its handle is live
 *     maps            = mappings of the handle; refs + maps > 0 exactly while it is live, and then it has its block
 *     aliased         = handles with maps > 1;  host_sees = mappings with host_shown
 *     rdma_first, rdma_late   of a handle: a mapping of that handle, or NULL
 *     host_shown      = 0 or the host's rights; no rights are WRITE without READ, or for devices that are not there
 *     a value         looks up the object that has it; streams, events and allocations name a usable context
 *     primary[i]      = a primary context of device i, retained or ended, or NULL and not retained
 *     a retired range has a number that was given out, and no live object of its kind at its start has that number
 *     pools           pools.h
 *     current         holds contexts of this process (context_stack.h)
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
#include "mempool.h"
#include "pool.h"
#include "rights.h"
#include "slots.h"
#include "stacks_call.h"
#include "stream_clock.h"
#include "va_allocator.h"
#include "thread.h"

/* The call that created an object, for the object's history. */
struct sim_origin {
    uint64_t number;
    uint16_t call; /* vmm_reported_call */
    uint32_t stack; /* call_stack */
};

static inline struct sim_origin sim_origin(const struct vmm_call *call)
{
    return (struct sim_origin){call->number, vmm_reported_call(call->id), call_stack()};
}

struct sim_reservation {
    uint64_t start, size;
    struct sim_origin made;
    uint32_t number;
};

struct sim_handle {
    uint64_t value;
    uint64_t shown; /* the value that messages show: under the shadow layer, the inner backend's value */
    struct sim_block *block; /* NULL once ended */
    uint32_t refs; /* not adjacent to maps, or one wide load of both would stall on the two narrow stores before it */
    uint32_t number;
    uint32_t maps;
    uint32_t counted; /* scratch of process_check */
    uint64_t size;
    vmm_mem_allocation_prop prop;
    uint32_t team_size; /* of a multicast object, whose block has a team: its number of devices; else 0 */
    bool tile_pool, decompress; /* requested usages; a query does not return them */
    bool imported;
    bool unsized; /* another backend's import (adopt.h): the first mapping, which covers the whole memory, shows its size */
    const struct sim_mapping *rdma_first, *rdma_late; /* rdma.h */
    struct sim_origin made, ended;
    struct sim_origin retained; /* the latest call that added a reference */
};

/* A mapping fits one cache line, because a process may have millions of them. */
struct sim_mapping {
    uint64_t start, size, offset;
    struct sim_handle *handle;
    uint64_t access; /* two bits a location: device i at 2i, the host at 2 * VMM_MAX_DEVICES */
    struct sim_origin made;
    uint32_t number;
    uint8_t host_shown; /* the rights with which the program accesses it in place (host.h) */
    bool sync; /* P2P_TOKENS was requested, which sets SYNC_MEMOPS */
    bool host_latest; /* the latest grant to device 0 or the host went to the host: a query for HOST returns the host's rights */
};

/* The kind of work that faulted; it selects the rule that reports the loss. */
enum sim_fault_kind {
    SIM_FAULT_KERNEL,
    SIM_FAULT_COPY,     /* moved by the device: fills, and copies between device addresses */
    SIM_FAULT_HOST_COPY, /* bytes that travel with the command: copies from and to the host, small fills */
    SIM_FAULT_MULTICAST, /* an ordinary access of a kernel through a multicast address */
    SIM_FAULT_MULTIMEM,  /* a multimem access through an ordinary address */
    SIM_FAULT_UNBOUND,   /* a multimem access where a device of the team has no memory bound */
    SIM_FAULT_MEM_OP,    /* a stream memory operation */
    SIM_FAULT_MISALIGNED, /* of interpreted kernels, like the next ones */
    SIM_FAULT_ASSERT,
    SIM_FAULT_TIMEOUT,
    SIM_FAULT_LAUNCH,
    SIM_FAULT_SPACE,
    SIM_FAULTS
};

/* A fault: device work accessed memory without the right to it. The device is lost to the process from then on. */
struct sim_fault {
    bool lost, reported;
    bool queried; /* a query for work stopped by the fault has returned NOT_READY (schedule=device) */
    enum sim_fault_kind kind;
    uint16_t call; /* vmm_reported_call: the call that issued the work */
    unsigned use; /* enum twin_use */
    int unbound;  /* of SIM_FAULT_UNBOUND: the device; ~device of another node */
    vmm_fault what;
    vmm_object nearest;
    char why[120], where[120]; /* of an interpreted kernel: the error, and the thread with its position in the source */
};

struct sim_context {
    uint64_t value;
    uint64_t shown; /* as in sim_handle */
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
    uint64_t mark;     /* its mark in the work queue; 0 before the event was recorded */
    uint64_t recorded; /* the call that recorded it */
    /* the time when its mark was done, if that has left the queue (os_nanoseconds); 0: still queued, or no timing */
    uint64_t when;
    struct stream_clock_seen seen; /* the frees ordered before it */
    uint64_t record;   /* of a shared event: the last record of its entry that was made through it */
    unsigned flags;    /* of its creation */
    unsigned shared;   /* 1 + the index of its entry in the shared state (ipc_event.h); 0: not shared */
    bool opened;       /* it belongs to another process */
    uint32_t number;
    struct sim_origin made, ended;
};

/* Records of shared events that may be incomplete, the oldest first, because each waits for the previous one (ipc_event.h). */
struct sim_records {
    struct ipc_event_record *first;
    struct sim_record_wait *waits; /* streams that wait for another process's record */
    bool watched;                  /* a thread of the process with that stamp publishes the complete ones */
    uint64_t watched_in;
    atomic_bool stopping;          /* read without the lock, too */
};

enum { SIM_ADOPTED_SHIFT = 8 }; /* the alignment that every driver's memory has, in bits */

struct sim_allocation {
    uint64_t start, size; /* as requested */
    uint64_t span;        /* addresses and memory that it occupies */
    uint64_t context;
    struct sim_block *block;
    struct sim_origin made;
    uint32_t number;
    uint32_t opens; /* the number of times that another process's memory was opened here (abi_ipc.h); 0: cuMemAlloc memory */
    int opened_for; /* the device whose context opened it, which therefore has access to it */
    bool sync; /* as in sim_mapping */
    bool pooled; /* it is the first member of a sim_piece */
    bool managed; /* and of a sim_managed (managed.h) */
    uint8_t adopted; /* enum sim_adopted (adopt.h): another backend placed it; 0: it is the simulator's own */
};

/* A memory pool (pools.h). It lives until the program destroys it and its last allocation is freed. */
struct sim_pool {
    uint64_t start; /* of its addresses; memory.size of them */
    struct mempool memory;
    uint64_t value;
    uint64_t shown; /* as in sim_handle */
    vmm_mem_pool_props props;
    uint64_t access;       /* the rights of each location to its memory, as in sim_mapping */
    uint32_t number;
    bool graphs;           /* the memory of a device's graphs (graph_memory.h), which is not a pool to the program */
    uint32_t imports;      /* the number of imports that were not destroyed; 0: it is this process's own */
    struct sim_block *table; /* the data visible to importers (pool_table.h); NULL until it is exported */
    struct imex_place fabric; /* the channel through which it may be exported to a fabric; domain 0: none */
    bool is_default;       /* it belongs to the process, and cannot be destroyed */
    bool destroyed;        /* its value has ended; its memory may still be in use */
    bool settled;          /* it is no longer in use: the process has dropped it */
    bool forgotten;        /* the table of values no longer keeps it */
    struct sim_origin made, ended;
    struct sim_pool *next; /* of the process */
};

static inline struct sim_pool *sim_pool_of(const struct mempool *memory)
{
    return (struct sim_pool *)(uintptr_t)((const char *)memory - offsetof(struct sim_pool, memory));
}

/* An allocation from a pool: a live region of it. */
struct sim_piece {
    struct sim_allocation allocation; /* first; its block is that of its first chunk */
    struct sim_pool *pool;
    struct region *region;
    struct queue_place place;         /* of the stream that it was allocated on */
    uint64_t orders;                  /* in_flight.orders of then */
};

/* The pools of one location: the default one, and the current one, which cuMemAllocAsync uses on a device. */
struct sim_pools {
    struct sim_pool *own, *current;
};

struct array_binds;
struct sim_array_chunk;
struct in_flight;
struct sim_graph_memory;
struct sim_graphs;

struct sim_process {
    struct vmm_backend backend; /* first: a backend is a process */
    struct sim_machine *machine;
    struct sim_options options;
    _Atomic uint64_t initialised; /* the system's process that initialised it, as life_stamp numbers them; 0: not yet */
    uint64_t opened;              /* the system's process that created it */
    uint64_t serial;              /* unique among all process structs of the program */
    uint16_t ordinal;             /* among the processes that its machine ever had, modulo 2^16 */
    struct context_stack current;   /* each thread's contexts */
    struct host_window window;       /* the process's device addresses, and which of them the host backs */
    struct va_allocator va;
    struct addrmap reservations, mappings, allocations;
    struct addrmap adopted; /* allocations that another backend placed (adopt.h) */
    bool check_only;        /* calls are checked and change nothing (adopt.h) */
    struct pool reservation_pool, handle_pool; /* memory for these objects */
    struct slots handles, contexts, streams, events;
    struct addrmap pool_ranges, chunks, pieces; /* of memory pools (pools.h) */
    struct pool piece_pool;
    struct slots pools;
    struct slots arrays;           /* arrays.h */
    struct addrmap array_ranges;   /* whole ones, by the addresses of their bytes */
    struct va_allocator array_va;
    struct pool tile_pool;
    struct array_binds *array_binds; /* maps that calls have issued in stream order */
    struct sim_array_chunk *array_chunks;
    struct sim_pool *first_pool; /* all pools that hold memory or may be used */
    struct sim_pools device_pools[VMM_MAX_DEVICES], host_pools[1 + SIM_MAX_NODES]; /* HOST, then the nodes */
    struct sim_graph_memory *graph_memory[VMM_MAX_DEVICES]; /* NULL before its first use */
    uint64_t host_sees; /* number of mappings that are shown in place (host.h) */
    uint32_t aliased; /* number of handles that are mapped more than once */
    bool context_va; /* the first context has opened its chunks */
    struct sim_context *primary[VMM_MAX_DEVICES]; /* the device's primary context, once it has been retained */
    uint32_t primary_retains[VMM_MAX_DEVICES];
    uint32_t peers_opened[VMM_MAX_DEVICES]; /* bit j of [i]: work on i has access to cuMemAlloc's memory of j (abi_query.h) */
    struct in_flight *in_flight;    /* work that no call has waited for yet */
    struct sim_records records;
    struct sim_graphs *graphs;      /* its graphs, and captured streams (graphs.h) */
    struct sim_fault fault[VMM_MAX_DEVICES];
    uint32_t numbers[VMM_OBJECT_ARRAY + 1]; /* the last number used, per kind */
    struct retired_ranges retired;
    struct sim_reservation context_taken[2]; /* addresses that the first context occupies permanently; size 0: none */
    struct sim_process *machine_next; /* next process of the machine */
    struct sim_process *watched_next; /* list of host_fault.h, or of abandoned processes (process_lifetime.c) */
};

/* Turns zeroed memory into an empty process on a machine that it has not joined yet. False, with nothing to clear, when memory
 * or thread keys are exhausted. */
bool sim_process_init(struct sim_process *process, struct sim_machine *machine, const struct sim_options *options);
/* Releases the process's mappings, allocations and handles. Under the machine's lock. */
void sim_process_release(struct sim_process *process);
/* Frees what sim_process_init made, after sim_process_release. */
void sim_process_clear(struct sim_process *process);

/* Is this a forked child of the process that initialised? Takes no lock, because a child may inherit a lock that is never
 * released. */
bool sim_process_forked(const struct sim_process *process);

static inline bool sim_device_valid(const struct sim_process *process, int device)
{
    return device >= 0 && device < process->machine->profile.devices;
}

/* The NUMA nodes of the host; without NUMA, node 0 stands for the host. */
static inline int sim_host_nodes(const struct sim_process *process)
{
    int count = process->machine->profile.host_nodes;
    return count ? count : 1;
}

/* The granularity of memory at a location: the devices' for DEVICE, the host's for every other type. */
uint64_t sim_granularity(const struct sim_process *process, vmm_mem_location_type type, int option);

/* Is it memory of the host? A multicast object has no location. */
static inline bool sim_on_host(vmm_mem_location location)
{
    return location.type != VMM_MEM_LOCATION_TYPE_DEVICE && location.type != VMM_MEM_LOCATION_TYPE_INVALID;
}

/* The object that holds the byte at address, or NULL. */
struct sim_reservation *sim_reservation_at(const struct sim_process *process, uint64_t address);
struct sim_mapping *sim_mapping_at(const struct sim_process *process, uint64_t address);
struct sim_allocation *sim_allocation_at(const struct sim_process *process, uint64_t address); /* of each kind */
struct mempool_chunk *sim_chunk_at(const struct sim_process *process, uint64_t address);
/* The first mapping that overlaps [start, start + size), or NULL. */
struct sim_mapping *sim_mapping_in(const struct sim_process *process, uint64_t start, uint64_t size);
/* The first mapping that starts at or after address and below end, or NULL. */
struct sim_mapping *sim_mapping_after(const struct sim_process *process, uint64_t address, uint64_t end);

/* Takes addresses that no mapping covers; va_allocator_free frees them. False when addresses or host memory are
 * exhausted. A driver has no such overlap, because it takes allocations and reservations from different ranges. */
bool sim_take_addresses(struct sim_process *process, uint64_t size, uint64_t unit, uint64_t *address);

static inline uint32_t sim_process_number(struct sim_process *process, vmm_object_kind kind)
{
    return ++process->numbers[kind];
}

/* Allocates what sim_handle_begin needs, so that sim_handle_begin cannot fail; pass the handle to sim_handle_drop if it is not
 * begun. Uses up no value and no number. NULL when host memory is exhausted. */
struct sim_handle *sim_handle_ready(struct sim_process *process);
void sim_handle_drop(struct sim_process *process, struct sim_handle *handle); /* which may be NULL */
/* Begins a handle with one reference to a block; the handle holds the block from then on. */
void sim_handle_begin(struct sim_process *process, struct sim_handle *handle, struct sim_block *block, struct sim_origin made);

/* Gives an unsized handle, which has no mapping yet, its size. */
void sim_handle_size(struct sim_handle *handle, uint64_t size);
/* Ends the handle when it has no references and no mappings left. */
void sim_handle_settle(struct sim_process *process, struct sim_handle *handle, struct sim_origin ended);
/* Removes a reservation from the address space and frees it. Nothing is mapped there. */
void sim_reservation_end(struct sim_process *process, struct sim_reservation *reservation, struct sim_origin ended);
/* Removes a mapping from the address space, releases its handle and frees the mapping. The caller has hidden it from the host,
 * or the host's addresses go with the process. */
void sim_mapping_end(struct sim_process *process, struct sim_mapping *mapping, struct sim_origin ended);
/* Gives an allocation its addresses, and enters it into the process's tables. False when addresses or host memory are exhausted:
 * nothing has changed. sim_allocation_leave takes that back, before the allocation has a block. */
bool sim_allocation_enter(struct sim_process *process, struct sim_allocation *allocation, uint64_t unit);
void sim_allocation_leave(struct sim_process *process, const struct sim_allocation *allocation);
void sim_allocation_end(struct sim_process *process, struct sim_allocation *allocation, struct sim_origin ended);
/* Records an allocation that ends now, for messages; its memory is at that location. */
void sim_allocation_retire(struct sim_process *process, const struct sim_allocation *allocation, vmm_mem_location location,
                           struct sim_origin ended);

/* Does work on the device have access to that allocation? */
static inline bool sim_allocation_open(const struct sim_process *process, const struct sim_allocation *allocation,
                                       int device)
{
    if (allocation->adopted) /* only that backend knows its rights */
        return true;
    if (allocation->pooled)
        return sim_access_of(((const struct sim_piece *)(const void *)allocation)->pool->access, (unsigned)device) != 0;
    if (allocation->managed)
        return true;
    int owner = allocation->block->prop.location.id;
    if (allocation->opens) /* measured: regardless of enabled peers */
        return allocation->opened_for == device;
    return owner == device || (process->peers_opened[device] >> owner & 1);
}

/* Is this context usable? */
bool sim_context_alive(const struct sim_process *process, const struct sim_context *context);
/* The calling thread's current context if it is usable, else NULL. */
struct sim_context *sim_current(const struct sim_process *process);

/* Checks everything except what machine_check checks. Under the machine's exclusive lock. */
const char *process_check(struct sim_process *process);
/* Check the objects at, before and after an address, as fast as a search; and the object that a value names, if any.
 * Under the machine's lock, shared with other readers or exclusive. */
const char *process_check_at(const struct sim_process *process, uint64_t address);
const char *process_check_value(const struct sim_process *process, uint64_t value);
/* Checks state that calls change implicitly: the newest retired range and the calling thread's stack of contexts. */
const char *process_check_touched(const struct sim_process *process);
/* Counts each hold of a block by the process. */
const char *process_check_blocks(struct sim_process *process, struct machine_sum *sum, enum machine_pass pass);

#endif
