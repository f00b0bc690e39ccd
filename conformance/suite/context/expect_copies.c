/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: whose rights count where the current context, a stream and the sides of a copy belong to different devices. */
#include <string.h>

#include "scheduled.h"
#include "test.h"
#include "two_devices.h"

/* Zeros on a device, for which that device alone has rights. */
static vmm_deviceptr only_of(struct fix *f, int device)
{
    const vmm_mem_location there = fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, device);
    vmm_mem_allocation_prop prop = fix_prop(device);
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, fix_create_prop(f, f->g, &prop));
    fix_access_at(f, p, f->g, there, RW);
    return p;
}

/* A context and a stream of device 1 beside those of device 0, which stay current. */
struct pair {
    vmm_context ctx[2];
    vmm_stream stream[2];
    vmm_deviceptr p[2];
};

static struct pair pair_of(struct fix *f)
{
    struct pair pair = {.ctx[0] = f->ctx, .stream[0] = fix_stream(f), .p = {only_of(f, 0), only_of(f, 1)}};
    pair.ctx[1] = fix_context(f, 1);
    pair.stream[1] = fix_stream(f);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    return pair;
}

static vmm_memcpy3d row_of(vmm_deviceptr to, vmm_deviceptr from)
{
    return (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = from, .dst_memory_type = VMM_MEMORYTYPE_DEVICE,
                          .dst_device = to, .width_in_bytes = 64, .height = 1, .depth = 1};
}

TEST_OF_TWO(TEST_KIND_BREAKS, "COPY_NO_WRITE", copies_on_the_stream_of_a_device_with_rights)
{
    const struct pair pair = pair_of(f);
    const vmm_deviceptr p = pair.p[1];
    const vmm_memcpy3d row = row_of(p + 64, p);
    unsigned char bytes[16] = {0};
    REFUSED(vmm_memcpy_htod_async(S, p, bytes, 16, pair.stream[1]), INVALID_VALUE, "dstDevice", p);
    REFUSED(vmm_memcpy_dtod_async(S, p + 64, p, 16, pair.stream[1]), INVALID_VALUE, "dstDevice", p + 64);
    REFUSED(vmm_memcpy_3d_async(S, &row, pair.stream[1]), INVALID_VALUE, "dst", p + 64);
    REFUSED(vmm_memset_d8_async(S, p, 1, 16, pair.stream[0]), INVALID_VALUE, "dstDevice", p);
    fix_need(f, vmm_ctx_set_current(S, pair.ctx[1]));
    REFUSED(vmm_memset_d8_async(S, p, 1, 16, pair.stream[0]), INVALID_VALUE, "dstDevice", p); /* a fill looks at its stream's */
    fix_need(f, vmm_ctx_set_current(S, pair.ctx[0]));
}

TEST_OF_TWO(TEST_KIND_BREAKS, "COPY_NO_READ", reads_on_the_stream_of_a_device_with_rights)
{
    const struct pair pair = pair_of(f);
    unsigned char bytes[16];
    REFUSED(vmm_memcpy_dtoh_async(S, bytes, pair.p[1], 16, pair.stream[1]), INVALID_VALUE, "srcDevice", pair.p[1]);
    REFUSED(vmm_memcpy_dtod_async(S, pair.p[0], pair.p[1], 16, pair.stream[1]), INVALID_VALUE, "srcDevice", pair.p[1]);
}

TEST_OF_TWO(TEST_KIND_NEAR_MISS, "COPY_NO_WRITE", fills_on_the_stream_of_a_device_with_rights)
{
    const struct pair pair = pair_of(f);
    ACCEPTED(vmm_memset_d8_async(S, pair.p[1], 3, 64, pair.stream[1]));
    ACCEPTED(vmm_stream_synchronize(S, pair.stream[1]));
    fix_need(f, vmm_ctx_set_current(S, pair.ctx[1]));
    CHECK_U64(fix_peek(f, pair.p[1]), 3);
    fix_need(f, vmm_ctx_set_current(S, pair.ctx[0]));
}

