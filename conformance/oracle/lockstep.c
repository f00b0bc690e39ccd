/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep.c - one step: makes arguments from names, makes the call, compares the answer with the model's. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"
#include "detail.h"
#include "in_place.h"
#include "lockstep_parts.h"

enum { IDLE_SECONDS = 5, HOST_ROOM = LOCKSTEP_HOST_ROOM, FILL_LIMIT = 1 << 25, RANGE_LIMIT = 1 << 28, SENTINEL = LOCKSTEP_SENTINEL };

bool lockstep_differ(struct lockstep *pair, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(pair->difference, sizeof pair->difference, format, args);
    va_end(args);
    return false;
}

uint64_t lockstep_unit(const struct lockstep *pair)
{
    return pair->profile.device_granularity[0];
}

/* ---- values of names ---- */

uint64_t lockstep_value(const struct lockstep *pair, struct step_arg arg)
{
    return (arg.name < pair->value_room ? pair->values[arg.name] : 0) + arg.add;
}

#define value_of lockstep_value

static void value_set(struct lockstep *pair, uint32_t name, uint64_t value)
{
    if (name >= pair->value_room) {
        size_t room = pair->value_room ? pair->value_room : STEP_FIRST_NAME;
        while (room <= name)
            room *= 2;
        uint64_t *larger = realloc(pair->values, room * sizeof *larger);
        if (!larger) {
            fputs("lockstep: the host has no memory left\n", stderr);
            exit(255);
        }
        memset(larger + pair->value_room, 0, (room - pair->value_room) * sizeof *larger);
        pair->values = larger;
        pair->value_room = room;
    }
    pair->values[name] = value;
}

/* ---- from step to call ---- */

static vmm_result make_call(vmm_system *sys, struct vmm_call *head)
{
    switch (head->id) {
#define VMM_CALL(name, ...)                                                     \
    case VMM_CALL_##name: {                                                     \
        struct vmm_call_##name *call = (struct vmm_call_##name *)(void *)head;  \
        (void)call;                                                             \
        return vmm_##name(sys VMM_EACH(VMM_AND_MEMBER, VMM_PARAMS_##name));     \
    }
#include "calls.def"
    default: return VMM_ERROR_UNKNOWN;
    }
}

/* Each byte is 7 more than the one before, so they repeat after 256, which are copied: most of the calls are refused, and the
 * bytes for them are the larger part of a run. */
static void fill_host(struct lockstep *pair, uint64_t size, unsigned char first)
{
    uint64_t limit = size < HOST_ROOM ? size : HOST_ROOM, done = limit < 256 ? limit : 256;
    for (uint64_t i = 0; i < done; i++)
        pair->host[i] = (unsigned char)(first + i * 7);
    for (; done < limit; done *= 2)
        memcpy(pair->host + done, pair->host, (size_t)(limit - done < done ? limit - done : done));
}

/* Is it the second list of the call? */
static bool is_second(const struct step *step, size_t i)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    return i && (params[i - 1].kind == VMM_PARAM_NODES || params[i - 1].kind == VMM_PARAM_OUT_NODES);
}

/* Are these the sizes of a batch, of as many ranges as there are addresses? */
static bool is_of_batch(const struct step *step, size_t i)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    return i && params[i - 1].kind == VMM_PARAM_ADDRESSES;
}

static const void *pointer_of(struct lockstep *pair, const struct step *step, size_t i, enum vmm_param_kind kind,
                              struct outputs *out)
{
    if (!step->arg[i].add)
        return NULL;
    switch (kind) {
    case VMM_PARAM_PROP: return &step->prop;
    case VMM_PARAM_LOCATION:
    case VMM_PARAM_LOCATION_VALUE: return &step->desc[0].location;
    case VMM_PARAM_STRUCT:
    case VMM_PARAM_STRUCTS:
    case VMM_PARAM_OUT_STRUCT: return &out->structs;
    case VMM_PARAM_ADDRESSES: return out->batch[0];
    case VMM_PARAM_OUT_RANGE: return out->range;
    case VMM_PARAM_DESCS: return step->desc;
    case VMM_PARAM_ARGS: return step->word;
    case VMM_PARAM_ATTRIBUTES: return step->attribute;
    case VMM_PARAM_POOL_VALUE: return step->word;
    case VMM_PARAM_POOL_PROPS: return &out->pool;
    case VMM_PARAM_MEM_OPS: return out->op;
    case VMM_PARAM_POOL_POINTER: return out->slot;
    case VMM_PARAM_MEMCPY3D: return &out->box;
    case VMM_PARAM_MEMCPY3D_PEER: return &out->peer_box;
    case VMM_PARAM_NODES: return out->node[is_second(step, i)];
    case VMM_PARAM_EDGES: return step->word;
    case VMM_PARAM_FILL_NODE: return &out->fill;
    case VMM_PARAM_HOST_NODE: return &out->host;
    case VMM_PARAM_KERNEL_NODE: return &out->kernel;
    case VMM_PARAM_FUNCTION: return (const void *)(uintptr_t)lockstep_destroy();
    case VMM_PARAM_SIZES: return is_of_batch(step, i) ? (const void *)out->batch[1] : step->word;
    case VMM_PARAM_IO_COUNT:
    case VMM_PARAM_IO_INT:
        memcpy(&out->slot[i], &step->word[0], kind == VMM_PARAM_IO_INT ? sizeof(int) : sizeof out->slot[i]);
        return &out->slot[i];
    case VMM_PARAM_OUT_NODES: return out->listed[is_second(step, i)];
    case VMM_PARAM_OUT_EDGES: return out->listed_edges;
    case VMM_PARAM_OUT_UPDATE: return &out->update;
    case VMM_PARAM_OUT_FILL_NODE: return &out->fill;
    case VMM_PARAM_OUT_HOST_NODE: return &out->host;
    case VMM_PARAM_OUT_PROP: return &out->prop;
    case VMM_PARAM_OUT_MEMCPY3D: return &out->box;
    case VMM_PARAM_OUT_ATTRIBUTE: return out->attribute;
    case VMM_PARAM_OUT_ATTRIBUTES: return out->attributes;
    case VMM_PARAM_BYTES:
        if (vmm_call_has(step->call, CALL_QUEUES))
            return lockstep_steady(pair, step->arg[i].add);
        fill_host(pair, value_of(pair, step->arg[i + 1]), (unsigned char)step->arg[i].add);
        return pair->host;
    case VMM_PARAM_OUT_BYTES:
        memset(pair->host, SENTINEL, 64);
        return pair->host;
    default: return &out->slot[i];
    }
}

