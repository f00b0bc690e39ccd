/* SPDX-License-Identifier: Apache-2.0 */
/* detail.h - why a call was refused and what to do: objects, details, reports and leaks. Part of vmm.h, which states the
 * conventions. */
#ifndef CUVMM_VMM_DETAIL_H
#define CUVMM_VMM_DETAIL_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vmm_severity {
    VMM_SEVERITY_NONE,    /* nothing to report */
    VMM_SEVERITY_WARNING, /* the call succeeded, as on the recorded driver, but breaks a documented rule or is risky */
    VMM_SEVERITY_ERROR,   /* the call was refused */
    VMM_SEVERITY_LEAK,    /* at close: something is still held */
    VMM_SEVERITY_HINT     /* at close: not held by this process, but worth knowing */
} vmm_severity;

typedef enum vmm_object_kind {
    VMM_OBJECT_NONE,
    VMM_OBJECT_DEVICE,      /* start: total bytes, size: free bytes, value: ordinal */
    VMM_OBJECT_RESERVATION, /* R1, R2, ... */
    VMM_OBJECT_MAPPING,     /* M1, M2, ... */
    VMM_OBJECT_HANDLE,      /* H1, H2, ... physical memory as named by one handle, or a multicast object */
    VMM_OBJECT_ALLOCATION,  /* A1, A2, ... memory from vmm_mem_alloc */
    VMM_OBJECT_CONTEXT,     /* C1, C2, ... */
    VMM_OBJECT_STREAM,      /* S1, S2, ... */
    VMM_OBJECT_EVENT,       /* E1, E2, ... */
    VMM_OBJECT_BIND,        /* B1, B2, ... memory of one device bound to a multicast object */
    VMM_OBJECT_POOL,        /* P1, P2, ... a memory pool: size is its physical memory */
    VMM_OBJECT_ARRAY        /* Y1, Y2, ... an array, mipmapped or not: size is its own physical memory; for a sparse array,
                               offset is the number of its tiles and mappings the number of mapped ones */
} vmm_object_kind;

#define VMM_MAX_DEVICES 31 /* of one machine */

/* An object of the simulator in its current state, or in its last state before it ended. Calls are identified by their
 * ordinals in the system. */
typedef struct vmm_object {
    vmm_object_kind kind;
    uint32_t number;       /* 3 in R3; counted per kind from 1 in order of creation */
    uint64_t start, size;  /* address range of a reservation, mapping or allocation; size alone of a handle; of a bind
                              its range in the multicast object */
    uint64_t value;        /* the handle's, context's, stream's or event's value */
    uint64_t handle;       /* of a mapping: the value of the handle that was mapped; of a bind: the multicast object's */
    uint32_t handle_number;
    uint64_t offset;       /* of a mapping or bind: where in the physical memory it starts */
    vmm_mem_location location; /* of a handle, mapping, allocation or bind: where the memory is; INVALID for a
                                  multicast object and its mappings, which have none of their own */
    uint64_t access;       /* of a mapping: see vmm_object_access() */
    uint32_t references;   /* of a handle: creations and retains not yet released */
    uint32_t mappings;     /* of a handle: mappings that hold it */
    uint64_t block;        /* of a handle, mapping or bind: id of the physical memory, shared by handles that alias */
    uint32_t team;         /* of a multicast object: size of its complete team; 0: not a multicast object */
    uint32_t devices;      /* of a multicast object: those added so far, one bit each */
    uint32_t binds;        /* of a multicast object: what is bound to it; of memory: binds that hold it */
    uint64_t created, ended;                       /* ordinal of the call; ended is 0 while the object lives */
    const char *created_by, *ended_by;             /* that call's driver name; NULL while the object lives */
    uint32_t created_stack, ended_stack;           /* where the program made those calls: a number for `cuvmm check`; 0
                                                      if unknown, as for objects of another process */
    uint32_t retained_stack;                       /* of a handle: the latest call that added a reference to it, */
    uint64_t retained;                             /* after the one that created it; 0 if there is none */
    const char *retained_by;
} vmm_object;

/* The rights of a location on a mapping object: VMM_MEM_ACCESS_FLAGS_PROT_. HOST and HOST_NUMA are one location. */
VMM_API vmm_mem_access_flags vmm_object_access(const vmm_object *mapping, vmm_mem_location location);

/* An access by device work or by the host that was not allowed, with the state at that moment. */
typedef struct vmm_fault {
    int device;            /* the device that made the access; -1: the host, without kernel, launch and argument */
    vmm_kernel kernel;     /* -1 for a copy or fill in flight */
    uint64_t launch;       /* ordinal of the call that launched or issued it */
    uint64_t address;      /* the address of the first byte of the access */
    uint32_t size;         /* bytes of the access; 1 for a copy or fill */
    uint32_t rights;       /* the rights of the device at address: VMM_MEM_ACCESS_FLAGS_PROT_ */
    int mapped;            /* something is mapped at address */
    int writes;            /* the access writes or adds */
    const char *argument;  /* the kernel argument at address or nearest below it; NULL if there is none */
    uint64_t offset;       /* bytes from that argument */
    vmm_object before;     /* the mapping or allocation that ends nearest before address, and the one that starts */
    vmm_object after;      /* nearest after it; kind NONE where there is none */
    vmm_object past;       /* the mapping that was at address earlier, if nothing is there now */
    uint32_t launch_stack; /* where the program made that call, as vmm_object.created_stack */
} vmm_fault;

