/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - a trace (api/layers/trace.h) as a list of calls and a list of objects with their lives.
 *
 *     trace                              calls                         objects
 *     n 1  mem_address_reserve R1        0  R1 is born                 R1   |---------------------...   born 0
 *     n 2  mem_create H1                 1  H1 is born                 H1      |-----------------|      born 1, died 4
 *     n 3  mem_map R1 H1                 2  M1 is born, shows H1       M1         |--------------|      born 2, died 4
 *     n 4  mem_release H1                3  H1 has no reference left   H1.released 3: M1 alone holds it
 *     n 5  mem_unmap R1                  4  M1 dies, and H1 with it
 *
 * No machine plays the calls again: an answer of the trace is taken for what happened, so the trace of a real driver is
 * read as one of the simulator is. A call that failed changes nothing, but for the one that a driver was seen to leave
 * half done (docs/driver-580.md, surprise 3). What calls do to objects is what driver 580.159.04 was seen to do:
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
 * What the trace does not contain is left open: an object that was made before the trace began has no entry, and an index that
 * would name it is TIMELINE_NONE. The order of calls is the time; a process's own trace (trace=t.%p.jsonl) has hours and places too.
 *
 * A trace of a program that was killed ends in half a line. Whatever precedes a line that cannot be read is used; complaint
 * says which line that was and why.
 *
 * Of a call the timeline keeps where it stands in the trace, which objects it has to do with, and the names of its parameters; the rest
 * is read from the trace when it is asked for. So ten million calls take half a gigabyte, and their words are made when they are shown.
 */
#ifndef CUVMM_TOOLS_TIMELINE_H
#define CUVMM_TOOLS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "call.h"
#include "text.h"
#include "trace_store.h"

#define TIMELINE_NONE UINT32_MAX /* no such object; of a call: not in this trace */

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
    uint32_t number;       /* 3 in R3, as the trace names it; mappings and binds are counted here */
    uint32_t born, died;   /* calls; died is TIMELINE_NONE while it lives when the trace ends */
    uint32_t released;     /* of a handle: the call that released its last reference; TIMELINE_NONE while it has one */
    uint64_t start, size;  /* addresses, or a range in a multicast object; size alone of memory */
    uint64_t offset;       /* of a mapping or bind: into its memory */
    uint32_t handle;       /* of a mapping, a bind or a descriptor: object */
    uint32_t memory;       /* of a bind: the handle or, of cuMulticastBindAddr, the handle behind the address; of a handle: the
                              one whose memory it shares, itself unless it was imported */
    uint32_t context;      /* of a stream, an event or an allocation */
    uint32_t team;         /* of a multicast object: how many devices it is for */
    vmm_mem_location location; /* type INVALID where it has none or none is known */
    bool exportable;       /* of a handle: some handle type was asked for */
};

enum timeline_change_kind {
    TIMELINE_RIGHTS,     /* of a mapping: location has `value` now, 0, 1 (read) or 3 (read and write) */
    TIMELINE_REFERENCES, /* of a handle: `value` references now */
    TIMELINE_DEVICE      /* of a multicast object: device location.id joined its team */
};

/* What changed while an object lived; in the order of calls. */
struct timeline_change {
    enum timeline_change_kind kind;
    uint32_t call, object;
    vmm_mem_location location; /* HOST stands for HOST_NUMA too: they are one */
    uint32_t value;
};

/* What the timeline keeps of a call. */
struct timeline_mark {
    uint32_t at;            /* where it stands in the trace: trace_at_number */
    uint32_t first_touched; /* objects that it names, makes or ends: timeline.touched[first ..], up to those of the next call */
    uint32_t first_named;   /* names of its parameters, likewise: kind and number */
    uint16_t named;         /* which of them have one, a bit each */
    uint16_t said;          /* TIMELINE_SAID_ERROR, TIMELINE_SAID_WARNING, or nothing */
};
enum { TIMELINE_SAID_ERROR = 2, TIMELINE_SAID_WARNING = 1 };

