/* SPDX-License-Identifier: Apache-2.0 */
/* What graphs and captures tell: lists of nodes and dependencies, what nodes hold, the memory of graphs; and updates of
 * instances. */
#include <string.h>

#include "test.h"
#include "zeros.h"

static vmm_graph made(struct fix *f)
{
    vmm_graph graph = NULL;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    return graph;
}

static vmm_graph_node empty_after(struct fix *f, vmm_graph graph, const vmm_graph_node *on, uint64_t count)
{
    vmm_graph_node node = NULL;
    ACCEPTED(vmm_graph_add_empty_node(S, &node, graph, on, count));
    return node;
}

static vmm_graph_node add_fill(struct fix *f, vmm_graph graph, const vmm_memset_node_params *fill)
{
    vmm_graph_node node = NULL;
    ACCEPTED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, fill, f->ctx));
    return node;
}

static void nothing(void *user)
{
    (void)user;
}

/* ---- lists ---- */

TEST_BREAKS(GRAPH_LIST, lists_with_room_for_nothing)
{
    vmm_graph graph = made(f);
    vmm_graph_node node = empty_after(f, graph, NULL, 0), list[2] = {node, node}, other[2] = {node, node};
    uint64_t count = 0;
    REFUSED(vmm_graph_get_nodes(S, graph, list, &count), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_get_root_nodes(S, graph, list, &count), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_get_edges(S, graph, list, other, NULL, &count), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_node_get_dependencies(S, node, list, NULL, &count), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_node_get_dependent_nodes(S, node, list, NULL, &count), INVALID_VALUE, NULL, 0);
    CHECK(list[0] == node && other[0] == node && count == 0, "nothing is written");
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* a > b, a > c, b > c */
TEST_NEAR_MISS(GRAPH_LIST, lists_with_room_for_less_and_for_more)
{
    vmm_graph graph = made(f);
    vmm_graph_node node[3] = {empty_after(f, graph, NULL, 0)}, list[4], to[4];
    vmm_graph_edge_data data[4];
    uint64_t count = 0;
    ACCEPTED(vmm_graph_get_nodes(S, graph, NULL, &count));
    CHECK_U64(count, 1);
    node[1] = empty_after(f, graph, node, 1);
    node[2] = empty_after(f, graph, node, 2);
    count = 2;
    ACCEPTED(vmm_graph_get_nodes(S, graph, list, &count));
    CHECK(count == 2 && list[0] == node[0] && list[1] == node[1], "what fits, in the order in which they were added");
    count = 4;
    ACCEPTED(vmm_graph_get_nodes(S, graph, list, &count));
    CHECK(count == 3 && list[2] == node[2] && !list[3], "room that is left is NULL");
    count = 4;
    ACCEPTED(vmm_graph_get_root_nodes(S, graph, list, &count));
    CHECK(count == 1 && list[0] == node[0] && !list[1], "one node depends on nothing");
    count = 4;
    memset(data, 7, sizeof data);
    ACCEPTED(vmm_graph_get_edges(S, graph, list, to, data, &count));
    CHECK(count == 3 && list[0] == node[0] && !list[3] && !to[3], "three dependencies");
    CHECK(!data[0].type && !data[2].from_port && !data[3].type, "plain edges, and nothing behind the last");
    count = 4;
    ACCEPTED(vmm_graph_node_get_dependencies(S, node[2], list, NULL, &count));
    CHECK(count == 2 && list[0] == node[0] && list[1] == node[1], "the last depends on both");
    count = 4;
    ACCEPTED(vmm_graph_node_get_dependent_nodes(S, node[0], list, data, &count));
    CHECK(count == 2 && list[0] == node[1] && list[1] == node[2], "both depend on the first");
    ACCEPTED(vmm_graph_node_get_dependent_nodes(S, node[2], NULL, NULL, &count));
    CHECK_U64(count, 0);
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* As measured: a new one, and one that has lost its last dependency, comes before those that were there. */
TEST_EXPECTS("graph.lists", roots_from_the_latest_on)
{
    vmm_graph graph = made(f);
    vmm_graph_node first = empty_after(f, graph, NULL, 0), second = empty_after(f, graph, NULL, 0), on = empty_after(f, graph, &first, 1);
    vmm_graph_node list[4];
    uint64_t count = 4;
    ACCEPTED(vmm_graph_get_root_nodes(S, graph, list, &count));
    CHECK(count == 2 && list[0] == second && list[1] == first, "the second before the first");
    ACCEPTED(vmm_graph_remove_dependencies(S, graph, &first, &on, NULL, 1));
    count = 4;
    ACCEPTED(vmm_graph_get_root_nodes(S, graph, list, &count));
    CHECK(count == 3 && list[0] == on && list[1] == second && list[2] == first, "what depends on nothing any more is first");
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_BREAKS(GRAPH_NULL, capture_mode_of_nobody)
{
    fix_need_simulator(f, "driver 580 ends the process");
    REFUSED(vmm_thread_exchange_stream_capture_mode(S, NULL), INVALID_VALUE, NULL, 0);
}

TEST_BREAKS(GRAPH_NULL, lists_for_nobody)
{
    vmm_graph graph = made(f);
    vmm_graph_node node = empty_after(f, graph, NULL, 0), list[1] = {NULL};
    vmm_graph_edge_data data[1];
    uint64_t count = 1;
    vmm_stream_capture_status status = VMM_STREAM_CAPTURE_STATUS_NONE;
    REFUSED(vmm_graph_get_nodes(S, graph, list, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_get_root_nodes(S, graph, list, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_get_edges(S, graph, NULL, NULL, NULL, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_get_edges(S, graph, list, NULL, NULL, &count), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_get_edges(S, graph, NULL, list, NULL, &count), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_get_edges(S, graph, NULL, NULL, data, &count), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_node_get_dependencies(S, node, list, NULL, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_node_get_dependencies(S, node, NULL, data, &count), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_node_get_dependent_nodes(S, node, NULL, data, &count), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_memset_node_get_params(S, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_host_node_get_params(S, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_device_get_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_device_set_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_stream_get_capture_info(S, NULL, NULL, NULL, NULL, NULL, NULL, NULL), INVALID_VALUE, NULL, 0);
    const vmm_graph_edge_data *edges = NULL;
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_stream_begin_capture(S, stream, VMM_STREAM_CAPTURE_MODE_RELAXED));
    REFUSED(vmm_stream_get_capture_info(S, stream, &status, NULL, NULL, NULL, &edges, NULL), INVALID_VALUE, NULL, 0);
    CHECK_U64((uint64_t)status, VMM_STREAM_CAPTURE_STATUS_ACTIVE);
    ACCEPTED(vmm_stream_end_capture(S, stream, NULL));
    ACCEPTED(vmm_graph_destroy(S, graph));
    fix_stream_destroy(f, stream);
}

static const vmm_graph_edge_data programmatic = {.from_port = 1, .type = 1};

/* Two kernels, the second of which may begin before the first ends. */
static void two_kernels(struct fix *f, vmm_graph graph, vmm_graph_node node[2])
{
    const uint64_t args[3] = {zeros(f), 64, 9};
    const vmm_kernel_node_params kernel = {VMM_KERNEL_FILL, 1, 32, args, 3};
    vmm_result result = vmm_graph_add_kernel_node(S, &node[0], graph, NULL, 0, &kernel);
    if (result == VMM_ERROR_NOT_SUPPORTED)
        fix_skip(f, "needs this library's kernels");
    ACCEPTED(result);
    ACCEPTED(vmm_graph_add_kernel_node(S, &node[1], graph, NULL, 0, &kernel));
    ACCEPTED(vmm_graph_add_dependencies(S, graph, &node[0], &node[1], &programmatic, 1));
}

TEST_BREAKS(GRAPH_LOSSY, lists_without_the_data_of_a_dependency)
{
    vmm_graph graph = made(f);
    vmm_graph_node node[2] = {NULL, NULL}, list[2] = {NULL, NULL}, to[2];
    uint64_t count = 2;
    two_kernels(f, graph, node);
    REFUSED(vmm_graph_get_edges(S, graph, list, to, NULL, &count), LOSSY_QUERY, NULL, 0);
    REFUSED(vmm_graph_node_get_dependencies(S, node[1], list, NULL, &count), LOSSY_QUERY, NULL, 0);
    REFUSED(vmm_graph_node_get_dependent_nodes(S, node[0], list, NULL, &count), LOSSY_QUERY, NULL, 0);
    if (f->simulator)
        CHECK(!list[0] && count == 2, "nothing is written"); /* two H200 wrote of the lists or the count, which was not looked at further */
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_NEAR_MISS(GRAPH_LOSSY, lists_with_the_data_of_a_dependency)
{
    vmm_graph graph = made(f);
    vmm_graph_node node[2] = {NULL, NULL}, list[2], to[2];
    vmm_graph_edge_data data[2];
    uint64_t count = 0;
    two_kernels(f, graph, node);
    ACCEPTED(vmm_graph_get_edges(S, graph, NULL, NULL, NULL, &count));
    CHECK_U64(count, 1);
    count = 2;
    ACCEPTED(vmm_graph_get_edges(S, graph, list, to, data, &count));
    CHECK(count == 1 && list[0] == node[0] && to[0] == node[1] && data[0].type == 1 && !data[1].type, "the dependency, with its data");
    ACCEPTED(vmm_graph_node_get_dependent_nodes(S, node[1], NULL, NULL, &count));
    CHECK_U64(count, 0);
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_BREAKS(GRAPH_UNKNOWN, lists_of_what_is_no_graph)
{
    uint64_t count = 1;
    vmm_graph_node list[1] = {NULL};
    REFUSED(vmm_graph_get_nodes(S, NULL, list, &count), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_get_root_nodes(S, NULL, list, &count), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_get_edges(S, NULL, NULL, NULL, NULL, &count), INVALID_VALUE, NULL, 0);
}

/* ---- what nodes hold ---- */

TEST_NEAR_MISS(GRAPH_NODE_TYPE, read_what_nodes_hold)
{
    const vmm_memset_node_params fill = {.dst = zeros(f), .value = 0x55, .element_size = 1, .width = 64, .height = 1};
    const vmm_host_node_params host = {nothing, f};
    vmm_memset_node_params held = {.width = 7};
    vmm_host_node_params function = {NULL, NULL};
    vmm_graph graph = made(f);
    vmm_graph_node node = add_fill(f, graph, &fill), other = NULL;
    ACCEPTED(vmm_graph_add_host_node(S, &other, graph, &node, 1, &host));
    ACCEPTED(vmm_graph_memset_node_get_params(S, node, &held));
    CHECK(held.dst == fill.dst && held.value == 0x55 && held.element_size == 1 && held.width == 64 && held.height == 1, "the fill");
    ACCEPTED(vmm_graph_host_node_get_params(S, other, &function));
    CHECK(function.fn == nothing && function.user_data == f, "the function, and its argument");
    held.width = 7;
    CHECK_U64(vmm_graph_memset_node_get_params(S, other, &held), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(vmm_graph_host_node_get_params(S, node, &function), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(held.width, 7);
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* ---- updates ---- */

TEST_BREAKS(GRAPH_UPDATE, update_with_another_graph)
{
    vmm_memset_node_params fill = {.dst = zeros(f), .value = 1, .element_size = 1, .width = 64, .height = 2, .pitch = 64};
    vmm_graph graph = made(f), more = made(f), other = made(f), rows = made(f);
    vmm_graph_exec_update_result_info info = {.result = 9};
    add_fill(f, graph, &fill);
    vmm_graph_exec exec = NULL;
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    vmm_graph_node node = empty_after(f, other, NULL, 0);
    REFUSED(vmm_graph_exec_update(S, exec, more, &info), GRAPH_EXEC_UPDATE_FAILURE, NULL, 0);
    CHECK(info.result == VMM_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED && !info.error_node, "there are fewer nodes");
    REFUSED(vmm_graph_exec_update(S, exec, other, &info), GRAPH_EXEC_UPDATE_FAILURE, NULL, (uintptr_t)node);
    CHECK(info.result == VMM_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED && info.error_node == node, "the node has a different "
                                                                                                   "type");
    fill.width = 32;
    node = add_fill(f, rows, &fill);
    REFUSED(vmm_graph_exec_update(S, exec, rows, &info), GRAPH_EXEC_UPDATE_FAILURE, NULL, (uintptr_t)node);
    CHECK(info.result == VMM_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED && info.error_node == node, "rows of another shape");
    REFUSED(vmm_graph_exec_update(S, exec, rows, NULL), GRAPH_EXEC_UPDATE_FAILURE, NULL, (uintptr_t)node);
    CHECK_U64(vmm_graph_exec_update(S, exec, NULL, &info), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(vmm_graph_exec_update(S, NULL, rows, &info), VMM_ERROR_INVALID_VALUE);
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, fill.dst + 120), UINT64_C(0x0101010101010101));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
    ACCEPTED(vmm_graph_destroy(S, more));
    ACCEPTED(vmm_graph_destroy(S, other));
    ACCEPTED(vmm_graph_destroy(S, rows));
}

TEST_NEAR_MISS(GRAPH_UPDATE, update_with_a_graph_of_the_same_shape)
{
    vmm_memset_node_params fill = {.dst = zeros(f), .value = 1, .element_size = 1, .width = 64, .height = 1};
    vmm_graph graph = made(f), other = made(f);
    vmm_graph_exec_update_result_info info = {.result = 9};
    add_fill(f, graph, &fill);
    vmm_graph_exec exec = NULL;
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    fill.dst += 64;
    fill.value = 2;
    add_fill(f, other, &fill);
    ACCEPTED(vmm_graph_exec_update(S, exec, other, &info));
    CHECK(info.result == VMM_GRAPH_EXEC_UPDATE_SUCCESS && !info.error_node && !info.error_from_node, "it succeeded");
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, fill.dst - 64), 0);
    CHECK_U64(word_at(f, fill.dst), UINT64_C(0x0202020202020202));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
    ACCEPTED(vmm_graph_destroy(S, other));
}

/* ---- memory of graphs ---- */

TEST_BREAKS(GRAPH_MEMORY_ATTRIBUTE, attributes_that_are_none_or_stay)
{
    uint64_t value = 7, one = 1, zero = 0;
    REFUSED(vmm_device_get_graph_mem_attribute(S, 0, 4, &value), INVALID_VALUE, "attr", 4);
    REFUSED(vmm_device_get_graph_mem_attribute(S, 0, -1, &value), INVALID_VALUE, "attr", UINT64_MAX);
    REFUSED(vmm_device_set_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero), INVALID_VALUE, "attr", 0);
    REFUSED(vmm_device_set_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &zero), INVALID_VALUE, "attr", 2);
    REFUSED(vmm_device_set_graph_mem_attribute(S, 0, 4, &zero), INVALID_VALUE, "attr", 4);
    REFUSED(vmm_device_set_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one), INVALID_VALUE, "value", 1);
    CHECK_U64(value, 7);
    CHECK_U64(vmm_device_get_graph_mem_attribute(S, 99, 0, &value), VMM_ERROR_INVALID_DEVICE);
    CHECK_U64(vmm_device_get_graph_mem_attribute(S, 99, 0, NULL), VMM_ERROR_INVALID_DEVICE);
    CHECK_U64(vmm_device_set_graph_mem_attribute(S, 99, VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero), VMM_ERROR_INVALID_DEVICE);
    CHECK_U64(vmm_device_graph_mem_trim(S, -1), VMM_ERROR_INVALID_DEVICE);
}

TEST_NEAR_MISS(GRAPH_MEMORY_ATTRIBUTE, memory_of_a_launch)
{
    uint64_t used = 7, high = 7, zero = 0;
    vmm_deviceptr p = 0;
    vmm_graph graph = NULL;
    vmm_graph_exec exec = NULL;
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_device_graph_mem_trim(S, 0));
    ACCEPTED(vmm_stream_begin_capture(S, stream, VMM_STREAM_CAPTURE_MODE_RELAXED));
    ACCEPTED(vmm_mem_alloc_async(S, &p, 4096, stream));
    ACCEPTED(vmm_mem_free_async(S, p, stream));
    ACCEPTED(vmm_stream_end_capture(S, stream, &graph));
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    ACCEPTED(vmm_graph_launch(S, exec, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    ACCEPTED(vmm_device_get_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &used));
    ACCEPTED(vmm_device_get_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &high));
    CHECK(used >= 4096 && high >= used, "the device keeps memory for graphs");
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
    ACCEPTED(vmm_device_graph_mem_trim(S, 0));
    ACCEPTED(vmm_device_get_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &used));
    ACCEPTED(vmm_device_set_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
    ACCEPTED(vmm_device_set_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    ACCEPTED(vmm_device_get_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &high));
    CHECK(used == 0 && high == 0, "it has all of it again");
    ACCEPTED(vmm_device_get_graph_mem_attribute(S, 0, VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
    CHECK_U64(high, 0);
    fix_stream_destroy(f, stream);
}

/* ---- what captures tell ---- */

TEST_EXPECTS("graph.capture_tells_what_it_reached", info_of_a_capture)
{
    const vmm_graph_node *nodes = NULL;
    const vmm_graph_edge_data *edges = NULL;
    vmm_stream_capture_status status = 9;
    uint64_t id = 0, again = 0, count = 9;
    vmm_graph graph = NULL, end = NULL;
    vmm_stream stream = fix_stream(f);
    const vmm_deviceptr memory = zeros(f);
    ACCEPTED(vmm_stream_get_capture_info(S, stream, &status, &id, &graph, &nodes, &edges, &count));
    CHECK(status == VMM_STREAM_CAPTURE_STATUS_NONE && !id && !graph && !nodes && count == 9, "without a capture only the status");
    ACCEPTED(vmm_stream_begin_capture(S, stream, VMM_STREAM_CAPTURE_MODE_RELAXED));
    ACCEPTED(vmm_stream_get_capture_info(S, stream, &status, &id, &graph, &nodes, &edges, &count));
    CHECK(status == VMM_STREAM_CAPTURE_STATUS_ACTIVE && id && graph && count == 0, "nothing is reached yet");
    ACCEPTED(vmm_memset_d8_async(S, memory, 1, 64, stream));
    ACCEPTED(vmm_stream_get_capture_info(S, stream, &status, &again, NULL, &nodes, &edges, &count));
    vmm_graph_node_type type = 9;
    CHECK(again == id && count == 1 && nodes && edges, "the same capture has reached a node");
    if (!nodes || !edges)
        return;
    CHECK(!edges[0].from_port && !edges[0].to_port && !edges[0].type, "by a plain edge");
    ACCEPTED(vmm_graph_node_get_type(S, nodes[0], &type));
    CHECK_U64((uint64_t)type, VMM_GRAPH_NODE_TYPE_MEMSET);
    ACCEPTED(vmm_stream_end_capture(S, stream, &end));
    CHECK(end == graph, "the graph is the one that was told");
    ACCEPTED(vmm_graph_destroy(S, graph));
    ACCEPTED(vmm_stream_begin_capture(S, stream, VMM_STREAM_CAPTURE_MODE_RELAXED));
    CHECK_U64(vmm_stream_query(S, stream), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    count = 9;
    ACCEPTED(vmm_stream_get_capture_info(S, stream, &status, &again, NULL, NULL, NULL, &count));
    CHECK(status == VMM_STREAM_CAPTURE_STATUS_INVALIDATED && count == 9, "of one that is spoiled only the status");
    CHECK_U64(vmm_stream_end_capture(S, stream, NULL), VMM_ERROR_STREAM_CAPTURE_INVALIDATED);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(CAPTURE_FORBIDS, make_calls_in_a_relaxed_thread)
{
    vmm_stream_capture_mode mode = VMM_STREAM_CAPTURE_MODE_RELAXED;
    vmm_deviceptr p = 0;
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_stream_begin_capture(S, stream, VMM_STREAM_CAPTURE_MODE_GLOBAL));
    ACCEPTED(vmm_thread_exchange_stream_capture_mode(S, &mode));
    CHECK_U64((uint64_t)mode, VMM_STREAM_CAPTURE_MODE_GLOBAL);
    ACCEPTED(vmm_mem_alloc(S, &p, 4096));
    ACCEPTED(vmm_mem_free(S, p));
    ACCEPTED(vmm_thread_exchange_stream_capture_mode(S, &mode));
    CHECK_U64((uint64_t)mode, VMM_STREAM_CAPTURE_MODE_RELAXED);
    CHECK_U64(vmm_mem_alloc(S, &p, 4096), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK_U64(vmm_stream_end_capture(S, stream, NULL), VMM_ERROR_STREAM_CAPTURE_INVALIDATED);
    fix_stream_destroy(f, stream);
}
