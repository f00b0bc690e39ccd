/* SPDX-License-Identifier: Apache-2.0 */
/* What a replayed call answered against what the trace says. See replay_state.h. */
#ifdef CUVMM_HAVE_JANSSON
#define _POSIX_C_SOURCE 200809L
#include "replay_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fnv.h"
#include "touch.h"

static struct replay_object *find_object(const struct replay *r, const char *name, size_t length)
{
    for (size_t i = r->objects; i-- > 0;)
        if (strlen(r->object[i].name) == length && memcmp(r->object[i].name, name, length) == 0)
            return &r->object[i];
    return NULL;
}

bool replay_named(const struct replay *r, const char *name, uint64_t *value)
{
    size_t length = strcspn(name, "+");
    const struct replay_object *object = find_object(r, name, length);
    if (!object)
        return false;
    *value = object->now + (name[length] ? strtoull(name + length + 1, NULL, 0) : 0);
    return true;
}

/* The youngest object that the recorded value lies in, for ranges are used again after they are freed. */
bool replay_is_known(const struct replay *r, uint64_t recorded)
{
    for (size_t i = r->objects; i-- > 0;)
        if (recorded >= r->object[i].recorded && recorded - r->object[i].recorded < (r->object[i].size ? r->object[i].size : 1))
            return true;
    return false;
}

uint64_t replay_translate(const struct replay *r, uint64_t recorded)
{
    for (size_t i = r->objects; i-- > 0;) {
        const struct replay_object *o = &r->object[i];
        if (recorded >= o->recorded && recorded - o->recorded < (o->size ? o->size : 1))
            return o->now + (recorded - o->recorded);
    }
    return recorded;
}

/* msync fails on a page that is not there. */
static bool is_in_process(uint64_t address, uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = address / page * page;
    return msync((void *)(uintptr_t)start, (size_t)(address - start + size), MS_ASYNC) == 0;
}

/* A backend makes a copy between device addresses of it. */
static bool is_mapped(const struct replay *r, uint64_t address)
{
    int mapped = 0;
    return vmm_pointer_get_attribute(r->sys, &mapped, VMM_POINTER_ATTRIBUTE_MAPPED, address) == VMM_SUCCESS && mapped;
}

/* May the program itself read each page there, and write to it? What is only reserved is closed to it. */
static bool is_open(uint64_t address, uint64_t size, bool written)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = address + size;
    bool open = true;
    touch_begin();
    for (uint64_t at = address; open && at < end; at = at / page * page + page) {
        unsigned char byte;
        open = touch_read(at, &byte) && (!written || touch_write(at, byte));
    }
    touch_end();
    return open;
}

bool replay_device(const struct replay *r, uint64_t recorded, uint64_t size, bool written, uint64_t *now)
{
    for (size_t i = r->objects; i-- > 0;) {
        const struct replay_object *o = &r->object[i];
        uint64_t offset = recorded - o->recorded;
        if ((o->name[0] != 'R' && o->name[0] != 'A') || recorded < o->recorded || offset >= o->size)
            continue;
        *now = o->now + offset;
        return !o->ended && size <= o->size - offset && is_in_process(*now, size) &&
               (is_mapped(r, *now) || is_open(*now, size, written));
    }
    return false;
}

static void learn(struct replay *r, const char *name, uint64_t recorded, uint64_t now, uint64_t size)
{
    struct replay_object object = {.recorded = recorded, .now = now, .size = size};
    if (strlen(name) >= sizeof object.name || find_object(r, name, strlen(name)))
        return;
    strcpy(object.name, name);
    r->object = text_grow(r->object, (r->objects + 1) * sizeof *r->object);
    r->object[r->objects++] = object;
}

static uint64_t size_of_new(const struct step *step)
{
    switch (step->call.head.id) {
    case VMM_CALL_mem_address_reserve: return step->call.mem_address_reserve.size;
    case VMM_CALL_mem_alloc_managed: return step->call.mem_alloc_managed.bytesize;
    case VMM_CALL_mem_alloc: return step->call.mem_alloc.bytesize;
    case VMM_CALL_mem_alloc_async: return step->call.mem_alloc_async.bytesize;
    case VMM_CALL_mem_alloc_from_pool_async: return step->call.mem_alloc_from_pool_async.bytesize;
    default: return 0;
    }
}

