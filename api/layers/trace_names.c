/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace_value.h"

#define ENDED (UINT64_C(1) << 32) /* kept beside the number, for objects that can still be found */

void names_free(struct names *names)
{
    for (int kind = 0; kind < NAME_KINDS; kind++)
        spans_clear(&names->object[kind]);
    *names = (struct names){.keeps = names->keeps};
}

/* ---- objects ---- */

/* Any object that a new one overlaps must have ended unnoticed. */
static void end_overlapped(struct names *names, enum name_kind kind, uint64_t start, uint64_t size)
{
    struct spans *spans = &names->object[kind];
    struct span *span = spans_from(spans, start);
    while (span && (span->start <= start || span->start - start < size)) {
        const uint64_t last = span_last(span);
        if (names->keeps)
            span->value |= ENDED;
        else
            spans_drop(spans, span);
        span = last == UINT64_MAX ? NULL : spans_from(spans, last + 1);
    }
}

static bool add(struct names *names, enum name_kind kind, uint64_t start, uint64_t size)
{
    uint32_t number = ++names->last[kind];
    if (!start || !size)
        return true;
    end_overlapped(names, kind, start, size);
    return spans_put(&names->object[kind], start, size, number);
}

static struct span *live_at(struct names *names, enum name_kind kind, uint64_t value)
{
    struct span *span = spans_at(&names->object[kind], value);
    return span && !(span->value & ENDED) ? span : NULL;
}

static bool add_once(struct names *names, enum name_kind kind, uint64_t value)
{
    return live_at(names, kind, value) || add(names, kind, value, 1);
}

static void end(struct names *names, enum name_kind kind, uint64_t value)
{
    struct span *span = live_at(names, kind, value);
    if (!span || span->start != value)
        return;
    if (names->keeps)
        span->value |= ENDED;
    else
        spans_drop(&names->object[kind], span);
}

/* ---- calls ---- */

/* An object's value as a number, and the value that an output points to: 0 if there is none, as in a malformed trace. */
static uint64_t pointer(const void *value)
{
    return (uint64_t)(uintptr_t)value;
}
#define MADE(output) ((output) ? pointer(*(output)) : 0)
#define MADE_AT(output) ((output) ? *(output) : 0)

/* What graph calls created and ended. */
static bool learn_graphs(struct names *names, const union vmm_any_call *any)
{
#define NODE(name) \
    case VMM_CALL_graph_add_##name##_node: return add(names, NAME_NODE, MADE(any->graph_add_##name##_node.graph_node), 1)
    switch ((enum vmm_call_id)any->head.id) {
    case VMM_CALL_stream_end_capture:
        return !any->stream_end_capture.graph || add_once(names, NAME_GRAPH, pointer(*any->stream_end_capture.graph));
    case VMM_CALL_stream_get_capture_info:
        return !trace_writes(&any->head, VMM_PARAM_OUT_GRAPH) || !any->stream_get_capture_info.graph_out ||
               add_once(names, NAME_GRAPH, pointer(*any->stream_get_capture_info.graph_out));
    case VMM_CALL_user_object_create: return add(names, NAME_OBJECT, MADE(any->user_object_create.object_out), 1);
    case VMM_CALL_graph_create: return add(names, NAME_GRAPH, MADE(any->graph_create.graph), 1);
    case VMM_CALL_graph_clone: return add(names, NAME_GRAPH, MADE(any->graph_clone.graph_clone), 1);
    case VMM_CALL_graph_child_graph_node_get_graph:
        return add_once(names, NAME_GRAPH, MADE(any->graph_child_graph_node_get_graph.graph));
    case VMM_CALL_graph_node_find_in_clone: return add_once(names, NAME_NODE, MADE(any->graph_node_find_in_clone.node));
    case VMM_CALL_graph_destroy: end(names, NAME_GRAPH, pointer(any->graph_destroy.graph)); return true;
    NODE(empty);
    NODE(memset);
    NODE(memcpy);
    NODE(host);
    NODE(kernel);
    NODE(child_graph);
    NODE(event_record);
    NODE(event_wait);
    case VMM_CALL_graph_destroy_node: end(names, NAME_NODE, pointer(any->graph_destroy_node.node)); return true;
    case VMM_CALL_graph_instantiate: return add(names, NAME_EXEC, MADE(any->graph_instantiate.graph_exec), 1);
    case VMM_CALL_graph_exec_destroy: end(names, NAME_EXEC, pointer(any->graph_exec_destroy.graph_exec)); return true;
    default: return true;
    }
#undef NODE
}

