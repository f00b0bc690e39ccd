/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast objects and nodes of a fabric while another process keeps the shared state's mutex: calls that need it are refused
 * and change nothing, in-flight work uses the binds seen last, and all calls work again once the mutex is released. */
#include "process.h"
#include "share_nodes.h"
#include "share_rig.h"
#include "system.h"

#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC

typedef vmm_mem_generic_allocation_handle handle_t;

struct side {
    vmm_system *sys;
    int device;
    handle_t object, memory;
    vmm_deviceptr at; /* [ object | own memory ] */
};

static char channels[96];
static uint64_t unit;
static unsigned char passed[VMM_FABRIC_HANDLE_SIZE];
static struct side one, two;
static struct share *other; /* keeps the mutex of the first machine: another party in this process */

static struct sim_machine *machine_of(const struct side *s)
{
    return ((struct sim_process *)s->sys->top)->machine;
}

static struct side opened(const char *name, int device)
{
    char spec[200];
    vmm_context ctx;
    struct side s = {.device = device};
    const vmm_multicast_object_prop prop = {.num_devices = 2};
    snprintf(spec, sizeof spec, "sim:max,machine=%s,imex=%.90s", name, channels);
    if (vmm_open(spec, &s.sys) || vmm_init(s.sys, 0) || vmm_ctx_create(s.sys, &ctx, 0, device) ||
        vmm_multicast_get_granularity(s.sys, &unit, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM))
        tap_bail("%s: %s", spec, vmm_last_detail()->note);
    machine_of(&s)->share->patience = 50;
    return s;
}

static void furnish(struct side *s)
{
    const vmm_mem_access_desc rw = {{VMM_MEM_LOCATION_TYPE_DEVICE, s->device}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .requested_handle_types = (int)FABRIC,
                                          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, s->device}};
    if (vmm_mem_create(s->sys, &s->memory, unit, &prop, 0) ||
        vmm_multicast_bind_mem(s->sys, s->object, 0, s->memory, 0, unit, 0) ||
        vmm_mem_address_reserve(s->sys, &s->at, 2 * unit, unit, 0, 0) || vmm_mem_map(s->sys, s->at, unit, 0, s->object, 0) ||
        vmm_mem_map(s->sys, s->at + unit, unit, 0, s->memory, 0) || vmm_mem_set_access(s->sys, s->at, 2 * unit, &rw, 1))
        tap_bail("setup failed: %s", vmm_last_detail()->note);
}

/* Creates an object on the first machine, with a device and memory of each machine. */
static void begin(void)
{
    char why[SHARE_WHY];
    one = opened("home", 0);
    two = opened("away", 1);
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = unit, .handle_types = FABRIC};
    if (vmm_multicast_create(one.sys, &one.object, &prop) ||
        vmm_mem_export_to_shareable_handle(one.sys, passed, one.object, FABRIC, 0) ||
        vmm_mem_import_from_shareable_handle(two.sys, &two.object, passed, FABRIC) ||
        vmm_multicast_add_device(one.sys, one.object, 0) || vmm_multicast_add_device(two.sys, two.object, 1))
        tap_bail("no team: %s", vmm_last_detail()->note);
    machine_of(&two)->nodes->patience = 50;
    furnish(&one);
    furnish(&two);
    other = share_open_there("m-home", why);
    if (!other)
        tap_bail("%s", why);
}

static void end(void)
{
    share_close(other);
    rig_close(two.sys);
    rig_close(one.sys);
}

static bool held_up(vmm_result result)
{
    return result == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE") &&
           strstr(vmm_last_detail()->note, "has held the machine");
}

/* Its own memory's first bytes, to all replicas. */
static vmm_result stored(struct side *s, unsigned char value)
{
    const uint64_t args[] = {s->at, s->at + unit + 64, 8};
    vmm_memset_d8(s->sys, s->at + unit + 64, value, 8);
    return vmm_launch(s->sys, VMM_KERNEL_MULTIMEM_STORE, 1, 32, args, 3, NULL);
}

static bool both_have(unsigned char value)
{
    return rig_byte(one.sys, one.at + unit) == value && rig_byte(two.sys, two.at + unit) == value;
}

