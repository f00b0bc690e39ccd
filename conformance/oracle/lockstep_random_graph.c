/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_random_graph.c - random calls of captures and graphs.
 *
 * While a stream is captured, a call that would begin another capture mostly ends that one, or records and awaits events in it.
 */
#include "lockstep_maker.h"
#include "model/model_graph.h"

enum { MANY_GRAPHS = 7, MANY_NODES = 8, MANY_EXECS = 12, MOST_INSIDE = 10 };

static struct step_arg named(uint32_t name)
{
    return (struct step_arg){name, 0};
}

/* ---- what there is ---- */

static const struct model_graphs *all(const struct maker *m)
{
    return m->model->graphs;
}

static const struct model_graph *some_graph(const struct maker *m)
{
    const size_t count = all(m)->count, from = choose(m->dice, count);
    for (size_t i = 0; i < count; i++) {
        const struct model_graph *graph = all(m)->graph[(from + i) % count];
        if (one_in(m, 12)) /* that of a node */
            for (size_t k = 0; k < graph->count; k++)
                if (graph->node[k]->work.child && graph->node[k]->work.child->tag)
                    return graph->node[k]->work.child;
        if (graph->tag)
            return graph;
    }
    return NULL;
}

static struct step_arg graph_name(const struct model_graph *graph)
{
    return graph ? named(graph->tag) : literal(0);
}

/* A node of a graph that a step can name, of a type (-1: of any). */
static const struct model_node *node_in(const struct maker *m, const struct model_graph *graph, int type)
{
    const size_t count = graph ? graph->count : 0, from = choose(m->dice, count);
    for (size_t i = 0; i < count; i++) {
        const struct model_node *node = graph->node[(from + i) % count];
        if (node->tag && (type < 0 || node->work.type == type))
            return node;
    }
    return NULL;
}

static const struct model_node *some_node(const struct maker *m, int type)
{
    const struct model_node *node = node_in(m, some_graph(m), type);
    for (size_t i = 0; !node && i < all(m)->count; i++)
        node = node_in(m, all(m)->graph[i], type);
    return node;
}

static struct step_arg node_name(const struct model_node *node)
{
    return node ? named(node->tag) : literal(0);
}

static const struct model_exec *some_exec(const struct maker *m)
{
    return all(m)->execs ? all(m)->exec[choose(m->dice, all(m)->execs)] : NULL;
}

static struct step_arg exec_name(const struct model_exec *exec)
{
    return exec ? named(exec->tag) : literal(0);
}

/* The node that a copy was made from, if a step can name it. */
static const struct model_node *original(const struct maker *m, const struct model_node *copy)
{
    for (size_t i = 0; i < all(m)->count; i++)
        for (size_t k = 0; k < all(m)->graph[i]->count; k++)
            if (copy->origin && all(m)->graph[i]->node[k]->id == copy->origin && all(m)->graph[i]->node[k]->tag)
                return all(m)->graph[i]->node[k];
    return NULL;
}

/* A copy whose original can be named, of a type of at least `least` and at most `most`. */
static const struct model_node *copy_in(const struct maker *m, const struct model_graph *graph, int least, int most)
{
    const size_t count = graph ? graph->count : 0, from = choose(m->dice, count);
    for (size_t i = 0; i < count; i++) {
        const struct model_node *node = graph->node[(from + i) % count];
        if (node->work.type >= least && node->work.type <= most && original(m, node))
            return node;
    }
    return NULL;
}

static size_t size_of(const struct model_graph *graph)
{
    size_t count = graph->count;
    for (size_t i = 0; i < graph->count; i++)
        count += graph->node[i]->work.child ? size_of(graph->node[i]->work.child) : 0;
    return count;
}

/* ---- captures ---- */

/* The name of a lane's stream: streams are made in the order of their names. */
static struct step_arg stream_name(const struct maker *m, int lane)
{
    uint32_t name = STEP_FIRST_STREAM;
    for (int i = 0; i < lane; i++)
        name += m->model->lane[i].stream != 0;
    return named(name);
}

bool maker_captured_stream(const struct maker *m, struct step_arg *stream)
{
    const int from = (int)choose(m->dice, MODEL_LANES);
    for (int i = 0; i < MODEL_LANES; i++) {
        const int lane = (from + i) % MODEL_LANES;
        if (!model_captured(m->model, lane))
            continue;
        *stream = stream_name(m, lane);
        return true;
    }
    return false;
}

