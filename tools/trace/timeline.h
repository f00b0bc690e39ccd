/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - a trace (api/layers/trace.h) as a list of calls and a list of objects with their lifetimes.
 *
 *     trace                              calls                         objects
 *     n 1  mem_address_reserve R1        0  R1 is born                 R1   |---------------------...   born 0
 *     n 2  mem_create H1                 1  H1 is born                 H1      |-----------------|      born 1, died 4
 *     n 3  mem_map R1 H1                 2  M1 is born, shows H1       M1         |--------------|      born 2, died 4
 *     n 4  mem_release H1                3  H1 has no reference left   H1.released 3: M1 alone holds it
 *     n 5  mem_unmap R1                  4  M1 dies, and H1 with it
 *
 * The calls are not replayed: the recorded results are taken as facts, so traces of a real driver and of the simulator are
 * read in the same way. A failed call changes nothing, except for one that a driver was observed to leave half done
 * (docs/driver-580.md, surprise 3). Calls affect objects as observed on driver 580.159.04:
 *
 * - cuMemUnmap ends every mapping that lies wholly in the range, of whatever reservation, and none is ever cut; a range that
 *   passes 2^64 ends none.
 * - cuMemSetAccess changes whole mappings, one after the other, up to the first hole; a mapping is never split. What
 *   cuMemGetAccess answers of a device is believed: where it is not what follows from the calls, rights change with that
 *   answer. (A refused grant can take rights away from RDMA memory whose first mapping is gone, VMM-ACCESS-RDMA-PEER.)
 * - Memory goes back when the last reference, mapping and bind of its handle are gone. A descriptor keeps memory alive too,
 *   but closing one is no call and not in a trace, so descriptors never die here and do not hold what they name.
 * - The end of a context ends its streams, events and memory of cuMemAlloc, and nothing else. Whose they are follows
 *   from the context that was current in the thread; what was made current before the trace began is not known.
 *
 * Unrecorded state is left open: an object made before the trace began has no entry, and its index is TIMELINE_NONE. Time
 * is the order of calls; a per-process trace (trace=t.%p.jsonl) also has clock times and stacks.
 *
 * The trace of a killed program ends in an incomplete line. Everything before an unreadable line is used; complaint names
 * the line and the reason.
 *
 * For each call the timeline stores its position in the trace, the objects involved, and the names of its parameters; the
 * rest is read from the trace on demand. So ten million calls take half a gigabyte, and their text is generated when shown.
 */
#ifndef CUVMM_TOOLS_TIMELINE_H
#define CUVMM_TOOLS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "call.h"
#include "text.h"
#include "trace_store.h"

#define TIMELINE_NONE UINT32_MAX /* no such object; for a call: not in this trace */

enum timeline_kind {
    TIMELINE_RESERVATION, /* R1: start, size */
    TIMELINE_MAPPING,     /* M1: start, size, offset into the memory of handle */
    TIMELINE_HANDLE,      /* H1: size, location, released; one that was imported: memory */
    TIMELINE_MULTICAST,   /* H2: size, team; counted with the handles, as it is one */
    TIMELINE_BIND,        /* B1: start and size in the multicast object `handle`; memory and offset in it */
    TIMELINE_ALLOCATION,  /* A1: start, size, location, context */
    TIMELINE_CONTEXT,     /* C1: location; a primary context that is retained after its last release is a new one */
    TIMELINE_STREAM,      /* S1: context */
    TIMELINE_EVENT,       /* E1: context */
    TIMELINE_DESCRIPTOR,  /* D1: what was exported of handle */
    TIMELINE_KINDS
};

#define TIMELINE_NAME 24

/* Calls and objects name each other by index, from 0. */
struct timeline_object {
    enum timeline_kind kind;
    uint32_t number;       /* 3 in R3, as in the trace; mappings and binds are numbered here */
    uint32_t born, died;   /* calls; died is TIMELINE_NONE while it lives when the trace ends */
    uint32_t released;     /* of a handle: the call that released its last reference; TIMELINE_NONE while it has one */
    uint64_t start, size;  /* addresses, or a range in a multicast object; for memory only the size */
    uint64_t offset;       /* of a mapping or bind: into its memory */
    uint32_t handle;       /* of a mapping, a bind or a descriptor: object */
    uint32_t memory;       /* of a bind: the handle or, of cuMulticastBindAddr, the handle behind the address; of a handle: the
                              one whose memory it shares, itself unless it was imported */
    uint32_t context;      /* of a stream, an event or an allocation */
    uint32_t team;         /* of a multicast object: how many devices it is for */
    vmm_mem_location location; /* type INVALID if it has none or none is known */
    bool exportable;       /* of a handle: any handle type was requested */
};

enum timeline_change_kind {
    TIMELINE_RIGHTS,     /* of a mapping: location has `value` now, 0, 1 (read) or 3 (read and write) */
    TIMELINE_REFERENCES, /* of a handle: `value` references now */
    TIMELINE_DEVICE      /* of a multicast object: device location.id joined its team */
};

/* A change during an object's lifetime, in the order of calls. */
struct timeline_change {
    enum timeline_change_kind kind;
    uint32_t call, object;
    vmm_mem_location location; /* HOST stands for HOST_NUMA too: they are one */
    uint32_t value;
};

