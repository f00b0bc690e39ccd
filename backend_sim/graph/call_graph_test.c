/* SPDX-License-Identifier: Apache-2.0 */
/* Captures and graphs in cases that the suite does not cover: contexts that end, lost devices, streams that are destroyed while
 * captured. */
#include <pthread.h>
#include <string.h>

#include "said_rig.h"
#include "tap.h"
#include "vmm.h"

enum { RELAXED = VMM_STREAM_CAPTURE_MODE_RELAXED };

static vmm_system *sys;
static vmm_context ctx;
static vmm_deviceptr p; /* 4096 bytes */

static void begin(const char *spec)
{
    if (vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS || vmm_ctx_create(sys, &ctx, 0, 0) != VMM_SUCCESS ||
        vmm_mem_alloc(sys, &p, 4096) != VMM_SUCCESS || vmm_memset_d8(sys, p, 0, 4096) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
}

static vmm_stream stream_of(unsigned flags)
{
    vmm_stream stream = NULL;
    vmm_stream_create(sys, &stream, flags);
    return stream;
}

static vmm_event event_of(void)
{
    vmm_event event = NULL;
    vmm_event_create(sys, &event, 0);
    return event;
}

#define SUCCEEDS(call) tap_result(call, VMM_SUCCESS, "%s", #call)

/* Refused by that rule. */
#define REFUSED(call, code, id)                                                                      \
    do {                                                                                             \
        vmm_result result_ = (call);                                                                 \
        const char *by_ = vmm_last_detail()->rule;                                                   \
        said_add(#call);                                                                             \
        tap_ok(result_ == VMM_ERROR_##code && by_ && strcmp(by_, id) == 0, "%s is refused by %s: %s", #call, id, by_ ? by_ : "none"); \
    } while (0)

static vmm_stream_capture_status status_of(vmm_stream stream)
{
    vmm_stream_capture_status status = -1;
    vmm_stream_is_capturing(sys, stream, &status);
    return status;
}

/* Streams and events that end while they are captured. */
static void test_ends(void)
{
    vmm_graph graph = NULL;
    begin("sim:h100");
    vmm_stream origin = stream_of(1), other = stream_of(1);
    vmm_event event = event_of(), never = event_of();
    SUCCEEDS(vmm_stream_begin_capture(sys, origin, RELAXED));
    SUCCEEDS(vmm_event_record(sys, event, origin));
    SUCCEEDS(vmm_stream_wait_event(sys, other, event, 0));
    SUCCEEDS(vmm_memset_d8_async(sys, p, 1, 64, other));
    SUCCEEDS(vmm_stream_destroy(sys, other)); /* its work no longer has to be waited for */
    SUCCEEDS(vmm_event_destroy(sys, event));
    SUCCEEDS(vmm_stream_end_capture(sys, origin, &graph));
    SUCCEEDS(vmm_graph_destroy(sys, graph));
    SUCCEEDS(vmm_stream_begin_capture(sys, origin, RELAXED));
    SUCCEEDS(vmm_event_destroy(sys, never));
    REFUSED(vmm_stream_wait_event(sys, origin, never, 0), INVALID_HANDLE, "VMM-EVENT-UNKNOWN");
    tap_u64((uint64_t)status_of(origin), VMM_STREAM_CAPTURE_STATUS_INVALIDATED, "the refusal invalidates the capture");
    SUCCEEDS(vmm_stream_destroy(sys, origin));
    origin = stream_of(1);
    SUCCEEDS(vmm_stream_begin_capture(sys, origin, RELAXED));
    REFUSED(vmm_stream_wait_event(sys, origin, event_of(), 2), INVALID_VALUE, "VMM-EVENT-WAIT-FLAGS");
    REFUSED(vmm_event_record(sys, NULL, origin), INVALID_HANDLE, "VMM-EVENT-NONE");
    REFUSED(vmm_stream_begin_capture(sys, (vmm_stream)8, RELAXED), INVALID_HANDLE, "VMM-STREAM-UNKNOWN");
    REFUSED(vmm_stream_end_capture(sys, (vmm_stream)8, &graph), INVALID_HANDLE, "VMM-STREAM-UNKNOWN");
    REFUSED(vmm_stream_is_capturing(sys, (vmm_stream)8, &(int){0}), INVALID_HANDLE, "VMM-STREAM-UNKNOWN");
    SUCCEEDS(vmm_ctx_destroy(sys, ctx)); /* with the stream */
    SUCCEEDS(vmm_ctx_create(sys, &ctx, 0, 0));
    SUCCEEDS(vmm_ctx_synchronize(sys));
    vmm_close(sys);
}

/* Waits for events of captures. */
static void test_joins(void)
{
    begin("sim:h100");
    vmm_stream origin = stream_of(1), other = stream_of(1), blocking = stream_of(0);
    vmm_event event = event_of(), old = event_of();
    vmm_graph graph = NULL;
    SUCCEEDS(vmm_stream_begin_capture(sys, origin, RELAXED));
    SUCCEEDS(vmm_event_record(sys, event, origin));
    REFUSED(vmm_stream_wait_event(sys, (vmm_stream)8, event, 0), INVALID_HANDLE, "VMM-STREAM-UNKNOWN");
    REFUSED(vmm_stream_wait_event(sys, NULL, event, 0), STREAM_CAPTURE_IMPLICIT, "VMM-CAPTURE-IMPLICIT");
    REFUSED(vmm_stream_wait_event(sys, other, event, 0), INVALID_VALUE, "VMM-CAPTURED-EVENT-OVER");
    REFUSED(vmm_event_query(sys, event), INVALID_VALUE, "VMM-CAPTURED-EVENT-OVER");
    REFUSED(vmm_stream_end_capture(sys, origin, &graph), STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    SUCCEEDS(vmm_stream_begin_capture(sys, origin, RELAXED));
    SUCCEEDS(vmm_event_record(sys, old, origin));
    SUCCEEDS(vmm_stream_wait_event(sys, blocking, old, 0));
    REFUSED(vmm_stream_wait_event(sys, origin, event, 0), INVALID_VALUE, "VMM-CAPTURED-EVENT-OVER");
    tap_u64((uint64_t)status_of(origin), VMM_STREAM_CAPTURE_STATUS_INVALIDATED, "a wait for what is over spoils the capture");
    REFUSED(vmm_memset_d8(sys, p, 1, 64), STREAM_CAPTURE_IMPLICIT, "VMM-CAPTURE-IMPLICIT");
    REFUSED(vmm_event_record(sys, event, NULL), STREAM_CAPTURE_IMPLICIT, "VMM-CAPTURE-IMPLICIT");
    REFUSED(vmm_stream_wait_event(sys, NULL, event, 0), STREAM_CAPTURE_IMPLICIT, "VMM-CAPTURE-IMPLICIT");
    REFUSED(vmm_stream_wait_event(sys, other, old, VMM_EVENT_WAIT_EXTERNAL), INVALID_VALUE, "VMM-CAPTURED-EVENT-OVER");
    REFUSED(vmm_stream_end_capture(sys, origin, &graph), STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    REFUSED(vmm_stream_wait_event(sys, other, event, VMM_EVENT_WAIT_EXTERNAL), INVALID_VALUE, "VMM-CAPTURED-EVENT-OVER");
    REFUSED(vmm_stream_wait_event(sys, other, event_of(), VMM_EVENT_WAIT_EXTERNAL), ILLEGAL_STATE, "VMM-EVENT-WAIT-EXTERNAL");
    vmm_close(sys);
}

static void nothing(void *user)
{
    (void)user;
}

/* Calls that are refused during a capture for reasons of their own. */
static void test_work(void)
{
    const uint64_t args[] = {p, 64, 1};
    vmm_deviceptr q = 0;
    vmm_graph graph = NULL;
    vmm_graph_exec exec = NULL;
    begin("sim:h100");
    vmm_stream stream = stream_of(1);
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, graph, 0));
    SUCCEEDS(vmm_stream_begin_capture(sys, stream, RELAXED));
    REFUSED(vmm_memcpy_dtod_async(sys, p, 8, 64, stream), INVALID_VALUE, "VMM-ROWS-MEMORY");
    SUCCEEDS(vmm_memcpy_dtod_async(sys, p, p + 64, 64, stream));
    SUCCEEDS(vmm_ctx_set_current(sys, NULL));
    REFUSED(vmm_mem_alloc(sys, &q, 4096), INVALID_CONTEXT, "VMM-CTX-CURRENT");
    SUCCEEDS(vmm_ctx_set_current(sys, ctx));
    SUCCEEDS(vmm_mem_alloc(sys, &q, 4096));
    SUCCEEDS(vmm_mem_free(sys, q));
    REFUSED(vmm_launch(sys, VMM_KERNEL_FILL, 0, 1, args, 3, stream), INVALID_VALUE, "VMM-LAUNCH-DIMENSIONS");
    REFUSED(vmm_launch_host_func(sys, stream, nothing, NULL), STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    REFUSED(vmm_graph_launch(sys, exec, stream), STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
    REFUSED(vmm_stream_end_capture(sys, stream, NULL), STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    SUCCEEDS(vmm_stream_begin_capture_to_graph(sys, stream, graph, NULL, NULL, 0, RELAXED));
    SUCCEEDS(vmm_stream_end_capture(sys, stream, NULL)); /* the graph existed before, and stays */
    SUCCEEDS(vmm_stream_begin_capture_to_graph(sys, stream, graph, NULL, NULL, 0, RELAXED));
    SUCCEEDS(vmm_stream_destroy(sys, stream)); /* the capture does not succeed, and the graph ends with it */
    REFUSED(vmm_graph_destroy(sys, graph), INVALID_VALUE, "VMM-GRAPH-UNKNOWN");
    stream = stream_of(1);
    SUCCEEDS(vmm_stream_begin_capture(sys, stream, VMM_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(vmm_graph_exec_destroy(sys, exec), STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
    REFUSED(vmm_event_query(sys, event_of()), STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
    vmm_close(sys); /* with the capture, its graph and the instance */
}

/* Without a context, with one that ended, with a lost device. */
static void test_contexts(void)
{
    vmm_context other = NULL;
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = NULL;
    begin("sim:h100");
    vmm_memset_node_params fill = {.dst = p, .value = 1, .element_size = 1, .width = 64, .height = 1};
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    SUCCEEDS(vmm_ctx_create(sys, &other, 0, 0));
    SUCCEEDS(vmm_graph_add_memset_node(sys, &node, graph, NULL, 0, &fill, other));
    SUCCEEDS(vmm_ctx_destroy(sys, other));
    SUCCEEDS(vmm_ctx_set_current(sys, ctx));
    SUCCEEDS(vmm_graph_memset_node_set_params(sys, node, &fill)); /* a context that ended is one of device 0 */
    REFUSED(vmm_graph_add_memset_node(sys, &node, graph, NULL, 0, &fill, other), CONTEXT_IS_DESTROYED, "VMM-CTX-ENDED");
    REFUSED(vmm_graph_add_dependencies(sys, graph, &node, &node, NULL, UINT64_C(1) << 33), INVALID_VALUE, "VMM-GRAPH-EDGE");
    fill.dst = 8;
    REFUSED(vmm_graph_add_memset_node(sys, &node, graph, NULL, 0, &fill, NULL), INVALID_VALUE, "VMM-COPY-NOT-MAPPED");
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, graph, 0));
    SUCCEEDS(vmm_ctx_set_current(sys, NULL));
    REFUSED(vmm_graph_instantiate(sys, &exec, graph, 0), INVALID_CONTEXT, "VMM-CTX-CURRENT");
    REFUSED(vmm_graph_launch(sys, exec, NULL), INVALID_CONTEXT, "VMM-CTX-CURRENT");
    fill.dst = p;
    SUCCEEDS(vmm_graph_add_memset_node(sys, &node, graph, NULL, 0, &fill, ctx));
    SUCCEEDS(vmm_ctx_set_current(sys, ctx));
    vmm_event event = event_of();
    SUCCEEDS(vmm_graph_add_event_wait_node(sys, &node, graph, NULL, 0, event));
    SUCCEEDS(vmm_event_destroy(sys, event));
    REFUSED(vmm_graph_instantiate(sys, &exec, graph, 0), INVALID_HANDLE, "VMM-EVENT-UNKNOWN");
    SUCCEEDS(vmm_mem_free(sys, p));
    SUCCEEDS(vmm_graph_launch(sys, exec, NULL));
    tap_ok(vmm_ctx_synchronize(sys) != VMM_SUCCESS, "a launch whose memory was freed faults");
    tap_ok(vmm_graph_launch(sys, exec, NULL) != VMM_SUCCESS && vmm_graph_instantiate(sys, &exec, graph, 0) != VMM_SUCCESS &&
               vmm_graph_add_memset_node(sys, &node, graph, NULL, 0, &fill, NULL) != VMM_SUCCESS &&
               vmm_stream_begin_capture(sys, VMM_STREAM_PER_THREAD, RELAXED) != VMM_SUCCESS,
           "and what needs the device is refused from then on");
    vmm_close(sys);
}

/* What an instance takes over. */
static void test_updates(void)
{
    vmm_context other = NULL;
    vmm_graph graph = NULL, whole = NULL;
    vmm_graph_node node = NULL, inner = NULL, child = NULL;
    vmm_graph_exec exec = NULL;
    uint64_t word = 0;
    begin("sim:h100");
    vmm_memset_node_params rows = {.dst = p, .pitch = 64, .value = 0x0101, .element_size = 2, .width = 4, .height = 2};
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    SUCCEEDS(vmm_graph_create(sys, &whole, 0));
    SUCCEEDS(vmm_graph_add_memset_node(sys, &node, graph, NULL, 0, &rows, NULL));
    SUCCEEDS(vmm_graph_add_child_graph_node(sys, &child, whole, NULL, 0, graph));
    SUCCEEDS(vmm_graph_child_graph_node_get_graph(sys, child, &graph));
    SUCCEEDS(vmm_graph_node_find_in_clone(sys, &inner, node, graph));
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, whole, 0));
    rows.dst = p + 512;
    SUCCEEDS(vmm_graph_exec_memset_node_set_params(sys, exec, inner, &rows, NULL)); /* in the child */
    SUCCEEDS(vmm_graph_launch(sys, exec, NULL));
    SUCCEEDS(vmm_memcpy_dtoh(sys, &word, p + 512 + 64, sizeof word));
    tap_u64(word, UINT64_C(0x0101010101010101), "the second row of the moved fill");
    static const size_t wrong[][4] = {{5, 2, 64, 2}, {4, 3, 64, 2}, {4, 2, 66, 2}, {4, 2, 64, 1}};
    for (int i = 0; i < 4; i++) {
        vmm_memset_node_params next = rows;
        next.width = wrong[i][0];
        next.height = wrong[i][1];
        next.pitch = wrong[i][2];
        next.element_size = (unsigned)wrong[i][3];
        REFUSED(vmm_graph_exec_memset_node_set_params(sys, exec, inner, &next, NULL), INVALID_VALUE, "VMM-GRAPH-PARAMS");
    }
    rows.height = 1;
    REFUSED(vmm_graph_exec_memset_node_set_params(sys, exec, inner, &rows, NULL), INVALID_VALUE, "VMM-GRAPH-PARAMS");
    REFUSED(vmm_graph_exec_child_graph_node_set_params(sys, exec, child, NULL), INVALID_VALUE, "VMM-GRAPH-UNKNOWN");
    REFUSED(vmm_graph_exec_child_graph_node_set_params(sys, NULL, child, graph), INVALID_VALUE, "VMM-GRAPH-EXEC");
    REFUSED(vmm_graph_exec_child_graph_node_set_params(sys, exec, inner, graph), INVALID_VALUE, "VMM-GRAPH-NODE-TYPE");
    SUCCEEDS(vmm_graph_exec_child_graph_node_set_params(sys, exec, child, graph)); /* back to where it was */
    SUCCEEDS(vmm_memset_d8(sys, p, 0, 1024));
    SUCCEEDS(vmm_graph_launch(sys, exec, NULL));
    SUCCEEDS(vmm_memcpy_dtoh(sys, &word, p + 64, sizeof word));
    tap_u64(word, UINT64_C(0x0101010101010101), "the child's work replaced that of the instance");
    SUCCEEDS(vmm_memcpy_dtoh(sys, &word, p + 512, sizeof word));
    tap_u64(word, 0, "and nothing is filled where it was");
    SUCCEEDS(vmm_ctx_create(sys, &other, 0, 0));
    rows.height = 2;
    REFUSED(vmm_graph_exec_memset_node_set_params(sys, exec, inner, &rows, other), INVALID_VALUE, "VMM-GRAPH-PARAMS");
    REFUSED(vmm_graph_node_find_in_clone(sys, &inner, node, NULL), INVALID_VALUE, "VMM-GRAPH-UNKNOWN");
    REFUSED(vmm_graph_node_set_enabled(sys, NULL, node, 1), INVALID_VALUE, "VMM-GRAPH-EXEC");
    vmm_close(sys);
}

/* A captured stream continues from many nodes, even if they are listed twice. */
static void test_many_dependencies(void)
{
    enum { MANY = 1000 };
    static vmm_graph_node listed[2 * MANY];
    vmm_graph graph = NULL, end = NULL;
    vmm_graph_exec exec = NULL;
    uint64_t word = 0;
    int wrong = 0;
    begin("sim:h100");
    const vmm_memset_node_params fill = {.dst = p, .value = 1, .element_size = 1, .width = 64, .height = 1};
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    for (int i = 0; i < MANY; i++) {
        wrong += vmm_graph_add_memset_node(sys, &listed[i], graph, NULL, 0, &fill, NULL) != VMM_SUCCESS;
        listed[MANY + i] = listed[i];
    }
    tap_u64((uint64_t)wrong, 0, "%d fills that nothing orders", MANY);
    vmm_stream stream = stream_of(VMM_STREAM_NON_BLOCKING);
    SUCCEEDS(vmm_stream_begin_capture_to_graph(sys, stream, graph, NULL, NULL, 0, RELAXED));
    SUCCEEDS(vmm_stream_update_capture_dependencies(sys, stream, listed, NULL, MANY, VMM_STREAM_ADD_CAPTURE_DEPENDENCIES));
    SUCCEEDS(vmm_stream_update_capture_dependencies(sys, stream, listed, NULL, 2 * MANY, VMM_STREAM_SET_CAPTURE_DEPENDENCIES));
    SUCCEEDS(vmm_memset_d8_async(sys, p, 2, 64, stream));
    listed[MANY] = NULL;
    REFUSED(vmm_stream_update_capture_dependencies(sys, stream, listed, NULL, 2 * MANY, 0), INVALID_VALUE, "VMM-GRAPH-NODE");
    SUCCEEDS(vmm_stream_end_capture(sys, stream, &end));
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, graph, 0));
    SUCCEEDS(vmm_graph_launch(sys, exec, NULL));
    SUCCEEDS(vmm_memcpy_dtoh(sys, &word, p, sizeof word));
    tap_u64(word, UINT64_C(0x0202020202020202), "the captured fill comes after all of them");
    vmm_close(sys);
}

/* Another kernel for a node, and for the node of an instance. */
static void test_other_kernels(void)
{
    uint64_t args[] = {0, 64, 1}, word = 0;
    vmm_kernel_node_params kernel = {VMM_KERNEL_FILL, 1, 32, args, 3};
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = NULL;
    begin("sim:h100");
    args[0] = p;
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    SUCCEEDS(vmm_graph_add_kernel_node(sys, &node, graph, NULL, 0, &kernel));
    args[2] = 2;
    SUCCEEDS(vmm_graph_kernel_node_set_params(sys, node, &kernel));
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, graph, 0));
    SUCCEEDS(vmm_graph_launch(sys, exec, NULL));
    SUCCEEDS(vmm_memcpy_dtoh(sys, &word, p, sizeof word));
    tap_u64(word, UINT64_C(0x0202020202020202), "the kernel's other arguments");
    args[2] = 3;
    SUCCEEDS(vmm_graph_exec_kernel_node_set_params(sys, exec, node, &kernel));
    args[2] = 4; /* they were copied */
    SUCCEEDS(vmm_graph_launch(sys, exec, NULL));
    SUCCEEDS(vmm_memcpy_dtoh(sys, &word, p, sizeof word));
    tap_u64(word, UINT64_C(0x0303030303030303), "those of the instance");
    kernel.count = 2;
    REFUSED(vmm_graph_kernel_node_set_params(sys, node, &kernel), INVALID_VALUE, "VMM-LAUNCH-ARGUMENTS");
    REFUSED(vmm_graph_exec_kernel_node_set_params(sys, exec, node, &kernel), INVALID_VALUE, "VMM-LAUNCH-ARGUMENTS");
    kernel.count = 3;
    REFUSED(vmm_graph_exec_kernel_node_set_params(sys, exec, NULL, &kernel), INVALID_VALUE, "VMM-GRAPH-NODE");
    vmm_close(sys);
}

/* Copies whose memory is declared as UNIFIED, and is no longer reserved when a launch reaches them: a fault, as for other
 * missing memory, not an access by the program. */
static void test_copies_of_what_is_gone(void)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    const vmm_mem_access_desc rw = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const uint64_t size = 2 << 20;
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr r = 0;
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = NULL;
    uint64_t word = 0;
    begin("sim:h100");
    SUCCEEDS(vmm_mem_address_reserve(sys, &r, size, 0, 0, 0));
    SUCCEEDS(vmm_mem_create(sys, &handle, size, &prop, 0));
    SUCCEEDS(vmm_mem_map(sys, r, size, 0, handle, 0));
    SUCCEEDS(vmm_mem_set_access(sys, r, size, &rw, 1));
    SUCCEEDS(vmm_memset_d8(sys, r, 9, 64));
    const vmm_memcpy3d box = {.src_memory_type = VMM_MEMORYTYPE_UNIFIED, .src_device = r, .src_pitch = 16, .src_height = 2,
                              .dst_memory_type = VMM_MEMORYTYPE_HOST, .dst_host = &word, .width_in_bytes = 2, .height = 2, .depth = 2};
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    SUCCEEDS(vmm_graph_add_memcpy_node(sys, &node, graph, NULL, 0, &box, NULL));
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, graph, 0));
    SUCCEEDS(vmm_graph_launch(sys, exec, NULL));
    SUCCEEDS(vmm_ctx_synchronize(sys));
    tap_u64(word, UINT64_C(0x0909090909090909), "the rows of two layers, into the program's memory");
    SUCCEEDS(vmm_mem_unmap(sys, r, size));
    SUCCEEDS(vmm_mem_address_free(sys, r, size));
    SUCCEEDS(vmm_graph_launch(sys, exec, NULL));
    tap_ok(vmm_ctx_synchronize(sys) != VMM_SUCCESS, "a copy from addresses that are not reserved faults");
    vmm_close(sys);
}

