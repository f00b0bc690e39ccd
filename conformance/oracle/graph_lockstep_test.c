/* SPDX-License-Identifier: Apache-2.0 */
/* Mix 3: copies in the order of streams, boxes, captures and graphs. The simulator and the model agree; what one of them has
 * wrong is noticed.
 */
#include "mix_rig.h"

#include "model/model_graph.h"

enum { MIX = LOCKSTEP_MIX_OF_GRAPHS, STEPS = 700, MANY_STEPS = 2500, RUNS = 16 };

/* ---- random calls ---- */

/* Which nodes an update pairs is a matter of call_graph_test.c and of abi_graph_update_test.c, which asks as a driver was asked. */
static bool is_update(enum vmm_call_id call)
{
    return call == VMM_CALL_graph_exec_child_graph_node_set_params;
}

static bool is_new(enum vmm_call_id call)
{
    const char *name = vmm_call_name(call);
    if (is_update(call))
        return false;
    return strstr(name, "graph_") || strstr(name, "capture") || strstr(name, "user_object") || (!strstr(name, "batch") && strstr(name, "memcpy_3d")) ||
           (!strstr(name, "batch") && (strstr(name, "memcpy_") || strstr(name, "memset_")) && strstr(name, "_async"));
}

static void agreement(void)
{
    const char *const specs[] = {"sim:h200x2", "sim:odd,strict", "as-driver:sim:h100"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        mix_agrees(specs[i], MIX, STEPS, 11);
}

/* Each new call is made, half of them and more succeed, and hardly one is left out. */
static void what_is_made(void)
{
    const struct mix_made of = mix_made(MIX, MANY_STEPS, RUNS, is_new, VMM_CALL_COUNT);
    tap_ok(of.calls > 40 && 2 * of.succeeded > of.made && of.succeeded < of.made, "%" PRIu64 " of %" PRIu64 " calls of %u new kinds succeed",
           of.succeeded, of.made, of.calls);
    tap_ok(of.left_out < RUNS * MANY_STEPS / 500, "%" PRIu64 " calls are left out", of.left_out);
}

/* A system that refuses what it should not. */
static void a_wrong_system_is_noticed(void)
{
    static const char *const faults[] = {
        "memcpy_htod_async:2", "memcpy_dtoh_async:2", "memset_d16_async:2", "memcpy_3d:2", "memcpy_3d_async:2", "memcpy_3d_peer:1",
        "stream_begin_capture:1", "stream_end_capture:2", "graph_create:1", "graph_clone:2", "graph_add_memset_node:1",
        "graph_add_kernel_node:1", "graph_add_child_graph_node:1", "graph_add_dependencies:1", "graph_instantiate:1",
        "graph_launch:1", "graph_node_set_enabled:1", "graph_destroy_node:1",
        "graph_add_memcpy_node:1", "graph_memcpy_node_set_params:1", "graph_exec_memcpy_node_set_params:1",
        "graph_exec_event_record_node_set_event:1", "graph_exec_event_wait_node_set_event:1",
        "stream_get_capture_info:1", "thread_exchange_stream_capture_mode:1", "graph_get_nodes:1", "graph_get_edges:1",
        "graph_node_get_dependencies:1", "graph_memset_node_get_params:1", "graph_exec_update:2", "device_set_graph_mem_attribute:1",
        "user_object_create:1", "user_object_release:1", "graph_retain_user_object:1"};
    mix_faults(faults, sizeof faults / sizeof faults[0], MIX, MANY_STEPS);
}

/* ---- what the model has wrong ---- */

#define MEMORY                                                                           \
    "r64 = mem_address_reserve ptr=out size=1G alignment=0 addr=0 flags=0",              \
    "h65 = mem_create handle=out size=1G prop={1 0 1:0 0 0 0 0 0.0.0.0} flags=0",        \
    "mem_map ptr=r64 size=1G offset=0 handle=h65 flags=0",                               \
    "mem_set_access ptr=r64 size=1G desc=[1:0=3 1:0=3 1:0=3] count=1"
#define GRAPH "g70 = graph_create graph=out flags=0"
#define FILL                                                                                                     \
    "n71 = graph_add_memset_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 "              \
    "memset_params={r64 8 77 4 2 1} ctx=c1"
#define INSTANCE "x80 = graph_instantiate graph_exec=out graph=g70 flags=0"
#define LAUNCH "graph_launch graph_exec=x80 stream=s40"

static void wrong_value(struct model *m) { m->graphs->exec[0]->graph->node[0]->work.fill.value ^= 1; }
static void wrong_place(struct model *m) { m->graphs->exec[0]->graph->node[0]->work.copy.row.from++; }
static void wrongly_disabled(struct model *m) { m->graphs->exec[0]->graph->node[0]->work.disabled ^= true; }
static void wrong_type(struct model *m) { m->graphs->graph[0]->node[0]->work.type = VMM_GRAPH_NODE_TYPE_HOST; }
static void wrong_calls(struct model *m) { m->graphs->host_calls++; }
static void wrong_flags(struct model *m) { m->graphs->exec[0]->flags = 1; }
static void wrong_event(struct model *m) { m->graphs->graph[0]->node[0]->work.event = m->event[1].value; }
static void wrongly_invalid(struct model *m) { m->graphs->capture[0]->invalid = true; }
static void wrong_graph(struct model *m) { m->graphs->graph[0]->value++; }
static void wrong_byte(struct model *m) { m->windows[0].value[9] ^= 1; }

static const struct mix_spoil spoils[] = {
    {"the value of a fill", wrong_value, {MEMORY, GRAPH, FILL, INSTANCE}, LAUNCH},
    {"a node that is disabled", wrongly_disabled, {MEMORY, GRAPH, FILL, INSTANCE}, LAUNCH},
    {"a node's type", wrong_type, {MEMORY, GRAPH, FILL}, "graph_node_get_type node=n71 type=out"},
    {"how many host functions were called",
     wrong_calls,
     {GRAPH, "n71 = graph_add_host_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 node_params={1}", INSTANCE},
     LAUNCH},
    {"the flags of an instance", wrong_flags, {GRAPH, INSTANCE}, "graph_exec_get_flags graph_exec=x80 flags=out"},
    {"the event of a node",
     wrong_event,
     {GRAPH, "n71 = graph_add_event_record_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 event=e48"},
     "graph_event_record_node_get_event node=n71 event_out=out"},
    {"the state of a capture",
     wrongly_invalid,
     {"stream_begin_capture stream=s40 mode=2"},
     "stream_is_capturing stream=s40 capture_status=out"},
    {"what was captured",
     wrong_place,
     {MEMORY, "stream_begin_capture stream=s40 mode=2", "memcpy_htod_async dst=r64 src=bytes:7 byte_count=8 stream=s40",
      "g70 = stream_end_capture stream=s40 graph=out", INSTANCE},
     LAUNCH},
    {"the graph that a capture went into",
     wrong_graph,
     {GRAPH, "stream_begin_capture_to_graph stream=s40 graph=g70 dependencies=[0 0 0] dependency_data=null num_dependencies=0 mode=2"},
     "g71 = stream_end_capture stream=s40 graph=out"},
    {"a byte of a box's second row",
     wrong_byte,
     {MEMORY, "memcpy_3d p_copy={1 5 0 0 0 0 0 0, 2 r64 0 0 0 8 0 0, 4 2 1}"},
     "memcpy_3d p_copy={2 r64 0 0 0 8 0 0, 1 1 0 0 0 0 0 0, 4 2 1}"},
    {"a byte that a stream copied",
     wrong_byte,
     {MEMORY, "memcpy_htod_async dst=r64 src=bytes:7 byte_count=12 stream=s41"},
     "memcpy_dtoh_async dst=out src=r64 byte_count=12 stream=s42"},
};

/* ---- what random calls seldom come to ---- */

#define BEGIN "stream_begin_capture stream=s40 mode=2", "event_record event=e48 stream=s40", "stream_wait_event stream=s41 event=e48 flags=0"
#define END "g70 = stream_end_capture stream=s40 graph=out"
#define HOST_POOL "p70 = mem_pool_create pool=out pool_props={1 0 2:0 0 0 0}"
#define NODES                                                                                           \
    GRAPH, "n71 = graph_add_empty_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0", \
        "n72 = graph_add_empty_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0"

#define KERNELS                                                                                         \
    GRAPH, "n71 = graph_add_kernel_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 node_params={r64 0 1 32 9 3}", \
        "n72 = graph_add_kernel_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 node_params={r64 0 1 32 9 3}",    \
        "n73 = graph_add_empty_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0"

#define COPY(context)                                                                                     \
    "n71 = graph_add_memcpy_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 "         \
    "copy_params={2 r64+64 0 0 0 8 0 0, 2 r64 0 0 0 8 0 0, 8 1 1} ctx=" context
#define COPY_AGAIN "graph_memcpy_node_set_params node=n71 node_params={2 r64+64 0 0 0 8 0 0, 2 r64+8 0 0 0 8 0 0, 8 1 1}"
#define COPY_IN                                                                                           \
    "graph_exec_memcpy_node_set_params graph_exec=x80 node=n71 copy_params={2 r64+64 0 0 0 8 0 0, 2 r64+16 0 0 0 8 0 0, 8 1 1} ctx=c1"
#define TWO_MAPPINGS                                                                                      \
    "r64 = mem_address_reserve ptr=out size=2G alignment=0 addr=0 flags=0",                                \
        "h65 = mem_create handle=out size=1G prop={1 0 1:0 0 0 0 0 0.0.0.0} flags=0",                      \
        "mem_map ptr=r64 size=1G offset=0 handle=h65 flags=0",                                             \
        "h66 = mem_create handle=out size=1G prop={1 0 1:0 0 0 0 0 0.0.0.0} flags=0",                      \
        "mem_map ptr=r64+1G size=1G offset=0 handle=h66 flags=0", "mem_set_access ptr=r64 size=2G desc=[1:0=3 1:0=3 1:0=3] count=1"

#define BEGIN_IN(name) \
    "stream_begin_capture_to_graph stream=s40 graph=" name " dependencies=[0 0 0] dependency_data=null num_dependencies=0 mode=2"

#define JOINED \
    "memset_d8_async dst=r64 value=7 n=4 stream=s41", "event_record event=e48 stream=s41", "stream_wait_event stream=s40 event=e48 flags=0"
#define ELSEWHERE "stream_update_capture_dependencies stream=s40 dependencies=null dependency_data=null num_dependencies=0 flags=1"

#define BEGIN_WITHOUT \
    "stream_begin_capture_to_graph stream=s40 graph=g70 dependencies=null dependency_data=null num_dependencies=1 mode=2"

static const struct mix_story stories[] = {
    {"a capture that another stream has joined", "VMM-CAPTURE-UNJOINED",
     {MEMORY, BEGIN, "memset_d8_async dst=r64 value=7 n=4 stream=s41", END}},
    {"a capture whose streams have joined again", NULL,
     {MEMORY, BEGIN, "memset_d8_async dst=r64 value=7 n=4 stream=s41", "event_record event=e48 stream=s41",
      "stream_wait_event stream=s40 event=e48 flags=0", END, INSTANCE, LAUNCH}},
    {"one whose other stream goes on from other nodes", NULL,
     {MEMORY, BEGIN, "memset_d8_async dst=r64 value=7 n=4 stream=s41",
      "stream_update_capture_dependencies stream=s41 dependencies=null dependency_data=null num_dependencies=0 flags=1", END}},
    {"one whose other stream it had waited for before it went on from other nodes", NULL, {MEMORY, BEGIN, JOINED, ELSEWHERE, END}},
    {"one whose other stream adds a node after that", "VMM-CAPTURE-UNJOINED",
     {MEMORY, BEGIN, JOINED, ELSEWHERE, "memset_d8_async dst=r64 value=8 n=4 stream=s41", END}},
    {"one that went on from other nodes before it waited", "VMM-CAPTURE-UNJOINED",
     {MEMORY, BEGIN, "memset_d8_async dst=r64 value=7 n=4 stream=s41", ELSEWHERE, END}},
    {"a fill of three rows", NULL,
     {MEMORY, GRAPH,
      "n71 = graph_add_memset_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 memset_params={r64 8 77 1 4 3} ctx=c1",
      INSTANCE, LAUNCH}},
    {"a kernel", NULL,
     {MEMORY, GRAPH,
      "n71 = graph_add_kernel_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 node_params={r64 0 1 32 9 3}",
      INSTANCE, LAUNCH}},
    {"a dependency twice in one call", "VMM-GRAPH-EDGE",
     {NODES, "graph_add_dependencies graph=g70 from=[n71 n71 0] to=[n72 n72 0] edge_data=null num_dependencies=2"}},
    {"two dependencies, one of which is missing", "VMM-GRAPH-EDGE",
     {NODES, "graph_add_dependencies graph=g70 from=[n71 0 0] to=[n72 0 0] edge_data=null num_dependencies=1",
      "graph_remove_dependencies graph=g70 from=[n71 n72 0] to=[n72 n71 0] edge_data=null num_dependencies=2"}},
    {"one that was removed by a call that is refused", NULL,
     {NODES, "graph_add_dependencies graph=g70 from=[n71 0 0] to=[n72 0 0] edge_data=null num_dependencies=1",
      "graph_remove_dependencies graph=g70 from=[n71 n72 0] to=[n72 n71 0] edge_data=null num_dependencies=2",
      "graph_add_dependencies graph=g70 from=[n71 0 0] to=[n72 0 0] edge_data=null num_dependencies=1"}},
    {"memory of a pool of the host, as a device's", "VMM-POOL-COPY-HOST",
     {HOST_POOL, "mem_pool_set_access pool=p70 map=[1:0=3 1:0=3 1:0=3] count=1",
      "r71 = mem_alloc_from_pool_async dptr=out bytesize=64 pool=p70 stream=s40",
      "memcpy_htod_async dst=r71 src=bytes:5 byte_count=16 stream=s40"}},
    {"such memory without access", "VMM-COPY-NO-WRITE",
     {HOST_POOL, "r71 = mem_alloc_from_pool_async dptr=out bytesize=64 pool=p70 stream=s40",
      "memset_d8_async dst=r71 value=1 n=4 stream=s40"}},
    {"the host without rights to its pool", "VMM-POOL-ACCESS-HOST",
     {HOST_POOL, "mem_pool_set_access pool=p70 map=[2:0=0 1:0=3 1:0=3] count=1"}},
    {"a node's pool as the current one", NULL,
     {"p70 = mem_pool_create pool=out pool_props={1 1 3:0 0 0 0}", "mem_set_mem_pool location=3:0 type=1 pool=p70",
      "p71 = mem_get_mem_pool pool=out location=3:0 type=1"}},
    {"a dependency between two kernels that is programmatic", NULL,
     {MEMORY, KERNELS, "graph_add_dependencies graph=g70 from=[n71 0 0] to=[n72 0 0] edge_data=[65537 0 0 0 0] num_dependencies=1"}},
    {"one from a kernel's ordinary port", "VMM-GRAPH-EDGE",
     {MEMORY, KERNELS, "graph_add_dependencies graph=g70 from=[n71 0 0] to=[n72 0 0] edge_data=[65536 0 0 0 0] num_dependencies=1"}},
    {"one between nodes that are not both kernels", "VMM-GRAPH-EDGE",
     {MEMORY, KERNELS, "graph_add_dependencies graph=g70 from=[n71 0 0] to=[n73 0 0] edge_data=[65537 0 0 0 0] num_dependencies=1"}},
    {"a wait as a node for an event whose capture is over", "VMM-CAPTURED-EVENT-OVER",
     {"stream_begin_capture stream=s40 mode=2", "event_record event=e48 stream=s40",
     END, "stream_begin_capture stream=s41 mode=2",
      "stream_wait_event stream=s41 event=e48 flags=1"}},
    {"one whose capture is still active", NULL,
     {"stream_begin_capture stream=s40 mode=2", "event_record event=e48 stream=s40", "stream_begin_capture stream=s41 mode=2",
      "stream_wait_event stream=s41 event=e48 flags=1", "g70 = stream_end_capture stream=s41 graph=out", INSTANCE}},
    {"a copy that was described again in no context", "VMM-GRAPH-PARAMS",
     {MEMORY, GRAPH, COPY("c1"), "ctx_set_current ctx=0", COPY_AGAIN, "ctx_set_current ctx=c1", INSTANCE, COPY_IN}},
    {"one that was described again in a context", NULL, {MEMORY, GRAPH, COPY("0"), COPY_AGAIN, INSTANCE, COPY_IN}},
    {"a copy as a node whose rows leave the memory", NULL,
     {MEMORY, GRAPH,
      "n71 = graph_add_memcpy_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 "
      "copy_params={2 r64+0x1fffe0 4 0 0 0 0 0, 2 r64 0 0 0 8 0 0, 8 3 1} ctx=c1"}},
    {"a copy across two mappings in no context", "VMM-COPY-RUNS-PAST",
     {TWO_MAPPINGS, "ctx_set_current ctx=0", "memcpy_htod_async dst=r64+0x1ffffc src=bytes:7 byte_count=8 stream=s40"}},
    {"the same from memory", "VMM-COPY-RUNS-PAST",
     {TWO_MAPPINGS, "ctx_set_current ctx=0", "memcpy_dtod_async dst=r64 src=r64+0x1ffffc byte_count=8 stream=s40"}},
    {"a fill across two mappings in no context", NULL,
     {TWO_MAPPINGS, "ctx_set_current ctx=0", "memset_d8_async dst=r64+0x1ffffc value=7 n=8 stream=s40"}},
    {"a copy in an instance that comes to mapped memory of the host", "VMM-GRAPH-PARAMS",
     {MEMORY, "r66 = mem_address_reserve ptr=out size=1G alignment=0 addr=0 flags=0",
      "h67 = mem_create handle=out size=1G prop={1 0 2:0 0 0 0 0 0.0.0.0} flags=0",
     "mem_map ptr=r66 size=1G offset=0 handle=h67 flags=0",
      "mem_set_access ptr=r66 size=1G desc=[1:0=3 1:0=3 1:0=3] count=1", GRAPH, COPY("c1"), INSTANCE,
      "graph_exec_memcpy_node_set_params graph_exec=x80 node=n71 copy_params={2 r64+64 0 0 0 8 0 0, 2 r66 0 0 0 8 0 0, 8 1 1} ctx=c1"}},
    {"the end of a node's graph that a stream is captured into", "VMM-CAPTURE-STATE",
     {GRAPH, "g69 = graph_create graph=out flags=0",
      "n71 = graph_add_child_graph_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 child_graph=g69",
      "g72 = graph_child_graph_node_get_graph node=n71 graph=out", BEGIN_IN("g72"), "graph_destroy graph=g72"}},
    {"dependencies that are missing, of a stream that is being captured", "VMM-CAPTURE-STATE",
     {GRAPH, "stream_begin_capture stream=s40 mode=2", BEGIN_WITHOUT}},
    {"the same of a stream that is not", "VMM-GRAPH-NULL", {GRAPH, BEGIN_WITHOUT}},
    {"a kernel that is described again in no context", "VMM-CTX-CURRENT",
     {MEMORY, KERNELS, "ctx_set_current ctx=0", "graph_kernel_node_set_params node=n71 node_params={r64 0 1 32 8 3}"}},
    {"a kernel for a node of another type in no context", "VMM-GRAPH-NODE-TYPE",
     {MEMORY, KERNELS, "ctx_set_current ctx=0", "graph_kernel_node_set_params node=n73 node_params={r64 0 1 32 8 3}"}},
    {"a cycle", "VMM-GRAPH-CYCLE",
     {NODES, "graph_add_dependencies graph=g70 from=[n71 n72 0] to=[n72 n71 0] edge_data=null num_dependencies=2", INSTANCE}},
};

/* ---- bytes that are not known ---- */

/* Two fills of the same bytes: which is last is known only where one comes after the other. */
static void races(void)
{
    static const char *const second[] = {
        "n72 = graph_add_memset_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 memset_params={r64 8 5 4 2 1} ctx=c1",
        "n72 = graph_add_memset_node graph_node=out graph=g70 dependencies=[n71 0 0] num_dependencies=1 memset_params={r64 8 5 4 2 1} ctx=c1"};
    static const char *const before[] = {MEMORY, GRAPH, FILL};
    for (int ordered = 0; ordered < 2; ordered++) {
        struct lockstep pair;
        bool good = lockstep_open(&pair, "sim:h100");
        for (size_t i = 0; good && i < sizeof before / sizeof before[0]; i++)
            good = mix_make(&pair, before[i]);
        good = good && mix_make(&pair, second[ordered]) && mix_make(&pair, INSTANCE) && mix_make(&pair, LAUNCH);
        tap_ok(good, "two fills are launched %s", pair.difference);
        tap_u64((uint64_t)(int64_t)model_byte(&pair.model, pair.model.mappings[0].start), ordered ? 5 : UINT64_MAX, "%s",
                ordered ? "the later one's bytes are known" : "in no order, their bytes are not");
        lockstep_close(&pair);
    }
}

/* ---- a driver's graphs at the end ---- */

/* A capture that ends invalid takes its graph with it: it is not destroyed again. The graph of a node would be missed: that is left out,
 * and stays captured. */
static void spoiled_captures(void)
{
    static const char *const lines[2][6] = {
        {GRAPH, BEGIN_IN("g70"), "stream_query stream=s40"},
        {GRAPH, "n71 = graph_add_child_graph_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 child_graph=g69",
         "g72 = graph_child_graph_node_get_graph node=n71 graph=out", BEGIN_IN("g72"), "stream_query stream=s40"}};
    for (int child = 0; child < 2; child++) {
        struct lockstep pair;
        struct step end = step_of(VMM_CALL_stream_end_capture);
        bool good = lockstep_open(&pair, "as-driver:sim:h100") && mix_make(&pair, "g69 = graph_create graph=out flags=0");
        for (size_t i = 0; good && lines[child][i]; i++)
            good = mix_make(&pair, lines[child][i]) || (pair.refused && !*pair.difference);
        tap_ok(good, "a capture into %s is invalid %s", child ? "the graph of a node" : "a graph", pair.difference);
        step_arg(&end, "stream")->name = STEP_FIRST_STREAM;
        tap_u64(lockstep_foresee(&pair, &end), child ? LEFT_OUT_CRASH : LEFT_OUT_NOT, "its end is %s", child ? "left out" : "made");
        tap_u64(lockstep_close(&pair), !child, "%s is destroyed once", child ? "all but this" : "all");
    }
}

/* A launch is left out whose copy the processor makes, from memory that was the host's alone when the copy was described. */
static void copies_of_the_host(void)
{
    static const char *const before[] = {
        "r64 = mem_address_reserve ptr=out size=1G alignment=0 addr=0 flags=0", "h65 = mem_create handle=out size=1G prop={1 0 2:0 0 0 0 0 0.0.0.0} flags=0",
        "h66 = mem_create handle=out size=1G prop={1 0 1:0 0 0 0 0 0.0.0.0} flags=0", "mem_map ptr=r64 size=1G offset=0 handle=h65 flags=0"};
    static const char *const after[] = {
        "stream_begin_capture stream=s40 mode=2", "memcpy_dtoh_async dst=out src=r64 byte_count=8 stream=s40", END, INSTANCE, "mem_unmap ptr=r64 size=1G",
        "mem_map ptr=r64 size=1G offset=0 handle=h66 flags=0", "mem_set_access ptr=r64 size=1G desc=[1:0=3 1:0=3 1:0=3] count=1"};
    for (int shared = 0; shared < 2; shared++) {
        struct lockstep pair;
        struct step launch;
        bool good = lockstep_open(&pair, "as-driver:sim:h200");
        for (size_t i = 0; good && i < sizeof before / sizeof before[0]; i++)
            good = mix_make(&pair, before[i]);
        good = good && mix_make(&pair, shared ? "mem_set_access ptr=r64 size=1G desc=[2:0=3 1:0=3 1:0=3] count=2" : "mem_set_access ptr=r64 size=1G desc=[2:0=3 1:0=3 1:0=3] count=1");
        for (size_t i = 0; good && i < sizeof after / sizeof after[0]; i++)
            good = mix_make(&pair, after[i]);
        tap_ok(good, "a copy of memory of the host is captured, whose place a device's takes %s", pair.difference);
        mix_parse(LAUNCH, &launch);
        tap_u64(lockstep_foresee(&pair, &launch), shared ? LEFT_OUT_NOT : LEFT_OUT_CRASH, "its launch is %s", shared ? "made" : "left out");
        tap_ok(lockstep_close(&pair), "all is freed");
    }
}

/* A driver uses the contexts of a copy between contexts also where none is current, which is a mistake of its own. */
static void forged_contexts(void)
{
    static const char *const lines[] = {"memcpy_3d_peer p_copy={1 5 0 0 0 0 0 c1, 1 6 0 0 0 0 0 64G, 4 1 1}",
                                        "memcpy_3d_peer_async p_copy={1 5 0 0 0 0 0 64G, 1 6 0 0 0 0 0 c1, 4 1 1} stream=0",
                                        "memcpy_3d_peer p_copy={1 5 0 0 0 0 0 c1, 1 6 0 0 0 0 0 0, 4 1 1}"};
    struct lockstep pair;
    tap_ok(lockstep_open(&pair, "as-driver:sim:h100") && mix_make(&pair, "ctx_set_current ctx=0"), "no context is current");
    for (size_t i = 0; i < 3; i++) {
        struct step step;
        mix_parse(lines[i], &step);
        tap_u64(lockstep_foresee(&pair, &step), i < 2 ? LEFT_OUT_FORGED : LEFT_OUT_NOT, "copy %zu is %s", i, i < 2 ? "left out" : "made");
    }
    lockstep_close(&pair);
}

int main(void)
{
    agreement();
    what_is_made();
    mix_flips(MIX, STEPS);
    a_wrong_system_is_noticed();
    mix_spoils(spoils, sizeof spoils / sizeof spoils[0]);
    mix_stories(stories, sizeof stories / sizeof stories[0]);
    races();
    spoiled_captures();
    forged_contexts();
    copies_of_the_host();
    return tap_done();
}
