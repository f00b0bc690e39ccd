/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that access memory without rights: what cuvmm reports, and what still works in a process that lost its device
 * this way.
 *
 * A fault takes the device from the whole process, so each case has a process of its own; on the simulator, another
 * system. On a driver bin/kernels measures the same in child processes. */
#include <string.h>

#include "test.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define NOBODY (-1) /* rights never set */

#define LOST VMM_ERROR_ILLEGAL_ADDRESS

#define ARGS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define LAUNCH(kernel, ...) vmm_launch(S, VMM_KERNEL_##kernel, 1, 64, ARGS(__VA_ARGS__), NULL)

#define RUNS(kernel, ...)                          \
    do {                                           \
        ACCEPTED(LAUNCH(kernel, __VA_ARGS__));     \
        ACCEPTED(vmm_ctx_synchronize(S));          \
    } while (0)

/* Late, so that it is certain which call reports the fault. */
static void open_process(struct fix *f, struct fix *own)
{
    char spec[sizeof f->spec + 32];
    const char *bar = strrchr(f->spec, '|'), *backend = bar ? bar + 1 : f->spec;
    fix_need_simulator(f, "a fault ends the whole process: bin/kernels measures it in child processes");
    snprintf(spec, sizeof spec, "%s%s,schedule=late", f->spec, strchr(backend, ':') ? "" : ":");
    *own = (struct fix){.root = f->root, .out = f->out};
    fix_need(f, fix_open(own, spec, 0));
}

/* [0 mapped][1 nothing][2 mapped][3 nothing], with these rights. */
static vmm_deviceptr map_two(struct fix *f, int rights)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    for (uint64_t at = 0; at < 3; at += 2) {
        fix_map(f, p + at * f->g, f->g, fix_create(f, f->g));
        if (rights != NOBODY)
            fix_access(f, p + at * f->g, f->g, rights);
    }
    return p;
}

/* The call reported the kernel's access by VMM-FAULT-ACCESS. */
static void check_reported(struct fix *f, int line, vmm_result result, const char *kernel, uint64_t address,
                       const char *why, vmm_object_kind near)
{
    const vmm_detail detail = *vmm_last_detail();
    char place[32];
    snprintf(place, sizeof place, "0x%llx:", (unsigned long long)address);
    if (result != LOST || !detail.rule || strcmp(detail.rule, "VMM-FAULT-ACCESS") != 0)
        fix_failed(f, __FILE__, line, "%s by %s, expected VMM-FAULT-ACCESS", vmm_result_name(result),
                   detail.rule ? detail.rule : "no rule");
    else if (detail.value != address || !strstr(detail.note, place) || !strstr(detail.note, kernel) ||
             !strstr(detail.note, why))
        fix_failed(f, __FILE__, line, "0x%llx, \"%s\"; expected %s, %s and \"%s\"", (unsigned long long)detail.value,
                   detail.note, place, kernel, why);
    else if (detail.nearest.kind != near)
        fix_failed(f, __FILE__, line, "the nearest object is of kind %d, expected %d", (int)detail.nearest.kind,
                   (int)near);
}

