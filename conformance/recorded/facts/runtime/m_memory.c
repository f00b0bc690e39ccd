/* SPDX-License-Identifier: Apache-2.0 */
/* Group M: memory. Part of ../runtime.c, which includes it. What only CUDA 13 has is left out of the program of CUDA 12. */
#include "m_places.c"

static void *m_out;
static size_t m_size, m_pitch;
static char m_text[4][8] = {"abcdefg", "hijklmn", "opqrstu", "vwxyz01"};

/* What a refused call leaves in its output. */
#define M_ALLOC(id, call)                                          \
    do {                                                           \
        m_out = (void *)0x77;                                      \
        AV(id, call, "p=%s", !m_out ? "0" : m_out == (void *)0x77 ? "unchanged" : "new"); \
    } while (0)

/* ---- allocations ---- */

static void m_alloc(void)
{
    M_ALLOC("M.alloc.1(Success)", cudaMalloc(&m_out, 1));
    M_ALLOC("M.alloc.0", cudaMalloc(&m_out, 0));
    M_ALLOC("M.alloc.huge(MemoryAllocation)", cudaMalloc(&m_out, (size_t)1 << 60));
    M_ALLOC("M.alloc.max(MemoryAllocation)", cudaMalloc(&m_out, SIZE_MAX));
    A("M.alloc.null(InvalidValue)", cudaMalloc(NULL, 1));
    A("M.alloc.null.0", cudaMalloc(NULL, 0));
    M_ALLOC("M.host.1(Success)", cudaMallocHost(&m_out, 1));
    M_ALLOC("M.host.0", cudaMallocHost(&m_out, 0));
    M_ALLOC("M.host.max(MemoryAllocation)", cudaMallocHost(&m_out, SIZE_MAX));
    A("M.host.null(InvalidValue)", cudaMallocHost(NULL, 1));
    A("M.host.null.0", cudaMallocHost(NULL, 0));
    M_ALLOC("M.managed.1(Success)", cudaMallocManaged(&m_out, 1, cudaMemAttachGlobal));
    M_ALLOC("M.managed.0", cudaMallocManaged(&m_out, 0, cudaMemAttachGlobal));
    M_ALLOC("M.managed.max(MemoryAllocation)", cudaMallocManaged(&m_out, SIZE_MAX, cudaMemAttachGlobal));
    A("M.managed.null(InvalidValue)", cudaMallocManaged(NULL, 1, cudaMemAttachGlobal));
    for (unsigned flags = 0; flags < 9; flags++)
        M_ALLOC(with("M.managed.flags.%u", flags), cudaMallocManaged(&m_out, 64, flags));
    for (unsigned flags = 0; flags < 17; flags++) {
        unsigned now = 77;
        M_ALLOC(with("M.host_alloc.flags.%u", flags), cudaHostAlloc(&m_out, 64, flags));
        if (m_out && m_out != (void *)0x77)
            AV(with("M.host_alloc.flags.%u.get", flags), cudaHostGetFlags(&now, m_out), "flags=%u", now);
    }
    M_ALLOC("M.host_alloc.0", cudaHostAlloc(&m_out, 0, 0));
    M_ALLOC("M.host_alloc.0.flags.99", cudaHostAlloc(&m_out, 0, 99));
}

static void m_free(void)
{
    void *p = NULL;
    A("M.free.nothing(Success)", cudaFree(NULL));
    A("M.free_host.nothing", cudaFreeHost(NULL));
    need(cudaMalloc(&p, 64));
    A("M.free.once(Success)", cudaFree(p));
    A("M.free.twice(InvalidValue)", cudaFree(p));
    need(cudaMallocHost(&p, 64));
    A("M.free_host.once(Success)", cudaFreeHost(p));
    A("M.free_host.twice(InvalidValue)", cudaFreeHost(p));
}

static void m_pitched(void)
{
    static const struct {
        size_t width, height;
    } sizes[] = {{1, 1}, {512, 2}, {513, 2}, {0, 1}, {1, 0}, {0, 0}, {SIZE_MAX, 1}, {1, SIZE_MAX}, {SIZE_MAX, SIZE_MAX}, {(size_t)1 << 31, 1}, {(size_t)1 << 33, 1}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        m_out = (void *)0x77;
        m_pitch = 88;
        AV(with("M.pitch.%zx.%zx", sizes[i].width, sizes[i].height), cudaMallocPitch(&m_out, &m_pitch, sizes[i].width, sizes[i].height),
           "p=%d pitch=%zu", m_out == (void *)0x77 ? 77 : m_out != NULL, m_pitch);
    }
    A("M.pitch.null(InvalidValue)", cudaMallocPitch(NULL, &m_pitch, 1, 1));
    A("M.pitch.no_pitch(InvalidValue)", cudaMallocPitch(&m_out, NULL, 1, 1));
    A("M.pitch.null.0", cudaMallocPitch(NULL, &m_pitch, 0, 1));
    A("M.pitch.no_pitch.0", cudaMallocPitch(&m_out, NULL, 0, 1));
}

