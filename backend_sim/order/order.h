/* SPDX-License-Identifier: Apache-2.0 */
/* order.h - finds conflicting accesses (at least one is a write) of work that nothing orders.
 *
 *     stream S     copy 1 writes [0, 99]       record E
 *     stream T                                              copy 2 reads [50, 149]     found: 1 and 2 at [50, 99]
 *     the same with "T waits for E"                         copy 2                     nothing
 *
 * Each piece of work gets a lane and a tick when it is issued (lanes.h), which determine everything that it is ordered after.
 * Its accesses are recorded then, or when it runs if they are unknown before (order_runs); the findings do not depend on the
 * time of recording. If the program may know something that no call shows, it counts as known: reported accesses are really
 * unordered, but some are missed. The caller does all locking.
 */
#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include "accesses.h"
#include "lanes.h"

/* Work as messages name it; the texts outlive the process's work. */
struct order_name {
    const char *what;   /* the call that issued it */
    const char *kernel; /* NULL: none */
    uint64_t call;      /* the ordinal of the call */
    uint64_t value;     /* of the stream */
    uint32_t stack;     /* of the call (stacks.h); 0: unknown */
    uint32_t stream;    /* 3 in S3; 0: a default stream, or not known */
    bool per_thread;    /* the per-thread default stream */
    bool graph;         /* a node of a launched graph, in addition to its stream */
    bool allocates, frees; /* memory of a pool: no other work may use it before the allocation, or after the free */
    bool host;          /* a copy that the host waits for, so the host itself reads or writes the bytes */
};

struct order_run; /* its latest accesses, to be recorded as one */

struct order_work {
    struct order_lane *lane;
    uint64_t tick, epoch;
    struct vector_clock *clock;
    size_t holders;
    struct order_name name;
    bool waits; /* it may still show accesses */
    bool flag;  /* a write of a value that streams wait for */
    uint64_t value;
    uint64_t number;
    struct order_run *run;
    struct order_work *older, *newer; /* among those that wait */
};

struct order_side {
    struct order_name name;
    enum order_use use;
};

/* Two unordered accesses: first the one issued earlier; or, if unwritten, a read of bytes that nothing wrote, which
 * is the second. */
struct order_found {
    bool unwritten;
    struct order_side side[2];
    struct accesses_range range; /* the bytes that both access */
};

enum { ORDER_FOUND_MOST = 64 };

/* An event that was recorded. */
struct order_event {
    uint64_t value;
    struct vector_clock *clock;
};

struct order {
    struct lanes lanes;
    struct accesses accesses;
    struct addrmap events; /* by value */
    struct order_work *oldest, *newest; /* that wait to show their accesses */
    uint64_t numbers;
    struct order_found found[ORDER_FOUND_MOST]; /* not reported yet */
    size_t first_found, finds;
    uint64_t reported[256]; /* pairs of call sites that were already found */
};

/* NULL when the host's memory is exhausted. */
struct order *order_open(void);
void order_close(struct order *order); /* accepts NULL */

/* Has tracking stopped because host memory was exhausted? */
static inline bool order_ended(const struct order *order)
{
    return order->lanes.exhausted || order->accesses.exhausted;
}

/* Work is issued; the caller holds a reference to the result. NULL: tracking has stopped. */
struct order_work *order_issue(struct order *order, const struct queue_place *place, const struct order_name *name);
/* Its accesses come when it runs; order_done must follow. */
void order_runs(struct order *order, struct order_work *work);
/* An access. Accesses of running work are collected as long as they continue each other. */
void order_note(struct order *order, struct order_work *work, enum order_use use, const struct accesses_range *range);
/* No more accesses of it will come. */
void order_done(struct order *order, struct order_work *work);
void order_drop(struct order_work *work); /* accepts NULL */

/* The host has seen that all work before it is done, or, with `itself`, that it is done as well. */
void order_seen(struct order *order, struct order_work *work, bool itself);

/* Events, by their values. One that was never recorded orders nothing. */
void order_record(struct order *order, const struct queue_place *place, uint64_t event);
void order_wait(struct order *order, const struct queue_place *place, uint64_t event);
void order_host_waits(struct order *order, uint64_t event);
void order_end_event(struct order *order, uint64_t event);

/* The memory belongs to another object from now on. */
void order_forget(struct order *order, const struct accesses_range *range);

/* A write of a value that streams wait for, and a wait for one; only devices write to this memory. Work after the
 * wait is ordered after the write that satisfies it; if that is unknown, after everything. */
void order_write_flag(struct order *order, struct order_work *work, uint64_t memory, uint64_t offset, uint64_t value);
typedef bool (*order_satisfies)(void *user, uint64_t value);
void order_wait_flag(struct order *order, const struct queue_place *place, uint64_t memory, uint64_t offset,
                     order_satisfies satisfies, void *user);

/* The named work reads bytes that nothing wrote (written.h). */
void order_add_unwritten(struct order *order, const struct order_name *name, const struct accesses_range *range);
/* Takes the oldest finding; false: none is left. */
bool order_take_found(struct order *order, struct order_found *found);

const char *order_check(const struct order *order);

#endif
