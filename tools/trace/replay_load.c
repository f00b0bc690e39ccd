/* SPDX-License-Identifier: Apache-2.0 */
/* From a line of a trace to a call that can be made. See replay_state.h. */
#ifdef CUVMM_HAVE_JANSSON
#define _POSIX_C_SOURCE 200809L
#include "replay_state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COPY_MAX (UINT64_C(256) << 20) /* host memory that a replayed copy may use */

bool replay_hex(struct replay *r, const char *key, json_t *json, uint64_t *value)
{
    if (trace_line_hex(json_string_value(json), value))
        return true;
    return replay_malformed(r, key, "%s is not a hexadecimal string such as \"0x200000\"", key);
}

static bool integer(struct replay *r, const char *key, json_t *json, int *value)
{
    json_int_t number = json_integer_value(json);
    if (!json_is_integer(json) || number < INT32_MIN || number > INT32_MAX)
        return replay_malformed(r, key, "%s is not a 32-bit integer", key);
    *value = (int)number;
    return true;
}

static bool member(struct replay *r, json_t *json, const char *key, int *value)
{
    return integer(r, key, json_object_get(json, key), value);
}

static bool replay_location(struct replay *r, const char *key, json_t *json, vmm_mem_location *location)
{
    if (!json_is_object(json))
        return replay_malformed(r, key, "%s is not a location: {\"type\":1,\"id\":0}", key);
    return member(r, json, "type", &location->type) && member(r, json, "id", &location->id);
}

static bool byte_member(struct replay *r, json_t *json, const char *key, int max, int *value)
{
    if (!member(r, json, key, value))
        return false;
    return (*value >= 0 && *value <= max) || replay_malformed(r, key, "%s is %d; 0 to %d are possible", key, *value, max);
}

static bool hex_bytes(struct replay *r, const char *hex, unsigned char *bytes, size_t count)
{
    for (size_t i = 0; hex && i < count; i++) {
        char two[3] = {hex[2 * i], hex[2 * i] ? hex[2 * i + 1] : (char)0, 0}, *end;
        bytes[i] = (unsigned char)strtoul(two, &end, 16);
        if (end != two + 2)
            hex = NULL;
    }
    return (hex && !hex[2 * count]) || replay_malformed(r, "reserved", "reserved is not %zu hexadecimal digits", 2 * count);
}

bool replay_prop(struct replay *r, const char *key, json_t *json, vmm_mem_allocation_prop *prop)
{
    uint64_t meta;
    int compression, rdma, usage;
    memset(prop, 0, sizeof *prop);
    if (!json_is_object(json))
        return replay_malformed(r, key, "%s is not a property object", key);
    if (!member(r, json, "type", &prop->type) ||
        !member(r, json, "requested_handle_types", &prop->requested_handle_types) ||
        !replay_location(r, "location", json_object_get(json, "location"), &prop->location) ||
        !replay_hex(r, "win32_handle_meta_data", json_object_get(json, "win32_handle_meta_data"), &meta) ||
        !byte_member(r, json, "compression_type", UINT8_MAX, &compression) ||
        !byte_member(r, json, "gpu_direct_rdma_capable", UINT8_MAX, &rdma) ||
        !byte_member(r, json, "usage", UINT16_MAX, &usage) ||
        !hex_bytes(r, json_string_value(json_object_get(json, "reserved")), prop->alloc_flags.reserved,
                   sizeof prop->alloc_flags.reserved))
        return false;
    prop->win32_handle_meta_data = (void *)(uintptr_t)meta; /* never read through */
    prop->alloc_flags.compression_type = (unsigned char)compression;
    prop->alloc_flags.gpu_direct_rdma_capable = (unsigned char)rdma;
    prop->alloc_flags.usage = (unsigned short)usage;
    return true;
}

static bool load_team(struct replay *r, const char *key, json_t *json, vmm_multicast_object_prop *team)
{
    uint64_t devices;
    memset(team, 0, sizeof *team);
    if (!json_is_object(json))
        return replay_malformed(r, key, "%s is not an object of multicast properties", key);
    if (!replay_hex(r, "num_devices", json_object_get(json, "num_devices"), &devices) ||
        !replay_hex(r, "size", json_object_get(json, "size"), &team->size) ||
        !replay_hex(r, "handle_types", json_object_get(json, "handle_types"), &team->handle_types) ||
        !replay_hex(r, "flags", json_object_get(json, "flags"), &team->flags))
        return false;
    team->num_devices = (unsigned)devices;
    return devices <= UINT32_MAX || replay_malformed(r, "num_devices", "num_devices does not fit into 4 bytes");
}