static void m_layers(void)
{
    static const struct cudaExtent sizes[] = {
        {.width = 1, .height = 1, .depth = 1}, {.width = 600, .height = 3, .depth = 2}, {.width = 0, .height = 3, .depth = 2},
        {.width = 6, .height = 0, .depth = 2}, {.width = 6, .height = 3, .depth = 0},   {.width = 0, .height = 0, .depth = 0},
        {.width = 1, .height = SIZE_MAX, .depth = 1}, {.width = 1, .height = 1, .depth = SIZE_MAX}, {.width = 1, .height = SIZE_MAX / 2, .depth = 3},
        {.width = SIZE_MAX, .height = 1, .depth = 1}, {.width = SIZE_MAX, .height = SIZE_MAX, .depth = SIZE_MAX}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct cudaPitchedPtr p = {.ptr = (void *)0x77, .pitch = 1, .xsize = 2, .ysize = 3};
        AV(with("M.layers.%zx.%zx.%zx", sizes[i].width, sizes[i].height, sizes[i].depth), cudaMalloc3D(&p, sizes[i]), "p=%d %zu %zu %zu",
           p.ptr == (void *)0x77 ? 77 : p.ptr != NULL, p.pitch, p.xsize, p.ysize);
    }
    A("M.layers.null(InvalidValue)", cudaMalloc3D(NULL, sizes[0]));
}

static void m_info(void)
{
    size_t left = 77, all = 77;
    A("M.info(Success)", cudaMemGetInfo(&left, &all));
    A("M.info.no_free", cudaMemGetInfo(NULL, &all));
    A("M.info.no_total", cudaMemGetInfo(&left, NULL));
    A("M.info.neither", cudaMemGetInfo(NULL, NULL));
}

static void m_attributes_null(void)
{
    A("M.attributes.out_null", cudaPointerGetAttributes(NULL, m_text));
}

static void m_register(void)
{
    char *p = m_pages + 4096 - ((uintptr_t)m_pages & 4095);
    unsigned now = 77;
    for (unsigned flags = 0; flags < 17; flags++) {
        if (A(with("M.register.flags.%u", flags), cudaHostRegister(p, 4096, flags)) != cudaSuccess)
            continue;
        AV(with("M.register.flags.%u.get", flags), cudaHostGetFlags(&now, p), "flags=%u", now);
        need(cudaHostUnregister(p));
    }
    need(cudaHostRegister(p, 4096, 0));
    A("M.register.twice(HostMemoryAlreadyRegistered)", cudaHostRegister(p, 4096, 0));
    A("M.register.part", cudaHostRegister(p + 64, 64, 0));
    A("M.register.more", cudaHostRegister(p, 8192, 0));
    A("M.unregister.inside", cudaHostUnregister(p + 64));
    A("M.unregister.it(Success)", cudaHostUnregister(p));
    A("M.unregister.twice(HostMemoryNotRegistered)", cudaHostUnregister(p));
    A("M.register.unaligned", cudaHostRegister(p + 3, 5, 0));
    A("M.unregister.unaligned", cudaHostUnregister(p + 3));
    A("M.register.nothing(InvalidValue)", cudaHostRegister(NULL, 64, 0));
    A("M.register.empty(InvalidValue)", cudaHostRegister(p, 0, 0));
    A("M.flags.null", cudaHostGetFlags(NULL, p));
    A("M.device_pointer.null", cudaHostGetDevicePointer(NULL, p, 0));
    M_ALLOC("M.device_pointer.flags", cudaHostGetDevicePointer(&m_out, p, 1));
}

/* ---- copies and fills ---- */

static char *m_device(void)
{
    char *p = NULL;
    need(cudaMalloc((void **)&p, 2 * G));
    need(cudaMemset(p, 0x11, 2 * G));
    need(cudaDeviceSynchronize());
    return p;
}

static void m_sizes(void)
{
    char *d = m_device();
    A("M.size.0.null(Success)", cudaMemcpy(NULL, NULL, 0, cudaMemcpyDefault));
    A("M.size.0.kind.9", cudaMemcpy(d, m_text, 0, (enum cudaMemcpyKind)9));
    A("M.size.0.async.kind.9", cudaMemcpyAsync(d, m_text, 0, (enum cudaMemcpyKind)9, 0));
    A("M.size.0.stream", cudaMemcpyAsync(d, m_text, 0, cudaMemcpyDefault, (cudaStream_t)0x10));
    A("M.size.all(Success)", cudaMemcpy(d + G, d, G, cudaMemcpyDeviceToDevice));
    A("M.size.past", cudaMemcpy(d + G, d, G + 1, cudaMemcpyDeviceToDevice));
    A("M.size.past.source", cudaMemcpy(d, d + G, G + 1, cudaMemcpyDeviceToDevice));
    A("M.size.overlap", cudaMemcpy(d + 1, d, 4096, cudaMemcpyDeviceToDevice));
    A("M.set.0.null(Success)", cudaMemset(NULL, 1, 0));
    A("M.set.past", cudaMemset(d + G, 1, G + 1));
    A("M.set.word", cudaMemset(d, 0x1234567, 1));
    DV("M.set.word.is", CUDA_SUCCESS, "%d", byte_at((CUdeviceptr)(uintptr_t)d));
}

static void m_size_max(void)
{
    A("M.size_max.copy", cudaMemcpy(m_device(), m_text, SIZE_MAX, cudaMemcpyHostToDevice));
}

static void m_size_max_set(void)
{
    A("M.size_max.set", cudaMemset(m_device(), 1, SIZE_MAX));
}