/* What was recorded may be anything. */
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

/* A named output is the object's value now; a new name is learnt. */
static bool compare_object(struct replay *r, json_t *names, const struct vmm_param *param, json_t *json, uint64_t now,
                           struct text *difference)
{
    const char *name = json_string_value(json_object_get(names, param->name));
    uint64_t recorded, expected;
    if (!replay_hex(r, param->name, json, &recorded))
        return false;
    if (name && !strchr(name, '+') && !find_object(r, name, strlen(name)))
        learn(r, name, recorded, now, size_of_new(&r->step));
    if (!name || !replay_named(r, name, &expected))
        expected = replay_translate(r, recorded);
    if (expected != now)
        differs_u64(difference, param->name, expected, now);
    return true;
}

static bool is_address(int attribute)
{
    return attribute == VMM_POINTER_ATTRIBUTE_CONTEXT || attribute == VMM_POINTER_ATTRIBUTE_DEVICE_POINTER ||
           attribute == VMM_POINTER_ATTRIBUTE_HOST_POINTER || attribute == VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
           attribute == VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR;
}

/* Ids are any numbers; only "none" must stay none. */
static bool is_id(int attribute)
{
    return attribute == VMM_POINTER_ATTRIBUTE_BUFFER_ID || attribute == VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID;
}

static bool compare_attribute(struct replay *r, const char *key, json_t *json, int attribute,
                              const union step_out *now, struct text *difference)
{
    uint64_t recorded, replayed = vmm_pointer_attribute_size(attribute) == 4 ? (uint64_t)(int64_t)now->i : now->u64;
    const char *name = step_attribute_name(attribute);
    if (!json || json_is_null(json))
        return true;
    if (json_is_integer(json))
        recorded = (uint64_t)(int64_t)json_integer_value(json);
    else if (!replay_hex(r, key, json, &recorded))
        return false;
    if (vmm_pointer_attribute_size(attribute) == 4) {
        recorded &= UINT32_MAX; /* unsigned attributes are written without a sign */
        replayed &= UINT32_MAX;
    }
    if (is_address(attribute))
        recorded = replay_translate(r, recorded);
    if (is_id(attribute) ? !recorded != !replayed : recorded != replayed)
        differs_u64(difference, name ? name : key, recorded, replayed);
    return true;
}

static bool compare_attributes(struct replay *r, const char *key, json_t *json, struct text *difference)
{
    if (!json_is_array(json))
        return replay_malformed(r, key, "%s is not a list", key);
    for (size_t i = 0; i < json_array_size(json) && i < STEP_ATTRIBUTES; i++)
        if (!compare_attribute(r, key, json_array_get(json, i), r->step.attributes[i], &r->step.data[i], difference))
            return false;
    return true;
}

static bool compare_bytes(struct replay *r, const struct vmm_param *param, json_t *json, struct text *difference)
{
    const unsigned char *now = (const unsigned char *)(uintptr_t)vmm_call_scalar(&r->step.call.head, param);
    uint64_t size = r->step.call.memcpy_dtoh.byte_count, hash, at = 0;
    const char *hex = json_string_value(json_object_get(json, "hex"));
    json_t *recorded = json_object_get(json, "fnv1a64");
    if (!json_is_object(json))
        return replay_malformed(r, param->name, "%s is not {\"length\":...}", param->name);
    if (r->unknown_bytes || json_object_get(json, "device") || !now)
        return true;
    if (recorded) {
        if (!replay_hex(r, param->name, recorded, &hash))
            return false;
        if (hash != fnv1a(FNV1A, now, size))
            differs_u64(difference, "bytes (hash)", hash, fnv1a(FNV1A, now, size));
        return true;
    }
    if (hex && strlen(hex) != 2 * size)
        return replay_malformed(r, param->name, "hex holds %zu digits for %" PRIu64 " bytes", strlen(hex), size);
    for (; hex && at < size; at++) {
        char two[3] = {hex[2 * at], hex[2 * at + 1], 0};
        uint64_t wanted = strtoul(two, NULL, 16);
        if (wanted != now[at]) {
            text_add(difference, "  byte +%" PRIu64 "  recorded %s\n             replayed %02x\n", at, two,
                     now[at]);
            return true;
        }
    }
    return true;
}

