/* SPDX-License-Identifier: Apache-2.0 */
/* Group W: every call with one argument wrong. Part of ../graphs.c, which includes it.
 *
 * A line is a call in order, in words; each of its arguments is then replaced by 0, and by what the words' table has for it:
 *
 *     W.cuGraphAddEmptyNode.1=0      the second argument is 0
 *
 *     g, h     graphs; h is another one             x, y     instances of g and h
 *     n        an empty node of g                   m        one of h
 *     kn fn cn hn gn wn rn an   a node of g of each type: kernel, fill, copy, host, graph, wait, record; alloc of a third graph
 *     o        an output                            D        a list of one node of g
 *     kp fp cp hp gp ap         parameters          s e d    a stream, an event, memory
 *     c        a context                            z        a count, 8    */

typedef CUresult (*w_call)(u64, u64, u64, u64, u64, u64, u64, u64);

static const char *const w_lines[] = {
    "cuGraphCreate o 0",
    "cuGraphDestroy g",
    "cuGraphClone o g",
    "cuGraphAddEmptyNode o g D 1",
    "cuGraphAddKernelNode_v2 o g D 1 kp",
    "cuGraphAddMemsetNode o g D 1 fp c",
    "cuGraphAddMemcpyNode o g D 1 cp c",
    "cuGraphAddHostNode o g D 1 hp",
    "cuGraphAddChildGraphNode o g D 1 h",
    "cuGraphAddEventRecordNode o g D 1 e",
    "cuGraphAddEventWaitNode o g D 1 e",
    "cuGraphAddMemAllocNode o g D 1 ap",
    "cuGraphAddMemFreeNode o g D 1 d",
    "cuGraphAddNode_v2 o g D 0 1 gp",
    "cuGraphKernelNodeGetParams_v2 kn o",
    "cuGraphKernelNodeSetParams_v2 kn kp",
    "cuGraphMemsetNodeGetParams fn o",
    "cuGraphMemsetNodeSetParams fn fp",
    "cuGraphMemcpyNodeGetParams cn o",
    "cuGraphMemcpyNodeSetParams cn cp",
    "cuGraphHostNodeGetParams hn o",
    "cuGraphHostNodeSetParams hn hp",
    "cuGraphChildGraphNodeGetGraph gn o",
    "cuGraphEventWaitNodeGetEvent wn o",
    "cuGraphEventWaitNodeSetEvent wn e",
    "cuGraphEventRecordNodeGetEvent rn o",
    "cuGraphEventRecordNodeSetEvent rn e",
    "cuGraphMemAllocNodeGetParams an o",
    "cuGraphNodeSetParams fn gp",
    "cuGraphNodeGetType n o",
    "cuGraphGetNodes g o o",
    "cuGraphGetRootNodes g o o",
    "cuGraphGetEdges_v2 g o o o o",
    "cuGraphNodeGetDependencies_v2 n o o o",
    "cuGraphNodeGetDependentNodes_v2 n o o o",
    "cuGraphAddDependencies_v2 g D D2 0 1",
    "cuGraphRemoveDependencies_v2 g D D2 0 1",
    "cuGraphNodeFindInClone o n h",
    "cuGraphDestroyNode n",
    "cuGraphInstantiateWithFlags o g 0",
    "cuGraphExecGetFlags x o",
    "cuGraphExecKernelNodeSetParams_v2 x kn kp",
    "cuGraphExecMemsetNodeSetParams x fn fp c",
    "cuGraphExecMemcpyNodeSetParams x cn cp c",
    "cuGraphExecHostNodeSetParams x hn hp",
    "cuGraphExecChildGraphNodeSetParams x gn h",
    "cuGraphExecEventRecordNodeSetEvent x rn e",
    "cuGraphExecEventWaitNodeSetEvent x wn e",
    "cuGraphExecNodeSetParams x fn gp",
    "cuGraphExecUpdate_v2 x g o",
    "cuGraphNodeSetEnabled x fn 1",
    "cuGraphNodeGetEnabled x fn o",
    "cuGraphUpload x s",
    "cuGraphLaunch x s",
    "cuGraphExecDestroy x",
    "cuGraphDebugDotPrint g path 0",
    "cuStreamBeginCapture_v2 s 2",
    "cuStreamBeginCaptureToGraph s g D 0 1 2",
    "cuStreamEndCapture s o",
    "cuStreamIsCapturing s o",
    "cuStreamGetCaptureInfo_v3 s o o o o o o",
    "cuStreamUpdateCaptureDependencies_v2 s D 0 1 1",
    "cuThreadExchangeStreamCaptureMode o",
};

