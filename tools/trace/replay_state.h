/* SPDX-License-Identifier: Apache-2.0 */
/* replay_state.h - internals of the replayer: a recorded call, the call that is made in its place, and its results.
 *
 *     room->event     mem_map(0x100000000000, 2 MiB, 0, 0x7, 0)        as recorded
 *     named           R1, H1                                           found by these values (trace_names.h)
 *     object          R1 -> 0x7e0000000000, H1 -> 0x12                 what the calls before made here
 *     call            mem_map(0x7e0000000000, 2 MiB, 0, 0x12, 0)       made, and its outputs compared with the event's
 *
 * Arguments point to the room's own memory, where values are converted in place. Outputs point to `made`.
 */
#ifndef CUVMM_TOOLS_REPLAY_STATE_H
#define CUVMM_TOOLS_REPLAY_STATE_H

#include "descriptors.h"
#include "fabrics.h"
#include "step.h"
#include "trace.h"
#include "trace_store.h"
#include "trace_words.h"

enum { REPLAY_THREADS = 1 << 20 };

/* The recorded and the present values of the objects of a kind, by number. A new object may partly overlap an ended
 * one: so an address is located by its distance from the object, not by the offset in its name. */
struct replay_object {
    uint64_t recorded, now; /* present value 0: no call has made it */
};
struct replay_objects {
    struct replay_object *object;
    size_t room;
};

/* Host memory that copies use: zeros, or what a copy wrote. Work may use borrowed memory after its call has returned. */
struct replay_memory {
    unsigned char *of_call, *of_work; /* the most recently lent blocks of `kept` */
    size_t call_size, work_size;
    unsigned char **kept;
    size_t count;
};

/* The targets of outputs. */
struct replay_made {
    union step_out out[TRACE_PARAMS];
    vmm_mem_allocation_prop prop;
    vmm_memcpy3d box;
    vmm_memset_node_params fill_node;
    vmm_host_node_params host_node;
    vmm_graph_exec_update_result_info update;
    vmm_graph_node nodes[2][TRACE_LIST_MAX]; /* by the parameter's index: no call has two with indices that are both even, or odd */
    vmm_graph_edge_data edges[TRACE_LIST_MAX];
    union step_out data[TRACE_LIST_MAX];
    void *pointers[TRACE_LIST_MAX];
    char text[TRACE_TEXT_MAX + 1];
    uint64_t structure[STEP_STRUCT_BYTES / 8];
    int range[TRACE_LIST_MAX];
    unsigned char handle[VMM_FABRIC_HANDLE_SIZE]; /* a fabric handle passed to the call */
};

struct replay {
    FILE *out, *err;
    vmm_system *sys;
    struct trace_store store;
    struct trace_room *room;   /* the recorded call */
    union vmm_any_call call;   /* the call that is made */
    vmm_result result;
    bool skip;                 /* it cannot be made: the trace lacks something that it needs */
    struct replay_made made;
    const struct vmm_param *params; /* of both */
    size_t count;
    struct trace_named named;

    struct names names;        /* as of the previous calls, by recorded values */
    struct replay_objects object[NAME_KINDS];
    struct spans nodes;        /* nodes that no call made but a list contained: their values here */
    vmm_context *current;      /* by thread of the trace, for threads that are not being replayed now */
    size_t threads;
    uint32_t thread;           /* the thread being replayed; 0: none yet */
    bool rules;                /* both backends report rules and objects */
    bool unknown_bytes;        /* a copy whose bytes the trace does not hold was made: contents are not compared */
    bool captured;             /* streams may be captured: launches read the host memory of copies */
    struct descriptors open;   /* made by exports, and foreign */
    int foreign;               /* an open descriptor that no export made, -1 until one is needed */
    struct fabrics fabrics;    /* fabric handles made by exports */
    struct replay_memory memory;
    uint64_t calls, played, skipped;
};

/* Makes r->call from the event, or sets r->skip (replay_call.c). */
void replay_prepare(struct replay *r);

/* Compares the event with the results of r->call, and records the objects that both made. A difference is described
 * in *difference, which stays empty otherwise (replay_compare.c). */
void replay_compare(struct replay *r, const vmm_detail *detail, struct text *difference);

/* ---- values (replay_values.c) ---- */

/* The present value for a recorded one: of an object's kind, or any address. Values that are not objects of the trace are
 * unchanged. *unmade becomes true if the call that made the object was not repeated; may be NULL. */
uint64_t replay_value(struct replay *r, enum vmm_param_kind kind, uint64_t recorded, bool *unmade);
/* Is it an object of the trace? */
bool replay_knows(struct replay *r, enum vmm_param_kind kind, uint64_t recorded);

/* An object's present value, or 0; how far its contents have moved; and where to store the value. */
uint64_t replay_object(const struct replay *r, const struct name *name);
static inline uint64_t replay_moved(const struct replay *r, const struct name *name)
{
    const struct replay_object *object = &r->object[name->kind].object[name->number];
    return object->now - object->recorded;
}
void replay_learn(struct replay *r, const struct name *name, uint64_t recorded, uint64_t now);

/* The present address of size bytes at a recorded device address, for a call that takes it as a host address: in a
 * live reservation or allocation within the process's own addresses, where memory is mapped or the program can read
 * (write, if written). False: there is no accessible address. */
bool replay_device(struct replay *r, uint64_t recorded, uint64_t size, bool written, uint64_t *now);

/* ---- host memory (replay_values.c) ---- */

/* Zeros, or the result of a copy: valid until the next call, or to the end, for work that runs later. */
unsigned char *replay_lend(struct replay_memory *memory, size_t size, bool later);
/* A copy of these bytes that exists until the end. */
unsigned char *replay_keep(struct replay_memory *memory, const void *bytes, size_t size);
void replay_memory_end(struct replay_memory *memory);

#endif