/* A launch on streams of each kind, under the schedule that does work at once. */
static void test_eager(void)
{
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = NULL;
    begin("sim:h100,schedule=eager");
    const vmm_host_node_params host = {nothing, NULL};
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    SUCCEEDS(vmm_graph_add_host_node(sys, &node, graph, NULL, 0, &host));
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, graph, 0));
    SUCCEEDS(vmm_graph_launch(sys, exec, NULL));
    SUCCEEDS(vmm_graph_launch(sys, exec, stream_of(0)));
    SUCCEEDS(vmm_graph_launch(sys, exec, VMM_STREAM_PER_THREAD));
    REFUSED(vmm_graph_launch(sys, exec, (vmm_stream)8), INVALID_HANDLE, "VMM-STREAM-UNKNOWN");
    SUCCEEDS(vmm_ctx_synchronize(sys));
    vmm_close(sys);
}

/* Another thread's capture. */
static void *capture_elsewhere(void *user)
{
    const int *mode = user;
    vmm_stream stream = NULL;
    return vmm_ctx_set_current(sys, ctx) == VMM_SUCCESS && vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING) == VMM_SUCCESS &&
                   vmm_stream_begin_capture(sys, stream, *mode) == VMM_SUCCESS
               ? stream
               : NULL;
}

