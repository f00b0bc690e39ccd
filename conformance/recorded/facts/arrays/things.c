/* SPDX-License-Identifier: Apache-2.0 */
/* What the lines of ../arrays.c name. Part of ../arrays.c, which includes it.
 *
 *     a, b      sparse, 512x512 floats: 4 by 4 tiles of 128x128       lay    the same with 3 layers
 *     vol       sparse, 128x128x64: 4 by 4 by 4 tiles of 32x32x16     one    sparse, of one dimension
 *     mip       sparse, 1024x1024, 11 levels, of which 3 have tiles   lmip   the same with 3 layers        vmip   of 3 dimensions
 *     def, dmip memory is mapped to all of them at once               pl, pmip, pl3, pll, nv    ordinary ones
 *     p, q      memory for tiles, 4 MiB and 2 MiB                     np, hp other memory of the device, of the host
 *     s, s2     streams that block no other; bs: one that does        e      an event
 *     d, h      memory of the device, of the host                     own, other   contexts (of two devices, where there are two)
 *     os, oa, op   a stream, a sparse array and memory for tiles of the other context
 *     forged    zeros where a thing should be                         dead, dmap, dp   an array, a mipmapped one, memory that ended
 */

enum { DEVICE_BYTES = 16 << 20 };

static unsigned char nothing[4096] __attribute__((aligned(64)));
static CUdeviceptr device_memory;

/* ---- what ends what ---- */

static void end_array(u64 a)
{
    cuArrayDestroy((CUarray)(uintptr_t)a);
}

static void end_mipmapped(u64 a)
{
    cuMipmappedArrayDestroy((CUmipmappedArray)(uintptr_t)a);
}

