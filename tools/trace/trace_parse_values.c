/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a line. See trace_parse.h. */
#ifdef CUVMM_HAVE_JANSSON
#include "trace_parse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"
#include "trace_value.h"

bool parse_malformed(struct parsing *p, const char *key, const char *format, ...)
{
    char words[400];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    return trace_line_complain(&p->line, &p->store->complaint, key, "%s", words);
}

bool parse_hex(struct parsing *p, const char *key, json_t *json, uint64_t *value)
{
    return trace_line_hex(json_string_value(json), value) ||
           parse_malformed(p, key, "%s is not a hexadecimal string such as \"0x200000\"", key);
}

bool parse_hex_of(struct parsing *p, json_t *json, const char *key, uint64_t most, uint64_t *value)
{
    return parse_hex(p, key, json_object_get(json, key), value) &&
           (*value <= most || parse_malformed(p, key, "%s does not fit into 4 bytes", key));
}

bool parse_int(struct parsing *p, const char *key, json_t *json, int *value)
{
    const json_int_t number = json_integer_value(json);
    if (!json_is_integer(json) || number < INT32_MIN || number > INT32_MAX)
        return parse_malformed(p, key, "%s is not a 32-bit integer", key);
    *value = (int)number;
    return true;
}

bool parse_int_of(struct parsing *p, json_t *json, const char *key, int *value)
{
    return parse_int(p, key, json_object_get(json, key), value);
}

static bool parse_limited(struct parsing *p, json_t *json, const char *key, int most, int *value)
{
    return parse_int_of(p, json, key, value) &&
           ((*value >= 0 && *value <= most) || parse_malformed(p, key, "%s is %d; 0 to %d are possible", key, *value, most));
}

bool parse_location(struct parsing *p, const char *key, json_t *json, vmm_mem_location *location)
{
    if (!json_is_object(json))
        return parse_malformed(p, key, "%s is not a location: {\"type\":1,\"id\":0}", key);
    return parse_int_of(p, json, "type", &location->type) && parse_int_of(p, json, "id", &location->id);
}

/* Two digits per byte. False: hex is NULL, or does not have exactly that many. */
static bool parse_digits(const char *hex, unsigned char *bytes, size_t count)
{
    if (!hex || strlen(hex) != 2 * count)
        return false;
    for (size_t i = 0; i < count; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], 0}, *end;
        bytes[i] = (unsigned char)strtoul(two, &end, 16);
        if (end != two + 2 || strchr("-+ \t", two[0]))
            return false;
    }
    return true;
}

static bool parse_reserved(struct parsing *p, json_t *json, unsigned char *bytes, size_t count)
{
    return parse_digits(json_string_value(json_object_get(json, "reserved")), bytes, count) ||
           parse_malformed(p, "reserved", "reserved is not %zu hexadecimal digits", 2 * count);
}

bool parse_prop(struct parsing *p, const char *key, json_t *json, vmm_mem_allocation_prop *prop)
{
    uint64_t meta;
    int compression, rdma, usage;
    if (!json_is_object(json))
        return parse_malformed(p, key, "%s is not a property object", key);
    if (!parse_int_of(p, json, "type", &prop->type) ||
        !parse_int_of(p, json, "requested_handle_types", &prop->requested_handle_types) ||
        !parse_location(p, "location", json_object_get(json, "location"), &prop->location) ||
        !parse_hex_of(p, json, "win32_handle_meta_data", UINT64_MAX, &meta) ||
        !parse_limited(p, json, "compression_type", UINT8_MAX, &compression) ||
        !parse_limited(p, json, "gpu_direct_rdma_capable", UINT8_MAX, &rdma) ||
        !parse_limited(p, json, "usage", UINT16_MAX, &usage) ||
        !parse_reserved(p, json, prop->alloc_flags.reserved, sizeof prop->alloc_flags.reserved))
        return false;
    prop->win32_handle_meta_data = (void *)(uintptr_t)meta; /* never followed */
    prop->alloc_flags.compression_type = (unsigned char)compression;
    prop->alloc_flags.gpu_direct_rdma_capable = (unsigned char)rdma;
    prop->alloc_flags.usage = (unsigned short)usage;
    return true;
}

