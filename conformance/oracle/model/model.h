/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - the reference model: the answer of each virtual-memory-management call, as plainly as possible.
 *
 *   call + the system's answer  ->  model_predict  ->  the correct answer: result, rule, outputs
 *
 * The model follows the measured facts and the contract in vmm.h, never the simulator: the two are compared call by
 * call (lockstep.h, world.h), so a mistake must be made twice, independently, to go unnoticed. It is slow on purpose:
 * unordered arrays, every look-up a linear search.
 *
 * Values that it cannot predict, handles and ids, it takes from the system after a check: each must differ from every
 * live one, and never change.
 *
 * From a real driver it takes addresses as well, where it cannot know what else is in the process: then it only checks
 * that they are possible.
 *
 * Decisions that neither facts nor contract make are in model_edges.h and nowhere else.
 */
#ifndef CUVMM_MODEL_H
#define CUVMM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "model_heap.h"
#include "profile.h"
#include "vmm.h"

/* A reserved range. tag is the caller's name for it (model.tag when it was made). */
struct model_reservation {
    uint64_t start, size;
    uint32_t tag;
};

/* Physical memory, named by one handle. It lives while it has references or mappings. */
struct model_memory {
    uint64_t handle, size;
    uint64_t granularity;          /* of its location */
    uint32_t references;           /* creations and retains not yet released */
    uint32_t tag;
    uint64_t original;             /* of an import: the handle that was exported; 0 for memory of its own */
    bool tile_pool, decompress;    /* requested; they do not read back */
    /* of memory for RDMA: the address of its first mapping, and of another one that got rights while that was
     * unmapped; 0 for none */
    uint64_t home, strayed;
    vmm_mem_allocation_prop prop;  /* as it reads back */
    uint64_t block;                /* its id from the pointer attribute, 0 before a query */
    uint64_t ended;                /* of one that ended: its ordinal among those */
};

/* Memory at addresses, with the rights of each location. */
struct model_mapping {
    uint64_t start, size, offset;
    uint64_t handle;
    uint32_t tag;
    uint8_t device[VMM_MAX_DEVICES]; /* VMM_MEM_ACCESS_FLAGS_PROT_ of each device */
    uint8_t host;                    /* HOST and HOST_NUMA are one location */
    bool sync;                       /* P2P_TOKENS was queried */
    bool of_host_pool;               /* memory of a pool of the host */
    bool host_newer;                 /* the host was granted rights after device 0 */
    uint64_t buffer;                 /* its id from the pointer attribute, 0 before a query */
};

/* The model keeps bytes in small windows of each granule where tests look, and no others. */
#define MODEL_WINDOW 32
struct model_window {
    uint64_t handle, offset;      /* of the memory; a multiple of MODEL_WINDOW */
    uint8_t value[MODEL_WINDOW];
    bool known[MODEL_WINDOW];     /* false where a copy brought bytes from outside every window */
};

struct model_context {
    vmm_context value;
    int device;
    uint32_t references;
};

/* An order of work: a stream, or the default stream of a device's context. */
#define MODEL_LANES 16
struct model_lane {
    uint64_t stream; /* 0: the default one */
    int device;
};

struct model_event {
    uint64_t value;
    int device;
    bool recorded;
    uint64_t seen[MODEL_LANES]; /* of each lane: the last free before the record */
};

/* Where pools are: a device, the host, and from MODEL_HOST + 1 on a NUMA node of it. */
enum { MODEL_HOST = VMM_MAX_DEVICES, MODEL_NODES = 8, MODEL_PLACES = MODEL_HOST + 1 + MODEL_NODES };

/* A memory pool. One that was destroyed stays while it has allocations (its heap is open), and its value for ever. */
struct model_pool {
    uint64_t value;              /* 0: a device's own one, which the system has not reported yet */
    uint64_t start;              /* of its addresses; of a driver's pool without allocations only where they may be, 0 for nowhere */
    uint32_t tag;
    int device, handle_types;    /* device: its place */
    bool own, ended, gone;       /* gone: ended, and without memory */
    bool based;                  /* it has had an allocation */
    bool exported;
    bool decompress;
    uint8_t rights[VMM_MAX_DEVICES];
    uint64_t ended_as;           /* of one that ended: its ordinal among those */
    struct model_heap heap;
};

