/* SPDX-License-Identifier: Apache-2.0 */
/* model_parts.h - internals of the model: how a predictor states its prediction, and one predictor per call. */
#ifndef CUVMM_MODEL_PARTS_H
#define CUVMM_MODEL_PARTS_H

#include "model.h"

/* The call is refused. Returns false, so that a check reads `return model_refuse(...)`. */
bool model_refuse(struct model_answer *answer, vmm_result result, const char *rule);

/* The recorded driver accepts the call although it breaks a documented rule: a warning, in strict mode a refusal. The
 * first warning counts. Returns false when the call is refused. */
bool model_breach(const struct model *model, struct model_answer *answer, const char *rule);

/* Allowed in every mode and likely a mistake: a warning. */
void model_hazard(struct model_answer *answer, const char *rule);

/* Do system and model agree that the call succeeded, so that outputs and state follow? */
bool model_succeeded(const struct model_answer *answer);

/* An output's value. */
void model_expect(struct model_answer *answer, const char *output, uint64_t got, uint64_t want);

/* Makes room for one more element and returns the array; ends the process when the host has no memory left. */
void *model_room(void *array, size_t *room, size_t count, size_t element);

/* Is [start, start + size) below limit without wrapping? */
static inline bool model_fits(uint64_t start, uint64_t size, uint64_t limit)
{
    return start <= limit && size <= limit - start;
}

/* Do [a, a + n) and [b, b + m) share a byte? Neither may wrap. */
static inline bool model_overlap(uint64_t a, uint64_t n, uint64_t b, uint64_t m)
{
    return a < b + m && b < a + n;
}

/* Frees memory without references and mappings; tiles keep theirs. */
void model_collect(struct model *model, uint64_t handle);

/* The device of the current context; -1: none. */
int model_current_device(const struct model *model);

/* A device's rights to a mapping. */
int model_device_rights(const struct model_mapping *mapping, int device);

/* A mapping, or a part of a pool's memory as if it were mapped, which stays valid for three further calls; NULL where neither is. */
const struct model_mapping *model_memory_at(struct model *model, uint64_t address);

/* The lane of a stream; -1, with a refusal, if there is none. */
int model_lane_of(struct model *model, uint64_t stream, struct model_answer *answer);

/* Work on a lane, or on the current context's default stream (-1), uses the memory. */
void model_use(struct model *model, int lane, uint64_t address, uint64_t size, struct model_answer *answer);
/* Work that a call without a stream does at once is done, after the streams of its context. */
void model_used(struct model *model);

/* May a copy or fill start there, as far as pools know? */
bool model_pool_allows(struct model *model, uint64_t address, uint64_t size, struct model_answer *answer);

/* One side of a copy, or a fill. */
struct model_access {
    uint64_t start, size;
    bool writes, fill, with_program; /* with_program: the other side is the program's own memory */
    uint8_t value;                   /* of a fill by a kernel */
};

/* A copy, or a fill. */
struct model_transfer {
    enum { MODEL_FROM_PROGRAM, MODEL_TO_PROGRAM, MODEL_BETWEEN, MODEL_FILL } kind;
    uint64_t to, from, size;
};

/* May the device make it? False, with a refusal, where not. */
bool model_transfer_allowed(struct model *model, int device, const struct model_transfer *transfer, struct model_answer *answer);

/* A copy of rows that a graph holds. */
struct model_box {
    struct model_transfer row;   /* the first one */
    uint64_t to_pitch, from_pitch, to_layer, from_layer;
    uint64_t height, depth;
    vmm_memcpy3d asked;
};

/* May a graph hold the copy? False, with a refusal, where not. */
bool model_box_allowed(struct model *model, int device, const vmm_memcpy3d *asked, bool open, struct model_box *box,
                       struct model_answer *answer);
/* Is each of its rows usable now? */
bool model_box_usable(struct model *model, int device, const struct model_box *box);
void model_box_move(struct model *model, const struct model_box *box);
/* Whole ranges from the first row to the last. */
struct model_access model_box_writes(const struct model_box *box);
struct model_access model_box_reads(const struct model_box *box);

