/* The second ground-truth probe: asks the real driver the edge cases that the first one left open.
 *
 * Prints "id<TAB>result" lines; a result is the CUresult's name without CUDA_ERROR_, then values. Addresses are
 * relative to a reservation, in G = 2 MiB. Every group runs in a child of its own, which initialises CUDA itself,
 * because stale handles and NULL pointers may crash the driver; a crash prints as "SIGNAL n".
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include edges.c -o edges -lcuda
 * Use:   edges [letters of groups]
 */
#define _GNU_SOURCE
#include <cuda.h>

#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define G ((size_t)2 << 20)
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { NONE = 0, READ = 1, RW = 3 };
enum { L_DEVICE = 1, L_HOST = 2, L_NUMA = 3, L_NUMA_CURRENT = 4 };

typedef unsigned long long u64;
typedef long long i64;
typedef CUmemGenericAllocationHandle Handle;

static const char *name_of(CUresult r)
{
    static char unknown[4][32];
    static unsigned next;
    const char *s = NULL;
    if (cuGetErrorName(r, &s) == CUDA_SUCCESS && s)
        return strncmp(s, "CUDA_ERROR_", 11) ? s + 5 : s + 11;
    char *b = unknown[next++ % 4];
    snprintf(b, sizeof unknown[0], "code%d", (int)r);
    return b;
}

/* One line: the id, a tab, whatever the format says. */
__attribute__((format(printf, 2, 3))) static void say(const char *id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%s\t", id);
    vprintf(format, args);
    putchar('\n');
    fflush(stdout);
    va_end(args);
}

static CUresult answer(const char *id, CUresult r)
{
    say(id, "%s", name_of(r));
    return r;
}

/* The call is made first, then the values are read: so an out argument of the call can be printed. */
#define R(id, call) answer(id, call)
#define RV(id, call, format, ...)                                  \
    do {                                                           \
        CUresult rv_ = (call);                                     \
        say(id, "%s " format, name_of(rv_), __VA_ARGS__);          \
    } while (0)

/* ---- children ---- */

static char wanted[32];

static void report(const char *id, pid_t pid)
{
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        say(id, "SIGNAL %d", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        say(id, "exit %d", WEXITSTATUS(status));
}

static void child(const char *id, void (*body)(void))
{
    if (wanted[0] && !strchr(wanted, id[0]))
        return;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        body();
        fflush(stdout);
        _exit(0);
    }
    report(id, pid);
}

/* ---- the few calls that most cases need ---- */

static void init(void)
{
    CUcontext ctx;
    CUresult r = cuInit(0);
    if (!r)
        r = cuDevicePrimaryCtxRetain(&ctx, 0);
    if (!r)
        r = cuCtxSetCurrent(ctx);
    if (r) {
        say("init!", "%s", name_of(r));
        _exit(9);
    }
}

static CUmemAllocationProp prop_at(int type, int id)
{
    CUmemAllocationProp p;
    memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = (CUmemLocationType)type;
    p.location.id = id;
    return p;
}

static CUmemLocation loc_at(int type, int id)
{
    CUmemLocation l;
    memset(&l, 0, sizeof l);
    l.type = (CUmemLocationType)type;
    l.id = id;
    return l;
}

static CUmemAccessDesc desc(int type, int id, int flags)
{
    CUmemAccessDesc d;
    memset(&d, 0, sizeof d);
    d.location = loc_at(type, id);
    d.flags = (CUmemAccess_flags)flags;
    return d;
}

static Handle make_at(int type, size_t size)
{
    CUmemAllocationProp p = prop_at(type, 0);
    Handle h = 0;
    CUresult r = cuMemCreate(&h, size, &p, 0);
    if (r)
        say("make!", "%s type %d size %zu", name_of(r), type, size);
    return h;
}

static Handle make(size_t size)
{
    return make_at(L_DEVICE, size);
}

static CUdeviceptr reserve(size_t size)
{
    CUdeviceptr p = 0;
    CUresult r = cuMemAddressReserve(&p, size, 0, 0, 0);
    if (r)
        say("reserve!", "%s size %zu", name_of(r), size);
    return p;
}

static CUdeviceptr reserve_here(CUdeviceptr where, size_t size)
{
    CUdeviceptr p = 0;
    CUresult r = cuMemAddressReserve(&p, size, 0, where, 0);
    if (r || p != where)
        say("reserve_here!", "%s not given", name_of(r));
    return p;
}

/* A place with n free bytes: reserved once and freed. */
static CUdeviceptr window(size_t n)
{
    CUdeviceptr p = reserve(n);
    cuMemAddressFree(p, n);
    return p;
}

static void map(CUdeviceptr p, size_t size, Handle h)
{
    CUresult r = cuMemMap(p, size, 0, h, 0);
    if (r)
        say("map!", "%s", name_of(r));
}

static CUresult give(CUdeviceptr p, size_t size, int type, int flags)
{
    CUmemAccessDesc d = desc(type, 0, flags);
    return cuMemSetAccess(p, size, &d, 1);
}

static CUresult read_access(CUdeviceptr p, int type, u64 *flags)
{
    CUmemLocation l = loc_at(type, 0);
    *flags = 99;
    return cuMemGetAccess(flags, &l, p);
}

/* The flags alone; 99 when untouched. */
static u64 flags_of(CUdeviceptr p, int type)
{
    u64 f;
    read_access(p, type, &f);
    return f;
}

/* Is something mapped at p? Retain says so without changing anything. */
static int alive(CUdeviceptr p)
{
    Handle h = 0;
    if (cuMemRetainAllocationHandle(&h, (void *)(uintptr_t)p))
        return 0;
    cuMemRelease(h);
    return 1;
}

static size_t free_memory(void)
{
    size_t f = 0, t = 0;
    cuMemGetInfo(&f, &t);
    return f;
}

/* How far free memory rose since `before`, in bytes. */
static i64 risen(size_t before)
{
    return (i64)free_memory() - (i64)before;
}

static int byte_at(CUdeviceptr p)
{
    unsigned char v = 0;
    CUresult r = cuMemcpyDtoH(&v, p, 1);
    return r ? -(int)r : v;
}

static double in_g(i64 bytes)
{
    return (double)bytes / (double)G;
}

/* Ranges of less than 16 G and the rest live in different places of the driver's address space, so the cases of ranges
   are asked in a unit of 1 G and again in one of 16 G. */
static size_t U = G;
static const char *variant = "small";

static const char *v(const char *id)
{
    static char text[4][96];
    static unsigned next;
    char *b = text[next++ % 4];
    snprintf(b, sizeof text[0], "%s.%s", id, variant);
    return b;
}

static double in_u(i64 bytes)
{
    return (double)bytes / (double)U;
}

/* A handle with no reference left, mapped RW at *p in a reservation of 8 G and filled with 0x5a. */
static Handle orphan(CUdeviceptr *p)
{
    init();
    Handle h = make(G);
    *p = reserve(8 * G);
    map(*p, G, h);
    give(*p, G, L_DEVICE, RW);
    cuMemsetD8(*p, 0x5a, G);
    R("A.orphan.release", cuMemRelease(h));
    return h;
}

/* ---- A: handles ---- */

static void a_release_again(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    size_t before = free_memory();
    R("A.again.release2", cuMemRelease(h));
    say("A.again.release2.risen", "=%gG alive=%d byte=%d", in_g(risen(before)), alive(p), byte_at(p));
    R("A.again.release3", cuMemRelease(h));
    say("A.again.release3.risen", "=%gG alive=%d byte=%d", in_g(risen(before)), alive(p), byte_at(p));
    R("A.again.unmap", cuMemUnmap(p, G));
    say("A.again.unmap.risen", "=%gG alive=%d", in_g(risen(before)), alive(p));
    R("A.again.free", cuMemAddressFree(p, 8 * G));
    R("A.again.release_after_unmap", cuMemRelease(h));
}

static void a_properties(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    CUmemAllocationProp q = prop_at(9, 9);
    RV("A.properties.refs0_mapped", cuMemGetAllocationPropertiesFromHandle(&q, h), "type=%d loc=%d/%d", q.type,
       q.location.type, q.location.id);
    int fd = -1;
    R("A.export.refs0_mapped", cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

static void a_map_second(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    size_t before = free_memory();
    R("A.second.map", cuMemMap(p + 2 * G, G, 0, h, 0));
    R("A.second.setaccess", give(p + 2 * G, G, L_DEVICE, RW));
    say("A.second.byte", "=%d", byte_at(p + 2 * G));
    R("A.second.unmap_first", cuMemUnmap(p, G));
    say("A.second.unmap_first.risen", "=%gG byte=%d", in_g(risen(before)), byte_at(p + 2 * G));
    R("A.second.release", cuMemRelease(h));
    say("A.second.release.risen", "=%gG byte=%d", in_g(risen(before)), byte_at(p + 2 * G));
    R("A.second.unmap_last", cuMemUnmap(p + 2 * G, G));
    say("A.second.unmap_last.risen", "=%gG", in_g(risen(before)));
    R("A.second.release_after", cuMemRelease(h));
}

static void a_second_then_all(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    size_t before = free_memory();
    map(p + G, G, h);
    R("A.second_all.unmap_both", cuMemUnmap(p, 2 * G));
    say("A.second_all.risen", "=%gG", in_g(risen(before)));
}

static void a_retain_extra(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p), k = 0;
    size_t before = free_memory();
    R("A.retain_extra.release2", cuMemRelease(h));
    RV("A.retain_extra.retain", cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p), "same=%d", k == h);
    R("A.retain_extra.release_retained", cuMemRelease(k));
    R("A.retain_extra.release_again", cuMemRelease(k));
    RV("A.retain_extra.retain_again", cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p), "same=%d", k == h);
    R("A.retain_extra.unmap", cuMemUnmap(p, G));
    say("A.retain_extra.unmap.risen", "=%gG", in_g(risen(before)));
    R("A.retain_extra.map_again", cuMemMap(p + 4 * G, G, 0, k, 0));
    R("A.retain_extra.setaccess", give(p + 4 * G, G, L_DEVICE, RW));
    say("A.retain_extra.byte", "=%d", byte_at(p + 4 * G));
    R("A.retain_extra.final_release", cuMemRelease(k));
    R("A.retain_extra.final_unmap", cuMemUnmap(p + 4 * G, G));
    say("A.retain_extra.final.risen", "=%gG", in_g(risen(before)));
}

static void release_all(const char *tag, Handle h, CUdeviceptr p, size_t before)
{
    char id[64];
    for (int i = 1; i <= 5; i++) {
        snprintf(id, sizeof id, "A.%s.release%d", tag, i);
        CUresult r = cuMemRelease(h);
        say(id, "%s risen=%gG alive=%d", name_of(r), in_g(risen(before)), alive(p));
    }
    snprintf(id, sizeof id, "A.%s.unmap", tag);
    RV(id, cuMemUnmap(p, G), "risen=%gG", in_g(risen(before)));
}

static void a_two_retains(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p), k = 0;
    size_t before = free_memory();
    cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p);
    cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p);
    release_all("two_retains", h, p, before);
}

static void a_two_retains_and_own(void)
{
    init();
    Handle h = make(G), k = 0;
    CUdeviceptr p = reserve(2 * G);
    map(p, G, h);
    size_t before = free_memory();
    cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p);
    cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p);
    release_all("own_and_two_retains", h, p, before);
}

/* Unmapped with two references: how many releases are good? */
static void a_retained_then_unmapped(void)
{
    init();
    Handle h = make(G), k = 0;
    CUdeviceptr p = reserve(2 * G);
    map(p, G, h);
    cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)p);
    size_t before = free_memory();
    cuMemUnmap(p, G);
    for (int i = 1; i <= 3; i++)
        RV("A.retained_unmapped.release", cuMemRelease(h), "number=%d risen=%gG", i, in_g(risen(before)));
}

static void a_extra_then_unmap(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    size_t before = free_memory();
    R("A.extra_unmap.release2", cuMemRelease(h));
    R("A.extra_unmap.unmap", cuMemUnmap(p, G));
    say("A.extra_unmap.risen", "=%gG", in_g(risen(before)));
    before = free_memory();
    Handle n = make(G);
    say("A.extra_unmap.new", "fell=%gG same_value=%d", -in_g(risen(before)), n == h);
    R("A.extra_unmap.new.map", cuMemMap(p, G, 0, n, 0));
    R("A.extra_unmap.new.setaccess", give(p, G, L_DEVICE, RW));
    say("A.extra_unmap.new.byte", "=%d", byte_at(p));
    R("A.extra_unmap.new.unmap", cuMemUnmap(p, G));
    R("A.extra_unmap.new.release", cuMemRelease(n));
    say("A.extra_unmap.new.risen", "=%gG", in_g(risen(before)));
}

/* The stale value of a handle freed at unmap. */
static void a_stale_after_unmap(void)
{
    CUdeviceptr p;
    Handle h = orphan(&p);
    R("A.stale.unmap", cuMemUnmap(p, G));
    CUmemAllocationProp q = prop_at(9, 9);
    RV("A.stale.properties", cuMemGetAllocationPropertiesFromHandle(&q, h), "type=%d loc=%d/%d", q.type,
       q.location.type, q.location.id);
    R("A.stale.release", cuMemRelease(h));
}

static void a_value_reuse(void)
{
    init();
    Handle a = make(G);
    cuMemRelease(a);
    Handle b = make(G);
    say("A.reuse.same_size", "same=%d", a == b);
    cuMemRelease(b);
    Handle c = make(3 * G);
    say("A.reuse.other_size", "same=%d", b == c);
    cuMemRelease(c);
    Handle d = make_at(L_HOST, G);
    say("A.reuse.host", "same=%d", c == d);
    cuMemRelease(d);
    Handle e = make(G), f = make(G);
    say("A.reuse.device_after_host", "same=%d distinct=%d", d == e, e != f);
    cuMemRelease(e);
    Handle g = make(G);
    say("A.reuse.first_of_two", "same=%d", e == g);
    cuMemRelease(f);
    cuMemRelease(g);
    Handle i = make(G), j = make(G);
    say("A.reuse.two_freed", "i==g %d i==f %d j==g %d j==f %d", i == g, i == f, j == g, j == f);
    say("A.values", "%llx %llx aligned16=%d", (u64)i, (u64)j, i % 16 == 0 && j % 16 == 0);
    /* Freed while mapped, so really freed at unmap. */
    CUdeviceptr p = reserve(G);
    map(p, G, i);
    cuMemRelease(i);
    Handle k = make(G);
    say("A.reuse.released_but_mapped", "same=%d", i == k);
    cuMemUnmap(p, G);
    Handle l = make(G);
    say("A.reuse.after_unmap", "same=%d", i == l);
}

static void a_value_reuse_many(void)
{
    static Handle seen[400];
    init();
    int first = -1, previous = 0, distinct = 0;
    for (int i = 0; i < 400; i++) {
        seen[i] = make(G);
        int old = 0;
        for (int k = 0; k < i; k++)
            old |= seen[k] == seen[i];
        if (old && first < 0)
            first = i;
        distinct += !old;
        previous += i && seen[i - 1] == seen[i];
        cuMemRelease(seen[i]);
    }
    say("A.reuse.create_release_400_times", "first repeat at %d, %d like the one before, %d distinct", first, previous,
        distinct);
}

static void group_a(void)
{
    child("A.reuse_many!", a_value_reuse_many);
    child("A.again!", a_release_again);
    child("A.properties!", a_properties);
    child("A.second!", a_map_second);
    child("A.second_all!", a_second_then_all);
    child("A.retain_extra!", a_retain_extra);
    child("A.two_retains!", a_two_retains);
    child("A.own_and_two_retains!", a_two_retains_and_own);
    child("A.retained_unmapped!", a_retained_then_unmapped);
    child("A.extra_unmap!", a_extra_then_unmap);
    child("A.stale!", a_stale_after_unmap);
    child("A.reuse!", a_value_reuse);
}

/* ---- B: mappings that cross the end of a reservation ---- */

/* A and B of n U each, side by side; the caller's mapping of 2 U goes at A's last granule. */
static CUdeviceptr side_by_side(size_t n)
{
    init();
    CUdeviceptr a = window(2 * n * U);
    CUdeviceptr one = reserve_here(a, n * U), two = reserve_here(a + n * U, n * U);
    if (one != a || two != a + n * U)
        _exit(8);
    return a;
}

/* A window of 8 U whose first 4 U are reserved; a mapping of 2 U at 3 U runs past the end. */
static CUdeviceptr past_the_end(void)
{
    init();
    CUdeviceptr a = window(8 * U);
    if (reserve_here(a, 4 * U) != a)
        _exit(8);
    map(a + 3 * U, 2 * U, make(2 * U));
    return a;
}

