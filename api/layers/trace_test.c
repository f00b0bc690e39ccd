/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <stdlib.h>
#include <unistd.h>

#include "fake_backend.h"
#include "fnv.h"
#include "json_check.h"
#include "tap.h"

/* ---- a trace over a fake backend, and its lines ---- */

struct rig {
    struct fake fake;
    struct vmm_backend *top;
    FILE *file; /* unlinked once the trace is open, so a killed test leaves nothing behind */
    uint64_t number;
    char *text; /* the contents of the file, once closed */
};

static void rig_open(struct rig *rig)
{
    const char *folder = getenv("TMPDIR");
    char path[256];
    memset(rig, 0, sizeof *rig);
    fake_init(&rig->fake);
    snprintf(path, sizeof path, "%.200s/trace_test.XXXXXX", folder ? folder : "/tmp");
    int fd = mkstemp(path);
    rig->file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (!rig->file)
        tap_bail("cannot make %s", path);
    vmm_result result = vmm_trace_open(path, &rig->fake.base, &rig->top);
    unlink(path);
    if (result != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
}

static vmm_result rig_call(struct rig *rig, struct vmm_call *call)
{
    return fake_dispatch(rig->top, call, ++rig->number);
}

static void rig_read(struct rig *rig)
{
    size_t room = 1 << 22;
    rig->text = calloc(1, room);
    if (!rig->text)
        tap_bail("no memory for the trace");
    rewind(rig->file);
    size_t length = fread(rig->text, 1, room - 1, rig->file);
    rig->text[length] = '\0';
    fclose(rig->file);
}

static void rig_close(struct rig *rig)
{
    rig->top->ops->close(rig->top);
    rig_read(rig);
}

/* Line n of the file, from 0, in a scratch copy. */
static const char *line(const struct rig *rig, unsigned n)
{
    static char copy[1 << 16];
    const char *at = rig->text;
    while (n-- && at)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    size_t length = at ? strcspn(at, "\n") : 0;
    if (length >= sizeof copy)
        tap_bail("a line of %zu bytes", length);
    if (length)
        memcpy(copy, at, length);
    copy[length] = '\0';
    return copy;
}

static bool all_valid(const char *text, unsigned *lines)
{
    bool valid = true;
    *lines = 0;
    while (*text) {
        const char *end = strchr(text, '\n');
        if (!end || !json_check(text, (size_t)(end - text))) {
            tap_note("line %u is no JSON: %.200s", *lines + 1, text);
            return false;
        }
        valid = valid && *text == '{';
        text = end + 1;
        ++*lines;
    }
    return valid;
}

/* ---- single lines, byte by byte ---- */

static void test_memory_lines(void)
{
    struct rig rig;
    uint64_t handle = 0, ptr = 0;
    vmm_mem_allocation_prop prop;
    memset(&prop, 0, sizeof prop);
    prop.type = 1;
    prop.requested_handle_types = 1;
    prop.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, -1};
    prop.alloc_flags.usage = 3;
    prop.alloc_flags.reserved[3] = 0xAB;
    rig_open(&rig);
    rig_call(&rig, &(struct vmm_call_mem_create){{VMM_CALL_mem_create, 0}, &handle, 0x200000, &prop, 0}.head);
    rig_call(&rig, &(struct vmm_call_mem_address_reserve){{VMM_CALL_mem_address_reserve, 0}, &ptr, 0x400000, 0, 0, 0}.head);
    rig_call(&rig, &(struct vmm_call_mem_map){{VMM_CALL_mem_map, 0}, ptr + 0x200000, 0x200000, 0, handle, 0}.head);
    vmm_mem_access_desc desc[2] = {{{1, 0}, 3}, {{3, 1}, 1}};
    rig_call(&rig, &(struct vmm_call_mem_set_access){{VMM_CALL_mem_set_access, 0}, ptr, 0x400000, desc, 2}.head);
    rig_call(&rig, &(struct vmm_call_mem_address_free){{VMM_CALL_mem_address_free, 0}, ptr, 0x400000}.head);
    rig_call(&rig, &(struct vmm_call_mem_unmap){{VMM_CALL_mem_unmap, 0}, ptr, 0x400000}.head);
    rig_close(&rig);
    tap_text(line(&rig, 0), "{\"cuvmm-trace\":1,\"version\":\"0.1.0\",\"inner\":[\"fake\"]}", "header");
    tap_text(line(&rig, 1),
             "{\"n\":1,\"thread\":1,\"call\":\"mem_create\",\"args\":{\"handle\":\"out\",\"size\":\"0x200000\",\"prop\":"
             "{\"type\":1,\"requested_handle_types\":1,\"location\":{\"type\":1,\"id\":-1},\"win32_handle_meta_data\":"
             "\"0x0\",\"compression_type\":0,\"gpu_direct_rdma_capable\":0,\"usage\":3,\"reserved\":\"000000ab\"},"
             "\"flags\":\"0x0\"},\"names\":{\"handle\":\"H1\"},\"result\":\"CUDA_SUCCESS\",\"code\":0,"
             "\"out\":{\"handle\":\"0x100000000000\"}}",
             "create: properties, and a name for the new handle");
    tap_text(line(&rig, 2),
             "{\"n\":2,\"thread\":1,\"call\":\"mem_address_reserve\",\"args\":{\"ptr\":\"out\",\"size\":\"0x400000\","
             "\"alignment\":\"0x0\",\"addr\":\"0x0\",\"flags\":\"0x0\"},\"names\":{\"ptr\":\"R1\"},\"result\":"
             "\"CUDA_SUCCESS\",\"code\":0,\"out\":{\"ptr\":\"0x100001000000\"}}",
             "reserve: a name for the new range");
    tap_text(line(&rig, 3),
             "{\"n\":3,\"thread\":1,\"call\":\"mem_map\",\"args\":{\"ptr\":\"0x100001200000\",\"size\":\"0x200000\","
             "\"offset\":\"0x0\",\"handle\":\"0x100000000000\",\"flags\":\"0x0\"},\"names\":{\"ptr\":\"R1+0x200000\","
             "\"handle\":\"H1\"},\"result\":\"CUDA_SUCCESS\",\"code\":0}",
             "map: both names, no output");
    tap_ok(strstr(line(&rig, 4), "\"desc\":[{\"location\":{\"type\":1,\"id\":0},\"flags\":3},{\"location\":{\"type\":3,"
                                 "\"id\":1},\"flags\":1}],\"count\":\"0x2\"}"),
           "set access: every grant");
    tap_ok(strstr(line(&rig, 5), "\"names\":{\"ptr\":\"R1\"}"), "free: the name is still known in its own line");
    tap_ok(!strstr(line(&rig, 6), "\"names\""), "the name is gone after its own line");
    tap_text(line(&rig, 7), "{\"end\":1,\"calls\":6}", "footer");
    free(rig.text);
}

