/* SPDX-License-Identifier: Apache-2.0 */
/* access_set: dry runs compared with plain loops over the addresses that each kernel accesses by its definition. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "access_set.h"

#include <stdio.h>
#include <string.h>

#include "pattern.h"
#include "system.h"
#include "tap.h"
#include "team.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define UNIT (UINT64_C(2) << 20)

enum { UNITS = 8 };

/* [0 RW][1 RW][2 RW][3 READ][4 reserved][5 RW][6 mapped, no access][7 RW] */
struct rig {
    vmm_system *sys;
    struct sim_process *process;
    vmm_deviceptr p;
    bool reads[UNITS], writes[UNITS]; /* the units that the test expects in the access set */
};

static bool access_set_now(struct access_set *set, struct sim_process *process, int device, const struct vmm_call *call)
{
    sim_machine_lock(process->machine);
    bool known = access_set_by(set, process, &(struct queue_place){.device = device}, call);
    sim_machine_unlock(process->machine);
    return known;
}

static void need(vmm_result result, const char *what)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", what, vmm_result_name(result));
}

static void rig_open(struct rig *rig)
{
    static const int rights[UNITS] = {RW, RW, RW, READ, -1, RW, 0, RW};
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    memset(rig, 0, sizeof *rig);
    need(vmm_open("sim:h100", &rig->sys), "open");
    need(vmm_init(rig->sys, 0), "init");
    need(vmm_mem_address_reserve(rig->sys, &rig->p, UNITS * UNIT, 0, 0, 0), "reserve");
    for (uint64_t i = 0; i < UNITS; i++) {
        vmm_mem_generic_allocation_handle handle;
        vmm_mem_access_desc desc = {prop.location, rights[i]};
        if (rights[i] < 0)
            continue;
        need(vmm_mem_create(rig->sys, &handle, UNIT, &prop, 0), "create");
        need(vmm_mem_map(rig->sys, rig->p + i * UNIT, UNIT, 0, handle, 0), "map");
        need(vmm_mem_release(rig->sys, handle), "release");
        need(vmm_mem_set_access(rig->sys, rig->p + i * UNIT, UNIT, &desc, 1), "access");
    }
    rig->process = (struct sim_process *)rig->sys->top;
}

static void expect(struct rig *rig, uint64_t offset, uint64_t size, bool writes)
{
    for (uint64_t at = offset / UNIT; size && at <= (offset + size - 1) / UNIT; at++)
        *(writes ? &rig->writes[at] : &rig->reads[at]) = true;
}

/* Compares the access set of a call with the units that the rig expects. */
static void compare(struct rig *rig, const struct vmm_call *call, bool complete, const char *what)
{
    struct access_set set;
    bool ok = access_set_now(&set, rig->process, 0, call) && set.complete == complete;
    for (uint64_t i = 0; i < UNITS; i++) {
        const struct access_set_range *any = access_set_in(&set, rig->p + i * UNIT, UNIT, RW);
        const struct access_set_range *write = access_set_in(&set, rig->p + i * UNIT, UNIT, RW & ~(unsigned)READ);
        ok = ok && (any != NULL) == (rig->reads[i] || rig->writes[i]) && (write != NULL) == rig->writes[i];
    }
    tap_ok(ok, "%s", what);
    access_set_clear(&set);
    memset(rig->reads, 0, sizeof rig->reads);
    memset(rig->writes, 0, sizeof rig->writes);
}

static void compare_kernel(struct rig *rig, vmm_kernel kernel, const uint64_t *args, bool complete, const char *what)
{
    struct vmm_call_launch call = {{VMM_CALL_launch, 1}, kernel, 1, 1, args, vmm_kernel_arguments(kernel), NULL};
    compare(rig, &call.head, complete, what);
}

