/* SPDX-License-Identifier: Apache-2.0 */
/* Group Y: memory of cuMemAllocAsync, managed memory, and memory that was freed. Part of ../memops.c. */

static CUresult alloc_async(CUdeviceptr *at, size_t size, CUstream s)
{
    CUresult (*f)(CUdeviceptr *, size_t, CUstream) = NULL;
    void *found = symbol_of("cuMemAllocAsync");
    memcpy(&f, &found, sizeof f);
    return f(at, size, s);
}

static CUresult free_async(CUdeviceptr at, CUstream s)
{
    CUresult (*f)(CUdeviceptr, CUstream) = NULL;
    void *found = symbol_of("cuMemFreeAsync");
    memcpy(&f, &found, sizeof f);
    return f(at, s);
}

static CUresult alloc_managed(CUdeviceptr *at, size_t size)
{
    CUresult (*f)(CUdeviceptr *, size_t, unsigned) = NULL;
    void *found = symbol_of("cuMemAllocManaged");
    memcpy(&f, &found, sizeof f);
    return f(at, size, 1);
}

/* Each call on the memory: on the stream, after which the value is read. */
static void each_call(const char *what, CUstream s, CUdeviceptr at)
{
    char id[CASE_ID];
    for (size_t i = 0; i < NEW_OPS; i++) {
        snprintf(id, sizeof id, "Y.%s.%s", what, ops[i].name);
        CUresult r = op(&ops[i], s, at, ops[i].waits ? 0 : 0x1122334455667788, ops[i].waits ? NOR : 0);
        const char *then = settle(s);
        say(id, "%s then=%s", name_of(r), then);
        if (strcmp(then, "WAITS") == 0)
            _exit(0);
    }
}

static void pool_memory(void)
{
    CUdeviceptr at = 0, freed = 0;
    start();
    within(3000);
    R("Y.pool.alloc", alloc_async(&at, 4096, st));
    each_call("pool.same_stream", st, at);
    cuCtxSynchronize();
    each_call("pool.other_stream", st2, at);
    R("Y.pool.free", free_async(at, st));
    each_call("pool.freed", st, at);
    cuCtxSynchronize();
    each_call("pool.freed_synced", st, at);
    R("Y.pool.alloc_freed", alloc_async(&freed, 1 << 20, st));
    gate(st);
    R("Y.pool.free_behind", free_async(freed, st));
    R("Y.pool.write_behind", write_to(st, freed, 1, 4));
    open_gate();
    say("Y.pool.behind", "%s", settle(st));
}

static void pool_pending(void)
{
    CUdeviceptr at = 0;
    start();
    within(3000);
    gate(st);
    R("Y.pending.alloc", alloc_async(&at, 4096, st));
    R("Y.pending.write", write_to(st, at, 1, 4));
    R("Y.pending.write_elsewhere", write_to(st2, at, 2, 4));
    say("Y.pending.elsewhere", "%s", settle(st2));
    open_gate();
    SETTLE_SAY("Y.pending.then", st, " %s", value_at(at, 4));
}

static void managed_memory(void)
{
    CUdeviceptr at = 0;
    start();
    within(3000);
    R("Y.managed.alloc", alloc_managed(&at, 4096));
    each_call("managed", st, at);
}

static void freed_memory(void)
{
    CUdeviceptr small = 0, large = 0;
    void *host = NULL;
    start();
    within(3000);
    must("small", cuMemAlloc(&small, 256));
    must("large", cuMemAlloc(&large, 64 << 20));
    must("host", cuMemHostAlloc(&host, 4 << 20, 0));
    cuMemFree(small);
    cuMemFree(large);
    cuMemFreeHost(host);
    each_call("freed.small", st, small);
    each_call("freed.large", st, large);
    each_call("freed.host", st, (CUdeviceptr)(uintptr_t)host);
}

/* Inside a module, a stack variable, and code. */
static void odd_memory(void)
{
    static uint32_t variable;
    uint32_t local = 0;
    start();
    within(3000);
    each_call("odd.static", st, (CUdeviceptr)(uintptr_t)&variable);
    each_call("odd.stack", st, (CUdeviceptr)(uintptr_t)&local);
    each_call("odd.code", st, ((CUdeviceptr)(uintptr_t)&odd_memory) & ~7ULL);
}

static void group_y(void)
{
    child("Y.pool!", pool_memory);
    child("Y.pending!", pool_pending);
    child("Y.managed!", managed_memory);
    child("Y.freed!", freed_memory);
    child("Y.odd!", odd_memory);
}
