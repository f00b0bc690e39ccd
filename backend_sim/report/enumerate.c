/* SPDX-License-Identifier: Apache-2.0 */
#include "enumerate.h"

#include <stdio.h>
#include <stdlib.h>

#include "leak_holders.h"
#include "heap.h"
#include "objects.h"
#include "process.h"
#include "team_share.h"
#include "units.h"

struct walk {
    vmm_visit_fn visit;
    void *user;
};

static void enumerate_handle(void *user, void *object)
{
    const struct walk *walk = user;
    vmm_object o = sim_object_handle(object);
    walk->visit(walk->user, &o);
}

static void enumerate_binds(void *user, void *object)
{
    const struct walk *walk = user;
    const struct sim_handle *handle = object;
    const struct team *team = handle->block->team;
    for (unsigned i = 0; team && i < team->members; i++)
        for (const struct team_bind *bind = team->member[i].binds; bind; bind = bind->next) {
            vmm_object o = sim_object_bind(handle, bind);
            walk->visit(walk->user, &o);
        }
}

static void enumerate_context(void *user, void *object)
{
    const struct walk *walk = user;
    const struct sim_context *context = object;
    vmm_object o = sim_object_context(context);
    if (!context->ended_primary)
        walk->visit(walk->user, &o);
}

static void enumerate_stream(void *user, void *object)
{
    const struct walk *walk = user;
    vmm_object o = sim_object_stream(object);
    walk->visit(walk->user, &o);
}

static void enumerate_event(void *user, void *object)
{
    const struct walk *walk = user;
    vmm_object o = sim_object_event(object);
    walk->visit(walk->user, &o);
}

/* A device's own pool is not an object of the program. */
static void enumerate_pool(void *user, void *object)
{
    const struct walk *walk = user;
    const struct sim_pool *pool = object;
    vmm_object o = sim_object_pool(pool);
    if (!pool->is_default)
        walk->visit(walk->user, &o);
}

static void enumerate_array(void *user, void *object)
{
    const struct walk *walk = user;
    vmm_object o = sim_object_array(object);
    if (!o.handle) /* a level is a part of its array */
        walk->visit(walk->user, &o);
}

static void enumerate_ranges(const struct sim_process *process, const struct walk *walk)
{
    for (const struct sim_reservation *r = addrmap_ceil(&process->reservations, 0); r;
         r = addrmap_ceil(&process->reservations, r->start + 1)) {
        vmm_object o = sim_object_reservation(r);
        walk->visit(walk->user, &o);
    }
    for (const struct sim_mapping *m = addrmap_ceil(&process->mappings, 0); m;
         m = addrmap_ceil(&process->mappings, m->start + 1)) {
        vmm_object o = sim_object_mapping(m);
        walk->visit(walk->user, &o);
    }
}

static void enumerate_allocations(const struct addrmap *map, const struct walk *walk)
{
    for (const struct sim_allocation *a = addrmap_ceil(map, 0); a; a = addrmap_ceil(map, a->start + 1)) {
        vmm_object o = sim_object_allocation(a);
        walk->visit(walk->user, &o);
    }
}

static void enumerate_all(const struct sim_process *process, const struct walk *walk)
{
    for (int i = 0; i < process->machine->profile.devices; i++) {
        vmm_object o = sim_object_device(process, i);
        walk->visit(walk->user, &o);
    }
    enumerate_ranges(process, walk);
    slots_each(&process->handles, enumerate_handle, (void *)walk);
    enumerate_allocations(&process->allocations, walk);
    enumerate_allocations(&process->adopted, walk);
    for (const struct sim_piece *p = addrmap_ceil(&process->pieces, 0); p;
         p = addrmap_ceil(&process->pieces, p->allocation.start + 1)) {
        vmm_object o = sim_object_allocation(&p->allocation);
        walk->visit(walk->user, &o);
    }
    slots_each(&process->contexts, enumerate_context, (void *)walk);
    slots_each(&process->streams, enumerate_stream, (void *)walk);
    slots_each(&process->events, enumerate_event, (void *)walk);
    slots_each(&process->handles, enumerate_binds, (void *)walk);
    slots_each(&process->pools, enumerate_pool, (void *)walk);
    slots_each(&process->arrays, enumerate_array, (void *)walk);
}

vmm_result sim_enumerate(struct vmm_backend *self, vmm_visit_fn visit, void *user)
{
    const struct sim_process *process = (struct sim_process *)self;
    struct walk walk = {visit, user};
    if (sim_machine_torn(process->machine))
        return vmm_refuse_open(VMM_RULE_INIT_FORKED, "vmm_visit", SIM_TORN);
    sim_machine_lock(process->machine);
    team_look_at_all(process->machine); /* include what peers did to the teams */
    sim_machine_busy(process->machine, false);
    enumerate_all(process, &walk);
    sim_machine_unlock(process->machine);
    return VMM_SUCCESS;
}

/* The leaks are collected under the lock and reported outside it, because the report function may make calls. */
struct leaks {
    vmm_detail *detail; /* NULL while they are only counted */
    uint64_t count;
};

/* Is the object part of what one call of the program made, such as cuMemHostAlloc, which consists of several calls of this API?
 * */
static bool is_part(const vmm_object *o)
{
    return o->created_by && vmm_call_find(o->created_by) == VMM_CALL_COUNT;
}

