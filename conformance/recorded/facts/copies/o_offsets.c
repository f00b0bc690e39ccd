/* SPDX-License-Identifier: Apache-2.0 */
/* Group O: copies of 64-byte rows at various offsets in rows of 4096 bytes. Part of ../copies.c, which includes it. */

static const u64 at_x[] = {0, 1, 4032, 4033, 4096, (u64)G - 64, (u64)1 << 31, (u64)1 << 40, (u64)1 << 63, -(u64)64, -(u64)1};
static const u64 at_y[] = {0, 1, 511, 512, (u64)1 << 31, (u64)1 << 40, (u64)1 << 52, ((u64)1 << 52) + 1, (u64)1 << 63,
                           -(u64)1};
static const u64 few[] = {0, 1, 2};

static void offsets_case(size_t i, char *id, int run)
{
    u64 x = at_x[digit(&i, COUNT(at_x))], y = at_y[digit(&i, COUNT(at_y))], height = few[digit(&i, COUNT(few))];
    size_t side = digit(&i, 2);
    u64 width = digit(&i, 2) ? 0 : 64;
    const struct way *way = &ways[i];
    snprintf(id, CASE_ID, "O.%s.%s.x=%s.y=%s.%sx%s", way->name, side ? "dst" : "src", num(x), num(y), num(width),
             num(height));
    if (!run)
        return;
    CUDA_MEMCPY2D c = {.srcPitch = 4096, .dstPitch = 4096, .WidthInBytes = width, .Height = height};
    if (side)
        c.dstXInBytes = x, c.dstY = y;
    else
        c.srcXInBytes = x, c.srcY = y;
    along(&c, way);
    ask_copy(id, SYNC, &c, &from[way->src], &to[way->dst]);
}

static void group_o(void)
{
    generate("O", start_places, COUNT(at_x) * COUNT(at_y) * COUNT(few) * 2 * 2 * 3, offsets_case);
}