static bool load_pool_props(struct replay *r, const char *key, json_t *json, vmm_mem_pool_props *props)
{
    uint64_t security, max;
    int usage;
    memset(props, 0, sizeof *props);
    if (!json_is_object(json))
        return replay_malformed(r, key, "%s is not an object of a pool's properties", key);
    const char *hex = json_string_value(json_object_get(json, "reserved"));
    if (!member(r, json, "alloc_type", &props->alloc_type) || !member(r, json, "handle_types", &props->handle_types) ||
        !replay_location(r, "location", json_object_get(json, "location"), &props->location) ||
        !replay_hex(r, "win32_security_attributes", json_object_get(json, "win32_security_attributes"), &security) ||
        !replay_hex(r, "max_size", json_object_get(json, "max_size"), &max) ||
        !byte_member(r, json, "usage", UINT16_MAX, &usage) ||
        !hex_bytes(r, hex, props->reserved, sizeof props->reserved))
        return false;
    props->win32_security_attributes = (void *)(uintptr_t)security; /* never read through */
    props->max_size = max;
    props->usage = (unsigned short)usage;
    return true;
}

/* An int or 64 bits; what no attribute says the size of is not read. */
static bool load_pool_value(struct replay *r, const char *key, json_t *json)
{
    int narrow = 0;
    if (json_is_string(json) && strcmp(json_string_value(json), "unknown") == 0)
        return true;
    if (!json_is_integer(json))
        return replay_hex(r, key, json, &r->step.pool_value);
    bool ok = integer(r, key, json, &narrow);
    if (ok)
        memcpy(&r->step.pool_value, &narrow, sizeof narrow);
    return ok;
}

static bool load_grants(struct replay *r, const char *key, json_t *json)
{
    if (!json_is_array(json) || json_array_size(json) > STEP_GRANTS)
        return replay_malformed(r, key, "%s is not a list of at most %d grants", key, STEP_GRANTS);
    for (size_t i = 0; i < json_array_size(json); i++) {
        json_t *grant = json_array_get(json, i);
        if (!json_is_object(grant) ||
            !replay_location(r, "location", json_object_get(grant, "location"), &r->step.grants[i].location) ||
            !member(r, grant, "flags", &r->step.grants[i].flags))
            return json_is_object(grant) ? false : replay_malformed(r, key, "a grant in %s is not an object", key);
    }
    return true;
}

static bool load_words(struct replay *r, const char *key, json_t *json)
{
    if (!json_is_array(json) || json_array_size(json) > STEP_WORDS)
        return replay_malformed(r, key, "%s is not a list of at most %d arguments", key, STEP_WORDS);
    for (size_t i = 0; i < json_array_size(json); i++) {
        uint64_t *word = &r->step.words[i];
        if (!replay_hex(r, key, json_array_get(json, i), word))
            return false;
        /* Which of them are addresses the trace does not say; counts and values are smaller. */
        if (*word > UINT32_MAX)
            *word = replay_translate(r, *word);
    }
    return true;
}

static bool load_mem_op(struct replay *r, const char *key, json_t *json, vmm_stream_batch_mem_op_params *op)
{
    uint64_t flags;
    memset(op, 0, sizeof *op);
    if (!json_is_object(json))
        return replay_malformed(r, key, "an operation in %s is not an object", key);
    if (!member(r, json, "operation", &op->operation) || !replay_hex(r, "flags", json_object_get(json, "flags"), &flags))
        return false;
    if (flags > UINT32_MAX)
        return replay_malformed(r, key, "the flags of an operation do not fit into 4 bytes");
    if (!vmm_mem_op_has_value(op->operation)) {
        op->memory_barrier.flags = (unsigned)flags;
        return true;
    }
    op->wait_value.flags = (unsigned)flags;
    if (!replay_hex(r, "address", json_object_get(json, "address"), &op->wait_value.address) ||
        !replay_hex(r, "value", json_object_get(json, "value"), &op->wait_value.value64))
        return false;
    op->wait_value.address = replay_translate(r, op->wait_value.address);
    return true;
}

static bool load_mem_ops(struct replay *r, const char *key, json_t *json)
{
    if (!json_is_array(json) || json_array_size(json) > STEP_MEM_OPS)
        return replay_malformed(r, key, "%s is not a list of at most %d operations", key, STEP_MEM_OPS);
    for (size_t i = 0; i < json_array_size(json); i++)
        if (!load_mem_op(r, key, json_array_get(json, i), &r->step.mem_ops[i]))
            return false;
    return true;
}