/* The properties of a pool, or the operations of a batch. */
static void fill_in(const struct lockstep *pair, const struct step *step, struct outputs *out)
{
    if (step->call == VMM_CALL_mem_pool_create) {
        out->pool = (vmm_mem_pool_props){.alloc_type = (int)step->word[0], .handle_types = (int)step->word[1],
                                         .location = step->desc[0].location, .max_size = (size_t)step->word[2],
                                         .usage = (unsigned short)step->word[3]};
        out->pool.reserved[7] = (unsigned char)step->word[4];
    }
    for (size_t i = 0; step->call == VMM_CALL_stream_batch_mem_op && i < STEP_OPS; i++) {
        vmm_stream_batch_mem_op_params *op = &out->op[i];
        memset(op, 0, sizeof *op);
        op->operation = step->op[i].operation;
        if (vmm_mem_op_has_value(op->operation)) {
            op->wait_value.address = value_of(pair, step->op[i].address);
            op->wait_value.value64 = step->op[i].value;
            op->wait_value.flags = step->op[i].flags;
        } else {
            op->memory_barrier.flags = step->op[i].flags;
        }
    }
}

/* The structures of call_structs.def that the step points to. */
static void fill_in_structs(const struct lockstep *pair, const struct step *step, struct outputs *out)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    for (size_t i = 0; i < count; i++) {
        const struct vmm_shape *shape = vmm_shape(params[i].shape);
        const bool list = params[i].kind == VMM_PARAM_STRUCTS;
        if (params[i].kind != VMM_PARAM_STRUCT && !list)
            continue;
        memset(&out->structs, 0, sizeof out->structs);
        for (size_t k = 0; k < (list ? STEP_STRUCTS : 1); k++)
            for (size_t f = 0; f < shape->count; f++) {
                void *at = (char *)&out->structs + k * shape->size;
                if (vmm_field_used(at, shape, &shape->fields[f]))
                    vmm_field_set(at, &shape->fields[f], value_of(pair, step->field[k][f]));
            }
    }
    for (size_t i = 0; i < STEP_NODES; i++)
        for (int k = 0; k < 2; k++)
            out->batch[k][i] = value_of(pair, step->node[k][i]);
}

/* ---- streams ---- */

/* Does the step name a stream or an event? */
static bool needs_streams(const struct step *step)
{
    for (size_t i = 0; i < STEP_ARGS; i++)
        if (step->arg[i].name >= STEP_FIRST_STREAM && step->arg[i].name < STEP_FIRST_NAME)
            return true;
    return false;
}

static uint64_t stream_at(const struct lockstep *pair, uint32_t i)
{
    return pair->ready ? pair->values[STEP_FIRST_STREAM + i] : 0;
}

/* Makes the streams and events, on both sides. Streams that the default one does not order, since copies wait for those. */
static bool make_streams(struct lockstep *pair)
{
    vmm_context current = NULL;
    bool good = vmm_ctx_get_current(pair->sys, &current) == VMM_SUCCESS;
    for (uint32_t i = 0; good && i < STEP_STREAMS + STEP_EVENTS; i++) {
        const bool is_stream = i < STEP_STREAMS, last = i + 1 == STEP_STREAMS || i + 1 == STEP_STREAMS + STEP_EVENTS;
        const int device = last ? pair->profile.devices - 1 : 0;
        vmm_stream stream = NULL;
        vmm_event event = NULL;
        good = vmm_ctx_set_current(pair->sys, (vmm_context)(uintptr_t)pair->values[1 + device]) == VMM_SUCCESS;
        if (is_stream) {
            good = good && vmm_stream_create(pair->sys, &stream, VMM_STREAM_NON_BLOCKING) == VMM_SUCCESS;
            model_add_stream(&pair->model, (uint64_t)(uintptr_t)stream, device);
            value_set(pair, STEP_FIRST_STREAM + i, (uint64_t)(uintptr_t)stream);
        } else {
            good = good && vmm_event_create(pair->sys, &event, VMM_EVENT_DISABLE_TIMING) == VMM_SUCCESS;
            model_add_event(&pair->model, (uint64_t)(uintptr_t)event, device);
            value_set(pair, STEP_FIRST_EVENT + i - STEP_STREAMS, (uint64_t)(uintptr_t)event);
        }
    }
    pair->ready = true;
    return good && vmm_ctx_set_current(pair->sys, current) == VMM_SUCCESS;
}

