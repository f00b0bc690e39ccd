/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of any call, of initialisation and of logs (rule_tests.h); and whether each rule of library.def has tests. */
#define _GNU_SOURCE /* fopencookie */
#include <glob.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/rule_tests.h"

CUresult cuTexObjectDestroy(unsigned long long texObject); /* absent: not in cuda.h */

/* ---- any call ---- */

TEST_BREAKS(CALL_NULL, call_null_broken)
{
    REFUSED(cuModuleGetLoadingMode(NULL), ERROR_INVALID_VALUE);
    REFUSED(cuDeviceGetPCIBusId(NULL, 20, 0), ERROR_INVALID_VALUE);
    REFUSED(cuStreamGetFlags(stream, NULL), ERROR_INVALID_VALUE);
    REFUSED(cuCtxPushCurrent(NULL), ERROR_INVALID_VALUE);
    REFUSED(cuMemHostAlloc(NULL, 1, 0), ERROR_INVALID_VALUE);
    REFUSED(cuGetErrorName(CUDA_SUCCESS, NULL), ERROR_INVALID_VALUE);
    REFUSED(cuLogsCurrent(NULL, 0), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(CALL_NULL, call_null_kept)
{
    CUmoduleLoadingMode mode;
    ACCEPTED(cuModuleGetLoadingMode(&mode));
    ACCEPTED(cuMemHostAlloc(&(void *){NULL}, 0, 0));
}

TEST_BREAKS(CALL_VALUE, call_value_broken)
{
    const char *name = NULL;
    CUlogIterator from = 0;
    int value = 0;
    REFUSED(cuCtxSetCacheConfig((CUfunc_cache)4), ERROR_INVALID_VALUE);
    REFUSED(cuMemHostAlloc(&(void *){NULL}, 1, 8), ERROR_INVALID_VALUE);
    REFUSED(cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)99, 0, 1), ERROR_INVALID_VALUE);
    REFUSED(cuFuncGetAttribute(&value, (CUfunction_attribute)99, function("vectorAdd")), ERROR_INVALID_VALUE);
    REFUSED(cuGetErrorString((CUresult)12345, &name), ERROR_INVALID_VALUE);
    REFUSED(cuLogsCurrent(&from, 1), ERROR_INVALID_VALUE);
    REFUSED(cuLogsUnregisterCallback(NULL), ERROR_INVALID_VALUE);
    REFUSED(cuLogsDumpToFile(NULL, "/nowhere/at/all", 0), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(CALL_VALUE, call_value_kept)
{
    const char *name = NULL;
    CUlogIterator from = 0;
    ACCEPTED(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_EQUAL));
    ACCEPTED(cuGetErrorString(CUDA_ERROR_UNKNOWN, &name));
    ACCEPTED(cuLogsCurrent(&from, 0));
}

TEST_BREAKS(ENTRY_ABSENT, entry_absent_broken)
{
    char luid[8];
    unsigned mask = 0;
    const void *table = &mask;
    static const CUuuid id = {{0}};
    REFUSED(cuDeviceGetLuid(luid, &mask, 0), ERROR_NOT_SUPPORTED);
    REFUSED(cuGetExportTable(&table, &id), ERROR_NOT_SUPPORTED);
    REFUSED(cuTexObjectDestroy(1), ERROR_NOT_SUPPORTED);
}

TEST_NEAR_MISS(ENTRY_ABSENT, entry_absent_kept)
{
    CUuuid id;
    ACCEPTED(cuDeviceGetUuid(&id, 0));
}

TEST_BREAKS(KERNEL_CALL, kernel_call_broken)
{
    CUresult (*call)(void) = cuCtxSynchronize;
    void *params[] = {&call, &memory};
    int answer = -1;
    OK(cuLaunchKernel(function("calls"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    lines = 0;
    OK(cuCtxSynchronize());
    if (!tap_ok(refused_by_rule(), "a call in a kernel is refused by %s", rule))
        tap_note("%u lines, the last: %s", lines, lines ? heard : "none");
    OK(cuMemcpyDtoH(&answer, memory, sizeof answer));
    EQUAL(answer, CUDA_ERROR_NOT_PERMITTED);
}

TEST_NEAR_MISS(KERNEL_CALL, kernel_call_kept)
{
    ACCEPTED(cuCtxSynchronize());
}

TEST_BREAKS(LOGS_CALLBACKS, logs_callbacks_broken)
{
    CUlogsCallbackHandle all[40];
    int made = 0;
    while (made < 31 && cuLogsRegisterCallback(hear, NULL, &all[made]) == CUDA_SUCCESS)
        made++;
    EQUAL(made, 31);
    lines = 0;
    IS(cuLogsRegisterCallback(hear, NULL, &all[31]), ERROR_OUT_OF_MEMORY);
    EQUAL(lines, 32);
    lines = 1;
    tap_ok(refused_by_rule(), "by %s", rule);
    while (made--)
        OK(cuLogsUnregisterCallback(all[made]));
}

TEST_NEAR_MISS(LOGS_CALLBACKS, logs_callbacks_kept)
{
    CUlogsCallbackHandle one;
    ACCEPTED(cuLogsRegisterCallback(hear, NULL, &one));
    OK(cuLogsUnregisterCallback(one));
}

TEST_BREAKS(LOGS_FILE, logs_file_broken)
{
    REFUSED(cuLogsDumpToFile(NULL, "/dev/full", 0), ERROR_OPERATING_SYSTEM);
}

TEST_NEAR_MISS(LOGS_FILE, logs_file_kept)
{
    ACCEPTED(cuLogsDumpToFile(NULL, "/dev/null", 0));
}

static const char *program; /* argv[0] */

/* cuInit with CUDA_VISIBLE_DEVICES=list, in a process of its own, which is this program with the list as its argument. */
static CUresult init_with(const char *list)
{
    int status = -1;
    lines = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("CUDA_VISIBLE_DEVICES", list, 1);
        execl(program, program, rule, (char *)NULL); /* not /proc/self/exe, which under valgrind is valgrind */
        _exit(99);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) == 99)
        return CUDA_ERROR_UNKNOWN;
    return (CUresult)WEXITSTATUS(status);
}

/* Runs in that process: the exit status is the result, or another one if a different rule refuses. */
static int init_here(const char *expected)
{
    CUlogsCallbackHandle callback;
    rule = expected;
    if (cuLogsRegisterCallback(hear, NULL, &callback) != CUDA_SUCCESS)
        return 99;
    CUresult result = cuInit(0);
    return result == CUDA_SUCCESS || refused_by_rule() ? (int)result : 99;
}

TEST_BREAKS(INIT_VISIBLE, init_visible_broken)
{
    IS(init_with(""), ERROR_NO_DEVICE);
    IS(init_with("2,0"), ERROR_NO_DEVICE);
}

TEST_NEAR_MISS(INIT_VISIBLE, init_visible_kept)
{
    ACCEPTED(init_with("0,2"));
}

TEST_BREAKS(INIT_VISIBLE_TWICE, init_visible_twice_broken)
{
    IS(init_with("0,1,0"), ERROR_INVALID_DEVICE);
}

TEST_NEAR_MISS(INIT_VISIBLE_TWICE, init_visible_twice_kept)
{
    ACCEPTED(init_with("1,0"));
}

/* exit flushes files after it has run the destructors of libraries. */
static ssize_t after_the_end(void *unused, const char *text, size_t size)
{
    (void)unused, (void)text, (void)size;
    _exit((int)cuCtxSynchronize());
}

/* The result of a call at the end of a child process, and its explanation. */
static CUresult at_its_end(char *explained, size_t size)
{
    int ends[2], status = -1;
    fflush(NULL);
    if (pipe(ends))
        abort();
    pid_t child = fork();
    if (child == 0) {
        FILE *last = fopencookie(NULL, "w", (cookie_io_functions_t){.write = after_the_end});
        dup2(ends[1], STDERR_FILENO);
        setenv("CUVMM_EXPLAIN", "1", 1);
        if (last)
            fputc('x', last);
        exit(99);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], explained, size - 1);
    explained[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? (CUresult)WEXITSTATUS(status) : CUDA_ERROR_UNKNOWN;
}

TEST_BREAKS(INIT_ENDED, init_ended_broken)
{
#ifdef __SANITIZE_ADDRESS__
    (void)at_its_end;
    tap_skip("LeakSanitizer ends the child before its last file is written", "by %s", rule);
#else
    char explained[2000];
    if (getenv("CUVMM_RUN")) {
        tap_skip("a tool ends the child with a status of its own", "by %s", rule);
        return;
    }
    IS(at_its_end(explained, sizeof explained), ERROR_DEINITIALIZED);
    if (!tap_ok(strstr(explained, "error VMM-INIT-ENDED: cuCtxSynchronize") != NULL, "by %s", rule))
        tap_note("%s", explained);
#endif
}

TEST_NEAR_MISS(INIT_ENDED, init_ended_kept)
{
    ACCEPTED(cuCtxSynchronize());
}

/* ---- all rules ---- */

static char sources[1 << 20]; /* over all tests of rules */

static void read_sources(void)
{
    glob_t found = {0};
    size_t length = 0;
    if (glob("backend_sim/abi/*/*rules_test.c", 0, NULL, &found))
        tap_bail("no tests of rules in backend_sim/abi: run this in the folder of the sources");
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "r");
        if (!file)
            tap_bail("%s cannot be read", found.gl_pathv[i]);
        length += fread(sources + length, 1, sizeof sources - 1 - length, file);
        fclose(file);
    }
    globfree(&found);
    if (length == sizeof sources - 1)
        tap_bail("more tests than room");
}

