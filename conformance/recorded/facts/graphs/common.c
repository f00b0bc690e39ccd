/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases share: streams, memory, kernels, and graphs as text. Part of ../graphs.c, which includes it. */

enum { WORDS = 1 << 20, NODES = 64 };

static CUstream s, t, blocking; /* s and t do not wait for the legacy stream */
static CUevent e, f;
static CUdeviceptr d;           /* WORDS words of memory, all 0 */
static CUmodule module;
static CUfunction k_put, k_add, k_get;
static unsigned host_words[16]; /* pageable */
static unsigned *pinned;

/* put(p, v): *p = v. add(p, v): *p += v. get(p, q): *p = *q. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry put(.param .u64 p, .param .u32 v)\n{\n .reg .u64 %a;\n .reg .u32 %v;\n"
    " ld.param.u64 %a, [p];\n ld.param.u32 %v, [v];\n cvta.to.global.u64 %a, %a;\n st.global.u32 [%a], %v;\n ret;\n}\n"
    ".visible .entry add(.param .u64 p, .param .u32 v)\n{\n .reg .u64 %a;\n .reg .u32 %v, %w;\n"
    " ld.param.u64 %a, [p];\n ld.param.u32 %v, [v];\n cvta.to.global.u64 %a, %a;\n ld.global.u32 %w, [%a];\n"
    " add.u32 %w, %w, %v;\n st.global.u32 [%a], %w;\n ret;\n}\n"
    ".visible .entry get(.param .u64 p, .param .u64 q)\n{\n .reg .u64 %a, %b;\n .reg .u32 %v;\n"
    " ld.param.u64 %a, [p];\n ld.param.u64 %b, [q];\n cvta.to.global.u64 %a, %a;\n cvta.to.global.u64 %b, %b;\n"
    " ld.global.u32 %v, [%b];\n st.global.u32 [%a], %v;\n ret;\n}\n";

/* ---- a case and its steps ---- */

static const char *case_name;
static char case_prefix[96];

static const char *id_of(const char *step)
{
    static char id[CASE_ID];
    snprintf(id, sizeof id, "%s%s.%s", case_prefix, case_name, step);
    return id;
}

/* The call is made before the id is. */
static CUresult at(const char *step, CUresult r)
{
    return answer(id_of(step), r);
}

__attribute__((format(printf, 2, 3))) static void val(const char *step, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say(id_of(step), "=%s", text);
}

struct one_case {
    const char *name;
    void (*body)(void);
};

static void load_kernels(void)
{
    cuModuleLoadData(&module, ptx);
    cuModuleGetFunction(&k_put, module, "put");
    cuModuleGetFunction(&k_add, module, "add");
    cuModuleGetFunction(&k_get, module, "get");
}

static void start_process(void)
{
    init();
    load_kernels();
    CUresult r = cuMemAlloc(&d, WORDS * 4);
    if (r || !k_get)
        say("start!", "%s kernels=%d", name_of(r), k_get != NULL);
    cuMemAllocHost((void **)&pinned, 4096);
    cuStreamCreate(&blocking, CU_STREAM_DEFAULT);
}

static void start_case(void)
{
    cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
    cuStreamCreate(&t, CU_STREAM_NON_BLOCKING);
    cuEventCreate(&e, CU_EVENT_DEFAULT);
    cuEventCreate(&f, CU_EVENT_DEFAULT);
    cuMemsetD8(d, 0, 65536);
    memset(host_words, 0, sizeof host_words);
    if (pinned)
        memset(pinned, 0, 4096);
    cuCtxSynchronize();
}

/* Is one of the case's streams still captured? Then nothing more can be asked of the process. */
static bool captures(void)
{
    CUstream all[] = {s, t, blocking, CU_STREAM_PER_THREAD};
    for (size_t i = 0; i < COUNT(all); i++) {
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        if (cuStreamIsCapturing(all[i], &status) || status != CU_STREAM_CAPTURE_STATUS_NONE)
            return true;
    }
    return false;
}

static const struct one_case *table;

static void table_one(size_t i, char *id, int run)
{
    case_name = table[i].name;
    snprintf(id, CASE_ID, "%s%s", case_prefix, case_name);
    if (!run || !is_wanted(id))
        return;
    start_case();
    table[i].body();
    if (captures())
        _exit(0);
}

/* Cases that begin with the prefix "A."; alone: each in a process of its own. */
static void run_table(const char *prefix, const struct one_case *cases, size_t count, bool alone)
{
    if (!is_wanted(prefix))
        return;
    snprintf(case_prefix, sizeof case_prefix, "%s", prefix);
    for (size_t i = 0; alone && i < count; i++) {
        char id[CASE_ID];
        snprintf(id, sizeof id, "%s%s", prefix, cases[i].name);
        table = cases + i;
        if (is_wanted(id))
            run_cases(start_process, 1, table_one);
    }
    table = cases;
    if (!alone)
        run_cases(start_process, count, table_one);
}