bool parse_team(struct parsing *p, const char *key, json_t *json, vmm_multicast_object_prop *team)
{
    uint64_t devices;
    if (!json_is_object(json))
        return parse_malformed(p, key, "%s is not an object of multicast properties", key);
    if (!parse_hex_of(p, json, "num_devices", UINT32_MAX, &devices) || !parse_hex_of(p, json, "size", UINT64_MAX, &team->size) ||
        !parse_hex_of(p, json, "handle_types", UINT64_MAX, &team->handle_types) ||
        !parse_hex_of(p, json, "flags", UINT64_MAX, &team->flags))
        return false;
    team->num_devices = (unsigned)devices;
    return true;
}

bool parse_pool_props(struct parsing *p, const char *key, json_t *json, vmm_mem_pool_props *props)
{
    uint64_t security, max;
    int usage;
    if (!json_is_object(json))
        return parse_malformed(p, key, "%s is not an object of a pool's properties", key);
    if (!parse_int_of(p, json, "alloc_type", &props->alloc_type) || !parse_int_of(p, json, "handle_types", &props->handle_types) ||
        !parse_location(p, "location", json_object_get(json, "location"), &props->location) ||
        !parse_hex_of(p, json, "win32_security_attributes", UINT64_MAX, &security) ||
        !parse_hex_of(p, json, "max_size", UINT64_MAX, &max) || !parse_limited(p, json, "usage", UINT16_MAX, &usage) ||
        !parse_reserved(p, json, props->reserved, sizeof props->reserved))
        return false;
    props->win32_security_attributes = (void *)(uintptr_t)security; /* never followed */
    props->max_size = (size_t)max;
    props->usage = (unsigned short)usage;
    return true;
}

/* An optional member, 0 by default. */
static bool parse_given(struct parsing *p, json_t *json, const char *key, uint64_t *value)
{
    *value = 0;
    return !json_object_get(json, key) || parse_hex_of(p, json, key, UINT64_MAX, value);
}

bool parse_box(struct parsing *p, const char *key, json_t *json, vmm_memcpy3d *box)
{
    uint64_t src, dst, src_context, dst_context, size;
    if (!json_is_object(json))
        return parse_malformed(p, key, "%s is not an object", key);
    if (!parse_int_of(p, json, "src_memory_type", &box->src_memory_type) ||
        !parse_int_of(p, json, "dst_memory_type", &box->dst_memory_type) || !parse_hex_of(p, json, "src", UINT64_MAX, &src) ||
        !parse_hex_of(p, json, "dst", UINT64_MAX, &dst) || !parse_given(p, json, "src_context", &src_context) ||
        !parse_given(p, json, "dst_context", &dst_context))
        return false;
    for (int i = 0; i < VMM_BOX_SIZES; i++) {
        if (!parse_given(p, json, vmm_box_sizes[i].name, &size))
            return false;
        *vmm_box_size_at(box, &vmm_box_sizes[i]) = (size_t)size;
    }
    box->src_host = (const void *)(uintptr_t)src;
    box->dst_host = (void *)(uintptr_t)dst;
    box->src_device = src;
    box->dst_device = dst;
    box->src_array = (vmm_array)(uintptr_t)src;
    box->dst_array = (vmm_array)(uintptr_t)dst;
    box->reserved0 = (void *)(uintptr_t)src_context;
    box->reserved1 = (void *)(uintptr_t)dst_context;
    return true;
}

static bool parse_field(struct parsing *p, json_t *json, const struct vmm_param *field, void *structure)
{
    uint64_t value = 0;
    int number = 0;
    if (field->kind == VMM_PARAM_INT) {
        if (!parse_int(p, field->name, json, &number))
            return false;
        value = (uint64_t)(int64_t)number;
    } else if (!parse_hex(p, field->name, json, &value)) {
        return false;
    }
    if (field->size < sizeof value && field->kind != VMM_PARAM_INT && value >> 8 * field->size)
        return parse_malformed(p, field->name, "%s does not fit into %d bytes", field->name, field->size);
    vmm_field_set(structure, field, value);
    return true;
}

