/* SPDX-License-Identifier: Apache-2.0 */
/* Groups Q and R: what the first recording left open. Part of ../memops.c.
 *
 *     Q.list.v2.wait32.device.0     what the call left in each word of 8 bytes of the entry: same, 0, the address, a value, other
 *     Q.two.flags+null              four writes, of which the second and the third have these mistakes
 *     R.call.own.ctx_sync           as V.call, from another context of the device, with objects of its own or of the first
 */

/* ---- what a batch leaves in its list ---- */

static const char *word_left(u64 before, u64 after, CUdeviceptr at)
{
    static char text[8][40];
    static unsigned next;
    char *b = text[next++ % 8];
    if (before == after)
        return "same";
    if (after == at)
        return "address";
    if (after < 0x100000000)
        snprintf(b, sizeof text[0], "%llx", after);
    else if (after - at < (u64)1 << 32 || at - after < (u64)1 << 32)
        snprintf(b, sizeof text[0], "at%+lld", (i64)(after - at));
    else
        snprintf(b, sizeof text[0], "other");
    return b;
}

static void show_list(const char *id, const char *results, const CUstreamBatchMemOpParams *before, unsigned count)
{
    char line[512] = "";
    for (unsigned k = 0; k < count; k++) {
        u64 old[6], left[6];
        memcpy(old, &before[k], sizeof old);
        memcpy(left, &list[k], sizeof left);
        bool changed = false;
        for (int w = 0; w < 6; w++)
            if (old[w] != left[w]) {
                snprintf(line + strlen(line), 60, " %u.%d=%s", k, w, word_left(old[w], left[w], old[1]));
                changed = true;
            }
        if (!changed)
            snprintf(line + strlen(line), 60, " %u=same", k);
    }
    say(id, "%s%s", results, line);
}

static const struct {
    const char *name;
    int operation;
    unsigned flags;
} list_entries[] = {{"wait32", WAIT32, GEQ},   {"wait32.eq", WAIT32, EQ},        {"wait32.flush", WAIT32, FLUSH}, {"write32", WRITE32, 0},
                    {"write32.no_barrier", WRITE32, 1}, {"wait64", WAIT64, GEQ}, {"write64", WRITE64, 0},        {"flush", FLUSHES, 0},
                    {"barrier", BARRIER, 0},   {"barrier.1", BARRIER, 1},        {"zero", 0, 0},                 {"unknown", 9, 0}};

enum { LIST_PLACES = 3, LIST_FILLS = 3 };

static void list_one(size_t i, char *id, int run)
{
    static const char *const places_of[LIST_PLACES] = {"device", "host", "mapped"};
    const int version = i % 2 ? 1 : 2;
    const size_t place = i / 2 % LIST_PLACES, fill_of = i / 2 / LIST_PLACES % LIST_FILLS, which = i / 2 / LIST_PLACES / LIST_FILLS;
    snprintf(id, CASE_ID, "Q.list.v%d.%s.%s.%zu", version, list_entries[which].name, places_of[place], fill_of);
    if (!run)
        return;
    const CUdeviceptr at = place == 0 ? dev : place == 1 ? flag_at + 128 : vm;
    CUstreamBatchMemOpParams before[3];
    set_value(dev, 7, 8);
    set_value(flag_at + 128, 7, 8);
    set_value(vm, 7, 8);
    /* what the caller left in the fields that the operation does not use: 0, ones, other values */
    memset(list, fill_of == 1 ? 0xff : fill_of == 2 ? 0x5a : 0, 3 * sizeof list[0]);
    for (int k = 0; k < 3; k++) {
        CUstreamBatchMemOpParams plain = k == 1 ? entry_of(list_entries[which].operation, at, 7, list_entries[which].flags)
                                                : entry_of(WRITE32, dev + 64 + 4 * (unsigned)k, 1, 0);
        if (k == 1 && (list_entries[which].operation == FLUSHES || list_entries[which].operation == BARRIER))
            memcpy((char *)&list[k], &plain, 16);
        else
            memcpy((char *)&list[k], &plain, 32);
    }
    memcpy(before, list, sizeof before);
    CUresult r = batch(version, st, 3, list, 0);
    char results[64];
    CUstreamBatchMemOpParams left[3];
    memcpy(left, list, sizeof left);
    const char *then = settle(st);
    snprintf(results, sizeof results, "%s then=%s%s", name_of(r), then, memcmp(left, list, sizeof left) ? " later" : "");
    show_list(id, results, before, 3);
    end_if_stuck(then);
}

/* ---- two mistakes in one list ---- */