/* ---- host memory that work uses after its call ---- */

static unsigned char *keep(struct replay_room *room, unsigned char *memory)
{
    room->kept = text_grow(room->kept, (room->count + 1) * sizeof *room->kept);
    room->kept[room->count++] = memory;
    return memory;
}

static unsigned char *lend(struct replay_room *room, size_t size)
{
    if (size > room->size || !room->shared) {
        room->size = size > 2 * room->size ? size : 2 * room->size;
        room->shared = keep(room, text_grow(NULL, room->size));
        memset(room->shared, 0, room->size);
    }
    return room->shared;
}

void replay_room_end(struct replay_room *room)
{
    for (size_t i = 0; i < room->count; i++)
        free(room->kept[i]);
    free(room->kept);
}

static bool lasts(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_memcpy_dtoh_async:
    case VMM_CALL_memcpy_3d_async:
    case VMM_CALL_memcpy_3d_peer_async:
    case VMM_CALL_graph_add_memcpy_node:
    case VMM_CALL_graph_memcpy_node_set_params:
    case VMM_CALL_graph_exec_memcpy_node_set_params: return true;
    default: return false;
    }
}

/* Zeros for a step's copy, until the end of the step, or of the replay if the work may come later. */
static unsigned char *host_memory(struct replay *r, size_t size)
{
    if (lasts((enum vmm_call_id)r->step.call.head.id))
        return lend(&r->room, size);
    r->step.bytes = text_grow(NULL, size);
    memset(r->step.bytes, 0, size);
    return r->step.bytes;
}

/* Where one side of a copy of a box is now: an address of the trace's, or of host memory, of which only the size is known. *host: a
 * side is host memory. */
static void place_box(struct replay *r, const vmm_memcpy3d *box, bool src, uint64_t recorded, uint64_t *now, bool *host, bool *skip)
{
    const vmm_memorytype type = src ? box->src_memory_type : box->dst_memory_type;
    const uint64_t rows = src ? box->src_height : box->dst_height, pitch = src ? box->src_pitch : box->dst_pitch,
                   x = src ? box->src_x_in_bytes : box->dst_x_in_bytes, y = src ? box->src_y : box->dst_y,
                   z = src ? box->src_z : box->dst_z;
    uint64_t size;
    *now = replay_translate(r, recorded);
    if (type == VMM_MEMORYTYPE_ARRAY)
        return; /* known, or refused as it was */
    if (!recorded || *now != recorded || replay_is_known(r, recorded))
        return;
    if (type == VMM_MEMORYTYPE_DEVICE)
        return; /* refused, as it was */
    bool huge = __builtin_mul_overflow(rows ? rows : y + box->height, z + box->depth, &size) ||
                __builtin_mul_overflow(size, pitch ? pitch : x + box->width_in_bytes, &size) || size > COPY_MAX ||
                x > COPY_MAX || y > COPY_MAX;
    if (huge || *host || type != VMM_MEMORYTYPE_HOST) { /* both sides, or one that may be anything */
        *skip = r->unknown_bytes = true;
        return;
    }
    *host = true;
    r->unknown_bytes |= src;
    *now = (uint64_t)(uintptr_t)host_memory(r, (size_t)(size + x + box->width_in_bytes));
}

static bool load_box(struct replay *r, const char *key, json_t *json, bool *skip)
{
    vmm_memcpy3d *box = &r->step.box;
    uint64_t src, dst, context[2] = {0, 0};
    if (!json_is_object(json))
        return replay_malformed(r, key, "%s is not an object", key);
    if (!member(r, json, "src_memory_type", &box->src_memory_type) || !member(r, json, "dst_memory_type", &box->dst_memory_type) ||
        !replay_hex(r, "src", json_object_get(json, "src"), &src) || !replay_hex(r, "dst", json_object_get(json, "dst"), &dst))
        return false;
    for (int i = 0; i < VMM_BOX_SIZES; i++) {
        uint64_t value = 0;
        json_t *given = json_object_get(json, vmm_box_sizes[i].name);
        if (given && !replay_hex(r, vmm_box_sizes[i].name, given, &value))
            return false;
        *vmm_box_size_at(box, &vmm_box_sizes[i]) = (size_t)value;
    }
    for (int i = 0; i < 2; i++) {
        json_t *given = json_object_get(json, i ? "dst_context" : "src_context");
        if (given && !replay_hex(r, i ? "dst_context" : "src_context", given, &context[i]))
            return false;
    }
    box->reserved0 = (void *)(uintptr_t)replay_translate(r, context[0]);
    box->reserved1 = (void *)(uintptr_t)replay_translate(r, context[1]);
    bool host = false;
    place_box(r, box, true, src, &src, &host, skip);
    place_box(r, box, false, dst, &dst, &host, skip);
    box->src_host = (const void *)(uintptr_t)src;
    box->dst_host = (void *)(uintptr_t)dst;
    box->src_device = src;
    box->dst_device = dst;
    box->src_array = (vmm_array)(uintptr_t)src;
    box->dst_array = (vmm_array)(uintptr_t)dst;
    return true;
}

