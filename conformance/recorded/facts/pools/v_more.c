/* SPDX-License-Identifier: Apache-2.0 */
/* Group V: what random calls on a driver found that the other groups had not asked. Part of ../pools.c, which includes it.
 *
 * V.trim.SHAPE.KEEP: cuMemPoolTrimTo after a synchronisation that kept everything. V.max.SIZE: how far two reservations around a new
 * pool are apart. V.order.N: whose free a third stream takes first. V.wrap.N: ranges past the end of all addresses. */

/* ---- trims ---- */

static const u64 v_keep[] = {224 * MiB, 201 * MiB + 1, 201 * MiB, 192 * MiB, 191 * MiB, 100 * MiB, 97 * MiB, 64 * MiB + 1, 64 * MiB,
                             64 * MiB - 1, 33 * MiB, 32 * MiB, 31 * MiB, 1, 0, UINT64_MAX};

/* Seven chunks, of which all but the first `held` are idle. */
static void v_trim(size_t i, char *id, int run)
{
    u64 keep = v_keep[i % COUNT(v_keep)];
    size_t held = i / COUNT(v_keep);
    snprintf(id, CASE_ID, "V.trim.%zu.%llu", held, keep);
    if (!run)
        return;
    Pool pool = keeping_pool();
    CUstream s = new_stream();
    CUdeviceptr p[7];
    for (size_t k = 0; k < 7; k++)
        p[k] = take(pool, 32 * MiB, s);
    for (size_t k = held; k < 7; k++)
        drop(p[k], s);
    cuStreamSynchronize(s);
    u64 before = value_of(pool, RESERVED);
    CUresult r = cuMemPoolTrimTo(pool, keep);
    say(id, "%s res=%llu->%llu", name_of(r), before, value_of(pool, RESERVED));
    for (size_t k = 0; k < held; k++)
        drop(p[k], s);
    cuStreamSynchronize(s);
    cuMemPoolDestroy(pool);
}

/* ---- the addresses of a pool with a maxSize ---- */

static const u64 v_max[] = {0, 1, MiB, 32 * MiB - 1, 32 * MiB, 32 * MiB + 1, 33 * MiB, 100 * MiB, 256 * MiB + 1, 10 * (u64)GiB, 300 * (u64)GiB};

static void v_range(size_t i, char *id, int run)
{
    snprintf(id, CASE_ID, "V.max.%llu", v_max[i]);
    if (!run)
        return;
    CUdeviceptr below = 0, above = 0;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .maxSize = v_max[i]};
    Pool pool = NULL;
    props.location = loc_at(L_DEVICE, 0);
    cuMemAddressReserve(&below, 64 * MiB, 0, 0, 0);
    CUresult r = cuMemPoolCreate(&pool, &props);
    cuMemAddressReserve(&above, 64 * MiB, 0, 0, 0);
    say(id, "%s apart=%lld", name_of(r), (i64)(above - below));
    cuMemPoolDestroy(pool);
    cuMemAddressFree(above, 64 * MiB);
    cuMemAddressFree(below, 64 * MiB);
}

/* ---- the order of streams ---- */

/* Bits: 1 another pool was used before, by t first; 2 t has the first allocation of this pool; 4 t frees first. */
static void v_order(size_t i, char *id, int run)
{
    snprintf(id, CASE_ID, "V.order.%zu", i);
    if (!run)
        return;
    CUstream s = new_stream(), t = new_stream(), u = new_stream();
    Pool other = keeping_pool(), pool = keeping_pool();
    for (int k = 0; k < 2 && i & 1; k++) {
        drop(take(other, MiB, k ? s : t), k ? s : t);
        cuStreamSynchronize(k ? s : t);
    }
    CUdeviceptr p[2];
    for (int k = 0; k < 2; k++)
        p[(i >> 1 & 1) ^ k] = take(pool, MiB, (i >> 1 & 1) ^ k ? t : s);
    CUdeviceptr wall = take(pool, 30 * MiB, u);
    for (int k = 0; k < 2; k++)
        drop(p[(i >> 2 & 1) ^ k], (i >> 2 & 1) ^ k ? t : s);
    settle(s);
    settle(t);
    CUdeviceptr got = take(pool, MiB, u);
    say(id, "SUCCESS of=%s", got == p[0] ? "s" : got == p[1] ? "t" : "none");
    drop(got, u);
    drop(wall, u);
    cuCtxSynchronize();
    cuMemPoolDestroy(pool);
    cuMemPoolDestroy(other);
    cuStreamDestroy(s);
    cuStreamDestroy(t);
    cuStreamDestroy(u);
}

/* ---- ranges that wrap ---- */

enum { V_WRAPS = 12 };

static CUresult v_wrap_call(size_t i, CUdeviceptr q, CUdeviceptr v, CUstream s)
{
    const size_t most = (size_t)0 - 4000; /* from 8 on past the end, and then to 8 - 4000 */
    switch (i) {
    case 0: return cuMemsetD8(q + 8, 1, most);
    case 1: return cuMemsetD8(q, 1, 0 - (size_t)q);
    case 2: return cuMemsetD8(q, 1, 0 - (size_t)q - 1);
    case 3: return cuMemsetD16(q + 8, 1, SIZE_MAX - 0xfdc);
    case 4: return cuMemsetD16(q + 8, 1, ((size_t)1 << 63) + 2);
    case 5: return cuMemsetD16(q + 8, 1, ((size_t)1 << 63) + 4096);
    case 6: return cuMemsetD32(q + 8, 1, ((size_t)1 << 62) + 2);
    case 7: return cuMemcpyDtoD(v, q + 8, most);
    case 8: return cuMemcpyDtoD(q + 8, v, most);
    case 9: return cuMemcpyDtoD(q + 8, q + 1024, most);
    case 10: return cuMemsetD8(q + 4096, 1, most);
    default:
        drop(q, s);
        cuStreamSynchronize(s);
        return cuMemsetD8(q, 1, most);
    }
}

static void v_wrap(size_t i, char *id, int run)
{
    snprintf(id, CASE_ID, "V.wrap.%zu", i);
    if (!run)
        return;
    CUstream s = new_stream();
    Pool pool = keeping_pool();
    CUdeviceptr q = take(pool, 4096, s), v = 0;
    cuMemAlloc(&v, 4096);
    cuStreamSynchronize(s);
    CUresult r = v_wrap_call(i, q, v, s);
    CUresult then = cuCtxSynchronize();
    say(id, "%s then=%s", name_of(r), name_of(then));
}

static void group_v(void)
{
    if (!is_wanted("V"))
        return;
    run_cases(init, 2 * COUNT(v_keep), v_trim);
    run_cases(init, COUNT(v_max), v_range);
    run_cases(init, 8, v_order);
    run_cases(init, V_WRAPS, v_wrap);
}
