/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes of each type do when a launch reaches them, and in which order. */
#include <string.h>

#include "branches.h"
#include "graph_launch_memory.h"
#include "heap.h"
#include "in_flight.h"
#include "kernels.h"
#include "lane.h"
#include "launch.h"
#include "rows.h"
#include "team_share.h"

struct issue {
    struct sim_process *process;
    const struct vmm_call *call; /* the launch */
    vmm_stream stream;
    const struct graph_lane *lane;
    bool own; /* the node, or what the graph is the child of, is the stream's own */
};

static vmm_result issue_call(const struct issue *to, union vmm_any_call *call, enum vmm_call_id id)
{
    call->head = (struct vmm_call){(uint16_t)id, to->call->number};
    return graph_lane_issue(to->process, call, (enum vmm_call_id)to->call->id, to->lane);
}

static vmm_result issue_host(const struct issue *to, vmm_host_fn fn, void *data)
{
    union vmm_any_call call = {.launch_host_func = {{0, 0}, to->stream, fn, data}};
    return issue_call(to, &call, VMM_CALL_launch_host_func);
}

/* ---- work that only the host can do: bytes of registered and pageable memory ---- */

struct host_bytes {
    void *to;
    const void *from; /* NULL: a fill */
    size_t count;
    unsigned size, value;
};

/* Little-endian, as the devices are. */
static void move_bytes(void *user)
{
    struct host_bytes *b = user;
    if (b->from)
        memmove(b->to, b->from, b->count);
    for (size_t i = 0; !b->from && i < b->count; i++)
        memcpy((unsigned char *)b->to + i * b->size, &b->value, b->size);
    heap.free(b);
}

static vmm_result issue_bytes(const struct issue *to, const struct host_bytes *bytes)
{
    struct host_bytes *kept = heap.malloc(sizeof *kept);
    if (!kept)
        return sim_out_of_host_memory();
    *kept = *bytes;
    vmm_result result = issue_host(to, move_bytes, kept);
    if (result != VMM_SUCCESS)
        heap.free(kept);
    return result;
}

/* ---- fills ---- */

static vmm_result issue_row(const struct issue *to, const vmm_memset_node_params *p, vmm_deviceptr at)
{
    union vmm_any_call call;
    if (rows_is_registered(at))
        return issue_bytes(to, &(struct host_bytes){(void *)(uintptr_t)at, NULL, p->width, p->element_size, p->value});
    switch (p->element_size) {
    case 1:
        call.memset_d8_async = (struct vmm_call_memset_d8_async){{0, 0}, at, (unsigned char)p->value, p->width, NULL};
        return issue_call(to, &call, VMM_CALL_memset_d8_async);
    case 2:
        call.memset_d16_async = (struct vmm_call_memset_d16_async){{0, 0}, at, (unsigned short)p->value, p->width, NULL};
        return issue_call(to, &call, VMM_CALL_memset_d16_async);
    default:
        call.memset_d32_async = (struct vmm_call_memset_d32_async){{0, 0}, at, p->value, p->width, NULL};
        return issue_call(to, &call, VMM_CALL_memset_d32_async);
    }
}

static vmm_result issue_fill(const struct issue *to, const vmm_memset_node_params *p)
{
    vmm_result result = VMM_SUCCESS;
    for (uint64_t row = 0; row < p->height && result == VMM_SUCCESS; row++)
        result = issue_row(to, p, p->dst + row * p->pitch);
    return result;
}

/* ---- copies ---- */

/* One side of a copy, as the call describes it. */
struct described {
    int type;
    const void *host;
    vmm_deviceptr device;
    uint64_t x, y, z, pitch, height;
    vmm_array array;
};

/* Where row y of layer z begins: at base + (z * height + y) * pitch. */
struct side {
    vmm_deviceptr base;
    uint64_t pitch, height;
    bool host;
};

/* A device address faults if nothing is mapped there, even if its reservation has ended. */
static bool is_host(const struct sim_process *process, int type, uint64_t base)
{
    return rows_is_registered(base) || (type != VMM_MEMORYTYPE_DEVICE && !sim_mapping_at(process, base) &&
                                        !sim_allocation_at(process, base) && !host_window_holds(&process->window, base, 1));
}

/* An array that has ended has no bytes, and the copy faults at address 0; not tested on a driver. */
static struct side array_side(const struct issue *to, const struct described *of)
{
    struct rows_array has;
    if (!rows_array_of(to->process, of->array, &has))
        return (struct side){0, 0, 0, false};
    return (struct side){has.start + (of->z * has.rows + of->y) * has.row + of->x, has.row, has.rows, false};
}