static void end_handle(u64 h)
{
    cuMemRelease(h);
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

static void end_memory(u64 p)
{
    cuMemFree(p);
}

static void end_graph(u64 g)
{
    cuGraphDestroy((CUgraph)(uintptr_t)g);
}

static const struct maker makers[] = {
    {"cuArray3DCreate_v2", "cuArrayDestroy", end_array},
    {"cuArrayCreate_v2", "cuArrayDestroy", end_array},
    {"cuMipmappedArrayCreate", "cuMipmappedArrayDestroy", end_mipmapped},
    {"cuMemCreate", "cuMemRelease", end_handle},
    {"cuMemRetainAllocationHandle", "cuMemRelease", end_handle},
    {"cuStreamCreate", "cuStreamDestroy_v2", end_stream},
    {"cuEventCreate", "cuEventDestroy_v2", end_event},
    {"cuCtxCreate_v2", "cuCtxDestroy_v2", end_context},
    {"cuMemAlloc_v2", "cuMemFree_v2", end_memory},
    {"cuGraphCreate", "cuGraphDestroy", end_graph},
};

static void called(const char *symbol, const u64 *a, CUresult r)
{
    ledger_note(makers, COUNT(makers), symbol, a, r);
    if (r == CUDA_SUCCESS && strcmp(symbol, "cuCtxDestroy_v2") == 0)
        ledger_forget_context((CUcontext)(uintptr_t)a[0]);
}

/* ---- the things ---- */

static const struct thing things[] = {
    {"s", "cuStreamCreate o8=s 1", false},
    {"s2", "cuStreamCreate o8=s2 1", false},
    {"bs", "cuStreamCreate o8=bs 0", false},
    {"e", "cuEventCreate o8=e 0", false},
    {"a", "cuArray3DCreate_v2 o8=a arr:512x512x0,x=0x40", false},
    {"b", "cuArray3DCreate_v2 o8=b arr:512x512x0,x=0x40", false},
    {"lay", "cuArray3DCreate_v2 o8=lay arr:512x512x3,x=0x41", false},
    {"vol", "cuArray3DCreate_v2 o8=vol arr:128x128x64,x=0x40", false},
    {"one", "cuArray3DCreate_v2 o8=one arr:65536x0x0,x=0x40", false},
    {"mip", "cuMipmappedArrayCreate o8=mip arr:1024x1024x0,x=0x40 11", false},
    {"lmip", "cuMipmappedArrayCreate o8=lmip arr:1024x1024x3,x=0x41 11", false},
    {"vmip", "cuMipmappedArrayCreate o8=vmip arr:128x128x64,x=0x40 8", false},
    {"def", "cuArray3DCreate_v2 o8=def arr:512x512x0,x=0x80", false},
    {"dmip", "cuMipmappedArrayCreate o8=dmip arr:512x512x0,x=0x80 10", false},
    {"pl", "cuArray3DCreate_v2 o8=pl arr:64x64x0", false},
    {"pl1", "cuArray3DCreate_v2 o8=pl1 arr:64x0x0", false},
    {"pl3", "cuArray3DCreate_v2 o8=pl3 arr:64x64x8", false},
    {"pll", "cuArray3DCreate_v2 o8=pll arr:64x64x3,x=1", false},
    {"pmip", "cuMipmappedArrayCreate o8=pmip arr:64x64x0 7", false},
    {"nv", "cuArray3DCreate_v2 o8=nv arr:64x64x0,f=0xb0,n=3", false},
    {"p", "cuMemCreate o8=p 4M g:u=1 0", false},
    {"q", "cuMemCreate o8=q 2M g:u=1 0", false},
    {"np", "cuMemCreate o8=np 4M g:u=0 0", false},
    {"hp", "cuMemCreate o8=hp 4M g:u=0,lt=3 0", false},
    {"os", "cuStreamCreate o8=os 1", true},
    {"oa", "cuArray3DCreate_v2 o8=oa arr:512x512x0,x=0x40", true},
    {"opl", "cuArray3DCreate_v2 o8=opl arr:64x64x0", true},
    {"op", "cuMemCreate o8=op 4M g:u=1,li=1 0", true},
    /* last, so that nothing gets their places */
    {"dead", "cuArray3DCreate_v2 o8=dead arr:512x512x0,x=0x40; cuArrayDestroy dead", false},
    {"dmap", "cuMipmappedArrayCreate o8=dmap arr:512x512x0,x=0x40 10; cuMipmappedArrayDestroy dmap", false},
    {"dp", "cuMemCreate o8=dp 4M g:u=1 0; cuMemRelease dp", false},
    {"ds", "cuStreamCreate o8=ds 1; cuStreamDestroy_v2 ds", false},
};

/* In these groups nothing depends on what memory, streams and events went through before, unless the line ends them. */
static bool keeps(const char *text, const struct thing *thing)
{
    static const char *const kept[] = {"s", "s2", "bs", "e", "p", "q", "np", "hp", "os", "op"};
    if (!strchr("FKZYCXA", group[0]) || strstr(text, "release") || strstr(text, "Destroy") || strstr(text, "begin") ||
        strstr(text, "BeginCapture"))
        return false;
    for (size_t i = 0; i < COUNT(kept); i++)
        if (strcmp(kept[i], thing->name) == 0)
            return true;
    return false;
}

static u64 kept_value[COUNT(things)];

/* Makes a thing of the line, or takes the one that the process keeps. */
static void take_thing(const char *text, size_t i)
{
    if (!keeps(text, &things[i])) {
        make_thing(&things[i]);
        return;
    }
    if (!kept_value[i]) {
        const size_t before = ledger_count;
        make_thing(&things[i]);
        ledger_count = before; /* it stays */
        kept_value[i] = value_of(things[i].name);
    }
    set_name(things[i].name, kept_value[i]);
}

static bool needs(const char *text, const struct thing *thing)
{
    const bool a = strcmp(thing->name, "a") == 0, p = strcmp(thing->name, "p") == 0;
    return mentions(text, thing->name) || (a && (strstr(text, "m:") || strstr(text, "u:"))) || (p && strstr(text, "m:"));
}

static void start_line(const char *text)
{
    name_count = 0;
    gate_reset();
    set_name("d", device_memory);
    set_name("h", as_value(host));
    set_name("own", as_value(primary[0]));
    set_name("forged", as_value(nothing));
    if (group[0] == 'B') { /* no call has made anything yet */
        for (size_t i = 0; i < COUNT(things); i++)
            set_name(things[i].name, as_value(nothing));
        return;
    }
    cuCtxSetCurrent(primary[0]);
    if (mentions(text, "other"))
        set_name("other", as_value(other_of_the_process()));
    for (size_t i = 0; i < COUNT(things); i++)
        if (needs(text, &things[i]))
            take_thing(text, i);
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
    call_here(found("cuThreadExchangeStreamCaptureMode"), (u64[ARGUMENTS]){as_value(&mode)});
    cuCtxSynchronize();
    ledger_end();
    cuCtxSetCurrent(primary[0]);
}

/* ---- the processes ---- */

static void start(void)
{
    CUarray first = NULL;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 4, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    init();
    gate_patience = 100;
    settle_patience = 5000;
    cuMemAlloc(&device_memory, DEVICE_BYTES);
    host = mmap(NULL, HOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (host == MAP_FAILED)
        exit(3);
    cuArray3DCreate(&first, &d); /* what the first array takes of memory is not what each takes */
    cuArrayDestroy(first);
}

static void start_nothing(void)
{
    host = mmap(NULL, HOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
