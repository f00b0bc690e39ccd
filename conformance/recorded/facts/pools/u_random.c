/* SPDX-License-Identifier: Apache-2.0 */
/* Group U: what random calls on a driver found and the other groups had not asked. Part of ../pools.c, which includes it.
 *
 * U.box.CALL.STREAM: does the wait of a copy of a box give freed memory back? U.lower.HOW.WAIT: does a wait trim a pool whose threshold
 * was lowered, when it sees no free? U.reserve.N: does a reservation that finds no addresses free idle chunks? U.list.A.B: which of two
 * mistakes of cuMemPoolSetAccess counts. U.set.N: of cuMemSetMemPool. */

/* ---- waits of copies ---- */

static const char *const u_calls[] = {"nothing", "3d_htod", "3d_dtoh", "3d_dtod", "peer_htod", "peer_dtoh", "peer_dtod", "2d_htod", "2d_dtoh",
                                      "htod", "dtoh", "dtod", "memset", "sync"};

static CUresult u_copy(size_t call, CUdeviceptr p, void *host)
{
    CUDA_MEMCPY3D c = {.WidthInBytes = 64, .Height = 2, .Depth = 2, .srcPitch = 64, .dstPitch = 64, .srcHeight = 2, .dstHeight = 2};
    CUDA_MEMCPY3D_PEER peer;
    CUDA_MEMCPY2D rows = {.WidthInBytes = 64, .Height = 2, .srcPitch = 64, .dstPitch = 64};
    const size_t way = (call - 1) % 3;
    c.srcMemoryType = way == 0 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    c.dstMemoryType = way == 1 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    c.srcHost = c.dstHost = host;
    c.srcDevice = p, c.dstDevice = p + 4096;
    memcpy(&peer, &c, sizeof peer);
    peer.srcContext = peer.dstContext = primary[0];
    rows.srcMemoryType = call == 7 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    rows.dstMemoryType = call == 7 ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    rows.srcHost = rows.dstHost = host;
    rows.srcDevice = rows.dstDevice = p;
    switch (call) {
    case 0: return CUDA_SUCCESS;
    case 1: case 2: case 3: return cuMemcpy3D(&c);
    case 4: case 5: case 6: return cuMemcpy3DPeer(&peer);
    case 7: case 8: return cuMemcpy2D(&rows);
    case 9: return cuMemcpyHtoD(p, host, 64);
    case 10: return cuMemcpyDtoH(host, p, 64);
    case 11: return cuMemcpyDtoD(p, p + 4096, 64);
    case 12: return cuMemsetD8(p, 1, 64);
    default: return cuStreamSynchronize(NULL);
    }
}

static void u_box(size_t i, char *id, int run)
{
    static unsigned char host[65536];
    const size_t call = i / 2;
    const bool other = i % 2;
    snprintf(id, CASE_ID, "U.box.%s.%s", u_calls[call], other ? "other" : "default");
    if (!run)
        return;
    Pool pool = new_pool();
    CUstream s = new_stream();
    CUdeviceptr stays = take(pool, 8192, s), p = take(pool, 64 * MiB, s);
    cuStreamSynchronize(s);
    drop(p, other ? s : NULL);
    settle(s);
    settle(NULL);
    CUresult r = u_copy(call, stays, host);
    const u64 after = value_of(pool, RESERVED);
    cuCtxSynchronize();
    say(id, "%s res=%llu then=%llu", name_of(r), after, value_of(pool, RESERVED));
    drop(stays, s);
    cuCtxSynchronize();
    cuMemPoolDestroy(pool);
    cuStreamDestroy(s);
}

/* ---- a lower threshold ---- */

static const char *const u_hows[] = {"raised", "lowered", "lowered_twice", "lowered_pending", "lowered_other_pending", "zero_pending",
                                     "lowered_own_free", "zero_flushed"};
static const char *const u_waits[] = {"stream", "default", "context", "free", "trim_other", "twice"};

static void u_wait(size_t wait, CUstream w, Pool other)
{
    CUdeviceptr p;
    switch (wait) {
    case 0: cuStreamSynchronize(w); break;
    case 1: cuStreamSynchronize(NULL); break;
    case 2: cuCtxSynchronize(); break;
    case 3:
        p = take(other, 512, w);
        cuMemFree(p);
        break;
    case 4: cuMemPoolTrimTo(other, 0); break;
    default: cuStreamSynchronize(w), cuStreamSynchronize(w); break;
    }
}