/* What is wrong, and the arguments; a driver may take some for a launch that failed. */
static const struct m_rows {
    const char *id;
    size_t dpitch, spitch, width, height;
    int kind;
} m_rows_cases[] = {{"right(Success)", 64, 8, 3, 4, 1}, {"wide(Success)", 8, 8, 8, 4, 1}, {"dpitch(InvalidPitchValue)", 2, 8, 3, 4, 1},
                    {"spitch(InvalidPitchValue)", 64, 2, 3, 4, 1}, {"one_row.dpitch", 2, 8, 3, 1, 1}, {"one_row.pitch.0", 0, 0, 3, 1, 1},
                    {"no_rows.pitch.0", 0, 0, 3, 0, 1}, {"width.0", 64, 8, 0, 4, 1}, {"width.0.pitch.0", 0, 0, 0, 4, 1}, {"height.0", 64, 8, 3, 0, 1},
                    {"pitch.memPitch", ((size_t)1 << 31) - 1, 8, 3, 1, 1}, {"pitch.2G", (size_t)1 << 31, 8, 3, 1, 1}, {"pitch.max", SIZE_MAX, 8, 3, 2, 1},
                    {"past", G, 8, 3, 4, 1}, {"width.max", SIZE_MAX, SIZE_MAX, SIZE_MAX, 1, 1},
                    {"kind.5(InvalidMemcpyDirection)", 64, 8, 3, 4, 5}, {"kind.-1(InvalidMemcpyDirection)", 64, 8, 3, 4, -1}, {"kind.5.dpitch", 2, 8, 3, 4, 5},
                    {"kind.5.width.0", 64, 8, 0, 4, 5}, {"kind.default(Success)", 64, 8, 3, 4, 4}, {"kind.device", 64, 8, 3, 4, 3},
                    {"kind.back", 64, 8, 3, 4, 2}, {"kind.host", 64, 8, 3, 4, 0}};

static void m_rows_one(size_t i, char *id, int run)
{
    const struct m_rows *c = &m_rows_cases[i / 2];
    snprintf(id, CASE_ID, "M.rows%s.%s", i % 2 ? "_async" : "", c->id);
    if (!run)
        return;
    char *d = m_device();
    const enum cudaMemcpyKind kind = (enum cudaMemcpyKind)c->kind;
    A(id, i % 2 ? cudaMemcpy2DAsync(d, c->dpitch, m_text, c->spitch, c->width, c->height, kind, 0)
                : cudaMemcpy2D(d, c->dpitch, m_text, c->spitch, c->width, c->height, kind));
    cudaFree(d);
    cudaGetLastError();
}

static void m_rows_null(void)
{
    char *d = m_device();
    A("M.rows_null.to(InvalidValue)", cudaMemcpy2D(NULL, 64, m_text, 8, 3, 4, cudaMemcpyHostToDevice));
    A("M.rows_null.from(InvalidValue)", cudaMemcpy2D(d, 64, NULL, 8, 3, 4, cudaMemcpyHostToDevice));
}

static void m_boxes(void)
{
    char *d = m_device();
    const struct cudaMemcpy3DParms right = {.srcPtr = {.ptr = m_text, .pitch = 8, .xsize = 8, .ysize = 2},
                                            .dstPtr = {.ptr = d, .pitch = 64, .xsize = 8, .ysize = 2},
                                            .extent = {.width = 8, .height = 2, .depth = 2}, .kind = cudaMemcpyHostToDevice};
    struct cudaMemcpy3DParms p;
#define M_BOX(id, change)                                            \
    do {                                                             \
        p = right;                                                   \
        change;                                                      \
        A("M.box." id, cudaMemcpy3D(&p));                            \
        A("M.box_async." id, cudaMemcpy3DAsync(&p, 0));              \
        cudaDeviceSynchronize();                                     \
        cudaGetLastError();                                          \
    } while (0)
    M_BOX("right(Success)", (void)0);
    M_BOX("kind.7(InvalidMemcpyDirection)", p.kind = (enum cudaMemcpyKind)7);
    M_BOX("kind.default(Success)", p.kind = cudaMemcpyDefault);
    M_BOX("kind.back", p.kind = cudaMemcpyDeviceToHost);
    M_BOX("dpitch", p.dstPtr.pitch = 7);
    M_BOX("spitch", p.srcPtr.pitch = 7);
    M_BOX("dpitch.2G", p.dstPtr.pitch = (size_t)1 << 31);
    M_BOX("x", p.dstPos.x = 57);
    M_BOX("x.max", p.dstPos.x = SIZE_MAX);
    M_BOX("y", p.dstPos.y = 1);
    M_BOX("source.y", p.srcPos.y = 1);
    M_BOX("z", p.dstPos.z = 1);
    M_BOX("z.past", p.dstPos.z = G);
    M_BOX("xsize", p.dstPtr.xsize = 1);
    M_BOX("ysize", p.dstPtr.ysize = 1);
    M_BOX("ysize.0", p.dstPtr.ysize = 0);
    M_BOX("ysize.one_layer", (p.dstPtr.ysize = 1, p.extent.depth = 1));
    M_BOX("ysize.0.one_layer", (p.dstPtr.ysize = 0, p.extent.depth = 1));
    M_BOX("source.ysize", p.srcPtr.ysize = 1);
    M_BOX("dpitch.one_row", (p.dstPtr.pitch = 7, p.extent.height = 1));
    M_BOX("dpitch.one", (p.dstPtr.pitch = 7, p.extent.height = 1, p.extent.depth = 1));
    M_BOX("dpitch.0.one", (p.dstPtr.pitch = 0, p.extent.height = 1, p.extent.depth = 1));
    M_BOX("dpitch.width.0", (p.dstPtr.pitch = 7, p.extent.width = 0));
    M_BOX("dpitch.height.0", (p.dstPtr.pitch = 7, p.extent.height = 0));
    M_BOX("kind.7.dpitch", (p.kind = (enum cudaMemcpyKind)7, p.dstPtr.pitch = 7));
    M_BOX("kind.7.width.0", (p.kind = (enum cudaMemcpyKind)7, p.extent.width = 0));
    M_BOX("y.pitch", (p.dstPos.y = 1, p.dstPtr.pitch = 7));
    M_BOX("width.0", p.extent.width = 0);
    M_BOX("height.0", p.extent.height = 0);
    M_BOX("depth.0", p.extent.depth = 0);
    M_BOX("depth.past", p.extent.depth = G);
    M_BOX("no_source", p.srcPtr.ptr = NULL);
    M_BOX("no_target", p.dstPtr.ptr = NULL);
    M_BOX("zero.no_source", (p.srcPtr.ptr = NULL, p.extent.width = 0));
}