#define KERNEL(complete, what, NAME, ...) \
    compare_kernel(rig, VMM_KERNEL_##NAME, (const uint64_t[]){__VA_ARGS__}, complete, what)

static void ranges(struct rig *rig)
{
    vmm_deviceptr p = rig->p, out = p + 7 * UNIT;
    expect(rig, UNIT - 1, 2, true);
    KERNEL(true, "fill over a seam", FILL, p + UNIT - 1, 2, 1);
    KERNEL(true, "fill of nothing", FILL, 0, 0, 1);
    expect(rig, 8, 2 * UNIT, true);
    KERNEL(true, "pattern", PATTERN_WRITE, p + 8, 2 * UNIT, 1);
    expect(rig, UNIT, 3 * UNIT, false);
    expect(rig, 7 * UNIT, 24, true);
    KERNEL(true, "pattern_verify: all bytes that it may compare count", PATTERN_VERIFY, p + UNIT, 3 * UNIT, 1, out);
    expect(rig, 3, UNIT, false);
    expect(rig, 7 * UNIT, 8, true);
    KERNEL(true, "sum", SUM, p + 3, UNIT, out);
    expect(rig, UNIT + 5, UNIT, false);
    expect(rig, 9, UNIT, true);
    KERNEL(true, "copy", COPY, p + 9, p + UNIT + 5, UNIT);
    expect(rig, 3 * UNIT + 8, 8, false);
    expect(rig, 7 * UNIT, 8, true);
    KERNEL(true, "touch, reading", TOUCH, p + 3 * UNIT + 8, 0, 8, out);
    expect(rig, 2 * UNIT, 1, true);
    KERNEL(true, "touch, writing", TOUCH, p + 2 * UNIT, 1, 1, out);
    expect(rig, UNIT, 8, true);
    KERNEL(true, "atomic addition", ATOMIC_ADD, p + UNIT, 5);
    KERNEL(true, "atomic additions, none of them", ATOMIC_ADD, p + UNIT, 0);
    expect(rig, 0, 65536, true);
    expect(rig, 3 * UNIT, 65536, false);
    expect(rig, 7 * UNIT, 8, true);
    KERNEL(true, "write through one address, read through another", ALIAS_WRITE_READ, p, p + 3 * UNIT, 65536, 1, out);
}

static void places(struct rig *rig)
{
    vmm_deviceptr p = rig->p, out = p + 7 * UNIT;
    for (uint64_t stride = UNIT / 4; stride <= 3 * UNIT; stride += UNIT / 4 + 7) {
        char what[64];
        for (uint64_t i = 0; i < 4 * UNIT; i += stride)
            expect(rig, i, 1, false);
        expect(rig, 7 * UNIT, 8, true);
        snprintf(what, sizeof what, "stride of %llu", (unsigned long long)stride);
        KERNEL(true, what, STRIDE_READ, p, 4 * UNIT, stride, out);
    }
    for (uint64_t seed = 0; seed < 12; seed++) {
        char what[64];
        for (uint64_t i = 0; i < seed % 5; i++)
            expect(rig, 8 * pattern_place(pattern_base(seed), i, 4 * UNIT / 8), 8, false);
        expect(rig, 7 * UNIT, 8, true);
        snprintf(what, sizeof what, "%llu random reads with seed %llu", (unsigned long long)(seed % 5), (unsigned long long)seed);
        KERNEL(true, what, RANDOM_READ, p, 4 * UNIT, seed % 5, seed, out);
    }
    for (uint64_t i = 0; i < 4; i++)
        expect(rig, i * UNIT, 1, false);
    expect(rig, 7 * UNIT, 8, true);
    KERNEL(true, "so many reads that ranges are joined during the dry run", RANDOM_READ, p, 4 * UNIT, 50000, 1, out);
}

/* A dry run ends where the kernel would fault. */
static void faults(struct rig *rig)
{
    vmm_deviceptr p = rig->p;
    expect(rig, 0, 3 * UNIT, true);
    KERNEL(false, "a fill ends at read-only memory", FILL, p, UINT64_C(1) << 60, 1);
    expect(rig, UNIT, 3 * UNIT, false);
    KERNEL(false, "a read ends where nothing is mapped", STRIDE_READ, p + UNIT, UINT64_C(1) << 62, 1024, p);
    expect(rig, 5 * UNIT, UNIT, false);
    KERNEL(false, "a sum ends where the device has no rights", SUM, p + 5 * UNIT, 2 * UNIT, p);
    expect(rig, 2 * UNIT, UNIT, false);
    KERNEL(false, "pattern_verify reads the compared bytes before it faults on out", PATTERN_VERIFY, p + 2 * UNIT, UNIT, 1,
           p + 4 * UNIT);
}

static void transfers(struct rig *rig)
{
    vmm_deviceptr p = rig->p;
    unsigned char bytes[16] = {0};
    struct vmm_call_memcpy_htod_async in = {{VMM_CALL_memcpy_htod_async, 1}, p + UNIT - 8, bytes, 16, NULL};
    struct vmm_call_memcpy_dtod_async copy = {{VMM_CALL_memcpy_dtod_async, 1}, p, p + 2 * UNIT, UNIT + 1, NULL};
    struct vmm_call_memset_d8_async d8 = {{VMM_CALL_memset_d8_async, 1}, p, 1, UNIT, NULL};
    struct vmm_call_memset_d16_async d16 = {{VMM_CALL_memset_d16_async, 1}, p, 1, UNIT + 1, NULL};
    struct vmm_call_memset_d32_async d32 = {{VMM_CALL_memset_d32_async, 1}, p, 1, UNIT / 2 + 1, NULL};
    expect(rig, UNIT - 8, 16, true);
    compare(rig, &in.head, true, "copy from the host");
    expect(rig, 0, UNIT + 1, true);
    expect(rig, 2 * UNIT, UNIT + 1, false);
    compare(rig, &copy.head, true, "copy between device addresses");
    expect(rig, 0, UNIT, true);
    compare(rig, &d8.head, true, "fill of bytes");
    expect(rig, 0, 2 * UNIT + 2, true);
    compare(rig, &d16.head, true, "fill of 16-bit values");
    expect(rig, 0, 2 * UNIT + 4, true);
    compare(rig, &d32.head, true, "fill of 32-bit values");
}

/* On this machine host memory has a smaller granularity than addresses: [written][next] lie in one unit of addresses. */
static void smallest_unit(void)
{
    enum { SMALL = 4096 };
    vmm_system *sys = NULL;
    vmm_deviceptr p = 0;
    struct access_set set;
    need(vmm_open("sim:odd", &sys), "open");
    need(vmm_init(sys, 0), "init");
    need(vmm_mem_address_reserve(sys, &p, 64 << 10, 0, 0, 0), "reserve");
    struct vmm_call_memset_d8_async fill = {{VMM_CALL_memset_d8_async, 1}, p + SMALL - 1, 1, 1, NULL};
    tap_ok(access_set_now(&set, (struct sim_process *)sys->top, 0, &fill.head) && access_set_in(&set, p, SMALL, RW) &&
               !access_set_in(&set, p + SMALL, SMALL, RW),
           "the access set has the granularity of the smallest mapping");
    access_set_clear(&set);
    vmm_close(sys);
}

/* Does the access set hold exactly these units, as the shortest list of ranges: no range too long, no two adjacent? */
static bool is_list(const struct access_set *set, vmm_deviceptr p, const bool *reads, size_t units, uint64_t unit,
                    vmm_deviceptr out)
{
    size_t count = 0;
    for (size_t i = 0; i < units; i++) {
        size_t end = i;
        while (end < units && reads[end])
            end++;
        if (end == i)
            continue;
        const struct access_set_range *range = &set->range[count++];
        if (count > set->count || range->need != READ || range->first != p + i * unit || range->last != p + end * unit - 1)
            return false;
        i = end;
    }
    const struct access_set_range *last = &set->range[count];
    return set->count == count + 1 && last->need == RW && last->first == out && last->last == out + unit - 1;
}

/* More reads than initially fit into the list, in random order. */
static void many_ranges(void)
{
    enum { SMALL = 4096, ALL = 512, SEEDS = 8 };
    static bool reads[ALL];
    const uint64_t size = ALL * SMALL;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_access_desc desc = {prop.location, RW};
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_system *sys = NULL;
    vmm_deviceptr p = 0;
    struct access_set set;
    need(vmm_open("sim:odd", &sys), "open");
    need(vmm_init(sys, 0), "init");
    need(vmm_mem_create(sys, &handle, 2 * size, &prop, 0), "create");
    need(vmm_mem_address_reserve(sys, &p, 2 * size, 0, 0, 0), "reserve");
    need(vmm_mem_map(sys, p, 2 * size, 0, handle, 0), "map");
    need(vmm_mem_set_access(sys, p, 2 * size, &desc, 1), "access");
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t places = 64 * seed, args[] = {p, size, places, seed, p + size};
        struct vmm_call_launch call = {{VMM_CALL_launch, 1}, VMM_KERNEL_RANDOM_READ, 1, 1, args, 5, NULL};
        memset(reads, 0, sizeof reads);
        for (uint64_t i = 0; i < places; i++)
            reads[pattern_place(pattern_base(seed), i, size / 8) / (SMALL / 8)] = true;
        bool ok = access_set_now(&set, (struct sim_process *)sys->top, 0, &call.head) && set.complete;
        tap_ok(ok && is_list(&set, p, reads, ALL, SMALL, p + size), "%d random reads give %d ranges", (int)places,
               (int)set.count);
        access_set_clear(&set);
    }
    vmm_close(sys);
}

