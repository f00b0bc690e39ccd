/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast: incomplete teams, missing replicas, and multicast addresses used as ordinary ones. */
#include "buggy.h"

enum { TEAM = 2 };

/* An object of two devices with memory of both. */
struct team {
    vmm_handle object, memory[TEAM];
    vmm_deviceptr mc, own[TEAM];
};

static vmm_handle object(struct run *b, uint64_t size)
{
    vmm_handle made = 0;
    const vmm_multicast_object_prop prop = {.num_devices = TEAM, .size = size};
    DO(vmm_multicast_create(S, &made, &prop));
    return made;
}

static void add_all(struct run *b, vmm_handle object)
{
    for (int device = 0; device < TEAM; device++)
        DO(vmm_multicast_add_device(S, object, device));
}

static void map_own(struct run *b, struct team *t)
{
    for (int device = 0; device < TEAM; device++) {
        t->own[device] = reserve(b, G);
        t->memory[device] = create_at(b, G, DEVICE(device));
        DO(vmm_mem_map(S, t->own[device], G, 0, t->memory[device], 0));
        DO(grant(b, t->own[device], G, DEVICE(0), RW)); /* device 0 reads all of it */
    }
}

static void map_object(struct run *b, struct team *t)
{
    t->mc = reserve(b, G);
    DO(vmm_mem_map(S, t->mc, G, 0, t->object, 0));
    DO(grant(b, t->mc, G, DEVICE(0), RW));
}

/* How many of the devices bind: all, or some. */
static struct team team(struct run *b, int bound)
{
    struct team t = {.object = object(b, G)};
    add_all(b, t.object);
    map_own(b, &t);
    for (int device = 0; device < bound; device++)
        DO(vmm_multicast_bind_mem(S, t.object, 0, t.memory[device], 0, G, 0));
    map_object(b, &t);
    return t;
}

static void end(struct run *b, struct team *t, int bound)
{
    for (int device = 0; device < bound; device++)
        DO(vmm_multicast_unbind(S, t->object, device, 0, G));
    give_back(b, t->mc, G, t->object);
    for (int device = 0; device < TEAM; device++)
        give_back(b, t->own[device], G, t->memory[device]);
}

/* Each device adds itself and binds, in one loop: in the first iteration the second device is missing. */
PROGRAM(bind_in_the_loop_that_adds, .does = "adds a device and binds its memory in the same turn of a loop",
        .rule = "VMM-BIND-INCOMPLETE", .at = "cuMulticastBindMem", .way = "add all in one loop, bind in a second",
        .driver = "does not come back", .argument = "mcHandle", .near = VMM_OBJECT_HANDLE, .machine = "sim:h200x2")
{
    struct team t = {.object = object(b, G)};
    map_own(b, &t);
    FIX(add_all(b, t.object));
    for (int device = 0; device < TEAM; device++) {
        BUG(DO(vmm_multicast_add_device(S, t.object, device)));
        if (device == 0)
            REPORTED(vmm_multicast_bind_mem(S, t.object, 0, t.memory[device], 0, G, 0));
        else
            DO(vmm_multicast_bind_mem(S, t.object, 0, t.memory[device], 0, G, 0));
    }
    map_object(b, &t);
    FIX(DO(vmm_memset_d8(S, t.own[0] + 64, 5, 8)); DO(LAUNCH(NULL, MULTIMEM_STORE, t.mc, t.own[0] + 64, 8));
        DO(vmm_ctx_synchronize(S)); RIGHT(byte_at(b, t.own[1]) == 5));
    FIX(DO(vmm_multicast_unbind(S, t.object, 0, 0, G)));
    DO(vmm_multicast_unbind(S, t.object, 1, 0, G));
    end(b, &t, 0);
}

/* The multicast address looks like any other, so the program reads through it. */
PROGRAM(ordinary_load_of_the_sum, .does = "reads with an ordinary load through the multicast address",
        .rule = "VMM-FAULT-MULTICAST", .at = "cuCtxSynchronize",
        .way = "multimem.ld_reduce there, or a load from the own replica",
        .driver = "undefined", .near = VMM_OBJECT_MAPPING, .machine = "sim:h200x2")
{
    struct team t = team(b, TEAM);
    DO(vmm_memset_d8(S, t.own[0], 3, 8));
    DO(vmm_memset_d8(S, t.own[1], 4, 8));
    CAUSE(BUG_OR_FIX(LAUNCH(NULL, TOUCH, t.mc, 0, 8, t.own[0] + 64),
                     LAUNCH(NULL, MULTIMEM_LOAD_REDUCE, t.own[0] + 64, t.mc, 8)));
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, t.own[0] + 64) == 7));
    end(b, &t, TEAM);
}

