/* SPDX-License-Identifier: Apache-2.0 */
/* A recording program about calls beside virtual memory management that stop programs when they are absent: what a capture
 * tells about itself, the capture mode of a thread, the profiler, occupancy of clusters, variables of modules and libraries,
 * limits of contexts, attributes of functions, LUIDs.
 *
 * Prints "id<TAB>result" lines as edges.c does; an id is the calls themselves (script/ask.c), and they are tables: small/cases.def.
 * Each line has its own streams, event, modules and, in group L, context.
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include small.c -o small -lcuda -ldl -lpthread
 * Use:   small [letters of groups]
 *        P profiler, I captures, W captures with work, M modes of captures, O occupancy, G variables, L limits, F functions, U LUIDs,
 *        Z every argument or several of them 0, N the same without a context, B before cuInit
 */
#include "recorder.h"

#include <dlfcn.h>
#include <pthread.h>

#include "script/ask.c"
#include "script/lines.c"

#include "small/ptx.c"
#include "small/words.c"

enum { SCRATCH = 8 << 20 };

static unsigned char host_scratch[SCRATCH] __attribute__((aligned(4096)));
static unsigned char nothing[4096] __attribute__((aligned(64)));
static CUdeviceptr device_scratch;

/* ---- the things of a line ---- */

static struct {
    CUstream s[2];
    CUevent e;
    CUmodule module, code, managed;
    CUlibrary library, lcode, lmanaged;
    CUcontext context;
} own;

static bool names_word(const char *text, const char *word)
{
    for (const char *at = text; (at = strstr(at, word)); at++)
        if (at > text && at[-1] == ' ' && strchr(" ;+", at[strlen(word)]))
            return true;
    return false;
}

static void load_plain(void)
{
    CUfunction f = NULL;
    cuModuleLoadData(&own.module, ptx_plain);
    cuModuleGetFunction(&f, own.module, "reads");
    set_name("module", as_value(own.module));
    set_name("function", as_value(f));
}

static void load_library(void)
{
    CUkernel k = NULL;
    cuLibraryLoadData(&own.library, ptx_plain, NULL, NULL, 0, NULL, NULL, 0);
    cuLibraryGetKernel(&k, own.library, "reads");
    set_name("library", as_value(own.library));
    set_name("kernel", as_value(k));
}

static void load_variables(void)
{
    CUfunction f = NULL;
    cuModuleLoadData(&own.code, ptx_variables);
    set_name("code", as_value(own.code));
    cuModuleGetFunction(&f, own.code, "tells");
    set_name("tells", as_value(f));
    cuModuleGetFunction(&f, own.code, "adds");
    set_name("adds", as_value(f));
}

static void load_what_is_named(const char *text)
{
    if (names_word(text, "module") || names_word(text, "function"))
        load_plain();
    if (names_word(text, "library") || names_word(text, "kernel"))
        load_library();
    if (names_word(text, "code") || names_word(text, "tells") || names_word(text, "adds"))
        load_variables();
    if (names_word(text, "lcode")) {
        cuLibraryLoadData(&own.lcode, ptx_variables, NULL, NULL, 0, NULL, NULL, 0);
        set_name("lcode", as_value(own.lcode));
    }
    if (names_word(text, "mcode")) {
        cuModuleLoadData(&own.managed, ptx_managed);
        set_name("mcode", as_value(own.managed));
    }
    if (names_word(text, "lmcode")) {
        cuLibraryLoadData(&own.lmanaged, ptx_managed, NULL, NULL, 0, NULL, NULL, 0);
        set_name("lmcode", as_value(own.lmanaged));
    }
}

/* Does the line need a separate context? Some limits forget nothing that was set before. */
static bool sets_shared_limit(const char *text)
{
    const char *at = strstr(text, "cuCtxSetLimit ");
    return group[0] == 'L' && ((at && strchr("012", at[14]) && at[15] == ' ') || strstr(text, "context") || strstr(text, "launch"));
}

static size_t limit_before[7];

static void keep_limits(void)
{
    for (unsigned i = 0; i < COUNT(limit_before); i++)
        cuCtxGetLimit(&limit_before[i], (CUlimit)i);
}

static void restore_limits(void)
{
    for (unsigned i = 3; i < COUNT(limit_before); i++)
        cuCtxSetLimit((CUlimit)i, limit_before[i]);
}

