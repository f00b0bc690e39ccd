/* SPDX-License-Identifier: Apache-2.0 */
/* The record behind vmm_last_detail, and its text. */
#include "detail.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static void begin(void)
{
    struct vmm_call call = {VMM_CALL_mem_map, 7};
    vmm_detail_begin(&call);
}

static void test_precedence(void)
{
    begin();
    tap_ok(vmm_last_detail()->severity == VMM_SEVERITY_NONE && !vmm_last_detail()->rule, "a call begins with an empty record");
    vmm_detail_warn(VMM_RULE_MAP_PAST_RESERVATION, 1, 2, NULL);
    vmm_detail_warn(VMM_RULE_MAP_CROSSES_RESERVATIONS, 3, 4, NULL);
    tap_text(vmm_last_detail()->rule, "VMM-MAP-PAST-RESERVATION", "the first warning stays");
    tap_result(vmm_detail_refuse(VMM_RULE_MAP_OVERLAP, 5, 6, NULL), VMM_ERROR_INVALID_VALUE, "a refusal's result");
    tap_text(vmm_last_detail()->rule, "VMM-MAP-OVERLAP", "a refusal replaces a warning");
    vmm_detail_warn(VMM_RULE_MAP_PAST_RESERVATION, 1, 2, NULL);
    tap_text(vmm_last_detail()->rule, "VMM-MAP-OVERLAP", "the refusal stays");
    tap_u64(vmm_last_detail()->value, 5, "the refusal has its value");
    begin();
    tap_ok(!vmm_last_detail()->rule && !vmm_last_detail()->argument, "the next call begins with an empty record");
}

static void test_text(void)
{
    char text[2048], small[16];
    vmm_object m = {.kind = VMM_OBJECT_MAPPING, .number = 3, .start = 0x400000, .size = 0x200000, .handle_number = 2,
                    .location = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 1}, .created = 4, .created_by = "cuMemMap",
                    .ended = 6, .ended_by = "cuMemUnmap"};
    begin();
    vmm_detail_refuse(VMM_RULE_MAP_OVERLAP, 0x500000, 0x200000, &m);
    vmm_detail_note("these very words");
    size_t length = vmm_detail_text(vmm_last_detail(), text, sizeof text);
    tap_u64(length, strlen(text), "the returned length is the text's");
    static const char *const says[] = {"error VMM-MAP-OVERLAP", "cuMemMap (call 7)", "CUDA_ERROR_INVALID_VALUE",
                                       "ptr = 0x500000", "0x200000", "these very words", "mapping M3", "0x600000",
                                       "2 MiB", "H2", "host node 1", "made by call 4 (cuMemMap)",
                                       "gone since call 6 (cuMemUnmap)", "fix", "cuvmm explain VMM-MAP-OVERLAP"};
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
        tap_ok(strstr(text, says[i]) != NULL, "the text contains \"%s\"", says[i]);
    tap_u64(vmm_detail_text(vmm_last_detail(), small, sizeof small), length, "a small buffer gets the same length");
    tap_ok(strlen(small) == sizeof small - 1 && strncmp(small, text, sizeof small - 1) == 0,
           "the text is truncated and terminated");
    tap_u64(vmm_detail_text(vmm_last_detail(), NULL, 0), length, "without a buffer the length is the same");
}

static void test_objects(void)
{
    static const struct {
        vmm_object object;
        const char *says;
    } cases[] = {
        {{.kind = VMM_OBJECT_DEVICE, .start = 3ULL << 40, .size = 1ULL << 30, .value = 2}, "device 2: 1 GiB free of 3 TiB"},
        {{.kind = VMM_OBJECT_RESERVATION, .number = 1, .start = 0x10000, .size = 65536},
         "reservation R1 [0x10000, 0x20000), 64 KiB"},
        {{.kind = VMM_OBJECT_HANDLE, .number = 9, .value = 0xabc, .size = 5, .references = 1, .mappings = 2,
          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 3}}, "handle H9 (0xabc), 5 bytes on device 3, 1 reference, 2 mappings"},
        {{.kind = VMM_OBJECT_HANDLE, .number = 9, .references = 2, .mappings = 1,
          .location = {VMM_MEM_LOCATION_TYPE_HOST, 0}}, "on the host, 2 references, 1 mapping"},
        {{.kind = VMM_OBJECT_HANDLE, .location = {7, 0}}, "location type 7"},
        {{.kind = VMM_OBJECT_ALLOCATION, .number = 4, .start = 0x1000, .size = 1},
         "allocation A4 [0x1000, 0x1001), 1 byte from cuMemAlloc"},
        {{.kind = VMM_OBJECT_CONTEXT, .number = 5, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 1}}, "context C5 of device 1"},
        {{.kind = VMM_OBJECT_STREAM, .number = 6}, "stream S6"},
        {{.kind = VMM_OBJECT_EVENT, .number = 7}, "event E7"},
        {{.kind = VMM_OBJECT_BIND, .number = 8, .start = 0x1000, .size = 1, .handle_number = 2,
          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 1}}, "bind B8 [0x1000, 0x1001), 1 byte of handle H2 for device 1"},
        {{.kind = VMM_OBJECT_HANDLE, .number = 2, .value = 0x77, .size = 1, .team = 3, .devices = 5, .binds = 1},
         "handle H2 (0x77), 1 byte, multicast for 3 devices (0, 2), 1 bind, 0 references, 0 mappings"},
        {{.kind = VMM_OBJECT_HANDLE, .number = 2, .value = 0x77, .size = 1, .team = 2},
         "handle H2 (0x77), 1 byte, multicast for 2 devices (none yet), 0 binds"},
        {{.kind = VMM_OBJECT_MAPPING, .number = 3, .start = 0x1000, .size = 1, .handle_number = 2},
         "mapping M3 [0x1000, 0x1001), 1 byte of handle H2 on the devices of its team"},
    };
    char text[2048];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        vmm_detail_refuse(VMM_RULE_MAP_OVERLAP, 0, 0, &cases[i].object);
        vmm_detail_text(vmm_last_detail(), text, sizeof text);
        tap_ok(strstr(text, cases[i].says) != NULL, "nearest: %s", cases[i].says);
    }
}

