/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: which calls are refused, and what a launch finds. */
#include <string.h>

#include "scheduled.h"
#include "test.h"
#include "zeros.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ

static vmm_graph made(struct fix *f)
{
    vmm_graph graph = NULL;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    return graph;
}

static vmm_graph_node empty(struct fix *f, vmm_graph graph)
{
    vmm_graph_node node = NULL;
    ACCEPTED(vmm_graph_add_empty_node(S, &node, graph, NULL, 0));
    return node;
}

static vmm_memset_node_params fill_of(vmm_deviceptr p, unsigned value)
{
    return (vmm_memset_node_params){.dst = p, .value = value, .element_size = 1, .width = 64, .height = 1};
}

static vmm_graph_node add_fill(struct fix *f, vmm_graph graph, vmm_deviceptr p, unsigned value)
{
    vmm_graph_node node = NULL;
    const vmm_memset_node_params fill = fill_of(p, value);
    ACCEPTED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, &fill, f->ctx));
    return node;
}

static vmm_graph_exec instance(struct fix *f, vmm_graph graph)
{
    vmm_graph_exec exec = NULL;
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    return exec;
}

static void nothing(void *user)
{
    (void)user;
}

/* ---- pointers, values and flags ---- */

TEST_BREAKS(GRAPH_NULL, graphs_nodes_and_instances_for_nobody)
{
    const vmm_host_node_params host = {nothing, NULL};
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = instance(f, graph);
    REFUSED(vmm_graph_create(S, NULL, 0), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_clone(S, NULL, graph), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_instantiate(S, NULL, graph, 0), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_exec_get_flags(S, exec, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_empty_node(S, NULL, graph, NULL, 0), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_host_node(S, NULL, graph, NULL, 0, &host), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_host_node(S, &node, graph, NULL, 0, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, NULL, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, NULL, f->ctx), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_kernel_node(S, &node, graph, NULL, 0, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_event_record_node(S, &node, graph, NULL, 0, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_event_wait_node(S, &node, graph, NULL, 0, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_stream_is_capturing(S, NULL, NULL), INVALID_VALUE, NULL, 0);
    node = empty(f, graph);
    REFUSED(vmm_graph_node_get_type(S, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_child_graph_node_get_graph(S, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_event_record_node_get_event(S, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_event_wait_node_get_event(S, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_node_find_in_clone(S, NULL, node, graph), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_node_find_in_clone(S, &node, NULL, graph), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_node_get_enabled(S, exec, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_memset_node_set_params(S, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_host_node_set_params(S, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_memcpy_node_get_params(S, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_memcpy_node_set_params(S, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_kernel_node_set_params(S, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_exec_kernel_node_set_params(S, exec, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_exec_memset_node_set_params(S, exec, node, NULL, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, NULL, f->ctx), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_exec_event_record_node_set_event(S, exec, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_exec_event_wait_node_set_event(S, exec, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_exec_host_node_set_params(S, exec, node, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_empty_node(S, &node, graph, NULL, 1), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_dependencies(S, graph, NULL, &node, NULL, 1), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_dependencies(S, graph, &node, NULL, NULL, 1), INVALID_VALUE, NULL, 0);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_NEAR_MISS(GRAPH_NULL, no_dependencies_at_all)
{
    vmm_graph graph = made(f);
    ACCEPTED(vmm_graph_add_dependencies(S, graph, NULL, NULL, NULL, 0));
    ACCEPTED(vmm_graph_remove_dependencies(S, graph, NULL, NULL, NULL, 0));
    empty(f, graph);
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_BREAKS(GRAPH_UNKNOWN, what_is_no_graph)
{
    vmm_graph graph = made(f), gone = graph, other = NULL;
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = NULL;
    vmm_stream stream = fix_stream(f);
    const vmm_memset_node_params fill = fill_of(zeros(f), 1);
    ACCEPTED(vmm_graph_destroy(S, graph));
    REFUSED(vmm_graph_destroy(S, NULL), INVALID_VALUE, NULL, 0);
    fix_need_simulator(f, "a driver may read through a graph that has ended");
    graph = made(f);
    REFUSED(vmm_graph_destroy(S, gone), INVALID_VALUE, NULL, (uintptr_t)gone);
    REFUSED(vmm_graph_clone(S, &other, gone), INVALID_VALUE, NULL, (uintptr_t)gone);
    REFUSED(vmm_graph_instantiate(S, &exec, gone, 0), INVALID_VALUE, NULL, (uintptr_t)gone);
    REFUSED(vmm_graph_add_empty_node(S, &node, gone, NULL, 0), INVALID_VALUE, NULL, (uintptr_t)gone);
    REFUSED(vmm_graph_add_memset_node(S, &node, gone, NULL, 0, &fill, f->ctx), INVALID_VALUE, NULL, (uintptr_t)gone);
    REFUSED(vmm_graph_add_child_graph_node(S, &node, graph, NULL, 0, gone), INVALID_VALUE, NULL, (uintptr_t)gone);
    REFUSED(vmm_graph_add_dependencies(S, gone, NULL, NULL, NULL, 0), INVALID_VALUE, NULL, (uintptr_t)gone);
    REFUSED(vmm_graph_remove_dependencies(S, gone, NULL, NULL, NULL, 0), INVALID_VALUE, NULL, (uintptr_t)gone);
    ACCEPTED(vmm_graph_destroy(S, graph));
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(GRAPH_UNKNOWN, a_clone_of_a_graph_that_ended)
{
    vmm_graph graph = made(f), clone = NULL;
    vmm_graph_exec exec;
    empty(f, graph);
    ACCEPTED(vmm_graph_clone(S, &clone, graph));
    ACCEPTED(vmm_graph_destroy(S, graph));
    exec = instance(f, clone);
    ACCEPTED(vmm_graph_destroy(S, clone));
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
}

TEST_BREAKS(GRAPH_NODE, nodes_of_other_graphs)
{
    vmm_graph graph = made(f), other = made(f);
    vmm_graph_node node = empty(f, graph), stranger = empty(f, other), out = NULL;
    vmm_graph_node_type type = -1;
    REFUSED(vmm_graph_add_empty_node(S, &out, graph, &stranger, 1), INVALID_VALUE, NULL, (uintptr_t)stranger);
    REFUSED(vmm_graph_add_dependencies(S, graph, &node, &stranger, NULL, 1), INVALID_VALUE, NULL, (uintptr_t)stranger);
    REFUSED(vmm_graph_add_dependencies(S, graph, &stranger, &node, NULL, 1), INVALID_VALUE, NULL, (uintptr_t)stranger);
    REFUSED(vmm_graph_remove_dependencies(S, graph, &node, &stranger, NULL, 1), INVALID_VALUE, NULL, (uintptr_t)stranger);
    REFUSED(vmm_graph_node_get_type(S, NULL, &type), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_destroy_node(S, NULL), INVALID_VALUE, NULL, 0);
    vmm_graph_exec exec = instance(f, graph);
    REFUSED(vmm_graph_node_set_enabled(S, exec, stranger, 0), INVALID_VALUE, NULL, (uintptr_t)stranger);
    REFUSED(vmm_graph_node_set_enabled(S, exec, NULL, 0), INVALID_VALUE, NULL, 0);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    CHECK_U64((uint64_t)(int64_t)type, UINT64_MAX);
    ACCEPTED(vmm_graph_destroy(S, other));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_NEAR_MISS(GRAPH_NODE, nodes_of_the_graph)
{
    vmm_graph graph = made(f);
    vmm_graph_node node = empty(f, graph), out = NULL;
    vmm_graph_node_type type = -1;
    ACCEPTED(vmm_graph_add_empty_node(S, &out, graph, &node, 1));
    ACCEPTED(vmm_graph_remove_dependencies(S, graph, &node, &out, NULL, 1));
    ACCEPTED(vmm_graph_node_get_type(S, out, &type));
    CHECK_U64((uint64_t)type, VMM_GRAPH_NODE_TYPE_EMPTY);
    ACCEPTED(vmm_graph_destroy_node(S, node));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_BREAKS(GRAPH_EXEC, what_is_no_instance)
{
    vmm_graph graph = made(f);
    vmm_graph_exec exec = instance(f, graph);
    uint64_t flags = 7;
    REFUSED(vmm_graph_launch(S, NULL, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_upload(S, NULL, NULL), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_exec_destroy(S, NULL), INVALID_VALUE, NULL, 0);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
    ACCEPTED(vmm_ctx_set_current(S, NULL));
    REFUSED_BY("VMM-CTX-CURRENT", vmm_graph_upload(S, NULL, NULL), INVALID_CONTEXT, NULL, 0);
    ACCEPTED(vmm_ctx_set_current(S, f->ctx));
    fix_need_simulator(f, "a driver may read through an instance that has ended");
    REFUSED(vmm_graph_launch(S, exec, NULL), INVALID_VALUE, NULL, (uintptr_t)exec);
    REFUSED(vmm_graph_exec_get_flags(S, exec, &flags), INVALID_VALUE, NULL, (uintptr_t)exec);
    REFUSED(vmm_graph_exec_destroy(S, exec), INVALID_VALUE, NULL, (uintptr_t)exec);
    CHECK_U64(flags, 7);
}

TEST_NEAR_MISS(GRAPH_EXEC, an_instance_of_a_graph_that_ended)
{
    vmm_graph graph = made(f);
    vmm_graph_exec exec = NULL;
    uint64_t flags = 7;
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    ACCEPTED(vmm_graph_destroy(S, graph));
    ACCEPTED(vmm_graph_exec_get_flags(S, exec, &flags));
    CHECK_U64(flags, VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    ACCEPTED(vmm_graph_upload(S, exec, NULL));
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
}

TEST_BREAKS(GRAPH_FLAGS, flags_of_nothing)
{
    vmm_graph graph = NULL;
    vmm_graph_exec exec = NULL;
    for (int bit = 0; bit < 32; bit++)
        REFUSED(vmm_graph_create(S, &graph, 1u << bit), INVALID_VALUE, "flags", 1u << bit);
    graph = made(f);
    REFUSED(vmm_graph_instantiate(S, &exec, graph, VMM_GRAPH_INSTANTIATE_FLAG_UPLOAD), INVALID_VALUE, "flags", 2);
    for (int bit = 4; bit < 64; bit++)
        REFUSED(vmm_graph_instantiate(S, &exec, graph, UINT64_C(1) << bit), INVALID_VALUE, "flags", UINT64_C(1) << bit);
    REFUSED(vmm_graph_instantiate(S, &exec, graph, 5), INVALID_VALUE, "flags", 5);
    REFUSED(vmm_graph_instantiate(S, &exec, graph, VMM_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH), INVALID_VALUE, "flags", 4); /* it has no nodes */
    empty(f, graph);
    REFUSED(vmm_graph_instantiate(S, &exec, graph, VMM_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH), INVALID_VALUE, "flags", 4);
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_NEAR_MISS(GRAPH_FLAGS, flags_of_an_instance)
{
    uint64_t flags = 7;
    vmm_graph_exec exec = NULL;
    vmm_graph graph = made(f);
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, VMM_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    ACCEPTED(vmm_graph_exec_get_flags(S, exec, &flags));
    CHECK_U64(flags, 0);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    add_fill(f, graph, zeros(f), 1);
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, VMM_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* ---- dependencies ---- */

TEST_BREAKS(GRAPH_EDGE, dependencies_that_cannot_be)
{
    vmm_graph graph = made(f);
    vmm_graph_node n[3] = {empty(f, graph), empty(f, graph), empty(f, graph)}, twice[2] = {n[0], n[0]}, out = NULL;
    const vmm_graph_node from[2] = {n[0], n[0]}, to[2] = {n[1], n[1]};
    const vmm_graph_edge_data wrong[] = {{.from_port = 3}, {.to_port = 1}, {.type = 2}, {.reserved = {1}}, {.type = 1}, {.from_port = 1, .type = 1},
                                         {.from_port = 2}};
    REFUSED(vmm_graph_add_dependencies(S, graph, &n[0], &n[0], NULL, 1), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_dependencies(S, graph, from, to, NULL, 2), INVALID_VALUE, NULL, 0);
    ACCEPTED(vmm_graph_remove_dependencies(S, graph, &n[0], &n[1], NULL, 1)); /* measured: the first of the two was added */
    for (int i = 0; i < 7; i++)
        REFUSED(vmm_graph_add_dependencies(S, graph, &n[0], &n[1], &wrong[i], 1), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_remove_dependencies(S, graph, &n[0], &n[1], NULL, 1), INVALID_VALUE, NULL, 0);
    ACCEPTED(vmm_graph_add_dependencies(S, graph, &n[0], &n[1], NULL, 1));
    REFUSED(vmm_graph_add_dependencies(S, graph, &n[0], &n[1], NULL, 1), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_empty_node(S, &out, graph, twice, 2), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_add_empty_node(S, &out, graph, n, 4), INVALID_VALUE, "numDependencies", 4);
    /* measured: those before the one that is not there are removed */
    const vmm_graph_node some[2] = {n[0], n[1]}, others[2] = {n[1], n[2]};
    REFUSED(vmm_graph_remove_dependencies(S, graph, some, others, NULL, 2), INVALID_VALUE, NULL, 0);
    ACCEPTED(vmm_graph_add_dependencies(S, graph, &n[0], &n[1], NULL, 1));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_NEAR_MISS(GRAPH_EDGE, dependencies_both_ways)
{
    vmm_graph graph = made(f);
    vmm_graph_node a = empty(f, graph), b = empty(f, graph);
    const vmm_graph_edge_data none = {0};
    ACCEPTED(vmm_graph_add_dependencies(S, graph, &a, &b, &none, 1));
    ACCEPTED(vmm_graph_add_dependencies(S, graph, &b, &a, NULL, 1));
    ACCEPTED(vmm_graph_remove_dependencies(S, graph, &a, &b, &none, 1));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

static vmm_graph made_cycle(struct fix *f)
{
    vmm_graph graph = made(f);
    vmm_graph_node a = empty(f, graph), b = empty(f, graph);
    ACCEPTED(vmm_graph_add_dependencies(S, graph, &a, &b, NULL, 1));
    ACCEPTED(vmm_graph_add_dependencies(S, graph, &b, &a, NULL, 1));
    return graph;
}

TEST_BREAKS(GRAPH_CYCLE, instantiate_a_cycle)
{
    vmm_graph graph = made_cycle(f);
    vmm_graph_exec exec = NULL;
    REFUSED(vmm_graph_instantiate(S, &exec, graph, 0), INVALID_VALUE, NULL, (uintptr_t)graph);
    CHECK(!exec, "an instance of a cycle");
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_BREAKS(GRAPH_CYCLE, instantiate_a_child_with_a_cycle)
{
    fix_need_simulator(f, "not recorded of a child");
    vmm_graph graph = made_cycle(f), whole = made(f);
    vmm_graph_node child = NULL;
    vmm_graph_exec exec = NULL;
    ACCEPTED(vmm_graph_add_child_graph_node(S, &child, whole, NULL, 0, graph));
    CHECK_U64(vmm_graph_instantiate(S, &exec, whole, 0), VMM_ERROR_INVALID_VALUE);
    CHECK(strcmp(vmm_last_detail()->rule, "VMM-GRAPH-CYCLE") == 0, "by %s", vmm_last_detail()->rule);
    CHECK(!exec, "an instance of a cycle");
    ACCEPTED(vmm_graph_destroy(S, whole));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_NEAR_MISS(GRAPH_CYCLE, instantiate_a_diamond)
{
    vmm_deviceptr p = zeros(f);
    vmm_graph graph = made(f);
    vmm_graph_node last = add_fill(f, graph, p, 4), n[3] = {add_fill(f, graph, p, 1), empty(f, graph), empty(f, graph)};
    const vmm_graph_node from[4] = {n[0], n[0], n[1], n[2]}, to[4] = {n[1], n[2], last, last};
    ACCEPTED(vmm_graph_add_dependencies(S, graph, from, to, NULL, 4));
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), UINT64_C(0x0404040404040404));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* ---- parameters ---- */

TEST_BREAKS(GRAPH_PARAMS, fills_of_nothing)
{
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    vmm_memset_node_params fill = fill_of(zeros(f), 1);
    static const unsigned sizes[] = {0, 3, 5, 8};
    for (int i = 0; i < 4; i++) {
        fill.element_size = sizes[i];
        REFUSED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, &fill, f->ctx), INVALID_VALUE, "elementSize", sizes[i]);
    }
    fill.element_size = 4;
    fill.width = 0;
    REFUSED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, &fill, f->ctx), INVALID_VALUE, NULL, 0);
    fill.width = 16;
    fill.height = 0;
    REFUSED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, &fill, f->ctx), INVALID_VALUE, NULL, 0);
    fill.height = 2;
    fill.pitch = 60;
    REFUSED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, &fill, f->ctx), INVALID_VALUE, "pitch", 60);
    fill.pitch = 66;
    REFUSED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, &fill, f->ctx), INVALID_VALUE, "pitch", 66);
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* Mapped memory belongs to no context, which NULL could stand for. */
TEST_BREAKS(GRAPH_PARAMS, fills_of_mapped_memory_in_no_context)
{
    const vmm_memset_node_params fill = fill_of(zeros(f), 1);
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    REFUSED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, &fill, NULL), INVALID_VALUE, "ctx", 0);
    CHECK(!node, "a node of a refused call");
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_NEAR_MISS(GRAPH_PARAMS, fills_of_ordinary_memory_in_no_context)
{
    vmm_deviceptr p = 0;
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    fix_context(f, 0);
    ACCEPTED(vmm_mem_alloc(S, &p, 64));
    const vmm_memset_node_params fill = fill_of(p, 7);
    ACCEPTED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, &fill, NULL));
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), UINT64_C(0x0707070707070707));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
    ACCEPTED(vmm_mem_free(S, p));
}

TEST_BREAKS(CTX_ENDED, a_fill_in_a_context_that_ended)
{
    const vmm_memset_node_params fill = fill_of(zeros(f), 1);
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    vmm_context ctx = NULL;
    ACCEPTED(vmm_ctx_create(S, &ctx, 0, 0));
    ACCEPTED(vmm_ctx_destroy(S, ctx));
    ACCEPTED(vmm_ctx_set_current(S, f->ctx));
    REFUSED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, &fill, ctx), CONTEXT_IS_DESTROYED, "ctx", (uintptr_t)ctx);
    const vmm_memcpy3d row = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = fill.dst,
                              .dst_memory_type = VMM_MEMORYTYPE_DEVICE, .dst_device = fill.dst + 64, .width_in_bytes = 8,
                              .height = 1, .depth = 1};
    REFUSED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &row, ctx), CONTEXT_IS_DESTROYED, "ctx", (uintptr_t)ctx);
    CHECK(!node, "a node of a refused call");
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* An H100 launched such a node in one run, and in another did not come back from one of these calls. */
TEST_NEAR_MISS(CTX_ENDED, a_fill_whose_context_ends_later)
{
    fix_need_simulator(f, "driver 580 may wait for ever");
    vmm_deviceptr p = zeros(f);
    const vmm_memset_node_params fill = fill_of(p, 8);
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    vmm_context ctx = NULL;
    ACCEPTED(vmm_ctx_create(S, &ctx, 0, 0));
    ACCEPTED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, &fill, ctx));
    ACCEPTED(vmm_ctx_set_current(S, f->ctx));
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_ctx_destroy(S, ctx));
    ACCEPTED(vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), UINT64_C(0x0808080808080808));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_BREAKS(GRAPH_PARAMS, a_graph_within_itself)
{
    fix_need_simulator(f, "driver 580 ends the process");
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    REFUSED(vmm_graph_add_child_graph_node(S, &node, graph, NULL, 0, graph), INVALID_VALUE, NULL, (uintptr_t)graph);
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_NEAR_MISS(GRAPH_PARAMS, fills_of_rows)
{
    vmm_deviceptr p = zeros(f);
    vmm_graph graph = made(f), whole = made(f);
    vmm_graph_node node = NULL;
    const vmm_memset_node_params rows = {.dst = p, .pitch = 16, .value = 0x1234, .element_size = 2, .width = 4, .height = 3};
    ACCEPTED(vmm_graph_add_memset_node(S, &node, graph, NULL, 0, &rows, f->ctx));
    ACCEPTED(vmm_graph_add_child_graph_node(S, &node, whole, NULL, 0, graph));
    vmm_graph_exec exec = instance(f, whole);
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), UINT64_C(0x1234123412341234));
    CHECK_U64(word_at(f, p + 8), 0);
    CHECK_U64(word_at(f, p + 32), UINT64_C(0x1234123412341234));
    CHECK_U64(word_at(f, p + 48), 0);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, whole));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* Rows of 8 bytes, 64 apart. */
static vmm_memcpy3d copy_of(vmm_deviceptr to, vmm_deviceptr from, size_t rows)
{
    return (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = from, .src_pitch = 64,
                          .dst_memory_type = VMM_MEMORYTYPE_DEVICE, .dst_device = to, .dst_pitch = 64, .width_in_bytes = 8,
                          .height = rows, .depth = 1};
}

TEST_BREAKS(GRAPH_PARAMS, copies_of_nothing)
{
    vmm_deviceptr p = zeros(f);
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    const vmm_memcpy3d rows = copy_of(p, p + 1024, 2);
    for (int i = 0; i < 3; i++) {
        vmm_memcpy3d none = rows;
        *(i == 0 ? &none.width_in_bytes : i == 1 ? &none.height : &none.depth) = 0;
        REFUSED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &none, f->ctx), INVALID_VALUE, NULL, 0);
    }
    CHECK(!node, "a node of a refused call");
    ACCEPTED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &rows, f->ctx));
    vmm_graph_exec exec = instance(f, graph);
    vmm_memcpy3d other = rows;
    other.height = 3;
    REFUSED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &other, f->ctx), INVALID_VALUE, NULL, (uintptr_t)node);
    other = rows;
    other.dst_device += 64;
    REFUSED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &other, f->ctx), INVALID_VALUE, NULL, (uintptr_t)node);
    other = rows;
    other.src_memory_type = VMM_MEMORYTYPE_UNIFIED;
    REFUSED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &other, f->ctx), INVALID_VALUE, NULL, (uintptr_t)node);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* What a side of an instance's copy is stays, also where the declared type would allow another. */
