/* The second ground-truth probe: asks the real driver the edge cases that the first one left open.
 *
 * Prints "id<TAB>result" lines; a result is the CUresult's name without CUDA_ERROR_, then values. Addresses are
 * relative to a reservation, in G = 2 MiB. Every group runs in a child of its own, which initialises CUDA itself,
 * because stale handles and NULL pointers may crash the driver; a crash prints as "SIGNAL n".
 *
 * Each group of questions is a file of edges/.
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include edges.c -o edges -lcuda
 * Use:   edges [letters of groups | beginning of an id, with a point in it]
 */
#define _GNU_SOURCE
#include <cuda.h>

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
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

static bool is_wanted(const char *id)
{
    size_t both = strlen(wanted) < strcspn(id, "!") ? strlen(wanted) : strcspn(id, "!");
    return !wanted[0] || (strchr(wanted, '.') ? strncmp(id, wanted, both) == 0 : strchr(wanted, id[0]) != NULL);
}

static void child(const char *id, void (*body)(void))
{
    if (!is_wanted(id))
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

/* ---- many cases to a process; the ones after a crash go on in another ---- */

enum { CASE_ID = 96 };

/* Names its case, and asks it when run is not 0. */
typedef void (*case_one)(size_t i, char *id, int run);

static CUcontext primary[2]; /* of the devices that the child uses */

/* Ends a child whose contexts are lost. */
static int spoilt(void)
{
    int bad = 0;
    CUcontext now = NULL;
    cuCtxGetCurrent(&now);
    for (size_t d = 0; d < COUNT(primary) && primary[d]; d++) {
        cuCtxSetCurrent(primary[d]);
        bad |= cuCtxSynchronize() != CUDA_SUCCESS;
    }
    cuCtxSetCurrent(now);
    return bad;
}

static void run_cases(void (*start)(void), size_t count, case_one one)
{
    for (size_t next = 0; next < count; next++) {
        int ends[2];
        char id[CASE_ID], done;
        fflush(stdout);
        pid_t pid = pipe(ends) ? -1 : fork();
        if (pid < 0)
            return;
        if (pid == 0) {
            for (start(); next < count; next++) {
                alarm(20);
                one(next, id, 1);
                if (spoilt() || write(ends[1], "", 1) != 1)
                    break;
            }
            _exit(0);
        }
        close(ends[1]);
        while (read(ends[0], &done, 1) == 1)
            next++;
        close(ends[0]);
        one(next < count ? next : count - 1, id, 0);
        strcat(id, "!");
        report(id, pid);
    }
}

/* ---- the few calls that most cases need ---- */

static void init(void)
{
    CUresult r = cuInit(0);
    if (!r)
        r = cuDevicePrimaryCtxRetain(&primary[0], 0);
    if (!r)
        r = cuCtxSetCurrent(primary[0]);
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

#include "edges/a_handles.c"
#include "edges/b_straddle.c"
#include "edges/c_unmap.c"
#include "edges/d_set_access.c"
#include "edges/e_get_access.c"
#include "edges/f_create.c"
#include "edges/g_reserve.c"
#include "edges/h_copies.c"
#include "edges/i_pointers.c"
#include "edges/j_alloc.c"
#include "edges/k_misc.c"
#include "edges/l_two_devices.c"
#include "edges/l_two_devices_work.c"
#include "edges/m_seams.c"
#include "edges/n_rdma.c"
#include "edges/o_both_sides.c"
#include "edges/q_peers.c"
#include "edges/r_dmabuf.c"
#include "edges/s_host_arguments.c"
#include "edges/t_events.c"
#include "edges/u_wraps.c"
#include "edges/v_sharing.c"
#include "edges/w_in_flight.c"
#include "edges/x_host_id.c"

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

/* Keeps the devices awake, so that every child need not wake them. */
static void hold(int in)
{
    char c;
    int count = 0;
    CUcontext ctx;
    init();
    cuDeviceGetCount(&count);
    for (int d = 1; d < count; d++)
        cuDevicePrimaryCtxRetain(&ctx, d);
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
                                           group_g, group_h, group_i, group_j, group_k, group_l,
                                           group_l_work, group_f_huge, group_m,   group_n, group_o, group_q, group_r,
                                           group_s, group_t, group_u, group_v, group_w, group_x};
    for (size_t i = 0; i < COUNT(groups); i++)
        groups[i]();
    close(ends[1]);
    report("holder!", holder);
    return 0;
}
