/* SPDX-License-Identifier: Apache-2.0 */
/* Group C: dependencies, queries, clones and the removal of nodes. Part of ../graphs.c, which includes it. */

/* 0 > 1, 0 > 2, 1 > 3, 2 > 3: a kernel that adds 1, 2, 4, 8 to its own word each. */
static CUgraph c_diamond(CUgraphNode *n)
{
    CUgraph g = new_graph();
    kernel_node(&n[0], g, NULL, 0, k_add, d, 1);
    kernel_node(&n[1], g, n, 1, k_add, d + 64, 2);
    kernel_node(&n[2], g, n, 1, k_add, d + 128, 4);
    kernel_node(&n[3], g, n + 1, 2, k_add, d + 192, 8);
    return g;
}

static const char *c_list(CUresult r, size_t count, const CUgraphNode *list, size_t shown, const CUgraphNode *nodes, size_t n)
{
    static char text[4][256];
    static unsigned next;
    char *b = text[next++ % 4];
    size_t length = (size_t)snprintf(b, sizeof text[0], "%s count=%zu:", name_of(r), count);
    for (size_t i = 0; i < shown; i++) {
        if (list[i] == NULL)
            length += (size_t)snprintf(b + length, sizeof text[0] - length, " NULL");
        else if (list[i] == (CUgraphNode)(uintptr_t)77)
            length += (size_t)snprintf(b + length, sizeof text[0] - length, " -");
        else
            length += (size_t)snprintf(b + length, sizeof text[0] - length, " %d", index_in(list[i], nodes, n));
    }
    return b;
}

static void c_untouched(CUgraphNode *list)
{
    for (size_t i = 0; i < 8; i++)
        list[i] = (CUgraphNode)(uintptr_t)77;
}

static void c_queries(void)
{
    CUgraphNode n[4], list[8], list2[8];
    CUgraph g = c_diamond(n);
    CUresult r;
    shape("shape", g);
    for (size_t room = 0; room <= 6; room++) {
        char step[32];
        size_t count = room;
        c_untouched(list);
        r = cuGraphGetNodes(g, list, &count);
        snprintf(step, sizeof step, "nodes%zu", room);
        val(step, "%s", c_list(r, count, list, 7, n, 4));
        count = room;
        c_untouched(list);
        r = cuGraphGetRootNodes(g, list, &count);
        snprintf(step, sizeof step, "roots%zu", room);
        val(step, "%s", c_list(r, count, list, 7, n, 4));
        count = room;
        c_untouched(list);
        c_untouched(list2);
        r = cuGraphGetEdges(g, list, list2, NULL, &count);
        snprintf(step, sizeof step, "edges%zu", room);
        val(step, "%s to%s", c_list(r, count, list, 7, n, 4), strchr(c_list(r, count, list2, 7, n, 4), ':'));
        count = room;
        c_untouched(list);
        r = cuGraphNodeGetDependencies(n[3], list, NULL, &count);
        snprintf(step, sizeof step, "dependencies%zu", room);
        val(step, "%s", c_list(r, count, list, 7, n, 4));
        count = room;
        c_untouched(list);
        r = cuGraphNodeGetDependentNodes(n[0], list, NULL, &count);
        snprintf(step, sizeof step, "dependents%zu", room);
        val(step, "%s", c_list(r, count, list, 7, n, 4));
    }
    size_t count = 77;
    r = cuGraphGetNodes(g, NULL, &count);
    val("nodes_null", "%s %zu", name_of(r), count);
    count = 77;
    r = cuGraphGetEdges(g, NULL, NULL, NULL, &count);
    val("edges_null", "%s %zu", name_of(r), count);
    count = 4;
    r = cuGraphGetEdges(g, list, NULL, NULL, &count);
    val("edges_half", "%s %zu", name_of(r), count);
    count = 4;
    r = cuGraphGetEdges(g, NULL, list, NULL, &count);
    val("edges_half2", "%s %zu", name_of(r), count);
    count = 77;
    r = cuGraphGetRootNodes(g, NULL, &count);
    val("roots_null", "%s %zu", name_of(r), count);
    CUgraph none = new_graph();
    count = 77;
    r = cuGraphGetNodes(none, NULL, &count);
    val("none_nodes", "%s %zu", name_of(r), count);
    count = 77;
    r = cuGraphGetEdges(none, NULL, NULL, NULL, &count);
    val("none_edges", "%s %zu", name_of(r), count);
    count = 3;
    c_untouched(list);
    r = cuGraphGetNodes(none, list, &count);
    val("none_list", "%s", c_list(r, count, list, 4, n, 4));
    CUresult (*v1)(CUgraph, CUgraphNode *, CUgraphNode *, size_t *) =
        (CUresult(*)(CUgraph, CUgraphNode *, CUgraphNode *, size_t *))entry("cuGraphGetEdges");
    count = 8;
    r = v1(g, list, list2, &count);
    val("edges_v1", "%s to%s", c_list(r, count, list, 4, n, 4), strchr(c_list(r, count, list2, 4, n, 4), ':'));
}

