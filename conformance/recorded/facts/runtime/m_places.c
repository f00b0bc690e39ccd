/* SPDX-License-Identifier: Apache-2.0 */
/* Part of m_memory.c, which includes it: each kind of address there is, and each call that takes one, with each of them.
 *
 *     M.free.pinned                          cudaFree of memory of cudaMallocHost
 *     M.copy.HostToDevice.device.managed     cudaMemcpy to memory of a device from managed memory; then the first byte there
 */

enum place { DEVICE, INSIDE, PINNED, REGISTERED, PAGEABLE, MANAGED, ORDERED, MAPPED, MAPPED_NONE, MAPPED_HOST, FREED, NOTHING, PLACES };

static const char *const place_names[] = {"device", "inside", "pinned", "registered", "pageable", "managed", "ordered", "mapped",
                                          "mapped_none", "mapped_host", "freed", "null"};

static char m_pages[4 * 4096];

static char *mapped_at(int type, int rights)
{
    CUdeviceptr at = reserve(G);
    map(at, G, make_at(type, G));
    if (rights)
        give(at, G, L_DEVICE, rights);
    return (char *)(uintptr_t)at;
}

/* New memory of that kind, of at least a page. */
static char *m_place(enum place place)
{
    char *p = NULL;
    switch (place) {
    case DEVICE:
    case INSIDE: need(cudaMalloc((void **)&p, 8192)); break;
    case PINNED: need(cudaMallocHost((void **)&p, 4096)); break;
    case REGISTERED:
        p = m_pages + 4096 - ((uintptr_t)m_pages & 4095);
        cudaHostUnregister(p);
        need(cudaHostRegister(p, 4096, cudaHostRegisterDefault));
        break;
    case PAGEABLE: return m_pages + 3 * 4096;
    case MANAGED: need(cudaMallocManaged((void **)&p, 4096, cudaMemAttachGlobal)); break;
    case ORDERED:
        need(cudaMallocAsync((void **)&p, 4096, 0));
        need(cudaDeviceSynchronize());
        break;
    case MAPPED: return mapped_at(L_DEVICE, RW);
    case MAPPED_NONE: return mapped_at(L_DEVICE, NONE);
    case MAPPED_HOST: return mapped_at(L_NUMA, RW);
    case FREED:
        need(cudaMalloc((void **)&p, 4096));
        need(cudaFree(p));
        break;
    default: break;
    }
    cudaGetLastError();
    return place == INSIDE ? p + 512 : p;
}

static void m_start(void)
{
    need(cudaFree(NULL));
    cuCtxGetCurrent(&primary[0]);
}

/* ---- one address ---- */

static const char *const m_one_calls[] = {"free", "free_host", "free_async", "unregister", "flags", "device_pointer", "attributes", "ipc", "ipc_close",
                                          "export", "memset", "memset_async", "register"};

/* The address as the distance from p; 0 stays 0. */
static const char *from(const void *at, const void *p)
{
    static char text[4][32];
    static unsigned next;
    char *b = text[next++ % 4];
    snprintf(b, sizeof text[0], at ? "+%lld" : "0", at ? (i64)((const char *)at - (const char *)p) : 0);
    return b;
}

static void m_one_attributes(const char *id, char *p)
{
    struct cudaPointerAttributes is;
    memset(&is, 0x5a, sizeof is);
    AV(id, cudaPointerGetAttributes(&is, p), "type=%d device=%d on_device=%s on_host=%s", (int)is.type, is.device, from(is.devicePointer, p),
       from(is.hostPointer, p));
}

