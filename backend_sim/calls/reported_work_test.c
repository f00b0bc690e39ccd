/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about work: memory or rights taken away from in-flight work, and accesses that fault. */
#include "report_rig.h"

/* ---- in-flight work ---- */

/* Checks a warning about in-flight work: its rule, its value, its mapping and its note. */
static void warned(vmm_result result, const char *rule, uint64_t value, uint64_t mapping, const char *note)
{
    const vmm_detail *d = vmm_last_detail();
    tap_ok(result == VMM_SUCCESS && d->severity == VMM_SEVERITY_WARNING && d->rule && !strcmp(d->rule, rule) &&
               d->value == value && !d->expected && nearest_is(VMM_OBJECT_MAPPING, mapping),
           "%s: %llu", d->rule ? d->rule : "no rule", (unsigned long long)d->value);
    tap_text(d->note, note, "the warning has this note");
}

static const char *work_note(const char *work, uint64_t call, const char *does, vmm_deviceptr granule)
{
    static char note[200];
    snprintf(note, sizeof note, "%s by call %llu on device 0, %s the granule at 0x%llx; no call has waited for it", work,
             (unsigned long long)call, does, (unsigned long long)granule);
    return note;
}

/*  [M1, of 2 granules][M2]      the kernel    ........x][x.......
 *                               the copy      reads .x............   writes ..................x */
static void in_flight(void)
{
    vmm_deviceptr p = 0;
    handle_t wide = 0;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {DEVICE, 0}};
    vmm_mem_access_desc desc = {{DEVICE, 0}, RW};
    begin("sim:h100,schedule=late");
    need(vmm_mem_address_reserve(sys, &p, 3 * G, 0, 0, 0));
    need(vmm_mem_create(sys, &wide, 2 * G, &prop, 0));
    need(vmm_mem_map(sys, p, 2 * G, 0, wide, 0));
    need(vmm_mem_map(sys, p + 2 * G, G, 0, created(DEVICE), 0));
    need(vmm_mem_set_access(sys, p, 3 * G, &desc, 1));
    const uint64_t fill[] = {p + 2 * G - 8, 16, 7};
    need(vmm_launch(sys, VMM_KERNEL_FILL, 1, 32, fill, 3, NULL));
    uint64_t call = vmm_last_detail()->call;
    desc.flags = VMM_MEM_ACCESS_FLAGS_PROT_READ;
    warned(vmm_mem_set_access(sys, p, 2 * G, &desc, 1), "VMM-ACCESS-IN-FLIGHT", VMM_MEM_ACCESS_FLAGS_PROT_READ, 1,
           work_note("fill, launched", call, "writes", p + G));
    desc.flags = RW;
    need(vmm_mem_set_access(sys, p, 2 * G, &desc, 1));
    desc.flags = VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    warned(vmm_mem_set_access(sys, p + 2 * G, G, &desc, 1), "VMM-ACCESS-IN-FLIGHT", 0, 2,
           work_note("fill, launched", call, "writes", p + 2 * G));
    desc.flags = RW;
    need(vmm_mem_set_access(sys, p + 2 * G, G, &desc, 1));
    desc.flags = VMM_MEM_ACCESS_FLAGS_PROT_READ; /* the work needs both mappings: the warning names the first */
    warned(vmm_mem_set_access(sys, p, 3 * G, &desc, 1), "VMM-ACCESS-IN-FLIGHT", VMM_MEM_ACCESS_FLAGS_PROT_READ, 1,
           work_note("fill, launched", call, "writes", p + G));
    desc.flags = RW;
    need(vmm_mem_set_access(sys, p, 3 * G, &desc, 1));
    need(vmm_ctx_synchronize(sys));
    need(vmm_memcpy_dtod_async(sys, p + 2 * G, p + 8, 8, NULL));
    call = vmm_last_detail()->call;
    warned(vmm_mem_unmap(sys, p, 2 * G), "VMM-UNMAP-IN-FLIGHT", p, 1,
           work_note("cuMemcpyDtoDAsync, issued", call, "reads", p));
    warned(vmm_mem_unmap(sys, p + 2 * G, G), "VMM-UNMAP-IN-FLIGHT", p + 2 * G, 2,
           work_note("cuMemcpyDtoDAsync, issued", call, "writes", p + 2 * G));
    end();
}