static bool began(const struct maker *m, struct step_arg *stream)
{
    for (int i = 0; i < MODEL_LANES; i++)
        if (all(m)->capture[i]) {
            *stream = stream_name(m, i);
            return true;
        }
    return false;
}

static void become(const struct maker *m, enum vmm_call_id call)
{
    const uint32_t name = m->step->name;
    *m->step = step_of(call);
    m->step->name = name;
}

static void make_on_stream(const struct maker *m)
{
    struct step_arg stream = maker_stream(m);
    if (!one_in(m, 8) && m->step->call == VMM_CALL_stream_end_capture)
        began(m, &stream);
    maker_set(m, "stream", stream);
}

/* Another stream joins the capture, or has its work joined again. */
static void make_event(const struct maker *m, struct step_arg captured)
{
    const bool last = captured.name == STEP_FIRST_STREAM + STEP_STREAMS - 1;
    const bool records = one_in(m, 2);
    struct step_arg origin = captured, stream = captured;
    began(m, &origin);
    if (!records)
        stream = one_in(m, 2) ? origin : maker_stream(m);
    become(m, records ? VMM_CALL_event_record : VMM_CALL_stream_wait_event);
    maker_set(m, "stream", stream);
    maker_set(m, "event", named(records && last ? STEP_FIRST_EVENT + 1 : STEP_FIRST_EVENT));
}

static void make_dependencies(const struct maker *m, const struct model_graph *graph);

static void make_begin(const struct maker *m)
{
    const struct model_graph *graph = some_graph(m);
    struct step_arg captured;
    if (!one_in(m, 5) && maker_captured_stream(m, &captured)) {
        if (one_in(m, 2)) {
            make_event(m, captured);
            return;
        }
        become(m, VMM_CALL_stream_end_capture);
        make_on_stream(m);
        return;
    }
    const int modes[] = {VMM_STREAM_CAPTURE_MODE_GLOBAL, VMM_STREAM_CAPTURE_MODE_THREAD_LOCAL, VMM_STREAM_CAPTURE_MODE_RELAXED};
    maker_set(m, "stream", one_in(m, 12) ? maker_stream(m) : named(STEP_FIRST_STREAM + (uint32_t)choose(m->dice, STEP_STREAMS)));
    maker_set(m, "mode", literal((uint64_t)(one_in(m, 4) ? PICK(m, modes) : VMM_STREAM_CAPTURE_MODE_RELAXED)));
    if (one_in(m, 20))
        maker_set(m, "mode", literal(3 + choose(m->dice, 2)));
    if (m->step->call != VMM_CALL_stream_begin_capture_to_graph)
        return;
    maker_set(m, "graph", graph_name(graph));
    make_dependencies(m, graph);
}

static void make_update(const struct maker *m)
{
    const int from = (int)choose(m->dice, MODEL_LANES);
    const struct model_graph *graph = some_graph(m);
    struct step_arg stream = maker_stream(m);
    for (int i = 0; i < MODEL_LANES && !one_in(m, 12); i++) {
        const int lane = (from + i) % MODEL_LANES;
        if (!model_captured(m->model, lane))
            continue;
        graph = all(m)->lane[lane].capture->graph;
        stream = stream_name(m, lane);
        break;
    }
    maker_set(m, "stream", stream);
    maker_set(m, "flags", literal(one_in(m, 16) ? 2 : choose(m->dice, 2)));
    make_dependencies(m, graph);
}

/* ---- graphs ---- */

/* Some nodes of the graph, each once. */
static void make_dependencies(const struct maker *m, const struct model_graph *graph)
{
    const uint64_t most = choose(m->dice, STEP_NODES + 1);
    uint64_t count = 0;
    for (uint64_t i = 0; i < most; i++) {
        const struct model_node *node = node_in(m, graph, -1);
        bool again = !node;
        for (uint64_t k = 0; node && k < count; k++)
            again |= m->step->node[0][k].name == node->tag;
        if (!again)
            m->step->node[0][count++] = named(node->tag);
    }
    maker_set(m, "num_dependencies", literal(count));
}

static void make_of_graph(const struct maker *m)
{
    const struct model_graph *graph = some_graph(m);
    maker_set(m, m->step->call == VMM_CALL_graph_clone ? "original_graph" : "graph", graph_name(graph));
}

