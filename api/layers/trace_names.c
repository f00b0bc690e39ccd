/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "trace_value.h"

void names_free(struct names *names)
{
    for (int kind = 0; kind < NAME_KINDS; kind++)
        heap.free(names->table[kind].entry);
    *names = (struct names){0};
}

/* The index of the first entry that ends after value. */
static size_t first_after(const struct names *names, enum name_kind kind, uint64_t value)
{
    size_t low = 0, high = names->table[kind].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct name_entry *entry = &names->table[kind].entry[middle];
        if (value >= entry->start && value - entry->start >= entry->size)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct name_entry *find(const struct names *names, enum name_kind kind, uint64_t value)
{
    size_t at = first_after(names, kind, value);
    if (at == names->table[kind].count || value < names->table[kind].entry[at].start)
        return NULL;
    return &names->table[kind].entry[at];
}

static void drop(struct names *names, enum name_kind kind, size_t at)
{
    struct name_entry *entry = names->table[kind].entry;
    memmove(entry + at, entry + at + 1, (names->table[kind].count - at - 1) * sizeof *entry);
    names->table[kind].count--;
}

static bool grow(struct names *names, enum name_kind kind)
{
    size_t room = names->table[kind].room;
    if (names->table[kind].count < room)
        return true;
    room = room ? room * 2 : 16;
    struct name_entry *entry = heap.realloc(names->table[kind].entry, room * sizeof *entry);
    if (!entry)
        return false;
    names->table[kind].entry = entry;
    names->table[kind].room = room;
    return true;
}

/* Adds a new object. Any object that it overlaps must have ended unseen, so that one's name is dropped. */
static bool add(struct names *names, enum name_kind kind, uint64_t start, uint64_t size)
{
    size_t at = first_after(names, kind, start);
    uint32_t number = ++names->table[kind].last;
    if (!start || !size)
        return true;
    if (at < names->table[kind].count && names->table[kind].entry[at].start < start)
        drop(names, kind, at);
    while (at < names->table[kind].count && names->table[kind].entry[at].start - start < size)
        drop(names, kind, at);
    if (!grow(names, kind))
        return false;
    struct name_entry *entry = names->table[kind].entry + at;
    memmove(entry + 1, entry, (names->table[kind].count - at) * sizeof *entry);
    *entry = (struct name_entry){start, size, kind == NAME_DESCRIPTOR ? trace_file(start) : 0, number};
    names->table[kind].count++;
    return true;
}

static bool add_once(struct names *names, enum name_kind kind, uint64_t value)
{
    return find(names, kind, value) || add(names, kind, value, 1);
}

static void end(struct names *names, enum name_kind kind, uint64_t value)
{
    const struct name_entry *entry = find(names, kind, value);
    if (entry && entry->start == value)
        drop(names, kind, (size_t)(entry - names->table[kind].entry));
}

static uint64_t pointer(const void *value)
{
    return (uint64_t)(uintptr_t)value;
}

/* What the calls of graphs made and ended. */
static bool learn_graphs(struct names *names, const union vmm_any_call *any)
{
#define NODE(name) \
    case VMM_CALL_graph_add_##name##_node: return add(names, NAME_NODE, pointer(*any->graph_add_##name##_node.graph_node), 1)
    switch ((enum vmm_call_id)any->head.id) {
    case VMM_CALL_stream_end_capture:
        return !any->stream_end_capture.graph || add_once(names, NAME_GRAPH, pointer(*any->stream_end_capture.graph));
    case VMM_CALL_stream_get_capture_info:
        return *any->stream_get_capture_info.capture_status_out != VMM_STREAM_CAPTURE_STATUS_ACTIVE ||
               !any->stream_get_capture_info.graph_out ||
               add_once(names, NAME_GRAPH, pointer(*any->stream_get_capture_info.graph_out));
    case VMM_CALL_user_object_create: return add(names, NAME_OBJECT, pointer(*any->user_object_create.object_out), 1);
    case VMM_CALL_graph_create: return add(names, NAME_GRAPH, pointer(*any->graph_create.graph), 1);
    case VMM_CALL_graph_clone: return add(names, NAME_GRAPH, pointer(*any->graph_clone.graph_clone), 1);
    case VMM_CALL_graph_child_graph_node_get_graph:
        return add_once(names, NAME_GRAPH, pointer(*any->graph_child_graph_node_get_graph.graph));
    case VMM_CALL_graph_node_find_in_clone: return add_once(names, NAME_NODE, pointer(*any->graph_node_find_in_clone.node));
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
    case VMM_CALL_graph_instantiate: return add(names, NAME_EXEC, pointer(*any->graph_instantiate.graph_exec), 1);
    case VMM_CALL_graph_exec_destroy: end(names, NAME_EXEC, pointer(any->graph_exec_destroy.graph_exec)); return true;
    default: return true;
    }
#undef NODE
}

/* A handle that another process can import: a descriptor, or the bytes of a fabric handle. */
static bool learn_export(struct names *names, const void *handle, bool fabric)
{
    int fd;
    if (fabric)
        return add_once(names, NAME_DESCRIPTOR, trace_fabric(handle));
    memcpy(&fd, handle, sizeof fd);
    end(names, NAME_DESCRIPTOR, (uint64_t)fd); /* the old file was closed, or its number would not be reused */
    return fd < 0 || add(names, NAME_DESCRIPTOR, (uint64_t)fd, 1);
}

bool names_learn(struct names *names, const struct vmm_call *call)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    switch ((enum vmm_call_id)call->id) {
    case VMM_CALL_mem_create:
        return add(names, NAME_HANDLE, *any->mem_create.handle, 1);
    case VMM_CALL_mem_import_from_shareable_handle:
        return add(names, NAME_HANDLE, *any->mem_import_from_shareable_handle.handle, 1);
    case VMM_CALL_mem_export_to_shareable_handle:
        return learn_export(names, any->mem_export_to_shareable_handle.shareable_handle, trace_is_fabric(call));
    case VMM_CALL_mem_pool_export_to_shareable_handle:
        return learn_export(names, any->mem_pool_export_to_shareable_handle.handle_out, trace_is_fabric(call));
    case VMM_CALL_multicast_create:
        return add(names, NAME_HANDLE, *any->multicast_create.mc_handle, 1);
    case VMM_CALL_mem_retain_allocation_handle:
        return add_once(names, NAME_HANDLE, *any->mem_retain_allocation_handle.handle);
    case VMM_CALL_mem_address_reserve:
        return add(names, NAME_RESERVATION, *any->mem_address_reserve.ptr, any->mem_address_reserve.size);
    case VMM_CALL_mem_address_free:
        end(names, NAME_RESERVATION, any->mem_address_free.ptr);
        return true;
    case VMM_CALL_mem_alloc:
        return add(names, NAME_ALLOCATION, *any->mem_alloc.dptr, any->mem_alloc.bytesize);
    case VMM_CALL_mem_free:
        end(names, NAME_ALLOCATION, any->mem_free.dptr);
        return true;
    case VMM_CALL_ipc_get_mem_handle:
        return add_once(names, NAME_DESCRIPTOR, trace_fabric(any->ipc_get_mem_handle.p_handle));
    case VMM_CALL_ipc_get_event_handle:
        return add_once(names, NAME_DESCRIPTOR, trace_fabric(any->ipc_get_event_handle.p_handle));
    case VMM_CALL_ipc_open_event_handle:
        return add(names, NAME_EVENT, pointer(*any->ipc_open_event_handle.event), 1);
    case VMM_CALL_ipc_open_mem_handle: /* its size is unknown; opened again it has the same address */
        return add_once(names, NAME_ALLOCATION, *any->ipc_open_mem_handle.pdptr);
    case VMM_CALL_mem_alloc_async:
        return add(names, NAME_ALLOCATION, *any->mem_alloc_async.dptr, any->mem_alloc_async.bytesize);
    case VMM_CALL_mem_alloc_from_pool_async:
        return add(names, NAME_ALLOCATION, *any->mem_alloc_from_pool_async.dptr, any->mem_alloc_from_pool_async.bytesize);
    case VMM_CALL_mem_free_async:
        end(names, NAME_ALLOCATION, any->mem_free_async.dptr);
        return true;
    case VMM_CALL_mem_pool_create:
        return add(names, NAME_POOL, pointer(*any->mem_pool_create.pool), 1);
    case VMM_CALL_mem_pool_import_from_shareable_handle:
        return add(names, NAME_POOL, pointer(*any->mem_pool_import_from_shareable_handle.pool_out), 1);
    case VMM_CALL_device_get_default_mem_pool:
        return add_once(names, NAME_POOL, pointer(*any->device_get_default_mem_pool.pool_out));
    case VMM_CALL_device_get_mem_pool:
        return add_once(names, NAME_POOL, pointer(*any->device_get_mem_pool.pool));
    case VMM_CALL_mem_get_default_mem_pool:
        return add_once(names, NAME_POOL, pointer(*any->mem_get_default_mem_pool.pool_out));
    case VMM_CALL_mem_get_mem_pool:
        return add_once(names, NAME_POOL, pointer(*any->mem_get_mem_pool.pool));
    case VMM_CALL_mem_pool_destroy:
        end(names, NAME_POOL, pointer(any->mem_pool_destroy.pool));
        return true;
    case VMM_CALL_mem_pool_import_pointer:
        return add(names, NAME_ALLOCATION, *any->mem_pool_import_pointer.ptr_out, 1);
    case VMM_CALL_array_3d_create:
        return add(names, NAME_ARRAY, pointer(*any->array_3d_create.p_handle), 1);
    case VMM_CALL_mipmapped_array_create:
        return add(names, NAME_ARRAY, pointer(*any->mipmapped_array_create.p_handle), 1);
    case VMM_CALL_mipmapped_array_get_level:
        return add_once(names, NAME_ARRAY, pointer(*any->mipmapped_array_get_level.p_level_array));
    case VMM_CALL_array_get_plane:
        return add_once(names, NAME_ARRAY, pointer(*any->array_get_plane.p_plane_array));
    case VMM_CALL_array_destroy:
        end(names, NAME_ARRAY, pointer(any->array_destroy.h_array));
        return true;
    case VMM_CALL_mipmapped_array_destroy:
        end(names, NAME_ARRAY, pointer(any->mipmapped_array_destroy.h_mipmapped_array));
        return true;
    case VMM_CALL_mem_alloc_managed:
        return add(names, NAME_ALLOCATION, *any->mem_alloc_managed.dptr, any->mem_alloc_managed.bytesize);
    case VMM_CALL_ctx_create:
        return add(names, NAME_CONTEXT, pointer(*any->ctx_create.pctx), 1);
    case VMM_CALL_device_primary_ctx_retain:
        return add_once(names, NAME_CONTEXT, pointer(*any->device_primary_ctx_retain.pctx));
    case VMM_CALL_ctx_destroy:
        end(names, NAME_CONTEXT, pointer(any->ctx_destroy.ctx));
        return true;
    case VMM_CALL_stream_create:
        return add(names, NAME_STREAM, pointer(*any->stream_create.stream), 1);
    case VMM_CALL_stream_destroy:
        end(names, NAME_STREAM, pointer(any->stream_destroy.stream));
        return true;
    case VMM_CALL_event_create:
        return add(names, NAME_EVENT, pointer(*any->event_create.event), 1);
    case VMM_CALL_event_destroy:
        end(names, NAME_EVENT, pointer(any->event_destroy.event));
        return true;
    default:
        return learn_graphs(names, any);
    }
}