static void in_a_thread(void *(*function)(void *), void *user, void **result)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, user) != 0)
        tap_bail("no thread");
    pthread_join(thread, result);
}

static void test_threads(void)
{
    int mode = VMM_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    void *stream = NULL;
    begin("sim:h100");
    vmm_event event = event_of();
    vmm_stream other = stream_of(1);
    in_a_thread(capture_elsewhere, &mode, &stream);
    SUCCEEDS(vmm_event_query(sys, event)); /* a thread-local capture does not concern this thread */
    SUCCEEDS(vmm_stream_wait_event(sys, other, event, 0));
    SUCCEEDS(vmm_event_record(sys, event, other));
    SUCCEEDS(vmm_stream_wait_event(sys, other, event, 0));
    tap_u64((uint64_t)status_of(stream), VMM_STREAM_CAPTURE_STATUS_ACTIVE, "which continues");
    mode = VMM_STREAM_CAPTURE_MODE_GLOBAL;
    in_a_thread(capture_elsewhere, &mode, &stream);
    REFUSED(vmm_event_query(sys, event), STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
    vmm_close(sys);
}

/* The per-thread stream, whose value is not shown, and events with flags. */
static void test_per_thread(void)
{
    vmm_graph graph = NULL;
    begin("sim:h100");
    vmm_event event = event_of(), gone = event_of();
    vmm_stream other = stream_of(1);
    SUCCEEDS(vmm_event_destroy(sys, gone));
    SUCCEEDS(vmm_stream_begin_capture(sys, VMM_STREAM_PER_THREAD, RELAXED));
    SUCCEEDS(vmm_event_record(sys, event, VMM_STREAM_PER_THREAD));
    REFUSED(vmm_stream_wait_event(sys, other, event, VMM_EVENT_WAIT_EXTERNAL), ILLEGAL_STATE, "VMM-EVENT-WAIT-EXTERNAL");
    REFUSED(vmm_stream_wait_event(sys, VMM_STREAM_PER_THREAD, gone, VMM_EVENT_WAIT_EXTERNAL), INVALID_HANDLE, "VMM-EVENT-UNKNOWN");
    SUCCEEDS(vmm_stream_begin_capture(sys, other, RELAXED));
    SUCCEEDS(vmm_ctx_set_current(sys, NULL));
    REFUSED(vmm_memcpy_dtod_async(sys, p, p + 64, 64, VMM_STREAM_PER_THREAD), INVALID_CONTEXT, "VMM-CTX-CURRENT");
    SUCCEEDS(vmm_ctx_set_current(sys, ctx));
    REFUSED(vmm_stream_synchronize(sys, VMM_STREAM_PER_THREAD), STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
    REFUSED(vmm_memset_d8_async(sys, p, 1, 64, VMM_STREAM_PER_THREAD), STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    tap_u64(vmm_last_detail()->value, 0, "the per-thread stream has no value to show");
    REFUSED(vmm_stream_end_capture(sys, VMM_STREAM_PER_THREAD, &graph), STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    vmm_close(sys);
}

/* Two mistakes at once: as measured, the default stream's missing context is checked before a capture, a description or a list;
 * and a capture into a graph checks its mode and its graph before the stream. A query of a captured stream concerns only
 * that capture. */
static void test_two_mistakes(void)
{
    vmm_graph graph = NULL;
    uint64_t value = 0;
    begin("sim:h100");
    vmm_stream stream = stream_of(1), other = stream_of(1);
    vmm_event event = event_of();
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    REFUSED(vmm_stream_begin_capture_to_graph(sys, NULL, graph, NULL, NULL, 0, 3), INVALID_VALUE, "VMM-CAPTURE-MODE");
    REFUSED(vmm_stream_begin_capture_to_graph(sys, NULL, NULL, NULL, NULL, 0, RELAXED), INVALID_VALUE, "VMM-GRAPH-UNKNOWN");
    REFUSED(vmm_stream_begin_capture_to_graph(sys, NULL, graph, NULL, NULL, 0, RELAXED), STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-DEFAULT");
    REFUSED(vmm_stream_begin_capture(sys, stream, 3), INVALID_VALUE, "VMM-CAPTURE-MODE");
    REFUSED(vmm_stream_update_capture_dependencies(sys, stream, NULL, NULL, 1, 0), ILLEGAL_STATE, "VMM-CAPTURE-STATE");
    REFUSED(vmm_device_get_graph_mem_attribute(sys, -1, 0, NULL), INVALID_DEVICE, "VMM-DEVICE-ID");
    REFUSED(vmm_device_get_graph_mem_attribute(sys, 0, 0, NULL), INVALID_VALUE, "VMM-GRAPH-NULL");
    REFUSED(vmm_device_set_graph_mem_attribute(sys, -1, VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value), INVALID_DEVICE, "VMM-DEVICE-ID");
    REFUSED(vmm_memcpy_3d(sys, NULL), INVALID_VALUE, "VMM-BOX-NULL");
    SUCCEEDS(vmm_stream_begin_capture(sys, stream, VMM_STREAM_CAPTURE_MODE_GLOBAL));
    SUCCEEDS(vmm_event_record(sys, event, stream));
    SUCCEEDS(vmm_stream_begin_capture(sys, other, VMM_STREAM_CAPTURE_MODE_GLOBAL));
    SUCCEEDS(vmm_ctx_set_current(sys, NULL));
    REFUSED(vmm_memcpy_3d(sys, NULL), INVALID_CONTEXT, "VMM-CTX-CURRENT");
    REFUSED(vmm_memcpy_3d_async(sys, NULL, NULL), INVALID_CONTEXT, "VMM-CTX-CURRENT");
    REFUSED(vmm_stream_query(sys, NULL), INVALID_CONTEXT, "VMM-CTX-CURRENT");
    REFUSED(vmm_stream_end_capture(sys, NULL, &graph), INVALID_CONTEXT, "VMM-CTX-CURRENT");
    REFUSED(vmm_stream_update_capture_dependencies(sys, NULL, NULL, NULL, 1, 0), INVALID_CONTEXT, "VMM-CTX-CURRENT");
    REFUSED(vmm_stream_wait_event(sys, NULL, event, 0), INVALID_CONTEXT, "VMM-CTX-CURRENT");
    REFUSED(vmm_ctx_synchronize(sys), INVALID_CONTEXT, "VMM-CTX-CURRENT");
    SUCCEEDS(vmm_ctx_set_current(sys, ctx));
    tap_u64((uint64_t)status_of(stream), VMM_STREAM_CAPTURE_STATUS_ACTIVE, "none of them ended the capture");
    REFUSED(vmm_stream_query(sys, other), STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
    tap_u64((uint64_t)status_of(stream), VMM_STREAM_CAPTURE_STATUS_ACTIVE, "nor did a query of another captured stream");
    tap_u64((uint64_t)status_of(other), VMM_STREAM_CAPTURE_STATUS_INVALIDATED, "which ended that one's");
    REFUSED(vmm_stream_query(sys, stream_of(1)), STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
    tap_u64((uint64_t)status_of(stream), VMM_STREAM_CAPTURE_STATUS_INVALIDATED, "a query of a stream that none captures did");
    vmm_close(sys);
}

static void do_nothing(void *unused)
{
    (void)unused;
}

/* An instance pairs leaves in their order: the nodes that a capture had reached at its end come last. */
static void test_leaves_of_captures(void)
{
    vmm_graph graph = NULL;
    vmm_graph_node first = NULL, second = NULL;
    vmm_graph_exec exec = NULL;
    const vmm_host_node_params host = {do_nothing, NULL};
    begin("sim:h100");
    vmm_stream stream = stream_of(1);
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    SUCCEEDS(vmm_graph_add_host_node(sys, &first, graph, NULL, 0, &host));
    SUCCEEDS(vmm_graph_add_empty_node(sys, &second, graph, NULL, 0));
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, graph, 0));
    SUCCEEDS(vmm_graph_exec_update(sys, exec, graph, NULL));
    SUCCEEDS(vmm_stream_begin_capture_to_graph(sys, stream, graph, &first, NULL, 1, RELAXED));
    SUCCEEDS(vmm_stream_end_capture(sys, stream, &graph)); /* first is the last leaf now */
    REFUSED(vmm_graph_exec_update(sys, exec, graph, NULL), GRAPH_EXEC_UPDATE_FAILURE, "VMM-GRAPH-UPDATE");
    SUCCEEDS(vmm_graph_add_dependencies(sys, graph, &first, &second, NULL, 1));
    SUCCEEDS(vmm_stream_begin_capture_to_graph(sys, stream, graph, &first, NULL, 1, RELAXED));
    SUCCEEDS(vmm_stream_end_capture(sys, stream, &graph)); /* a node that is not a leaf does not become one */
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, graph, 0));
    SUCCEEDS(vmm_graph_exec_update(sys, exec, graph, NULL));
    vmm_close(sys);
}

/* A copy that was added without a context keeps none: a copy that names one cannot replace it. */
static void test_unnamed_copies(void)
{
    vmm_graph graph = NULL, named = NULL;
    vmm_graph_node node = NULL, other = NULL;
    vmm_graph_exec exec = NULL;
    begin("sim:h100");
    const vmm_memcpy3d copy = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = p, .dst_memory_type = VMM_MEMORYTYPE_DEVICE,
                               .dst_device = p + 64, .width_in_bytes = 8, .height = 1, .depth = 1};
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    SUCCEEDS(vmm_graph_create(sys, &named, 0));
    SUCCEEDS(vmm_graph_add_memcpy_node(sys, &node, graph, NULL, 0, &copy, NULL));
    SUCCEEDS(vmm_graph_add_memcpy_node(sys, &other, named, NULL, 0, &copy, ctx));
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, graph, 0));
    SUCCEEDS(vmm_graph_exec_update(sys, exec, graph, NULL));
    REFUSED(vmm_graph_exec_update(sys, exec, named, NULL), GRAPH_EXEC_UPDATE_FAILURE, "VMM-GRAPH-UPDATE");
    SUCCEEDS(vmm_graph_exec_memcpy_node_set_params(sys, exec, node, &copy, NULL));
    REFUSED(vmm_graph_exec_memcpy_node_set_params(sys, exec, node, &copy, ctx), INVALID_VALUE, "VMM-GRAPH-PARAMS");
    REFUSED(vmm_graph_exec_memcpy_node_set_params(sys, exec, other, &copy, NULL), INVALID_VALUE, "VMM-GRAPH-NODE");
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, named, 0));
    SUCCEEDS(vmm_graph_exec_update(sys, exec, graph, NULL)); /* the reverse is accepted */
    vmm_close(sys);
}

