/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.h - shared by the recording programs: output lines, children that may crash, and the few driver calls that most cases
 * need. Each program includes it once, before its parts.
 *
 *     say("map.twice", "INVALID_VALUE")     ->  map.twice <TAB> INVALID_VALUE
 *     child("A.crash", body)                ->  A.crash <TAB> SIGNAL 11, when the driver crashed in body
 */
#ifndef CUVMM_FACTS_RECORDER_H
#define CUVMM_FACTS_RECORDER_H

#define _GNU_SOURCE
#include <cuda.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

static bool muted; /* the lines of a process that ended, which another makes again */

/* Prints one line: the id, a tab, and the formatted text. */
__attribute__((format(printf, 2, 3))) static void say(const char *id, const char *format, ...)
{
    va_list args;
    if (muted)
        return;
    va_start(args, format);
    printf("%s\t", id);
    vprintf(format, args);
    putchar('\n');
    fflush(stdout);
    va_end(args);
}

static inline CUresult answer(const char *id, CUresult r)
{
    say(id, "%s", name_of(r));
    return r;
}

/* Makes the call before it reads the values, so these can be outputs of the call. */
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

static inline bool is_wanted(const char *id)
{
    size_t both = strlen(wanted) < strcspn(id, "!") ? strlen(wanted) : strcspn(id, "!");
    return !wanted[0] || (strchr(wanted, '.') ? strncmp(id, wanted, both) == 0 : strchr(wanted, id[0]) != NULL);
}

/* How many times longer than on an idle machine things may take before they count as what never comes: RECORD_SLOWLY. */
static inline unsigned slowly(void)
{
    const char *text = getenv("RECORD_SLOWLY");
    int factor = text ? atoi(text) : 1;
    return factor > 0 ? (unsigned)factor : 1;
}

/* Ends the process after so long. */
static inline void end_after(unsigned seconds)
{
    alarm(seconds * slowly());
}

/* A run that is cut off leaves no process behind that still uses the device: what is free would change under the next program. */
static inline void end_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static inline void child(const char *id, void (*body)(void))
{
    if (!is_wanted(id))
        return;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        end_with_parent();
        end_after(20);
        body();
        fflush(stdout);
        _exit(0);
    }
    report(id, pid);
}

/* ---- many cases in a process; after a crash the rest continue in another ---- */

enum { CASE_ID = 320 };

/* Names its case, and runs it if run is not 0. */
typedef void (*case_one)(size_t i, char *id, int run);

static CUcontext primary[2]; /* of the devices that the child uses */
static unsigned patience = 20; /* seconds per case */

static bool last_case; /* the next case is for another child */
static void (*case_hung)(size_t i); /* called by the parent after a child that took too long; NULL: nothing */

/* Ends a child whose contexts are lost. */
static inline int spoilt(void)
{
    int bad = last_case;
    CUcontext now = NULL;
    cuCtxGetCurrent(&now);
    for (size_t d = 0; d < COUNT(primary) && primary[d]; d++) {
        cuCtxSetCurrent(primary[d]);
        bad |= cuCtxSynchronize() != CUDA_SUCCESS;
    }
    cuCtxSetCurrent(now);
    return bad;
}

/* The alarm is set anew once a second: a case has its patience, and up to a second more. */
static inline void be_patient(void)
{
    static time_t set;
    time_t now = time(NULL);
    if (now != set)
        end_after(patience + 1);
    set = now;
}

/* The number of completed cases is in memory that parent and child share: it identifies a child's last case. */
static inline void run_cases(void (*start)(void), size_t count, case_one one)
{
    enum { UNSTARTED = 3 }; /* children in a row that ended before their first case, after which the others would, too */
    volatile size_t *next = mmap(NULL, 2 * sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    volatile size_t *started = next + 1;
    if (next == MAP_FAILED)
        return;
    int unstarted = 0;
    for (*next = 0; *next < count && unstarted < UNSTARTED; ++*next) {
        char id[CASE_ID];
        siginfo_t ended;
        fflush(stdout);
        *started = 0;
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            end_with_parent();
            end_after(30);
            start();
            for (*started = 1; *next < count; ++*next) {
                be_patient();
                one(*next, id, 1);
                if (spoilt())
                    break;
            }
            _exit(0);
        }
        while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) && errno == EINTR)
            ;
        unstarted = *started ? 0 : unstarted + 1;
        one(*next < count ? *next : count - 1, id, 0);
        strcat(id, "!");
        if (case_hung && *started && ended.si_code != CLD_EXITED && ended.si_status == SIGALRM)
            case_hung(*next);
        report(id, pid);
    }
    munmap((void *)next, 2 * sizeof *next);
}

/* ---- calls that most cases need ---- */

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

static inline Handle make_at(int type, size_t size)
{
    CUmemAllocationProp p = prop_at(type, 0);
    Handle h = 0;
    CUresult r = cuMemCreate(&h, size, &p, 0);
    if (r)
        say("make!", "%s type %d size %zu", name_of(r), type, size);
    return h;
}

static inline Handle make(size_t size)
{
    return make_at(L_DEVICE, size);
}

static inline CUdeviceptr reserve(size_t size)
{
    CUdeviceptr p = 0;
    CUresult r = cuMemAddressReserve(&p, size, 0, 0, 0);
    if (r)
        say("reserve!", "%s size %zu", name_of(r), size);
    return p;
}

static inline void map(CUdeviceptr p, size_t size, Handle h)
{
    CUresult r = cuMemMap(p, size, 0, h, 0);
    if (r)
        say("map!", "%s", name_of(r));
}

static inline CUresult give(CUdeviceptr p, size_t size, int type, int flags)
{
    CUmemAccessDesc d = desc(type, 0, flags);
    return cuMemSetAccess(p, size, &d, 1);
}

static inline int byte_at(CUdeviceptr p)
{
    unsigned char v = 0;
    CUresult r = cuMemcpyDtoH(&v, p, 1);
    return r ? -(int)r : v;
}

/* ---- around the run ---- */

static void header(const char *program)
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
    printf("# made by conformance/recorded/facts/%s; G = 2 MiB; id!<TAB>SIGNAL n: the driver crashed in that group\n", program);
}

/* Keeps the devices awake, so that the children start faster. */
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

/* Prints the header, then runs all while another process keeps the devices awake. */
static inline int record(const char *program, void (*all)(void))
{
    int ends[2];
    setvbuf(stdout, NULL, _IOLBF, 0); /* so that a library's messages on standard error stay between the lines */
    if (pipe(ends))
        return 1;
    pid_t holder = fork();
    if (holder == 0) {
        end_with_parent();
        close(ends[1]);
        hold(ends[0]);
        _exit(0);
    }
    close(ends[0]);
    pid_t first = fork();
    if (first == 0) {
        end_with_parent();
        close(ends[1]);
        alarm(60);
        header(program);
        fflush(stdout);
        _exit(0);
    }
    report("header!", first);
    all();
    close(ends[1]);
    report("holder!", holder);
    return 0;
}

#endif
