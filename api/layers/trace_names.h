/* SPDX-License-Identifier: Apache-2.0 */
/* trace_names.h - the short names of objects in a trace, learnt from the calls that create and end the objects.
 *
 *     reserve -> 0x100000000000, 4 MiB        R1 = [0x100000000000, +4 MiB)
 *     0x100000200000 is then "R1+0x200000"
 */
#ifndef CUVMM_LAYERS_TRACE_NAMES_H
#define CUVMM_LAYERS_TRACE_NAMES_H

#include <stdbool.h>

#include "call.h"

enum name_kind { NAME_RESERVATION, NAME_ALLOCATION, NAME_HANDLE, NAME_CONTEXT, NAME_STREAM, NAME_DESCRIPTOR, NAME_EVENT,
                 NAME_POOL, NAME_ARRAY, NAME_GRAPH, NAME_NODE, NAME_EXEC, NAME_OBJECT, NAME_KINDS };

struct name_entry {
    uint64_t start, size; /* size is 1 for values that are not addresses */
    uint64_t file;        /* of a descriptor: its file (trace_file), because its number may be reused; else 0 */
    uint32_t number;
};

struct names {
    struct {
        struct name_entry *entry; /* sorted by start, without overlap */
        size_t count, room;
        uint32_t last; /* the last number used */
    } table[NAME_KINDS];
};

void names_free(struct names *names);

/* Records the objects that a successful call created or ended. False when memory is out: its object then has no name. */
bool names_learn(struct names *names, const struct vmm_call *call);

#define NAME_MAX_TEXT 40

/* The name of a parameter's value; false when it has none. */
bool names_find(const struct names *names, enum vmm_param_kind kind, uint64_t value, char text[NAME_MAX_TEXT]);

#endif
