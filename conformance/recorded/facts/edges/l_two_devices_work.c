/* SPDX-License-Identifier: Apache-2.0 */
/* Group L, continued: work, contexts and placement on two devices. Part of ../edges.c, which includes it. */

/* ---- (5), (6): copies and fills ---- */

enum { L_COPIES = 36, L_DTODS = 72, L_HOST_CASES = 95 };

/* The ith of 9 pairs of rights, as for l_give. */
static const char *l_pair(size_t i)
{
    static const char *const pairs[] = {"00+10", "00+11", "00+13", "01+10", "01+11",
                                        "01+13", "03+10", "03+11", "03+13"};
    return pairs[i % 9];
}

enum { FILLED = 4096 }; /* bytes of memory, of which 16 are looked at */

static void l_copy(size_t i, char *id, int run)
{
    const int owner = (int)(i / 9 % 2), ctx = (int)(i / 18);
    snprintf(id, CASE_ID, "L.copy.mem_%d.%s.ctx%d", owner, l_pair(i), ctx);
    if (!run)
        return;
    l_on(owner);
    CUdeviceptr p = l_alias((char)('0' + owner), l_pair(i)), clear = p + 4 * G;
    cuMemsetD8(clear, 0x10, FILLED);
    cuCtxSynchronize();
    l_on(ctx);
    buffer[0] = 0;
    CUresult out = cuMemcpyDtoH(buffer, p, 16);
    const int got = buffer[0];
    memset(buffer, 0x20, 16);
    CUresult in = cuMemcpyHtoD(p, buffer, 16);
    const int after_in = byte_at(clear);
    CUresult fill = cuMemsetD8(p, 0x30, 16);
    CUresult sync = cuCtxSynchronize();
    say(id, "dtoh %s %x htod %s %x memset %s %x sync %s", name_of(out), (unsigned)got, name_of(in),
        (unsigned)after_in, name_of(fill), (unsigned)byte_at(clear), name_of(sync));
    l_end(p);
}

/* One source for every pair of the destination's rights. */
static void l_dtod(size_t i, char *id, int run)
{
    const int from = (int)(i / 9 % 2), to = (int)(i / 18 % 2), ctx = (int)(i / 36);
    snprintf(id, CASE_ID, "L.dtod.from_%d.%s.to_%d.ctx%d", from, l_pair(i), to, ctx);
    if (!run)
        return;
    l_on(ctx);
    CUdeviceptr src = l_alias((char)('0' + from), l_pair(i)), dst = l_alias((char)('0' + to), "");
    char text[512];
    size_t at = 0;
    CUresult sync = CUDA_SUCCESS;
    cuMemsetD8(src + 4 * G, 0x77, FILLED);
    for (size_t k = 0; k < 9 && !sync; k++) {
        l_give(dst, G, l_pair(k));
        cuMemsetD8(dst + 4 * G, 0x11, 16);
        cuCtxSynchronize();
        CUresult r = cuMemcpyDtoD(dst, src, 16);
        sync = cuCtxSynchronize();
        at += (size_t)snprintf(text + at, sizeof text - at, " %s:%s%s=%x", l_pair(k), name_of(r), sync ? " spoilt" : "",
                               (unsigned)byte_at(dst + 4 * G));
    }
    say(id, "%s", text + 1);
    l_end(src);
    l_end(dst);
}

/* Host memory; all but the last five cases run in the context of device 1. */
static void l_host_case(size_t i, char *id, int run)
{
    static const char *const what[] = {"dtoh", "htod", "dtod_from", "dtod_to", "memset"};
    const size_t n = i / 5;
    const int ctx = i < 90, dev0 = n / 9 % 2 ? RW : NONE;
    char rights[16];
    snprintf(rights, sizeof rights, "h%c 0%d 1%c", ctx ? "013"[n % 3] : '0', dev0, ctx ? "013"[n / 3 % 3] : '3');
    snprintf(id, CASE_ID, "L.host.%s.%s.ctx%d", rights, what[i % 5], ctx);
    if (!run)
        return;
    l_on(ctx);
    CUdeviceptr p = l_alias('h', rights), near = l_alias(ctx ? '1' : '0', "03+13"), clear = p + 4 * G;
    cuMemsetD8(clear, 0x10, FILLED);
    cuMemsetD8(near, 0x77, FILLED);
    cuCtxSynchronize();
    memset(buffer, 0x20, 16);
    CUresult r = i % 5 == 0   ? cuMemcpyDtoH(buffer, p, 16)
                 : i % 5 == 1 ? cuMemcpyHtoD(p, buffer, 16)
                 : i % 5 == 2 ? cuMemcpyDtoD(near, p, 16)
                 : i % 5 == 3 ? cuMemcpyDtoD(p, near, 16)
                              : cuMemsetD8(p, 0x30, 16);
    CUresult sync = cuCtxSynchronize();
    const int out = buffer[0];
    say(id, "%s sync=%s host=%x device=%x memory=%x", name_of(r), name_of(sync), (unsigned)out,
        (unsigned)byte_at(near), (unsigned)byte_at(clear));
    l_end(p);
    l_end(near);
}