TEST_BREAKS(GRAPH_PARAMS, copies_from_elsewhere)
{
    unsigned char mine[64] = {0};
    vmm_deviceptr p = zeros(f);
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    vmm_memcpy3d row = copy_of(p, p + 1024, 1);
    row.src_memory_type = VMM_MEMORYTYPE_HOST;
    row.src_host = mine;
    row.src_device = 0;
    ACCEPTED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &row, f->ctx));
    vmm_graph_exec exec = instance(f, graph);
    row.src_host = (const void *)(uintptr_t)(p + 1024);
    REFUSED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &row, f->ctx), INVALID_VALUE, NULL, (uintptr_t)node);
    row.src_host = mine + 8;
    row.dst_device += 64;
    ACCEPTED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &row, f->ctx));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* Is a node of this copy, made in the context made and described again in the other one, one without a context? */
static void describe_again(struct fix *f, vmm_context made_in, vmm_context then, vmm_result expected)
{
    vmm_deviceptr p = zeros(f);
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    vmm_memcpy3d row = copy_of(p, p + 1024, 1);
    ACCEPTED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &row, made_in));
    fix_need(f, vmm_ctx_set_current(S, then));
    row.dst_device += 64;
    ACCEPTED(vmm_graph_memcpy_node_set_params(S, node, &row));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    vmm_graph_exec exec = instance(f, graph);
    row.dst_device += 64;
    if (expected == VMM_SUCCESS)
        ACCEPTED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &row, f->ctx));
    else
        REFUSED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &row, f->ctx), INVALID_VALUE, NULL, (uintptr_t)node);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_BREAKS(GRAPH_PARAMS, a_copy_described_in_no_context)
{
    describe_again(f, f->ctx, NULL, VMM_ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(GRAPH_PARAMS, a_copy_described_in_the_current_context)
{
    describe_again(f, NULL, f->ctx, VMM_SUCCESS);
}

/* With pitch 0 the rows lie as far apart as x and a row are long, which the range that is looked at does not know. */
static vmm_memcpy3d wide_rows(struct fix *f)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_memcpy3d rows = copy_of(p, p + f->g - 32, 3);
    rows.src_pitch = 0;
    rows.src_x_in_bytes = 4;
    return rows;
}

TEST_NEAR_MISS(ROWS_END, rows_of_a_node_beyond_their_memory)
{
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    const vmm_memcpy3d rows = wide_rows(f);
    ACCEPTED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &rows, NULL));
    ACCEPTED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &rows, f->ctx));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

