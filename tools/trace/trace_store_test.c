/* SPDX-License-Identifier: Apache-2.0 */
/* Both forms of a trace have the same contents: random calls of every kind, with everything that their pointers can
 * refer to, are written as records and as lines, read again, and written in the other form. */
#include "trace_store.h"

#include "tap.h"

#ifndef CUVMM_HAVE_JANSSON

int main(void)
{
    tap_skip("built without jansson", "both forms of a trace");
    return tap_done();
}

#else

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_backend.h"
#include "random.h"
#include "trace.h"
#include "trace_convert.h"
#include "trace_lines.h"
#include "trace_record.h"
#include "trace_value.h"

static char path[64];
static uint64_t dice;

static uint64_t below(uint64_t n)
{
    return random_below(&dice, n);
}

/* ---- random calls ---- */

/* Mostly small, occasionally arbitrary. */
static uint64_t number(void)
{
    return below(3) ? below(300) : random_next(&dice) >> below(64);
}

static void *bytes_of(struct trace_room *room, size_t size)
{
    unsigned char *bytes = trace_room_take(room, size);
    if (!bytes)
        tap_bail("no room for a call's memory");
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)random_next(&dice);
    return bytes;
}

static void set(struct trace_room *room, const struct vmm_param *param, const void *to)
{
    vmm_call_set_scalar(&room->call.head, param, (uint64_t)(uintptr_t)to);
}

static size_t element_size(const struct vmm_param *param)
{
    switch (param->kind) {
    case VMM_PARAM_STRUCTS: return vmm_shape(param->shape)->size;
    case VMM_PARAM_DESCS: return sizeof(vmm_mem_access_desc);
    case VMM_PARAM_MEM_OPS: return sizeof(vmm_stream_batch_mem_op_params);
    case VMM_PARAM_COPY_ATTRIBUTES: return sizeof(vmm_memcpy_attributes);
    case VMM_PARAM_BOXES: return sizeof(vmm_memcpy3d_batch_op);
    case VMM_PARAM_ATTRIBUTES: return sizeof(int);
    default: return sizeof(uint64_t);
    }
}

static size_t structure_size(const struct vmm_param *param)
{
    switch (param->kind) {
    case VMM_PARAM_STRUCT: return vmm_shape(param->shape)->size;
    case VMM_PARAM_PROP: return sizeof(vmm_mem_allocation_prop);
    case VMM_PARAM_TEAM: return sizeof(vmm_multicast_object_prop);
    case VMM_PARAM_LOCATION: return sizeof(vmm_mem_location);
    case VMM_PARAM_POOL_PROPS: return sizeof(vmm_mem_pool_props);
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER: return sizeof(vmm_memcpy3d);
    case VMM_PARAM_FILL_NODE: return sizeof(vmm_memset_node_params);
    default: return 64;
    }
}

static bool is_length(const struct vmm_param *param)
{
    return param->kind == VMM_PARAM_COUNT || strcmp(param->name, "num_attributes") == 0 ||
           strcmp(param->name, "num_prefetch_locs") == 0 ||
           (param->kind == VMM_PARAM_U32 && strcmp(param->name, "count") == 0);
}

/* Short lists, and occasionally one that is too long. */
static uint64_t length(void)
{
    return below(30) ? below(6) : 250 + below(12);
}

static void fill_number(struct trace_room *room, const struct vmm_param *param)
{
    uint64_t value = number();
    if (is_length(param))
        value = length();
    if (strcmp(param->name, "byte_count") == 0)
        value = below(20) ? below(40) : TRACE_BYTES_MAX - 1 + below(3);
    if (strcmp(param->name, "data_size") == 0)
        value = 4 * length() + below(4);
    if (strcmp(param->name, "attribute") == 0)
        value = 1 + below(25);
    if (strcmp(param->name, "attr") == 0)
        value = below(10);
    if (param->kind == VMM_PARAM_INT && strcmp(param->name, "attr") != 0 && strcmp(param->name, "attribute") != 0)
        value = (uint64_t)(int64_t)(int32_t)value;
    vmm_call_set_scalar(&room->call.head, param, value);
}

