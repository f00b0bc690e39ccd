/* SPDX-License-Identifier: Apache-2.0 */
/* Group M: rows in mappings, between them, and across their ends. Part of ../copies.c, which includes it.
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

static const struct {
    const char *name;
    i64 start;
    u64 pitch, width, height;
} strips[] = {
    {"to_the_end", 2 * (i64)G - 192, 64, 64, 3},
    {"one_past_the_end", 2 * (i64)G - 191, 64, 64, 3},
    {"last_row_past", 2 * (i64)G - 128, 64, 64, 3},
    {"padding_past_the_end", 2 * (i64)G - 576, 256, 64, 3},
    {"whole_rows_to_the_end", 2 * (i64)G - 768, 256, 64, 3},
    {"seam", (i64)G - 96, 64, 64, 3},
    {"seam_at_row", (i64)G - 128, 64, 64, 4},
    {"two_mappings", 0, (u64)G, 64, 2},
    {"over_the_hole", (i64)G, 2 * (u64)G, 64, 2},
    {"over_the_hole_three", (i64)G / 2, (u64)G + G / 2, 64, 3},
    {"into_the_hole", 0, (u64)G, 64, 3},
    {"middle_in_the_hole", (i64)G, (u64)G, 64, 3},
    {"first_in_the_hole", 2 * (i64)G, (u64)G, 64, 2},
    {"in_the_hole", 2 * (i64)G, 64, 64, 3},
    {"row_over_the_hole", 2 * (i64)G - 64, 4 * (u64)G, (u64)G + 128, 1},
    {"into_read_only", 4 * (i64)G - 96, 64, 64, 3},
    {"over_read_only", 3 * (i64)G, 3 * (u64)G, 64, 2},
    {"last_in_read_only", 3 * (i64)G, (u64)G, 64, 2},
    {"into_none", 5 * (i64)G - 96, 64, 64, 3},
    {"over_none", 4 * (i64)G, 2 * (u64)G, 64, 2},
    {"last_in_none", 4 * (i64)G, (u64)G, 64, 2},
    {"rights_to_end", 6 * (i64)G, (u64)G / 2, 64, 2},
    {"past_the_last_mapping", 6 * (i64)G, (u64)G, 64, 2},
    {"past_the_reservation", 6 * (i64)G, 2 * (u64)G, 64, 2},
    {"before_the_reservation", -64, 64, 64, 3},
    {"one_row_in_the_hole", 2 * (i64)G, 64, 64, 1},
    {"nothing_in_the_hole", 2 * (i64)G, 64, 0, 3},
    {"no_rows_in_the_hole", 2 * (i64)G, 64, 64, 0},
    {"last_of_many", 0, 64, 64, 65537},
    {"first_of_many", (i64)G - 64, 64, 64, 32770},
};

static const char *is_new(CUdeviceptr at)
{
    int byte = byte_at(at);
    return byte < 0 ? "?" : byte == BLANK ? "kept" : "new";
}

/* Are the rows' first bytes unmapped? */
static bool is_nothing(i64 start)
{
    return start < 0 || start / (i64)G == 2 || start / (i64)G == 7;
}

static void strip_case(size_t i, char *id, int run)
{
    static const char *const calls[] = {"to", "from", "host_to", "host_from", "unified_to", "unified_from", "async_to",
                                        "async_from",
                                        "fill8", "fill16", "fill32", "fill8async"};
    size_t which = digit(&i, COUNT(strips));
    u64 pitch = strips[which].pitch, width = strips[which].width, height = strips[which].height;
    CUdeviceptr start = strip + (u64)strips[which].start;
    snprintf(id, CASE_ID, "M.%s.%s", calls[i], strips[which].name);
    if (!run || !its_turn(id, (i == 4 || i == 5) && height && width && is_nothing(strips[which].start)))
        return;
    CUDA_MEMCPY2D c = {.srcPitch = pitch, .dstPitch = pitch, .WidthInBytes = width, .Height = height};
    bool host = i == 2 || i == 3;
    const CUmemorytype type = i == 4 || i == 5 ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
    u64 other = pitch > 64 ? 4096 : 64;
    if (height > 8)
        other = 16, c.WidthInBytes = width = 16;
    if (width > other)
        other = (u64)G + 4096, c.WidthInBytes = width = (u64)G;
    if (i % 2 == 0) {
        use(&from[host ? MALLOC : MAPPED]);
        c.srcMemoryType = host ? CU_MEMORYTYPE_HOST : type;
        c.srcHost = (void *)(uintptr_t)from[MALLOC].at;
        c.srcDevice = from[MAPPED].at;
        c.srcPitch = other;
        c.dstMemoryType = type;
        c.dstDevice = start;
    } else {
        c.dstMemoryType = host ? CU_MEMORYTYPE_HOST : type;
        c.dstHost = (void *)(uintptr_t)to[MALLOC].at;
        c.dstDevice = to[MAPPED].at;
        c.dstPitch = other;
        c.srcMemoryType = type;
        c.srcDevice = start;
    }
    CUresult r = i == 8 ? cuMemsetD2D8(start, pitch, 7, width, height)
               : i == 9 ? cuMemsetD2D16(start & ~(u64)1, pitch, 0x707, width / 2, height)
               : i == 10 ? cuMemsetD2D32(start & ~(u64)3, pitch, 0x7070707, width / 4, height)
               : i == 11 ? cuMemsetD2D8Async(start, pitch, 7, width, height, NULL)
               : i >= 6 ? cuMemcpy2DAsync(&c, NULL) : cuMemcpy2D(&c);
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s first=%s last=%s", name_of(r), name_of(sync), is_new(start),
        is_new(start + pitch * (height ? height - 1 : 0)));
    for (size_t g = 0; g < 7; g++) /* blank the granules whose rights allow it */
        cuMemsetD8(strip + g * G, BLANK, G);
    cuCtxSynchronize();
}

static void group_m(void)
{
    generate("M", start_strip, COUNT(strips) * 12, strip_case);
}
