/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that graphs allocate and free: the graph has its addresses, and each launch an allocation. */
#include "test.h"
#include "zeros.h"

enum { SIZE = 4096, RELAXED = VMM_STREAM_CAPTURE_MODE_RELAXED };

static vmm_stream captured(struct fix *f)
{
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_stream_begin_capture(S, stream, RELAXED));
    return stream;
}

static vmm_graph end(struct fix *f, vmm_stream stream)
{
    vmm_graph graph = NULL;
    ACCEPTED(vmm_stream_end_capture(S, stream, &graph));
    return graph;
}

/* A graph that allocates at *p, and perhaps frees that. */
static vmm_graph allocates(struct fix *f, vmm_stream stream, vmm_deviceptr *p, bool frees)
{
    ACCEPTED(vmm_stream_begin_capture(S, stream, RELAXED));
    ACCEPTED(vmm_mem_alloc_async(S, p, SIZE, stream));
    ACCEPTED(vmm_memset_d8_async(S, *p, 5, SIZE, stream));
    if (frees)
        ACCEPTED(vmm_mem_free_async(S, *p, stream));
    return end(f, stream);
}

static vmm_graph_exec instance(struct fix *f, vmm_graph graph)
{
    vmm_graph_exec exec = NULL;
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    return exec;
}

