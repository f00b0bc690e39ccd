/* SPDX-License-Identifier: Apache-2.0 */
/* Group I: pools and their memory in a second process. Part of ../pools.c, which includes it.
 *
 * Each case starts two processes. The first, which exports, sends orders over a socket; the second carries them out and answers. */

enum i_what {
    I_IMPORT_POOL, I_IMPORT_POINTER, I_FREE_ASYNC, I_FREE, I_READ, I_WRITE, I_GET, I_SET_THRESHOLD, I_DESTROY, I_ALLOC, I_TRIM, I_GET_ACCESS,
    I_SET_ACCESS, I_SET_CURRENT, I_EXPORT_POOL, I_EXPORT_POINTER, I_POINTER_ATTRIBUTE, I_RANGE, I_SYNC, I_COPY, I_HANDLE, I_IPC, I_RETAIN,
    I_FREE_MEMORY, I_GATE, I_OPEN, I_END
};

struct i_order {
    int what, a;
    u64 b, c;
    CUmemPoolPtrExportData data;
};

struct i_answer {
    int result;
    u64 value, more;
    CUmemPoolPtrExportData data;
};

static int i_socket;
static Pool i_pools[4];
static CUdeviceptr i_p[8];

static void i_send(const struct i_order *o, int fd)
{
    struct iovec v = {(void *)o, sizeof *o};
    union { struct cmsghdr h; char space[CMSG_SPACE(sizeof(int))]; } control;
    struct msghdr m;
    memset(&m, 0, sizeof m);
    m.msg_iov = &v;
    m.msg_iovlen = 1;
    if (fd >= 0) {
        memset(&control, 0, sizeof control);
        m.msg_control = &control;
        m.msg_controllen = sizeof control.space;
        control.h.cmsg_level = SOL_SOCKET;
        control.h.cmsg_type = SCM_RIGHTS;
        control.h.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.h), &fd, sizeof fd);
    }
    if (sendmsg(i_socket, &m, MSG_NOSIGNAL) < 0)
        say("I.lost!", "the second process ended");
}

static int i_receive(struct i_order *o)
{
    struct iovec v = {o, sizeof *o};
    union { struct cmsghdr h; char space[CMSG_SPACE(sizeof(int))]; } control;
    struct msghdr m;
    int fd = -1;
    memset(&m, 0, sizeof m);
    m.msg_iov = &v;
    m.msg_iovlen = 1;
    m.msg_control = &control;
    m.msg_controllen = sizeof control.space;
    if (recvmsg(i_socket, &m, 0) != (ssize_t)sizeof *o)
        _exit(0);
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    if (h && h->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(h), sizeof fd);
    return fd;
}