/* Memory of cuMemAlloc, which belongs to the context's device. */
static void l_cumemalloc_case(int owner, int ctx)
{
    char id[64];
    CUdeviceptr p = 0, mine = l_alias('0', "03+13");
    l_on(owner);
    cuMemAlloc(&p, G);
    l_on(ctx);
    snprintf(id, sizeof id, "L.cumemalloc.mem_%d.%s", owner, l_on_name(ctx));
    l_pointer_line(id, p + 5, p);
    CUresult fill = cuMemsetD8(p, 1, 16), out = cuMemcpyDtoH(buffer, p, 16), in = cuMemcpyHtoD(p, buffer, 16);
    CUresult to = cuMemcpyDtoD(p, mine, 16), from = cuMemcpyDtoD(mine, p, 16);
    say(id, "dev0 %llu dev1 %llu host %llu memset %s dtoh %s htod %s dtod to %s from %s", l_flags(p, '0'),
        l_flags(p, '1'), l_flags(p, 'h'), name_of(fill), name_of(out), name_of(in), name_of(to), name_of(from));
    R(id, cuMemFree(p));
}

static void l_cumemalloc(void)
{
    l_init();
    for (int owner = 0; owner < 2; owner++)
        for (int ctx = -1; ctx < 2; ctx++)
            l_cumemalloc_case(owner, ctx);
}

/* The value of SYNC_MEMOPS, for each initial content of the output. */
static void l_sync_memops(void)
{
    static const unsigned held[] = {0, 1, 2, 0x100, 0x10000, 0x80000000, 0xffffffff};
    static const char *const owners[] = {"0", "1", "h"};
    l_init();
    for (size_t i = 0; i < COUNT(owners); i++)
        for (int ctx = -1; ctx < 2; ctx++) {
            CUdeviceptr p = l_place(owners[i]);
            l_on(ctx);
            for (size_t k = 0; k < COUNT(held); k++) {
                char id[64];
                unsigned x[2] = {held[k], 0x99};
                snprintf(id, sizeof id, "L.sync_memops.mem_%s.%s", owners[i], l_on_name(ctx));
                RV(id, cuPointerGetAttribute(x, (CUpointer_attribute)6, p), "%x=%x %x", held[k], x[0], x[1]);
            }
            l_end(p);
        }
}

/* ---- (9): contexts on both devices ---- */

static CUcontext l_made[4];

/* Prints which of the created contexts is current, and the results of calls that need one. */
static void l_current(const char *id)
{
    CUcontext c = NULL;
    CUdevice d = 77;
    CUdeviceptr p = 0;
    CUresult r = cuCtxGetCurrent(&c), device = cuCtxGetDevice(&d), sync = cuCtxSynchronize();
    int which = c ? 9 : -1;
    for (int i = 0; i < 4; i++)
        which = c && c == l_made[i] ? i : which;
    say(id, "%s number=%d device %s=%d sync %s alloc %s", name_of(r), which, name_of(device), d, name_of(sync),
        name_of(cuMemAlloc(&p, 16)));
}

/* Steps on contexts, one word each: c0 creates one on device 0, d0 destroys number 0, s0 makes it current (s-: none), p0 retains
 * device 0's primary context as the next number, r0 releases it, x0 resets it. */
static const char *l_steps;

static void l_contexts(void)
{
    cuInit(0);
    size_t made = 0;
    char id[96], so_far[64] = "";
    for (const char *at = l_steps; *at; at += 2 + (at[2] == ' ')) {
        const int n = at[1] - '0';
        CUresult r = *at == 'c'   ? cuCtxCreate(&l_made[made++], NULL, 0, n)
                     : *at == 'p' ? cuDevicePrimaryCtxRetain(&l_made[made++], n)
                     : *at == 'd' ? cuCtxDestroy(l_made[n])
                     : *at == 's' ? cuCtxSetCurrent(n < 0 ? NULL : l_made[n])
                     : *at == 'r' ? cuDevicePrimaryCtxRelease(n)
                                  : cuDevicePrimaryCtxReset(n);
        snprintf(so_far, sizeof so_far, "%.*s", (int)(at + 2 - l_steps), l_steps);
        snprintf(id, sizeof id, "L.ctx.%s", so_far);
        R(id, r);
        l_current(id);
    }
}

