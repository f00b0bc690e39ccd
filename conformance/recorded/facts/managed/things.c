/* SPDX-License-Identifier: Apache-2.0 */
/* What the lines of ../managed.c name. Part of ../managed.c, which includes it.
 *
 *     g, gh     managed memory: 8 MiB attached to all, 2 MiB attached to the host      gs    100 bytes more than a page
 *     gg        the same as g, of the other context                                   gf    that was freed
 *     mv        a managed variable of a module: 4 bytes                               v     a variable of it that is not managed
 *     vm, vr, vn  4 MiB of cuMemCreate, mapped with rights READWRITE, READ, none       vh    of the host's node, with the host's rights
 *     res       8 MiB that are only reserved, the last 4 MiB of which were mapped once: `un`
 *     d, ds     4 MiB and 4 KiB of cuMemAlloc                                         pa    4 MiB of cuMemAllocAsync
 *     ha, rg    4 MiB of cuMemHostAlloc, of cuMemHostRegister                         ml, mn  of the program, with rights and without
 *     s, s2     streams that block no other; bs: one that does; ds0: destroyed        e     an event
 *     own, other, os   contexts (of two devices, where there are two), a stream of the other one
 *     forged    zeros where a thing should be
 */

enum { PAGES = 4 << 20 };

static unsigned char nothing[4096] __attribute__((aligned(64)));
static unsigned char *pages, *pages_none, *pages_registered, *host;
static CUdeviceptr vm_of[4], reserved;

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .attribute(.managed) .align 4 .u32 managed = 5;\n"
    ".visible .global .align 4 .u32 word = 42;\n";

/* ---- what ends what ---- */

static void end_memory(u64 p)
{
    cuMemFree(p);
}

static void end_host(u64 p)
{
    cuMemFreeHost((void *)(uintptr_t)p);
}

static void end_stream(u64 s)
{
    CUgraph graph;
    cuStreamEndCapture((CUstream)(uintptr_t)s, &graph);
    cuStreamDestroy((CUstream)(uintptr_t)s);
}

static void end_event(u64 e)
{
    cuEventDestroy((CUevent)(uintptr_t)e);
}

static void end_context(u64 c)
{
    cuCtxDestroy((CUcontext)(uintptr_t)c);
}

static void end_module(u64 m)
{
    cuModuleUnload((CUmodule)(uintptr_t)m);
}

static void end_graph(u64 g)
{
    cuGraphDestroy((CUgraph)(uintptr_t)g);
}

static void end_handle(u64 h)
{
    cuMemRelease(h);
}

static const struct maker makers[] = {
    {"cuMemAllocManaged", "cuMemFree_v2", end_memory}, {"cuMemAlloc_v2", "cuMemFree_v2", end_memory},
    {"cuMemAllocAsync", "cuMemFree_v2", end_memory},   {"cuMemHostAlloc", "cuMemFreeHost", end_host},
    {"cuStreamCreate", "cuStreamDestroy_v2", end_stream}, {"cuEventCreate", "cuEventDestroy_v2", end_event},
    {"cuCtxCreate_v2", "cuCtxDestroy_v2", end_context}, {"cuModuleLoadData", "cuModuleUnload", end_module},
    {"cuGraphCreate", "cuGraphDestroy", end_graph},    {"cuMemRetainAllocationHandle", "cuMemRelease", end_handle},
};

static void called(const char *symbol, const u64 *a, CUresult r)
{
    ledger_note(makers, COUNT(makers), symbol, a, r);
    if (r == CUDA_SUCCESS && strcmp(symbol, "cuCtxDestroy_v2") == 0)
        ledger_forget_context((CUcontext)(uintptr_t)a[0]);
}