static void test_copies(void)
{
    struct rig rig;
    static unsigned char bytes[TRACE_BYTES_MAX + 1];
    char want[128];
    rig_open(&rig);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    const uint64_t to = 0x5000;
    rig_call(&rig, &(struct vmm_call_memcpy_htod){{VMM_CALL_memcpy_htod, 0}, to, bytes, 4}.head);
    rig_call(&rig, &(struct vmm_call_memcpy_htod){{VMM_CALL_memcpy_htod, 0}, to, bytes, TRACE_BYTES_MAX}.head);
    rig_call(&rig, &(struct vmm_call_memcpy_htod){{VMM_CALL_memcpy_htod, 0}, to, bytes, TRACE_BYTES_MAX + 1}.head);
    rig_call(&rig, &(struct vmm_call_memcpy_htod){{VMM_CALL_memcpy_htod, 0}, to, NULL, 0}.head);
    rig_call(&rig, &(struct vmm_call_memcpy_dtoh){{VMM_CALL_memcpy_dtoh, 0}, bytes + 8, to, 3}.head);
    rig_call(&rig, &(struct vmm_call_memcpy_dtoh_async){{VMM_CALL_memcpy_dtoh_async, 0}, bytes, to, 3, NULL}.head);
    rig.fake.result = VMM_ERROR_INVALID_VALUE;
    rig_call(&rig, &(struct vmm_call_memcpy_htod){{VMM_CALL_memcpy_htod, 0}, to, bytes, UINT64_MAX}.head);
    rig_call(&rig, &(struct vmm_call_memcpy_dtoh){{VMM_CALL_memcpy_dtoh, 0}, bytes, to, UINT64_MAX}.head);
    rig_close(&rig);
    tap_ok(strstr(line(&rig, 1), "\"src\":{\"length\":\"0x4\",\"hex\":\"00010203\"},\"byte_count\":\"0x4\"}"),
           "a short copy with its bytes");
    tap_ok(strstr(line(&rig, 2), "\"hex\":\"000102") && !strstr(line(&rig, 2), "fnv1a64"), "the longest copy with its bytes");
    snprintf(want, sizeof want, "\"src\":{\"length\":\"0x1001\",\"fnv1a64\":\"0x%" PRIx64 "\"}",
             fnv1a(FNV1A, bytes, sizeof bytes));
    tap_ok(strstr(line(&rig, 3), want), "a longer copy has its hash");
    tap_ok(strstr(line(&rig, 4), "\"src\":null"), "NULL is null");
    tap_ok(strstr(line(&rig, 5), "\"out\":{\"dst\":{\"length\":\"0x3\",\"hex\":\"08090a\"}}"), "the bytes of a copy to the host");
    tap_ok(strstr(line(&rig, 6), "\"out\":{\"dst\":{\"length\":\"0x3\"}}"), "an async copy has no bytes yet");
    tap_ok(strstr(line(&rig, 7), "\"src\":{\"length\":\"0xffffffffffffffff\"}"),
           "a failed copy's bytes are not read");
    tap_ok(strstr(line(&rig, 8), "\"dst\":\"out\"") && !strstr(line(&rig, 8), "\"out\":{"), "nor are its outputs");
    free(rig.text);
}

static void test_attributes(void)
{
    struct rig rig;
    uint64_t wide = 0x1122334455667788;
    int narrow = -3;
    unsigned char unknown = 0;
    void *data[4] = {&wide, &narrow, NULL, &unknown};
    const vmm_pointer_attribute list[4] = {VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                           VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL, VMM_POINTER_ATTRIBUTE_MAPPED, 999};
    rig_open(&rig);
    for (int i = 0; i < 4; i++)
        rig_call(&rig, &(struct vmm_call_pointer_get_attribute){{VMM_CALL_pointer_get_attribute, 0}, data[i], list[i], 1}.head);
    rig_call(&rig, &(struct vmm_call_pointer_get_attributes){{VMM_CALL_pointer_get_attributes, 0}, 4, list, data, 1}.head);
    rig_call(&rig, &(struct vmm_call_pointer_get_attributes){{VMM_CALL_pointer_get_attributes, 0}, 4, NULL, NULL, 1}.head);
    rig_close(&rig);
    tap_ok(strstr(line(&rig, 1), "\"attribute\":11") && strstr(line(&rig, 1), "\"out\":{\"data\":\"0x1122334455667788\"}"),
           "an attribute of 64 bits");
    tap_ok(strstr(line(&rig, 2), "\"out\":{\"data\":-3}"), "an int");
    tap_ok(strstr(line(&rig, 3), "\"data\":null") && !strstr(line(&rig, 3), "\"out\":{"), "an attribute without a destination");
    tap_ok(strstr(line(&rig, 4), "\"attribute\":999") && !strstr(line(&rig, 4), "\"out\":{"), "an attribute of unknown type");
    tap_ok(strstr(line(&rig, 5), "\"attributes\":[11,9,13,999],\"data\":[\"out\",\"out\",null,\"out\"]") &&
               strstr(line(&rig, 5), "\"out\":{\"data\":[\"0x1122334455667788\",-3,null,null]}"),
           "several at once");
    tap_ok(strstr(line(&rig, 6), "\"num_attributes\":\"0x4\",\"attributes\":null,\"data\":null"), "no attributes");
    free(rig.text);
}