/* [unit 0: both devices have bound memory][unit 1: only device 0 has] */
static void multimem(void)
{
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    vmm_multicast_object_prop object = {.num_devices = 2, .size = 2 * UNIT};
    vmm_mem_generic_allocation_handle team = 0, memory[2] = {0};
    vmm_system *sys = NULL;
    vmm_context ctx;
    vmm_deviceptr p = 0, q;
    struct access_set set;
    need(vmm_open("sim:h200x2", &sys), "open");
    need(vmm_init(sys, 0), "init");
    need(vmm_ctx_create(sys, &ctx, 0, 0), "context");
    need(vmm_multicast_create(sys, &team, &object), "object");
    for (int device = 0; device < 2; device++) {
        vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                        .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
        need(vmm_multicast_add_device(sys, team, device), "device");
        need(vmm_mem_create(sys, &memory[device], 2 * UNIT, &prop, 0), "create");
    }
    need(vmm_multicast_bind_mem(sys, team, 0, memory[0], 0, 2 * UNIT, 0), "bind");
    need(vmm_multicast_bind_mem(sys, team, 0, memory[1], 0, UNIT, 0), "bind of a part");
    need(vmm_mem_address_reserve(sys, &p, 4 * UNIT, 0, 0, 0), "reserve");
    q = p + 2 * UNIT;
    need(vmm_mem_map(sys, p, 2 * UNIT, 0, team, 0), "map");
    need(vmm_mem_map(sys, q, 2 * UNIT, 0, memory[0], 0), "map of memory");
    need(vmm_mem_set_access(sys, p, 4 * UNIT, &desc, 1), "access");
    for (unsigned inside = 0; inside < 2; inside++) {
        uint64_t args[] = {p + UNIT - 16, q, inside ? 16 : 32};
        struct vmm_call_launch call = {{VMM_CALL_launch, 1}, VMM_KERNEL_MULTIMEM_STORE, 1, 1, args, 3, NULL};
        bool ok = access_set_now(&set, (struct sim_process *)sys->top, 0, &call.head) && set.complete == inside;
        tap_ok(ok && set.count == 2 && set.range[0].need == READ && set.range[0].first == q &&
                   set.range[0].last == q + UNIT - 1 && set.range[1].need == RW && set.range[1].first == p &&
                   set.range[1].last == p + UNIT - 1,
               "multimem stores to all replicas%s", inside ? "" : " end where a replica is missing");
        access_set_clear(&set);
    }
    const struct sim_process *process = (struct sim_process *)sys->top;
    sim_machine_lock(process->machine);
    struct team_bind *bind = sim_mapping_at(process, p)->handle->block->team->member[1].binds;
    sim_machine_unlock(process->machine);
    for (int cut = 0; cut < 2; cut++) { /* as another process's state may show it */
        uint64_t args[] = {p, q, 8};
        struct vmm_call_launch call = {{VMM_CALL_launch, 1}, VMM_KERNEL_MULTIMEM_STORE, 1, 1, args, 3, NULL};
        const uint64_t offset = bind->offset, size = bind->size;
        *(cut ? &bind->size : &bind->offset) = 4;
        bool ok = access_set_now(&set, (struct sim_process *)sys->top, 0, &call.head) && !set.complete;
        bind->offset = offset;
        bind->size = size;
        tap_ok(ok, "a store faults where a replica %s within it", cut ? "ends" : "begins");
        access_set_clear(&set);
    }
    vmm_close(sys);
}