static void see(void *user, const vmm_object *object)
{
    *(unsigned *)user += object->kind == VMM_OBJECT_BIND;
}

static void calls(void)
{
    unsigned binds = 0;
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE] = {0};
    vmm_deviceptr at = 0, room = 0;
    vmm_graph graph = NULL;
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = NULL;
    begin();
    const uint64_t args[] = {one.at, one.at + unit + 64, 8};
    const vmm_kernel_node_params kernel = {VMM_KERNEL_MULTIMEM_STORE, 1, 32, args, 3};
    if (vmm_graph_create(one.sys, &graph, 0) || vmm_graph_add_kernel_node(one.sys, &node, graph, NULL, 0, &kernel) ||
        vmm_graph_instantiate(one.sys, &exec, graph, 0))
        tap_bail("no graph: %s", vmm_last_detail()->note);
    if (vmm_mem_address_reserve(one.sys, &room, unit, unit, 0, 0))
        tap_bail("no addresses: %s", vmm_last_detail()->note);
    tap_ok(!stored(&one, 1) && !vmm_ctx_synchronize(one.sys) && both_have(1), "a store reaches the memory of two nodes");
    if (!share_lock(other))
        tap_bail("the lock is not available");
    tap_ok(held_up(stored(&one, 2)), "a kernel that uses the object is refused: %s", vmm_last_detail()->note);
    uint64_t began = os_milliseconds();
    tap_ok(held_up(stored(&two, 2)), "so is a kernel on the other node");
    tap_ok(os_milliseconds() - began >= machine_of(&two)->nodes->patience, "which waited for the lock as long as it may");
    tap_ok(held_up(vmm_graph_launch(one.sys, exec, NULL)), "and one of a graph");
    tap_ok(held_up(vmm_mem_alloc_async(one.sys, &at, 4096, NULL)) && !at, "an allocation of a pool is refused");
    tap_ok(held_up(vmm_mem_export_to_shareable_handle(one.sys, bytes, one.memory, FABRIC, 0)) && !bytes[0] && !bytes[63],
           "an export is refused, and writes nothing");
    tap_ok(held_up(vmm_multicast_unbind(two.sys, two.object, 1, 0, unit)), "an unbind is refused");
    tap_ok(held_up(vmm_mem_map(one.sys, room, unit, 0, one.object, 0)), "so is a mapping of the object");
    vmm_ctx_synchronize(one.sys);
    vmm_ctx_synchronize(two.sys);
    tap_ok(both_have(1), "no byte has changed");
    tap_ok(!vmm_visit(one.sys, see, &binds) && binds == 2, "enumeration shows the binds seen last");
    atomic_store(&other->folder.state->mutex.in.holder[0], 0);
    tap_ok(held_up(vmm_multicast_unbind(one.sys, one.object, 0, 0, unit)) &&
           strstr(vmm_last_detail()->note, "whose number is not known"),
           "a holder that has just taken the lock is unknown: %s", vmm_last_detail()->note);
    share_unlock(other);
    tap_ok(!vmm_mem_map(one.sys, room, unit, 0, one.object, 0) && !vmm_mem_unmap(one.sys, room, unit), "the refused mapping left nothing");
    tap_ok(!vmm_graph_launch(one.sys, exec, NULL) && !vmm_ctx_synchronize(one.sys) && both_have(2), "the graph's kernel stores");
    tap_ok(!stored(&two, 3) && !vmm_ctx_synchronize(two.sys) && both_have(3), "all works after the lock is released");
    end();
}