/* A pool's values are ints or 64 bits; the trace does not know the size of an attribute that does not exist, and reads nothing.
 * The fake returns consecutive handles: the lower half of its first is 0. */
static void test_pool_values(void)
{
    static const struct {
        vmm_mem_pool_attribute attr;
        uint64_t value;
        const char *set, *get;
    } row[] = {
        {VMM_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 1, "\"attr\":2,\"value\":1}", "\"out\":{\"value\":0}"},
        {VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD, 0x1122334455667788, "\"attr\":4,\"value\":\"0x1122334455667788\"}",
         "\"out\":{\"value\":\"0x100001000000\"}"},
        {999, 1, "\"attr\":999,\"value\":\"unknown\"}", "\"out\":{\"value\":\"unknown\"}"},
    };
    struct rig rig;
    rig_open(&rig);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t value = row[i].value;
        rig_call(&rig, &(struct vmm_call_mem_pool_set_attribute){{VMM_CALL_mem_pool_set_attribute, 0}, NULL, row[i].attr,
                                                                 &value}.head);
        rig_call(&rig, &(struct vmm_call_mem_pool_get_attribute){{VMM_CALL_mem_pool_get_attribute, 0}, NULL, row[i].attr,
                                                                 &value}.head);
    }
    rig_close(&rig);
    for (unsigned i = 0; i < 3; i++) {
        tap_ok(strstr(line(&rig, 2 * i + 1), row[i].set) != NULL, "pool attribute %d has the value that was set", row[i].attr);
        tap_ok(strstr(line(&rig, 2 * i + 2), row[i].get) != NULL, "and as the pool reported it");
    }
    free(rig.text);
}

/* A kernel's arguments, up to the number that a line holds. */
static void host_function(void *user_data)
{
    (void)user_data;
}

/* Addresses of code and of the program's data differ in every run. */
static void test_host_functions(void)
{
    struct rig rig;
    int data = 0;
    rig_open(&rig);
    rig_call(&rig, &(struct vmm_call_launch_host_func){{VMM_CALL_launch_host_func, 0}, NULL, host_function, &data}.head);
    rig_call(&rig, &(struct vmm_call_launch_host_func){{VMM_CALL_launch_host_func, 0}, NULL, NULL, NULL}.head);
    rig_close(&rig);
    tap_ok(strstr(line(&rig, 1), "\"fn\":\"host\",\"user_data\":\"host\""), "a host function");
    tap_ok(strstr(line(&rig, 2), "\"fn\":null,\"user_data\":null"), "a host function of NULL");
    free(rig.text);
}

/* The call inside a host function that runs while a call waits: the trace must not hold a lock then. */
static vmm_system *traced;
static vmm_result inside_result;

static void call_inside(void *user_data)
{
    vmm_deviceptr ptr = 0;
    (void)user_data;
    inside_result = vmm_mem_address_reserve(traced, &ptr, 2 << 20, 0, 0, 0);
}