/* Of two nodes that cannot take over the work, the one that was added later is named, whatever depends on what. */
static void test_which_node_differs(void)
{
    vmm_graph graph = NULL;
    vmm_graph_node first = NULL, second = NULL;
    vmm_graph_exec exec = NULL;
    vmm_graph_exec_update_result_info info;
    begin("sim:h100");
    vmm_memcpy3d copy = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = p, .dst_memory_type = VMM_MEMORYTYPE_DEVICE,
                         .dst_device = p + 64, .width_in_bytes = 8, .height = 2, .depth = 1, .src_pitch = 16, .dst_pitch = 16};
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    SUCCEEDS(vmm_graph_add_memcpy_node(sys, &first, graph, NULL, 0, &copy, ctx));
    SUCCEEDS(vmm_graph_add_memcpy_node(sys, &second, graph, NULL, 0, &copy, ctx));
    SUCCEEDS(vmm_graph_add_dependencies(sys, graph, &second, &first, NULL, 1));
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, graph, 0));
    copy.height = 1;
    SUCCEEDS(vmm_graph_memcpy_node_set_params(sys, first, &copy));
    REFUSED(vmm_graph_exec_update(sys, exec, graph, &info), GRAPH_EXEC_UPDATE_FAILURE, "VMM-GRAPH-UPDATE");
    tap_ok(info.error_node == first, "one differs");
    SUCCEEDS(vmm_graph_memcpy_node_set_params(sys, second, &copy));
    REFUSED(vmm_graph_exec_update(sys, exec, graph, &info), GRAPH_EXEC_UPDATE_FAILURE, "VMM-GRAPH-UPDATE");
    tap_ok(info.error_node == second, "of two nodes the latest is reported");
    vmm_close(sys);
}