/* Where q lies for the pointer attributes, in U from base. */
static void place(const char *id, CUdeviceptr base, CUdeviceptr q)
{
    CUdeviceptr range = 0, mapping = 0, start = 0;
    size_t range_size = 0, mapping_size = 0, size = 0;
    CUresult r1 = cuPointerGetAttribute(&range, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, q);
    CUresult r2 = cuPointerGetAttribute(&range_size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, q);
    CUresult r3 = cuPointerGetAttribute(&mapping, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, q);
    CUresult r4 = cuPointerGetAttribute(&mapping_size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, q);
    CUresult r5 = cuMemGetAddressRange(&start, &size, q);
    if (!r1 && !range)
        printf("%s\tRANGE_START %s=NULL", id, name_of(r1));
    else
        printf("%s\tRANGE_START %s=%gU", id, name_of(r1), r1 ? 0 : in_u((i64)(range - base)));
    printf(" RANGE_SIZE %s=%gU", name_of(r2), in_u((i64)range_size));
    printf(" MAPPING_BASE %s=%gU", name_of(r3), r3 ? 0 : in_u((i64)(mapping - base)));
    printf(" MAPPING_SIZE %s=%gU", name_of(r4), in_u((i64)mapping_size));
    printf(" cuMemGetAddressRange %s=%gU+%gU\n", name_of(r5), r5 ? 0 : in_u((i64)(start - base)), in_u((i64)size));
    fflush(stdout);
}

/* Access, retain and place at q. */
static void look(const char *tag, CUdeviceptr base, CUdeviceptr q)
{
    char id[96];
    u64 f;
    Handle k = 0;
    snprintf(id, sizeof id, "B.%s.getaccess.%s", tag, variant);
    RV(id, read_access(q, L_DEVICE, &f), "=%llu", f);
    snprintf(id, sizeof id, "B.%s.retain.%s", tag, variant);
    if (R(id, cuMemRetainAllocationHandle(&k, (void *)(uintptr_t)q)) == CUDA_SUCCESS)
        cuMemRelease(k);
    snprintf(id, sizeof id, "B.%s.place.%s", tag, variant);
    place(id, base, q);
}

/* Reserves by hint and says whether the hint was honoured; a given range is freed again. */
static void try_hint(const char *id, CUdeviceptr hint, size_t size)
{
    CUdeviceptr p = 0;
    CUresult r = cuMemAddressReserve(&p, size, 0, hint, 0);
    say(id, "%s given=%d", name_of(r), p == hint);
    if (!r && (r = cuMemAddressFree(p, size)) != CUDA_SUCCESS)
        say(id, "free %s", name_of(r));
}

static CUdeviceptr crossing(void)
{
    CUdeviceptr a = side_by_side(4);
    map(a + 3 * U, 2 * U, make(2 * U));
    return a;
}

