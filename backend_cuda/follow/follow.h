/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - follows the work that a program gives to a driver, and finds accesses that nothing orders (order.h).
 *
 *     program                          driver       follow
 *     cuMemcpyDtoDAsync(.., S)   ->                 follow_begin, follow_access twice     before the driver has it
 *                                ->    the copy     follow_end                            what was found, if the driver took it
 *     cuEventRecord(E, S)        ->                 follow_record, then the driver
 *     cuStreamSynchronize(S)     ->    waits, then  follow_stream_done
 *
 * What work shows to other threads is noted before the driver's call, for they may see it before the call has returned; what a
 * call learns is noted behind it. So each finding is unordered no matter what the threads do meanwhile. Where that cannot be
 * known, more counts as ordered than is:
 *
 *     kernel, host function, graph, write of a value     what comes before it in its stream is known to every later call: it may tell the
 *                                                        host, or another kernel, in memory, which no call shows
 *     wait for a value or an external semaphore          nothing is found in that stream until the host has waited for it
 *     stream that came in an unseen way                  its first call orders everything; then the driver has said what it is
 *     event that came so, or that others record too      waits for it come after everything
 *     copy from or to memory that is not followed        is done when the call returns
 *     copy that the driver refused                       orders everything
 *     more than FOLLOW_STEPS accesses open               each FOLLOW_STEPS-th copy or fill orders everything: memory stays bounded
 *
 * Any thread may call these functions; each takes the lock, and asks the driver without it. Streams, events and contexts are the
 * driver's values.
 */
#ifndef CUVMM_FOLLOW_H
#define CUVMM_FOLLOW_H

#include "order.h"

enum follow_kind { FOLLOW_DEVICE, FOLLOW_PINNED /* host memory that devices can access */, FOLLOW_MANAGED };

/* The memory at an address and after it, with one number. */
struct follow_memory {
    uint64_t number, offset, length;
    enum follow_kind kind;
};

/* The queries to the driver, and to the code that knows its memory. */
struct follow_asks {
    uint64_t (*context)(void *user); /* the calling thread's; 0: none */
    bool (*stream)(void *user, uint64_t stream, uint64_t *context, bool *non_blocking);
    bool (*captured)(void *user, uint64_t stream, bool per_thread);
    /* At most size bytes starting at the address; returns false if the memory is unknown. */
    bool (*memory)(void *user, uint64_t address, uint64_t size, struct follow_memory *memory);
    void *user;
};

struct follow;

/* NULL if host memory is exhausted. It is never closed while threads of the program may call; follow_close is for tests. */
struct follow *follow_open(const struct follow_asks *asks);
void follow_close(struct follow *follow);

/* ---- work ---- */

/* A call that copies or fills. per_thread: stream 0 is the thread's own default stream in this form of the call. */
struct follow_call {
    const char *function;
    uint64_t number;
    uint32_t stack;
    uint64_t stream;
    bool per_thread;
    bool waits;  /* without Async: if one side is on the host, the copy is complete when the call returns */
    bool copies; /* and in that case the host itself does the access */
    bool allocates, frees; /* pool memory, which no work before or after it may use */
};

/* Rows of bytes. A host side has a host pointer, by its type. */
struct follow_rows {
    uint64_t address, width, pitch, rows, layer, layers; /* pitch, layer: bytes between rows and between layers */
    enum order_use use;
};

enum { FOLLOW_FOUND = 4, FOLLOW_ROWS = 1024 /* of an access; later ones are not tracked */, FOLLOW_STEPS = 8192 };

/* A call in progress, on the stack of its thread. */
struct follow_step {
    struct order_work *work; /* NULL: it is not followed */
    bool learn;              /* its stream is unknown: the driver reports it after accepting the call */
    bool done;               /* its work is done when the call returns */
    struct follow_call call;
    unsigned count;
    struct order_found found[FOLLOW_FOUND];
};

void follow_begin(struct follow *follow, struct follow_step *step, const struct follow_call *call);
/* Is there a host side at the address? If so, the accesses of a call that waits are made by the host. Before its accesses. */
void follow_host_side(struct follow *follow, struct follow_step *step, uint64_t address);
void follow_access(struct follow *follow, struct follow_step *step, const struct follow_rows *rows);
/* The driver has answered. Afterwards report found[0 .. count) of the step; there are none if the driver refused. */
void follow_end(struct follow *follow, struct follow_step *step, bool succeeded);

/* A kernel, a host function or anything else that may reveal that earlier work is done. Before the driver's call. */
void follow_tells(struct follow *follow, uint64_t stream, bool per_thread);
/* A launch of a graph: also what its nodes may do. */
void follow_graph(struct follow *follow, uint64_t stream, bool per_thread);
/* Nodes of graphs may record events or wait for something, from now on. */
void follow_graphs_order(struct follow *follow);
/* The stream waits for something that no call reveals. Behind the driver's call. */
void follow_stream_waits(struct follow *follow, uint64_t stream, bool per_thread);
/* A capture has begun; streams may be captured from now on. */
void follow_captures(struct follow *follow);

/* ---- what the host waits for, after the driver's call ---- */

void follow_stream_done(struct follow *follow, uint64_t stream, bool per_thread);
void follow_event_done(struct follow *follow, uint64_t event);
void follow_context_done(struct follow *follow, uint64_t context); /* 0: the current one */
/* Something that may order any work with any other. */
void follow_all_done(struct follow *follow);

/* Nothing is tracked from now on, because the order is no longer known. */
void follow_stop(struct follow *follow);

/* ---- streams, events, contexts, memory ---- */

void follow_stream_made(struct follow *follow, uint64_t stream, bool non_blocking);
void follow_stream_ends(struct follow *follow, uint64_t stream);
void follow_event_made(struct follow *follow, uint64_t event);
void follow_event_ends(struct follow *follow, uint64_t event);
/* Others may record the event as well. */
void follow_event_shared(struct follow *follow, uint64_t event);
/* Before the driver's call. */
void follow_record(struct follow *follow, uint64_t event, uint64_t stream, bool per_thread);
/* Behind it. */
void follow_wait(struct follow *follow, uint64_t event, uint64_t stream, bool per_thread);
/* Contexts have ended, with their streams. */
void follow_contexts_end(struct follow *follow);
/* Host memory that was registered, until it is unregistered. */
void follow_registered(struct follow *follow, uint64_t address, uint64_t size);
void follow_unregistered(struct follow *follow, uint64_t address);

const char *follow_check(struct follow *follow);

#endif
