/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - one driver call that the command makes: the call record of api/call.h together with room for everything
 * that its pointers point to.
 *
 *     record  [head | ptr | size | handle | &out ...]
 *                                   |         |
 *     room    [prop] [location] [grants] [out slots] [text] [bytes]
 *
 * Scripts fill a step by hand, the raw `call` command and the replayer through parameter descriptors; step_invoke then
 * makes the call through the public API.
 */
#ifndef CUVMM_TOOLS_STEP_H
#define CUVMM_TOOLS_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "call.h"
#include "descriptors.h"
#include "symbols.h"

#define STEP_PARAMS 9
#define STEP_GRANTS 256     /* as many as a trace holds */
#define STEP_ATTRIBUTES 256
#define STEP_WORDS 256
#define STEP_MEM_OPS 256
#define STEP_NODES 256
#define STEP_COPIES 256
#define STEP_STRUCTS 256
#define STEP_STRUCT_BYTES 128 /* of one */
#define STEP_RANGE 64       /* values of an attribute of a range */
#define STEP_TEXT 1024

/* What a call may write, whatever the type. */
union step_out {
    uint64_t u64;
    int i;
    void *pointer;
    vmm_context context;
    vmm_stream stream;
    vmm_event event;
    vmm_memory_pool pool;
    vmm_array array;
    vmm_graph graph;
    vmm_graph_node node;
    vmm_graph_exec exec;
    vmm_user_object object;
    const vmm_graph_node *nodes;
    const vmm_graph_edge_data *edges;
    unsigned char attribute[VMM_POINTER_ATTRIBUTE_MAX_SIZE];
    unsigned char shareable[VMM_FABRIC_HANDLE_SIZE];
};

struct step {
    union vmm_any_call call;
    vmm_result result;
    const char *detail_rule;        /* of the refusal or warning, where the caller noted it */
    const char *bind;               /* name for the first output that is an object or a number; NULL: none */
    union step_out out[STEP_PARAMS]; /* where out parameter i points */
    vmm_mem_allocation_prop prop;   /* where PROP and OUT_PROP point */
    vmm_multicast_object_prop team; /* where TEAM points */
    vmm_mem_pool_props pool_props;  /* where POOL_PROPS points */
    uint64_t pool_value;            /* where POOL_VALUE points */
    vmm_mem_location location;
    vmm_mem_access_desc grants[STEP_GRANTS];
    uint64_t words[STEP_WORDS];     /* arguments of a kernel */
    vmm_stream_batch_mem_op_params mem_ops[STEP_MEM_OPS];
    vmm_memcpy3d box;               /* where MEMCPY3D, MEMCPY3D_PEER and OUT_MEMCPY3D point */
    uint64_t structure[STEP_STRUCT_BYTES / 8]; /* where STRUCT and OUT_STRUCT point */
    uint64_t structs[STEP_STRUCTS * STEP_STRUCT_BYTES / 8]; /* where STRUCTS points */
    int range[STEP_RANGE];          /* where OUT_RANGE points */
    uint64_t batch[4][STEP_COPIES]; /* where ADDRESSES and SIZES point */
    vmm_memcpy_attributes copy_attributes[STEP_COPIES];
    vmm_memcpy3d_batch_op boxes[STEP_COPIES];
    vmm_graph_node nodes[2][STEP_NODES]; /* where NODES and OUT_NODES point: in the order of the call's parameters */
    vmm_graph_edge_data edges[STEP_NODES];
    vmm_memset_node_params fill_node;
    vmm_host_node_params host_node;
    vmm_graph_exec_update_result_info update;
    vmm_kernel_node_params kernel_node; /* with the arguments in words */
    vmm_pointer_attribute attributes[STEP_ATTRIBUTES];
    union step_out data[STEP_ATTRIBUTES];
    void *data_pointers[STEP_ATTRIBUTES];
    char text[STEP_TEXT];
    unsigned char *bytes;           /* host memory of BYTES and OUT_BYTES; owned */
    int descriptor;                 /* what OUT_FD was answered with; owned, until it is taken */
    bool has_descriptor;
    unsigned char fabric[VMM_FABRIC_HANDLE_SIZE]; /* where an import of a fabric handle points, POOL_POINTER, and where IPC_HANDLE is copied from; zeros where there is none */
};

/* Empties a step and makes it one of that call: scalars 0, every pointer at its room (bytes: NULL). */
void step_begin(struct step *step, enum vmm_call_id id);
void step_end(struct step *step);

/* Did the call write a fabric handle where it may write a descriptor? */
bool step_wrote_fabric(const struct step *step);

/* Where the parameter NODES with that index points. */
static inline vmm_graph_node *step_nodes(struct step *step, size_t index)
{
    return step->nodes[index & 1];
}

/* Where the list of a batch with that index points: destinations, sources, sizes, and indices of attributes. */
static inline uint64_t *step_batch(struct step *step, size_t index)
{
    return step->batch[index < 3 ? index : 3];
}

/* The length of the lists that a call has beside num_dependencies; 0: it has none. */
uint64_t step_list(const struct step *step);

/* How many entries the call has written of a list, or says that there are; 0 where it does not. */
uint64_t step_written(const struct step *step);

/* Makes a call whose parameters are all filled in. */
vmm_result step_make(vmm_system *sys, const union vmm_any_call *call);

/* Makes the call; fills step->result and returns it. */
vmm_result step_invoke(vmm_system *sys, struct step *step);

/* True for parameters that the call writes through. */
bool step_is_out(enum vmm_param_kind kind);

/* How a value looks to a reader: names of the script where there are some. */
struct step_names {
    const struct symbols *symbols;  /* may be NULL */
    const struct descriptors *open; /* of which the number means nothing; may be NULL */
    bool addresses;                 /* add the raw value to a name */
};

/* "cuMemMap(r0+4MiB, 2MiB, 0, h0, 0)". */
void step_print_call(FILE *out, const struct step *step, const struct step_names *names);

/* What a successful call answered, ", flags = rw", or nothing. */
void step_print_answers(FILE *out, const struct step *step, const struct step_names *names);

/* The name of a number that a call's parameter enumerates, as cuda.h spells it without its prefix: MAPPING_SIZE, MINIMUM. NULL: the
 * parameter enumerates nothing, or has no such value. */
const char *step_enumerator_name(enum vmm_call_id id, const char *param, int value);

/* One address, as r0+4MiB or in hexadecimal. */
void step_print_address(FILE *out, uint64_t address, const struct step_names *names);

/* {dev0, fd, compression=1}: what a kind of memory is, in the script's words. */
void step_print_prop(FILE *out, const vmm_mem_allocation_prop *prop);

/* A pointer attribute's name, "MAPPING_SIZE"; NULL when it has none. And the other way; false when there is none. */
const char *step_attribute_name(int attribute);
bool step_attribute_find(const char *name, int *attribute);

/* The same for device attributes. */
const char *step_device_attribute_name(int attribute);
bool step_device_attribute_find(const char *name, int *attribute);

/* The same for attributes of memory pools. */
const char *step_pool_attribute_name(int attribute);
bool step_pool_attribute_find(const char *name, int *attribute);

#endif