/* Nodes of another graph, or of none, where nodes of the graph are expected; and parameters that no node can have. */
static void test_foreign_nodes(void)
{
    vmm_graph graph = NULL, other = NULL;
    vmm_graph_node node = NULL, second = NULL, foreign = NULL, more = NULL;
    vmm_graph_edge_data data = {.from_port = 1, .type = 1};
    begin("sim:h100");
    vmm_stream stream = stream_of(1);
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    SUCCEEDS(vmm_graph_create(sys, &other, 0));
    SUCCEEDS(vmm_graph_add_empty_node(sys, &node, graph, NULL, 0));
    SUCCEEDS(vmm_graph_add_empty_node(sys, &second, graph, &node, 1));
    SUCCEEDS(vmm_graph_add_empty_node(sys, &foreign, other, NULL, 0));
    SUCCEEDS(vmm_graph_add_empty_node(sys, &more, other, NULL, 0));
    SUCCEEDS(vmm_graph_destroy_node(sys, more));
    const vmm_graph_node wrong[] = {foreign, more, NULL};
    for (int i = 0; i < 3; i++) {
        REFUSED(vmm_stream_begin_capture_to_graph(sys, stream, graph, &wrong[i], NULL, 1, RELAXED), INVALID_VALUE, "VMM-GRAPH-NODE");
        REFUSED(vmm_graph_add_empty_node(sys, &more, graph, &wrong[i], 1), INVALID_VALUE, "VMM-GRAPH-NODE");
        REFUSED(vmm_graph_add_dependencies(sys, graph, &node, &wrong[i], NULL, 1), INVALID_VALUE, "VMM-GRAPH-NODE");
        REFUSED(vmm_graph_remove_dependencies(sys, graph, &wrong[i], &node, NULL, 1), INVALID_VALUE, "VMM-GRAPH-NODE");
    }
    const vmm_graph_node many[] = {node, second, node};
    REFUSED(vmm_stream_begin_capture_to_graph(sys, stream, graph, many, NULL, 3, RELAXED), INVALID_VALUE, "VMM-GRAPH-EDGE");
    tap_u64((uint64_t)status_of(stream), VMM_STREAM_CAPTURE_STATUS_NONE, "nothing is captured");
    REFUSED(vmm_graph_remove_dependencies(sys, graph, &node, &second, &data, 1), INVALID_VALUE, "VMM-GRAPH-EDGE");
    REFUSED(vmm_graph_remove_dependencies(sys, graph, &second, &node, NULL, 1), INVALID_VALUE, "VMM-GRAPH-EDGE");
    data = (vmm_graph_edge_data){0}; /* the edge still exists */
    data.reserved[sizeof data.reserved - 1] = 16; /* which does not count */
    SUCCEEDS(vmm_graph_remove_dependencies(sys, graph, &node, &second, &data, 1));

    vmm_memset_node_params fill = {.dst = p + 1, .value = 1, .element_size = 2, .width = 4, .height = 1};
    const vmm_host_node_params none = {NULL, NULL};
    REFUSED(vmm_graph_add_memset_node(sys, &more, graph, NULL, 0, &fill, NULL), INVALID_VALUE, "VMM-SET-ALIGNMENT");
    REFUSED(vmm_graph_add_host_node(sys, &more, graph, NULL, 0, &none), INVALID_VALUE, "VMM-HOSTFUNC-NULL");
    fill.dst = p;
    REFUSED(vmm_graph_memset_node_set_params(sys, NULL, &fill), INVALID_VALUE, "VMM-GRAPH-NODE");
    REFUSED(vmm_graph_memset_node_set_params(sys, foreign, &fill), INVALID_VALUE, "VMM-GRAPH-NODE-TYPE");
    SUCCEEDS(vmm_graph_add_memset_node(sys, &more, graph, NULL, 0, &fill, NULL));
    vmm_graph_exec exec = NULL;
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, graph, 0));
    fill.height = 2;
    fill.pitch = 64;
    REFUSED(vmm_graph_exec_memset_node_set_params(sys, exec, more, &fill, NULL), INVALID_VALUE, "VMM-GRAPH-PARAMS");
    vmm_close(sys);
}