static void m_box_null(void)
{
    A("M.box.null", cudaMemcpy3D(NULL));
}

static void m_box_peer_null(void)
{
    A("M.box_peer.null", cudaMemcpy3DPeer(NULL));
}

static void m_fills(void)
{
    static const struct {
        const char *id;
        size_t pitch, width, height;
    } cases[] = {{"right(Success)", 64, 8, 4}, {"pitch(InvalidValue)", 2, 8, 4}, {"one_row.pitch", 2, 8, 1}, {"width.0", 64, 0, 4}, {"height.0", 64, 8, 0},
                 {"past", G, 8, 4}};
    char *d = m_device();
    for (size_t i = 0; i < COUNT(cases); i++) {
        A(with("M.set_rows.%s", cases[i].id), cudaMemset2D(d, cases[i].pitch, 2, cases[i].width, cases[i].height));
        A(with("M.set_rows_async.%s", cases[i].id), cudaMemset2DAsync(d, cases[i].pitch, 2, cases[i].width, cases[i].height, 0));
    }
    A("M.set_rows.null(InvalidValue)", cudaMemset2D(NULL, 64, 1, 8, 4));
}

static void m_fill_boxes(void)
{
    static const struct {
        const char *id;
        size_t pitch, ysize, width, height, depth;
    } cases[] = {{"right(Success)", 64, 4, 8, 4, 2}, {"part(Success)", 64, 4, 8, 3, 2}, {"width.0", 64, 4, 0, 4, 2}, {"height.0", 64, 4, 8, 0, 2},
                 {"depth.0", 64, 4, 8, 4, 0}, {"pitch(InvalidValue)", 2, 4, 8, 4, 2}, {"one_row.pitch", 2, 1, 8, 1, 1}, {"ysize.0", 64, 0, 8, 4, 2},
                 {"taller", 64, 4, 8, 5, 2}, {"taller.one_layer", 64, 4, 8, 5, 1}, {"ysize.0.one_layer", 64, 0, 8, 4, 1}, {"ysize.0.one_row", 64, 0, 8, 1, 1}, {"past", G, 1, 8, 1, 3}, {"past.part", G / 2, 2, 8, 1, 3}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *d = m_device();
        const struct cudaPitchedPtr p = {.ptr = d, .pitch = cases[i].pitch, .xsize = 8, .ysize = cases[i].ysize};
        const struct cudaExtent extent = {.width = cases[i].width, .height = cases[i].height, .depth = cases[i].depth};
        AV(with("M.set_box.%s", cases[i].id), cudaMemset3D(p, 2, extent), "%d", byte_at((CUdeviceptr)(uintptr_t)d));
        A(with("M.set_box_async.%s", cases[i].id), cudaMemset3DAsync(p, 3, extent, 0));
        need(cudaFree(d));
    }
}

/* Behind work that takes a while: what a copy of pageable memory reads and writes, seen once it returned. */
static void m_nap(void *unused)
{
    const struct timespec moment = {0, 50000000};
    (void)unused;
    nanosleep(&moment, NULL);
}