static bool compare_prop(struct replay *r, const char *key, json_t *json, struct text *difference)
{
    vmm_mem_allocation_prop recorded;
    const vmm_mem_allocation_prop *now = &r->step.prop;
    if (!replay_prop(r, key, json, &recorded))
        return false;
    if (recorded.type != now->type || recorded.requested_handle_types != now->requested_handle_types ||
        recorded.location.type != now->location.type || recorded.location.id != now->location.id ||
        memcmp(&recorded.alloc_flags, &now->alloc_flags, sizeof now->alloc_flags) != 0)
        differs(difference, key, "other properties (see the line)", "what is shown above");
    return true;
}

/* Of host memory only the type and the size are known. */
static bool compare_box(struct replay *r, const char *key, json_t *json, struct text *difference)
{
    const vmm_memcpy3d *now = &r->step.box;
    uint64_t src, dst;
    if (!json_is_object(json))
        return replay_malformed(r, key, "%s is not an object", key);
    if (!replay_hex(r, "src", json_object_get(json, "src"), &src) || !replay_hex(r, "dst", json_object_get(json, "dst"), &dst))
        return false;
    bool same = json_integer_value(json_object_get(json, "src_memory_type")) == now->src_memory_type &&
                json_integer_value(json_object_get(json, "dst_memory_type")) == now->dst_memory_type &&
                (!replay_is_known(r, src) || replay_translate(r, src) == vmm_box_src(now)) &&
                (!replay_is_known(r, dst) || replay_translate(r, dst) == vmm_box_dst(now));
    for (int i = 0; i < VMM_BOX_SIZES; i++) {
        uint64_t value = 0;
        json_t *given = json_object_get(json, vmm_box_sizes[i].name);
        if (given && !replay_hex(r, vmm_box_sizes[i].name, given, &value))
            return false;
        same &= value == *vmm_box_size_at(now, &vmm_box_sizes[i]);
    }
    if (!same)
        differs(difference, key, "another box (see the line)", "what is shown above");
    return true;
}

static void learn_descriptor(struct replay *r, const char *name, size_t index)
{
    if (name && step_wrote_fabric(&r->step))
        learn(r, name, UINT64_MAX, fabrics_keep(&r->fabrics, r->step.out[index].shareable), 0);
    if (!name || !r->step.has_descriptor)
        return;
    learn(r, name, UINT64_MAX, (uint64_t)r->step.descriptor, 0);
    r->step.has_descriptor = false;
    descriptors_keep(&r->open, r->step.descriptor);
}

/* Nodes of a list: those that are known are where they are now, the others become known. */
static bool compare_nodes(struct replay *r, const char *key, json_t *json, const vmm_graph_node *now, struct text *difference)
{
    const size_t count = json_array_size(json);
    const uint64_t *length = vmm_list_length(&r->step.call.head);
    uint64_t recorded;
    if (!json_is_array(json))
        return replay_malformed(r, key, "%s is not a list", key);
    if (length && now && *length < count) {
        differs_u64(difference, key, count, *length);
        return true;
    }
    for (size_t i = 0; now && i < count && i < STEP_NODES; i++) {
        char name[sizeof r->object->name];
        if (!replay_hex(r, key, json_array_get(json, i), &recorded))
            return false;
        const uint64_t value = (uint64_t)(uintptr_t)now[i];
        snprintf(name, sizeof name, "#%zu", r->objects);
        if (!replay_is_known(r, recorded))
            learn(r, name, recorded, value, 0);
        else if (replay_translate(r, recorded) != value)
            differs_u64(difference, key, replay_translate(r, recorded), value);
    }
    return true;
}

static bool compare_edges(struct replay *r, const char *key, json_t *json, const vmm_graph_edge_data *now, struct text *difference)
{
    uint64_t recorded;
    if (!json_is_array(json))
        return replay_malformed(r, key, "%s is not a list", key);
    for (size_t i = 0; now && i < json_array_size(json) && i < STEP_NODES; i++) {
        if (!replay_hex(r, key, json_array_get(json, i), &recorded))
            return false;
        if (recorded != vmm_graph_edge_number(&now[i]))
            differs_u64(difference, key, recorded, vmm_graph_edge_number(&now[i]));
    }
    return true;
}

