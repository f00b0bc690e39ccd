/* SPDX-License-Identifier: Apache-2.0 */
/* The layers' own memory when an allocation fails: state stays consistent, and a later attempt succeeds. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "fake_backend.h"
#include "json.h"
#include "os_write.h"
#include "pairs.h"
#include "tap.h"
#include "trace.h"
#include "trace_descriptors.h"
#include "trace_names.h"

static void test_json(void)
{
    static const char want[] = "{\"a\":1,\"b\":{";
    char long_text[3000];
    struct json json = {0};
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    jsonw_open(&json, NULL, '{');
    jsonw_int(&json, "a", 1);
    jsonw_open(&json, "b", '{');
    inject_arm_at("realloc", 1);
    jsonw_text(&json, "c", long_text);
    tap_text(inject_disarm(), "realloc", "a text that must grow, without memory");
    tap_ok(json.failed, "is marked");
    size_t length = json.length;
    jsonw_int(&json, "d", 2);
    jsonw_drop_empty(&json, "b");
    jsonw_close(&json, '}');
    tap_ok(json.failed && json.length == length && !memcmp(json.text, want, sizeof want - 1), "the text stays unchanged");
    jsonw_reset(&json);
    jsonw_text(&json, NULL, long_text);
    tap_ok(!json.failed && json.length == strlen(long_text) + 2, "the next text gets memory");
    jsonw_free(&json);
}

static void test_pairs(void)
{
    struct pairs pairs = {NULL, 0, 0};
    inject_arm_at("calloc", 1);
    tap_ok(!pairs_set(&pairs, 5, 50), "no memory for the first pair");
    tap_ok(inject_disarm() && !pairs_get(&pairs, 5), "the pair is not stored");
    uint64_t known = 0, right = 0;
    while (2 * (pairs.used + 1) <= pairs.room || !pairs.room)
        known += pairs_set(&pairs, 1 + known, 100 + known);
    inject_arm_at("calloc", 1);
    tap_ok(!pairs_set(&pairs, 1000, 1), "no memory for one pair more");
    inject_disarm();
    for (uint64_t i = 0; i < known; i++)
        right += pairs_get(&pairs, 1 + i) == 100 + i;
    tap_ok(right == known && !pairs_get(&pairs, 1000), "the %d other pairs are unchanged", (int)known);
    tap_ok(pairs_set(&pairs, 1000, 1) && pairs_get(&pairs, 1000) == 1 && pairs_get(&pairs, 1) == 100,
           "with memory the pair is stored");
    pairs_clear(&pairs);
}

static bool made(struct names *names, uint64_t handle)
{
    struct vmm_call_mem_create create = {{VMM_CALL_mem_create, 0}, &handle, 1, NULL, 0};
    return names_learn(names, &(struct trace_event){.call = &create.head});
}

static bool known_as(struct names *names, uint64_t handle, const char *want)
{
    char text[NAME_MAX_TEXT];
    struct name name;
    bool found = names_find(names, VMM_PARAM_HANDLE, handle, &name);
    if (found)
        name_text(&name, text);
    return found == (want != NULL) && (!want || !strcmp(text, want));
}

static void test_names(void)
{
    struct names names = {0};
    inject_arm_at("malloc", 1);
    tap_ok(!made(&names, 10) && inject_disarm(), "no memory for the first name");
    tap_ok(known_as(&names, 10, NULL), "that object has no name");
    inject_arm_at("malloc", 2);
    tap_ok(!made(&names, 11) && inject_disarm(), "nor for the second block of them");
    inject_arm_at("malloc", 2);
    tap_ok(!made(&names, 12) && inject_disarm(), "nor for the list of blocks");
    inject_arm_at("malloc", 2);
    tap_ok(!made(&names, 13) && inject_disarm(), "nor for that of their first numbers");
    for (uint64_t i = 0; i < SPANS_BLOCK; i++)
        made(&names, 20 + i);
    inject_arm_at("malloc", 1);
    tap_ok(made(&names, 19) && !made(&names, 5) && inject_disarm(), "no memory for another block");
    tap_ok(known_as(&names, 5, NULL) && known_as(&names, 20, "H5") && known_as(&names, 35, "H20") && !spans_check(&names.object[NAME_HANDLE]),
           "the other objects keep their names");
    tap_ok(made(&names, 6) && known_as(&names, 6, "H135"), "a later object gets the number that the backend gives it");
    names_free(&names);
}

/* An object that may have a name already. */
static void test_names_of_old_objects(void)
{
    struct names names = {0};
    uint64_t handle = 10;
    struct vmm_call_mem_retain_allocation_handle retain = {{VMM_CALL_mem_retain_allocation_handle, 0}, &handle, 1};
    struct trace_event event = {.call = &retain.head};
    inject_arm_at("malloc", 1);
    tap_ok(!names_learn(&names, &event) && inject_disarm() && known_as(&names, 10, NULL), "a handle retained");
    tap_ok(names_learn(&names, &event) && known_as(&names, 10, "H2"), "after a retain the object has a name");
    names_free(&names);
}