static void b_look(void)
{
    CUdeviceptr a = crossing();
    look("cross.fresh.before_seam", a, a + 3 * U);
    look("cross.fresh.after_seam", a, a + 4 * U);
    R(v("B.cross.setaccess"), give(a + 3 * U, 2 * U, L_DEVICE, RW));
    look("cross.rw.before_seam", a, a + 3 * U);
    look("cross.rw.after_seam", a, a + 4 * U);
    R(v("B.cross.setaccess_a_part"), give(a + 3 * U, U, L_DEVICE, READ));
    R(v("B.cross.setaccess_b_part"), give(a + 4 * U, U, L_DEVICE, READ));
    say(v("B.cross.flags"), "=%llu %llu", flags_of(a + 3 * U, L_DEVICE), flags_of(a + 4 * U, L_DEVICE));
    R(v("B.cross.unmap_a_only"), cuMemUnmap(a, 4 * U));
    R(v("B.cross.unmap_a_part"), cuMemUnmap(a + 3 * U, U));
    R(v("B.cross.unmap_b_tail"), cuMemUnmap(a + 4 * U, U));
    R(v("B.cross.unmap_b_all"), cuMemUnmap(a + 4 * U, 4 * U));
    R(v("B.cross.unmap_b_after_tail"), cuMemUnmap(a + 5 * U, 3 * U));
    say(v("B.cross.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
    R(v("B.cross.unmap_both_whole"), cuMemUnmap(a, 8 * U));
    say(v("B.cross.alive_after"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
}

static void b_free_b(void)
{
    CUdeviceptr a = crossing();
    give(a + 3 * U, 2 * U, L_DEVICE, RW);
    cuMemsetD8(a + 3 * U, 0x41, 2 * U);
    CUresult r = R(v("B.free_b"), cuMemAddressFree(a + 4 * U, 4 * U));
    look("free_b.before_seam", a, a + 3 * U);
    look("free_b.after_seam", a, a + 4 * U);
    say(v("B.free_b.bytes"), "%d %d", byte_at(a + 4 * U - 1), byte_at(a + 4 * U));
    R(v("B.free_b.memset"), cuMemsetD8(a + 3 * U, 0x42, 2 * U));
    R(v("B.free_b.setaccess"), give(a + 3 * U, 2 * U, L_DEVICE, READ));
    say(v("B.free_b.flags"), "=%llu %llu", flags_of(a + 3 * U, L_DEVICE), flags_of(a + 4 * U, L_DEVICE));
    if (!r)
        R(v("B.free_b.again"), cuMemAddressFree(a + 4 * U, 4 * U));
    R(v("B.free_b.unmap_tail"), cuMemUnmap(a + 4 * U, U));
    R(v("B.free_b.free_a_mapped"), cuMemAddressFree(a, 4 * U));
    R(v("B.free_b.unmap"), cuMemUnmap(a + 3 * U, 2 * U));
    R(v("B.free_b.free_a"), cuMemAddressFree(a, 4 * U));
    if (r)
        R(v("B.free_b.after_unmap"), cuMemAddressFree(a + 4 * U, 4 * U));
}

static void b_free_b_reserve(void)
{
    CUdeviceptr a = crossing();
    if (R(v("B.free_b_reserve.free"), cuMemAddressFree(a + 4 * U, 4 * U)))
        return;
    try_hint(v("B.free_b_reserve.one_u_at_tail"), a + 4 * U, U);
    try_hint(v("B.free_b_reserve.whole_b"), a + 4 * U, 4 * U);
    try_hint(v("B.free_b_reserve.after_tail"), a + 5 * U, 3 * U);
    CUdeviceptr b = 0;
    RV(v("B.free_b_reserve.keep"), cuMemAddressReserve(&b, 4 * U, 0, a + 4 * U, 0), "given=%d", b == a + 4 * U);
    Handle h = make(U);
    R(v("B.free_b_reserve.map_on_tail"), cuMemMap(a + 4 * U, U, 0, h, 0));
    R(v("B.free_b_reserve.map_after_tail"), cuMemMap(a + 5 * U, U, 0, h, 0));
    look("free_b_reserve.after_seam", a, a + 4 * U);
    R(v("B.free_b_reserve.unmap"), cuMemUnmap(a + 3 * U, 2 * U));
    R(v("B.free_b_reserve.map_on_tail_now"), cuMemMap(a + 4 * U, U, 0, h, 0));
}

static void b_free_a(void)
{
    CUdeviceptr a = crossing();
    give(a + 3 * U, 2 * U, L_DEVICE, RW);
    R(v("B.free_a"), cuMemAddressFree(a, 4 * U));
    say(v("B.free_a.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
    R(v("B.free_a.memset"), cuMemsetD8(a + 3 * U, 1, 2 * U));
    R(v("B.free_a.free_b"), cuMemAddressFree(a + 4 * U, 4 * U));
    R(v("B.free_a.free_a_again"), cuMemAddressFree(a, 4 * U));
    R(v("B.free_a.unmap"), cuMemUnmap(a + 3 * U, 2 * U));
    R(v("B.free_a.then_free_a"), cuMemAddressFree(a, 4 * U));
    R(v("B.free_a.then_free_b"), cuMemAddressFree(a + 4 * U, 4 * U));
}

/* B holds a mapping where the tail would land, and the other way round. */
static void b_onto_mapping(void)
{
    CUdeviceptr a = side_by_side(4);
    Handle two = make(2 * U), one = make(U);
    map(a + 4 * U, U, one);
    R(v("B.onto.cross_onto_mapping"), cuMemMap(a + 3 * U, 2 * U, 0, two, 0));
    say(v("B.onto.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
    R(v("B.onto.unmap_b"), cuMemUnmap(a + 4 * U, U));
    R(v("B.onto.cross_now"), cuMemMap(a + 3 * U, 2 * U, 0, two, 0));
    R(v("B.onto.map_on_tail"), cuMemMap(a + 4 * U, U, 0, one, 0));
    R(v("B.onto.map_after_tail"), cuMemMap(a + 5 * U, U, 0, one, 0));
    /* Three whole mappings, one of which crosses. */
    map(a + 2 * U, U, one);
    R(v("B.onto.setaccess_three"), give(a + 2 * U, 4 * U, L_DEVICE, RW));
    R(v("B.onto.memset_three"), cuMemsetD8(a + 2 * U, 1, 4 * U));
    R(v("B.onto.unmap_three"), cuMemUnmap(a + 2 * U, 4 * U));
    say(v("B.onto.alive_after"), "%d %d %d %d", alive(a + 2 * U), alive(a + 3 * U), alive(a + 4 * U), alive(a + 5 * U));
}

static void b_past_look(void)
{
    CUdeviceptr a = past_the_end();
    look("past.fresh.inside", a, a + 3 * U);
    look("past.fresh.beyond", a, a + 4 * U);
    look("past.fresh.after_tail", a, a + 5 * U);
    R(v("B.past.setaccess_inside_part"), give(a + 3 * U, U, L_DEVICE, RW));
    R(v("B.past.setaccess_beyond_part"), give(a + 4 * U, U, L_DEVICE, RW));
    R(v("B.past.setaccess"), give(a + 3 * U, 2 * U, L_DEVICE, RW));
    look("past.rw.inside", a, a + 3 * U);
    look("past.rw.beyond", a, a + 4 * U + 77);
    R(v("B.past.unmap_beyond_part"), cuMemUnmap(a + 4 * U, U));
    R(v("B.past.unmap_beyond_long"), cuMemUnmap(a + 4 * U, 4 * U));
    R(v("B.past.unmap_reserved_only"), cuMemUnmap(a, 4 * U));
    R(v("B.past.unmap_from_start_to_tail_end"), cuMemUnmap(a, 5 * U));
    say(v("B.past.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
}

static void b_past_unmap_everything(void)
{
    CUdeviceptr a = past_the_end();
    R(v("B.past_all.unmap_start_past_everything"), cuMemUnmap(a, 8 * U));
    say(v("B.past_all.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
    R(v("B.past_all.free"), cuMemAddressFree(a, 4 * U));
}

static void b_past_unmap_mapping_long(void)
{
    CUdeviceptr a = past_the_end();
    R(v("B.past_long.unmap_mapping_and_more"), cuMemUnmap(a + 3 * U, 4 * U));
    say(v("B.past_long.alive"), "%d %d", alive(a + 3 * U), alive(a + 4 * U));
}

static void b_past_reserve(void)
{
    CUdeviceptr a = past_the_end();
    try_hint(v("B.past_reserve.one_u_at_tail"), a + 4 * U, U);
    try_hint(v("B.past_reserve.four_u_at_tail"), a + 4 * U, 4 * U);
    try_hint(v("B.past_reserve.after_tail"), a + 5 * U, 3 * U);
    CUdeviceptr b = reserve_here(a + 5 * U, 3 * U);
    say(v("B.past_reserve.keep_after_tail"), "given=%d", b == a + 5 * U);
    look("past_reserve.beyond", a, a + 4 * U);
    Handle h = make(U);
    R(v("B.past_reserve.map_on_tail"), cuMemMap(a + 4 * U, U, 0, h, 0));
    R(v("B.past_reserve.map_after_tail"), cuMemMap(a + 5 * U, U, 0, h, 0));
    R(v("B.past_reserve.setaccess_both"), give(a + 3 * U, 3 * U, L_DEVICE, RW));
    R(v("B.past_reserve.unmap_both"), cuMemUnmap(a + 3 * U, 3 * U));
    say(v("B.past_reserve.alive"), "%d %d %d", alive(a + 3 * U), alive(a + 4 * U), alive(a + 5 * U));
    cuMemUnmap(a + 3 * U, 2 * U);
    cuMemUnmap(a + 5 * U, U);
    try_hint(v("B.past_reserve.tail_once_unmapped"), a + 4 * U, U);
    R(v("B.past_reserve.map_starting_beyond"), cuMemMap(a + 4 * U, U, 0, h, 0));
}

/* Reserves the place where a tail lies, where the driver gives it. */
static void b_take_tail(void)
{
    CUdeviceptr a = past_the_end(), b = 0;
    give(a + 3 * U, 2 * U, L_DEVICE, RW);
    RV(v("B.take.reserve"), cuMemAddressReserve(&b, U, 0, a + 4 * U, 0), "given=%d", b == a + 4 * U);
    if (b != a + 4 * U)
        return;
    look("take.tail", a, a + 4 * U);
    Handle h = make(U);
    R(v("B.take.map_on_tail"), cuMemMap(b, U, 0, h, 0));
    R(v("B.take.setaccess_tail"), give(b, U, L_DEVICE, READ));
    R(v("B.take.unmap_tail"), cuMemUnmap(b, U));
    R(v("B.take.memset"), cuMemsetD8(a + 3 * U, 1, 2 * U));
    R(v("B.take.free_tail"), cuMemAddressFree(b, U));
    R(v("B.take.unmap"), cuMemUnmap(a + 3 * U, 2 * U));
    R(v("B.take.free_tail_after"), cuMemAddressFree(b, U));
    R(v("B.take.free_a"), cuMemAddressFree(a, 4 * U));
}

/* Does an unhinted reservation ever land on a tail? */
static void b_tail_unasked(void)
{
    CUdeviceptr a = past_the_end();
    int hit = 0;
    for (int i = 0; i < 12; i++) {
        CUdeviceptr p = reserve(U);
        hit |= p == a + 4 * U;
    }
    say(v("B.tail_unasked"), "hit=%d", hit);
}

/* The tail lands on memory of cuMemAlloc. */
static void b_onto_cumemalloc(void)
{
    init();
    CUdeviceptr m = 0, p = 0;
    cuMemAlloc(&m, U);
    RV(v("B.onto_cumemalloc.hint_on_it"), cuMemAddressReserve(&p, U, 0, m, 0), "given=%d", p == m);
    p = 0;
    CUresult r = cuMemAddressReserve(&p, U, 0, m - U, 0);
    say(v("B.onto_cumemalloc.hint_below"), "%s given=%d", name_of(r), p == m - U);
    if (p == m - U)
        RV(v("B.onto_cumemalloc.map"), cuMemMap(p, 2 * U, 0, make(2 * U), 0), "alive=%d", alive(p));
    if (p == m - U)
        RV(v("B.onto_cumemalloc.unmap_over"), cuMemUnmap(p, 2 * U), "cumemalloc byte=%d", byte_at(m));
}

/* Runs past the end of A and over a gap into a later reservation, mapped and not. */
static void b_over_a_gap(void)
{
    init();
    CUdeviceptr a = window(8 * U);
    reserve_here(a, 4 * U);
    reserve_here(a + 5 * U, 3 * U);
    Handle four = make(4 * U), one = make(U);
    R(v("B.gap.map_over_gap"), cuMemMap(a + 3 * U, 4 * U, 0, four, 0));
    R(v("B.gap.setaccess"), give(a + 3 * U, 4 * U, L_DEVICE, RW));
    look("gap.in_gap", a, a + 4 * U);
    look("gap.in_second", a, a + 5 * U);
    R(v("B.gap.free_second"), cuMemAddressFree(a + 5 * U, 3 * U));
    R(v("B.gap.unmap"), cuMemUnmap(a + 3 * U, 4 * U));
    map(a + 5 * U, U, one);
    R(v("B.gap.map_over_gap_onto_mapping"), cuMemMap(a + 3 * U, 4 * U, 0, four, 0));
}

static void group_b(void)
{
    for (int big = 0; big < 2; big++) {
        U = big ? 16 * G : G;
        variant = big ? "big" : "small";
        child(v("B.cross!"), b_look);
        child(v("B.free_b!"), b_free_b);
        child(v("B.free_b_reserve!"), b_free_b_reserve);
        child(v("B.free_a!"), b_free_a);
        child(v("B.onto!"), b_onto_mapping);
        child(v("B.past!"), b_past_look);
        child(v("B.past_all!"), b_past_unmap_everything);
        child(v("B.past_long!"), b_past_unmap_mapping_long);
        child(v("B.past_reserve!"), b_past_reserve);
        child(v("B.take!"), b_take_tail);
        child(v("B.tail_unasked!"), b_tail_unasked);
        child(v("B.onto_cumemalloc!"), b_onto_cumemalloc);
        child(v("B.gap!"), b_over_a_gap);
    }
    U = G;
    variant = "small";
}

/* ---- C: unmap ---- */

static CUdeviceptr half_window(void)
{
    init();
    CUdeviceptr a = window(8 * U);
    if (reserve_here(a, 4 * U) != a)
        _exit(8);
    return a;
}

static void c_past_end(void)
{
    CUdeviceptr a = half_window();
    Handle h = make(U);
    R(v("C.past_end.nothing_mapped"), cuMemUnmap(a, 6 * U));
    R(v("C.past_end.nothing_mapped_from_last"), cuMemUnmap(a + 3 * U, 2 * U));
    map(a + 2 * U, U, h);
    RV(v("C.past_end.whole_mapping"), cuMemUnmap(a + 2 * U, 6 * U), "alive=%d", alive(a + 2 * U));
    map(a + 3 * U, U, h);
    RV(v("C.past_end.last_mapping"), cuMemUnmap(a + 3 * U, 2 * U), "alive=%d", alive(a + 3 * U));
    RV(v("C.past_end.from_start"), cuMemUnmap(a, 16 * U), "alive=%d", alive(a + 3 * U));
    RV(v("C.past_end.exact"), cuMemUnmap(a, 4 * U), "alive=%d", alive(a + 3 * U));
}

static void c_two_reservations(void)
{
    CUdeviceptr a = side_by_side(4);
    Handle h = make(U), k = make(U);
    R(v("C.two.nothing_mapped"), cuMemUnmap(a, 8 * U));
    map(a + 3 * U, U, h);
    map(a + 4 * U, U, k);
    RV(v("C.two.whole_both"), cuMemUnmap(a + 3 * U, 2 * U), "alive=%d,%d", alive(a + 3 * U), alive(a + 4 * U));
    cuMemUnmap(a, 4 * U);
    cuMemUnmap(a + 4 * U, 4 * U);
    map(a + 2 * U, U, h);
    map(a + 5 * U, U, k);
    RV(v("C.two.hole_at_seam"), cuMemUnmap(a + 2 * U, 4 * U), "alive=%d,%d", alive(a + 2 * U), alive(a + 5 * U));
    RV(v("C.two.all_with_holes"), cuMemUnmap(a, 8 * U), "alive=%d,%d", alive(a + 2 * U), alive(a + 5 * U));
    cuMemUnmap(a, 4 * U);
    cuMemUnmap(a + 4 * U, 4 * U);
    map(a + 3 * U, U, h);
    RV(v("C.two.a_whole_then_b_empty"), cuMemUnmap(a + 3 * U, 2 * U), "alive=%d", alive(a + 3 * U));
    cuMemUnmap(a, 4 * U);
    map(a + 4 * U, U, k);
    RV(v("C.two.a_empty_then_b_whole"), cuMemUnmap(a + 3 * U, 2 * U), "alive=%d", alive(a + 4 * U));
    RV(v("C.two.a_empty_long"), cuMemUnmap(a, 5 * U), "alive=%d", alive(a + 4 * U));
}

/* Two reservations with unreserved space between them. */
static void c_gap(void)
{
    CUdeviceptr a = half_window();
    reserve_here(a + 5 * U, 3 * U);
    Handle h = make(U), k = make(U);
    map(a + 3 * U, U, h);
    map(a + 5 * U, U, k);
    RV(v("C.gap.over_unreserved"), cuMemUnmap(a + 3 * U, 3 * U), "alive=%d,%d", alive(a + 3 * U), alive(a + 5 * U));
}

static void c_unaligned(void)
{
    CUdeviceptr a = half_window();
    Handle h = make(U), k = make(2 * U);
    map(a + U, U, h);
    RV(v("C.unaligned.ptr+4096,size3U"), cuMemUnmap(a + 4096, 3 * U), "alive=%d", alive(a + U));
    if (!alive(a + U))
        map(a + U, U, h);
    RV(v("C.unaligned.ptr+4096,size4U-4096"), cuMemUnmap(a + 4096, 4 * U - 4096), "alive=%d", alive(a + U));
    if (!alive(a + U))
        map(a + U, U, h);
    RV(v("C.unaligned.ptr+1,size2U-1"), cuMemUnmap(a + 1, 2 * U - 1), "alive=%d", alive(a + U));
    if (!alive(a + U))
        map(a + U, U, h);
    RV(v("C.unaligned.ptr_in_mapping"), cuMemUnmap(a + U + 4096, U), "alive=%d", alive(a + U));
    cuMemUnmap(a, 4 * U);
    map(a, 2 * U, k);
    RV(v("C.unaligned.size2U+4096_then_hole"), cuMemUnmap(a, 2 * U + 4096), "alive=%d", alive(a));
    if (!alive(a))
        map(a, 2 * U, k);
    RV(v("C.unaligned.size2U-4096"), cuMemUnmap(a, 2 * U - 4096), "alive=%d", alive(a));
    if (!alive(a))
        map(a, 2 * U, k);
    RV(v("C.unaligned.size1"), cuMemUnmap(a, 1), "alive=%d", alive(a));
    RV(v("C.unaligned.size1_on_hole"), cuMemUnmap(a + 3 * U, 1), "alive=%d", alive(a));
    R(v("C.unaligned.size4U-4096_whole_and_hole"), cuMemUnmap(a, 4 * U - 4096));
    say(v("C.unaligned.end"), "alive=%d", alive(a));
}

static void c_sizes(void)
{
    CUdeviceptr a = half_window();
    Handle h = make(U);
    const struct {
        const char *id;
        size_t size;
    } cases[] = {
        {"C.size.1<<46", (size_t)1 << 46},
        {"C.size.1<<47", (size_t)1 << 47},
        {"C.size.1<<63", (size_t)1 << 63},
        {"C.size.max", SIZE_MAX},
        {"C.size.max_aligned", SIZE_MAX - (U - 1)},
        {"C.size.to_zero", (size_t)0 - (size_t)(a + U)},
        {"C.size.wraps_to_U", U - (size_t)(a + U)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (!alive(a + U))
            map(a + U, U, h);
        RV(v(cases[i].id), cuMemUnmap(a + U, cases[i].size), "alive=%d", alive(a + U));
    }
    cuMemUnmap(a, 4 * U);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char id[64];
        snprintf(id, sizeof id, "%s.unmapped.%s", cases[i].id, variant);
        R(id, cuMemUnmap(a + U, cases[i].size));
    }
}

static void c_unreserved_start(void)
{
    init();
    CUdeviceptr a = window(8 * U);
    reserve_here(a + 4 * U, 4 * U);
    map(a + 5 * U, U, make(U));
    RV(v("C.unreserved_start.covers_reservation"), cuMemUnmap(a, 12 * U), "alive=%d", alive(a + 5 * U));
    RV(v("C.unreserved_start.covers_to_end"), cuMemUnmap(a + 2 * U, 6 * U), "alive=%d", alive(a + 5 * U));
    RV(v("C.unreserved_start.ptr0_size_max"), cuMemUnmap(0, SIZE_MAX), "alive=%d", alive(a + 5 * U));
    RV(v("C.ptr_4096.size_U"), cuMemUnmap(4096, U), "alive=%d", alive(a + 5 * U));
}

/* One whole and one partial in a range with two reservations: nothing goes? */
static void c_partial_in_second(void)
{
    CUdeviceptr a = side_by_side(4);
    map(a + 3 * U, U, make(U));
    map(a + 4 * U, 2 * U, make(2 * U));
    RV(v("C.partial_in_second"), cuMemUnmap(a + 3 * U, 2 * U), "alive=%d,%d", alive(a + 3 * U), alive(a + 4 * U));
}

static void group_c(void)
{
    for (int big = 0; big < 2; big++) {
        U = big ? 16 * G : G;
        variant = big ? "big" : "small";
        child(v("C.past_end!"), c_past_end);
        child(v("C.two!"), c_two_reservations);
        child(v("C.gap!"), c_gap);
        child(v("C.unaligned!"), c_unaligned);
        child(v("C.size!"), c_sizes);
        child(v("C.unreserved_start!"), c_unreserved_start);
        child(v("C.partial_in_second!"), c_partial_in_second);
    }
    U = G;
    variant = "small";
}

/* ---- D: cuMemSetAccess ---- */

static CUdeviceptr d_base;   /* device memory of 2 G at d_base, host memory of 1 G at d_base + 2 G */

/* Before each case: the device may read the device memory, nobody anything else. */
static void d_reset(void)
{
    give(d_base, 2 * G, L_DEVICE, READ);
    if (alive(d_base + 2 * G)) {
        give(d_base + 2 * G, G, L_DEVICE, NONE);
        give(d_base + 2 * G, G, L_HOST, NONE);
    }
}

/* Prints the code, the device's rights on the device memory (1 = unchanged), the device's and the host's on the host
   memory (0 = unchanged; 99 where it is not mapped, 0 written). */
static void d_case(const char *id, CUdeviceptr p, size_t size, const CUmemAccessDesc *d, size_t n)
{
    d_reset();
    CUresult r = cuMemSetAccess(p, size, d, n);
    say(id, "%s dev=%llu,%llu host_mem=dev%llu,host%llu", name_of(r), flags_of(d_base, L_DEVICE),
        flags_of(d_base + G, L_DEVICE), flags_of(d_base + 2 * G, L_DEVICE), flags_of(d_base + 2 * G, L_HOST));
}

static void d_setup(int with_host)
{
    init();
    d_base = reserve(16 * G);
    map(d_base, 2 * G, make(2 * G));
    if (with_host)
        map(d_base + 2 * G, G, make_at(L_HOST, G));
}

#define PAIR(a, b) ((CUmemAccessDesc[]){a, b})
#define ONE(a) ((CUmemAccessDesc[]){a})

static void d_not_supported_pairs(void)
{
    d_setup(0);
    CUdeviceptr p = d_base;
    const CUmemAccessDesc host = desc(L_HOST, 0, RW), dev = desc(L_DEVICE, 0, RW), numa = desc(L_NUMA, 0, RW);
    const CUmemAccessDesc bad_flags = desc(L_DEVICE, 0, 2), bad_id = desc(L_DEVICE, 99, RW);
    const CUmemAccessDesc current = desc(L_NUMA_CURRENT, 0, RW), loc0 = desc(0, 0, RW);
    d_case("D.host", p, 2 * G, ONE(host), 1);
    d_case("D.numa", p, 2 * G, ONE(numa), 1);
    d_case("D.numa_id99", p, 2 * G, ONE(desc(L_NUMA, 99, RW)), 1);
    d_case("D.host_id99", p, 2 * G, ONE(desc(L_HOST, 99, RW)), 1);
    d_case("D.host.count0", p, 2 * G, ONE(host), 0);
    d_case("D.host.flags2", p, 2 * G, ONE(desc(L_HOST, 0, 2)), 1);
    d_case("D.host.flags7", p, 2 * G, ONE(desc(L_HOST, 0, 7)), 1);
    d_case("D.host+dev_flags2", p, 2 * G, PAIR(host, bad_flags), 2);
    d_case("D.dev_flags2+host", p, 2 * G, PAIR(bad_flags, host), 2);
    d_case("D.host.unmapped", p + 4 * G, 2 * G, ONE(host), 1);
    d_case("D.host.unreserved", p + ((CUdeviceptr)1 << 38), 2 * G, ONE(host), 1);
    d_case("D.host.partial_front", p, G, ONE(host), 1);
    d_case("D.host.partial_back", p + G, G, ONE(host), 1);
    d_case("D.host.past_end", p, 3 * G, ONE(host), 1);
    d_case("D.host.size_unaligned_long", p, 2 * G + 4096, ONE(host), 1);
    d_case("D.host.size_unaligned_short", p, 4096, ONE(host), 1);
    d_case("D.host.size0", p, 0, ONE(host), 1);
    d_case("D.host.ptr_unaligned", p + 4096, 2 * G, ONE(host), 1);
    d_case("D.host.ptr0", 0, 2 * G, ONE(host), 1);
    d_case("D.host+id99", p, 2 * G, PAIR(host, bad_id), 2);
    d_case("D.id99+host", p, 2 * G, PAIR(bad_id, host), 2);
    d_case("D.host+numa_current", p, 2 * G, PAIR(host, current), 2);
    d_case("D.numa_current+host", p, 2 * G, PAIR(current, host), 2);
    d_case("D.host+loc0", p, 2 * G, PAIR(host, loc0), 2);
    d_case("D.loc0+host", p, 2 * G, PAIR(loc0, host), 2);
    d_case("D.host+dev", p, 2 * G, PAIR(host, dev), 2);
    d_case("D.dev+host", p, 2 * G, PAIR(dev, host), 2);
    d_case("D.dev+host_none", p, 2 * G, PAIR(dev, desc(L_HOST, 0, NONE)), 2);
    d_case("D.host_none", p, 2 * G, ONE(desc(L_HOST, 0, NONE)), 1);
    d_case("D.numa_none", p, 2 * G, ONE(desc(L_NUMA, 0, NONE)), 1);
    d_case("D.host_read", p, 2 * G, ONE(desc(L_HOST, 0, READ)), 1);
    say("D.end.host_flags", "=%llu numa=%llu", flags_of(p, L_HOST), flags_of(p, L_NUMA));
}

static void d_mixed(void)
{
    d_setup(1);
    CUdeviceptr p = d_base;
    const CUmemAccessDesc host = desc(L_HOST, 0, RW), dev = desc(L_DEVICE, 0, RW);
    d_case("D.mixed.host", p, 3 * G, ONE(host), 1);
    d_case("D.mixed.host_none", p, 3 * G, ONE(desc(L_HOST, 0, NONE)), 1);
    d_case("D.mixed.dev", p, 3 * G, ONE(dev), 1);
    d_case("D.mixed.host+dev", p, 3 * G, PAIR(host, dev), 2);
    d_case("D.mixed.dev+host", p, 3 * G, PAIR(dev, host), 2);
    d_case("D.mixed.host.past_end", p, 4 * G, ONE(host), 1);
    d_case("D.mixed.host.partial", p + G, 2 * G, ONE(host), 1);
    d_case("D.hostmem.host", p + 2 * G, G, ONE(host), 1);
    d_case("D.hostmem.host+dev", p + 2 * G, G, PAIR(host, dev), 2);
    d_case("D.hostmem.host+numa_read", p + 2 * G, G, PAIR(host, desc(L_NUMA, 0, READ)), 2);
    d_case("D.hostmem.numa_read+host", p + 2 * G, G, PAIR(desc(L_NUMA, 0, READ), host), 2);
    d_case("D.hostmem.host+id99", p + 2 * G, G, PAIR(host, desc(L_DEVICE, 99, RW)), 2);
    d_case("D.hostmem.numa-1", p + 2 * G, G, ONE(desc(L_NUMA, -1, RW)), 1);
    d_case("D.hostmem.host_id99", p + 2 * G, G, ONE(desc(L_HOST, 99, RW)), 1);
    d_case("D.hostmem.host_flags2", p + 2 * G, G, ONE(desc(L_HOST, 0, 2)), 1);
    /* The host memory first. */
    map(p + 3 * G, G, make(G));
    give(p + 3 * G, G, L_DEVICE, READ);
    d_case("D.mixed_back.host", p + 2 * G, 2 * G, ONE(host), 1);
    say("D.mixed_back.host.last", "dev=%llu", flags_of(p + 3 * G, L_DEVICE));
    d_case("D.mixed_back.dev", p + 2 * G, 2 * G, ONE(dev), 1);
    say("D.mixed_back.dev.last", "dev=%llu", flags_of(p + 3 * G, L_DEVICE));
}

static void d_ranges(void)
{
    d_setup(0);
    CUdeviceptr p = d_base;
    const CUmemAccessDesc dev = desc(L_DEVICE, 0, RW);
    d_case("D.ptr+4096.same_size", p + 4096, 2 * G, ONE(dev), 1);
    d_case("D.ptr+4096.inside", p + 4096, G, ONE(dev), 1);
    d_case("D.ptr+4096.to_end", p + 4096, 2 * G - 4096, ONE(dev), 1);
    d_case("D.ptr+64K.same_size", p + 65536, 2 * G, ONE(dev), 1);
    d_case("D.ptr+1.same_size", p + 1, 2 * G, ONE(dev), 1);
    d_case("D.ptr0", 0, 2 * G, ONE(dev), 1);
    d_case("D.ptr0_size0", 0, 0, ONE(dev), 1);
    d_case("D.size.max", p, SIZE_MAX, ONE(dev), 1);
    d_case("D.size.max_aligned", p, SIZE_MAX - (G - 1), ONE(dev), 1);
    d_case("D.size.to_zero", p, (size_t)0 - (size_t)p, ONE(dev), 1);
    d_case("D.size.wraps_to_2G", p, 2 * G - (size_t)p, ONE(dev), 1);
    d_case("D.size.1<<46", p, (size_t)1 << 46, ONE(dev), 1);
    static CUmemAccessDesc many[1000];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = dev;
    d_case("D.count1000", p, 2 * G, many, COUNT(many));
    d_case("D.count33", p, 2 * G, many, 33);
    many[COUNT(many) - 1].location.id = 99;
    d_case("D.count1000_last_bad", p, 2 * G, many, COUNT(many));
    many[COUNT(many) - 1] = desc(L_DEVICE, 0, NONE);
    d_case("D.count1000_last_none", p, 2 * G, many, COUNT(many));
}

static void d_null_pairs(void)
{
    d_setup(0);
    d_case("D.null_desc.unmapped", d_base + 4 * G, G, NULL, 1);
    d_case("D.null_desc.size0", d_base, 0, NULL, 1);
}

static void d_seam(void)
{
    CUdeviceptr a = side_by_side(4);
    map(a + 2 * G, G, make(G));
    map(a + 5 * G, G, make(G));
    R("D.seam.hole", give(a + 2 * G, 4 * G, L_DEVICE, RW));
    say("D.seam.hole.flags", "=%llu %llu", flags_of(a + 2 * G, L_DEVICE), flags_of(a + 5 * G, L_DEVICE));
    map(a + 3 * G, 2 * G, make(2 * G));
    R("D.seam.crossing_filled", give(a + 2 * G, 4 * G, L_DEVICE, READ));
    say("D.seam.crossing_filled.flags", "=%llu %llu %llu", flags_of(a + 2 * G, L_DEVICE),
        flags_of(a + 4 * G, L_DEVICE), flags_of(a + 5 * G, L_DEVICE));
}

/* A range from the first mapping's start to the last one's end, over two adjacent reservations of 4 G; a bit each for
   what is mapped: bit i is granule i. */
static void d_seam_shape(const char *id, unsigned mapped, int from, int to)
{
    CUdeviceptr a = side_by_side(4);
    for (int i = 0; i < 8; i++)
        if (mapped >> i & 1)
            map(a + (CUdeviceptr)i * G, G, make(G));
    CUresult r = give(a + (CUdeviceptr)from * G, (size_t)(to - from) * G, L_DEVICE, RW);
    printf("D.seam_shape.%s\t%s", id, name_of(r));
    for (int i = 0; i < 8; i++)
        if (mapped >> i & 1)
            printf(" %d:%llu", i, flags_of(a + (CUdeviceptr)i * G, L_DEVICE));
    putchar('\n');
    r = cuMemUnmap(a + (CUdeviceptr)from * G, (size_t)(to - from) * G);
    printf("D.seam_shape.%s.unmap\t%s", id, name_of(r));
    for (int i = 0; i < 8; i++)
        if (mapped >> i & 1)
            printf(" %d:%s", i, alive(a + (CUdeviceptr)i * G) ? "mapped" : "gone");
    putchar('\n');
}

#define SHAPE(name, id, mapped, from, to)             \
    static void name(void)                            \
    {                                                 \
        d_seam_shape(id, mapped, from, to);           \
    }
SHAPE(d_shape1, "both_sides_filled_hole_in_b", 0x2c, 2, 6)
SHAPE(d_shape2, "hole_in_a_b_filled", 0x34, 2, 6)
SHAPE(d_shape3, "a_only_trailing_hole_in_b", 0x08, 3, 6)
SHAPE(d_shape4, "b_only_leading_hole_in_a", 0x10, 2, 5)
SHAPE(d_shape5, "no_hole", 0x3c, 2, 6)
SHAPE(d_shape6, "hole_inside_a_only", 0x1a, 1, 5)
SHAPE(d_shape7, "hole_inside_b_only", 0x58, 3, 7)
SHAPE(d_shape8, "nothing_mapped", 0, 3, 5)
SHAPE(d_shape9, "hole_in_one_reservation", 0x05, 0, 3)
SHAPE(d_shape10, "two_holes_in_one_reservation", 0x15, 0, 5)

/* Which mappings change when a later one refuses. */
static void d_partial_failure(void)
{
    d_setup(1);
    map(d_base + 3 * G, G, make(G));
    give(d_base + 3 * G, G, L_DEVICE, READ);
    const CUmemAccessDesc host = desc(L_HOST, 0, RW), dev = desc(L_DEVICE, 0, RW);
    d_case("D.partial.dev+host_three", d_base, 4 * G, PAIR(dev, host), 2);
    say("D.partial.dev+host_three.last", "dev=%llu", flags_of(d_base + 3 * G, L_DEVICE));
    d_reset();
    d_case("D.partial.dev+host_from_host_memory", d_base + 2 * G, 2 * G, PAIR(dev, host), 2);
    say("D.partial.dev+host_from_host_memory.last", "dev=%llu", flags_of(d_base + 3 * G, L_DEVICE));
    give(d_base + 3 * G, G, L_DEVICE, READ);
    d_case("D.partial.host+dev_from_host_memory", d_base + 2 * G, 2 * G, PAIR(host, dev), 2);
    say("D.partial.host+dev_from_host_memory.last", "dev=%llu", flags_of(d_base + 3 * G, L_DEVICE));
    /* The same through a hole, and with two device mappings. */
    CUdeviceptr p = d_base + 8 * G;
    map(p, G, make(G));
    map(p + G, G, make(G));
    give(p, 2 * G, L_DEVICE, READ);
    CUmemAccessDesc pair[] = {dev, host};
    RV("D.partial.two_device", cuMemSetAccess(p, 2 * G, pair, 2), "dev=%llu,%llu", flags_of(p, L_DEVICE),
       flags_of(p + G, L_DEVICE));
}

/* Are rights beyond a hole really unchanged, and what of a bad descriptor or a cut mapping beyond it? */
static void d_beyond_hole(void)
{
    init();
    CUdeviceptr p = reserve(16 * G);
    map(p, G, make(G));
    map(p + 2 * G, G, make(G));
    map(p + 3 * G, G, make(G));
    R("D.beyond_hole.rw", give(p, 4 * G, L_DEVICE, RW));
    say("D.beyond_hole.memset", "before=%s after=%s last=%s", name_of(cuMemsetD8(p, 1, G)),
        name_of(cuMemsetD8(p + 2 * G, 1, G)), name_of(cuMemsetD8(p + 3 * G, 1, G)));
    R("D.beyond_hole.sync", cuCtxSynchronize());
    give(p + 2 * G, 2 * G, L_DEVICE, RW);
    R("D.beyond_hole.none", give(p, 4 * G, L_DEVICE, NONE));
    say("D.beyond_hole.none.flags", "=%llu,%llu,%llu", flags_of(p, L_DEVICE), flags_of(p + 2 * G, L_DEVICE),
        flags_of(p + 3 * G, L_DEVICE));
    map(p + 5 * G, 2 * G, make(2 * G));
    R("D.beyond_hole.cut_mapping", give(p, 6 * G, L_DEVICE, RW));
    say("D.beyond_hole.cut_mapping.flags", "=%llu,%llu", flags_of(p, L_DEVICE), flags_of(p + 5 * G, L_DEVICE));
    R("D.beyond_hole.starts_cut", give(p + 6 * G, G, L_DEVICE, RW));
    map(p + 8 * G, G, make_at(L_HOST, G));
    map(p + 10 * G, G, make(G));
    R("D.beyond_hole.host_on_host_then_device", give(p + 8 * G, 3 * G, L_HOST, RW));
    say("D.beyond_hole.host_on_host_then_device.flags", "host=%llu dev=%llu", flags_of(p + 8 * G, L_HOST),
        flags_of(p + 10 * G, L_DEVICE));
    map(p + 12 * G, G, make(G));
    map(p + 14 * G, G, make_at(L_HOST, G));
    R("D.beyond_hole.host_on_device_then_host", give(p + 12 * G, 3 * G, L_HOST, RW));
    say("D.beyond_hole.host_on_device_then_host.flags", "host=%llu", flags_of(p + 14 * G, L_HOST));
}

static void d_gap(void)
{
    CUdeviceptr a = half_window();
    reserve_here(a + 6 * G, 2 * G);
    map(a + 3 * G, G, make(G));
    map(a + 6 * G, G, make(G));
    R("D.gap.over_unreserved", give(a + 3 * G, 4 * G, L_DEVICE, RW));
    say("D.gap.flags", "=%llu %llu", flags_of(a + 3 * G, L_DEVICE), flags_of(a + 6 * G, L_DEVICE));
    /* One reservation, a hole, aliases: for comparison. */
    map(a, G, make(G));
    R("D.gap.hole_inside_one", give(a, 4 * G, L_DEVICE, READ));
    say("D.gap.hole_inside_one.flags", "=%llu %llu", flags_of(a, L_DEVICE), flags_of(a + 3 * G, L_DEVICE));
}

static void group_d(void)
{
    child("D.pairs!", d_not_supported_pairs);
    child("D.mixed!", d_mixed);
    child("D.ranges!", d_ranges);
    child("D.null!", d_null_pairs);
    child("D.seam!", d_seam);
    static void (*const shapes[])(void) = {d_shape1, d_shape2, d_shape3, d_shape4, d_shape5,
                                           d_shape6, d_shape7, d_shape8, d_shape9, d_shape10};
    for (size_t i = 0; i < COUNT(shapes); i++)
        child("D.seam_shape!", shapes[i]);
    child("D.partial!", d_partial_failure);
    child("D.beyond_hole!", d_beyond_hole);
    child("D.gap!", d_gap);
}

/* ---- E: cuMemGetAccess ---- */

static void e_case(const char *id, CUdeviceptr p, int type, int loc_id)
{
    u64 f = 99;
    CUmemLocation l = loc_at(type, loc_id);
    RV(id, cuMemGetAccess(&f, &l, p), "=%llu", f);
}

static void e_order(void)
{
    init();
    CUdeviceptr p = reserve(4 * G);
    map(p, G, make(G));
    give(p, G, L_DEVICE, RW);
    const struct {
        const char *name;
        int type, id;
    } locs[] = {{"dev0", 1, 0},   {"dev99", 1, 99}, {"dev-1", 1, -1},      {"host", 2, 0},
                {"numa0", 3, 0},  {"numa99", 3, 99}, {"numa-1", 3, -1},    {"host99", 2, 99},
                {"host-1", 2, -1}, {"numa_current", 4, 0}, {"loc0", 0, 0}, {"loc5", 5, 0}};
    const struct {
        const char *name;
        CUdeviceptr p;
    } places[] = {{"mapped", p},          {"unmapped", p + 2 * G},
                  {"addr0", 0},           {"unreserved", p + ((CUdeviceptr)1 << 38)},
                  {"unaligned", p + 333}, {"malloc", (CUdeviceptr)(uintptr_t)malloc(64)}};
    for (size_t i = 0; i < COUNT(locs); i++)
        for (size_t k = 0; k < COUNT(places); k++) {
            char id[64];
            snprintf(id, sizeof id, "E.dev_mem.%s.%s", locs[i].name, places[k].name);
            e_case(id, places[k].p, locs[i].type, locs[i].id);
        }
}

static void e_null_flags(void)
{
    init();
    CUdeviceptr p = reserve(4 * G);
    map(p, G, make(G));
    CUmemLocation good = loc_at(L_DEVICE, 0), bad = loc_at(L_DEVICE, 99), odd = loc_at(5, 0);
    R("E.null_flags.mapped", cuMemGetAccess(NULL, &good, p));
    R("E.null_flags.unmapped", cuMemGetAccess(NULL, &good, p + 2 * G));
    R("E.null_flags.addr0", cuMemGetAccess(NULL, &good, 0));
    R("E.null_flags.dev99", cuMemGetAccess(NULL, &bad, p));
    R("E.null_flags.dev99_unmapped", cuMemGetAccess(NULL, &bad, p + 2 * G));
    R("E.null_flags.loc5", cuMemGetAccess(NULL, &odd, p));
}

static void e_null_location(void)
{
    init();
    CUdeviceptr p = reserve(4 * G);
    map(p, G, make(G));
    u64 f = 99;
    RV("E.null_location.mapped", cuMemGetAccess(&f, NULL, p), "=%llu", f);
    f = 99;
    RV("E.null_location.unmapped", cuMemGetAccess(&f, NULL, p + 2 * G), "=%llu", f);
    f = 99;
    RV("E.null_location.addr0", cuMemGetAccess(&f, NULL, 0), "=%llu", f);
    R("E.null_both", cuMemGetAccess(NULL, NULL, p));
    R("E.null_both.addr0", cuMemGetAccess(NULL, NULL, 0));
}

static void e_all(const char *tag, CUdeviceptr p)
{
    const struct {
        const char *name;
        int type, id;
    } locs[] = {{"dev0", 1, 0},   {"host0", 2, 0},   {"host99", 2, 99}, {"host-1", 2, -1},
                {"numa0", 3, 0},  {"numa1", 3, 1},   {"numa99", 3, 99}, {"numa-1", 3, -1}};
    for (size_t i = 0; i < COUNT(locs); i++) {
        char id[96];
        snprintf(id, sizeof id, "E.%s.%s", tag, locs[i].name);
        e_case(id, p, locs[i].type, locs[i].id);
    }
}

static void e_device_memory(void)
{
    init();
    CUdeviceptr p = reserve(4 * G);
    map(p, G, make(G));
    e_all("dev_mem_fresh", p);
    give(p, G, L_DEVICE, RW);
    e_all("dev_mem_rw", p);
    give(p, G, L_DEVICE, READ);
    e_all("dev_mem_read", p);
    give(p, G, L_DEVICE, NONE);
    e_all("dev_mem_none", p);
}

static void e_host_memory(int type, const char *name)
{
    char tag[64];
    const struct {
        const char *name;
        int type, flags;
    } steps[] = {{"dev_rw", L_DEVICE, RW},   {"dev_none", L_DEVICE, NONE}, {"host_read", L_HOST, READ},
                 {"host_none", L_HOST, NONE}, {"numa_read", L_NUMA, READ},  {"host_rw", L_HOST, RW},
                 {"then_numa_read", L_NUMA, READ}, {"then_dev_read", L_DEVICE, READ}, {"then_numa_none", L_NUMA, NONE}};
    init();
    CUdeviceptr p = reserve(4 * G);
    map(p, G, make_at(type, G));
    snprintf(tag, sizeof tag, "%s_mem_fresh", name);
    e_all(tag, p);
    for (size_t i = 0; i < COUNT(steps); i++) {
        snprintf(tag, sizeof tag, "%s_mem.set_%s", name, steps[i].name);
        CUmemAccessDesc d = desc(steps[i].type, 0, steps[i].flags);
        CUresult r = cuMemSetAccess(p, G, &d, 1);
        if (r)
            say(tag, "%s", name_of(r));
        e_all(tag, p);
    }
}

static void e_host(void)
{
    e_host_memory(L_HOST, "host");
}

static void e_numa(void)
{
    e_host_memory(L_NUMA, "numa");
}

/* Host memory: what each location reports for each pair of rights, set in either order. */
static void e_table(void)
{
    init();
    static const int rights[] = {NONE, READ, RW};
    static const char *orders[] = {"dev_then_host", "host_then_dev", "dev_then_numa", "dev_only_then_host_none"};
    for (size_t order = 0; order < COUNT(orders); order++)
        for (size_t i = 0; i < COUNT(rights); i++)
            for (size_t k = 0; k < COUNT(rights); k++) {
                CUdeviceptr p = reserve(G);
                Handle h = make_at(L_HOST, G);
                map(p, G, h);
                if (order == 1)
                    give(p, G, L_HOST, rights[k]);
                give(p, G, L_DEVICE, rights[i]);
                if (order != 1)
                    give(p, G, order == 2 ? L_NUMA : L_HOST, order == 3 ? NONE : rights[k]);
                if (order < 3 || k == 0)
                    say("E.table", "%s dev=%d host=%d: dev %llu host %llu numa %llu", orders[order], rights[i],
                        rights[k], flags_of(p, L_DEVICE), flags_of(p, L_HOST), flags_of(p, L_NUMA));
                cuMemUnmap(p, G);
                cuMemRelease(h);
                cuMemAddressFree(p, G);
            }
}

/* Host memory: which of the device's and the host's rights HOST reports, by the order in which they were set. */
static void e_orders(void)
{
    init();
    static const struct {
        const char *id;
        struct {
            int type, flags;
        } step[4];
    } cases[] = {
        {"dev3 host1 dev3", {{L_DEVICE, RW}, {L_HOST, READ}, {L_DEVICE, RW}}},
        {"host1 dev3 host1", {{L_HOST, READ}, {L_DEVICE, RW}, {L_HOST, READ}}},
        {"dev1 host3 dev3", {{L_DEVICE, READ}, {L_HOST, RW}, {L_DEVICE, RW}}},
        {"dev1 host3 dev1", {{L_DEVICE, READ}, {L_HOST, RW}, {L_DEVICE, READ}}},
        {"dev3 host1 host0", {{L_DEVICE, RW}, {L_HOST, READ}, {L_HOST, NONE}}},
        {"host3 dev1 dev0", {{L_HOST, RW}, {L_DEVICE, READ}, {L_DEVICE, NONE}}},
        {"dev3 host1 dev0", {{L_DEVICE, RW}, {L_HOST, READ}, {L_DEVICE, NONE}}},
        {"dev3 host1 dev0 dev3", {{L_DEVICE, RW}, {L_HOST, READ}, {L_DEVICE, NONE}, {L_DEVICE, RW}}},
        {"host1 dev3 host0 host1", {{L_HOST, READ}, {L_DEVICE, RW}, {L_HOST, NONE}, {L_HOST, READ}}},
        {"host1 dev3 numa3", {{L_HOST, READ}, {L_DEVICE, RW}, {L_NUMA, RW}}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CUdeviceptr p = reserve(G);
        map(p, G, make_at(L_HOST, G));
        for (size_t k = 0; k < COUNT(cases[i].step) && cases[i].step[k].type; k++)
            give(p, G, cases[i].step[k].type, cases[i].step[k].flags);
        say("E.orders", "%s: dev %llu host %llu numa %llu", cases[i].id, flags_of(p, L_DEVICE), flags_of(p, L_HOST),
            flags_of(p, L_NUMA));
    }
    for (int i = 0; i < 2; i++) {
        CUmemAccessDesc host = desc(L_HOST, 0, READ), dev = desc(L_DEVICE, 0, RW);
        CUdeviceptr p = reserve(G);
        map(p, G, make_at(L_HOST, G));
        cuMemSetAccess(p, G, i ? PAIR(host, dev) : PAIR(dev, host), 2);
        say("E.orders", "one call {%s}: dev %llu host %llu numa %llu", i ? "host1, dev3" : "dev3, host1",
            flags_of(p, L_DEVICE), flags_of(p, L_HOST), flags_of(p, L_NUMA));
    }
}

static void e_cumemalloc(void)
{
    init();
    CUdeviceptr p = 0;
    cuMemAlloc(&p, G);
    e_all("cumemalloc", p);
    e_case("E.cumemalloc.interior", p + 100, L_DEVICE, 0);
}

static void group_e(void)
{
    child("E.order!", e_order);
    child("E.null_flags!", e_null_flags);
    child("E.null_location!", e_null_location);
    child("E.dev_mem!", e_device_memory);
    child("E.host_mem!", e_host);
    child("E.numa_mem!", e_numa);
    child("E.table!", e_table);
    child("E.orders!", e_orders);
    child("E.cumemalloc!", e_cumemalloc);
}

/* ---- F: cuMemCreate ---- */

struct creation {
    size_t size, total;
    CUmemAllocationProp prop;
    u64 flags;
};

/* The fields that a violation sets: two that share one cannot be expressed together. */
enum { F_SIZE = 1, F_FLAGS = 2, F_TYPE = 4, F_LOCATION = 8, F_HANDLE = 16, F_COMP = 32, F_RESERVED = 64, F_META = 128,
       F_USAGE = 256, F_RDMA = 512 };

struct violation {
    const char *name;
    unsigned fields;
    void (*apply)(struct creation *c);
};

#define VIOLATION(name, statement)                   \
    static void name(struct creation *c)             \
    {                                                \
        statement;                                   \
    }

VIOLATION(v_size0, c->size = 0)
VIOLATION(v_unaligned, c->size = G + 4096)
VIOLATION(v_too_big, c->size = (c->total / G + 1) * G)
VIOLATION(v_size_max, c->size = SIZE_MAX)
VIOLATION(v_flags1, c->flags = 1)
VIOLATION(v_type0, c->prop.type = (CUmemAllocationType)0)
VIOLATION(v_managed, c->prop.type = (CUmemAllocationType)2)
VIOLATION(v_loc0, c->prop.location.type = (CUmemLocationType)0)
VIOLATION(v_dev99, c->prop.location.id = 99)
VIOLATION(v_numa99, c->prop.location = loc_at(L_NUMA, 99))
VIOLATION(v_host_fd, (c->prop.location = loc_at(L_HOST, 0),
                      c->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
VIOLATION(v_win32, c->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32)
VIOLATION(v_fabric, c->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC)
VIOLATION(v_comp2, c->prop.allocFlags.compressionType = 2)
VIOLATION(v_reserved, c->prop.allocFlags.reserved[0] = 1)
VIOLATION(v_meta, c->prop.win32HandleMetaData = (void *)8)
VIOLATION(v_usage4, c->prop.allocFlags.usage = 4)
VIOLATION(v_rdma2, c->prop.allocFlags.gpuDirectRDMACapable = 2)

static const struct violation violations[] = {
    {"size0", F_SIZE, v_size0},
    {"unaligned", F_SIZE, v_unaligned},
    {"too_big", F_SIZE, v_too_big},
    {"size_max", F_SIZE, v_size_max},
    {"flags1", F_FLAGS, v_flags1},
    {"type0", F_TYPE, v_type0},
    {"managed", F_TYPE, v_managed},
    {"loc0", F_LOCATION, v_loc0},
    {"dev99", F_LOCATION, v_dev99},
    {"numa99", F_LOCATION, v_numa99},
    {"host_fd", F_LOCATION | F_HANDLE, v_host_fd},
    {"win32", F_HANDLE, v_win32},
    {"fabric", F_HANDLE, v_fabric},
    {"comp2", F_COMP, v_comp2},
    {"reserved", F_RESERVED, v_reserved},
    {"meta8", F_META, v_meta},
    {"usage4", F_USAGE, v_usage4},
    {"rdma2", F_RDMA, v_rdma2},
};

static struct creation creation_of(size_t i, size_t k)
{
    struct creation c = {.size = G, .prop = prop_at(L_DEVICE, 0), .flags = 0};
    cuDeviceTotalMem(&c.total, 0);
    violations[i].apply(&c);
    violations[k].apply(&c);
    /* Never ask the host for 80 GiB: it may have it. */
    if (c.size > G && c.size < SIZE_MAX && c.size % G == 0 && c.prop.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        c.size = (size_t)1 << 44;
    return c;
}

static void f_pairs(void)
{
    init();
    for (size_t i = 0; i < COUNT(violations); i++)
        for (size_t k = i; k < COUNT(violations); k++) {
            if (i != k && (violations[i].fields & violations[k].fields))
                continue;
            struct creation c = creation_of(i, k);
            Handle h = 0x77;
            CUresult r = cuMemCreate(&h, c.size, &c.prop, c.flags);
            char id[64];
            snprintf(id, sizeof id, i == k ? "F.%s" : "F.%s+%s", violations[i].name, violations[k].name);
            say(id, "%s%s", name_of(r), r && h != 0x77 ? " handle_written" : "");
            if (!r)
                cuMemRelease(h);
        }
}

static void f_one(const char *id, size_t size, const CUmemAllocationProp *p)
{
    Handle h = 0x77;
    CUmemAllocationProp q = prop_at(9, 9);
    CUresult r = cuMemCreate(&h, size, p, 0);
    if (r) {
        say(id, "%s%s", name_of(r), h != 0x77 ? " handle_written" : "");
        return;
    }
    cuMemGetAllocationPropertiesFromHandle(&q, h);
    say(id, "%s type=%d ht=%d loc=%d/%d comp=%d rdma=%d usage=%d", name_of(r), q.type, (int)q.requestedHandleTypes,
        q.location.type, q.location.id, q.allocFlags.compressionType, q.allocFlags.gpuDirectRDMACapable,
        q.allocFlags.usage);
    cuMemRelease(h);
}

static void f_more(void)
{
    init();
    static const char *places[] = {"", "dev", "host", "numa"};
    char id[64];
    for (int type = L_DEVICE; type <= L_NUMA; type++) {
        CUmemAllocationProp p = prop_at(type, 0);
#define F_ONE(what, statement)                                       \
    do {                                                             \
        p = prop_at(type, 0);                                        \
        statement;                                                   \
        snprintf(id, sizeof id, "F.%s.%s", places[type], what);      \
        f_one(id, G, &p);                                            \
    } while (0)
        F_ONE("reserved1", p.allocFlags.reserved[1] = 1);
        F_ONE("reserved2", p.allocFlags.reserved[2] = 1);
        F_ONE("reserved3", p.allocFlags.reserved[3] = 1);
        F_ONE("reserved3_255", p.allocFlags.reserved[3] = 255);
        F_ONE("comp1", p.allocFlags.compressionType = 1);
        F_ONE("comp2", p.allocFlags.compressionType = 2);
        F_ONE("comp255", p.allocFlags.compressionType = 255);
        F_ONE("rdma1", p.allocFlags.gpuDirectRDMACapable = 1);
        F_ONE("usage1", p.allocFlags.usage = 1);
        F_ONE("usage_all", p.allocFlags.usage = 0xffff);
        F_ONE("handle_fd", p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        F_ONE("handle_win32", p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32);
        F_ONE("handle_fabric", p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC);
        F_ONE("handle_0x10", p.requestedHandleTypes = (CUmemAllocationHandleType)0x10);
        F_ONE("handle_0x80000000", p.requestedHandleTypes = (CUmemAllocationHandleType)(-0x7fffffff - 1));
        F_ONE("handle_fd_win32", p.requestedHandleTypes = (CUmemAllocationHandleType)3);
        F_ONE("handle_max", p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_MAX);
        F_ONE("meta8_win32", (p.win32HandleMetaData = (void *)8, p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32));
    }
    CUmemAllocationProp p = prop_at(L_NUMA, 1);
    f_one("F.numa_id1", G, &p);
    p = prop_at(L_HOST, -1);
    f_one("F.host_id-1", G, &p);
    p = prop_at(L_DEVICE, 99);
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    f_one("F.dev99_fabric", G, &p);
    p = prop_at(L_NUMA, 0);
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    f_one("F.numa_fabric_1<<44", (size_t)1 << 44, &p);
}

static void f_null_handle(void)
{
    init();
    CUmemAllocationProp p = prop_at(L_DEVICE, 0), bad = prop_at(L_DEVICE, 99), fabric = p;
    fabric.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    R("F.null_handle.size0", cuMemCreate(NULL, 0, &p, 0));
    R("F.null_handle.dev99", cuMemCreate(NULL, G, &bad, 0));
    R("F.null_handle.too_big", cuMemCreate(NULL, (size_t)1 << 44, &p, 0));
    R("F.null_handle.fabric", cuMemCreate(NULL, G, &fabric, 0));
    R("F.null_handle.flags1", cuMemCreate(NULL, G, &p, 1));
}

static void f_null_prop(void)
{
    init();
    Handle h = 0x77;
    RV("F.null_prop", cuMemCreate(&h, G, NULL, 0), "handle=%llx", (u64)h);
    R("F.null_prop.size0", cuMemCreate(&h, 0, NULL, 0));
    R("F.null_prop.too_big", cuMemCreate(&h, (size_t)1 << 44, NULL, 0));
    R("F.null_prop.null_handle", cuMemCreate(NULL, G, NULL, 0));
}

static void f_host_memory(void)
{
    init();
    for (int type = L_HOST; type <= L_NUMA; type++) {
        const char *id = type == L_HOST ? "F.host.device_memory" : "F.numa.device_memory";
        size_t before = free_memory();
        Handle h = make_at(type, 64 * G);
        say(id, "create fell=%gG", -in_g(risen(before)));
        CUdeviceptr p = reserve(64 * G);
        map(p, 64 * G, h);
        CUresult r = give(p, 64 * G, L_DEVICE, RW);
        say(id, "setaccess %s fell=%gG", name_of(r), -in_g(risen(before)));
        cuMemUnmap(p, 64 * G);
        cuMemRelease(h);
        say(id, "released fell=%gG", -in_g(risen(before)));
    }
}

static void f_host_huge(void)
{
    init();
    for (int type = L_HOST; type <= L_NUMA; type++)
        for (int bits = 50; bits >= 44; bits -= 6) {
            char id[64];
            snprintf(id, sizeof id, "F.%s.1<<%d", type == L_HOST ? "host" : "numa", bits);
            CUmemAllocationProp p = prop_at(type, 0);
            f_one(id, (size_t)1 << bits, &p);
        }
    CUmemAllocationProp p = prop_at(L_HOST, 0);
    f_one("F.host.max_aligned", SIZE_MAX - (G - 1), &p);
    f_one("F.host.max", SIZE_MAX, &p);
}

static void group_f(void)
{
    child("F.pairs!", f_pairs);
    child("F.more!", f_more);
    child("F.null_handle!", f_null_handle);
    child("F.null_prop!", f_null_prop);
    child("F.host_memory!", f_host_memory);
}

/* Last of all: a driver that tried to find this much memory could take long. */
static void group_f_huge(void)
{
    child("F.host_huge!", f_host_huge);
}

/* ---- G: cuMemAddressReserve ---- */

struct reservation {
    size_t size, align;
    CUdeviceptr hint;
    u64 flags;
};

static CUdeviceptr g_base;

static struct reservation combine(size_t size, size_t align, CUdeviceptr hint, u64 flags)
{
    return (struct reservation){size, align, hint, flags};
}

/* The argument each one spoils: 0 size, 1 alignment, 2 hint, 3 flags. */
static const struct {
    const char *name;
    int field;
    u64 value;
} g_bad[] = {
    {"size0", 0, 0},
    {"size4096", 0, 4096},
    {"size1<<47", 0, 1ull << 47},
    {"align3", 1, 3},
    {"align1<<46", 1, 1ull << 46},
    {"align1<<63", 1, 1ull << 63},
    {"hint_unaligned", 2, 4096},
    {"hint1<<60", 2, 1ull << 60},
    {"hint1<<56", 2, 1ull << 56},
    {"flags1", 3, 1},
};

static void g_apply(struct reservation *r, size_t i)
{
    switch (g_bad[i].field) {
    case 0:
        r->size = g_bad[i].value;
        break;
    case 1:
        r->align = g_bad[i].value;
        break;
    case 2:
        r->hint = g_bad[i].value == 4096 ? g_base + 4096 : g_bad[i].value;
        break;
    default:
        r->flags = g_bad[i].value;
    }
}

static void g_pairs(void)
{
    init();
    g_base = window(4 * G);
    for (size_t i = 0; i < COUNT(g_bad); i++)
        for (size_t k = i; k < COUNT(g_bad); k++) {
            if (i != k && g_bad[i].field == g_bad[k].field)
                continue;
            struct reservation c = combine(G, 0, 0, 0);
            g_apply(&c, i);
            g_apply(&c, k);
            CUdeviceptr p = 0x77;
            CUresult r = cuMemAddressReserve(&p, c.size, c.align, c.hint, c.flags);
            char id[64];
            snprintf(id, sizeof id, i == k ? "G.%s" : "G.%s+%s", g_bad[i].name, g_bad[k].name);
            say(id, "%s%s", name_of(r), r && p != 0x77 ? " out_written" : "");
            if (!r)
                cuMemAddressFree(p, c.size);
        }
    R("G.null.size0", cuMemAddressReserve(NULL, 0, 0, 0, 0));
    R("G.null.size1<<47", cuMemAddressReserve(NULL, (size_t)1 << 47, 0, 0, 0));
}

/* Reserves by hint; says whether it was given, else where instead, from the place the driver gives unasked. */
static void g_hint(CUdeviceptr hint, size_t size, const char *note)
{
    CUdeviceptr p = 0, usual = window(size);
    char id[96];
    snprintf(id, sizeof id, "G.hint.%s.size%zuG", note, size / G);
    CUresult r = cuMemAddressReserve(&p, size, 0, hint, 0);
    if (r)
        say(id, "%s", name_of(r));
    else if (p == hint)
        say(id, "%s given", name_of(r));
    else if (p == usual)
        say(id, "%s usual", name_of(r));
    else
        say(id, "%s at=%llx usual%+gG", name_of(r), (u64)p, in_g((i64)(p - usual)));
    if (!r)
        cuMemAddressFree(p, size);
}

static void g_hints(void)
{
    init();
    static const CUdeviceptr fixed[] = {
        0x200000, 0x400000, 0x10000000, 0x200000000, 0x300000000, 0x340000000, 0x1000000000, 0x10004000000,
        0x20000000000, 0x100000000000, 0x200000000000, 0x300000000000, 0x400000000000, 0x500000000000,
        0x600000000000, 0x700000000000, 0x7f0000000000, 0x7ffffffff000 & ~(CUdeviceptr)(G - 1), 1ull << 47, 1ull << 48,
        1ull << 49, 1ull << 55,
        /* Finer steps around what proves to be a limit. */
        0x600000, 0x1000000, 0x100000000, 0x1fffe00000, 0x2000000000, 0x4000000000, 0x8000000000, 0xffffe00000,
        0x10000000000, 0x10003e00000, 0x10004200000, 0x18000000000, 0x40000000000, 0x80000000000, 0x180000000000,
        0x7e0000000000, 0x7fff00000000, 1ull << 50, 1ull << 52, 1ull << 54, (1ull << 57) - G, (1ull << 48) - G,
        (1ull << 49) - G, 0xffff800000000000};
    for (size_t i = 0; i < COUNT(fixed); i++) {
        char note[32];
        snprintf(note, sizeof note, "%llx", (u64)fixed[i]);
        g_hint(fixed[i], G, note);
    }
    for (size_t i = 0; i < COUNT(fixed); i++) {
        char note[32];
        snprintf(note, sizeof note, "%llx", (u64)fixed[i]);
        g_hint(fixed[i], 64 * G, note);
    }
}

static void g_near(void)
{
    init();
    CUdeviceptr first = reserve(G);
    say("G.first", "=%llx", (u64)first);
    static const i64 steps[] = {-512 * 1024, -65536, -4096, -512, -16, -2, -1, 1, 2, 16, 512, 4096, 65536, 512 * 1024};
    for (size_t i = 0; i < COUNT(steps); i++) {
        char note[32];
        snprintf(note, sizeof note, "first%+lldG", steps[i]);
        g_hint(first + (CUdeviceptr)(steps[i] * (i64)G), G, note);
    }
    /* Where do unhinted reservations go, one after another? */
    static const size_t sizes[] = {1, 1, 2, 4, 16, 17, 64, 512, 513, 4096, 1 << 16, 1 << 19};
    CUdeviceptr last = first;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUdeviceptr p = reserve(sizes[i] * G);
        say("G.sequence", "size=%zuG at=%llx from_last%+gG ctz=%d", sizes[i], (u64)p, in_g((i64)(p - last)),
            __builtin_ctzll(p));
        last = p;
    }
}

static void g_overlap(void)
{
    init();
    CUdeviceptr a = window(U == G ? 8 * U : 12 * U);
    if (U == G)
        reserve_here(a + 3 * U, 2 * U);
    else
        reserve_here(a + 4 * U, 4 * U);
    const struct {
        const char *id;
        int at, size;
    } big[] = {{"below_adjacent", 0, 4}, {"below_overlap", 2, 4}, {"above_adjacent", 8, 4}, {"above_overlap", 6, 4},
               {"encloses", 0, 12},      {"same", 4, 4},          {"inside", 5, 1},         {"below_by_one", 1, 4}},
      small[] = {{"below_adjacent", 0, 3}, {"below_overlap", 2, 3}, {"above_adjacent", 5, 3}, {"above_overlap", 4, 3},
                 {"encloses", 0, 8},       {"same", 3, 2},          {"inside", 4, 1},         {"below_by_one", 1, 3}};
    for (size_t i = 0; i < COUNT(big); i++) {
        CUdeviceptr p = 0;
        int at = U == G ? small[i].at : big[i].at;
        size_t size = (size_t)(U == G ? small[i].size : big[i].size) * U;
        char id[64];
        snprintf(id, sizeof id, "G.overlap.%s.%s", big[i].id, variant);
        CUdeviceptr hint = a + (CUdeviceptr)at * U;
        RV(id, cuMemAddressReserve(&p, size, 0, hint, 0), "given=%d at=%+gU from the window, %+gU from the hint",
           p == hint, in_u((i64)(p - a)), in_u((i64)(p - hint)));
        if (p)
            cuMemAddressFree(p, size);
    }
    CUdeviceptr p = 0, hint = (a + 2 * U - 1) & ~(CUdeviceptr)(2 * U - 1);
    RV(v("G.hint_with_alignment"), cuMemAddressReserve(&p, U, 2 * U, hint, 0), "given=%d", p == hint);
}

/* Where a range of each size goes when nothing is asked: small ones and big ones live apart. */
static void g_sizes_of(const char *tag)
{
    static const size_t sizes[] = {1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 17, 32, 33};
    char id[64];
    snprintf(id, sizeof id, "G.place.%s", tag);
    CUdeviceptr first = window(G);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUdeviceptr p = window(sizes[i] * G), next = 0, both[2];
        both[0] = reserve(sizes[i] * G);
        both[1] = reserve(sizes[i] * G);
        next = both[1];
        say(id, "size=%zuG at=%llx first%+gG, the next after%+gG", sizes[i], (u64)p, in_g((i64)(p - first)),
            in_g((i64)(next - both[0])));
        cuMemAddressFree(both[0], sizes[i] * G);
        cuMemAddressFree(both[1], sizes[i] * G);
    }
    u64 last = 0;
    for (int i = 0; i < 48; i++) {
        CUdeviceptr p = reserve(G);
        if (p != last + G)
            say(id, "one G after another: number=%d at=%llx", i, (u64)p);
        last = p;
    }
}

static void g_sizes(void)
{
    init();
    g_sizes_of("ctx");
}

static void g_sizes_no_context(void)
{
    cuInit(0);
    g_sizes_of("noctx");
}

/* Hints high up, where nothing lies above, and hints at and near the start of a driver's chunk. */
static void g_high(void)
{
    init();
    static const CUdeviceptr high[] = {0x7fff00000000, 0x7fff00200000, 0x7fff01e00000, 0x7fff02000000, 0x7ffff0000000,
                                       0x7ffffa000000, 0x7ffffc000000, 0x7ffffde00000, 0x7ffffe000000, 0x7ffffe200000,
                                       0x7fffff000000, 0x7fffffc00000};
    static const size_t sizes[] = {1, 8, 16};
    for (size_t k = 0; k < COUNT(sizes); k++)
        for (size_t i = 0; i < COUNT(high); i++) {
            char note[32];
            snprintf(note, sizeof note, "%llx", (u64)high[i]);
            g_hint(high[i], sizes[k] * G, note);
        }
    /* A chunk kept alive by one range in it. */
    CUdeviceptr p = reserve_here(0x7fff00000000, G);
    g_hint(p + G, G, "in_new_chunk+1G");
    g_hint(p + 5 * G, G, "in_new_chunk+5G");
    g_hint(p + 8 * G, 4 * G, "in_new_chunk+8G");
    g_hint(p + 14 * G, 4 * G, "in_new_chunk+14G");
    g_hint(p + 16 * G, G, "after_new_chunk");
    g_hint(p - G, G, "before_new_chunk");
    g_hint(0x1000000000, G, "low_with_new_chunk");
    g_hint(p, G, "on_the_live_one");
    cuMemAddressFree(p, G);
    g_hint(p + 5 * G, G, "in_chunk_once_empty+5G");
}

/* Small ranges by hint in address space that holds no chunk, without a context: is there any chunk at all? */
static void g_hints_no_context(void)
{
    cuInit(0);
    static const CUdeviceptr at[] = {0x200000, 0x2000000, 0x10000000, 0x200000000, 0x300000000, 0x340000000,
                                     0x340200000, 0x1000000000, 0x10004000000, 0x200000000000, 0x200000200000};
    CUdeviceptr p = 0;
    for (size_t i = 0; i < COUNT(at); i++) {
        CUresult r = cuMemAddressReserve(&p, G, 0, at[i], 0);
        say("G.noctx_hint", "%llx size=1G %s given=%d at=%llx", (u64)at[i], name_of(r), p == at[i], (u64)p);
        if (!r)
            cuMemAddressFree(p, G);
        p = 0;
        r = cuMemAddressReserve(&p, 16 * G, 0, at[i], 0);
        say("G.noctx_hint", "%llx size=16G %s given=%d at=%llx", (u64)at[i], name_of(r), p == at[i], (u64)p);
        if (!r)
            cuMemAddressFree(p, 16 * G);
    }
}

/* Big ranges by hint next to and on a live big one. */
static void g_big_hints(void)
{
    init();
    CUdeviceptr a = window(256 * G), p;
    const struct {
        const char *note;
        i64 at;
        size_t size;
    } cases[] = {{"aligned", 0, 16},          {"plus1G", 1, 16},         {"plus15G", 15, 16},   {"plus16G", 16, 16},
                 {"size17G", 16, 17},         {"size12G", 16, 12},       {"size12G_plus2G", 18, 12},
                 {"on_live", 64, 16},         {"inside_live", 80, 16},   {"runs_into_live", 48, 32},
                 {"just_below_live", 48, 16}, {"just_above_live", 96, 16}};
    reserve_here(a + 64 * G, 32 * G);
    for (size_t i = 0; i < COUNT(cases); i++) {
        p = 0;
        CUresult r = cuMemAddressReserve(&p, cases[i].size * G, 0, a + (CUdeviceptr)(cases[i].at * (i64)G), 0);
        say("G.big_hint", "%s: hint=%+lldG size=%zuG %s at=%+gG", cases[i].note, cases[i].at, cases[i].size, name_of(r),
            in_g((i64)(p - a)));
        if (!r)
            cuMemAddressFree(p, cases[i].size * G);
    }
}

static void g_alignments(void)
{
    init();
    for (int bits = 20; bits <= 48; bits++) {
        char id[64];
        CUdeviceptr p = 0x77;
        snprintf(id, sizeof id, "G.align.1<<%d", bits);
        RV(id, cuMemAddressReserve(&p, G, (size_t)1 << bits, 0, 0), "at=%llx", (u64)p);
        if (p != 0x77)
            cuMemAddressFree(p, G);
    }
    CUdeviceptr p = 0;
    RV("G.align.1<<45_of_1<<45", cuMemAddressReserve(&p, (size_t)1 << 45, (size_t)1 << 45, 0, 0), "at=%llx", (u64)p);
}

static void g_count(int bits)
{
    init();
    char id[64];
    snprintf(id, sizeof id, "G.count.1<<%d", bits);
    for (int i = 1; i <= 40; i++) {
        CUdeviceptr p = 0;
        CUresult r = cuMemAddressReserve(&p, (size_t)1 << bits, 0, 0, 0);
        say(id, "number=%d %s at=%llx", i, name_of(r), (u64)p);
        if (r)
            break;
    }
    CUdeviceptr p = 0;
    RV("G.count.then_small", cuMemAddressReserve(&p, G, 0, 0, 0), "at=%llx", (u64)p);
}

static void g_count_44(void)
{
    g_count(44);
}

static void g_count_45(void)
{
    g_count(45);
}

static void g_count_46(void)
{
    g_count(46);
}

static void g_largest(void)
{
    init();
    static const size_t sizes[] = {(size_t)3 << 45, (size_t)5 << 44, ((size_t)1 << 47) - G, ((size_t)1 << 46) + G,
                                   (size_t)7 << 44, ((size_t)1 << 47) - ((size_t)1 << 41)};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUdeviceptr p = 0;
        RV("G.largest", cuMemAddressReserve(&p, sizes[i], 0, 0, 0), "size=%zx at=%llx", sizes[i], (u64)p);
        if (p)
            cuMemAddressFree(p, sizes[i]);
    }
}

static void group_g(void)
{
    child("G.pairs!", g_pairs);
    child("G.hints!", g_hints);
    child("G.near!", g_near);
    child("G.overlap!", g_overlap);
    U = 16 * G;
    variant = "big";
    child("G.overlap!", g_overlap);
    U = G;
    variant = "small";
    child("G.place!", g_sizes);
    child("G.place_noctx!", g_sizes_no_context);
    child("G.high!", g_high);
    child("G.noctx_hint!", g_hints_no_context);
    child("G.big_hint!", g_big_hints);
    child("G.align!", g_alignments);
    child("G.count44!", g_count_44);
    child("G.count45!", g_count_45);
    child("G.count46!", g_count_46);
    child("G.largest!", g_largest);
}

/* ---- H: copies and fills ---- */

static unsigned char buffer[4 << 20];

static void h_no_context(void)
{
    cuInit(0);
    CUdeviceptr p = reserve(4 * G), start = 0;
    map(p, G, make(G));
    give(p, G, L_DEVICE, RW);
    size_t size = 0, total = 0;
    R("H.noctx.htod_size0", cuMemcpyHtoD(p, buffer, 0));
    R("H.noctx.htod", cuMemcpyHtoD(p, buffer, 16));
    R("H.noctx.dtoh_size0", cuMemcpyDtoH(buffer, p, 0));
    R("H.noctx.dtoh", cuMemcpyDtoH(buffer, p, 16));
    R("H.noctx.dtod_size0", cuMemcpyDtoD(p, p + 64, 0));
    R("H.noctx.dtod", cuMemcpyDtoD(p, p + 64, 16));
    R("H.noctx.memset8_n0", cuMemsetD8(p, 1, 0));
    R("H.noctx.memset8", cuMemsetD8(p, 1, 16));
    R("H.noctx.memset32_n0", cuMemsetD32(p, 1, 0));
    R("H.noctx.memset32_unaligned", cuMemsetD32(p + 2, 1, 4));
    R("H.noctx.memset8_unmapped", cuMemsetD8(p + 2 * G, 1, 16));
    R("H.noctx.memset8_addr0", cuMemsetD8(0, 1, 16));
    RV("H.noctx.mem_get_info", cuMemGetInfo(&size, &total), "written=%d", size || total);
    RV("H.noctx.address_range", cuMemGetAddressRange(&start, &size, p + 5), "at=%gG size=%gG",
       start ? in_g((i64)(start - p)) : -1, in_g((i64)size));
    R("H.noctx.address_range_unmapped", cuMemGetAddressRange(&start, &size, p + 2 * G));
    unsigned type = 99;
    RV("H.noctx.attr_memory_type", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), "=%u", type);
    CUcontext current = (CUcontext)8;
    RV("H.noctx.ctx_after", cuCtxGetCurrent(&current), "null=%d", !current);
}

static void h_no_context_null(void)
{
    cuInit(0);
    R("H.noctx.htod_null_src_size0", cuMemcpyHtoD(0, NULL, 0));
    R("H.noctx.htod_null_src", cuMemcpyHtoD(4096, NULL, 16));
    R("H.noctx.mem_get_info_null", cuMemGetInfo(NULL, NULL));
}

static CUdeviceptr mapped_rw(size_t granules)
{
    init();
    CUdeviceptr p = reserve(16 * G);
    map(p, granules * G, make(granules * G));
    give(p, granules * G, L_DEVICE, RW);
    return p;
}

static void h_null_src(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("H.htod_null_src_size0", cuMemcpyHtoD(p, NULL, 0));
    R("H.htod_null_src", cuMemcpyHtoD(p, NULL, 16));
}

static void h_null_src_bad_dst(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("H.htod_null_src_unmapped_dst", cuMemcpyHtoD(p + 2 * G, NULL, 16));
}

static void h_null_dst(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("H.dtoh_null_dst_size0", cuMemcpyDtoH(NULL, p, 0));
    R("H.dtoh_null_dst", cuMemcpyDtoH(NULL, p, 16));
}

static void h_null_device(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("H.htod_dst0", cuMemcpyHtoD(0, buffer, 16));
    R("H.dtoh_src0", cuMemcpyDtoH(buffer, 0, 16));
    R("H.dtod_dst0", cuMemcpyDtoD(0, p, 16));
    R("H.htod_dst0_size0", cuMemcpyHtoD(0, buffer, 0));
    R("H.memset8_addr0_n0", cuMemsetD8(0, 1, 0));
}

static void h_host_pointers(void)
{
    CUdeviceptr p = mapped_rw(1);
    CUdeviceptr host = (CUdeviceptr)(uintptr_t)buffer;
    R("H.memset8_on_host_memory", cuMemsetD8(host, 1, 16));
    R("H.htod_dst_host_memory", cuMemcpyHtoD(host + 4096, buffer, 16));
    R("H.dtoh_src_host_memory", cuMemcpyDtoH(buffer, host + 4096, 16));
    R("H.dtod_src_host_memory", cuMemcpyDtoD(p, host + 4096, 16));
}

static void h_memset(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("H.memset16_odd", cuMemsetD16(p + 1, 0x1234, 4));
    R("H.memset32_plus2", cuMemsetD32(p + 2, 1, 4));
    R("H.memset32_plus1", cuMemsetD32(p + 1, 1, 4));
    R("H.memset32_plus2_n0", cuMemsetD32(p + 2, 1, 0));
    R("H.memset16_odd_n0", cuMemsetD16(p + 1, 1, 0));
    R("H.memset32_plus2_unmapped", cuMemsetD32(p + 2 * G + 2, 1, 4));
    R("H.memset16_exact_end", cuMemsetD16(p, 1, G / 2));
    R("H.memset16_past_end", cuMemsetD16(p, 1, G / 2 + 1));
    R("H.memset32_exact_end", cuMemsetD32(p, 1, G / 4));
    R("H.memset32_past_end", cuMemsetD32(p, 1, G / 4 + 1));
    R("H.sync", cuCtxSynchronize());
}

static void h_memset_overflow(void)
{
    CUdeviceptr p = mapped_rw(1);
    cuMemsetD8(p, 0x11, G);
    RV("H.memset32_n1<<62", cuMemsetD32(p, 0x22222222, (size_t)1 << 62), "byte=%x", byte_at(p));
    RV("H.memset32_n(1<<62)+4", cuMemsetD32(p, 0x33333333, ((size_t)1 << 62) + 4), "byte=%x last=%x next=%x",
       byte_at(p), byte_at(p + 15), byte_at(p + 16));
    RV("H.memset16_n(1<<63)+8", cuMemsetD16(p, 0x4444, ((size_t)1 << 63) + 8), "byte=%x last=%x next=%x", byte_at(p),
       byte_at(p + 15), byte_at(p + 16));
    R("H.memset_overflow.sync", cuCtxSynchronize());
}

/* Sizes that wrap around the address space: a case each, since a fault would stay. */
static void h_extreme(const char *id, int which)
{
    CUdeviceptr p = mapped_rw(2);
    cuMemsetD8(p, 0x11, 2 * G);
    cuCtxSynchronize();
    CUresult r = CUDA_SUCCESS;
    CUdeviceptr q = p + G;
    switch (which) {
    case 0: r = cuMemsetD8(q, 0x22, SIZE_MAX); break;
    case 1: r = cuMemsetD8(q, 0x22, (size_t)0 - (size_t)q + 16); break;
    case 2: r = cuMemsetD8(q, 0x22, (size_t)0 - (size_t)q); break;
    case 3: r = cuMemsetD8(q, 0x22, (size_t)1 << 63); break;
    case 4: r = cuMemsetD8(q, 0x22, (size_t)1 << 48); break;
    case 5: r = cuMemsetD8(q, 0x22, SIZE_MAX - (G - 1)); break;
    case 6: r = cuMemcpyDtoD(q, p, SIZE_MAX); break;
    case 7: r = cuMemcpyDtoD(q, p, (size_t)1 << 48); break;
    case 8: r = cuMemcpyHtoD(q, buffer, (size_t)0 - (size_t)q + 16); break;
    case 9: r = cuMemcpyHtoD(q, buffer, SIZE_MAX); break;
    case 10: r = cuMemcpyDtoH(buffer, q, SIZE_MAX); break;
    case 11: r = cuMemcpyHtoD(q, buffer, (size_t)1 << 48); break;
    case 12: r = cuMemsetD8(q, 0x22, SIZE_MAX - 2 * G); break;
    default: r = cuMemsetD8(q + 8, 0x22, SIZE_MAX - 3); break;
    }
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s bytes before=%d at=%d end=%d", name_of(r), name_of(sync), byte_at(q - 1), byte_at(q),
        byte_at(q + G - 1));
}

static const char *const extremes[] = {
    "H.extreme.memset8_max", "H.extreme.memset8_to_16", "H.extreme.memset8_to_0", "H.extreme.memset8_1<<63",
    "H.extreme.memset8_1<<48", "H.extreme.memset8_minus_G", "H.extreme.dtod_max", "H.extreme.dtod_1<<48",
    "H.extreme.htod_to_16", "H.extreme.htod_max", "H.extreme.dtoh_max", "H.extreme.htod_1<<48",
    "H.extreme.memset8_max-2G", "H.extreme.memset8_minus_4"};
static int extreme;

static void h_extreme_one(void)
{
    h_extreme(extremes[extreme], extreme);
}

static void h_dtod_access(void)
{
    CUdeviceptr p = mapped_rw(1);
    map(p + G, G, make(G));
    R("H.dtod.src_no_access", cuMemcpyDtoD(p, p + G, 16));
    R("H.dtod.dst_no_access", cuMemcpyDtoD(p + G, p, 16));
    give(p + G, G, L_DEVICE, READ);
    R("H.dtod.src_read", cuMemcpyDtoD(p, p + G, 16));
    R("H.dtod.dst_read", cuMemcpyDtoD(p + G, p, 16));
    give(p + G, G, L_DEVICE, NONE);
    R("H.dtod.src_none", cuMemcpyDtoD(p, p + G, 16));
    R("H.dtod.dst_none", cuMemcpyDtoD(p + G, p, 16));
    R("H.dtod.src_unmapped", cuMemcpyDtoD(p, p + 4 * G, 16));
    R("H.dtod.dst_unmapped", cuMemcpyDtoD(p + 4 * G, p, 16));
    R("H.dtod.src_none_size0", cuMemcpyDtoD(p, p + G, 0));
    R("H.dtod.sync", cuCtxSynchronize());
}

/* n bytes of the first mapping and n of the second, which nobody may touch; an alias of each can be read. */
static void h_crossing(size_t n, int second)
{
    CUdeviceptr p = reserve(16 * G);
    Handle one = make(G), two = make(G);
    map(p, G, one);
    map(p + G, G, two);
    map(p + 4 * G, G, one);
    map(p + 5 * G, G, two);
    give(p + 4 * G, 2 * G, L_DEVICE, RW);
    give(p, G, L_DEVICE, RW);
    if (second >= 0)
        give(p + G, G, L_DEVICE, second);
    else
        cuMemUnmap(p + G, G);
    cuMemsetD8(p + 4 * G, 0x11, 2 * G);
    cuCtxSynchronize();
    char id[64];
    const char *what = second < 0 ? "unmapped" : second == READ ? "read" : "none";
    snprintf(id, sizeof id, "H.cross.dtoh.%s.2x%zu", what, n);
    memset(buffer, 0xee, 2 * n);
    RV(id, cuMemcpyDtoH(buffer, p + G - n, 2 * n), "first=%x last=%x next=%x", buffer[0], buffer[n - 1], buffer[n]);
    snprintf(id, sizeof id, "H.cross.htod.%s.2x%zu", what, n);
    memset(buffer, 0x22, 2 * n);
    RV(id, cuMemcpyHtoD(p + G - n, buffer, 2 * n), "first=%x last=%x next=%x", byte_at(p + 5 * G - n),
       byte_at(p + 5 * G - 1), byte_at(p + 5 * G));
    snprintf(id, sizeof id, "H.cross.memset.%s.2x%zu", what, n);
    RV(id, cuMemsetD8(p + G - n, 0x33, 2 * n), "first=%x last=%x next=%x", byte_at(p + 5 * G - n),
       byte_at(p + 5 * G - 1), byte_at(p + 5 * G));
    snprintf(id, sizeof id, "H.cross.dtod_dst.%s.2x%zu", what, n);
    cuMemsetD8(p + 4 * G, 0x44, n);
    RV(id, cuMemcpyDtoD(p + G - n, p + 4 * G, 2 * n < G ? 2 * n : n + 8), "first=%x last=%x next=%x",
       byte_at(p + 5 * G - n), byte_at(p + 5 * G - 1), byte_at(p + 5 * G));
    R("H.cross.sync", cuCtxSynchronize());
}

static void h_cross(void)
{
    init();
    h_crossing(8, NONE);
    h_crossing((size_t)256 << 10, NONE);
    h_crossing(8, -1);
    h_crossing((size_t)256 << 10, -1);
    h_crossing((size_t)256 << 10, READ);
}

/* The destination lies 16 bytes after the source, before it, or on it. */
static void h_overlap_case(CUdeviceptr p, const char *name, int shift, size_t n)
{
    static unsigned char expected[4 << 20], got[4 << 20];
    if (n > sizeof expected - 16)
        return;
    const size_t src = shift < 0 ? 16 : 0, dst = shift > 0 ? 16 : 0, span = n + 16;
    for (size_t i = 0; i < span; i++)
        expected[i] = (unsigned char)((i * 2654435761u) >> 13);
    cuMemcpyHtoD(p, expected, span);
    CUresult r = cuMemcpyDtoD(p + dst, p + src, n);
    cuCtxSynchronize();
    cuMemcpyDtoH(got, p, span);
    memmove(expected + dst, expected + src, n);
    size_t wrong = 0;
    for (size_t i = 0; i < span; i++)
        wrong += expected[i] != got[i];
    char id[64];
    snprintf(id, sizeof id, "H.overlap.%s.n%zu", name, n);
    say(id, "%s as_memmove=%d wrong_bytes=%zu", name_of(r), wrong == 0, wrong);
}

static void h_overlap(void)
{
    CUdeviceptr p = mapped_rw(2);
    static const size_t sizes[] = {64, 4096, 65536, (size_t)1 << 20, (size_t)3 << 20};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        h_overlap_case(p, "dst_plus16", 1, sizes[i]);
        h_overlap_case(p, "dst_minus16", -1, sizes[i]);
        h_overlap_case(p, "same", 0, sizes[i]);
    }
}

/* One operation on host-located memory with the given rights of the device and of the host. */
static struct {
    int device, host, what;
} located;

static const char *const located_what[] = {"dtoh16", "dtoh1M", "htod16", "htod1M", "memset8", "memset32", "dtod_from",
                                           "dtod_to"};

static void h_host_located(void)
{
    init();
    CUdeviceptr p = reserve(8 * G);
    map(p, G, make_at(L_HOST, G));
    map(p + G, G, make(G));
    give(p, G, L_HOST, RW);
    memset((void *)(uintptr_t)p, 0x10, G);
    give(p + G, G, L_DEVICE, RW);
    cuMemsetD8(p + G, 0x77, G);
    cuCtxSynchronize();
    give(p, G, L_HOST, located.host);
    give(p, G, L_DEVICE, located.device);
    const size_t big = (size_t)1 << 20;
    memset(buffer, 0x20, sizeof buffer);
    CUresult r = CUDA_SUCCESS;
    switch (located.what) {
    case 0: r = cuMemcpyDtoH(buffer, p, 16); break;
    case 1: r = cuMemcpyDtoH(buffer, p, big); break;
    case 2: r = cuMemcpyHtoD(p, buffer, 16); break;
    case 3: r = cuMemcpyHtoD(p, buffer, big); break;
    case 4: r = cuMemsetD8(p, 0x30, 4096); break;
    case 5: r = cuMemsetD32(p, 0x30303030, 1024); break;
    case 6: r = cuMemcpyDtoD(p + G, p, 4096); break;
    default: r = cuMemcpyDtoD(p, p + G, 4096); break;
    }
    CUresult sync = cuCtxSynchronize();
    int out = located.what < 2 ? buffer[0] : located.what == 6 ? byte_at(p + G) : -1;
    give(p, G, L_HOST, READ);
    int in = *(volatile unsigned char *)(uintptr_t)p;
    char id[96];
    snprintf(id, sizeof id, "H.host_located.dev%d_host%d.%s", located.device, located.host, located_what[located.what]);
    say(id, "%s sync=%s out=%x in=%x", name_of(r), name_of(sync), (unsigned)out, (unsigned)in);
}

static void h_host_located_all(void)
{
    static const int rights[] = {NONE, READ, RW};
    for (size_t i = 0; i < COUNT(rights); i++)
        for (size_t k = 0; k < COUNT(rights); k++)
            for (size_t n = 0; n < COUNT(located_what); n++) {
                char id[96];
                located.device = rights[i];
                located.host = rights[k];
                located.what = (int)n;
                snprintf(id, sizeof id, "H.host_located.dev%d_host%d.%s!", rights[i], rights[k], located_what[n]);
                child(id, h_host_located);
            }
}

/* Nobody was ever given rights: not even once and taken back. */
static void h_host_fresh(void)
{
    init();
    CUdeviceptr p = reserve(8 * G);
    map(p, G, make_at(L_HOST, G));
    R("H.host_fresh.memset8", cuMemsetD8(p, 0x30, 16));
    R("H.host_fresh.dtoh16", cuMemcpyDtoH(buffer, p, 16));
}

static void group_h(void)
{
    child("H.noctx!", h_no_context);
    child("H.noctx_null!", h_no_context_null);
    child("H.htod_null_src!", h_null_src);
    child("H.htod_null_src_unmapped_dst!", h_null_src_bad_dst);
    child("H.dtoh_null_dst!", h_null_dst);
    child("H.null_device!", h_null_device);
    child("H.host_pointers!", h_host_pointers);
    child("H.memset!", h_memset);
    child("H.memset_overflow!", h_memset_overflow);
    child("H.dtod!", h_dtod_access);
    child("H.cross!", h_cross);
    child("H.overlap!", h_overlap);
    h_host_located_all();
    child("H.host_fresh!", h_host_fresh);
    for (extreme = 0; extreme < (int)COUNT(extremes); extreme++)
        child(extremes[extreme], h_extreme_one);
}

/* ---- I: pointer attributes ---- */

/* Asked twice over two different fillings, so that the bytes the driver wrote show. */
static void attribute(const char *tag, int which, CUdeviceptr q, CUdeviceptr base)
{
    unsigned char one[64], two[64];
    memset(one, 0x99, sizeof one);
    memset(two, 0x66, sizeof two);
    CUresult r = cuPointerGetAttribute(one, (CUpointer_attribute)which, q);
    cuPointerGetAttribute(two, (CUpointer_attribute)which, q);
    size_t n = 0;
    while (n < sizeof one && one[n] == two[n])
        n++;
    u64 v = 0;
    memcpy(&v, one, n < 8 ? n : 8);
    char id[96];
    snprintf(id, sizeof id, "%s.attr%d", tag, which);
    i64 away = (i64)(v - base);
    if (n == 8 && v > G && away > -(i64)(64 * G) && away < (i64)(64 * G))
        say(id, "%s bytes=%zu base%+lld", name_of(r), n, away);
    else if (n > 8)
        say(id, "%s bytes=%zu", name_of(r), n);
    else
        say(id, "%s bytes=%zu =%llx", name_of(r), n, v);
}

static void attributes(const char *tag, CUdeviceptr q, CUdeviceptr base)
{
    for (int i = 1; i <= 21; i++)
        attribute(tag, i, q, base);
}

static void i_all(void)
{
    init();
    CUdeviceptr p = reserve(8 * G);
    map(p + 2 * G, 2 * G, make(2 * G));
    attributes("I.mapped_no_access", p + 2 * G + 5, p);
    give(p + 2 * G, 2 * G, L_DEVICE, RW);
    attributes("I.rw", p + 2 * G + 5, p);
    give(p + 2 * G, 2 * G, L_DEVICE, READ);
    attribute("I.read", CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, p + 2 * G, p);
    give(p + 2 * G, 2 * G, L_DEVICE, NONE);
    attribute("I.none", CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, p + 2 * G, p);
    attributes("I.reserved", p, p);
}

static void i_host_located(void)
{
    init();
    CUdeviceptr p = reserve(8 * G);
    map(p + 2 * G, 2 * G, make_at(L_HOST, 2 * G));
    attributes("I.host_no_access", p + 2 * G + 5, p);
    give(p + 2 * G, 2 * G, L_HOST, RW);
    attributes("I.host_host_rw", p + 2 * G + 5, p);
    give(p + 2 * G, 2 * G, L_DEVICE, RW);
    attributes("I.host_both_rw", p + 2 * G + 5, p);
    map(p + 4 * G, G, make_at(L_NUMA, G));
    attributes("I.numa_no_access", p + 4 * G, p);
}

static void i_malloc(void)
{
    init();
    CUdeviceptr m = (CUdeviceptr)(uintptr_t)malloc(4096);
    attributes("I.malloc", m, m);
    attributes("I.addr0", 0, m);
}

static void i_odd(void)
{
    CUdeviceptr p = mapped_rw(1);
    static const int odd[] = {0, 22, 23, 99, -1};
    for (size_t i = 0; i < COUNT(odd); i++) {
        attribute("I.odd_rw", odd[i], p, p);
        attribute("I.odd_unmapped", odd[i], p + 4 * G, p);
    }
}

static void i_null_data(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("I.null_data", cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    R("I.null_data.unmapped", cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 4 * G));
    R("I.null_data.attr99", cuPointerGetAttribute(NULL, (CUpointer_attribute)99, p));
}

static void i_no_context(void)
{
    cuInit(0);
    CUdeviceptr p = reserve(8 * G);
    map(p, G, make(G));
    give(p, G, L_DEVICE, RW);
    attributes("I.noctx", p + 5, p);
    attribute("I.noctx_unmapped", CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 4 * G, p);
}

static u64 id_of(CUdeviceptr p, CUpointer_attribute which)
{
    u64 v = 0;
    CUresult r = cuPointerGetAttribute(&v, which, p);
    if (r)
        say("I.id_of", "%s", name_of(r));
    return v;
}

static void i_identity_of(CUpointer_attribute which, const char *name)
{
    CUdeviceptr p = reserve(16 * G);
    Handle h = make(2 * G), k = make(2 * G);
    map(p, 2 * G, h);
    map(p + 2 * G, 2 * G, h);
    map(p + 4 * G, 2 * G, k);
    u64 first = id_of(p, which);
    char id[64];
    snprintf(id, sizeof id, "I.identity.%s", name);
    say(id, "value=%llx same: interior=%d alias=%d other=%d", first, id_of(p + G + 7, which) == first,
        id_of(p + 2 * G, which) == first, id_of(p + 4 * G, which) == first);
    u64 alias = id_of(p + 2 * G, which), other = id_of(p + 4 * G, which);
    say(id, "alias=%llx other=%llx", alias, other);
    give(p, 2 * G, L_DEVICE, RW);
    say(id, "after_access same=%d", id_of(p, which) == first);
    cuMemUnmap(p, 2 * G);
    map(p, 2 * G, h);
    say(id, "unmapped_and_remapped same=%d value=%llx", id_of(p, which) == first, id_of(p, which));
    cuMemUnmap(p, 4 * G);
    map(p, 2 * G, h);
    say(id, "both_unmapped_and_remapped same=%d value=%llx", id_of(p, which) == first, id_of(p, which));
    cuMemUnmap(p, 2 * G);
    map(p + 8 * G, 2 * G, h);
    say(id, "remapped_elsewhere same=%d value=%llx", id_of(p + 8 * G, which) == first, id_of(p + 8 * G, which));
    Handle n = make(2 * G);
    map(p, 2 * G, n);
    say(id, "new_handle_at_the_place value=%llx", id_of(p, which));
    CUdeviceptr m = 0, m2 = 0;
    cuMemAlloc(&m, G);
    cuMemAlloc(&m2, 16);
    say(id, "cumemalloc=%llx next=%llx interior_same=%d", id_of(m, which), id_of(m2, which),
        id_of(m, which) == id_of(m + 9, which));
}

static void i_identity_block(void)
{
    init();
    i_identity_of(CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, "memory_block_id");
}

static void i_identity_buffer(void)
{
    init();
    i_identity_of(CU_POINTER_ATTRIBUTE_BUFFER_ID, "buffer_id");
}

static void i_many_of(const char *tag, CUdeviceptr q, CUdeviceptr base)
{
    u64 start = 99;
    int mapped = 99;
    unsigned type = 99;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_MAPPED,
                                   CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    void *data[] = {&start, &mapped, &type};
    char id[64];
    snprintf(id, sizeof id, "I.many.%s", tag);
    CUresult r = cuPointerGetAttributes(3, which, data, q);
    if (start == 99 || start == 0)
        say(id, "%s start=%llu mapped=%d type=%u", name_of(r), start, mapped, type);
    else
        say(id, "%s start=base%+lld mapped=%d type=%u", name_of(r), (i64)(start - base), mapped, type);
}

/* Each attribute asked through the list call, at a place of every kind. */
static void i_many_each(CUdeviceptr p, CUdeviceptr m)
{
    map(p + 6 * G, G, make_at(L_HOST, G));
    map(p + 7 * G, G, make_at(L_HOST, G));
    give(p + 7 * G, G, L_HOST, RW);
    const struct {
        const char *name;
        CUdeviceptr at;
    } places[] = {{"rw", p},
                  {"mapped_no_access", p + 2 * G + 3},
                  {"reserved", p + 4 * G},
                  {"host_no_access", p + 6 * G},
                  {"host_host_rw", p + 7 * G},
                  {"host", (CUdeviceptr)(uintptr_t)buffer},
                  {"bogus", p + ((CUdeviceptr)1 << 38)},
                  {"addr0", 0},
                  {"cumemalloc", m}};
    for (size_t k = 0; k < COUNT(places); k++)
        for (int i = 1; i <= 21; i++) {
            u64 x[4] = {0x9999999999999999, 0x9999999999999999, 0, 0};
            CUpointer_attribute which = (CUpointer_attribute)i;
            void *data[] = {x};
            char id[64];
            snprintf(id, sizeof id, "I.many_one.%s.attr%d", places[k].name, i);
            CUresult r = cuPointerGetAttributes(1, &which, data, places[k].at);
            if (x[0] - p < 16 * G)
                say(id, "%s base%+lld", name_of(r), (i64)(x[0] - p));
            else
                say(id, "%s %llx", name_of(r), x[0]);
        }
}

static void i_many(void)
{
    CUdeviceptr p = mapped_rw(1);
    map(p + 2 * G, G, make(G));
    i_many_of("rw", p + 5, p);
    i_many_of("mapped_no_access", p + 2 * G, p);
    i_many_of("reserved", p + 4 * G, p);
    i_many_of("bogus", p + ((CUdeviceptr)1 << 38), p);
    i_many_of("malloc", (CUdeviceptr)(uintptr_t)malloc(64), p);
    i_many_of("addr0", 0, p);
    CUdeviceptr m = 0;
    cuMemAlloc(&m, 4096);
    i_many_of("cumemalloc", m + 8, m);
    i_many_each(p, m);
    int mapped = 99;
    unsigned type = 99;
    CUpointer_attribute bad[] = {CU_POINTER_ATTRIBUTE_MAPPED, (CUpointer_attribute)99,
                                 CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    void *data[] = {&mapped, &mapped, &type};
    RV("I.many.invalid_in_list", cuPointerGetAttributes(3, bad, data, p), "mapped=%d type=%u", mapped, type);
    mapped = 99;
    type = 99;
    RV("I.many.invalid_in_list_reserved", cuPointerGetAttributes(3, bad, data, p + 4 * G), "mapped=%d type=%u", mapped,
       type);
    bad[1] = (CUpointer_attribute)0;
    RV("I.many.attr0_in_list", cuPointerGetAttributes(3, bad, data, p), "mapped=%d type=%u", mapped, type);
    R("I.many.count0", cuPointerGetAttributes(0, bad, data, p));
    R("I.many.count0_nulls", cuPointerGetAttributes(0, NULL, NULL, p));
}

static void i_many_null_attributes(void)
{
    CUdeviceptr p = mapped_rw(1);
    void *data[1] = {buffer};
    R("I.many.null_attributes", cuPointerGetAttributes(1, NULL, data, p));
}

static void i_many_null_data(void)
{
    CUdeviceptr p = mapped_rw(1);
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MAPPED};
    R("I.many.null_data", cuPointerGetAttributes(1, which, NULL, p));
}

static void i_many_null_element(void)
{
    CUdeviceptr p = mapped_rw(1);
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MAPPED};
    void *data[1] = {NULL};
    R("I.many.null_element", cuPointerGetAttributes(1, which, data, p));
}

static void i_many_no_context(void)
{
    cuInit(0);
    CUdeviceptr p = reserve(8 * G);
    map(p, G, make(G));
    i_many_of("noctx", p, p);
}

static void range(const char *tag, CUdeviceptr q, CUdeviceptr base)
{
    CUdeviceptr start = 99;
    size_t size = 99;
    char id[64];
    snprintf(id, sizeof id, "%s", tag);
    CUresult r = cuMemGetAddressRange(&start, &size, q);
    if (start == 99 || start == 0)
        say(id, "%s start=%llu size=%zu", name_of(r), (u64)start, size);
    else
        say(id, "%s start=base%+lld size=%zu", name_of(r), (i64)(start - base), size);
}

static void i_range(void)
{
    CUdeviceptr p = mapped_rw(2);
    CUdeviceptr start = 99;
    size_t size = 99;
    range("I.range.rw", p + 5, p);
    RV("I.range.null_base", cuMemGetAddressRange(NULL, &size, p + 5), "size=%zu", size);
    RV("I.range.null_size", cuMemGetAddressRange(&start, NULL, p + 5), "start=base%+lld", (i64)(start - p));
    R("I.range.null_both", cuMemGetAddressRange(NULL, NULL, p + 5));
    R("I.range.null_both_unmapped", cuMemGetAddressRange(NULL, NULL, p + 5 * G));
    R("I.range.null_both_addr0", cuMemGetAddressRange(NULL, NULL, 0));
    R("I.range.null_base_unmapped", cuMemGetAddressRange(NULL, &size, p + 5 * G));
    R("I.range.null_size_unmapped", cuMemGetAddressRange(&start, NULL, p + 5 * G));
    range("I.range.addr0", 0, p);
    range("I.range.reserved", p + 5 * G, p);
    range("I.range.unreserved", p + ((CUdeviceptr)1 << 38), p);
    range("I.range.malloc", (CUdeviceptr)(uintptr_t)malloc(64), p);
    range("I.range.end", p + 2 * G, p);
    give(p, 2 * G, L_DEVICE, READ);
    range("I.range.read", p + 5, p);
    give(p, 2 * G, L_DEVICE, NONE);
    range("I.range.none_after_read", p + 5, p);
    map(p + 4 * G, G, make_at(L_HOST, G));
    range("I.range.host_no_access", p + 4 * G + 5, p);
    give(p + 4 * G, G, L_HOST, RW);
    range("I.range.host_host_rw", p + 4 * G + 5, p);
    give(p + 4 * G, G, L_HOST, NONE);
    range("I.range.host_host_none", p + 4 * G + 5, p);
    give(p + 4 * G, G, L_DEVICE, RW);
    range("I.range.host_dev_rw", p + 4 * G + 5, p);
    give(p + 4 * G, G, L_HOST, RW);
    range("I.range.host_both_rw", p + 4 * G + 5, p);
    map(p + 6 * G, G, make_at(L_NUMA, G));
    range("I.range.numa_no_access", p + 6 * G + 5, p);
    give(p + 6 * G, G, L_DEVICE, RW);
    range("I.range.numa_dev_rw", p + 6 * G + 5, p);
}

static void group_i(void)
{
    child("I.all!", i_all);
    child("I.host!", i_host_located);
    child("I.malloc!", i_malloc);
    child("I.odd!", i_odd);
    child("I.null_data!", i_null_data);
    child("I.noctx!", i_no_context);
    child("I.identity.block!", i_identity_block);
    child("I.identity.buffer!", i_identity_buffer);
    child("I.many!", i_many);
    child("I.many.null_attributes!", i_many_null_attributes);
    child("I.many.null_data!", i_many_null_data);
    child("I.many.null_element!", i_many_null_element);
    child("I.many.noctx!", i_many_no_context);
    child("I.range!", i_range);
}

/* ---- J: cuMemAlloc and cuMemFree ---- */

static void j_free(void)
{
    init();
    CUdeviceptr p = 0x77;
    R("J.free0", cuMemFree(0));
    cuMemAlloc(&p, 4 * G);
    R("J.free_interior", cuMemFree(p + G));
    R("J.free_interior1", cuMemFree(p + 1));
    R("J.free", cuMemFree(p));
    R("J.free_twice", cuMemFree(p));
    R("J.free_host", cuMemFree((CUdeviceptr)(uintptr_t)buffer));
    p = 0x77;
    RV("J.alloc_size0", cuMemAlloc(&p, 0), "p=%llx", (u64)p);
    RV("J.alloc_1<<44", cuMemAlloc(&p, (size_t)1 << 44), "p=%llx", (u64)p);
    RV("J.alloc_max", cuMemAlloc(&p, SIZE_MAX), "p=%llx", (u64)p);
    RV("J.alloc_max_aligned", cuMemAlloc(&p, SIZE_MAX - (G - 1)), "p=%llx", (u64)p);
    size_t total = 0;
    cuDeviceTotalMem(&total, 0);
    RV("J.alloc_total", cuMemAlloc(&p, total), "p=%llx", (u64)p);
}

static void j_alloc_null(void)
{
    init();
    R("J.alloc_null", cuMemAlloc(NULL, 16));
    R("J.alloc_null_size0", cuMemAlloc(NULL, 0));
}

static void j_no_context(void)
{
    cuInit(0);
    CUdeviceptr p = 0x77;
    RV("J.noctx.alloc", cuMemAlloc(&p, 16), "p=%llx", (u64)p);
    R("J.noctx.alloc_size0", cuMemAlloc(&p, 0));
    R("J.noctx.alloc_null", cuMemAlloc(NULL, 16));
    R("J.noctx.free0", cuMemFree(0));
    R("J.noctx.free_bogus", cuMemFree(0x200000));
}

static void j_attributes(void)
{
    init();
    CUdeviceptr p = 0, q = 0;
    cuMemAlloc(&p, 4 * G);
    cuMemAlloc(&q, 100);
    say("J.values", "4G at=%llx mod_G=%llx; 100 bytes at=%llx mod_512=%llx", (u64)p, (u64)(p % G), (u64)q,
        (u64)(q % 512));
    attributes("J.cumemalloc_4G", p + 5, p);
    attributes("J.cumemalloc_100", q + 5, q);
    attribute("J.cumemalloc_100.past", CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q + 100, q);
    attribute("J.cumemalloc_100.past512", CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q + 512, q);
    range("J.range.cumemalloc_4G", p + 5, p);
    range("J.range.cumemalloc_100", q + 5, q);
    range("J.range.cumemalloc_100_past", q + 100, q);
    R("J.memset_past_100", cuMemsetD8(q, 1, 101));
    R("J.memset_past_512", cuMemsetD8(q, 1, 513));
    R("J.memset_past_4G", cuMemsetD8(p, 1, 4 * G + 1));
}

static void j_fall(void)
{
    init();
    static const size_t sizes[] = {1, 1, G, G, 1 << 20, 3 * (size_t)1048576, G + 1, 64 * G};
    CUdeviceptr p[COUNT(sizes)];
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t before = free_memory();
        cuMemAlloc(&p[i], sizes[i]);
        say("J.fall", "size=%zu fell=%lld", sizes[i], -risen(before));
    }
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t before = free_memory();
        cuMemFree(p[i]);
        say("J.rise", "size=%zu rose=%lld", sizes[i], risen(before));
    }
}

static void j_fall_2m_first(void)
{
    init();
    CUdeviceptr p = 0;
    size_t before = free_memory();
    cuMemAlloc(&p, G);
    say("J.fall_first_2M", "fell=%lld", -risen(before));
    cuMemFree(p);
    say("J.fall_first_2M.freed", "fell=%lld", -risen(before));
}

static void group_j(void)
{
    child("J.free!", j_free);
    child("J.alloc_null!", j_alloc_null);
    child("J.noctx!", j_no_context);
    child("J.attributes!", j_attributes);
    child("J.fall!", j_fall);
    child("J.fall_first_2M!", j_fall_2m_first);
}

/* ---- K: devices, contexts, streams, before cuInit and after fork ---- */

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

/* One call of the many, made where CUDA is not initialised: before cuInit, or in a child forked after it. */
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
            alarm(5);
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
    alarm(60);
    k_calls("after_fork");
}

static void k_fork_then_init(void)
{
    init();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
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

/* Forked after the parent made the context but used nothing: the parent's own calls go on. */
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

/* ---- the run ---- */

static void header(void)
{
    cuInit(0);
    char name[96] = "", date[32] = "", line[256] = "";
    int version = 0;
    cuDeviceGetName(name, sizeof name, 0);
    cuDriverGetVersion(&version);
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    FILE *f = fopen("/proc/driver/nvidia/version", "r");
    if (f) {
        if (fgets(line, sizeof line, f))
            line[strcspn(line, "\n")] = 0;
        fclose(f);
    }
    printf("# device: %s\n# driver: %s; cuDriverGetVersion %d\n# toolkit header: CUDA_VERSION %d\n# date: %s\n", name,
           line, version, CUDA_VERSION, date);
    printf("# made by conformance/facts/edges.c; G = 2 MiB; id!<TAB>SIGNAL n: the driver crashed in that group\n");
}

/* Keeps the device awake, so that every child need not wake it. */
static void hold(int in)
{
    char c;
    init();
    while (read(in, &c, 1) > 0)
        ;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    int ends[2];
    if (pipe(ends))
        return 1;
    pid_t holder = fork();
    if (holder == 0) {
        close(ends[1]);
        hold(ends[0]);
        _exit(0);
    }
    close(ends[0]);
    pid_t first = fork();
    if (first == 0) {
        close(ends[1]);
        alarm(60);
        header();
        fflush(stdout);
        _exit(0);
    }
    report("header!", first);
    static void (*const groups[])(void) = {group_a, group_b, group_c, group_d, group_e, group_f,
                                           group_g, group_h, group_i, group_j, group_k, group_f_huge};
    for (size_t i = 0; i < COUNT(groups); i++)
        groups[i]();
    close(ends[1]);
    report("holder!", holder);
    return 0;
}