/* An entry point by its exact name. */
static void *entry(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found)
        say("entry!", "%s", name);
    return found;
}

/* ---- work ---- */

static CUresult put(CUstream stream, size_t word, unsigned value)
{
    CUdeviceptr p = d + word * 4;
    void *args[] = {&p, &value};
    return cuLaunchKernel(k_put, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL);
}

static CUresult add(CUstream stream, size_t word, unsigned value)
{
    CUdeviceptr p = d + word * 4;
    void *args[] = {&p, &value};
    return cuLaunchKernel(k_add, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL);
}

static CUresult fill(CUstream stream, size_t word, unsigned value, size_t words)
{
    return cuMemsetD32Async(d + word * 4, value, words, stream);
}

/* A word of memory, as cuMemcpyDtoH reads it; in hexadecimal where a fill may have written it. */
static const char *word_in(CUdeviceptr p)
{
    static char text[4][32];
    static unsigned next;
    char *b = text[next++ % 4];
    unsigned v = 0;
    CUresult r = cuMemcpyDtoH(&v, p, 4);
    if (r)
        snprintf(b, sizeof text[0], "%s", name_of(r));
    else
        snprintf(b, sizeof text[0], "%x", v);
    return b;
}

static const char *word(size_t index)
{
    return word_in(d + index * 4);
}

static char host_order[64];
static volatile int host_calls;

/* A host function: appends its letter. */
static void CUDA_CB note_letter(void *letter)
{
    size_t length = strlen(host_order);
    if (length + 1 < sizeof host_order)
        host_order[length] = (char)(uintptr_t)letter;
    host_calls++;
}

static void CUDA_CB note_callback(CUstream stream, CUresult status, void *letter)
{
    (void)stream;
    (void)status;
    note_letter(letter);
}

static CUresult host(CUstream stream, char letter)
{
    return cuLaunchHostFunc(stream, note_letter, (void *)(uintptr_t)letter);
}

/* ---- nodes ---- */

static CUresult kernel_params(CUDA_KERNEL_NODE_PARAMS *p, CUfunction function, CUdeviceptr *address, void *second)
{
    static void *args[2];
    memset(p, 0, sizeof *p);
    args[0] = address;
    args[1] = second;
    p->func = function;
    p->gridDimX = p->gridDimY = p->gridDimZ = p->blockDimX = p->blockDimY = p->blockDimZ = 1;
    p->kernelParams = args;
    return CUDA_SUCCESS;
}

static CUresult kernel_node(CUgraphNode *n, CUgraph g, const CUgraphNode *deps, size_t count, CUfunction function,
                            CUdeviceptr p, unsigned value)
{
    CUDA_KERNEL_NODE_PARAMS params;
    kernel_params(&params, function, &p, &value);
    return cuGraphAddKernelNode(n, g, deps, count, &params);
}

static CUDA_MEMSET_NODE_PARAMS fill_params(CUdeviceptr p, unsigned value, unsigned size, size_t width, size_t height)
{
    CUDA_MEMSET_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.dst = p;
    params.value = value;
    params.elementSize = size;
    params.width = width;
    params.height = height;
    params.pitch = height > 1 ? 64 : 0;
    return params;
}

static CUresult fill_node(CUgraphNode *n, CUgraph g, const CUgraphNode *deps, size_t count, CUdeviceptr p, unsigned value)
{
    CUDA_MEMSET_NODE_PARAMS params = fill_params(p, value, 4, 4, 1);
    return cuGraphAddMemsetNode(n, g, deps, count, &params, primary[0]);
}

/* One row; type 0 takes that side as it is for its own. */
static CUDA_MEMCPY3D copy_params(CUmemorytype to, u64 dst, CUmemorytype from, u64 src, size_t size)
{
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = from;
    c.dstMemoryType = to;
    if (from == CU_MEMORYTYPE_HOST)
        c.srcHost = (const void *)(uintptr_t)src;
    else
        c.srcDevice = src;
    if (to == CU_MEMORYTYPE_HOST)
        c.dstHost = (void *)(uintptr_t)dst;
    else
        c.dstDevice = dst;
    c.WidthInBytes = size;
    c.Height = c.Depth = 1;
    return c;
}

static CUresult copy_node(CUgraphNode *n, CUgraph g, const CUgraphNode *deps, size_t count, CUdeviceptr to, CUdeviceptr from)
{
    CUDA_MEMCPY3D c = copy_params(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_DEVICE, from, 16);
    return cuGraphAddMemcpyNode(n, g, deps, count, &c, primary[0]);
}

static CUresult host_node(CUgraphNode *n, CUgraph g, const CUgraphNode *deps, size_t count, char letter)
{
    CUDA_HOST_NODE_PARAMS p = {note_letter, (void *)(uintptr_t)letter};
    return cuGraphAddHostNode(n, g, deps, count, &p);
}

static CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(size_t size)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p;
    memset(&p, 0, sizeof p);
    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.poolProps.location = loc_at(L_DEVICE, 0);
    p.bytesize = size;
    return p;
}

static CUresult alloc_node(CUgraphNode *n, CUgraph g, const CUgraphNode *deps, size_t count, size_t size, CUdeviceptr *p)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(size);
    CUresult r = cuGraphAddMemAllocNode(n, g, deps, count, &params);
    *p = params.dptr;
    return r;
}

static CUgraph new_graph(void)
{
    CUgraph g = NULL;
    CUresult r = cuGraphCreate(&g, 0);
    if (r)
        at("new_graph", r);
    return g;
}

static CUgraphExec new_exec(CUgraph g)
{
    CUgraphExec x = NULL;
    CUresult r = cuGraphInstantiate(&x, g, 0);
    if (r)
        at("new_exec", r);
    return x;
}

/* Instantiates, launches and waits; says only what did not succeed, but for the wait. */
static CUgraphExec launch_of(CUgraph g)
{
    CUgraphExec x = new_exec(g);
    if (!x)
        return NULL;
    CUresult r = cuGraphLaunch(x, s);
    if (r)
        at("launch", r);
    at("ran", cuStreamSynchronize(s));
    return x;
}

/* ---- graphs as text ---- */

static const char *type_name(CUgraphNode n)
{
    static const char *const names[] = {"kernel", "copy",     "fill",   "host",  "graph", "empty", "wait",
                                        "record", "semaphore", "semaphore", "alloc", "free",  "memop", "conditional"};
    CUgraphNodeType type = (CUgraphNodeType)99;
    CUresult r = cuGraphNodeGetType(n, &type);
    if (r)
        return name_of(r);
    return (unsigned)type < COUNT(names) ? names[type] : "?";
}

static int index_in(CUgraphNode n, const CUgraphNode *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i] == n)
            return (int)i;
    return -1;
}

/* The number of a node in its graph; -1: not found. */
static int number_of(CUgraph g, CUgraphNode n)
{
    CUgraphNode nodes[NODES];
    size_t count = NODES;
    return cuGraphGetNodes(g, nodes, &count) ? -2 : index_in(n, nodes, count < NODES ? count : NODES);
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static const char *text_of(CUgraph g)
{
    static char text[2048];
    CUgraphNode nodes[NODES], from[NODES], to[NODES];
    size_t count = NODES, edges = NODES;
    int sorted[NODES];
    CUresult r = cuGraphGetNodes(g, nodes, &count);
    if (r)
        return name_of(r);
    size_t length = (size_t)snprintf(text, sizeof text, "%zu:", count);
    for (size_t i = 0; i < count && i < NODES; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, " %s", type_name(nodes[i]));
    CUgraphEdgeData data[NODES];
    r = cuGraphGetEdges(g, from, to, data, &edges);
    if (r)
        return name_of(r);
    for (size_t i = 0; i < edges && i < NODES; i++)
        sorted[i] = index_in(from[i], nodes, count) * 1000 + index_in(to[i], nodes, count);
    qsort(sorted, edges < NODES ? edges : NODES, sizeof sorted[0], by_value);
    length += (size_t)snprintf(text + length, sizeof text - length, ";");
    for (size_t i = 0; i < edges && i < NODES; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, " %d>%d", sorted[i] / 1000, sorted[i] % 1000);
    return text;
}

static void shape(const char *step, CUgraph g)
{
    val(step, "%s", text_of(g));
}

static int status_of(CUstream stream)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
    CUresult r = cuStreamIsCapturing(stream, &status);
    return r ? -(int)r : (int)status;
}

/* "status nodes": the state of a capture. */
static void standing(const char *step, CUstream stream)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
    CUgraph g = NULL;
    const CUgraphNode *deps = NULL;
    const CUgraphEdgeData *data = NULL;
    size_t count = 77;
    cuuint64_t id = 0;
    CUresult r = cuStreamGetCaptureInfo(stream, &status, &id, &g, &deps, &data, &count);
    size_t nodes = 0;
    if (!r && g)
        cuGraphGetNodes(g, NULL, &nodes);
    val(step, "%s status=%d id=%d graph=%d deps=%zu list=%d data=%d nodes=%zu", name_of(r), (int)status, id != 0, g != NULL,
        count, deps != NULL, data != NULL, nodes);
}

/* Ends the capture, and says what came of it. */
static CUgraph end(CUstream stream)
{
    CUgraph g = (CUgraph)(uintptr_t)77;
    CUresult r = cuStreamEndCapture(stream, &g);
    at("end", r);
    if (r) {
        val("end.graph", "%s", g == NULL ? "NULL" : g == (CUgraph)(uintptr_t)77 ? "untouched" : "something");
        return NULL;
    }
    if (g)
        shape("end.shape", g);
    else
        val("end.shape", "%s", "NULL");
    return g;
}

static CUresult begin(CUstream stream)
{
    return cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
}
