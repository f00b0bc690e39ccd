/* SPDX-License-Identifier: Apache-2.0 */
/* Edge cases that ordinary programs do not reach: the first and the last address, replicas that end within an access, ranges
 * past the end of the address space, machines without free addresses, and a fault that no call has reported yet. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in_flight.h"
#include "process.h"
#include "system.h"
#include "tap.h"
#include "vmm.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define G (UINT64_C(2) << 20)
#define DEVICE VMM_MEM_LOCATION_TYPE_DEVICE
#define HOST VMM_MEM_LOCATION_TYPE_HOST

typedef vmm_mem_generic_allocation_handle handle_t;

static vmm_system *sys;

static void begin(const char *spec)
{
    vmm_context ctx;
    if (vmm_open(spec, &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &ctx, 0, 0))
        tap_bail("%s: %s", spec, vmm_last_detail()->note);
}

static void ignore(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

static void end(void)
{
    vmm_set_report(sys, ignore, NULL);
    vmm_close(sys);
}

static void need(vmm_result result, const char *what)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s %s", what, vmm_result_name(result), vmm_last_detail()->note);
}

/* Checks that the call is refused by this rule, with the rule's result. */
static void by(vmm_result result, const char *rule, const char *what)
{
    const vmm_detail *detail = vmm_last_detail();
    tap_ok(result != VMM_SUCCESS && detail->rule && !strcmp(detail->rule, rule) && result == detail->result,
           "%s: %s by %s, %s", what,
           vmm_result_name(result), detail->rule ? detail->rule : "no rule", detail->note);
}

static handle_t created(vmm_mem_location_type type, int id, uint64_t size)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, id}};
    handle_t handle = 0;
    need(vmm_mem_create(sys, &handle, size, &prop, 0), "memory");
    return handle;
}

static void granted(vmm_deviceptr at, uint64_t size, vmm_mem_location_type type, int id, unsigned rights)
{
    const vmm_mem_access_desc desc = {{type, id}, (vmm_mem_access_flags)rights};
    need(vmm_mem_set_access(sys, at, size, &desc, 1), "rights");
}

static vmm_deviceptr reserved(uint64_t size)
{
    vmm_deviceptr at = 0;
    need(vmm_mem_address_reserve(sys, &at, size, 0, 0, 0), "addresses");
    return at;
}

static vmm_result waited(vmm_kernel kernel, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t args[] = {a, b, c};
    vmm_result result = vmm_launch(sys, kernel, 1, 32, args, 3, NULL);
    return result == VMM_SUCCESS ? vmm_ctx_synchronize(sys) : result;
}

/* ---- faults far from everything ---- */

static void fault_at(vmm_deviceptr at, bool with_memory, vmm_object_kind nearest)
{
    begin("sim:h100");
    if (with_memory) {
        vmm_deviceptr p = reserved(G);
        need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    }
    by(waited(VMM_KERNEL_FILL, at, 1, 7), "VMM-FAULT-ACCESS", "a kernel writes at an address far from every object");
    const vmm_fault *fault = vmm_last_detail()->fault;
    tap_ok(fault && fault->address == at && !fault->mapped && vmm_last_detail()->nearest.kind == nearest,
           "the fault has the address and the nearest object");
    tap_ok(fault && (fault->after.kind == VMM_OBJECT_MAPPING) == (with_memory && !at) &&
               (fault->before.kind == VMM_OBJECT_MAPPING) == (with_memory && at),
           "the fault has the mappings on either side");
    end();
}