/* Does the call leave work behind that a stream has yet to come to? */
static bool leaves_work(const union vmm_any_call *call)
{
    switch (call->head.id) {
    case VMM_CALL_stream_batch_mem_op:
    case VMM_CALL_mem_free_async:
    case VMM_CALL_event_record:
    case VMM_CALL_stream_wait_event:
    case VMM_CALL_memcpy_htod_async:
    case VMM_CALL_memcpy_dtoh_async:
    case VMM_CALL_memcpy_dtod_async:
    case VMM_CALL_memset_d8_async:
    case VMM_CALL_memset_d16_async:
    case VMM_CALL_memset_d32_async:
    case VMM_CALL_memcpy_3d_async:
    case VMM_CALL_memcpy_3d_peer_async:
    case VMM_CALL_mem_map_array_async:
    case VMM_CALL_mem_prefetch_async:
    case VMM_CALL_stream_attach_mem_async:
    case VMM_CALL_mem_prefetch_batch_async:
    case VMM_CALL_graph_launch: return true;
    default: return model_copies_array(&call->head);
    }
}

/* Does it leave work behind also where it is refused, for what it did before? */
static bool leaves_some(const union vmm_any_call *call)
{
    return call->head.id == VMM_CALL_mem_discard_batch_async || call->head.id == VMM_CALL_mem_discard_and_prefetch_batch_async;
}

static bool is_captured(const struct lockstep *pair, uint64_t stream)
{
    for (int i = 0; stream && i < pair->model.lanes; i++)
        if (pair->model.lane[i].stream == stream)
            return model_captured(&pair->model, i);
    return false;
}

/* Lets every stream come to its end, except one that waits for a value. */
static bool settle(struct lockstep *pair)
{
    const vmm_detail detail = *vmm_last_detail();
    const int blocked = pair->model.blocked;
    const uint64_t waiting = blocked < 0 ? 0 : pair->model.lane[blocked].stream;
    bool same = true, any = false;
    if (!model_may_query(&pair->model)) /* a capture would be spoiled */
        return true;
    for (uint32_t i = 0; same && i <= (pair->ready ? STEP_STREAMS : 0); i++) {
        const uint64_t stream = i ? stream_at(pair, i - 1) : 0;
        vmm_result result = VMM_ERROR_NOT_READY;
        const time_t until = time(NULL) + IDLE_SECONDS;
        if (!i && pair->model.current < 0)
            continue; /* no context, no default stream */
        if (is_captured(pair, stream))
            continue;
        for (bool first = true; result == VMM_ERROR_NOT_READY && (first || time(NULL) < until); first = false) {
            result = vmm_stream_query(pair->sys, (vmm_stream)(uintptr_t)stream);
            if (blocked >= 0 && stream == waiting)
                break;
        }
        any = true;
        const vmm_result want = blocked >= 0 && stream == waiting ? VMM_ERROR_NOT_READY : VMM_SUCCESS;
        if (result != want)
            same = lockstep_differ(pair, "stream %u after the call: a query answers %s, the model %s", (unsigned)i,
                                   vmm_result_name(result), vmm_result_name(want));
    }
    *vmm_detail_here() = detail;
    if (any)
        model_idle(&pair->model);
    return same;
}

static void prepare(struct lockstep *pair, const struct step *step, union vmm_any_call *call, struct outputs *out)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    memset(call, 0, sizeof *call);
    memset(out, SENTINEL, sizeof *out);
    for (size_t i = 0; i < STEP_ATTRIBUTES; i++)
        out->attributes[i] = out->attribute[i];
    fill_in(pair, step, out);
    lockstep_fill_in(pair, step, out);
    fill_in_structs(pair, step, out);
    call->head.id = step->call;
    pair->model.before = step->word[0];
    for (size_t i = 0; i < count && i < STEP_ARGS; i++) {
        uint64_t value;
        if (params[i].kind < VMM_PARAM_PROP || params[i].kind == VMM_PARAM_FD)
            value = value_of(pair, step->arg[i]);
        else
            value = (uint64_t)(uintptr_t)pointer_of(pair, step, i, params[i].kind, out);
        vmm_call_set_scalar(&call->head, &params[i], value);
    }
}

/* How many bytes a copy or fill moves; 0 for other calls. */
static uint64_t bytes_of(const union vmm_any_call *call)
{
    switch (call->head.id) {
    case VMM_CALL_memcpy_htod: return call->memcpy_htod.byte_count;
    case VMM_CALL_memcpy_dtoh: return call->memcpy_dtoh.byte_count;
    case VMM_CALL_memcpy_dtod: return call->memcpy_dtod.byte_count;
    case VMM_CALL_memset_d8: return call->memset_d8.n;
    case VMM_CALL_memset_d16: return call->memset_d16.n;
    case VMM_CALL_memset_d32: return call->memset_d32.n;
    case VMM_CALL_memcpy_htod_async: return call->memcpy_htod_async.byte_count;
    case VMM_CALL_memcpy_dtoh_async: return call->memcpy_dtoh_async.byte_count;
    case VMM_CALL_memcpy_dtod_async: return call->memcpy_dtod_async.byte_count;
    case VMM_CALL_memset_d8_async: return call->memset_d8_async.n;
    case VMM_CALL_memset_d16_async: return call->memset_d16_async.n;
    case VMM_CALL_memset_d32_async: return call->memset_d32_async.n;
    default: return 0;
    }
}

