/* SPDX-License-Identifier: Apache-2.0 */
/* The calls, and how cases see what they do. Part of ../memops.c, which includes it. */

typedef CUresult (*value32_call)(CUstream, CUdeviceptr, uint32_t, unsigned);
typedef CUresult (*value64_call)(CUstream, CUdeviceptr, uint64_t, unsigned);
typedef CUresult (*batch_call)(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned);

enum { GEQ = 0, EQ = 1, AND = 2, NOR = 3, FLUSH = 1 << 30 };
enum { WAIT32 = 1, WRITE32 = 2, FLUSHES = 3, WAIT64 = 4, WRITE64 = 5, BARRIER = 6 };

/* One of the calls with a value. */
struct op {
    const char *name;
    const char *symbol;
    bool waits;
    unsigned width; /* bytes */
};

static const struct op ops[] = {
    {"write32", "cuStreamWriteValue32_v2", false, 4}, {"wait32", "cuStreamWaitValue32_v2", true, 4},
    {"write64", "cuStreamWriteValue64_v2", false, 8}, {"wait64", "cuStreamWaitValue64_v2", true, 8},
    {"write32.v1", "cuStreamWriteValue32", false, 4}, {"wait32.v1", "cuStreamWaitValue32", true, 4},
    {"write64.v1", "cuStreamWriteValue64", false, 8}, {"wait64.v1", "cuStreamWaitValue64", true, 8},
};
enum { NEW_OPS = 4, ALL_OPS = COUNT(ops) };

static void *symbol_of(const char *name)
{
    return dlsym(driver, name);
}

static CUresult value_call(const char *symbol, unsigned width, CUstream s, CUdeviceptr at, u64 value, unsigned flags)
{
    value32_call f32 = NULL;
    value64_call f64 = NULL;
    void *found = symbol_of(symbol);
    if (!found)
        return (CUresult)-1;
    memcpy(&f32, &found, sizeof f32);
    memcpy(&f64, &found, sizeof f64);
    return width == 4 ? f32(s, at, (uint32_t)value, flags) : f64(s, at, value, flags);
}

static CUresult op(const struct op *o, CUstream s, CUdeviceptr at, u64 value, unsigned flags)
{
    return value_call(o->symbol, o->width, s, at, value, flags);
}

static CUresult wait_for(CUstream s, CUdeviceptr at, u64 value, unsigned width)
{
    return op(&ops[width == 8 ? 3 : 1], s, at, value, EQ);
}

static CUresult write_to(CUstream s, CUdeviceptr at, u64 value, unsigned width)
{
    return op(&ops[width == 8 ? 2 : 0], s, at, value, 0);
}

static CUresult batch(int version, CUstream s, unsigned count, CUstreamBatchMemOpParams *list, unsigned flags)
{
    batch_call f = NULL;
    void *found = symbol_of(version == 1 ? "cuStreamBatchMemOp" : "cuStreamBatchMemOp_v2");
    if (!found)
        return (CUresult)-1;
    memcpy(&f, &found, sizeof f);
    return f(s, count, list, flags);
}

static CUstreamBatchMemOpParams entry_of(int operation, CUdeviceptr at, u64 value, unsigned flags)
{
    CUstreamBatchMemOpParams p;
    memset(&p, 0, sizeof p);
    p.operation = (CUstreamBatchMemOpType)operation;
    if (operation == FLUSHES || operation == BARRIER) {
        p.flushRemoteWrites.flags = flags;
        return p;
    }
    p.waitValue.address = at;
    p.waitValue.value64 = value;
    p.waitValue.flags = flags;
    return p;
}

/* ---- what cases use ---- */