/* Of a kernel's two addresses the fault names the one at or nearest below it, in either order of the two. */
static void fault_of(unsigned which)
{
    begin("sim:h100");
    vmm_deviceptr p = reserved(3 * G);
    need(vmm_mem_map(sys, p + G, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p + G, G, DEVICE, 0, RW);
    const uint64_t bad = p + 2 * G - 8, good = p + G, args[] = {which == 0 ? bad : good, which == 0 ? good : bad, 64};
    need(vmm_launch(sys, VMM_KERNEL_COPY, 1, 1, args, 3, NULL), "launch");
    by(vmm_ctx_synchronize(sys), "VMM-FAULT-ACCESS", "a copy leaves its memory");
    const vmm_fault *fault = vmm_last_detail()->fault;
    tap_text(fault ? fault->argument : NULL, which == 0 ? "dst" : "src", "the fault names the argument");
    tap_u64(fault ? fault->offset : 0, 8, "and the byte behind it");
    end();
}

/* A kernel reads its first byte and the one so many bytes behind it; an argument explains a fault less than 1 TiB behind it. */
static void fault_behind(uint64_t stride, bool explained)
{
    begin("sim:h100");
    vmm_deviceptr p = reserved(G);
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    const uint64_t args[] = {p, stride + 1, stride, p};
    need(vmm_launch(sys, VMM_KERNEL_STRIDE_READ, 1, 1, args, 4, NULL), "launch");
    by(vmm_ctx_synchronize(sys), "VMM-FAULT-ACCESS", "the second byte lies outside memory");
    const vmm_fault *fault = vmm_last_detail()->fault;
    tap_ok(fault && fault->address == p + stride && (fault->argument != NULL) == explained, "0x%llx bytes behind an argument it %s named",
           (unsigned long long)stride, explained ? "is" : "is not");
    end();
}

static void faults(void)
{
    fault_of(0);
    fault_of(1);
    fault_behind((UINT64_C(1) << 40) - 1, true);
    fault_behind(UINT64_C(1) << 40, false);
    fault_at(0, true, VMM_OBJECT_RESERVATION);
    fault_at(UINT64_MAX, true, VMM_OBJECT_RESERVATION);
    fault_at(0, false, VMM_OBJECT_CONTEXT);
    fault_at(UINT64_MAX, false, VMM_OBJECT_CONTEXT);
}

/* An allocation of another device and a mapping without rights, in either order, or only one of them. */
struct scene {
    vmm_deviceptr start[2]; /* [0]: the allocation, [1]: the mapping; 0: it does not exist */
};

static struct scene scene_of(bool mapping_first, bool allocation, bool mapping)
{
    struct scene scene = {{0}};
    vmm_context other;
    begin("sim:h200x2");
    if (mapping_first)
        scene.start[1] = reserved(G);
    if (allocation)
        need(vmm_mem_alloc(sys, &scene.start[0], G), "allocation");
    if (!mapping_first)
        need(vmm_mem_address_reserve(sys, &scene.start[1], G, 0, scene.start[0] + 64 * G, 0), "addresses");
    if (mapping)
        need(vmm_mem_map(sys, scene.start[1], G, 0, created(DEVICE, 0, G), 0), "mapping");
    else
        scene.start[1] = 0;
    need(vmm_ctx_create(sys, &other, 0, 1), "context of the other device");
    return scene;
}

static bool is_object(const vmm_object *object, const struct scene *scene, int which)
{
    static const vmm_object_kind kinds[] = {VMM_OBJECT_ALLOCATION, VMM_OBJECT_MAPPING};
    return which < 0 ? object->kind == VMM_OBJECT_NONE
                     : object->kind == kinds[which] && object->start == scene->start[which] && object->size == G;
}

/* Does the fault name the objects next to its address? Finds them by looking at both objects of the scene. */
static bool lies_between(const struct scene *scene, const vmm_fault *fault)
{
    int before = -1, after = -1;
    for (int i = 0; i < 2; i++) {
        const vmm_deviceptr start = scene->start[i];
        if (start && start + G <= fault->address && (before < 0 || start > scene->start[before]))
            before = i;
        if (start && start > fault->address && (after < 0 || start < scene->start[after]))
            after = i;
    }
    return is_object(&fault->before, scene, before) && is_object(&fault->after, scene, after);
}

/* Faults one byte before each object, at both ends of each, and far behind both. */
static void neighbours(bool mapping_first, bool allocation, bool mapping)
{
    for (unsigned i = 0; i < 7; i++) {
        struct scene scene = scene_of(mapping_first, allocation, mapping);
        const vmm_deviceptr a = scene.start[0], m = scene.start[1], last = a > m ? a : m;
        const vmm_deviceptr at[] = {a ? a - 1 : 1, a, a ? a + G - 1 : 2, m ? m - 1 : 3, m, m ? m + G - 1 : 4, 2 * last + 1};
        tap_ok(!a || !m || (m < a) == mapping_first, "the objects are in the intended order");
        by(waited(VMM_KERNEL_FILL, at[i], 1, 7), "VMM-FAULT-ACCESS", "a kernel faults next to the objects");
        const vmm_fault *fault = vmm_last_detail()->fault;
        tap_ok(fault && fault->address == at[i] && lies_between(&scene, fault),
               "at place %u the fault names the object on either side", i);
        end();
    }
}

/* ---- two addresses of one memory ---- */

/* Launches a copy of size bytes to p + to from q + from; checks the warning, with the first byte that is both written and read,
 * if there is one. */
static bool copy_is_warned(vmm_deviceptr p, vmm_deviceptr q, uint64_t to, uint64_t from, uint64_t size)
{
    const uint64_t args[] = {p + to, q + from, size}, first = to > from ? to : from;
    const vmm_detail *detail = vmm_last_detail();
    char note[160];
    need(vmm_launch(sys, VMM_KERNEL_COPY, 1, 32, args, 3, NULL), "launch");
    if (to + size <= from || from + size <= to)
        return !detail->rule;
    snprintf(note, sizeof note, "copy writes at 0x%llx and reads the same memory at 0x%llx, without a fence",
             (unsigned long long)(p + first), (unsigned long long)(q + first));
    return detail->rule && !strcmp(detail->rule, "VMM-LAUNCH-ALIAS") && detail->severity == VMM_SEVERITY_WARNING &&
           detail->value == q + first && !detail->expected && detail->nearest.kind == VMM_OBJECT_MAPPING &&
           detail->nearest.start == q && !strcmp(detail->note, note);
}

/* Three mappings of the same memory: all copies of a few bytes from one to another. */
static void aliases(void)
{
    unsigned wrong = 0;
    begin("sim:h100,schedule=eager");
    const handle_t memory = created(DEVICE, 0, G);
    const vmm_deviceptr p = reserved(3 * G);
    for (uint64_t i = 0; i < 3; i++) {
        need(vmm_mem_map(sys, p + i * G, G, 0, memory, 0), "mapping");
        granted(p + i * G, G, DEVICE, 0, RW);
        for (uint64_t at = 0; i > 0 && at < 10 * 10 * 6; at++) {
            const uint64_t to = at % 10, from = at / 10 % 10, size = 1 + at / 100;
            wrong += !copy_is_warned(p, p + i * G, to, from, size);
            wrong += !copy_is_warned(p + i * G, p, to, from, size);
        }
    }
    tap_u64(wrong, 0, "a copy between two addresses of the same bytes is warned of, with the first byte");
    end();
}

/* ---- multimem accesses ---- */

/* [object; its first unit is bound on both devices][memory of device 0][memory of device 1][memory of device 0 again] */
struct team {
    handle_t object;
    vmm_deviceptr mc, own[2];
    uint64_t unit;
};

static struct team team_of_two(const char *spec)
{
    struct team t = {0};
    begin(spec);
    vmm_multicast_object_prop prop = {.num_devices = 2};
    need(vmm_multicast_get_granularity(sys, &t.unit, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM), "granularity");
    prop.size = 2 * t.unit;
    handle_t object = 0, memory[2];
    need(vmm_multicast_create(sys, &object, &prop), "object");
    t.object = object;
    t.mc = reserved(5 * t.unit);
    t.own[0] = t.mc + 2 * t.unit;
    t.own[1] = t.mc + 3 * t.unit;
    for (int i = 0; i < 2; i++)
        need(vmm_multicast_add_device(sys, object, i), "device");
    for (int i = 0; i < 2; i++) {
        memory[i] = created(DEVICE, i, t.unit);
        need(vmm_multicast_bind_mem(sys, object, 0, memory[i], 0, t.unit, 0), "bind");
        need(vmm_mem_map(sys, t.own[i], t.unit, 0, memory[i], 0), "mapping");
    }
    need(vmm_mem_map(sys, t.mc, 2 * t.unit, 0, object, 0), "mapping of the object");
    need(vmm_mem_map(sys, t.mc + 4 * t.unit, t.unit, 0, memory[0], 0), "mapping again");
    granted(t.mc, 5 * t.unit, DEVICE, 0, RW);
    return t;
}

static uint64_t word(vmm_deviceptr at)
{
    uint64_t value = 0x77;
    need(vmm_memcpy_dtoh(sys, &value, at, sizeof value), "copy");
    return value;
}

/* Under the alias model, multimem accesses read and write the newest bytes. */
static void alias_model_replicas(void)
{
    struct team t = team_of_two("sim:h200x2,alias=stale:1");
    need(vmm_memset_d8(sys, t.own[0] + 64, 5, 8), "fill");
    tap_result(waited(VMM_KERNEL_MULTIMEM_STORE, t.mc, t.own[0] + 64, 8), VMM_SUCCESS,
               "a multimem store to both replicas succeeds");
    tap_ok(word(t.own[0]) == UINT64_C(0x0505050505050505) && word(t.own[1]) == word(t.own[0]),
           "both replicas have the stored word");
    tap_result(waited(VMM_KERNEL_MULTIMEM_LOAD_REDUCE, t.own[0] + 128, t.mc, 8), VMM_SUCCESS,
               "a multimem reduction of both replicas succeeds");
    tap_u64(word(t.own[0] + 128), UINT64_C(0x0a0a0a0a0a0a0a0a), "the reduction adds the newest bytes");
    granted(t.own[0], t.unit, DEVICE, 0, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    by(waited(VMM_KERNEL_FILL, t.own[0], 1, 7), "VMM-FAULT-ACCESS", "the alias model checks the rights of the mapping");
    end();
}

static void bad_replicas(void)
{
    static const struct {
        const char *rule, *what;
    } wanted[] = {{"VMM-FAULT-UNBOUND", "a multimem store where nothing is bound"},
                  {"VMM-FAULT-ACCESS", "a multimem store where nothing is mapped"},
                  {"VMM-FAULT-MULTIMEM", "a multimem store through an ordinary address"}};
    for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct team t = team_of_two("sim:h200x2");
        const vmm_deviceptr at[] = {t.mc + t.unit, 4096, t.own[0]};
        by(waited(VMM_KERNEL_MULTIMEM_STORE, at[i], t.own[0] + 64, 8), wanted[i].rule, wanted[i].what);
        end();
    }
}

/* What is bound at one part of the object is unbound without a warning while work uses another part. */
static void unbound_beside(void)
{
    struct team t = team_of_two("sim:max,schedule=late");
    const vmm_deviceptr part = reserved(t.unit);
    const uint64_t args[] = {part, t.own[0] + 64, 8};
    for (int i = 0; i < 2; i++)
        need(vmm_multicast_bind_mem(sys, t.object, t.unit, created(DEVICE, i, t.unit), 0, t.unit, 0), "bind");
    by(vmm_stream_write_value32(sys, NULL, t.mc, 1, 0), "VMM-MEMOP-ADDRESS", "a memory operation of a multicast object");
    need(vmm_mem_unmap(sys, t.mc, 2 * t.unit), "unmap");
    need(vmm_mem_map(sys, part, t.unit, 0, t.object, 0), "mapping of the first unit");
    granted(part, t.unit, DEVICE, 0, RW);
    need(vmm_launch(sys, VMM_KERNEL_MULTIMEM_STORE, 1, 32, args, 3, NULL), "launch");
    need(vmm_multicast_unbind(sys, t.object, 1, t.unit, t.unit), "unbind");
    tap_ok(!vmm_last_detail()->rule, "unbinding the second unit gives no warning");
    need(vmm_multicast_unbind(sys, t.object, 1, 0, t.unit), "unbind");
    tap_text(vmm_last_detail()->rule, "VMM-UNBIND-IN-FLIGHT", "unbinding the first does");
    by(vmm_ctx_synchronize(sys), "VMM-FAULT-UNBOUND", "the kernel faults");
    end();
}

/* The access set of an in-flight kernel ends where the kernel will fault: accesses after that give no warning. */
static void untouched(void)
{
    struct team t = team_of_two("sim:h200x2");
    const uint64_t args[] = {t.mc + t.unit, t.own[0] + 64, 8};
    need(vmm_launch(sys, VMM_KERNEL_MULTIMEM_STORE, 1, 32, args, 3, NULL), "launch");
    need(vmm_mem_unmap(sys, t.mc + 4 * t.unit, t.unit), "unmap");
    tap_ok(!vmm_last_detail()->rule, "memory that the kernel would access after its fault is unmapped without a warning");
    by(vmm_ctx_synchronize(sys), "VMM-FAULT-UNBOUND", "the kernel faults");
    end();
}

/* ---- copies past the end of the address space ---- */

/* More bytes than the number of the first address, as of a model's weights; both ranges end in memory of the host. */
static void more_than_its_address(void)
{
    begin("sim:h100");
    const uint64_t size = UINT64_C(19) << 30;
    vmm_deviceptr p = reserved(2 * size);
    for (unsigned i = 0; i < 2; i++) {
        need(vmm_mem_map(sys, p + i * size, size - G, 0, created(DEVICE, 0, size - G), 0), "mapping");
        need(vmm_mem_map(sys, p + (i + 1) * size - G, G, 0, created(HOST, 0, G), 0), "mapping of the host");
        granted(p + (i + 1) * size - G, G, HOST, 0, RW);
    }
    granted(p, 2 * size, DEVICE, 0, RW);
    if (p >= size) /* with sanitizers, which take the low addresses */
        tap_note("memory of 19 GiB begins at 0x%llx, above its size", (unsigned long long)p);
    by(vmm_memcpy_dtod(sys, p + size, p, size), "VMM-COPY-HOST-RIGHTS", "a copy whose ends the host may use");
    tap_u64(vmm_last_detail()->value, p + size, "the host has no rights where it begins");
    end();
}

static void wraps(void)
{
    static const char *const what[] = {"a copy from host memory", "a copy to host memory", "a copy between device addresses"};
    for (unsigned i = 0; i < 3; i++) {
        begin("sim:h100");
        vmm_deviceptr p = reserved(2 * G), dst = i == 1 ? p + G : p, src = i == 0 ? p + G : p;
        need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
        need(vmm_mem_map(sys, p + G, G, 0, created(HOST, 0, G), 0), "mapping of the host");
        granted(p, 2 * G, DEVICE, 0, RW);
        granted(p + G, G, HOST, 0, RW);
        vmm_result result = vmm_memcpy_dtod(sys, dst, src, UINT64_MAX);
        if (i < 2) {
            by(result, "VMM-COPY-HOST-RIGHTS", what[i]);
            tap_ok(vmm_last_detail()->value == p + G && strstr(vmm_last_detail()->note, ", 2097152 bytes into the range"),
                   "the refusal names the end of the mapping");
        } else {
            tap_ok(result == VMM_SUCCESS && vmm_last_detail()->severity == VMM_SEVERITY_WARNING &&
                       !strcmp(vmm_last_detail()->rule, "VMM-COPY-OVERFLOW"),
                   "%s: accepted as by the driver, with a warning", what[i]);
        }
        end();
    }
}

/* The kinds of calls that move bytes. */
enum move { FILLS, FROM_HOST, TO_HOST, BETWEEN, MOVES };

static vmm_result moved(enum move move, vmm_deviceptr dst, vmm_deviceptr src, uint64_t size)
{
    static unsigned char byte;
    switch (move) {
    case FILLS: return vmm_memset_d8(sys, dst, 1, size);
    case FROM_HOST: return vmm_memcpy_htod(sys, dst, &byte, size);
    case TO_HOST: return vmm_memcpy_dtoh(sys, &byte, src, size);
    default: return vmm_memcpy_dtod(sys, dst, src, size);
    }
}

/* Is the refusal right for a range that ends just before, at or after the last address? A range that does not wrap is refused
 * because it runs past its mapping. */
static bool overflow_is_refused(enum move move, vmm_deviceptr dst, vmm_deviceptr src, uint64_t size)
{
    char note[80];
    bool dst_wraps = move == TO_HOST || size > UINT64_MAX - dst;
    bool src_wraps = move == FILLS || move == FROM_HOST || size > UINT64_MAX - src;
    const vmm_deviceptr start = move == TO_HOST ? src : dst;
    moved(move, dst, src, size);
    const vmm_detail *detail = vmm_last_detail();
    if (!detail->rule || !dst_wraps || !src_wraps)
        return detail->rule && !strcmp(detail->rule, "VMM-COPY-RUNS-PAST");
    snprintf(note, sizeof note, "the address space has fewer bytes from 0x%llx on", (unsigned long long)start);
    return !strcmp(detail->rule, "VMM-COPY-OVERFLOW") && detail->value == size && detail->expected == UINT64_MAX - start &&
           !strcmp(detail->note, note) && detail->nearest.kind == VMM_OBJECT_MAPPING;
}

static void overflows(void)
{
    unsigned wrong = 0;
    begin("sim:h100,strict"); /* the calls are refused, so no device is lost */
    const vmm_deviceptr p = reserved(G);
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    for (enum move move = FILLS; move < MOVES; move++)
        for (uint64_t at = 0; at < 4 * 12; at++) {
            const vmm_deviceptr dst = p + at % 2 * 8, src = p + at / 2 % 2 * 8;
            wrong += !overflow_is_refused(move, dst, src, UINT64_MAX - p - 9 + at / 4);
        }
    tap_u64(wrong, 0, "a range past the last address is refused with its start, and no other range is");
    end();
}

/* A copy in which only the source passes the last address, in memory without rights of the host. */
static void overflow_of_one(void)
{
    begin("sim:h100,strict");
    const vmm_deviceptr p = reserved(2 * G);
    need(vmm_mem_map(sys, p, G, 0, created(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, G), 0), "mapping");
    need(vmm_mem_map(sys, p + G, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, 2 * G, DEVICE, 0, RW);
    by(vmm_memcpy_dtod(sys, p, p + 8, UINT64_MAX - p - 4), "VMM-COPY-RUNS-PAST", "a copy of which the source passes the last address");
    end();
}

/* ---- what another thread ends while a call waits ---- */

static void *end_event(void *event)
{
    return vmm_event_destroy(sys, event) == VMM_SUCCESS ? sys : NULL;
}

static void *end_stream(void *stream)
{
    return vmm_stream_destroy(sys, stream) == VMM_SUCCESS ? sys : NULL;
}

struct elsewhere {
    void *(*function)(void *);
    void *user, *result;
};

static void elsewhere(void *user)
{
    struct elsewhere *e = user;
    pthread_t thread;
    if (pthread_create(&thread, NULL, e->function, e->user) || pthread_join(thread, &e->result))
        tap_bail("no thread");
}

static void *unmap_one(void *at)
{
    return vmm_mem_unmap(sys, (uint64_t)(uintptr_t)at, G) == VMM_SUCCESS ? sys : NULL;
}

/* A copy is checked again after its wait. */
static void unmapped_elsewhere(void)
{
    unsigned char byte = 0x77;
    begin("sim:h100,schedule=late");
    const vmm_deviceptr p = reserved(G);
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    struct elsewhere unmap = {unmap_one, (void *)(uintptr_t)p, NULL};
    need(vmm_launch_host_func(sys, NULL, elsewhere, &unmap), "function");
    by(vmm_memcpy_dtoh(sys, &byte, p, 1), "VMM-COPY-NOT-MAPPED", "a copy of memory that is unmapped while it waits");
    tap_ok(unmap.result && byte == 0x77, "nothing is copied");
    end();
}

/* A wait for an event returns to its pool what was freed before the event, and not what was freed after it. */
static void freed_after_the_event(void)
{
    vmm_deviceptr first = 0, second = 0;
    vmm_stream stream = NULL;
    vmm_event event = NULL;
    begin("sim:h100,schedule=late");
    need(vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_event_create(sys, &event, 0), "event");
    need(vmm_mem_alloc_async(sys, &first, 4096, stream), "memory of a pool");
    need(vmm_mem_alloc_async(sys, &second, 4096, stream), "more of it");
    need(vmm_mem_free_async(sys, first, stream), "free");
    need(vmm_event_record(sys, event, stream), "record");
    need(vmm_mem_free_async(sys, second, stream), "free after it");
    tap_result(vmm_event_synchronize(sys, event), VMM_SUCCESS, "a wait for the event between them");
    tap_result(vmm_stream_synchronize(sys, stream), VMM_SUCCESS, "and one for both");
    end();
}

/* A copy that goes on behind an allocation of a pool: the note tells where that ends. */
static void behind_the_allocation(void)
{
    vmm_deviceptr p = 0;
    static unsigned char bytes[G];
    char note[200];
    begin("sim:h100");
    need(vmm_mem_alloc_async(sys, &p, 4096, NULL), "memory of a pool");
    by(vmm_memcpy_dtoh(sys, bytes, p + 512, 8192), "VMM-COPY-RUNS-PAST", "a copy that runs past it");
    snprintf(note, sizeof note, "a memory pool has allocated nothing at 0x%llx, %d bytes into the range",
             (unsigned long long)(p + 4096), 4096 - 512);
    tap_text(vmm_last_detail()->note, note, "the note");
    by(vmm_memcpy_dtoh(sys, bytes, p + 8192, 16), "VMM-COPY-NOT-MAPPED", "a copy that begins behind it");
    snprintf(note, sizeof note, "a memory pool has allocated nothing at 0x%llx, 0 bytes into the range",
             (unsigned long long)(p + 8192));
    tap_text(vmm_last_detail()->note, note, "the note");
    end();
}

/* Pools of managed memory are not simulated, but where they would be is checked before, as far as it says a place. */
static void managed_pools(void)
{
    vmm_memory_pool pool = NULL;
    vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_MANAGED, .location = {DEVICE, 99}};
    begin("sim:h100");
    by(vmm_mem_pool_create(sys, &pool, &props), "VMM-POOL-CREATE-DEVICE", "managed memory of a device that is none");
    props.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 99};
    by(vmm_mem_pool_create(sys, &pool, &props), "VMM-POOL-CREATE-LOCATION", "managed memory of a node that is none");
    props.location = (vmm_mem_location){DEVICE, 0};
    by(vmm_mem_pool_create(sys, &pool, &props), "VMM-POOL-CREATE-MANAGED", "managed memory of a device");
    props.location = (vmm_mem_location){HOST, 99};
    by(vmm_mem_pool_create(sys, &pool, &props), "VMM-POOL-CREATE-MANAGED", "managed memory of the host");
    end();
}

