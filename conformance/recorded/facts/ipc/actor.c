/* SPDX-License-Identifier: Apache-2.0 */
/* One process of a case: reads steps from a socket, makes them, and answers. Part of ../ipc.c, which includes it.
 *
 * A step is words. R stands for one of its addresses (0 to 9) and an offset, as in 0+4K or 1-1; H for a handle that the script
 * keeps, E for an event, S for a stream ("n" is NULL), N for a number (512, 64K, 2M, 1G).
 */

enum { REGISTERS = 16, WORDS = 8, WORD = 24, TEXT = 1024 };

struct ask {
    char word[WORDS][WORD];
    unsigned char handle[CU_IPC_HANDLE_SIZE];
};

struct reply {
    unsigned char handle[CU_IPC_HANDLE_SIZE]; /* as before unless the call wrote it */
    char text[TEXT];
};

/* The older form, which cuda.h maps to the newer one. */
#undef cuIpcOpenMemHandle
CUresult CUDAAPI cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int flags);
CUresult CUDAAPI cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int flags);
/* Also where a header lacks them. */
CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream);
CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream);

static CUdeviceptr regs[REGISTERS];
static CUevent events[REGISTERS];
static CUstream streams[REGISTERS];
static CUcontext contexts[REGISTERS];
static size_t sizes[REGISTERS];
static atomic_int gate;
static i64 free_before;

static u64 number(const char *text)
{
    char *end;
    u64 n = strtoull(text, &end, 0);
    return *end == 'K' ? n << 10 : *end == 'M' ? n << 20 : *end == 'G' ? n << 30 : n;
}

static CUdeviceptr at(const char *word)
{
    const char *off = word + strcspn(word, "+-");
    CUdeviceptr p = regs[atoi(word)];
    return *off == '+' ? p + number(off + 1) : *off == '-' ? p - number(off + 1) : p;
}

static CUstream stream_of(const char *word)
{
    return word[0] == 'n' ? NULL : word[0] == 'L' ? CU_STREAM_LEGACY : word[0] == 'P' ? CU_STREAM_PER_THREAD : streams[atoi(word)];
}

static CUevent event_of(const char *word)
{
    return word[0] == 'n' ? NULL : events[atoi(word)];
}

/* As an offset from the register it belongs to, or from any other. */
static const char *near(CUdeviceptr p, CUdeviceptr base)
{
    static char text[8][40];
    static unsigned next;
    char *t = text[next++ % COUNT(text)];
    i64 off = (i64)(p - base);
    if (!p)
        snprintf(t, sizeof text[0], "0");
    else if (off > -((i64)1 << 32) && off < (i64)1 << 32)
        snprintf(t, sizeof text[0], "base%+lld", off);
    else
        snprintf(t, sizeof text[0], "elsewhere");
    return t;
}

static void show_attributes(char *text, CUdeviceptr p)
{
    static const struct {
        const char *name;
        int attribute, size;
        char form; /* n: a number, p: an address, c: a context, b: does it exist */
    } all[] = {
        {"context", 1, 8, 'c'}, {"type", 2, 4, 'n'}, {"device_pointer", 3, 8, 'p'}, {"host_pointer", 4, 8, 'p'},
        {"p2p", 5, 16, 'b'}, {"sync", 6, 4, 'n'}, {"buffer_id", 7, 8, 'b'}, {"managed", 8, 4, 'n'}, {"ordinal", 9, 4, 'n'},
        {"legacy_ipc", 10, 4, 'n'}, {"range_start", 11, 8, 'p'}, {"range_size", 12, 8, 'n'}, {"mapped", 13, 4, 'n'},
        {"handle_types", 14, 4, 'n'}, {"rdma", 15, 4, 'n'}, {"access", 16, 4, 'n'}, {"mempool", 17, 8, 'b'},
        {"mapping_size", 18, 8, 'n'}, {"mapping_base", 19, 8, 'p'}, {"block_id", 20, 8, 'b'}, {"hw_decompress", 21, 4, 'n'}};
    CUcontext now = NULL;
    cuCtxGetCurrent(&now);
    text[0] = 0;
    for (size_t i = 0; i < COUNT(all); i++) {
        u64 v[2] = {0, 0};
        CUresult r = cuPointerGetAttribute(v, (CUpointer_attribute)all[i].attribute, p);
        size_t used = strlen(text);
        if (r)
            snprintf(text + used, TEXT - used, " %s:%s", all[i].name, name_of(r));
        else if (all[i].form == 'p')
            snprintf(text + used, TEXT - used, " %s=%s", all[i].name, near(v[0], p));
        else if (all[i].form == 'c')
            snprintf(text + used, TEXT - used, " %s=%s", all[i].name,
                     !v[0] ? "0" : (CUcontext)(uintptr_t)v[0] == now ? "current" : "other");
        else if (all[i].form == 'b')
            snprintf(text + used, TEXT - used, " %s=%d", all[i].name, v[0] != 0);
        else
            snprintf(text + used, TEXT - used, " %s=%lld", all[i].name, all[i].size == 4 ? (i64)(int)v[0] : (i64)v[0]);
    }
}