static vmm_graph of_a_node(struct fix *f, vmm_graph outer)
{
    vmm_graph child = made(f), held = NULL;
    vmm_graph_node node = NULL;
    empty(f, child);
    ACCEPTED(vmm_graph_add_child_graph_node(S, &node, outer, NULL, 0, child));
    ACCEPTED(vmm_graph_child_graph_node_get_graph(S, node, &held));
    ACCEPTED(vmm_graph_destroy(S, child));
    return held;
}

TEST_BREAKS(GRAPH_OF_NODE, instantiate_and_add_the_graph_of_a_node)
{
    vmm_graph outer = made(f), other = made(f), held = of_a_node(f, outer);
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = NULL;
    REFUSED(vmm_graph_instantiate(S, &exec, held, 0), NOT_SUPPORTED, NULL, (uintptr_t)held);
    REFUSED(vmm_graph_add_child_graph_node(S, &node, other, NULL, 0, held), NOT_SUPPORTED, NULL, (uintptr_t)held);
    REFUSED(vmm_graph_add_child_graph_node(S, &node, outer, NULL, 0, held), NOT_SUPPORTED, NULL, (uintptr_t)held);
    REFUSED_BY("VMM-GRAPH-FLAGS", vmm_graph_instantiate(S, &exec, held, 64), INVALID_VALUE, "flags", 64);
    CHECK(!exec && !node, "a refused call made something");
    ACCEPTED(vmm_graph_destroy(S, outer));
    ACCEPTED(vmm_graph_destroy(S, other));
}