static void c_edit(void)
{
    CUgraphNode n[4], m[4];
    CUgraph g = c_diamond(n), other = c_diamond(m);
    at("add", cuGraphAddDependencies(g, &n[0], &n[3], NULL, 1));
    shape("added", g);
    at("again", cuGraphAddDependencies(g, &n[0], &n[3], NULL, 1));
    shape("again.shape", g);
    at("self", cuGraphAddDependencies(g, &n[1], &n[1], NULL, 1));
    at("reverse", cuGraphAddDependencies(g, &n[3], &n[0], NULL, 1));
    shape("reverse.shape", g);
    at("zero", cuGraphAddDependencies(g, NULL, NULL, NULL, 0));
    at("foreign", cuGraphAddDependencies(g, &m[0], &n[3], NULL, 1));
    at("foreign2", cuGraphAddDependencies(g, &n[0], &m[3], NULL, 1));
    at("foreign3", cuGraphAddDependencies(g, &m[0], &m[3], NULL, 1));
    CUgraphNode from[2] = {n[1], m[1]}, to[2] = {n[2], n[3]};
    at("half", cuGraphAddDependencies(g, from, to, NULL, 2));
    shape("half.shape", g);
    at("remove", cuGraphRemoveDependencies(g, &n[0], &n[3], NULL, 1));
    shape("removed", g);
    at("remove_again", cuGraphRemoveDependencies(g, &n[0], &n[3], NULL, 1));
    at("remove_never", cuGraphRemoveDependencies(g, &n[3], &n[0], NULL, 1));
    at("remove_foreign", cuGraphRemoveDependencies(g, &m[0], &m[1], NULL, 1));
    at("remove_zero", cuGraphRemoveDependencies(g, NULL, NULL, NULL, 0));
    from[0] = n[0], to[0] = n[1], from[1] = n[3], to[1] = n[0];
    at("remove_half", cuGraphRemoveDependencies(g, from, to, NULL, 2));
    shape("remove_half.shape", g);
    from[0] = n[2], to[0] = n[3], from[1] = n[2], to[1] = n[3];
    at("remove_twice", cuGraphRemoveDependencies(g, from, to, NULL, 2));
    shape("remove_twice.shape", g);
    shape("other", other);
}

static void c_cycle(void)
{
    CUgraphNode n[4];
    CUgraph g = c_diamond(n);
    CUgraphExec x = (CUgraphExec)(uintptr_t)77;
    at("close", cuGraphAddDependencies(g, &n[3], &n[0], NULL, 1));
    shape("shape", g);
    size_t roots = 9;
    cuGraphGetRootNodes(g, NULL, &roots);
    val("roots", "%zu", roots);
    at("instantiate", cuGraphInstantiate(&x, g, 0));
    val("exec", "%d", x == (CUgraphExec)(uintptr_t)77 ? 77 : x != NULL);
    CUDA_GRAPH_INSTANTIATE_PARAMS p;
    memset(&p, 0, sizeof p);
    CUgraphExec y = NULL;
    CUresult r = cuGraphInstantiateWithParams(&y, g, &p);
    val("with_params", "%s result=%d node=%d", name_of(r), (int)p.result_out, number_of(g, p.hErrNode_out));
    CUgraph clone = NULL;
    at("clone", cuGraphClone(&clone, g));
    CUgraph outer = new_graph();
    CUgraphNode child = NULL;
    at("child", cuGraphAddChildGraphNode(&child, outer, NULL, 0, g));
    at("remove", cuGraphRemoveDependencies(g, &n[3], &n[0], NULL, 1));
    launch_of(g);
    val("words", "%s %s %s %s", word(0), word(16), word(32), word(48));
}