/* A pool's addresses and those of mappings are apart: what is mapped below or above a pool is no concern of it. */
static void beside_a_pool(void)
{
    vmm_deviceptr p = 0, at;
    begin("sim:max");
    const vmm_deviceptr low = reserved(G);
    need(vmm_mem_alloc_async(sys, &p, 4096, NULL), "memory of a pool");
    const uint64_t start = ((struct sim_process *)sys->top)->first_pool->memory.start;
    need(vmm_mem_map(sys, low, G, 0, created(DEVICE, 0, G), 0), "a mapping");
    need(vmm_mem_address_reserve(sys, &at, G, 0, start - G, 0), "addresses");
    tap_u64(at, start - G, "the addresses before a pool");
    need(vmm_mem_map(sys, at, G, 0, created(DEVICE, 0, G), 0), "a mapping that ends where a pool begins");
    need(vmm_mem_unmap(sys, at, G), "unmapping");
    by(vmm_mem_map(sys, at, 2 * G, 0, created(DEVICE, 0, 2 * G), 0), "VMM-MAP-OVERLAP", "one that goes on into the pool");
    end();
}

/* A pool's largest size is no promise: what the device has left counts as well. */
static void less_than_the_pool_may_have(void)
{
    uint64_t left = 0;
    vmm_deviceptr most = 0, p = 0;
    vmm_memory_pool pool = NULL;
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {DEVICE, 0}, .max_size = 512 * G};
    begin("sim:h100");
    need(vmm_mem_pool_create(sys, &pool, &props), "pool");
    need(vmm_mem_get_info(sys, &left, NULL), "free memory");
    need(vmm_mem_alloc(sys, &most, (left / G - 256) * G), "all but some");
    by(vmm_mem_alloc_from_pool_async(sys, &p, 1024 * G, pool, NULL), "VMM-POOL-ALLOC-MEMORY", "more than either allows");
    tap_u64(p, 0, "no memory is given");
    need(vmm_mem_free(sys, most), "free");
    by(vmm_mem_alloc_from_pool_async(sys, &p, 1024 * G, pool, NULL), "VMM-POOL-ALLOC-MAX-SIZE", "more than the pool allows");
    end();
}