/* Revoking the rights of one device gives no warning about work on the other, in both directions. */
static void on_another_device(void)
{
    for (int works = 0; works < 2; works++) {
        vmm_deviceptr p = 0;
        const vmm_mem_access_desc both[] = {{{DEVICE, 0}, RW}, {{DEVICE, 1}, RW}};
        vmm_context context;
        begin("sim:h200x2,schedule=late");
        need(vmm_ctx_create(sys, &context, 0, works));
        need(vmm_mem_address_reserve(sys, &p, G, 0, 0, 0));
        need(vmm_mem_map(sys, p, G, 0, created(DEVICE), 0));
        need(vmm_mem_set_access(sys, p, G, both, 2));
        const uint64_t fill[] = {p, 16, 7};
        need(vmm_launch(sys, VMM_KERNEL_FILL, 1, 32, fill, 3, NULL));
        vmm_mem_access_desc none = {{DEVICE, !works}, VMM_MEM_ACCESS_FLAGS_PROT_NONE};
        tap_ok(!vmm_mem_set_access(sys, p, G, &none, 1) && !vmm_last_detail()->rule,
               "no warning about work on device %d when device %d loses its rights", works,
               !works);
        none.location.id = works;
        tap_ok(!vmm_mem_set_access(sys, p, G, &none, 1) && vmm_last_detail()->rule &&
                   !strcmp(vmm_last_detail()->rule, "VMM-ACCESS-IN-FLIGHT"),
               "a warning when the working device itself loses its rights");
        end();
    }
}

/* An unmap of two mappings: the warning names the first one that in-flight work needs. */
static void of_two_mappings(void)
{
    vmm_deviceptr p = 0;
    const vmm_mem_access_desc desc = {{DEVICE, 0}, RW};
    begin("sim:h100,schedule=late");
    need(vmm_mem_address_reserve(sys, &p, 2 * G, 0, 0, 0));
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE), 0));
    need(vmm_mem_map(sys, p + G, G, 0, created(DEVICE), 0));
    need(vmm_mem_set_access(sys, p, 2 * G, &desc, 1));
    need(vmm_memset_d8_async(sys, p, 1, 2 * G, NULL));
    uint64_t call = vmm_last_detail()->call;
    warned(vmm_mem_unmap(sys, p, 2 * G), "VMM-UNMAP-IN-FLIGHT", p, 1, work_note("cuMemsetD8Async, issued", call, "writes", p));
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE), 0));
    need(vmm_mem_map(sys, p + G, G, 0, created(DEVICE), 0));
    need(vmm_mem_set_access(sys, p, 2 * G, &desc, 1));
    need(vmm_ctx_synchronize(sys));
    need(vmm_memset_d8_async(sys, p + G, 1, G, NULL));
    call = vmm_last_detail()->call;
    warned(vmm_mem_unmap(sys, p, 2 * G), "VMM-UNMAP-IN-FLIGHT", p, 4,
           work_note("cuMemsetD8Async, issued", call, "writes", p + G));
    end();
}

/* ---- work that the host can know to be done ---- */

/* A second work item, besides the fill of the memory that is then unmapped; some let the host see that work is done. */
enum sign { NOTHING, FUNCTION, FILL_OF_HOST, COPY_TO_HOST, KERNEL_TO_HOST, FILL_OF_DEVICE, SIGNS };

static const char *const signs[] = {"nothing", "a host function", "a fill of host memory", "a copy to host memory",
                                    "a kernel that writes host memory", "a fill of other device memory"};

static void nothing_to_do(void *user)
{
    (void)user;
}

static void give_sign(enum sign sign, vmm_stream stream, vmm_deviceptr host, vmm_deviceptr device)
{
    const uint64_t fill[] = {host, 16, 7};
    switch (sign) {
    case FUNCTION: need(vmm_launch_host_func(sys, stream, nothing_to_do, NULL)); break;
    case FILL_OF_HOST: need(vmm_memset_d32_async(sys, host, 1, 1, stream)); break;
    case COPY_TO_HOST: need(vmm_memcpy_dtod_async(sys, host, device, 8, stream)); break;
    case KERNEL_TO_HOST: need(vmm_launch(sys, VMM_KERNEL_FILL, 1, 32, fill, 3, stream)); break;
    case FILL_OF_DEVICE: need(vmm_memset_d8_async(sys, device, 1, 8, stream)); break;
    default: break;
    }
}