/* Where an address of a batch is now; one that belongs to no object of the trace's is the host's, whose bytes are not recorded. */
static void place_batch(struct replay *r, uint64_t *address, bool *skip)
{
    const uint64_t now = replay_translate(r, *address);
    if (*address && now == *address && !replay_is_known(r, *address))
        *skip = r->unknown_bytes = true;
    *address = now;
}

/* Addresses where they are now. Host memory is not in the trace. */
static bool load_batch(struct replay *r, const char *key, json_t *json, uint64_t *list, bool addresses, bool *skip)
{
    if (!json_is_array(json) || json_array_size(json) > STEP_COPIES)
        return replay_malformed(r, key, "%s is not a list of at most %d values", key, STEP_COPIES);
    for (size_t i = 0; i < json_array_size(json); i++) {
        if (!replay_hex(r, key, json_array_get(json, i), &list[i]))
            return false;
        if (addresses)
            place_batch(r, &list[i], skip);
    }
    return true;
}

/* A member of 32 bits. */
static bool narrow_member(struct replay *r, json_t *json, const char *key, unsigned *value)
{
    uint64_t wide;
    if (!replay_hex(r, key, json_object_get(json, key), &wide))
        return false;
    *value = (unsigned)wide;
    return wide <= UINT32_MAX || replay_malformed(r, key, "%s does not fit into 4 bytes", key);
}

static bool size_member(struct replay *r, json_t *json, const char *key, size_t *value)
{
    uint64_t wide;
    if (!replay_hex(r, key, json_object_get(json, key), &wide))
        return false;
    *value = (size_t)wide;
    return true;
}

static bool load_copy_attributes(struct replay *r, const char *key, json_t *json)
{
    if (!json_is_array(json) || json_array_size(json) > STEP_COPIES)
        return replay_malformed(r, key, "%s is not a list of at most %d attributes", key, STEP_COPIES);
    for (size_t i = 0; i < json_array_size(json); i++) {
        json_t *one = json_array_get(json, i);
        vmm_memcpy_attributes *to = &r->step.copy_attributes[i];
        if (!member(r, one, "order", &to->src_access_order) || !narrow_member(r, one, "flags", &to->flags) ||
            !replay_location(r, "src", json_object_get(one, "src"), &to->src_loc_hint) ||
            !replay_location(r, "dst", json_object_get(one, "dst"), &to->dst_loc_hint))
            return false;
    }
    return true;
}

static bool load_operand(struct replay *r, json_t *json, vmm_memcpy3d_operand *operand, bool *skip)
{
    uint64_t at;
    if (!member(r, json, "type", &operand->type) || !replay_hex(r, "at", json_object_get(json, "at"), &at) ||
        !size_member(r, json, "row", &operand->op.ptr.row_length) || !size_member(r, json, "rows", &operand->op.ptr.layer_height))
        return false;
    place_batch(r, &at, skip);
    operand->op.ptr.ptr = at;
    return true;
}

static bool load_boxes(struct replay *r, const char *key, json_t *json, bool *skip)
{
    if (!json_is_array(json) || json_array_size(json) > STEP_COPIES)
        return replay_malformed(r, key, "%s is not a list of at most %d boxes", key, STEP_COPIES);
    for (size_t i = 0; i < json_array_size(json); i++) {
        json_t *one = json_array_get(json, i);
        vmm_memcpy3d_batch_op *box = &r->step.boxes[i];
        if (!load_operand(r, json_object_get(one, "dst"), &box->dst, skip) ||
            !load_operand(r, json_object_get(one, "src"), &box->src, skip) || !size_member(r, one, "width", &box->extent.width) ||
            !size_member(r, one, "height", &box->extent.height) || !size_member(r, one, "depth", &box->extent.depth) ||
            !member(r, one, "order", &box->src_access_order) || !narrow_member(r, one, "flags", &box->flags))
            return false;
    }
    return true;
}

