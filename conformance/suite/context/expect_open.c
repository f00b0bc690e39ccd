/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: vmm_open, vmm_visit and the explanations. */
#include <string.h>

#include "test.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

TEST_EXPECTS("open.refuses_bad_specs", specs_that_cannot_be_opened)
{
    static const struct {
        const char *spec;
        vmm_result result;
    } bad[] = {{"", VMM_ERROR_INVALID_VALUE},           {"|sim", VMM_ERROR_INVALID_VALUE},
               {"sim|", VMM_ERROR_INVALID_VALUE},       {"sim:h100,lenient", VMM_ERROR_INVALID_VALUE},
               {"nothing", VMM_ERROR_NOT_FOUND},        {"sim:no-such-machine", VMM_ERROR_NOT_FOUND},
               {"nothing=1|sim", VMM_ERROR_NOT_FOUND},  {"fault=no_such_call:1|sim", VMM_ERROR_INVALID_VALUE},
               {"fault=mem_map:0|sim", VMM_ERROR_INVALID_VALUE}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        vmm_system *sys = S;
        vmm_result result = vmm_open(bad[i].spec, &sys);
        const vmm_detail *detail = vmm_last_detail();
        CHECK(result == bad[i].result, "\"%s\": %s %s", bad[i].spec, vmm_result_name(result), detail->note);
        CHECK(sys == S, "\"%s\": the system was written", bad[i].spec);
        CHECK(result == VMM_SUCCESS || (detail->result == result && detail->note[0]), "\"%s\": no reason", bad[i].spec);
        if (result == VMM_SUCCESS)
            vmm_close(sys);
    }
    CHECK(vmm_open("sim", NULL) == VMM_ERROR_INVALID_VALUE, "no place for the system");
    vmm_close(NULL);
}

TEST_EXPECTS("open.systems_are_apart", two_systems)
{
    fix_need_simulator(f, "needs a backend that can be opened twice");
    struct fix *other = fix_also(f, "sim:min", 0);
    uint64_t here = fix_free_memory(f), there = fix_free_memory(other);
    fix_create(other, other->g);
    CHECK_FREE(here, 0);
    CHECK_U64(there - fix_free_memory(other), other->g);
}

struct seen {
    unsigned count[VMM_OBJECT_ARRAY + 1];
    vmm_object_kind last;
    uint64_t last_start;
    unsigned disorder;
    vmm_object mapping, handle;
};

static void see(void *user, const vmm_object *o)
{
    struct seen *seen = user;
    seen->count[o->kind]++;
    bool by_address = o->kind == VMM_OBJECT_RESERVATION || o->kind == VMM_OBJECT_MAPPING;
    seen->disorder += o->kind < seen->last;
    seen->disorder += by_address && o->kind == seen->last && o->start < seen->last_start;
    seen->last = o->kind;
    seen->last_start = o->start;
    if (o->kind == VMM_OBJECT_MAPPING)
        seen->mapping = *o;
    if (o->kind == VMM_OBJECT_HANDLE)
        seen->handle = *o;
}

TEST_EXPECTS("visit.tells_every_object", visit_objects)
{
    fix_need_simulator(f, "needs a backend that can tell what is held");
    struct seen seen = {0};
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    fix_reserve(f, f->g);
    fix_alloc(f, f->g);
    fix_stream(f);
    fix_event(f);
    fix_map(f, p + f->g, f->g, handle);
    fix_access(f, p + f->g, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    fix_need(f, vmm_visit(S, see, &seen));
    CHECK_U64(seen.count[VMM_OBJECT_DEVICE], (uint64_t)f->devices);
    CHECK_U64(seen.count[VMM_OBJECT_RESERVATION], 3); /* with the keeper */
    CHECK_U64(seen.count[VMM_OBJECT_MAPPING], 1);
    CHECK_U64(seen.count[VMM_OBJECT_HANDLE], 1);
    CHECK_U64(seen.count[VMM_OBJECT_ALLOCATION], 1);
    CHECK_U64(seen.count[VMM_OBJECT_CONTEXT], 1);
    CHECK_U64(seen.count[VMM_OBJECT_STREAM], 1);
    CHECK_U64(seen.count[VMM_OBJECT_EVENT], 1);
    CHECK_U64(seen.disorder, 0);
    CHECK_U64(seen.mapping.start, p + f->g);
    CHECK_U64(seen.mapping.size, f->g);
    CHECK_U64(seen.mapping.handle, handle);
    CHECK_U64(seen.mapping.handle_number, seen.handle.number);
    CHECK_U64(seen.mapping.block, seen.handle.block);
    CHECK_U64((uint64_t)vmm_object_access(&seen.mapping, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0)),
              VMM_MEM_ACCESS_FLAGS_PROT_READ);
    CHECK_U64(seen.handle.references, 1);
    CHECK_U64(seen.handle.mappings, 1);
    CHECK(seen.mapping.created_by && strcmp(seen.mapping.created_by, "cuMemMap") == 0, "made by another call");
}

/* The detail belongs to the last call: a call without a report clears it. */
TEST_EXPECTS("detail.is_of_the_last_call", detail_goes_away)
{
    fix_need_simulator(f, "needs a backend with rule ids");
    int count = 0;
    vmm_mem_release(S, 0);
    CHECK(vmm_last_detail()->rule != NULL, "a refusal has no detail");
    ACCEPTED(vmm_device_get_count(S, &count));
    CHECK(vmm_last_detail()->rule == NULL, "an old refusal is still reported");
    CHECK(vmm_last_detail()->result == VMM_SUCCESS, "an old result is still reported");
}

/* As snprintf: cut to the buffer's size with a final 0, and the full length returned. */
TEST_EXPECTS("detail.text_is_cut_to_size", detail_text_in_small_rooms)
{
    char whole[4096], part[64];
    fix_need_simulator(f, "needs a backend with rule ids");
    vmm_mem_release(S, 0);
    vmm_detail detail = *vmm_last_detail();
    size_t length = vmm_detail_text(&detail, whole, sizeof whole);
    CHECK_U64(length, strlen(whole));
    CHECK_U64(vmm_detail_text(&detail, NULL, 0), length);
    for (size_t size = 1; size < sizeof part; size++) {
        memset(part, 'x', sizeof part);
        CHECK_U64(vmm_detail_text(&detail, part, size), length);
        CHECK(part[size - 1] == '\0' && strncmp(part, whole, size - 1) == 0, "in %zu bytes", size);
        CHECK(size + 1 >= sizeof part || part[size] == 'x', "more than %zu bytes were written", size);
    }
}

/* Documented rules that the driver does not enforce: a warning in observed mode, a refusal in strict mode. */
TEST_EXPECTS("open.strict_refuses_what_observed_warns_of", both_modes)
{
    fix_need_simulator(f, "needs both modes");
    struct fix *mild = fix_also(f, "sim:h100", 0), *strict = fix_also(f, "sim:h100,strict", 0);
    vmm_deviceptr p = fix_reserve(mild, mild->g), q = fix_reserve(strict, strict->g);
    CHECK(vmm_mem_unmap(mild->sys, p, mild->g) == VMM_SUCCESS, "observed mode refuses");
    CHECK(vmm_last_detail()->severity == VMM_SEVERITY_WARNING, "observed mode does not warn");
    CHECK(vmm_mem_unmap(strict->sys, q, strict->g) == VMM_ERROR_INVALID_VALUE, "strict mode accepts it");
    CHECK(vmm_last_detail()->severity == VMM_SEVERITY_ERROR, "strict mode only warns");
}
