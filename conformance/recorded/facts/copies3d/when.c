/* SPDX-License-Identifier: Apache-2.0 */
/* Group W: NULL, before cuInit, without a context, during captures, inside host functions, streams, and overlapping boxes. Part of
 * ../copies3d.c, which includes it. */

static void w_nulls(void)
{
    init();
    R("W.null.sync", cuMemcpy3D(NULL));
}

static void w_null_async(void)
{
    init();
    R("W.null.async", cuMemcpy3DAsync(NULL, NULL));
}

static void w_null_peer(void)
{
    init();
    R("W.null.peer", cuMemcpy3DPeer(NULL));
}

static void w_null_peerasync(void)
{
    init();
    R("W.null.peerasync", cuMemcpy3DPeerAsync(NULL, NULL));
}

static void w_before_init(void)
{
    CUDA_MEMCPY3D c = plain_box();
    CUDA_MEMCPY3D_PEER p = as_peer(&c);
    R("W.noinit.sync", cuMemcpy3D(&c));
    R("W.noinit.async", cuMemcpy3DAsync(&c, NULL));
    R("W.noinit.peer", cuMemcpy3DPeer(&p));
    R("W.noinit.peerasync", cuMemcpy3DPeerAsync(&p, NULL));
    R("W.noinit.null", cuMemcpy3D(NULL));
    R("W.noinit.batch", cuMemcpyBatchAsync(NULL, NULL, NULL, 0, NULL, NULL, 0, NULL));
    R("W.noinit.batch3d", cuMemcpy3DBatchAsync(0, NULL, 0, NULL));
}

static void w_no_context(void)
{
    start_places();
    CUDA_MEMCPY3D c = good_box(), type = c, none = c, pitch = c;
    type.srcMemoryType = (CUmemorytype)9;
    none.WidthInBytes = 0;
    pitch.srcPitch = 1;
    CUDA_MEMCPY3D_PEER p = as_peer(&c);
    cuCtxSetCurrent(NULL);
    R("W.noctx.sync", cuMemcpy3D(&c));
    R("W.noctx.async", cuMemcpy3DAsync(&c, NULL));
    R("W.noctx.peer", cuMemcpy3DPeer(&p));
    R("W.noctx.peerasync", cuMemcpy3DPeerAsync(&p, NULL));
    R("W.noctx.bad_type", cuMemcpy3D(&type));
    R("W.noctx.no_width", cuMemcpy3D(&none));
    R("W.noctx.bad_pitch", cuMemcpy3D(&pitch));
    p.WidthInBytes = 0;
    R("W.noctx.peer_no_width", cuMemcpy3DPeer(&p));
}

