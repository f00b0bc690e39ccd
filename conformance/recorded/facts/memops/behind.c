/* SPDX-License-Identifier: Apache-2.0 */
/* Group V: calls while a wait is pending. Part of ../memops.c.
 *
 *     V.call.ctx_sync     its answer; BLOCKS when it returns only after the wait is satisfied
 *     V.event...          what an event behind a wait reports
 */

static CUevent behind_event;
static Handle spare;
static CUdeviceptr spare_at;
static CUmodule behind_module;

static const char *const behind_calls[] = {
    "stream_sync", "event_sync",     "ctx_sync",     "ctx_destroy",    "primary_reset", "primary_release", "stream_destroy",
    "event_destroy", "mem_free",     "mem_alloc",    "host_alloc",     "free_host",     "dtoh",            "htod",
    "memset",      "memset_null",    "module_unload", "module_load",   "unmap_other",   "set_access",      "create",
    "release",     "reserve",        "map",          "register",       "launch_null",   "launch_other",    "get_info",
    "stream_create", "ctx_create",   "per_thread_sync", "blocking_sync", "null_sync",   "pointer_attribute", "set_access_same",
    "unmap_waited", "dtoh_small",    "dtod",         "host_func_same", "host_func_other"};

static void nothing_to_do(void *unused)
{
    (void)unused;
}

static CUresult behind_call(size_t which)
{
    CUdeviceptr p = 0;
    CUcontext ctx = NULL;
    CUstream s = NULL;
    void *host = NULL;
    size_t a = 0, b = 0;
    unsigned type = 0;
    static unsigned char pages[16384] __attribute__((aligned(4096)));
    static unsigned char bytes[1 << 20];
    switch (which) {
    case 0: return cuStreamSynchronize(st);
    case 1: return cuEventSynchronize(behind_event);
    case 2: return cuCtxSynchronize();
    case 3:
        cuCtxGetCurrent(&ctx);
        return cuCtxDestroy(ctx);
    case 4: return cuDevicePrimaryCtxReset(0);
    case 5: return cuDevicePrimaryCtxRelease(0);
    case 6: return cuStreamDestroy(st);
    case 7: return cuEventDestroy(behind_event);
    case 8: return cuMemFree(dev);
    case 9: return cuMemAlloc(&p, 1 << 20);
    case 10: return cuMemHostAlloc(&host, 1 << 20, 0);
    case 11: return cuMemFreeHost((void *)(uintptr_t)flag_at);
    case 12: return cuMemcpyDtoH(bytes, dev, 65536);
    case 13: return cuMemcpyHtoD(dev, bytes, 65536);
    case 14: return cuMemsetD8(dev, 1, 65536);
    case 15: return cuMemsetD8Async(dev, 1, 65536, NULL);
    case 16: return cuModuleUnload(behind_module);
    case 17: return cuModuleLoadData(&behind_module, ptx);
    case 18: return cuMemUnmap(spare_at, G);
    case 19: return give(spare_at, G, L_DEVICE, READ);
    case 20: return cuMemRelease(make(G));
    case 21: return cuMemRelease(spare);
    case 22: return cuMemAddressReserve(&p, G, 0, 0, 0);
    case 23: return cuMemMap(spare_at + G, G, 0, spare, 0);
    case 24: return cuMemHostRegister(pages, sizeof pages, 0);
    case 25: return kernel_writes(NULL, dev + 1024);
    case 26: return kernel_writes(st2, dev + 1024);
    case 27: return cuMemGetInfo(&a, &b);
    case 28: return cuStreamCreate(&s, 0);
    case 29: return cuCtxCreate(&ctx, NULL, 0, 0);
    case 30: return cuStreamSynchronize(CU_STREAM_PER_THREAD);
    case 31:
        cuStreamCreate(&s, 0);
        return cuStreamSynchronize(s);
    case 32: return cuStreamSynchronize(NULL);
    case 33: return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, dev);
    case 34: return give(vm, G, L_DEVICE, RW);
    case 35: return cuMemUnmap(vm, G);
    case 36: return cuMemcpyDtoH(bytes, dev, 4);
    case 37: return cuMemcpyDtoD(dev, dev + 4096, 64);
    case 38: return cuLaunchHostFunc(st, nothing_to_do, NULL);
    default: return cuLaunchHostFunc(st2, nothing_to_do, NULL);
    }
}

static const size_t last_of_process[] = {3, 4, 5, 6, 8, 11, 16, 18, 21, 23, 35}; /* calls that take what later ones need */

static void start_behind(void)
{
    start_vmm();
    load_kernels();
    behind_module = now.module;
    spare_at = reserve(2 * G);
    spare = make(G);
    map(spare_at, G, spare);
    give(spare_at, G, L_DEVICE, RW);
    cuEventCreate(&behind_event, 0);
}

