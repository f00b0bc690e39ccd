/* SPDX-License-Identifier: Apache-2.0 */
/* Group W: copies of rows at times when they are not allowed, and rows that share bytes. Part of ../copies.c, which includes
 * it. */

static CUDA_MEMCPY2D good_copy(void)
{
    CUDA_MEMCPY2D c = {.srcPitch = 256, .dstPitch = 256, .WidthInBytes = 64, .Height = 3};
    declare_from(&c, &from[MAPPED], D_DEVICE);
    declare_to(&c, &to[MAPPED], D_DEVICE);
    return c;
}

static void w_null(void)
{
    start_places();
    R("W.null.sync", cuMemcpy2D(NULL));
}

static void w_null_async(void)
{
    start_places();
    R("W.null.async", cuMemcpy2DAsync(NULL, NULL));
}

static void w_before_init(void)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .WidthInBytes = 1,
                       .Height = 1};
    R("W.noinit.sync", cuMemcpy2D(&c));
    R("W.noinit.async", cuMemcpy2DAsync(&c, NULL));
    R("W.noinit.fill8", cuMemsetD2D8(0, 0, 0, 0, 0));
    c.srcMemoryType = (CUmemorytype)9;
    R("W.noinit.bad_type", cuMemcpy2D(&c));
}

/* No context, or the wrong one, with faults in every order. */
static void w_no_context(void)
{
    start_places();
    CUDA_MEMCPY2D c = good_copy(), type = c, none = c, pitch = c;
    type.srcMemoryType = (CUmemorytype)9;
    none.WidthInBytes = 0;
    pitch.srcPitch = 1;
    cuCtxSetCurrent(NULL);
    R("W.noctx.sync", cuMemcpy2D(&c));
    R("W.noctx.unaligned", cuMemcpy2DUnaligned(&c));
    R("W.noctx.async", cuMemcpy2DAsync(&c, NULL));
    R("W.noctx.bad_type", cuMemcpy2D(&type));
    R("W.noctx.no_width", cuMemcpy2D(&none));
    R("W.noctx.bad_pitch", cuMemcpy2D(&pitch));
    R("W.noctx.fill8", cuMemsetD2D8(to[MAPPED].at, 64, 0, 64, 1));
    R("W.noctx.fill8_no_width", cuMemsetD2D8(to[MAPPED].at, 64, 0, 0, 1));
    R("W.noctx.fill32_bad_pitch", cuMemsetD2D32(to[MAPPED].at, 1, 0, 64, 2));
    R("W.noctx.fill32_unaligned", cuMemsetD2D32(to[MAPPED].at + 1, 64, 0, 1, 2));
}