static CUstream st, st2;            /* non-blocking */
static CUdeviceptr dev;             /* of cuMemAlloc, 64 KiB, zeros */
static volatile uint32_t *flag;     /* of cuMemHostAlloc; the same address on the device */
static CUdeviceptr flag_at;
enum { DEV_SIZE = 65536, HOST_SIZE = 65536 };

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry reads(.param .u64 p)\n{\n .reg .u64 %a;\n .reg .u32 %v;\n .reg .pred %q;\n"
                          " ld.param.u64 %a, [p];\n cvta.to.global.u64 %a, %a;\n ld.volatile.global.u32 %v, [%a];\n"
                          " setp.eq.u32 %q, %v, 123456789;\n @%q st.volatile.global.u32 [%a], 0;\n ret;\n}\n"
                          ".visible .entry writes(.param .u64 p)\n{\n .reg .u64 %a;\n"
                          " ld.param.u64 %a, [p];\n cvta.to.global.u64 %a, %a;\n"
                          " st.volatile.global.u32 [%a], 0x33333333;\n ret;\n}\n";

static void load_kernels(void)
{
    CUresult r = cuModuleLoadData(&now.module, ptx);
    if (!r)
        r = cuModuleGetFunction(&now.reads, now.module, "reads");
    if (!r)
        r = cuModuleGetFunction(&now.writes, now.module, "writes");
    if (r)
        say("kernels!", "%s", name_of(r));
}

static CUresult kernel_writes(CUstream s, CUdeviceptr at)
{
    void *params[] = {&at};
    return cuLaunchKernel(now.writes, 1, 1, 1, 1, 1, 1, 0, s, params, NULL);
}

static void start(void)
{
    void *host = NULL;
    init();
    must("device memory", cuMemAlloc(&dev, DEV_SIZE));
    must("host memory", cuMemHostAlloc(&host, HOST_SIZE, 0));
    must("stream", cuStreamCreate(&st, CU_STREAM_NON_BLOCKING));
    must("stream", cuStreamCreate(&st2, CU_STREAM_NON_BLOCKING));
    cuMemsetD8(dev, 0, DEV_SIZE);
    memset(host, 0, HOST_SIZE);
    flag = host;
    flag_at = (CUdeviceptr)(uintptr_t)host;
    now.own = primary[0];
    now.other = primary[1] ? primary[1] : primary[0];
    cuCtxSynchronize();
}

/* A process with a hang ends by SIGNAL 14 after so many milliseconds. */
static void within(unsigned milliseconds)
{
    struct itimerval t = {{0, 0}, {milliseconds / 1000, (suseconds_t)(milliseconds % 1000) * 1000}};
    setitimer(ITIMER_REAL, &t, NULL);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Both a time and a number of queries, so that a busy machine does not make a late one of a satisfied wait. Where this thread
 * comes back late from a pause, others are late as well: such a query does not count, for at most SETTLE_AT_MOST times the time. */
enum { SETTLE_MS = 12, SETTLE_QUERIES = 36, SETTLE_AT_MOST = 10 };

/* What the stream's work comes to: SUCCESS, WAITS, or an error. */
static const char *settle(CUstream s)
{
    const double began = seconds(), span = SETTLE_MS / 1e3 * slowly(), late = 1e-3;
    const struct timespec step = {0, 250000};
    int left = SETTLE_QUERIES * (int)slowly();
    CUresult r = cuStreamQuery(s);
    for (double now = began; r == CUDA_ERROR_NOT_READY && now < began + (left > 0 ? SETTLE_AT_MOST : 1) * span;) {
        const double before = now;
        nanosleep(&step, NULL);
        r = cuStreamQuery(s);
        now = seconds();
        left -= now - before < late;
    }
    return r == CUDA_ERROR_NOT_READY ? "WAITS" : name_of(r);
}

/* Settles before it reads the values, which may be outputs of the stream's work. */
#define SETTLE_SAY(id, s, format, ...)          \
    do {                                        \
        const char *then_ = settle(s);          \
        say(id, "%s" format, then_, __VA_ARGS__); \
    } while (0)

/* A stream's work behind the gate begins when the flag is opened. */
static void gate(CUstream s)
{
    *flag = 0;
    must("gate", wait_for(s, flag_at, 1, 4));
}

static void open_gate(void)
{
    *flag = 1;
}

/* The value there, read by cuMemcpyDtoH. */
static const char *value_at(CUdeviceptr at, unsigned width)
{
    static char text[4][32];
    static unsigned next;
    char *b = text[next++ % 4];
    u64 v = 0;
    CUresult r = cuMemcpyDtoH(&v, at, width);
    if (r)
        snprintf(b, sizeof text[0], "%s", name_of(r));
    else
        snprintf(b, sizeof text[0], "%llx", v);
    return b;
}

static void set_value(CUdeviceptr at, u64 value, unsigned width)
{
    must("set", cuMemcpyHtoD(at, &value, width));
    cuCtxSynchronize();
}

/* ---- VMM memory with an alias ---- */

static CUdeviceptr vm, vm_alias; /* G each, of the same memory, zeros */
static Handle vm_handle;

static void make_vmm(void)
{
    vm = reserve(16 * G);
    vm_alias = vm + 8 * G;
    vm_handle = make(G);
    map(vm, G, vm_handle);
    map(vm_alias, G, vm_handle);
    must("rights", give(vm, G, L_DEVICE, RW));
    must("rights", give(vm_alias, G, L_DEVICE, RW));
    cuMemsetD8(vm, 0, G);
    cuCtxSynchronize();
}

/* Whatever a case has left of it. */
static void unmake_vmm(void)
{
    cuMemUnmap(vm, 16 * G);
    cuMemAddressFree(vm, 16 * G);
    cuMemRelease(vm_handle);
}

static void start_vmm(void)
{
    start();
    make_vmm();
}

/* ---- calls that may not return ---- */

enum { RETURN_MS = 250 };

static struct {
    CUresult (*call)(size_t);
    size_t which;
    CUcontext context;
    CUresult answer;
    volatile int returned;
} aside;

static void *aside_thread(void *unused)
{
    cuCtxSetCurrent(aside.context);
    aside.answer = aside.call(aside.which);
    __atomic_store_n(&aside.returned, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static bool aside_returns(void)
{
    const double end = seconds() + RETURN_MS / 1e3 * slowly();
    const struct timespec step = {0, 200000};
    while (!__atomic_load_n(&aside.returned, __ATOMIC_SEQ_CST) && seconds() < end)
        nanosleep(&step, NULL);
    return __atomic_load_n(&aside.returned, __ATOMIC_SEQ_CST) != 0;
}

/* Makes the call on another thread. BLOCKS when it does not return until the gate is opened; both answers are shown. */
static const char *call_aside(CUresult (*call)(size_t), size_t which)
{
    static char text[64];
    pthread_t thread;
    aside.call = call;
    aside.which = which;
    aside.returned = 0;
    cuCtxGetCurrent(&aside.context);
    pthread_create(&thread, NULL, aside_thread, NULL);
    if (aside_returns()) {
        snprintf(text, sizeof text, "%s", name_of(aside.answer));
    } else {
        open_gate();
        snprintf(text, sizeof text, "BLOCKS then=%s", aside_returns() ? name_of(aside.answer) : "BLOCKS");
    }
    if (aside.returned)
        pthread_join(thread, NULL);
    return text;
}