static bool address_name(const struct names *names, uint64_t value, char text[NAME_MAX_TEXT])
{
    char letter = 'R';
    const struct name_entry *entry = find(names, NAME_RESERVATION, value);
    if (!entry) {
        letter = 'A';
        entry = find(names, NAME_ALLOCATION, value);
    }
    if (!entry)
        return false;
    if (value == entry->start)
        snprintf(text, NAME_MAX_TEXT, "%c%" PRIu32, letter, entry->number);
    else
        snprintf(text, NAME_MAX_TEXT, "%c%" PRIu32 "+0x%" PRIx64, letter, entry->number, value - entry->start);
    return true;
}

bool names_find(const struct names *names, enum vmm_param_kind kind, uint64_t value, char text[NAME_MAX_TEXT])
{
    const struct name_entry *entry = NULL;
    char letter = 'H';
    switch (kind) {
    case VMM_PARAM_ADDRESS:
    case VMM_PARAM_OUT_ADDRESS:
        return address_name(names, value, text);
    case VMM_PARAM_HANDLE:
    case VMM_PARAM_OUT_HANDLE:
        entry = find(names, NAME_HANDLE, value);
        break;
    case VMM_PARAM_CONTEXT:
    case VMM_PARAM_OUT_CONTEXT:
        letter = 'C';
        entry = find(names, NAME_CONTEXT, value);
        break;
    case VMM_PARAM_FD:
    case VMM_PARAM_OUT_FD:
    case VMM_PARAM_IPC_HANDLE:
    case VMM_PARAM_OUT_IPC_HANDLE:
        letter = 'D';
        entry = find(names, NAME_DESCRIPTOR, value);
        if (entry && entry->file != trace_file(value))
            entry = NULL;
        break;
    case VMM_PARAM_STREAM:
    case VMM_PARAM_OUT_STREAM:
        letter = 'S';
        entry = find(names, NAME_STREAM, value);
        break;
    case VMM_PARAM_EVENT:
    case VMM_PARAM_OUT_EVENT:
        letter = 'E';
        entry = find(names, NAME_EVENT, value);
        break;
    case VMM_PARAM_POOL:
    case VMM_PARAM_OUT_POOL:
        letter = 'P';
        entry = find(names, NAME_POOL, value);
        break;
    case VMM_PARAM_ARRAY:
    case VMM_PARAM_OUT_ARRAY:
        letter = 'Y';
        entry = find(names, NAME_ARRAY, value);
        break;
    case VMM_PARAM_GRAPH:
    case VMM_PARAM_OUT_GRAPH:
        letter = 'G';
        entry = find(names, NAME_GRAPH, value);
        break;
    case VMM_PARAM_GRAPH_NODE:
    case VMM_PARAM_OUT_GRAPH_NODE:
        letter = 'N';
        entry = find(names, NAME_NODE, value);
        break;
    case VMM_PARAM_GRAPH_EXEC:
    case VMM_PARAM_OUT_GRAPH_EXEC:
        letter = 'X';
        entry = find(names, NAME_EXEC, value);
        break;
    case VMM_PARAM_USER_OBJECT:
    case VMM_PARAM_OUT_USER_OBJECT:
        letter = 'U';
        entry = find(names, NAME_OBJECT, value);
        break;
    default:
        break;
    }
    if (!entry)
        return false;
    snprintf(text, NAME_MAX_TEXT, "%c%" PRIu32, letter, entry->number);
    return true;
}
