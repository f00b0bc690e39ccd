/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory: the checks at the calls. The memory itself: managed.h. */
#include "call_managed.h"

#include "in_flight.h"
#include "launch.h"
#include "managed.h"
#include "pools.h"
#include "sim.h"

static vmm_result refuse(enum vmm_rule_id rule, uint64_t value)
{
    return vmm_detail_refuse(rule, value, 0, NULL);
}

static vmm_result check_alloc(struct sim_process *process, const struct vmm_call_mem_alloc_managed *call,
                              const struct sim_context **context)
{
    if (!call->dptr)
        return refuse(VMM_RULE_ALLOC_NULL, 0);
    if (call->flags != VMM_MEM_ATTACH_GLOBAL && call->flags != VMM_MEM_ATTACH_HOST)
        return refuse(VMM_RULE_MANAGED_FLAGS, call->flags);
    if (!call->bytesize)
        return refuse(VMM_RULE_ALLOC_SIZE_ZERO, 0);
    *context = sim_current(process);
    return *context ? sim_context_check(process, *context, false) : sim_no_context(process);
}

/* Is there enough host memory? Called with the state's lock. */
static vmm_result allocate(struct sim_process *process, const struct vmm_call_mem_alloc_managed *call, const struct sim_context *context)
{
    const uint64_t unit = sim_managed_unit(process);
    const vmm_mem_location host = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    const uint64_t span = call->bytesize > UINT64_MAX - unit ? UINT64_MAX : (call->bytesize + unit - 1) / unit * unit;
    const uint64_t left = sim_pools_room(process, host, span);
    if (span > left)
        return vmm_detail_refuse(VMM_RULE_MANAGED_MEMORY, call->bytesize, left, NULL);
    struct sim_managed *managed = sim_managed_new(process, call->bytesize, context, sim_origin(&call->head));
    if (!managed)
        return sim_out_of_host_memory();
    *call->dptr = managed->allocation.start;
    return VMM_SUCCESS;
}

vmm_result sim_mem_alloc_managed(struct sim_process *process, const struct vmm_call_mem_alloc_managed *call)
{
    const struct sim_context *context = NULL;
    if (call->dptr)
        *call->dptr = 0; /* measured: the driver clears it in any case */
    bool reached = sim_machine_begin(process->machine);
    vmm_result result = check_alloc(process, call, &context);
    if (result == VMM_SUCCESS)
        result = reached ? allocate(process, call, context) : sim_machine_unreachable(share_why(process->machine->share));
    if (reached)
        sim_machine_end(process->machine);
    return result;
}

/* ---- ranges ---- */

static uint64_t page_up(uint64_t at)
{
    return at / MANAGED_PAGE * MANAGED_PAGE + (at % MANAGED_PAGE ? MANAGED_PAGE : 0);
}

/* A range of managed memory, from its start on; wraps: only the wrapped end lies inside. */
struct range {
    struct sim_managed *managed;
    uint64_t first, end; /* bytes */
    bool wraps;
};

static vmm_result refuse_range(const struct sim_process *process, uint64_t address, uint64_t size, uint64_t left)
{
    vmm_object nearest = sim_object_nearest(process, address);
    vmm_result result = vmm_detail_refuse(VMM_RULE_MANAGED_RANGE, left ? size : address, left, &nearest);
    vmm_detail_argument(left ? "count" : "devPtr");
    vmm_detail_note("0x%llx bytes from 0x%llx on: %s", (unsigned long long)size, (unsigned long long)address,
                    left ? "the memory ends before" : "there is no managed memory at that address");
    return result;
}

/* Is the range, which is not empty, one of managed memory? As in the driver, its end counts modulo 2^64. vain: also a range that
 * wraps and covers no page. */
static vmm_result find_range(const struct sim_process *process, uint64_t address, uint64_t size, bool vain, struct range *range)
{
    struct sim_managed *managed = sim_managed_of(sim_allocation_at(process, address));
    if (!managed)
        return refuse_range(process, address, size, 0);
    const uint64_t start = managed->allocation.start, left = managed->allocation.size - (address - start);
    const uint64_t first = address - start, end = first + size;
    const bool wraps = size > UINT64_MAX - address;
    const bool none = wraps && (address + size <= start || page_up(end) <= first / MANAGED_PAGE * MANAGED_PAGE);
    if (wraps ? (none && !vain) || address + size > address + left : size > left)
        return refuse_range(process, address, size, left);
    *range = (struct range){managed, first, none ? first : end, wraps};
    return VMM_SUCCESS;
}