/* The graph with fewer nodes of two. */
static void make_end(const struct maker *m)
{
    const struct model_graph *one = some_graph(m), *other = some_graph(m);
    become(m, VMM_CALL_graph_destroy);
    maker_set(m, "graph", graph_name(one && other && other->count < one->count ? other : one));
}

static void make_clone(const struct maker *m)
{
    if (all(m)->count > MANY_GRAPHS)
        make_end(m);
    else
        make_of_graph(m);
}

static void make_graph(const struct maker *m)
{
    if (all(m)->count > MANY_GRAPHS)
        make_end(m);
}

static void make_instance(const struct maker *m)
{
    const uint64_t flags[] = {0, 0, 0, VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, VMM_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY};
    if (all(m)->execs > MANY_EXECS) {
        become(m, VMM_CALL_graph_exec_destroy);
        maker_set(m, "graph_exec", exec_name(some_exec(m)));
        return;
    }
    make_of_graph(m);
    maker_set(m, "flags", literal(one_in(m, 16) ? 2 + 3 * choose(m->dice, 2) : PICK(m, flags)));
}

static void make_of_exec(const struct maker *m)
{
    maker_set(m, "graph_exec", exec_name(some_exec(m)));
    if (m->step->call == VMM_CALL_graph_launch || m->step->call == VMM_CALL_graph_upload)
        maker_set(m, "stream", maker_stream(m));
}

/* ---- nodes ---- */

static struct step_arg context_name(int device)
{
    return named(1 + (uint32_t)device);
}

static int current(const struct maker *m)
{
    return m->model->current < 0 ? -1 : m->model->contexts[m->model->current].device;
}

static void make_fill(const struct maker *m, int device)
{
    const unsigned sizes[] = {1, 2, 4};
    uint64_t *word = m->step->word, size = PICK(m, sizes);
    m->step->node[1][0] = maker_box_place(m, device);
    if (!one_in(m, 16))
        m->step->node[1][0].add &= ~(uint64_t)3;
    word[1] = choose(m->dice, UINT32_MAX);
    word[2] = size;
    word[3] = 1 + choose(m->dice, 6);
    word[4] = one_in(m, 3) ? 1 + choose(m->dice, 3) : 1;
    word[0] = (word[3] + choose(m->dice, 2)) * size;
}

static void make_kernel(const struct maker *m, int device)
{
    m->step->node[1][0] = maker_box_place(m, device < 0 ? 0 : device);
    m->step->word[0] = 0;
    m->step->word[1] = m->step->word[2] = 1 + choose(m->dice, 64);
    m->step->word[3] = choose(m->dice, 20);
    m->step->word[4] = 3;
}

/* What the node that is added holds. */
static void make_work(const struct maker *m, const struct model_graph *graph)
{
    const int device = current(m), other = (int)choose(m->dice, (uint64_t)m->model->profile->devices);
    const struct model_graph *child = some_graph(m);
    int place;
    switch ((enum vmm_call_id)m->step->call) {
    case VMM_CALL_graph_add_memset_node:
        place = one_in(m, 2) && device >= 0 ? device : other;
        maker_set(m, "ctx", one_in(m, 8) && device >= 0 ? literal(0) : context_name(place));
        make_fill(m, step_arg(m->step, "ctx")->name ? place : device);
        break;
    case VMM_CALL_graph_add_memcpy_node:
        place = one_in(m, 2) && device >= 0 ? device : other;
        maker_set(m, "ctx", one_in(m, 8) && device >= 0 ? literal(0) : context_name(place));
        maker_box(m, step_arg(m->step, "ctx")->name ? place : device);
        break;
    case VMM_CALL_graph_add_host_node: m->step->word[0] = 1; break;
    case VMM_CALL_graph_add_kernel_node: make_kernel(m, device); break;
    case VMM_CALL_graph_add_event_record_node:
    case VMM_CALL_graph_add_event_wait_node:
        maker_set(m, "event", named(STEP_FIRST_EVENT + (uint32_t)one_in(m, 8)));
        break;
    case VMM_CALL_graph_add_child_graph_node:
        for (int i = 0; child && (child == graph || size_of(child) > MOST_INSIDE) && i < 8; i++)
            child = some_graph(m);
        maker_set(m, "child_graph", graph_name(child && size_of(child) <= MOST_INSIDE ? child : NULL));
        break;
    default: break;
    }
}

