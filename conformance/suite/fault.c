/* Kernels that go where they may not: what is told, and what still works in a context that they broke. */
#include <string.h>

#include "test.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE

#define ARGS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define LAUNCH(kernel, ...) vmm_launch(S, VMM_KERNEL_##kernel, 1, 64, ARGS(__VA_ARGS__), NULL)

/* A context that is to be broken, so that the fixture's own stays whole. How much of a process a fault takes along on a
 * driver is not promised, so there bin/kernels asks the same in child processes. */
static vmm_context victim(struct fix *f)
{
    fix_need_simulator(f, "a fault may take the whole process along: see bin/kernels");
    return fix_context(f, 0);
}

/* What the first waiting call after a fault is to say. */
struct told {
    vmm_result result;
    const char *kernel;
    uint64_t address;
    const char *why;
    vmm_object_kind near;
};

static void check_told(struct fix *f, int line, vmm_result result, struct told want)
{
    const vmm_detail detail = *vmm_last_detail();
    char address[32];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)want.address);
    if (result != want.result)
        fix_failed(f, __FILE__, line, "%s, expected %s", vmm_result_name(result), vmm_result_name(want.result));
    if (!detail.rule || strcmp(detail.rule, "VMM-FAULT-ACCESS") != 0)
        fix_failed(f, __FILE__, line, "by %s, expected VMM-FAULT-ACCESS", detail.rule ? detail.rule : "no rule");
    if (detail.value != want.address || !strstr(detail.note, address) || !strstr(detail.note, want.kernel) ||
        !strstr(detail.note, want.why))
        fix_failed(f, __FILE__, line, "0x%llx: %s; expected %s, %s and \"%s\"", (unsigned long long)detail.value,
                   detail.note, address, want.kernel, want.why);
    if (detail.nearest.kind != want.near)
        fix_failed(f, __FILE__, line, "the nearest object is of kind %d, expected %d", (int)detail.nearest.kind,
                   (int)want.near);
}