/* A descriptor, when there is no memory for its entry or for the map that leads to it. */
static void test_descriptors(void)
{
    struct trace_descriptors descriptors = {0};
    int fd = STDERR_FILENO;
    struct vmm_call_mem_export_to_shareable_handle export = {
        {VMM_CALL_mem_export_to_shareable_handle, 0}, &fd, 10, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0};
    for (unsigned i = 1; i <= 2; i++) {
        struct trace_event event = {.call = &export.head, .wrote = true};
        inject_arm_at("malloc", i);
        trace_descriptors_note(&descriptors, &event, false);
        tap_ok(inject_disarm() && !event.descriptor, "request %u: a descriptor without a name", i);
    }
    struct trace_event event = {.call = &export.head, .wrote = true};
    trace_descriptors_note(&descriptors, &event, false);
    tap_u64(event.descriptor, 3, "the next one has the number that the backend gives it");
    trace_descriptors_free(&descriptors);
}

/* A graph of a capture, which may have a name already. */
static void test_name_of_a_graph(void)
{
    struct names names = {0};
    struct name name;
    vmm_graph graph = (vmm_graph)&names;
    struct vmm_call_stream_end_capture end = {{VMM_CALL_stream_end_capture, 0}, NULL, &graph};
    struct trace_event event = {.call = &end.head};
    inject_arm_at("malloc", 1);
    tap_ok(!names_learn(&names, &event) && inject_disarm() && !names.object[NAME_GRAPH].count, "a graph without memory has no name");
    tap_ok(names_learn(&names, &event) && names_find(&names, VMM_PARAM_GRAPH, (uint64_t)(uintptr_t)graph, &name) && name.number == 2,
           "the next time it has");
    names_free(&names);
}

/* A write that fails without a signal, and a limit that the system does not report. */
static void test_writes(void)
{
    inject_arm_at("write", 1);
    inject_error = EPIPE;
    errno = 0;
    ssize_t written = os_write_quietly(STDOUT_FILENO, "x", 1);
    int error = errno;
    tap_ok(inject_disarm() && written == -1 && error == EPIPE, "no signal is awaited that was not raised");
    inject_arm_at("getrlimit", 1);
    bool limited = os_write_is_limited();
    tap_ok(inject_disarm() && limited, "an unknown limit counts as one");
}

/* A call whose line gets no memory is the first one missing in the trace. */
static void test_trace(void)
{
    static unsigned char bytes[TRACE_BYTES_MAX];
    struct fake fake;
    struct vmm_backend *top = NULL;
    char path[] = "/tmp/cuvmm-inject-XXXXXX", text[4096] = "";
    uint64_t handle = 0;
    vmm_mem_allocation_prop prop;
    memset(&prop, 0, sizeof prop);
    fake_init(&fake);
    int fd = mkstemp(path);
    if (fd < 0 || !freopen("/dev/null", "w", stderr) || vmm_trace_open(path, &fake.base, &top) != VMM_SUCCESS)
        tap_bail("no trace");
    inject_arm_at("malloc", 1);
    fake_dispatch(top, &(struct vmm_call_mem_create){{VMM_CALL_mem_create, 0}, &handle, 1, &prop, 0}.head, 1);
    tap_ok(inject_disarm() != NULL, "no memory for a name");
    inject_arm_at("realloc", 1);
    struct vmm_call_memcpy_htod copy = {{VMM_CALL_memcpy_htod, 0}, 1, bytes, sizeof bytes};
    vmm_result result = fake_dispatch(top, &copy.head, 2);
    tap_ok(inject_disarm() && result == VMM_SUCCESS, "no memory for a line: the call passes");
    fake_dispatch(top, &(struct vmm_call_mem_release){{VMM_CALL_mem_release, 0}, 5}.head, 3);
    tap_u64(fake.seen, 4, "the next call passes, too; the copy queried the device address");
    top->ops->close(top);
    ssize_t length = read(fd, text, sizeof text - 1);
    char *second = strchr(text, '\n');
    tap_ok(length > 0 && second && strstr(second, "\"call\":\"mem_create\"") && !strstr(second, "\"names\""),
           "the first has a line, and no name");
    tap_ok(second && strchr(second + 1, '\n') == text + length - 1, "it is the last line: %s", text);
    close(fd);
    unlink(path);
}

int main(void)
{
    test_json();
    test_pairs();
    test_names();
    test_names_of_old_objects();
    test_descriptors();
    test_name_of_a_graph();
    test_writes();
    test_trace();
    return tap_done();
}