static CUresult i_carry_out(struct i_order *o, int fd, struct i_answer *a)
{
    Pool *pool = &i_pools[o->a & 3];
    CUdeviceptr *p = &i_p[o->a & 7];
    CUmemLocation l = loc_at((int)o->b, 0);
    CUmemAccess_flags flags = (CUmemAccess_flags)99;
    CUmemAccessDesc d = desc(L_DEVICE, 0, (int)o->b);
    CUdeviceptr base = 77;
    size_t size = 77;
    unsigned char byte = 0;
    int out = -7;
    Handle h = 0;
    CUresult r;
    switch ((enum i_what)o->what) {
    case I_IMPORT_POOL: r = cuMemPoolImportFromShareableHandle(pool, pointer((CUdeviceptr)fd), FD, 0); close(fd); return r;
    case I_IMPORT_POINTER:
        base = *p;
        r = cuMemPoolImportPointer(p, i_pools[o->b & 3], &o->data);
        a->value = *p - i_p[o->c & 7], a->more = *p == base;
        return r;
    case I_FREE_ASYNC: return cuMemFreeAsync(*p + o->b, 0);
    case I_FREE: return cuMemFree(*p + o->b);
    case I_READ: r = cuMemcpyDtoH(&byte, *p + o->b, 1); a->value = byte; return r;
    case I_WRITE: return cuMemsetD8(*p + o->b, (unsigned char)o->c, 1);
    case I_GET: a->value = 77; return cuMemPoolGetAttribute(*pool, (CUmemPool_attribute)o->b, &a->value);
    case I_SET_THRESHOLD: return cuMemPoolSetAttribute(*pool, (CUmemPool_attribute)o->c, &o->b);
    case I_DESTROY: return cuMemPoolDestroy(*pool);
    case I_ALLOC: a->value = 77; r = cuMemAllocFromPoolAsync(&base, 4096, *pool, 0); a->value = base != 77; return r;
    case I_TRIM: return cuMemPoolTrimTo(*pool, o->b);
    case I_GET_ACCESS: r = cuMemPoolGetAccess(&flags, *pool, &l); a->value = flags; return r;
    case I_SET_ACCESS: return cuMemPoolSetAccess(*pool, &d, 1);
    case I_SET_CURRENT: return cuDeviceSetMemPool(0, *pool);
    case I_EXPORT_POOL: r = cuMemPoolExportToShareableHandle(&out, *pool, FD, 0); a->value = out != -7; return r;
    case I_EXPORT_POINTER: return cuMemPoolExportPointer(&a->data, *p);
    case I_POINTER_ATTRIBUTE:
        a->value = 0x77;
        r = cuPointerGetAttribute(&a->value, (CUpointer_attribute)o->b, *p + o->c);
        if (o->b == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
            a->value = a->value == (u64)(uintptr_t)i_pools[0];
        if (o->b == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR || o->b == CU_POINTER_ATTRIBUTE_DEVICE_POINTER)
            a->value -= *p;
        return r;
    case I_RANGE: r = cuMemGetAddressRange(&base, &size, *p + o->b); a->value = base - *p, a->more = size; return r;
    case I_SYNC: return cuCtxSynchronize();
    case I_COPY: return cuMemcpyDtoD(*p, *p + 8, 8);
    case I_HANDLE: r = cuMemGetHandleForAddressRange(&out, *p, 4096, (CUmemRangeHandleType)1, 0); return r;
    case I_IPC: return ipc_handle(*p);
    case I_RETAIN: return cuMemRetainAllocationHandle(&h, pointer(*p));
    case I_FREE_MEMORY: a->value = free_memory(); return CUDA_SUCCESS;
    case I_GATE: gate_in(0); return CUDA_SUCCESS;
    case I_OPEN: gate_open = 1; return CUDA_SUCCESS;
    default: _exit(0);
    }
}

static void i_obey(void)
{
    end_after(6);
    init();
    for (;;) {
        struct i_order o;
        struct i_answer a;
        int fd = i_receive(&o);
        memset(&a, 0, sizeof a);
        a.result = (int)i_carry_out(&o, fd, &a);
        if (write(i_socket, &a, sizeof a) != (ssize_t)sizeof a)
            _exit(0);
    }
}

static struct i_answer i_last;

static CUresult i_ask_with(int fd, const CUmemPoolPtrExportData *data, int what, int a, u64 b, u64 c)
{
    struct i_order o;
    memset(&o, 0, sizeof o);
    o.what = what, o.a = a, o.b = b, o.c = c;
    if (data)
        o.data = *data;
    i_send(&o, fd);
    memset(&i_last, 0, sizeof i_last);
    if (read(i_socket, &i_last, sizeof i_last) != (ssize_t)sizeof i_last)
        return (CUresult)12345; /* prints as code12345: the second process is gone */
    return (CUresult)i_last.result;
}

static CUresult i_ask(int what, int a, u64 b, u64 c)
{
    return i_ask_with(-1, NULL, what, a, b, c);
}

#define ASK(id, ...) RV(id, i_ask(__VA_ARGS__), "=%lld", (i64)i_last.value)

static Pool i_new_pool(void)
{
    CUmemPoolProps p = pool_props();
    p.handleTypes = FD;
    return pool_with(p);
}

static void i_give_pool(const char *id, Pool pool, int slot)
{
    int fd = -1;
    CUresult r = cuMemPoolExportToShareableHandle(&fd, pool, FD, 0);
    RV(id, i_ask_with(fd, NULL, I_IMPORT_POOL, slot, 0, 0), "%s", name_of(r));
    close(fd);
}

static CUmemPoolPtrExportData i_data(CUdeviceptr p)
{
    CUmemPoolPtrExportData data;
    memset(&data, 0, sizeof data);
    CUresult r = cuMemPoolExportPointer(&data, p);
    if (r)
        say("I.export!", "%s", name_of(r));
    return data;
}

/* The offset is that from the pointer of slot `from`. */
static void i_give_pointer(const char *id, const CUmemPoolPtrExportData *data, int pool, int slot, int from)
{
    CUresult r = i_ask_with(-1, data, I_IMPORT_POINTER, slot, (u64)pool, (u64)from);
    say(id, "%s off=%lld unchanged=%d", name_of(r), from == slot ? 0 : (i64)i_last.value, (int)i_last.more);
}

static int i_byte(CUdeviceptr p)
{
    cuCtxSynchronize();
    return byte_at(p);
}

/* ---- the cases ---- */

static void i_basics(void)
{
    Pool pool = i_new_pool();
    i_give_pool("I.basics.pool", pool, 0);
    CUdeviceptr a = take(pool, 4096, 0), b = take(pool, 3 * G, 0), c = take(pool, 100, 0);
    cuMemsetD8(a, 0x11, 4096), cuMemsetD8(b, 0x22, 3 * G), cuMemsetD8(c, 0x33, 100);
    CUmemPoolPtrExportData da = i_data(a), db = i_data(b), dc = i_data(c), inner = i_data(b + G), zero;
    memset(&zero, 0, sizeof zero);
    say("I.basics.exporter", "b=%lld c=%lld %s same_data=%d", (i64)(b - a), (i64)(c - a), now(pool), !memcmp(&da, &db, sizeof da));
    CUmemPoolPtrExportData again = i_data(a);
    say("I.basics.export_twice", "same_data=%d inner_as_outer=%d", !memcmp(&da, &again, sizeof da), !memcmp(&db, &inner, sizeof db));
    for (u64 k = 1; k <= 8; k++)
        ASK(sub("I.basics.attribute", "%llu", k), I_GET, 0, k, 0);
    for (u64 k = 1; k <= 3; k++)
        ASK(sub("I.basics.access", "%llu", k), I_GET_ACCESS, 0, k, 0);
    i_give_pointer("I.basics.a", &da, 0, 0, 0);
    i_give_pointer("I.basics.b", &db, 0, 1, 0);
    i_give_pointer("I.basics.c", &dc, 0, 2, 0);
    i_give_pointer("I.basics.a_again", &da, 0, 3, 0);
    i_give_pointer("I.basics.inner", &inner, 0, 4, 0);
    i_give_pointer("I.basics.zero", &zero, 0, 5, 0);
    for (int k = 0; k < 3; k++) {
        ASK(sub("I.basics.read", "%d", k), I_READ, k, 0, 0);
        RV(sub("I.basics.range", "%d", k), i_ask(I_RANGE, k, 0, 0), "base=%lld size=%llu", (i64)i_last.value, i_last.more);
    }
    RV("I.basics.range_inner", i_ask(I_RANGE, 1, G + 5, 0), "base=%lld size=%llu", (i64)i_last.value, i_last.more);
    ASK("I.basics.read_inner", I_READ, 1, 2 * G, 0);
    ASK("I.basics.read_past", I_READ, 2, 512, 0);
    for (u64 k = 1; k <= 8; k++)
        ASK(sub("I.basics.attribute_then", "%llu", k), I_GET, 0, k, 0);
    static const int attributes[] = {2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
    for (size_t k = 0; k < COUNT(attributes); k++) {
        ASK(sub("I.basics.pointer", "%d", attributes[k]), I_POINTER_ATTRIBUTE, 1, (u64)attributes[k], 0);
        ASK(sub("I.basics.pointer_inner", "%d", attributes[k]), I_POINTER_ATTRIBUTE, 1, (u64)attributes[k], G + 4);
    }
    ASK("I.basics.write", I_WRITE, 0, 5, 0x44);
    say("I.basics.written", "%d", i_byte(a + 5));
    ASK("I.basics.handle", I_HANDLE, 1, 0, 0);
    ASK("I.basics.ipc", I_IPC, 0, 0, 0);
    ASK("I.basics.retain", I_RETAIN, 0, 0, 0);
    ASK("I.basics.alloc", I_ALLOC, 0, 0, 0);
    ASK("I.basics.trim", I_TRIM, 0, 0, 0);
    ASK("I.basics.threshold", I_SET_THRESHOLD, 0, 1000, THRESHOLD);
    ASK("I.basics.reuse", I_SET_THRESHOLD, 0, 0, FOLLOW);
    ASK("I.basics.high", I_SET_THRESHOLD, 0, 0, USED_HIGH);
    ASK("I.basics.current", I_SET_CURRENT, 0, 0, 0);
    ASK("I.basics.no_access", I_SET_ACCESS, 0, 0, 0);
    ASK("I.basics.read_access", I_SET_ACCESS, 0, 1, 0);
    ASK("I.basics.rw_access", I_SET_ACCESS, 0, 3, 0);
    ASK("I.basics.read_then", I_READ, 0, 0, 0);
    ASK("I.basics.export_pool", I_EXPORT_POOL, 0, 0, 0);
    ASK("I.basics.export_pointer", I_EXPORT_POINTER, 1, 0, 0);
    ASK("I.basics.free_inner", I_FREE_ASYNC, 1, G, 0);
    ASK("I.basics.free_a", I_FREE_ASYNC, 0, 0, 0);
    ASK("I.basics.free_a_again", I_FREE_ASYNC, 0, 0, 0);
    ASK("I.basics.sync", I_SYNC, 0, 0, 0);
    ASK("I.basics.free_a_third", I_FREE_ASYNC, 0, 0, 0);
    ASK("I.basics.free_b_plainly", I_FREE, 1, 0, 0);
    ASK("I.basics.free_b_again", I_FREE, 1, 0, 0);
    i_give_pointer("I.basics.a_after_free", &da, 0, 6, 0);
    ASK("I.basics.read_after_free", I_READ, 6, 0, 0);
    say("I.basics.exporter_end", "%s free=%s", now(pool), name_of(cuMemFreeAsync(a, 0)));
}

/* What the importer keeps when the exporter frees first. */
static void i_exporter_frees(void)
{
    Pool pool = i_new_pool();
    i_give_pool("I.exporter.pool", pool, 0);
    size_t before = free_memory();
    CUdeviceptr a = take(pool, 32 * MiB, 0), b = take(pool, 32 * MiB, 0);
    cuMemsetD8(a, 0x11, 4096), cuMemsetD8(b, 0x22, 4096);
    CUmemPoolPtrExportData da = i_data(a), db = i_data(b);
    i_give_pointer("I.exporter.a", &da, 0, 0, 0);
    say("I.exporter.taken", "%lld", (i64)before - (i64)free_memory());
    R("I.exporter.free", cuMemFreeAsync(a, 0));
    cuCtxSynchronize();
    say("I.exporter.then", "%s taken=%lld", now(pool), (i64)before - (i64)free_memory());
    ASK("I.exporter.read", I_READ, 0, 0, 0);
    CUdeviceptr c = take(pool, 32 * MiB, 0);
    say("I.exporter.reuse", "same=%d %s", c == a, now(pool));
    cuMemsetD8(c, 0x55, 4096);
    cuCtxSynchronize();
    ASK("I.exporter.read_reused", I_READ, 0, 0, 0);
    i_give_pointer("I.exporter.import_old", &da, 0, 1, 0);
    R("I.exporter.free_b", cuMemFreeAsync(b, 0));
    i_give_pointer("I.exporter.import_freed", &db, 0, 2, 0);
    cuCtxSynchronize();
    i_give_pointer("I.exporter.import_freed_synced", &db, 0, 3, 0);
    ASK("I.exporter.importer_free", I_FREE_ASYNC, 0, 0, 0);
    ASK("I.exporter.sync", I_SYNC, 0, 0, 0);
    cuCtxSynchronize();
    say("I.exporter.end", "%s taken=%lld", now(pool), (i64)before - (i64)free_memory());
    R("I.exporter.destroy", cuMemPoolDestroy(pool));
    i_give_pointer("I.exporter.import_destroyed", &da, 0, 4, 0);
    ASK("I.exporter.importer_destroys", I_DESTROY, 0, 0, 0);
    say("I.exporter.after", "taken=%lld", (i64)before - (i64)free_memory());
}

/* The importer keeps its pointer; the exporter frees, destroys. Then trim. */
static void i_kept(void)
{
    Pool pool = i_new_pool();
    i_give_pool("I.kept.pool", pool, 0);
    size_t before = free_memory();
    CUdeviceptr a = take(pool, 32 * MiB, 0);
    cuMemsetD8(a, 0x11, 4096);
    CUmemPoolPtrExportData da = i_data(a);
    i_give_pointer("I.kept.a", &da, 0, 0, 0);
    ASK("I.kept.destroy_import", I_DESTROY, 0, 0, 0);
    ASK("I.kept.read", I_READ, 0, 0, 0);
    R("I.kept.free", cuMemFreeAsync(a, 0));
    cuCtxSynchronize();
    cuMemPoolTrimTo(pool, 0);
    say("I.kept.trimmed", "%s taken=%lld", now(pool), (i64)before - (i64)free_memory());
    ASK("I.kept.read_trimmed", I_READ, 0, 0, 0);
    R("I.kept.destroy", cuMemPoolDestroy(pool));
    say("I.kept.destroyed", "taken=%lld", (i64)before - (i64)free_memory());
    ASK("I.kept.read_destroyed", I_READ, 0, 0, 0);
    ASK("I.kept.free_import", I_FREE_ASYNC, 0, 0, 0);
    ASK("I.kept.sync", I_SYNC, 0, 0, 0);
    say("I.kept.freed", "taken=%lld", (i64)before - (i64)free_memory());
}

/* One pool imported twice; its pointers with the wrong pool, in the exporter, with changed data. */
static void i_twice(void)
{
    Pool pool = i_new_pool(), other = i_new_pool();
    i_give_pool("I.twice.first", pool, 0);
    i_give_pool("I.twice.second", pool, 1);
    i_give_pool("I.twice.other", other, 2);
    CUdeviceptr a = take(pool, 4096, 0), b = take(other, 4096, 0);
    cuMemsetD8(a, 0x11, 4096), cuMemsetD8(b, 0x22, 4096);
    CUmemPoolPtrExportData da = i_data(a), db = i_data(b), changed;
    i_give_pointer("I.twice.a0", &da, 0, 0, 0);
    i_give_pointer("I.twice.a1", &da, 1, 1, 0);
    i_give_pointer("I.twice.a_of_other", &da, 2, 2, 0);
    i_give_pointer("I.twice.b", &db, 2, 3, 3);
    ASK("I.twice.read", I_READ, 0, 0, 0);
    ASK("I.twice.read1", I_READ, 1, 0, 0);
    ASK("I.twice.free0", I_FREE_ASYNC, 0, 0, 0);
    ASK("I.twice.sync", I_SYNC, 0, 0, 0);
    ASK("I.twice.read1_then", I_READ, 1, 0, 0);
    ASK("I.twice.free1", I_FREE_ASYNC, 1, 0, 0);
    ASK("I.twice.destroy0", I_DESTROY, 0, 0, 0);
    i_give_pointer("I.twice.a1_after", &da, 1, 4, 0);
    for (size_t k = 0; k < sizeof changed.reserved; k += 8) {
        changed = da;
        changed.reserved[k] ^= 0x40;
        CUresult r = i_ask_with(-1, &changed, I_IMPORT_POINTER, 5, 1, 0);
        say(sub("I.twice.changed", "%zu", k), "%s", name_of(r));
    }
    CUdeviceptr own = 77;
    Pool in = NULL;
    int fd = -1;
    RV("I.twice.own_pool", cuMemPoolImportPointer(&own, pool, &da), "wrote=%d", own != 77);
    own = 77;
    cuMemPoolExportToShareableHandle(&fd, pool, FD, 0);
    RV("I.twice.own_import", cuMemPoolImportFromShareableHandle(&in, pointer((CUdeviceptr)fd), FD, 0), "same=%d", in == pool);
    CUresult r = cuMemPoolImportPointer(&own, in, &da);
    say("I.twice.own_import_pointer", "%s wrote=%d same=%d", name_of(r), own != 77, own == a);
    R("I.twice.null_data", cuMemPoolImportPointer(&own, in, NULL));
    R("I.twice.null_out", cuMemPoolImportPointer(NULL, in, &da));
    say("I.twice.read_own", "%d", r ? -1 : i_byte(own));
    if (!r)
        R("I.twice.free_own", cuMemFreeAsync(own, 0));
    say("I.twice.exporter", "%s", now(pool));
}

/* The exporter ends: what has the importer left? Runs in the second process, with the first gone. */
static void i_exporter_ends(const char *id, bool frees)
{
    int ends[2], to[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) || pipe(to))
        return;
    pid_t exporter = fork();
    if (exporter == 0) {
        end_after(6);
        init();
        i_socket = ends[1];
        Pool pool = i_new_pool();
        int fd = -1;
        cuMemPoolExportToShareableHandle(&fd, pool, FD, 0);
        CUdeviceptr a = take(pool, 32 * MiB, 0);
        cuMemsetD8(a, 0x11, 4096);
        cuCtxSynchronize();
        struct i_order o;
        memset(&o, 0, sizeof o);
        o.data = i_data(a);
        i_send(&o, fd);
        char c;
        if (read(to[0], &c, 1) != 1)
            _exit(1);
        if (frees) {
            cuMemFreeAsync(a, 0);
            cuCtxSynchronize();
        }
        kill(getpid(), frees ? SIGTERM : SIGKILL);
    }
    init();
    close(ends[1]);
    struct i_order o;
    i_socket = ends[0];
    int fd = i_receive(&o);
    Pool pool = NULL;
    CUdeviceptr p = 0, q = 0;
    R(sub(id, "pool"), cuMemPoolImportFromShareableHandle(&pool, pointer((CUdeviceptr)fd), FD, 0));
    R(sub(id, "pointer"), cuMemPoolImportPointer(&p, pool, &o.data));
    say(sub(id, "byte"), "%d", byte_at(p));
    if (write(to[1], "x", 1) != 1)
        return;
    int status;
    waitpid(exporter, &status, 0);
    say(sub(id, "byte_then"), "%d", byte_at(p));
    R(sub(id, "pointer_then"), cuMemPoolImportPointer(&q, pool, &o.data));
    Pool again = NULL;
    R(sub(id, "pool_then"), cuMemPoolImportFromShareableHandle(&again, pointer((CUdeviceptr)fd), FD, 0));
    say(sub(id, "state"), "%s", state(pool));
    R(sub(id, "free"), cuMemFreeAsync(p, 0));
    R(sub(id, "destroy"), cuMemPoolDestroy(pool));
    R(sub(id, "sync"), cuCtxSynchronize());
}

static void i_killed(void)
{
    i_exporter_ends("I.killed", false);
}

static void i_ended(void)
{
    i_exporter_ends("I.ended", true);
}

/* Access that the exporter's pool has or gets: what does the importer see? */
static void i_access(void)
{
    Pool pool = i_new_pool();
    i_give_pool("I.access.pool", pool, 0);
    CUdeviceptr a = take(pool, 4096, 0);
    cuMemsetD8(a, 0x11, 4096);
    CUmemPoolPtrExportData da = i_data(a);
    ASK("I.access.before_import", I_SET_ACCESS, 0, 0, 0);
    i_give_pointer("I.access.a", &da, 0, 0, 0);
    ASK("I.access.read", I_READ, 0, 0, 0);
    ASK("I.access.get", I_GET_ACCESS, 0, 1, 0);
    ASK("I.access.ro", I_SET_ACCESS, 0, 1, 0);
    ASK("I.access.get_ro", I_GET_ACCESS, 0, 1, 0);
    ASK("I.access.write_ro", I_WRITE, 0, 0, 1);
}

/* The pool of the exporter is used on: chunks that came after the import. */
static void i_grows(void)
{
    Pool pool = i_new_pool();
    keep_all(pool);
    i_give_pool("I.grows.pool", pool, 0);
    CUdeviceptr p[6];
    static const size_t sizes[6] = {4096, G, 40 * MiB, 100 * MiB, 512, 3 * MiB};
    for (int k = 0; k < 6; k++) {
        p[k] = take(pool, sizes[k], 0);
        cuMemsetD8(p[k], (unsigned char)(k + 1), 512);
        cuCtxSynchronize();
        CUmemPoolPtrExportData d = i_data(p[k]);
        i_give_pointer(sub("I.grows.import", "%d", k), &d, 0, k, 0);
        ASK(sub("I.grows.read", "%d", k), I_READ, k, 0, 0);
        ASK(sub("I.grows.reserved", "%d", k), I_GET, 0, RESERVED, 0);
        say(sub("I.grows.exporter", "%d", k), "off=%lld %s", (i64)(p[k] - p[0]), now(pool));
    }
}

/* Memory that was taken before its pool was exported: which of these make its pointer exportable? */
static void i_orders(void)
{
    CUmemPoolPtrExportData data;
    Pool pool = i_new_pool();
    CUdeviceptr a = take(pool, 4096, 0), b;
    R("I.orders.before", cuMemPoolExportPointer(&data, a));
    cuCtxSynchronize();
    R("I.orders.synced", cuMemPoolExportPointer(&data, a));
    int fd = -1;
    cuMemPoolExportToShareableHandle(&fd, pool, FD, 0);
    R("I.orders.pool_exported", cuMemPoolExportPointer(&data, a));
    b = take(pool, 4096, 0);
    R("I.orders.taken_after", cuMemPoolExportPointer(&data, b));
    close(fd);
    R("I.orders.closed", cuMemPoolExportPointer(&data, b));
    R("I.orders.first_again", cuMemPoolExportPointer(&data, a));
    i_give_pool("I.orders.give", pool, 0);
    i_give_pointer("I.orders.import", &data, 0, 0, 0);
    ASK("I.orders.read", I_READ, 0, 0, 0);
    cuMemFreeAsync(a, 0);
    CUdeviceptr c = take(pool, 4096, 0);
    say("I.orders.reused", "same=%d", c == a);
    R("I.orders.reused_export", cuMemPoolExportPointer(&data, c));
    R("I.orders.freed", cuMemFreeAsync(b, 0));
    R("I.orders.freed_export", cuMemPoolExportPointer(&data, b));
}

static void (*i_body)(void);

static void i_run(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
        return;
    pid_t second = fork();
    if (second == 0) {
        close(ends[0]);
        i_socket = ends[1];
        i_obey();
        _exit(0);
    }
    close(ends[1]);
    i_socket = ends[0];
    end_after(6);
    init();
    i_body();
    close(i_socket);
    fflush(stdout);
    report("I.second!", second);
}

static void i_pair(const char *id, void (*body)(void))
{
    i_body = body;
    child(id, i_run);
}

static void group_i(void)
{
    i_pair("I.basics!", i_basics);
    i_pair("I.exporter!", i_exporter_frees);
    i_pair("I.kept!", i_kept);
    i_pair("I.twice!", i_twice);
    i_pair("I.access!", i_access);
    i_pair("I.grows!", i_grows);
    i_pair("I.orders!", i_orders);
    child("I.killed!", i_killed);
    child("I.ended!", i_ended);
}