static void c_dependencies_of_new(void)
{
    CUgraphNode n[4], m[4], k = NULL;
    CUgraph g = c_diamond(n), other = c_diamond(m);
    CUgraphNode twice[2] = {n[0], n[0]}, mixed[2] = {n[0], m[0]};
    at("twice", cuGraphAddEmptyNode(&k, g, twice, 2));
    shape("twice.shape", g);
    at("mixed", cuGraphAddEmptyNode(&k, g, mixed, 2));
    at("zero_list", cuGraphAddEmptyNode(&k, g, n, 0));
    shape("shape", g);
    shape("other", other);
}

static void c_edge_data(void)
{
    CUgraphNode n[4], list[8], list2[8];
    CUgraph g = c_diamond(n);
    CUgraphEdgeData data = {0, 0, 0, {0}}, out[8];
    size_t count;
    at("zero", cuGraphAddDependencies(g, &n[0], &n[3], &data, 1));
    at("zero_remove", cuGraphRemoveDependencies(g, &n[0], &n[3], &data, 1));
    data.type = 2;
    at("type2", cuGraphAddDependencies(g, &n[0], &n[3], &data, 1));
    data.type = 0;
    data.from_port = 3;
    at("port3", cuGraphAddDependencies(g, &n[0], &n[3], &data, 1));
    data.from_port = 0;
    data.to_port = 1;
    at("to_port1", cuGraphAddDependencies(g, &n[0], &n[3], &data, 1));
    data.to_port = 0;
    data.reserved[0] = 1;
    at("reserved", cuGraphAddDependencies(g, &n[0], &n[3], &data, 1));
    data.reserved[0] = 0;
    data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    data.from_port = 1;
    at("programmatic", cuGraphAddDependencies(g, &n[0], &n[3], &data, 1));
    count = 8;
    CUresult r = cuGraphGetEdges(g, list, list2, NULL, &count);
    val("lossy", "%s count=%zu", name_of(r), count);
    count = 8;
    r = cuGraphGetEdges(g, list, list2, out, &count);
    val("edges", "%s count=%zu", name_of(r), count);
    count = 8;
    r = cuGraphNodeGetDependencies(n[3], list, NULL, &count);
    val("deps_lossy", "%s count=%zu", name_of(r), count);
    at("remove_plain", cuGraphRemoveDependencies(g, &n[0], &n[3], NULL, 1));
    at("remove_data", cuGraphRemoveDependencies(g, &n[0], &n[3], &data, 1));
    shape("shape", g);
}