/* Warns about a range that wraps: it counts as empty, or as the page that both its ends lie in. */
static void warn_of_wrap(const struct range *range, uint64_t size)
{
    vmm_object nearest = sim_object_allocation(&range->managed->allocation);
    if (range->wraps)
        vmm_detail_warn(VMM_RULE_MANAGED_WRAPS, size, range->managed->allocation.size, &nearest);
}

static vmm_result check_given(uint64_t address, uint64_t size)
{
    if (!address)
        return refuse(VMM_RULE_MANAGED_NULL, 0);
    return size ? VMM_SUCCESS : refuse(VMM_RULE_MANAGED_EMPTY, 0);
}

/* Changes what holds of the pages that the range touches. Returns false when host memory is exhausted. */
static bool say(const struct range *range, managed_change *change, const void *what)
{
    return range->first == range->end ||
           managed_parts_say(&range->managed->parts, range->first / MANAGED_PAGE * MANAGED_PAGE, page_up(range->end), change, what);
}

/* ---- advice ---- */

static bool is_device(const struct sim_process *process, vmm_mem_location location)
{
    return location.type == VMM_MEM_LOCATION_TYPE_DEVICE && sim_device_valid(process, location.id);
}

static bool is_host(vmm_mem_location location)
{
    return location.type == VMM_MEM_LOCATION_TYPE_HOST;
}

static bool is_node(const struct sim_process *process, vmm_mem_location location)
{
    return location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA && location.id >= 0 && location.id < sim_host_nodes(process);
}

static vmm_result refuse_location(enum vmm_rule_id rule, vmm_mem_location location)
{
    vmm_result result = refuse(rule, (uint64_t)(int64_t)(sim_managed_place(location) ? location.id : location.type));
    vmm_detail_argument("location");
    vmm_detail_note("the location has type %d and id %d", location.type, location.id);
    return result;
}

/* Measured: which kinds of advice check the location's id. */
static vmm_result check_advice(const struct sim_process *process, vmm_mem_advice advice, vmm_mem_location location)
{
    const bool nowhere = location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    if (advice < VMM_MEM_ADVISE_SET_READ_MOSTLY || advice > VMM_MEM_ADVISE_UNSET_ACCESSED_BY)
        return refuse(VMM_RULE_MANAGED_ADVICE, (uint64_t)(int64_t)advice);
    if (!sim_managed_place(location))
        return refuse_location(VMM_RULE_MANAGED_LOCATION, location);
    switch (advice) {
    case VMM_MEM_ADVISE_SET_PREFERRED_LOCATION:
        return is_device(process, location) || is_host(location) || is_node(process, location) || nowhere
                   ? VMM_SUCCESS : refuse_location(VMM_RULE_MANAGED_LOCATION, location);
    case VMM_MEM_ADVISE_SET_ACCESSED_BY:
    case VMM_MEM_ADVISE_UNSET_ACCESSED_BY:
        return is_device(process, location) || is_host(location) ? VMM_SUCCESS : refuse_location(VMM_RULE_MANAGED_LOCATION, location);
    default: return VMM_SUCCESS;
    }
}

static void advise(struct managed_hint *hint, const void *what)
{
    const struct vmm_call_mem_advise *call = what;
    const vmm_mem_location location = call->location;
    const bool host = is_host(location);
    switch (call->advice) {
    case VMM_MEM_ADVISE_SET_READ_MOSTLY: hint->read_mostly = true; break;
    case VMM_MEM_ADVISE_UNSET_READ_MOSTLY: hint->read_mostly = false; break;
    case VMM_MEM_ADVISE_SET_PREFERRED_LOCATION: hint->preferred = (vmm_mem_location){location.type, host ? VMM_DEVICE_CPU : location.id}; break;
    case VMM_MEM_ADVISE_UNSET_PREFERRED_LOCATION: hint->preferred = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_INVALID, 0}; break;
    case VMM_MEM_ADVISE_SET_ACCESSED_BY:
        if (host)
            hint->host = true;
        else
            hint->devices |= 1u << location.id;
        break;
    default:
        if (host)
            hint->host = false;
        else
            hint->devices &= ~(1u << location.id);
    }
}

