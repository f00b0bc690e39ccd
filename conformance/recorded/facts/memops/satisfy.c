/* SPDX-License-Identifier: Apache-2.0 */
/* Group W: what satisfies a wait. Part of ../memops.c.
 *
 *     W.32.alloc.fill    a wait on memory of cuMemAlloc, pending; then a fill on another stream satisfies it
 */

enum { SATISFIER_COUNT = 15, WAITED_MEMORIES = 4 };
static CUdeviceptr waited_at[WAITED_MEMORIES], source;
static CUdeviceptr host_vm;

static void start_satisfy(void)
{
    start_vmm();
    host_vm = reserve(G);
    Handle h = make_at(L_HOST, G);
    map(host_vm, G, h);
    must("rights", give(host_vm, G, L_DEVICE, RW));
    must("rights", give(host_vm, G, L_HOST, RW));
    load_kernels();
    waited_at[0] = dev;
    waited_at[1] = vm;
    waited_at[2] = flag_at;
    waited_at[3] = host_vm;
    must("source", cuMemAlloc(&source, 4096));
    u64 v = 0x33333333;
    must("source", cuMemcpyHtoD(source, &v, 8));
    cuCtxSynchronize();
}

static void store_there(void *at)
{
    *(volatile u64 *)at = 0x33333333;
}

static const char *const satisfiers[SATISFIER_COUNT] = {"write32",  "write64",   "batch",   "fill",      "copy",
                                                        "from_host", "htod",     "dtod",    "kernel",    "host_store",
                                                        "host_function", "same_stream", "alias", "legacy_fill", "before"};

/* Makes the memory hold 0x33333333; false when this cannot be done with that memory. */
static bool satisfy(size_t how, size_t memory, unsigned width, CUresult *r)
{
    static u64 v = 0x33333333;
    const CUdeviceptr at = waited_at[memory];
    CUstreamBatchMemOpParams one = entry_of(width == 8 ? WRITE64 : WRITE32, at, v, 0);
    *r = CUDA_SUCCESS;
    switch (how) {
    case 0: *r = write_to(st2, at, v, 4); return width == 4;
    case 1: *r = write_to(st2, at, v, 8); return true;
    case 2: *r = batch(2, st2, 1, &one, 0); return true;
    case 3: *r = cuMemsetD32Async(at, 0x33333333, 1, st2); return true;
    case 4: *r = cuMemcpyDtoDAsync(at, source, 8, st2); return true;
    case 5: *r = cuMemcpyHtoDAsync(at, &v, 8, st2); return true;
    case 6: *r = cuMemcpyHtoD(at, &v, 8); return true;
    case 7: *r = cuMemcpyDtoD(at, source, 8); return true;
    case 8: *r = kernel_writes(st2, at); return true;
    case 9: store_there((void *)(uintptr_t)at); return true;
    case 10: *r = cuLaunchHostFunc(st2, store_there, (void *)(uintptr_t)at); return true;
    case 11: *r = cuMemsetD32Async(at, 0x33333333, 1, st); return true;
    case 12: *r = write_to(st2, vm_alias, v, width); return true;
    case 13: *r = cuMemsetD32(at, 0x33333333, 1); return true;
    default: return true;
    }
}

static bool possible(size_t how, size_t memory, unsigned width)
{
    bool host = memory >= 2;
    return !((how == 0 && width == 8) || ((how == 9 || how == 10) && !host) || (how == 12 && memory != 1));
}

static void satisfy_one(size_t i, char *id, int run)
{
    static const char *const names[WAITED_MEMORIES] = {"alloc", "mapped", "host", "host_mapped"};
    const unsigned width = i % 2 ? 8 : 4;
    const size_t memory = i / 2 % WAITED_MEMORIES, how = i / 2 / WAITED_MEMORIES;
    snprintf(id, CASE_ID, "W.%u.%s.%s", width * 8, names[memory], satisfiers[how]);
    if (!run || !possible(how, memory, width))
        return;
    const CUdeviceptr at = waited_at[memory];
    CUresult done = CUDA_SUCCESS;
    within(1500);
    set_value(at, how == 14 ? 0x33333333 : 0, 8);
    CUresult waited = wait_for(st, at, 0x33333333, width);
    const char *before = settle(st);
    satisfy(how, memory, width, &done);
    const char *other = settle(st2), *after = settle(st);
    bool stuck = strcmp(after, "WAITS") == 0;
    if (stuck) /* the fill behind the wait itself */
        write_to(st2, at, 0x33333333, width);
    const char *rescued = stuck ? settle(st) : "-";
    say(id, "%s before=%s by=%s other=%s after=%s rescued=%s", name_of(waited), before, name_of(done), other, after, rescued);
    within(0);
    if (strcmp(rescued, "WAITS") == 0)
        _exit(0);
}