/* Two idle chunks of three, which a synchronisation has seen; w has no free of its own. */
static void u_lower(size_t i, char *id, int run)
{
    const size_t how = i / COUNT(u_waits), wait = i % COUNT(u_waits);
    snprintf(id, CASE_ID, "U.lower.%s.%s", u_hows[how], u_waits[wait]);
    if (!run)
        return;
    Pool pool = keeping_pool(), other = keeping_pool();
    CUstream s = new_stream(), w = new_stream();
    CUdeviceptr stays = take(pool, 4096, s), late = take(pool, 4096, s), p = take(pool, 80 * MiB, s), elsewhere = take(other, 4096, s);
    if (how == 5 || how == 7)
        set_u64(pool, THRESHOLD, 0);
    if (how == 7) { /* pending memory moved by an allocation, as a wait does not */
        drop(p, s);
        settle(s);
        p = take(pool, 88 * MiB, w);
        drop(p, w);
        settle(w);
        p = take(pool, 1 * MiB, s);
    } else if (how != 5) {
        drop(p, s);
        cuStreamSynchronize(s);
    }
    if (how == 3 || how == 5)
        drop(how == 3 ? late : p, s);
    if (how == 4)
        drop(elsewhere, s);
    settle(s);
    if (how == 0)
        set_u64(pool, THRESHOLD, UINT64_MAX - 1);
    else if (how < 5 || how == 6)
        set_u64(pool, THRESHOLD, 40 * MiB);
    if (how == 2)
        set_u64(pool, THRESHOLD, 33 * MiB);
    if (how == 6)
        drop(late, w);
    settle(w);
    const u64 before = value_of(pool, RESERVED);
    u_wait(wait, w, other);
    const u64 after = value_of(pool, RESERVED);
    cuStreamSynchronize(w);
    const u64 again = value_of(pool, RESERVED);
    cuCtxSynchronize();
    say(id, "res=%llu after=%llu again=%llu context=%llu", before, after, again, value_of(pool, RESERVED));
    (void)stays;
}

/* ---- reservations without room ---- */

static const struct u_reserve {
    u64 size, alignment, hint;
    bool no_context;
} u_reserves[] = {
    {4 * MiB, 0, 0x7ffffd200000, false},  {14 * MiB, 4096, 0x7ffffd800000, true},  {14 * MiB, 4096, 0x7ffffd800000, false},
    {14 * MiB, 0, 0x7ffffd800000, true},  {2 * MiB, 0, 0x7ffffde00000, false},     {16 * MiB, 0, 0x7ffffd000000, false},
    {2 * MiB, 0, 0x7ffc00000000, false},  {2 * MiB, 0, (u64)1 << 60, false},       {(u64)1 << 47, 0, 0, false},
    {(u64)1 << 46, 4096, 0, false},       {(u64)6 << 44, 0, 0, true},              {2 * MiB, (u64)1 << 46, 0, false},
    {0x7ffcfa000000, 0, 0x306600000, false}, {0x7ffcfa000000, 4096, 0, true},      {(u64)1 << 63, 0, 0, false},
};

static void u_reserve(size_t i, char *id, int run)
{
    const struct u_reserve *c = &u_reserves[i / 2];
    const bool many = i % 2;
    snprintf(id, CASE_ID, "U.reserve.%zu.%s", i / 2, many ? "many" : "few");
    if (!run)
        return;
    Pool pool = keeping_pool();
    CUstream s = new_stream();
    CUdeviceptr p = take(pool, 80 * MiB, s), got = 0, more[64];
    for (int k = 0; k < 64 && many; k++)
        cuMemAddressReserve(&more[k], (size_t)(k % 8 + 1) * G, 0, k % 3 ? more[k - 1] + 9 * G : 0, 0);
    drop(p, s);
    cuStreamSynchronize(s);
    const size_t free = free_memory();
    if (c->no_context)
        cuCtxSetCurrent(NULL);
    CUresult r = cuMemAddressReserve(&got, c->size, c->alignment, c->hint, 0);
    cuCtxSetCurrent(primary[0]);
    say(id, "%s res=%llu free=%lld", name_of(r), value_of(pool, RESERVED), (i64)free_memory() - (i64)free);
    if (!r)
        cuMemAddressFree(got, c->size);
    for (int k = 0; k < 64 && many; k++)
        cuMemAddressFree(more[k], (size_t)(k % 8 + 1) * G);
    cuMemPoolDestroy(pool);
    cuStreamDestroy(s);
}