static void start_line(const char *text)
{
    CUcontext before = NULL;
    memset(&own, 0, sizeof own);
    name_count = 0;
    set_name("d", device_scratch);
    set_name("h", as_value(host_scratch));
    set_name("own", as_value(primary[0]));
    set_name("other", as_value(primary[1] ? primary[1] : primary[0]));
    set_name("forged", as_value(nothing));
    set_name("plain", as_value(ptx_plain));
    set_name("variables", as_value(ptx_variables));
    if (group[0] == 'B') { /* no call has made anything yet */
        static const char *const absent[] = {"s", "s2", "e", "module", "function", "library", "kernel", "code", "lcode", "lmcode"};
        for (size_t i = 0; i < COUNT(absent); i++)
            set_name(absent[i], as_value(nothing));
        return;
    }
    cuCtxGetCurrent(&before);
    cuCtxSetCurrent(primary[0]);
    cuMemsetD8(device_scratch, 0, 4096);
    if (sets_shared_limit(text))
        call_here(found("cuCtxCreate_v2"), (u64[ARGUMENTS]){as_value(&own.context)});
    for (size_t i = 0; i < COUNT(own.s); i++)
        cuStreamCreate(&own.s[i], CU_STREAM_NON_BLOCKING);
    cuEventCreate(&own.e, 0);
    cuEventRecord(own.e, own.s[0]);
    set_name("s", as_value(own.s[0]));
    set_name("s2", as_value(own.s[1]));
    set_name("e", as_value(own.e));
    set_name("context", as_value(own.context));
    load_what_is_named(text);
    cuCtxSynchronize();
    if (!own.context)
        cuCtxSetCurrent(before);
}

/* Objects that the line itself destroyed are not destroyed again. */
static void end_line(const char *text)
{
    CUgraph graph;
    int mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    end_second();
    if (group[0] == 'B')
        return;
    if (strstr(text, "cuCtxDestroy_v2 context")) {
        cuCtxSetCurrent(primary[0]);
        return;
    }
    cuCtxSetCurrent(own.context ? own.context : primary[0]);
    if (group[0] == 'L' && !own.context)
        restore_limits();
    call_here(found("cuThreadExchangeStreamCaptureMode"), (u64[ARGUMENTS]){as_value(&mode)});
    for (size_t i = 0; i < COUNT(own.s); i++) {
        if (strstr(text, i ? "cuStreamDestroy_v2 s2" : "cuStreamDestroy_v2 s;"))
            continue;
        cuStreamEndCapture(own.s[i], &graph);
        cuStreamDestroy(own.s[i]);
    }
    cuStreamEndCapture((CUstream)(uintptr_t)2, &graph);
    if (!strstr(text, "cuEventDestroy_v2 e"))
        cuEventDestroy(own.e);
    if (own.context)
        cuCtxDestroy(own.context);
    cuCtxSetCurrent(primary[0]);
    if (strstr(text, "cuMemHostRegister"))
        cuMemHostUnregister(host_scratch);
    if (strstr(text, "PeerAccess") && primary[1])
        cuCtxDisablePeerAccess(primary[1]);
    CUmodule modules[] = {own.module, own.code, own.managed};
    CUlibrary libraries[] = {own.library, own.lcode, own.lmanaged};
    for (size_t i = 0; i < COUNT(modules) && !strstr(text, "Unload"); i++) {
        if (modules[i])
            cuModuleUnload(modules[i]);
        if (libraries[i])
            cuLibraryUnload(libraries[i]);
    }
    if (group[0] == 'N')
        cuCtxSetCurrent(NULL);
}

static void start(void)
{
    int devices = 0;
    init();
    cuDeviceGetCount(&devices);
    if (devices > 1)
        cuDevicePrimaryCtxRetain(&primary[1], 1);
    cuMemAlloc(&device_scratch, SCRATCH);
    keep_limits();
}

static void start_without_context(void)
{
    start();
    cuCtxSetCurrent(NULL);
}

static void start_nothing(void)
{
}

static size_t group_first;

static bool is_asked(const char *name, const char *text)
{
    (void)text;
    return is_wanted(name);
}

/* Runs the lines that were added for the group before. */
static void run_group(const char *name)
{
    if (name[0])
        run_lines(group_first, name[0] == 'B' ? start_nothing : name[0] == 'N' ? start_without_context : start, 0, 1, is_asked);
    group_first = line_count;
}

static void every_group(void)
{
    const char *current = "";
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        exit(1);
    patience = 4;
#define GROUP(name)     \
    run_group(current); \
    current = adding_group = name;
#define CASE(text) adding_source++, add(text);
#define FORBIDDEN(setting, text) adding_source++, forbidden(setting, text);
#define ZEROS(text) adding_source++, zeros("", text);
#define ZEROS_IN(before, text) adding_source++, zeros(before, text);
#include "small/cases.def"
    GROUP("N")
#include "small/zeros.def"
    GROUP("B")
#include "small/zeros.def"
    GROUP("")
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    setenv("CUDA_CACHE_PATH", "/tmp/cuvmm-small-cache", 0); /* the same code is loaded for many lines */
    return record("small.c", every_group);
}