static void test_calls_inside_host_functions(void)
{
    vmm_context ctx;
    if (vmm_open("trace=/dev/null|shadow=nodes=1|sim:h100", &traced) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    vmm_init(traced, 0);
    vmm_ctx_create(traced, &ctx, 0, 0);
    tap_result(vmm_launch_host_func(traced, NULL, call_inside, NULL), VMM_SUCCESS, "a host function that makes a call");
    tap_result(vmm_ctx_synchronize(traced), VMM_SUCCESS, "does not deadlock under layers");
    tap_result(inside_result, VMM_ERROR_NOT_PERMITTED, "its call is refused");
    vmm_ctx_destroy(traced, ctx);
    vmm_close(traced);
}

static void test_launches(void)
{
    struct rig rig;
    static uint64_t many[TRACE_LIST_MAX + 1];
    const uint64_t args[3] = {0x200000, 16, UINT64_MAX};
    many[TRACE_LIST_MAX - 1] = 0xabc;
    many[TRACE_LIST_MAX] = 0xdef;
    rig_open(&rig);
    rig_call(&rig, &(struct vmm_call_launch){{VMM_CALL_launch, 0}, VMM_KERNEL_COPY, 2, 64, args, 3, NULL}.head);
    rig_call(&rig, &(struct vmm_call_launch){{VMM_CALL_launch, 0}, -1, 2, 64, many, TRACE_LIST_MAX + 1, NULL}.head);
    rig_call(&rig, &(struct vmm_call_launch){{VMM_CALL_launch, 0}, 0, 2, 64, NULL, 3, NULL}.head);
    rig_close(&rig);
    tap_ok(strstr(line(&rig, 1), "\"kernel\":4,\"grid_dim\":\"0x2\",\"block_dim\":\"0x40\",\"args\":"
                                 "[\"0x200000\",\"0x10\",\"0xffffffffffffffff\"],\"count\":\"0x3\""),
           "a launch with its arguments");
    tap_ok(strstr(line(&rig, 2), "\"kernel\":-1") && strstr(line(&rig, 2), "\"0xabc\"],\"count\":\"0x101\"") &&
               !strstr(line(&rig, 2), "0xdef"),
           "a launch with more arguments than a line holds");
    tap_ok(strstr(line(&rig, 3), "\"args\":null,\"count\":\"0x3\""), "a launch without arguments");
    free(rig.text);
}

static void test_flags_of_a_failing_call(void)
{
    struct rig rig;
    uint64_t flags = 77;
    const vmm_mem_location location = {1, 0};
    struct vmm_call_mem_get_access call = {{VMM_CALL_mem_get_access, 0}, &flags, &location, 0x1000};
    rig_open(&rig);
    rig.fake.result = VMM_ERROR_INVALID_DEVICE;
    rig_call(&rig, &call.head);
    tap_u64(flags, 77, "flags that the backend does not write stay unchanged");
    rig.fake.writes_flags = true;
    rig_call(&rig, &call.head);
    tap_u64(flags, UINT64_C(0x100000000000), "flags that the backend writes arrive");
    tap_ok(call.flags == &flags, "the call record is unchanged");
    rig_close(&rig);
    tap_ok(!strstr(line(&rig, 1), "\"out\":{"), "the first line has no output");
    tap_ok(strstr(line(&rig, 2), "\"result\":\"CUDA_ERROR_INVALID_DEVICE\",\"code\":101,\"out\":{\"flags\":\"0x100000000000\"}"),
           "the second has");
    free(rig.text);
}

static void test_text_and_detail(void)
{
    struct rig rig;
    char name[16];
    rig_open(&rig);
    rig_call(&rig, &(struct vmm_call_device_get_name){{VMM_CALL_device_get_name, 0}, name, 16, 0}.head);
    rig_close(&rig);
    tap_ok(strstr(line(&rig, 1), "\"out\":{\"name\":\"a \\\"b\\\"\\u000a\\\\\\u0080\"}"), "a text is escaped");
    free(rig.text);
}

/* The object in the way is named by a letter for its kind and a number, a device by its ordinal. */
static void test_nearest(void)
{
    static const char *const names[] = {"D3", "R5", "M5", "H5", "A5", "C5", "S5", "E5", "B5", "P5"};
    struct rig rig;
    char wanted[32];
    for (unsigned kind = VMM_OBJECT_DEVICE; kind <= VMM_OBJECT_POOL; kind++) {
        vmm_object nearest = {.kind = (vmm_object_kind)kind, .value = 3, .number = 5};
        rig_open(&rig);
        rig.fake.nearest = &nearest;
        rig_call(&rig, &(struct vmm_call_init){{VMM_CALL_init, 0}, 0}.head);
        rig_close(&rig);
        snprintf(wanted, sizeof wanted, "\"nearest\":\"%s\"}", names[kind - VMM_OBJECT_DEVICE]);
        tap_ok(strstr(line(&rig, 1), "\"severity\":\"error\",\"rule\":\"VMM-MAP-OVERLAP\"") && strstr(line(&rig, 1), wanted),
               "an object of kind %u in the way is %s", kind, names[kind - VMM_OBJECT_DEVICE]);
        free(rig.text);
    }
}

/* ---- names ---- */

static void test_names(void)
{
    struct rig rig;
    vmm_context ctx = NULL, again = NULL;
    vmm_stream stream = NULL;
    vmm_event event = NULL;
    uint64_t handle = 0, memory = 0;
    vmm_mem_allocation_prop prop;
    memset(&prop, 0, sizeof prop);
    rig_open(&rig);
    struct vmm_call_mem_create create = {{VMM_CALL_mem_create, 0}, &handle, 1, &prop, 0};
    struct vmm_call_mem_release release = {{VMM_CALL_mem_release, 0}, 0};
    rig_call(&rig, &create.head);
    uint64_t first = handle;
    rig_call(&rig, &create.head);
    release.handle = handle;
    rig_call(&rig, &release.head);
    rig.fake.next = handle;
    rig_call(&rig, &(struct vmm_call_mem_retain_allocation_handle){{VMM_CALL_mem_retain_allocation_handle, 0}, &handle, 9}.head);
    rig.fake.next = first;
    rig_call(&rig, &create.head);
    rig.fake.next = 0x5000;
    rig_call(&rig, &(struct vmm_call_ctx_create){{VMM_CALL_ctx_create, 0}, &ctx, 0, 0}.head);
    rig.fake.next = 0x5000;
    rig_call(&rig, &(struct vmm_call_device_primary_ctx_retain){{VMM_CALL_device_primary_ctx_retain, 0}, &again, 0}.head);
    rig_call(&rig, &(struct vmm_call_ctx_destroy){{VMM_CALL_ctx_destroy, 0}, ctx}.head);
    rig_call(&rig, &(struct vmm_call_ctx_set_current){{VMM_CALL_ctx_set_current, 0}, ctx}.head);
    rig_call(&rig, &(struct vmm_call_stream_create){{VMM_CALL_stream_create, 0}, &stream, 0}.head);
    rig_call(&rig, &(struct vmm_call_stream_synchronize){{VMM_CALL_stream_synchronize, 0}, stream}.head);
    rig_call(&rig, &(struct vmm_call_mem_alloc){{VMM_CALL_mem_alloc, 0}, &memory, 100}.head);
    rig_call(&rig, &(struct vmm_call_memset_d8){{VMM_CALL_memset_d8, 0}, memory + 99, 1, 1}.head);
    rig_call(&rig, &(struct vmm_call_memset_d8){{VMM_CALL_memset_d8, 0}, memory + 100, 1, 1}.head);
    rig_call(&rig, &(struct vmm_call_mem_free){{VMM_CALL_mem_free, 0}, memory}.head);
    rig_call(&rig, &(struct vmm_call_mem_free){{VMM_CALL_mem_free, 0}, memory}.head);
    rig_call(&rig, &(struct vmm_call_event_create){{VMM_CALL_event_create, 0}, &event, 0}.head);
    rig_call(&rig, &(struct vmm_call_stream_wait_event){{VMM_CALL_stream_wait_event, 0}, stream, event, 0}.head);
    rig_call(&rig, &(struct vmm_call_event_destroy){{VMM_CALL_event_destroy, 0}, event}.head);
    rig_call(&rig, &(struct vmm_call_event_query){{VMM_CALL_event_query, 0}, event}.head);
    const vmm_stream_batch_mem_op_params list[] = {
        {.write_value = {VMM_STREAM_MEM_OP_WRITE_VALUE_64, 0x1000, {.value64 = UINT64_C(1) << 40}, 2, 9}},
        {.memory_barrier = {VMM_STREAM_MEM_OP_BARRIER, 1}},
        {.operation = 77}};
    rig_call(&rig, &(struct vmm_call_stream_batch_mem_op){{VMM_CALL_stream_batch_mem_op, 0}, stream, 3, list, 0}.head);
    rig_call(&rig, &(struct vmm_call_stream_batch_mem_op){{VMM_CALL_stream_batch_mem_op, 0}, stream, 257, list, 0}.head);
    rig_call(&rig, &(struct vmm_call_stream_batch_mem_op){{VMM_CALL_stream_batch_mem_op, 0}, stream, 0, NULL, 0}.head);
    rig_close(&rig);
    tap_ok(strstr(line(&rig, 2), "{\"handle\":\"H2\"}"), "handles are numbered on");
    tap_ok(strstr(line(&rig, 3), "{\"handle\":\"H2\"}"), "a release names its handle");
    tap_ok(strstr(line(&rig, 4), "{\"handle\":\"H2\"}"), "a retain finds the name of a known value");
    tap_ok(strstr(line(&rig, 5), "{\"handle\":\"H3\"}"), "a create gives a new name even to a reused value");
    tap_ok(strstr(line(&rig, 6), "{\"pctx\":\"C1\"}"), "a context");
    tap_ok(strstr(line(&rig, 7), "{\"pctx\":\"C1\"}"), "retained again");
    tap_ok(strstr(line(&rig, 8), "{\"ctx\":\"C1\"}"), "destroyed");
    tap_ok(!strstr(line(&rig, 9), "names"), "a freed range has no name");
    tap_ok(strstr(line(&rig, 10), "{\"stream\":\"S1\"}") && strstr(line(&rig, 11), "{\"stream\":\"S1\"}"), "a stream");
    tap_ok(strstr(line(&rig, 17), "{\"event\":\"E1\"}") && strstr(line(&rig, 18), "{\"stream\":\"S1\",\"event\":\"E1\"}") &&
               strstr(line(&rig, 19), "{\"event\":\"E1\"}") && !strstr(line(&rig, 20), "names"),
           "an event, from its creation to its end");
    tap_ok(strstr(line(&rig, 21), "\"param_array\":[{\"operation\":5,\"address\":\"0x1000\",\"value\":\"0x10000000000\",\"flags\":\"0x2\"},"
                                  "{\"operation\":6,\"flags\":\"0x1\"},{\"operation\":77,\"flags\":\"0x0\"}]"),
           "the operations of a batch");
    tap_ok(strstr(line(&rig, 22), "\"param_array\":[]") && strstr(line(&rig, 23), "\"param_array\":null"),
           "a batch that is too long, and one without a list");
    tap_ok(strstr(line(&rig, 12), "{\"dptr\":\"A1\"}"), "memory of mem_alloc has a name");
    tap_ok(strstr(line(&rig, 13), "{\"dst\":\"A1+0x63\"}"), "its last byte");
    tap_ok(!strstr(line(&rig, 14), "names"), "one byte past it has no name");
    tap_ok(strstr(line(&rig, 15), "{\"dptr\":\"A1\"}") && !strstr(line(&rig, 16), "names"), "freed memory loses its name");
    free(rig.text);
}

/* A range that overlaps earlier ones: these must have ended unseen. */
static void test_names_of_overlapping_ranges(void)
{
    static const struct {
        uint64_t start, size;
    } ranges[] = {{0x1000, 0x1000}, {0x3000, 0x1000}, {0x5000, 0x1000}, {0x1800, 0x2000}};
    static const struct {
        uint64_t at;
        const char *name;
    } want[] = {{0x1000, NULL}, {0x1800, "\"R4\""}, {0x3000, "\"R4+0x1800\""}, {0x37FF, "\"R4+0x1fff\""},
                {0x3800, NULL}, {0x5000, "\"R3\""}, {0x5FFF, "\"R3+0xfff\""},  {0x6000, NULL}};
    struct rig rig;
    uint64_t ptr = 0;
    rig_open(&rig);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        rig.fake.next = ranges[i].start;
        rig_call(&rig,
                 &(struct vmm_call_mem_address_reserve){{VMM_CALL_mem_address_reserve, 0}, &ptr, ranges[i].size, 0, 0, 0}.head);
    }
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        rig_call(&rig, &(struct vmm_call_mem_unmap){{VMM_CALL_mem_unmap, 0}, want[i].at, 1}.head);
    rig_close(&rig);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        tap_ok(want[i].name ? strstr(line(&rig, (unsigned)i + 5), want[i].name) != NULL
                            : strstr(line(&rig, (unsigned)i + 5), "names") == NULL,
               "0x%" PRIx64 " is %s", want[i].at, want[i].name ? want[i].name : "not in any range");
    free(rig.text);
}