static bool is_mem_op(const union vmm_any_call *call)
{
    return call->head.id == VMM_CALL_stream_write_value32 || call->head.id == VMM_CALL_stream_write_value64 ||
           call->head.id == VMM_CALL_stream_wait_value32 || call->head.id == VMM_CALL_stream_wait_value64;
}

const char *const lockstep_left_out[LEFT_OUT_KINDS] = {
    "made", "more bytes than the host should spend", "would take the device from the process",
    "might wait forever, or depends on the order of streams", "not modelled", "a forged handle, context or pool",
    "a rule whose breach ends the process", "a rule that depends on other state of the process", "a limit of the simulator only",
    "would take much memory of a driver", "at addresses that may be the driver's own", "would break a driver's pools", "releases references that others have"};

static bool is_box(const union vmm_any_call *call)
{
    return call->head.id == VMM_CALL_memcpy_3d || call->head.id == VMM_CALL_memcpy_3d_async ||
           call->head.id == VMM_CALL_memcpy_3d_peer || call->head.id == VMM_CALL_memcpy_3d_peer_async;
}

/* May the model not know what becomes of it? */
static bool is_graphs(const struct lockstep *pair, const union vmm_any_call *call)
{
    return (call->head.id >= VMM_CALL_stream_begin_capture && call->head.id <= VMM_CALL_graph_upload) || model_capturing(&pair->model);
}

/* May the call make a pool that the model does not follow, or map what it does not foresee? */
static bool may_be_unforeseen(const struct lockstep *pair, const union vmm_any_call *call)
{
    switch (call->head.id) {
    case VMM_CALL_mem_pool_create:
    case VMM_CALL_mem_pool_import_from_shareable_handle:
    case VMM_CALL_mem_get_default_mem_pool:
    case VMM_CALL_mem_get_mem_pool:
    case VMM_CALL_mem_map_array_async:
    case VMM_CALL_mem_set_mem_pool: return true;
    case VMM_CALL_mem_pool_set_access: return pair->model.cautious;
    default: return false;
    }
}

/* Left out on both sides: a copy or fill that would succeed and access more than the host should pay for, and one that would
 * take the device from the process (facts replay those: groups H and U of edges.c), or wait. */
static enum left_out too_much(struct lockstep *pair, const union vmm_any_call *call)
{
    bool host = call->head.id == VMM_CALL_memcpy_htod || call->head.id == VMM_CALL_memcpy_dtoh ||
                call->head.id == VMM_CALL_memcpy_htod_async || call->head.id == VMM_CALL_memcpy_dtoh_async;
    bool op = is_mem_op(call) || call->head.id == VMM_CALL_stream_batch_mem_op;
    bool large = bytes_of(call) > (uint64_t)(host ? HOST_ROOM : FILL_LIMIT / 4);
    if (model_call_waits(&pair->model, (enum vmm_call_id)call->head.id))
        return LEFT_OUT_WAITS;
    if (call->head.id == VMM_CALL_mem_get_handle_for_address_range) /* a file with a copy, which may be of all the memory */
        large = call->mem_get_handle_for_address_range.size > RANGE_LIMIT;
    if (model_stays_behind(&pair->model, &call->head))
        return LEFT_OUT_WAITS;
    large |= lockstep_leaves_room(pair, call);
    large |= call->head.id == VMM_CALL_mem_range_get_attribute && call->mem_range_get_attribute.data_size > sizeof((struct outputs *)0)->range;
    if (!op && !large && !is_box(call) && !is_graphs(pair, call) && !may_be_unforeseen(pair, call))
        return LEFT_OUT_NOT;
    struct model_answer answer;
    model_foresee(&pair->model, &call->head, &answer);
    if (!answer.foreseen && (may_be_unforeseen(pair, call) || is_box(call) || is_graphs(pair, call)))
        return LEFT_OUT_UNKNOWN;
    if (answer.loses)
        return answer.waits ? LEFT_OUT_WAITS : LEFT_OUT_LOSES;
    return answer.result == VMM_SUCCESS && large ? LEFT_OUT_LARGE : LEFT_OUT_NOT;
}

/* ---- comparing ---- */

static const char *or_none(const char *rule)
{
    return rule ? rule : "no rule";
}

