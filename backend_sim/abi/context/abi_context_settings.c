/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a context. The simulator does not model scheduling or caches, so settings are stored and returned but have
 * no other effect. The initial values are the documented defaults of a device. */
#include "abi.h"
#include "abi_capture.h"
#include "abi_attribute.h"
#include "abi_parts.h"


static CUresult context_and_note(const vmm_system *sys, const char *function, uint64_t *value, struct abi_query_context *context,
                                 struct abi_note *note)
{
    CUresult result = abi_current(sys, function, value, context);
    if (result != CUDA_SUCCESS)
        return result;
    *note = abi_note_get(*value);
    if (context->primary)
        note->flags = abi_primary_flags(context->device);
    return CUDA_SUCCESS;
}

static CUresult note_of_current(const vmm_system *sys, const char *function, uint64_t *value, struct abi_note *note)
{
    struct abi_query_context context;
    return context_and_note(sys, function, value, &context, note);
}

static CUresult keep(const char *function, uint64_t value, const struct abi_note *note)
{
    return abi_note_set(value, note) ? CUDA_SUCCESS : abi_no_memory(function);
}

CUresult abi_context_flags(const char *function, unsigned flags)
{
    enum { KNOWN = 0xff };
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    if (!(flags & ~(unsigned)KNOWN) && !(schedule & (schedule - 1)))
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_CTX_FLAGS, function,
                      "flags 0x%x: at most one way to wait, and bits up to 0x%x that cuda.h lists", flags, KNOWN);
}

static CUresult get_flags(const vmm_system *sys, unsigned *flags)
{
    uint64_t value;
    struct abi_note note;
    struct abi_query_context context;
    if (!flags)
        return abi_null("cuCtxGetFlags", "flags");
    CUresult result = context_and_note(sys, "cuCtxGetFlags", &value, &context, &note);
    if (result != CUDA_SUCCESS)
        return result;
    *flags = note.flags & ~(unsigned)(CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE);
    if (context.primary)
        *flags |= CU_CTX_MAP_HOST; /* as every primary context does, whatever its flags */
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
    struct abi_query_context context;
    CUresult result = context_and_note(sys, "cuCtxSetFlags", &value, &context, &note);
    if (result != CUDA_SUCCESS)
        return result;
    result = abi_context_flags("cuCtxSetFlags", flags);
    if (result != CUDA_SUCCESS)
        return result;
    if (context.primary)
        abi_primary_set_flags(context.device, flags);
    note.flags = flags;
    return keep("cuCtxSetFlags", value, &note);
}

CUresult cuCtxSetFlags(unsigned int flags)
{
    ABI_INITIALISED(set_flags(sys, flags));
}

/* ---- limits, as recorded: conformance/recorded/facts, answers ---- */

/* A value is raised to `least`, rounded up to the unit, may wrap around to 0, is capped at `end`, and is refused above `most`. */
struct limit {
    size_t value, least, unit, most, end; /* value: the initial value; end: 0 for none */
    bool fixed;                           /* read-only */
};

static int attribute_of(const struct sim_profile *profile, int attribute)
{
    int value = 0;
    abi_attribute(profile, attribute, 0, &value);
    return value;
}

/* Describes a limit; returns false for one that devices do not have. The part of the L2 cache that can be set aside is a
 * multiple of a tenth of it. */
static bool limit_of(const struct sim_profile *profile, int limit, struct limit *found)
{
    enum { KIB = 1024, STACK_MOST = 511 * KIB, LAUNCHES = 599186, L2_PARTS = 10, L2_FIRST = 3, L2_LINE_MOST = 128 };
    size_t part = (size_t)attribute_of(profile, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE) / L2_PARTS;
    size_t shared = (size_t)attribute_of(profile, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    switch (limit) {
    case CU_LIMIT_STACK_SIZE: *found = (struct limit){KIB, 0, 16, STACK_MOST, 0, false}; return true;
    case CU_LIMIT_PRINTF_FIFO_SIZE: *found = (struct limit){8448 * KIB, 512 * KIB, 256, SIZE_MAX, 0, false}; return true;
    case CU_LIMIT_MALLOC_HEAP_SIZE: *found = (struct limit){8192 * KIB, 4096 * KIB, 64 * KIB, SIZE_MAX, 0, false}; return true;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: *found = (struct limit){2048, 32, 1, SIZE_MAX, LAUNCHES, false}; return true;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: *found = (struct limit){64, 0, 1, L2_LINE_MOST, 0, false}; return true;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        *found = (struct limit){L2_FIRST * part, 0, part ? part : 1, L2_PARTS * part, 0, false};
        return true;
    case CU_LIMIT_SHMEM_SIZE: *found = (struct limit){shared, 0, 1, 0, 0, true}; return true;
    case CU_LIMIT_CIG_ENABLED: *found = (struct limit){0, 0, 1, 0, 0, true}; return true;
    default: return false;
    }
}

static CUresult find_limit(const vmm_system *sys, CUlimit limit, const char *function, struct limit *found)
{
    if (limit_of(abi_query_profile(sys), (int)limit, found))
        return CUDA_SUCCESS;
    if ((int)limit >= 0 && (int)limit < CU_LIMIT_MAX)
        return abi_refuse(VMM_RULE_CTX_LIMIT_UNSUPPORTED, function, "this device has no limit %d", (int)limit);
    return abi_refuse(VMM_RULE_CALL_VALUE, function, "limit %d is unknown", (int)limit);
}

static CUresult get_limit(const vmm_system *sys, size_t *pvalue, CUlimit limit)
{
    uint64_t value;
    struct abi_note note;
    struct limit found;
    CUresult result = note_of_current(sys, "cuCtxGetLimit", &value, &note);
    if (result == CUDA_SUCCESS && !pvalue)
        result = abi_null("cuCtxGetLimit", "pvalue");
    if (result == CUDA_SUCCESS)
        result = find_limit(sys, limit, "cuCtxGetLimit", &found);
    if (result == CUDA_SUCCESS)
        *pvalue = note.limit[limit] ? note.limit[limit] - 1 : found.value;
    return result;
}

CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    ABI_INITIALISED(get_limit(sys, pvalue, limit));
}

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* What a context then returns. The stack keeps its memory, and returns the value as it was set, if both round up to the same
 * size. */