/* Memory of a pool. */
struct model_block {
    uint64_t start, size;
    struct model_pool *pool;
    uint32_t tag;
    int lane;                    /* where it was allocated */
    uint64_t orders;             /* model.orders of then */
    bool sync;                   /* P2P_TOKENS was queried */
    uint64_t buffer;             /* its id from the pointer attribute, 0 before a query */
};

/* A stream memory operation. */
struct model_op {
    uint64_t address, value;
    unsigned width, flags;       /* width 0: one without a value */
    bool waits;
};

#define MODEL_QUEUE 64           /* operations that wait behind one */

/* A device as the driver reported it at the start. */
#define MODEL_ATTRIBUTES 200
struct model_device {
    bool has[MODEL_ATTRIBUTES];
    int attribute[MODEL_ATTRIBUTES];
    uint64_t free; /* with nothing of the test's on it */
};

struct model {
    const struct sim_profile *profile;
    const struct model_device *driver; /* one for each device: the system is a real driver; NULL: the simulator */
    /* reservations and used pools of a driver; of them those with an address other than the model's choice */
    uint64_t placed, strayed;
    uint64_t taken[VMM_MAX_DEVICES]; /* of a driver: memory of each device that its instances of graphs have */
    uint64_t may_take;            /* how many more times it may take some; so often calls of instances were made since it last did */
    uint64_t instances;           /* made so far */
    uint64_t adopted;             /* so often that was found to have changed */
    bool strict, initialised;
    bool host_pools;              /* pools of the host are foreseen; set by the caller */
    bool cautious;                /* of a driver: what varied since the first recordings is not foreseen; set by the caller */
    uint32_t tag;                 /* the name that the next object made gets; set by the caller */
    uint64_t before;              /* what the call reads where it writes its answer; set by the caller */
    int current;                  /* index in contexts, -1 for none */
    int exported_fd;              /* the descriptor of `exported`, as long as the caller keeps it open */
    int lanes, events;
    int blocked;                  /* the lane that waits for a value, -1 for none */
    unsigned slot_turn;           /* of `slot` */
    struct model_context contexts[VMM_MAX_DEVICES];
    size_t context_count;
    struct model_reservation *reservations;
    size_t reservation_count, reservation_room;
    struct model_mapping *mappings;
    size_t mapping_count, mapping_room;
    struct model_memory *memories;
    size_t memory_count, memory_room;
    struct model_memory *past;    /* memories that ended: their handles are stale */
    size_t past_count, past_room;
    uint64_t endings;             /* how many memories have ended */
    uint64_t exported;            /* the handle that was exported last, 0 for none */
    struct model_window *windows;
    size_t window_count, window_room;
    struct model_lane lane[MODEL_LANES];
    struct model_event event[2];
    uint64_t after[MODEL_LANES][MODEL_LANES]; /* [in][of]: the frees of `of` up to this one are before what `in` does next */
    uint64_t frees;               /* of all pools, so far */
    uint64_t orders;              /* how often something may have ordered streams */
    struct model_op queue[MODEL_QUEUE]; /* what it waits for, and what comes after that */
    size_t queued;
    struct model_streams pool_streams;
    struct model_pool **pools;
    size_t pool_count, pool_room;
    struct model_pool *current_pool[MODEL_PLACES]; /* NULL before the first use of the place's pools */
    bool vague_pool[MODEL_PLACES];                 /* of the host's: the current one was destroyed, and another one is current than foreseen */
    uint64_t pool_endings;
    struct model_block *blocks;
    size_t block_count, block_room;
    struct model_graphs *graphs;       /* model_graph.h */
    struct model_arrays *arrays;       /* model_array.h */
    struct model_managed *managed;     /* model_managed.h */
    size_t managed_count, managed_room;
    struct model_part *parts; /* of pages of managed memory */
    size_t part_count, part_room;
    struct model_doubt *doubts;
    size_t doubt_count, doubt_room;
    bool managed_ever;
    struct model_reservation program[2]; /* memory of the program itself, which copies may use; set by the caller */
    struct model_mapping slot[4]; /* of pools' memory, as if it were mapped; the latest answers of model_memory_at */
};