static bool same_rule(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* A driver reports no rules; only its results and outputs can be compared. */
static bool compare_driver(struct lockstep *pair, const struct model_answer *answer)
{
    if (answer->actual != answer->result)
        return lockstep_differ(pair, "the driver answers %s (%d), the model %s [%s]", vmm_result_name(answer->actual),
                               (int)answer->actual, vmm_result_name(answer->result), or_none(answer->rule));
    if (answer->wrong)
        return lockstep_differ(pair, "%s: the driver returns %#llx, the model %#llx", answer->wrong,
                               (unsigned long long)answer->got, (unsigned long long)answer->want);
    return true;
}

/* With a shadow layer, the simulator beside the driver must agree with the model. */
static bool compare_shadow(struct lockstep *pair)
{
    const vmm_detail *detail = vmm_last_detail();
    if (!same_rule(detail->rule, "VMM-SHADOW-DIFFERS") && !same_rule(detail->rule, "VMM-SHADOW-OPAQUE") &&
        !same_rule(detail->rule, "VMM-SHADOW-LOST"))
        return true;
    return lockstep_differ(pair, "the simulator beside it: %s %s", detail->rule, detail->note);
}

static bool compare_detail(struct lockstep *pair, const struct model_answer *answer)
{
    if (pair->driver)
        return compare_driver(pair, answer) && compare_shadow(pair);
    const vmm_detail *detail = vmm_last_detail();
    vmm_severity severity = answer->result && answer->rule ? VMM_SEVERITY_ERROR
                            : answer->rule ? VMM_SEVERITY_WARNING
                                           : VMM_SEVERITY_NONE;
    if (answer->actual != answer->result || !same_rule(detail->rule, answer->rule))
        return lockstep_differ(pair, "the system answers %s [%s], the model %s [%s]", vmm_result_name(answer->actual),
                      or_none(detail->rule), vmm_result_name(answer->result), or_none(answer->rule));
    if (detail->severity != severity)
        return lockstep_differ(pair, "severity %d, the model predicts %d", (int)detail->severity, (int)severity);
    if (severity && detail->result != answer->result)
        return lockstep_differ(pair, "detail.result %s, the call returned %s", vmm_result_name(detail->result),
                      vmm_result_name(answer->result));
    if (answer->wrong)
        return lockstep_differ(pair, "%s: the system returns %#llx, the model %#llx", answer->wrong,
                      (unsigned long long)answer->got, (unsigned long long)answer->want);
    return true;
}

static bool untouched(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++)
        if (p[i] != SENTINEL)
            return false;
    return true;
}

/* The int -1, with nothing after it. */
static bool no_fd(const void *slot)
{
    int fd;
    memcpy(&fd, slot, sizeof fd);
    return fd == -1 && untouched((const char *)slot + sizeof fd, sizeof(uint64_t) - sizeof fd);
}

/* Did a refused call leave an output as expected: unwritten, or with one of the few known values? */
static bool left_alone(const struct lockstep *pair, const struct model_answer *answer, const struct outputs *out,
                       size_t i, enum vmm_param_kind kind)
{
    const void *slot = kind == VMM_PARAM_OUT_ATTRIBUTE ? out->attribute[0] : &out->slot[i];
    switch (kind) {
    case VMM_PARAM_OUT_PROP: return untouched(&out->prop, sizeof out->prop);
    case VMM_PARAM_OUT_MEMCPY3D: return untouched(&out->box, sizeof out->box);
    case VMM_PARAM_OUT_NODES: return untouched(out->listed, sizeof out->listed);
    case VMM_PARAM_OUT_EDGES: return untouched(out->listed_edges, sizeof out->listed_edges);
    case VMM_PARAM_OUT_FILL_NODE: return untouched(&out->fill, sizeof out->fill);
    case VMM_PARAM_OUT_HOST_NODE: return untouched(&out->host, sizeof out->host);
    case VMM_PARAM_OUT_STRUCT: return untouched(&out->structs, sizeof out->structs);
    case VMM_PARAM_OUT_RANGE: return untouched(out->range, sizeof out->range);
    case VMM_PARAM_OUT_UPDATE: return true; /* written in any case, as the model has checked */
    case VMM_PARAM_IO_COUNT: return out->slot[i] == pair->model.before;
    case VMM_PARAM_IO_INT: return (int)out->slot[i] == (int)pair->model.before;
    case VMM_PARAM_OUT_BYTES: return untouched(pair->host, 64);
    case VMM_PARAM_OUT_ATTRIBUTES:
        return untouched(out->attribute[answer->written],
                         (STEP_ATTRIBUTES - answer->written) * sizeof out->attribute[0]);
    default:
        if (answer->writes_no_fd)
            return no_fd(slot);
        return answer->writes_zero ? *(const uint64_t *)slot == 0 : untouched(slot, sizeof(uint64_t));
    }
}

static bool compare_outputs(struct lockstep *pair, const struct step *step, const struct model_answer *answer,
                            const struct outputs *out)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    for (size_t i = 0; i < count && i < STEP_ARGS; i++) {
        if (params[i].kind < VMM_PARAM_OUT_INT || !step->arg[i].add)
            continue;
        if (!answer->writes_some && !left_alone(pair, answer, out, i, params[i].kind))
            return lockstep_differ(pair, answer->writes_no_fd  ? "%s: the refused call did not write -1"
                                         : answer->writes_zero ? "%s: the refused call did not write 0"
                                                               : "%s: the refused call wrote through it",
                          params[i].name);
    }
    return true;
}

/* What the step made, under its name. */
static void keep_value(struct lockstep *pair, const struct step *step, const struct outputs *out)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    for (size_t i = 0; step->name && step->call != VMM_CALL_stream_get_capture_info && i < count && i < STEP_ARGS; i++)
        if ((params[i].kind == VMM_PARAM_OUT_ADDRESS || params[i].kind == VMM_PARAM_OUT_HANDLE ||
             params[i].kind == VMM_PARAM_OUT_CONTEXT || params[i].kind == VMM_PARAM_OUT_POOL || params[i].kind == VMM_PARAM_OUT_ARRAY ||
             params[i].kind == VMM_PARAM_OUT_GRAPH || params[i].kind == VMM_PARAM_OUT_GRAPH_NODE ||
             params[i].kind == VMM_PARAM_OUT_GRAPH_EXEC || params[i].kind == VMM_PARAM_OUT_USER_OBJECT) &&
            step->arg[i].add)
            value_set(pair, step->name, out->slot[i]);
}