/* Imports from a node that is not open yet, and from one that is. */
static void imports(void)
{
    handle_t copy = 0;
    begin();
    struct side third = opened("third", 2);
    if (!share_lock(other))
        tap_bail("the lock is not available");
    tap_ok(held_up(vmm_mem_import_from_shareable_handle(third.sys, &copy, passed, FABRIC)) && !copy, "the import is refused: %s",
           vmm_last_detail()->note);
    const struct share *node = machine_of(&third)->nodes;
    uint64_t began = os_milliseconds();
    tap_ok(held_up(vmm_mem_import_from_shareable_handle(third.sys, &copy, passed, FABRIC)) && os_milliseconds() - began < 1000 &&
               node && machine_of(&third)->nodes == node && !node->next,
           "the node stays open as blocked");
    tap_ok(held_up(vmm_mem_import_from_shareable_handle(two.sys, &copy, passed, FABRIC)) && !copy,
           "an import by a process that has the node open is refused, too");
    share_unlock(other);
    machine_of(&third)->busy = machine_of(&third)->nodes;
    share_nodes_tidy(machine_of(&third));
    tap_ok(machine_of(&third)->nodes == node, "a node that a call is about to wait for stays open, though its mutex is free by now");
    machine_of(&third)->busy = machine_of(&third)->nodes + 1; /* another one */
    share_nodes_tidy(machine_of(&third));
    tap_ok(!machine_of(&third)->nodes, "one that no call waits for is closed");
    machine_of(&third)->busy = NULL;
    tap_result(vmm_mem_import_from_shareable_handle(third.sys, &copy, passed, FABRIC), VMM_SUCCESS,
               "the import succeeds after the lock is released");
    vmm_mem_release(third.sys, copy);
    tap_ok(!machine_of(&third)->nodes, "the node is closed after the release");
    if (!share_lock(other))
        tap_bail("the lock is not available");
    vmm_mem_import_from_shareable_handle(third.sys, &copy, passed, FABRIC);
    rig_close(third.sys);
    share_unlock(other);
    tap_ok(rig_machines() == 2, "the end of the machine closes a blocked node");
    end();
}

/* A machine without a name, which has no state of its own: the node alone is held up. */
static void nameless(void)
{
    char spec[200];
    vmm_system *sys = NULL;
    vmm_context ctx;
    handle_t object = 0;
    vmm_deviceptr at = 0;
    unsigned binds = 0;
    begin();
    snprintf(spec, sizeof spec, "sim:max,imex=%.90s", channels);
    if (vmm_open(spec, &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &ctx, 0, 0) || vmm_mem_alloc(sys, &at, 4096) ||
        vmm_mem_import_from_shareable_handle(sys, &object, passed, FABRIC))
        tap_bail("%s: %s", spec, vmm_last_detail()->note);
    const struct side s = {.sys = sys};
    const uint64_t args[] = {at, at + 64, 8};
    tap_ok(!machine_of(&s)->share && machine_of(&s)->nodes, "a machine that imports an object needs no separate state");
    machine_of(&s)->nodes->patience = 50;
    tap_ok(!vmm_visit(sys, see, &binds) && binds == 2, "it sees the binds of both nodes");
    if (!share_lock(other))
        tap_bail("the lock is not available");
    tap_ok(held_up(vmm_launch(sys, VMM_KERNEL_MULTIMEM_STORE, 1, 32, args, 3, NULL)), "a kernel for such objects is refused: %s",
           vmm_last_detail()->note);
    share_unlock(other);
    vmm_mem_release(sys, object);
    tap_ok(!machine_of(&s)->nodes, "the node is closed with the object");
    rig_close(sys);
    end();
}

/* Work that was issued before the mutex was taken. */
static void in_flight(void)
{
    begin();
    tap_result(stored(&one, 5), VMM_SUCCESS, "a store is issued");
    if (!share_lock(other))
        tap_bail("the lock is not available");
    tap_result(vmm_ctx_synchronize(one.sys), VMM_SUCCESS, "the store runs while calls are refused");
    share_unlock(other);
    tap_ok(both_have(5), "it uses the binds of its launch");
    end();
}

int main(void)
{
    rig_begin();
    snprintf(channels, sizeof channels, "%s-imex", rig_root);
    char path[128];
    snprintf(path, sizeof path, "%s/channel0", channels);
    if (!os_folder_new(OS_NOWHERE, channels))
        tap_bail("no folder");
    os_file_close(os_file_open(path, OS_OPEN_NEW));
    calls();
    imports();
    nameless();
    in_flight();
    os_file_remove(OS_NOWHERE, path);
    rmdir(channels);
    rig_end();
    return tap_done();
}