static void ended_elsewhere(void)
{
    vmm_deviceptr p = 0;
    vmm_event event = NULL;
    vmm_stream stream = NULL;
    unsigned char byte = 0x77;
    begin("sim:h100,schedule=late");
    need(vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_event_create(sys, &event, 0), "event");
    need(vmm_mem_alloc_async(sys, &p, 4096, stream), "memory of a pool");
    struct elsewhere first = {end_event, event, NULL}, second = {end_stream, stream, NULL};
    need(vmm_launch_host_func(sys, stream, elsewhere, &first), "function");
    need(vmm_event_record(sys, event, stream), "record");
    tap_result(vmm_event_synchronize(sys, event), VMM_SUCCESS, "an event that ends during a wait for it has come");
    tap_ok(first.result != NULL, "it has ended");
    by(vmm_event_query(sys, event), "VMM-EVENT-UNKNOWN", "a query of it");
    need(vmm_launch_host_func(sys, stream, elsewhere, &second), "function");
    by(vmm_memcpy_dtoh_async(sys, &byte, p, 1, stream), "VMM-STREAM-UNKNOWN", "a copy that waits for a stream that ends meanwhile");
    tap_ok(second.result && byte == 0x77, "nothing is copied");
    end();
}

/* ---- exhausted memory and addresses ---- */

