/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_state.h - the inside of the timeline's reader: what lives at the call that is being read. */
#ifndef CUVMM_TOOLS_TIMELINE_STATE_H
#define CUVMM_TOOLS_TIMELINE_STATE_H

#include "spans.h"
#include "timeline.h"
#include "trace_words.h"

#define TIMELINE_STACK 16     /* contexts that a thread makes current inside each other; of deeper ones the oldest is forgotten */

/* What holds a handle; of a mapping: two bits of rights for each device; of a context or a multicast object: what is its own. */
struct timeline_holds {
    uint32_t references, mappings, binds;
    uint32_t first, next;        /* a list of streams, events and memory, or of binds, the youngest first */
    uint64_t rights;
};

struct timeline_primary {
    uint32_t context, retains;
};

struct timeline_thread {
    uint32_t context[TIMELINE_STACK];
    unsigned depth;
};

struct timeline_reader {
    struct timeline *timeline;
    const struct trace_event *event;   /* that is being read */
    const union vmm_any_call *any;     /* its call */
    struct timeline_mark *mark;        /* of that call, being filled */
    uint32_t index;                    /* the call's index */
    struct names names;
    struct trace_named named;          /* of its parameters */
    struct spans ranges[TIMELINE_KINDS]; /* of reservations, mappings and allocations that live */
    struct timeline_holds *holds;      /* by object */
    struct timeline_thread *thread;    /* by number */
    size_t threads;
    struct timeline_primary primary[VMM_MAX_DEVICES]; /* of each device */
};

/* What the call did to objects, by their kinds; calls that do nothing to them are passed by. False: the call cannot be right, the
 * complaint says why, and nothing was done. */
bool timeline_memory(struct timeline_reader *r);
void timeline_addresses(struct timeline_reader *r);
bool timeline_contexts(struct timeline_reader *r);

/* The call cannot be right: adds its place in the trace and the words to the complaint. Returns false. */
bool timeline_complain(struct timeline_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a process's own trace has in its header and of a call (timeline_process.c). False: the header cannot be right. */
bool timeline_header(struct timeline *timeline);
void timeline_moment(struct timeline_reader *r);

bool timeline_on_host(vmm_mem_location location);

/* ---- objects (timeline_objects.c) ---- */

/* What had that name last; TIMELINE_NONE where it names nothing that is kept. And by the parameter of that name. */
uint32_t timeline_of_name(const struct timeline *t, const struct name *name);
uint32_t timeline_named_by(const struct timeline_reader *r, const char *param);

/* NULL for TIMELINE_NONE. Valid until the next timeline_make. */
struct timeline_object *timeline_object_of(struct timeline_reader *r, uint32_t object);
bool timeline_lives(const struct timeline_reader *r, uint32_t object);

/* Is born with this call, under the number that the trace gives to what it made. */
uint32_t timeline_make(struct timeline_reader *r, enum timeline_kind kind, uint64_t start, uint64_t size);

/* It belongs to that context or multicast object. */
void timeline_belongs(struct timeline_reader *r, uint32_t object, uint32_t owner);

/* Takes its place among the ranges; what is there already ended without a call of this trace. Nothing can be found at
 * addresses that are none. */
void timeline_place(struct timeline_reader *r, uint32_t object);

/* The object of a kind that has a place at that address; TIMELINE_NONE. */
uint32_t timeline_at(struct timeline_reader *r, enum timeline_kind kind, uint64_t address);

void timeline_changed(struct timeline_reader *r, enum timeline_change_kind kind, uint32_t object, vmm_mem_location location,
                      uint32_t value);

/* Ends with this call; nothing where it has ended or is TIMELINE_NONE. */
void timeline_die(struct timeline_reader *r, uint32_t object);

/* Ends a mapping, and the memory that nothing else holds (timeline_memory.c). */
void timeline_end_mapping(struct timeline_reader *r, uint32_t mapping);

/* Notes that the call has to do with the object, once. */
void timeline_touch(struct timeline_reader *r, uint32_t object);

#endif