/* A list has room for the call's count, and at least for the maximum in a line. */
static void fill_list(struct trace_room *room, const struct vmm_param *param)
{
    const uint64_t count = trace_listed(&room->call.head, param);
    int *attribute = bytes_of(room, (size_t)count * element_size(param) + 16);
    for (uint64_t i = 0; param->kind == VMM_PARAM_ATTRIBUTES && i < count; i++)
        attribute[i] = (int)below(25) - 1;
    vmm_memcpy3d_batch_op *box = (vmm_memcpy3d_batch_op *)(void *)attribute;
    for (uint64_t i = 0; param->kind == VMM_PARAM_BOXES && i < count; i++) {
        box[i].src.type = (int)below(4); /* one kind is an array */
        box[i].dst.type = (int)below(4);
    }
    set(room, param, attribute);
}

static void fill_kernel(struct trace_room *room, const struct vmm_param *param)
{
    vmm_kernel_node_params *kernel = bytes_of(room, sizeof *kernel);
    kernel->count = length();
    kernel->args = below(4) ? bytes_of(room, (size_t)kernel->count * 8 + 8) : NULL;
    set(room, param, kernel);
}

static void fill_wanted(struct trace_room *room, const struct vmm_param *param)
{
    const uint64_t count = trace_listed(&room->call.head, param);
    void **data = bytes_of(room, (size_t)count * sizeof *data + 8);
    for (uint64_t i = 0; i < count; i++)
        data[i] = below(5) ? bytes_of(room, 16) : NULL;
    set(room, param, data);
}

static void fill_text(struct trace_room *room, const struct vmm_param *param)
{
    char *text = bytes_of(room, 40);
    for (int i = 0; i < 39; i++)
        text[i] = text[i] ? text[i] : '"';
    text[below(40)] = '\0';
    set(room, param, text);
}

/* Lists that the call writes: another parameter points to their length. */
static void fill_written(struct trace_room *room, const struct vmm_param *param, uint64_t *list)
{
    uint64_t **theirs = bytes_of(room, sizeof *theirs);
    *theirs = list;
    set(room, param, param->kind == VMM_PARAM_OUT_NODES_AT || param->kind == VMM_PARAM_OUT_EDGES_AT ? (void *)theirs : (void *)list);
}

static void fill_pointer(struct trace_room *room, const struct vmm_param *param)
{
    switch (param->kind) {
    case VMM_PARAM_DESCS:
    case VMM_PARAM_ARGS:
    case VMM_PARAM_ATTRIBUTES:
    case VMM_PARAM_MEM_OPS:
    case VMM_PARAM_ADDRESSES:
    case VMM_PARAM_SIZES:
    case VMM_PARAM_COPY_ATTRIBUTES:
    case VMM_PARAM_BOXES:
    case VMM_PARAM_STRUCTS:
    case VMM_PARAM_NODES:
    case VMM_PARAM_EDGES: fill_list(room, param); break;
    case VMM_PARAM_OUT_RANGE: set(room, param, bytes_of(room, TRACE_LIST_MAX * sizeof(int))); break;
    case VMM_PARAM_KERNEL_NODE: fill_kernel(room, param); break;
    case VMM_PARAM_OUT_ATTRIBUTES: fill_wanted(room, param); break;
    case VMM_PARAM_OUT_TEXT: fill_text(room, param); break;
    case VMM_PARAM_OUT_NODES:
    case VMM_PARAM_OUT_EDGES:
    case VMM_PARAM_OUT_NODES_AT:
    case VMM_PARAM_OUT_EDGES_AT: fill_written(room, param, bytes_of(room, 300 * 8)); break;
    case VMM_PARAM_BYTES:
    case VMM_PARAM_OUT_BYTES: set(room, param, bytes_of(room, TRACE_BYTES_MAX + 8)); break;
    default: set(room, param, bytes_of(room, trace_is_out(param->kind) ? 128 : structure_size(param)));
    }
}

static void fill_locations(struct trace_room *room, const struct vmm_param *params, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (params[i].kind == VMM_PARAM_LOCATION_VALUE)
            set(room, &params[i], bytes_of(room, sizeof(vmm_mem_location)));
}