/* Allocates sizes around the free memory and around the largest number: those succeed whose units are all free. */
static void allocations(void)
{
    const struct sim_profile *profile;
    uint64_t left = 0, total = 0, unit, wrong = 0;
    vmm_deviceptr first = 0;
    begin("sim:odd");
    profile = &((struct sim_process *)sys->top)->machine->profile;
    unit = profile->device_granularity[0] > profile->va_granularity ? profile->device_granularity[0] : profile->va_granularity;
    need(vmm_mem_get_info(sys, &left, &total), "free memory");
    tap_ok(left > 4 * unit && total == profile->device_memory, "the machine has free memory");
    need(vmm_mem_alloc(sys, &first, left - 3 * unit), "all but some");
    need(vmm_mem_get_info(sys, &left, NULL), "free memory");
    const uint64_t about[] = {unit, left / unit * unit, left, left + unit, UINT64_MAX - unit, UINT64_MAX};
    for (unsigned i = 0; i < sizeof about / sizeof about[0]; i++)
        for (uint64_t size = about[i] - 3; size != about[i] + 4 && size != 0; size++) {
            vmm_deviceptr at = 0x77;
            const vmm_result result = vmm_mem_alloc(sys, &at, size);
            const vmm_detail detail = *vmm_last_detail();
            if (size <= left / unit * unit) {
                wrong += result != VMM_SUCCESS || at % unit != 0 || vmm_mem_free(sys, at) != VMM_SUCCESS;
                continue;
            }
            wrong += result != VMM_ERROR_OUT_OF_MEMORY || at != 0 || strcmp(detail.rule, "VMM-ALLOC-MEMORY") != 0 ||
                     detail.value != size || detail.expected != left || detail.nearest.kind != VMM_OBJECT_DEVICE ||
                     detail.nearest.size != left;
        }
    tap_u64(wrong, 0, "allocations succeed up to the last free unit");
    end();
}