static void make_node(const struct maker *m)
{
    const struct model_graph *graph = some_graph(m);
    if (graph && graph->count > MANY_NODES) {
        become(m, VMM_CALL_graph_destroy_node);
        maker_set(m, "node", node_name(node_in(m, graph, -1)));
        return;
    }
    maker_set(m, "graph", graph_name(graph));
    make_dependencies(m, graph);
    make_work(m, graph);
}

static void make_of_node(const struct maker *m)
{
    int type = -1;
    switch ((enum vmm_call_id)m->step->call) {
    case VMM_CALL_graph_child_graph_node_get_graph: type = VMM_GRAPH_NODE_TYPE_GRAPH; break;
    case VMM_CALL_graph_event_record_node_get_event:
    case VMM_CALL_graph_event_record_node_set_event: type = VMM_GRAPH_NODE_TYPE_EVENT_RECORD; break;
    case VMM_CALL_graph_event_wait_node_get_event:
    case VMM_CALL_graph_event_wait_node_set_event: type = VMM_GRAPH_NODE_TYPE_WAIT_EVENT; break;
    case VMM_CALL_graph_memset_node_get_params:
    case VMM_CALL_graph_memset_node_set_params: type = VMM_GRAPH_NODE_TYPE_MEMSET; break;
    case VMM_CALL_graph_memcpy_node_get_params:
    case VMM_CALL_graph_memcpy_node_set_params: type = VMM_GRAPH_NODE_TYPE_MEMCPY; break;
    case VMM_CALL_graph_kernel_node_set_params: type = VMM_GRAPH_NODE_TYPE_KERNEL; break;
    case VMM_CALL_graph_host_node_get_params:
    case VMM_CALL_graph_host_node_set_params: type = VMM_GRAPH_NODE_TYPE_HOST; break;
    default: break;
    }
    const struct model_node *node = some_node(m, one_in(m, 16) ? -1 : type);
    maker_set(m, "node", node_name(node));
    m->step->word[0] = 1;
    if (m->step->call == VMM_CALL_graph_memset_node_set_params)
        make_fill(m, node && node->work.type == VMM_GRAPH_NODE_TYPE_MEMSET ? node->work.device : current(m));
    if (m->step->call == VMM_CALL_graph_kernel_node_set_params)
        make_kernel(m, current(m));
    if (m->step->call == VMM_CALL_graph_memcpy_node_set_params)
        maker_box(m, node && node->work.type == VMM_GRAPH_NODE_TYPE_MEMCPY ? node->work.device : current(m));
    if (m->step->call == VMM_CALL_graph_event_record_node_set_event || m->step->call == VMM_CALL_graph_event_wait_node_set_event)
        maker_set(m, "event", named(STEP_FIRST_EVENT + (uint32_t)one_in(m, 8)));
}

static void make_find(const struct maker *m)
{
    const struct model_graph *graph = some_graph(m);
    const struct model_node *copy = copy_in(m, graph, 0, VMM_GRAPH_NODE_TYPE_EVENT_RECORD);
    for (size_t i = 0; !copy && i < all(m)->count; i++) {
        graph = all(m)->graph[i];
        copy = graph->tag ? copy_in(m, graph, 0, VMM_GRAPH_NODE_TYPE_EVENT_RECORD) : NULL;
    }
    maker_set(m, "original_node", node_name(copy ? original(m, copy) : some_node(m, -1)));
    maker_set(m, "cloned_graph", graph_name(graph));
}

/* The type of nodes that a call on an instance is for; -1: several. */
static int type_in_exec(enum vmm_call_id call)
{
    switch (call) {
    case VMM_CALL_graph_exec_memset_node_set_params: return VMM_GRAPH_NODE_TYPE_MEMSET;
    case VMM_CALL_graph_exec_memcpy_node_set_params: return VMM_GRAPH_NODE_TYPE_MEMCPY;
    case VMM_CALL_graph_exec_kernel_node_set_params: return VMM_GRAPH_NODE_TYPE_KERNEL;
    case VMM_CALL_graph_exec_host_node_set_params: return VMM_GRAPH_NODE_TYPE_HOST;
    case VMM_CALL_graph_exec_event_record_node_set_event: return VMM_GRAPH_NODE_TYPE_EVENT_RECORD;
    case VMM_CALL_graph_exec_event_wait_node_set_event: return VMM_GRAPH_NODE_TYPE_WAIT_EVENT;
    default: return -1;
    }
}