static void c_destroy_node(void)
{
    CUgraphNode n[4], list[8];
    CUgraph g = c_diamond(n);
    CUgraphExec x = new_exec(g);
    at("destroy", cuGraphDestroyNode(n[1]));
    shape("shape", g);
    size_t count = 8;
    CUresult r = cuGraphNodeGetDependencies(n[3], list, NULL, &count);
    val("dependencies", "%s", c_list(r, count, list, 1, n, 4));
    at("launch_old", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("words", "%s %s %s %s", word(0), word(16), word(32), word(48));
    launch_of(g);
    val("words2", "%s %s %s %s", word(0), word(16), word(32), word(48));
    at("destroy_root", cuGraphDestroyNode(n[0]));
    shape("rootless", g);
    at("graph", cuGraphDestroy(g));
    at("launch_older", cuGraphLaunch(x, s));
    at("sync2", cuStreamSynchronize(s));
    val("words3", "%s %s %s %s", word(0), word(16), word(32), word(48));
}

static void c_clone(void)
{
    CUgraphNode n[4], found = NULL;
    CUgraph g = c_diamond(n), clone = NULL, second = NULL;
    at("clone", cuGraphClone(&clone, g));
    shape("shape", clone);
    for (int i = 0; i < 4; i++) {
        char step[32];
        snprintf(step, sizeof step, "find%d", i);
        CUresult r = cuGraphNodeFindInClone(&found, n[i], clone);
        val(step, "%s %d same=%d", name_of(r), number_of(clone, found), found == n[i]);
    }
    at("find_in_original", cuGraphNodeFindInClone(&found, n[0], g));
    CUgraphNode in_clone = NULL;
    cuGraphNodeFindInClone(&in_clone, n[0], clone);
    at("find_clones_node", cuGraphNodeFindInClone(&found, in_clone, clone));
    at("find_back", cuGraphNodeFindInClone(&found, in_clone, g));
    CUgraphNode extra = NULL;
    cuGraphAddEmptyNode(&extra, g, NULL, 0);
    at("find_later", cuGraphNodeFindInClone(&found, extra, clone));
    at("second", cuGraphClone(&second, clone));
    at("second.find", cuGraphNodeFindInClone(&found, n[0], second));
    at("second.find_clones", cuGraphNodeFindInClone(&found, in_clone, second));
    at("destroy_clones_node", cuGraphDestroyNode(in_clone));
    at("find_destroyed", cuGraphNodeFindInClone(&found, n[0], clone));
    shape("clone", clone);
    shape("original", g);
    at("destroy", cuGraphDestroy(g));
    launch_of(clone);
    val("words", "%s %s %s %s", word(0), word(16), word(32), word(48));
}

static void c_clone_child(void)
{
    CUgraph inner = new_graph(), g = new_graph(), clone = NULL, held = NULL, held2 = NULL;
    CUgraphNode a = NULL, n = NULL, found = NULL;
    kernel_node(&a, inner, NULL, 0, k_put, d, 0x61);
    cuGraphAddChildGraphNode(&n, g, NULL, 0, inner);
    cuGraphChildGraphNodeGetGraph(n, &held);
    at("clone", cuGraphClone(&clone, g));
    at("find", cuGraphNodeFindInClone(&found, n, clone));
    cuGraphChildGraphNodeGetGraph(found, &held2);
    val("same", "%d", held == held2);
    size_t count = 1;
    CUgraphNode inside = NULL;
    cuGraphGetNodes(held, &inside, &count);
    at("find_inside", cuGraphNodeFindInClone(&found, inside, held2));
    at("find_inside_clone", cuGraphNodeFindInClone(&found, inside, clone));
    at("find_inner", cuGraphNodeFindInClone(&found, a, held));
    node_parameters("clone.node", found);
    at("destroy_inside", cuGraphDestroyNode(inside));
    shape("held", held);
    shape("held2", held2);
}

/* The letters and signs of a dot file, without names and addresses. */
static void c_dot(void)
{
    CUgraphNode n[4];
    CUgraph g = c_diamond(n);
    char path[64], line[512];
    snprintf(path, sizeof path, "/tmp/graphs-%d.dot", (int)getpid());
    for (unsigned flags = 0; flags < 2; flags++) {
        CUresult r = cuGraphDebugDotPrint(g, path, flags);
        FILE *file = fopen(path, "r");
        int lines = 0, arrows = 0, digraph = 0, subgraph = 0;
        while (file && fgets(line, sizeof line, file)) {
            lines++;
            arrows += strstr(line, "->") != NULL;
            digraph += strstr(line, "digraph") != NULL;
            subgraph += strstr(line, "subgraph") != NULL;
        }
        if (file)
            fclose(file);
        val(flags ? "verbose" : "plain", "%s file=%d arrows=%d digraph=%d subgraph=%d lines=%d", name_of(r), file != NULL,
            arrows, digraph, subgraph, lines > 0);
        remove(path);
    }
    at("no_folder", cuGraphDebugDotPrint(g, "/nonexistent/x.dot", 0));
    at("flags", cuGraphDebugDotPrint(g, path, 1u << 16));
    remove(path);
    at("null_graph", cuGraphDebugDotPrint(NULL, path, 0));
    remove(path);
    at("null_path", cuGraphDebugDotPrint(g, NULL, 0));
}

/* ---- user objects ---- */

static int c_destroyed;

static void CUDA_CB c_destroy_object(void *data)
{
    c_destroyed += (int)(intptr_t)data;
}

static void c_wait_destroyed(int wanted_count)
{
    struct timespec step = {0, 1000000};
    for (int i = 0; i < 300 && c_destroyed < wanted_count; i++)
        nanosleep(&step, NULL);
}

static void c_user_objects(void)
{
    CUuserObject o = NULL, p = NULL;
    CUgraph g = new_graph(), clone = NULL;
    c_destroyed = 0;
    at("null", cuUserObjectCreate(NULL, (void *)1, c_destroy_object, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    at("null_ptr", cuUserObjectCreate(&p, NULL, c_destroy_object, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    at("null_fn", cuUserObjectCreate(&o, (void *)1, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    at("flags0", cuUserObjectCreate(&o, (void *)1, c_destroy_object, 1, 0));
    at("flags2", cuUserObjectCreate(&o, (void *)1, c_destroy_object, 1, 2));
    at("count0", cuUserObjectCreate(&o, (void *)1, c_destroy_object, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    at("count_big", cuUserObjectCreate(&o, (void *)1, c_destroy_object, 0x80000000u, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    at("create", cuUserObjectCreate(&o, (void *)1, c_destroy_object, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    at("retain", cuUserObjectRetain(o, 1));
    at("retain0", cuUserObjectRetain(o, 0));
    at("retain_null", cuUserObjectRetain(NULL, 1));
    at("release", cuUserObjectRelease(o, 1));
    at("release0", cuUserObjectRelease(o, 0));
    at("release_null", cuUserObjectRelease(NULL, 1));
    at("graph", cuGraphRetainUserObject(g, o, 1, 0));
    at("graph0", cuGraphRetainUserObject(g, o, 0, 0));
    at("graph_flags", cuGraphRetainUserObject(g, o, 1, 2));
    at("graph_null", cuGraphRetainUserObject(NULL, o, 1, 0));
    at("graph_object", cuGraphRetainUserObject(g, NULL, 1, 0));
    at("move", cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
    at("graph_release", cuGraphReleaseUserObject(g, o, 1));
    val("destroyed", "%d", c_destroyed);
    at("clone", cuGraphClone(&clone, g));
    at("destroy", cuGraphDestroy(g));
    at("release_last", cuUserObjectRelease(o, 1));
    c_wait_destroyed(1);
    val("held_by_clone", "%d", c_destroyed);
    CUgraphExec x = new_exec(clone);
    at("destroy_clone", cuGraphDestroy(clone));
    c_wait_destroyed(1);
    val("held_by_exec", "%d", c_destroyed);
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    at("destroy_exec", cuGraphExecDestroy(x));
    c_wait_destroyed(1);
    val("last", "%d", c_destroyed);
}

static void c_null_dependency(void)
{
    CUgraphNode n[4], k = NULL;
    CUgraph g = c_diamond(n);
    CUgraphNode with_null[2] = {n[0], NULL};
    at("add", cuGraphAddEmptyNode(&k, g, with_null, 2));
    shape("shape", g);
}

/* More references released than the graph has. */
static void c_user_object_over(void)
{
    CUuserObject o = NULL;
    CUgraph g = new_graph();
    c_destroyed = 0;
    at("create", cuUserObjectCreate(&o, (void *)1, c_destroy_object, 3, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    at("graph", cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
    at("graph_release5", cuGraphReleaseUserObject(g, o, 5));
    at("graph_release1", cuGraphReleaseUserObject(g, o, 1));
    at("release5", cuUserObjectRelease(o, 5));
    c_wait_destroyed(1);
    val("destroyed", "%d", c_destroyed);
}

static const struct one_case c_cases[] = {
    {"queries", c_queries},
    {"edit", c_edit},
    {"cycle", c_cycle},
    {"dependencies_of_new", c_dependencies_of_new},
    {"edge_data", c_edge_data},
    {"destroy_node", c_destroy_node},
    {"clone", c_clone},
    {"clone_child", c_clone_child},
    {"dot", c_dot},
    {"user_objects", c_user_objects},
    {"null_dependency", c_null_dependency},
    {"user_object_over", c_user_object_over},
};

static void group_c(void)
{
    run_table("C.", c_cases, COUNT(c_cases), false);
}
