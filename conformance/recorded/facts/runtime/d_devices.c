/* SPDX-License-Identifier: Apache-2.0 */
/* Group D: devices, versions, contexts and errors. Part of ../runtime.c, which includes it. */

/* The toolkit has these in other headers, or under other names. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

/* ---- what there is ---- */

static void d_count(void)
{
    int count = 77, device = 77, version = 77;
    AV("D.count(Success)", cudaGetDeviceCount(&count), "n=%d", count);
    A("D.count.null(InvalidValue)", cudaGetDeviceCount(NULL));
    AV("D.get.first(Success)", cudaGetDevice(&device), "d=%d", device);
    A("D.get.null(InvalidValue)", cudaGetDevice(NULL));
    AV("D.driver.version(Success)", cudaDriverGetVersion(&version), "v=%d", version);
    A("D.driver.version.null(InvalidValue)", cudaDriverGetVersion(NULL));
    AV("D.runtime.version(Success)", cudaRuntimeGetVersion(&version), "v=%d", version / 1000);
    A("D.runtime.version.null(InvalidValue)", cudaRuntimeGetVersion(NULL));
}

static void d_texts(void)
{
    static const int codes[] = {0, 1, 2, 3, 4, 35, 46, 98, 100, 101, 209, 217, 400, 600, 700, 704, 709, 716, 719, 801, 900, 999, 11, 915, -1, 2000};
    for (size_t i = 0; i < COUNT(codes); i++)
        say(with("D.text.%d", codes[i]), "%s: %s", cudaGetErrorName((cudaError_t)codes[i]), cudaGetErrorString((cudaError_t)codes[i]));
}

static void d_attributes(void)
{
    for (int a = -1; a <= 149; a++) {
        int value = 77;
        cudaError_t r = cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)a, 0);
        const char *last = last_beside(r);
        say(with("D.attribute.%d", a), "%s%s %d", code(r), last, value);
    }
    int value = 77;
    A("D.attribute.null(InvalidValue)", cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
    AV("D.attribute.device_below(InvalidDevice)", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, -1), "%d", value);
    AV("D.attribute.device_past(InvalidDevice)", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, devices()), "%d", value);
    AV("D.attribute.both_wrong", cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)999, devices()), "%d", value);
}

static void d_properties(void)
{
    struct cudaDeviceProp p;
    memset(&p, 0x77, sizeof p);
    AV("D.properties(Success)", cudaGetDeviceProperties(&p, 0),
       "%s total=%zu shared=%zu regs=%d warp=%d pitch=%zu threads=%d block=%d,%d,%d grid=%d,%d,%d const=%zu cc=%d.%d", p.name,
       p.totalGlobalMem, p.sharedMemPerBlock, p.regsPerBlock, p.warpSize, p.memPitch, p.maxThreadsPerBlock, p.maxThreadsDim[0],
       p.maxThreadsDim[1], p.maxThreadsDim[2], p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2], p.totalConstMem, p.major, p.minor);
    say("D.properties.more", "=sms=%d integrated=%d map=%d concurrent=%d ecc=%d engines=%d unified=%d l2=%d persisting=%d perSM=%d optin=%zu "
        "reserved=%zu pools=%d handles=%u cluster=%d pointers=%d ipc=%d sparse=%d rdma=%d", p.multiProcessorCount, p.integrated,
        p.canMapHostMemory, p.concurrentKernels, p.ECCEnabled, p.asyncEngineCount, p.unifiedAddressing, p.l2CacheSize,
        p.persistingL2CacheMaxSize, p.maxThreadsPerMultiProcessor, p.sharedMemPerBlockOptin, p.reservedSharedMemPerBlock,
        p.memoryPoolsSupported, p.memoryPoolSupportedHandleTypes, p.clusterLaunch, p.unifiedFunctionPointers, p.ipcEventSupported,
        p.sparseCudaArraySupported, p.gpuDirectRDMASupported);
    say("D.properties.texture", "=1d=%d 2d=%d,%d linear=%d,%d,%d 3d=%d,%d,%d cube=%d layered=%d,%d align=%zu pitch=%zu surface=%zu", p.maxTexture1D,
        p.maxTexture2D[0], p.maxTexture2D[1], p.maxTexture2DLinear[0], p.maxTexture2DLinear[1], p.maxTexture2DLinear[2], p.maxTexture3D[0],
        p.maxTexture3D[1], p.maxTexture3D[2], p.maxTextureCubemap, p.maxTexture1DLayered[0], p.maxTexture1DLayered[1], p.textureAlignment,
        p.texturePitchAlignment, p.surfaceAlignment);
    say("D.properties.luid", "=%d mask=%u", p.luid[0], p.luidDeviceNodeMask);
    A("D.properties.null", cudaGetDeviceProperties(NULL, 0));
    A("D.properties.device_below(InvalidDevice)", cudaGetDeviceProperties(&p, -1));
    memset(&p, 0x77, sizeof p);
    AV("D.properties.device_past(InvalidDevice)", cudaGetDeviceProperties(&p, devices()), "name[0]=%d", p.name[0]);
}

