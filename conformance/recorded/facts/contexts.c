/* SPDX-License-Identifier: Apache-2.0 */
/* A recording program: the memory of a device that contexts take. Runs alone on its machine, because every figure is about free
 * memory.
 *
 * An observer, with one context on each device, reads cuMemGetInfo before and after each step of an actor, another process, until
 * two readings agree. A line is the step, its result, and by how many bytes the used memory of each device changed:
 *
 *     C.child.primary    SUCCESS +548995072 +0
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include contexts.c -o contexts -lcuda
 * Use:   contexts [letters of groups]
 */
#include "recorder.h"

enum { STEADY_MS = 3, READINGS = 300 };

static int devices = 1;
static u64 last[2];
static CUcontext contexts[16];
static CUmodule module;
static CUfunction empty;
static const char *group;

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty()\n{\n ret;\n}\n"
                          ".visible .entry deep(.param .u64 p)\n{\n .local .align 8 .b8 frame[4096];\n .reg .u64 %a, %b;\n"
                          " ld.param.u64 %a, [p];\n cvta.local.u64 %b, frame;\n st.u64 [%b], %a;\n ret;\n}\n";

/* ---- the observer ---- */

static u64 used_once(int device)
{
    size_t free_ = 0, total = 0;
    cuCtxSetCurrent(primary[device]);
    return cuMemGetInfo(&free_, &total) ? 0 : total - free_;
}

/* What two readings agree on. */
static u64 used(int device)
{
    const struct timespec step = {0, STEADY_MS * 1000000};
    u64 before = used_once(device), now = 0;
    for (int i = 0; i < READINGS; i++) {
        nanosleep(&step, NULL);
        now = used_once(device);
        if (now == before)
            break;
        before = now;
    }
    return now;
}

static void observe(const char *id, const char *result)
{
    char line[96] = "";
    for (int d = 0; d < devices; d++) {
        u64 now = used(d);
        snprintf(line + strlen(line), 30, " %+lld", (i64)(now - last[d]));
        last[d] = now;
    }
    say(id, "%s%s", result, line);
}

/* ---- the actor ---- */

static int orders, answers; /* pipes */
static pid_t actor;

static CUresult launch(const char *name)
{
    u64 p = 0;
    void *args[] = {&p};
    CUresult r = cuModuleLoadData(&module, ptx);
    if (!r)
        r = cuModuleGetFunction(&empty, module, name);
    if (!r)
        r = cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL);
    return r ? r : cuCtxSynchronize();
}

struct order {
    char what;
    int a;
    u64 b;
};

static CUresult act(struct order o)
{
    CUdeviceptr p = 0;
    size_t value = 0;
    Handle h = 0;
    CUstream s = NULL;
    void *host = NULL;
    CUmemAllocationProp prop = prop_at(L_DEVICE, o.a);
    CUresult r;
    switch (o.what) {
    case 'i': return cuInit(0);
    case 'r': return cuDevicePrimaryCtxRetain(&primary[o.a], o.a);
    case 'c': return cuCtxSetCurrent(o.a < 2 ? primary[o.a] : contexts[o.a]);
    case 'n': return cuCtxCreate(&contexts[o.a], NULL, (unsigned)o.b, 0);
    case 'm': return cuCtxCreate(&contexts[o.a], NULL, 0, 1);
    case 'd': return cuCtxDestroy(contexts[o.a]);
    case 'l': return cuDevicePrimaryCtxRelease(o.a);
    case 'z': return cuDevicePrimaryCtxReset(o.a);
    case 'k': return launch(o.a ? "deep" : "empty");
    case 'L': return cuCtxSetLimit((CUlimit)o.a, o.b);
    case 'G':
        r = cuCtxGetLimit(&value, (CUlimit)o.a);
        return r ? r : (CUresult)(value ? 0 : 1);
    case 'p': return cuCtxEnablePeerAccess(o.a < 2 ? primary[o.a] : contexts[o.a], 0);
    case 's': return cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
    case 'S':
        for (int i = 0; i < o.a; i++)
            if ((r = cuStreamCreate(&s, CU_STREAM_NON_BLOCKING)))
                return r;
        return CUDA_SUCCESS;
    case 'a': return cuMemAlloc(&p, o.b);
    case 'C': return cuMemCreate(&h, o.b, &prop, 0);
    case 'A': return cuMemAllocAsync(&p, o.b, NULL);
    case 'h': return cuMemHostAlloc(&host, o.b, 0);
    default: return CUDA_ERROR_UNKNOWN;
    }
}

static void obey(int in, int out)
{
    struct order o;
    alarm(30);
    while (read(in, &o, sizeof o) == (ssize_t)sizeof o) {
        int r = (int)act(o);
        if (write(out, &r, sizeof r) != (ssize_t)sizeof r)
            break;
    }
    _exit(0);
}

static void start_actor(void)
{
    int to[2], back[2];
    if (pipe(to) || pipe(back))
        _exit(9);
    actor = fork();
    if (actor == 0) {
        close(to[1]);
        close(back[0]);
        obey(to[0], back[1]);
    }
    close(to[0]);
    close(back[1]);
    orders = to[1];
    answers = back[0];
}