/* Mostly of the shape and types of what the node copies. */
static void make_other_box(const struct maker *m, const struct model_node *copy, int device)
{
    maker_box(m, device);
    if (!copy || one_in(m, 6))
        return;
    const vmm_memcpy3d *is = &copy->work.copy.asked;
    for (int i = 0; i < 2; i++) {
        m->step->side[i].type = i ? is->dst_memory_type : is->src_memory_type;
        m->step->side[i].pitch = i ? is->dst_pitch : is->src_pitch;
        if (m->step->side[i].type == VMM_MEMORYTYPE_DEVICE)
            m->step->side[i].base = maker_box_place(m, device);
    }
    m->step->extent[0] = is->width_in_bytes;
    m->step->extent[1] = is->height;
    m->step->extent[2] = is->depth;
}

static void make_in_exec(const struct maker *m)
{
    const enum vmm_call_id call = (enum vmm_call_id)m->step->call;
    const bool fills = call == VMM_CALL_graph_exec_memset_node_set_params;
    const int type = type_in_exec(call), least = type < 0 ? 0 : type, most = type < 0 ? VMM_GRAPH_NODE_TYPE_MEMSET : type;
    const struct model_exec *exec = some_exec(m);
    const struct model_node *copy = exec ? copy_in(m, exec->graph, least, most) : NULL;
    for (size_t i = 0; !copy && i < all(m)->execs; i++) {
        exec = all(m)->exec[i];
        copy = copy_in(m, exec->graph, least, most);
    }
    if (!copy && type == VMM_GRAPH_NODE_TYPE_MEMCPY && !one_in(m, 8)) { /* none has a copy */
        become(m, VMM_CALL_graph_exec_get_flags);
        maker_set(m, "graph_exec", exec_name(exec));
        return;
    }
    maker_set(m, "graph_exec", exec_name(exec));
    maker_set(m, "node", node_name(copy ? original(m, copy) : some_node(m, -1)));
    m->step->word[0] = 1;
    if (call == VMM_CALL_graph_node_set_enabled)
        maker_set(m, "is_enabled", literal(choose(m->dice, 3)));
    if (type == VMM_GRAPH_NODE_TYPE_EVENT_RECORD || type == VMM_GRAPH_NODE_TYPE_WAIT_EVENT)
        maker_set(m, "event", named(STEP_FIRST_EVENT + (uint32_t)one_in(m, 8)));
    if (type == VMM_GRAPH_NODE_TYPE_KERNEL)
        make_kernel(m, current(m));
    if (!fills && type != VMM_GRAPH_NODE_TYPE_MEMCPY)
        return;
    const int device = copy ? copy->work.device : current(m);
    maker_set(m, "ctx", copy && copy->work.device >= 0 ? context_name(copy->work.device) : literal(0));
    if (!fills) {
        make_other_box(m, copy, device);
        return;
    }
    make_fill(m, device);
    if (!copy || one_in(m, 12))
        return;
    const vmm_memset_node_params *is = &copy->work.fill;
    m->step->word[0] = is->pitch;
    m->step->word[2] = is->element_size;
    m->step->word[3] = is->width;
    m->step->word[4] = is->height;
}

/* ---- dependencies ---- */

static void make_edges(const struct maker *m)
{
    const struct model_graph *graph = some_graph(m);
    const uint64_t most = 1 + choose(m->dice, 2);
    uint64_t count = 0;
    for (uint64_t tries = 0; tries < 12 && count < most; tries++) {
        const struct model_node *from = node_in(m, graph, -1), *to = node_in(m, graph, -1);
        bool bad = !from || from == to || (model_comes_after(from, to) && !one_in(m, 40));
        for (size_t i = 0; !bad && i < to->links; i++)
            bad |= to->link[i].on == from;
        for (uint64_t k = 0; !bad && k < count; k++)
            bad |= m->step->node[1][k].name != to->tag || m->step->node[0][k].name == from->tag; /* which make no cycle together */
        if (bad)
            continue;
        m->step->node[0][count] = named(from->tag);
        m->step->node[1][count++] = named(to->tag);
    }
    maker_set(m, "graph", graph_name(graph));
    maker_set(m, "edge_data", literal(one_in(m, 3)));
    maker_set(m, "num_dependencies", literal(count ? count : one_in(m, 4)));
}