TEST_NEAR_MISS(GRAPH_OF_NODE, change_and_copy_the_graph_of_a_node)
{
    vmm_graph outer = made(f), held = of_a_node(f, outer), clone = NULL, end = NULL;
    vmm_graph_node node = NULL;
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = zeros(f);
    ACCEPTED(vmm_stream_begin_capture_to_graph(S, stream, held, NULL, NULL, 0, VMM_STREAM_CAPTURE_MODE_RELAXED));
    ACCEPTED(vmm_memset_d8_async(S, p, 1, 64, stream));
    ACCEPTED(vmm_stream_end_capture(S, stream, &end));
    CHECK(end == held, "the capture went into another graph");
    ACCEPTED(vmm_graph_clone(S, &clone, held));
    vmm_graph_exec exec = instance(f, clone);
    ACCEPTED(vmm_graph_add_child_graph_node(S, &node, outer, NULL, 0, clone));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, clone));
    ACCEPTED(vmm_graph_destroy(S, outer));
    fix_stream_destroy(f, stream);
}

/* The end of an invalid capture into the graph of a node: on a driver it ends that graph, and the end of the outer one the process. */
TEST_NEAR_MISS(GRAPH_OF_NODE, spoil_a_capture_into_the_graph_of_a_node)
{
    fix_need_simulator(f, "driver 580 ends the process at the end of the outer graph");
    vmm_graph outer = made(f), held = of_a_node(f, outer), clone = NULL, end = NULL;
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_stream_begin_capture_to_graph(S, stream, held, NULL, NULL, 0, VMM_STREAM_CAPTURE_MODE_RELAXED));
    CHECK_U64(vmm_stream_query(S, stream), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK_U64(vmm_stream_end_capture(S, stream, &end), VMM_ERROR_STREAM_CAPTURE_INVALIDATED);
    ACCEPTED(vmm_graph_clone(S, &clone, held));
    ACCEPTED(vmm_graph_destroy(S, clone));
    ACCEPTED(vmm_graph_destroy(S, outer));
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(GRAPH_PARAMS, copies_of_rows)
{
    vmm_deviceptr p = zeros(f);
    vmm_graph graph = made(f);
    vmm_graph_node fill = add_fill(f, graph, p, 5), node = NULL;
    vmm_memcpy3d rows = copy_of(p + 1024, p, 2);
    ACCEPTED(vmm_graph_add_memcpy_node(S, &node, graph, &fill, 1, &rows, f->ctx));
    rows.dst_device = p + 2048;
    ACCEPTED(vmm_graph_memcpy_node_set_params(S, node, &rows));
    vmm_memcpy3d held = {.depth = 7};
    ACCEPTED(vmm_graph_memcpy_node_get_params(S, node, &held));
    CHECK(held.dst_device == rows.dst_device && held.src_device == p && held.height == 2 && held.depth == 1 && held.dst_pitch == 64,
          "the node holds another copy");
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p + 1024), 0);
    CHECK_U64(word_at(f, p + 2048), UINT64_C(0x0505050505050505));
    CHECK_U64(word_at(f, p + 2048 + 8), 0);
    CHECK_U64(word_at(f, p + 2048 + 64), 0); /* the fill has 64 bytes */
    ACCEPTED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &rows, f->ctx));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* An instance of a graph with a child of one node, and another graph for that child. */
