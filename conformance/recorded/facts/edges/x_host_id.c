/* SPDX-License-Identifier: Apache-2.0 */
/* Group X: cuMemCreate of HOST memory, whose location.id is documented as ignored: with and without enough memory. A part of
 * ../edges.c, which includes it. */

static const int x_ids[] = {0, 1, 2, 99, -1, 1024, INT_MAX, INT_MIN};
static const size_t x_sizes[] = {G, (size_t)1 << 44, SIZE_MAX - (G - 1)}; /* the last: the largest multiple of G */
enum { X_PLAIN, X_NO_CONTEXT, X_TILE_POOL, X_NODE, X_NODE_TILE_POOL, X_WAYS };

static void x_one(size_t i, char *id, int run)
{
    static const char *const ways[X_WAYS] = {"host", "host_no_context", "host_tile_pool", "numa", "numa_tile_pool"};
    size_t way = i / (COUNT(x_ids) * COUNT(x_sizes)), which = i / COUNT(x_sizes) % COUNT(x_ids), size = i % COUNT(x_sizes);
    static const char *const sizes[COUNT(x_sizes)] = {"g", "1<<44", "max_aligned"};
    sprintf(id, "X.%s.id%d.%s", ways[way], x_ids[which], sizes[size]);
    if (!run)
        return;
    CUmemAllocationProp p = prop_at(way >= X_NODE ? L_NUMA : L_HOST, x_ids[which]);
    p.allocFlags.usage = way == X_TILE_POOL || way == X_NODE_TILE_POOL ? CU_MEM_CREATE_USAGE_TILE_POOL : 0;
    cuCtxSetCurrent(way == X_NO_CONTEXT ? NULL : primary[0]);
    f_one(id, x_sizes[size], &p);
}

static void group_x(void)
{
    if (is_wanted("X"))
        run_cases(init, X_WAYS * COUNT(x_ids) * COUNT(x_sizes), x_one);
}