static void d_bus(void)
{
    char bus[32], shortened[32];
    int device = 77;
    memset(bus, 0, sizeof bus);
    A("D.bus.get(Success)", cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    AV("D.bus.by(Success)", cudaDeviceGetByPCIBusId(&device, bus), "d=%d", device);
    snprintf(shortened, sizeof shortened, "%.*s", (int)strcspn(bus, "."), bus);
    AV("D.bus.by.without_function(Success)", cudaDeviceGetByPCIBusId(&device, shortened), "d=%d", device);
    AV("D.bus.by.without_domain(Success)", cudaDeviceGetByPCIBusId(&device, strchr(bus, ':') + 1), "d=%d", device);
    for (int length = -1; length <= 14; length++) {
        memset(bus, 0x77, sizeof bus);
        A(with("D.bus.get.%d", length), cudaDeviceGetPCIBusId(bus, length, 0));
    }
    A("D.bus.get.null(InvalidValue)", cudaDeviceGetPCIBusId(NULL, 16, 0));
    A("D.bus.get.device(InvalidDevice)", cudaDeviceGetPCIBusId(bus, sizeof bus, devices()));
    device = 77;
    AV("D.bus.by.nonsense(InvalidValue)", cudaDeviceGetByPCIBusId(&device, "nonsense"), "d=%d", device);
    AV("D.bus.by.other(InvalidDevice)", cudaDeviceGetByPCIBusId(&device, "ffff:ff:1f.0"), "d=%d", device);
    A("D.bus.by.null(InvalidValue)", cudaDeviceGetByPCIBusId(NULL, "ffff:ff:1f.0"));
    A("D.bus.by.no_text(InvalidValue)", cudaDeviceGetByPCIBusId(&device, NULL));
}

static void d_choose(void)
{
    struct cudaDeviceProp p;
    int device = 77;
    memset(&p, 0, sizeof p);
    AV("D.choose.any(Success)", cudaChooseDevice(&device, &p), "d=%d", device);
    p.major = 99;
    AV("D.choose.too_new(Success)", cudaChooseDevice(&device, &p), "d=%d", device);
    A("D.choose.null(InvalidValue)", cudaChooseDevice(NULL, &p));
    A("D.choose.no_wish(InvalidValue)", cudaChooseDevice(&device, NULL));
}

/* ---- the thread's device ---- */

static void d_set(void)
{
    int device = 77;
    A("D.set.count(InvalidDevice)", cudaSetDevice(devices()));
    A("D.set.below(InvalidDevice)", cudaSetDevice(-1));
    A("D.set.64(InvalidDevice)", cudaSetDevice(64));
    A("D.set.most(InvalidDevice)", cudaSetDevice(INT_MAX));
    AV("D.set.refused.get(Success)", cudaGetDevice(&device), "d=%d", device);
    A("D.set.0(Success)", cudaSetDevice(0));
}

static void d_active(const char *id)
{
    unsigned flags = 77;
    int active = 77;
    CUcontext context = NULL;
    cuInit(0);
    CUresult r = cuDevicePrimaryCtxGetState(0, &flags, &active);
    cuCtxGetCurrent(&context);
    say(id, "%s active=%d current=%d", name_of(r), active, context != NULL);
}

static void d_begin_get(void)
{
    int device = 77;
    A("D.begin.get(Success)", cudaGetDevice(&device));
    d_active("D.begin.get.state");
}

static void d_begin_set(void)
{
    A("D.begin.set(Success)", cudaSetDevice(0));
    d_active("D.begin.set.state");
}

static void d_begin_free(void)
{
    A("D.begin.free(Success)", cudaFree(NULL));
    d_active("D.begin.free.state");
}

static void d_begin_init(void)
{
    A("D.begin.init(Success)", cudaInitDevice(0, 0, 0));
    d_active("D.begin.init.state");
    A("D.begin.init.flags", cudaInitDevice(0, 0, 2));
    A("D.begin.init.flags_most", cudaInitDevice(0, 0, UINT_MAX));
    A("D.begin.init.device(InvalidDevice)", cudaInitDevice(devices(), 0, 0));
    A("D.begin.init.below(InvalidDevice)", cudaInitDevice(-1, 0, 0));
    A("D.begin.init.schedules", cudaInitDevice(0, 7, cudaInitDeviceFlagsAreValid));
    A("D.begin.init.unused(Success)", cudaInitDevice(0, 7, 0));
}

static void d_begin_reset(void)
{
    A("D.begin.reset(Success)", cudaDeviceReset());
    d_active("D.begin.reset.state");
}

static void d_begin_flags(void)
{
    unsigned flags = 77;
    A("D.begin.flags.get(Success)", cudaGetDeviceFlags(&flags));
    d_active("D.begin.flags.get.state");
    A("D.begin.flags.set(Success)", cudaSetDeviceFlags(cudaDeviceScheduleYield));
    d_active("D.begin.flags.set.state");
}

static void d_begin_limit(void)
{
    size_t value = 77;
    AV("D.begin.limit(Success)", cudaDeviceGetLimit(&value, cudaLimitStackSize), "%zu", value);
    d_active("D.begin.limit.state");
}

static void d_begin_synchronize(void)
{
    A("D.begin.synchronize(Success)", cudaDeviceSynchronize());
    d_active("D.begin.synchronize.state");
}

static void d_begin_peek(void)
{
    A("D.begin.peek(Success)", cudaPeekAtLastError());
    d_active("D.begin.peek.state");
}

/* ---- contexts of the driver's ---- */

static void d_own(void)
{
    CUcontext own = NULL, now = NULL;
    int device = 77;
    void *p = NULL;
    need(cudaFree(NULL));
    cuCtxGetCurrent(&primary[0]);
    D("D.own.create", cuCtxCreate_v2(&own, 0, 0));
    AV("D.own.get(Success)", cudaGetDevice(&device), "d=%d", device);
    A("D.own.malloc(Success)", cudaMalloc(&p, 4096));
    cuCtxGetCurrent(&now);
    say("D.own.current", "=%d", now == own);
    A("D.own.reset(Success)", cudaDeviceReset());
    cuCtxGetCurrent(&now);
    say("D.own.reset.current", "=%d", now == own);
    A("D.own.reset.free(Success)", cudaFree(p));
    d_active("D.own.reset.state");
    A("D.own.set(Success)", cudaSetDevice(0));
    cuCtxGetCurrent(&now);
    say("D.own.set.current", "=%d", now == own);
    cuCtxSetCurrent(NULL);
    A("D.own.none.synchronize(Success)", cudaDeviceSynchronize());
    cuCtxGetCurrent(&now);
    say("D.own.none.current", "=%d", now == primary[0]);
    D("D.own.destroy", cuCtxDestroy(own));
}

static void d_shared(void)
{
    CUcontext shared = NULL;
    cuInit(0);
    D("D.shared.retain", cuDevicePrimaryCtxRetain(&shared, 0));
    D("D.shared.current", cuCtxSetCurrent(shared));
    A("D.shared.synchronize(Success)", cudaDeviceSynchronize());
    D("D.shared.release", cuDevicePrimaryCtxRelease(0));
    d_active("D.shared.release.state");
    A("D.shared.release.synchronize", cudaDeviceSynchronize());
    D("D.shared.release.again", cuDevicePrimaryCtxRelease(0));
}

static void d_reset(void)
{
    void *p = NULL;
    size_t stack = 77;
    CUcontext before = NULL, after = NULL;
    need(cudaMalloc(&p, 4096));
    need(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    cuCtxGetCurrent(&before);
    A("D.reset(Success)", cudaDeviceReset());
    d_active("D.reset.state");
    A("D.reset.free", cudaFree(p));
    A("D.reset.malloc(Success)", cudaMalloc(&p, 4096));
    cuCtxGetCurrent(&after);
    say("D.reset.same", "=%d", before == after);
    AV("D.reset.limit(Success)", cudaDeviceGetLimit(&stack, cudaLimitStackSize), "%zu", stack);
    A("D.reset.twice(Success)", (cudaDeviceReset(), cudaDeviceReset()));
    A("D.reset.set(Success)", cudaSetDevice(0));
    d_active("D.reset.set.state");
}

static void d_reset_by_driver(void)
{
    void *p = NULL;
    need(cudaMalloc(&p, 4096));
    D("D.reset_by_driver", cuDevicePrimaryCtxReset(0));
    A("D.reset_by_driver.synchronize", cudaDeviceSynchronize());
    A("D.reset_by_driver.malloc", cudaMalloc(&p, 4096));
    A("D.reset_by_driver.set(Success)", cudaSetDevice(0));
    A("D.reset_by_driver.set.malloc", cudaMalloc(&p, 4096));
}

/* ---- settings ---- */

static void d_limits(void)
{
    for (int l = -1; l <= 9; l++) {
        size_t value = 77;
        cudaError_t r = cudaDeviceGetLimit(&value, (enum cudaLimit)l);
        const char *last = last_beside(r);
        say(with("D.limit.get.%d", l), "%s%s %zu", code(r), last, value);
    }
    A("D.limit.get.null(InvalidValue)", cudaDeviceGetLimit(NULL, cudaLimitStackSize));
    static const size_t sizes[] = {0, 1, 1000, 4096, 1 << 20, SIZE_MAX};
    for (int l = 0; l <= 6; l++)
        for (size_t i = 0; i < COUNT(sizes); i++) {
            size_t value = 77;
            cudaError_t r = cudaDeviceSetLimit((enum cudaLimit)l, sizes[i]), ignored = cudaDeviceGetLimit(&value, (enum cudaLimit)l);
            (void)ignored;
            (void)cudaGetLastError();
            say(with("D.limit.set.%d.%zx", l, sizes[i]), "%s %zu", code(r), value);
        }
    A("D.limit.set.99(InvalidValue)", cudaDeviceSetLimit((enum cudaLimit)99, 1));
}

static void d_configs(void)
{
    for (int c = -1; c <= 4; c++) {
        enum cudaFuncCache now = (enum cudaFuncCache)77;
        A(with("D.cache.set.%d", c), cudaDeviceSetCacheConfig((enum cudaFuncCache)c));
        AV(with("D.cache.set.%d.get(Success)", c), cudaDeviceGetCacheConfig(&now), "%d", (int)now);
    }
    A("D.cache.null(InvalidValue)", cudaDeviceGetCacheConfig(NULL));
    int least = 77, greatest = 77;
    AV("D.priority(Success)", cudaDeviceGetStreamPriorityRange(&least, &greatest), "%d %d", least, greatest);
    AV("D.priority.least(Success)", cudaDeviceGetStreamPriorityRange(&least, NULL), "%d", least);
    A("D.priority.none(Success)", cudaDeviceGetStreamPriorityRange(NULL, NULL));
    A("D.persisting(Success)", cudaCtxResetPersistingL2Cache());
    A("D.profiler.start(Success)", cudaProfilerStart());
    A("D.profiler.stop(Success)", cudaProfilerStop());
    A("D.profiler.stop.again(Success)", cudaProfilerStop());
}

static void d_flags(void)
{
    static const unsigned sets[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 0x10, 0x18, 0x20, 0x40, 0x80, 0x8c, 0x100, 0x200, UINT_MAX};
    unsigned flags = 77;
    AV("D.flags.first(Success)", cudaGetDeviceFlags(&flags), "%u", flags);
    for (size_t i = 0; i < COUNT(sets); i++) {
        A(with("D.flags.set.%x", sets[i]), cudaSetDeviceFlags(sets[i]));
        AV(with("D.flags.set.%x.get(Success)", sets[i]), cudaGetDeviceFlags(&flags), "%u", flags);
    }
    A("D.flags.null", cudaGetDeviceFlags(NULL));
}

static void d_valid(void)
{
    int list[] = {0, 0, 99, -1}, device = 77;
    A("D.valid.none(Success)", cudaSetValidDevices(NULL, 0));
    A("D.valid.null(InvalidValue)", cudaSetValidDevices(NULL, 1));
    A("D.valid.too_many(InvalidValue)", cudaSetValidDevices(list, devices() + 1));
    A("D.valid.below(InvalidValue)", cudaSetValidDevices(list, -1));
    A("D.valid.unknown(InvalidDevice)", cudaSetValidDevices(&list[2], 1));
    A("D.valid.negative(InvalidDevice)", cudaSetValidDevices(&list[3], 1));
    A("D.valid.one(Success)", cudaSetValidDevices(list, 1));
    AV("D.valid.get(Success)", cudaGetDevice(&device), "d=%d", device);
}

/* ---- peers ---- */

static void d_peers(void)
{
    int value = 77;
    AV("D.peer.can.self(Success)", cudaDeviceCanAccessPeer(&value, 0, 0), "%d", value);
    A("D.peer.can.null", cudaDeviceCanAccessPeer(NULL, 0, 0));
    A("D.peer.can.past(InvalidDevice)", cudaDeviceCanAccessPeer(&value, 0, devices()));
    A("D.peer.can.below(InvalidDevice)", cudaDeviceCanAccessPeer(&value, -1, 0));
    A("D.peer.enable.self", cudaDeviceEnablePeerAccess(0, 0));
    A("D.peer.enable.past(InvalidDevice)", cudaDeviceEnablePeerAccess(devices(), 0));
    A("D.peer.enable.flags(InvalidValue)", cudaDeviceEnablePeerAccess(0, 1));
    A("D.peer.disable.self(PeerAccessNotEnabled)", cudaDeviceDisablePeerAccess(0));
    A("D.peer.disable.past(InvalidDevice)", cudaDeviceDisablePeerAccess(devices()));
    A("D.peer.attribute.self(InvalidDevice)", cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
    A("D.peer.attribute.past(InvalidDevice)", cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, devices()));
}

static void d_two(void)
{
    int value = 77;
    if (devices() < 2)
        return;
    AV("D.two.can(Success)", cudaDeviceCanAccessPeer(&value, 0, 1), "%d", value);
    for (int a = 0; a <= 6; a++) {
        value = 77;
        AV(with("D.two.attribute.%d", a), cudaDeviceGetP2PAttribute(&value, (enum cudaDeviceP2PAttr)a, 0, 1), "%d", value);
    }
    A("D.two.attribute.null(InvalidValue)", cudaDeviceGetP2PAttribute(NULL, cudaDevP2PAttrAccessSupported, 0, 1));
    A("D.two.disable_before(PeerAccessNotEnabled)", cudaDeviceDisablePeerAccess(1));
    A("D.two.flags(InvalidValue)", cudaDeviceEnablePeerAccess(1, 1));
    A("D.two.enable(Success)", cudaDeviceEnablePeerAccess(1, 0));
    A("D.two.enable_again(PeerAccessAlreadyEnabled)", cudaDeviceEnablePeerAccess(1, 0));
    A("D.two.disable(Success)", cudaDeviceDisablePeerAccess(1));
    A("D.two.disable_again(PeerAccessNotEnabled)", cudaDeviceDisablePeerAccess(1));
    A("D.two.enable_once_more(Success)", cudaDeviceEnablePeerAccess(1, 0));
    A("D.two.reset(Success)", cudaDeviceReset());
    A("D.two.reset.enable", cudaDeviceEnablePeerAccess(1, 0));
    int device = 77, list[] = {1, 0};
    A("D.two.set(Success)", cudaSetDevice(1));
    AV("D.two.set.get(Success)", cudaGetDevice(&device), "d=%d", device);
    A("D.two.valid(Success)", cudaSetValidDevices(list, 2));
    AV("D.two.valid.get(Success)", cudaGetDevice(&device), "d=%d", device);
}

static void d_two_valid(void)
{
    int device = 77, list[] = {1, 0};
    if (devices() < 2)
        return;
    A("D.two_valid(Success)", cudaSetValidDevices(list, 2));
    A("D.two_valid.free(Success)", cudaFree(NULL));
    AV("D.two_valid.get(Success)", cudaGetDevice(&device), "d=%d", device);
}

/* ---- the driver's functions ---- */

static void d_entry(void)
{
    static const char *const names[] = {"cuInit", "cuMemAlloc", "cuMemcpyAsync", "cuMulticastCreate", "cuNoSuchName", "", "cuMemAlloc_v2",
                                        "cuCtxCreate", "cuGetProcAddress"};
    static const unsigned versions[] = {0, 1000, 2000, 7000, 11000, 12000, 12010, 13000};
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t j = 0; j < COUNT(versions); j++) {
            void *found = (void *)(uintptr_t)77;
            enum cudaDriverEntryPointQueryResult status = (enum cudaDriverEntryPointQueryResult)77;
            cudaError_t r = cudaGetDriverEntryPointByVersion(names[i], &found, versions[j], cudaEnableDefault, &status);
            const char *last = last_beside(r);
            say(with("D.entry.%s.%u", names[i], versions[j]), "%s%s found=%d status=%d", code(r), last, found != NULL, (int)status);
        }
    void *found = NULL;
    enum cudaDriverEntryPointQueryResult status;
    A("D.entry.newest(InvalidValue)", cudaGetDriverEntryPointByVersion("cuInit", &found, 99000, cudaEnableDefault, &status));
    A("D.entry.no_name(InvalidValue)", cudaGetDriverEntryPointByVersion(NULL, &found, 12000, cudaEnableDefault, &status));
    A("D.entry.no_place(InvalidValue)", cudaGetDriverEntryPointByVersion("cuInit", NULL, 12000, cudaEnableDefault, &status));
    A("D.entry.no_status(Success)", cudaGetDriverEntryPointByVersion("cuInit", &found, 12000, cudaEnableDefault, NULL));
    for (unsigned long long flags = 0; flags <= 4; flags++)
        A(with("D.entry.flags.%llu", flags), cudaGetDriverEntryPointByVersion("cuMemcpyAsync", &found, 12000, flags, &status));
}

/* ---- errors ---- */

static void *d_other_thread(void *unused)
{
    (void)unused;
    say("D.last.other_thread(Success)", "%s", code(cudaPeekAtLastError()));
    (void)cudaSetDevice(99);
    return NULL;
}

static void d_last(void)
{
    void *p = NULL;
    pthread_t thread;
    (void)cudaSetDevice(99);
    need(cudaMalloc(&p, 1));
    say("D.last.kept(InvalidDevice)", "%s", code(cudaPeekAtLastError()));
    pthread_create(&thread, NULL, d_other_thread, NULL);
    pthread_join(thread, NULL);
    say("D.last.of_this_thread(InvalidDevice)", "%s", code(cudaPeekAtLastError()));
    (void)cudaGetDevice(NULL);
    say("D.last.later(InvalidValue)", "%s", code(cudaGetLastError()));
    say("D.last.gone(Success)", "%s", code(cudaGetLastError()));
    (void)cudaGetErrorName((cudaError_t)12345);
    say("D.last.of_texts(Success)", "%s", code(cudaGetLastError()));
}

/* A store to an address where nothing is; kernels.c has the same kernel. */
static void d_fault(void)
{
    void *from = NULL;
    int device = 77, count = 77;
    static const unsigned char bytes[16];
    need(cudaMalloc(&from, G));
    CUmodule module;
    CUfunction function;
    if (cuModuleLoadData(&module, ".version 6.4\n.target sm_50\n.address_size 64\n.visible .entry fault(.param .u64 at)\n{\n"
                                  ".reg .u64 %r<2>; .reg .u32 %v<1>;\nld.param.u64 %r0, [at];\nmov.u32 %v0, 1;\nst.global.u32 [%r0], %v0;\nret;\n}\n") ||
        cuModuleGetFunction(&function, module, "fault")) {
        say("D.fault!", "no kernel");
        return;
    }
    u64 nowhere = 0x1000;
    void *parameters[] = {&nowhere};
    D("D.fault.launch", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    say("D.fault.synchronize(IllegalAddress)", "%s", code(cudaDeviceSynchronize()));
    say("D.fault.peek(IllegalAddress)", "%s", code(cudaPeekAtLastError()));
    say("D.fault.last(IllegalAddress)", "%s", code(cudaGetLastError()));
    say("D.fault.last.again", "%s", code(cudaGetLastError()));
    say("D.fault.synchronize.again(IllegalAddress)", "%s", code(cudaDeviceSynchronize()));
    say("D.fault.free", "%s", code(cudaFree(from)));
    say("D.fault.malloc", "%s", code(cudaMalloc(&from, 1)));
    say("D.fault.copy", "%s", code(cudaMemcpyAsync(from, bytes, sizeof bytes, cudaMemcpyHostToDevice, NULL)));
    (void)cudaGetLastError();
    A("D.fault.get(Success)", cudaGetDevice(&device));
    A("D.fault.count(Success)", cudaGetDeviceCount(&count));
    A("D.fault.attribute(Success)", cudaDeviceGetAttribute(&count, cudaDevAttrWarpSize, 0));
    say("D.fault.set", "%s", code(cudaSetDevice(0)));
    say("D.fault.reset", "%s", code(cudaDeviceReset()));
    say("D.fault.reset.malloc", "%s", code(cudaMalloc(&from, 1)));
}

/* ---- fork, and the end ---- */

static void d_fork(void)
{
    need(cudaFree(NULL));
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int device = 77;
        alarm(20);
        say("D.fork.get", "%s", code(cudaGetDevice(&device)));
        say("D.fork.synchronize(InitializationError)", "%s", code(cudaDeviceSynchronize()));
        say("D.fork.set", "%s", code(cudaSetDevice(0)));
        say("D.fork.last", "%s", code(cudaGetLastError()));
        fflush(stdout);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    A("D.fork.parent(Success)", cudaDeviceSynchronize());
}

static void d_at_exit(void)
{
    int device = 77;
    say("D.exit.late.get", "%s", code(cudaGetDevice(&device)));
    say("D.exit.late.synchronize", "%s", code(cudaDeviceSynchronize()));
    fflush(stdout);
}

/* A handler that is older than the runtime's. */
static void d_exit(void)
{
    atexit(d_at_exit);
    need(cudaFree(NULL));
    fflush(stdout);
    exit(0);
}

#if CUDART_VERSION < 13000
static void d_dropped(void)
{
    size_t value = 77;
    enum cudaFuncCache cache = (enum cudaFuncCache)77;
    double number = 1.5;
    AV("D.dropped.limit(Success)", cudaThreadGetLimit(&value, cudaLimitStackSize), "%zu", value);
    A("D.dropped.limit.set(Success)", cudaThreadSetLimit(cudaLimitStackSize, 2048));
    AV("D.dropped.cache(Success)", cudaThreadGetCacheConfig(&cache), "%d", (int)cache);
    A("D.dropped.cache.set(Success)", cudaThreadSetCacheConfig(cudaFuncCachePreferL1));
    A("D.dropped.double(Success)", cudaSetDoubleForDevice(&number));
    A("D.dropped.double.null", cudaSetDoubleForHost(NULL));
    A("D.dropped.synchronize(Success)", cudaThreadSynchronize());
    A("D.dropped.exit(Success)", cudaThreadExit());
}
#endif

static void group_d(void)
{
    static const struct {
        const char *id;
        void (*body)(void);
    } cases[] = {{"D.count", d_count}, {"D.text", d_texts}, {"D.attribute", d_attributes}, {"D.properties", d_properties}, {"D.bus", d_bus},
                 {"D.choose", d_choose}, {"D.set", d_set}, {"D.begin.get", d_begin_get}, {"D.begin.set", d_begin_set},
                 {"D.begin.free", d_begin_free}, {"D.begin.init", d_begin_init}, {"D.begin.reset", d_begin_reset},
                 {"D.begin.flags", d_begin_flags}, {"D.begin.limit", d_begin_limit}, {"D.begin.synchronize", d_begin_synchronize},
                 {"D.begin.peek", d_begin_peek}, {"D.own", d_own}, {"D.shared", d_shared}, {"D.reset", d_reset},
                 {"D.reset_by_driver", d_reset_by_driver}, {"D.limit", d_limits}, {"D.config", d_configs}, {"D.flags", d_flags},
                 {"D.valid", d_valid}, {"D.peer", d_peers}, {"D.two", d_two}, {"D.two_valid", d_two_valid}, {"D.entry", d_entry},
                 {"D.last", d_last}, {"D.fault", d_fault}, {"D.fork", d_fork}, {"D.exit", d_exit},
#if CUDART_VERSION < 13000
                 {"D.dropped", d_dropped},
#endif
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        surviving(cases[i].id, cases[i].body);
}