static void w_captured(void)
{
    start_places();
    CUDA_MEMCPY2D c = good_copy(), type = c, none = c, host = c;
    CUstream stream;
    CUgraph graph;
    type.srcMemoryType = (CUmemorytype)9;
    none.WidthInBytes = 0;
    declare_from(&host, &from[MALLOC], D_HOST);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    static const struct {
        const char *name;
        int mode;
    } modes[] = {{"global", CU_STREAM_CAPTURE_MODE_GLOBAL}, {"local", CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
                 {"relaxed", CU_STREAM_CAPTURE_MODE_RELAXED}};
    for (size_t m = 0; m < COUNT(modes); m++)
        for (int call = 0; call < 8; call++) {
            static const char *const calls[] = {"sync", "sync_no_width", "sync_bad_type", "async", "async_no_width",
                                                "async_bad_type", "fill8async", "fill8"};
            char id[CASE_ID];
            cuStreamBeginCapture(stream, (CUstreamCaptureMode)modes[m].mode);
            CUresult r = call == 0 ? cuMemcpy2D(&c) : call == 1 ? cuMemcpy2D(&none) : call == 2 ? cuMemcpy2D(&type)
                       : call == 3 ? cuMemcpy2DAsync(&c, stream) : call == 4 ? cuMemcpy2DAsync(&none, stream)
                       : call == 5 ? cuMemcpy2DAsync(&type, stream)
                       : call == 6 ? cuMemsetD2D8Async(to[MAPPED].at, 64, 1, 64, 2, stream)
                                   : cuMemsetD2D8(to[MAPPED].at, 64, 1, 64, 2);
            snprintf(id, sizeof id, "W.capture.%s.%s", modes[m].name, calls[call]);
            say(id, "%s end=%s", name_of(r), name_of(cuStreamEndCapture(stream, &graph)));
        }
}

static CUresult inside[4];

static void CUDA_CB in_host_function(void *data)
{
    const CUDA_MEMCPY2D *c = data;
    inside[0] = cuMemcpy2D(c);
    inside[1] = cuMemcpy2DAsync(c, NULL);
    inside[2] = cuMemsetD2D8(to[MAPPED].at, 64, 1, 64, 2);
    inside[3] = cuMemsetD2D8Async(to[MAPPED].at, 64, 1, 64, 2, NULL);
}

static void w_host_function(void)
{
    start_places();
    CUDA_MEMCPY2D c = good_copy();
    CUstream stream;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    R("W.inside.launch", cuLaunchHostFunc(stream, in_host_function, &c));
    R("W.inside.sync", cuStreamSynchronize(stream));
    say("W.inside", "%s %s %s %s", name_of(inside[0]), name_of(inside[1]), name_of(inside[2]), name_of(inside[3]));
}

/* Rows in one place: source and destination interleaved, or overlapping. Overlapping bytes that move are a race. */
static void overlap_case(size_t i, char *id, int run)
{
    static const struct {
        const char *name;
        u64 src, dst, pitch, width, height;
        bool race;
    } overlaps[] = {
        {"same", 0, 0, 256, 64, 8, false},           {"same_row", 0, 0, 64, 64, 1, false},
        {"columns", 0, 64, 256, 64, 8, false},       {"columns_back", 64, 0, 256, 64, 8, false},
        {"one_byte_on", 0, 1, 256, 64, 8, true},     {"one_byte_back", 1, 0, 256, 64, 8, true},
        {"one_row_on", 0, 256, 256, 64, 8, true},    {"one_row_back", 256, 0, 256, 64, 8, true},
        {"far_row_on", 0, 2048, 256, 64, 8, false},  {"touching", 0, 512, 64, 64, 8, false},
    };
    static const char *const sides[] = {"device", "unified", "host", "async"};
    size_t kind = digit(&i, COUNT(sides));
    snprintf(id, CASE_ID, "W.overlap.%s.%s", sides[kind], overlaps[i].name);
    if (!run)
        return;
    struct place *place = &to[kind == 2 ? MALLOC : MAPPED];
    const enum declared declared = kind == 2 ? D_HOST : kind == 1 ? D_UNIFIED : D_DEVICE;
    struct place source = *place, destination = *place;
    source.at += overlaps[i].src;
    destination.at += overlaps[i].dst;
    CUDA_MEMCPY2D c = {.srcPitch = overlaps[i].pitch, .dstPitch = overlaps[i].pitch, .WidthInBytes = overlaps[i].width,
                       .Height = overlaps[i].height};
    declare_from(&c, &source, declared);
    declare_to(&c, &destination, declared);
    put(place, pattern, G);
    memcpy(expected, pattern, G);
    expected_end = G;
    for (u64 row = 0; row < c.Height; row++)
        memcpy(expected + overlaps[i].dst + row * c.dstPitch, pattern + overlaps[i].src + row * c.srcPitch, c.WidthInBytes);
    CUresult r = kind == 3 ? cuMemcpy2DAsync(&c, NULL) : cuMemcpy2D(&c);
    CUresult sync = cuCtxSynchronize();
    const unsigned char *bytes = look(place);
    say(id, "%s sync=%s %s", name_of(r), name_of(sync),
        overlaps[i].race ? "shared bytes" : !bytes || memcmp(bytes, expected, G) ? "other bytes" : "right");
}

static void group_w(void)
{
    child("W.null.sync!", w_null);
    child("W.null.async!", w_null_async);
    child("W.noinit!", w_before_init);
    child("W.noctx!", w_no_context);
    child("W.capture!", w_captured);
    child("W.inside!", w_host_function);
    if (is_wanted("W"))
        run_cases(start_places, (size_t)4 * 10, overlap_case);
}