/* The location of a written list's length. */
static void fill_written_length(struct trace_room *room)
{
    uint64_t *at = (uint64_t *)(uintptr_t)vmm_list_length(&room->call.head);
    if (at)
        *at = length();
}

/* Forms that a line cannot express differently: a 4-byte int before zeros, an edge followed by zeros. */
static void fill_capture(struct trace_room *room)
{
    if (room->call.head.id == VMM_CALL_stream_get_capture_info) {
        static int status;
        status = (int)below(3);
        room->call.stream_get_capture_info.capture_status_out = &status;
    }
}

static bool may_be_null(const struct trace_room *room, const struct vmm_param *param)
{
    bool list = false;
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)room->call.head.id, &count);
    for (size_t i = 0; i < count; i++)
        list |= params[i].kind == VMM_PARAM_OUT_NODES || params[i].kind == VMM_PARAM_OUT_EDGES;
    return param->kind != VMM_PARAM_IPC_HANDLE && !(param->kind == VMM_PARAM_IO_COUNT && list);
}

static void fill_detail(struct trace_room *room)
{
    vmm_detail *detail = &room->detail;
    memset(detail, 0, sizeof *detail);
    detail->severity = below(2) ? VMM_SEVERITY_ERROR : VMM_SEVERITY_WARNING;
    detail->rule = below(4) ? "VMM-MAP-OVERLAP" : NULL;
    detail->argument = below(2) ? "ptr" : NULL;
    detail->value = detail->argument ? number() : 0;
    detail->expected = below(2) ? number() : 0;
    detail->nearest.kind = (vmm_object_kind)below(VMM_OBJECT_ARRAY + 1);
    detail->nearest.number = (uint32_t)below(1000);
    detail->nearest.value = below(31);
    snprintf(detail->note, sizeof detail->note, "%s", below(2) ? "a \"note\"\x80\n" : "");
}

static void fill_moment(struct trace_room *room)
{
    struct trace_event *event = &room->event;
    event->time = random_next(&dice) >> 1;
    event->place = (uint32_t)below(3000);
    event->shared = below(4) ? 0 : random_next(&dice);
    event->frames = event->place ? (uint32_t)below(4) : 0;
    event->frame = room->frame;
    for (uint32_t i = 0; i < event->frames; i++)
        room->frame[i] = i ? "/opt/app/step+0x17bd" : "pool.py:12 gr\xc3\xb6w";
}

/* A call with all optional parts. */
static void make(struct trace_room *room, enum vmm_call_id id, bool own, uint64_t at)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params(id, &count);
    struct trace_event *event = &room->event;
    trace_room_begin(room, id);
    room->call.head.number = below(50) ? at : random_next(&dice) >> 1;
    event->thread = (uint32_t)(below(20) ? 1 + below(4) : 1 + below(100000));
    event->result = below(4) ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (params[i].kind < VMM_PARAM_PROP)
            fill_number(room, &params[i]);
    for (size_t i = 0; i < count; i++)
        if (params[i].kind >= VMM_PARAM_PROP && !VMM_BY_VALUE(params[i].kind) && (below(12) || !may_be_null(room, &params[i])))
            fill_pointer(room, &params[i]);
    fill_locations(room, params, count);
    fill_written_length(room);
    fill_capture(room);
    event->wrote = event->result == VMM_SUCCESS || (id == VMM_CALL_mem_get_access && below(2) && room->call.mem_get_access.flags);
    if (below(5) == 0)
        fill_detail(room);
    if (own)
        fill_moment(room);
}