/* A descriptor's number means nothing in another run, so equal calls yield equal lines. */
static void test_descriptor(void)
{
    struct rig rig;
    int fd = -1;
    rig_open(&rig);
    struct vmm_call_mem_get_handle_for_address_range call = {
        {VMM_CALL_mem_get_handle_for_address_range, 0}, &fd, 0x200000, 0x1000, 1, 0};
    rig_call(&rig, &call.head);
    tap_ok(fd == 7, "the caller gets the descriptor");
    rig.fake.result = VMM_ERROR_INVALID_VALUE;
    rig_call(&rig, &call.head);
    rig_close(&rig);
    tap_ok(strstr(line(&rig, 1), "\"args\":{\"handle\":\"out\",\"dptr\":\"0x200000\",\"size\":\"0x1000\",\"handle_type\":1,"
                                 "\"flags\":\"0x0\"}") && strstr(line(&rig, 1), "\"out\":{\"handle\":\"fd\"}"),
           "the trace does not: %s", line(&rig, 1));
    tap_ok(!strstr(line(&rig, 2), "\"out\":{"), "a refused call has no output");
    free(rig.text);
}

static void test_multicast(void)
{
    struct rig rig;
    uint64_t memory = 0, object = 0;
    vmm_mem_allocation_prop prop;
    const vmm_multicast_object_prop team = {.num_devices = 2, .size = 0x200000, .handle_types = 1};
    memset(&prop, 0, sizeof prop);
    rig_open(&rig);
    rig_call(&rig, &(struct vmm_call_mem_create){{VMM_CALL_mem_create, 0}, &memory, 0x200000, &prop, 0}.head);
    rig_call(&rig, &(struct vmm_call_multicast_create){{VMM_CALL_multicast_create, 0}, &object, &team}.head);
    rig_call(&rig, &(struct vmm_call_multicast_bind_mem){
        {VMM_CALL_multicast_bind_mem, 0}, object, 0, memory, 0, 0x200000, 0}.head);
    rig_close(&rig);
    tap_ok(strstr(line(&rig, 2), "\"prop\":{\"num_devices\":\"0x2\",\"size\":\"0x200000\",\"handle_types\":\"0x1\","
                                 "\"flags\":\"0x0\"}"),
           "properties of a multicast object: %s", line(&rig, 2));
    tap_ok(strstr(line(&rig, 3), "\"mc_handle\":\"H2\"") && strstr(line(&rig, 3), "\"mem_handle\":\"H1\""),
           "the bind names both handles: %s", line(&rig, 3));
    free(rig.text);
}