/* Memory of device 1 while its contexts are created and destroyed. */
static void l_survives(void)
{
    cuInit(0);
    cuCtxCreate(&l_made[0], NULL, 0, 0);
    cuCtxCreate(&l_made[1], NULL, 0, 1);
    CUdeviceptr p = l_place("1"), q = l_place("0");
    l_give(p, G, "03+13");
    l_give(q, G, "13");
    cuMemsetD8(p, 0x5a, G);
    cuMemsetD8(q, 0x6b, G);
    R("L.survives.destroy", cuCtxDestroy(l_made[1]));
    say("L.survives.after", "dev0 %llu dev1 %llu mapped=%d byte=%x other=%s", l_flags(p, '0'), l_flags(p, '1'),
        alive(p), (unsigned)byte_at(p), name_of(cuMemcpyDtoH(buffer, q, 1)));
    R("L.survives.create", cuCtxCreate(&l_made[2], NULL, 0, 1));
    say("L.survives.again", "byte=%x other=%x", (unsigned)byte_at(p), (unsigned)byte_at(q));
    R("L.survives.reset", cuDevicePrimaryCtxReset(1));
    say("L.survives.after_reset", "byte=%x", (unsigned)byte_at(p));
    R("L.survives.unmap", cuMemUnmap(p, G));
}

/* ---- (10): where ranges go when the first context is on device 1, or when there are two ---- */

static const char *l_variant;   /* 0, 1: retain that device's primary; a, b: create a context there; r: reserve a G */
/* the first G of variant "0": all processes are forked from one parent, so their addresses agree */
static u64 l_first;
static int l_out = -1;

static void l_at(const char *id, const char *what, CUdeviceptr p)
{
    const int slot = (int)(p / G % 16);
    if (p < 1ull << 40)
        say(id, "%s slot=%d low at=%llx", what, slot, (u64)p);
    else
        say(id, "%s slot=%d high at=first%+gG", what, slot, in_g((i64)(p - l_first)));
}

static void l_placement(void)
{
    cuInit(0);
    char id[64], what[32];
    snprintf(id, sizeof id, "L.place.%s", *l_variant ? l_variant : "none");
    for (const char *at = l_variant; *at; at++) {
        CUcontext c;
        if (*at == 'r')
            l_at(id, "before", reserve(G));
        else if (*at > '1')
            cuCtxCreate(&c, NULL, 0, *at - 'a');
        else if (!cuDevicePrimaryCtxRetain(&c, *at - '0'))
            cuCtxSetCurrent(c);
    }
    CUdeviceptr start = reserve(G), last = start;
    if (l_out >= 0 && write(l_out, &start, sizeof start) == (ssize_t)sizeof start)
        l_first = start;
    int length = 1;
    for (int i = 1; i < 96; i++, length++) {
        CUdeviceptr p = reserve(G);
        if (p != last + G || p % (16 * G) == 0) {
            snprintf(what, sizeof what, "length=%d", length);
            l_at(id, what, start);
            start = p;
            length = 0;
        }
        last = p;
    }
    l_at(id, "the rest", start);
    l_at(id, "16G", reserve(16 * G));
}

static void group_l_work(void)
{
    static const char *const steps[] = {"c0 c1 d1 d0", "c0 c1 d0 d1", "c0 c1 c0 d1 d2", "c0 c1 s0 d0", "c0 c1 s0 d1",
                                        "c0 s- c1 d1", "p0 s0 c1 d1", "c1 p0 s1 r0", "p0 s0 p1 s1 r1", "p0 s0 p1 s1 x1",
                                        "p0 p1 s0 x1 r1", "c0 c1 s- d0 s1", "c1 c1 d1 c0 d2", "p0 s0 x0 s0 p0",
                                        "p0 p0 s0 x0 r0 r0", "p0 c1 x0 s0 p0", "c0 d0 s0 c1 d1"};
    static const char *const variants[] = {"0",  "0", "", "1",  "01", "10",  "0a", "0b",
                                           "a",  "b", "ab", "ba", "0r1", "1r0", "r0",
                                           "rr0", "rrrr0", "rrrrrrrr0", "rrrrrrrrrrrr0", "01a"};
    if ((wanted[0] && !strchr(wanted, 'L')) || !l_two())
        return;
    run_cases(l_init, L_COPIES, l_copy);
    run_cases(l_init, L_DTODS, l_dtod);
    run_cases(l_init, L_HOST_CASES, l_host_case);
    for (size_t i = 0; i < COUNT(steps); i++) {
        l_steps = steps[i];
        child("L.ctx!", l_contexts);
    }
    child("L.survives!", l_survives);
    child("L.cumemalloc!", l_cumemalloc);
    child("L.sync_memops!", l_sync_memops);
    int ends[2];
    for (size_t i = 0; i < COUNT(variants) && (i || !pipe(ends)); i++) {
        l_variant = variants[i];
        l_out = i ? -1 : ends[1];
        child("L.place!", l_placement);
        if (i)
            continue;
        close(ends[1]);
        if (read(ends[0], &l_first, sizeof l_first) != (ssize_t)sizeof l_first)
            l_first = 0;
        close(ends[0]);
    }
}