static CUresult order(char what, int a, u64 b)
{
    struct order o = {what, a, b};
    int r = 0;
    if (write(orders, &o, sizeof o) != (ssize_t)sizeof o || read(answers, &r, sizeof r) != (ssize_t)sizeof r)
        return (CUresult)12345;
    return (CUresult)r;
}

static void end_actor(const char *id, bool killed)
{
    int status;
    if (killed)
        kill(actor, SIGKILL);
    close(orders);
    close(answers);
    waitpid(actor, &status, 0);
    char text[64];
    snprintf(text, sizeof text, "%s.%s", group, id);
    observe(text, killed ? "killed" : "exit");
}

/* The order, and what it changed. */
static void step(const char *id, char what, int a, u64 b)
{
    char text[64];
    snprintf(text, sizeof text, "%s.%s", group, id);
    CUresult r = order(what, a, b);
    observe(text, name_of(r));
}

/* The observer's own contexts. An actor is forked before any of them. */
static void observer(void)
{
    char text[64];
    cuInit(0);
    cuDeviceGetCount(&devices);
    devices = devices > 2 ? 2 : devices;
    for (int d = 0; d < devices; d++) {
        cuDevicePrimaryCtxRetain(&primary[d], d);
        last[d] = used(d);
    }
    snprintf(text, sizeof text, "%s.alone", group);
    char line[96] = "";
    for (int d = 0; d < devices; d++)
        snprintf(line + strlen(line), 30, " %llu", last[d]);
    say(text, "=%s", line + 1);
}

static void start(const char *name)
{
    group = name;
    start_actor();
    observer();
}

/* ---- the cases ---- */

static void alone(void)
{
    size_t free_ = 0, total = 0;
    group = "A";
    cuInit(0);
    CUresult r = cuDevicePrimaryCtxRetain(&primary[0], 0);
    cuCtxSetCurrent(primary[0]);
    cuMemGetInfo(&free_, &total);
    say("A.primary", "%s used=%zu total=%zu", name_of(r), total - free_, total);
    size_t whole = 0;
    cuDeviceTotalMem(&whole, 0);
    say("A.total", "=%zu", whole);
    u64 before = used(0);
    R("A.launch", launch("empty"));
    say("A.launched", "%+lld", (i64)(used(0) - before));
    CUcontext c[10];
    for (int i = 0; i < 10; i++) {
        char id[32];
        r = cuCtxCreate(&c[i], NULL, 0, 0);
        snprintf(id, sizeof id, "A.create.%d", i);
        u64 now = used(0);
        say(id, "%s %+lld", name_of(r), (i64)(now - before));
        before = now;
    }
    for (int i = 9; i >= 0; i--) {
        char id[32];
        r = cuCtxDestroy(c[i]);
        snprintf(id, sizeof id, "A.destroy.%d", i);
        u64 now = used(0);
        say(id, "%s %+lld", name_of(r), (i64)(now - before));
        before = now;
    }
}

static void child_steps(void)
{
    start("C");
    step("init", 'i', 0, 0);
    step("primary", 'r', 0, 0);
    step("current", 'c', 0, 0);
    step("launch", 'k', 0, 0);
    step("deep", 'k', 1, 0);
    step("create", 'n', 2, 0);
    step("launch2", 'k', 0, 0);
    step("create2", 'n', 3, 0);
    step("create_map_host", 'n', 4, CU_CTX_MAP_HOST);
    step("destroy4", 'd', 4, 0);
    step("destroy3", 'd', 3, 0);
    step("destroy2", 'd', 2, 0);
    step("streams", 'S', 64, 0);
    step("alloc_byte", 'a', 0, 1);
    step("alloc_2M", 'a', 0, G);
    step("async", 'A', 0, 4096);
    step("host", 'h', 0, G);
    step("reset", 'z', 0, 0);
    step("release", 'l', 0, 0);
    step("primary_again", 'r', 0, 0);
    step("release_again", 'l', 0, 0);
    end_actor("exit", false);
}

static void order_steps(void)
{
    start("O");
    step("init", 'i', 0, 0);
    step("create", 'n', 2, 0);
    step("create2", 'n', 3, 0);
    step("primary", 'r', 0, 0);
    step("destroy2", 'd', 2, 0);
    step("destroy3", 'd', 3, 0);
    step("create3", 'n', 2, 0);
    step("release", 'l', 0, 0);
    end_actor("exit", false);
}

static void killed_steps(void)
{
    start("K");
    step("init", 'i', 0, 0);
    step("primary", 'r', 0, 0);
    step("current", 'c', 0, 0);
    step("alloc", 'a', 0, 40 << 20);
    end_actor("killed", true);
}

static void exit_steps(void)
{
    start("E");
    step("init", 'i', 0, 0);
    step("primary", 'r', 0, 0);
    step("create", 'n', 2, 0);
    step("alloc", 'a', 0, 40 << 20);
    end_actor("exit", false);
}

static size_t limit_case;