TEST_BREAKS(GRAPH_UPDATE, children_of_another_shape)
{
    fix_need_simulator(f, "what a driver answers to a child of another shape is not recorded");
    vmm_deviceptr p = zeros(f);
    vmm_graph graph = made(f), inner = made(f), other = made(f);
    vmm_graph_node inside = NULL;
    add_fill(f, inner, p, 1);
    ACCEPTED(vmm_graph_add_child_graph_node(S, &inside, graph, NULL, 0, inner));
    vmm_graph_exec exec = instance(f, graph);
    REFUSED(vmm_graph_exec_child_graph_node_set_params(S, exec, inside, other), GRAPH_EXEC_UPDATE_FAILURE, NULL, 0);
    vmm_graph_node node = empty(f, other);
    REFUSED(vmm_graph_exec_child_graph_node_set_params(S, exec, inside, other), GRAPH_EXEC_UPDATE_FAILURE, NULL, (uintptr_t)node);
    add_fill(f, other, p, 2);
    REFUSED(vmm_graph_exec_child_graph_node_set_params(S, exec, inside, other), GRAPH_EXEC_UPDATE_FAILURE, NULL, 0);
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), UINT64_C(0x0101010101010101));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, other));
    ACCEPTED(vmm_graph_destroy(S, inner));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_NEAR_MISS(GRAPH_UPDATE, children_of_the_same_shape)
{
    vmm_deviceptr p = zeros(f);
    vmm_event event = fix_event(f), later = fix_event(f);
    vmm_graph graph = made(f), inner = made(f), other = made(f);
    vmm_graph_node inside = NULL, record = NULL, wait = NULL;
    add_fill(f, inner, p, 1);
    add_fill(f, other, p + 64, 2);
    ACCEPTED(vmm_graph_add_child_graph_node(S, &inside, graph, NULL, 0, inner));
    ACCEPTED(vmm_graph_add_event_record_node(S, &record, graph, &inside, 1, event));
    ACCEPTED(vmm_graph_add_event_wait_node(S, &wait, graph, &record, 1, event));
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_graph_exec_child_graph_node_set_params(S, exec, inside, other));
    ACCEPTED(vmm_graph_exec_event_record_node_set_event(S, exec, record, later));
    ACCEPTED(vmm_graph_exec_event_wait_node_set_event(S, exec, wait, later));
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_event_synchronize(S, later));
    CHECK_U64(word_at(f, p), 0);
    CHECK_U64(word_at(f, p + 64), UINT64_C(0x0202020202020202));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, other));
    ACCEPTED(vmm_graph_destroy(S, inner));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_BREAKS(GRAPH_NODE_TYPE, ask_nodes_for_what_they_do_not_hold)
{
    const vmm_host_node_params host = {nothing, NULL};
    const vmm_memset_node_params fill = fill_of(zeros(f), 1);
    vmm_event event = fix_event(f), seen = NULL;
    vmm_graph graph = made(f), child = NULL;
    vmm_graph_node node = empty(f, graph);
    vmm_graph_exec exec = instance(f, graph);
    const uint64_t value = (uintptr_t)node;
    unsigned enabled = 7;
    REFUSED(vmm_graph_child_graph_node_get_graph(S, node, &child), INVALID_VALUE, NULL, value);
    REFUSED(vmm_graph_event_record_node_get_event(S, node, &seen), INVALID_VALUE, NULL, value);
    REFUSED(vmm_graph_event_wait_node_get_event(S, node, &seen), INVALID_VALUE, NULL, value);
    REFUSED(vmm_graph_memset_node_set_params(S, node, &fill), INVALID_VALUE, NULL, value);
    REFUSED(vmm_graph_host_node_set_params(S, node, &host), INVALID_VALUE, NULL, value);
    REFUSED(vmm_graph_event_record_node_set_event(S, node, event), INVALID_VALUE, NULL, value);
    REFUSED(vmm_graph_event_wait_node_set_event(S, node, event), INVALID_VALUE, NULL, value);
    const vmm_memcpy3d rows = copy_of(zeros(f), zeros(f), 2);
    const uint64_t args[3] = {rows.dst_device, 64, 9};
    const vmm_kernel_node_params kernel = {VMM_KERNEL_FILL, 1, 32, args, 3};
    vmm_memcpy3d held = {.depth = 7};
    REFUSED(vmm_graph_memcpy_node_get_params(S, node, &held), INVALID_VALUE, NULL, value);
    CHECK_U64(held.depth, 7);
    REFUSED(vmm_graph_memcpy_node_set_params(S, node, &rows), INVALID_VALUE, NULL, value);
    if (vmm_graph_kernel_node_set_params(S, node, &kernel) != VMM_ERROR_NOT_SUPPORTED) { /* a driver without this library's kernels */
        REFUSED(vmm_graph_kernel_node_set_params(S, node, &kernel), INVALID_VALUE, NULL, value);
        CHECK_U64(vmm_graph_exec_kernel_node_set_params(S, exec, node, &kernel), VMM_ERROR_INVALID_VALUE);
    }
    CHECK_U64(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &rows, f->ctx), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(vmm_graph_exec_event_record_node_set_event(S, exec, node, event), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(vmm_graph_exec_event_wait_node_set_event(S, exec, node, event), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(vmm_graph_exec_child_graph_node_set_params(S, exec, node, graph), VMM_ERROR_INVALID_VALUE);
    REFUSED(vmm_graph_node_set_enabled(S, exec, node, 0), INVALID_VALUE, NULL, value);
    REFUSED(vmm_graph_node_get_enabled(S, exec, node, &enabled), INVALID_VALUE, NULL, value);
    CHECK_U64(vmm_graph_exec_host_node_set_params(S, exec, node, &host), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(vmm_graph_exec_memset_node_set_params(S, exec, node, &fill, f->ctx), VMM_ERROR_INVALID_VALUE);
    CHECK(enabled == 7 && !seen && !child, "a refused call wrote something");
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_NEAR_MISS(GRAPH_NODE_TYPE, change_what_nodes_hold)
{
    const vmm_host_node_params host = {nothing, NULL};
    vmm_deviceptr p = zeros(f);
    vmm_memset_node_params fill = fill_of(p, 2);
    vmm_event event = fix_event(f), other = fix_event(f), seen = NULL;
    vmm_graph graph = made(f), inner = made(f), child = NULL;
    vmm_graph_node filling = add_fill(f, graph, p, 1), calling = NULL, record = NULL, wait = NULL, inside = NULL, copy = NULL;
    unsigned enabled = 7;
    empty(f, inner);
    ACCEPTED(vmm_graph_add_host_node(S, &calling, graph, NULL, 0, &host));
    ACCEPTED(vmm_graph_add_event_record_node(S, &record, graph, NULL, 0, event));
    ACCEPTED(vmm_graph_add_event_wait_node(S, &wait, graph, &record, 1, event));
    ACCEPTED(vmm_graph_add_child_graph_node(S, &inside, graph, NULL, 0, inner));
    ACCEPTED(vmm_graph_child_graph_node_get_graph(S, inside, &child));
    CHECK(child && child != inner, "the node holds the graph itself");
    REFUSED_BY("VMM-GRAPH-UNKNOWN", vmm_graph_destroy(S, child), INVALID_VALUE, NULL, (uintptr_t)child);
    ACCEPTED(vmm_graph_host_node_set_params(S, calling, &host));
    ACCEPTED(vmm_graph_memset_node_set_params(S, filling, &fill));
    ACCEPTED(vmm_graph_event_record_node_set_event(S, record, other));
    ACCEPTED(vmm_graph_event_wait_node_set_event(S, wait, other));
    ACCEPTED(vmm_graph_event_record_node_get_event(S, record, &seen));
    CHECK(seen == other, "the node records another event");
    ACCEPTED(vmm_graph_event_wait_node_get_event(S, wait, &seen));
    CHECK(seen == other, "the node waits for another event");
    REFUSED_BY("VMM-GRAPH-NODE", vmm_graph_node_find_in_clone(S, &copy, record, graph), INVALID_VALUE, NULL, (uintptr_t)record);
    ACCEPTED(vmm_graph_clone(S, &child, graph));
    ACCEPTED(vmm_graph_node_find_in_clone(S, &copy, record, child));
    ACCEPTED(vmm_graph_event_record_node_get_event(S, copy, &seen));
    ACCEPTED(vmm_graph_destroy(S, child));
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), UINT64_C(0x0202020202020202));
    fill.value = 3;
    ACCEPTED(vmm_graph_exec_memset_node_set_params(S, exec, filling, &fill, f->ctx));
    ACCEPTED(vmm_graph_exec_host_node_set_params(S, exec, calling, &host));
    ACCEPTED(vmm_graph_node_set_enabled(S, exec, filling, 0));
    ACCEPTED(vmm_graph_node_get_enabled(S, exec, filling, &enabled));
    CHECK_U64(enabled, 0);
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), UINT64_C(0x0202020202020202));
    ACCEPTED(vmm_graph_node_set_enabled(S, exec, filling, 1));
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), UINT64_C(0x0303030303030303));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, inner));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* ---- what a launch finds ---- */

