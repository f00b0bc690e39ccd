/* SPDX-License-Identifier: Apache-2.0 */
/* Group S: the stream argument. Part of ../memops.c. */

enum { STREAM_KINDS = 12 };
static const char *const stream_kinds[STREAM_KINDS] = {
    "null",          "legacy",      "per_thread",     "blocking",        "non_blocking", "other_context",
    "other_current", "destroyed",   "forged",         "no_context_null", "no_context_stream", "no_context_per_thread"};
static size_t stream_case;

static void stream_body(void)
{
    static unsigned char nothing_there[4096];
    static const char *const forms[] = {"_v2", "", "_v2_ptsz", "_ptsz"};
    char id[CASE_ID], symbol[64];
    CUstream s = NULL, other_stream = NULL;
    CUcontext other = NULL;
    start();
    within(1500);
    must("context", cuCtxCreate(&other, NULL, 0, 0));
    must("stream", cuStreamCreate(&other_stream, CU_STREAM_NON_BLOCKING));
    cuCtxSetCurrent(primary[0]);
    switch (stream_case) {
    case 1: s = CU_STREAM_LEGACY; break;
    case 2:
    case 11: s = CU_STREAM_PER_THREAD; break;
    case 3: cuStreamCreate(&s, 0); break;
    case 4:
    case 10: s = st; break;
    case 5:
    case 6: s = other_stream; break;
    case 7:
        cuStreamCreate(&s, 0);
        cuStreamDestroy(s);
        break;
    case 8: s = (CUstream)(void *)nothing_there; break;
    default: break;
    }
    if (stream_case == 6)
        cuCtxSetCurrent(other);
    if (stream_case >= 9)
        cuCtxSetCurrent(NULL);
    for (size_t f = 0; f < COUNT(forms); f++) {
        uint32_t value = (uint32_t)(100 + f);
        snprintf(symbol, sizeof symbol, "cuStreamWriteValue32%s", forms[f]);
        snprintf(id, sizeof id, "S.%s.write%s", stream_kinds[stream_case], forms[f]);
        R(id, value_call(symbol, 4, s, flag_at, value, 0));
        snprintf(symbol, sizeof symbol, "cuStreamWaitValue32%s", forms[f]);
        snprintf(id, sizeof id, "S.%s.wait%s", stream_kinds[stream_case], forms[f]);
        R(id, value_call(symbol, 4, s, flag_at, value, EQ));
        batch_call b = NULL;
        CUstreamBatchMemOpParams one = entry_of(WRITE32, flag_at + 4, value, 0);
        snprintf(symbol, sizeof symbol, "cuStreamBatchMemOp%s", forms[f]);
        void *found = symbol_of(symbol);
        memcpy(&b, &found, sizeof b);
        snprintf(id, sizeof id, "S.%s.batch%s", stream_kinds[stream_case], forms[f]);
        R(id, b(s, 1, &one, 0));
        CUcontext now_current = NULL;
        cuCtxGetCurrent(&now_current);
        cuCtxSetCurrent(primary[0]);
        CUresult sync = cuCtxSynchronize();
        cuCtxSetCurrent(other);
        CUresult sync_other = cuCtxSynchronize();
        cuCtxSetCurrent(now_current);
        snprintf(id, sizeof id, "S.%s.then%s", stream_kinds[stream_case], forms[f]);
        say(id, "%s %s %u %u", name_of(sync), name_of(sync_other), flag[0], flag[1]);
    }
}

/* Which streams a pending wait holds up. */
static const char *const held_kinds[] = {"null", "legacy", "per_thread", "blocking", "non_blocking"};

static CUstream held_stream(size_t kind)
{
    CUstream s = NULL;
    switch (kind) {
    case 1: return CU_STREAM_LEGACY;
    case 2: return CU_STREAM_PER_THREAD;
    case 3: cuStreamCreate(&s, 0); return s;
    case 4: return st;
    default: return NULL;
    }
}

static void held_body(void)
{
    char id[CASE_ID];
    CUstream blocking = NULL;
    start();
    must("stream", cuStreamCreate(&blocking, 0));
    within(2000);
    CUstream s = held_stream(stream_case);
    snprintf(id, sizeof id, "S.held.%s", held_kinds[stream_case]);
    R(id, wait_for(s, flag_at, 1, 4));
    CUstream others[] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, blocking, st2};
    for (size_t i = 0; i < COUNT(others); i++) {
        snprintf(id, sizeof id, "S.held.%s.by.%s", held_kinds[stream_case], held_kinds[i]);
        CUresult idle = cuStreamQuery(others[i]);
        CUresult issued = cuMemsetD8Async(dev, 1, 16, others[i]);
        say(id, "idle=%s issued=%s then=%s", name_of(idle), name_of(issued), settle(others[i]));
    }
    *flag = 1;
    snprintf(id, sizeof id, "S.held.%s.opened", held_kinds[stream_case]);
    SETTLE_SAY(id, s, " context=%s", name_of(cuCtxSynchronize()));
}

static void group_s(void)
{
    char id[CASE_ID];
    for (stream_case = 0; stream_case < STREAM_KINDS; stream_case++) {
        snprintf(id, sizeof id, "S.%s!", stream_kinds[stream_case]);
        child(id, stream_body);
    }
    for (stream_case = 0; stream_case < COUNT(held_kinds); stream_case++) {
        snprintf(id, sizeof id, "S.held.%s!", held_kinds[stream_case]);
        child(id, held_body);
    }
}