/* In a context of its own the launch succeeds and synchronising does not. */
#define FAULTS(kernel, address, why, near, ...)                                                                    \
    do {                                                                                                           \
        vmm_context broken_ = victim(f);                                                                           \
        ACCEPTED(LAUNCH(kernel, __VA_ARGS__));                                                                     \
        check_told(f, __LINE__, vmm_ctx_synchronize(S),                                                            \
                   (struct told){VMM_ERROR_ILLEGAL_ADDRESS, vmm_kernel_name(VMM_KERNEL_##kernel), (address), (why), \
                                 VMM_OBJECT_##near});                                                              \
        fix_context_destroy(f, broken_);                                                                           \
    } while (0)

#define RUNS(kernel, ...)                          \
    do {                                           \
        ACCEPTED(LAUNCH(kernel, __VA_ARGS__));     \
        ACCEPTED(vmm_ctx_synchronize(S));          \
    } while (0)

/* Reading, writing and adding at an address without the rights for it. */
TEST_BREAKS(FAULT_ACCESS, kernel_without_rights)
{
    vmm_deviceptr p = fix_reserve(f, 2 * f->g), out = fix_mapped(f, f->g, RW, NULL);
    fix_map(f, p, f->g, fix_create(f, f->g));
    FAULTS(TOUCH, p, "reading 8 bytes", MAPPING, p, 0, 8, out);
    FAULTS(TOUCH, p + 1, "writing 1 byte at", MAPPING, p + 1, 1, 1, out);
    FAULTS(ATOMIC_ADD, p, "the device has no access there", MAPPING, p, 1);
    fix_access(f, p, f->g, READ);
    FAULTS(TOUCH, p + 4, "the device may only read there", MAPPING, p + 4, 1, 4, out);
    FAULTS(ATOMIC_ADD, p + 8, "adding to 8 bytes", MAPPING, p + 8, 1);
    fix_access(f, p, f->g, NONE);
    FAULTS(TOUCH, p, "no access", MAPPING, p, 0, 1, out);
    FAULTS(SUM, p, "reading 1 byte ", MAPPING, p, 100, out);
    FAULTS(SUM, p, "adding to 8 bytes", MAPPING, out, 100, p); /* nowhere to put the answer */
}

TEST_NEAR_MISS(FAULT_ACCESS, kernel_with_just_enough_rights)
{
    vmm_deviceptr p = fix_mapped(f, f->g, READ, NULL), out = fix_mapped(f, f->g, RW, NULL);
    RUNS(TOUCH, p, 0, 8, out);
    RUNS(SUM, p, f->g, out);
    RUNS(PATTERN_VERIFY, p, f->g, 1, out);
    fix_access(f, p, f->g, RW);
    RUNS(TOUCH, p + f->g - 1, 1, 1, out);
    RUNS(ATOMIC_ADD, p + f->g - 8, 1);
    RUNS(FILL, p, f->g, 1);
}

/* Reserved, unmapped, freed, never there; and one byte past the end, after which all before it is written. */
TEST_EXPECTS("launch.faults_where_nothing_is_mapped", kernel_where_nothing_is)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g), out = fix_mapped(f, f->g, RW, NULL);
    vmm_deviceptr old = fix_free_range(f, 64 * f->g) + 32 * f->g;
    FAULTS(TOUCH, p, "nothing is mapped there", RESERVATION, p, 0, 8, out);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_map(f, p + 2 * f->g, f->g, fix_create(f, f->g));
    fix_access(f, p, f->g, RW);
    fix_access(f, p + 2 * f->g, f->g, RW);
    FAULTS(FILL, p + f->g, "writing 1 byte at", RESERVATION, p, f->g + 1, 7);
    CHECK(fix_peek(f, p + f->g - 1) == 7 && fix_peek(f, p + 2 * f->g) == 0, "the part before the end is not written");
    FAULTS(FILL, p + f->g, "nothing is mapped there", RESERVATION, p, 3 * f->g, 8); /* over a hole */
    FAULTS(PATTERN_WRITE, p + f->g, "writing 8 bytes", RESERVATION, p + f->g - 16, 24, 1);
    fix_unmap(f, p, f->g);
    FAULTS(TOUCH, p + 8, "nothing is mapped there", MAPPING, p + 8, 1, 8, out); /* the one that was there */
    vmm_context broken = victim(f);
    ACCEPTED(LAUNCH(TOUCH, old, 0, 1, out));
    CHECK(vmm_ctx_synchronize(S) == VMM_ERROR_ILLEGAL_ADDRESS, "an address that was never reserved");
    fix_context_destroy(f, broken);
}

/* use.7: rights are per device. */
TEST_EXPECTS("launch.faults_without_rights_of_its_device", kernel_of_another_device)
{
    fix_need_devices(f, 2);
    fix_need_link(f, true);
    vmm_mem_allocation_prop prop = fix_prop(1);
    vmm_deviceptr p = fix_reserve(f, f->g), out = fix_mapped(f, f->g, RW, NULL);
    fix_map(f, p, f->g, fix_create_prop(f, f->g, &prop));
    fix_access_at(f, p, f->g, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 1), RW);
    FAULTS(TOUCH, p, "on device 0", MAPPING, p, 0, 8, out);
    vmm_context other = fix_context(f, 1);
    RUNS(TOUCH, p, 1, 8, 0);
    ACCEPTED(LAUNCH(TOUCH, out, 0, 8, p)); /* and the other way round */
    check_told(f, __LINE__, vmm_ctx_synchronize(S),
               (struct told){VMM_ERROR_ILLEGAL_ADDRESS, "touch", out, "on device 1", VMM_OBJECT_MAPPING});
    fix_context_destroy(f, other);
}

/* Memory of the old kind belongs to its device, and ends where it was asked to end. */
TEST_EXPECTS("launch.uses_ordinary_memory", kernel_on_ordinary_memory)
{
    vmm_deviceptr a = fix_alloc(f, 100);
    RUNS(FILL, a, 100, 3);
    FAULTS(FILL, a + 100, "writing 1 byte", ALLOCATION, a, 101, 4);
    FAULTS(ATOMIC_ADD, a + 96, "the memory ends within the access", ALLOCATION, a + 96, 1);
}

