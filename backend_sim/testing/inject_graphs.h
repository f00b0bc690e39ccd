/* SPDX-License-Identifier: Apache-2.0 */
/* inject_graphs.h - steps of inject_test.c: a capture, a graph of each kind of node, its update and launch. */
#ifndef SIM_INJECT_GRAPHS_H
#define SIM_INJECT_GRAPHS_H

#include "inject_calls.h"

/* ---- captures and graphs ---- */

static void call_me(void *user)
{
    ++*(unsigned *)user;
}

static void capture(vmm_system *sys, vmm_deviceptr p, vmm_graph *graph)
{
    vmm_stream one = NULL, two = NULL;
    vmm_event event = NULL, back = NULL;
    vmm_stream_capture_status status = 0;
    vmm_graph_node listed = NULL;
    static uint64_t word = 5;
    const uint64_t args[] = {p, 64, 9};
    const vmm_memcpy3d box = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = p, .dst_memory_type = VMM_MEMORYTYPE_DEVICE,
                              .dst_device = p + 1024, .width_in_bytes = 8, .height = 2, .depth = 1};
    GET(one, stream_create, sys, &one, VMM_STREAM_NON_BLOCKING);
    GET(two, stream_create, sys, &two, VMM_STREAM_NON_BLOCKING);
    GET(event, event_create, sys, &event, 0);
    GET(back, event_create, sys, &back, 0);
    STEP(stream_begin_capture, sys, one, VMM_STREAM_CAPTURE_MODE_RELAXED);
    GET(status, stream_is_capturing, sys, one, &status);
    GET(*graph, stream_end_capture, sys, one, graph);
    GET(listed, graph_add_empty_node, sys, &listed, *graph, NULL, 0);
    STEP(stream_begin_capture_to_graph, sys, one, *graph, NULL, NULL, 0, VMM_STREAM_CAPTURE_MODE_RELAXED);
    STEP(memset_d8_async, sys, p, 1, 64, one);
    STEP(memcpy_htod_async, sys, p, &word, sizeof word, one);
    STEP(memcpy_3d_async, sys, &box, one);
    STEP(launch, sys, VMM_KERNEL_FILL, 1, 32, args, 3, one);
    STEP(stream_update_capture_dependencies, sys, one, &listed, NULL, 1, VMM_STREAM_ADD_CAPTURE_DEPENDENCIES);
    vmm_stream_capture_mode mode = VMM_STREAM_CAPTURE_MODE_GLOBAL;
    const vmm_graph_node *reached = NULL;
    uint64_t count = 0;
    STEP(stream_get_capture_info, sys, one, &status, NULL, NULL, &reached, NULL, &count);
    STEP(thread_exchange_stream_capture_mode, sys, &mode);
    STEP(event_record, sys, event, one);
    STEP(stream_wait_event, sys, two, event, 0);
    STEP(memcpy_dtod_async, sys, p + 64, p, 64, two);
    STEP(event_record, sys, back, two);
    STEP(stream_wait_event, sys, one, back, 0);
    GET(*graph, stream_end_capture, sys, one, graph);
    STEP(event_destroy, sys, back);
    STEP(event_destroy, sys, event);
    STEP(stream_destroy, sys, two);
    STEP(stream_destroy, sys, one);
}