/* ---- lists of rights ---- */

static const struct u_mistake {
    const char *name;
    int type, id, flags;
} u_mistakes[] = {{"right", L_DEVICE, 0, RW}, {"none", L_DEVICE, 0, NONE},  {"read", L_DEVICE, 0, READ},  {"flags", L_DEVICE, 0, 7},
                  {"minus", L_DEVICE, 0, -1}, {"device", L_DEVICE, 99, RW}, {"host", L_HOST, 0, RW},      {"nowhere", 0, 0, RW},
                  {"read_host", L_HOST, 0, READ}, {"read_device", L_DEVICE, 99, READ}, {"flags_device", L_DEVICE, 99, 7},
                  {"flags_host", L_NUMA, 0, 7}, {"none_host", L_HOST, 0, NONE}};

static void u_list(size_t i, char *id, int run)
{
    const size_t count = COUNT(u_mistakes), where = i / (count * count);
    const struct u_mistake *a = &u_mistakes[i / count % count], *b = &u_mistakes[i % count];
    snprintf(id, CASE_ID, "U.list.%s.%s.%s", where ? "host" : "device", a->name, b->name);
    if (!run)
        return;
    CUmemPoolProps props = pool_props();
    if (where)
        props.location = loc_at(L_HOST, 0);
    Pool pool = pool_with(props);
    CUmemAccessDesc list[2] = {desc(a->type, a->id, a->flags), desc(b->type, b->id, b->flags)};
    say(id, "%s", name_of(cuMemPoolSetAccess(pool, list, 2)));
    cuMemPoolDestroy(pool);
}

/* ---- the current pool ---- */

static const struct u_set {
    int location, id, type, pool; /* pool: 0 none, 1 of the device, 2 of the host, 3 destroyed; location -1: NULL */
} u_sets[] = {{4, 0, 1, 0}, {4, 0, 1, 1}, {4, 0, 1, 2}, {4, 0, 1, 3}, {5, 0, 1, 0},  {5, 0, 1, 1},  {-1, 0, 1, 0}, {1, 99, 1, 0},
              {1, 99, 1, 1}, {1, 0, 9, 0}, {1, 0, 9, 1}, {4, 0, 9, 0}, {4, 0, 9, 1}, {0, 0, 1, 0}, {0, 0, 1, 1}, {9, 0, 1, 0},
              {9, 0, 1, 1},  {1, 0, 1, 2}, {2, 0, 1, 1}, {1, 0, 1, 3}, {1, 99, 1, 3}, {2, 0, 1, 3}};

static void u_set(size_t i, char *id, int run)
{
    const struct u_set *c = &u_sets[i];
    snprintf(id, CASE_ID, "U.set.%d.%d.%d.%d", c->location, c->id, c->type, c->pool);
    if (!run)
        return;
    CUresult (*set)(CUmemLocation *, CUmemAllocationType, CUmemoryPool) =
        (CUresult(*)(CUmemLocation *, CUmemAllocationType, CUmemoryPool))dlsym(RTLD_DEFAULT, "cuMemSetMemPool");
    CUmemPoolProps props = pool_props();
    if (c->pool == 2)
        props.location = loc_at(L_HOST, 0);
    Pool pool = pool_with(props);
    CUmemLocation location = loc_at(c->location, c->id);
    if (c->pool == 3)
        cuMemPoolDestroy(pool);
    CUresult r = set ? set(c->location < 0 ? NULL : &location, (CUmemAllocationType)c->type, c->pool ? pool : NULL) : CUDA_ERROR_NOT_FOUND;
    say(id, "%s", name_of(r));
}

static void group_u(void)
{
    if (!is_wanted("U"))
        return;
    run_cases(init, 2 * COUNT(u_calls), u_box);
    run_cases(init, COUNT(u_hows) * COUNT(u_waits), u_lower);
    run_cases(init, 2 * COUNT(u_reserves), u_reserve);
    run_cases(init, 2 * COUNT(u_mistakes) * COUNT(u_mistakes), u_list);
    run_cases(init, COUNT(u_sets), u_set);
}