/* A cycle in a child, before another node; and graphs that end with the system in any order. */
static void test_children(void)
{
    vmm_graph first = NULL, child = NULL, whole = NULL, inside = NULL;
    vmm_graph_node node[2] = {NULL}, held = NULL, last = NULL;
    vmm_graph_exec exec = NULL;
    begin("sim:h100");
    SUCCEEDS(vmm_graph_create(sys, &first, 0));
    SUCCEEDS(vmm_graph_create(sys, &child, 0));
    SUCCEEDS(vmm_graph_create(sys, &whole, 0));
    SUCCEEDS(vmm_graph_add_empty_node(sys, &node[0], child, NULL, 0));
    SUCCEEDS(vmm_graph_add_empty_node(sys, &node[1], child, &node[0], 1));
    SUCCEEDS(vmm_graph_add_dependencies(sys, child, &node[1], &node[0], NULL, 1));
    SUCCEEDS(vmm_graph_destroy(sys, first)); /* the copy of the child gets its slot, before that of the whole */
    SUCCEEDS(vmm_graph_add_child_graph_node(sys, &held, whole, NULL, 0, child));
    SUCCEEDS(vmm_graph_child_graph_node_get_graph(sys, held, &inside));
    SUCCEEDS(vmm_graph_add_empty_node(sys, &last, whole, &held, 1));
    REFUSED(vmm_graph_instantiate(sys, &exec, whole, 0), INVALID_VALUE, "VMM-GRAPH-CYCLE");
    vmm_close(sys);
}