static struct side side_of(const struct issue *to, const vmm_memcpy3d *p, const struct described *of)
{
    if (of->type == VMM_MEMORYTYPE_ARRAY)
        return array_side(to, of);
    const uint64_t base = of->type == VMM_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)of->host : of->device;
    const uint64_t pitch = of->pitch ? of->pitch : p->width_in_bytes + of->x;
    const uint64_t height = of->height ? of->height : p->height + of->y;
    return (struct side){base + (of->z * height + of->y) * pitch + of->x, pitch, height, is_host(to->process, of->type, base)};
}

static vmm_result issue_line(const struct issue *to, uint64_t dst, bool to_host, uint64_t src, bool from_host, size_t size)
{
    union vmm_any_call call;
    if (to_host && from_host)
        return issue_bytes(to, &(struct host_bytes){(void *)(uintptr_t)dst, (const void *)(uintptr_t)src, size, 1, 0});
    if (to_host) {
        call.memcpy_dtoh_async = (struct vmm_call_memcpy_dtoh_async){{0, 0}, (void *)(uintptr_t)dst, src, size, to->stream};
        return issue_call(to, &call, VMM_CALL_memcpy_dtoh_async);
    }
    if (from_host) {
        call.memcpy_htod_async = (struct vmm_call_memcpy_htod_async){{0, 0}, dst, (const void *)(uintptr_t)src, size, to->stream};
        return issue_call(to, &call, VMM_CALL_memcpy_htod_async);
    }
    call.memcpy_dtod_async = (struct vmm_call_memcpy_dtod_async){{0, 0}, dst, src, size, to->stream};
    return issue_call(to, &call, VMM_CALL_memcpy_dtod_async);
}

static vmm_result issue_copy(const struct issue *to, const vmm_memcpy3d *p)
{
    const struct described into = {p->dst_memory_type, p->dst_host, p->dst_device, p->dst_x_in_bytes, p->dst_y, p->dst_z,
                                   p->dst_pitch, p->dst_height, p->dst_array};
    const struct described from = {p->src_memory_type, p->src_host, p->src_device, p->src_x_in_bytes, p->src_y, p->src_z,
                                   p->src_pitch, p->src_height, p->src_array};
    const struct side dst = side_of(to, p, &into), src = side_of(to, p, &from);
    vmm_result result = VMM_SUCCESS;
    for (uint64_t z = 0; z < p->depth; z++)
        for (uint64_t y = 0; y < p->height && result == VMM_SUCCESS; y++)
            result = issue_line(to, dst.base + (z * dst.height + y) * dst.pitch, dst.host,
                                src.base + (z * src.height + y) * src.pitch, src.host, p->width_in_bytes);
    return result;
}

/* ---- nodes ---- */

static vmm_result issue_kernel(const struct issue *to, const struct vmm_call_launch *launch)
{
    union vmm_any_call call = {.launch = *launch};
    const char *why = kernels_is_multimem(launch->kernel) ? team_look_at_all(to->process->machine) : NULL;
    call.launch.stream = to->stream;
    return why ? sim_machine_unreachable(why) : issue_call(to, &call, VMM_CALL_launch);
}

static vmm_result issue_mem_op(const struct issue *to, const struct vmm_call_stream_batch_mem_op *ops)
{
    union vmm_any_call call = {.stream_batch_mem_op = *ops};
    call.stream_batch_mem_op.stream = to->stream;
    return ops->count ? issue_call(to, &call, VMM_CALL_stream_batch_mem_op) : VMM_SUCCESS;
}

static vmm_result issue_graph(const struct issue *to, const struct graph *graph);

/* An event that was destroyed meanwhile is skipped, as measured. */
static vmm_result issue_event(const struct issue *to, vmm_graph_node_type type, vmm_event event)
{
    void *object;
    if (slots_find(&to->process->events, (uint64_t)(uintptr_t)event, &object) != SLOT_LIVE)
        return VMM_SUCCESS;
    const struct vmm_call head = {(uint16_t)(type == VMM_GRAPH_NODE_TYPE_EVENT_RECORD ? VMM_CALL_event_record
                                                                                     : VMM_CALL_stream_wait_event),
                                  to->call->number};
    if (type == VMM_GRAPH_NODE_TYPE_WAIT_EVENT)
        return (to->own ? sim_stream_wait_event : event_wait_beside)(
            to->process, &(struct vmm_call_stream_wait_event){head, to->stream, event, 0});
    return (to->own ? sim_event_record : event_record_beside)(to->process, &(struct vmm_call_event_record){head, event, to->stream});
}