static void pools(void)
{
    begin("sim:odd");
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {DEVICE, 0}};
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    handle_t handle = 0x77;
    uint64_t left = 0, now = 0;
    need(vmm_mem_get_info(sys, &left, NULL), "free memory");
    by(vmm_mem_create(sys, &handle, UINT64_C(1) << 30, &prop, 0), "VMM-CREATE-TILE-POOL",
       "a tile pool larger than the free memory");
    prop.alloc_flags.usage = 0;
    by(vmm_mem_create(sys, &handle, UINT64_C(1) << 30, &prop, 0), "VMM-CREATE-MEMORY",
       "other memory larger than the free memory");
    need(vmm_mem_get_info(sys, &now, NULL), "free memory");
    tap_ok(handle == 0x77 && now == left, "the refused calls take no memory");
    end();
}

static void addresses(void)
{
    begin("sim:odd");
    vmm_deviceptr at = 0, p = 0x77;
    uint64_t size = UINT64_C(1) << 28, taken = 0, left = 0, now = 0;
    for (; size >= 65536; size /= 2)
        while (vmm_mem_address_reserve(sys, &at, size, 0, 0, 0) == VMM_SUCCESS)
            taken += size;
    tap_u64(taken, UINT64_C(1) << 28, "all addresses of a machine can be reserved");
    need(vmm_mem_get_info(sys, &left, NULL), "free memory");
    vmm_result result = vmm_mem_alloc(sys, &p, 4096);
    need(vmm_mem_get_info(sys, &now, NULL), "free memory");
    tap_ok(result == VMM_ERROR_OUT_OF_MEMORY && now == left, "cuMemAlloc then fails for lack of addresses and takes no memory");
    end();
}

/* The note on the mappings that still hold memory has a singular and a plural. */
static void holders(void)
{
    static const char *const reported[] = {"1 mapping still holds the memory", "2 mappings still hold the memory"};
    for (unsigned i = 0; i < 2; i++) {
        begin("sim:h100");
        vmm_deviceptr p = reserved(2 * G);
        handle_t handle = created(DEVICE, 0, G);
        for (unsigned k = 0; k <= i; k++)
            need(vmm_mem_map(sys, p + k * G, G, 0, handle, 0), "mapping");
        need(vmm_mem_release(sys, handle), "release");
        tap_ok(vmm_mem_release(sys, handle) != VMM_SUCCESS && strstr(vmm_last_detail()->note, reported[i]), "%s",
               vmm_last_detail()->note);
        end();
    }
}

/* A destroyed context can be made current, also after so many others that the simulator has forgotten it. */
static void forgotten(void)
{
    vmm_context gone = NULL, other = NULL;
    int device = 0x77;
    begin("sim:h100");
    need(vmm_ctx_create(sys, &gone, 0, 0), "context");
    need(vmm_ctx_destroy(sys, gone), "destroy");
    for (int i = 0; i < 300; i++) {
        need(vmm_ctx_create(sys, &other, 0, 0), "another");
        need(vmm_ctx_destroy(sys, other), "destroy");
    }
    tap_result(vmm_ctx_set_current(sys, gone), VMM_SUCCESS, "a forgotten context can be made current");
    by(vmm_ctx_get_device(sys, &device), "VMM-CTX-DESTROYED", "a forgotten context has no device");
    tap_u64((uint64_t)device, 0x77, "the device is not written");
    end();
}

/* In-flight work does not depend on the host's rights. An unmap from the last address on takes its memory away. */
static void in_flight(void)
{
    vmm_stream stream = NULL;
    begin("sim:h100");
    vmm_deviceptr at = reserved(G);
    need(vmm_mem_map(sys, at, G, 0, created(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, G), 0), "mapping");
    granted(at, G, DEVICE, 0, RW);
    need(vmm_stream_create(sys, &stream, 0), "stream");
    need(vmm_memset_d8_async(sys, at, 1, G, stream), "work");
    granted(at, G, VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, RW);
    tap_ok(!vmm_last_detail()->rule, "a grant to the host gives no warning about in-flight work");
    tap_result(vmm_mem_unmap(sys, UINT64_MAX, at + G + 1), VMM_SUCCESS, "an unmap from the last address on unmaps everything");
    const char *rule = vmm_last_detail()->rule;
    tap_ok(rule && !strcmp(rule, "VMM-UNMAP-IN-FLIGHT"), "the unmap warns of the in-flight work: %s", rule ? rule : "nothing");
    end();
}

/* TSan's own memory takes most addresses of the program, which a hint does not lead to. */
#ifdef __SANITIZE_THREAD__
enum { NO_ADDRESSES = 1 };
#else
enum { NO_ADDRESSES = 0 };
#endif

/* A hint at addresses that the profile marks as taken gets other addresses. */
static void addresses_of_others(void)
{
    static const vmm_deviceptr theirs[] = {UINT64_C(0x10000000000), UINT64_C(0x555500000000)};
    begin("sim:h100,arena=profile");
    for (unsigned i = 0; i < sizeof theirs / sizeof theirs[0]; i++) {
        vmm_deviceptr at = 0;
        need(vmm_mem_address_reserve(sys, &at, 16 * G, 0, theirs[i], 0), "addresses"); /* a chunk */
        tap_ok(at && at != theirs[i], "addresses of taken range %u are not reserved", i);
    }
    end();
}

/* A dma-buf begins in an allocation of a pool and goes on behind it, as measured, as far as the pool has memory there. */
static void pages_of_a_pool(void)
{
    const uint64_t page = os_page_size(), chunk = 16 * G;
    vmm_deviceptr at = 0;
    int file = -1;
    begin("sim:h100");
    need(vmm_mem_alloc_async(sys, &at, page + 512, NULL), "memory of a pool");
    tap_u64(at % chunk, 0, "which is the first of its chunk");
    need(vmm_mem_get_handle_for_address_range(sys, &file, at, 2 * page, 1, 0), "its two pages as a file");
    os_file_close(file);
    need(vmm_mem_get_handle_for_address_range(sys, &file, at, chunk, 1, 0), "and all of the chunk");
    os_file_close(file);
    file = -1;
    by(vmm_mem_get_handle_for_address_range(sys, &file, at, chunk + page, 1, 0), "VMM-DMABUF-HOLE", "but not the page behind it");
    tap_u64((uint64_t)(int64_t)file, UINT64_MAX, "which writes -1");
    by(vmm_mem_get_handle_for_address_range(sys, &file, at + 2 * page, page, 1, 0), "VMM-DMABUF-NOT-MAPPED", "nor what begins behind the allocation");
    need(vmm_mem_free(sys, at), "all is freed");
    end();
}

/* A copy of host memory from an address with a small remainder UINT64_MAX % address: catches a range check with % instead of a
 * subtraction. */