static bool compare_fill_node(struct replay *r, const char *key, json_t *json, struct text *difference)
{
    static const char *const names[] = {"dst", "pitch", "value", "element_size", "width", "height"};
    const vmm_memset_node_params *fill = &r->step.fill_node;
    const uint64_t now[] = {fill->dst, fill->pitch, fill->value, fill->element_size, fill->width, fill->height};
    uint64_t recorded;
    for (int i = 0; i < 6; i++) {
        if (!replay_hex(r, key, json_object_get(json, names[i]), &recorded))
            return false;
        if ((i ? recorded : replay_translate(r, recorded)) != now[i])
            differs_u64(difference, names[i], recorded, now[i]);
    }
    return true;
}

static bool compare_update(struct replay *r, const char *key, json_t *json, struct text *difference)
{
    json_t *result = json_object_get(json, "result");
    if (!json_is_integer(result))
        return replay_malformed(r, key, "%s is not the result of an update", key);
    if (json_integer_value(result) != r->step.update.result)
        differs_u64(difference, key, (uint64_t)json_integer_value(result), (uint64_t)(int64_t)r->step.update.result);
    return true;
}

/* Outputs of calls of graphs. */
static bool compare_graph_out(struct replay *r, const struct vmm_param *param, json_t *json, const union step_out *now,
                              struct text *difference)
{
    void *room = (void *)(uintptr_t)vmm_call_scalar(&r->step.call.head, param);
    uint64_t recorded;
    switch (param->kind) {
    case VMM_PARAM_OUT_NODES: return compare_nodes(r, param->name, json, room, difference);
    case VMM_PARAM_OUT_NODES_AT: return compare_nodes(r, param->name, json, now->nodes, difference);
    case VMM_PARAM_OUT_EDGES: return compare_edges(r, param->name, json, room, difference);
    case VMM_PARAM_OUT_EDGES_AT: return compare_edges(r, param->name, json, now->edges, difference);
    case VMM_PARAM_OUT_FILL_NODE: return compare_fill_node(r, param->name, json, difference);
    case VMM_PARAM_OUT_UPDATE: return compare_update(r, param->name, json, difference);
    case VMM_PARAM_OUT_ID: /* any number */
        if (!replay_hex(r, param->name, json, &recorded))
            return false;
        if (!recorded != !now->u64)
            differs_u64(difference, param->name, recorded, now->u64);
        return true;
    default: return true; /* a function of the program */
    }
}

