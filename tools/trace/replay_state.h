/* SPDX-License-Identifier: Apache-2.0 */
/* replay_state.h - the inside of the replayer: a recorded call, the call that is made in its place, and what came of it.
 *
 *     room->event     mem_map(0x100000000000, 2 MiB, 0, 0x7, 0)        as recorded
 *     named           R1, H1                                           found by these values (trace_names.h)
 *     object          R1 -> 0x7e0000000000, H1 -> 0x12                 what the calls before made here
 *     call            mem_map(0x7e0000000000, 2 MiB, 0, 0x12, 0)       made, and its outputs compared with the event's
 *
 * What arguments point to is the room's own memory, in which the same is done in place. Outputs point to `made`.
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

/* What the objects of a kind were and are here, by number. An object that has ended may lie partly under another one: so the distance
 * tells where an address in it is, and not the offset that a name has. */
struct replay_object {
    uint64_t recorded, now; /* now 0: no call has made it */
};
struct replay_objects {
    struct replay_object *object;
    size_t room;
};

/* Host memory that copies use: zeros, or what a copy wrote. Work may use what it was lent after its call has returned. */
struct replay_memory {
    unsigned char *of_call, *of_work; /* the last ones of kept that were lent */
    size_t call_size, work_size;
    unsigned char **kept;
    size_t count;
};

/* Where outputs point. */
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
    unsigned char handle[VMM_FABRIC_HANDLE_SIZE]; /* a fabric handle that is passed */
};

struct replay {
    FILE *out, *err;
    vmm_system *sys;
    struct trace_store store;
    struct trace_room *room;   /* the recorded call */
    union vmm_any_call call;   /* the one that is made */
    vmm_result result;
    bool skip;                 /* it cannot be made: what it needs is not in the trace */
    struct replay_made made;
    const struct vmm_param *params; /* of both */
    size_t count;
    struct trace_named named;

    struct names names;        /* as of the calls before, by recorded values */
    struct replay_objects object[NAME_KINDS];
    struct spans nodes;        /* nodes that no call made, but a list showed: what they are here */
    vmm_context *current;      /* by thread of the trace, of those that are not played now */
    size_t threads;
    uint32_t thread;           /* that is played; 0: none yet */
    bool rules;                /* both backends report rules and objects */
    bool unknown_bytes;        /* a copy whose bytes the trace does not hold was made: contents are not compared */
    bool captured;             /* streams may be captured: what is copied from the host is read by launches */
    struct descriptors open;   /* that exports made, and foreign */
    int foreign;               /* an open descriptor that no export made, -1 until one is needed */
    struct fabrics fabrics;    /* fabric handles that they made */
    struct replay_memory memory;
    uint64_t calls, played, skipped;
};

/* Makes r->call of the event, or sets r->skip (replay_call.c). */
void replay_prepare(struct replay *r);

/* Compares the event with what came of r->call, and learns what both made. A difference is described in *difference, which stays
 * empty otherwise (replay_compare.c). */
void replay_compare(struct replay *r, const vmm_detail *detail, struct text *difference);

/* ---- values (replay_values.c) ---- */

/* What a recorded value is here: of an object's kind, or any address. What is no object of the trace's is the same. *unmade becomes
 * true where a call that made the object was not made again; may be NULL. */
uint64_t replay_value(struct replay *r, enum vmm_param_kind kind, uint64_t recorded, bool *unmade);
/* Is it an object of the trace? */
bool replay_knows(struct replay *r, enum vmm_param_kind kind, uint64_t recorded);

/* An object's value here, 0 where there is none; of one that is there, how far what is in it has moved; and where to store it. */
uint64_t replay_object(const struct replay *r, const struct name *name);
static inline uint64_t replay_moved(const struct replay *r, const struct name *name)
{
    const struct replay_object *object = &r->object[name->kind].object[name->number];
    return object->now - object->recorded;
}
void replay_learn(struct replay *r, const struct name *name, uint64_t recorded, uint64_t now);

/* Where size bytes of a recorded device address lie now, for a call that takes them for the host's: in a reservation or
 * allocation that lives, which the process has in its own addresses, too, and where memory is mapped or the program itself may
 * read (write, where written). False: nowhere that could be touched. */
bool replay_device(struct replay *r, uint64_t recorded, uint64_t size, bool written, uint64_t *now);

/* ---- host memory (replay_values.c) ---- */

/* Zeros, or what a copy left there: until the next call, or to the end, for work that comes later. */
unsigned char *replay_lend(struct replay_memory *memory, size_t size, bool later);
/* A copy of these bytes that lasts to the end. */
unsigned char *replay_keep(struct replay_memory *memory, const void *bytes, size_t size);
void replay_memory_end(struct replay_memory *memory);

#endif
