/* SPDX-License-Identifier: Apache-2.0 */
/* Captured streams: which calls are refused, and that what is captured does not run. */
#include <pthread.h>

#include "test.h"
#include "zeros.h"

enum { GLOBAL = VMM_STREAM_CAPTURE_MODE_GLOBAL, THREAD = VMM_STREAM_CAPTURE_MODE_THREAD_LOCAL, RELAXED = VMM_STREAM_CAPTURE_MODE_RELAXED };

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

/* A stream that is not ordered with the default stream, whose capture has begun. */
static vmm_stream captured(struct fix *f, vmm_stream_capture_mode mode)
{
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_stream_begin_capture(S, stream, mode));
    return stream;
}

static vmm_stream_capture_status status(struct fix *f, vmm_stream stream)
{
    vmm_stream_capture_status is = -1;
    ACCEPTED(vmm_stream_is_capturing(S, stream, &is));
    return is;
}

/* Ends a capture that a refused call has invalidated. */
static void end_spoiled(struct fix *f, vmm_stream stream)
{
    vmm_graph graph = (vmm_graph)8;
    CHECK_U64((uint64_t)status(f, stream), VMM_STREAM_CAPTURE_STATUS_INVALIDATED);
    CHECK_U64(vmm_stream_end_capture(S, stream, &graph), VMM_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(!graph, "a graph of an invalidated capture");
    CHECK_U64((uint64_t)status(f, stream), VMM_STREAM_CAPTURE_STATUS_NONE);
    fix_stream_destroy(f, stream);
}

static void end_whole(struct fix *f, vmm_stream stream)
{
    vmm_graph graph = NULL;
    ACCEPTED(vmm_stream_end_capture(S, stream, &graph));
    ACCEPTED(vmm_graph_destroy(S, graph));
    fix_stream_destroy(f, stream);
}

/* ---- begin and end ---- */

TEST_BREAKS(CAPTURE_DEFAULT, capture_the_default_stream)
{
    REFUSED(vmm_stream_begin_capture(S, NULL, GLOBAL), STREAM_CAPTURE_UNSUPPORTED, NULL, 0);
    REFUSED(vmm_stream_begin_capture(S, VMM_STREAM_LEGACY, RELAXED), STREAM_CAPTURE_UNSUPPORTED, NULL, 0);
}

TEST_NEAR_MISS(CAPTURE_DEFAULT, capture_the_threads_own_stream)
{
    vmm_graph graph = NULL;
    ACCEPTED(vmm_stream_begin_capture(S, VMM_STREAM_PER_THREAD, GLOBAL));
    ACCEPTED(vmm_stream_end_capture(S, VMM_STREAM_PER_THREAD, &graph));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_BREAKS(CAPTURE_MODE, capture_in_a_mode_that_is_none)
{
    vmm_stream stream = fix_stream(f);
    REFUSED(vmm_stream_begin_capture(S, stream, 3), INVALID_VALUE, "mode", 3);
    REFUSED(vmm_stream_begin_capture(S, stream, -1), INVALID_VALUE, "mode", UINT64_MAX);
    CHECK_U64((uint64_t)status(f, stream), VMM_STREAM_CAPTURE_STATUS_NONE);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(CAPTURE_MODE, capture_in_each_mode)
{
    for (int mode = GLOBAL; mode <= RELAXED; mode++)
        end_whole(f, captured(f, mode));
}

TEST_BREAKS(CAPTURE_STATE, begin_twice_and_end_what_was_not_begun)
{
    vmm_graph graph = (vmm_graph)8;
    vmm_stream stream = captured(f, RELAXED), other = fix_stream(f);
    REFUSED(vmm_stream_begin_capture(S, stream, RELAXED), ILLEGAL_STATE, NULL, (uintptr_t)stream);
    REFUSED(vmm_stream_end_capture(S, other, &graph), ILLEGAL_STATE, NULL, (uintptr_t)other);
    CHECK(!graph, "the graph is not NULL");
    REFUSED(vmm_stream_end_capture(S, NULL, &graph), ILLEGAL_STATE, NULL, 0);
    CHECK_U64((uint64_t)status(f, stream), VMM_STREAM_CAPTURE_STATUS_ACTIVE);
    REFUSED(vmm_stream_update_capture_dependencies(S, other, NULL, NULL, 0, 2), ILLEGAL_STATE, NULL, (uintptr_t)other);
    end_whole(f, stream);
    fix_stream_destroy(f, other);
}

TEST_BREAKS(CAPTURE_STATE, end_nodes_of_a_graph_that_is_captured_into)
{
    vmm_graph graph = NULL, end = NULL;
    vmm_graph_node node = NULL;
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    ACCEPTED(vmm_graph_add_empty_node(S, &node, graph, NULL, 0));
    ACCEPTED(vmm_stream_begin_capture_to_graph(S, stream, graph, NULL, NULL, 0, RELAXED));
    REFUSED(vmm_graph_destroy_node(S, node), ILLEGAL_STATE, NULL, (uintptr_t)node);
    ACCEPTED(vmm_stream_end_capture(S, stream, &end));
    ACCEPTED(vmm_graph_destroy_node(S, node));
    ACCEPTED(vmm_graph_destroy(S, graph));
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(CAPTURE_STATE, begin_again_after_the_end)
{
    vmm_graph graph = NULL;
    vmm_stream stream = captured(f, GLOBAL);
    ACCEPTED(vmm_stream_end_capture(S, stream, NULL)); /* the graph is dropped */
    ACCEPTED(vmm_stream_begin_capture(S, stream, GLOBAL));
    ACCEPTED(vmm_stream_end_capture(S, stream, &graph));
    ACCEPTED(vmm_graph_destroy(S, graph));
    fix_stream_destroy(f, stream);
}

/* What another thread of the test does with the stream. */
struct elsewhere {
    vmm_system *sys;
    vmm_context ctx;
    vmm_stream stream;
    vmm_stream_capture_mode mode; /* to begin with; -1: end */
    vmm_result result;
};

static void *other_thread(void *user)
{
    struct elsewhere *at = user;
    vmm_graph graph = NULL;
    vmm_ctx_set_current(at->sys, at->ctx);
    at->result = at->mode >= 0 ? vmm_stream_begin_capture(at->sys, at->stream, at->mode)
                               : vmm_stream_end_capture(at->sys, at->stream, &graph);
    if (graph)
        vmm_graph_destroy(at->sys, graph);
    return NULL;
}

static vmm_result elsewhere(struct fix *f, vmm_stream stream, vmm_stream_capture_mode mode)
{
    pthread_t thread;
    struct elsewhere at = {S, f->ctx, stream, mode, VMM_ERROR_UNKNOWN};
    if (pthread_create(&thread, NULL, other_thread, &at) == 0)
        pthread_join(thread, NULL);
    return at.result;
}

TEST_BREAKS(CAPTURE_THREAD, end_what_another_thread_began)
{
    for (int mode = GLOBAL; mode <= THREAD; mode++) {
        vmm_graph graph = NULL;
        vmm_stream stream = fix_stream(f);
        CHECK_U64(elsewhere(f, stream, mode), VMM_SUCCESS);
        REFUSED(vmm_stream_end_capture(S, stream, &graph), STREAM_CAPTURE_WRONG_THREAD, NULL, (uintptr_t)stream);
        CHECK_U64((uint64_t)status(f, stream), VMM_STREAM_CAPTURE_STATUS_NONE);
        fix_stream_destroy(f, stream);
    }
}

TEST_NEAR_MISS(CAPTURE_THREAD, end_a_relaxed_capture_of_another_thread)
{
    vmm_stream stream = fix_stream(f);
    CHECK_U64(elsewhere(f, stream, RELAXED), VMM_SUCCESS);
    end_whole(f, stream);
    stream = captured(f, RELAXED);
    CHECK_U64(elsewhere(f, stream, -1), VMM_SUCCESS);
    fix_stream_destroy(f, stream);
}

TEST_EXPECTS("graph.capture_goes_on_from_nodes", capture_into_a_graph)
{
    vmm_deviceptr p = zeros(f);
    vmm_graph graph = NULL, end = NULL;
    vmm_graph_node first = NULL, wrong = NULL;
    vmm_graph_exec exec = NULL;
    vmm_stream stream = fix_stream(f), other = fix_stream(f);
    uint64_t word = 0;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    ACCEPTED(vmm_graph_add_empty_node(S, &first, graph, NULL, 0));
    REFUSED_BY("VMM-GRAPH-NULL", vmm_stream_begin_capture_to_graph(S, stream, graph, NULL, NULL, 1, RELAXED), INVALID_VALUE, NULL, 0);
    REFUSED_BY("VMM-GRAPH-UNKNOWN", vmm_stream_begin_capture_to_graph(S, stream, NULL, NULL, NULL, 0, RELAXED), INVALID_VALUE, NULL, 0);
    REFUSED_BY("VMM-GRAPH-NODE", vmm_stream_begin_capture_to_graph(S, stream, graph, &wrong, NULL, 1, RELAXED), INVALID_VALUE, NULL, 0);
    REFUSED_BY("VMM-CAPTURE-MODE", vmm_stream_begin_capture_to_graph(S, stream, graph, NULL, NULL, 0, 3), INVALID_VALUE, "mode", 3);
    ACCEPTED(vmm_stream_begin_capture_to_graph(S, stream, graph, &first, NULL, 1, RELAXED));
    REFUSED_BY("VMM-CAPTURE-STATE", vmm_stream_begin_capture_to_graph(S, other, graph, NULL, NULL, 0, RELAXED), ILLEGAL_STATE, NULL,
               (uintptr_t)graph);
    REFUSED_BY("VMM-CAPTURE-STATE", vmm_graph_destroy(S, graph), ILLEGAL_STATE, NULL, (uintptr_t)graph);
    REFUSED_BY("VMM-GRAPH-UNKNOWN", vmm_stream_begin_capture_to_graph(S, stream, NULL, NULL, NULL, 0, RELAXED), INVALID_VALUE, NULL, 0);
    ACCEPTED(vmm_memset_d8_async(S, p, 6, 64, stream));
    ACCEPTED(vmm_stream_end_capture(S, stream, &end));
    CHECK(end == graph, "the capture went into another graph");
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    ACCEPTED(vmm_graph_launch(S, exec, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    ACCEPTED(vmm_memcpy_dtoh(S, &word, p, sizeof word));
    CHECK_U64(word, UINT64_C(0x0606060606060606));
    ACCEPTED(vmm_stream_begin_capture_to_graph(S, stream, graph, NULL, NULL, 0, RELAXED));
    CHECK_U64(vmm_stream_query(S, stream), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK_U64(vmm_stream_end_capture(S, stream, &end), VMM_ERROR_STREAM_CAPTURE_INVALIDATED);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    REFUSED_BY("VMM-GRAPH-UNKNOWN", vmm_graph_destroy(S, graph), INVALID_VALUE, NULL, (uintptr_t)graph); /* ended with the capture */
    fix_stream_destroy(f, other);
    fix_stream_destroy(f, stream);
}

TEST_BREAKS(GRAPH_EDGE, capture_with_data_that_no_edge_has)
{
    static const vmm_graph_edge_data wrong[] = {{.from_port = 4}, {.to_port = 1}, {.type = 8}, {.reserved = {0, 0, 0, 0, 1}}};
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL;
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    ACCEPTED(vmm_graph_add_empty_node(S, &node, graph, NULL, 0));
    for (int i = 0; i < 4; i++)
        REFUSED(vmm_stream_begin_capture_to_graph(S, stream, graph, &node, &wrong[i], 1, RELAXED), INVALID_VALUE, NULL, 0);
    ACCEPTED(vmm_stream_begin_capture_to_graph(S, stream, graph, &node, NULL, 1, RELAXED));
    for (int i = 0; i < 4; i++)
        REFUSED(vmm_stream_update_capture_dependencies(S, stream, &node, &wrong[i], 1, 0), INVALID_VALUE, NULL, 0);
    ACCEPTED(vmm_stream_update_capture_dependencies(S, stream, &node, &wrong[0], 0, 0));
    end_whole(f, stream);
}

TEST_NEAR_MISS(BOX_NULL, a_captured_copy_of_a_box)
{
    vmm_deviceptr p = zeros(f);
    vmm_graph graph = NULL;
    vmm_graph_exec exec = NULL;
    vmm_graph_node none = NULL;
    vmm_stream stream = captured(f, RELAXED);
    const vmm_memcpy3d rows = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = p, .src_pitch = 32,
                               .dst_memory_type = VMM_MEMORYTYPE_DEVICE, .dst_device = p + 1024, .dst_pitch = 64,
                               .width_in_bytes = 8, .height = 2, .depth = 1};
    REFUSED_BY("VMM-BOX-NULL", vmm_memcpy_3d_async(S, NULL, stream), INVALID_VALUE, "pCopy", 0);
    ACCEPTED(vmm_memset_d8_async(S, p, 7, 64, stream));
    ACCEPTED(vmm_memcpy_3d_async(S, &rows, stream));
    REFUSED_BY("VMM-GRAPH-FLAGS", vmm_stream_update_capture_dependencies(S, stream, NULL, NULL, 0, 2), INVALID_VALUE, "flags", 2);
    REFUSED_BY("VMM-GRAPH-NULL", vmm_stream_update_capture_dependencies(S, stream, NULL, NULL, 1, 0), INVALID_VALUE, NULL, 0);
    REFUSED_BY("VMM-GRAPH-EDGE", vmm_stream_update_capture_dependencies(S, stream, &none, NULL, UINT64_C(1) << 33, 0), INVALID_VALUE,
               "numDependencies", UINT64_C(1) << 33);
    REFUSED_BY("VMM-GRAPH-NODE", vmm_stream_update_capture_dependencies(S, stream, &none, NULL, 1, 0), INVALID_VALUE, NULL, 0);
    ACCEPTED(vmm_stream_update_capture_dependencies(S, stream, NULL, NULL, 0, VMM_STREAM_ADD_CAPTURE_DEPENDENCIES));
    CHECK_U64((uint64_t)status(f, stream), VMM_STREAM_CAPTURE_STATUS_ACTIVE);
    ACCEPTED(vmm_stream_end_capture(S, stream, &graph));
    REFUSED_BY("VMM-CAPTURE-STATE", vmm_stream_update_capture_dependencies(S, stream, NULL, NULL, 0, 0), ILLEGAL_STATE, NULL,
               (uintptr_t)stream);
    CHECK_U64(word_at(f, p + 1024), 0);
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    ACCEPTED(vmm_graph_launch(S, exec, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    CHECK_U64(word_at(f, p + 1024), UINT64_C(0x0707070707070707));
    CHECK_U64(word_at(f, p + 1024 + 64), UINT64_C(0x0707070707070707));
    CHECK_U64(word_at(f, p + 1024 + 8), 0);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
    fix_stream_destroy(f, stream);
}

/* Here as a query of the stream; no driver was asked. */
TEST_BREAKS(CAPTURE_FORBIDS, copies_between_contexts)
{
    fix_need_simulator(f, "what a driver does with a captured copy between contexts is not recorded");
    vmm_deviceptr p = zeros(f);
    vmm_stream stream = captured(f, RELAXED);
    const vmm_memcpy3d_peer row = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = p, .src_context = f->ctx,
                                   .dst_memory_type = VMM_MEMORYTYPE_DEVICE, .dst_device = p + 64, .dst_context = f->ctx,
                                   .width_in_bytes = 8, .height = 1, .depth = 1};
    REFUSED(vmm_memcpy_3d_peer_async(S, &row, stream), STREAM_CAPTURE_UNSUPPORTED, NULL, (uintptr_t)stream);
    CHECK_U64(vmm_memcpy_3d_async(S, (const vmm_memcpy3d *)(const void *)&row, stream), VMM_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK_U64(vmm_memcpy_3d_async(S, NULL, stream), VMM_ERROR_STREAM_CAPTURE_INVALIDATED);
    end_spoiled(f, stream);
}

/* ---- streams that join ---- */

/* A stream that has joined the capture of the other one. */
static vmm_stream joined(struct fix *f, vmm_stream origin)
{
    vmm_event event = fix_event(f);
    vmm_stream stream = fix_stream(f);
    ACCEPTED(vmm_event_record(S, event, origin));
    ACCEPTED(vmm_stream_wait_event(S, stream, event, 0));
    CHECK_U64((uint64_t)status(f, stream), VMM_STREAM_CAPTURE_STATUS_ACTIVE);
    return stream;
}

static void join_back(struct fix *f, vmm_stream origin, vmm_stream stream)
{
    vmm_event event = fix_event(f);
    ACCEPTED(vmm_event_record(S, event, stream));
    ACCEPTED(vmm_stream_wait_event(S, origin, event, 0));
}

TEST_BREAKS(CAPTURE_UNJOINED, end_without_the_work_of_another_stream)
{
    vmm_graph graph = NULL;
    vmm_deviceptr p = zeros(f);
    vmm_stream origin = captured(f, RELAXED), stream = joined(f, origin);
    ACCEPTED(vmm_memset_d8_async(S, p, 1, 64, stream));
    REFUSED(vmm_stream_end_capture(S, origin, &graph), STREAM_CAPTURE_UNJOINED, NULL, (uintptr_t)origin);
    CHECK(!graph, "a graph of a capture that was not joined");
    CHECK_U64((uint64_t)status(f, stream), VMM_STREAM_CAPTURE_STATUS_NONE);
    fix_stream_destroy(f, stream);
    fix_stream_destroy(f, origin);
}

/* A stream that joined and did nothing is not waited for, also where the other one has let go of what it began with. */
TEST_NEAR_MISS(CAPTURE_UNJOINED, end_beside_a_stream_without_work)
{
    vmm_deviceptr p = zeros(f);
    vmm_stream origin = captured(f, RELAXED);
    ACCEPTED(vmm_memset_d8_async(S, p, 1, 64, origin));
    vmm_stream stream = joined(f, origin);
    ACCEPTED(vmm_stream_update_capture_dependencies(S, origin, NULL, NULL, 0, VMM_STREAM_SET_CAPTURE_DEPENDENCIES));
    end_whole(f, origin);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(CAPTURE_UNJOINED, end_with_the_work_of_another_stream)
{
    vmm_deviceptr p = zeros(f);
    vmm_stream origin = captured(f, RELAXED), stream = joined(f, origin);
    ACCEPTED(vmm_memset_d8_async(S, p, 1, 64, stream));
    join_back(f, origin, stream);
    end_whole(f, origin);
    fix_stream_destroy(f, stream);
}

TEST_BREAKS(CAPTURE_UNMATCHED, end_with_a_stream_that_joined)
{
    vmm_graph graph = NULL;
    vmm_stream origin = captured(f, RELAXED), stream = joined(f, origin);
    REFUSED(vmm_stream_end_capture(S, stream, &graph), STREAM_CAPTURE_UNMATCHED, NULL, (uintptr_t)stream);
    end_spoiled(f, origin);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(CAPTURE_UNMATCHED, end_with_the_stream_that_began)
{
    vmm_stream origin = captured(f, RELAXED), stream = joined(f, origin);
    join_back(f, origin, stream);
    end_whole(f, origin);
    fix_stream_destroy(f, stream);
}

TEST_BREAKS(CAPTURE_MERGE, wait_for_an_event_of_another_capture)
{
    vmm_event event = fix_event(f);
    vmm_stream one = captured(f, RELAXED), two = captured(f, RELAXED);
    ACCEPTED(vmm_event_record(S, event, one));
    REFUSED(vmm_stream_wait_event(S, two, event, 0), STREAM_CAPTURE_MERGE, NULL, (uintptr_t)event);
    end_spoiled(f, one);
    end_spoiled(f, two);
}

TEST_NEAR_MISS(CAPTURE_MERGE, wait_for_an_event_of_the_same_capture)
{
    vmm_event event = fix_event(f);
    vmm_stream stream = captured(f, RELAXED);
    ACCEPTED(vmm_event_record(S, event, stream));
    ACCEPTED(vmm_stream_wait_event(S, stream, event, 0));
    end_whole(f, stream);
}

TEST_BREAKS(CAPTURE_ISOLATION, wait_for_an_event_of_no_capture)
{
    vmm_event event = fix_event(f);
    vmm_stream stream = fix_stream(f), other = fix_stream(f);
    ACCEPTED(vmm_event_record(S, event, other));
    ACCEPTED(vmm_stream_begin_capture(S, stream, RELAXED));
    REFUSED(vmm_stream_wait_event(S, stream, event, 0), STREAM_CAPTURE_ISOLATION, NULL, (uintptr_t)event);
    end_spoiled(f, stream);
    fix_stream_destroy(f, other);
}

TEST_NEAR_MISS(CAPTURE_ISOLATION, wait_for_an_event_that_nobody_recorded)
{
    vmm_event fresh = fix_event(f), event = fix_event(f);
    vmm_stream stream = captured(f, RELAXED), other = fix_stream(f);
    ACCEPTED(vmm_event_record(S, event, other));
    ACCEPTED(vmm_stream_wait_event(S, stream, fresh, 0));
    ACCEPTED(vmm_stream_wait_event(S, stream, event, VMM_EVENT_WAIT_EXTERNAL));
    end_whole(f, stream);
    fix_stream_destroy(f, other);
}

/* ---- calls that a capture forbids ---- */

TEST_BREAKS(CAPTURE_FORBIDS, wait_for_and_ask_about_captured_work)
{
    vmm_deviceptr p = 0;
    vmm_stream stream = captured(f, RELAXED), free = fix_stream(f);
    REFUSED(vmm_stream_query(S, stream), STREAM_CAPTURE_UNSUPPORTED, NULL, (uintptr_t)stream);
    end_spoiled(f, stream);
    stream = captured(f, RELAXED);
    REFUSED(vmm_stream_synchronize(S, stream), STREAM_CAPTURE_UNSUPPORTED, NULL, (uintptr_t)stream);
    end_spoiled(f, stream);
    stream = captured(f, RELAXED);
    REFUSED(vmm_ctx_synchronize(S), STREAM_CAPTURE_UNSUPPORTED, NULL, 0);
    end_spoiled(f, stream);
    stream = captured(f, THREAD);
    REFUSED(vmm_stream_query(S, free), STREAM_CAPTURE_UNSUPPORTED, NULL, 0);
    end_spoiled(f, stream);
    stream = captured(f, GLOBAL);
    CHECK_U64(vmm_mem_alloc(S, &p, 4096), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_spoiled(f, stream);
    fix_stream_destroy(f, free);
}

TEST_NEAR_MISS(CAPTURE_FORBIDS, make_calls_of_virtual_memory)
{
    const vmm_mem_access_desc rw = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    vmm_deviceptr q = 0;
    vmm_stream stream = captured(f, GLOBAL);
    vmm_deviceptr p = fix_reserve(f, f->g);
    ACCEPTED(vmm_mem_map(S, p, f->g, 0, fix_create(f, f->g), 0));
    ACCEPTED(vmm_mem_set_access(S, p, f->g, &rw, 1)); /* fix_access and fix_unmap would wait for the context */
    ACCEPTED(vmm_mem_unmap(S, p, f->g));
    end_whole(f, stream);
    stream = captured(f, RELAXED);
    vmm_stream free = fix_stream(f);
    ACCEPTED(vmm_stream_query(S, free));
    ACCEPTED(vmm_mem_alloc(S, &q, 4096));
    ACCEPTED(vmm_mem_free(S, q));
    end_whole(f, stream);
    fix_stream_destroy(f, free);
}

TEST_BREAKS(CAPTURE_INVALIDATED, work_after_a_refused_call)
{
    vmm_graph graph = NULL;
    vmm_deviceptr p = zeros(f);
    vmm_event event = fix_event(f);
    vmm_stream stream = captured(f, RELAXED);
    const uint64_t value = (uintptr_t)stream;
    CHECK_U64(vmm_stream_query(S, stream), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    REFUSED(vmm_memset_d8_async(S, p, 1, 64, stream), STREAM_CAPTURE_INVALIDATED, NULL, value);
    REFUSED(vmm_event_record(S, event, stream), STREAM_CAPTURE_INVALIDATED, NULL, value);
    vmm_deviceptr none = 77;
    CHECK_U64(vmm_mem_alloc_async(S, &none, 64, stream), VMM_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK_U64(none, 0); /* measured: it is written */
    REFUSED(vmm_stream_wait_event(S, stream, event, 0), STREAM_CAPTURE_INVALIDATED, NULL, value);
    REFUSED(vmm_stream_end_capture(S, stream, &graph), STREAM_CAPTURE_INVALIDATED, NULL, value);
    ACCEPTED(vmm_memset_d8_async(S, p, 1, 64, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(CAPTURE_INVALIDATED, work_after_a_call_refused_for_its_arguments)
{
    vmm_deviceptr p = zeros(f);
    vmm_stream stream = captured(f, RELAXED);
    CHECK_U64(vmm_memset_d32_async(S, p + 1, 1, 16, stream), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(vmm_launch_host_func(S, stream, NULL, NULL), VMM_ERROR_INVALID_VALUE);
    ACCEPTED(vmm_memset_d32_async(S, p, 1, 16, stream));
    end_whole(f, stream);
}

TEST_BREAKS(CAPTURE_IMPLICIT, use_the_default_stream_beside_a_blocking_one)
{
    vmm_deviceptr p = zeros(f);
    vmm_stream stream = NULL;
    for (int i = 0; i < 4; i++) {
        ACCEPTED(vmm_stream_create(S, &stream, VMM_STREAM_DEFAULT));
        ACCEPTED(vmm_stream_begin_capture(S, stream, RELAXED));
        switch (i) {
        case 0: REFUSED(vmm_memset_d8(S, p, 1, 64), STREAM_CAPTURE_IMPLICIT, NULL, 0); break;
        case 1: REFUSED(vmm_memset_d8_async(S, p, 1, 64, NULL), STREAM_CAPTURE_IMPLICIT, NULL, 0); break;
        case 2: REFUSED(vmm_stream_query(S, VMM_STREAM_LEGACY), STREAM_CAPTURE_IMPLICIT, NULL, 0); break;
        default: REFUSED(vmm_memcpy_dtod(S, p, p + 64, 64), STREAM_CAPTURE_IMPLICIT, NULL, 0); break;
        }
        end_spoiled(f, stream);
    }
}

TEST_NEAR_MISS(CAPTURE_IMPLICIT, use_the_default_stream_beside_another)
{
    uint64_t word = 1;
    vmm_deviceptr p = zeros(f);
    vmm_stream stream = captured(f, RELAXED);
    ACCEPTED(vmm_memset_d8_async(S, p, 1, 64, stream));
    ACCEPTED(vmm_memset_d8_async(S, p, 2, 8, NULL));
    ACCEPTED(vmm_memcpy_dtoh(S, &word, p, sizeof word));
    CHECK_U64(word, UINT64_C(0x0202020202020202)); /* and not what was captured */
    end_whole(f, stream);
    for (vmm_stream_capture_mode mode = GLOBAL; mode <= RELAXED; mode++) { /* calls that wait for their own work alone */
        stream = captured(f, mode);
        ACCEPTED(vmm_memset_d8(S, p, (unsigned char)(3 + mode), 8));
        ACCEPTED(vmm_memcpy_dtoh(S, &word, p, sizeof word));
        CHECK_U64(word, UINT64_C(0x0101010101010101) * (3 + (uint64_t)mode));
        ACCEPTED(vmm_memcpy_htod(S, p, &word, sizeof word));
        end_whole(f, stream);
    }
}

/* ---- events ---- */

TEST_BREAKS(CAPTURED_EVENT, ask_about_an_event_of_a_capture)
{
    vmm_event event = fix_event(f);
    vmm_stream stream = captured(f, RELAXED);
    ACCEPTED(vmm_event_record(S, event, stream));
    REFUSED(vmm_event_query(S, event), CAPTURED_EVENT, NULL, (uintptr_t)event);
    end_spoiled(f, stream);
    stream = captured(f, RELAXED);
    ACCEPTED(vmm_event_record(S, event, stream));
    REFUSED(vmm_event_synchronize(S, event), CAPTURED_EVENT, NULL, (uintptr_t)event);
    end_spoiled(f, stream);
}

TEST_NEAR_MISS(CAPTURED_EVENT, ask_about_an_event_recorded_anew)
{
    vmm_event event = fix_event(f);
    vmm_stream stream = captured(f, RELAXED), other = fix_stream(f);
    ACCEPTED(vmm_event_record(S, event, stream));
    ACCEPTED(vmm_event_record(S, event, other));
    ACCEPTED(vmm_event_synchronize(S, event));
    end_whole(f, stream);
    ACCEPTED(vmm_event_query(S, event));
    fix_stream_destroy(f, other);
}

TEST_BREAKS(CAPTURED_EVENT_OVER, use_an_event_of_a_capture_that_is_over)
{
    vmm_event event = fix_event(f);
    vmm_stream stream = captured(f, RELAXED);
    ACCEPTED(vmm_event_record(S, event, stream));
    end_whole(f, stream);
    stream = fix_stream(f);
    REFUSED(vmm_event_query(S, event), INVALID_VALUE, NULL, (uintptr_t)event);
    REFUSED(vmm_event_synchronize(S, event), INVALID_VALUE, NULL, (uintptr_t)event);
    REFUSED(vmm_stream_wait_event(S, stream, event, 0), INVALID_VALUE, NULL, (uintptr_t)event);
    fix_stream_destroy(f, stream);
}

TEST_BREAKS(CAPTURED_EVENT_OVER, wait_for_an_event_of_an_invalid_capture)
{
    vmm_event event = fix_event(f);
    vmm_stream stream = captured(f, RELAXED), other = fix_stream(f);
    ACCEPTED(vmm_event_record(S, event, stream));
    CHECK_U64(vmm_stream_query(S, stream), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    REFUSED(vmm_stream_wait_event(S, other, event, 0), INVALID_VALUE, NULL, (uintptr_t)event);
    CHECK_U64((uint64_t)status(f, other), VMM_STREAM_CAPTURE_STATUS_NONE);
    end_spoiled(f, stream);
    fix_stream_destroy(f, other);
}

/* The wait as a node of its own, which an event of a capture that goes on may be named by. */
TEST_BREAKS(CAPTURED_EVENT_OVER, wait_outside_for_an_event_of_a_capture_that_is_over)
{
    vmm_event event = fix_event(f);
    vmm_stream stream = captured(f, RELAXED), other = captured(f, RELAXED);
    ACCEPTED(vmm_event_record(S, event, stream));
    ACCEPTED(vmm_stream_wait_event(S, other, event, VMM_EVENT_WAIT_EXTERNAL));
    end_whole(f, stream);
    REFUSED(vmm_stream_wait_event(S, other, event, VMM_EVENT_WAIT_EXTERNAL), INVALID_VALUE, NULL, (uintptr_t)event);
    end_spoiled(f, other);
}

TEST_BREAKS(CAPTURED_EVENT_OVER, wait_outside_for_an_event_of_an_invalid_capture)
{
    vmm_event event = fix_event(f);
    vmm_stream stream = captured(f, RELAXED), other = captured(f, RELAXED);
    ACCEPTED(vmm_event_record(S, event, stream));
    CHECK_U64(vmm_stream_query(S, stream), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    REFUSED(vmm_stream_wait_event(S, other, event, VMM_EVENT_WAIT_EXTERNAL), INVALID_VALUE, NULL, (uintptr_t)event);
    end_spoiled(f, other);
    end_spoiled(f, stream);
}

TEST_NEAR_MISS(CAPTURED_EVENT_OVER, use_it_again_after_a_record)
{
    vmm_event event = fix_event(f);
    vmm_stream stream = captured(f, RELAXED);
    ACCEPTED(vmm_event_record(S, event, stream));
    end_whole(f, stream);
    stream = fix_stream(f);
    ACCEPTED(vmm_event_record(S, event, stream));
    ACCEPTED(vmm_event_synchronize(S, event));
    fix_stream_destroy(f, stream);
}