/* Nodes are known by their recorded values. */
static bool load_nodes(struct replay *r, const char *key, json_t *json, vmm_graph_node *nodes)
{
    uint64_t value;
    if (!json_is_array(json) || json_array_size(json) > STEP_NODES)
        return replay_malformed(r, key, "%s is not a list of at most %d nodes", key, STEP_NODES);
    for (size_t i = 0; i < json_array_size(json); i++) {
        if (!replay_hex(r, key, json_array_get(json, i), &value))
            return false;
        nodes[i] = (vmm_graph_node)(uintptr_t)replay_translate(r, value);
    }
    return true;
}

static bool load_edges(struct replay *r, const char *key, json_t *json)
{
    uint64_t value;
    if (!json_is_array(json) || json_array_size(json) > STEP_NODES)
        return replay_malformed(r, key, "%s is not a list of at most %d edges", key, STEP_NODES);
    for (size_t i = 0; i < json_array_size(json); i++) {
        if (!replay_hex(r, key, json_array_get(json, i), &value))
            return false;
        memcpy(&r->step.edges[i], &value, sizeof value);
    }
    return true;
}

/* A member of 32 or 64 bits. */
static bool hex_member(struct replay *r, json_t *json, const char *key, uint64_t most, uint64_t *value)
{
    return replay_hex(r, key, json_object_get(json, key), value) &&
           (*value <= most || replay_malformed(r, key, "%s does not fit into 4 bytes", key));
}

static bool load_fill_node(struct replay *r, const char *key, json_t *json)
{
    vmm_memset_node_params *fill = &r->step.fill_node;
    uint64_t dst, pitch, value, size, width, height;
    if (!json_is_object(json))
        return replay_malformed(r, key, "%s is not an object", key);
    if (!hex_member(r, json, "dst", UINT64_MAX, &dst) || !hex_member(r, json, "pitch", UINT64_MAX, &pitch) ||
        !hex_member(r, json, "value", UINT32_MAX, &value) || !hex_member(r, json, "element_size", UINT32_MAX, &size) ||
        !hex_member(r, json, "width", UINT64_MAX, &width) || !hex_member(r, json, "height", UINT64_MAX, &height))
        return false;
    *fill = (vmm_memset_node_params){replay_translate(r, dst), pitch, (unsigned)value, (unsigned)size, width, height};
    return true;
}

/* A count above what the trace holds cannot be made again. */
static bool load_kernel_node(struct replay *r, const char *key, json_t *json, bool *skip)
{
    vmm_kernel_node_params *kernel = &r->step.kernel_node;
    uint64_t grid, block;
    json_t *args = json_object_get(json, "args");
    if (!json_is_object(json))
        return replay_malformed(r, key, "%s is not an object", key);
    if (!member(r, json, "kernel", &kernel->kernel) || !hex_member(r, json, "grid_dim", UINT32_MAX, &grid) ||
        !hex_member(r, json, "block_dim", UINT32_MAX, &block) || !hex_member(r, json, "count", UINT64_MAX, &kernel->count))
        return false;
    kernel->grid_dim = (unsigned)grid;
    kernel->block_dim = (unsigned)block;
    if (json_is_null(args))
        kernel->args = NULL;
    else if (!load_words(r, "args", args))
        return false;
    else
        *skip |= kernel->count > json_array_size(args);
    return true;
}

static bool load_attributes(struct replay *r, const char *key, json_t *json)
{
    if (!json_is_array(json) || json_array_size(json) > STEP_ATTRIBUTES)
        return replay_malformed(r, key, "%s is not a list of at most %d attributes", key, STEP_ATTRIBUTES);
    for (size_t i = 0; i < json_array_size(json); i++)
        if (!integer(r, key, json_array_get(json, i), &r->step.attributes[i]))
            return false;
    return true;
}

/* Where each attribute goes: "out", or null for none. */
static bool load_data(struct replay *r, const char *key, json_t *json)
{
    if (!json_is_array(json) || json_array_size(json) > STEP_ATTRIBUTES)
        return replay_malformed(r, key, "%s is not a list of \"out\" and null", key);
    for (size_t i = 0; i < json_array_size(json); i++)
        if (json_is_null(json_array_get(json, i)))
            r->step.data_pointers[i] = NULL;
    return true;
}

