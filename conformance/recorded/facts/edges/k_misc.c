/* SPDX-License-Identifier: Apache-2.0 */
/* Group K: devices, contexts, streams, before cuInit and after fork. Part of ../edges.c, which includes it. */

static void k_device(void)
{
    cuInit(0);
    int v = 77;
    RV("K.attribute.0", cuDeviceGetAttribute(&v, (CUdevice_attribute)0, 0), "=%d", v);
    RV("K.attribute.-1", cuDeviceGetAttribute(&v, (CUdevice_attribute)-1, 0), "=%d", v);
    RV("K.attribute.99999", cuDeviceGetAttribute(&v, (CUdevice_attribute)99999, 0), "=%d", v);
    RV("K.attribute.MAX", cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_MAX, 0), "=%d", v);
    v = 77;
    RV("K.attribute.dev99", cuDeviceGetAttribute(&v, (CUdevice_attribute)41, 99), "=%d", v);
    RV("K.attribute.dev-1", cuDeviceGetAttribute(&v, (CUdevice_attribute)41, -1), "=%d", v);
    RV("K.attribute.99999_dev99", cuDeviceGetAttribute(&v, (CUdevice_attribute)99999, 99), "=%d", v);
    RV("K.attribute.0_dev99", cuDeviceGetAttribute(&v, (CUdevice_attribute)0, 99), "=%d", v);
    char name[64] = "zzzzzzzz";
    RV("K.name.len1", cuDeviceGetName(name, 1, 0), "first=%d second=%c", name[0], name[1]);
    memset(name, 'z', sizeof name);
    RV("K.name.len5", cuDeviceGetName(name, 5, 0), "='%.5s' fifth=%d sixth=%c", name, name[4], name[5]);
    memset(name, 'z', sizeof name);
    RV("K.name.len64", cuDeviceGetName(name, 64, 0), "='%s' last=%d", name, name[63]);
    memset(name, 'z', sizeof name);
    RV("K.name.dev99", cuDeviceGetName(name, 64, 99), "first=%c", name[0]);
    size_t n = 77;
    RV("K.total.dev99", cuDeviceTotalMem(&n, 99), "=%zu", n);
    RV("K.total.dev-1", cuDeviceTotalMem(&n, -1), "=%zu", n);
    CUdevice d = 77;
    RV("K.get.-1", cuDeviceGet(&d, -1), "=%d", d);
    RV("K.get.99", cuDeviceGet(&d, 99), "=%d", d);
    RV("K.get.count", cuDeviceGet(&d, 1), "=%d", d);
    v = 77;
    RV("K.peer.0_0", cuDeviceCanAccessPeer(&v, 0, 0), "=%d", v);
    v = 77;
    RV("K.peer.0_99", cuDeviceCanAccessPeer(&v, 0, 99), "=%d", v);
    RV("K.peer.99_0", cuDeviceCanAccessPeer(&v, 99, 0), "=%d", v);
    RV("K.peer.99_99", cuDeviceCanAccessPeer(&v, 99, 99), "=%d", v);
    RV("K.peer.-1_-1", cuDeviceCanAccessPeer(&v, -1, -1), "=%d", v);
}

static void k_name_length0(void)
{
    cuInit(0);
    char name[8] = "zzzz";
    RV("K.name.len0_dev99", cuDeviceGetName(name, 0, 99), "first=%c", name[0]);
    RV("K.name.len0", cuDeviceGetName(name, 0, 0), "first=%c", name[0]);
}

static void k_name_length_negative(void)
{
    cuInit(0);
    char name[256] = "zzzz";
    RV("K.name.len-1_dev99", cuDeviceGetName(name, -1, 99), "first=%c", name[0]);
    RV("K.name.len-1", cuDeviceGetName(name, -1, 0), "first=%c", name[0]);
}

static void k_name_null(void)
{
    cuInit(0);
    R("K.name.null", cuDeviceGetName(NULL, 64, 0));
    R("K.name.null_len0", cuDeviceGetName(NULL, 0, 0));
    R("K.name.null_dev99", cuDeviceGetName(NULL, 64, 99));
}

static void k_attribute_null(void)
{
    cuInit(0);
    R("K.attribute.null", cuDeviceGetAttribute(NULL, (CUdevice_attribute)41, 0));
    R("K.attribute.null_dev99", cuDeviceGetAttribute(NULL, (CUdevice_attribute)41, 99));
    R("K.attribute.null_99999", cuDeviceGetAttribute(NULL, (CUdevice_attribute)99999, 0));
}