static vmm_result issue_node(const struct issue *to, const struct graph_work *work)
{
    switch (work->type) {
    case VMM_GRAPH_NODE_TYPE_KERNEL: return issue_kernel(to, &work->launch);
    case VMM_GRAPH_NODE_TYPE_MEMCPY: return issue_copy(to, &work->copy);
    case VMM_GRAPH_NODE_TYPE_MEMSET: return issue_fill(to, &work->fill);
    case VMM_GRAPH_NODE_TYPE_HOST: return issue_host(to, work->host.fn, work->host.user_data);
    case VMM_GRAPH_NODE_TYPE_GRAPH: return issue_graph(to, work->child);
    case VMM_GRAPH_NODE_TYPE_BATCH_MEM_OP: return issue_mem_op(to, &work->ops);
    case VMM_GRAPH_NODE_TYPE_MEM_ALLOC: return graph_launch_alloc(to->process, to->call, work->memory, to->stream);
    case VMM_GRAPH_NODE_TYPE_MEM_FREE: graph_launch_free(to->process, to->call, work->memory); return VMM_SUCCESS;
    case VMM_GRAPH_NODE_TYPE_EVENT_RECORD:
    case VMM_GRAPH_NODE_TYPE_WAIT_EVENT: return issue_event(to, work->type, work->event);
    default: return VMM_SUCCESS;
    }
}

/* ---- branches ---- */

/* A launch under way. */
struct launch {
    struct issue to;
    bool all_own;           /* the graph is not beside the stream itself */
    uint64_t own;           /* the context of the stream */
    struct graph_node **order;
    size_t *branch;         /* by the place in the order */
    struct graph_node **own_nodes; /* those of the stream that are still to come, one after the other, and NULL */
    struct graph_branch *branches;
    size_t known;           /* branches */
    struct graph_lane *lanes; /* by the branch */
    size_t *waited;         /* by branch and branch: the place in the order up to which the first has waited for the second */
};

/* The context whose device does the node's work; 0 for one that acts on the stream itself. If it has ended, the stream's
 * context serves as well. */
static uint64_t key_of(void *user, const struct graph_node *node)
{
    const struct launch *launch = user;
    const struct graph_work *work = graphs_work(node);
    void *found;
    switch (work->type) {
    case VMM_GRAPH_NODE_TYPE_KERNEL:
    case VMM_GRAPH_NODE_TYPE_MEMCPY:
    case VMM_GRAPH_NODE_TYPE_MEMSET:
    case VMM_GRAPH_NODE_TYPE_BATCH_MEM_OP: break;
    case VMM_GRAPH_NODE_TYPE_HOST: return launch->own;
    default: return 0;
    }
    const uint64_t context = (uint64_t)(uintptr_t)work->context;
    bool live = slots_find(&launch->to.process->contexts, context, &found) == SLOT_LIVE;
    return live ? context : launch->own;
}

/* Makes the branch of that number wait for another one, unless it has, up to that place in the order. */
static vmm_result wait_for(const struct launch *launch, size_t branch, size_t other, size_t upto, size_t now)
{
    size_t *waited = &launch->waited[branch * launch->known + other];
    if (branch == other || *waited >= upto)
        return VMM_SUCCESS;
    *waited = now;
    return graph_lane_wait(launch->to.process, launch->to.call->number, &launch->lanes[branch], &launch->lanes[other]);
}

/* Issues the node at that position in the order, after all its dependencies. */
static vmm_result issue_at(struct launch *launch, size_t at)
{
    const struct graph_node *node = launch->order[at];
    vmm_result result = VMM_SUCCESS;
    for (size_t i = 0; i < node->in.count && result == VMM_SUCCESS; i++) {
        size_t before = node->in.edge[i].node->index;
        result = wait_for(launch, launch->branch[at], launch->branch[before], before + 1, at);
    }
    launch->to.lane = &launch->lanes[launch->branch[at]];
    launch->to.own = launch->all_own && node == *launch->own_nodes;
    launch->own_nodes += node == *launch->own_nodes;
    return result != VMM_SUCCESS || graphs_work(node)->disabled ? result : issue_node(&launch->to, graphs_work(node));
}

/* The other branches come after the stream's work so far, and the stream continues after all of them. */
static vmm_result issue_branches(struct launch *launch, size_t count)
{
    vmm_result result = VMM_SUCCESS;
    uint64_t number = launch->known > 1 ? graph_lane_number(launch->to.process) : 0;
    for (size_t i = 0; i < launch->known; i++)
        launch->lanes[i] = (struct graph_lane){launch->to.stream, launch->branches[i].key, i ? number + i : 0};
    for (size_t i = 1; i < launch->known && result == VMM_SUCCESS; i++)
        result = graph_lane_wait(launch->to.process, launch->to.call->number, &launch->lanes[i], &launch->lanes[0]);
    for (size_t i = 0; i < count && result == VMM_SUCCESS; i++)
        result = issue_at(launch, i);
    for (size_t i = 1; i < launch->known; i++) { /* even if a node could not be issued: those before it were */
        vmm_result joined = graph_lane_wait(launch->to.process, launch->to.call->number, &launch->lanes[0], &launch->lanes[i]);
        result = result == VMM_SUCCESS ? joined : result;
    }
    return result;
}