/* The rights of the current context's device are enough, whatever the stream's device may do. */
TEST_OF_TWO(TEST_KIND_NEAR_MISS, "COPY_NO_READ", copies_on_the_stream_of_a_device_without_rights)
{
    const struct pair pair = pair_of(f);
    const vmm_deviceptr p = pair.p[0];
    unsigned char bytes[16];
    memset(bytes, 5, sizeof bytes);
    ACCEPTED(vmm_memcpy_htod_async(S, p, bytes, 16, pair.stream[1]));
    ACCEPTED(vmm_memcpy_dtod_async(S, p + 64, p, 16, pair.stream[1]));
    ACCEPTED(vmm_stream_synchronize(S, pair.stream[1]));
    CHECK_U64(fix_peek(f, p + 64), 5);
    ACCEPTED(vmm_memcpy_dtoh_async(S, bytes, p + 128, 16, pair.stream[1]));
    CHECK_U64(bytes[0], 0);
}

static vmm_result between(struct fix *f, const struct pair *pair, int dst, int src, vmm_stream stream, bool later)
{
    const vmm_memcpy3d row = row_of(pair->p[1] + 64, pair->p[0]);
    vmm_memcpy3d_peer peer;
    memcpy(&peer, &row, sizeof peer);
    peer.dst_context = dst < 0 ? NULL : pair->ctx[dst];
    peer.src_context = src < 0 ? NULL : pair->ctx[src];
    return later ? vmm_memcpy_3d_peer_async(S, &peer, stream) : vmm_memcpy_3d_peer(S, &peer);
}

/* From memory of device 0 to memory of device 1. */
TEST_OF_TWO(TEST_KIND_BREAKS, "COPY_NO_WRITE", boxes_by_the_contexts_of_the_other_side)
{
    fix_need_simulator(f, "driver 580 ends the process"); /* in one of these calls */
    const struct pair pair = pair_of(f);
    REFUSED(between(f, &pair, 0, 0, NULL, false), INVALID_VALUE, "dst", pair.p[1] + 64);
    REFUSED_BY("VMM-COPY-NO-READ", between(f, &pair, 1, 1, NULL, false), INVALID_VALUE, "src", pair.p[0]);
    REFUSED(between(f, &pair, 0, 0, pair.stream[1], true), INVALID_VALUE, "dst", pair.p[1] + 64);
    fix_need_simulator(f, "driver 580 ends the process where one context is NULL and no device has rights to both sides");
    REFUSED(between(f, &pair, -1, 0, NULL, false), INVALID_VALUE, "dst", pair.p[1] + 64); /* the current one */
    REFUSED_BY("VMM-COPY-NO-READ", between(f, &pair, -1, -1, pair.stream[1], true), INVALID_VALUE, "src", pair.p[0]); /* the stream's */
}

TEST_OF_TWO(TEST_KIND_NEAR_MISS, "COPY_NO_WRITE", boxes_by_the_contexts_of_each_side)
{
    const struct pair pair = pair_of(f);
    for (int later = 0; later < 2; later++)
        for (int on = 0; on < 2; on++) {
            const unsigned char value = (unsigned char)(1 + later * 2 + on);
            fix_need(f, vmm_memset_d8(S, pair.p[0], value, 64));
            ACCEPTED(vmm_ctx_synchronize(S));
            ACCEPTED(between(f, &pair, 1, 0, pair.stream[on], later));
            ACCEPTED(vmm_stream_synchronize(S, pair.stream[on]));
            fix_need(f, vmm_ctx_set_current(S, pair.ctx[1]));
            CHECK_U64(fix_peek(f, pair.p[1] + 64), value);
            CHECK_U64(fix_peek(f, pair.p[1] + 127), value);
            fix_need(f, vmm_ctx_set_current(S, pair.ctx[0]));
        }
}

/* ---- in graphs ---- */