/* The additions of the layer, for calls that need them. */
static void note(struct trace_event *event, uint32_t *descriptors)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)event->call->id, &count);
    for (size_t i = 0; i < count; i++) {
        const enum vmm_param_kind kind = params[i].kind;
        const bool there = kind == VMM_PARAM_IPC_HANDLE || vmm_call_scalar(event->call, &params[i]) != 0;
        if (kind == VMM_PARAM_BYTES || kind == VMM_PARAM_OUT_BYTES) {
            event->device = there && below(5) == 0;
            event->hash = !event->device && event->wrote && there && trace_length(event->call, "byte_count") > TRACE_BYTES_MAX &&
                                  !(kind == VMM_PARAM_OUT_BYTES && trace_is_async(event->call))
                              ? random_next(&dice)
                              : 0;
        }
        if (kind == VMM_PARAM_IO_COUNT && there)
            event->before = number();
        if (kind == VMM_PARAM_IO_INT && there)
            event->before = (uint32_t)number();
        if (kind == VMM_PARAM_FD && there)
            event->closed = !trace_is_fabric(event->call) && below(3) == 0;
        if ((kind == VMM_PARAM_OUT_FD || kind == VMM_PARAM_OUT_IPC_HANDLE) && there && event->wrote && below(3))
            event->descriptor = ++*descriptors;
        if ((kind == VMM_PARAM_FD || kind == VMM_PARAM_IPC_HANDLE) && there && *descriptors && below(2))
            event->descriptor = 1 + (uint32_t)below(*descriptors);
        uint64_t *output = (uint64_t *)(uintptr_t)vmm_call_scalar(event->call, &params[i]);
        if (event->wrote && kind >= VMM_PARAM_OUT_U64 && kind <= VMM_PARAM_OUT_POOL && there && below(16) == 0 &&
            output != vmm_list_length(event->call)) {
            event->lacks = (uint16_t)(event->lacks | 1U << i);
            *output = 0; /* an object without a value has no name */
        }
    }
}

/* ---- the forms ---- */

static struct text lines_of(struct trace_store *store)
{
    struct text text = {0};
    uint64_t calls;
    size_t size;
    FILE *out = open_memstream(&text.data, &size);
    if (!out || !trace_to_lines(store, out, &calls))
        tap_bail("no memory for lines");
    fclose(out);
    text.length = size;
    return text;
}

static struct text read_file(const char *name)
{
    struct text text = {0};
    char part[4096];
    FILE *in = fopen(name, "rb");
    if (!in)
        tap_bail("%s: %s", name, strerror(errno));
    for (size_t got; (got = fread(part, 1, sizeof part, in)) > 0;)
        text_add_bytes(&text, part, got);
    fclose(in);
    return text;
}

static bool same(const struct text *a, const struct text *b, const char *what)
{
    size_t at = 0, start = 0;
    while (at < a->length && at < b->length && a->data[at] == b->data[at])
        if (a->data[at++] == '\n')
            start = at;
    if (tap_ok(a->length == b->length && at == a->length, "%s", what))
        return true;
    tap_note("they differ at byte %zu: %.600s", at, a->data + start);
    tap_note("and %.600s", b->data + start);
    return false;
}

static bool open_text(struct trace_store *store, const struct text *text, const char *name)
{
    FILE *in = fmemopen(text->data, text->length, "rb");
    const bool good = in && trace_store_open(store, in, name);
    if (in)
        fclose(in);
    return good;
}

static bool open_path(struct trace_store *store, const char *name)
{
    FILE *in = fopen(name, "rb");
    const bool good = in && trace_store_open(store, in, "trace");
    if (in)
        fclose(in);
    return good;
}

static const char *header_of(bool own)
{
    return own ? "{\"cuvmm-trace\":1,\"version\":\"0.1.0\",\"inner\":[\"fake\"],\"host\":\"h\",\"boot\":\"b\",\"process\":1,"
                 "\"parent\":0,\"program\":\"p\",\"started\":\"s\",\"clock\":5}"
               : "{\"cuvmm-trace\":1,\"version\":\"0.1.0\",\"inner\":[\"fake\"]}";
}