/* Every device does its part except one, which returned early. */
PROGRAM(one_replica_missing, .does = "stores to all devices when one of them has not bound its memory",
        .rule = "VMM-FAULT-UNBOUND", .at = "cuCtxSynchronize", .way = "bind on every device, then a barrier, then launch",
        .driver = "not known", .near = VMM_OBJECT_MAPPING, .machine = "sim:h200x2")
{
    int bound = BUG_OR_FIX(TEAM - 1, TEAM);
    struct team t = team(b, bound);
    DO(vmm_memset_d8(S, t.own[0] + 64, 5, 8));
    CAUSE(LAUNCH(NULL, MULTIMEM_STORE, t.mc, t.own[0] + 64, 8));
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, t.own[1]) == 5));
    end(b, &t, bound);
}

/* Memory's granularity is not the object's: odd has 64 KiB for the one and 128 KiB for the other. */
PROGRAM(granularity_of_memory, .does = "rounds the size of a multicast object to the granularity of memory",
        .rule = "VMM-MULTICAST-SIZE-GRANULARITY", .at = "cuMulticastCreate", .way = "ask cuMulticastGetGranularity",
        .driver = "INVALID_VALUE, where the two differ", .argument = "prop.size", .machine = "sim:odd")
{
    vmm_handle made = 0;
    vmm_multicast_object_prop prop = {.num_devices = TEAM};
    uint64_t unit = 0;
    DO(vmm_multicast_get_granularity(S, &unit, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM));
    prop.size = BUG_OR_FIX(G, unit);
    VALUE(G);
    REPORTED(vmm_multicast_create(S, &made, &prop));
    FIX(RIGHT(unit > G));
    FIX(DO(vmm_mem_release(S, made)));
}

/* The whole team uses bound memory: releasing its handle frees nothing. */
PROGRAM(freed_while_bound, .does = "unmaps and releases memory that is bound, to have room for something else",
        .rule = "VMM-RELEASE-MEMORY-BOUND", .at = "cuMemRelease", .way = "unbind first",
        .driver = "not known; the memory may stay taken", .argument = "handle", .near = VMM_OBJECT_HANDLE,
        .machine = "sim:h200x2")
{
    uint64_t before = 0, after = 0;
    DO(vmm_mem_get_info(S, &before, NULL));
    struct team t = team(b, TEAM);
    FIX(DO(vmm_multicast_unbind(S, t.object, 0, 0, G)));
    DO(vmm_mem_unmap(S, t.own[0], G));
    REPORTED(vmm_mem_release(S, t.memory[0]));
    DO(vmm_mem_get_info(S, &after, NULL));
    FIX(RIGHT(after == before));
    BUG(DO(vmm_multicast_unbind(S, t.object, 0, 0, G)));
    DO(vmm_multicast_unbind(S, t.object, 1, 0, G));
    give_back(b, t.mc, G, t.object);
    give_back(b, t.own[1], G, t.memory[1]);
    DO(vmm_mem_address_free(S, t.own[0], G));
}

/* Two handles of one type, in the wrong order. */
PROGRAM(handles_swapped, .does = "passes the memory where the multicast object belongs, and the other way round",
        .rule = "VMM-MULTICAST-HANDLE-MEMORY", .at = "cuMulticastBindMem", .way = "the object first, then the memory",
        .argument = "mcHandle", .near = VMM_OBJECT_HANDLE, .machine = "sim:h200x2")
{
    vmm_handle made = object(b, G), memory = create(b, G);
    add_all(b, made);
    REPORTED(vmm_multicast_bind_mem(S, BUG_OR_FIX(memory, made), 0, BUG_OR_FIX(made, memory), 0, G, 0));
    FIX(RIGHT(vmm_multicast_unbind(S, made, 0, 0, G) == VMM_SUCCESS));
    DO(vmm_mem_release(S, made));
    DO(vmm_mem_release(S, memory));
}

/* A team needs one release, too. */
PROGRAM(object_forgotten, .does = "unbinds and unmaps a multicast object and never releases it",
        .rule = "VMM-LEAK-MULTICAST", .at = "cuMulticastCreate", .way = "cuMemRelease", .leaves = "H",
        .machine = "sim:h200x2")
{
    vmm_handle made = 0;
    const vmm_multicast_object_prop prop = {.num_devices = TEAM, .size = G};
    REPORTED(vmm_multicast_create(S, &made, &prop));
    add_all(b, made);
    RIGHT(made != 0);
    FIX(DO(vmm_mem_release(S, made)));
}