static const struct thing things[] = {
    {"s", "cuStreamCreate o8=s 1", false},
    {"s2", "cuStreamCreate o8=s2 1", false},
    {"bs", "cuStreamCreate o8=bs 0", false},
    {"os", "cuStreamCreate o8=os 1", true},
    {"ds0", "cuStreamCreate o8=ds0 1; cuStreamDestroy_v2 ds0", false},
    {"e", "cuEventCreate o8=e 0", false},
    {"g", "cuMemAllocManaged o8=g 8M 1", false},
    {"gh", "cuMemAllocManaged o8=gh 2M 2", false},
    {"gs", "cuMemAllocManaged o8=gs 4196 1", false},
    {"gg", "cuMemAllocManaged o8=gg 8M 1", true},
    {"mv", "cuModuleLoadData o8=mod ptx; cuModuleGetGlobal_v2 o8=mv 0 mod 'managed; cuModuleGetGlobal_v2 o8=v 0 mod 'word", false},
    {"d", "cuMemAlloc_v2 o8=d 4M", false},
    {"ds", "cuMemAlloc_v2 o8=ds 4K", false},
    {"pa", "cuMemAllocAsync o8=pa 4M 0; cuStreamSynchronize 0", false},
    {"ha", "cuMemHostAlloc o8=ha 4M 0", false},
    /* last, so that nothing gets its place */
    {"gf", "cuMemAllocManaged o8=gf 4M 1; cuMemFree_v2 gf", false},
};

/* ---- a line ---- */

static size_t free_before;

static size_t free_memory(void)
{
    size_t f = 0, t = 0;
    cuMemGetInfo(&f, &t);
    return f;
}

static void start_line(const char *text)
{
    static const char *const mapped[] = {"vm", "vr", "vn", "vh"};
    name_count = 0;
    gate_reset();
    set_name("h", as_value(host));
    set_name("own", as_value(primary[0]));
    set_name("forged", as_value(nothing));
    set_name("ptx", as_value(ptx));
    set_name("ml", as_value(pages));
    set_name("mn", as_value(pages_none));
    set_name("rg", as_value(pages_registered));
    for (size_t i = 0; i < COUNT(mapped); i++)
        set_name(mapped[i], vm_of[i]);
    set_name("res", reserved);
    set_name("un", reserved + 2 * G);
    if (group[0] == 'B') { /* no call has made anything yet */
        for (size_t i = 0; i < COUNT(things); i++)
            set_name(things[i].name, as_value(nothing));
        return;
    }
    cuCtxSetCurrent(primary[0]);
    if (mentions(text, "other"))
        set_name("other", as_value(other_of_the_process()));
    for (size_t i = 0; i < COUNT(things); i++)
        if (mentions(text, things[i].name) || (strcmp(things[i].name, "mv") == 0 && mentions(text, "v")))
            make_thing(&things[i]);
    if (mentions(text, "free")) {
        cuCtxSynchronize();
        free_before = free_memory();
    }
    cuCtxSetCurrent(group[0] == 'Y' ? NULL : primary[0]);
}

static void end_line(const char *text)
{
    int mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    (void)text;
    gate_opened();
    end_second();
    if (group[0] == 'B')
        return;
    cuCtxSetCurrent(primary[0]);
    call_here(found("cuThreadExchangeStreamCaptureMode"), (u64[ARGUMENTS]){(u64)(uintptr_t)&mode});
    cuCtxSynchronize();
    ledger_end();
    cuCtxSetCurrent(primary[0]);
}

/* ---- the processes ---- */

static void *some_pages(int rights)
{
    void *at = mmap(NULL, PAGES, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        exit(3);
    return at;
}

static void start_nothing(void)
{
    host = some_pages(PROT_READ | PROT_WRITE);
    pages = some_pages(PROT_READ | PROT_WRITE);
    pages_none = some_pages(PROT_NONE);
    pages_registered = some_pages(PROT_READ | PROT_WRITE);
}

static void start(void)
{
    static const int rights[] = {RW, READ, NONE, RW};
    CUdeviceptr first = 0;
    start_nothing();
    init();
    gate_patience = 100;
    settle_patience = 5000;
    for (int i = 0; i < 4; i++) {
        const int type = i == 3 ? L_NUMA : L_DEVICE;
        vm_of[i] = reserve(2 * G);
        Handle memory = make_at(type, 2 * G);
        map(vm_of[i], 2 * G, memory);
        cuMemRelease(memory);
        if (rights[i])
            give(vm_of[i], 2 * G, L_DEVICE, rights[i]);
        if (type == L_NUMA)
            give(vm_of[i], 2 * G, L_HOST, RW);
    }
    reserved = reserve(4 * G);
    Handle memory = make(2 * G);
    map(reserved + 2 * G, 2 * G, memory);
    cuMemUnmap(reserved + 2 * G, 2 * G);
    cuMemRelease(memory);
    cuMemHostRegister(pages_registered, PAGES, 0);
    if (!cuMemAllocManaged(&first, 4096, CU_MEM_ATTACH_GLOBAL)) /* what the first takes is not what each takes */
        cuMemFree(first);
}