static void k_nulls(void)
{
    cuInit(0);
    R("K.get.null", cuDeviceGet(NULL, 0));
    R("K.get.null_99", cuDeviceGet(NULL, 99));
    R("K.count.null", cuDeviceGetCount(NULL));
    R("K.peer.null", cuDeviceCanAccessPeer(NULL, 0, 0));
    R("K.peer.null_99", cuDeviceCanAccessPeer(NULL, 0, 99));
    R("K.total.null", cuDeviceTotalMem(NULL, 0));
    R("K.total.null_dev99", cuDeviceTotalMem(NULL, 99));
    R("K.driver_version.null", cuDriverGetVersion(NULL));
}

static void k_no_context(void)
{
    cuInit(0);
    CUstream s = (CUstream)8;
    CUdevice d = 77;
    CUcontext c = (CUcontext)8;
    R("K.noctx.ctx_synchronize", cuCtxSynchronize());
    R("K.noctx.stream_synchronize_0", cuStreamSynchronize(0));
    RV("K.noctx.stream_create", cuStreamCreate(&s, 0), "untouched=%d", s == (CUstream)8);
    R("K.noctx.stream_create_flags2", cuStreamCreate(&s, 2));
    RV("K.noctx.ctx_get_device", cuCtxGetDevice(&d), "=%d", d);
    RV("K.noctx.ctx_get_current", cuCtxGetCurrent(&c), "null=%d", !c);
    c = (CUcontext)8;
    RV("K.noctx.ctx_pop", cuCtxPopCurrent(&c), "untouched=%d", c == (CUcontext)8);
    R("K.noctx.ctx_set_current_null", cuCtxSetCurrent(NULL));
    R("K.noctx.ctx_destroy_null", cuCtxDestroy(NULL));
    unsigned flags = 77;
    int active = 77;
    RV("K.primary.state", cuDevicePrimaryCtxGetState(0, &flags, &active), "flags=%u active=%d", flags, active);
    R("K.primary.release_not_retained", cuDevicePrimaryCtxRelease(0));
    R("K.primary.reset_not_retained", cuDevicePrimaryCtxReset(0));
    R("K.primary.release_dev99", cuDevicePrimaryCtxRelease(99));
    R("K.primary.reset_dev99", cuDevicePrimaryCtxReset(99));
    R("K.primary.retain_dev99", cuDevicePrimaryCtxRetain(&c, 99));
    R("K.primary.release_after_reset", cuDevicePrimaryCtxRelease(0));
}

static void k_context_nulls(void)
{
    init();
    R("K.null.ctx_get_current", cuCtxGetCurrent(NULL));
    R("K.null.ctx_get_device", cuCtxGetDevice(NULL));
    R("K.null.primary_retain", cuDevicePrimaryCtxRetain(NULL, 0));
    R("K.null.ctx_create", cuCtxCreate(NULL, NULL, 0, 0));
    CUcontext c = NULL;
    R("K.ctx_create.dev99", cuCtxCreate(&c, NULL, 0, 99));
    R("K.ctx_create.flags", cuCtxCreate(&c, NULL, 0x8000, 0));
    size_t n = 0;
    R("K.null.mem_get_info_total", cuMemGetInfo(&n, NULL));
    R("K.null.mem_get_info_free", cuMemGetInfo(NULL, &n));
    R("K.null.mem_get_info_both", cuMemGetInfo(NULL, NULL));
}

static void k_primary(void)
{
    cuInit(0);
    CUcontext c = NULL, again = NULL, current = NULL;
    R("K.primary.retain", cuDevicePrimaryCtxRetain(&c, 0));
    RV("K.primary.retain2", cuDevicePrimaryCtxRetain(&again, 0), "same=%d", c == again);
    R("K.primary.set_current", cuCtxSetCurrent(c));
    R("K.primary.release1", cuDevicePrimaryCtxRelease(0));
    R("K.primary.sync_after_one_release", cuCtxSynchronize());
    R("K.primary.release2", cuDevicePrimaryCtxRelease(0));
    RV("K.primary.current_after_last_release", cuCtxGetCurrent(&current), "same=%d null=%d", current == c, !current);
    CUdeviceptr p = 0;
    CUdevice d = 77;
    R("K.primary.sync_after_last_release", cuCtxSynchronize());
    RV("K.primary.get_device_after_last_release", cuCtxGetDevice(&d), "=%d", d);
    R("K.primary.alloc_after_last_release", cuMemAlloc(&p, 16));
    R("K.primary.release3", cuDevicePrimaryCtxRelease(0));
    RV("K.primary.retain3", cuDevicePrimaryCtxRetain(&again, 0), "same=%d", c == again);
    R("K.primary.alloc_after_retain_again", cuMemAlloc(&p, 16));
}