/* The data that the timeline stores for a call. */
struct timeline_mark {
    uint32_t at;            /* its position in the trace: trace_at_number */
    uint32_t first_touched; /* objects that it names, makes or ends: timeline.touched[first ..], up to those of the next call */
    uint32_t first_named;   /* names of its parameters, likewise: kind and number */
    uint16_t named;         /* the parameters with a name, a bit each */
    uint16_t said;          /* TIMELINE_SAID_ERROR, TIMELINE_SAID_WARNING, or nothing */
};
enum { TIMELINE_SAID_ERROR = 2, TIMELINE_SAID_WARNING = 1 };

/* A call as read on demand. */
struct timeline_call {
    enum vmm_call_id id;
    uint64_t ordinal;      /* n of the trace */
    uint64_t line;         /* of the readable form, from 1 */
    uint32_t thread;       /* 1, 2, ... */
    vmm_result result;
    vmm_severity severity; /* NONE: the trace holds no detail. A driver's refused call has none */
    const char *rule;      /* "VMM-MAP-OVERLAP"; NULL. vmm_rule_find may not know it: the trace may be of a newer cuvmm */
    const char *argument;  /* NULL, or the parameter at fault, and then */
    uint64_t value;        /* its value */
    uint64_t expected;     /* 0: nothing to compare with */
    char nearest[TIMELINE_NAME]; /* the object that explains it, as the trace names it: "M3", "D0" is device 0; "": none */
    uint32_t nearest_object; /* the same as an index; TIMELINE_NONE */
    const char *note;      /* "": none */
    uint64_t time;         /* nanoseconds since the trace's clock; only in per-process traces, like the following */
    uint64_t shared;       /* of an export or import: the number common to both processes; 0: none */
    uint32_t place;        /* index into timeline.place; TIMELINE_NONE */
};

/* The process of the trace. */
struct timeline_process {
    bool known;            /* the header names a process */
    char host[72], boot[72], started[40];
    char *program;
    long number, parent, fork_of; /* fork_of 0: it was not forked by a traced process, or has called exec since */
    uint64_t clock;        /* CLOCK_MONOTONIC when it began, in nanoseconds */
};

/* A stack of addresses: "/opt/app/step+0x17bd\n...", nearest first. */
struct timeline_place {
    uint32_t id;           /* as the trace numbers it */
    char *frames;          /* NULL until their line was read */
};

struct timeline_cache;

struct timeline {
    struct trace_store store;
    struct timeline_mark *mark; /* of each call, and one after the last */
    size_t calls, call_room;
    struct timeline_object *object;
    size_t objects, object_room;
    struct timeline_change *change;
    size_t changes, change_room;
    uint32_t *touched;
    size_t touches, touch_room;
    uint32_t *named;         /* name_kind << TIMELINE_NUMBER_BITS | number */
    size_t names, name_room;
    uint32_t *said;          /* calls that were refused or warned of */
    size_t all_said, said_room;
    uint32_t *passed;        /* calls that exported or imported something */
    size_t all_passed, passed_room;
    struct timeline_numbers {
        uint32_t *object;    /* by number: the last object with that number */
        size_t room;
        uint32_t last;       /* the last assigned number, if this reader counts */
    } numbered[TIMELINE_KINDS];
    char version[32];       /* of the library that wrote it */
    char backend[32];       /* "sim", "cuda", ...: the innermost; "" if the trace does not name it */
    struct timeline_process process;
    struct timeline_place *place;
    size_t places, place_room;
    uint32_t *place_of;     /* by the trace's number: 1 + the index into place; 0: there is none */
    size_t place_numbers;
    bool complete;          /* it has its last line */
    struct text complaint;  /* about the unreadable line, "NAME:LINE:COLUMN: ..."; empty if there is none */
    struct timeline_cache *cache; /* the last call read */
};
enum { TIMELINE_NUMBER_BITS = 28 };

/* Reads a trace to its end or to its first unreadable line. name is used in messages and must stay valid. False:
 * there is no header known to this cuvmm, or cuvmm was built without jansson; complaint has the reason. In both cases
 * timeline_free ends it. */
bool timeline_read(struct timeline *timeline, FILE *in, const char *name);
void timeline_free(struct timeline *timeline);

/* Does the object live after that call? */
bool timeline_alive(const struct timeline_object *object, uint32_t call);

/* A call and its text: "cuMemMap(R1+2MiB, 2MiB, 0, H1, 0)", "granularity = 2MiB" or "". Each is valid until the next
 * query of its kind. */
const struct timeline_call *timeline_call(const struct timeline *timeline, uint32_t call);
const char *timeline_words(const struct timeline *timeline, uint32_t call);
const char *timeline_answers(const struct timeline *timeline, uint32_t call);

/* The number of objects that it involves. */
static inline uint32_t timeline_touched(const struct timeline *timeline, uint32_t call)
{
    return timeline->mark[call + 1].first_touched - timeline->mark[call].first_touched;
}

/* "R3"; a multicast object is an H. Returns buffer. */
const char *timeline_name(const struct timeline_object *object, char buffer[TIMELINE_NAME]);

/* "reservation", "mapping", ... */
const char *timeline_kind_text(enum timeline_kind kind);

/* An error is a refusal or a detail of that severity, but not a query's NOT_READY. */
static inline bool timeline_is_error(const struct timeline *timeline, uint32_t call)
{
    return timeline->mark[call].said == TIMELINE_SAID_ERROR;
}

#endif