static void replace(struct fix *f, vmm_deviceptr p)
{
    fix_unmap(f, p, f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_access(f, p, f->g, RW);
}

TEST_EXPECTS("graph.launch_finds_memory_of_its_time", remapped_since)
{
    vmm_deviceptr p = zeros(f);
    vmm_graph graph = made(f);
    add_fill(f, graph, p, 7);
    vmm_graph_exec exec = instance(f, graph);
    for (int i = 0; i < 2; i++) {
        replace(f, p);
        ACCEPTED(vmm_memset_d8(S, p, 0, f->g));
        ACCEPTED(vmm_graph_launch(S, exec, NULL));
        ACCEPTED(vmm_ctx_synchronize(S));
        CHECK_U64(word_at(f, p), UINT64_C(0x0707070707070707));
    }
    vmm_graph_exec none = NULL;
    fix_unmap(f, p, f->g); /* an instantiation looks at the memory of fills again */
    CHECK_U64(vmm_graph_instantiate(S, &none, graph, 0), VMM_ERROR_INVALID_VALUE);
    CHECK(!none, "an instance without memory");
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* Unmapped or narrowed since the instantiation: the launch is accepted, and its work faults. */
static void lose(struct fix *root, const char *schedule, bool narrows)
{
    struct fix own, *f = &own;
    scheduled_open(root, f, schedule);
    vmm_deviceptr p = zeros(f);
    vmm_graph graph = made(f);
    add_fill(f, graph, p, 7);
    vmm_graph_exec exec = instance(f, graph);
    if (narrows)
        fix_access(f, p, f->g, READ);
    else
        fix_unmap(f, p, f->g);
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    vmm_result result = vmm_ctx_synchronize(S);
    CHECK(result == VMM_ERROR_ILLEGAL_ADDRESS || result == VMM_ERROR_LAUNCH_FAILED, "%s", vmm_result_name(result));
    CHECK(strncmp(vmm_last_detail()->rule, "VMM-FAULT-", 10) == 0, "by %s", vmm_last_detail()->rule);
    fix_close(f);
}

TEST_EXPECTS("graph.launch_faults_without_memory", unmapped_or_narrowed_since)
{
    for (int i = 0; i < SCHEDULES; i++) {
        lose(f, schedules[i], false);
        lose(f, schedules[i], true);
    }
}

/* Each kind of work, captured and launched twice. */
static int called;

static void count(void *user)
{
    called += user != NULL;
}

TEST_EXPECTS("graph.captured_work_runs_at_each_launch", launch_what_was_captured)
{
    vmm_deviceptr p = zeros(f);
    vmm_stream stream = fix_stream(f);
    vmm_graph graph = NULL;
    vmm_event event = fix_event(f);
    uint64_t source = UINT64_C(0x0102030405060708), seen = 0;
    const uint64_t args[] = {p + 128, 64, 9};
    called = 0;
    ACCEPTED(vmm_stream_begin_capture(S, stream, VMM_STREAM_CAPTURE_MODE_RELAXED));
    ACCEPTED(vmm_memset_d32_async(S, p, 0x11111111, 16, stream));
    ACCEPTED(vmm_memcpy_htod_async(S, p + 64, &source, sizeof source, stream));
    ACCEPTED(vmm_memcpy_dtod_async(S, p + 72, p + 64, sizeof source, stream));
    ACCEPTED(vmm_memcpy_dtoh_async(S, &seen, p + 72, sizeof seen, stream));
    ACCEPTED(vmm_memset_d8_async(S, p, 1, 0, stream));
    ACCEPTED(vmm_memcpy_dtod_async(S, p, p + 64, 0, stream));
    ACCEPTED(vmm_launch_host_func(S, stream, count, &called));
    bool kernel = vmm_launch(S, VMM_KERNEL_FILL, 1, 32, args, 3, stream) == VMM_SUCCESS;
    ACCEPTED(vmm_stream_end_capture(S, stream, &graph));
    CHECK_U64(seen, 0);
    vmm_graph_node record = NULL, wait = NULL;
    ACCEPTED(vmm_graph_add_event_record_node(S, &record, graph, NULL, 0, event));
    ACCEPTED(vmm_graph_add_event_wait_node(S, &wait, graph, &record, 1, event));
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_graph_destroy(S, graph));
    for (int i = 0; i < 2; i++) {
        ACCEPTED(vmm_memset_d8(S, p, 0, f->g));
        ACCEPTED(vmm_stream_synchronize(S, NULL)); /* the fill does not wait for itself, nor the stream for the fill */
        seen = 0;
        ACCEPTED(vmm_graph_launch(S, exec, stream));
        ACCEPTED(vmm_stream_synchronize(S, stream));
        CHECK_U64(word_at(f, p), UINT64_C(0x1111111111111111));
        CHECK_U64(seen, source);
        CHECK_U64((uint64_t)called, (uint64_t)i + 1);
        if (kernel)
            CHECK_U64(word_at(f, p + 128), UINT64_C(0x0909090909090909));
    }
    ACCEPTED(vmm_event_query(S, event));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    fix_stream_destroy(f, stream);
}

/* An H100 answered so, and the process died some calls later. */
TEST_EXPECTS("graph.ended_event_is_left_out", launch_without_the_event)
{
    fix_need_simulator(f, "driver 580 ends the process");
    vmm_event event = fix_event(f);
    vmm_graph graph = made(f);
    vmm_graph_node record = NULL, wait = NULL;
    ACCEPTED(vmm_graph_add_event_record_node(S, &record, graph, NULL, 0, event));
    ACCEPTED(vmm_graph_add_event_wait_node(S, &wait, graph, &record, 1, event));
    vmm_graph_exec exec = instance(f, graph);
    fix_event_destroy(f, event);
    ACCEPTED(vmm_graph_launch(S, exec, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}