static void CUDA_CB wait_at_gate(void *unused)
{
    (void)unused;
    for (int waited = 0; !gate && waited < 15000; waited++) {
        struct timespec t = {0, 1000000};
        nanosleep(&t, NULL);
    }
}

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* ---- steps that make memory: R N ---- */

static CUresult make_memory(const char *kind, int r, size_t size)
{
    CUdeviceptr p = 0;
    void *host = NULL;
    size_t pitch = 0;
    CUresult result = CUDA_SUCCESS;
    if (!strcmp(kind, "alloc"))
        result = cuMemAlloc(&p, size);
    else if (!strcmp(kind, "pitch"))
        result = cuMemAllocPitch(&p, &pitch, size, 16, 4);
    else if (!strcmp(kind, "pool")) {
        result = cuMemAllocAsync(&p, size, NULL);
        cuStreamSynchronize(NULL);
    } else if (!strcmp(kind, "hostalloc")) {
        result = cuMemHostAlloc(&host, size, 0);
        p = (CUdeviceptr)(uintptr_t)host;
    } else if (!strcmp(kind, "malloc") || !strcmp(kind, "registered")) {
        host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        p = (CUdeviceptr)(uintptr_t)host;
        if (kind[0] == 'r')
            result = cuMemHostRegister(host, size, 0);
    } else { /* vmm, vmmro, vmmnone, vmmhost, reserved */
        p = reserve(size);
        if (kind[0] == 'v') {
            int type = !strcmp(kind, "vmmhost") ? L_HOST : L_DEVICE;
            map(p, size, make_at(type, size));
            if (strcmp(kind, "vmmnone"))
                result = give(p, size, L_DEVICE, !strcmp(kind, "vmmro") ? READ : RW);
        }
    }
    regs[r] = p;
    sizes[r] = size;
    return result;
}

/* Each 512 bytes of R hold TAG and their number. */
static CUresult mark(CUdeviceptr p, u64 tag, size_t size)
{
    static uint32_t piece[1 << 18];
    for (size_t done = 0; done < size; done += sizeof piece) {
        size_t part = size - done < sizeof piece ? size - done : sizeof piece;
        for (size_t i = 0; i < part / 4; i++)
            piece[i] = (uint32_t)(tag << 24 | (done + 4 * i) / 512);
        CUresult r = cuMemcpyHtoD(p + done, piece, part);
        if (r)
            return r;
    }
    return cuCtxSynchronize();
}

static void open_memory(struct ask *ask, struct reply *reply)
{
    CUipcMemHandle handle;
    memcpy(&handle, ask->handle, sizeof handle);
    const bool old = !strcmp(ask->word[0], "open1"), nowhere = ask->word[1][0] == 'n';
    CUdeviceptr p = 0x77;
    const unsigned flags = (unsigned)number(ask->word[3]);
    CUresult r = old ? cuIpcOpenMemHandle(nowhere ? NULL : &p, handle, flags)
                     : cuIpcOpenMemHandle_v2(nowhere ? NULL : &p, handle, flags);
    if (!r && !nowhere)
        regs[atoi(ask->word[1])] = p;
    snprintf(reply->text, TEXT, r ? "%s wrote=%d" : "%s", name_of(r), p != 0x77);
}

