/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - the physical side: devices, host nodes and their memory, shared by the machine's processes.
 *
 *   create  device 0 [block 1][block 2][.......... free ..........]
 *   A block lives while a handle, a mapping or an allocation of any process holds it, and its bytes with it.
 *
 * One lock guards a machine and all state of its processes (struct sim_process). Read-only calls can run without it while no
 * other call changes anything (readers.h), and so can most calls of a program with one thread (sim_machine_hold).
 *
 * Invariants (machine_check), over the blocks that handles, allocations and binds of the machine's processes hold:
 *     holders              = live handles + allocations + private binds of this machine, with the block behind them
 *     binds                = binds with the block behind them
 *     used of a device     = sizes of its blocks that are not exported; compressed: of those that are compressible; nodes alike
 *     backing file         = free + places of its blocks, exported ones too (backing_file.h); that of exported memory alike
 *     used in its slot of the shared state = used (share_check, under the state's lock: share.h)
 *
 * Lock order: lifecycle.h. Inside a machine's lock comes the mutex of the state that it shares with machines of the same name in
 * other processes (share.h), or that of another machine of the fabric (share_nodes.h); only one of these mutexes at a time.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <pthread.h>

#include "single_thread.h"
#include "block_data.h"
#include "call.h"
#include "lifecycle.h"
#include "profile.h"
#include "readers.h"
#include "share.h"
#include "visible_devices.h"

#ifdef CUVMM_DEBUG
#define SIM_DEBUG 1
#else
#define SIM_DEBUG 0
#endif

struct team;
struct sim_process;

struct sim_block {
    uint64_t id;                  /* the attribute MEMORY_BLOCK_ID: from 1, never reused */
    uint64_t size;
    uint32_t holders;
    uint32_t watchers;            /* binds of exported objects, which see the block but do not hold it here (share.h) */
    uint32_t binds;               /* the number of binds to multicast objects, as last seen by this machine */
    vmm_mem_allocation_prop prop; /* as created; location.type is DEVICE or HOST_NUMA, or INVALID for a pool's table (pool_table.h) */
    struct block_data bytes;
    uint64_t shared;       /* the number as an exported block (share.h); 0: private to this machine */
    unsigned shared_index;
    struct sim_block *next_shared;
    struct share *share;      /* the machine that exported it: this one, or another of the fabric */
    struct imex_place fabric; /* domain 0: not exportable to a fabric */
    /* NULL for memory; a multicast object has a team, and neither bytes nor a location (INVALID): team.h */
    struct team *team;
    bool foreign; /* another backend's memory, which counts in no budget of this machine */
    uint32_t counted, counted_binds; /* scratch space of machine_check */
};

enum { SIM_ATTRIBUTES = 256 }; /* beyond the driver's last attribute */

struct sim_machine {
    struct life_lock lock;  /* must be first */
    atomic_bool alone;      /* held without the lock, because the program has one thread */
    bool torn;              /* see sim_machine_torn */
    uint64_t turns;         /* the number of times that the machine was held for writing */
    struct readers readers; /* readers without the lock */
    struct sim_profile profile;   /* what the process sees: its visible devices */
    struct sim_profile hardware;  /* the same for all processes */
    struct visible_devices visible;       /* the devices of hardware that are in profile */
    bool chosen;                  /* visible is final, because a process has initialised */
    uint64_t has[SIM_ATTRIBUTES / 64]; /* one bit for each device attribute that is listed and not 0 */
    bool bytes; /* keep contents; otherwise copies and fills are only checked */
    bool bare_pools; /* memory pools have no addresses, and so no memory */
    struct backing_file backing;
    struct share *share; /* NULL: shares nothing with other processes yet */
    struct share *nodes; /* other machines of the fabric */
    struct share *busy;  /* of share and nodes, the one whose lock the current call did not get in time (share.h) */
    char why[SHARE_WHY];
    struct sim_process *processes; /* the first one; process.h links the others */
    uint16_t joined; /* the number of processes it ever had, modulo 2^16 */
    uint64_t blocks; /* the last id assigned */
    struct sim_block *spare; /* reusable blocks, linked like shared ones */
    unsigned spares;
    uint64_t device_used[VMM_MAX_DEVICES], device_compressed[VMM_MAX_DEVICES]; /* only by this machine */
    uint64_t node_used[SIM_MAX_NODES];
    _Atomic(const void *) owner; /* the thread that holds the lock, in debug builds */
    atomic_bool lent;            /* other threads act for it (sim_machine_lend) */
    uint64_t unchecked;          /* calls until the next full check (watch.h) */
};

/* Creates a machine without processes; NULL when memory is exhausted. */
struct sim_machine *sim_machine_new(const struct sim_profile *profile);
void sim_machine_free(struct sim_machine *machine);

/* Sets the devices that the processes see. Call it before a process initialises. */
void sim_machine_see(struct sim_machine *machine, const struct visible_devices *visible);

/* Convert a process's location to its place in the machine, and back. */
vmm_mem_location sim_machine_place(const struct sim_machine *machine, vmm_mem_location location);
vmm_mem_location sim_machine_local(const struct sim_machine *machine, vmm_mem_location place);

/* In debug builds: records that the calling thread holds the machine's lock, or no longer does; and likewise its reader slot. */
void sim_machine_own(struct sim_machine *machine, bool owns);
/* The same: other threads, one at a time, act for the one that holds the lock, as those of a kernel do (kernel_threads). */
void sim_machine_lend(struct sim_machine *machine, bool lends);
void sim_machine_read(const struct sim_machine *machine, bool reads);
bool sim_machine_is_owned(const struct sim_machine *machine);
bool sim_machine_is_read(const struct sim_machine *machine);
void sim_machine_not_locked(const char *function);

/* Every function that needs the machine's lock begins with the first of these macros; a function that only reads, and can run
 * beside other readers, begins with the second. In debug builds a call without the lock ends the process; in others the macros
 * are empty. */
#define assert_locked(machine)                                                        \
    do {                                                                              \
        if (SIM_DEBUG && !sim_machine_is_owned(machine))                              \
            sim_machine_not_locked(__func__);                                         \
    } while (0)
#define assert_readable(machine)                                                      \
    do {                                                                              \
        if (SIM_DEBUG && !sim_machine_is_owned(machine) && !sim_machine_is_read(machine)) \
            sim_machine_not_locked(__func__);                                         \
    } while (0)

static inline void sim_machine_note(struct sim_machine *machine, bool owns)
{
    if (SIM_DEBUG)
        sim_machine_own(machine, owns);
}

/* Takes the lock for writing. */
static inline void sim_machine_lock(struct sim_machine *machine)
{
    life_acquire(&machine->lock);
    sim_machine_note(machine, true);
    machine->turns++;
    readers_revoke(&machine->readers);
}

/* A note that the machine is held, in place of the lock. */
static inline void sim_machine_hold_alone(struct sim_machine *machine)
{
    machine->turns++;
    atomic_store_explicit(&machine->alone, true, memory_order_relaxed);
    sim_machine_note(machine, true);
}

/* Takes the lock for a call. A call that neither waits nor runs the program's code starts no thread before it
 * returns. In a single-threaded program such a call needs no lock: a note is enough. */
static inline void sim_machine_hold(struct sim_machine *machine, enum vmm_call_id call)
{
    if (VMM_SINGLE_THREAD && !vmm_call_waits(call))
        sim_machine_hold_alone(machine);
    else
        sim_machine_lock(machine);
}

/* Takes the lock for a call that only reads but must not run beside other calls. */
static inline void sim_machine_lock_to_read(struct sim_machine *machine)
{
    life_acquire(&machine->lock);
    sim_machine_note(machine, true);
}

/* For callers that must not wait: false when another thread holds the lock. */
static inline bool sim_machine_try(struct sim_machine *machine)
{
    bool taken = !atomic_load_explicit(&machine->alone, memory_order_relaxed) && life_try_acquire(&machine->lock);
    if (taken)
        sim_machine_note(machine, true);
    return taken;
}

static inline void sim_machine_unlock(struct sim_machine *machine)
{
    assert_locked(machine);
    sim_machine_note(machine, false);
    if (atomic_load_explicit(&machine->alone, memory_order_relaxed))
        atomic_store_explicit(&machine->alone, false, memory_order_relaxed);
    else
        life_release(&machine->lock);
}

/* Holds the machine again, after an unlock: as before, unless the program has more threads now. */
static inline void sim_machine_hold_again(struct sim_machine *machine, bool alone)
{
    if (alone && VMM_SINGLE_THREAD)
        sim_machine_hold_alone(machine);
    else
        sim_machine_lock(machine);
}

/* Before a wait, and before starting a thread: takes the lock if the caller has only the note. Other threads may get
 * the lock in between. */
static inline void sim_machine_lock_to_wait(struct sim_machine *machine)
{
    if (!atomic_load_explicit(&machine->alone, memory_order_relaxed))
        return;
    sim_machine_unlock(machine);
    sim_machine_lock(machine);
}

static inline void sim_machine_wait(struct sim_machine *machine, pthread_cond_t *condition)
{
    int cancel = life_no_cancel();
    assert_locked(machine);
    sim_machine_note(machine, false);
    pthread_cond_wait(condition, &machine->lock.mutex);
    sim_machine_note(machine, true);
    life_may_cancel(cancel);
    readers_revoke(&machine->readers);
}

/* Does a device of the machine have the attribute? */
static inline bool sim_machine_has(const struct sim_machine *machine, vmm_device_attribute attribute)
{
    return machine->has[(unsigned)attribute / 64 % (SIM_ATTRIBUTES / 64)] >> ((unsigned)attribute % 64) & 1;
}

/* Gives a machine without a name a shared state, if it has none yet. False, with the reason in why, on failure. */
bool sim_machine_share(struct sim_machine *machine, char why[SHARE_WHY]);

/* Enclose a query of free memory and the allocation that follows, so that no other process allocates in between. False when the
 * shared state is unavailable. */
static inline bool sim_machine_begin(struct sim_machine *machine)
{
    return !machine->share || share_lock(machine->share);
}

static inline void sim_machine_end(struct sim_machine *machine)
{
    if (machine->share)
        share_unlock(machine->share);
}

/* In a forked child: did the fork interrupt another thread's change to the machine? Then its contents must not be read. */
static inline bool sim_machine_torn(const struct sim_machine *machine)
{
    life_stamp();
    return machine->torn;
}
#define SIM_TORN "when this process was forked, another thread was changing this machine: open another one"

/* Call it at the end of a call, with the machine's lock. Returns the share to pass to sim_machine_await before the call is
 * repeated, or NULL when it need not be. Clears machine->busy. */
static inline struct share *sim_machine_busy(struct sim_machine *machine, bool failed)
{
    struct share *busy = failed ? machine->busy : NULL;
    machine->busy = NULL;
    if (busy)
        busy->awaited++;
    return busy;
}

/* Releases the machine's lock until another process has released the shared state's mutex, or is known to be stuck. */
void sim_machine_await(struct sim_machine *machine, struct share *busy);

/* Waits like sim_machine_await until this machine's shared state is available. For use before operations that cannot be
 * repeated. */
void sim_machine_settle(struct sim_machine *machine);

/* In a forked child: from now on, frees affect the child's copy only; the bytes belong to the parent. */
void sim_machine_abandon(struct sim_machine *machine);

/* The free bytes at a location of type DEVICE or HOST_NUMA with a valid id. */
uint64_t sim_machine_free_bytes(struct sim_machine *machine, vmm_mem_location location);
/* The free bytes; if they seem fewer than wanted, first frees what ended processes left behind. */
uint64_t sim_machine_room(struct sim_machine *machine, vmm_mem_location location, uint64_t wanted);
/* The bytes of a device that are in use as compressible memory. */
uint64_t sim_machine_compressed(struct sim_machine *machine, int device);

/* The last block id, and that again after all blocks since then have been dropped: a refused call uses up none. */
static inline uint64_t sim_blocks_mark(const struct sim_machine *machine)
{
    return machine->blocks;
}

static inline void sim_blocks_undo(struct sim_machine *machine, uint64_t mark)
{
    assert_locked(machine);
    machine->blocks = mark;
}

/* Counts a block as this machine's private use, or stops counting it; one without a location counts nowhere. */
void sim_machine_count(struct sim_machine *machine, const struct sim_block *block, bool counts);

/* Creates a block with one holder, and charges it to prop.location's budget, which must be large enough. NULL when
 * host memory is exhausted. */
struct sim_block *sim_block_new(struct sim_machine *machine, uint64_t size, const vmm_mem_allocation_prop *prop);
void sim_block_hold(struct sim_block *block);
/* Drops a holder; the last drop frees the bytes and returns them to the budget. */
void sim_block_drop(struct sim_machine *machine, struct sim_block *block);

/* Checks the machine's invariants in passes over the holders of blocks; each pass visits each holder once. Call it with the lock,
 * for writing. */
enum machine_pass { MACHINE_CLEAR, MACHINE_COUNT, MACHINE_COMPARE, MACHINE_PASSES };
struct machine_sum {
    const struct sim_machine *machine;
    uint64_t device[VMM_MAX_DEVICES], compressed[VMM_MAX_DEVICES], node[SIM_MAX_NODES];
    uint64_t binds; /* seen: they are objects as well */
    struct backing_file_use backing, memory; /* in the machine's file, and in that of its exportable memory */
};
const char *machine_check_holder(struct machine_sum *sum, enum machine_pass pass, struct sim_block *block);
/* Call it after all passes. */
const char *machine_check(struct machine_sum *sum);

#endif
