/* SPDX-License-Identifier: Apache-2.0 */
/* Group K: the calls while a stream is captured: on that stream, and on others. Part of ../memops.c. */

enum { CAPTURE_CALLS = ALL_OPS + 8, CAPTURE_PLACES = 5 };
static const char *const capture_places[CAPTURE_PLACES] = {"same", "other", "null", "per_thread", "blocking"};
static CUstream k_blocking;

static void start_captures(void)
{
    start();
    must("stream", cuStreamCreate(&k_blocking, 0));
}

/* The calls, and some with a mistake: what comes first, the capture or the mistake? */
static CUresult captured_call(size_t which, CUstream s, char *name, size_t room)
{
    CUstreamBatchMemOpParams one = entry_of(WRITE32, dev, 1, 0), bad = entry_of(99, dev, 1, 0);
    if (which < ALL_OPS) {
        snprintf(name, room, "%s", ops[which].name);
        return s == (CUstream)-1 ? CUDA_SUCCESS : op(&ops[which], s, dev, 0, ops[which].waits ? NOR : 0);
    }
    static const char *const names[] = {"batch", "batch.v1", "batch_empty", "batch_bad", "unaligned", "null_address", "flags", "batch_flags"};
    which -= ALL_OPS;
    snprintf(name, room, "%s", names[which]);
    if (s == (CUstream)-1)
        return CUDA_SUCCESS;
    switch (which) {
    case 0: return batch(2, s, 1, &one, 0);
    case 1: return batch(1, s, 1, &one, 0);
    case 2: return batch(2, s, 0, &one, 0);
    case 3: return batch(2, s, 1, &bad, 0);
    case 4: return write_to(s, dev + 1, 0, 4);
    case 5: return write_to(s, 0, 0, 4);
    case 6: return op(&ops[1], s, dev, 0, 0x10);
    default: return batch(2, s, 1, &one, 1);
    }
}

/* The graph's nodes and the type of the first; only with a library that has graphs. */
static void nodes_of(const char *id, CUgraph graph)
{
    typedef CUresult (*nodes_call)(CUgraph, void **, size_t *);
    typedef CUresult (*type_call)(void *, int *);
    nodes_call nodes = NULL;
    type_call type_of = NULL;
    void *found = symbol_of("cuGraphGetNodes"), *found_type = symbol_of("cuGraphNodeGetType"), *list_of[8] = {NULL};
    memcpy(&nodes, &found, sizeof nodes);
    memcpy(&type_of, &found_type, sizeof type_of);
    size_t count = COUNT(list_of);
    int type = -1;
    CUresult r = graph ? nodes(graph, list_of, &count) : CUDA_ERROR_INVALID_VALUE;
    CUresult t = !r && count ? type_of(list_of[0], &type) : CUDA_ERROR_INVALID_VALUE;
    say(id, "%s count=%d %s type=%d", name_of(r), r ? -1 : (int)count, name_of(t), type);
}

static void capture_one(size_t i, char *id, int run)
{
    const size_t which = i % CAPTURE_CALLS, at = i / CAPTURE_CALLS % CAPTURE_PLACES, mode = i / CAPTURE_CALLS / CAPTURE_PLACES;
    static const char *const modes[] = {"global", "thread_local", "relaxed"};
    char name[32], nodes[CASE_ID + 8];
    CUgraph graph = NULL;
    captured_call(which, (CUstream)-1, name, sizeof name);
    snprintf(id, CASE_ID, "K.%s.%s.%s", modes[mode], capture_places[at], name);
    if (!run)
        return;
    CUstream s = at == 0 ? st : at == 1 ? st2 : at == 2 ? NULL : at == 3 ? CU_STREAM_PER_THREAD : k_blocking;
    CUresult begun = cuStreamBeginCapture(st, (CUstreamCaptureMode)mode);
    CUresult r = captured_call(which, s, name, sizeof name);
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    cuStreamIsCapturing(st, &status);
    CUresult ended = cuStreamEndCapture(st, &graph);
    say(id, "begun=%s %s status=%d ended=%s graph=%d then=%s", name_of(begun), name_of(r), (int)status, name_of(ended), graph != NULL,
        name_of(cuCtxSynchronize()));
    if (at == 0) {
        snprintf(nodes, sizeof nodes, "K.nodes.%s", id + 2);
        nodes_of(nodes, graph);
    }
}

static void group_k(void)
{
    if (is_wanted("K.capture"))
        run_cases(start_captures, (size_t)3 * CAPTURE_PLACES * CAPTURE_CALLS, capture_one);
}