/* Does the range begin or end in memory of a pool that is not an allocation's? */
bool model_outside_blocks(struct model *model, uint64_t start, uint64_t size);

/* Do two ranges share memory at different addresses? */
bool model_aliased(struct model *model, uint64_t a, uint64_t n, uint64_t b, uint64_t k);

/* What is in the range is not known any more. */
void model_forget_range(struct model *model, uint64_t start, uint64_t size);

/* The event no longer stands for a capture. */
void model_event_dropped(struct model *model, const struct model_event *event);

/* A lane records an event, or is ordered after an event. */
void model_record(struct model *model, struct model_event *event, int lane);
void model_wait(struct model *model, int lane, const struct model_event *event);

/* May the device make it? False, with a refusal, where not. */
bool model_reaches(struct model *model, int device, const struct model_access *access, struct model_answer *answer);

/* Copies bytes between memory, where both may be accessed; murky: what is there then is not known. */
void model_move(struct model *model, uint64_t to, uint64_t from, uint64_t size, bool murky);
bool model_murky(struct model *model, uint64_t to, uint64_t from, uint64_t size);

/* The bytes that the system has read there. */
void model_expect_bytes(struct model *model, uint64_t from, const uint8_t *got, uint64_t size, struct model_answer *answer);

/* model_heap_take of a pool's heap, on a lane. */
uint64_t model_pool_take(struct model *model, struct model_pool *pool, uint64_t size, int lane);

/* The frees that a wait comes after are over. in: the lane that waited, or -1: those of a device's context. */
void model_pools_return(struct model *model, int in, int device);
/* All that some of the device's pools have idle goes back, if it is so many bytes. */
bool model_pools_gave_back(struct model *model, int device, uint64_t bytes);

/* A pool's place, and whether that is the host; free memory there. */
int model_pool_place(const vmm_mem_location *location);
static inline bool model_on_host(const struct model_pool *pool)
{
    return pool->device >= MODEL_HOST;
}
uint64_t model_place_free(const struct model *model, int place);

/* Makes room at a place for that much memory, with the idle memory of its pools where that suffices. */
void model_pools_make_room(struct model *model, int device, uint64_t wanted);

/* cuMemFree of a block. */
void model_block_free_now(struct model *model, struct model_block *block);

/* Frees the addresses of a pool that ended, once nothing uses them. */
void model_pool_settle(struct model *model, struct model_pool *pool);
/* The pools of a device, which are made on first use. NULL when no addresses are left. */
struct model_pool *model_own_pool(struct model *model, int device);

/* What a stream waited for may be there. */
void model_progress(struct model *model);

/* Is the memory of a mapping on a device (else on the host)? */
bool model_in_device(struct model *model, const struct model_mapping *mapping);

/* An attribute of the machine's devices, 0 when the profile does not set it. */
int model_attribute(const struct model *model, int attribute);

/* The address of a reservation, 0 when there is no room. alignment 0 and hint 0: none requested. */
uint64_t model_place(const struct model *model, uint64_t size, uint64_t alignment, uint64_t hint);

void model_write(struct model *model, uint64_t address, uint64_t size, const uint8_t *pattern, size_t period);
void model_forget_bytes(struct model *model, uint64_t handle);
/* The same for an allocation of a pool. */
void model_forget_block(struct model *model, uint64_t start);