static void behind_one(size_t i, char *id, int run)
{
    snprintf(id, CASE_ID, "V.call.%s", behind_calls[i]);
    if (!run)
        return;
    CUcontext ctx = NULL;
    if (i == 3) {
        must("context", cuCtxCreate(&ctx, NULL, 0, 0));
        must("stream", cuStreamCreate(&st, CU_STREAM_NON_BLOCKING));
        cuEventCreate(&behind_event, 0);
    }
    if (i == 7)
        cuEventCreate(&behind_event, 0);
    *flag = 0;
    CUresult waited = wait_for(st, flag_at, 1, 4), recorded = cuEventRecord(behind_event, st);
    const char *pending = settle(st), *answer_of = call_aside(behind_call, i);
    bool ends = i == 7;
    for (size_t k = 0; k < COUNT(last_of_process); k++)
        ends |= last_of_process[k] == i;
    if (i == 11 || i == 4 || i == 5) { /* the flag may be gone */
        say(id, "%s %s %s %s", name_of(waited), name_of(recorded), pending, answer_of);
        _exit(0);
    }
    open_gate();
    const char *after = i == 6 || i == 3 ? "-" : settle(st);
    CUresult event = i == 7 || i == 3 ? CUDA_SUCCESS : cuEventSynchronize(behind_event);
    if (i == 3)
        cuCtxSetCurrent(primary[0]);
    say(id, "%s %s %s %s after=%s event=%s context=%s", name_of(waited), name_of(recorded), pending, answer_of, after,
        name_of(event), name_of(cuCtxSynchronize()));
    if (ends)
        _exit(0);
}

static void events_behind(void)
{
    CUevent before = NULL, after = NULL, other = NULL;
    start();
    within(2500);
    cuEventCreate(&before, 0);
    cuEventCreate(&after, 0);
    cuEventCreate(&other, 0);
    R("V.event.before", cuEventRecord(before, st));
    R("V.event.wait", wait_for(st, flag_at, 1, 4));
    R("V.event.after", cuEventRecord(after, st));
    R("V.event.stream_wait", cuStreamWaitEvent(st2, after, 0));
    R("V.event.write", write_to(st2, dev, 9, 4));
    R("V.event.other", cuEventRecord(other, st2));
    const char *a = settle(st), *b = settle(st2);
    say("V.event.pending", "%s %s before=%s after=%s other=%s value=%s", a, b, name_of(cuEventQuery(before)),
        name_of(cuEventQuery(after)), name_of(cuEventQuery(other)), value_at(dev, 4));
    R("V.event.sync_before", cuEventSynchronize(before));
    *flag = 1;
    a = settle(st);
    b = settle(st2);
    say("V.event.opened", "%s %s before=%s after=%s other=%s value=%s", a, b, name_of(cuEventQuery(before)),
        name_of(cuEventQuery(after)), name_of(cuEventQuery(other)), value_at(dev, 4));
    R("V.event.sync_other", cuEventSynchronize(other));
}

/* The writing stream comes after the waiting one by an event: nothing can ever satisfy the wait. */
static void cycle_by_event(void)
{
    CUevent e = NULL;
    start();
    within(1000);
    cuEventCreate(&e, 0);
    R("V.cycle.wait", wait_for(st, flag_at, 1, 4));
    R("V.cycle.event", cuEventRecord(e, st));
    R("V.cycle.stream_wait", cuStreamWaitEvent(st2, e, 0));
    R("V.cycle.write", write_to(st2, flag_at, 1, 4));
    const char *a = settle(st), *b = settle(st2);
    say("V.cycle.then", "%s %s", a, b);
    R("V.cycle.sync", cuStreamSynchronize(st2));
}

/* How a process ends with a pending wait. */
static void ends(void)
{
    start();
    R("V.exit.wait", wait_for(st, flag_at, 1, 4));
    within(3000);
    fflush(stdout);
    exit(0);
}

/* ---- inside a host function ---- */

static CUresult inside_answers[12];

static void inside_host(void *unused)
{
    (void)unused;
    CUstreamBatchMemOpParams one = entry_of(WRITE32, dev + 64, 3, 0), bad = entry_of(99, dev, 0, 0);
    size_t n = 0;
    inside_answers[n++] = write_to(st, dev, 1, 4);
    inside_answers[n++] = write_to(st2, dev + 8, 2, 8);
    inside_answers[n++] = wait_for(st, dev, 1, 4);
    inside_answers[n++] = wait_for(st2, dev + 8, 2, 8);
    inside_answers[n++] = batch(2, st2, 1, &one, 0);
    inside_answers[n++] = batch(2, st2, 0, &one, 0);
    inside_answers[n++] = batch(1, st2, 1, &one, 0);
    inside_answers[n++] = op(&ops[4], st2, dev, 1, 0);
    inside_answers[n++] = write_to(st2, dev + 1, 1, 4);
    inside_answers[n++] = op(&ops[0], st2, dev, 1, 0x10);
    inside_answers[n++] = batch(2, st2, 1, &bad, 0);
    inside_answers[n++] = write_to(NULL, dev + 128, 5, 4);
}

static void calls_inside(void)
{
    static const char *const names[] = {"write32.same", "write64", "wait32.same", "wait64", "batch", "batch_empty",
                                        "batch.v1", "write32.v1", "unaligned", "flags", "batch_bad", "null_stream"};
    char id[CASE_ID];
    start();
    within(2500);
    R("V.inside", cuLaunchHostFunc(st, inside_host, NULL));
    const char *a = settle(st), *b = settle(st2), *v = value_at(dev, 4);
    say("V.inside.then", "%s %s %s %s", a, b, v, value_at(dev + 8, 8));
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(id, sizeof id, "V.inside.%s", names[i]);
        R(id, inside_answers[i]);
    }
    say("V.inside.values", "%s %s", value_at(dev + 64, 4), value_at(dev + 128, 4));
}

static void group_v(void)
{
    child("V.inside!", calls_inside);
    if (is_wanted("V.call"))
        run_cases(start_behind, COUNT(behind_calls), behind_one);
    child("V.event!", events_behind);
    child("V.cycle!", cycle_by_event);
    child("V.exit!", ends);
}