/* A device address in the place of the host's; where it lies now is known with the size (lend_device). */
static bool load_device_for_host(struct replay *r, json_t *json, const struct vmm_param *param)
{
    uint64_t address;
    if (!replay_hex(r, "device", json_object_get(json, "device"), &address))
        return false;
    vmm_call_set_scalar(&r->step.call.head, param, address);
    return true;
}

/* Without the call, contents are not known from here on. */
static void lend_device(struct replay *r, const struct vmm_param *param, uint64_t size, bool *skip)
{
    uint64_t now = 0;
    if (!replay_device(r, vmm_call_scalar(&r->step.call.head, param), size, param->kind == VMM_PARAM_OUT_BYTES, &now))
        *skip = r->unknown_bytes = true;
    vmm_call_set_scalar(&r->step.call.head, param, now);
}

static bool load_bytes(struct replay *r, const char *key, json_t *json, const struct vmm_param *param, bool *skip)
{
    uint64_t length;
    if (!json_is_object(json) || !replay_hex(r, "length", json_object_get(json, "length"), &length))
        return json_is_object(json) ? false : replay_malformed(r, key, "%s is not {\"length\":...}", key);
    const char *hex = json_string_value(json_object_get(json, "hex"));
    if (length > COPY_MAX) {
        *skip = true;
        return true;
    }
    if (json_object_get(json, "device"))
        return load_device_for_host(r, json, param);
    if (hex && strlen(hex) != 2 * length)
        return replay_malformed(r, key, "hex holds %zu digits for %" PRIu64 " bytes", strlen(hex), length);
    r->step.bytes = text_grow(NULL, (size_t)length);
    memset(r->step.bytes, 0, (size_t)length);
    for (uint64_t i = 0; hex && i < length; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], 0}, *end;
        r->step.bytes[i] = (unsigned char)strtoul(two, &end, 16);
        if (end != two + 2)
            return replay_malformed(r, key, "hex holds something else than hexadecimal digits");
    }
    r->unknown_bytes |= !hex && json_object_get(json, "fnv1a64");
    vmm_call_set_scalar(&r->step.call.head, param, (uint64_t)(uintptr_t)r->step.bytes);
    if (r->captured && r->step.call.head.id == VMM_CALL_memcpy_htod_async) {
        keep(&r->room, r->step.bytes);
        r->step.bytes = NULL;
    }
    return true;
}

/* A scalar by name where the trace gives one, else by value. */
static bool load_scalar(struct replay *r, json_t *json, json_t *names, const struct vmm_param *param)
{
    const char *name = json_string_value(json_object_get(names, param->name));
    uint64_t value = 0;
    int number = 0;
    if (param->kind == VMM_PARAM_INT) {
        if (!integer(r, param->name, json, &number))
            return false;
        value = (uint64_t)(int64_t)number;
    } else if (!replay_hex(r, param->name, json, &value)) {
        return false;
    }
    /* Addresses of what has ended, or past its end, have no name and lie where that object is now. */
    if (!name && (param->kind == VMM_PARAM_ADDRESS || param->kind == VMM_PARAM_GRAPH_NODE)) /* nodes are known from lists, too */
        value = replay_translate(r, value);
    if (name && !replay_named(r, name, &value))
        return replay_malformed(r, param->name, "%s is named \"%.40s\", which no earlier line made", param->name, name);
    if (param->size < 8 && param->kind != VMM_PARAM_INT && value >> (8 * param->size))
        return replay_malformed(r, param->name, "%s does not fit into %d bytes", param->name, param->size);
    vmm_call_set_scalar(&r->step.call.head, param, value);
    return true;
}

