/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: graphs and captures beside contexts of two devices, as random calls on two H200 found them. */
#include "test.h"
#include "two_devices.h"

#define RELAXED VMM_STREAM_CAPTURE_MODE_RELAXED

/* Memory of a device, with these rights for devices 0 and 1. */
static vmm_deviceptr memory_of(struct fix *f, int device, vmm_mem_access_flags first, vmm_mem_access_flags second)
{
    vmm_mem_allocation_prop prop = fix_prop(device);
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, fix_create_prop(f, f->g, &prop));
    fix_access_at(f, p, f->g, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), first);
    fix_access_at(f, p, f->g, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 1), second);
    return p;
}

/* The contexts of both devices; device 0's is current. */
static vmm_context other_of(struct fix *f)
{
    vmm_context other = fix_context(f, 1);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    return other;
}

/* NULL takes one context from the thread's. */
static void without_context(struct fix *f)
{
    vmm_context now = NULL;
    do {
        fix_need(f, vmm_ctx_set_current(S, NULL));
        fix_need(f, vmm_ctx_get_current(S, &now));
    } while (now);
}

static vmm_memcpy3d row_of(vmm_deviceptr to, vmm_deviceptr from)
{
    return (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = from, .dst_memory_type = VMM_MEMORYTYPE_DEVICE,
                          .dst_device = to, .width_in_bytes = 64, .height = 1, .depth = 1};
}

/* ---- captures ---- */

TEST_OF_TWO(TEST_KIND_BREAKS, "CAPTURE_FORBIDS", wait_for_the_context_of_a_captured_stream)
{
    vmm_stream ours = fix_stream(f);
    vmm_context other = fix_context(f, 1);
    vmm_stream theirs = fix_stream(f);
    vmm_graph graph = NULL;
    ACCEPTED(vmm_stream_begin_capture(S, theirs, RELAXED));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_stream_begin_capture(S, ours, RELAXED));
    fix_need(f, vmm_ctx_set_current(S, other));
    REFUSED(vmm_ctx_synchronize(S), STREAM_CAPTURE_UNSUPPORTED, NULL, 0);
    REFUSED_BY("VMM-CAPTURE-INVALIDATED", vmm_stream_end_capture(S, theirs, &graph), STREAM_CAPTURE_INVALIDATED, NULL,
               (uintptr_t)theirs);
    ACCEPTED(vmm_ctx_synchronize(S)); /* only the other context has a captured stream now */
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_stream_end_capture(S, ours, &graph));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_BREAKS(CAPTURE_FORBIDS, wait_for_the_context_of_the_threads_captured_stream)
{
    vmm_graph graph = NULL;
    ACCEPTED(vmm_stream_begin_capture(S, VMM_STREAM_PER_THREAD, RELAXED));
    REFUSED(vmm_ctx_synchronize(S), STREAM_CAPTURE_UNSUPPORTED, NULL, 0);
    CHECK_U64(vmm_stream_end_capture(S, VMM_STREAM_PER_THREAD, &graph), VMM_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_OF_TWO(TEST_KIND_NEAR_MISS, "CAPTURE_FORBIDS", wait_for_another_context_during_a_capture)
{
    vmm_stream ours = fix_stream(f);
    vmm_context other = other_of(f);
    vmm_graph graph = NULL;
    ACCEPTED(vmm_stream_begin_capture(S, ours, VMM_STREAM_CAPTURE_MODE_GLOBAL));
    fix_need(f, vmm_ctx_set_current(S, other));
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_stream_end_capture(S, ours, &graph));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_BREAKS(CTX_CURRENT, capture_the_default_stream_of_no_context)
{
    vmm_graph graph = NULL;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    without_context(f);
    REFUSED(vmm_stream_begin_capture(S, NULL, RELAXED), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_stream_begin_capture_to_graph(S, NULL, graph, NULL, NULL, 0, RELAXED), INVALID_CONTEXT, NULL, 0);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* ---- copies for which no context is named ---- */

TEST_OF_TWO(TEST_KIND_NEAR_MISS, "COPY_NO_WRITE", add_a_copy_of_another_devices_pool_without_a_context)
{
    vmm_context other = fix_context(f, 1);
    vmm_stream theirs = fix_stream(f);
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 1}};
    vmm_memory_pool pool = NULL; /* not the default one, whose addresses stay */
    vmm_deviceptr p = 0;
    fix_need(f, vmm_mem_pool_create(S, &pool, &props));
    fix_need(f, vmm_mem_alloc_from_pool_async(S, &p, 4096, pool, theirs));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    const vmm_memcpy3d within = row_of(p, p + 64), beside = row_of(p + 4064, p);
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = NULL;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    ACCEPTED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &within, NULL));
    CHECK_U64(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &beside, NULL), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &within, f->ctx), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(vmm_graph_instantiate(S, &exec, graph, 0), VMM_ERROR_INVALID_VALUE);
    fix_need(f, vmm_ctx_set_current(S, other));
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    fix_need(f, vmm_mem_free_async(S, p, theirs));
    ACCEPTED(vmm_stream_synchronize(S, theirs));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_mem_pool_destroy(S, pool));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* The rights of the time at which the node was made count. */