enum { W_ARGUMENTS = 8, W_VARIANTS = 4 };

static struct {
    CUgraph g, h, dead_graph;
    CUgraphExec x, y, dead_exec;
    CUgraphNode n, m, kn, fn, cn, hn, gn, wn, rn, an, to, dead_node;
    CUDA_KERNEL_NODE_PARAMS kp;
    CUDA_MEMSET_NODE_PARAMS fp;
    CUDA_MEMCPY3D cp;
    CUDA_HOST_NODE_PARAMS hp;
    CUDA_MEM_ALLOC_NODE_PARAMS ap;
    CUgraphNodeParams gp;
    CUdeviceptr p;
    unsigned value;
    u64 out[8][64];
    unsigned outs;
} w;

static void w_prepare(void)
{
    CUdeviceptr p = 0;
    memset(&w, 0, sizeof w);
    w.g = new_graph();
    w.h = new_graph();
    w.p = d;
    kernel_params(&w.kp, k_put, &w.p, &w.value);
    w.fp = fill_params(d, 1, 4, 4, 1);
    w.cp = copy_params(CU_MEMORYTYPE_DEVICE, d, CU_MEMORYTYPE_DEVICE, d + 64, 16);
    w.hp = (CUDA_HOST_NODE_PARAMS){note_letter, (void *)(uintptr_t)'w'};
    w.ap = alloc_params(4096);
    w.gp = b_generic(CU_GRAPH_NODE_TYPE_MEMSET, NULL, NULL);
    cuGraphAddEmptyNode(&w.n, w.g, NULL, 0);
    cuGraphAddEmptyNode(&w.m, w.h, NULL, 0);
    kernel_node(&w.kn, w.g, NULL, 0, k_put, d, 1);
    fill_node(&w.fn, w.g, NULL, 0, d, 1);
    copy_node(&w.cn, w.g, NULL, 0, d, d + 64);
    host_node(&w.hn, w.g, NULL, 0, 'w');
    cuGraphAddChildGraphNode(&w.gn, w.g, NULL, 0, w.h);
    cuGraphAddEventWaitNode(&w.wn, w.g, NULL, 0, e);
    cuGraphAddEventRecordNode(&w.rn, w.g, NULL, 0, e);
    w.to = w.kn;
    CUgraph third = new_graph();
    alloc_node(&w.an, third, NULL, 0, 4096, &p);
    w.x = new_exec(w.g);
    w.y = new_exec(w.h);
}

static u64 w_value(const char *word)
{
    static const char path[] = "/dev/null";
    const struct {
        const char *word;
        u64 value;
    } words[] = {
        {"g", as_u64(w.g)},     {"h", as_u64(w.h)},     {"x", as_u64(w.x)},     {"y", as_u64(w.y)},     {"n", as_u64(w.n)},
        {"m", as_u64(w.m)},     {"kn", as_u64(w.kn)},   {"fn", as_u64(w.fn)},   {"cn", as_u64(w.cn)},   {"hn", as_u64(w.hn)},
        {"gn", as_u64(w.gn)},   {"wn", as_u64(w.wn)},   {"rn", as_u64(w.rn)},   {"an", as_u64(w.an)},   {"kp", as_u64(&w.kp)},
        {"fp", as_u64(&w.fp)},  {"cp", as_u64(&w.cp)},  {"hp", as_u64(&w.hp)},  {"ap", as_u64(&w.ap)},  {"gp", as_u64(&w.gp)},
        {"s", as_u64(s)},       {"e", as_u64(e)},       {"d", d},               {"c", as_u64(primary[0])}, {"D", as_u64(&w.n)},
        {"D2", as_u64(&w.to)},  {"M", as_u64(&w.m)},    {"path", as_u64(path)}, {"dead_g", as_u64(w.dead_graph)},
        {"dead_x", as_u64(w.dead_exec)}, {"dead_n", as_u64(w.dead_node)}};
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].value;
    if (strcmp(word, "o") == 0) {
        u64 *out = w.out[w.outs++];
        memset(out, 0, sizeof w.out[0]);
        out[0] = 8;
        return as_u64(out);
    }
    return strtoull(word, NULL, 0);
}

