/* SPDX-License-Identifier: Apache-2.0 */
/* Group L: many nodes, many launches, deep graphs. Part of ../graphs.c, which includes it. */

static void l_chain(void)
{
    CUgraph g = new_graph();
    CUgraphNode last = NULL;
    for (int i = 0; i < 1000; i++) {
        CUgraphNode before = last;
        if (kernel_node(&last, g, before ? &before : NULL, before != NULL, k_add, d, 1))
            break;
    }
    size_t nodes = 0, edges = 0;
    cuGraphGetNodes(g, NULL, &nodes);
    cuGraphGetEdges(g, NULL, NULL, NULL, &edges);
    val("size", "%zu %zu", nodes, edges);
    CUgraphExec x = new_exec(g);
    for (int i = 0; i < 100; i++)
        if (cuGraphLaunch(x, s))
            break;
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word(0));
}

static void l_wide(void)
{
    static CUgraphNode n[1000];
    CUgraph g = new_graph();
    for (int i = 0; i < 1000; i++)
        fill_node(&n[i], g, NULL, 0, d + (size_t)i * 16, 1);
    CUgraphNode last = NULL;
    at("join", cuGraphAddEmptyNode(&last, g, n, 1000));
    size_t roots = 0, edges = 0;
    cuGraphGetRootNodes(g, NULL, &roots);
    cuGraphGetEdges(g, NULL, NULL, NULL, &edges);
    val("size", "%zu %zu", roots, edges);
    launch_of(g);
    val("words", "%s %s", word(0), word(3999));
}

static void l_capture(void)
{
    begin(s);
    for (int i = 0; i < 1000; i++)
        if (i % 3 == 0 ? fill(s, (size_t)i, 1, 1) : i % 3 == 1 ? add(s, 8192, 1) : cuMemcpyDtoDAsync(d + 32768, d, 16, s))
            break;
    standing("s", s);
    CUgraph g = NULL;
    at("end", cuStreamEndCapture(s, &g));
    CUgraphExec x = new_exec(g);
    for (int i = 0; i < 100; i++)
        if (cuGraphLaunch(x, i % 2 ? s : t))
            break;
    at("sync", cuCtxSynchronize());
    val("word", "%s", word(8193));
}

static void l_nested(void)
{
    CUgraph g = new_graph();
    CUgraphNode n;
    kernel_node(&n, g, NULL, 0, k_add, d, 1);
    int depth = 0;
    for (; depth < 50; depth++) {
        CUgraph outer = new_graph();
        if (cuGraphAddChildGraphNode(&n, outer, NULL, 0, g))
            break;
        cuGraphDestroy(g);
        g = outer;
    }
    val("depth", "%d", depth);
    launch_of(g);
    val("word", "%s", word(0));
}

static void l_many(void)
{
    CUgraph g = new_graph();
    CUgraphNode n;
    kernel_node(&n, g, NULL, 0, k_add, d, 1);
    static CUgraphExec x[200];
    int made = 0;
    for (; made < 200 && cuGraphInstantiate(&x[made], g, 0) == CUDA_SUCCESS; made++)
        cuGraphLaunch(x[made], made % 2 ? s : t);
    val("made", "%d", made);
    at("sync", cuCtxSynchronize());
    int ended = 0;
    for (int i = 0; i < made; i++)
        ended += cuGraphExecDestroy(x[i]) == CUDA_SUCCESS;
    val("ended", "%d", ended);
}

static const struct one_case l_cases[] = {
    {"chain", l_chain},
    {"wide", l_wide},
    {"capture", l_capture},
    {"nested", l_nested},
    {"many", l_many},
};

static void group_l(void)
{
    const unsigned before = patience;
    patience = 20; /* none of them waits for what never comes, and a hundred thousand kernels take long under counters */
    run_table("L.", l_cases, COUNT(l_cases), false);
    patience = before;
}