static void m_pageable(void)
{
    char *d = m_device(), source[64];
    CUstream s = NULL;
    need((cudaError_t)cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    memset(source, 0x22, sizeof source);
    need((cudaError_t)cuLaunchHostFunc(s, m_nap, NULL));
    A("M.pageable.to_device(Success)", cudaMemcpyAsync(d, source, 64, cudaMemcpyHostToDevice, s));
    memset(source, 0x33, sizeof source);
    cuStreamSynchronize(s);
    DV("M.pageable.to_device.is", CUDA_SUCCESS, "%d", byte_at((CUdeviceptr)(uintptr_t)d));
    need((cudaError_t)cuLaunchHostFunc(s, m_nap, NULL));
    A("M.pageable.to_host(Success)", cudaMemcpyAsync(source, d, 64, cudaMemcpyDeviceToHost, s));
    DV("M.pageable.to_host.is", CUDA_SUCCESS, "%d", source[0]);
    cuStreamSynchronize(s);
}

static void m_large(void)
{
    const size_t size = ((size_t)5 << 30) + 3;
    char *d = NULL;
    A("M.large(Success)", cudaMalloc((void **)&d, size));
    need(cudaMemset(d + size - 1, 0x44, 1));
    A("M.large.copy(Success)", cudaMemcpy(d, d + ((size_t)4 << 30), (size_t)1 << 30, cudaMemcpyDeviceToDevice));
    A("M.large.last(Success)", cudaMemcpy(d, d + size - 1, 1, cudaMemcpyDeviceToDevice));
    DV("M.large.is", CUDA_SUCCESS, "%d", byte_at((CUdeviceptr)(uintptr_t)d));
    A("M.large.past", cudaMemset(d, 1, size + G));
    A("M.large.free(Success)", cudaFree(d));
}

/* ---- two devices; of one device, with itself ---- */

static void m_peers(void)
{
    const int other = devices() > 1 ? 1 : 0;
    char *d = m_device(), *there;
    need(cudaSetDevice(other));
    there = m_device();
    need(cudaSetDevice(0));
    A("M.peer(Success)", cudaMemcpyPeer(there, other, d, 0, 64));
    A("M.peer.async(Success)", cudaMemcpyPeerAsync(there, other, d, 0, 64, 0));
    A("M.peer.count.0(Success)", cudaMemcpyPeer(there, other, d, 0, 0));
    A("M.peer.count.0.null", cudaMemcpyPeer(NULL, 0, NULL, 0, 0));
    A("M.peer.to.count(InvalidDevice)", cudaMemcpyPeer(there, devices(), d, 0, 64));
    A("M.peer.to.-1(InvalidDevice)", cudaMemcpyPeer(there, -1, d, 0, 64));
    A("M.peer.from.count(InvalidDevice)", cudaMemcpyPeer(there, other, d, devices(), 64));
    A("M.peer.async.from.-1(InvalidDevice)", cudaMemcpyPeerAsync(there, other, d, -1, 64, 0));
    A("M.peer.count.0.to.-1", cudaMemcpyPeer(there, -1, d, 0, 0));
    A("M.peer.null.to(InvalidValue)", cudaMemcpyPeer(NULL, other, d, 0, 64));
    A("M.peer.null.from(InvalidValue)", cudaMemcpyPeer(there, other, NULL, 0, 64));
    A("M.peer.past(InvalidValue)", cudaMemcpyPeer(there, other, d, 0, 2 * G + 1));
    A("M.peer.swapped", cudaMemcpyPeer(there, 0, d, other, 64));
    A("M.peer.host", cudaMemcpyPeer(there, other, m_text, 0, 8));
    struct cudaMemcpy3DPeerParms p = {.srcPtr = {.ptr = d, .pitch = 64, .xsize = 8, .ysize = 2}, .srcDevice = 0,
                                      .dstPtr = {.ptr = there, .pitch = 32, .xsize = 8, .ysize = 2}, .dstDevice = other,
                                      .extent = {.width = 8, .height = 2, .depth = 2}};
    A("M.box_peer(Success)", cudaMemcpy3DPeer(&p));
    A("M.box_peer.async(Success)", cudaMemcpy3DPeerAsync(&p, 0));
    p.dstDevice = devices();
    A("M.box_peer.to.count(InvalidDevice)", cudaMemcpy3DPeer(&p));
    p.dstPtr.pitch = 7;
    A("M.box_peer.dpitch.to.count", cudaMemcpy3DPeer(&p));
    p.dstDevice = other;
    A("M.box_peer.dpitch", cudaMemcpy3DPeer(&p));
}

/* ---- pools ---- */

static const struct cudaMemPoolProps m_plain = {.allocType = cudaMemAllocationTypePinned,
                                                .handleTypes = cudaMemHandleTypePosixFileDescriptor,
                                                .location = {.type = cudaMemLocationTypeDevice, .id = 0}};

static void m_ordered(void)
{
    void *p = NULL;
    M_ALLOC("M.ordered.1(Success)", cudaMallocAsync(&m_out, 1, 0));
    A("M.ordered.free(Success)", cudaFreeAsync(m_out, 0));
    A("M.ordered.free.twice(InvalidValue)", cudaFreeAsync(m_out, 0));
    M_ALLOC("M.ordered.0", cudaMallocAsync(&m_out, 0, 0));
    M_ALLOC("M.ordered.max(MemoryAllocation)", cudaMallocAsync(&m_out, SIZE_MAX, 0));
    A("M.ordered.null(InvalidValue)", cudaMallocAsync(NULL, 1, 0));
    A("M.ordered.free.null", cudaFreeAsync(NULL, 0));
    M_ALLOC("M.ordered.no_pool", cudaMallocFromPoolAsync(&m_out, 1, NULL, 0));
    need(cudaMalloc(&p, 64));
    A("M.ordered.free.plain", cudaFreeAsync(p, 0));
    need(cudaDeviceSynchronize());
    A("M.ordered.free.plain.again", cudaFree(p));
}

static void m_pools(void)
{
    cudaMemPool_t pool = NULL, now = NULL;
    need(cudaMemPoolCreate(&pool, &m_plain));
    for (int attribute = 0; attribute < 11; attribute++) {
        uint64_t value = 0x7777777777777777;
        AV(with("M.pool.get.%d", attribute), cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)attribute, &value), "%llx", (u64)value);
        value = 1;
        A(with("M.pool.set.%d", attribute), cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)attribute, &value));
    }
    A("M.pool.trim(Success)", cudaMemPoolTrimTo(pool, 0));
    A("M.pool.trim.null", cudaMemPoolTrimTo(NULL, 0));
    A("M.pool.destroy.null", cudaMemPoolDestroy(NULL));
    A("M.pool.create.null(InvalidValue)", cudaMemPoolCreate(NULL, &m_plain));
    A("M.pool.create.no_props(InvalidValue)", cudaMemPoolCreate(&now, NULL));
    for (int device = -1; device <= devices(); device++) {
        A(with("M.pool.default.%d", device == devices() ? 99 : device), cudaDeviceGetDefaultMemPool(&now, device));
        A(with("M.pool.of_device.%d", device == devices() ? 99 : device), cudaDeviceGetMemPool(&now, device));
    }
    A("M.pool.default.null", cudaDeviceGetDefaultMemPool(NULL, 0));
    A("M.pool.set_device(Success)", cudaDeviceSetMemPool(0, pool));
    AV("M.pool.of_device.own(Success)", cudaDeviceGetMemPool(&now, 0), "own=%d", now == pool);
    A("M.pool.set_device.null", cudaDeviceSetMemPool(0, NULL));
    A("M.pool.set_device.-1", cudaDeviceSetMemPool(-1, pool));
    A("M.pool.destroy.used(Success)", cudaMemPoolDestroy(pool));
    AV("M.pool.of_device.after", cudaDeviceGetMemPool(&now, 0), "own=%d", now == pool);
    need(cudaDeviceGetDefaultMemPool(&now, 0));
    A("M.pool.destroy.default(InvalidValue)", cudaMemPoolDestroy(now));
}

