/* SPDX-License-Identifier: Apache-2.0 */
/* The entry points whose forms differ from the API's: contexts with parameters and their stack, and functions by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "check.h"

#pragma GCC visibility push(default)
vmm_result cuCtxCreate_v3(vmm_context *pctx, void *params, int count, unsigned flags, vmm_device dev);
vmm_result cuCtxCreate_v4(vmm_context *pctx, void *params, unsigned flags, vmm_device dev);
vmm_result cuCtxPushCurrent(vmm_context ctx);
vmm_result cuCtxPushCurrent_v2(vmm_context ctx);
vmm_result cuCtxPopCurrent(vmm_context *pctx);
vmm_result cuCtxPopCurrent_v2(vmm_context *pctx);
vmm_result cuGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags);
vmm_result cuGetProcAddress_ptsz(const char *symbol, void **pfn, int version, uint64_t flags);
vmm_result cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags, int *status);
vmm_result cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int version, uint64_t flags, int *status);
#pragma GCC visibility pop

/* Stores the driver's function of a row in *pointer. */
static bool driver(enum check_row row, void *pointer)
{
    check_function function = check_driver(row);
    memcpy(pointer, &function, sizeof function);
    return function != NULL;
}

/* ---- contexts: call the driver, then inform the shadow ---- */

static void created(vmm_system *sys, enum check_row row, vmm_context *pctx, unsigned flags, vmm_device dev,
                    vmm_result result)
{
    if (!sys) {
        check_alone(row, result);
        return;
    }
    check_answered(result);
    vmm_ctx_create(sys, pctx, flags, dev);
    check_leave();
}

vmm_result cuCtxCreate_v3(vmm_context *pctx, void *params, int count, unsigned flags, vmm_device dev)
{
    vmm_result (*make)(vmm_context *, void *, int, unsigned, vmm_device);
    if (!driver(CHECK_cuCtxCreate_v3, &make))
        return VMM_ERROR_NOT_FOUND;
    vmm_system *sys = check_enter(CHECK_cuCtxCreate_v3);
    vmm_result result = make(pctx, params, count, flags, dev);
    created(sys, CHECK_cuCtxCreate_v3, pctx, flags, dev, result);
    return result;
}

vmm_result cuCtxCreate_v4(vmm_context *pctx, void *params, unsigned flags, vmm_device dev)
{
    vmm_result (*make)(vmm_context *, void *, unsigned, vmm_device);
    if (!driver(CHECK_cuCtxCreate_v4, &make))
        return VMM_ERROR_NOT_FOUND;
    vmm_system *sys = check_enter(CHECK_cuCtxCreate_v4);
    vmm_result result = make(pctx, params, flags, dev);
    created(sys, CHECK_cuCtxCreate_v4, pctx, flags, dev, result);
    return result;
}

/* The shadow has no stack, only a current context: the one that the driver reports. */
static void moved(vmm_system *sys, vmm_result result)
{
    vmm_result (*ask)(vmm_context *);
    vmm_context now = NULL;
    check_function function = check_driver_symbol("cuCtxGetCurrent");
    memcpy(&ask, &function, sizeof function);
    if (result != VMM_SUCCESS || !ask || ask(&now) != VMM_SUCCESS)
        return;
    check_answered(VMM_SUCCESS);
    vmm_ctx_set_current(sys, now);
}

static vmm_result push(enum check_row row, vmm_context ctx)
{
    vmm_result (*push_it)(vmm_context);
    if (!driver(row, &push_it))
        return VMM_ERROR_NOT_FOUND;
    vmm_system *sys = check_enter(row);
    vmm_result result = push_it(ctx);
    if (sys) {
        moved(sys, result);
        check_leave();
    }
    return result;
}

static vmm_result pop(enum check_row row, vmm_context *pctx)
{
    vmm_result (*pop_it)(vmm_context *);
    if (!driver(row, &pop_it))
        return VMM_ERROR_NOT_FOUND;
    vmm_system *sys = check_enter(row);
    vmm_result result = pop_it(pctx);
    if (sys) {
        moved(sys, result);
        check_leave();
    }
    return result;
}