static vmm_result check_current(struct sim_process *process)
{
    const struct sim_context *context = sim_current(process);
    return context ? sim_context_check(process, context, false) : sim_no_context(process);
}

vmm_result sim_mem_advise(struct sim_process *process, const struct vmm_call_mem_advise *call)
{
    struct range range;
    vmm_result result = check_advice(process, call->advice, call->location);
    if (result != VMM_SUCCESS || !sim_managed_heeds(process, call->advice, call->location)) /* measured: of a node of the host nothing else is checked */
        return result;
    result = check_current(process);
    if (result == VMM_SUCCESS)
        result = check_given(call->dev_ptr, call->count);
    if (result == VMM_SUCCESS)
        result = find_range(process, call->dev_ptr, call->count, false, &range);
    if (result != VMM_SUCCESS)
        return result;
    warn_of_wrap(&range, call->count);
    return say(&range, advise, call) ? VMM_SUCCESS : sim_out_of_host_memory();
}

/* ---- prefetches ---- */

/* Measured: the ordinal of the device or node is checked after the range is known not to be empty. */
static vmm_result check_target(const struct sim_process *process, vmm_mem_location location)
{
    if (location.type == VMM_MEM_LOCATION_TYPE_DEVICE && !sim_device_valid(process, location.id))
        return refuse_location(VMM_RULE_MANAGED_DEVICE, location);
    if (location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA && !is_node(process, location))
        return refuse_location(VMM_RULE_MANAGED_LOCATION, location);
    return VMM_SUCCESS;
}

/* The location that later queries return as the last prefetch. */
static vmm_mem_location kept(vmm_mem_location location)
{
    return is_host(location) ? (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, VMM_DEVICE_CPU} : location;
}

static void note_prefetch(struct managed_hint *hint, const void *where)
{
    hint->prefetched = *(const vmm_mem_location *)where;
}

static vmm_result fetch(const struct range *range, vmm_mem_location location)
{
    return say(range, note_prefetch, &location) ? VMM_SUCCESS : sim_out_of_host_memory();
}

/* The memory does not move, so nothing is queued. */
vmm_result sim_mem_prefetch_async(struct sim_process *process, const struct vmm_call_mem_prefetch_async *call)
{
    struct range range;
    struct sim_context *context;
    if (call->flags)
        return refuse(VMM_RULE_MANAGED_PREFETCH_FLAGS, call->flags);
    if (!sim_managed_place(call->location))
        return refuse_location(VMM_RULE_MANAGED_LOCATION, call->location);
    vmm_result result = sim_stream_context(process, call->stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, false);
    if (result == VMM_SUCCESS)
        result = check_given(call->dev_ptr, call->count);
    if (result == VMM_SUCCESS)
        result = check_target(process, call->location);
    if (result == VMM_SUCCESS)
        result = find_range(process, call->dev_ptr, call->count, true, &range);
    if (result != VMM_SUCCESS)
        return result;
    warn_of_wrap(&range, call->count);
    return fetch(&range, kept(call->location));
}

/* ---- attributes of a range ---- */

/* The value that all pages of a range share. */
struct common {
    struct managed_hint hint;
    bool preferred, prefetched; /* the same everywhere */
};

static bool same(vmm_mem_location a, vmm_mem_location b)
{
    return a.type == b.type && (a.type == VMM_MEM_LOCATION_TYPE_INVALID || a.id == b.id);
}

static int id_of(bool known, vmm_mem_location location)
{
    return known && location.type != VMM_MEM_LOCATION_TYPE_INVALID ? location.id : VMM_DEVICE_INVALID;
}

static void include(struct common *common, const struct managed_hint *hint)
{
    common->preferred &= same(common->hint.preferred, hint->preferred);
    common->prefetched &= same(common->hint.prefetched, hint->prefetched);
    common->hint.devices &= hint->devices;
    common->hint.host &= hint->host;
    common->hint.read_mostly &= hint->read_mostly;
}