static void make_no_edges(const struct maker *m)
{
    const struct model_graph *graph = some_graph(m);
    for (int tries = 0; tries < 12; tries++) {
        const struct model_node *to = node_in(m, graph, -1);
        const struct model_link *link = to && to->links ? &to->link[choose(m->dice, to->links)] : NULL;
        if (link && link->on->tag) {
            m->step->node[0][0] = named(link->on->tag);
            m->step->node[1][0] = named(to->tag);
            break;
        }
        graph = some_graph(m);
    }
    maker_set(m, "graph", graph_name(graph));
    maker_set(m, "edge_data", literal(one_in(m, 3)));
    maker_set(m, "num_dependencies", literal(m->step->node[0][0].name != 0 || one_in(m, 8)));
}

/* ---- lists, and what captures tell ---- */

/* Room for all, for some, or the number alone. */
static void make_list(const struct maker *m, const char *list, const char *other, const char *data)
{
    const bool none = one_in(m, 4);
    m->step->word[0] = one_in(m, 3) ? 1 + choose(m->dice, 3) : LOCKSTEP_LISTED;
    maker_set(m, list, literal(!none));
    if (other)
        maker_set(m, other, literal(!none));
    if (data)
        maker_set(m, data, literal(!none && !one_in(m, 8)));
}

static void make_listed(const struct maker *m)
{
    const bool of_node = m->step->call == VMM_CALL_graph_node_get_dependencies || m->step->call == VMM_CALL_graph_node_get_dependent_nodes;
    maker_set(m, of_node ? "node" : "graph", of_node ? node_name(some_node(m, -1)) : graph_name(some_graph(m)));
    switch ((enum vmm_call_id)m->step->call) {
    case VMM_CALL_graph_get_nodes: make_list(m, "nodes", NULL, NULL); break;
    case VMM_CALL_graph_get_root_nodes: make_list(m, "root_nodes", NULL, NULL); break;
    case VMM_CALL_graph_get_edges: make_list(m, "from", "to", "edge_data"); break;
    case VMM_CALL_graph_node_get_dependencies: make_list(m, "dependencies", NULL, "edge_data"); break;
    default: make_list(m, "dependent_nodes", NULL, "edge_data"); break;
    }
}

static void make_info(const struct maker *m)
{
    struct step_arg stream;
    maker_set(m, "stream", !one_in(m, 4) && maker_captured_stream(m, &stream) ? stream : maker_stream(m));
}

/* Mostly one that forbids as much as any. */
static void make_mode(const struct maker *m)
{
    const uint64_t modes[] = {VMM_STREAM_CAPTURE_MODE_GLOBAL, VMM_STREAM_CAPTURE_MODE_GLOBAL, VMM_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                              VMM_STREAM_CAPTURE_MODE_RELAXED, 7};
    m->step->word[0] = PICK(m, modes);
}

/* The graph that the instance was made from, if a step can name it and it has the same nodes still; NULL otherwise. */
static const struct model_graph *source(const struct maker *m, const struct model_exec *exec)
{
    for (size_t i = 0; exec->graph->count && i < all(m)->count; i++) {
        const struct model_graph *graph = all(m)->graph[i];
        if (graph->tag && graph->count == exec->graph->count && graph->edits == exec->edits &&
            graph->node[0]->id == exec->graph->node[0]->origin)
            return graph;
    }
    return NULL;
}

static void make_exec_update(const struct maker *m)
{
    const size_t count = all(m)->execs, from = choose(m->dice, count);
    const struct model_exec *exec = some_exec(m);
    const struct model_graph *graph = NULL;
    for (size_t i = 0; !graph && i < count; i++) {
        exec = all(m)->exec[(from + i) % count];
        graph = source(m, exec);
    }
    if (!graph && !one_in(m, 6)) { /* it would be refused */
        become(m, VMM_CALL_graph_exec_get_flags);
        maker_set(m, "graph_exec", exec_name(exec));
        return;
    }
    maker_set(m, "graph_exec", exec_name(exec));
    maker_set(m, "graph", graph_name(graph && !one_in(m, 10) ? graph : some_graph(m)));
}