#define MODEL_ON(name) void model_on_##name(struct model *m, const struct vmm_call_##name *c, struct model_answer *a)
MODEL_ON(init);
MODEL_ON(device_get_count);
MODEL_ON(device_get);
MODEL_ON(device_total_mem);
MODEL_ON(device_can_access_peer);
MODEL_ON(device_get_attribute);
MODEL_ON(device_primary_ctx_retain);
MODEL_ON(device_primary_ctx_release);
MODEL_ON(ctx_set_current);
MODEL_ON(ctx_get_current);
MODEL_ON(ctx_get_device);
MODEL_ON(mem_get_info);
MODEL_ON(mem_free);
MODEL_ON(mem_get_allocation_granularity);
MODEL_ON(mem_create);
MODEL_ON(mem_release);
MODEL_ON(mem_retain_allocation_handle);
MODEL_ON(mem_get_allocation_properties_from_handle);
MODEL_ON(mem_address_reserve);
MODEL_ON(mem_address_free);
MODEL_ON(mem_map);
MODEL_ON(mem_unmap);
MODEL_ON(mem_set_access);
MODEL_ON(mem_get_access);
MODEL_ON(pointer_get_attribute);
MODEL_ON(pointer_get_attributes);
MODEL_ON(mem_get_address_range);
MODEL_ON(mem_get_handle_for_address_range);
MODEL_ON(mem_export_to_shareable_handle);
MODEL_ON(mem_import_from_shareable_handle);
MODEL_ON(memcpy_htod);
MODEL_ON(memcpy_dtoh);
MODEL_ON(memcpy_dtod);
MODEL_ON(memset_d8);
MODEL_ON(memset_d16);
MODEL_ON(memset_d32);
MODEL_ON(stream_write_value32);
MODEL_ON(stream_write_value64);
MODEL_ON(stream_wait_value32);
MODEL_ON(stream_wait_value64);
MODEL_ON(stream_batch_mem_op);
MODEL_ON(mem_alloc_async);
MODEL_ON(mem_alloc_from_pool_async);
MODEL_ON(mem_free_async);
MODEL_ON(mem_pool_create);
MODEL_ON(mem_pool_destroy);
MODEL_ON(device_get_default_mem_pool);
MODEL_ON(device_get_mem_pool);
MODEL_ON(device_set_mem_pool);
MODEL_ON(mem_get_default_mem_pool);
MODEL_ON(mem_get_mem_pool);
MODEL_ON(mem_set_mem_pool);
MODEL_ON(mem_pool_set_attribute);
MODEL_ON(mem_pool_get_attribute);
MODEL_ON(mem_pool_trim_to);
MODEL_ON(mem_pool_set_access);
MODEL_ON(mem_pool_get_access);
MODEL_ON(mem_pool_export_to_shareable_handle);
MODEL_ON(mem_pool_import_from_shareable_handle);
MODEL_ON(mem_pool_export_pointer);
MODEL_ON(mem_pool_import_pointer);
MODEL_ON(stream_synchronize);
MODEL_ON(stream_query);
MODEL_ON(ctx_synchronize);
MODEL_ON(event_record);
MODEL_ON(stream_wait_event);
MODEL_ON(memcpy_htod_async);
MODEL_ON(memcpy_dtoh_async);
MODEL_ON(memcpy_dtod_async);
MODEL_ON(memset_d8_async);
MODEL_ON(memset_d16_async);
MODEL_ON(memset_d32_async);
MODEL_ON(memcpy_3d);
MODEL_ON(memcpy_3d_async);
MODEL_ON(memcpy_3d_peer);
MODEL_ON(memcpy_3d_peer_async);
MODEL_ON(stream_begin_capture);
MODEL_ON(stream_begin_capture_to_graph);
MODEL_ON(stream_end_capture);
MODEL_ON(stream_update_capture_dependencies);
MODEL_ON(stream_is_capturing);
MODEL_ON(graph_create);
MODEL_ON(graph_destroy);
MODEL_ON(graph_clone);
MODEL_ON(graph_add_empty_node);
MODEL_ON(graph_add_memset_node);
MODEL_ON(graph_add_memcpy_node);
MODEL_ON(graph_add_host_node);
MODEL_ON(graph_add_kernel_node);
MODEL_ON(graph_add_child_graph_node);
MODEL_ON(graph_add_event_record_node);
MODEL_ON(graph_add_event_wait_node);
MODEL_ON(graph_destroy_node);
MODEL_ON(graph_add_dependencies);
MODEL_ON(graph_remove_dependencies);
MODEL_ON(graph_node_get_type);
MODEL_ON(graph_node_find_in_clone);
MODEL_ON(graph_child_graph_node_get_graph);
MODEL_ON(graph_event_record_node_get_event);
MODEL_ON(graph_event_wait_node_get_event);
MODEL_ON(graph_memset_node_set_params);
MODEL_ON(graph_memcpy_node_get_params);
MODEL_ON(graph_memcpy_node_set_params);
MODEL_ON(graph_kernel_node_set_params);
MODEL_ON(graph_exec_kernel_node_set_params);
MODEL_ON(graph_host_node_set_params);
MODEL_ON(graph_event_record_node_set_event);
MODEL_ON(graph_event_wait_node_set_event);
MODEL_ON(graph_instantiate);
MODEL_ON(graph_exec_get_flags);
MODEL_ON(graph_exec_destroy);
MODEL_ON(graph_exec_memset_node_set_params);
MODEL_ON(graph_exec_memcpy_node_set_params);
MODEL_ON(graph_exec_event_record_node_set_event);
MODEL_ON(graph_exec_event_wait_node_set_event);
MODEL_ON(graph_exec_host_node_set_params);
MODEL_ON(graph_node_set_enabled);
MODEL_ON(graph_node_get_enabled);
MODEL_ON(graph_launch);
MODEL_ON(graph_upload);
MODEL_ON(stream_get_capture_info);
MODEL_ON(thread_exchange_stream_capture_mode);
MODEL_ON(graph_get_nodes);
MODEL_ON(graph_get_root_nodes);
MODEL_ON(graph_get_edges);
MODEL_ON(graph_node_get_dependencies);
MODEL_ON(graph_node_get_dependent_nodes);
MODEL_ON(graph_memset_node_get_params);
MODEL_ON(graph_host_node_get_params);
MODEL_ON(graph_exec_update);
MODEL_ON(device_get_graph_mem_attribute);
MODEL_ON(device_set_graph_mem_attribute);
MODEL_ON(device_graph_mem_trim);
MODEL_ON(user_object_create);
MODEL_ON(user_object_retain);
MODEL_ON(user_object_release);
MODEL_ON(graph_retain_user_object);
MODEL_ON(graph_release_user_object);
MODEL_ON(array_3d_create);
MODEL_ON(array_3d_get_descriptor);
MODEL_ON(array_get_plane);
MODEL_ON(array_get_sparse_properties);
MODEL_ON(array_get_memory_requirements);
MODEL_ON(array_destroy);
MODEL_ON(mipmapped_array_create);
MODEL_ON(mipmapped_array_get_level);
MODEL_ON(mipmapped_array_get_sparse_properties);
MODEL_ON(mipmapped_array_get_memory_requirements);
MODEL_ON(mipmapped_array_destroy);
MODEL_ON(mem_map_array_async);
MODEL_ON(mem_alloc_managed);
MODEL_ON(mem_prefetch_async);
MODEL_ON(mem_advise);
MODEL_ON(mem_range_get_attribute);
MODEL_ON(stream_attach_mem_async);
MODEL_ON(mem_prefetch_batch_async);
MODEL_ON(mem_discard_batch_async);
MODEL_ON(mem_discard_and_prefetch_batch_async);