/* For a wrapping range, which counts as empty, the results are as measured. */
static struct common common_of(const struct range *range)
{
    static const struct managed_hint none;
    const uint64_t start = range->first / MANAGED_PAGE * MANAGED_PAGE;
    struct common common = {.preferred = true, .prefetched = true};
    if (range->first == range->end)
        return (struct common){.hint = {.read_mostly = true, .devices = UINT32_MAX, .host = true}};
    const struct managed_hint *hint = &none;
    for (uint64_t at = start, next = start; hint && at < page_up(range->end); at = next) {
        hint = managed_parts_read(&range->managed->parts, &next);
        if (at == start)
            common.hint = hint ? *hint : none;
        include(&common, hint ? hint : &none);
    }
    return common;
}

/* A location as a device number: -1 for the host, -2 for none. */
static int number_of(bool known, vmm_mem_location location)
{
    return !known || location.type == VMM_MEM_LOCATION_TYPE_INVALID ? VMM_DEVICE_INVALID
           : location.type == VMM_MEM_LOCATION_TYPE_DEVICE          ? location.id
                                                                    : VMM_DEVICE_CPU;
}

/* As many as fit: the devices, the host, and then none. */
static void list_accessors(const struct sim_process *process, const struct managed_hint *hint, int *data, uint64_t room)
{
    uint64_t count = 0;
    for (int device = 0; device < process->machine->profile.devices && count < room; device++)
        if (hint->devices >> device & 1)
            data[count++] = device;
    if (hint->host && count < room)
        data[count++] = VMM_DEVICE_CPU;
    while (count < room)
        data[count++] = VMM_DEVICE_INVALID;
}

static void answer(const struct sim_process *process, const struct common *common, const struct vmm_call_mem_range_get_attribute *call)
{
    int *data = call->data;
    const struct managed_hint *hint = &common->hint;
    switch (call->attribute) {
    case VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: *data = hint->read_mostly; break;
    case VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: *data = number_of(common->preferred, hint->preferred); break;
    case VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: list_accessors(process, hint, data, call->data_size / sizeof *data); break;
    case VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: *data = number_of(common->prefetched, hint->prefetched); break;
    case VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: *data = common->preferred ? hint->preferred.type : 0; break;
    case VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: *data = id_of(common->preferred, hint->preferred); break;
    case VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: *data = common->prefetched ? hint->prefetched.type : 0; break;
    default: *data = id_of(common->prefetched, hint->prefetched);
    }
}

static vmm_result check_attribute(const struct vmm_call_mem_range_get_attribute *call)
{
    const bool list = call->attribute == VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    if (!call->data)
        return refuse(VMM_RULE_MANAGED_DATA, 0);
    if (call->attribute < VMM_MEM_RANGE_ATTRIBUTE_READ_MOSTLY || call->attribute > VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        return refuse(VMM_RULE_MANAGED_ATTRIBUTE, (uint64_t)(int64_t)call->attribute);
    if (list ? !call->data_size || call->data_size % sizeof(int) : call->data_size != sizeof(int))
        return vmm_detail_refuse(VMM_RULE_MANAGED_DATA_SIZE, call->data_size, sizeof(int), NULL);
    return VMM_SUCCESS;
}

vmm_result sim_mem_range_get_attribute(struct sim_process *process, const struct vmm_call_mem_range_get_attribute *call)
{
    struct range range;
    vmm_result result = check_current(process);
    if (result == VMM_SUCCESS)
        result = check_attribute(call);
    if (result == VMM_SUCCESS)
        result = check_given(call->dev_ptr, call->count);
    if (result == VMM_SUCCESS)
        result = find_range(process, call->dev_ptr, call->count, true, &range);
    if (result != VMM_SUCCESS)
        return result;
    warn_of_wrap(&range, call->count);
    const struct common common = common_of(&range);
    answer(process, &common, call);
    return VMM_SUCCESS;
}

/* ---- what comes before cuInit ---- */

bool managed_refused_early(const struct vmm_call *call)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    const struct vmm_call_mem_alloc_managed *alloc = &any->mem_alloc_managed;
    const struct vmm_call_mem_advise *advice = &any->mem_advise;
    const struct vmm_call_mem_prefetch_async *prefetch = &any->mem_prefetch_async;
    switch ((enum vmm_call_id)call->id) {
    case VMM_CALL_mem_alloc_managed:
        return !alloc->dptr || !alloc->bytesize || (alloc->flags != VMM_MEM_ATTACH_GLOBAL && alloc->flags != VMM_MEM_ATTACH_HOST);
    case VMM_CALL_mem_advise:
        return advice->advice < VMM_MEM_ADVISE_SET_READ_MOSTLY || advice->advice > VMM_MEM_ADVISE_UNSET_ACCESSED_BY ||
               !sim_managed_place(advice->location);
    case VMM_CALL_mem_prefetch_async:
        return prefetch->flags || !sim_managed_place(prefetch->location) || (uintptr_t)prefetch->stream > (uintptr_t)VMM_STREAM_PER_THREAD;
    case VMM_CALL_mem_prefetch_batch_async:
    case VMM_CALL_mem_discard_batch_async:
    case VMM_CALL_mem_discard_and_prefetch_batch_async: return true;
    default: return false;
    }
}