static void nodes(vmm_system *sys, vmm_deviceptr p, vmm_graph graph, vmm_event event, unsigned *calls)
{
    vmm_graph_node first = NULL, fill = NULL, host = NULL, kernel = NULL, none = NULL, child = NULL, record = NULL, wait = NULL,
                   copy = NULL;
    const vmm_memcpy3d box = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = p, .dst_memory_type = VMM_MEMORYTYPE_DEVICE,
                              .dst_device = p + 1024, .width_in_bytes = 8, .height = 2, .depth = 1};
    vmm_memcpy3d held = {.depth = 0};
    vmm_graph inner = NULL;
    vmm_graph_node_type type = 0;
    const uint64_t args[] = {p, 64, 9};
    const vmm_memset_node_params rows = {.dst = p, .pitch = 128, .value = 3, .element_size = 4, .width = 16, .height = 2};
    const vmm_host_node_params call = {call_me, calls};
    const vmm_kernel_node_params launch = {VMM_KERNEL_FILL, 1, 32, args, 3};
    GET(first, graph_add_memset_node, sys, &first, graph, NULL, 0, &rows, NULL);
    GET(copy, graph_add_memcpy_node, sys, &copy, graph, &first, 1, &box, NULL);
    GET(host, graph_add_host_node, sys, &host, graph, &first, 1, &call);
    GET(kernel, graph_add_kernel_node, sys, &kernel, graph, &host, 1, &launch);
    GET(none, graph_add_empty_node, sys, &none, graph, NULL, 0);
    GET(record, graph_add_event_record_node, sys, &record, graph, &kernel, 1, event);
    GET(wait, graph_add_event_wait_node, sys, &wait, graph, &record, 1, event);
    GET(inner, graph_create, sys, &inner, 0);
    GET(fill, graph_add_memset_node, sys, &fill, inner, NULL, 0, &rows, NULL);
    GET(child, graph_add_child_graph_node, sys, &child, graph, NULL, 0, inner);
    GET(type, graph_node_get_type, sys, fill, &type);
    vmm_memset_node_params told = {.width = 0};
    GET(told.width, graph_memset_node_get_params, sys, fill, &told);
    STEP(graph_destroy, sys, inner);
    const vmm_graph_node from[] = {none, none, none}, to[] = {host, kernel, child};
    STEP(graph_add_dependencies, sys, graph, from, to, NULL, 3);
    STEP(graph_remove_dependencies, sys, graph, from, to, NULL, 1);
    GET(type, graph_node_get_type, sys, child, &type);
    steps_expect(type == VMM_GRAPH_NODE_TYPE_GRAPH, "the node holds a graph");
    STEP(graph_destroy_node, sys, none);
    GET(inner, graph_child_graph_node_get_graph, sys, child, &inner);
    STEP(graph_memset_node_set_params, sys, first, &rows);
    STEP(graph_memcpy_node_set_params, sys, copy, &box);
    GET(held.depth, graph_memcpy_node_get_params, sys, copy, &held);
    STEP(graph_kernel_node_set_params, sys, kernel, &launch);
    STEP(graph_host_node_set_params, sys, host, &call);
    STEP(graph_event_record_node_set_event, sys, record, event);
    STEP(graph_event_wait_node_set_event, sys, wait, event);
    GET(event, graph_event_record_node_get_event, sys, record, &event);
    GET(event, graph_event_wait_node_get_event, sys, wait, &event);
    GET(inner, graph_clone, sys, &inner, graph);
    GET(none, graph_node_find_in_clone, sys, &none, host, inner);
    STEP(graph_destroy, sys, inner);
    vmm_graph_exec exec = NULL;
    unsigned enabled = 0;
    GET(exec, graph_instantiate, sys, &exec, graph, 0);
    STEP(graph_exec_memset_node_set_params, sys, exec, first, &rows, NULL);
    STEP(graph_exec_memcpy_node_set_params, sys, exec, copy, &box, NULL);
    STEP(graph_exec_kernel_node_set_params, sys, exec, kernel, &launch);
    STEP(graph_exec_host_node_set_params, sys, exec, host, &call);
    STEP(graph_exec_event_record_node_set_event, sys, exec, record, event);
    STEP(graph_exec_event_wait_node_set_event, sys, exec, wait, event);
    GET(inner, graph_child_graph_node_get_graph, sys, child, &inner);
    STEP(graph_exec_child_graph_node_set_params, sys, exec, child, inner);
    STEP(graph_node_set_enabled, sys, exec, first, 1);
    GET(enabled, graph_node_get_enabled, sys, exec, first, &enabled);
    STEP(graph_exec_destroy, sys, exec);
}