static void k_set_destroyed(void)
{
    cuInit(0);
    CUcontext c = NULL, current = (CUcontext)8;
    cuCtxCreate(&c, NULL, 0, 0);
    R("K.destroyed.destroy", cuCtxDestroy(c));
    RV("K.destroyed.current", cuCtxGetCurrent(&current), "null=%d", !current);
    R("K.destroyed.set_current", cuCtxSetCurrent(c));
    RV("K.destroyed.current_after", cuCtxGetCurrent(&current), "null=%d", !current);
    R("K.destroyed.synchronize", cuCtxSynchronize());
}

static void k_destroy_twice(void)
{
    cuInit(0);
    CUcontext c = NULL;
    cuCtxCreate(&c, NULL, 0, 0);
    cuCtxDestroy(c);
    R("K.destroyed.destroy_twice", cuCtxDestroy(c));
}

static void k_destroy_not_current(void)
{
    cuInit(0);
    CUcontext one = NULL, two = NULL, current = NULL;
    cuCtxCreate(&one, NULL, 0, 0);
    cuCtxCreate(&two, NULL, 0, 0);
    R("K.two.destroy_first", cuCtxDestroy(one));
    RV("K.two.current", cuCtxGetCurrent(&current), "second=%d", current == two);
    R("K.two.sync", cuCtxSynchronize());
    R("K.two.destroy_second", cuCtxDestroy(two));
    RV("K.two.current_after", cuCtxGetCurrent(&current), "null=%d first=%d", !current, current == one);
    CUdeviceptr p = 0;
    R("K.two.alloc_after", cuMemAlloc(&p, 16));
    R("K.two.pop", cuCtxPopCurrent(&current));
}

static void k_destroy_primary(void)
{
    init();
    CUcontext c = NULL, current = NULL;
    cuCtxGetCurrent(&c);
    R("K.destroy_primary", cuCtxDestroy(c));
    RV("K.destroy_primary.current", cuCtxGetCurrent(&current), "null=%d", !current);
}

static void k_forged_context(void)
{
    cuInit(0);
    R("K.forged_context.set_current", cuCtxSetCurrent((CUcontext)0xdead0));
}

static void k_forged_context_destroy(void)
{
    cuInit(0);
    R("K.forged_context.destroy", cuCtxDestroy((CUcontext)0xdead0));
}

static void k_stream(void)
{
    init();
    CUstream s = (CUstream)8;
    RV("K.stream.create_flags2", cuStreamCreate(&s, 2), "untouched=%d", s == (CUstream)8);
    RV("K.stream.create_flags_max", cuStreamCreate(&s, ~0u), "untouched=%d", s == (CUstream)8);
    R("K.stream.create_flags1", cuStreamCreate(&s, 1));
    R("K.stream.destroy", cuStreamDestroy(s));
    R("K.stream.create_flags0", cuStreamCreate(&s, 0));
    R("K.stream.synchronize", cuStreamSynchronize(s));
    R("K.stream.synchronize_0", cuStreamSynchronize(NULL));
    R("K.stream.synchronize_legacy", cuStreamSynchronize(CU_STREAM_LEGACY));
    R("K.stream.synchronize_per_thread", cuStreamSynchronize(CU_STREAM_PER_THREAD));
    cuCtxSetCurrent(NULL);
    R("K.stream.synchronize_noctx", cuStreamSynchronize(s));
    R("K.stream.destroy_noctx", cuStreamDestroy(s));
}

static void k_stream_null(void)
{
    init();
    R("K.stream.create_null", cuStreamCreate(NULL, 0));
    R("K.stream.create_null_flags2", cuStreamCreate(NULL, 2));
    R("K.stream.destroy_null", cuStreamDestroy(NULL));
    R("K.stream.destroy_legacy", cuStreamDestroy(CU_STREAM_LEGACY));
    R("K.stream.destroy_per_thread", cuStreamDestroy(CU_STREAM_PER_THREAD));
}

static CUstream dead_stream(void)
{
    CUstream s = NULL;
    init();
    cuStreamCreate(&s, 0);
    cuStreamDestroy(s);
    return s;
}

