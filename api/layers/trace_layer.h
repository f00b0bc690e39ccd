/* SPDX-License-Identifier: Apache-2.0 */
/* trace_layer.h - the internals of the trace layer: its state and its two code paths.
 *
 *     trace.c          any trace, any call
 *     trace_plain.c    in the binary form without time and place, most calls of a program with one thread: a handler for each
 */
#ifndef CUVMM_LAYERS_TRACE_LAYER_H
#define CUVMM_LAYERS_TRACE_LAYER_H

#include <pthread.h>

#include "backend.h"
#include "json.h"
#include "lifecycle.h"
#include "trace_descriptors.h"
#include "trace_file.h"
#include "trace_names.h"
#include "trace_place.h"

/* What a trace holds besides calls when each process has a file of its own. */
struct own_file {
    char *pattern;              /* of its name */
    uint64_t clock;             /* when it was begun */
    _Atomic(struct trace *) fork; /* in a child of this process: the trace that continues there */
    struct trace_places places;
};

/* The readable form. */
struct lines {
    int fd;
    bool regular;         /* a file that can be truncated, and that raises no SIGPIPE */
    struct json line;
    struct names names;
};

struct trace {
    struct vmm_backend base;
    /* held during an inner call that does not wait, so that calls are recorded in the order of their effects; guards the
     * members below */
    struct life_lock lock;
    pthread_key_t key;    /* the number of each thread */
    uintptr_t threads;
    uint64_t process;     /* life_stamp() of the tracing process: a forked child neither writes nor takes the lock */
    pid_t pid;
    bool binary;
    bool stopped;         /* set after a call could not be written */
    uint64_t calls;       /* written */
    pthread_t alone;      /* the last thread that was the only one, and its number; 0: none yet */
    uint32_t alone_number;
    struct trace_descriptors descriptors;
    struct lines lines;
    struct trace_file file; /* of the binary form */
    struct own_file *own; /* NULL: one file for all processes, in which the same calls produce the same bytes */
};

/* Passes any call on and records it. */
vmm_result trace_call(struct vmm_backend *self, struct vmm_call *call);

/* Records a call that has returned and needs nothing recorded before it is made. */
void trace_write_late(struct trace *trace, const struct vmm_call *call, vmm_result result);

void trace_close(struct vmm_backend *self);

/* The operations of a trace in the binary form without time and place. */
extern const struct vmm_backend_ops trace_plain_ops;

/* ---- what must be recorded before a call, by its parameters ---- */

enum trace_trait { HAS_FLAGS = 1, HAS_BYTES = 2, HAS_OUT_BYTES = 4, HAS_BEFORE = 8, HAS_DESCRIPTOR = 16 };

enum trace_type_kind { /* of each type of call_types.def */
#define CALL_TYPE(name, kind, ours, theirs) KIND_##name = VMM_PARAM_##kind,
#define CALL_POINTER(name, kind, ours, theirs) KIND_##name = VMM_PARAM_##kind,
#include "call_types.def"
};

enum trace_type_shape { /* the structure that each type points to */
#define CALL_TYPE(name, kind, ours, theirs) SHAPE_##name = VMM_SHAPE_NONE,
#define CALL_POINTER(name, kind, ours, theirs) SHAPE_##name = VMM_SHAPE_NONE,
#define CALL_STRUCT(name, kind, ours, theirs, shape) SHAPE_##name = VMM_SHAPE_##shape,
#include "call_types.def"
};

/* For VMM_EACH, after an operand. */
#define TRACE_IS(type, kind) ((int)KIND_##type == (int)VMM_PARAM_##kind)
#define TRACE_TRAITS(type, param)                                                                                        \
    | (TRACE_IS(type, OUT_U64) ? HAS_FLAGS : 0) | (TRACE_IS(type, BYTES) ? HAS_BYTES : 0) |                               \
        (TRACE_IS(type, OUT_BYTES) ? HAS_OUT_BYTES : 0) |                                                                \
        (TRACE_IS(type, IO_COUNT) || TRACE_IS(type, IO_INT) ? HAS_BEFORE : 0) |                                          \
        (TRACE_IS(type, FD) || TRACE_IS(type, OUT_FD) || TRACE_IS(type, IPC_HANDLE) || TRACE_IS(type, OUT_IPC_HANDLE)    \
             ? HAS_DESCRIPTOR                                                                                            \
             : 0)

#endif