/* The signal is issued before the fill, after it, or after it in an unordered stream. */
enum where { BEFORE, BEHIND, BESIDE, WHERES };

static bool is_hazard(vmm_result result, const char *rule)
{
    const vmm_detail *d = vmm_last_detail();
    return result == VMM_SUCCESS && d->rule && !strcmp(d->rule, rule);
}

static void seen_or_not(const char *schedule, enum sign sign, enum where where)
{
    const vmm_mem_access_desc desc[] = {{{DEVICE, 0}, RW}, {{HOST, 0}, RW}};
    const vmm_mem_access_desc none = {{DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_NONE};
    bool done = !strcmp(schedule, "eager"), proves = done && where == BEHIND && sign != NOTHING && sign != FILL_OF_DEVICE;
    vmm_deviceptr p = 0;
    vmm_stream stream, other;
    char spec[60];
    snprintf(spec, sizeof spec, "sim:gb200x4,schedule=%s", schedule);
    begin(spec);
    need(vmm_mem_address_reserve(sys, &p, 3 * G, 0, 0, 0));
    for (int i = 0; i < 3; i++) {
        need(vmm_mem_map(sys, p + (uint64_t)i * G, G, 0, created(i == 2 ? HOST : DEVICE), 0));
        need(vmm_mem_set_access(sys, p + (uint64_t)i * G, G, desc, i == 2 ? 2 : 1));
    }
    need(vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING));
    need(vmm_stream_create(sys, &other, VMM_STREAM_NON_BLOCKING));
    if (where == BEFORE)
        give_sign(sign, stream, p + 2 * G, p + G);
    need(vmm_memset_d8_async(sys, p, 1, G, stream));
    if (where != BEFORE)
        give_sign(sign, where == BEHIND ? stream : other, p + 2 * G, p + G);
    bool rights = is_hazard(vmm_mem_set_access(sys, p, G, &none, 1), "VMM-ACCESS-IN-FLIGHT");
    bool unmap = is_hazard(vmm_mem_unmap(sys, p, G), "VMM-UNMAP-IN-FLIGHT");
    tap_ok(rights == !proves && unmap == !proves, "%s, %s, %s: %s", schedule, signs[sign],
           where == BEFORE ? "before the fill" : where == BEHIND ? "after the fill" : "in another stream",
           proves ? "the host can know that the fill is done" : "the fill is in flight");
    end();
}

static void seen(void)
{
    for (enum sign sign = NOTHING; sign < SIGNS; sign++)
        for (enum where where = BEFORE; where < WHERES; where++) {
            seen_or_not("eager", sign, where);
            seen_or_not("late", sign, where);
        }
}

/* ---- host functions ---- */

static vmm_detail inside; /* the detail of the call that the host function made */

static void wait_inside(void *user)
{
    (void)user;
    vmm_ctx_synchronize(sys);
    inside = *vmm_last_detail();
}