/* After a fault everything that needs the context says so; once it was told what happened, only that it did. */
TEST_BREAKS(FAULT_STICKY, work_in_a_broken_context)
{
    vmm_deviceptr p = fix_mapped(f, f->g, READ, NULL), out = 0;
    vmm_stream stream = NULL, made = NULL;
    vmm_context broken = victim(f);
    uint64_t value = (uintptr_t)broken;
    char bytes[8] = "";
    fix_need(f, vmm_stream_create(S, &stream, 0));
    ACCEPTED(LAUNCH(FILL, p, 8, 1));
    check_told(f, __LINE__, vmm_stream_synchronize(S, NULL),
               (struct told){VMM_ERROR_ILLEGAL_ADDRESS, "fill", p, "may only read", VMM_OBJECT_MAPPING});
    REFUSED_NEAR(vmm_ctx_synchronize(S), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_stream_synchronize(S, stream), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_stream_query(S, stream), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_stream_create(S, &made, 0), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_memcpy_dtoh(S, bytes, p, 8), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_memset_d8(S, p, 1, 8), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_memcpy_dtod_async(S, p, p + 8, 8, stream), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(LAUNCH(FILL, 0, 0, 0), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    REFUSED_NEAR(vmm_mem_alloc(S, &out, f->g), ILLEGAL_ADDRESS, NULL, value, CONTEXT, 0);
    CHECK(strstr(vmm_last_detail()->note, "fill"), "the kernel is not named: %s", vmm_last_detail()->note);
    CHECK(!made && !out, "an output was written");
    ACCEPTED(vmm_ctx_destroy(S, broken));
    fix_forget(f, FIX_CONTEXT, value, 0);
}

/* The context is whole until the kernel's work went wrong, and other contexts stay so. */
TEST_NEAR_MISS(FAULT_STICKY, work_in_another_context)
{
    vmm_deviceptr p = fix_mapped(f, f->g, READ, NULL), out = fix_mapped(f, f->g, RW, NULL);
    vmm_stream own = fix_stream(f);
    vmm_context broken = victim(f);
    RUNS(TOUCH, p, 0, 8, out);
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(LAUNCH(TOUCH, p, 1, 8, 0));
    ACCEPTED(vmm_stream_synchronize(S, own)); /* of the first context, although the broken one is current */
    ACCEPTED(vmm_memset_d8_async(S, out, 4, 8, own));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_memset_d8(S, out + 8, 5, 8));
    RUNS(SUM, p, 8, out + 64);
    CHECK(fix_peek(f, out) == 4 && fix_peek(f, out + 8) == 5, "work in the other context is not done");
    fix_need(f, vmm_ctx_set_current(S, broken));
    check_told(f, __LINE__, vmm_stream_query(S, NULL),
               (struct told){VMM_ERROR_ILLEGAL_ADDRESS, "touch", p, "writing 8 bytes", VMM_OBJECT_MAPPING});
    fix_context_destroy(f, broken);
    ACCEPTED(vmm_ctx_synchronize(S));
}

/* use.2: virtual memory management does not belong to the context. */
TEST_EXPECTS("launch.vmm_calls_work_after_a_fault", control_calls_in_a_broken_context)
{
    vmm_mem_generic_allocation_handle handle = 0, made = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, READ, &handle), q = 0;
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_mem_access_desc desc = {fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW};
    vmm_context broken = victim(f);
    uint64_t rights = 0;
    ACCEPTED(LAUNCH(FILL, p, f->g, 1));
    CHECK(vmm_ctx_synchronize(S) == VMM_ERROR_ILLEGAL_ADDRESS, "no fault");
    ACCEPTED(vmm_mem_address_reserve(S, &q, f->g, 0, 0, 0));
    fix_unmap(f, p, f->g);
    fix_release(f, handle);
    fix_address_free(f, p, f->g);
    ACCEPTED(vmm_mem_create(S, &made, f->g, &prop, 0));
    ACCEPTED(vmm_mem_map(S, q, f->g, 0, made, 0));
    ACCEPTED(vmm_mem_set_access(S, q, f->g, &desc, 1));
    ACCEPTED(vmm_mem_get_access(S, &rights, &desc.location, q));
    CHECK_U64(rights, RW);
    ACCEPTED(vmm_mem_unmap(S, q, f->g));
    ACCEPTED(vmm_mem_release(S, made));
    ACCEPTED(vmm_mem_address_free(S, q, f->g));
    fix_context_destroy(f, broken);
}

/* The primary context is whole again once it was reset, or released and retained. */
TEST_EXPECTS("launch.reset_mends_the_primary_context", primary_context_is_mended)
{
    vmm_context primary = NULL;
    vmm_deviceptr p = fix_mapped(f, f->g, READ, NULL);
    fix_need_simulator(f, "not measured");
    for (int reset = 0; reset < 2; reset++) {
        fix_need(f, vmm_device_primary_ctx_retain(S, &primary, 0));
        fix_need(f, vmm_ctx_set_current(S, primary));
        ACCEPTED(vmm_ctx_synchronize(S));
        ACCEPTED(LAUNCH(FILL, p, 8, 1));
        CHECK(vmm_ctx_synchronize(S) == VMM_ERROR_ILLEGAL_ADDRESS, "no fault");
        if (reset) {
            fix_need(f, vmm_device_primary_ctx_reset(S, 0));
            fix_need(f, vmm_device_primary_ctx_retain(S, &primary, 0));
            ACCEPTED(vmm_ctx_synchronize(S));
            fix_need(f, vmm_device_primary_ctx_release(S, 0));
        }
        fix_need(f, vmm_device_primary_ctx_release(S, 0));
    }
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
}
