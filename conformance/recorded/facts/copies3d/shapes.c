/* SPDX-License-Identifier: Apache-2.0 */
/* Groups S: widths, pitches, heights and depths. U: the heights of layers. O: offsets. X: extremes. Part of ../copies3d.c, which
 * includes it. */

static const u64 pitches[] = {0, 1, 63, 64, 65, 80, 4096, ((u64)1 << 31) - 1, (u64)1 << 31, (u64)1 << 32, -(u64)1};
static const u64 widths[] = {0, 64};
static const u64 heights[] = {0, 1, 3};
static const u64 depths[] = {0, 1, 2};

/* Varies the pitch of one side; the other's is valid. */
static void shapes_case(size_t i, char *id, int run)
{
    u64 pitch = pitches[digit(&i, COUNT(pitches))], width = widths[digit(&i, COUNT(widths))];
    u64 height = heights[digit(&i, COUNT(heights))], depth = depths[digit(&i, COUNT(depths))];
    u64 x = width && height == 3 && depth == 1 ? 16 : 0;
    size_t side = digit(&i, 2), way = digit(&i, COUNT(ways));
    enum call3 call = i ? PEERASYNC3 : SYNC3;
    snprintf(id, CASE_ID, "S.%s.%s.%spitch=%s.x=%s.%sx%sx%s", call3_name[call], ways[way].name, side ? "dst" : "src", num(pitch),
             num(x), num(width), num(height), num(depth));
    if (!run)
        return;
    CUDA_MEMCPY3D c = {.srcPitch = side ? 4096 : pitch, .dstPitch = side ? pitch : 4096, .WidthInBytes = width, .srcHeight = 4,
                       .dstHeight = 5, .Height = height, .Depth = depth, .srcXInBytes = side ? 0 : x, .dstXInBytes = side ? x : 0};
    along(&c, &ways[way]);
    ask_box(id, call, &c, &from[ways[way].src], &to[ways[way].dst]);
}

static void group_s(void)
{
    generate("S", start_places, COUNT(pitches) * COUNT(widths) * COUNT(heights) * COUNT(depths) * 2 * COUNT(ways) * 2, shapes_case);
}

static void layers_case(size_t i, char *id, int run)
{
    static const u64 layer_of[] = {0, 1, 2, 3, 4, 512, ((u64)1 << 31) - 1, (u64)1 << 31, (u64)1 << 32, (u64)1 << 63, -(u64)1};
    static const u64 rows[] = {1, 3}, deep[] = {0, 1, 2, 3};
    u64 layer = layer_of[digit(&i, COUNT(layer_of))], height = rows[digit(&i, 2)], depth = deep[digit(&i, COUNT(deep))];
    u64 y = digit(&i, 2), width = digit(&i, 2) ? 0 : 64;
    size_t side = digit(&i, 2), way = i;
    const enum call3 call = SYNC3;
    snprintf(id, CASE_ID, "U.%s.%s.%slayer=%s.y=%s.%sx%sx%s", call3_name[call], ways[way].name, side ? "dst" : "src", num(layer),
             num(y), num(width), num(height), num(depth));
    if (!run)
        return;
    CUDA_MEMCPY3D c = {.srcPitch = 128, .dstPitch = 256, .WidthInBytes = width, .Height = height, .Depth = depth,
                       .srcHeight = side ? 8 : layer, .dstHeight = side ? layer : 8, .srcY = side ? 0 : y, .dstY = side ? y : 0};
    along(&c, &ways[way]);
    ask_box(id, call, &c, &from[ways[way].src], &to[ways[way].dst]);
}

static void group_u(void)
{
    generate("U", start_places, (size_t)11 * 2 * 4 * 2 * 2 * 2 * 4, layers_case);
}

static void offsets_case(size_t i, char *id, int run)
{
    static const u64 at_x[] = {0, 1, 4032, 4033, (u64)1 << 31, (u64)1 << 63, -(u64)64};
    static const u64 at_y[] = {0, 1, 13, 14, (u64)1 << 40, -(u64)1};
    static const u64 at_z[] = {0, 1, 31, 32, (u64)1 << 31, (u64)1 << 48, -(u64)1};
    u64 x = at_x[digit(&i, COUNT(at_x))], y = at_y[digit(&i, COUNT(at_y))], z = at_z[digit(&i, COUNT(at_z))];
    size_t side = digit(&i, 2);
    u64 width = digit(&i, 2) ? 0 : 64;
    size_t way = digit(&i, 4);
    snprintf(id, CASE_ID, "O.%s.%s.x=%s.y=%s.z=%s.%s", ways[way].name, side ? "dst" : "src", num(x), num(y), num(z), num(width));
    if (!run)
        return;
    CUDA_MEMCPY3D c = {.srcPitch = 4096, .dstPitch = 4096, .WidthInBytes = width, .Height = 2, .Depth = 1, .srcHeight = 16, .dstHeight = 16};
    if (side)
        c.dstXInBytes = x, c.dstY = y, c.dstZ = z;
    else
        c.srcXInBytes = x, c.srcY = y, c.srcZ = z;
    along(&c, &ways[way]);
    ask_box(id, SYNC3, &c, &from[ways[way].src], &to[ways[way].dst]);
}

static void group_o(void)
{
    generate("O", start_places, (size_t)7 * 6 * 7 * 2 * 2 * 4, offsets_case);
}

/* One extent is huge, another is 0 or all are, so that little can be copied before it ends. */
static void extremes_case(size_t i, char *id, int run)
{
    static const u64 huge[] = {(u64)1 << 31, ((u64)1 << 32) + 1, (u64)1 << 40, (u64)1 << 63, -(u64)1};
    static const u64 pitch_of[] = {0, 64, ((u64)1 << 31) - 1, (u64)1 << 63};
    static const u64 layer_of[] = {0, 4};
    u64 big = huge[digit(&i, COUNT(huge))], pitch = pitch_of[digit(&i, COUNT(pitch_of))], layer = layer_of[digit(&i, 2)];
    size_t which = digit(&i, 7), way = i;
    const enum call3 call = SYNC3;
    static const unsigned char shape_of[][3] = {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}, {2, 2, 2}};
    u64 width = shape_of[which][0] == 2 ? big : shape_of[which][0] ? 64 : 0;
    u64 height = shape_of[which][1] == 2 ? big : shape_of[which][1] ? 2 : 0;
    u64 depth = shape_of[which][2] == 2 ? big : shape_of[which][2] ? 2 : 0;
    snprintf(id, CASE_ID, "X.%s.%s.pitch=%s.layer=%s.%sx%sx%s", call3_name[call], ways[way].name, num(pitch), num(layer), num(width),
             num(height), num(depth));
    if (!run)
        return;
    CUDA_MEMCPY3D c = {.srcPitch = pitch, .dstPitch = pitch, .WidthInBytes = width, .Height = height, .Depth = depth,
                       .srcHeight = layer, .dstHeight = layer};
    along(&c, &ways[way]);
    ask_box(id, call, &c, &from[ways[way].src], &to[ways[way].dst]);
}

static void group_x(void)
{
    generate("X", start_places, (size_t)5 * 4 * 2 * 7 * 4, extremes_case);
}
