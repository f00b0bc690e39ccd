/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_state.h - internals of the timeline's reader: the live objects at the current call. */
#ifndef CUVMM_TOOLS_TIMELINE_STATE_H
#define CUVMM_TOOLS_TIMELINE_STATE_H

#include "spans.h"
#include "timeline.h"
#include "trace_words.h"

#define TIMELINE_STACK 16     /* the depth of a thread's stack of contexts; beyond it the oldest is dropped */

/* The holds of a handle; of a mapping: two bits of rights per device; of a context or a multicast object: its parts. */
struct timeline_holds {
    uint32_t references, mappings, binds;
    uint32_t first, next;        /* a list of streams, events and memory, or of binds, the newest first */
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
    const struct trace_event *event;   /* the call being read */
    const union vmm_any_call *any;     /* its call */
    struct timeline_mark *mark;        /* its record, being filled in */
    uint32_t index;                    /* the call's index */
    struct names names;
    struct trace_named named;          /* of its parameters */
    struct spans ranges[TIMELINE_KINDS]; /* of live reservations, mappings and allocations */
    struct timeline_holds *holds;      /* by object */
    struct timeline_thread *thread;    /* by number */
    size_t threads;
    struct timeline_primary primary[VMM_MAX_DEVICES]; /* of each device */
};

/* Applies the call's effects on objects; ignores other calls. False: the call is inconsistent, complaint has the
 * reason, and nothing was done. */
bool timeline_memory(struct timeline_reader *r);
void timeline_addresses(struct timeline_reader *r);
bool timeline_contexts(struct timeline_reader *r);

/* The call is inconsistent: adds its position and the text to complaint. Returns false. */
bool timeline_complain(struct timeline_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The additional data of a per-process trace, in its header and per call (timeline_process.c). False: the header is invalid. */
bool timeline_header(struct timeline *timeline);
void timeline_moment(struct timeline_reader *r);

bool timeline_on_host(vmm_mem_location location);

/* ---- objects (timeline_objects.c) ---- */

/* The last object with that name; TIMELINE_NONE if it names nothing recorded. The same by the parameter of that name. */
uint32_t timeline_of_name(const struct timeline *t, const struct name *name);
uint32_t timeline_named_by(const struct timeline_reader *r, const char *param);

/* NULL for TIMELINE_NONE. Valid until the next timeline_make. */
struct timeline_object *timeline_object_of(struct timeline_reader *r, uint32_t object);
bool timeline_lives(const struct timeline_reader *r, uint32_t object);

/* Creates the object made by this call, with the trace's number. */
uint32_t timeline_make(struct timeline_reader *r, enum timeline_kind kind, uint64_t start, uint64_t size);

/* It belongs to that context or multicast object. */
void timeline_belongs(struct timeline_reader *r, uint32_t object, uint32_t owner);

/* Enters it among the ranges; objects already there have ended without a call in this trace. Nothing can be found at
 * invalid addresses. */
void timeline_place(struct timeline_reader *r, uint32_t object);

/* The object of a kind at that address; or TIMELINE_NONE. */
uint32_t timeline_at(struct timeline_reader *r, enum timeline_kind kind, uint64_t address);

void timeline_changed(struct timeline_reader *r, enum timeline_change_kind kind, uint32_t object, vmm_mem_location location,
                      uint32_t value);

/* Ends the object with this call; no effect if it has ended or is TIMELINE_NONE. */
void timeline_die(struct timeline_reader *r, uint32_t object);

/* Ends a mapping, and the memory that nothing else holds (timeline_memory.c). */
void timeline_end_mapping(struct timeline_reader *r, uint32_t mapping);

/* Records, once, that the call involves the object. */
void timeline_touch(struct timeline_reader *r, uint32_t object);

#endif