static bool has(const char *kind, const char *symbol)
{
    char want[120];
    snprintf(want, sizeof want, "\n%s(%s,", kind, symbol);
    return strstr(sources, want) != NULL;
}

/* The number of rules that the suite leaves to libcuda.so.1. */
static size_t left_in(const char *const *ids, size_t length)
{
    size_t left = 0;
    for (size_t i = 0; i < length; i++)
        left += strcmp(vmm_rule_find(ids[i])->needs, "libcuda.so.1") == 0;
    return left;
}

/* Exactly the rules that the suite leaves to these tests are in their table; abi_ipc_rules_test.c has rules/ipc.def. */
static void test_complete(void)
{
    static const char *const elsewhere[] = {
#define VMM_RULE(symbol, id, ...) id,
#include "rules/ipc.def"
#undef VMM_RULE
    };
    size_t rules = 0, marked = 0, both = 0;
    const vmm_rule *all = vmm_rules(&rules);
    read_sources();
    for (size_t i = 0; i < rules; i++)
        marked += strcmp(all[i].needs, "libcuda.so.1") == 0;
    for (size_t i = 0; i < sizeof rule_table / sizeof rule_table[0]; i++) {
        both += !vmm_rule_find(rule_table[i].id)->needs[0]; /* the suite also tests them */
        tap_ok(has("TEST_BREAKS", rule_table[i].symbol), "%s has a test that breaks it", rule_table[i].id);
        tap_ok(has("TEST_NEAR_MISS", rule_table[i].symbol), "%s has a near miss", rule_table[i].id);
    }
    EQUAL(marked + both, sizeof rule_table / sizeof rule_table[0] + left_in(elsewhere, sizeof elsewhere / sizeof elsewhere[0]));
}

/* Calls that libcuda.so.1 handles without the engine check for cuInit themselves. */
static void test_early(void)
{
    int value = 0;
    rule = "VMM-INIT-REQUIRED";
    REFUSED(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), ERROR_NOT_INITIALIZED);
}

static void test_forked(void)
{
    int status = -1, value = 0;
    rule = "VMM-INIT-FORKED";
    lines = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0) == CUDA_ERROR_NOT_INITIALIZED && refused_by_rule()
                  ? 0 : 1);
    waitpid(child, &status, 0);
    EQUAL(status, 0);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc > 1) {
        setenv("CUVMM_SIM", "sim:h200x2,schedule=late", 1);
        return init_here(argv[1]);
    }
    rule_tests_begin();
    test_early();
    first = begin();
    test_forked();
    rule_tests_run();
    test_complete();
    return tap_done();
}