static bool compare_out(struct replay *r, json_t *names, json_t *json, const struct vmm_param *params, size_t index,
                        struct text *difference)
{
    const struct vmm_param *param = &params[index];
    const union step_out *now = &r->step.out[index];
    uint64_t recorded;
    switch (param->kind) {
    case VMM_PARAM_OUT_NODES:
    case VMM_PARAM_OUT_NODES_AT:
    case VMM_PARAM_OUT_EDGES:
    case VMM_PARAM_OUT_EDGES_AT:
    case VMM_PARAM_OUT_FILL_NODE:
    case VMM_PARAM_OUT_HOST_NODE:
    case VMM_PARAM_OUT_UPDATE:
    case VMM_PARAM_OUT_ID: return compare_graph_out(r, param, json, now, difference);
    case VMM_PARAM_IO_INT:
    case VMM_PARAM_OUT_INT:
        if (!json_is_integer(json))
            return replay_malformed(r, param->name, "%s is not an integer", param->name);
        if (json_integer_value(json) != now->i)
            differs_u64(difference, param->name, (uint64_t)json_integer_value(json), (uint64_t)(int64_t)now->i);
        return true;
    case VMM_PARAM_OUT_FD: /* one descriptor is like another; one that has a name stays open, for imports */
        learn_descriptor(r, json_string_value(json_object_get(names, param->name)), index);
        return true;
    case VMM_PARAM_OUT_IPC_HANDLE: /* its bytes belong to one machine, too; opens need them */
        if (json_object_get(names, param->name))
            learn(r, json_string_value(json_object_get(names, param->name)), UINT64_MAX,
                  fabrics_keep(&r->fabrics, now->shareable), 0);
        return true;
    case VMM_PARAM_OUT_POOL_POINTER: /* its bytes belong to one machine */
        return true;
    case VMM_PARAM_OUT_POOL_VALUE:
        if (json_is_integer(json)) {
            if (json_integer_value(json) != now->i)
                differs_u64(difference, param->name, (uint64_t)json_integer_value(json), (uint64_t)(int64_t)now->i);
            return true;
        }
        /* fall through */
    case VMM_PARAM_OUT_U64:
    case VMM_PARAM_IO_COUNT:
    case VMM_PARAM_OUT_SIZE:
        if (!replay_hex(r, param->name, json, &recorded))
            return false;
        if (recorded != now->u64)
            differs_u64(difference, param->name, recorded, now->u64);
        return true;
    case VMM_PARAM_OUT_TEXT:
        if (!json_is_string(json))
            return replay_malformed(r, param->name, "%s is not a string", param->name);
        if (strcmp(json_string_value(json), r->step.text) != 0)
            differs(difference, param->name, json_string_value(json), r->step.text);
        return true;
    case VMM_PARAM_OUT_STRUCT: return replay_compare_struct(r, param, json, difference);
    case VMM_PARAM_OUT_RANGE: return replay_compare_range(r, param, json, difference);
    case VMM_PARAM_OUT_PROP: return compare_prop(r, param->name, json, difference);
    case VMM_PARAM_OUT_MEMCPY3D: return compare_box(r, param->name, json, difference);
    case VMM_PARAM_OUT_BYTES: return compare_bytes(r, param, json, difference);
    case VMM_PARAM_OUT_ATTRIBUTE:
        return compare_attribute(r, param->name, json,
                                 (int)(int64_t)vmm_call_scalar(&r->step.call.head, &params[index + 1]), now, difference);
    case VMM_PARAM_OUT_ATTRIBUTES: return compare_attributes(r, param->name, json, difference);
    default: return compare_object(r, names, param, json, now->u64, difference);
    }
}

static bool compare_result(struct replay *r, json_t *line, struct text *difference)
{
    json_t *code = json_object_get(line, "code");
    const char *rule = json_string_value(json_object_get(line, "rule")), *now = r->step.detail_rule;
    if (!json_is_integer(code))
        return replay_malformed(r, "\"code\"", "no \"code\" in this line");
    if (json_integer_value(code) != (json_int_t)r->step.result)
        differs(difference, "result", vmm_result_name((vmm_result)json_integer_value(code)),
                vmm_result_name(r->step.result));
    if (r->rules && (rule || now) && (!rule || !now || strcmp(rule, now) != 0))
        differs(difference, "rule", rule ? rule : "none", now ? now : "none");
    return true;
}

/* What a call freed is remembered, to name it; nothing is there. */
static void end_object(struct replay *r)
{
    const union vmm_any_call *call = &r->step.call;
    bool freed = call->head.id == VMM_CALL_mem_address_free, in_order = call->head.id == VMM_CALL_mem_free_async;
    bool ended = freed || in_order || call->head.id == VMM_CALL_mem_free;
    uint64_t at = freed ? call->mem_address_free.ptr : in_order ? call->mem_free_async.dptr : call->mem_free.dptr;
    for (size_t i = r->objects; ended && r->step.result == VMM_SUCCESS && i-- > 0;)
        if (r->object[i].name[0] == (freed ? 'R' : 'A') && r->object[i].now == at) {
            r->object[i].ended = true;
            return;
        }
}

bool replay_compare(struct replay *r, json_t *line, struct text *difference)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(r->step.call.head.id, &count);
    json_t *out = json_object_get(line, "out"), *names = json_object_get(line, "names");
    if (!compare_result(r, line, difference))
        return false;
    end_object(r);
    for (size_t i = 0; out && difference->length == 0 && i < count; i++) {
        json_t *json = json_object_get(out, params[i].name);
        if (json && step_is_out(params[i].kind) && vmm_call_scalar(&r->step.call.head, &params[i]) &&
            !compare_out(r, names, json, params, i, difference))
            return false;
    }
    return true;
}

#else
typedef int replay_compare_needs_jansson;
#endif