/* Replacements for an argument besides 0: an object of another graph, or a destroyed one. */
static const char *w_other(const char *word, int variant)
{
    static const char *const others[][W_VARIANTS] = {
        {"g", "dead_g"}, {"h", "dead_g"}, {"x", "y", "dead_x"}, {"n", "m", "dead_n"}, {"D", "M"}, {"D2", "M"},
        {"kn", "m", "dead_n"}, {"fn", "m", "dead_n"}, {"hn", "m"}, {"cn", "m"}, {"gn", "m"}, {"1", "2"}};
    for (size_t i = 0; i < COUNT(others); i++)
        if (strcmp(others[i][0], word) == 0)
            return variant < W_VARIANTS ? others[i][variant] : NULL;
    return NULL;
}

static struct w_case {
    unsigned short line;
    signed char argument, variant; /* -1: as it is; variant 0: the argument is 0 */
} w_list[1024];
static size_t w_count;

static size_t w_split(const char *line, char words[][32])
{
    size_t count = 0;
    for (const char *at_ = line; *at_ && count < W_ARGUMENTS + 1; at_ += strspn(at_, " ")) {
        size_t length = strcspn(at_, " ");
        snprintf(words[count++], 32, "%.*s", (int)(length < 31 ? length : 31), at_);
        at_ += length;
    }
    return count;
}

/* cuGraphAddKernelNode_v2 has 23 characters and more, so the name is kept apart. */
static void w_fill_list(void)
{
    char words[W_ARGUMENTS + 1][32];
    w_count = 0;
    for (size_t line = 0; line < COUNT(w_lines); line++) {
        const char *arguments = strchr(w_lines[line], ' ') + 1;
        size_t count = w_split(arguments, words);
        w_list[w_count++] = (struct w_case){(unsigned short)line, -1, 0};
        for (size_t i = 0; i < count; i++) {
            if (strcmp(words[i], "0") != 0)
                w_list[w_count++] = (struct w_case){(unsigned short)line, (signed char)i, 0};
            for (int variant = 1; w_other(words[i], variant); variant++)
                w_list[w_count++] = (struct w_case){(unsigned short)line, (signed char)i, (signed char)variant};
        }
    }
}

static void w_kill(const char *word)
{
    CUgraph third = new_graph();
    if (strcmp(word, "dead_g") == 0)
        cuGraphDestroy(w.dead_graph = third);
    else if (strcmp(word, "dead_x") == 0)
        cuGraphExecDestroy(w.dead_exec = new_exec(third));
    else {
        cuGraphAddEmptyNode(&w.dead_node, w.g, NULL, 0);
        cuGraphDestroyNode(w.dead_node);
    }
}

static void w_one(size_t i, char *id, int run)
{
    const struct w_case *c = &w_list[i];
    char words[W_ARGUMENTS + 1][32], name[64];
    const char *line = w_lines[c->line];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " "), line);
    size_t count = w_split(strchr(line, ' ') + 1, words);
    if (c->argument >= 0)
        snprintf(words[c->argument], 32, "%s", c->variant ? w_other(words[c->argument], c->variant) : "0");
    if (c->argument < 0)
        snprintf(id, CASE_ID, "W.%s", name);
    else
        snprintf(id, CASE_ID, "W.%s.%d=%s", name, c->argument, words[c->argument]);
    if (!run || !is_wanted(id))
        return;
    case_prefix[0] = 0;
    case_name = id;
    start_case();
    w_prepare();
    if (c->argument >= 0 && strncmp(words[c->argument], "dead", 4) == 0)
        w_kill(words[c->argument]);
    if (strncmp(name, "cuStreamEnd", 11) == 0 || strncmp(name, "cuStreamUpdate", 14) == 0 ||
        strncmp(name, "cuStreamGet", 11) == 0)
        cuStreamBeginCaptureToGraph(s, w.g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED);
    u64 a[W_ARGUMENTS] = {0};
    for (size_t k = 0; k < count; k++)
        a[k] = w_value(words[k]);
    w_call call = (w_call)entry(name);
    CUresult r = call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    char outs[64] = "";
    for (unsigned k = 0; k < w.outs; k++)
        strcat(outs, w.out[k][0] == 8 ? " -" : w.out[k][0] == 0 ? " 0" : w.out[k][0] < 100 ? " n" : " *");
    size_t nodes = 99;
    if (strcmp(name, "cuGraphDestroy") != 0)
        cuGraphGetNodes(w.g, NULL, &nodes);
    say(id, "%s%s nodes=%zu", name_of(r), outs, nodes);
    bool dead = c->argument >= 0 && strncmp(words[c->argument], "dead", 4) == 0;
    if (dead || captures())
        _exit(0);
}

static void group_w(void)
{
    w_fill_list();
    if (is_wanted("W."))
        run_cases(start_process, w_count, w_one);
}