/* For such a call only the reservation is reported: to the program, all its objects are one allocation. */
static bool part_rule(const vmm_object *o, enum vmm_rule_id *rule)
{
    *rule = VMM_RULE_LEAK_ALLOCATION;
    return o->kind == VMM_OBJECT_RESERVATION;
}

static bool leak_rule(const vmm_object *o, enum vmm_rule_id *rule)
{
    static const enum vmm_rule_id rules[] = {
        [VMM_OBJECT_RESERVATION] = VMM_RULE_LEAK_RESERVATION, [VMM_OBJECT_MAPPING] = VMM_RULE_LEAK_MAPPING,
        [VMM_OBJECT_HANDLE] = VMM_RULE_LEAK_HANDLE,           [VMM_OBJECT_ALLOCATION] = VMM_RULE_LEAK_ALLOCATION,
        [VMM_OBJECT_CONTEXT] = VMM_RULE_LEAK_CONTEXT,         [VMM_OBJECT_STREAM] = VMM_RULE_LEAK_STREAM,
        [VMM_OBJECT_EVENT] = VMM_RULE_LEAK_EVENT,             [VMM_OBJECT_POOL] = VMM_RULE_LEAK_POOL,
        [VMM_OBJECT_ARRAY] = VMM_RULE_LEAK_ARRAY,
    };
    if (o->kind == VMM_OBJECT_DEVICE || o->kind == VMM_OBJECT_BIND)
        return false; /* a bind ends with its multicast object */
    if (is_part(o) && (o->kind == VMM_OBJECT_RESERVATION || o->kind == VMM_OBJECT_MAPPING || o->kind == VMM_OBJECT_HANDLE))
        return part_rule(o, rule);
    *rule = o->team ? VMM_RULE_LEAK_MULTICAST : rules[o->kind];
    return true;
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

/* Writes into the note what keeps the object alive. */
static void note_reason(vmm_detail *detail, const vmm_object *o)
{
    char *note = detail->note, size[UNITS_TEXT];
    size_t room = sizeof detail->note;
    units_text(o->size, size);
    if (o->team)
        snprintf(note, room, "a multicast object held by %u reference%s and %u mapping%s, to which %u bind%s hold%s memory",
                 o->references, plural(o->references), o->mappings, plural(o->mappings), o->binds, plural(o->binds),
                 o->binds == 1 ? "s" : "");
    else if (o->kind == VMM_OBJECT_HANDLE && !o->size)
        snprintf(note, room, "imported memory that was never mapped, so its size is unknown, held by %u reference%s", o->references,
                 plural(o->references));
    else if (o->kind == VMM_OBJECT_HANDLE)
        snprintf(note, room, "%s of physical memory held by %u reference%s and %u mapping%s", size, o->references,
                 plural(o->references), o->mappings, plural(o->mappings));
    else if (o->kind == VMM_OBJECT_POOL)
        snprintf(note, room, "a memory pool with %s of physical memory", size);
    else if (o->kind == VMM_OBJECT_ARRAY && o->offset)
        snprintf(note, room, "a sparse array, with memory in %u of its %llu tiles", o->mappings, (unsigned long long)o->offset);
    else if (o->kind == VMM_OBJECT_ARRAY)
        snprintf(note, room, "an array with %s of its own memory", size);
    else if (o->kind == VMM_OBJECT_MAPPING)
        snprintf(note, room, "holds H%u: its memory stays allocated until this is unmapped", o->handle_number);
    else if (o->kind == VMM_OBJECT_RESERVATION && is_part(o))
        snprintf(note, room, "%s of memory", size);
    else if (o->kind == VMM_OBJECT_RESERVATION)
        snprintf(note, room, "%s of addresses, no memory by themselves", size);
}

static void collect(void *user, const vmm_object *o)
{
    struct leaks *leaks = user;
    enum vmm_rule_id id;
    if (!leak_rule(o, &id))
        return;
    if (leaks->detail) {
        vmm_detail *detail = &leaks->detail[leaks->count];
        *detail = (vmm_detail){.severity = VMM_SEVERITY_LEAK,
                               .rule = vmm_rule_row(id)->id,
                               .function = o->created_by,
                               .call = o->created,
                               .nearest = *o};
        note_reason(detail, o);
    }
    leaks->count++;
}

uint64_t sim_leaks(struct vmm_backend *self, vmm_report_fn report, void *user)
{
    const struct sim_process *process = (struct sim_process *)self;
    struct leaks leaks = {NULL, 0};
    struct walk walk = {collect, &leaks};
    if (sim_machine_torn(process->machine))
        return 0;
    sim_machine_lock(process->machine);
    if (report && !sim_process_forked(process))
        sim_machine_settle(process->machine);
    enumerate_all(process, &walk);
    if (report && leaks.count) {
        leaks.detail = heap.calloc(leaks.count, sizeof *leaks.detail);
        if (leaks.detail) {
            leaks.count = 0;
            enumerate_all(process, &walk);
        }
    }
    struct leak_holders holders = sim_leak_holders(process, leaks.detail, leaks.detail ? leaks.count : 0, report != NULL);
    sim_machine_unlock(process->machine);
    for (uint64_t i = 0; leaks.detail && i < leaks.count; i++)
        /* analysers: clang-analyzer-core.CallAndMessage is wrong: there are details whenever there is a report */
        report(user, &leaks.detail[i]);
    for (uint64_t i = 0; report && i < holders.count; i++)
        report(user, &holders.hint[i]);
    heap.free(leaks.detail);
    heap.free(holders.hint);
    return leaks.count + holders.leaks;
}