static void two_one(size_t i, char *id, int run)
{
    const size_t first = 1 + i % (WRONGS - 1), second = 1 + i / (WRONGS - 1) % (WRONGS - 1);
    snprintf(id, CASE_ID, "Q.two.%s+%s", wrongs[first], wrongs[second]);
    if (!run)
        return;
    cuMemsetD8(dev, 0, 1024);
    cuCtxSynchronize();
    for (unsigned k = 0; k < 4; k++)
        list[k] = k == 1 ? wrong_entry(first) : k == 2 ? wrong_entry(second) : entry_of(WRITE32, dev + 4 * k, k + 1, 0);
    CUstreamBatchMemOpParams before[4];
    memcpy(before, list, sizeof before);
    CUresult r = batch(2, st, 4, list, 0);
    const char *then = settle(st);
    char results[96];
    snprintf(results, sizeof results, "%s then=%s arrived=%u", name_of(r), then, strcmp(then, "SUCCESS") ? 0 : arrived(dev, 4));
    show_list(id, results, before, 4);
    end_if_stuck(then);
}

/* Mistakes of the batch itself beside one in the list. */
static void both_one(size_t i, char *id, int run)
{
    static const char *const how[] = {"flags", "count", "stream", "v1"};
    const size_t wrong = i % WRONGS, of = i / WRONGS;
    snprintf(id, CASE_ID, "Q.both.%s+%s", how[of], wrongs[wrong]);
    if (!run)
        return;
    list[0] = wrong_entry(wrong);
    for (unsigned k = 1; k < 300; k++)
        list[k] = entry_of(WRITE32, dev, 1, 0);
    CUgraph graph = NULL;
    if (of == 2)
        cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_RELAXED);
    CUresult r = batch(of == 3 ? 1 : 2, st, of == 1 ? 257 : 1, list, of == 0 ? 1 : 0);
    if (of == 2)
        cuStreamEndCapture(st, &graph);
    const char *then = settle(st);
    say(id, "%s then=%s", name_of(r), then);
    end_if_stuck(then);
}

/* ---- another context, while a wait is pending ---- */

static CUcontext second_ctx;
static CUstream gated, own_st, own_st2, first_st, first_st2;
static CUdeviceptr own_dev, first_dev;
static CUmodule own_module, first_module;
static CUevent own_event, first_event;

static void start_other_context(void)
{
    start_behind();
    gated = first_st = st, first_st2 = st2, first_dev = dev, first_module = behind_module, first_event = behind_event;
    must("context", cuCtxCreate(&second_ctx, NULL, 0, 0));
    must("stream", cuStreamCreate(&own_st, CU_STREAM_NON_BLOCKING));
    must("stream", cuStreamCreate(&own_st2, CU_STREAM_NON_BLOCKING));
    must("device memory", cuMemAlloc(&own_dev, DEV_SIZE));
    cuEventCreate(&own_event, 0);
    must("module", cuModuleLoadData(&own_module, ptx));
    CUfunction writes = NULL;
    cuModuleGetFunction(&writes, own_module, "writes");
    now.writes = writes;
    cuCtxSynchronize();
    cuCtxSetCurrent(primary[0]);
}

static void other_context_one(size_t i, char *id, int run)
{
    const size_t which = i / 2;
    const bool own = i % 2 == 0;
    snprintf(id, CASE_ID, "R.call.%s.%s", own ? "own" : "first", behind_calls[which]);
    if (!run || !is_wanted(id))
        return;
    st = own ? own_st : first_st, st2 = own ? own_st2 : first_st2, dev = own ? own_dev : first_dev;
    behind_module = own ? own_module : first_module, behind_event = own ? own_event : first_event;
    *flag = 0;
    CUresult waited = wait_for(gated, flag_at, 1, 4);
    const char *pending = settle(gated);
    cuCtxSetCurrent(second_ctx);
    CUresult recorded = cuEventRecord(behind_event, st);
    const char *answer_of = call_aside(behind_call, which);
    bool ends = which == 7;
    for (size_t k = 0; k < COUNT(last_of_process); k++)
        ends |= last_of_process[k] == which;
    if (ends) {
        say(id, "%s %s %s %s", name_of(waited), name_of(recorded), pending, answer_of);
        _exit(0);
    }
    open_gate();
    const char *after = settle(gated);
    cuCtxSetCurrent(primary[0]);
    say(id, "%s %s %s %s after=%s context=%s", name_of(waited), name_of(recorded), pending, answer_of, after,
        name_of(cuCtxSynchronize()));
    cuCtxSetCurrent(second_ctx);
    cuCtxSynchronize();
    cuCtxSetCurrent(primary[0]);
}

static void start_lists(void)
{
    start_vmm();
}

static void group_q(void)
{
    if (!is_wanted("Q.list"))
        return;
    run_cases(start_lists, COUNT(list_entries) * LIST_PLACES * LIST_FILLS * 2, list_one);
    run_cases(start_batches, (size_t)(WRONGS - 1) * (WRONGS - 1), two_one);
    run_cases(start_batches, (size_t)4 * WRONGS, both_one);
}

static void group_r(void)
{
    if (is_wanted("R.call"))
        run_cases(start_other_context, COUNT(behind_calls) * 2, other_context_one);
}