static void m_pool_props(void)
{
    cudaMemPool_t pool = NULL;
    struct cudaMemPoolProps p = m_plain;
#define M_POOL(id, change)                          \
    do {                                            \
        p = m_plain;                                \
        change;                                     \
        A("M.pool.props." id, cudaMemPoolCreate(&pool, &p)); \
    } while (0)
    M_POOL("type.0(InvalidValue)", p.allocType = cudaMemAllocationTypeInvalid);
    M_POOL("type.9", p.allocType = (enum cudaMemAllocationType)9);
    M_POOL("handles.0", p.handleTypes = cudaMemHandleTypeNone);
    M_POOL("handles.2", p.handleTypes = cudaMemHandleTypeWin32);
    M_POOL("place.0", p.location.type = cudaMemLocationTypeInvalid);
    M_POOL("place.host", p.location.type = cudaMemLocationTypeHost);
    M_POOL("device.count", p.location.id = devices());
    M_POOL("device.-1", p.location.id = -1);
    M_POOL("size.max", p.maxSize = SIZE_MAX);
    M_POOL("usage.1", p.usage = 1);
    M_POOL("reserved", p.reserved[9] = 1);
}

static void m_pool_access(void)
{
    cudaMemPool_t pool = NULL;
    struct cudaMemLocation place = {.type = cudaMemLocationTypeDevice, .id = 0};
    enum cudaMemAccessFlags flags = (enum cudaMemAccessFlags)7;
    need(cudaMemPoolCreate(&pool, &m_plain));
    AV("M.access.own(Success)", cudaMemPoolGetAccess(&flags, pool, &place), "%d", (int)flags);
    place.id = devices();
    AV("M.access.count", cudaMemPoolGetAccess(&flags, pool, &place), "%d", (int)flags);
    A("M.access.no_place", cudaMemPoolGetAccess(&flags, pool, NULL));
    A("M.access.null", cudaMemPoolGetAccess(NULL, pool, &place));
    for (int rights = 0; rights < 5; rights++) {
        struct cudaMemAccessDesc want = {.location = {.type = cudaMemLocationTypeDevice, .id = 0}, .flags = (enum cudaMemAccessFlags)rights};
        A(with("M.access.set.own.%d", rights), cudaMemPoolSetAccess(pool, &want, 1));
    }
    A("M.access.set.none", cudaMemPoolSetAccess(pool, NULL, 0));
    A("M.access.set.null", cudaMemPoolSetAccess(pool, NULL, 1));
}

static void m_pool_share(void)
{
    cudaMemPool_t pool = NULL, other = NULL;
    struct cudaMemPoolPtrExportData data;
    int fd = -1;
    void *p = NULL, *same = NULL;
    need(cudaMemPoolCreate(&pool, &m_plain));
    need(cudaMallocFromPoolAsync(&p, 64, pool, 0));
    need(cudaDeviceSynchronize());
    A("M.share.export(Success)", cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    A("M.share.export.flags", cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 1));
    A("M.share.export.win32", cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypeWin32, 0));
    A("M.share.export.null", cudaMemPoolExportToShareableHandle(NULL, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    A("M.share.pointer(Success)", cudaMemPoolExportPointer(&data, p));
    A("M.share.import(Success)", cudaMemPoolImportFromShareableHandle(&other, (void *)(uintptr_t)fd, cudaMemHandleTypePosixFileDescriptor, 0));
    A("M.share.import_pointer(Success)", cudaMemPoolImportPointer(&same, other, &data));
    A("M.share.import.fd", cudaMemPoolImportFromShareableHandle(&other, (void *)(uintptr_t)9999, cudaMemHandleTypePosixFileDescriptor, 0));
}

#if CUDART_VERSION >= 13000
static void m_place_pools(void)
{
    cudaMemPool_t pool = NULL, now = NULL;
    need(cudaDeviceGetDefaultMemPool(&pool, 0));
    for (int type = 0; type < 6; type++) {
        struct cudaMemLocation place = {.type = (enum cudaMemLocationType)type, .id = 0};
        AV(with("M.place.default.%d", type), cudaMemGetDefaultMemPool(&now, &place, cudaMemAllocationTypePinned), "same=%d", now == pool);
        AV(with("M.place.get.%d", type), cudaMemGetMemPool(&now, &place, cudaMemAllocationTypePinned), "same=%d", now == pool);
    }
    struct cudaMemLocation here = {.type = cudaMemLocationTypeDevice, .id = 0};
    A("M.place.set(Success)", cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, pool));
    A("M.place.set.null", cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, NULL));
    A("M.place.get.null", cudaMemGetMemPool(NULL, &here, cudaMemAllocationTypePinned));
    A("M.place.get.type.0", cudaMemGetMemPool(&now, &here, cudaMemAllocationTypeInvalid));
}
#endif