/* ---- attachment ---- */

static vmm_result refuse_attach(const struct sim_process *process, enum vmm_rule_id rule, const char *argument, uint64_t value,
                                uint64_t expected, uint64_t address)
{
    vmm_object nearest = sim_object_nearest(process, address);
    vmm_result result = vmm_detail_refuse(rule, value, expected, &nearest);
    vmm_detail_argument(argument);
    return result;
}

vmm_result sim_stream_attach_mem_async(struct sim_process *process, const struct vmm_call_stream_attach_mem_async *call)
{
    struct sim_context *context;
    const unsigned flags = call->flags;
    vmm_result result = sim_stream_context(process, call->stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, false);
    if (result == VMM_SUCCESS && !call->dptr)
        return refuse(VMM_RULE_MANAGED_NULL, 0);
    if (result == VMM_SUCCESS && flags != VMM_MEM_ATTACH_GLOBAL && flags != VMM_MEM_ATTACH_HOST && flags != VMM_MEM_ATTACH_SINGLE)
        return refuse(VMM_RULE_MANAGED_ATTACH_FLAGS, flags);
    if (result != VMM_SUCCESS)
        return result;
    const struct sim_managed *managed = sim_managed_of(sim_allocation_at(process, call->dptr));
    if (!managed || managed->allocation.start != call->dptr)
        return refuse_attach(process, VMM_RULE_MANAGED_ATTACH_RANGE, "dptr", call->dptr, 0, call->dptr);
    if (call->length && call->length != managed->allocation.size)
        return refuse_attach(process, VMM_RULE_MANAGED_ATTACH_RANGE, "length", call->length, managed->allocation.size, call->dptr);
    if (flags == VMM_MEM_ATTACH_SINGLE && !call->stream) /* measured: the special values of default streams are accepted */
        return refuse_attach(process, VMM_RULE_MANAGED_ATTACH_SINGLE, "hStream", (uint64_t)(uintptr_t)call->stream, 0, call->dptr);
    return VMM_SUCCESS;
}

/* ---- batches ---- */

/* One of the three calls. */
struct batch {
    const struct vmm_call *head;
    const vmm_deviceptr *dptrs;
    const uint64_t *sizes;
    uint64_t count;
    const vmm_mem_location *locs;
    const uint64_t *loc_idxs;
    uint64_t num_locs;
    uint64_t flags;
    vmm_stream stream;
    bool discards, fetches;
};

static vmm_result refuse_batch(enum vmm_rule_id rule, const char *argument, uint64_t value)
{
    vmm_result result = refuse(rule, value);
    vmm_detail_argument(argument);
    return result;
}

static vmm_result check_batch_locations(const struct sim_process *process, const struct batch *batch)
{
    if (!batch->locs || !batch->loc_idxs || !batch->num_locs || batch->num_locs > batch->count)
        return refuse_batch(VMM_RULE_MANAGED_BATCH, !batch->locs ? "prefetchLocs" : !batch->loc_idxs ? "prefetchLocIdxs" : "numPrefetchLocs",
                            batch->num_locs);
    for (uint64_t i = 0; i < batch->num_locs; i++) {
        const uint64_t index = batch->loc_idxs[i];
        if (index >= batch->count || (!i && index))
            return refuse_batch(VMM_RULE_MANAGED_BATCH, "prefetchLocIdxs", index);
        const vmm_mem_location location = batch->locs[i];
        if (!sim_managed_place(location) || check_target(process, location) != VMM_SUCCESS)
            return refuse_location(VMM_RULE_MANAGED_LOCATION, location);
    }
    return VMM_SUCCESS;
}