bool parse_struct(struct parsing *p, const char *key, json_t *json, const struct vmm_shape *shape, void *structure)
{
    if (!json_is_object(json))
        return parse_malformed(p, key, "%s is not an object", key);
    for (size_t i = 0; i < shape->count; i++) { /* an earlier field selects the used field of a union */
        const struct vmm_param *field = &shape->fields[i];
        json_t *member = json_object_get(json, field->name);
        if (member && vmm_field_used(structure, shape, field) && !parse_field(p, member, field, structure))
            return false;
    }
    return true;
}

bool parse_fill_node(struct parsing *p, const char *key, json_t *json, vmm_memset_node_params *fill)
{
    uint64_t dst, pitch, value, size, width, height;
    if (!json_is_object(json))
        return parse_malformed(p, key, "%s is not an object", key);
    if (!parse_hex_of(p, json, "dst", UINT64_MAX, &dst) || !parse_hex_of(p, json, "pitch", UINT64_MAX, &pitch) ||
        !parse_hex_of(p, json, "value", UINT32_MAX, &value) || !parse_hex_of(p, json, "element_size", UINT32_MAX, &size) ||
        !parse_hex_of(p, json, "width", UINT64_MAX, &width) || !parse_hex_of(p, json, "height", UINT64_MAX, &height))
        return false;
    *fill = (vmm_memset_node_params){dst, (size_t)pitch, (unsigned)value, (unsigned)size, (size_t)width, (size_t)height};
    return true;
}

bool parse_list(struct parsing *p, const char *key, json_t *json, uint64_t count)
{
    if (!json_is_array(json))
        return parse_malformed(p, key, "%s is not a list", key);
    return json_array_size(json) == count ||
           parse_malformed(p, key, "%s has %zu elements; the call names %" PRIu64, key, json_array_size(json), count);
}

bool parse_words(struct parsing *p, const char *key, json_t *json, uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!parse_hex(p, key, json_array_get(json, i), &words[i]))
            return false;
    return true;
}

bool parse_bytes(struct parsing *p, const char *key, json_t *json, unsigned char *bytes, bool there)
{
    uint64_t length;
    const uint64_t count = trace_length(&p->room->call.head, "byte_count");
    json_t *hex = json_object_get(json, "hex"), *hash = json_object_get(json, "fnv1a64");
    if (!json_is_object(json))
        return parse_malformed(p, key, "%s is not {\"length\":...}", key);
    if (!parse_hex_of(p, json, "length", UINT64_MAX, &length))
        return false;
    if (length != count)
        return parse_malformed(p, key, "the length of %s is not byte_count", key);
    if (!there)
        return true;
    if (length > TRACE_BYTES_MAX)
        return parse_hex(p, "fnv1a64", hash, &p->room->event.hash);
    if (hex && strlen(json_string_value(hex) ? json_string_value(hex) : "") != 2 * length)
        return parse_malformed(p, key, "hex does not hold %" PRIu64 " digits for %" PRIu64 " bytes", 2 * length, length);
    return parse_digits(json_string_value(hex), bytes, (size_t)length) ||
           parse_malformed(p, key, "hex contains other characters than hexadecimal digits");
}

const char *parse_text(struct parsing *p, json_t *json)
{
    const char *from = json_string_value(json);
    char *text = from && json_string_length(json) <= TRACE_FRAME_TEXT ? trace_room_take(p->room, json_string_length(json) + 1) : NULL;
    char *to = text;
    while (text && *from) { /* jansson has checked that it is UTF-8: C2 and C3 begin U+0080 to U+00FF */
        const unsigned char c = (unsigned char)*from++;
        *to++ = (char)(c == 0xc2 || c == 0xc3 ? (c & 3) << 6 | (*from++ & 0x3f) : c);
    }
    return text;
}

bool parse_name(const char *text, struct name *name)
{
    char *end = NULL;
    *name = (struct name){.kind = text ? name_kind_of(text[0]) : NAME_KINDS};
    if (name->kind == NAME_KINDS || strchr("-+ \t", text[1]))
        return false;
    const unsigned long long number = strtoull(text + 1, &end, 10);
    if (number > UINT32_MAX || end == text + 1 || (*end && (*end != '+' || !trace_line_hex(end + 1, &name->offset))))
        return false;
    name->number = (uint32_t)number;
    return true;
}

#else
typedef int trace_parse_values_needs_jansson;
#endif