/* Many calls of every kind: as records, as lines made from those, and as records made from the lines. */
static void test_every_call(bool own)
{
    const unsigned rounds = random_rounds(20);
    struct trace_room *room = text_grow(NULL, sizeof *room);
    struct trace_store made = {.name = "made", .own = own, .whole = true}, again;
    uint32_t descriptors = 0;
    uint64_t at = 0, written = 0;
    made.header = strcpy(text_grow(NULL, 300), header_of(own));
    for (unsigned round = 0; round < rounds; round++)
        for (int id = 0; id < VMM_CALL_COUNT; id++) {
            make(room, (enum vmm_call_id)id, own, ++at);
            note(&room->event, &descriptors);
            if (trace_record_room(&room->event) * 8 > TRACE_RECORD_MOST)
                tap_bail("%s needs %zu bytes", vmm_call_name((enum vmm_call_id)id), trace_record_room(&room->event) * 8);
            trace_store_add(&made, &room->event);
        }
    free(room);
    struct text lines = lines_of(&made);
    tap_ok(!made.complaint.length && made.chunks > (rounds > 1 ? 3 : 2), "%" PRIu64 " calls in %zu chunks%s: %s", at, made.chunks,
           own ? ", with time and place" : "", made.complaint.data ? made.complaint.data : "");
    const bool read = open_text(&again, &lines, "lines");
    tap_ok(read && !again.complaint.length && again.whole && again.said == at && again.own == own, "their lines can be read: %s",
           again.complaint.data ? again.complaint.data : "");
    struct text twice = lines_of(&again);
    same(&lines, &twice, "and make the same lines again");
    tap_ok(trace_to_binary(&again, path, &written) == 0 && written == at, "they are written into a file");
    trace_store_close(&again);
    tap_ok(open_path(&again, path) && again.binary && again.whole && again.said == at && !again.complaint.length,
           "which can be read: %s", again.complaint.data ? again.complaint.data : "");
    struct text thrice = lines_of(&again);
    same(&lines, &thrice, "and makes the same lines");
    trace_store_close(&again);
    trace_store_close(&made);
    text_free(&lines);
    text_free(&twice);
    text_free(&thrice);
}

/* ---- the layer's output ---- */

/* Calls of a fake backend, in either form. */
static void record(const char *name, unsigned calls)
{
    struct fake fake;
    struct vmm_backend *top = NULL;
    fake_init(&fake);
    if (vmm_trace_open(name, &fake.base, &top) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    for (unsigned i = 0; i < calls; i++) {
        static uint64_t memory[64];
        union vmm_any_call call;
        size_t count = 0;
        const enum vmm_call_id id = (enum vmm_call_id)(i % VMM_CALL_COUNT);
        const struct vmm_param *params = vmm_call_params(id, &count);
        memset(memory, 0, sizeof memory);
        memset(&call, 0, sizeof call);
        call.head.id = (uint16_t)id;
        for (size_t p = 0; p < count; p++)
            vmm_call_set_scalar(&call.head, &params[p], params[p].kind < VMM_PARAM_PROP ? p + 1 : (uint64_t)(uintptr_t)memory);
        fake.result = i % 5 ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE;
        fake_dispatch(top, &call.head, 1 + i);
    }
    top->ops->close(top);
}

static void test_layer(unsigned calls)
{
    char other[80];
    struct trace_store store;
    uint64_t written = 0;
    snprintf(other, sizeof other, "%s.jsonl", path);
    record(other, calls);
    record(path, calls);
    struct text lines = read_file(other), binary = read_file(path);
    const bool opened = open_path(&store, path);
    tap_ok(opened && store.whole && store.said == calls, "%u calls recorded in the binary form, in %zu chunks", calls, store.chunks);
    struct text made = lines_of(&store);
    same(&lines, &made, "are the lines of the readable form");
    trace_store_close(&store);
    tap_ok(open_path(&store, other) && trace_to_binary(&store, path, &written) == 0 && written == calls, "the lines are written in the binary form");
    trace_store_close(&store);
    struct text back = read_file(path);
    tap_ok(back.length == binary.length && memcmp(back.data, binary.data, back.length) == 0, "with the bytes that the layer writes");
    text_free(&lines);
    text_free(&binary);
    text_free(&made);
    text_free(&back);
    unlink(other);
}

int main(void)
{
    const char *folder = getenv("TMPDIR");
    dice = random_seed(2612);
    snprintf(path, sizeof path, "%.40s/t%ld.vtrace", folder ? folder : "/tmp", (long)getpid());
    test_every_call(false);
    test_every_call(true);
    test_layer(10);
    test_layer(5000);
    unlink(path);
    return tap_done();
}

#endif