/* What stands for an open descriptor that no export of the trace made. */
static uint64_t foreign(struct replay *r)
{
    if (r->foreign < 0 && (r->foreign = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0)
        descriptors_keep(&r->open, r->foreign);
    return (uint64_t)(int64_t)r->foreign;
}

/* One that was closed is none here. */
static bool load_descriptor(struct replay *r, json_t *json, json_t *names, const struct vmm_param *param)
{
    const char *name = json_string_value(json_object_get(names, param->name)), *kind = json_string_value(json);
    uint64_t value = !name && kind && strcmp(kind, "fd") == 0 ? foreign(r) : UINT64_MAX;
    if (name && !replay_named(r, name, &value))
        return replay_malformed(r, param->name, "%s is named \"%.40s\", which no earlier line made", param->name, name);
    vmm_call_set_scalar(&r->step.call.head, param, value);
    fabrics_find(&r->fabrics, value, r->step.fabric);
    return true;
}

/* The bytes of a handle that the trace saw being made; those of any other are not in it. */
static bool load_ipc_handle(struct replay *r, json_t *names, const struct vmm_param *param, bool *skip)
{
    const char *name = json_string_value(json_object_get(names, param->name));
    uint64_t value = 0;
    if (name && !replay_named(r, name, &value))
        return replay_malformed(r, param->name, "%s is named \"%.40s\", which no earlier line made", param->name, name);
    *skip |= !name;
    fabrics_find(&r->fabrics, value, r->step.fabric);
    vmm_call_set_scalar(&r->step.call.head, param, (uint64_t)(uintptr_t)r->step.fabric);
    return true;
}

/* The room of lists, which have no more here than a trace holds. */
static bool load_room(struct replay *r, const struct vmm_param *param, json_t *json, bool *skip)
{
    uint64_t *room = (uint64_t *)(uintptr_t)vmm_call_scalar(&r->step.call.head, param);
    if (!replay_hex(r, param->name, json, room))
        return false;
    *skip |= *room > STEP_NODES;
    return true;
}

static bool load_param(struct replay *r, json_t *args, json_t *names, const struct vmm_param *param, bool *skip)
{
    json_t *json = json_object_get(args, param->name);
    if (!json)
        return replay_malformed(r, "\"args\"", "the argument \"%s\" is missing", param->name);
    if (param->kind < VMM_PARAM_PROP)
        return load_scalar(r, json, names, param);
    if (json_is_null(json)) {
        vmm_call_set_scalar(&r->step.call.head, param, 0);
        return true;
    }
    switch (param->kind) {
    case VMM_PARAM_FD: return load_descriptor(r, json, names, param);
    case VMM_PARAM_PROP: return replay_prop(r, param->name, json, &r->step.prop);
    case VMM_PARAM_TEAM: return load_team(r, param->name, json, &r->step.team);
    case VMM_PARAM_POOL_PROPS: return load_pool_props(r, param->name, json, &r->step.pool_props);
    case VMM_PARAM_POOL_VALUE: return load_pool_value(r, param->name, json);
    case VMM_PARAM_POOL_POINTER: return *skip = true; /* its bytes are not in the trace */
    case VMM_PARAM_IPC_HANDLE: return load_ipc_handle(r, names, param, skip);
    case VMM_PARAM_LOCATION: return replay_location(r, param->name, json, &r->step.location);
    case VMM_PARAM_LOCATION_VALUE:
        if (!replay_location(r, param->name, json, &r->step.location))
            return false;
        vmm_call_set_scalar(&r->step.call.head, param, (uint64_t)(uintptr_t)&r->step.location);
        return true;
    case VMM_PARAM_STRUCT: return replay_struct(r, param->name, json, vmm_shape(param->shape), r->step.structure);
    case VMM_PARAM_STRUCTS: return replay_structs(r, param->name, json, vmm_shape(param->shape));
    case VMM_PARAM_DESCS: return load_grants(r, param->name, json);
    case VMM_PARAM_ARGS: return load_words(r, param->name, json);
    case VMM_PARAM_ATTRIBUTES: return load_attributes(r, param->name, json);
    case VMM_PARAM_MEM_OPS: return load_mem_ops(r, param->name, json);
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER: return load_box(r, param->name, json, skip);
    case VMM_PARAM_ADDRESSES:
    case VMM_PARAM_SIZES:
        return load_batch(r, param->name, json, (uint64_t *)(uintptr_t)vmm_call_scalar(&r->step.call.head, param),
                          param->kind == VMM_PARAM_ADDRESSES, skip);
    case VMM_PARAM_COPY_ATTRIBUTES: return load_copy_attributes(r, param->name, json);
    case VMM_PARAM_BOXES: return load_boxes(r, param->name, json, skip);
    case VMM_PARAM_NODES:
        return load_nodes(r, param->name, json, (vmm_graph_node *)(uintptr_t)vmm_call_scalar(&r->step.call.head, param));
    case VMM_PARAM_EDGES: return load_edges(r, param->name, json);
    case VMM_PARAM_FILL_NODE: return load_fill_node(r, param->name, json);
    case VMM_PARAM_KERNEL_NODE: return load_kernel_node(r, param->name, json, skip);
    case VMM_PARAM_IO_COUNT: return load_room(r, param, json, skip);
    case VMM_PARAM_IO_INT: return integer(r, param->name, json, (int *)(uintptr_t)vmm_call_scalar(&r->step.call.head, param));
    case VMM_PARAM_BYTES: return load_bytes(r, param->name, json, param, skip);
    case VMM_PARAM_OUT_ATTRIBUTES: return load_data(r, param->name, json);
    case VMM_PARAM_OUT_BYTES: /* its room is made when its size is known */
        if (json_object_get(json, "device"))
            return load_device_for_host(r, json, param);
        vmm_call_set_scalar(&r->step.call.head, param, (uint64_t)(uintptr_t)&r->step);
        return true;
    default: return true;
    }
}

/* Counts that reach past what the trace holds, or past memory that a replay should use, cannot be made again. */
static void bound(struct replay *r, json_t *args, const struct vmm_param *params, size_t count, bool *skip)
{
    struct step *step = &r->step;
    const struct vmm_call *call = &step->call.head;
    for (size_t i = 0; i < count; i++) {
        uint64_t pointer = params[i].kind < VMM_PARAM_PROP ? 0 : vmm_call_scalar(call, &params[i]);
        size_t listed = json_array_size(json_object_get(args, params[i].name));
        if (!pointer)
            continue;
        if (params[i].kind == VMM_PARAM_DESCS)
            *skip |= vmm_call_scalar(call, &params[i + 1]) > listed;
        if (params[i].kind == VMM_PARAM_ARGS)
            *skip |= step->call.launch.count > listed;
        if (params[i].kind == VMM_PARAM_MEM_OPS)
            *skip |= step->call.stream_batch_mem_op.count > listed && step->call.stream_batch_mem_op.count <= STEP_MEM_OPS;
        if (params[i].kind >= VMM_PARAM_ADDRESSES && params[i].kind <= VMM_PARAM_BOXES)
            *skip |= vmm_batch_length(call, &params[i]) > listed;
        if (params[i].kind == VMM_PARAM_STRUCTS)
            *skip |= vmm_structs_length(call, &params[i]) > listed;
        if (params[i].kind == VMM_PARAM_OUT_RANGE)
            *skip |= step->call.mem_range_get_attribute.data_size > sizeof step->range;
        if (params[i].kind == VMM_PARAM_NODES || params[i].kind == VMM_PARAM_EDGES)
            *skip |= step_list(step) > listed;
        if (params[i].kind == VMM_PARAM_ATTRIBUTES || params[i].kind == VMM_PARAM_OUT_ATTRIBUTES)
            *skip |= step->call.pointer_get_attributes.num_attributes > listed;
        if (params[i].kind == VMM_PARAM_OUT_TEXT)
            *skip |= step->call.device_get_name.len > STEP_TEXT;
        if (json_object_get(json_object_get(args, params[i].name), "device")) {
            lend_device(r, &params[i], step->call.memcpy_htod.byte_count, skip);
        } else if (params[i].kind == VMM_PARAM_OUT_BYTES) {
            uint64_t size = step->call.memcpy_dtoh.byte_count;
            *skip |= size > COPY_MAX;
            vmm_call_set_scalar(&step->call.head, &params[i], (uint64_t)(uintptr_t)host_memory(r, *skip ? 1 : (size_t)size));
        }
        if (params[i].kind == VMM_PARAM_BYTES && !*skip) {
            uint64_t length = 0;
            replay_hex(r, params[i].name, json_object_get(json_object_get(args, params[i].name), "length"), &length);
            *skip |= step->call.memcpy_htod.byte_count > length;
        }
    }
}

bool replay_load(struct replay *r, json_t *line, bool *skip)
{
    const char *name = json_string_value(json_object_get(line, "call"));
    json_t *args = json_object_get(line, "args");
    size_t count;
    enum vmm_call_id id = name ? vmm_call_find(name) : VMM_CALL_COUNT;
    *skip = false;
    if (id == VMM_CALL_COUNT)
        return replay_malformed(r, "\"call\"", "%s", name ? "\"call\" names no call that is known"
                                                          : "no \"call\" in this line");
    if (!json_is_object(args))
        return replay_malformed(r, "\"args\"", "no \"args\" object in this line");
    step_end(&r->step);
    step_begin(&r->step, id);
    r->captured |= id == VMM_CALL_stream_begin_capture || id == VMM_CALL_stream_begin_capture_to_graph;
    const struct vmm_param *params = vmm_call_params(id, &count);
    for (size_t i = 0; i < count; i++)
        if (!load_param(r, args, json_object_get(line, "names"), &params[i], skip))
            return false;
    if (!*skip)
        bound(r, args, params, count, skip);
    return true;
}

#else
typedef int replay_load_needs_jansson;
#endif