static void get_memory(struct ask *ask, struct reply *reply)
{
    CUipcMemHandle handle;
    memset(&handle, 0x5a, sizeof handle);
    CUresult r = cuIpcGetMemHandle(ask->word[1][0] == 'n' ? NULL : &handle, at(ask->word[2]));
    memcpy(reply->handle, &handle, sizeof handle);
    bool wrote = false;
    for (size_t i = 0; i < sizeof handle; i++)
        wrote |= reply->handle[i] != 0x5a;
    snprintf(reply->text, TEXT, r ? "%s wrote=%d" : "%s", name_of(r), wrote);
}

static void make_context(const char *how)
{
    CUcontext ctx = NULL;
    if (!strcmp(how, "none"))
        cuCtxSetCurrent(NULL);
    else if (!strcmp(how, "new")) {
#if CUDA_VERSION >= 13000
        cuCtxCreate(&ctx, NULL, 0, 0);
#else
        cuCtxCreate(&ctx, 0, 0);
#endif
        contexts[9] = ctx;
    } else if (!strcmp(how, "newest"))
        cuCtxSetCurrent(contexts[9]);
    else {
        cuDevicePrimaryCtxRetain(&ctx, atoi(how));
        cuCtxSetCurrent(ctx);
        primary[atoi(how)] = ctx;
    }
}

