/* SPDX-License-Identifier: Apache-2.0 */
/* Groups F, G, H: fills of rows: kinds of memory, alignment, extremes. Part of ../copies.c, which includes it. */

static void fill_kinds_case(size_t i, char *id, int run)
{
    int fill = (int)digit(&i, FILLS);
    snprintf(id, CASE_ID, "F.%s.%s", fill_name[fill], kind_name[i]);
    if (run)
        ask_fill(id, fill, to[i].at, 256, 16, 3, &to[i]);
}

static void group_f(void)
{
    generate("F", start_places, FILLS * kinds(), fill_kinds_case);
}

static void fill_aligned_case(size_t i, char *id, int run)
{
    static const u64 pitch_of[] = {0, 1, 2, 4, 63, 64, 65, 66, 67, 68, 4096};
    static const u64 width_of[] = {0, 1, 16};
    int fill = (int)digit(&i, FILLS);
    u64 pitch = pitch_of[digit(&i, COUNT(pitch_of))], width = width_of[digit(&i, COUNT(width_of))], height = 1 + digit(&i, 2);
    snprintf(id, CASE_ID, "G.%s.at+%zu.pitch=%s.%sx%s", fill_name[fill], i, num(pitch), num(width), num(height));
    if (run)
        ask_fill(id, fill, to[MAPPED].at + i, pitch, width, height, &to[MAPPED]);
}

static void group_g(void)
{
    generate("G", start_places, (size_t)FILLS * 11 * 3 * 2 * 5, fill_aligned_case);
}

static void fill_extreme_case(size_t i, char *id, int run)
{
    static const u64 pitch_of[] = {0, 16, 64, 4096, (u64)G, ((u64)1 << 31) - 4, ((u64)1 << 31) - 1, (u64)1 << 31, (u64)1 << 32,
                                   (u64)1 << 40, (u64)1 << 62, (u64)1 << 63, -(u64)64, -(u64)1};
    static const u64 width_of[] = {0, 1, 16, (u64)1 << 32, (u64)1 << 40, (u64)1 << 62, ((u64)1 << 62) + 4, (u64)1 << 63,
                                   ((u64)1 << 63) + 8, -(u64)1};
    static const u64 height_of[] = {0, 1, 2, 3, (u64)1 << 31, ((u64)1 << 32) + 1, (u64)1 << 40};
    static const int fills[] = {0, 1, 2, 3};
    int fill = fills[digit(&i, COUNT(fills))];
    u64 pitch = pitch_of[digit(&i, COUNT(pitch_of))], width = width_of[digit(&i, COUNT(width_of))];
    u64 height = height_of[i];
    snprintf(id, CASE_ID, "H.%s.pitch=%s.%sx%s", fill_name[fill], num(pitch), num(width), num(height));
    /* if the total size wraps, a driver fills that many rows one by one, which takes hours */
    if (run && !(height >> 40 && width >> 62))
        ask_fill(id, fill, to[MAPPED].at, pitch, width, height, &to[MAPPED]);
}

static void group_h(void)
{
    generate("H", start_places, (size_t)4 * 14 * 10 * 7, fill_extreme_case);
}
