/* SPDX-License-Identifier: Apache-2.0 */
/* Group J: memory of pools under every call that asks about an address or takes one. Part of ../pools.c, which includes it. */

enum { J_LIVE, J_PENDING_ALLOC, J_PENDING_FREE, J_FREED, J_TRIMMED, J_HOST, J_EXPORTABLE, J_DEFAULT, J_KINDS };
static const char *const j_kinds[J_KINDS] = {"live", "pending_alloc", "pending_free", "freed", "trimmed", "host", "exportable", "default"};

struct j_place {
    Pool pool;
    CUstream s;
    CUdeviceptr p;
    size_t size;
};

static struct j_place j_place(u64 kind, size_t size)
{
    CUmemPoolProps props = pool_props();
    if (kind == J_HOST)
        props.location = loc_at(L_HOST, 0);
    if (kind == J_EXPORTABLE)
        props.handleTypes = FD;
    struct j_place j = {kind == J_DEFAULT ? default_pool() : pool_with(props), new_stream(), 0, size};
    set_u64(j.pool, THRESHOLD, UINT64_MAX);
    gate_reset();
    if (kind == J_PENDING_ALLOC)
        gate_in(j.s);
    j.p = take(j.pool, size, j.s);
    if (kind == J_PENDING_FREE)
        gate_in(j.s);
    if (kind == J_PENDING_FREE || kind == J_FREED || kind == J_TRIMMED)
        drop(j.p, j.s);
    if (kind == J_FREED || kind == J_TRIMMED)
        cuStreamSynchronize(j.s);
    if (kind == J_TRIMMED)
        cuMemPoolTrimTo(j.pool, 0);
    return j;
}

static void j_end(struct j_place *j, u64 kind)
{
    gate_opened();
    cuStreamSynchronize(j->s);
    if (kind != J_PENDING_FREE && kind != J_FREED && kind != J_TRIMMED)
        cuMemFree(j->p);
    set_u64(j->pool, THRESHOLD, 0);
    cuStreamSynchronize(j->s);
    if (kind != J_DEFAULT)
        cuMemPoolDestroy(j->pool);
    cuStreamDestroy(j->s);
}

static const struct { const char *id; i64 off; } j_at[] = {{"start", 0}, {"inside", 4099}, {"last", 9999}, {"rounded", 10239}, {"past", 10240},
                                                          {"next2M", (i64)G + 8}, {"before", -1}};

/* Every pointer attribute at places of an allocation of 10000 bytes. */
static void j_attributes(size_t i, char *id, int run)
{
    size_t kind = i / COUNT(j_at), at = i % COUNT(j_at);
    snprintf(id, CASE_ID, "J.attribute.%s.%s", j_kinds[kind], j_at[at].id);
    if (!run)
        return;
    struct j_place j = j_place(kind, 10000);
    CUdeviceptr p = j.p + (u64)j_at[at].off;
    for (int a = 0; a <= 21; a++) {
        u64 v[8] = {0x7777777777777777};
        char text[64];
        CUresult r = cuPointerGetAttribute(v, (CUpointer_attribute)a, p);
        snprintf(text, sizeof text, "%llx", v[0]);
        if (!r && a == CU_POINTER_ATTRIBUTE_CONTEXT)
            snprintf(text, sizeof text, "%s", v[0] == (u64)(uintptr_t)primary[0] ? "primary" : v[0] ? "other" : "0");
        else if (!r && (a == CU_POINTER_ATTRIBUTE_DEVICE_POINTER || a == CU_POINTER_ATTRIBUTE_HOST_POINTER || a == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR))
            snprintf(text, sizeof text, "%s%lld", v[0] ? "p" : "0:", v[0] ? (i64)(v[0] - j.p) : 0);
        else if (!r && a == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
            snprintf(text, sizeof text, "%s", v[0] == (u64)(uintptr_t)j.pool ? "pool" : v[0] ? "other" : "0");
        else if (!r && (a == CU_POINTER_ATTRIBUTE_BUFFER_ID || a == CU_POINTER_ATTRIBUTE_P2P_TOKENS || a == CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID))
            snprintf(text, sizeof text, "%s", v[0] ? "number" : "0");
        else if (!r && a == CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR)
            snprintf(text, sizeof text, "slot+%lld", (i64)(v[0] - (p & ~(u64)(32 * MiB - 1))));
        RV(sub(id, "%d", a), r, "%s", text);
    }
    CUmemorytype type = (CUmemorytype)99;
    Pool pool = (Pool)(uintptr_t)77;
    CUcontext ctx = NULL;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, CU_POINTER_ATTRIBUTE_CONTEXT};
    void *values[] = {&type, &pool, &ctx};
    RV(sub(id, "attributes"), cuPointerGetAttributes(3, which, values, p), "type=%d pool=%s ctx=%d", type,
       pool == j.pool ? "pool" : pool ? "other" : "0", ctx == primary[0]);
    j_end(&j, kind);
}