/* Queries of a graph, and the program's data that it holds. */
static void questions(vmm_system *sys, vmm_graph graph, vmm_graph_exec exec, unsigned *calls)
{
    vmm_graph_node list[4] = {NULL}, to[4];
    vmm_graph_edge_data data[4];
    static unsigned ends; /* with the instance, which outlives this function */
    vmm_user_object object = NULL;
    vmm_graph inner = NULL;
    vmm_graph_node host = NULL;
    vmm_host_node_params function = {NULL, NULL};
    vmm_graph_exec_update_result_info info;
    const vmm_host_node_params call = {call_me, calls};
    uint64_t count = 4, zero = 0, value = 0;
    STEP(graph_get_nodes, sys, graph, list, &count);
    STEP(graph_get_root_nodes, sys, graph, NULL, &count);
    count = 4;
    STEP(graph_get_edges, sys, graph, list, to, data, &count);
    STEP(graph_node_get_dependencies, sys, to[0], NULL, NULL, &count);
    STEP(graph_node_get_dependent_nodes, sys, to[0], NULL, NULL, &count);
    GET(object, user_object_create, sys, &object, &ends, call_me, 1, VMM_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    STEP(graph_retain_user_object, sys, graph, object, 1, VMM_GRAPH_USER_OBJECT_MOVE);
    STEP(graph_exec_update, sys, exec, graph, &info);
    STEP(device_get_graph_mem_attribute, sys, 0, VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value);
    STEP(device_set_graph_mem_attribute, sys, 0, VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero);
    STEP(device_graph_mem_trim, sys, 0);
    GET(inner, graph_create, sys, &inner, 0);
    GET(host, graph_add_host_node, sys, &host, inner, NULL, 0, &call);
    STEP(graph_host_node_get_params, sys, host, &function);
    unsigned ended = 0;
    object = NULL;
    GET(object, user_object_create, sys, &object, &ended, call_me, 1, VMM_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    STEP(user_object_retain, sys, object, 1);
    STEP(graph_retain_user_object, sys, inner, object, 2, VMM_GRAPH_USER_OBJECT_MOVE);
    vmm_graph copy = NULL;
    GET(copy, graph_clone, sys, &copy, inner);
    STEP(graph_release_user_object, sys, inner, object, 2);
    STEP(user_object_retain, sys, object, 1);
    STEP(user_object_release, sys, object, 1);
    STEP(graph_destroy, sys, inner);
    steps_expect(!ended, "the copy refers to the object");
    STEP(graph_destroy, sys, copy);
    steps_expect(ended == 1, "the object was destroyed with the last graph");
}

static void graphs(const char *spec)
{
    vmm_context ctx = NULL;
    vmm_deviceptr p = 0;
    vmm_graph graph = NULL, clone = NULL;
    vmm_graph_exec exec = NULL;
    vmm_event event = NULL;
    uint64_t flags = 0;
    unsigned calls = 0;
    vmm_system *sys = opened(spec);
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    GET(p, mem_alloc, sys, &p, 4096);
    GET(event, event_create, sys, &event, 0);
    capture(sys, p, &graph);
    nodes(sys, p, graph, event, &calls);
    GET(clone, graph_clone, sys, &clone, graph);
    GET(exec, graph_instantiate, sys, &exec, clone, 0);
    GET(flags, graph_exec_get_flags, sys, exec, &flags);
    questions(sys, clone, exec, &calls);
    STEP(graph_destroy, sys, graph);
    STEP(graph_destroy, sys, clone);
    STEP(graph_upload, sys, exec, NULL);
    STEP(graph_launch, sys, exec, NULL);
    STEP(ctx_synchronize, sys);
    steps_expect(calls, "the host function of the graph was called");
    STEP(graph_exec_destroy, sys, exec);
    STEP(event_destroy, sys, event);
    STEP(mem_free, sys, p);
    STEP(ctx_destroy, sys, ctx);
    close_all();
}

#endif