#define TOLD(call, kernel, address, why, near) \
    check_reported(f, __LINE__, (call), vmm_kernel_name(VMM_KERNEL_##kernel), (address), (why), VMM_OBJECT_##near)

/* ---- rights and places ---- */

struct item {
    int line;
    int rights;
    vmm_kernel kernel;
    uint64_t units, bytes;   /* where the kernel accesses memory: units * G + bytes */
    uint64_t rest[3];        /* its other arguments */
    uint64_t fault_units, fault_bytes;
    const char *why;
    vmm_object_kind near;
};

#define SIZE (UINT64_C(1) << 40) /* SIZE + n: G + n */
#define OUT (UINT64_C(1) << 41)  /* memory for answers */

static uint64_t argument(const struct fix *f, uint64_t value, vmm_deviceptr out)
{
    return value >= OUT ? out : value >= SIZE ? f->g + (value - SIZE) : value;
}

static void check_item(struct fix *root, const struct item *item)
{
    struct fix own, *f = &own;
    open_process(root, f);
    vmm_deviceptr p = map_two(f, item->rights), out = fix_mapped(f, f->g, RW, NULL);
    uint64_t args[4] = {p + item->units * f->g + item->bytes};
    for (int i = 0; i < 3; i++)
        args[i + 1] = argument(f, item->rest[i], out);
    ACCEPTED(vmm_launch(S, item->kernel, 1, 64, args, vmm_kernel_arguments(item->kernel), NULL));
    check_reported(f, item->line, vmm_ctx_synchronize(S), vmm_kernel_name(item->kernel),
               p + item->fault_units * f->g + item->fault_bytes, item->why, item->near);
    fix_close(f);
}

TEST_BREAKS(FAULT_ACCESS, kernel_without_rights)
{
    static const struct item items[] = {
        {__LINE__, NOBODY, VMM_KERNEL_TOUCH, 0, 0, {0, 8, OUT}, 0, 0, "reading 8 bytes at", VMM_OBJECT_MAPPING},
        {__LINE__, NOBODY, VMM_KERNEL_TOUCH, 0, 1, {1, 1, OUT}, 0, 1, "writing 1 byte at", VMM_OBJECT_MAPPING},
        {__LINE__, NOBODY, VMM_KERNEL_ATOMIC_ADD, 0, 8, {1}, 0, 8, "the device has no access", VMM_OBJECT_MAPPING},
        {__LINE__, NONE, VMM_KERNEL_TOUCH, 0, 0, {0, 1, OUT}, 0, 0, "the device has no access", VMM_OBJECT_MAPPING},
        {__LINE__, NONE, VMM_KERNEL_SUM, 0, 5, {9, OUT}, 0, 5, "reading 1 byte at", VMM_OBJECT_MAPPING},
        {__LINE__, READ, VMM_KERNEL_TOUCH, 0, 4, {1, 4, OUT}, 0, 4, "the device has only read access", VMM_OBJECT_MAPPING},
        {__LINE__, READ, VMM_KERNEL_ATOMIC_ADD, 0, 8, {1}, 0, 8, "adding to 8 bytes at", VMM_OBJECT_MAPPING},
        {__LINE__, READ, VMM_KERNEL_PATTERN_WRITE, 2, 8, {16, 1}, 2, 8, "writing 8 bytes at", VMM_OBJECT_MAPPING},
    };
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
        check_item(f, &items[i]);
}

TEST_EXPECTS("launch.faults_where_nothing_is_mapped", kernel_where_nothing_is)
{
    static const struct item items[] = {
        {__LINE__, RW, VMM_KERNEL_TOUCH, 1, 0, {0, 8, OUT}, 1, 0, "nothing is mapped there", VMM_OBJECT_RESERVATION},
        {__LINE__, RW, VMM_KERNEL_TOUCH, 3, 1, {1, 1, OUT}, 3, 1, "nothing is mapped there", VMM_OBJECT_RESERVATION},
        {__LINE__, RW, VMM_KERNEL_FILL, 0, 0, {SIZE + 1, 7}, 1, 0, "writing 1 byte at", VMM_OBJECT_RESERVATION},
        {__LINE__, RW, VMM_KERNEL_FILL, 0, 0, {SIZE + SIZE, 7}, 1, 0, "nothing is mapped there", VMM_OBJECT_RESERVATION},
        {__LINE__, RW, VMM_KERNEL_PATTERN_WRITE, 0, 8, {SIZE, 1}, 1, 0, "writing 8 bytes at", VMM_OBJECT_RESERVATION},
    };
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
        check_item(f, &items[i]);
}

/* The mapping that was there a moment ago matters most to the reader. */
TEST_EXPECTS("launch.faults_where_nothing_is_mapped", kernel_where_something_was)
{
    struct fix own, *root = f;
    open_process(root, &own);
    f = &own;
    vmm_deviceptr p = map_two(f, RW);
    RUNS(FILL, p, f->g, 7);
    fix_unmap(f, p, f->g);
    ACCEPTED(LAUNCH(TOUCH, p + 8, 1, 8, 0));
    TOLD(vmm_ctx_synchronize(S), TOUCH, p + 8, "nothing is mapped there", MAPPING);
    CHECK(vmm_last_detail()->nearest.ended > 0, "the mapping that was there is not shown");
    fix_close(f);
}

/* use.7: rights are per device; losing one device leaves the other intact. */
TEST_EXPECTS_ON("launch.faults_without_rights_of_its_device", kernel_of_another_device, "devices = 2\npeers = all",
                TEST_AS_GIVEN, 0)
{
    struct fix own, *root = f;
    fix_need_devices(f, 2);
    fix_need_link(f, true);
    open_process(root, &own);
    f = &own;
    vmm_mem_allocation_prop prop = fix_prop(1);
    vmm_deviceptr p = fix_reserve(f, f->g), out = fix_mapped(f, f->g, RW, NULL);
    fix_map(f, p, f->g, fix_create_prop(f, f->g, &prop));
    fix_access_at(f, p, f->g, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 1), RW);
    ACCEPTED(LAUNCH(TOUCH, p, 0, 8, out));
    TOLD(vmm_ctx_synchronize(S), TOUCH, p, "on device 0", MAPPING);
    vmm_context other = fix_context(f, 1);
    RUNS(TOUCH, p, 1, 8, 0);
    ACCEPTED(LAUNCH(TOUCH, out, 0, 8, p)); /* and the other way round */
    TOLD(vmm_ctx_synchronize(S), TOUCH, out, "on device 1", MAPPING);
    fix_context_destroy(f, other);
    fix_close(f);
}

TEST_NEAR_MISS(FAULT_ACCESS, kernel_with_just_enough_rights)
{
    vmm_deviceptr p = fix_mapped(f, f->g, READ, NULL), out = fix_mapped(f, f->g, RW, NULL);
    RUNS(TOUCH, p, 0, 8, out);
    RUNS(SUM, p, f->g, out);
    fix_need(f, vmm_memset_d8(S, out, 0, 24));
    RUNS(PATTERN_VERIFY, p, f->g, 1, out);
    fix_access(f, p, f->g, RW);
    RUNS(TOUCH, p + f->g - 1, 1, 1, out);
    RUNS(ATOMIC_ADD, p + f->g - 8, 1);
    RUNS(FILL, p, f->g, 1);
}

/* Memory of cuMemAlloc belongs to its device, and ends at its requested size. */
static void overrun_ordinary_memory(struct fix *root, uint64_t size, uint64_t fault, const char *why)
{
    struct fix own, *f = &own;
    open_process(root, f);
    vmm_deviceptr a = fix_alloc(f, 100);
    RUNS(FILL, a, 100, 3);
    ACCEPTED(size ? LAUNCH(FILL, a, size, 4) : LAUNCH(ATOMIC_ADD, a + 96, 1));
    check_reported(f, __LINE__, vmm_ctx_synchronize(S), size ? "fill" : "atomic_add", a + fault, why,
               VMM_OBJECT_ALLOCATION);
    fix_forget(f, FIX_ALLOCATION, a, 0); /* it ends with its context */
    fix_close(f);
}

TEST_EXPECTS("launch.uses_ordinary_memory", kernel_on_ordinary_memory)
{
    overrun_ordinary_memory(f, 101, 100, "writing 1 byte at");
    overrun_ordinary_memory(f, 0, 96, "the memory ends within the access");
}

/* ---- what lies around the address ---- */

/* [M1 mapped][.][M2 mapped][.] as map_two makes it; checks the fault that synchronising reports. */
static const vmm_fault *fault_of(struct fix *f)
{
    static const vmm_fault none = {.device = -1};
    const vmm_fault *reported = vmm_ctx_synchronize(S) == LOST ? vmm_last_detail()->fault : NULL;
    CHECK(reported, "no fault is reported");
    return reported ? reported : &none;
}

TEST_EXPECTS("launch.fault_surroundings", fault_between_two_mappings)
{
    struct fix own, *root = f;
    open_process(root, &own);
    f = &own;
    vmm_deviceptr p = map_two(f, RW);
    ACCEPTED(LAUNCH(FILL, p + 8, f->g + 8, 7));
    const vmm_fault *fault = fault_of(f);
    CHECK(fault->kernel == VMM_KERNEL_FILL, "kernel %d", fault->kernel);
    CHECK_U64(fault->address, p + f->g);
    CHECK_U64(fault->size, 1);
    CHECK(fault->writes && !fault->mapped && fault->launch, "it writes where nothing is mapped");
    CHECK(fault->argument && !strcmp(fault->argument, "dst"), "argument %s", fault->argument ? fault->argument : "none");
    CHECK_U64(fault->offset, f->g - 8);
    CHECK_U64(fault->before.kind, VMM_OBJECT_MAPPING);
    CHECK_U64(fault->before.start, p);
    CHECK_U64(fault->after.start, p + 2 * f->g);
    CHECK_U64(fault->past.kind, VMM_OBJECT_NONE);
    CHECK_U64(vmm_mem_unmap(S, 0, f->g), VMM_ERROR_INVALID_VALUE);
    CHECK(!vmm_last_detail()->fault, "an unrelated refusal reports the fault");
    fix_close(f);
}

TEST_EXPECTS("launch.fault_surroundings", fault_where_memory_was_and_beyond_everything)
{
    struct fix own, *root = f;
    open_process(root, &own);
    f = &own;
    vmm_deviceptr p = map_two(f, RW), out = fix_alloc(f, f->g);
    fix_unmap(f, p + 2 * f->g, f->g);
    ACCEPTED(LAUNCH(SUM, p + 2 * f->g + 4, 9, out));
    const vmm_fault *fault = fault_of(f);
    CHECK(fault->past.ended > 0 && fault->past.start == p + 2 * f->g, "the former mapping is not reported");
    /* analysers: clang-analyzer-core.NonNullParamChecker is wrong: what is told of a fault has an argument's name */
    CHECK(!strcmp(fault->argument, "src") && fault->offset == 0, "the sum's own source");
    CHECK(!fault->writes, "a sum reads");
    bool above = fault->after.kind == VMM_OBJECT_ALLOCATION && fault->after.start == out;
    bool below = fault->before.kind == VMM_OBJECT_ALLOCATION && fault->before.start == out;
    CHECK(above || below, "memory of cuMemAlloc is not among the neighbours");
    fix_forget(f, FIX_ALLOCATION, out, 0); /* it ends with its context */
    fix_close(f);
}

/* The memory is there but the rights are missing: its neighbours differ. */
TEST_EXPECTS("launch.fault_surroundings", fault_inside_a_mapping)
{
    struct fix own, *root = f;
    open_process(root, &own);
    f = &own;
    vmm_deviceptr p = map_two(f, READ);
    ACCEPTED(LAUNCH(TOUCH, p + 2 * f->g + 8, 1, 8, 0));
    const vmm_fault *fault = fault_of(f);
    CHECK(fault->mapped, "the memory is there");
    CHECK_U64(fault->rights, READ);
    CHECK_U64(fault->before.start, p);
    CHECK(fault->after.start != p + 2 * f->g, "the mapping itself is not after its address");
    char text[2048];
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    CHECK(strstr(text, "  offset    0 bytes from argument address of touch\n"), "the text: %s", text);
    char distance[64];
    snprintf(distance, sizeof distance, "; %llu bytes past its end\n", (unsigned long long)f->g + 8);
    CHECK(strstr(text, "  before    mapping M1 [") && strstr(text, distance), "the text: %s", text);
    CHECK_U64(vmm_ctx_synchronize(S), LOST);
    CHECK(vmm_last_detail()->fault && vmm_last_detail()->fault->address == p + 2 * f->g + 8,
          "each query reports what lost the device");
    fix_close(f);
}

/* Of two arguments below the address, the nearer one; and a former mapping does not count where a new one is. */
TEST_EXPECTS("launch.fault_surroundings", fault_of_the_nearer_argument)
{
    struct fix own, *root = f;
    open_process(root, &own);
    f = &own;
    vmm_deviceptr p = map_two(f, RW);
    fix_unmap(f, p + 2 * f->g, f->g);
    fix_map(f, p + 2 * f->g, f->g, fix_create(f, f->g));
    ACCEPTED(LAUNCH(COPY, p + 2 * f->g + 16, p, 8));
    const vmm_fault *fault = fault_of(f);
    CHECK(fault->argument && !strcmp(fault->argument, "dst") && fault->offset == 0, "argument %s + %llu",
          fault->argument ? fault->argument : "none", (unsigned long long)fault->offset);
    CHECK(fault->mapped && fault->past.kind == VMM_OBJECT_NONE, "a former mapping is reported where one exists");
    CHECK_U64(fault->rights, NONE);
    fix_close(f);
}

static void call_inside(void *user, const vmm_detail *detail)
{
    vmm_device device;
    uint64_t *address = user;
    if (detail->fault)
        *address = detail->fault->address;
    vmm_device_get((vmm_system *)(uintptr_t)address[1], &device, 0); /* clears the thread's detail */
}

TEST_EXPECTS("launch.fault_surroundings", fault_told_to_a_report)
{
    struct fix own, *root = f;
    open_process(root, &own);
    f = &own;
    uint64_t seen[2] = {0, (uint64_t)(uintptr_t)S};
    vmm_deviceptr p = map_two(f, READ);
    ACCEPTED(LAUNCH(ATOMIC_ADD, p + 16, 1));
    vmm_set_report(S, call_inside, seen);
    CHECK_U64(fault_of(f)->address, p + 16);
    vmm_set_report(S, NULL, NULL);
    CHECK_U64(seen[0], p + 16);
    fix_close(f);
}

/* ---- afterwards ---- */

/* Each call that needs the device reports the loss: the first one the fault itself, later ones that it happened. */
TEST_BREAKS(FAULT_STICKY, work_on_a_lost_device)
{
    struct fix own, *root = f;
    open_process(root, &own);
    f = &own;
    vmm_deviceptr p = fix_mapped(f, f->g, READ, NULL), old = fix_alloc(f, 64), base = 0;
    vmm_stream stream = fix_stream(f), made = NULL;
    uint64_t value = (uintptr_t)f->ctx, size;
    char bytes[8] = "";
    ACCEPTED(LAUNCH(FILL, p, 8, 1));
    vmm_stream_query(S, NULL); /* lets it run, and is too early to notice */
    CHECK(vmm_mem_alloc(S, &base, f->g) == LOST && strcmp(vmm_last_detail()->rule, "VMM-FAULT-STICKY") == 0,
          "a call that does not wait reported the fault");
    TOLD(vmm_stream_synchronize(S, stream), FILL, p, "only read access", MAPPING);
    REFUSED_NEAR(vmm_ctx_synchronize(S), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_stream_synchronize(S, NULL), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_stream_query(S, stream), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_stream_create(S, &made, 0), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_stream_destroy(S, stream), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_memcpy_dtoh(S, bytes, p, 8), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_memset_d8(S, p, 1, 0), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_memcpy_dtod_async(S, p, p + 8, 8, stream), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(LAUNCH(FILL, 0, 0, 0), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_mem_free(S, 0), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_mem_free(S, old), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_mem_get_info(S, &size, NULL), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_mem_get_address_range(S, &base, &size, p), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    if (f->simulator) { /* not measured on a driver */
        int fd = 7;
        REFUSED_NEAR(vmm_mem_get_handle_for_address_range(S, &fd, p, f->g, VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
                     ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
        CHECK(fd == 7, "the refused call left %d in handle", fd);
    }
    CHECK(strstr(vmm_last_detail()->note, "fill"), "the kernel is not named: %s", vmm_last_detail()->note);
    CHECK(!made && !base && !bytes[0], "an output was written");
    fix_forget(f, FIX_STREAM, (uintptr_t)stream, 0); /* both end with their context */
    fix_forget(f, FIX_ALLOCATION, old, 0);
    fix_close(f);
}

/* Existing contexts are unusable too, and no new one can be created. */
TEST_BREAKS(FAULT_STICKY, other_contexts_on_a_lost_device)
{
    struct fix own, *root = f;
    open_process(root, &own);
    f = &own;
    vmm_deviceptr p = fix_mapped(f, f->g, READ, NULL);
    uint64_t before = (uintptr_t)f->ctx;
    vmm_context second = fix_context(f, 0), made = NULL;
    ACCEPTED(LAUNCH(FILL, p, 8, 1));
    TOLD(vmm_ctx_synchronize(S), FILL, p, "only read access", MAPPING);
    ACCEPTED(vmm_ctx_set_current(S, f->ctx));
    REFUSED_NEAR(vmm_memset_d8(S, p, 1, 8), ILLEGAL_ADDRESS, NULL, before, CONTEXT, 0);
    REFUSED_NEAR(vmm_ctx_create(S, &made, 0, 0), ILLEGAL_ADDRESS, NULL, 0, DEVICE, 0);
    REFUSED_NEAR(vmm_device_primary_ctx_retain(S, &made, 0), ILLEGAL_ADDRESS, NULL, 0, DEVICE, 0);
    fix_context_destroy(f, second);
    ACCEPTED(vmm_device_primary_ctx_reset(S, 0));
    REFUSED_NEAR(vmm_ctx_create(S, &made, 0, 0), ILLEGAL_ADDRESS, NULL, 0, DEVICE, 0);
    CHECK(!made, "a context was written");
    fix_close(f);
}

/* Another process of the machine is unaffected; and before the fault everything works. */
TEST_NEAR_MISS(FAULT_STICKY, work_in_another_process)
{
    struct fix own, *root = f;
    open_process(root, &own);
    f = &own;
    struct fix *other = fix_also(f, NULL, 0);
    vmm_deviceptr p = fix_mapped(f, f->g, READ, NULL), out = fix_mapped(f, f->g, RW, NULL);
    vmm_deviceptr q = fix_mapped(other, other->g, RW, NULL);
    RUNS(TOUCH, p, 0, 8, out);
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(LAUNCH(TOUCH, p, 1, 8, 0));
    ACCEPTED(vmm_memset_d8(other->sys, q, 5, 8));
    ACCEPTED(vmm_launch(other->sys, VMM_KERNEL_FILL, 1, 32, ARGS(q + 4, 8, 6), NULL));
    ACCEPTED(vmm_ctx_synchronize(other->sys));
    CHECK(fix_peek(other, q) == 5 && fix_peek(other, q + 11) == 6, "work in the other process is not done");
    CHECK_U64(vmm_stream_query(S, NULL), VMM_ERROR_NOT_READY);
    TOLD(vmm_stream_query(S, NULL), TOUCH, p, "writing 8 bytes", MAPPING);
    ACCEPTED(vmm_ctx_synchronize(other->sys));
    fix_close(f);
}

/* use.2: virtual memory management needs no context, so it still works. */
TEST_EXPECTS("launch.vmm_calls_work_after_a_fault", control_calls_on_a_lost_device)
{
    struct fix own, *root = f;
    open_process(root, &own);
    f = &own;
    vmm_mem_generic_allocation_handle handle = 0, made = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, READ, &handle), q = 0;
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_mem_access_desc desc = {fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW};
    uint64_t value = 0;
    int device = 7;
    ACCEPTED(LAUNCH(FILL, p, f->g, 1));
    TOLD(vmm_ctx_synchronize(S), FILL, p, "only read access", MAPPING);
    ACCEPTED(vmm_mem_address_reserve(S, &q, f->g, 0, 0, 0));
    fix_unmap(f, p, f->g);
    fix_release(f, handle);
    fix_address_free(f, p, f->g);
    ACCEPTED(vmm_mem_create(S, &made, f->g, &prop, 0));
    ACCEPTED(vmm_mem_map(S, q, f->g, 0, made, 0));
    ACCEPTED(vmm_mem_set_access(S, q, f->g, &desc, 1));
    ACCEPTED(vmm_mem_get_access(S, &value, &desc.location, q));
    CHECK_U64(value, RW);
    ACCEPTED(vmm_pointer_get_attribute(S, &value, VMM_POINTER_ATTRIBUTE_DEVICE_POINTER, q));
    ACCEPTED(vmm_mem_unmap(S, q, f->g));
    ACCEPTED(vmm_mem_release(S, made));
    ACCEPTED(vmm_mem_address_free(S, q, f->g));
    ACCEPTED(vmm_ctx_get_device(S, &device));
    fix_close(f);
}
