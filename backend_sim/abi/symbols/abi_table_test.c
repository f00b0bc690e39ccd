/* SPDX-License-Identifier: Apache-2.0 */
/* Every symbol of the table is exported, and found by name and version; absent entry points report that they are. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/cuda.h"
#include "tap.h"

#define EQUAL_STATUS(work) tap_u64((uint64_t)status_of(work), 0, "zeros for all arguments: " #work)

typedef CUresult (*function)(void);

struct row {
    const char *symbol, *name;
    int version;
    bool per_thread, absent;
};

enum { LEGACY, PER_THREAD };
enum { DONE, ABSENT };
static const struct row rows[] = {
#define VMM_ENTRY(symbol, name, version, streams, here, checked, call) {#symbol, #name, version, streams, here},
#include "entries.def"
};
enum { ROWS = (int)(sizeof rows / sizeof rows[0]) };

static void *exported(const char *symbol)
{
    return dlsym(RTLD_DEFAULT, symbol);
}

/* Do all absent entry points return `want`? The test can call them only without their parameters. */
static int absent_that_answer(CUresult want)
{
    int right = 0;
    for (int i = 0; i < ROWS; i++) {
        function call;
        void *at = exported(rows[i].symbol);
        if (!rows[i].absent || !at)
            continue;
        memcpy(&call, &at, sizeof call);
        right += call() == want;
    }
    return right;
}

static int count_of(bool absent)
{
    int count = 0;
    for (int i = 0; i < ROWS; i++)
        count += rows[i].absent == absent;
    return count;
}

/* Each version introduced one signature; of two symbols with equal name, version and streams either will do. */
static bool found_by_name(const struct row *row)
{
    void *at = NULL;
    cuuint64_t flags = row->per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return cuGetProcAddress(row->name, &at, row->version, flags, &status) == CUDA_SUCCESS &&
           status == CU_GET_PROC_ADDRESS_SUCCESS && at == exported(row->symbol);
}

static void *got(const char *name, int version, cuuint64_t flags)
{
    void *at = NULL;
    return cuGetProcAddress(name, &at, version, flags, NULL) == CUDA_SUCCESS ? at : NULL;
}

static void test_names(void)
{
    int right = 0;
    for (int i = 0; i < ROWS; i++) {
        bool ok = exported(rows[i].symbol) && found_by_name(&rows[i]);
        if (!ok)
            tap_note("%s", rows[i].symbol);
        right += ok;
    }
    tap_u64((uint64_t)right, ROWS, "symbols are exported, and found by name and version");
}

static void test_versions(void)
{
    void *at = &at;
    CUdriverProcAddressQueryResult status;
    tap_ok(got("cuCtxCreate", 12000, 0) == exported("cuCtxCreate_v3"), "the newest form up to version 12.0");
    tap_ok(got("cuCtxCreate", 13000, 0) == exported("cuCtxCreate_v4"), "the newest form up to version 13.0");
    tap_ok(got("cuMemcpyHtoD", 13000, 0) == exported("cuMemcpyHtoD_v2"), "without flags, stream 0 is the legacy default stream");
    tap_ok(got("cuMemcpyHtoD", 13000, 2) == exported("cuMemcpyHtoD_v2_ptds"),
           "with the flag, stream 0 is the thread's own default stream");
    tap_ok(got("cuMemMap", 13000, 2) == exported("cuMemMap"), "an entry point without a stream has one form");
    tap_ok(cuGetProcAddress("cuMemMap", &at, 9000, 0, &status) == CUDA_SUCCESS && !at &&
               status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, "a version before the first form is reported by the status");
    at = &at;
    tap_ok(cuGetProcAddress("cuMemMap", &at, 9000, 0, NULL) == CUDA_SUCCESS && !at, "and without one by the address");
    tap_ok(cuGetProcAddress("cuMemMip", &at, 13000, 0, &status) == CUDA_SUCCESS && !at &&
               status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, "an unknown name");
    tap_ok(cuGetProcAddress(NULL, &at, 13000, 0, NULL) == CUDA_ERROR_INVALID_VALUE, "no name");
    tap_ok(cuGetProcAddress("cuMemMap", NULL, 13000, 0, NULL) == CUDA_ERROR_INVALID_VALUE, "nowhere to store the address");
    tap_ok(cuGetProcAddress("cuMemMap", &at, 13000, 3, NULL) == CUDA_SUCCESS && at, "both flags at once");
    tap_ok(cuGetProcAddress("cuMemMap", &at, 13000, 4, NULL) == CUDA_ERROR_INVALID_VALUE, "an unknown flag");
}

/* Calls every implemented entry point with zero arguments; returns how many succeed. */
static int successes_with_zeros(void)
{
    int successes = 0;
    for (int i = 0; i < ROWS; i++) {
        CUresult (*call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                         uint64_t);
        void *at = exported(rows[i].symbol);
        if (rows[i].absent || !at || strcmp(rows[i].symbol, "cuInit") == 0)
            continue;
        memcpy(&call, &at, sizeof call);
        successes += call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) == CUDA_SUCCESS;
    }
    return successes;
}

/* Runs work in a child and returns its result, 0 for success, after the library's destructors. */
static int status_of(int (*work)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exit(work());
    waitpid(child, &status, 0);
    return status;
}

static int before_init(void)
{
    return successes_with_zeros();
}

static int without_context(void)
{
    return cuInit(0) != CUDA_SUCCESS || successes_with_zeros() == 0;
}

static int with_context(void)
{
    CUcontext context;
    return cuInit(0) != CUDA_SUCCESS || cuCtxCreate(&context, NULL, 0, 0) != CUDA_SUCCESS || successes_with_zeros() == 0;
}

static int without_machine(void)
{
    setenv("CUVMM_SIM", "sim:nowhere", 1);
    return cuInit(0) == CUDA_SUCCESS || successes_with_zeros() != 0;
}

/* Some of these calls do something; none crashes. */
static void test_zeros(void)
{
    EQUAL_STATUS(before_init);
    EQUAL_STATUS(without_context);
    EQUAL_STATUS(with_context);
    EQUAL_STATUS(without_machine);
}

int main(void)
{
    const void *table = &table;
    CUuuid id = {{0}};
    test_zeros();
    test_names();
    test_versions();
    tap_u64((uint64_t)absent_that_answer(CUDA_ERROR_NOT_INITIALIZED), (uint64_t)count_of(true),
            "absent entry points also require cuInit");
    tap_ok(cuInit(0) == CUDA_SUCCESS, "cuInit");
    tap_note("each of %d absent entry points is reported once:", count_of(true));
    tap_u64((uint64_t)absent_that_answer(CUDA_ERROR_NOT_SUPPORTED), (uint64_t)count_of(true),
            "after cuInit an absent entry point answers NOT_SUPPORTED");
    tap_u64((uint64_t)absent_that_answer(CUDA_ERROR_NOT_SUPPORTED), (uint64_t)count_of(true),
            "a second call answers the same, without a report");
    for (int i = 0; i < 2; i++)
        tap_ok(cuGetExportTable(&table, &id) == CUDA_ERROR_NOT_SUPPORTED && !table, "cuGetExportTable is refused");
    return tap_done();
}