static void k_stream_destroyed_sync(void)
{
    R("K.stream.synchronize_destroyed", cuStreamSynchronize(dead_stream()));
}

static void k_stream_destroyed_destroy(void)
{
    R("K.stream.destroy_twice", cuStreamDestroy(dead_stream()));
}

static void k_stream_forged_sync(void)
{
    init();
    R("K.stream.synchronize_forged", cuStreamSynchronize((CUstream)0xdead0));
}

static void k_stream_forged_destroy(void)
{
    init();
    R("K.stream.destroy_forged", cuStreamDestroy((CUstream)0xdead0));
}

/* One of many calls, made where CUDA is not initialised: before cuInit, or in a child forked after it. */
static CUdeviceptr k_place;
static Handle k_handle;
static CUcontext k_context;

#define CALL(what, call)     \
    do {                     \
        if (which-- == 0) {  \
            *name = what;    \
            return call;     \
        }                    \
    } while (0)

enum { K_CASES = 64 };

static CUresult k_call(int which, const char **name)
{
    CUmemAllocationProp prop = prop_at(L_DEVICE, 0);
    CUmemLocation location = loc_at(L_DEVICE, 0);
    CUmemAccessDesc access = desc(L_DEVICE, 0, RW);
    static CUdeviceptr p;
    static Handle h;
    static size_t a, b;
    static u64 flags;
    static int v;
    static CUcontext context;
    static CUstream stream;
    CALL("create", cuMemCreate(&h, G, &prop, 0));
    CALL("reserve", cuMemAddressReserve(&p, G, 0, 0, 0));
    CALL("map", cuMemMap(k_place + G, G, 0, k_handle, 0));
    CALL("release", cuMemRelease(k_handle));
    CALL("unmap", cuMemUnmap(k_place, G));
    CALL("setaccess", cuMemSetAccess(k_place, G, &access, 1));
    CALL("getaccess", cuMemGetAccess(&flags, &location, k_place));
    CALL("retain", cuMemRetainAllocationHandle(&h, (void *)(uintptr_t)k_place));
    CALL("properties", cuMemGetAllocationPropertiesFromHandle(&prop, k_handle));
    CALL("granularity", cuMemGetAllocationGranularity(&a, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CALL("address_free", cuMemAddressFree(k_place, 4 * G));
    CALL("export", cuMemExportToShareableHandle(&v, k_handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CALL("import", cuMemImportFromShareableHandle(&h, NULL, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    CALL("memcpy_htod", cuMemcpyHtoD(k_place, buffer, 16));
    CALL("memcpy_dtoh", cuMemcpyDtoH(buffer, k_place, 16));
    CALL("memcpy_dtod", cuMemcpyDtoD(k_place, k_place + 64, 16));
    CALL("memcpy_size0", cuMemcpyHtoD(k_place, buffer, 0));
    CALL("memset8", cuMemsetD8(k_place, 1, 16));
    CALL("memset8_n0", cuMemsetD8(k_place, 1, 0));
    CALL("mem_get_info", cuMemGetInfo(&a, &b));
    CALL("mem_alloc", cuMemAlloc(&p, 16));
    CALL("mem_free_0", cuMemFree(0));
    CALL("address_range", cuMemGetAddressRange(&p, &a, k_place));
    CALL("pointer_attribute", cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MAPPED, k_place));
    CALL("pointer_attributes0", cuPointerGetAttributes(0, NULL, NULL, k_place));
    CALL("device_get_count", cuDeviceGetCount(&v));
    CALL("device_get_count_null", cuDeviceGetCount(NULL));
    CALL("device_get", cuDeviceGet(&v, 0));
    CALL("device_get_99", cuDeviceGet(&v, 99));
    CALL("device_get_attribute", cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 0));
    CALL("device_get_attribute_dev99", cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 99));
    CALL("device_get_name", cuDeviceGetName((char *)buffer, 64, 0));
    CALL("device_total_mem", cuDeviceTotalMem(&a, 0));
    CALL("device_can_access_peer", cuDeviceCanAccessPeer(&v, 0, 0));
    CALL("primary_retain", cuDevicePrimaryCtxRetain(&context, 0));
    CALL("primary_release", cuDevicePrimaryCtxRelease(0));
    CALL("primary_reset", cuDevicePrimaryCtxReset(0));
    CALL("ctx_create", cuCtxCreate(&context, NULL, 0, 0));
    CALL("ctx_destroy", cuCtxDestroy(k_context));
    CALL("ctx_get_current", cuCtxGetCurrent(&context));
    CALL("ctx_set_current_null", cuCtxSetCurrent(NULL));
    CALL("ctx_get_device", cuCtxGetDevice(&v));
    CALL("ctx_synchronize", cuCtxSynchronize());
    CALL("stream_create", cuStreamCreate(&stream, 0));
    CALL("stream_synchronize_0", cuStreamSynchronize(NULL));
    CALL("stream_destroy_0", cuStreamDestroy(NULL));
    CALL("driver_version", cuDriverGetVersion(&v));
    CALL("init_1", cuInit(1));
    CALL("init_0", cuInit(0));
    return CUDA_SUCCESS;
}

static void k_calls(const char *tag)
{
    for (int i = 0; i < K_CASES; i++) {
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            end_after(5);
            char id[96];
            const char *name = NULL;
            CUresult r = k_call(i, &name);
            if (name) {
                snprintf(id, sizeof id, "K.%s.%s", tag, name);
                say(id, "%s", name_of(r));
            }
            _exit(0);
        }
        char id[96];
        snprintf(id, sizeof id, "K.%s.call%d!", tag, i);
        report(id, pid);
    }
}

static void k_before_init(void)
{
    k_place = (CUdeviceptr)1 << 40;
    k_handle = 8;
    k_calls("before_init");
}

static void k_after_fork(void)
{
    init();
    k_place = reserve(4 * G);
    k_handle = make(G);
    cuCtxGetCurrent(&k_context);
    map(k_place, G, k_handle);
    give(k_place, G, L_DEVICE, RW);
    end_after(60);
    k_calls("after_fork");
}

static void k_fork_then_init(void)
{
    init();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        end_after(20);
        int n = 77;
        R("K.fork_init.init_0", cuInit(0));
        RV("K.fork_init.device_get_count", cuDeviceGetCount(&n), "=%d", n);
        CUdeviceptr p = 0;
        R("K.fork_init.reserve", cuMemAddressReserve(&p, G, 0, 0, 0));
        R("K.fork_init.init_0_again", cuInit(0));
        _exit(0);
    }
    report("K.fork_init!", pid);
}

/* Forked after the parent created the context but used nothing: the parent's own calls continue. */
static void k_parent_after_fork(void)
{
    init();
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    report("K.parent_after_fork!", pid);
    CUdeviceptr p = 0;
    R("K.parent_after_fork.reserve", cuMemAddressReserve(&p, G, 0, 0, 0));
}

static void k_init_flags(void)
{
    int n = 77;
    R("K.init.1", cuInit(1));
    RV("K.init.1.count", cuDeviceGetCount(&n), "=%d", n);
    R("K.init.max", cuInit(~0u));
    R("K.init.0", cuInit(0));
    R("K.init.0_again", cuInit(0));
    R("K.init.1_after_0", cuInit(1));
    RV("K.init.count", cuDeviceGetCount(&n), "=%d", n);
}

static void group_k(void)
{
    child("K.device!", k_device);
    child("K.name.len0!", k_name_length0);
    child("K.name.len-1!", k_name_length_negative);
    child("K.name.null!", k_name_null);
    child("K.attribute.null!", k_attribute_null);
    child("K.nulls!", k_nulls);
    child("K.noctx!", k_no_context);
    child("K.null!", k_context_nulls);
    child("K.primary!", k_primary);
    child("K.destroyed!", k_set_destroyed);
    child("K.destroy_twice!", k_destroy_twice);
    child("K.two!", k_destroy_not_current);
    child("K.destroy_primary!", k_destroy_primary);
    child("K.forged_context.set_current!", k_forged_context);
    child("K.forged_context.destroy!", k_forged_context_destroy);
    child("K.stream!", k_stream);
    child("K.stream.null!", k_stream_null);
    child("K.stream.synchronize_destroyed!", k_stream_destroyed_sync);
    child("K.stream.destroy_twice!", k_stream_destroyed_destroy);
    child("K.stream.synchronize_forged!", k_stream_forged_sync);
    child("K.stream.destroy_forged!", k_stream_forged_destroy);
    child("K.before_init!", k_before_init);
    child("K.after_fork!", k_after_fork);
    child("K.fork_init!", k_fork_then_init);
    child("K.parent_after_fork!", k_parent_after_fork);
    child("K.init!", k_init_flags);
}
