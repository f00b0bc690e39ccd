/* SPDX-License-Identifier: Apache-2.0 */
/* What a context is set to. The simulator schedules and caches nothing, so settings are kept and told, and change nothing
 * else. Values before any was set are those that the documents name as a device's defaults. */
#include "abi.h"
#include "abi_parts.h"

#define FLAGS 0x1ffu /* that cuda.h lists */

static CUresult note_of_current(const vmm_system *sys, const char *function, uint64_t *value, struct abi_note *note)
{
    struct ask_context context;
    CUresult result = abi_current(sys, function, value, &context);
    if (result != CUDA_SUCCESS)
        return result;
    *note = abi_note_get(*value);
    if (context.primary)
        note->flags = abi_primary_flags(context.device);
    return CUDA_SUCCESS;
}

static CUresult keep(uint64_t value, const struct abi_note *note)
{
    return abi_note_set(value, note) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult get_flags(const vmm_system *sys, unsigned *flags)
{
    uint64_t value;
    struct abi_note note;
    CUresult result = flags ? note_of_current(sys, "cuCtxGetFlags", &value, &note) : abi_null("cuCtxGetFlags", "flags");
    if (result == CUDA_SUCCESS)
        *flags = note.flags;
    return result;
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
    ABI_INITIALISED(get_flags(sys, flags));
}

static CUresult set_flags(const vmm_system *sys, unsigned flags)
{
    uint64_t value;
    struct abi_note note;
    struct ask_context context;
    CUresult result = note_of_current(sys, "cuCtxSetFlags", &value, &note);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags & ~FLAGS)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, "cuCtxSetFlags", "flags 0x%x: bits above 0x%x are not known", flags,
                          FLAGS);
    if (ask_context(sys, value, &context) && context.primary)
        abi_primary_set_flags(context.device, flags);
    note.flags = flags;
    return keep(value, &note);
}

CUresult cuCtxSetFlags(unsigned int flags)
{
    ABI_INITIALISED(set_flags(sys, flags));
}

/* Defaults of the limits that devices have; cuda.h 13.0 and the guide name the first four. */
static const struct {
    int limit;
    size_t value;
} defaults[] = {
    {CU_LIMIT_STACK_SIZE, 1024},
    {CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20},
    {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20},
    {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048},
    {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
    {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0},
};

static CUresult default_of(CUlimit limit, const char *function, size_t *value)
{
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        if (defaults[i].limit == (int)limit) {
            *value = defaults[i].value;
            return CUDA_SUCCESS;
        }
    if ((int)limit >= 0 && (int)limit < CU_LIMIT_MAX)
        return abi_refuse(CUDA_ERROR_UNSUPPORTED_LIMIT, function, "limit %d is not one of this device", (int)limit);
    return abi_refuse(CUDA_ERROR_INVALID_VALUE, function, "limit %d is not known", (int)limit);
}

static CUresult get_limit(const vmm_system *sys, size_t *pvalue, CUlimit limit)
{
    uint64_t value;
    struct abi_note note;
    size_t found = 0;
    CUresult result = pvalue ? note_of_current(sys, "cuCtxGetLimit", &value, &note) : abi_null("cuCtxGetLimit", "pvalue");
    if (result == CUDA_SUCCESS)
        result = default_of(limit, "cuCtxGetLimit", &found);
    if (result == CUDA_SUCCESS)
        *pvalue = note.limit[limit] ? note.limit[limit] - 1 : found;
    return result;
}

CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    ABI_INITIALISED(get_limit(sys, pvalue, limit));
}

static CUresult set_limit(const vmm_system *sys, CUlimit limit, size_t size)
{
    uint64_t value;
    struct abi_note note;
    size_t before;
    CUresult result = note_of_current(sys, "cuCtxSetLimit", &value, &note);
    if (result == CUDA_SUCCESS)
        result = default_of(limit, "cuCtxSetLimit", &before);
    if (result != CUDA_SUCCESS)
        return result;
    note.limit[limit] = (uint64_t)size + 1;
    return keep(value, &note);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    ABI_INITIALISED(set_limit(sys, limit, value));
}

/* One of the settings that are a number below most. */
static CUresult get_setting(const vmm_system *sys, const char *function, bool cache, unsigned *setting)
{
    uint64_t value;
    struct abi_note note;
    CUresult result = setting ? note_of_current(sys, function, &value, &note) : abi_null(function, "pconfig");
    if (result == CUDA_SUCCESS)
        *setting = cache ? note.cache : note.shared;
    return result;
}

static CUresult set_setting(const vmm_system *sys, const char *function, bool cache, unsigned setting, unsigned most)
{
    uint64_t value;
    struct abi_note note;
    CUresult result = note_of_current(sys, function, &value, &note);
    if (result != CUDA_SUCCESS)
        return result;
    if (setting > most)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, function, "config %u is not known: 0 to %u", setting, most);
    *(cache ? &note.cache : &note.shared) = setting;
    return keep(value, &note);
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    ABI_INITIALISED(get_setting(sys, "cuCtxGetCacheConfig", true, (unsigned *)pconfig));
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    ABI_INITIALISED(set_setting(sys, "cuCtxSetCacheConfig", true, config, CU_FUNC_CACHE_PREFER_EQUAL));
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
    ABI_INITIALISED(get_setting(sys, "cuCtxGetSharedMemConfig", false, (unsigned *)pConfig));
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    ABI_INITIALISED(set_setting(sys, "cuCtxSetSharedMemConfig", false, config,
                                CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
}

static CUresult need_context(const vmm_system *sys, const char *function)
{
    uint64_t value;
    struct abi_note note;
    return note_of_current(sys, function, &value, &note);
}

CUresult cuCtxResetPersistingL2Cache(void)
{
    ABI_INITIALISED(need_context(sys, "cuCtxResetPersistingL2Cache"));
}

/* Smaller numbers come first; the range of the devices since compute capability 7.0. Streams keep it and are ordered as
 * the schedule says. */
static CUresult priorities(const vmm_system *sys, int *least, int *greatest)
{
    CUresult result = need_context(sys, "cuCtxGetStreamPriorityRange");
    if (result != CUDA_SUCCESS)
        return result;
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    ABI_INITIALISED(priorities(sys, leastPriority, greatestPriority));
}