/* Managed memory, and arrays with what belongs to them. */
static bool learn_arrays(struct names *names, const union vmm_any_call *any)
{
    switch ((enum vmm_call_id)any->head.id) {
    case VMM_CALL_mem_alloc_managed:
        return add(names, NAME_ALLOCATION, MADE_AT(any->mem_alloc_managed.dptr), any->mem_alloc_managed.bytesize);
    case VMM_CALL_array_3d_create: return add(names, NAME_ARRAY, MADE(any->array_3d_create.p_handle), 1);
    case VMM_CALL_mipmapped_array_create: return add(names, NAME_ARRAY, MADE(any->mipmapped_array_create.p_handle), 1);
    case VMM_CALL_mipmapped_array_get_level:
        return add_once(names, NAME_ARRAY, MADE(any->mipmapped_array_get_level.p_level_array));
    case VMM_CALL_array_get_plane: return add_once(names, NAME_ARRAY, MADE(any->array_get_plane.p_plane_array));
    case VMM_CALL_array_destroy: end(names, NAME_ARRAY, pointer(any->array_destroy.h_array)); return true;
    case VMM_CALL_mipmapped_array_destroy:
        end(names, NAME_ARRAY, pointer(any->mipmapped_array_destroy.h_mipmapped_array));
        return true;
    default: return learn_graphs(names, any);
    }
}

static bool learn_pools(struct names *names, const union vmm_any_call *any)
{
    switch ((enum vmm_call_id)any->head.id) {
    case VMM_CALL_mem_alloc_async:
        return add(names, NAME_ALLOCATION, MADE_AT(any->mem_alloc_async.dptr), any->mem_alloc_async.bytesize);
    case VMM_CALL_mem_alloc_from_pool_async:
        return add(names, NAME_ALLOCATION, MADE_AT(any->mem_alloc_from_pool_async.dptr), any->mem_alloc_from_pool_async.bytesize);
    case VMM_CALL_mem_free_async:
        end(names, NAME_ALLOCATION, any->mem_free_async.dptr);
        return true;
    case VMM_CALL_mem_pool_create:
        return add(names, NAME_POOL, MADE(any->mem_pool_create.pool), 1);
    case VMM_CALL_mem_pool_import_from_shareable_handle:
        return add(names, NAME_POOL, MADE(any->mem_pool_import_from_shareable_handle.pool_out), 1);
    case VMM_CALL_device_get_default_mem_pool:
        return add_once(names, NAME_POOL, MADE(any->device_get_default_mem_pool.pool_out));
    case VMM_CALL_device_get_mem_pool:
        return add_once(names, NAME_POOL, MADE(any->device_get_mem_pool.pool));
    case VMM_CALL_mem_get_default_mem_pool:
        return add_once(names, NAME_POOL, MADE(any->mem_get_default_mem_pool.pool_out));
    case VMM_CALL_mem_get_mem_pool:
        return add_once(names, NAME_POOL, MADE(any->mem_get_mem_pool.pool));
    case VMM_CALL_mem_pool_destroy:
        end(names, NAME_POOL, pointer(any->mem_pool_destroy.pool));
        return true;
    case VMM_CALL_mem_pool_import_pointer:
        return add(names, NAME_ALLOCATION, MADE_AT(any->mem_pool_import_pointer.ptr_out), 1);
    default:
        return learn_arrays(names, any);
    }
}

bool names_learn(struct names *names, const struct trace_event *event)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)event->call;
    if (!trace_event_done(event))
        return true;
    switch ((enum vmm_call_id)any->head.id) {
    case VMM_CALL_mem_map: /* creates and ends nothing that has a name; nor do the next ones, which make up most calls */
    case VMM_CALL_mem_unmap:
    case VMM_CALL_mem_set_access:
    case VMM_CALL_mem_release:
        return true;
    case VMM_CALL_mem_create:
        return add(names, NAME_HANDLE, MADE_AT(any->mem_create.handle), 1);
    case VMM_CALL_mem_import_from_shareable_handle:
        return add(names, NAME_HANDLE, MADE_AT(any->mem_import_from_shareable_handle.handle), 1);
    case VMM_CALL_multicast_create:
        return add(names, NAME_HANDLE, MADE_AT(any->multicast_create.mc_handle), 1);
    case VMM_CALL_mem_retain_allocation_handle:
        return add_once(names, NAME_HANDLE, MADE_AT(any->mem_retain_allocation_handle.handle));
    case VMM_CALL_mem_address_reserve:
        return add(names, NAME_RESERVATION, MADE_AT(any->mem_address_reserve.ptr), any->mem_address_reserve.size);
    case VMM_CALL_mem_address_free:
        end(names, NAME_RESERVATION, any->mem_address_free.ptr);
        return true;
    case VMM_CALL_mem_alloc:
        return add(names, NAME_ALLOCATION, MADE_AT(any->mem_alloc.dptr), any->mem_alloc.bytesize);
    case VMM_CALL_mem_free:
        end(names, NAME_ALLOCATION, any->mem_free.dptr);
        return true;
    case VMM_CALL_ipc_open_event_handle:
        return add(names, NAME_EVENT, MADE(any->ipc_open_event_handle.event), 1);
    case VMM_CALL_ipc_open_mem_handle: /* its size is unknown; if opened again it has the same address */
        return add_once(names, NAME_ALLOCATION, MADE_AT(any->ipc_open_mem_handle.pdptr));
    case VMM_CALL_ctx_create:
        return add(names, NAME_CONTEXT, MADE(any->ctx_create.pctx), 1);
    case VMM_CALL_device_primary_ctx_retain:
        return add_once(names, NAME_CONTEXT, MADE(any->device_primary_ctx_retain.pctx));
    case VMM_CALL_ctx_destroy:
        end(names, NAME_CONTEXT, pointer(any->ctx_destroy.ctx));
        return true;
    case VMM_CALL_stream_create:
        return add(names, NAME_STREAM, MADE(any->stream_create.stream), 1);
    case VMM_CALL_stream_destroy:
        end(names, NAME_STREAM, pointer(any->stream_destroy.stream));
        return true;
    case VMM_CALL_event_create:
        return add(names, NAME_EVENT, MADE(any->event_create.event), 1);
    case VMM_CALL_event_destroy:
        end(names, NAME_EVENT, pointer(any->event_destroy.event));
        return true;
    default:
        return learn_pools(names, any);
    }
}