static void drop(struct fix *f, vmm_graph graph, vmm_graph_exec exec)
{
    if (exec)
        ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* ---- what a capture takes ---- */

TEST_BREAKS(POOL_UNKNOWN, captured_allocation_of_a_pool_that_ended)
{
    fix_context(f, 0);
    fix_need_simulator(f, "a driver may have reused the value");
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_memory_pool pool = NULL;
    vmm_graph graph = NULL;
    vmm_deviceptr ptr = 7;
    fix_need(f, vmm_mem_pool_create(S, &pool, &props));
    fix_need(f, vmm_mem_pool_destroy(S, pool));
    vmm_stream stream = captured(f);
    vmm_result result = vmm_mem_alloc_from_pool_async(S, &ptr, SIZE, pool, stream);
    const vmm_detail *detail = vmm_last_detail();
    CHECK_U64(result, VMM_ERROR_INVALID_VALUE);
    CHECK_U64(detail->value, (uint64_t)(uintptr_t)pool);
    CHECK_U64(detail->expected, 0);
    CHECK_U64(ptr, 0);
    vmm_stream_end_capture(S, stream, &graph);
    if (graph)
        ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_EXPECTS("graph.memory_operations_become_nodes", launch_captured_memory_operations)
{
    vmm_deviceptr p = zeros(f);
    uint64_t words[2] = {0, 0};
    const vmm_stream_batch_mem_op_params both[2] = {
        {.write_value = {.operation = VMM_STREAM_MEM_OP_WRITE_VALUE_32, .address = p + 8, .value = 9}},
        {.wait_value = {.operation = VMM_STREAM_MEM_OP_WAIT_VALUE_32, .address = p + 8, .value = 9}}};
    vmm_stream stream = captured(f);
    ACCEPTED(vmm_stream_write_value32(S, stream, p, 7, 0));
    ACCEPTED(vmm_stream_wait_value32(S, stream, p, 7, VMM_STREAM_WAIT_VALUE_EQ));
    ACCEPTED(vmm_stream_batch_mem_op(S, stream, 2, both, 0));
    vmm_graph graph = end(f, stream);
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_memcpy_dtoh(S, words, p, sizeof words));
    CHECK_U64(words[0] | words[1], 0);
    ACCEPTED(vmm_graph_launch(S, exec, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    ACCEPTED(vmm_memcpy_dtoh(S, words, p, sizeof words));
    CHECK_U64(words[0], 7);
    CHECK_U64(words[1], 9);
    drop(f, graph, exec);
    fix_stream_destroy(f, stream);
}

TEST_EXPECTS("graph.each_launch_allocates", launch_captured_allocations)
{
    vmm_deviceptr p = 0;
    unsigned char byte = 0;
    vmm_stream stream = fix_stream(f);
    vmm_graph graph = allocates(f, stream, &p, false);
    vmm_graph_exec exec = instance(f, graph);
    for (int i = 0; i < 2; i++) {
        ACCEPTED(vmm_graph_launch(S, exec, stream));
        ACCEPTED(vmm_stream_synchronize(S, stream));
        ACCEPTED(vmm_memcpy_dtoh(S, &byte, p + SIZE - 1, 1));
        CHECK_U64(byte, 5);
        ACCEPTED(vmm_mem_free_async(S, p, stream));
        ACCEPTED(vmm_stream_synchronize(S, stream));
    }
    drop(f, graph, exec);
    fix_stream_destroy(f, stream);
}

/* ---- what is refused ---- */

static vmm_memory_pool pool_at(struct fix *f, int type)
{
    vmm_memory_pool pool = NULL;
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0}};
    fix_need(f, vmm_mem_pool_create(S, &pool, &props));
    return pool;
}

TEST_BREAKS(GRAPH_MEMORY_KIND, a_graph_takes_memory_of_the_host)
{
    vmm_deviceptr p = 1;
    vmm_memory_pool pool = pool_at(f, VMM_MEM_LOCATION_TYPE_HOST);
    vmm_stream stream = captured(f);
    REFUSED(vmm_mem_alloc_from_pool_async(S, &p, SIZE, pool, stream), NOT_SUPPORTED, NULL, 0);
    CHECK_U64(p, 0);
    drop(f, end(f, stream), NULL);
    ACCEPTED(vmm_mem_pool_destroy(S, pool));
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(GRAPH_MEMORY_KIND, a_graph_takes_memory_of_a_devices_pool)
{
    vmm_deviceptr p = 0;
    vmm_memory_pool pool = pool_at(f, VMM_MEM_LOCATION_TYPE_DEVICE);
    vmm_stream stream = captured(f);
    ACCEPTED(vmm_mem_alloc_from_pool_async(S, &p, SIZE, pool, stream));
    ACCEPTED(vmm_mem_free_async(S, p, stream));
    drop(f, end(f, stream), NULL);
    ACCEPTED(vmm_mem_pool_destroy(S, pool));
    fix_stream_destroy(f, stream);
}

TEST_BREAKS(GRAPH_MEMORY_FULL, a_graph_needs_more_addresses_than_there_are)
{
    vmm_deviceptr p = 1;
    vmm_stream stream = captured(f);
    REFUSED(vmm_mem_alloc_async(S, &p, UINT64_C(1) << 46, stream), OUT_OF_MEMORY, NULL, 0);
    REFUSED(vmm_mem_alloc_async(S, &p, UINT64_MAX, stream), OUT_OF_MEMORY, NULL, 0);
    CHECK_U64(p, 0);
    drop(f, end(f, stream), NULL);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(GRAPH_MEMORY_FULL, a_graph_needs_few)
{
    vmm_deviceptr p = 0;
    vmm_stream stream = fix_stream(f);
    drop(f, allocates(f, stream, &p, true), NULL);
    fix_stream_destroy(f, stream);
}

TEST_BREAKS(GRAPH_MEMORY_FREE, a_graph_frees_what_no_graph_allocates)
{
    vmm_deviceptr p = 0, other = zeros(f);
    vmm_stream stream = fix_stream(f), more = captured(f);
    vmm_graph graph = allocates(f, stream, &p, true), later;
    REFUSED(vmm_mem_free_async(S, other, more), INVALID_VALUE, NULL, other);
    drop(f, end(f, more), NULL);
    drop(f, graph, NULL);
    graph = allocates(f, stream, &p, false);
    ACCEPTED(vmm_stream_begin_capture(S, more, RELAXED));
    REFUSED(vmm_mem_free_async(S, p + 16, more), INVALID_VALUE, NULL, p + 16);
    ACCEPTED(vmm_mem_free_async(S, p, more));
    REFUSED(vmm_mem_free_async(S, p, more), INVALID_VALUE, NULL, p);
    later = end(f, more);
    vmm_graph_exec exec = instance(f, later);
    REFUSED(vmm_graph_launch(S, exec, more), INVALID_VALUE, NULL, p);
    drop(f, later, exec);
    drop(f, graph, NULL);
    fix_stream_destroy(f, more);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(GRAPH_MEMORY_FREE, a_graph_frees_what_another_one_allocates)
{
    vmm_deviceptr p = 0;
    vmm_stream stream = fix_stream(f);
    vmm_graph graph = allocates(f, stream, &p, false);
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_stream_begin_capture(S, stream, RELAXED));
    ACCEPTED(vmm_mem_free_async(S, p, stream));
    vmm_graph later = end(f, stream);
    vmm_graph_exec frees = instance(f, later);
    for (int i = 0; i < 2; i++) {
        ACCEPTED(vmm_graph_launch(S, exec, stream));
        ACCEPTED(vmm_graph_launch(S, frees, stream));
    }
    ACCEPTED(vmm_stream_synchronize(S, stream));
    drop(f, later, frees);
    drop(f, graph, exec);
    fix_stream_destroy(f, stream);
}

TEST_BREAKS(GRAPH_MEMORY_LIVE, launch_again_before_the_memory_is_freed)
{
    vmm_deviceptr p = 0;
    vmm_stream stream = fix_stream(f);
    vmm_graph graph = allocates(f, stream, &p, false);
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_graph_launch(S, exec, stream));
    REFUSED(vmm_graph_launch(S, exec, stream), INVALID_VALUE, NULL, p);
    ACCEPTED(vmm_mem_free_async(S, p, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    drop(f, graph, exec);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(GRAPH_MEMORY_LIVE, launch_again_what_frees_its_memory)
{
    vmm_deviceptr p = 0;
    vmm_graph_exec exec = NULL;
    vmm_stream stream = fix_stream(f);
    vmm_graph graph = allocates(f, stream, &p, false);
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (int i = 0; i < 3; i++)
        ACCEPTED(vmm_graph_launch(S, exec, stream));
    ACCEPTED(vmm_mem_free_async(S, p, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    drop(f, graph, exec);
    fix_stream_destroy(f, stream);
}

/* A graph with one empty node and, after it, an allocation and a free. */
static vmm_graph after_an_empty_node(struct fix *f, vmm_stream stream, vmm_graph_node *node)
{
    vmm_graph graph = NULL;
    vmm_deviceptr p = 0;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    ACCEPTED(vmm_graph_add_empty_node(S, node, graph, NULL, 0));
    ACCEPTED(vmm_stream_begin_capture_to_graph(S, stream, graph, node, NULL, 1, RELAXED));
    ACCEPTED(vmm_mem_alloc_async(S, &p, SIZE, stream));
    ACCEPTED(vmm_mem_free_async(S, p, stream));
    ACCEPTED(vmm_stream_end_capture(S, stream, NULL));
    return graph;
}

TEST_BREAKS(GRAPH_MEMORY_FIXED, copies_and_cuts_of_a_graph_with_memory)
{
    vmm_graph copy = NULL, outer = NULL;
    vmm_graph_node node = NULL, child = NULL;
    vmm_graph_exec second = NULL;
    vmm_stream stream = fix_stream(f);
    vmm_graph graph = after_an_empty_node(f, stream, &node);
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_graph_create(S, &outer, 0));
    REFUSED(vmm_graph_clone(S, &copy, graph), NOT_SUPPORTED, NULL, (uintptr_t)graph);
    REFUSED(vmm_graph_add_child_graph_node(S, &child, outer, NULL, 0, graph), NOT_SUPPORTED, NULL, (uintptr_t)graph);
    REFUSED(vmm_graph_destroy_node(S, node), NOT_SUPPORTED, NULL, (uintptr_t)graph);
    REFUSED(vmm_graph_remove_dependencies(S, graph, NULL, NULL, NULL, 0), NOT_SUPPORTED, NULL, (uintptr_t)graph);
    REFUSED(vmm_graph_instantiate(S, &second, graph, 0), NOT_SUPPORTED, NULL, (uintptr_t)graph);
    drop(f, outer, NULL);
    drop(f, graph, exec);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(GRAPH_MEMORY_FIXED, one_instance_after_the_other)
{
    vmm_graph_node node = NULL;
    vmm_stream stream = fix_stream(f);
    vmm_graph graph = after_an_empty_node(f, stream, &node);
    ACCEPTED(vmm_graph_exec_destroy(S, instance(f, graph)));
    vmm_graph_exec exec = instance(f, graph);
    ACCEPTED(vmm_graph_launch(S, exec, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    drop(f, graph, exec);
    fix_stream_destroy(f, stream);
}