/* The id of a buffer: does it change when the block is given out again? */
static void j_buffer_id(const char *id, u64 unused)
{
    (void)unused;
    struct j_place j = j_place(J_LIVE, 4096);
    u64 first = 0, second = 0, other = 0;
    cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_BUFFER_ID, j.p);
    CUdeviceptr q = take(j.pool, 4096, j.s);
    cuPointerGetAttribute(&other, CU_POINTER_ATTRIBUTE_BUFFER_ID, q);
    drop(j.p, j.s);
    CUdeviceptr again = take(j.pool, 4096, j.s);
    cuPointerGetAttribute(&second, CU_POINTER_ATTRIBUTE_BUFFER_ID, again);
    say(id, "address_same=%d id_same=%d other_differs=%d rises=%d", again == j.p, first == second, other != first, second > first);
    cuMemFree(q);
    j.p = again;
    j_end(&j, J_LIVE);
}

enum { J_CALLS = 28 };
static const char *const j_names[J_CALLS] = {
    "range", "range_inner", "get_access", "get_access_host", "retain", "unmap", "set_access", "set_access_none", "address_free", "dma_buf",
    "dma_buf_part", "ipc", "host_pointer", "fill", "fill_past", "read", "write", "set_attribute", "advise", "prefetch", "register", "export_pointer",
    "fill_stream", "map_over", "fill_rounded", "copy_out_of", "fill_2M", "fill_all_reserved"};

static CUresult j_call(struct j_place *j, size_t call, i64 *out)
{
    CUdeviceptr p = j->p, base = 77;
    size_t size = 77;
    u64 flags = 99;
    CUmemLocation device = loc_at(L_DEVICE, 0), host = loc_at(L_HOST, 0);
    CUmemAccessDesc rw = desc(L_DEVICE, 0, RW), none = desc(L_DEVICE, 0, 0);
    Handle h = 0;
    int fd = -7, on = 1;
    CUmemPoolPtrExportData data;
    unsigned char bytes[16] = {0};
    CUresult r;
    switch (call) {
    case 0: r = cuMemGetAddressRange(&base, &size, p); *out = r ? (i64)size : (i64)(base - p) * 1000000000 + (i64)size; return r;
    case 1: r = cuMemGetAddressRange(&base, &size, p + 5000); *out = r ? (i64)size : (i64)(base - p) * 1000000000 + (i64)size; return r;
    case 2: r = cuMemGetAccess(&flags, &device, p); *out = (i64)flags; return r;
    case 3: r = cuMemGetAccess(&flags, &host, p); *out = (i64)flags; return r;
    case 4: r = cuMemRetainAllocationHandle(&h, pointer(p)); *out = h != 0; return r;
    case 5: return cuMemUnmap(p, G);
    case 6: return cuMemSetAccess(p, G, &rw, 1);
    case 7: return cuMemSetAccess(p, G, &none, 1);
    case 8: return cuMemAddressFree(p, G);
    case 9: r = cuMemGetHandleForAddressRange(&fd, p, G, (CUmemRangeHandleType)1, 0); *out = fd != -7; return r;
    case 10: r = cuMemGetHandleForAddressRange(&fd, p, 4096, (CUmemRangeHandleType)1, 0); *out = fd != -7; return r;
    case 11: return ipc_handle(p);
    case 12: r = cuMemHostGetDevicePointer(&base, pointer(p), 0); *out = r ? base != 77 : (i64)(base - p); return r;
    case 13: return cuMemsetD8(p, 1, 10000);
    case 14: return cuMemsetD8(p, 1, 10241);
    case 15: return cuMemcpyDtoH(bytes, p, 16);
    case 16: return cuMemcpyHtoD(p, bytes, 16);
    case 17: return cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p);
    case 18: return advise(p, 4096);
    case 19: return prefetch(p, 4096);
    case 20: return cuMemHostRegister(pointer(p), 4096, 0);
    case 21: return cuMemPoolExportPointer(&data, p);
    case 22: return cuMemsetD8Async(p, 1, 10000, j->s);
    case 23: h = make(G); r = cuMemMap(p & ~(u64)(G - 1), G, 0, h, 0); cuMemRelease(h); return r;
    case 24: return cuMemsetD8(p, 1, 10240);
    case 25: return cuMemcpyDtoD(p + 4096, p, 4096);
    case 26: return cuMemsetD8(p, 1, G);
    default: return cuMemsetD8(p, 1, value_of(j->pool, RESERVED));
    }
}

static void j_calls(size_t i, char *id, int run)
{
    size_t kind = i / J_CALLS, call = i % J_CALLS;
    snprintf(id, CASE_ID, "J.call.%s.%s", j_kinds[kind], j_names[call]);
    if (!run)
        return;
    struct j_place j = j_place(kind, 10000);
    i64 out = 0;
    CUresult r = j_call(&j, call, &out);
    const char *waited = gate_opened();
    CUresult sync = cuCtxSynchronize();
    say(id, "%s out=%lld sync=%s%s", name_of(r), out, name_of(sync), waited);
    if (!sync)
        j_end(&j, kind);
}

static void group_j(void)
{
    static const struct pool_case cases[] = {{"J.buffer_id", j_buffer_id, 0}};
    if (!is_wanted("J"))
        return;
    run_cases(init, J_KINDS * COUNT(j_at), j_attributes);
    run_cases(init, J_KINDS * J_CALLS, j_calls);
    run_table(cases, 1);
}