static void make_graph_memory(const struct maker *m)
{
    const uint64_t attributes[] = {VMM_GRAPH_MEM_ATTR_USED_MEM_HIGH, VMM_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH};
    maker_set(m, "device", literal(choose(m->dice, (uint64_t)m->model->profile->devices)));
    if (m->step->call == VMM_CALL_device_get_graph_mem_attribute)
        maker_set(m, "attr", literal(choose(m->dice, 4)));
    if (m->step->call == VMM_CALL_device_set_graph_mem_attribute)
        maker_set(m, "attr", literal(one_in(m, 8) ? choose(m->dice, 5) : PICK(m, attributes)));
}

/* ---- user objects ---- */

enum { MANY_OBJECTS = 12 };

static const struct model_object *some_object(const struct maker *m)
{
    return all(m)->objects ? all(m)->object[choose(m->dice, all(m)->objects)] : NULL;
}

static struct step_arg object_name(const struct model_object *object)
{
    return object && object->tag ? named(object->tag) : literal(0);
}

static void make_object(const struct maker *m)
{
    if (all(m)->objects > MANY_OBJECTS)
        become(m, VMM_CALL_user_object_release);
    if (m->step->call == VMM_CALL_user_object_create) {
        maker_set(m, "initial_refcount", literal(1 + choose(m->dice, 3)));
        maker_set(m, "flags", literal(VMM_USER_OBJECT_NO_DESTRUCTOR_SYNC));
        return;
    }
    maker_set(m, "object", object_name(some_object(m)));
    maker_set(m, "count", literal(one_in(m, 16) ? 0 : 1 + choose(m->dice, 2)));
}

static void make_object_of_graph(const struct maker *m)
{
    const struct model_graph *graph = some_graph(m);
    const struct model_object *object = some_object(m);
    const bool releases = m->step->call == VMM_CALL_graph_release_user_object;
    if (releases && graph && graph->references && !one_in(m, 8))
        object = graph->held[choose(m->dice, graph->references)].object;
    maker_set(m, "graph", graph_name(graph));
    maker_set(m, "object", object_name(object));
    maker_set(m, "count", literal(one_in(m, 16) ? 0 : 1 + choose(m->dice, 2)));
    if (!releases)
        maker_set(m, "flags", literal(one_in(m, 16) ? 2 : one_in(m, 3)));
}

/* ---- mistakes ---- */

struct step_arg maker_old_object(const struct maker *m)
{
    if (one_in(m, 2) || m->model->driver || m->step->name <= STEP_FIRST_NAME) /* whose values may be reused */
        return literal(0);
    return named(m->step->name - (uint32_t)choose(m->dice, m->step->name - STEP_FIRST_NAME));
}

static void spoil_nodes(const struct maker *m, struct step_arg *list)
{
    switch (choose(m->dice, 3)) {
    case 0: list[choose(m->dice, STEP_NODES)] = node_name(some_node(m, -1)); break;
    case 1: list[1] = list[0]; break;
    default: maker_set(m, "num_dependencies", literal((uint64_t)1 << 33));
    }
}

void maker_spoil_node(const struct maker *m, size_t i, enum vmm_param_kind kind)
{
    uint64_t *word = m->step->word;
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)m->step->call, &count);
    switch (kind) {
    case VMM_PARAM_NODES: spoil_nodes(m, m->step->node[i && params[i - 1].kind == VMM_PARAM_NODES]); break;
    case VMM_PARAM_EDGES: word[choose(m->dice, 2)] = UINT64_C(1) << choose(m->dice, 64); break;
    case VMM_PARAM_HOST_NODE: word[0] = 0; break;
    case VMM_PARAM_KERNEL_NODE: {
        const uint64_t wrong[][2] = {{0, 99}, {0, ~(uint64_t)0}, {1, 0}, {2, 5000}, {4, 2}};
        const uint64_t *one = wrong[choose(m->dice, 5)];
        word[one[0]] = one[1];
        break;
    }
    default:
        if (one_in(m, 3))
            m->step->node[1][0] = maker_address(m);
        else
            word[choose(m->dice, STEP_WORDS)] = choose(m->dice, 4);
    }
}