/* Device faults, with and without each optional part. */
static void test_faults(void)
{
    const vmm_object m1 = {.kind = VMM_OBJECT_MAPPING, .number = 1, .start = 0x10000, .size = 0x10000};
    const vmm_object m2 = {.kind = VMM_OBJECT_MAPPING, .number = 2, .start = 0x40000, .size = 0x10000};
    const vmm_object old = {.kind = VMM_OBJECT_MAPPING, .number = 3, .start = 0x30000, .size = 0x10000, .created = 4,
                            .created_by = "cuMemMap", .ended = 6, .ended_by = "cuMemUnmap"};
    const vmm_fault whole = {.kernel = VMM_KERNEL_COPY, .address = 0x30001, .argument = "src", .offset = 1, .before = m1,
                             .after = m2, .past = old};
    const vmm_fault bare = {.kernel = VMM_KERNEL_TOUCH, .address = 0x30001};
    char text[2048];
    begin();
    vmm_detail_refuse(VMM_RULE_FAULT_ACCESS, whole.address, 0, &m1);
    tap_ok(!vmm_last_detail()->fault, "a refusal has no fault by itself");
    vmm_detail_fault(&whole);
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    tap_ok(strstr(text, "  offset    1 byte from argument src of copy\n"), "the argument: %s", text);
    tap_ok(strstr(text, "  before    mapping M1 [0x10000, 0x20000)") && strstr(text, "; 65537 bytes past its end\n"),
           "what lies before");
    tap_ok(strstr(text, "  after     mapping M2 [0x40000, 0x50000)") && strstr(text, "; 65535 bytes before its start\n"),
           "what lies after");
    tap_ok(strstr(text, "  was here  mapping M3 ") && strstr(text, "gone since call 6 (cuMemUnmap)\n"),
           "the text names the mapping that was there");
    begin();
    tap_ok(!vmm_last_detail()->fault, "the next call has no fault");
    vmm_detail_refuse(VMM_RULE_FAULT_ACCESS, whole.address, 0, &old);
    vmm_detail_fault(&whole);
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    tap_ok(!strstr(text, "was here"), "the mapping that was there is not named twice");
    begin();
    vmm_detail_refuse(VMM_RULE_FAULT_ACCESS, bare.address, 0, NULL);
    vmm_detail_fault(&bare);
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    tap_ok(!strstr(text, "  offset") && !strstr(text, "  before") && !strstr(text, "  after") && !strstr(text, "was here"),
           "optional parts are missing: %s", text);
    vmm_detail plain = {.result = VMM_ERROR_INVALID_VALUE, .severity = VMM_SEVERITY_ERROR};
    vmm_detail_text(&plain, text, sizeof text);
    tap_text(text, "error:  -> CUDA_ERROR_INVALID_VALUE\n", "a record with only a result");
    plain.function = "";
    vmm_detail_text(&plain, text, sizeof text);
    tap_text(text, "error:  -> CUDA_ERROR_INVALID_VALUE\n", "a record of a function without a name");
}

/* Numbers from other versions have no text. */
static void test_unknown_numbers(void)
{
    vmm_detail detail = {.severity = (vmm_severity)99,
                         .function = "cuMemMap",
                         .nearest = {.kind = (vmm_object_kind)99, .number = 7}};
    char text[256];
    vmm_detail_text(&detail, text, sizeof text);
    tap_text(text, "fine: cuMemMap\n  nearest   \n", "an unknown severity and an unknown kind of object");
}