/* A call that a detail refers to. */
typedef struct vmm_site {
    const char *function;  /* its driver name; NULL if there is no call */
    uint64_t call;
    uint32_t stack;        /* where the program made it, as vmm_object.created_stack */
} vmm_site;

/* An access of work, or of the host in a copy. */
typedef struct vmm_access {
    vmm_site issued;       /* the call that issued it; function is NULL if there is no access */
    const char *kernel;    /* NULL for a copy, fill or memory operation */
    uint64_t stream;       /* the stream's value */
    uint32_t stream_number; /* 3 in S3; 0: a default stream, or unknown */
    int per_thread;        /* the stream is the thread's own default stream */
    int graph;             /* a node of a launched graph, in addition to its stream */
    int host;              /* the host reads or writes the bytes itself, in a copy that it waits for */
    int writes;            /* the access writes, or adds */
} vmm_access;

/* Two unordered accesses, or one access to bytes that nothing wrote. */
typedef struct vmm_order {
    vmm_access first, second; /* in the order of issue; bytes that nothing wrote have no first access */
    uint64_t memory;       /* id of the physical memory, as block of an object; 0: the host's own memory, and offset is an address */
    uint64_t offset, size; /* the bytes that both access */
    char missing[200];     /* what would order the accesses; "" if there is only one */
} vmm_order;

/* The reason why the thread's last call was refused or drew a warning. Valid until the thread's next call. */
typedef struct vmm_detail {
    vmm_result result;
    vmm_severity severity;
    const char *rule;      /* "VMM-MAP-OVERLAP", or NULL */
    const char *function;  /* the driver's name, "cuMemMap" */
    uint64_t call;         /* ordinal of the call in its system */
    const char *argument;  /* the parameter at fault in the driver's spelling, or NULL */
    uint64_t value;        /* its value */
    uint64_t expected;     /* what the rule compares with (a granularity, a limit, a size), 0 if there is none */
    vmm_object nearest;    /* the object that explains it; kind NONE if there is none */
    char note[240];        /* text specific to this call, "" where the rule's text suffices */
    const vmm_fault *fault; /* for the rules VMM-FAULT-... and VMM-HOST-ACCESS: the access; NULL otherwise, and if
                               the backend does not know it. Valid as long as the detail */
    const vmm_order *order; /* for the rules VMM-ORDER-... and VMM-UNWRITTEN-READ: the accesses; NULL otherwise. Valid as
                               long as the detail */
    vmm_site issued;       /* the call that issued the work that the rule is about, for rules of work in flight */
} vmm_detail;

/* Never NULL; severity is VMM_SEVERITY_NONE after a call with nothing to report. */
VMM_API const vmm_detail *vmm_last_detail(void);

/* Writes detail as text of several lines (what, argument, nearest object and its history, rule, fix) into buffer,
 * truncated to size with a final 0. Returns the length of the whole text, as snprintf does. */
VMM_API size_t vmm_detail_text(const vmm_detail *detail, char *buffer, size_t size);

/* Called for every detail of sys (refusals, warnings, leaks) on the thread of the call, after the call's effect and
 * outside the system's locks; the function may make calls on sys. NULL removes it. One per system. */
typedef void (*vmm_report_fn)(void *user, const vmm_detail *detail);
VMM_API void vmm_set_report(vmm_system *sys, vmm_report_fn report, void *user);

/* Reports what is still held: one detail of severity LEAK for each live reservation, mapping, handle, allocation,
 * context, stream and event, with the call that made it and what pins it. Returns how many. report may be NULL to
 * count. For shared memory the detail names the exporter, or the other holders. After the leaks comes a detail of
 * severity HINT [VMM-LEAK-ELSEWHERE] for each allocation that this process exported and released but that others
 * still hold; hints are not counted. If this process itself has a descriptor of it open, that is a leak
 * [VMM-LEAK-DESCRIPTOR]. */
VMM_API uint64_t vmm_leaks(vmm_system *sys, vmm_report_fn report, void *user);

/* Calls visit for every live object of the simulator, in the order of kinds above and by address or number within a
 * kind. visit must not call the system. Returns VMM_ERROR_NOT_SUPPORTED on backends that cannot enumerate. */
typedef void (*vmm_visit_fn)(void *user, const vmm_object *object);
VMM_API vmm_result vmm_visit(vmm_system *sys, vmm_visit_fn visit, void *user);

/* "CUDA_ERROR_INVALID_VALUE"; "unrecognized error code" for a number that is not listed. Never NULL. */
VMM_API const char *vmm_result_name(vmm_result result);
/* A short description in our words. Never NULL. */
VMM_API const char *vmm_result_text(vmm_result result);

#ifdef __cplusplus
}
#endif

#endif