/* ---- batches ---- */

#if CUDART_VERSION >= 13000
#define M_BATCH(to, from, sizes, count, attributes, firsts, number, stream) \
    cudaMemcpyBatchAsync(to, (const void *const *)(from), sizes, count, attributes, firsts, number, stream)
#define M_BOXES(count, list, flags, stream) cudaMemcpy3DBatchAsync(count, list, flags, stream)
#else
#define M_BATCH(to, from, sizes, count, attributes, firsts, number, stream) \
    cudaMemcpyBatchAsync(to, from, sizes, count, attributes, firsts, number, &m_size, stream)
#define M_BOXES(count, list, flags, stream) cudaMemcpy3DBatchAsync(count, list, &m_size, flags, stream)
#endif

static void m_batches(void)
{
    char *d = m_device();
    CUstream s = NULL;
    void *to[] = {d, d + 64}, *origin[] = {m_text[0], m_text[1]};
    size_t sizes[] = {8, 8}, first = 0;
    struct cudaMemcpyAttributes how = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    need((cudaError_t)cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    A("M.batch(Success)", M_BATCH(to, origin, sizes, 2, &how, &first, 1, s));
    A("M.batch.legacy", M_BATCH(to, origin, sizes, 2, &how, &first, 1, 0));
    A("M.batch.count.0", M_BATCH(to, origin, sizes, 0, &how, &first, 1, s));
    A("M.batch.no_attributes", M_BATCH(to, origin, sizes, 2, NULL, NULL, 0, s));
    A("M.batch.null", M_BATCH(NULL, origin, sizes, 2, &how, &first, 1, s));
    how.srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
    A("M.batch.order.0(InvalidValue)", M_BATCH(to, origin, sizes, 2, &how, &first, 1, s));
    how.srcAccessOrder = cudaMemcpySrcAccessOrderAny;
    sizes[1] = 0;
    A("M.batch.size.0", M_BATCH(to, origin, sizes, 2, &how, &first, 1, s));
    sizes[1] = 8 * G;
    A("M.batch.past", M_BATCH(to, origin, sizes, 2, &how, &first, 1, s));
    first = 1;
    A("M.batch.first.1(InvalidValue)", M_BATCH(to, origin, sizes, 2, &how, &first, 1, s));
    A("M.boxes.null", M_BOXES(1, NULL, 0, s));
    A("M.boxes.0", M_BOXES(0, NULL, 0, s));
}

/* ---- handles for other processes, in this one ---- */

static void m_ipc(void)
{
    cudaIpcMemHandle_t handle, forged;
    void *p = NULL;
    memset(&forged, 0x33, sizeof forged);
    need(cudaMalloc(&p, 64));
    A("M.ipc.get(Success)", cudaIpcGetMemHandle(&handle, p));
    A("M.ipc.get.inside", cudaIpcGetMemHandle(&handle, (char *)p + 8));
    A("M.ipc.open.own", cudaIpcOpenMemHandle(&m_out, handle, cudaIpcMemLazyEnablePeerAccess));
    A("M.ipc.open.flags.0", cudaIpcOpenMemHandle(&m_out, handle, 0));
    A("M.ipc.open.null", cudaIpcOpenMemHandle(NULL, handle, cudaIpcMemLazyEnablePeerAccess));
    A("M.ipc.open.forged", cudaIpcOpenMemHandle(&m_out, forged, cudaIpcMemLazyEnablePeerAccess));
    A("M.ipc.get.null", cudaIpcGetMemHandle(NULL, p));
}

/* ---- after a reset of the device ---- */

static void m_reset(void)
{
    char *at[PLACES];
    unsigned flags = 77;
    for (int i = 0; i < PLACES; i++)
        at[i] = m_place((enum place)i);
    A("M.reset(Success)", cudaDeviceReset());
    for (int i = 0; i < PLACES; i++)
        m_one_attributes(with("M.reset.attributes.%s", place_names[i]), at[i]);
    A("M.reset.free.device", cudaFree(at[DEVICE]));
    A("M.reset.free.managed", cudaFree(at[MANAGED]));
    A("M.reset.free.ordered", cudaFree(at[ORDERED]));
    AV("M.reset.flags.pinned", cudaHostGetFlags(&flags, at[PINNED]), "flags=%u", flags);
    A("M.reset.free_host.pinned", cudaFreeHost(at[PINNED]));
    A("M.reset.unregister", cudaHostUnregister(at[REGISTERED]));
    M_ALLOC("M.reset.alloc(Success)", cudaMalloc(&m_out, 64));
    A("M.reset.set(Success)", cudaMemset(m_out, 1, 64));
}

/* ---- a process's first call ---- */

static void m_first(size_t i, char *id, int run)
{
    static const char *const names[] = {"malloc", "malloc.0", "free.null", "host", "free_host.null", "managed", "ordered", "info", "attributes", "copy", "copy.0",
                                        "set.0", "register", "pool", "peer", "flags", "ipc", "free_async.null", "pitch", "pool_now", "pool_set",
                                        "pool_create", "stream", "event", "graph", "attribute", "unregister"};
    snprintf(id, CASE_ID, "M.first.%zu", i);
    if (!run || i >= COUNT(names))
        return;
    struct cudaPointerAttributes is;
    cudaIpcMemHandle_t handle;
    cudaMemPool_t pool = NULL;
    CUcontext now = NULL;
    unsigned flags = 0;
    int value = 0;
    cudaError_t r = cudaSuccess;
    switch (i) {
    case 0: r = cudaMalloc(&m_out, 1); break;
    case 1: r = cudaMalloc(&m_out, 0); break;
    case 2: r = cudaFree(NULL); break;
    case 3: r = cudaMallocHost(&m_out, 1); break;
    case 4: r = cudaFreeHost(NULL); break;
    case 5: r = cudaMallocManaged(&m_out, 1, cudaMemAttachGlobal); break;
    case 6: r = cudaMallocAsync(&m_out, 1, 0); break;
    case 7: r = cudaMemGetInfo(&m_size, &m_size); break;
    case 8: r = cudaPointerGetAttributes(&is, m_text); break;
    case 9: r = cudaMemcpy(m_text, m_text + 1, 8, cudaMemcpyHostToHost); break;
    case 10: r = cudaMemcpy(NULL, NULL, 0, cudaMemcpyDefault); break;
    case 11: r = cudaMemset(NULL, 0, 0); break;
    case 12: r = cudaHostRegister(m_pages, sizeof m_pages, 0); break;
    case 13: r = cudaDeviceGetDefaultMemPool(&pool, 0); break;
    case 14: r = cudaMemcpyPeer(NULL, 0, NULL, 0, 0); break;
    case 15: r = cudaHostGetFlags(&flags, m_text); break;
    case 16: r = cudaIpcGetMemHandle(&handle, m_text); break;
    case 17: r = cudaFreeAsync(NULL, 0); break;
    case 18: r = cudaMallocPitch(&m_out, &m_pitch, 1, 1); break;
    case 19: r = cudaDeviceGetMemPool(&pool, 0); break;
    case 20: r = cudaDeviceSetMemPool(0, NULL); break;
    case 21: r = cudaMemPoolCreate(&pool, &m_plain); break;
    case 22: r = cudaStreamCreate((cudaStream_t *)&m_out); break;
    case 23: r = cudaEventCreate((cudaEvent_t *)&m_out); break;
    case 24: r = cudaGraphCreate((cudaGraph_t *)&m_out, 0); break;
    case 25: r = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0); break;
    default: r = cudaHostUnregister(m_text); break;
    }
    const char *last = last_beside(r);
    CUresult current = cuCtxGetCurrent(&now);
    say(with("M.first.%s", names[i]), "%s%s context=%s,%d", code(r), last, name_of(current), now != NULL);
    fflush(stdout);
    _exit(0); /* the next one is another process's first */
}