/* One prediction. */
struct model_answer {
    vmm_result actual;   /* in: what the system returned */
    vmm_result result;   /* what it should have returned */
    const char *rule;    /* and its rule: NULL for success without a warning */
    bool writes_zero;    /* a refusal that writes 0 through its outputs; others leave them alone */
    bool writes_no_fd;   /* a refusal that writes -1 to a descriptor */
    unsigned written;    /* of a refused vmm_pointer_get_attributes: how many elements were written before */
    bool wraps;          /* a copy or fill passes the end of the address space */
    bool ends;           /* a driver was seen to end the process */
    bool writes_some;    /* a refusal that has written some of its outputs before */
    bool fabric;         /* a fabric handle was written, not a descriptor */
    bool loses;          /* the call takes the device from the process, at once or when its work is done */
    bool waits;          /* it loses because streams decide what it does, or whether it ends */
    bool asked;          /* in: nothing was called, only the prediction is wanted (model_foresee) */
    bool foreseen;       /* false: the call is outside the model; result and rule mean nothing */
    const char *wrong;   /* NULL, or what is wrong with an output: both values follow */
    uint64_t got, want;
};

/* An empty process of the machine that profile describes; profile must outlive the model. */
void model_open(struct model *model, const struct sim_profile *profile, bool strict);
void model_close(struct model *model);

/* call: as it was made, its outputs holding what the system wrote. answer->actual: what the system returned.
 * Predicts; where both say the same, checks the outputs and makes the change. */
void model_predict(struct model *model, const struct vmm_call *call, struct model_answer *answer);

/* The prediction, without any effect. */
void model_foresee(struct model *model, const struct vmm_call *call, struct model_answer *answer);

/* The object at an address, of a handle or of a context; NULL: none. */
struct model_reservation *model_reservation_at(struct model *model, uint64_t address);
struct model_mapping *model_mapping_at(struct model *model, uint64_t address);
struct model_memory *model_memory_of(struct model *model, uint64_t handle);
struct model_memory *model_past_of(struct model *model, uint64_t handle);
uint32_t model_mappings_of(const struct model *model, uint64_t handle);

/* Makes a stream or an event known. device: whose context it belongs to. */
void model_add_stream(struct model *model, uint64_t stream, int device);
void model_add_event(struct model *model, uint64_t event, int device);

/* Each stream was seen to be idle. */
void model_idle(struct model *model);

/* Would the call have to wait while a stream waits for a value, or take the memory of that value away? */
bool model_call_waits(const struct model *model, enum vmm_call_id call);

/* Is a lane's stream captured, and may streams be asked whether they are idle? */
bool model_captured(const struct model *model, int lane);
bool model_capturing(const struct model *model);
bool model_may_query(const struct model *model);
/* The mode of the thread, which decides which captures forbid it calls. */
int model_thread_mode(const struct model *model);
/* Functions of user objects that were to be called since the last question; *late of them perhaps later. */
uint64_t model_destroyed(struct model *model, uint64_t *late);
/* Would the call's work stay behind, because no stream may be asked? */
bool model_stays_behind(const struct model *model, const struct vmm_call *call);

/* Is it a copy without a stream to or from an array? It is not waited for where the other side is a device's memory. */
bool model_copies_array(const struct vmm_call *call);

/* How many host functions launches have called since the last question. */
uint64_t model_host_calls(struct model *model);

/* The memory of a pool at an address; NULL: none. */
struct model_block *model_block_at(struct model *model, uint64_t address);
struct model_pool *model_pool_of(struct model *model, uint64_t value);

/* Bytes of physical memory of all pools of a device. */
uint64_t model_pools_hold(const struct model *model, int device);

/* The byte at an address, through its mapping; -1 where the model does not know it. */
int model_byte(struct model *model, uint64_t address);

/* Bytes of a place that arrays have, and tiles whose memory has no handle any more. */
uint64_t model_arrays_hold(const struct model *model, int place);

/* Free bytes of a device, and of a host node. */
uint64_t model_device_free(const struct model *model, int device);
uint64_t model_node_free(const struct model *model, int node);

#endif
