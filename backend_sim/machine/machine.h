/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - the physical side: devices, host nodes and their memory, shared by the machine's processes.
 *
 *   create  device 0 [block 1][block 2][.......... free ..........]
 *   A block lives while a handle, a mapping or an allocation of any process holds it, and its bytes with it.
 *
 * One lock guards a machine and all state of its processes (struct sim_process). Read-only calls can do without it while no
 * other call changes anything (readers.h), and so can most calls of a program with one thread (sim_machine_hold).
 *
 * Invariants (machine_check), over the blocks that handles, allocations and binds of the machine's processes hold:
 *     holders              = live handles + allocations + private binds of this machine, with the block behind them
 *     binds                = binds with the block behind them
 *     used of a device     = sizes of its blocks that are not exported; compressed: of those that are compressible; nodes alike
 *     one process's use in the shared state = its machine's private use (share_check)
 *
 * Lock order: lifecycle.h. Inside a machine's lock comes the mutex of the state that it shares with machines of the same name
 * in other processes (share.h), or that of another machine of the fabric (share_nodes.h); only one of these mutexes at a time.
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
    uint64_t id;                  /* MEMORY_BLOCK_ID: counted from 1, never reused */
    uint64_t size;
    uint32_t holders;
    uint32_t watchers;            /* binds of exported objects: they see the block without holding it here (share.h) */
    uint32_t binds;               /* how many binds of multicast objects it has, as last seen here */
    vmm_mem_allocation_prop prop; /* as obtained; location.type is DEVICE or HOST_NUMA */
    struct block_data bytes;
    uint64_t shared;       /* its number as an exported block (share.h); 0: private to this machine */
    unsigned shared_index;
    struct sim_block *next_shared;
    struct share *share;      /* where it is exported: by this machine, or by another of the fabric */
    struct imex_place fabric; /* domain 0: not for a fabric */
    struct team *team;            /* NULL; of a multicast object, which has no bytes and no location (INVALID): team.h */
    uint32_t counted, counted_binds; /* scratch of machine_check */
};

enum { SIM_ATTRIBUTES = 256 }; /* more than the driver numbers */

struct sim_machine {
    struct life_lock lock;  /* first */
    atomic_bool alone;      /* held without the lock: the program has one thread */
    bool torn;              /* see sim_machine_torn */
    uint64_t turns;         /* how often the lock was taken for writing */
    struct readers readers; /* readers without the lock */
    struct sim_profile profile;   /* as the process sees it, with its devices */
    struct sim_profile hardware;  /* the same for all processes */
    struct visible_devices visible;       /* which devices of hardware are in profile */
    bool chosen;                  /* visible is final: a process has initialised */
    uint64_t has[SIM_ATTRIBUTES / 64]; /* a bit for each device attribute that is listed and not 0 */
    bool bytes; /* contents are kept; without, copies and fills are checked only */
    struct backing_file backing;
    struct share *share; /* NULL: nothing is shared with other processes yet */
    struct share *nodes; /* other machines of the fabric */
    struct share *busy;  /* the one of these whose lock the current call did not get in time (share.h) */
    char why[SHARE_WHY];
    struct sim_process *processes; /* the first of them; process.h links the others */
    uint64_t blocks; /* ids given so far */
    struct sim_block *spare; /* room for the next blocks, linked as shared ones are */
    unsigned spares;
    uint64_t device_used[VMM_MAX_DEVICES], device_compressed[VMM_MAX_DEVICES]; /* by this machine only */
    uint64_t node_used[SIM_MAX_NODES];
    _Atomic(const void *) owner; /* the thread that has the lock, in debug builds */
    uint64_t unchecked;          /* calls until the next full check (watch.h) */
};

/* A machine without processes; NULL when memory is out. */
struct sim_machine *sim_machine_new(const struct sim_profile *profile);
void sim_machine_free(struct sim_machine *machine);

/* Sets which devices the processes see. Call it before a process initialises. */
void sim_machine_see(struct sim_machine *machine, const struct visible_devices *visible);

/* Convert a process's location to its place in the machine, and back. */
vmm_mem_location sim_machine_place(const struct sim_machine *machine, vmm_mem_location location);
vmm_mem_location sim_machine_local(const struct sim_machine *machine, vmm_mem_location place);