static void m_one_call(const char *id, size_t call, char *p)
{
    cudaIpcMemHandle_t handle;
    struct cudaMemPoolPtrExportData data;
    unsigned flags = 77;
    void *at = NULL;
    switch (call) {
    case 0: A(id, cudaFree(p)); break;
    case 1: A(id, cudaFreeHost(p)); break;
    case 2: A(id, cudaFreeAsync(p, 0)); break;
    case 3: A(id, cudaHostUnregister(p)); break;
    case 4: AV(id, cudaHostGetFlags(&flags, p), "flags=%u", flags); break;
    case 5: AV(id, cudaHostGetDevicePointer(&at, p, 0), "at=%s", from(at, p)); break;
    case 6: m_one_attributes(id, p); break;
    case 7: A(id, cudaIpcGetMemHandle(&handle, p)); break;
    case 8: A(id, cudaIpcCloseMemHandle(p)); break;
    case 9: A(id, cudaMemPoolExportPointer(&data, p)); break;
    case 10: A(id, cudaMemset(p, 1, 16)); break;
    case 11: A(id, cudaMemsetAsync(p, 1, 16, 0)); break;
    default: A(id, cudaHostRegister(p, 4096, cudaHostRegisterDefault)); break;
    }
    cudaDeviceSynchronize();
    cudaGetLastError();
}

static void m_one(size_t i, char *id, int run)
{
    const size_t call = i / PLACES, place = i % PLACES;
    snprintf(id, CASE_ID, "M.%s.%s", m_one_calls[call], place_names[place]);
    if (run)
        m_one_call(id, call, m_place((enum place)place));
}

/* ---- two addresses and a kind ---- */

static const struct {
    const char *name;
    int kind;
} m_kinds[] = {{"HostToHost", 0}, {"HostToDevice", 1}, {"DeviceToHost", 2}, {"DeviceToDevice", 3}, {"Default", 4}, {"5", 5}, {"-1", -1}};

static const enum place m_ends[] = {PAGEABLE, PINNED, MANAGED, DEVICE, MAPPED, FREED, NOTHING};

static void m_fill(char *p, int value)
{
    if (p && cudaMemset(p, value, 16) != cudaSuccess)
        memset(p, value, 16); /* pageable */
    cudaDeviceSynchronize();
    cudaGetLastError();
}

/* The first byte, or -1 of memory that there is not. */
static int m_byte(const char *p, enum place place)
{
    unsigned char byte = 0;
    if (place == FREED || place == NOTHING)
        return -1;
    cudaError_t r = cudaMemcpy(&byte, p, 1, cudaMemcpyDefault);
    cudaGetLastError();
    return r == cudaSuccess ? byte : -1;
}

static void m_two(size_t i, char *id, int run)
{
    static const char *const forms[] = {"copy", "copy_async"};
    const size_t source = i % COUNT(m_ends), target = i / COUNT(m_ends) % COUNT(m_ends);
    const size_t kind = i / COUNT(m_ends) / COUNT(m_ends) % COUNT(m_kinds), form = i / COUNT(m_ends) / COUNT(m_ends) / COUNT(m_kinds);
    const enum place to_place = m_ends[target];
    snprintf(id, CASE_ID, "M.%s.%s.%s.%s", forms[form], m_kinds[kind].name, place_names[to_place], place_names[m_ends[source]]);
    if (!run)
        return;
    char *origin = to_place == FREED ? m_place(m_ends[source]) : NULL; /* not at the address that is free then */
    char *to = m_place(to_place);
    if (to_place != FREED)
        origin = m_place(m_ends[source]);
    if (to_place == PAGEABLE)
        to += 64; /* from the program's memory to itself: two places */
    if (to_place != FREED)
        m_fill(to, 0x11);
    if (m_ends[source] != FREED)
        m_fill(origin, 0x22);
    const enum cudaMemcpyKind asked = (enum cudaMemcpyKind)m_kinds[kind].kind;
    cudaError_t r = form ? cudaMemcpyAsync(to, origin, 16, asked, 0) : cudaMemcpy(to, origin, 16, asked);
    const char *last = last_beside(r);
    cudaDeviceSynchronize();
    say(id, "%s%s to=%d", code(r), last, m_byte(to, to_place));
}

static void m_places(void)
{
    if (is_wanted("M.free"))
        run_cases(m_start, COUNT(m_one_calls) * PLACES, m_one);
    if (is_wanted("M.copy"))
        run_cases(m_start, 2 * COUNT(m_kinds) * COUNT(m_ends) * COUNT(m_ends), m_two);
}