void lockstep_keep(struct lockstep *pair, int fd)
{
    if (pair->kept)
        close(pair->kept - 1);
    pair->kept = fd + 1;
    if (fd < 0)
        pair->model.exported = 0;
}

/* The step owns the descriptor that it received; an export's stays open until the next export, for imports. */
static void close_descriptor(struct lockstep *pair, const struct step *step, const struct model_answer *answer,
                             const struct outputs *out)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    for (size_t i = 0; answer->actual == VMM_SUCCESS && i < count && i < STEP_ARGS; i++)
        if (params[i].kind == VMM_PARAM_OUT_FD && step->arg[i].add) {
            int fd;
            memcpy(&fd, &out->slot[i], sizeof fd);
            if (answer->fabric)
                continue; /* 64 bytes, which hold nothing */
            if (step->call == VMM_CALL_mem_export_to_shareable_handle)
                lockstep_keep(pair, fd);
            else
                close(fd);
        }
}

/* The comparison's self-test: a deliberately wrong prediction must be noticed. */
static void turn_round(struct model_answer *answer)
{
    answer->result = answer->result ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE;
}

/* Is a handle a live one's value plus something? On one system that value is forged, on another it may be a live
 * handle. */
static bool forges_by_name(const struct step *step)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(step->call, &count);
    for (size_t i = 0; i < count && i < STEP_ARGS; i++)
        if (params[i].kind == VMM_PARAM_HANDLE && step->arg[i].name && step->arg[i].add)
            return true;
    return false;
}

/* The kind of difference: the same reason gives the same kind, wherever it occurs. */
static void sign(struct lockstep *pair, const struct step *step, const union vmm_any_call *call,
                 const struct model_answer *answer, const char *output)
{
    char which[40] = "";
    if (step->call == VMM_CALL_pointer_get_attribute)
        snprintf(which, sizeof which, " attribute %d", call->pointer_get_attribute.attribute);
    else if (step->call == VMM_CALL_mem_get_access && call->mem_get_access.location)
        snprintf(which, sizeof which, " location %d", step->desc[0].location.type);
    else if (step->call == VMM_CALL_device_get_attribute)
        snprintf(which, sizeof which, " attribute %d", call->device_get_attribute.attrib);
    const char *name = vmm_call_name(step->call), *rule = or_none(answer->rule);
    if (answer->actual != answer->result)
        snprintf(pair->signature, sizeof pair->signature, "%s%s: predicted %s [%s], answered %s", name, which,
                 vmm_result_name(answer->result), rule, vmm_result_name(answer->actual));
    else
        snprintf(pair->signature, sizeof pair->signature, "%s%s: %s [%s], %s", name, which,
                 vmm_result_name(answer->result), rule, output);
}

/* After a driver's call: notes the answer, or the difference and whether both are still in the same state. */
static bool after_driver(struct lockstep *pair, const struct step *step, const union vmm_any_call *call,
                         const struct model_answer *answer, const struct outputs *out, bool same)
{
    driver_finish(pair, call, answer->actual);
    driver_tell(pair, call, answer->actual, out);
    if (same && pair->dead)
        same = lockstep_differ(pair, "the context is lost after the call");
    if (same)
        return true;
    sign(pair, step, call, answer, pair->dead ? "context lost" : answer->wrong ? answer->wrong : "an output");
    if (answer->actual == answer->result && step->call == VMM_CALL_mem_address_reserve) /* is elsewhere */
        driver_undo(pair, call, out);
    if (answer->actual == answer->result)
        pair->parted = answer->result == VMM_SUCCESS && step->name != 0;
    else if (answer->actual == VMM_SUCCESS)
        pair->parted = !driver_undo(pair, call, out);
    else
        pair->parted = driver_parts(call);
    pair->parted |= pair->dead;
    return false;
}

/* What the simulator found broken in itself (checks.h); "" for nothing. */
static char broken[CHECK_ROOM];

static void note_broken(const char *said)
{
    if (!broken[0])
        snprintf(broken, sizeof broken, "%s", said);
}

static void watch_simulator(void)
{
    broken[0] = '\0';
    checks_report = note_broken;
    if (checks_wanted() == CHECKS_OFF)
        atomic_store(&checks_on, CHECKS_ALL);
}

void lockstep_count(struct lockstep_counts *counts, const struct lockstep *pair, const struct step *step)
{
    counts->made[step->call]++;
    counts->succeeded[step->call] += pair->changed && !pair->left_out;
    counts->left_out[step->call][pair->left_out]++;
}

static enum left_out leaves_out(struct lockstep *pair, const struct step *step, const union vmm_any_call *call,
                                const struct outputs *out)
{
    if (pair->driver && (forges_by_name(step) || !driver_knows_graphs(pair, call, out)))
        return LEFT_OUT_FORGED;
    enum left_out left = pair->driver ? driver_leaves_out(pair, call) : LEFT_OUT_NOT;
    return left ? left : too_much(pair, call);
}