/* A fabric handle is identified by its bytes: exported again or imported, it has the same name. */
static void test_fabric(void)
{
    struct rig rig;
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE] = {0}, others[VMM_FABRIC_HANDLE_SIZE] = {1};
    uint64_t handle = 0;
    struct vmm_call_mem_export_to_shareable_handle export = {
        {VMM_CALL_mem_export_to_shareable_handle, 0}, bytes, 5, VMM_MEM_HANDLE_TYPE_FABRIC, 0};
    struct vmm_call_mem_import_from_shareable_handle import = {
        {VMM_CALL_mem_import_from_shareable_handle, 0}, &handle, bytes, VMM_MEM_HANDLE_TYPE_FABRIC};
    rig_open(&rig);
    rig_call(&rig, &export.head);
    rig_call(&rig, &export.head);
    rig_call(&rig, &import.head);
    import.os_handle = others;
    rig_call(&rig, &import.head);
    import.os_handle = bytes;
    rig.fake.result = VMM_ERROR_NOT_PERMITTED;
    rig_call(&rig, &import.head);
    rig_close(&rig);
    for (unsigned i = 1; i <= 2; i++)
        tap_ok(strstr(line(&rig, i), "\"names\":{\"shareable_handle\":\"D1\"}") &&
                   strstr(line(&rig, i), "\"out\":{\"shareable_handle\":\"fabric\"}"),
               "export %u of the same bytes: %s", i, line(&rig, i));
    tap_ok(strstr(line(&rig, 3), "\"os_handle\":\"fabric\"") &&
               strstr(line(&rig, 3), "\"names\":{\"os_handle\":\"D1\",\"handle\":\"H1\"}"),
           "imported by that name: %s", line(&rig, 3));
    tap_ok(strstr(line(&rig, 4), "\"names\":{\"handle\":\"H2\"}"), "other bytes have no name");
    tap_ok(strstr(line(&rig, 5), "\"os_handle\":\"fabric\"") && !strstr(line(&rig, 5), "\"names\""),
           "the bytes of a refused import are not read");
    free(rig.text);
}

/* A pool's fabric handle likewise; a pool's descriptor gets no name. */
static void test_fabric_of_pools(void)
{
    struct rig rig;
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE] = {0};
    vmm_memory_pool pool = NULL;
    struct vmm_call_mem_pool_export_to_shareable_handle export = {
        {VMM_CALL_mem_pool_export_to_shareable_handle, 0}, bytes, (vmm_memory_pool)bytes, VMM_MEM_HANDLE_TYPE_FABRIC, 0};
    struct vmm_call_mem_pool_import_from_shareable_handle import = {
        {VMM_CALL_mem_pool_import_from_shareable_handle, 0}, &pool, bytes, VMM_MEM_HANDLE_TYPE_FABRIC, 0};
    int file = -1;
    rig_open(&rig);
    rig_call(&rig, &export.head);
    rig_call(&rig, &import.head);
    export.handle_type = import.handle_type = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    export.handle_out = &file;
    rig_call(&rig, &export.head);
    import.handle = (void *)(uintptr_t)file; /* the fake has written it */
    rig_call(&rig, &import.head);
    rig_close(&rig);
    tap_ok(strstr(line(&rig, 1), "\"names\":{\"handle_out\":\"D1\"}") && strstr(line(&rig, 1), "\"out\":{\"handle_out\":\"fabric\"}"),
           "exported: %s", line(&rig, 1));
    tap_ok(strstr(line(&rig, 2), "\"handle\":\"fabric\"") && strstr(line(&rig, 2), "\"handle\":\"D1\""),
           "imported by that name: %s", line(&rig, 2));
    tap_ok(!strstr(line(&rig, 3), "fabric") && strstr(line(&rig, 3), "{\"handle_out\":\"D2\"}"), "a descriptor is exported: %s", line(&rig, 3));
    tap_ok(!strstr(line(&rig, 4), "fabric") && strstr(line(&rig, 4), "\"names\":{\"handle\":\"D2\""), "and imported: %s", line(&rig, 4));
    free(rig.text);
}