TEST_OF_TWO(TEST_KIND_BREAKS, "GRAPH_PARAMS", instantiate_a_copy_without_a_context_in_another)
{
    const vmm_deviceptr p = memory_of(f, 0, RW, NONE);
    vmm_context other = other_of(f);
    const vmm_memcpy3d row = row_of(p, p + 64);
    vmm_graph graph = NULL, outer = NULL;
    vmm_graph_node node = NULL, child = NULL;
    vmm_graph_exec exec = NULL;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    ACCEPTED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &row, NULL));
    ACCEPTED(vmm_graph_create(S, &outer, 0));
    ACCEPTED(vmm_graph_add_child_graph_node(S, &child, outer, NULL, 0, graph));
    fix_access_at(f, p, f->g, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 1), RW);
    fix_need(f, vmm_ctx_set_current(S, other));
    REFUSED(vmm_graph_instantiate(S, &exec, graph, 0), INVALID_VALUE, NULL, (uintptr_t)node);
    CHECK_U64(vmm_graph_instantiate(S, &exec, outer, 0), VMM_ERROR_INVALID_VALUE);
    ACCEPTED(vmm_graph_memcpy_node_set_params(S, node, &row));
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_graph_instantiate(S, &exec, outer, 0));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, outer));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* Without a current context no rights are looked at, either. */
TEST_OF_TWO(TEST_KIND_NEAR_MISS, "COPY_NO_READ", change_a_copy_without_a_current_context)
{
    const vmm_deviceptr p = memory_of(f, 1, NONE, RW), q = memory_of(f, 0, RW, NONE);
    const vmm_memcpy3d theirs = row_of(p, p + 64), ours = row_of(q, q + 64);
    vmm_context other = other_of(f);
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    ACCEPTED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &theirs, other));
    without_context(f);
    ACCEPTED(vmm_graph_memcpy_node_set_params(S, node, &ours));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* ---- instances ---- */

/* A copy in an instance stays with the device of its memory, and with the devices that have rights to it. */
TEST_OF_TWO(TEST_KIND_BREAKS, "GRAPH_PARAMS", move_a_copy_of_an_instance_to_another_device)
{
    const vmm_deviceptr p = memory_of(f, 0, RW, NONE), shared = memory_of(f, 0, RW, READ), theirs = memory_of(f, 1, RW, NONE);
    const vmm_memcpy3d row = row_of(p, p + 64), later = row_of(p + 128, p + 256), to[] = {row_of(shared, p), row_of(theirs, p)};
    const vmm_memcpy3d from[] = {row_of(p, shared), row_of(p, theirs)};
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = NULL;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    ACCEPTED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &row, f->ctx));
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        REFUSED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &to[i], f->ctx), INVALID_VALUE, NULL, (uintptr_t)node);
        REFUSED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &from[i], f->ctx), INVALID_VALUE, NULL, (uintptr_t)node);
    }
    ACCEPTED(vmm_graph_exec_memcpy_node_set_params(S, exec, node, &later, f->ctx));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_OF_TWO(TEST_KIND_BREAKS, "GRAPH_PARAMS", change_a_kernel_of_an_instance_in_another_context)
{
    const uint64_t args[3] = {memory_of(f, 0, RW, RW), 64, 9};
    const vmm_kernel_node_params kernel = {VMM_KERNEL_FILL, 1, 32, args, 3};
    vmm_context other = other_of(f);
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL, host = NULL;
    vmm_graph_exec exec = NULL;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    vmm_result result = vmm_graph_add_kernel_node(S, &node, graph, NULL, 0, &kernel);
    if (result == VMM_ERROR_NOT_SUPPORTED)
        fix_skip(f, "needs this library's kernels");
    ACCEPTED(result);
    ACCEPTED(vmm_graph_add_empty_node(S, &host, graph, NULL, 0));
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    ACCEPTED(vmm_graph_exec_kernel_node_set_params(S, exec, node, &kernel));
    fix_need(f, vmm_ctx_set_current(S, other));
    REFUSED(vmm_graph_exec_kernel_node_set_params(S, exec, node, &kernel), INVALID_VALUE, NULL, (uintptr_t)node);
    without_context(f);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_graph_exec_kernel_node_set_params(S, exec, node, &kernel), INVALID_CONTEXT, NULL, 0);
    CHECK_U64(vmm_graph_exec_kernel_node_set_params(S, exec, host, &kernel), VMM_ERROR_INVALID_VALUE); /* that counts first */
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}