static void test_notes(void)
{
    char text[2048];
    begin();
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    tap_ok(strncmp(text, "fine: cuMemMap", 14) == 0, "an empty record has a text: %.20s", text);
    vmm_detail_warn(VMM_RULE_MAP_PAST_RESERVATION, 1, 2, NULL);
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    tap_ok(strstr(text, "In strict mode it is CUDA_ERROR_INVALID_VALUE") != NULL, "a warning names the result in strict mode");
    begin();
    vmm_detail_warn(VMM_RULE_ACCESS_DUPLICATE, 1, 0, NULL);
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    tap_ok(!strstr(text, "In strict mode"), "a hazard stays a warning in strict mode");
    begin();
    vmm_detail_refuse(VMM_RULE_RELEASE_HANDLE_FORGED, 1, 0, NULL);
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    tap_ok(strstr(text, "the process crashes") != NULL, "the text says that a driver crashes here");
    tap_result(vmm_detail_fail(VMM_ERROR_NOT_FOUND, "vmm_open", "no %s", "thing"), VMM_ERROR_NOT_FOUND,
               "a failure without a rule");
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    tap_ok(strstr(text, "error: vmm_open -> CUDA_ERROR_NOT_FOUND") && strstr(text, "no thing"), "words only: %s", text);
    vmm_detail leak = {.severity = VMM_SEVERITY_LEAK, .rule = "VMM-LEAK-HANDLE", .function = "cuMemCreate", .call = 2};
    vmm_detail_text(&leak, text, sizeof text);
    tap_ok(strncmp(text, "leak VMM-LEAK-HANDLE: cuMemCreate (call 2)", 42) == 0, "a leak names the call that created the object");
    leak.severity = VMM_SEVERITY_HINT;
    vmm_detail_text(&leak, text, sizeof text);
    tap_ok(strncmp(text, "hint VMM-LEAK-HANDLE: ", 22) == 0, "a hint is labelled as one");
}

static void test_results(void)
{
    tap_text(vmm_result_name(VMM_ERROR_NOT_PERMITTED), "CUDA_ERROR_NOT_PERMITTED", "a result's name");
    tap_text(vmm_result_name((vmm_result)123456), "unrecognized error code", "an unknown result");
    tap_ok(vmm_result_text(VMM_SUCCESS)[0] && vmm_result_text((vmm_result)-1)[0], "every result has a description");
}

static void test_rules(void)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    bool distinct = true, whole = true;
    for (size_t i = 0; i < count; i++) {
        distinct = distinct && vmm_rule_find(rules[i].id) == &rules[i] && strncmp(rules[i].id, "VMM-", 4) == 0;
        whole = whole && rules[i].message[0] && rules[i].explanation[0] && rules[i].way_out[0] &&
                (rules[i].documents[0] || rules[i].observed[0] || rules[i].origin == VMM_ORIGIN_OURS);
    }
    tap_ok(count == VMM_RULE_COUNT && distinct, "%zu rules with unique ids", count);
    tap_ok(whole, "every rule has a message, an explanation, a fix and an origin");
    tap_ok(!vmm_rule_find("VMM-NO-SUCH") && !vmm_rule_find(NULL) && vmm_rules(NULL) == rules, "an unknown id finds no rule");
}

/* What made the unordered accesses: a kernel, a graph node, the host, and streams with and without a name. */
static void test_accesses(void)
{
    static const struct {
        vmm_access access;
        const char *said;
    } rows[] = {
        {{.issued = {.function = "cuLaunchKernel", .call = 7}, .kernel = "fill", .stream_number = 3, .writes = 1},
         "kernel fill (cuLaunchKernel, call 7) on stream S3 writes\n"},
        {{.issued = {.function = "cuGraphLaunch", .call = 8}, .graph = 1}, "cuGraphLaunch (call 8) in a node of a graph reads\n"},
        {{.issued = {.function = "cuMemcpyDtoH", .call = 9}, .host = 1}, "cuMemcpyDtoH (call 9) of the host reads\n"},
        {{.issued = {.function = "cuMemsetD8Async", .call = 10}, .writes = 1},
         "cuMemsetD8Async (call 10) on the default stream writes\n"},
        {{.issued = {.function = "cuMemsetD8Async", .call = 11}, .per_thread = 1, .writes = 1},
         "cuMemsetD8Async (call 11) on the thread's default stream writes\n"},
    };
    char text[2048];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const vmm_order alone = {.second = rows[i].access, .offset = 0x1000, .size = 1};
        const vmm_order both = {.first = rows[i].access, .second = rows[0].access, .memory = 5, .size = 4096,
                                .missing = "an event"};
        const vmm_detail one = {.severity = VMM_SEVERITY_WARNING, .order = &alone};
        const vmm_detail two = {.severity = VMM_SEVERITY_WARNING, .order = &both};
        vmm_detail_text(&one, text, sizeof text);
        tap_ok(strstr(text, "  access    ") && strstr(text, rows[i].said) &&
               strstr(text, "bytes     0x1000 to 0x1000 of the host's memory, "), "an access alone: %s", text);
        vmm_detail_text(&two, text, sizeof text);
        tap_ok(strstr(text, "  first     ") && strstr(text, rows[i].said) && strstr(text, "  second    kernel fill ") &&
               strstr(text, "of memory 5, ") && strstr(text, "missing   an event\n"), "and the first of two: %s", text);
    }
}

int main(void)
{
    test_accesses();
    test_precedence();
    test_text();
    test_objects();
    test_faults();
    test_unknown_numbers();
    test_notes();
    test_results();
    test_rules();
    return tap_done();
}
