/* SPDX-License-Identifier: Apache-2.0 */
/* Groups N and O: without a context, before cuInit; and two mistakes at once. Part of ../memops.c. */

/* ---- before cuInit ---- */

static void before_init(void)
{
    char id[CASE_ID];
    for (size_t i = 0; i < ALL_OPS; i++) {
        snprintf(id, sizeof id, "N.before.%s", ops[i].name);
        R(id, op(&ops[i], NULL, 0, 0, 0));
        snprintf(id, sizeof id, "N.before.%s.stream", ops[i].name);
        R(id, op(&ops[i], CU_STREAM_PER_THREAD, 4096, 0, 0xff));
    }
    R("N.before.batch", batch(2, NULL, 0, NULL, 0));
    R("N.before.batch.v1", batch(1, NULL, 0, NULL, 0));
    R("N.before.batch.flags", batch(2, NULL, 1, NULL, 7));
}

static void no_context(void)
{
    char id[CASE_ID];
    cuInit(0);
    for (size_t i = 0; i < ALL_OPS; i++) {
        snprintf(id, sizeof id, "N.never.%s", ops[i].name);
        R(id, op(&ops[i], NULL, 0, 0, 0));
        snprintf(id, sizeof id, "N.never.%s.flags", ops[i].name);
        R(id, op(&ops[i], NULL, 4096, 0, 0xff));
        snprintf(id, sizeof id, "N.never.%s.per_thread", ops[i].name);
        R(id, op(&ops[i], CU_STREAM_PER_THREAD, 4096, 0, 0));
    }
    R("N.never.batch", batch(2, NULL, 0, NULL, 0));
    R("N.never.batch.v1", batch(1, NULL, 0, NULL, 0));
    R("N.never.batch.flags", batch(2, NULL, 1, NULL, 7));
}

/* ---- two mistakes ---- */

enum { STREAM_MISTAKES = 4, ADDRESS_MISTAKES = 7, FLAG_MISTAKES = 2 };

static void start_mistakes(void)
{
    start_vmm();
    must("rights", give(vm, G, L_DEVICE, NONE));
}

static void mistake_one(size_t i, char *id, int run)
{
    static const char *const streams[STREAM_MISTAKES] = {"good", "capturing", "no_context", "in_capture"};
    static const char *const places_of[ADDRESS_MISTAKES] = {"good", "null", "unaligned", "unmapped", "no_rights", "plain", "plain_unaligned"};
    static uint32_t plain[4] __attribute__((aligned(16)));
    const CUdeviceptr at_of[ADDRESS_MISTAKES] = {dev, 0, dev + 2, vm + G, vm, (CUdeviceptr)(uintptr_t)plain, (CUdeviceptr)(uintptr_t)plain + 2};
    const struct op *o = &ops[i % NEW_OPS];
    const size_t f = i / NEW_OPS % FLAG_MISTAKES, a = i / NEW_OPS / FLAG_MISTAKES % ADDRESS_MISTAKES,
                 s = i / NEW_OPS / FLAG_MISTAKES / ADDRESS_MISTAKES;
    snprintf(id, CASE_ID, "O.%s.%s.%s.%s", o->name, streams[s], places_of[a], f ? "bad_flags" : "good_flags");
    if (!run)
        return;
    CUgraph graph = NULL;
    CUstream with = s == 2 ? NULL : st;
    if (s == 1)
        cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (s == 3) { /* a capture of another stream, in global mode */
        cuStreamBeginCapture(st2, CU_STREAM_CAPTURE_MODE_GLOBAL);
        with = NULL;
    }
    if (s == 2)
        cuCtxSetCurrent(NULL);
    CUresult r = op(o, with, at_of[a], 0, f ? 0x100 : o->waits ? NOR : 0);
    cuCtxSetCurrent(primary[0]);
    if (s == 1)
        cuStreamEndCapture(st, &graph);
    if (s == 3)
        cuStreamEndCapture(st2, &graph);
    say(id, "%s then=%s", name_of(r), settle(st));
}

static void group_n(void)
{
    child("N.before!", before_init);
    child("N.never!", no_context);
}

static void group_o(void)
{
    if (is_wanted("O.mistakes"))
        run_cases(start_mistakes, (size_t)NEW_OPS * FLAG_MISTAKES * ADDRESS_MISTAKES * STREAM_MISTAKES, mistake_one);
}