static void copy_of_a_divisor(void)
{
    const vmm_deviceptr from = G * (((UINT64_C(1) << 43) - 1) / 2099863); /* 2 to the 43rd, less 1, is 431 * 9719 * 2099863 */
    const vmm_deviceptr around = from / (16 * G) * (16 * G);
    vmm_deviceptr chunk = 0;
    begin("sim:h100,arena=profile");
    tap_ok(UINT64_MAX % from == G - 1, "the address leaves that remainder");
    need(vmm_mem_address_reserve(sys, &chunk, 16 * G, 0, around, 0), "addresses");
    const vmm_deviceptr to = reserved(2 * G);
    need(vmm_mem_map(sys, from, 2 * G, 0, created(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, 2 * G), 0), "mapping");
    need(vmm_mem_map(sys, to, 2 * G, 0, created(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, 2 * G), 0), "mapping");
    const vmm_deviceptr both[] = {from, to};
    for (unsigned i = 0; i < 2; i++) {
        granted(both[i], 2 * G, DEVICE, 0, RW);
        granted(both[i], 2 * G, VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, RW);
    }
    tap_u64(chunk, around, "the chunk is reserved at the hint");
    tap_ok(vmm_memcpy_dtod(sys, to, from, 2 * G) == VMM_SUCCESS,
           "the copy from that address succeeds: %s", vmm_last_detail()->note);
    end();
}

/* ---- a fault that no call has reported ---- */

/* Has the work faulted? The look itself reports nothing. */
static bool is_lost(void)
{
    struct sim_process *process = (struct sim_process *)sys->top;
    sim_machine_lock(process->machine);
    bool lost = process->fault[0].lost;
    sim_machine_unlock(process->machine);
    return lost;
}

/* With async workers, the first query of an event after a fault answers NOT_READY, once. */
static void not_reported_yet(void)
{
    const uint64_t args[] = {4096, 1, 7};
    vmm_event before = NULL, event = NULL, never = NULL;
    begin("sim:h100,schedule=device");
    need(vmm_event_create(sys, &before, 0), "event");
    need(vmm_event_create(sys, &event, 0), "event");
    need(vmm_event_create(sys, &never, 0), "event");
    need(vmm_event_record(sys, before, NULL), "record");
    need(vmm_launch(sys, VMM_KERNEL_FILL, 1, 32, args, 3, NULL), "launch");
    need(vmm_event_record(sys, event, NULL), "record");
    while (!is_lost())
        sched_yield();
    tap_result(vmm_event_query(sys, never), VMM_SUCCESS, "an event that was never recorded is done");
    tap_result(vmm_event_query(sys, before), VMM_SUCCESS, "an event recorded before the fault is done");
    tap_result(vmm_event_query(sys, event), VMM_ERROR_NOT_READY, "the first query of an event after the fault answers NOT_READY");
    tap_result(vmm_event_query(sys, event), VMM_ERROR_ILLEGAL_ADDRESS, "the second query reports the fault");
    tap_result(vmm_event_query(sys, before), VMM_ERROR_ILLEGAL_ADDRESS, "after that a query of any event reports the fault");
    end();
}

/* The queue holds IN_FLIGHT_MAX items; one more issue does the oldest and no other. */
static void most_in_flight(void)
{
    begin("sim:h100,schedule=late");
    const struct in_flight *in_flight = ((struct sim_process *)sys->top)->in_flight;
    const vmm_deviceptr p = reserved(G);
    unsigned wrong = 0;
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    need(vmm_memset_d8_async(sys, p, 1, 1, NULL), "fill");
    const uint64_t first = in_flight->queue.first->number;
    for (size_t i = 1; i < IN_FLIGHT_MAX + 3; i++) {
        wrong += in_flight->queue.count != (i < IN_FLIGHT_MAX ? i : IN_FLIGHT_MAX);
        wrong += in_flight->queue.first->number != (i <= IN_FLIGHT_MAX ? first : first + (i - IN_FLIGHT_MAX));
        need(vmm_memset_d8_async(sys, p + i, 1, 1, NULL), "fill");
    }
    tap_u64(wrong, 0, "the queue holds %d work items, and a further issue does the oldest", (int)IN_FLIGHT_MAX);
    need(vmm_ctx_synchronize(sys), "wait");
    tap_ok(!in_flight->queue.first && !in_flight->queue.count, "the queue is empty after a wait");
    end();
}

static void count_oldest(void *user)
{
    ++*(unsigned *)user;
}

/* The oldest is done by whoever issues one too many, also where it is no plain work or the schedule chooses freely. */
static void oldest_of_any_kind(const char *spec, bool function)
{
    begin(spec);
    const struct in_flight *in_flight = ((struct sim_process *)sys->top)->in_flight;
    const vmm_deviceptr p = reserved(G);
    unsigned called = 0, most = 0;
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    if (function)
        need(vmm_launch_host_func(sys, NULL, count_oldest, &called), "function");
    for (size_t i = 0; i < 2 * IN_FLIGHT_MAX; i++) {
        need(vmm_memset_d8_async(sys, p + i, (unsigned char)(1 + i % 2), 1, NULL), "fill");
        most = in_flight->queue.count > most ? (unsigned)in_flight->queue.count : most;
    }
    tap_ok(most <= IN_FLIGHT_MAX && called == function, "%s: the queue held %u items at most", spec, most);
    unsigned char bytes[2];
    need(vmm_ctx_synchronize(sys), "wait");
    need(vmm_memcpy_dtoh(sys, bytes, p + 2 * IN_FLIGHT_MAX - 2, 2), "copy");
    tap_ok(bytes[0] == 1 && bytes[1] == 2, "%s: all of it is done", spec);
    end();
}

/* A refused allocation reports the free memory, however large the request was. */
static void too_much_memory(void)
{
    begin("sim:h100");
    uint64_t left = 0, total = 0, wrong = 0;
    vmm_deviceptr p = 0;
    need(vmm_mem_get_info(sys, &left, &total), "room");
    for (int shift = 38; shift < 64; shift++) {
        vmm_result result = vmm_mem_alloc(sys, &p, UINT64_C(1) << shift);
        wrong += result != VMM_ERROR_OUT_OF_MEMORY || vmm_last_detail()->expected != left;
    }
    tap_u64(wrong, 0, "refused allocations of 256 GiB to 8 EiB report the free memory");
    by(vmm_mem_alloc(sys, &p, UINT64_MAX), "VMM-ALLOC-MEMORY", "an allocation of the largest number is refused");
    end();
}

static void count_call(void *user)
{
    ++*(unsigned *)user;
}