/* Every call that the model covers: X(name). */
#define MODEL_CALLS(X) \
    X(init) X(device_get_count) X(device_get) X(device_total_mem) X(device_can_access_peer) X(device_get_attribute) \
    X(device_primary_ctx_retain) X(device_primary_ctx_release) X(ctx_set_current) X(ctx_get_current) \
    X(ctx_get_device) X(mem_get_info) X(mem_free) X(mem_get_allocation_granularity) X(mem_create) X(mem_release) \
    X(mem_retain_allocation_handle) X(mem_get_allocation_properties_from_handle) X(mem_address_reserve) \
    X(mem_address_free) X(mem_map) X(mem_unmap) X(mem_set_access) X(mem_get_access) X(pointer_get_attribute) \
    X(pointer_get_attributes) X(mem_get_address_range) X(memcpy_htod) X(memcpy_dtoh) X(memcpy_dtod) X(memset_d8) \
    X(memset_d16) X(memset_d32) X(mem_get_handle_for_address_range) X(mem_export_to_shareable_handle) \
    X(mem_import_from_shareable_handle) X(stream_write_value32) X(stream_write_value64) X(stream_wait_value32) \
    X(stream_wait_value64) \
    X(stream_batch_mem_op) X(mem_alloc_async) X(mem_alloc_from_pool_async) X(mem_free_async) X(mem_pool_create) \
    X(mem_pool_destroy) X(device_get_default_mem_pool) X(device_get_mem_pool) X(device_set_mem_pool) \
    X(mem_get_default_mem_pool) X(mem_get_mem_pool) X(mem_set_mem_pool) X(mem_pool_set_attribute) \
    X(mem_pool_get_attribute) X(mem_pool_trim_to) X(mem_pool_set_access) X(mem_pool_get_access) \
    X(mem_pool_export_to_shareable_handle) X(mem_pool_import_from_shareable_handle) X(mem_pool_export_pointer) \
    X(mem_pool_import_pointer) X(stream_synchronize) X(stream_query) X(ctx_synchronize) X(event_record) \
    X(stream_wait_event) \
    X(memcpy_htod_async) X(memcpy_dtoh_async) X(memcpy_dtod_async) X(memset_d8_async) X(memset_d16_async) X(memset_d32_async) \
    X(memcpy_3d) X(memcpy_3d_async) X(memcpy_3d_peer) X(memcpy_3d_peer_async) \
    X(stream_begin_capture) X(stream_begin_capture_to_graph) X(stream_end_capture) X(stream_is_capturing) \
    X(stream_update_capture_dependencies) \
    X(graph_create) X(graph_destroy) X(graph_clone) X(graph_add_empty_node) X(graph_add_memset_node) X(graph_add_memcpy_node) \
    X(graph_add_host_node) X(graph_add_kernel_node) X(graph_add_child_graph_node) X(graph_add_event_record_node) \
    X(graph_add_event_wait_node) X(graph_destroy_node) X(graph_add_dependencies) X(graph_remove_dependencies) \
    X(graph_node_get_type) X(graph_node_find_in_clone) X(graph_child_graph_node_get_graph) \
    X(graph_event_record_node_get_event) X(graph_event_wait_node_get_event) X(graph_memset_node_set_params) X(graph_memcpy_node_set_params) \
    X(graph_memcpy_node_get_params) X(graph_kernel_node_set_params) X(graph_exec_kernel_node_set_params) \
    X(graph_host_node_set_params) X(graph_event_record_node_set_event) X(graph_event_wait_node_set_event) \
    X(graph_instantiate) X(graph_exec_get_flags) X(graph_exec_destroy) X(graph_exec_memset_node_set_params) \
    X(graph_exec_memcpy_node_set_params) X(graph_exec_event_record_node_set_event) X(graph_exec_event_wait_node_set_event) \
    X(graph_exec_host_node_set_params) X(graph_node_set_enabled) X(graph_node_get_enabled) X(graph_launch) \
    X(graph_upload) \
    X(stream_get_capture_info) X(thread_exchange_stream_capture_mode) X(graph_get_nodes) X(graph_get_root_nodes) \
    X(graph_get_edges) X(graph_node_get_dependencies) X(graph_node_get_dependent_nodes) X(graph_memset_node_get_params) \
    X(graph_host_node_get_params) X(graph_exec_update) X(device_get_graph_mem_attribute) \
    X(device_set_graph_mem_attribute) X(device_graph_mem_trim) X(user_object_create) X(user_object_retain) \
    X(user_object_release) X(graph_retain_user_object) X(graph_release_user_object) \
    X(array_3d_create) X(array_3d_get_descriptor) X(array_get_plane) X(array_get_sparse_properties) \
    X(array_get_memory_requirements) X(array_destroy) X(mipmapped_array_create) X(mipmapped_array_get_level) \
    X(mipmapped_array_get_sparse_properties) X(mipmapped_array_get_memory_requirements) X(mipmapped_array_destroy) \
    X(mem_map_array_async) X(mem_alloc_managed) X(mem_prefetch_async) X(mem_advise) X(mem_range_get_attribute) \
    X(stream_attach_mem_async) X(mem_prefetch_batch_async) X(mem_discard_batch_async) X(mem_discard_and_prefetch_batch_async)

#endif
