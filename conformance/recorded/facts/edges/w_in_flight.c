/* SPDX-License-Identifier: Apache-2.0 */
/* Group W: pending copies and fills whose memory is unmapped or freed, and the calls that a host function may make. Part of
 * ../edges.c, which includes it.
 *
 * A host function at the head of the stream delays the work until the calls were made. It gives up after a while, so a call that
 * waits for the stream shows, and nothing hangs. */
#include <stdatomic.h>

#ifdef CUVMM_REPLAYS_DRIVER
enum { W_PATIENCE = 0 }; /* the waiting call runs the function: no other thread could open the gate */
#else
enum { W_PATIENCE = 1500 }; /* milliseconds */
#endif

static atomic_int w_open, w_gave_up;
static CUstream w_stream;
static CUdeviceptr w_p;
static Handle w_handle[2];

static void w_gate(void *unused)
{
    (void)unused;
    struct timespec step = {0, 1000000};
    for (int waited = 0; !w_open && waited < W_PATIENCE; waited++)
        nanosleep(&step, NULL);
    w_gave_up = !w_open;
}

/* w_p [memory 0, 0x11][memory 1, 0x22] [free], RW. */
static void w_start(void)
{
    init();
    w_p = reserve(16 * G);
    for (int i = 0; i < 2; i++)
        map(w_p + (size_t)i * G, G, w_handle[i] = make(G));
    give(w_p, 2 * G, L_DEVICE, RW);
    cuMemsetD8(w_p, 0x11, G);
    cuMemsetD8(w_p + G, 0x22, G);
    cuStreamCreate(&w_stream, CU_STREAM_NON_BLOCKING);
    cuCtxSynchronize();
}

enum { W_WORKS = 5, W_TAKES = 7 };

static CUresult w_issue(size_t work)
{
    static unsigned char out[4096];
    switch (work) {
    case 0: return cuMemsetD8Async(w_p, 0x33, G, w_stream);
    case 1: return cuMemcpyDtoDAsync(w_p, w_p + G, G, w_stream);
    case 2: return cuMemcpyDtoDAsync(w_p + G, w_p, G, w_stream);
    case 3: return cuMemcpyHtoDAsync(w_p, out, sizeof out, w_stream);
    default: return cuMemcpyDtoDAsync(w_p, w_p + G, 4096, w_stream);
    }
}

static CUresult w_take(size_t how)
{
    CUresult r;
    switch (how) {
    case 0: return cuMemUnmap(w_p, G);
    case 1: return give(w_p, G, L_DEVICE, NONE);
    case 2: return give(w_p, G, L_DEVICE, READ);
    case 3: return cuMemRelease(w_handle[0]);
    case 4: /* maps the same memory again */
        r = cuMemUnmap(w_p, G);
        map(w_p, G, w_handle[0]);
        give(w_p, G, L_DEVICE, RW);
        return r;
    case 5: /* maps the same memory without rights */
        r = cuMemUnmap(w_p, G);
        map(w_p, G, w_handle[0]);
        return r;
    default: return CUDA_SUCCESS;
    }
}

static void w_flight_one(size_t i, char *id, int run)
{
    static const char *const works[W_WORKS] = {"fill", "copy_into", "copy_out", "from_host", "short_copy"};
    static const char *const takes[W_TAKES] = {"unmap", "none", "read", "release", "remap", "remap_none", "nothing"};
    sprintf(id, "W.flight.%s.%s", works[i / W_TAKES], takes[i % W_TAKES]);
    if (!run)
        return;
    end_after(12);
    w_open = w_gave_up = 0;
    cuLaunchHostFunc(w_stream, w_gate, NULL);
    CUresult issued = w_issue(i / W_TAKES), taken = w_take(i % W_TAKES);
    int blocked = w_gave_up;
    w_open = 1;
    CUresult stream = cuStreamSynchronize(w_stream), again = cuStreamSynchronize(w_stream);
    CUresult context = cuCtxSynchronize(), fill = cuMemsetD8(w_p + G, 0x44, 16);
    say(id, "%s taken=%s blocked=%d sync=%s again=%s context=%s then=%s bytes=%d,%d", name_of(issued), name_of(taken),
        blocked, name_of(stream), name_of(again), name_of(context), name_of(fill), byte_at(w_p), byte_at(w_p + G));
    _exit(0);
}

/* Each case has its own process: it does not restore what it removed. */
static size_t w_case;
static void w_flight_body(void)
{
    char id[CASE_ID];
    w_start();
    w_flight_one(w_case, id, 1);
}

/* ---- inside a host function ---- */

static CUresult w_answer;
static int w_which;

