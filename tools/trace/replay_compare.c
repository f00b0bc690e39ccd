/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the result of a replayed call with the trace. See replay_state.h. */
#include "replay_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fnv.h"
#include "trace_record.h"
#include "trace_value.h"

/* An output: the recorded one and the present one. */
struct output {
    struct replay *r;
    const struct vmm_param *param;
    size_t index;
    const void *recorded, *now;
    struct text *difference;
};

/* The recorded value may be anything. */
static void differs(struct text *difference, const char *what, const char *recorded, const char *replayed)
{
    text_add(difference, "  %-12s recorded ", what);
    text_add_safe(difference, recorded);
    text_add(difference, "\n  %-12s replayed %s\n", "", replayed);
}

static void differs_u64(struct text *difference, const char *what, uint64_t recorded, uint64_t replayed)
{
    text_add(difference, "  %-12s recorded 0x%" PRIx64 "\n  %-12s replayed 0x%" PRIx64 "\n", what, recorded, "",
             replayed);
}

static uint64_t word(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static int number(const void *at)
{
    int value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void compare_words(const struct output *o, uint64_t recorded, uint64_t now)
{
    if (recorded != now)
        differs_u64(o->difference, o->param->name, recorded, now);
}

/* ---- objects ---- */

/* An object's present value; that of a new one is stored. */
static void compare_object(const struct output *o)
{
    struct replay *r = o->r;
    struct name *name = &r->named.param[o->index];
    const uint64_t recorded = word(o->recorded), now = word(o->now);
    if (recorded && names_find(&r->names, o->param->kind, recorded, name)) {
        if (!replay_object(r, name) && !name->offset)
            replay_learn(r, name, recorded, now);
        if (name->ended)
            name->kind = NAME_KINDS;
    }
    compare_words(o, replay_value(r, o->param->kind, recorded, NULL), now);
}

/* ---- descriptors ---- */

/* Descriptors are equivalent; a named one stays open, for imports. */
static void learn_descriptor(const struct output *o)
{
    struct replay *r = o->r;
    struct name *name = &r->named.param[o->index];
    *name = (struct name){r->room->event.descriptor ? NAME_DESCRIPTOR : NAME_KINDS, r->room->event.descriptor, 0, false};
    /* at most one per call; more cannot come from a trace */
    const bool named = name->kind == NAME_DESCRIPTOR && name->number <= r->calls;
    if (o->param->kind == VMM_PARAM_OUT_IPC_HANDLE || trace_is_fabric(&r->call.head)) {
        if (named)
            replay_learn(r, name, 0, fabrics_keep(&r->fabrics, o->now));
    } else if (number(o->now) >= 0) {
        descriptors_keep(&r->open, number(o->now));
        if (named)
            replay_learn(r, name, 0, (uint64_t)number(o->now) + 1);
    }
}

/* ---- attributes ---- */

/* The kind of an attribute's value: the kind of an object, or a number. */
static enum vmm_param_kind kind_of(int attribute)
{
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_CONTEXT: return VMM_PARAM_CONTEXT;
    case VMM_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return VMM_PARAM_POOL;
    case VMM_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case VMM_POINTER_ATTRIBUTE_HOST_POINTER:
    case VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return VMM_PARAM_ADDRESS;
    default: return VMM_PARAM_INT;
    }
}

/* Ids are arbitrary numbers; only "none" must stay none. */
static bool is_id(int attribute)
{
    return attribute == VMM_POINTER_ATTRIBUTE_BUFFER_ID || attribute == VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID;
}

static void compare_attribute(const struct output *o, int attribute, const void *was, const void *is)
{
    const char *name = step_attribute_name(attribute);
    const size_t size = trace_attribute_size(attribute);
    if (!size)
        return;
    uint64_t recorded = 0, replayed = 0;
    if (size == sizeof(int)) {
        recorded = (uint32_t)number(was);
        replayed = (uint32_t)number(is);
    } else {
        replayed = word(is);
        recorded = kind_of(attribute) == VMM_PARAM_INT ? word(was) : replay_value(o->r, kind_of(attribute), word(was), NULL);
    }
    if (is_id(attribute) ? !recorded != !replayed : recorded != replayed)
        differs_u64(o->difference, name ? name : o->param->name, recorded, replayed);
}

static void compare_attributes(const struct output *o)
{
    const struct vmm_call *call = &o->r->room->call.head;
    const int *attribute = (const int *)(uintptr_t)trace_length(call, "attributes");
    void *const *data = o->recorded;
    const uint64_t count = trace_length(call, "num_attributes");
    for (uint64_t i = 0; attribute && i < count; i++)
        if (data[i])
            compare_attribute(o, attribute[i], data[i], &o->r->made.data[i]);
}

static void compare_pool_value(const struct output *o)
{
    const size_t size = vmm_pool_attribute_size((int)trace_length(&o->r->room->call.head, "attr"));
    if (size == sizeof(int))
        compare_words(o, (uint64_t)(int64_t)number(o->recorded), (uint64_t)(int64_t)number(o->now));
    else if (size)
        compare_words(o, word(o->recorded), word(o->now));
}

/* ---- memory ---- */

static void compare_bytes(const struct output *o)
{
    const struct trace_event *event = &o->r->room->event;
    const unsigned char *was = o->recorded, *now = o->now;
    const uint64_t size = trace_length(event->call, "byte_count");
    if (o->r->unknown_bytes || event->device || trace_is_async(event->call))
        return;
    if (size > TRACE_BYTES_MAX) {
        const uint64_t hash = fnv1a(FNV1A, now, (size_t)size);
        if (event->hash != hash)
            differs_u64(o->difference, "bytes (hash)", event->hash, hash);
        return;
    }
    for (uint64_t at = 0; at < size; at++)
        if (was[at] != now[at]) {
            text_add(o->difference, "  byte +%" PRIu64 "  recorded %02x\n             replayed %02x\n", at, was[at], now[at]);
            return;
        }
}

static void compare_prop(const struct output *o)
{
    const vmm_mem_allocation_prop *was = o->recorded, *now = o->now;
    if (was->type != now->type || was->requested_handle_types != now->requested_handle_types ||
        was->location.type != now->location.type || was->location.id != now->location.id ||
        memcmp(&was->alloc_flags, &now->alloc_flags, sizeof now->alloc_flags) != 0)
        differs(o->difference, o->param->name, "other properties (see the call in the trace)", "the values shown above");
}

/* One side of a copy of a box. Only type and size of host memory are known. */
static bool same_side(struct replay *r, vmm_memorytype type, uint64_t was, uint64_t now)
{
    const enum vmm_param_kind kind = type == VMM_MEMORYTYPE_ARRAY ? VMM_PARAM_ARRAY : VMM_PARAM_ADDRESS;
    return !replay_knows(r, kind, was) || replay_value(r, kind, was, NULL) == now;
}

static void compare_box(const struct output *o)
{
    const vmm_memcpy3d *was = o->recorded, *now = o->now;
    bool same = was->src_memory_type == now->src_memory_type && was->dst_memory_type == now->dst_memory_type &&
                same_side(o->r, was->src_memory_type, vmm_box_src(was), vmm_box_src(now)) &&
                same_side(o->r, was->dst_memory_type, vmm_box_dst(was), vmm_box_dst(now));
    for (int i = 0; i < VMM_BOX_SIZES; i++)
        same &= *vmm_box_size_at(was, &vmm_box_sizes[i]) == *vmm_box_size_at(now, &vmm_box_sizes[i]);
    if (!same)
        differs(o->difference, o->param->name, "another box (see the call in the trace)", "the values shown above");
}

/* ---- graphs ---- */

/* The nodes of a list: known ones must be at the same positions, and the others become known. */
static void compare_nodes(const struct output *o, const uint64_t *was, const vmm_graph_node *now)
{
    struct replay *r = o->r;
    const uint64_t *recorded = vmm_list_length(&r->room->call.head), *length = vmm_list_length(&r->call.head);
    if (!recorded || !length || !was || !now)
        return;
    if (*length < *recorded) {
        differs_u64(o->difference, o->param->name, *recorded, *length);
        return;
    }
    for (size_t i = 0; i < *recorded && i < TRACE_LIST_MAX; i++) {
        const uint64_t value = (uint64_t)(uintptr_t)now[i];
        if (replay_knows(r, VMM_PARAM_GRAPH_NODE, was[i]))
            compare_words(o, replay_value(r, VMM_PARAM_GRAPH_NODE, was[i], NULL), value);
        else if (was[i] && !spans_put(&r->nodes, was[i], 1, value))
            text_grow(NULL, SIZE_MAX); /* which ends the process with a message */
    }
}

static void compare_edges(const struct output *o, const vmm_graph_edge_data *was, const vmm_graph_edge_data *now)
{
    const uint64_t *recorded = vmm_list_length(&o->r->room->call.head);
    for (size_t i = 0; recorded && was && now && i < *recorded && i < TRACE_LIST_MAX; i++)
        compare_words(o, vmm_graph_edge_number(&was[i]), vmm_graph_edge_number(&now[i]));
}

/* A list owned by the system, to which an output points. */
static const void *theirs(const void *at)
{
    const void *list;
    memcpy(&list, at, sizeof list);
    return list;
}

static void compare_fill_node(const struct output *o)
{
    static const char *const names[] = {"dst", "pitch", "value", "element_size", "width", "height"};
    const vmm_memset_node_params *a = o->recorded, *b = o->now;
    const uint64_t was[] = {replay_value(o->r, VMM_PARAM_ADDRESS, a->dst, NULL), a->pitch, a->value, a->element_size, a->width,
                            a->height},
                   now[] = {b->dst, b->pitch, b->value, b->element_size, b->width, b->height};
    for (int i = 0; i < 6; i++)
        if (was[i] != now[i])
            differs_u64(o->difference, names[i], was[i], now[i]);
}

static void compare_update(const struct output *o)
{
    const vmm_graph_exec_update_result_info *was = o->recorded, *now = o->now;
    compare_words(o, (uint64_t)(int64_t)was->result, (uint64_t)(int64_t)now->result);
}

/* ---- structures, and attributes of ranges ---- */

static void compare_struct(const struct output *o)
{
    const struct vmm_shape *shape = vmm_shape(o->param->shape);
    for (size_t i = 0; i < shape->count; i++) {
        const uint64_t was = vmm_field_value(o->recorded, &shape->fields[i]), now = vmm_field_value(o->now, &shape->fields[i]);
        if (was != now)
            differs_u64(o->difference, shape->fields[i].name, was, now);
    }
}

static void compare_range(const struct output *o)
{
    const int *was = o->recorded, *now = o->now;
    const uint64_t count = trace_listed(&o->r->room->call.head, o->param);
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        compare_words(o, (uint64_t)(int64_t)was[i], (uint64_t)(int64_t)now[i]);
}

/* ---- outputs ---- */

static void compare_text(const struct output *o)
{
    if (strcmp(o->recorded, o->now) != 0)
        differs(o->difference, o->param->name, o->recorded, o->now);
}

static void compare_out(const struct output *o)
{
    switch (o->param->kind) {
    case VMM_PARAM_OUT_NODES: compare_nodes(o, o->recorded, o->now); break;
    case VMM_PARAM_OUT_NODES_AT: compare_nodes(o, theirs(o->recorded), theirs(o->now)); break;
    case VMM_PARAM_OUT_EDGES: compare_edges(o, o->recorded, o->now); break;
    case VMM_PARAM_OUT_EDGES_AT: compare_edges(o, theirs(o->recorded), theirs(o->now)); break;
    case VMM_PARAM_OUT_FILL_NODE: compare_fill_node(o); break;
    case VMM_PARAM_OUT_UPDATE: compare_update(o); break;
    case VMM_PARAM_OUT_HOST_NODE: /* a function of the program */
    case VMM_PARAM_OUT_POOL_POINTER: break; /* its bytes depend on the machine */
    case VMM_PARAM_OUT_ID: compare_words(o, word(o->recorded) != 0, word(o->now) != 0); break; /* any number */
    case VMM_PARAM_IO_INT:
    case VMM_PARAM_OUT_INT:
        compare_words(o, (uint64_t)(int64_t)number(o->recorded), (uint64_t)(int64_t)number(o->now));
        break;
    case VMM_PARAM_OUT_FD:
    case VMM_PARAM_OUT_IPC_HANDLE: learn_descriptor(o); break;
    case VMM_PARAM_OUT_POOL_VALUE: compare_pool_value(o); break;
    case VMM_PARAM_OUT_U64:
    case VMM_PARAM_IO_COUNT:
    case VMM_PARAM_OUT_SIZE: compare_words(o, word(o->recorded), word(o->now)); break;
    case VMM_PARAM_OUT_TEXT: compare_text(o); break;
    case VMM_PARAM_OUT_STRUCT: compare_struct(o); break;
    case VMM_PARAM_OUT_RANGE: compare_range(o); break;
    case VMM_PARAM_OUT_PROP: compare_prop(o); break;
    case VMM_PARAM_OUT_MEMCPY3D: compare_box(o); break;
    case VMM_PARAM_OUT_BYTES: compare_bytes(o); break;
    case VMM_PARAM_OUT_ATTRIBUTE:
        compare_attribute(o, (int)trace_length(&o->r->room->call.head, "attribute"), o->recorded, o->now);
        break;
    case VMM_PARAM_OUT_ATTRIBUTES: compare_attributes(o); break;
    default: compare_object(o);
    }
}

static void compare_result(const struct replay *r, const vmm_detail *detail, struct text *difference)
{
    const struct trace_event *event = &r->room->event;
    const char *rule = event->detail->severity == VMM_SEVERITY_NONE ? NULL : event->detail->rule,
               *now = detail->severity == VMM_SEVERITY_NONE ? NULL : detail->rule;
    if (event->result != r->result)
        differs(difference, "result", vmm_result_name(event->result), vmm_result_name(r->result));
    if (r->rules && (rule || now) && (!rule || !now || strcmp(rule, now) != 0))
        differs(difference, "rule", rule ? rule : "none", now ? now : "none");
}

/* Closes the export of a call that was recorded with another result. */
static void drop_descriptor(const struct replay *r)
{
    for (size_t i = 0; r->result == VMM_SUCCESS && i < r->count; i++)
        if (r->params[i].kind == VMM_PARAM_OUT_FD && vmm_call_scalar(&r->call.head, &r->params[i]) && !trace_is_fabric(&r->call.head))
            close(r->made.out[i].i);
}

void replay_compare(struct replay *r, const vmm_detail *detail, struct text *difference)
{
    const struct trace_event *event = &r->room->event;
    compare_result(r, detail, difference);
    if (difference->length) {
        drop_descriptor(r);
        return;
    }
    if (!names_learn(&r->names, event))
        text_grow(NULL, SIZE_MAX); /* which ends the process with a message */
    for (size_t i = 0; event->wrote && !difference->length && i < r->count; i++) {
        const struct vmm_param *param = &r->params[i];
        if (param->kind < VMM_PARAM_OUT_INT || event->lacks >> i & 1)
            continue;
        const struct output output = {r, param, i, (const void *)(uintptr_t)vmm_call_scalar(event->call, param),
                                      (const void *)(uintptr_t)vmm_call_scalar(&r->call.head, param), difference};
        if (output.recorded && trace_writes(event->call, param->kind))
            compare_out(&output);
    }
}