static vmm_result issue_planned(struct launch *launch, size_t count)
{
    launch->known = graph_branches(launch->order, count, launch->own, key_of, launch, launch->branch, launch->branches);
    launch->lanes = heap.malloc(launch->known * sizeof *launch->lanes);
    launch->waited = heap.calloc(launch->known * launch->known, sizeof *launch->waited);
    vmm_result result = launch->lanes && launch->waited ? issue_branches(launch, count) : sim_out_of_host_memory();
    heap.free(launch->lanes);
    heap.free(launch->waited);
    return result;
}

/* Has it nothing to do, like a child whose graph has no other nodes? */
static bool is_void(const struct graph_node *node)
{
    const struct graph *child = graphs_work(node)->child;
    bool none = child || graphs_work(node)->type == VMM_GRAPH_NODE_TYPE_EMPTY;
    for (node = child ? child->first : NULL; none && node; node = node->after)
        none = is_void(node);
    return none;
}

/* Of the nodes of a way in the search: what is done there, or what still has to be looked at, in todo. */
static void meet(struct graph_node *node, size_t turn, struct graph_node **first, struct graph_node **todo, size_t *left)
{
    if (node->left == turn)
        return;
    node->left = turn;
    if (is_void(node))
        todo[(*left)++] = node;
    else if (!*first || node->index < (*first)->index)
        *first = node;
}

/* The first node that depends on this one, or on a node without work that does; of NULL, that depends on none. */
static struct graph_node *first_after(const struct graph *graph, const struct graph_node *node, size_t turn, struct graph_node **todo)
{
    struct graph_node *first = NULL;
    size_t left = 0;
    for (struct graph_node *root = node ? NULL : graph->first_root; root; root = root->root_after)
        meet(root, turn, &first, todo, &left);
    for (node = node || !left ? node : todo[--left]; node; node = left ? todo[--left] : NULL)
        for (size_t i = 0; i < node->out.count; i++)
            meet(node->out.edge[i].node, turn, &first, todo, &left);
    return first;
}

/* The stream's own nodes: the first of those that depend on none, and after each the first of those that depend on it, where nodes without
 * work do not count. Memory pools saw no order in two waits for events that were other ones, on an H200, and in seven that were among
 * these; nor in a record of an event beside a captured fill, but in one beside a child without nodes. todo: room for all nodes. */
static void find_own(const struct graph *graph, struct graph_node **own, struct graph_node **todo)
{
    size_t turn = 0;
    graph_number(graph);
    for (struct graph_node *node = graph->first; node; node = node->after)
        node->left = 0;
    for (struct graph_node *node = first_after(graph, NULL, ++turn, todo); node; node = first_after(graph, node, ++turn, todo))
        *own++ = node;
    *own = NULL;
}

static vmm_result issue_graph(const struct issue *to, const struct graph *graph)
{
    struct sim_context *context;
    struct launch launch = {.to = *to, .all_own = to->own};
    vmm_result result = sim_stream_context(to->process, to->stream, &context);
    if (result != VMM_SUCCESS) /* LCOV_EXCL_BR_LINE: a host function of the launch has just destroyed the stream */
        return result;         /* LCOV_EXCL_LINE: the same */
    launch.own = context->value;
    launch.order = heap.malloc((graph->count + 1) * sizeof *launch.order);
    launch.branch = heap.malloc((graph->count + 1) * sizeof *launch.branch);
    launch.branches = heap.malloc((graph->count + 1) * sizeof *launch.branches);
    struct graph_node **own = launch.own_nodes = heap.malloc((graph->count + 1) * sizeof *own);
    if (launch.order && launch.branch && launch.branches && own) {
        find_own(graph, own, launch.order);
        result = issue_planned(&launch, graph_order(graph, launch.order));
    } else
        result = sim_out_of_host_memory();
    heap.free(launch.order);
    heap.free(launch.branch);
    heap.free(launch.branches);
    heap.free(own);
    return result;
}

vmm_result graph_issue(struct sim_process *process, const struct vmm_call *call, const struct graph *graph, vmm_stream stream)
{
    return issue_graph(&(struct issue){process, call, stream, NULL, true}, graph);
}