/* ---- finding ---- */

static bool find(struct names *names, enum name_kind kind, uint64_t value, struct name *name)
{
    const struct span *span = spans_at(&names->object[kind], value);
    if (!span)
        return false;
    *name = (struct name){kind, (uint32_t)span->value, value - span->start, (span->value & ENDED) != 0};
    return true;
}

/* The kind that a parameter names; an address names a reservation or an allocation. */
static enum name_kind named_by(enum vmm_param_kind kind)
{
    switch (kind) {
    case VMM_PARAM_HANDLE:
    case VMM_PARAM_OUT_HANDLE: return NAME_HANDLE;
    case VMM_PARAM_CONTEXT:
    case VMM_PARAM_OUT_CONTEXT: return NAME_CONTEXT;
    case VMM_PARAM_STREAM:
    case VMM_PARAM_OUT_STREAM: return NAME_STREAM;
    case VMM_PARAM_EVENT:
    case VMM_PARAM_OUT_EVENT: return NAME_EVENT;
    case VMM_PARAM_POOL:
    case VMM_PARAM_OUT_POOL: return NAME_POOL;
    case VMM_PARAM_ARRAY:
    case VMM_PARAM_OUT_ARRAY: return NAME_ARRAY;
    case VMM_PARAM_GRAPH:
    case VMM_PARAM_OUT_GRAPH: return NAME_GRAPH;
    case VMM_PARAM_GRAPH_NODE:
    case VMM_PARAM_OUT_GRAPH_NODE: return NAME_NODE;
    case VMM_PARAM_GRAPH_EXEC:
    case VMM_PARAM_OUT_GRAPH_EXEC: return NAME_EXEC;
    case VMM_PARAM_USER_OBJECT:
    case VMM_PARAM_OUT_USER_OBJECT: return NAME_OBJECT;
    default: return NAME_KINDS;
    }
}

/* Live objects are found before ended ones. */
static bool find_address(struct names *names, uint64_t value, struct name *name)
{
    struct name other;
    if (!find(names, NAME_RESERVATION, value, name))
        return find(names, NAME_ALLOCATION, value, name);
    if (name->ended && find(names, NAME_ALLOCATION, value, &other) && !other.ended)
        *name = other;
    return true;
}

bool names_find(struct names *names, enum vmm_param_kind kind, uint64_t value, struct name *name)
{
    if (kind == VMM_PARAM_ADDRESS || kind == VMM_PARAM_OUT_ADDRESS)
        return find_address(names, value, name);
    return named_by(kind) != NAME_KINDS && find(names, named_by(kind), value, name);
}

static const char letters[] = "RAHCSEPYGNXUD";
_Static_assert(sizeof letters == NAME_KINDS + 1, "a letter for each kind");

enum name_kind name_kind_of(char letter)
{
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? (enum name_kind)(at - letters) : NAME_KINDS;
}

void name_text(const struct name *name, char text[NAME_MAX_TEXT])
{
    const char letter = letters[name->kind];
    if (name->offset)
        snprintf(text, NAME_MAX_TEXT, "%c%" PRIu32 "+0x%" PRIx64, letter, name->number, name->offset);
    else
        snprintf(text, NAME_MAX_TEXT, "%c%" PRIu32, letter, name->number);
}