/* Values that pass by: a wait polls, and may miss one that was there between. */
static void in_steps(void)
{
    start();
    R("W.steps.wait", op(&ops[1], st, flag_at, 3, GEQ));
    for (uint32_t v = 1; v < 6; v++) {
        char id[32];
        *flag = v;
        snprintf(id, sizeof id, "W.steps.%u", v);
        say(id, "%s", settle(st));
    }
    *flag = 0;
    say("W.steps.back", "%s", settle(st));
    R("W.steps.again", wait_for(st, flag_at, 7, 4));
    *flag = 6;
    say("W.steps.again.6", "%s", settle(st));
    *flag = 7;
    say("W.steps.again.7", "%s", settle(st));
}

/* Two waits of one stream, two of one address, and what is queued behind. */
static void chains(void)
{
    start();
    load_kernels();
    R("W.chain.wait1", wait_for(st, flag_at, 1, 4));
    R("W.chain.write1", write_to(st, dev, 11, 4));
    R("W.chain.wait2", wait_for(st, flag_at + 64, 1, 4));
    R("W.chain.write2", write_to(st, dev, 22, 4));
    R("W.chain.kernel", kernel_writes(st, dev + 64));
    say("W.chain.0", "%s", settle(st));
    say("W.chain.0.value", "%s", value_at(dev, 4));
    flag[16] = 1;
    SETTLE_SAY("W.chain.second_only", st, " value=%s", value_at(dev, 4));
    flag[16] = 0;
    flag[0] = 1;
    const char *then = settle(st), *v = value_at(dev, 4);
    say("W.chain.first_only", "%s value=%s kernel=%s", then, v, value_at(dev + 64, 4));
    flag[16] = 1;
    then = settle(st);
    v = value_at(dev, 4);
    say("W.chain.both", "%s value=%s kernel=%s", then, v, value_at(dev + 64, 4));
    /* a ring of two streams: each waits for what the other writes */
    *flag = 0;
    flag[16] = 0;
    R("W.ring.a.wait", wait_for(st, flag_at, 1, 4));
    R("W.ring.a.write", write_to(st, flag_at + 64, 1, 4));
    R("W.ring.b.wait", wait_for(st2, flag_at + 64, 1, 4));
    R("W.ring.b.write", write_to(st2, flag_at, 1, 4));
    const char *a = settle(st), *b = settle(st2);
    say("W.ring.then", "%s %s", a, b);
    *flag = 1;
    a = settle(st);
    b = settle(st2);
    say("W.ring.opened", "%s %s", a, b);
    /* ping-pong that ends */
    *flag = 0;
    flag[16] = 0;
    R("W.pong.a.write", write_to(st, flag_at, 1, 4));
    R("W.pong.a.wait", wait_for(st, flag_at + 64, 1, 4));
    R("W.pong.a.write2", write_to(st, flag_at, 2, 4));
    R("W.pong.b.wait", wait_for(st2, flag_at, 1, 4));
    R("W.pong.b.write", write_to(st2, flag_at + 64, 1, 4));
    R("W.pong.b.wait2", wait_for(st2, flag_at, 2, 4));
    R("W.pong.sync_b", cuStreamSynchronize(st2));
    R("W.pong.sync_a", cuStreamSynchronize(st));
    say("W.pong.values", "%u %u", flag[0], flag[16]);
}

static void group_w(void)
{
    if (is_wanted("W.satisfy"))
        run_cases(start_satisfy, (size_t)2 * WAITED_MEMORIES * SATISFIER_COUNT, satisfy_one);
    child("W.steps!", in_steps);
    child("W.chain!", chains);
}