vmm_result cuCtxPushCurrent(vmm_context ctx)
{
    return push(CHECK_cuCtxPushCurrent, ctx);
}

vmm_result cuCtxPushCurrent_v2(vmm_context ctx)
{
    return push(CHECK_cuCtxPushCurrent_v2, ctx);
}

vmm_result cuCtxPopCurrent(vmm_context *pctx)
{
    return pop(CHECK_cuCtxPopCurrent, pctx);
}

vmm_result cuCtxPopCurrent_v2(vmm_context *pctx)
{
    return pop(CHECK_cuCtxPopCurrent_v2, pctx);
}

/* ---- functions by name ---- */

/* The driver returns its newest form that is not newer than the requested version; the table is limited by both as well. */
static int version_given(int asked)
{
    vmm_result (*ask)(int *);
    int has = CHECK_NEWEST;
    check_function function = check_driver_symbol("cuDriverGetVersion");
    memcpy(&ask, &function, sizeof function);
    if (ask)
        ask(&has);
    return asked < has ? asked : has;
}

/* Replaces the driver's function by ours. given_before is what the driver returns for the table's newest version: a later form of
 * the same name must not be replaced. */
static void replace(const char *symbol, void **pfn, int version, bool per_thread, void *given_before)
{
    check_function function, wrapper;
    if (version > CHECK_NEWEST && *pfn != given_before)
        return;
    enum check_row row = check_newest(symbol, version > CHECK_NEWEST ? CHECK_NEWEST : version, per_thread);
    if (row == CHECK_ROWS)
        return;
    memcpy(&function, pfn, sizeof function);
    check_found(row, function);
    wrapper = check_wrapper(row);
    memcpy(pfn, &wrapper, sizeof wrapper);
}

enum { PER_THREAD_STREAM = 2 }; /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */

typedef vmm_result (*get_old)(const char *, void **, int, uint64_t);
typedef vmm_result (*get_new)(const char *, void **, int, uint64_t, int *);

static vmm_result by_name_old(enum check_row row, const char *symbol, void **pfn, int version, uint64_t flags)
{
    get_old get;
    void *before = NULL;
    if (!driver(row, &get))
        return VMM_ERROR_NOT_FOUND;
    vmm_result result = get(symbol, pfn, version, flags);
    if (result != VMM_SUCCESS || !symbol || !pfn || !*pfn)
        return result;
    int given = version_given(version);
    if (given > CHECK_NEWEST)
        get(symbol, &before, CHECK_NEWEST, flags);
    replace(symbol, pfn, given, flags ? flags == PER_THREAD_STREAM : row == CHECK_cuGetProcAddress_ptsz, before);
    return result;
}

static vmm_result by_name(enum check_row row, const char *symbol, void **pfn, int version, uint64_t flags, int *status)
{
    get_new get;
    void *before = NULL;
    int ignored;
    if (!driver(row, &get))
        return VMM_ERROR_NOT_FOUND;
    vmm_result result = get(symbol, pfn, version, flags, status);
    if (result != VMM_SUCCESS || !symbol || !pfn || !*pfn)
        return result;
    int given = version_given(version);
    if (given > CHECK_NEWEST)
        get(symbol, &before, CHECK_NEWEST, flags, &ignored);
    replace(symbol, pfn, given, flags ? flags == PER_THREAD_STREAM : row == CHECK_cuGetProcAddress_v2_ptsz, before);
    return result;
}

vmm_result cuGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags)
{
    return by_name_old(CHECK_cuGetProcAddress, symbol, pfn, version, flags);
}

vmm_result cuGetProcAddress_ptsz(const char *symbol, void **pfn, int version, uint64_t flags)
{
    return by_name_old(CHECK_cuGetProcAddress_ptsz, symbol, pfn, version, flags);
}

vmm_result cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags, int *status)
{
    return by_name(CHECK_cuGetProcAddress_v2, symbol, pfn, version, flags, status);
}

vmm_result cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int version, uint64_t flags, int *status)
{
    return by_name(CHECK_cuGetProcAddress_v2_ptsz, symbol, pfn, version, flags, status);
}
