/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_state.h - the inside of the timeline's reader: what lives at the line that is being read. Needs jansson. */
#ifndef CUVMM_TOOLS_TIMELINE_STATE_H
#define CUVMM_TOOLS_TIMELINE_STATE_H

#include "timeline.h"
#include "trace_line.h"

#define TIMELINE_THREADS 1024 /* as the replayer */
#define TIMELINE_STACK 16     /* contexts that a thread makes current inside each other; of deeper ones the oldest is forgotten */

/* Objects that live, by first address; of one kind none overlaps another. */
struct timeline_ranges {
    uint32_t *object;
    size_t count, room;
};

/* What holds a handle; of a mapping: two bits of rights for each device. */
struct timeline_holds {
    uint32_t references, mappings, binds;
    uint64_t rights;
};

struct timeline_primary {
    uint32_t context, retains;
};

struct timeline_thread {
    uint32_t context[TIMELINE_STACK];
    unsigned depth;
};

/* The line that is being read. */
struct timeline_args {
    json_t *args, *names, *out;
    const struct vmm_param *params;
    size_t count;
};

struct timeline_reader {
    struct timeline *timeline;
    struct trace_line line;
    struct text *complaint;
    struct timeline_args at;
    struct timeline_call *call;  /* of that line, being filled */
    uint32_t index;              /* the call's index */
    struct timeline_ranges ranges[TIMELINE_KINDS]; /* of reservations, mappings and allocations */
    struct {
        uint32_t *object;        /* by number: the object that had it last */
        size_t room;
        uint32_t last;           /* number given last where this reader counts */
    } numbered[TIMELINE_KINDS];
    struct timeline_holds *holds; /* by object */
    size_t holds_room;
    struct timeline_thread thread[TIMELINE_THREADS];
    struct timeline_primary primary[VMM_MAX_DEVICES]; /* of each device */
    uint32_t *place;             /* by the trace's number: 1 + the index into timeline.place; 0: not seen yet */
    size_t place_room;
    FILE *words;                 /* into words_text */
    char *words_text;
    size_t words_size;
};

/* What the line's call did to objects, by their kinds; calls that do nothing to them are passed by. False: the line cannot
 * be right, *complaint says why, and nothing was done. */
bool timeline_memory(struct timeline_reader *r);
bool timeline_addresses(struct timeline_reader *r);
bool timeline_contexts(struct timeline_reader *r);

/* What a process's own trace has in its header and of a call (timeline_process.c). False: it cannot be right. */
bool timeline_header(struct timeline_reader *r, json_t *json);
bool timeline_moment(struct timeline_reader *r, json_t *json);

/* The call in words and what it answered, for a reader; written to r->words. */
void timeline_print_call(struct timeline_reader *r);
void timeline_print_answers(struct timeline_reader *r);

/* ---- values of the line (timeline_objects.c) ---- */

/* An argument or an output as a number. False: it is missing or none, and *complaint has the reason. */
bool timeline_number(struct timeline_reader *r, json_t *in, const char *key, uint64_t *value);
bool timeline_argument(struct timeline_reader *r, const char *key, uint64_t *value);

vmm_mem_location timeline_location(json_t *json);
bool timeline_on_host(vmm_mem_location location);

/* What had the name last; TIMELINE_NONE. *offset: behind its start. And by the name that the line gives to a parameter. */
uint32_t timeline_named(const struct timeline_reader *r, const char *name, uint64_t *offset);
uint32_t timeline_named_by(const struct timeline_reader *r, const char *key);

/* ---- objects (timeline_objects.c) ---- */

/* NULL for TIMELINE_NONE. Valid until the next timeline_make. */
struct timeline_object *timeline_object_of(struct timeline_reader *r, uint32_t object);
bool timeline_lives(const struct timeline_reader *r, uint32_t object);

/* Is born with this call; key is the output that the trace names it by, NULL where it does not. TIMELINE_NONE: the name
 * cannot be right. */
uint32_t timeline_make(struct timeline_reader *r, enum timeline_kind kind, const char *key, uint64_t start, uint64_t size);

/* Takes its place among the ranges; what is there already ended without a call of this trace. Nothing can be found at
 * addresses that are none. */
void timeline_place(struct timeline_reader *r, uint32_t object);

void timeline_changed(struct timeline_reader *r, enum timeline_change_kind kind, uint32_t object, vmm_mem_location location,
                      uint32_t value);

/* Ends with this call; nothing where it has ended or is TIMELINE_NONE. */
void timeline_die(struct timeline_reader *r, uint32_t object);

/* Ends a mapping, and the memory that nothing else holds (timeline_memory.c). */
void timeline_end_mapping(struct timeline_reader *r, uint32_t mapping);

/* Notes that the call has to do with the object, once. */
void timeline_touch(struct timeline_reader *r, uint32_t object);

/* ---- ranges (timeline_ranges.c) ---- */

/* Index into ranges of the first object that ends after the address; count when there is none. */
size_t timeline_ranges_after(const struct timeline *t, const struct timeline_ranges *ranges, uint64_t address);
/* The object that holds the address; TIMELINE_NONE. */
uint32_t timeline_ranges_at(const struct timeline *t, const struct timeline_ranges *ranges, uint64_t address);
void timeline_ranges_add(const struct timeline *t, struct timeline_ranges *ranges, uint32_t object);
void timeline_ranges_drop(const struct timeline *t, struct timeline_ranges *ranges, uint32_t object);

#endif