/* The graph of a node: it is captured into, but neither added nor instantiated, and no graph can be added to one of its own
 * nodes. */
static void test_inside(void)
{
    vmm_graph outer = NULL, child = NULL, inside = NULL, deep = NULL, got = NULL;
    vmm_graph_node held = NULL, deeper = NULL, none = NULL;
    vmm_graph_exec exec = NULL;
    vmm_stream stream = NULL;
    begin("sim:h100");
    SUCCEEDS(vmm_graph_create(sys, &outer, 0));
    SUCCEEDS(vmm_graph_create(sys, &child, 0));
    SUCCEEDS(vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING));
    SUCCEEDS(vmm_graph_add_child_graph_node(sys, &held, outer, NULL, 0, child));
    SUCCEEDS(vmm_graph_child_graph_node_get_graph(sys, held, &inside));
    SUCCEEDS(vmm_graph_add_child_graph_node(sys, &deeper, inside, NULL, 0, child));
    SUCCEEDS(vmm_graph_child_graph_node_get_graph(sys, deeper, &deep));
    SUCCEEDS(vmm_stream_begin_capture_to_graph(sys, stream, deep, NULL, NULL, 0, RELAXED));
    REFUSED(vmm_graph_destroy_node(sys, held), ILLEGAL_STATE, "VMM-CAPTURE-STATE");
    REFUSED(vmm_graph_destroy(sys, outer), ILLEGAL_STATE, "VMM-CAPTURE-STATE");
    REFUSED(vmm_ctx_synchronize(sys), STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
    REFUSED(vmm_stream_end_capture(sys, stream, &got), STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    SUCCEEDS(vmm_graph_add_empty_node(sys, &none, deep, NULL, 0)); /* it stays the node's */
    REFUSED(vmm_graph_add_child_graph_node(sys, &none, inside, NULL, 0, outer), INVALID_VALUE, "VMM-GRAPH-PARAMS");
    REFUSED(vmm_graph_add_child_graph_node(sys, &none, deep, NULL, 0, outer), INVALID_VALUE, "VMM-GRAPH-PARAMS");
    REFUSED(vmm_graph_add_child_graph_node(sys, &none, deep, NULL, 0, inside), INVALID_VALUE, "VMM-GRAPH-PARAMS");
    REFUSED(vmm_graph_add_child_graph_node(sys, &none, outer, NULL, 0, inside), NOT_SUPPORTED, "VMM-GRAPH-OF-NODE");
    REFUSED(vmm_graph_instantiate(sys, &exec, inside, 0), NOT_SUPPORTED, "VMM-GRAPH-OF-NODE");
    SUCCEEDS(vmm_graph_clone(sys, &got, inside));
    SUCCEEDS(vmm_graph_instantiate(sys, &exec, got, 0));
    REFUSED(vmm_graph_exec_update(sys, exec, inside, NULL), INVALID_VALUE, "VMM-GRAPH-UNKNOWN");
    SUCCEEDS(vmm_graph_add_child_graph_node(sys, &none, outer, NULL, 0, got));
    SUCCEEDS(vmm_graph_destroy(sys, outer));
    vmm_close(sys);
}

/* A capture into a graph ends without a graph, while another stream is captured into the graph of one of its nodes. */
static void test_given_up(void)
{
    vmm_graph outer = NULL, child = NULL, inside = NULL, got = NULL;
    vmm_graph_node held = NULL, none = NULL;
    vmm_stream first = NULL, second = NULL;
    begin("sim:h100");
    SUCCEEDS(vmm_graph_create(sys, &outer, 0));
    SUCCEEDS(vmm_graph_create(sys, &child, 0));
    SUCCEEDS(vmm_graph_add_child_graph_node(sys, &held, outer, NULL, 0, child));
    SUCCEEDS(vmm_graph_child_graph_node_get_graph(sys, held, &inside));
    SUCCEEDS(vmm_stream_create(sys, &first, VMM_STREAM_NON_BLOCKING));
    SUCCEEDS(vmm_stream_create(sys, &second, VMM_STREAM_NON_BLOCKING));
    SUCCEEDS(vmm_stream_begin_capture_to_graph(sys, first, outer, NULL, NULL, 0, RELAXED));
    SUCCEEDS(vmm_stream_begin_capture_to_graph(sys, second, inside, NULL, NULL, 0, RELAXED));
    REFUSED(vmm_ctx_synchronize(sys), STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
    REFUSED(vmm_stream_end_capture(sys, first, &got), STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    SUCCEEDS(vmm_graph_add_empty_node(sys, &none, outer, NULL, 0)); /* it stays, because the other continues */
    REFUSED(vmm_stream_end_capture(sys, second, &got), STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    SUCCEEDS(vmm_graph_destroy(sys, outer));
    vmm_close(sys);
}

/* Calls that a host function of a launch has another thread make, while the launch is in progress. */
static vmm_stream at;
static vmm_graph_exec launched;
static vmm_result ended[2];

static void *end_both(void *unused)
{
    (void)unused;
    ended[0] = vmm_graph_exec_destroy(sys, launched);
    ended[1] = at ? vmm_stream_destroy(sys, at) : VMM_SUCCESS;
    return NULL;
}

static void end_elsewhere(void *unused)
{
    in_a_thread(end_both, unused, NULL);
}

static void test_ended_in_launch(bool stream)
{
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL, next = NULL;
    uint64_t word = 0;
    begin("sim:h100,schedule=eager");
    at = stream ? stream_of(1) : NULL;
    const vmm_host_node_params host = {end_elsewhere, NULL};
    const vmm_memset_node_params fill = {.dst = p, .value = 7, .element_size = 1, .width = 8, .height = 1};
    SUCCEEDS(vmm_graph_create(sys, &graph, 0));
    SUCCEEDS(vmm_graph_add_host_node(sys, &node, graph, NULL, 0, &host));
    SUCCEEDS(vmm_graph_add_memset_node(sys, &next, graph, &node, 1, &fill, NULL));
    SUCCEEDS(vmm_graph_instantiate(sys, &launched, graph, 0));
    if (stream)
        REFUSED(vmm_graph_launch(sys, launched, at), INVALID_HANDLE, "VMM-STREAM-UNKNOWN");
    else
        SUCCEEDS(vmm_graph_launch(sys, launched, at));
    tap_ok(ended[0] == VMM_SUCCESS && ended[1] == VMM_SUCCESS, "another thread ended what the launch uses");
    SUCCEEDS(vmm_memcpy_dtoh(sys, &word, p, sizeof word));
    tap_u64(word, stream ? 0 : UINT64_C(0x0707070707070707), "the fill is%s done", stream ? " not" : "");
    REFUSED(vmm_graph_launch(sys, launched, NULL), INVALID_VALUE, "VMM-GRAPH-EXEC");
    vmm_close(sys);
}

int main(int argc, char **argv)
{
    test_threads();
    test_per_thread();
    test_two_mistakes();
    test_leaves_of_captures();
    test_unnamed_copies();
    test_foreign_nodes();
    test_children();
    test_inside();
    test_given_up();
    test_ended_in_launch(false);
    test_ended_in_launch(true);
    test_ends();
    test_joins();
    test_work();
    test_contexts();
    test_updates();
    test_which_node_differs();
    test_other_kernels();
    test_many_dependencies();
    test_copies_of_what_is_gone();
    test_eager();
    said_done("backend_sim/graph/call_graph_refusals.txt", argc, argv);
    return tap_done();
}