/* The driver starts a fill that passes the end of the address space; its access set then ends at the last address. */
static void past_the_end(struct rig *rig)
{
    static const uint64_t before_end[] = {1, 2, 100, UNIT, UNIT + 1};
    for (size_t i = 0; i < sizeof before_end / sizeof before_end[0]; i++) {
        const uint64_t left = before_end[i], sizes[] = {left - 1, left, left + 1, UINT64_MAX};
        for (size_t j = left == 1; j < 4; j++) {
            struct vmm_call_memset_d8_async fill = {{VMM_CALL_memset_d8_async, 1}, UINT64_MAX - left + 1, 1, sizes[j], NULL};
            struct access_set set;
            uint64_t last = sizes[j] < left ? UINT64_MAX - left + sizes[j] : UINT64_MAX;
            bool ok = access_set_now(&set, rig->process, 0, &fill.head) && set.count == 1;
            tap_ok(ok && set.range[0].first == (UINT64_MAX - left + 1) / UNIT * UNIT &&
                       set.range[0].last == last / UNIT * UNIT + (UNIT - 1),
                   "%d bytes before the end of the address space, a fill of %d bytes", (int)left, (int)sizes[j]);
            access_set_clear(&set);
        }
    }
}

/* Without memory nothing is known about a call; with it, a batch has the accesses of all its operations. */
static void no_memory(struct rig *rig)
{
    vmm_stream_batch_mem_op_params op[3];
    memset(op, 0, sizeof op);
    op[0].operation = VMM_STREAM_MEM_OP_BARRIER;
    for (int i = 1; i < 3; i++) {
        op[i].operation = VMM_STREAM_MEM_OP_WRITE_VALUE_32;
        op[i].write_value.address = rig->p + (uint64_t)i * UNIT;
    }
    const struct vmm_call_memcpy_dtod_async copy = {{VMM_CALL_memcpy_dtod_async, 1}, rig->p + UNIT, rig->p + 2 * UNIT, 8, NULL};
    const struct vmm_call_stream_batch_mem_op batch = {{VMM_CALL_stream_batch_mem_op, 1}, NULL, 3, op, 0};
    const struct vmm_call *const calls[] = {&copy.head, &batch.head};
    for (int i = 0; i < 2; i++) {
        struct access_set set;
        inject_arm(1);
        bool known = access_set_now(&set, rig->process, 0, calls[i]);
        inject_disarm();
        tap_ok(!known && !set.count, "call %d: without memory, nothing is known", i);
        access_set_clear(&set);
        rig->writes[1] = rig->writes[2] = true;
        if (i == 0) {
            rig->writes[2] = false;
            rig->reads[2] = true;
        }
        compare(rig, calls[i], true, i == 0 ? "with memory, the copy's" : "with memory, the batch's");
    }
}

int main(void)
{
    struct rig rig;
    rig_open(&rig);
    ranges(&rig);
    places(&rig);
    faults(&rig);
    transfers(&rig);
    past_the_end(&rig);
    no_memory(&rig);
    vmm_close(rig.sys);
    smallest_unit();
    many_ranges();
    multimem();
    return tap_done();
}