TEST_OF_TWO(TEST_KIND_BREAKS, "COPY_NO_READ", change_a_copy_of_another_context)
{
    const struct pair pair = pair_of(f);
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL;
    const vmm_memcpy3d theirs = row_of(pair.p[1], pair.p[1] + 64), ours = row_of(pair.p[0], pair.p[0] + 64);
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    ACCEPTED(vmm_graph_add_memcpy_node(S, &node, graph, NULL, 0, &theirs, pair.ctx[1]));
    REFUSED_BY("VMM-COPY-NO-WRITE", vmm_graph_memcpy_node_set_params(S, node, &theirs), INVALID_VALUE, "dst", pair.p[1]);
    ACCEPTED(vmm_graph_memcpy_node_set_params(S, node, &ours));
    fix_need(f, vmm_ctx_set_current(S, pair.ctx[1]));
    REFUSED_BY("VMM-COPY-NO-WRITE", vmm_graph_memcpy_node_set_params(S, node, &ours), INVALID_VALUE, "dst", pair.p[0]);
    ACCEPTED(vmm_graph_memcpy_node_set_params(S, node, &theirs));
    fix_need(f, vmm_ctx_set_current(S, pair.ctx[0]));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_OF_TWO(TEST_KIND_BREAKS, "GRAPH_PARAMS", events_of_another_context)
{
    const struct pair pair = pair_of(f);
    vmm_event own = fix_event(f), also = fix_event(f);
    fix_need(f, vmm_ctx_set_current(S, pair.ctx[1]));
    vmm_event theirs = fix_event(f);
    fix_need(f, vmm_ctx_set_current(S, pair.ctx[0]));
    vmm_graph graph = NULL;
    vmm_graph_exec exec = NULL;
    vmm_graph_node record = NULL, wait = NULL;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    ACCEPTED(vmm_graph_add_event_record_node(S, &record, graph, NULL, 0, own));
    ACCEPTED(vmm_graph_add_event_wait_node(S, &wait, graph, &record, 1, own));
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    REFUSED(vmm_graph_exec_event_wait_node_set_event(S, exec, wait, theirs), INVALID_VALUE, NULL, (uintptr_t)wait);
    REFUSED(vmm_graph_exec_event_record_node_set_event(S, exec, record, theirs), INVALID_VALUE, NULL, (uintptr_t)record);
    ACCEPTED(vmm_graph_exec_event_wait_node_set_event(S, exec, wait, also));
    ACCEPTED(vmm_graph_exec_event_record_node_set_event(S, exec, record, also));
    ACCEPTED(vmm_graph_event_wait_node_set_event(S, wait, theirs)); /* in the graph any event will do */
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* ---- in flight ---- */

/* Taking the rights of the device that the copy needs them of is a hazard, and taking those of its stream's device is none. */
TEST_EXPECTS("inflight.rights_of_the_copys_device", take_rights_from_a_copy_on_another_devices_stream)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    if (f->devices < 2) {
        fix_close(f);
        fix_skip(root, "needs 2 devices");
    }
    const struct pair pair = pair_of(f);
    const vmm_deviceptr p = pair.p[0];
    const vmm_mem_access_desc ours = {fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), READ}, theirs = {fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 1), NONE};
    const vmm_mem_access_desc again = {ours.location, RW};
    unsigned char bytes[16] = {7};
    ACCEPTED(vmm_memcpy_htod_async(S, p, bytes, 16, pair.stream[1]));
    ACCEPTED(vmm_mem_set_access(S, p, f->g, &theirs, 1));
    CHECK_U64(vmm_mem_set_access(S, p, f->g, &ours, 1), VMM_SUCCESS);
    CHECK(vmm_last_detail()->rule && strcmp(vmm_last_detail()->rule, "VMM-ACCESS-IN-FLIGHT") == 0, "by %s", vmm_last_detail()->rule);
    fix_need(f, vmm_mem_set_access(S, p, f->g, &again, 1));
    ACCEPTED(vmm_stream_synchronize(S, pair.stream[1]));
    fix_close(f);
}