/* A call as it is read when asked for. */
struct timeline_call {
    enum vmm_call_id id;
    uint64_t ordinal;      /* n of the trace */
    uint64_t line;         /* of the readable form, from 1 */
    uint32_t thread;       /* 1, 2, ... */
    vmm_result result;
    vmm_severity severity; /* NONE: the trace holds no detail. A refused call of a driver has none */
    const char *rule;      /* "VMM-MAP-OVERLAP"; NULL. vmm_rule_find may not know it: the trace may be of a newer cuvmm */
    const char *argument;  /* NULL, or the parameter at fault, and then */
    uint64_t value;        /* its value */
    uint64_t expected;     /* 0: nothing to compare with */
    char nearest[TIMELINE_NAME]; /* the object that explains it, as the trace names it: "M3", "D0" is device 0; "": none */
    uint32_t nearest_object; /* the same as an index; TIMELINE_NONE */
    const char *note;      /* "": none */
    uint64_t time;         /* nanoseconds since the trace's clock; of a process's own trace alone, as the following */
    uint64_t shared;       /* of an export or import: the number that both processes have of it; 0: none */
    uint32_t place;        /* index into timeline.place; TIMELINE_NONE */
};

/* Whose trace it is. */
struct timeline_process {
    bool known;            /* the header names a process */
    char host[72], boot[72], started[40];
    char *program;
    long number, parent, fork_of; /* fork_of 0: it was not forked by a traced one, or has executed since */
    uint64_t clock;        /* CLOCK_MONOTONIC when it began, in nanoseconds */
};

/* A stack of addresses: "/opt/app/step+0x17bd\n...", nearest first. */
struct timeline_place {
    uint32_t id;           /* as the trace numbers it */
    char *frames;          /* NULL until the line that has them */
};

struct timeline_cache;

struct timeline {
    struct trace_store store;
    struct timeline_mark *mark; /* of each call, and one behind the last */
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
        uint32_t *object;    /* by number: the object that had it last */
        size_t room;
        uint32_t last;       /* number given last where this reader counts */
    } numbered[TIMELINE_KINDS];
    char version[32];       /* of the library that wrote it */
    char backend[32];       /* "sim", "cuda", ...: the innermost; "" where the trace does not name it */
    struct timeline_process process;
    struct timeline_place *place;
    size_t places, place_room;
    uint32_t *place_of;     /* by the trace's number: 1 + the index into place; 0: there is none */
    size_t place_numbers;
    bool complete;          /* it has its last line */
    struct text complaint;  /* of the line that could not be read, "NAME:LINE:COLUMN: ..."; empty when all could */
    struct timeline_cache *cache; /* the call that was read last */
};
enum { TIMELINE_NUMBER_BITS = 28 };

/* Reads a trace to its end or its first line that cannot be read. name is for messages, and is kept. False: there is no header that
 * this cuvmm knows, or cuvmm was built without jansson; complaint has the reason. In both cases timeline_free ends it. */
bool timeline_read(struct timeline *timeline, FILE *in, const char *name);
void timeline_free(struct timeline *timeline);

/* Does the object live after that call? */
bool timeline_alive(const struct timeline_object *object, uint32_t call);

/* A call, and in words: "cuMemMap(R1+2MiB, 2MiB, 0, H1, 0)", "granularity = 2MiB" or "". Each lasts until the next of its kind is
 * asked for. */
const struct timeline_call *timeline_call(const struct timeline *timeline, uint32_t call);
const char *timeline_words(const struct timeline *timeline, uint32_t call);
const char *timeline_answers(const struct timeline *timeline, uint32_t call);

/* How many objects it has to do with. */
static inline uint32_t timeline_touched(const struct timeline *timeline, uint32_t call)
{
    return timeline->mark[call + 1].first_touched - timeline->mark[call].first_touched;
}

/* "R3"; a multicast object is an H. Returns buffer. */
const char *timeline_name(const struct timeline_object *object, char buffer[TIMELINE_NAME]);

/* "reservation", "mapping", ... */
const char *timeline_kind_text(enum timeline_kind kind);

/* An error is a refusal or a detail of that severity; queries that answer NOT_READY are none. */
static inline bool timeline_is_error(const struct timeline *timeline, uint32_t call)
{
    return timeline->mark[call].said == TIMELINE_SAID_ERROR;
}

#endif