enum left_out lockstep_foresee(struct lockstep *pair, const struct step *step)
{
    union vmm_any_call call;
    struct outputs out;
    if (!pair->ready && needs_streams(step))
        return LEFT_OUT_NOT;
    prepare(pair, step, &call, &out);
    return leaves_out(pair, step, &call, &out);
}

vmm_result lockstep_predict(struct lockstep *pair, const struct step *step)
{
    union vmm_any_call call;
    struct outputs out;
    struct model_answer answer;
    if (!pair->ready && needs_streams(step))
        return VMM_SUCCESS;
    prepare(pair, step, &call, &out);
    model_foresee(&pair->model, &call.head, &answer);
    return answer.result;
}

/* Has a launch called as many host functions as it should? */
static bool count_host_calls(struct lockstep *pair)
{
    const uint64_t calls = lockstep_host_calls(), expected = model_host_calls(&pair->model);
    return calls == expected || lockstep_differ(pair, "%llu host functions were called, the model says %llu",
                                                (unsigned long long)calls, (unsigned long long)expected);
}

/* Were the functions of user objects called that have no reference left? */
static bool count_destroyed(struct lockstep *pair)
{
    uint64_t late;
    const uint64_t calls = pair->destroyed = lockstep_destroyed(), expected = model_destroyed(&pair->model, &late) + pair->late;
    late = pair->driver ? late + pair->late : 0;
    if (calls < expected && expected - calls <= late) {
        pair->late = expected - calls;
        return true;
    }
    pair->late = 0;
    return calls == expected || lockstep_differ(pair, "%llu user objects were destroyed, the model says %llu",
                                                (unsigned long long)calls, (unsigned long long)expected);
}

bool lockstep_step(struct lockstep *pair, const struct step *step)
{
    union vmm_any_call call;
    struct outputs out;
    struct model_answer answer;
    if (!pair->ready && needs_streams(step) && !make_streams(pair))
        return lockstep_differ(pair, "the streams cannot be created");
    prepare(pair, step, &call, &out);
    pair->refused = pair->changed = pair->parted = false;
    pair->rule = NULL;
    pair->left_out = leaves_out(pair, step, &call, &out);
    pair->skip = pair->left_out >= LEFT_OUT_FORGED;
    snprintf(pair->reported, sizeof pair->reported, "not made");
    pair->more[0] = '\0';
    pair->destroyed = 0;
    pair->skipped += pair->skip;
    if (pair->left_out)
        return true;
    if (pair->last)
        *pair->last = *step;
    if (step->name)
        value_set(pair, step->name, 0);
    const bool was_waiting = pair->model.blocked >= 0;
    answer.actual = make_call(pair->sys, &call.head);
    pair->model.tag = step->name;
    model_predict(&pair->model, &call.head, &answer);
    bool work = (answer.actual == VMM_SUCCESS && (is_mem_op(&call) || leaves_work(&call))) || leaves_some(&call);
    bool settled = !(work || was_waiting) || answer.actual != answer.result || settle(pair);
    close_descriptor(pair, step, &answer, &out);
    if (settled && call.head.id == VMM_CALL_graph_launch && answer.result == VMM_SUCCESS)
        settled = count_host_calls(pair);
    if (settled && answer.actual == answer.result)
        settled = count_destroyed(pair);
    if (broken[0])
        return lockstep_differ(pair, "a broken invariant: %s", broken);
    if (!answer.foreseen || (pair->driver && driver_has_memory(pair, &call, &answer))) {
        pair->left_out = answer.foreseen ? LEFT_OUT_FOREIGN : LEFT_OUT_UNKNOWN;
        return true;
    }
    if (++pair->calls == pair->flip)
        turn_round(&answer);
    pair->refused = answer.result != VMM_SUCCESS;
    pair->rule = answer.rule;
    pair->changed = !pair->refused;
    bool same = settled && compare_detail(pair, &answer) && (!pair->refused || compare_outputs(pair, step, &answer, &out));
    if (pair->driver && !after_driver(pair, step, &call, &answer, &out, same))
        return false;
    if (same && !pair->refused)
        keep_value(pair, step, &out);
    return same;
}

/* ---- open and close ---- */

bool lockstep_names_driver(const char *spec, const char **backend)
{
    static const char prefix[] = "as-driver:";
    bool as_driver = !strncmp(spec, prefix, sizeof prefix - 1);
    *backend = as_driver ? spec + sizeof prefix - 1 : spec;
    const char *last = strrchr(spec, '|');
    return as_driver || !strncmp(last ? last + 1 : spec, "cuda", 4);
}

/* The profile that spec names, in the model's terms: "[layers|]sim[:name or path][,mode]". What a driver does not
 * report is assumed to be as on the recorded machine. */
static bool read_profile(struct lockstep *pair, const char *spec)
{
    char name[sizeof pair->spec];
    const char *backend = strrchr(spec, '|');
    backend = backend ? backend + 1 : spec;
    if (!strncmp(backend, "cuda", 4))
        backend = "sim:h100";
    if (strncmp(backend, "sim", 3) != 0 || (backend[3] && backend[3] != ':' && backend[3] != ','))
        return lockstep_differ(pair, "spec \"%s\": lockstep needs sim:PROFILE or cuda", spec);
    snprintf(name, sizeof name, "%s", backend[3] == ':' ? backend + 4 : "");
    char *mode = strchr(name, ',');
    if (mode)
        *mode = 0;
    const char *profile = name[0] ? name : "h100";
    struct sim_profile_error error;
    if (!sim_profile_builtin(profile, &pair->profile) &&
        sim_profile_read(profile, &pair->profile, &error) != VMM_SUCCESS)
        return lockstep_differ(pair, "spec \"%s\": no profile \"%s\"", spec, profile);
    model_open(&pair->model, &pair->profile, strstr(backend, ",strict") != NULL);
    return true;
}