static void limit_steps(void)
{
    static const struct {
        const char *name;
        int limit;
        u64 values[4];
    } limits[] = {{"stack", CU_LIMIT_STACK_SIZE, {2048, 0, 16384, 65536}},
                  {"printf", CU_LIMIT_PRINTF_FIFO_SIZE, {2 << 20, 4 << 20, 16 << 20, 64 << 20}},
                  {"heap", CU_LIMIT_MALLOC_HEAP_SIZE, {16 << 20, 32 << 20, 1 << 20, 64 << 20}}};
    const size_t i = limit_case / 2;
    const char *after = limit_case % 2 ? ".launched" : "";
    char id[48];
    start("L");
    order('i', 0, 0);
    snprintf(id, sizeof id, "%s%s.primary", limits[i].name, after);
    step(id, 'r', 0, 0);
    order('c', 0, 0);
    if (limit_case % 2) {
        snprintf(id, sizeof id, "%s.launched.first", limits[i].name);
        step(id, 'k', 0, 0);
    }
    for (int k = 0; k < 4; k++) {
        snprintf(id, sizeof id, "%s%s.%llu", limits[i].name, after, limits[i].values[k]);
        step(id, 'L', limits[i].limit, limits[i].values[k]);
        snprintf(id, sizeof id, "%s%s.%llu.launch", limits[i].name, after, limits[i].values[k]);
        step(id, 'k', 0, 0);
    }
    snprintf(id, sizeof id, "%s%s.create", limits[i].name, after);
    step(id, 'n', 2, 0);
    snprintf(id, sizeof id, "%s%s.exit", limits[i].name, after);
    end_actor(id, false);
}

static void device_steps(void)
{
    start("D");
    if (devices < 2) {
        end_actor("exit", false);
        return;
    }
    step("init", 'i', 0, 0);
    step("primary0", 'r', 0, 0);
    step("primary1", 'r', 1, 0);
    step("current", 'c', 0, 0);
    step("peer0", 'p', 1, 0);
    step("current1", 'c', 1, 0);
    step("peer1", 'p', 0, 0);
    step("create1", 'm', 2, 0);
    step("peer2", 'p', 0, 0);
    step("create0", 'n', 3, 0);
    step("destroy1", 'd', 2, 0);
    step("destroy0", 'd', 3, 0);
    step("release0", 'l', 0, 0);
    step("release1", 'l', 1, 0);
    end_actor("exit", false);
}

/* The most that can be created, against what was reported as free. */
static void full_with(int more)
{
    char id[64];
    size_t free_ = 0, total = 0;
    CUcontext c = NULL;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&primary[0], 0);
    for (int i = 0; i < more; i++)
        cuCtxCreate(&c, NULL, 0, 0);
    cuCtxSetCurrent(primary[0]);
    cuMemGetInfo(&free_, &total);
    u64 made = 0;
    CUmemAllocationProp prop = prop_at(L_DEVICE, 0);
    for (size_t size = (size_t)8 << 30; size >= G; size /= 2) {
        Handle h = 0;
        while (cuMemCreate(&h, size, &prop, 0) == CUDA_SUCCESS)
            made += size;
    }
    size_t left = 0;
    cuMemGetInfo(&left, &total);
    snprintf(id, sizeof id, "F.create.%d", more);
    say(id, "free=%zu made=%llu short=%lld left=%zu", free_, made, (i64)(free_ - made), left);
    CUdeviceptr p = 0;
    for (size_t size = G; size; size /= 2) {
        int count = 0;
        while (count < 10000 && cuMemAlloc(&p, size) == CUDA_SUCCESS)
            count++;
        if (count) {
            snprintf(id, sizeof id, "F.alloc.%d.%zu", more, size);
            say(id, "%d", count);
        }
    }
    snprintf(id, sizeof id, "F.context.%d", more);
    R(id, cuCtxCreate(&c, NULL, 0, 0));
}

static void full(void)
{
    full_with(0);
}

static void full_two(void)
{
    full_with(1);
}

static void full_alloc(void)
{
    size_t free_ = 0, total = 0;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&primary[0], 0);
    cuCtxSetCurrent(primary[0]);
    cuMemGetInfo(&free_, &total);
    u64 made = 0;
    CUdeviceptr p = 0;
    for (size_t size = (size_t)8 << 30; size >= G; size /= 2)
        while (cuMemAlloc(&p, size) == CUDA_SUCCESS)
            made += size;
    size_t left = 0;
    cuMemGetInfo(&left, &total);
    say("F.cuMemAlloc", "free=%zu made=%llu short=%lld left=%zu", free_, made, (i64)(free_ - made), left);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    pid_t first = fork();
    if (first == 0) {
        alarm(60);
        header("contexts.c");
        fflush(stdout);
        _exit(0);
    }
    report("header!", first);
    child("A!", alone);
    child("A.again!", alone);
    child("C!", child_steps);
    child("O!", order_steps);
    child("K!", killed_steps);
    child("E!", exit_steps);
    for (limit_case = 0; limit_case < 6; limit_case++)
        child("L!", limit_steps);
    child("D!", device_steps);
    child("F.one!", full);
    child("F.two!", full_two);
    child("F.alloc!", full_alloc);
    return 0;
}