static size_t limited(CUlimit limit, const struct limit *found, size_t now, size_t size)
{
    size_t rounded = round_up(size < found->least ? found->least : size, found->unit);
    if (limit == CU_LIMIT_STACK_SIZE && rounded == round_up(now, found->unit))
        return size;
    return found->end && rounded > found->end ? found->end : rounded;
}

static CUresult set_limit(const vmm_system *sys, CUlimit limit, size_t size)
{
    static const char name[] = "cuCtxSetLimit";
    uint64_t value;
    struct abi_note note;
    struct limit found;
    CUresult result = note_of_current(sys, name, &value, &note);
    if (result == CUDA_SUCCESS)
        result = find_limit(sys, limit, name, &found);
    if (result != CUDA_SUCCESS)
        return result;
    if (found.fixed)
        return abi_refuse(VMM_RULE_CTX_LIMIT_READ_ONLY, name, "limit %d is read-only", (int)limit);
    if (size > found.most)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "limit %d cannot be %zu: at most %zu", (int)limit, size, found.most);
    size_t now = note.limit[limit] ? note.limit[limit] - 1 : found.value;
    note.limit[limit] = (uint64_t)limited(limit, &found, now, size) + 1;
    return keep(name, value, &note);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(set_limit(sys, limit, value));
}

static CUresult get_cache(const vmm_system *sys, unsigned *config)
{
    uint64_t value;
    struct abi_note note;
    CUresult result = config ? note_of_current(sys, "cuCtxGetCacheConfig", &value, &note)
                             : abi_null("cuCtxGetCacheConfig", "pconfig");
    if (result == CUDA_SUCCESS)
        *config = note.cache;
    return result;
}

static CUresult check_config(const char *function, unsigned config, unsigned most)
{
    return config <= most ? CUDA_SUCCESS
                          : abi_refuse(VMM_RULE_CALL_VALUE, function, "config %u is unknown: 0 to %u", config, most);
}

static CUresult set_cache(const vmm_system *sys, unsigned config)
{
    static const char name[] = "cuCtxSetCacheConfig";
    uint64_t value;
    struct abi_note note;
    CUresult result = note_of_current(sys, name, &value, &note);
    if (result == CUDA_SUCCESS)
        result = check_config(name, config, CU_FUNC_CACHE_PREFER_EQUAL);
    if (result != CUDA_SUCCESS)
        return result;
    note.cache = config;
    return keep(name, value, &note);
}

/* Current devices have one bank width, whatever is set. */
static CUresult get_shared(const vmm_system *sys, unsigned *config)
{
    uint64_t value;
    struct abi_note note;
    CUresult result = note_of_current(sys, "cuCtxGetSharedMemConfig", &value, &note);
    if (result == CUDA_SUCCESS && !config)
        result = abi_null("cuCtxGetSharedMemConfig", "pConfig");
    if (result == CUDA_SUCCESS)
        *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return result;
}

static CUresult set_shared(const vmm_system *sys, unsigned config)
{
    static const char name[] = "cuCtxSetSharedMemConfig";
    uint64_t value;
    struct abi_note note;
    CUresult result = note_of_current(sys, name, &value, &note);
    return result == CUDA_SUCCESS ? check_config(name, config, CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) : result;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    ABI_INITIALISED(get_cache(sys, (unsigned *)pconfig));
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(set_cache(sys, config));
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
    ABI_INITIALISED(get_shared(sys, (unsigned *)pConfig));
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    ABI_INITIALISED(set_shared(sys, config));
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

/* A smaller number is a higher priority; the range is that of devices since compute capability 7.0. Streams store a priority,
 * but only the schedule option decides the order of work. */
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