static CUresult w_call(int which)
{
    static CUmemAllocationProp prop;
    static CUcontext ctx;
    static CUstream stream;
    static Handle h;
    static CUdeviceptr q;
    static size_t a, b;
    static u64 flags;
    static int n;
    CUmemLocation where = loc_at(L_DEVICE, 0);
    prop = prop_at(L_DEVICE, 0);
    switch (which) {
    case 0: return cuMemGetInfo(&a, &b);
    case 1: return cuMemAddressReserve(&q, G, 0, 0, 0);
    case 2: return cuMemAddressFree(w_p + 64 * G, G);
    case 3: return cuMemCreate(&h, G, &prop, 0);
    case 4: return cuMemRelease(w_handle[0]);
    case 5: return cuMemMap(w_p + 2 * G, G, 0, w_handle[0], 0);
    case 6: return cuMemUnmap(w_p, G);
    case 7: return give(w_p, G, L_DEVICE, READ);
    case 8: return cuMemGetAccess(&flags, &where, w_p);
    case 9: return cuMemGetAllocationGranularity(&a, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    case 10: return cuMemGetAllocationPropertiesFromHandle(&prop, w_handle[0]);
    case 11: return cuMemRetainAllocationHandle(&h, (void *)(uintptr_t)w_p);
    case 12: return cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, w_p);
    case 13: return cuMemGetAddressRange(&q, &a, w_p);
    case 14: return cuMemcpyDtoH(&n, w_p, 4);
    case 15: return cuMemcpyHtoD(w_p, &n, 4);
    case 16: return cuMemsetD8(w_p, 1, 4);
    case 17: return cuMemsetD8Async(w_p, 1, 4, w_stream);
    case 18: return cuStreamSynchronize(w_stream);
    case 19: return cuStreamQuery(w_stream);
    case 20: return cuCtxSynchronize();
    case 21: return cuCtxGetCurrent(&ctx);
    case 22: return cuCtxSetCurrent(primary[0]);
    case 23: return cuDeviceGetCount(&n);
    case 24: return cuStreamCreate(&stream, 0);
    case 25: return cuLaunchHostFunc(w_stream, w_gate, NULL);
    case 26: return cuMemAlloc(&q, G);
    case 27: return cuDevicePrimaryCtxRetain(&ctx, 0);
    case 28: return cuInit(0);
    case 29: return cuCtxGetDevice(&n);
    case 30: return cuDriverGetVersion(&n);
    case 31: return cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 0);
    case 32: return cuDevicePrimaryCtxGetState(0, (unsigned *)&n, &n);
    case 33: return cuMemExportToShareableHandle(&n, w_handle[0], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    case 34: return cuMemMap(w_p + 1, G, 0, w_handle[0], 1);
    default: return cuMemUnmap(0, 0);
    }
}

static const char *const w_calls[] = {
    "get_info",   "reserve",     "free",         "create",      "release",         "map",          "unmap",
    "set_access", "get_access",  "granularity",  "properties",  "retain",          "attribute",    "address_range",
    "dtoh",       "htod",        "memset",       "memset_async", "stream_sync",    "stream_query", "ctx_sync",
    "get_current", "set_current", "device_count", "stream_create", "host_func",    "alloc",        "primary_retain",
    "init",       "get_device",  "version",      "device_attribute", "primary_state", "export",    "map_wrong",
    "unmap_wrong"};

static void w_inside_host(void *unused)
{
    (void)unused;
    w_answer = w_call(w_which);
}

static void w_hostfunc_body(void)
{
    char id[CASE_ID];
    w_start();
    end_after(6);
    w_which = (int)w_case;
    CUresult issued = cuLaunchHostFunc(w_stream, w_inside_host, NULL);
    CUresult sync = cuStreamSynchronize(w_stream);
    snprintf(id, sizeof id, "W.inside.%s", w_calls[w_case]);
    say(id, "%s inside=%s sync=%s", name_of(issued), name_of(w_answer), name_of(sync));
}

/* Does destroying a context wait for what its streams still hold? */
static void w_destroy(void)
{
    init();
    CUcontext ctx = NULL;
    CUstream stream = NULL;
    R("W.destroy.create", cuCtxCreate(&ctx, NULL, 0, 0));
    R("W.destroy.stream", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    w_open = w_gave_up = 0;
    R("W.destroy.gate", cuLaunchHostFunc(stream, w_gate, NULL));
    CUresult r = cuCtxDestroy(ctx);
    say("W.destroy.destroy", "%s waited=%d", name_of(r), w_gave_up);
    w_open = 1;
    R("W.destroy.then", cuCtxSynchronize());
}

static void w_stream_destroy(void)
{
    w_start();
    w_open = w_gave_up = 0;
    R("W.stream_destroy.gate", cuLaunchHostFunc(w_stream, w_gate, NULL));
    R("W.stream_destroy.fill", cuMemsetD8Async(w_p, 0x33, G, w_stream));
    CUresult r = cuStreamDestroy(w_stream);
    say("W.stream_destroy.destroy", "%s waited=%d", name_of(r), w_gave_up);
    w_open = 1;
    R("W.stream_destroy.sync", cuCtxSynchronize());
    say("W.stream_destroy.byte", "%d", byte_at(w_p));
}

static void group_w(void)
{
    char id[CASE_ID];
    for (w_case = 0; w_case < (size_t)W_WORKS * W_TAKES; w_case++) {
        w_flight_one(w_case, id, 0);
        strcat(id, "!");
        child(id, w_flight_body);
    }
    for (w_case = 0; w_case < COUNT(w_calls); w_case++) {
        snprintf(id, sizeof id, "W.inside.%s!", w_calls[w_case]);
        child(id, w_hostfunc_body);
    }
    child("W.destroy!", w_destroy);
    child("W.stream_destroy!", w_stream_destroy);
}
