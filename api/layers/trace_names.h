/* SPDX-License-Identifier: Apache-2.0 */
/* trace_names.h - the short names of objects in a trace, learnt from the calls that create and end the objects.
 *
 *     reserve -> 0x100000000000, 4 MiB        R1 = [0x100000000000, +4 MiB)
 *     0x100000200000 is then "R1+0x200000"
 *
 * Descriptors have theirs from trace_descriptors.h. The caller does all locking.
 */
#ifndef CUVMM_LAYERS_TRACE_NAMES_H
#define CUVMM_LAYERS_TRACE_NAMES_H

#include "spans.h"
#include "trace_event.h"

enum name_kind { NAME_RESERVATION, NAME_ALLOCATION, NAME_HANDLE, NAME_CONTEXT, NAME_STREAM, NAME_EVENT, NAME_POOL, NAME_ARRAY,
                 NAME_GRAPH, NAME_NODE, NAME_EXEC, NAME_OBJECT, NAME_DESCRIPTOR, NAME_KINDS };

struct name {
    enum name_kind kind;
    uint32_t number;
    uint64_t offset; /* of an address within its object */
    bool ended;      /* the object has ended */
};

/* Empty where it is zeroed. */
struct names {
    struct spans object[NAME_KINDS];   /* where each lies, with its number */
    uint32_t last[NAME_KINDS];         /* the last number used */
    bool keeps;                        /* ended objects can be found until something else lies there */
};

void names_free(struct names *names);

/* Records the objects that a call created or ended. Returns false when memory is exhausted: the object then has no name. */
bool names_learn(struct names *names, const struct trace_event *event);

/* The object that a parameter of that kind names by its value. Returns false if there is none, or if it has ended and `keeps`
 * is off. */
bool names_find(struct names *names, enum vmm_param_kind kind, uint64_t value, struct name *name);

/* The name as text: "H2", "R1+0x200000". */
#define NAME_MAX_TEXT 40
void name_text(const struct name *name, char text[NAME_MAX_TEXT]);

/* The kind with that letter; NAME_KINDS if there is none. */
enum name_kind name_kind_of(char letter);

#endif
