/* SPDX-License-Identifier: Apache-2.0 */
/* Edge cases of addresses: the first and the last one, faults far from everything, replicas that end within an access, ranges
 * past the end of the address space. */
#include <stdio.h>
#include <string.h>

#include "edges_rig.h" /* behind the others, whose names its macros would take */

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

/* A kernel reads its first byte and the one that many bytes after it; an argument explains a fault less than 1 TiB after it. */
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

/* Does the fault name the objects next to its address? Finds them by checking both objects of the scene. */
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

/* Faults one byte before each object, at both ends of each, and far after both. */
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

/* Memory bound at one part of the object is unbound without a warning while work uses another part. */
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

/* More bytes than the numeric value of the first address, as with a model's weights; both ranges end in host memory. */
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
    snprintf(note, sizeof note, "the address space has fewer bytes after 0x%llx", (unsigned long long)start);
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

/* A copy in which only the source passes the last address, in memory that the host has no rights to. */
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
    unbound_beside();
    return tap_done();
}