static const struct maker_row rows[] = {
    {VMM_CALL_stream_begin_capture, 5, make_begin},
    {VMM_CALL_stream_begin_capture_to_graph, 5, make_begin},
    {VMM_CALL_stream_end_capture, 2, make_on_stream},
    {VMM_CALL_stream_is_capturing, 2, make_on_stream},
    {VMM_CALL_stream_update_capture_dependencies, 2, make_update},
    {VMM_CALL_graph_create, 3, make_graph},
    {VMM_CALL_graph_clone, 3, make_clone},
    {VMM_CALL_graph_destroy, 1, make_of_graph},
    {VMM_CALL_graph_add_empty_node, 3, make_node},
    {VMM_CALL_graph_add_memset_node, 8, make_node},
    {VMM_CALL_graph_add_memcpy_node, 7, make_node},
    {VMM_CALL_graph_add_host_node, 3, make_node},
    {VMM_CALL_graph_add_kernel_node, 3, make_node},
    {VMM_CALL_graph_add_child_graph_node, 3, make_node},
    {VMM_CALL_graph_add_event_record_node, 3, make_node},
    {VMM_CALL_graph_add_event_wait_node, 3, make_node},
    {VMM_CALL_graph_destroy_node, 2, make_of_node},
    {VMM_CALL_graph_add_dependencies, 3, make_edges},
    {VMM_CALL_graph_remove_dependencies, 2, make_no_edges},
    {VMM_CALL_graph_node_get_type, 2, make_of_node},
    {VMM_CALL_graph_node_find_in_clone, 3, make_find},
    {VMM_CALL_graph_child_graph_node_get_graph, 2, make_of_node},
    {VMM_CALL_graph_event_record_node_get_event, 2, make_of_node},
    {VMM_CALL_graph_event_wait_node_get_event, 2, make_of_node},
    {VMM_CALL_graph_memset_node_set_params, 2, make_of_node},
    {VMM_CALL_graph_memcpy_node_get_params, 2, make_of_node},
    {VMM_CALL_graph_memcpy_node_set_params, 3, make_of_node},
    {VMM_CALL_graph_kernel_node_set_params, 2, make_of_node},
    {VMM_CALL_graph_host_node_set_params, 2, make_of_node},
    {VMM_CALL_graph_event_record_node_set_event, 2, make_of_node},
    {VMM_CALL_graph_event_wait_node_set_event, 2, make_of_node},
    {VMM_CALL_graph_instantiate, 14, make_instance},
    {VMM_CALL_graph_exec_get_flags, 2, make_of_exec},
    {VMM_CALL_graph_exec_destroy, 1, make_of_exec},
    {VMM_CALL_graph_exec_memset_node_set_params, 3, make_in_exec},
    {VMM_CALL_graph_exec_memcpy_node_set_params, 4, make_in_exec},
    {VMM_CALL_graph_exec_kernel_node_set_params, 3, make_in_exec},
    {VMM_CALL_graph_exec_host_node_set_params, 3, make_in_exec},
    {VMM_CALL_graph_exec_event_record_node_set_event, 2, make_in_exec},
    {VMM_CALL_graph_exec_event_wait_node_set_event, 2, make_in_exec},
    {VMM_CALL_graph_node_set_enabled, 2, make_in_exec},
    {VMM_CALL_graph_node_get_enabled, 2, make_in_exec},
    {VMM_CALL_graph_launch, 8, make_of_exec},
    {VMM_CALL_graph_upload, 2, make_of_exec},
    {VMM_CALL_stream_get_capture_info, 3, make_info},
    {VMM_CALL_thread_exchange_stream_capture_mode, 2, make_mode},
    {VMM_CALL_graph_get_nodes, 3, make_listed},
    {VMM_CALL_graph_get_root_nodes, 2, make_listed},
    {VMM_CALL_graph_get_edges, 3, make_listed},
    {VMM_CALL_graph_node_get_dependencies, 3, make_listed},
    {VMM_CALL_graph_node_get_dependent_nodes, 3, make_listed},
    {VMM_CALL_graph_memset_node_get_params, 2, make_of_node},
    {VMM_CALL_graph_host_node_get_params, 2, make_of_node},
    {VMM_CALL_graph_exec_update, 9, make_exec_update},
    {VMM_CALL_device_get_graph_mem_attribute, 2, make_graph_memory},
    {VMM_CALL_device_set_graph_mem_attribute, 2, make_graph_memory},
    {VMM_CALL_device_graph_mem_trim, 2, make_graph_memory},
    {VMM_CALL_user_object_create, 4, make_object},
    {VMM_CALL_user_object_retain, 2, make_object},
    {VMM_CALL_user_object_release, 4, make_object},
    {VMM_CALL_graph_retain_user_object, 3, make_object_of_graph},
    {VMM_CALL_graph_release_user_object, 2, make_object_of_graph},
};

const struct maker_row *maker_graph_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}