/* In debug builds: record that the calling thread holds the machine's lock from now on, or no longer; and the same for its
 * reader slot. */
void sim_machine_own(struct sim_machine *machine, bool owns);
void sim_machine_read(const struct sim_machine *machine, bool reads);
bool sim_machine_is_owned(const struct sim_machine *machine);
bool sim_machine_is_read(const struct sim_machine *machine);
void sim_machine_not_locked(const char *function);

/* Every function that needs the machine's lock begins with the first of these macros; a function that only reads, and can run
 * beside other readers, with the second. In debug builds a call without the lock ends the process; in others the macros are
 * empty. */
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

/* The same for a call. A call that neither waits nor runs the program's code starts no thread before it returns. Where the
 * program has one thread, such a call needs no lock: a note that the machine is held is enough. */
static inline void sim_machine_hold(struct sim_machine *machine, enum vmm_call_id call)
{
    if (VMM_SINGLE_THREAD && !vmm_call_waits(call)) {
        atomic_store_explicit(&machine->alone, true, memory_order_relaxed);
        sim_machine_note(machine, true);
    } else {
        sim_machine_lock(machine);
    }
}

/* Takes the lock for a call that only reads but must not run beside others. */
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

/* Enclose a look at free memory and the allocation from it, so that no other process allocates in between. False when the
 * shared state cannot be used. */
static inline bool sim_machine_begin(struct sim_machine *machine)
{
    return !machine->share || share_lock(machine->share);
}

static inline void sim_machine_end(struct sim_machine *machine)
{
    if (machine->share)
        share_unlock(machine->share);
}

/* In a forked child: was a thread of the parent in the middle of a change to the machine? Then its contents must not be
 * read. */
static inline bool sim_machine_torn(const struct sim_machine *machine)
{
    life_stamp();
    return machine->torn;
}
#define SIM_TORN "when this process was forked, a thread was in the midst of a call to this machine: open another one"

/* Call it at the end of a call, with the machine's lock: must the call be repeated, after sim_machine_await? NULL: no. Clears
 * machine->busy. */
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

/* The same until this machine's shared state is available, before operations that cannot be repeated. */
void sim_machine_settle(struct sim_machine *machine);

/* In a forked child: from now on, frees affect the child's copy only; the bytes belong to the parent. */
void sim_machine_abandon(struct sim_machine *machine);

/* Bytes still free at a location of type DEVICE or HOST_NUMA with a valid id. */
uint64_t sim_machine_free_bytes(struct sim_machine *machine, vmm_mem_location location);
/* The same; where they seem to be fewer than wanted, first frees what ended processes left. */
uint64_t sim_machine_room(struct sim_machine *machine, vmm_mem_location location, uint64_t wanted);
/* Bytes of a device that are in use as compressible memory. */
uint64_t sim_machine_compressed(struct sim_machine *machine, int device);

/* Counts a block as this machine's private use, or stops counting it. */
void sim_machine_count(struct sim_machine *machine, const struct sim_block *block, bool counts);

/* A block with one holder, taken from prop.location's budget, which must be large enough. NULL when the host's memory is
 * out. */
struct sim_block *sim_block_new(struct sim_machine *machine, uint64_t size, const vmm_mem_allocation_prop *prop);
void sim_block_hold(struct sim_block *block);
/* The last drop frees the bytes and returns them to the budget. */
void sim_block_drop(struct sim_machine *machine, struct sim_block *block);

/* Checks the machine's invariants in passes over every holder of a block, each holder once in each pass; with the lock, for
 * writing. */
enum machine_pass { MACHINE_CLEAR, MACHINE_COUNT, MACHINE_COMPARE, MACHINE_PASSES };
struct machine_sum {
    const struct sim_machine *machine;
    uint64_t device[VMM_MAX_DEVICES], compressed[VMM_MAX_DEVICES], node[SIM_MAX_NODES];
};
const char *machine_check_holder(struct machine_sum *sum, enum machine_pass pass, struct sim_block *block);
/* After all passes. */
const char *machine_check(const struct machine_sum *sum);

#endif