/* A host function that waits for itself is refused; the nearest object is its stream, or the context of a default stream. */
static void functions(void)
{
    vmm_stream streams[] = {NULL, VMM_STREAM_LEGACY, VMM_STREAM_PER_THREAD, NULL, NULL};
    static const struct {
        vmm_object_kind kind;
        uint64_t number;
    } wanted[] = {{VMM_OBJECT_CONTEXT, 1}, {VMM_OBJECT_CONTEXT, 1}, {VMM_OBJECT_CONTEXT, 1}, {VMM_OBJECT_STREAM, 1},
                  {VMM_OBJECT_STREAM, 2}};
    begin("sim:h100");
    need(vmm_stream_create(sys, &streams[3], VMM_STREAM_DEFAULT));
    need(vmm_stream_create(sys, &streams[4], VMM_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        need(vmm_launch_host_func(sys, streams[i], wait_inside, NULL));
        need(vmm_ctx_synchronize(sys));
        tap_ok(inside.rule && !strcmp(inside.rule, "VMM-HOSTFUNC-CALL") && !inside.value && !inside.expected &&
                   inside.nearest.kind == wanted[i].kind && inside.nearest.number == wanted[i].number,
               "a wait in a host function in stream %u: %s", i, inside.rule ? inside.rule : "no rule");
    }
    end();
}

/* ---- faults ---- */

/* The memory at the address: none, read-only, or without rights. */
enum place { NOWHERE, READ_ONLY, NO_RIGHTS, PLACES };

/* Checks the report of a kernel's access of width bytes there; width 0: an atomic addition. */
static void fault_of(enum place place, bool writes, unsigned width)
{
    static const char *const why[] = {"nothing is mapped there", "the device has only read access there",
                                      "the device has no access there"};
    static const unsigned rights[] = {0, VMM_MEM_ACCESS_FLAGS_PROT_READ, 0};
    vmm_deviceptr p = 0;
    char note[200];
    begin("sim:h100");
    need(vmm_mem_address_reserve(sys, &p, 2 * G, 0, 0, 0));
    const vmm_mem_access_desc desc = {{DEVICE, 0}, (vmm_mem_access_flags)rights[place]};
    if (place != NOWHERE)
        need(vmm_mem_map(sys, p, G, 0, created(DEVICE), 0));
    if (rights[place])
        need(vmm_mem_set_access(sys, p, G, &desc, 1));
    const vmm_deviceptr at = p + 8;
    const uint64_t touch[] = {at, writes, width, 0}, add[] = {at, 1};
    need(width ? vmm_launch(sys, VMM_KERNEL_TOUCH, 1, 32, touch, 4, NULL)
               : vmm_launch(sys, VMM_KERNEL_ATOMIC_ADD, 1, 32, add, 2, NULL));
    const uint64_t launch = vmm_last_detail()->call;
    snprintf(note, sizeof note, "%s, launched by call %llu, on device 0, %s %u byte%s at 0x%llx: %s",
             width ? "touch" : "atomic_add", (unsigned long long)launch, !width ? "adding to" : writes ? "writing" : "reading",
             width ? width : 8, width == 1 ? "" : "s", (unsigned long long)at, why[place]);
    reported(vmm_ctx_synchronize(sys), "VMM-FAULT-ACCESS", "", at, 0, note);
    const vmm_fault *f = vmm_last_detail()->fault;
    tap_ok(f && f->device == 0 && f->kernel == (width ? VMM_KERNEL_TOUCH : VMM_KERNEL_ATOMIC_ADD) && f->launch == launch &&
               f->address == at && f->size == (width ? width : 8) && f->rights == rights[place] &&
               f->mapped == (place != NOWHERE) && f->writes == writes && f->offset == 0 && !strcmp(f->argument, "address"),
           "the fault has the same in its fields");
    end();
}

static void faults(void)
{
    static const unsigned widths[] = {1, 4, 8};
    for (enum place place = NOWHERE; place < PLACES; place++)
        for (unsigned i = 0; i < 3; i++)
            for (int writes = 0; writes < 2; writes++)
                if (place != READ_ONLY || writes)
                    fault_of(place, writes, widths[i]);
    fault_of(NOWHERE, true, 0);
    fault_of(READ_ONLY, true, 0);
    fault_of(NO_RIGHTS, true, 0);
}

static void count_allocation(void *user, const vmm_object *object)
{
    *(unsigned *)user += object->kind == VMM_OBJECT_ALLOCATION;
}

/* cuMemFree waits for the device: it reports a fault of that work and keeps the memory. */
static void fault_by_free(void)
{
    const uint64_t nowhere[] = {4096, 1, 7};
    vmm_deviceptr memory = 0;
    unsigned left = 0;
    begin("sim:h100,schedule=late");
    need(vmm_mem_alloc(sys, &memory, 64));
    need(vmm_launch(sys, VMM_KERNEL_FILL, 1, 32, nowhere, 3, NULL));
    tap_result(vmm_mem_free(sys, memory), VMM_ERROR_ILLEGAL_ADDRESS, "a free that waits for work that faults is refused");
    const vmm_fault *fault = vmm_last_detail()->fault;
    tap_ok(fault && fault->address == 4096 && fault->kernel == VMM_KERNEL_FILL && !fault->mapped, "the free reports the fault");
    need(vmm_visit(sys, count_allocation, &left));
    tap_u64(left, 1, "the free keeps the memory");
    end();
}

int main(void)
{
    fault_by_free();
    in_flight();
    on_another_device();
    of_two_mappings();
    seen();
    functions();
    faults();
    return tap_done();
}