static void w_captured(void)
{
    start_places();
    CUDA_MEMCPY3D c = good_box(), type = c, none = c;
    CUstream stream;
    CUgraph graph;
    type.srcMemoryType = (CUmemorytype)9;
    none.WidthInBytes = 0;
    CUDA_MEMCPY3D_PEER p = as_peer(&c);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    static const struct {
        const char *name;
        int mode;
    } modes[] = {{"global", CU_STREAM_CAPTURE_MODE_GLOBAL}, {"local", CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
                 {"relaxed", CU_STREAM_CAPTURE_MODE_RELAXED}};
    for (size_t m = 0; m < COUNT(modes); m++)
        for (int call = 0; call < 8; call++) {
            static const char *const calls[] = {"sync", "sync_no_width", "sync_bad_type", "async", "async_no_width",
                                                "async_bad_type", "peer", "peerasync"};
            char id[CASE_ID];
            cuStreamBeginCapture(stream, (CUstreamCaptureMode)modes[m].mode);
            CUresult r = call == 0 ? cuMemcpy3D(&c) : call == 1 ? cuMemcpy3D(&none) : call == 2 ? cuMemcpy3D(&type)
                       : call == 3 ? cuMemcpy3DAsync(&c, stream) : call == 4 ? cuMemcpy3DAsync(&none, stream)
                       : call == 5 ? cuMemcpy3DAsync(&type, stream)
                       : call == 6 ? cuMemcpy3DPeer(&p) : cuMemcpy3DPeerAsync(&p, stream);
            snprintf(id, sizeof id, "W.capture.%s.%s", modes[m].name, calls[call]);
            say(id, "%s end=%s", name_of(r), name_of(cuStreamEndCapture(stream, &graph)));
        }
}

static CUresult inside[4];

static void CUDA_CB in_host_function(void *data)
{
    const CUDA_MEMCPY3D *c = data;
    for (int call = 0; call < CALLS3; call++)
        inside[call] = call_box((enum call3)call, c);
}

static void w_host_function(void)
{
    start_places();
    CUDA_MEMCPY3D c = good_box();
    CUstream stream;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    R("W.inside.launch", cuLaunchHostFunc(stream, in_host_function, &c));
    R("W.inside.sync", cuStreamSynchronize(stream));
    say("W.inside", "%s %s %s %s", name_of(inside[0]), name_of(inside[1]), name_of(inside[2]), name_of(inside[3]));
}

/* A stream of another context, and streams of other kinds. */
static void w_streams(void)
{
    start_places();
    CUDA_MEMCPY3D c = good_box();
    CUDA_MEMCPY3D_PEER p = as_peer(&c);
    CUstream mine = NULL, other = NULL;
    CUcontext ctx = NULL;
    use(&from[MAPPED]);
    cuStreamCreate(&mine, CU_STREAM_NON_BLOCKING);
#if CUDA_VERSION >= 13000
    cuCtxCreate(&ctx, NULL, 0, 0);
#else
    cuCtxCreate(&ctx, 0, 0);
#endif
    cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
    cuCtxSetCurrent(primary[0]);
    R("W.stream.mine", cuMemcpy3DAsync(&c, mine));
    R("W.stream.other", cuMemcpy3DAsync(&c, other));
    R("W.stream.legacy", cuMemcpy3DAsync(&c, CU_STREAM_LEGACY));
    R("W.stream.per_thread", cuMemcpy3DAsync(&c, CU_STREAM_PER_THREAD));
    R("W.stream.peer_other", cuMemcpy3DPeerAsync(&p, other));
    R("W.stream.peer_mine", cuMemcpy3DPeerAsync(&p, mine));
    cuCtxSetCurrent(NULL);
    R("W.stream.noctx_mine", cuMemcpy3DAsync(&c, mine));
    R("W.stream.noctx_peer_mine", cuMemcpy3DPeerAsync(&p, mine));
    cuCtxSetCurrent(primary[0]);
    R("W.stream.sync", cuCtxSynchronize());
}

/* Boxes in one place: source and destination interleaved, or overlapping. Overlapping bytes that move are a race. */
static void overlap_case(size_t i, char *id, int run)
{
    static const struct {
        const char *name;
        u64 src, dst, pitch, layer, width, height, depth;
        bool race;
    } overlaps[] = {
        {"same", 0, 0, 256, 8, 64, 4, 2, false},          {"columns", 0, 64, 256, 8, 64, 8, 2, false},
        {"columns_back", 64, 0, 256, 8, 64, 8, 2, false}, {"one_byte_on", 0, 1, 256, 8, 64, 8, 2, true},
        {"rows", 0, 1024, 256, 8, 64, 4, 2, false},       {"one_row_on", 0, 256, 256, 8, 64, 8, 2, true},
        {"layers", 0, 4096, 256, 32, 64, 8, 2, false},    {"one_layer_on", 0, 2048, 256, 8, 64, 8, 2, true},
        {"touching", 0, 2048, 64, 8, 64, 8, 2, true},     {"tight", 0, 1024, 64, 8, 64, 8, 2, false},
    };
    static const char *const sides[] = {"device", "unified", "host", "async", "peer"};
    size_t kind = digit(&i, COUNT(sides));
    snprintf(id, CASE_ID, "W.overlap.%s.%s", sides[kind], overlaps[i].name);
    if (!run)
        return;
    struct place *place = &to[kind == 2 ? MALLOC : MAPPED];
    const enum declared declared = kind == 2 ? D_HOST : kind == 1 ? D_UNIFIED : D_DEVICE;
    struct place source = *place, destination = *place;
    source.at += overlaps[i].src;
    destination.at += overlaps[i].dst;
    CUDA_MEMCPY3D c = {.srcPitch = overlaps[i].pitch, .dstPitch = overlaps[i].pitch, .srcHeight = overlaps[i].layer,
                       .dstHeight = overlaps[i].layer, .WidthInBytes = overlaps[i].width, .Height = overlaps[i].height,
                       .Depth = overlaps[i].depth};
    box_from(&c, &source, declared);
    box_to(&c, &destination, declared);
    put(place, pattern, G);
    memcpy(expected, pattern, G);
    expected_end = G;
    for (u64 z = 0; z < c.Depth; z++)
        for (u64 y = 0; y < c.Height; y++) {
            u64 line = (z * c.srcHeight + y) * c.srcPitch;
            memcpy(expected + overlaps[i].dst + line, pattern + overlaps[i].src + line, c.WidthInBytes);
        }
    CUresult r = call_box(kind == 3 ? ASYNC3 : kind == 4 ? PEER3 : SYNC3, &c);
    CUresult sync = cuCtxSynchronize();
    const unsigned char *bytes = look(place);
    say(id, "%s sync=%s %s", name_of(r), name_of(sync),
        overlaps[i].race ? "shared bytes" : !bytes || memcmp(bytes, expected, G) ? "other bytes" : "right");
}

static void group_w(void)
{
    child("W.null.sync!", w_nulls);
    child("W.null.async!", w_null_async);
    child("W.null.peer!", w_null_peer);
    child("W.null.peerasync!", w_null_peerasync);
    child("W.noinit!", w_before_init);
    child("W.noctx!", w_no_context);
    child("W.capture!", w_captured);
    child("W.inside!", w_host_function);
    child("W.stream!", w_streams);
    if (is_wanted("W"))
        run_cases(start_places, (size_t)5 * 10, overlap_case);
}
