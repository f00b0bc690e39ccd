/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_parts.h - internals of lockstep: lockstep.c makes steps, lockstep_driver.c handles drivers.
 */
#ifndef CUVMM_LOCKSTEP_PARTS_H
#define CUVMM_LOCKSTEP_PARTS_H

#include "lockstep.h"

enum { LOCKSTEP_SENTINEL = 0x77 };

_Static_assert(STEP_ARGS >= 8, "a fabric handle has room");

/* Where the outputs of one call go. */
struct outputs {
    uint64_t slot[STEP_ARGS]; /* a fabric handle takes eight of them, and is the only output then */
    uint64_t attribute[STEP_ATTRIBUTES][2]; /* the largest attribute has 12 bytes */
    void *attributes[STEP_ATTRIBUTES];
    vmm_mem_allocation_prop prop;
    vmm_mem_pool_props pool;                      /* read by the call, as are the operations */
    vmm_stream_batch_mem_op_params op[STEP_OPS];
    vmm_memcpy3d box;
    vmm_memcpy3d_peer peer_box;
    vmm_graph_node node[2][STEP_NODES];
    vmm_memset_node_params fill;
    vmm_host_node_params host;
    vmm_kernel_node_params kernel;
    uint64_t kernel_args[3];
    vmm_graph_node listed[2][LOCKSTEP_LISTED];    /* lists that the call writes; their room is in a slot */
    vmm_graph_edge_data listed_edges[LOCKSTEP_LISTED];
    vmm_graph_exec_update_result_info update;
    union {
        vmm_array3d_descriptor descriptor;
        vmm_array_sparse_properties sparse;
        vmm_array_memory_requirements requirements;
        vmm_array_map_info info[STEP_STRUCTS];
        vmm_mem_location location[STEP_STRUCTS];
    } structs; /* read or written */
    uint64_t batch[2][STEP_NODES];
    int range[4];
};

enum { LOCKSTEP_HOST_ROOM = 1 << 20 };

/* The value of a name plus a number. */
uint64_t lockstep_value(const struct lockstep *pair, struct step_arg arg);

/* Fills in the structures that calls of boxes and graphs read. */
void lockstep_fill_in(struct lockstep *pair, const struct step *step, struct outputs *out);

/* The program's memory that a stream copies from: it begins with that byte, and is never changed. */
const void *lockstep_steady(const struct lockstep *pair, uint64_t first);

/* Does a copy of a box leave the room of the program's memory? */
bool lockstep_leaves_room(const struct lockstep *pair, const union vmm_any_call *call);

/* Functions of user objects were called that often since the last question. */
uint64_t lockstep_destroyed(void);
vmm_host_fn lockstep_destroy(void);

/* Host functions of nodes were called that often since the last question. */
uint64_t lockstep_host_calls(void);

/* Closes the descriptor of the last export and keeps this one open instead; -1 for none. */
void lockstep_keep(struct lockstep *pair, int fd);

/* Notes a difference. Returns false. */
bool lockstep_differ(struct lockstep *pair, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Queries the driver for its machine's properties: fills profile and driver. base supplies what cannot be queried.
 * False when a query fails. */
bool driver_ask(struct lockstep *pair, const struct sim_profile *base);

/* Warms the driver up, notes free memory, and fills the chunks where it has addresses of its own, so that the driver
 * owns nothing near the model's reservations. The model is still empty. */
bool driver_settle(struct lockstep *pair);

/* Why the call is not made: it is known to end the process, forges a value, accesses an address that may be the driver's own, or
 * takes much memory. LEFT_OUT_NOT: it is made. */
enum left_out driver_leaves_out(struct lockstep *pair, const union vmm_any_call *call);

/* Did the call succeed because the driver has its own memory there? */
bool driver_has_memory(struct lockstep *pair, const union vmm_any_call *call, const struct model_answer *answer);

/* After a call: waits for the copy or fill, and checks whether the context is lost. */
void driver_finish(struct lockstep *pair, const union vmm_any_call *call, vmm_result result);

/* The system did what the model would have refused: undoes it where a call can. False where none can. */
bool driver_undo(struct lockstep *pair, const union vmm_any_call *call, const struct outputs *out);

/* The system refused what the model did: are they in different states now? */
bool driver_parts(const union vmm_any_call *call);

/* Result and outputs as text, without what depends on placement, into pair->told. */
void driver_tell(struct lockstep *pair, const union vmm_any_call *call, vmm_result result, const struct outputs *out);

/* Is each graph, node and instance that the call names one that there is? out: its lists of nodes. */
bool driver_knows_graphs(struct lockstep *pair, const union vmm_any_call *call, const struct outputs *out);

/* Does the call release references to a user object that the program or the graph does not have? The driver counts all of them in one
 * number, and frees the object when that is 0, also while a graph still refers to it. */
bool driver_lacks_references(struct lockstep *pair, const union vmm_any_call *call);

/* Is the value 0 or an array that lives? Are all of a list's, and are its handles held? A driver uses them without looking. */
bool driver_knows_array(const struct lockstep *pair, uint64_t value);
bool driver_knows_tiles(struct lockstep *pair, const struct vmm_call_mem_map_array_async *call);

/* Would an array take little memory, or more than there is, and be divided into few tiles? */
bool driver_modest_array(const struct lockstep *pair, const vmm_array3d_descriptor *asked, unsigned levels, vmm_result predicted);

/* Is it little managed memory, in all, or more than there is? */
bool driver_modest_managed(const struct lockstep *pair, uint64_t size, vmm_result predicted);

/* Destroys arrays. False when one could not be. */
bool driver_sweep_arrays(const struct lockstep *pair);

/* Ends captures, and destroys instances and graphs. */
bool driver_sweep_graphs(struct lockstep *pair);

/* Frees everything that the model holds, and the fillers, regardless of the calls' results. False when one failed, so that
 * something is left. */
bool driver_sweep(struct lockstep *pair);

#endif