static vmm_result check_batch(const struct sim_process *process, const struct batch *batch)
{
    if (batch->flags)
        return refuse_batch(VMM_RULE_MANAGED_BATCH, "flags", batch->flags);
    if (!batch->count || !batch->dptrs || !batch->sizes)
        return refuse_batch(VMM_RULE_MANAGED_BATCH, !batch->count ? "count" : !batch->dptrs ? "dptrs" : "sizes", 0);
    return batch->fetches ? check_batch_locations(process, batch) : VMM_SUCCESS;
}

/* The bytes read as 0 once the stream has reached the call. Their value is not documented; the driver's are 0, as measured. */
static vmm_result discard(struct sim_process *process, const struct batch *batch, const struct range *range, struct sim_context *context)
{
    const uint64_t start = range->managed->allocation.start + range->first;
    struct vmm_call_memset_d8_async fill = {*batch->head, start, 0, range->end - range->first, batch->stream};
    fill.head.id = VMM_CALL_memset_d8_async;
    if (range->wraps || !process->machine->bytes)
        return VMM_SUCCESS;
    struct queue_place place = in_flight_place(process, context, batch->stream);
    return in_flight_issue(process, &place, &fill.head, (enum vmm_call_id)batch->head->id);
}

/* One range. The ranges before it keep what was done to them, as measured. location: NULL where nothing is prefetched. */
static vmm_result do_one(struct sim_process *process, const struct batch *batch, uint64_t i, const vmm_mem_location *location,
                         struct sim_context *context)
{
    struct range range;
    vmm_result result = check_given(batch->dptrs[i], batch->sizes[i]);
    if (result == VMM_SUCCESS)
        result = find_range(process, batch->dptrs[i], batch->sizes[i], true, &range);
    if (result != VMM_SUCCESS)
        return result;
    warn_of_wrap(&range, batch->sizes[i]);
    if (location)
        result = fetch(&range, *location);
    return result == VMM_SUCCESS && batch->discards ? discard(process, batch, &range, context) : result;
}

static vmm_result do_batch(struct sim_process *process, const struct batch *batch)
{
    struct sim_context *context;
    if (!batch->stream || batch->stream == VMM_STREAM_LEGACY)
        return refuse_batch(VMM_RULE_MANAGED_BATCH_STREAM, "hStream", (uint64_t)(uintptr_t)batch->stream);
    sim_machine_lock_to_wait(process->machine);
    vmm_result result = sim_stream_context(process, batch->stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, false);
    if (result == VMM_SUCCESS)
        result = check_batch(process, batch);
    for (uint64_t i = 0, at = 0; i < batch->count && result == VMM_SUCCESS; i++) {
        at += batch->fetches && i && at + 1 < batch->num_locs && batch->loc_idxs[at + 1] == i; /* measured: with indices 0, 0 the first is for all */
        result = do_one(process, batch, i, batch->fetches ? &batch->locs[at] : NULL, context);
    }
    return result;
}

vmm_result sim_mem_prefetch_batch_async(struct sim_process *process, const struct vmm_call_mem_prefetch_batch_async *call)
{
    const struct batch batch = {&call->head, call->dptrs, call->sizes, call->count, call->prefetch_locs, call->prefetch_loc_idxs,
                                call->num_prefetch_locs, call->flags, call->stream, false, true};
    return do_batch(process, &batch);
}

vmm_result sim_mem_discard_batch_async(struct sim_process *process, const struct vmm_call_mem_discard_batch_async *call)
{
    const struct batch batch = {&call->head, call->dptrs, call->sizes, call->count, NULL, NULL, 0, call->flags, call->stream, true,
                                false};
    return do_batch(process, &batch);
}

vmm_result sim_mem_discard_and_prefetch_batch_async(struct sim_process *process,
                                                    const struct vmm_call_mem_discard_and_prefetch_batch_async *call)
{
    const struct batch batch = {&call->head, call->dptrs, call->sizes, call->count, call->prefetch_locs, call->prefetch_loc_idxs,
                                call->num_prefetch_locs, call->flags, call->stream, true, true};
    return do_batch(process, &batch);
}