/* Where the sides of a copy of a box begin: by the kind of their memory. */
static void test_boxes(void)
{
    struct rig rig;
    vmm_memcpy3d box;
    memset(&box, 0, sizeof box);
    box.src_memory_type = VMM_MEMORYTYPE_HOST;
    box.src_host = (const void *)(uintptr_t)0x1100;
    box.src_device = 0x2200;
    box.dst_memory_type = VMM_MEMORYTYPE_DEVICE;
    box.dst_host = (void *)(uintptr_t)0x3300;
    box.dst_device = 0x4400;
    rig_open(&rig);
    rig_call(&rig, &(struct vmm_call_memcpy_3d){{VMM_CALL_memcpy_3d, 0}, &box}.head);
    box.src_memory_type = VMM_MEMORYTYPE_DEVICE;
    box.dst_memory_type = VMM_MEMORYTYPE_HOST;
    rig_call(&rig, &(struct vmm_call_memcpy_3d){{VMM_CALL_memcpy_3d, 0}, &box}.head);
    vmm_memcpy3d_batch_op op = {.src = {.type = VMM_MEMCPY_OPERAND_TYPE_ARRAY, .op.array = {(vmm_array)(uintptr_t)0x5500, 1, 2, 3}},
                                .dst = {.type = VMM_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr = {.ptr = 0x6600}}};
    rig_call(&rig, &(struct vmm_call_memcpy_3d_batch_async){{VMM_CALL_memcpy_3d_batch_async, 0}, 1, &op, 0, NULL}.head);
    rig_close(&rig);
    tap_ok(strstr(line(&rig, 3), "\"src\":{\"type\":2,\"at\":\"0x5500\",\"row\":\"0x1\",\"rows\":\"0x2\",\"z\":\"0x3\"}"),
           "of a batch, from an array: %s", line(&rig, 3));
    tap_ok(strstr(line(&rig, 1), "\"src\":\"0x1100\"") && strstr(line(&rig, 1), "\"dst\":\"0x4400\""),
           "a box from the host to a device: %s", line(&rig, 1));
    tap_ok(strstr(line(&rig, 2), "\"src\":\"0x2200\"") && strstr(line(&rig, 2), "\"dst\":\"0x3300\""),
           "and back: %s", line(&rig, 2));
    free(rig.text);
}

/* Lists are truncated, both of inputs and of outputs. */
static void test_long_lists(void)
{
    enum { MANY = TRACE_LIST_MAX + 1 };
    struct rig rig;
    static vmm_mem_access_desc desc[MANY];
    static vmm_pointer_attribute list[MANY];
    static void *data[MANY];
    int number = 5;
    for (int i = 0; i < MANY; i++) {
        desc[i].location.id = i;
        list[i] = VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        data[i] = &number;
    }
    rig_open(&rig);
    rig_call(&rig, &(struct vmm_call_mem_set_access){{VMM_CALL_mem_set_access, 0}, 0x1000, 1, desc, MANY}.head);
    rig_call(&rig, &(struct vmm_call_pointer_get_attributes){{VMM_CALL_pointer_get_attributes, 0}, MANY, list, data, 1}.head);
    rig_call(&rig, &(struct vmm_call_pointer_get_attributes){{VMM_CALL_pointer_get_attributes, 0}, 4, NULL, data, 1}.head);
    static vmm_graph_node from[MANY], to[MANY];
    static vmm_graph_edge_data edge[MANY];
    edge[TRACE_LIST_MAX - 1].type = 1;
    edge[TRACE_LIST_MAX].type = 2;
    from[TRACE_LIST_MAX - 1] = to[TRACE_LIST_MAX - 1] = (vmm_graph_node)&edge[0];
    rig_call(&rig, &(struct vmm_call_graph_add_dependencies){
        {VMM_CALL_graph_add_dependencies, 0}, (vmm_graph)&edge[1], from, to, edge, MANY}.head);
    rig_close(&rig);
    tap_ok(strstr(line(&rig, 1), "\"id\":255},\"flags\":0}],\"count\":\"0x101\""),
           "grants: the last one written, and their number");
    const char *second = line(&rig, 2), *out = strstr(second, "\"out\":{");
    unsigned asked = 0, wanted = 0, given = 0;
    for (const char *at = second; (at = strstr(at, "9,")) && at < strstr(second, "\"data\""); at++)
        asked++;
    for (const char *at = second; (at = strstr(at, "\"out\",")); at++)
        wanted++;
    for (const char *at = out; at && (at = strstr(at, "5,")); at++)
        given++;
    tap_ok(asked + 1 == TRACE_LIST_MAX && wanted + 1 == TRACE_LIST_MAX && given + 1 == TRACE_LIST_MAX,
           "attributes: %u + 1 requested, %u + 1 destinations, %u + 1 values", asked, wanted, given);
    tap_ok(strstr(line(&rig, 3), "\"attributes\":null,\"data\":[\"out\",\"out\",\"out\",\"out\"]") &&
               strstr(line(&rig, 3), "\"out\":{\"data\":[]}"),
           "places without a question have no answers: %s", line(&rig, 3));
    char ends[3][64];
    const char *fourth = line(&rig, 4);
    uint64_t last = 0;
    memcpy(&last, &edge[TRACE_LIST_MAX - 1], sizeof last);
    snprintf(ends[0], sizeof ends[0], "\"0x%" PRIxPTR "\"],\"to\":[", (uintptr_t)&edge[0]);
    snprintf(ends[1], sizeof ends[1], "\"0x%" PRIxPTR "\"],\"edge_data\":[", (uintptr_t)&edge[0]);
    snprintf(ends[2], sizeof ends[2], "\"0x%" PRIx64 "\"],\"num_dependencies\":\"0x101\"", last);
    for (int i = 0; i < 3; i++)
        tap_ok(strstr(fourth, ends[i]), "dependencies: the last one written is ...%s", ends[i]);
    free(rig.text);
}