/* The end of a primary context waits for its work, by a reset and by a release. */
static void primary_is_waited_for(bool reset)
{
    vmm_context primary = NULL;
    unsigned calls = 0;
    begin("sim:h100,schedule=late");
    need(vmm_device_primary_ctx_retain(sys, &primary, 0), "primary context");
    need(vmm_ctx_set_current(sys, primary), "current");
    need(vmm_launch_host_func(sys, NULL, count_call, &calls), "function");
    tap_u64(calls, 0, "the host function has not run yet");
    need(reset ? vmm_device_primary_ctx_reset(sys, 0) : vmm_device_primary_ctx_release(sys, 0), "end");
    tap_u64(calls, 1, "the %s of a primary context waits for its work", reset ? "reset" : "release");
    end();
}

/* Which of two unordered work items is done last, when the seed decides only at the wait. */
static unsigned char last_of_two(uint64_t seed)
{
    vmm_stream first = NULL, second = NULL;
    unsigned char byte = 0;
    begin("sim:h100,schedule=late");
    struct in_flight *in_flight = ((struct sim_process *)sys->top)->in_flight;
    const vmm_deviceptr p = reserved(G);
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    need(vmm_stream_create(sys, &first, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_stream_create(sys, &second, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_memset_d8_async(sys, p, 1, 1, first), "fill");
    need(vmm_memset_d8_async(sys, p, 2, 1, second), "fill");
    in_flight->schedule = SIM_RANDOM;
    in_flight->random = seed;
    need(vmm_ctx_synchronize(sys), "wait");
    need(vmm_memcpy_dtoh(sys, &byte, p, 1), "read");
    end();
    return byte;
}

static void order_of_a_wait(void)
{
    unsigned last[3] = {0};
    for (uint64_t seed = 1; seed <= 64; seed++)
        last[last_of_two(seed) % 3]++;
    tap_ok(!last[0] && last[1] > 10 && last[2] > 10,
           "at a wait the seed decides which item is done first: %u times the one, %u times the other",
           last[2], last[1]);
}

/* A copy that waits for earlier work reports the fault of that work. */
static void fault_by_a_copy(void)
{
    const uint64_t args[] = {4096, 1, 7};
    unsigned char byte = 0x77;
    begin("sim:h100");
    vmm_deviceptr p = reserved(G);
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    need(vmm_launch(sys, VMM_KERNEL_FILL, 1, 32, args, 3, NULL), "launch");
    by(vmm_memcpy_dtoh_async(sys, &byte, p, 1, NULL), "VMM-FAULT-ACCESS", "a copy after a kernel that faults");
    tap_u64(byte, 0x77, "the copy is not made");
    end();
}

/* ---- two host functions at once ---- */

static sem_t first_began, second_began, first_ended;

static void waits_for_second(void *user)
{
    (void)user;
    sem_post(&first_began);
    sem_wait(&second_began);
}

static void waits_for_first(void *user)
{
    (void)user;
    sem_post(&second_began);
    sem_wait(&first_ended);
}

static void *synchronise(void *stream)
{
    return vmm_stream_synchronize(sys, stream) == VMM_SUCCESS ? sys : NULL;
}

/* Two host functions run at once; the one that began first ends first. */
static void functions(void)
{
    vmm_stream one = NULL, two = NULL;
    pthread_t first, second;
    void *ended[2] = {NULL};
    begin("sim:h100");
    sem_init(&first_began, 0, 0);
    sem_init(&second_began, 0, 0);
    sem_init(&first_ended, 0, 0);
    need(vmm_stream_create(sys, &one, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_stream_create(sys, &two, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_launch_host_func(sys, one, waits_for_second, NULL), "first function");
    need(vmm_launch_host_func(sys, two, waits_for_first, NULL), "second function");
    if (pthread_create(&first, NULL, synchronise, one))
        tap_bail("no thread");
    sem_wait(&first_began);
    if (pthread_create(&second, NULL, synchronise, two))
        tap_bail("no thread");
    pthread_join(first, &ended[0]);
    sem_post(&first_ended);
    pthread_join(second, &ended[1]);
    tap_ok(ended[0] && ended[1], "a host function ends while a later one still runs");
    tap_result(vmm_ctx_synchronize(sys), VMM_SUCCESS, "no host function is running any more");
    sem_destroy(&first_began);
    sem_destroy(&second_began);
    sem_destroy(&first_ended);
    end();
}

/* Memory belongs to a context, but what frees it needs none. */
static void test_free_without_a_context(void)
{
    vmm_deviceptr at = 0;
    uint64_t before = 0, after = 0, all = 0;
    vmm_context ctx = NULL;
    begin("sim:h100");
    need(vmm_ctx_get_current(sys, &ctx), "the context");
    need(vmm_mem_get_info(sys, &before, &all), "free memory");
    need(vmm_mem_alloc(sys, &at, G), "memory");
    need(vmm_ctx_set_current(sys, NULL), "no context");
    tap_result(vmm_mem_free(sys, at), VMM_SUCCESS, "memory is freed without a current context");
    need(vmm_ctx_set_current(sys, ctx), "the context again");
    need(vmm_mem_get_info(sys, &after, &all), "free memory");
    tap_u64(after, before, "and is free");
    end();
}

int main(void)
{
    faults();
    neighbours(false, true, true);
    neighbours(true, true, true);
    neighbours(false, true, false);
    neighbours(false, false, true);
    aliases();
    alias_model_replicas();
    bad_replicas();
    untouched();
    more_than_its_address();
    wraps();
    overflows();
    overflow_of_one();
    ended_elsewhere();
    unmapped_elsewhere();
    freed_after_the_event();
    behind_the_allocation();
    managed_pools();
    beside_a_pool();
    less_than_the_pool_may_have();
    unbound_beside();
    allocations();
    pools();
    addresses();
    holders();
    forgotten();
    pages_of_a_pool();
    if (NO_ADDRESSES) {
        tap_skip("TSan has the addresses above the hints", "hints at addresses of others, and in the middle of a chunk");
    } else {
        addresses_of_others();
        copy_of_a_divisor();
    }
    in_flight();
    not_reported_yet();
    most_in_flight();
    oldest_of_any_kind("sim:h100,schedule=late", true);
    oldest_of_any_kind("sim:h100,schedule=random:1", true);
    oldest_of_any_kind("sim:h100,schedule=random:2", false);
    too_much_memory();
    primary_is_waited_for(true);
    primary_is_waited_for(false);
    order_of_a_wait();
    fault_by_a_copy();
    functions();
    test_free_without_a_context();
    return tap_done();
}
