/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases of pools share: pools, their state, tables of cases, gates. Part of ../pools.c, which includes it. */

typedef CUmemoryPool Pool;

#define KiB ((size_t)1 << 10)
#define MiB ((size_t)1 << 20)
#define GiB ((size_t)1 << 30)
#define FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

enum { FOLLOW = 1, OPPORTUNISTIC, INTERNAL, THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH };

/* ---- tables of cases ---- */

struct pool_case {
    const char *id;
    void (*run)(const char *id, u64 arg);
    u64 arg;
};

static const struct pool_case *table;

static void table_one(size_t i, char *id, int run)
{
    snprintf(id, CASE_ID, "%s", table[i].id);
    if (run)
        table[i].run(id, table[i].arg);
}

/* Each case of a table, all in one process until one of them ends it. */
static void run_table(const struct pool_case *cases, size_t count)
{
    table = cases;
    run_cases(init, count, table_one);
}

/* "id.more", for a few at a time. */
static const char *sub(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *sub(const char *id, const char *format, ...)
{
    static char text[8][CASE_ID];
    static unsigned next;
    char *b = text[next++ % 8];
    int n = snprintf(b, CASE_ID, "%s.", id);
    va_list args;
    va_start(args, format);
    if (n > 0 && n < CASE_ID)
        vsnprintf(b + n, CASE_ID - (size_t)n, format, args);
    va_end(args);
    return b;
}

/* ---- pools ---- */

static CUmemPoolProps pool_props(void)
{
    CUmemPoolProps p;
    memset(&p, 0, sizeof p);
    p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location = loc_at(L_DEVICE, 0);
    return p;
}

static Pool pool_with(CUmemPoolProps p)
{
    Pool pool = NULL;
    CUresult r = cuMemPoolCreate(&pool, &p);
    if (r)
        say("pool!", "%s", name_of(r));
    return pool;
}

static Pool new_pool(void)
{
    return pool_with(pool_props());
}

static void set_u64(Pool pool, int attribute, u64 value)
{
    cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, &value);
}

static void set_int(Pool pool, int attribute, int value)
{
    cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, &value);
}

static void keep_all(Pool pool)
{
    set_u64(pool, THRESHOLD, UINT64_MAX);
}

/* A pool that keeps its memory. */
static Pool keeping_pool(void)
{
    Pool pool = new_pool();
    keep_all(pool);
    return pool;
}

static Pool default_pool(void)
{
    Pool pool = NULL;
    cuDeviceGetDefaultMemPool(&pool, 0);
    return pool;
}

static u64 value_of(Pool pool, int attribute)
{
    u64 v = 0;
    return cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, &v) ? 77777 : v;
}

static const char *state(Pool pool)
{
    static char text[4][128];
    static unsigned next;
    char *b = text[next++ % 4];
    snprintf(b, sizeof text[0], "res=%llu rh=%llu used=%llu uh=%llu", value_of(pool, RESERVED), value_of(pool, RESERVED_HIGH),
             value_of(pool, USED), value_of(pool, USED_HIGH));
    return b;
}

static const char *now(Pool pool)
{
    static char text[4][64];
    static unsigned next;
    char *b = text[next++ % 4];
    snprintf(b, sizeof text[0], "res=%llu used=%llu", value_of(pool, RESERVED), value_of(pool, USED));
    return b;
}

static CUdeviceptr take(Pool pool, size_t size, CUstream s)
{
    CUdeviceptr p = 0;
    CUresult r = cuMemAllocFromPoolAsync(&p, size, pool, s);
    if (r)
        say("take!", "%s %zu", name_of(r), size);
    return p;
}

static void drop(CUdeviceptr p, CUstream s)
{
    CUresult r = cuMemFreeAsync(p, s);
    if (r)
        say("drop!", "%s", name_of(r));
}

static CUstream new_stream(void)
{
    CUstream s = NULL;
    CUresult r = cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
    if (r)
        say("stream!", "%s", name_of(r));
    return s;
}

static CUevent new_event(void)
{
    CUevent e = NULL;
    cuEventCreate(&e, CU_EVENT_DISABLE_TIMING);
    return e;
}

static void *pointer(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

static size_t free_memory(void)
{
    size_t f = 0, t = 0;
    cuMemGetInfo(&f, &t);
    return f;
}

/* ---- calls that not every header declares ---- */

static CUresult ipc_handle(CUdeviceptr p)
{
    unsigned char handle[64];
    CUresult (*get)(void *, CUdeviceptr) = (CUresult(*)(void *, CUdeviceptr))dlsym(RTLD_DEFAULT, "cuIpcGetMemHandle");
    return get ? get(handle, p) : CUDA_ERROR_NOT_FOUND;
}

static CUresult advise(CUdeviceptr p, size_t size)
{
    CUresult (*call)(CUdeviceptr, size_t, int, CUmemLocation) =
        (CUresult(*)(CUdeviceptr, size_t, int, CUmemLocation))dlsym(RTLD_DEFAULT, "cuMemAdvise_v2");
    return call ? call(p, size, 1, loc_at(L_DEVICE, 0)) : CUDA_ERROR_NOT_FOUND; /* read mostly */
}

static CUresult prefetch(CUdeviceptr p, size_t size)
{
    CUresult (*call)(CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream) =
        (CUresult(*)(CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream))dlsym(RTLD_DEFAULT, "cuMemPrefetchAsync_v2");
    return call ? call(p, size, loc_at(L_DEVICE, 0), 0, 0) : CUDA_ERROR_NOT_FOUND;
}

static CUdeviceptr managed(size_t size)
{
    CUdeviceptr p = 0;
    CUresult (*call)(CUdeviceptr *, size_t, unsigned) =
        (CUresult(*)(CUdeviceptr *, size_t, unsigned))dlsym(RTLD_DEFAULT, "cuMemAllocManaged");
    return call && !call(&p, size, 1) ? p : 0;
}