static void access_rights(char *text, CUdeviceptr p)
{
    unsigned long long flags = 77;
    CUmemLocation l = loc_at(L_DEVICE, 0);
    CUresult r = cuMemGetAccess(&flags, &l, p);
    Handle h = 0;
    CUresult retained = cuMemRetainAllocationHandle(&h, (void *)(uintptr_t)p);
    int fd = -1;
    CUresult dmabuf = cuMemGetHandleForAddressRange(&fd, p & ~(G - 1), G, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    CUmemAccessDesc d = desc(L_DEVICE, 0, RW);
    snprintf(text, TEXT, "get=%s flags=%lld retain=%s dmabuf=%s set=%s unmap=%s", name_of(r), (i64)flags, name_of(retained),
             name_of(dmabuf), name_of(cuMemSetAccess(p & ~(G - 1), G, &d, 1)), name_of(cuMemUnmap(p & ~(G - 1), G)));
}

static i64 free_bytes(void)
{
    size_t now = 0, all = 0;
    cuMemGetInfo(&now, &all);
    return (i64)now;
}

/* ---- events ---- */

static void event_handle(struct ask *ask, struct reply *reply)
{
    CUipcEventHandle handle;
    CUevent e = (CUevent)8;
    CUresult r;
    bool wrote = false;
    if (!strcmp(ask->word[0], "getev")) {
        memset(&handle, 0x5a, sizeof handle);
        r = cuIpcGetEventHandle(ask->word[1][0] == 'n' ? NULL : &handle, event_of(ask->word[2]));
        memcpy(reply->handle, &handle, sizeof handle);
        for (size_t i = 0; i < sizeof handle; i++)
            wrote |= reply->handle[i] != 0x5a;
    } else {
        memcpy(&handle, ask->handle, sizeof handle);
        r = cuIpcOpenEventHandle(ask->word[1][0] == 'n' ? NULL : &e, handle);
        if (!r && ask->word[1][0] != 'n')
            events[atoi(ask->word[1])] = e;
        wrote = e != (CUevent)8;
    }
    snprintf(reply->text, TEXT, r ? "%s wrote=%d" : "%s", name_of(r), wrote);
}

static bool event_step(struct ask *ask, char *text)
{
    const char *verb = ask->word[0], *one = ask->word[1], *two = ask->word[2];
    CUresult r;
    float ms = -1;
    CUgraph graph;
    CUevent e = NULL;
    CUstream s = NULL;
    if (!strcmp(verb, "event")) {
        r = cuEventCreate(&e, (unsigned)number(two));
        events[atoi(one)] = e;
    } else if (!strcmp(verb, "destroy"))
        r = cuEventDestroy(event_of(one));
    else if (!strcmp(verb, "record"))
        r = cuEventRecord(event_of(one), stream_of(two));
    else if (!strcmp(verb, "query"))
        r = cuEventQuery(event_of(one));
    else if (!strcmp(verb, "sync"))
        r = cuEventSynchronize(event_of(one));
    else if (!strcmp(verb, "wait"))
        r = cuStreamWaitEvent(stream_of(one), event_of(two), 0);
    else if (!strcmp(verb, "elapsed"))
        r = cuEventElapsedTime(&ms, event_of(one), event_of(two));
    else if (!strcmp(verb, "stream")) {
        r = cuStreamCreate(&s, (unsigned)number(two));
        streams[atoi(one)] = s;
    } else if (!strcmp(verb, "squery"))
        r = cuStreamQuery(stream_of(one));
    else if (!strcmp(verb, "ssync"))
        r = cuStreamSynchronize(stream_of(one));
    else if (!strcmp(verb, "sdestroy"))
        r = cuStreamDestroy(stream_of(one));
    else if (!strcmp(verb, "capture"))
        r = cuStreamBeginCapture(stream_of(one), (CUstreamCaptureMode)number(two));
    else if (!strcmp(verb, "endcapture"))
        r = cuStreamEndCapture(stream_of(one), &graph);
    else if (!strcmp(verb, "block")) {
        gate = 0;
        r = cuLaunchHostFunc(stream_of(one), wait_at_gate, NULL);
    } else if (!strcmp(verb, "unblock")) {
        gate = 1;
        r = CUDA_SUCCESS;
    } else if (!strcmp(verb, "fillasync"))
        r = cuMemsetD8Async(at(one), (unsigned char)number(two), 4096, stream_of(ask->word[3]));
    else if (!strcmp(verb, "same_event")) {
        snprintf(text, TEXT, "%s", event_of(one) == event_of(two) ? "same" : "other");
        return true;
    } else if (!strcmp(verb, "eventually")) { /* until it is complete, at most 2 s: polls, since a wait might hang */
        int waited = 0;
        do {
            r = cuEventQuery(event_of(one));
            pause_ms(1);
        } while (r == CUDA_ERROR_NOT_READY && waited++ < 2000);
    } else
        return false;
    snprintf(text, TEXT, "%s", name_of(r));
    return true;
}

/* ---- a step ---- */

static bool memory_step(struct ask *ask, char *text)
{
    static const char *const makers[] = {"alloc", "pitch", "pool", "hostalloc", "malloc", "registered", "vmm", "vmmro", "vmmnone",
                                         "vmmhost", "reserved"};
    const char *verb = ask->word[0], *one = ask->word[1], *two = ask->word[2];
    CUresult r = CUDA_SUCCESS;
    CUdeviceptr base = 0;
    size_t size = 0;
    for (size_t i = 0; i < COUNT(makers); i++)
        if (!strcmp(verb, makers[i])) {
            snprintf(text, TEXT, "%s", name_of(make_memory(verb, atoi(one), number(two))));
            return true;
        }
    if (!strcmp(verb, "free"))
        r = cuMemFree(at(one));
    else if (!strcmp(verb, "freeasync"))
        r = cuMemFreeAsync(at(one), NULL);
    else if (!strcmp(verb, "freehost"))
        r = cuMemFreeHost((void *)(uintptr_t)at(one));
    else if (!strcmp(verb, "close"))
        r = cuIpcCloseMemHandle(at(one));
    else if (!strcmp(verb, "fill")) {
        r = cuMemsetD8(at(one), (unsigned char)number(two), number(ask->word[3]));
        CUresult then = cuCtxSynchronize();
        r = r ? r : then;
    } else if (!strcmp(verb, "copy")) {
        r = cuMemcpyDtoD(at(one), at(two), number(ask->word[3]));
        CUresult then = cuCtxSynchronize();
        r = r ? r : then;
    } else if (!strcmp(verb, "mark"))
        r = mark(at(one), number(two), number(ask->word[3]));
    else if (!strcmp(verb, "set"))
        regs[atoi(one)] = number(two);
    else if (!strcmp(verb, "move"))
        regs[atoi(one)] = at(two);
    else if (!strcmp(verb, "peek")) {
        uint32_t v = 0;
        r = cuMemcpyDtoH(&v, at(one), 4);
        snprintf(text, TEXT, r ? "%s" : "%s tag=%u offset=%u", name_of(r), v >> 24, (v & 0xffffff) * 512);
        return true;
    } else if (!strcmp(verb, "read")) {
        snprintf(text, TEXT, "%d", byte_at(at(one)));
        return true;
    } else if (!strcmp(verb, "range")) {
        r = cuMemGetAddressRange(&base, &size, at(one));
        snprintf(text, TEXT, r ? "%s" : "%s %s size=%zu", name_of(r), near(base, at(one)), size);
        return true;
    } else if (!strcmp(verb, "attrs")) {
        show_attributes(text, at(one));
        return true;
    } else if (!strcmp(verb, "rights")) {
        access_rights(text, at(one));
        return true;
    } else if (!strcmp(verb, "compare")) {
        snprintf(text, TEXT, "%s", at(one) == at(two) ? "same" : near(at(one), at(two)));
        return true;
    } else if (!strcmp(verb, "aligned")) { /* the largest power of two, up to 2 MiB, that divides the address */
        CUdeviceptr p = at(one);
        snprintf(text, TEXT, "%llu", p & -p & (G - 1) ? p & -p : (u64)G);
        return true;
    } else if (!strcmp(verb, "note")) {
        free_before = free_bytes();
        snprintf(text, TEXT, "-");
        return true;
    } else if (!strcmp(verb, "taken")) {
        snprintf(text, TEXT, "%lld", free_before - free_bytes());
        return true;
    } else
        return false;
    snprintf(text, TEXT, "%s", name_of(r));
    return true;
}

static bool process_step(struct ask *ask, char *text)
{
    const char *verb = ask->word[0], *one = ask->word[1];
    CUresult r = CUDA_SUCCESS;
    int count = -9;
    if (!strcmp(verb, "kill"))
        raise(SIGKILL);
    if (!strcmp(verb, "context"))
        make_context(one);
    else if (!strcmp(verb, "context_destroy"))
        r = cuCtxDestroy(contexts[9]);
    else if (!strcmp(verb, "reset"))
        r = cuDevicePrimaryCtxReset(atoi(one));
    else if (!strcmp(verb, "release"))
        r = cuDevicePrimaryCtxRelease(atoi(one));
    else if (!strcmp(verb, "csync"))
        r = cuCtxSynchronize();
    else if (!strcmp(verb, "peer"))
        r = cuCtxEnablePeerAccess(primary[atoi(one)], 0);
    else if (!strcmp(verb, "nopeer"))
        r = cuCtxDisablePeerAccess(primary[atoi(one)]);
    else if (!strcmp(verb, "init"))
        r = cuInit(0);
    else if (!strcmp(verb, "pause"))
        pause_ms(200);
    else if (!strcmp(verb, "attribute")) {
        r = cuDeviceGetAttribute(&count, (CUdevice_attribute)number(one), 0);
        snprintf(text, TEXT, "%s %d", name_of(r), count);
        return true;
    } else
        return false;
    snprintf(text, TEXT, "%s", name_of(r));
    return true;
}

static void make_step(struct ask *ask, struct reply *reply)
{
    const char *verb = ask->word[0];
    memcpy(reply->handle, ask->handle, sizeof reply->handle);
    reply->text[0] = 0;
    if (!strncmp(verb, "open", 4) && strcmp(verb, "openev"))
        open_memory(ask, reply);
    else if (!strcmp(verb, "get"))
        get_memory(ask, reply);
    else if (!strcmp(verb, "getev") || !strcmp(verb, "openev"))
        event_handle(ask, reply);
    else if (!memory_step(ask, reply->text) && !event_step(ask, reply->text) && !process_step(ask, reply->text))
        snprintf(reply->text, TEXT, "no such step");
}

/* A process whose first step is "raw" has not called cuInit. */
static int act(int socket)
{
    struct ask ask;
    struct reply reply;
    bool began = false;
    end_after(40);
    while (recv(socket, &ask, sizeof ask, MSG_WAITALL) == (ssize_t)sizeof ask) {
        if (!strcmp(ask.word[0], "end"))
            break;
        memset(&reply, 0, sizeof reply);
        const bool raw = !began && !strcmp(ask.word[0], "raw");
        if (!began && !raw)
            init();
        began = true;
        if (raw)
            memcpy(reply.handle, ask.handle, sizeof reply.handle);
        else
            make_step(&ask, &reply);
        if (send(socket, &reply, sizeof reply, MSG_NOSIGNAL) != (ssize_t)sizeof reply)
            break;
    }
    gate = 1;
    fflush(stdout);
    _exit(0);
}