static void m_firsts(void)
{
    if (!is_wanted("M.first"))
        return;
    for (size_t i = 0; i < 27; i++) {
        char id[CASE_ID];
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            alarm(20);
            m_first(i, id, 1);
        }
        m_first(i, id, 0);
        report(id, pid);
    }
}

static void group_m(void)
{
    surviving("M.alloc", m_alloc);
    surviving("M.free_it", m_free);
    surviving("M.pitch", m_pitched);
    surviving("M.layers", m_layers);
    surviving("M.info", m_info);
    surviving("M.attributes_null", m_attributes_null);
    surviving("M.register", m_register);
    surviving("M.size", m_sizes);
    surviving("M.size_max.copy", m_size_max);
    surviving("M.size_max.set", m_size_max_set);
    if (is_wanted("M.rows"))
        run_cases(m_start, 2 * COUNT(m_rows_cases), m_rows_one);
    surviving("M.rows_null", m_rows_null);
    surviving("M.boxes", m_boxes);
    surviving("M.box_null", m_box_null);
    surviving("M.box_peer_null", m_box_peer_null);
    surviving("M.fills", m_fills);
    surviving("M.fill_boxes", m_fill_boxes);
    surviving("M.pageable", m_pageable);
    surviving("M.large", m_large);
    surviving("M.peers", m_peers);
    surviving("M.ordered", m_ordered);
    surviving("M.pools", m_pools);
    surviving("M.pool_props", m_pool_props);
    surviving("M.pool_access", m_pool_access);
    surviving("M.pool_share", m_pool_share);
#if CUDART_VERSION >= 13000
    surviving("M.place_pools", m_place_pools);
#endif
    surviving("M.batches", m_batches);
    surviving("M.ipc", m_ipc);
    surviving("M.reset", m_reset);
    m_firsts();
    m_places();
}
