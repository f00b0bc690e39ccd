/* SPDX-License-Identifier: Apache-2.0 */
/* Group M: boxes in mappings, between them, and across their ends. Part of ../copies3d.c, which includes it.
 *
 *     0      1      2          3      4      5      6      7  (2 MiB each)
 *     | rw   | rw   | nothing  | rw   | ro   | none | rw   | nothing
 */

static CUdeviceptr strip;

static void start_strip(void)
{
    static const int rights[] = {RW, RW, -1, RW, READ, NONE, RW};
    start_places();
    strip = reserve(8 * G);
    for (size_t i = 0; i < COUNT(rights); i++) {
        if (rights[i] < 0)
            continue;
        map(strip + i * G, G, make(G));
        give(strip + i * G, G, L_DEVICE, RW);
        cuMemsetD8(strip + i * G, BLANK, G);
        give(strip + i * G, G, L_DEVICE, rights[i]);
    }
}

/* The start, and the distances of rows and layers; layers are a whole number of rows apart. */
static const struct {
    const char *name;
    i64 start;
    u64 pitch, layer, width, height, depth;
} strips[] = {
    {"inside", 0, 256, 4, 64, 3, 2},
    {"to_the_end", 2 * (i64)G - 5 * 64, 64, 3, 64, 2, 2},
    {"one_past_the_end", 2 * (i64)G - 5 * 64 + 1, 64, 3, 64, 2, 2},
    {"last_row_past", 2 * (i64)G - 4 * 64, 64, 3, 64, 2, 2},
    {"last_layer_past", 2 * (i64)G - 3 * 64, 64, 3, 64, 2, 2},
    {"padding_past_the_end", 2 * (i64)G - 256 * 5 - 64, 256, 4, 64, 2, 2},
    {"seam_in_a_row", (i64)G - 32, 64, 4, 64, 2, 2},
    {"seam_between_layers", (i64)G - 64 * 4, 64, 4, 64, 2, 2},
    {"layers_in_two", 0, 4096, 512, 64, 2, 2},
    {"layers_over_the_hole", (i64)G, 4096, 1024, 64, 2, 2},
    {"rows_over_the_hole", (i64)G, 2 * (u64)G, 2, 64, 2, 1},
    {"layer_into_the_hole", (i64)G, 4096, 512, 64, 2, 2},
    {"middle_layer_in_the_hole", (i64)G, 4096, 512, 64, 2, 3},
    {"first_layer_in_the_hole", 2 * (i64)G, 4096, 512, 64, 2, 2},
    {"all_in_the_hole", 2 * (i64)G, 64, 4, 64, 3, 2},
    {"one_row_in_the_hole", 2 * (i64)G, 64, 4, 64, 1, 1},
    {"no_width_in_the_hole", 2 * (i64)G, 64, 4, 0, 3, 2},
    {"no_height_in_the_hole", 2 * (i64)G, 64, 4, 64, 0, 2},
    {"no_depth_in_the_hole", 2 * (i64)G, 64, 4, 64, 3, 0},
    {"layer_in_read_only", 3 * (i64)G, 4096, 512, 64, 2, 2},
    {"first_in_read_only", 4 * (i64)G, 64, 4, 64, 2, 2},
    {"over_read_only", 3 * (i64)G, 4096, 1536, 64, 2, 2},
    {"row_into_read_only", 4 * (i64)G - 96, 64, 4, 64, 3, 1},
    {"layer_in_none", 4 * (i64)G, 4096, 512, 64, 2, 2},
    {"first_in_none", 5 * (i64)G, 64, 4, 64, 2, 2},
    {"over_none", 4 * (i64)G, 4096, 1024, 64, 2, 2},
    {"layer_past_the_last", 6 * (i64)G, 4096, 512, 64, 2, 2},
    {"layer_past_the_reservation", 6 * (i64)G, 4096, 1024, 64, 2, 2},
    {"before_the_reservation", -64, 64, 4, 64, 3, 2},
    {"many_layers_to_the_hole", (i64)G, 64, 4, 16, 2, 8193},
    {"rows_apart_layers_inside", 0, (u64)G, 0, 64, 2, 1},
    {"layers_interleaved", 0, 64, 1, 64, 3, 3},
};

/* The state of the first bytes of the first and last rows, and of the last row of the first layer. */
static const char *is_new(CUdeviceptr at)
{
    int byte = byte_at(at);
    return byte < 0 ? "?" : byte == BLANK ? "kept" : "new";
}

static bool is_nothing(i64 start)
{
    return start < 0 || start / (i64)G == 2 || start / (i64)G == 7;
}

static void strip_case(size_t i, char *id, int run)
{
    static const char *const calls[] = {"to", "from", "host_to", "host_from", "unified_to", "unified_from", "async_to",
                                        "async_from", "peer_to", "peer_from", "peerasync_to", "peerasync_from"};
    size_t which = digit(&i, COUNT(strips));
    u64 pitch = strips[which].pitch, layer = strips[which].layer, width = strips[which].width, height = strips[which].height;
    u64 depth = strips[which].depth;
    CUdeviceptr start = strip + (u64)strips[which].start;
    snprintf(id, CASE_ID, "M.%s.%s", calls[i], strips[which].name);
    if (!run || !box_turn(id, (i == 4 || i == 5) && width && height && depth && is_nothing(strips[which].start), 4))
        return;
    CUDA_MEMCPY3D c = {.WidthInBytes = width, .Height = height, .Depth = depth};
    const bool host = i == 2 || i == 3, in = i % 2 == 0;
    const CUmemorytype type = i == 4 || i == 5 ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
    const CUmemorytype other = host ? CU_MEMORYTYPE_HOST : type;
    struct place *place = in ? &from[host ? MALLOC : MAPPED] : &to[host ? MALLOC : MAPPED];
    use(place);
    c.srcMemoryType = in ? other : type, c.dstMemoryType = in ? type : other;
    c.srcHost = (void *)(uintptr_t)place->at, c.dstHost = (void *)(uintptr_t)place->at;
    c.srcDevice = in ? place->at : start, c.dstDevice = in ? start : place->at;
    c.srcPitch = in ? 64 : pitch, c.dstPitch = in ? pitch : 64;
    c.srcHeight = in ? height : layer, c.dstHeight = in ? layer : height;
    CUresult r = call_box(i < 6 ? SYNC3 : i < 8 ? ASYNC3 : i < 10 ? PEER3 : PEERASYNC3, &c);
    CUresult sync = cuCtxSynchronize();
    CUdeviceptr last = start + pitch * (height ? height - 1 : 0);
    say(id, "%s sync=%s first=%s row=%s layer=%s last=%s", name_of(r), name_of(sync), is_new(start), is_new(last),
        is_new(start + pitch * layer), is_new(last + pitch * layer * (depth ? depth - 1 : 0)));
    for (size_t g = 0; g < 7; g++) /* blank the granules whose rights allow it */
        cuMemsetD8(strip + g * G, BLANK, G);
    cuCtxSynchronize();
}

static void group_m(void)
{
    generate("M", start_strip, COUNT(strips) * 12, strip_case);
}