/* ---- every entry point ---- */

static void fill(union vmm_any_call *call, enum vmm_call_id id, bool null, void *room)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params(id, &count);
    memset(call, 0, sizeof *call);
    call->head.id = (uint16_t)id;
    for (size_t i = 0; i < count; i++)
        if (params[i].kind >= VMM_PARAM_PROP)
            vmm_call_set_scalar(&call->head, &params[i], null ? 0 : (uint64_t)(uintptr_t)room);
        else
            vmm_call_set_scalar(&call->head, &params[i], params[i].kind == VMM_PARAM_INT ? UINT64_MAX : i + 1);
}

static void test_every_call(void)
{
    struct rig rig;
    bool named = true;
    unsigned lines = 0;
    rig_open(&rig);
    for (int round = 0; round < 3; round++)
        for (int id = 0; id < VMM_CALL_COUNT; id++) {
            static uint64_t room[64]; /* large and zeroed, so that any kind of pointer can be read and written there */
            union vmm_any_call call;
            memset(room, 0, sizeof room);
            fill(&call, (enum vmm_call_id)id, round == 1, room);
            rig.fake.result = round == 2 ? VMM_ERROR_INVALID_VALUE : VMM_SUCCESS;
            if (round == 1 &&
                (id == VMM_CALL_mem_create || id == VMM_CALL_multicast_create || id == VMM_CALL_mem_address_reserve ||
                 id == VMM_CALL_mem_retain_allocation_handle || id == VMM_CALL_mem_alloc ||
                 id == VMM_CALL_mem_export_to_shareable_handle || id == VMM_CALL_mem_import_from_shareable_handle ||
                 id == VMM_CALL_ctx_create || id == VMM_CALL_stream_create || id == VMM_CALL_event_create ||
                 id == VMM_CALL_device_primary_ctx_retain || id == VMM_CALL_mem_alloc_async ||
                 id == VMM_CALL_mem_alloc_from_pool_async || id == VMM_CALL_mem_pool_create ||
                 id == VMM_CALL_mem_pool_import_from_shareable_handle || id == VMM_CALL_mem_pool_import_pointer ||
                 id == VMM_CALL_device_get_default_mem_pool || id == VMM_CALL_device_get_mem_pool ||
                 id == VMM_CALL_mem_pool_export_to_shareable_handle || id == VMM_CALL_mem_get_default_mem_pool ||
                 id == VMM_CALL_mem_get_mem_pool || id == VMM_CALL_graph_create || id == VMM_CALL_graph_clone ||
                 id == VMM_CALL_graph_instantiate || id == VMM_CALL_graph_add_empty_node ||
                 id == VMM_CALL_graph_add_memset_node || id == VMM_CALL_graph_add_host_node || id == VMM_CALL_graph_add_memcpy_node ||
                 id == VMM_CALL_graph_add_kernel_node || id == VMM_CALL_graph_add_child_graph_node ||
                 id == VMM_CALL_graph_add_event_record_node || id == VMM_CALL_graph_add_event_wait_node ||
                 id == VMM_CALL_graph_child_graph_node_get_graph || id == VMM_CALL_graph_node_find_in_clone ||
                 id == VMM_CALL_ipc_get_mem_handle || id == VMM_CALL_user_object_create ||
                 id == VMM_CALL_stream_get_capture_info || id == VMM_CALL_ipc_open_mem_handle ||
                 id == VMM_CALL_ipc_get_event_handle || id == VMM_CALL_ipc_open_event_handle ||
                 id == VMM_CALL_array_3d_create || id == VMM_CALL_mipmapped_array_create || id == VMM_CALL_array_get_plane ||
                 id == VMM_CALL_mipmapped_array_get_level || id == VMM_CALL_mem_alloc_managed))
                rig.fake.result = VMM_ERROR_INVALID_VALUE; /* no backend succeeds without an output pointer */
            rig_call(&rig, &call.head);
        }
    rig_close(&rig);
    tap_ok(all_valid(rig.text, &lines), "every line is a JSON object");
    tap_u64(lines, 3 * VMM_CALL_COUNT + 2, "one line per call, a header and a footer");
    for (unsigned i = 0; i < 3 * VMM_CALL_COUNT; i++) {
        enum vmm_call_id id = (enum vmm_call_id)(i % VMM_CALL_COUNT);
        size_t count = 0;
        const struct vmm_param *params = vmm_call_params(id, &count);
        char part[64];
        snprintf(part, sizeof part, "\"call\":\"%s\",\"args\":{", vmm_call_name(id));
        const char *at = strstr(line(&rig, i + 1), part);
        for (size_t p = 0; at && p < count; p++) {
            snprintf(part, sizeof part, "\"%s\":", params[p].name);
            at = strstr(at, part);
        }
        if (!at)
            tap_note("line %u: %s", i + 1, line(&rig, i + 1));
        named = named && at;
    }
    tap_ok(named, "each line names its call and every parameter in order");
    free(rig.text);
}

int main(void)
{
    test_memory_lines();
    test_copies();
    test_attributes();
    test_pool_values();
    test_launches();
    test_host_functions();
    test_calls_inside_host_functions();
    test_flags_of_a_failing_call();
    test_text_and_detail();
    test_nearest();
    test_names();
    test_names_of_overlapping_ranges();
    test_descriptor();
    test_multicast();
    test_fabric();
    test_fabric_of_pools();
    test_boxes();
    test_long_lists();
    test_every_call();
    return tap_done();
}
