/* SPDX-License-Identifier: Apache-2.0 */
/* Group R: what random calls on a driver found that the other groups had not asked: how references to user objects are counted, the
 * order of roots, the graph of a node, NULL, and the memory of instances. Part of ../graphs.c, which includes it.
 *
 *     counts     how many objects were destroyed at once, and after some milliseconds: 1 1
 *     roots      the numbers of the roots, in the order of cuGraphGetRootNodes
 */

/* ---- user objects ---- */

static void r_counts(const char *step)
{
    const int at_once = c_destroyed;
    struct timespec while_ = {0, 3000000};
    nanosleep(&while_, NULL);
    val(step, "%d %d", at_once, c_destroyed);
}

static CUuserObject r_object(unsigned count)
{
    CUuserObject o = NULL;
    c_destroyed = 0;
    at("create", cuUserObjectCreate(&o, (void *)1, c_destroy_object, count, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return o;
}

/* How many references an instance has of each object: as many as its graph, or one. */
static void r_instance_holds(unsigned by_graph, bool of_clone, bool in_child)
{
    CUuserObject o = r_object(by_graph + 1);
    CUgraph g = new_graph(), outer = new_graph(), clone = NULL;
    CUgraphNode n = NULL;
    at("move", cuGraphRetainUserObject(g, o, by_graph, CU_GRAPH_USER_OBJECT_MOVE));
    if (of_clone)
        at("clone", cuGraphClone(&clone, g));
    if (in_child)
        at("child", cuGraphAddChildGraphNode(&n, outer, NULL, 0, g));
    CUgraphExec x = new_exec(of_clone ? clone : in_child ? outer : g);
    at("release", cuUserObjectRelease(o, 1));
    at("destroy", cuGraphDestroy(g));
    if (of_clone)
        at("destroy_clone", cuGraphDestroy(clone));
    at("destroy_outer", cuGraphDestroy(outer));
    r_counts("instance_alone");
    for (int i = 0; i < 4 && !c_destroyed; i++) {
        at("over", cuUserObjectRelease(o, 1));
        r_counts("left");
    }
    (void)x;
}

static void r_exec_of_2(void) { r_instance_holds(2, false, false); }
static void r_exec_of_clone(void) { r_instance_holds(2, true, false); }
static void r_exec_of_child(void) { r_instance_holds(2, false, true); }

/* A graph that has given its references back: do its copies have any? */
static void r_given_back(bool by_clone)
{
    CUuserObject o = r_object(2);
    CUgraph g = new_graph(), clone = NULL;
    at("retain", cuGraphRetainUserObject(g, o, 1, 0));
    at("graph_release", cuGraphReleaseUserObject(g, o, 1));
    if (by_clone)
        at("clone", cuGraphClone(&clone, g));
    else
        new_exec(g);
    at("release", cuUserObjectRelease(o, 2));
    r_counts("released");
}

static void r_back_clone(void) { r_given_back(true); }
static void r_back_exec(void) { r_given_back(false); }

/* More than the graph has, and then a copy of it, or its end. */
static void r_debt_clone(void)
{
    CUuserObject o = r_object(2);
    CUgraph g = new_graph(), clone = NULL;
    at("graph_release", cuGraphReleaseUserObject(g, o, 1));
    r_counts("released");
    at("clone", cuGraphClone(&clone, g));
    r_counts("cloned");
}

static void r_debt_exec(void)
{
    CUuserObject o = r_object(1);
    CUgraph g = new_graph();
    at("graph_release", cuGraphReleaseUserObject(g, o, 2));
    r_counts("released");
    new_exec(g);
    r_counts("instance");
}

static void r_debt_destroy(void)
{
    CUuserObject o = r_object(3);
    CUgraph g = new_graph();
    at("graph_release", cuGraphReleaseUserObject(g, o, 1));
    at("destroy", cuGraphDestroy(g));
    at("release", cuUserObjectRelease(o, 2));
    r_counts("two");
    if (!c_destroyed)
        at("release", cuUserObjectRelease(o, 1));
    r_counts("three");
}

static void r_debt_object(void)
{
    CUuserObject o = r_object(1);
    at("release2", cuUserObjectRelease(o, 2));
    r_counts("released");
    at("retain", cuUserObjectRetain(o, 1));
    r_counts("retained");
}

static void r_move_more(void)
{
    CUuserObject o = r_object(1);
    CUgraph g = new_graph();
    at("move2", cuGraphRetainUserObject(g, o, 2, CU_GRAPH_USER_OBJECT_MOVE));
    r_counts("moved");
    at("graph_release", cuGraphReleaseUserObject(g, o, 1));
    r_counts("released");
}

/* The program's releases of what a graph has. */
static void r_release_graphs(void)
{
    CUuserObject o = r_object(1);
    CUgraph g = new_graph();
    at("retain", cuGraphRetainUserObject(g, o, 1, 0));
    at("release2", cuUserObjectRelease(o, 2));
    r_counts("released");
}

/* Does an update give the instance what the graph has? */
static void r_updated(void)
{
    CUuserObject o = r_object(1);
    CUgraph g = new_graph();
    CUgraphNode n;
    host_node(&n, g, NULL, 0, 'a');
    CUgraphExec x = new_exec(g);
    CUgraphExecUpdateResultInfo info;
    at("move", cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
    at("update", cuGraphExecUpdate(x, g, &info));
    at("destroy", cuGraphDestroy(g));
    r_counts("graph_ended");
    at("exec_destroy", cuGraphExecDestroy(x));
    r_counts("exec_ended");
}

/* ---- the order of roots ---- */

static void r_roots(const char *step, CUgraph g)
{
    char text[512] = "";
    CUgraphNode roots[NODES];
    size_t count = NODES, length = 0;
    CUresult r = cuGraphGetRootNodes(g, roots, &count);
    for (size_t i = 0; i < count && i < NODES && !r; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, " %d", number_of(g, roots[i]));
    val(step, "%s%s", name_of(r), text);
}

enum { R_NODES = 6 };

static CUgraph r_six(CUgraphNode n[R_NODES])
{
    CUgraph g = new_graph();
    for (int i = 0; i < R_NODES; i++)
        cuGraphAddEmptyNode(&n[i], g, NULL, 0);
    return g;
}

static void r_edges(void)
{
    CUgraphNode n[R_NODES], more;
    CUgraph g = r_six(n), clone = NULL, outer = new_graph(), held = NULL;
    r_roots("added", g);
    cuGraphAddDependencies(g, (CUgraphNode[]){n[0], n[0], n[0]}, (CUgraphNode[]){n[1], n[4], n[3]}, NULL, 3);
    r_roots("connected", g);
    cuGraphRemoveDependencies(g, (CUgraphNode[]){n[0], n[0], n[0]}, (CUgraphNode[]){n[4], n[3], n[1]}, NULL, 3);
    r_roots("disconnected", g);
    at("clone", cuGraphClone(&clone, g));
    r_roots("clone", clone);
    at("child", cuGraphAddChildGraphNode(&more, outer, NULL, 0, g));
    cuGraphChildGraphNodeGetGraph(more, &held);
    r_roots("child", held);
    cuGraphAddEmptyNode(&more, g, &n[5], 1);
    cuGraphAddEmptyNode(&more, g, NULL, 0);
    r_roots("added_again", g);
    cuGraphAddEmptyNode(&more, clone, NULL, 0);
    r_roots("clone_added", clone);
    int list[R_NODES];
    for (int i = 0; i < R_NODES; i++) {
        CUgraphNode found = NULL;
        list[i] = cuGraphNodeFindInClone(&found, n[i], clone) ? -9 : number_of(clone, found);
    }
    val("clone_nodes", "%d %d %d %d %d %d", list[0], list[1], list[2], list[3], list[4], list[5]);
}

/* A node ends that others depend on. */
static void r_end(bool added_with)
{
    CUgraphNode n[R_NODES];
    CUgraph g = new_graph(), clone = NULL;
    for (int i = 0; i < R_NODES; i++)
        cuGraphAddEmptyNode(&n[i], g, &n[0], added_with && i > 0 && i < 5);
    if (!added_with)
        cuGraphAddDependencies(g, (CUgraphNode[]){n[0], n[0], n[0], n[0]}, (CUgraphNode[]){n[3], n[1], n[4], n[2]}, NULL, 4);
    r_roots("before", g);
    cuGraphClone(&clone, g);
    at("destroy_node", cuGraphDestroyNode(n[0]));
    r_roots("after", g);
    size_t count = NODES;
    CUgraphNode of_clone[NODES];
    cuGraphGetNodes(clone, of_clone, &count);
    at("destroy_clones", cuGraphDestroyNode(of_clone[0]));
    r_roots("after_of_clone", clone);
}

static void r_end_added(void) { r_end(true); }
static void r_end_connected(void) { r_end(false); }

static void r_captured(void)
{
    CUgraphNode n[R_NODES];
    CUgraph g = r_six(n), out = NULL;
    at("begin", cuStreamBeginCaptureToGraph(s, g, &n[2], NULL, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
    fill(s, 0, 1, 4);
    at("none", cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    fill(s, 8, 1, 4);
    at("none", cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    fill(s, 16, 1, 4);
    at("end", cuStreamEndCapture(s, &out));
    r_roots("captured", g);
    shape("nodes", g);
}

/* ---- the graph of a node ---- */

static CUgraph r_held(CUgraph *outer, CUgraphNode *n)
{
    CUgraph inner = new_graph(), held = NULL;
    CUgraphNode a, b;
    *outer = new_graph();
    fill_node(&a, inner, NULL, 0, d, 1);
    fill_node(&b, inner, &a, 1, d, 2);
    cuGraphAddChildGraphNode(n, *outer, NULL, 0, inner);
    cuGraphChildGraphNodeGetGraph(*n, &held);
    return held;
}

static void r_held_clone(void)
{
    CUgraph outer, clone = NULL, held;
    CUgraphNode n, k;
    held = r_held(&outer, &n);
    at("clone", cuGraphClone(&clone, held));
    if (!clone)
        return;
    shape("shape", clone);
    new_exec(clone);
    at("add", cuGraphAddChildGraphNode(&k, outer, NULL, 0, clone));
}

static void r_held_instantiate(void)
{
    CUgraph outer, held;
    CUgraphNode n;
    CUgraphExec x = NULL;
    held = r_held(&outer, &n);
    at("instantiate", cuGraphInstantiate(&x, held, 0));
    at("instantiate_device", cuGraphInstantiate(&x, held, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    at("instantiate_wrong", cuGraphInstantiate(&x, held, 64));
}

static void r_held_child(void)
{
    CUgraph outer, held, other = new_graph(), deep = NULL;
    CUgraphNode n, k = NULL, within = NULL;
    held = r_held(&outer, &n);
    at("into_other", cuGraphAddChildGraphNode(&k, other, NULL, 0, held));
    at("into_outer", cuGraphAddChildGraphNode(&k, outer, &n, 1, held));
    at("other_into_it", cuGraphAddChildGraphNode(&within, held, NULL, 0, other));
    cuGraphChildGraphNodeGetGraph(within, &deep);
    at("deep_into_other", cuGraphAddChildGraphNode(&k, other, NULL, 0, deep));
    shape("other", other);
    shape("outer", outer);
    shape("held", held);
}

static void r_held_update(void)
{
    CUgraph outer, held;
    CUgraphNode n, a, b;
    CUgraphExecUpdateResultInfo info = {0};
    CUgraph same = new_graph();
    held = r_held(&outer, &n);
    fill_node(&a, same, NULL, 0, d, 3);
    fill_node(&b, same, &a, 1, d, 4);
    CUgraphExec x = new_exec(same), y = new_exec(outer);
    at("update", cuGraphExecUpdate(x, held, &info));
    val("why", "%d", (int)info.result);
    at("child_params", cuGraphExecChildGraphNodeSetParams(y, n, held));
}

static void r_held_objects(void)
{
    CUgraph outer, held;
    CUgraphNode n;
    CUuserObject o = r_object(1);
    held = r_held(&outer, &n);
    at("move", cuGraphRetainUserObject(held, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec x = new_exec(outer);
    at("destroy", cuGraphDestroy(outer));
    r_counts("graph_ended");
    at("exec_destroy", cuGraphExecDestroy(x));
    r_counts("exec_ended");
}

static void r_held_capture(void)
{
    CUgraph outer, held, out = NULL;
    CUgraphNode n;
    held = r_held(&outer, &n);
    at("begin", cuStreamBeginCaptureToGraph(s, held, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    at("fill", fill(s, 0, 1, 4));
    at("end", cuStreamEndCapture(s, &out));
    shape("held", held);
}

static void r_held_destroy(void)
{
    CUgraph outer, held;
    CUgraphNode n;
    held = r_held(&outer, &n);
    at("destroy", cuGraphDestroy(held));
    shape("outer", outer);
}

/* ---- NULL ---- */

static void r_null_peer(void) { at("call", cuMemcpy3DPeer(NULL)); }
static void r_null_peer_async(void) { at("call", cuMemcpy3DPeerAsync(NULL, s)); }
static void r_null_mode(void) { at("call", cuThreadExchangeStreamCaptureMode(NULL)); }

/* ---- memory of instances ---- */

enum { R_INSTANCES = 160 };

/* "number:bytes": after so many instances so much less was free than before. */
static void r_memory(const char *step, int kind)
{
    static CUgraphExec x[R_INSTANCES];
    char text[1024] = "";
    size_t length = 0, start = 0, free = 0, total = 0, last;
    CUgraph g = new_graph();
    CUgraphNode n[8];
    for (int i = 0; i < 8 && kind; i++) {
        if (kind == 1)
            fill_node(&n[i], g, n, i > 0, d + (size_t)i * 64, 1);
        else if (kind == 2)
            kernel_node(&n[i], g, n, i > 0, k_put, d + (size_t)i * 64, 1);
        else if (kind == 3)
            host_node(&n[i], g, n, i > 0, 'a');
        else
            copy_node(&n[i], g, n, i > 0, d + 4096, d + (size_t)i * 64);
    }
    cuCtxSynchronize();
    cuMemGetInfo(&start, &total);
    last = start;
    for (int i = 0; i < R_INSTANCES; i++) {
        x[i] = NULL;
        CUresult r = cuGraphInstantiate(&x[i], g, 0);
        if (!r && i % 4 == 3)
            r = cuGraphLaunch(x[i], s);
        cuStreamSynchronize(s);
        cuMemGetInfo(&free, &total);
        if ((r || free != last) && length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, " %d:%lld%s", i, (i64)start - (i64)free, r ? "!" : "");
        last = free;
    }
    for (int i = 0; i < R_INSTANCES; i++)
        cuGraphExecDestroy(x[i]);
    cuMemGetInfo(&free, &total);
    val(step, "%s ended:%lld", text, (i64)start - (i64)free);
}

static void r_memory_all(void)
{
    r_memory("nothing", 0);
    r_memory("fills", 1);
    r_memory("kernels", 2);
    r_memory("hosts", 3);
    r_memory("copies", 4);
    r_memory("fills_again", 1);
}

static const struct one_case r_cases[] = {
    {"edges", r_edges},
    {"end_added", r_end_added},
    {"end_connected", r_end_connected},
    {"captured", r_captured},
    {"updated", r_updated},
    {"held_objects", r_held_objects},
    {"held_destroy", r_held_destroy},
};

static const struct one_case r_alone[] = {
    {"back_exec", r_back_exec},
    {"back_clone", r_back_clone},
    {"exec_of_child", r_exec_of_child},
    {"exec_of_clone", r_exec_of_clone},
    {"exec_of_2", r_exec_of_2},
    {"debt_clone", r_debt_clone},
    {"debt_exec", r_debt_exec},
    {"debt_destroy", r_debt_destroy},
    {"debt_object", r_debt_object},
    {"move_more", r_move_more},
    {"release_graphs", r_release_graphs},
    {"held_clone", r_held_clone},
    {"held_instantiate", r_held_instantiate},
    {"held_child", r_held_child},
    {"held_update", r_held_update},
    {"held_capture", r_held_capture},
    {"null_peer", r_null_peer},
    {"null_peer_async", r_null_peer_async},
    {"null_mode", r_null_mode},
    {"memory", r_memory_all},
};

static void group_r(void)
{
    run_table("R.", r_cases, COUNT(r_cases), false);
    run_table("R.", r_alone, COUNT(r_alone), true);
}