/* A driver's process is never new, so nothing can be tested before initialisation. */
static bool start(struct lockstep *pair)
{
    struct step early = step_of(VMM_CALL_device_get_count), step = step_of(VMM_CALL_init);
    struct step flags = step;
    flags.arg[0].add = 1;
    if ((!pair->driver && !lockstep_step(pair, &early)) || !lockstep_step(pair, &flags) || !lockstep_step(pair, &step))
        return false;
    for (int device = 0; device < pair->profile.devices; device++) {
        step = step_of(VMM_CALL_device_primary_ctx_retain);
        step.name = 1 + (uint32_t)device;
        step_arg(&step, "dev")->add = (uint64_t)device;
        if (!lockstep_step(pair, &step))
            return false;
    }
    if (pair->driver && !make_streams(pair)) /* before free memory is asked for the first time */
        return lockstep_differ(pair, "the streams cannot be created");
    if (pair->driver && !driver_settle(pair))
        return false;
    step = step_of(VMM_CALL_ctx_set_current);
    step_arg(&step, "ctx")->name = 1;
    return lockstep_step(pair, &step);
}

bool lockstep_open(struct lockstep *pair, const char *spec)
{
    const char *backend;
    bool driver = lockstep_names_driver(spec, &backend);
    memset(pair, 0, sizeof *pair);
    watch_simulator();
    lockstep_destroyed(); /* of a system that was left in the middle */
    snprintf(pair->spec, sizeof pair->spec, "%s", spec);
    pair->mix = LOCKSTEP_MIX;
    if (!read_profile(pair, backend))
        return false;
    unsigned char *steady = malloc(HOST_ROOM + 256);
    pair->host = malloc(HOST_ROOM);
    pair->steady = steady;
    for (size_t i = 0; steady && i < HOST_ROOM + 256; i++)
        steady[i] = (unsigned char)(i * 7);
    vmm_result result = pair->host && pair->steady ? open_in_place(backend, &pair->sys) : VMM_ERROR_OUT_OF_MEMORY;
    if (result != VMM_SUCCESS)
        lockstep_differ(pair, "vmm_open(\"%s\"): %s", backend, vmm_result_name(result));
    struct sim_profile base = pair->profile;
    bool open = result == VMM_SUCCESS && (!driver || driver_ask(pair, &base));
    pair->model.driver = pair->driver;
    pair->model.host_pools = true; /* older mixes leave them out */
    pair->model.cautious = true;   /* older recordings are not */
    pair->model.program[0] = (struct model_reservation){.start = (uint64_t)(uintptr_t)pair->host, .size = HOST_ROOM};
    pair->model.program[1] = (struct model_reservation){.start = (uint64_t)(uintptr_t)pair->steady, .size = HOST_ROOM};
    if (open && start(pair))
        return true;
    char reason[sizeof pair->difference];
    memcpy(reason, pair->difference, sizeof reason);
    lockstep_close(pair);
    memcpy(pair->difference, reason, sizeof reason);
    return false;
}

bool lockstep_close(struct lockstep *pair)
{
    vmm_stream_capture_mode mode = VMM_STREAM_CAPTURE_MODE_GLOBAL;
    if (pair->sys && model_thread_mode(&pair->model) != mode) /* which outlives the system */
        vmm_thread_exchange_stream_capture_mode(pair->sys, &mode);
    bool clean = !pair->driver || !pair->sys || driver_sweep(pair);
    vmm_close(pair->sys);
    free(pair->driver);
    model_close(&pair->model);
    free(pair->values);
    free(pair->host);
    free(pair->steady);
    memset(pair, 0, sizeof *pair);
    return clean;
}

size_t lockstep_run(const char *spec, const struct script *script, size_t every, uint64_t flip, char *difference,
                    size_t size)
{
    struct lockstep pair;
    size_t i = 0;
    bool same = lockstep_open(&pair, spec);
    pair.flip = flip;
    for (; same && i < script->count; i += same) {
        same = lockstep_step(&pair, &script->steps[i]) && lockstep_check_objects(&pair) &&
               (!every || ((i + 1) % every && i + 1 < script->count) || lockstep_check(&pair));
    }
    snprintf(difference, size, "%s", pair.difference);
    if (pair.sys)
        lockstep_close(&pair);
    return i;
}

size_t lockstep_run_for(const char *spec, const struct script *script, size_t every, const char *signature,
                        char *difference, size_t size, bool *clean)
{
    struct lockstep pair;
    size_t i = 0;
    bool going = lockstep_open(&pair, spec), found = false;
    for (; going && !found && i < script->count; i += !found) {
        bool same = lockstep_step(&pair, &script->steps[i]);
        if (same && every && ((i + 1) % every == 0 || i + 1 == script->count))
            same = lockstep_check(&pair);
        found = !same && !strcmp(pair.signature, signature);
        going = same || !pair.parted;
    }
    snprintf(difference, size, "%s", pair.difference);
    if (pair.sys)
        *clean &= lockstep_close(&pair);
    return found ? i : script->count;
}
