/* SPDX-License-Identifier: Apache-2.0 */
/* inject_shared.h - steps of inject_test.c: memory with two addresses, exports and imports, multicast teams, a fabric. */
#ifndef SIM_INJECT_SHARED_H
#define SIM_INJECT_SHARED_H

#include "inject_calls.h"

/* ---- two addresses of one memory ---- */

/* [M1 of H][M2 of H]: old bytes of what a kernel writes are kept if the spec asks for it. Without room for them the
 * work is still done: its last byte is visible through either address. */
static void aliases(const char *spec)
{
    enum { FILLED = 5000, WORDS = 8, COUNTED = 8192, OUT = 16384, USED = 3 * 8192 };
    static unsigned char bytes[COUNTED + 8 * WORDS];
    vmm_system *sys = opened(spec);
    vmm_context ctx = NULL;
    vmm_mem_allocation_prop device = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0, 0);
    vmm_mem_access_desc desc = {device.location, RW};
    handle_t handle = 0;
    vmm_deviceptr p = 0;
    unsigned lost = 0;
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    GET(p, mem_address_reserve, sys, &p, 2 * G, 0, 0, 0);
    GET(handle, mem_create, sys, &handle, G, &device, 0);
    STEP(mem_map, sys, p, G, 0, handle, 0);
    STEP(mem_map, sys, p + G, G, 0, handle, 0);
    STEP(mem_release, sys, handle);
    STEP(mem_set_access, sys, p, 2 * G, &desc, 1);
    STEP(memset_d8, sys, p, 1, USED); /* which takes space that zeros do not need */
    STEP(memset_d8, sys, p, 0, USED);
    KERNEL(FILL, NULL, p, FILLED, 7, 0, 0);
    KERNEL(ALIAS_WRITE_READ, NULL, p + COUNTED, p + G + COUNTED, 8 * WORDS, 0, p + OUT);
    STEP(ctx_synchronize, sys);
    STEP(memcpy_dtoh, sys, bytes, p + G, sizeof bytes);
    for (unsigned i = 0; i < sizeof bytes; i++)
        lost += bytes[i] != (i < FILLED ? 7 : i >= COUNTED && i % 8 == 0);
    steps_expect(!lost, "bytes that kernels wrote are visible through either address");
    STEP(mem_unmap, sys, p, 2 * G);
    STEP(mem_address_free, sys, p, 2 * G);
    STEP(ctx_destroy, sys, ctx);
    close_all();
}

/* ---- memory for others ---- */

static vmm_result imported(vmm_system *sys, int *fd, handle_t *copy)
{
    steps.seen[VMM_CALL_mem_import_from_shareable_handle] = true;
    return rig_import(sys, *fd, copy);
}

/* A machine without a name has a folder from its first export on, even if the export fails. */
static void first_export(vmm_system *sys)
{
    handle_t handle = 0;
    if (rig_create(sys, G, &handle) != VMM_SUCCESS || close(rig_export(sys, handle)) ||
        vmm_mem_release(sys, handle) != VMM_SUCCESS)
        tap_bail("nothing is exported: %s", vmm_last_detail()->note);
}

/* Memory of cuMemAlloc in another process. */
static void by_name(vmm_system *sys, vmm_system *other)
{
    vmm_context ctx = NULL;
    vmm_ipc_mem_handle handle;
    vmm_ipc_event_handle name;
    vmm_event event = NULL, opened = NULL;
    vmm_deviceptr at = 0, there = 0;
    memset(&handle, 0, sizeof handle);
    GET(ctx, ctx_create, other, &ctx, 0, 0);
    GET(at, mem_alloc, sys, &at, G);
    GET(handle, ipc_get_mem_handle, sys, &handle, at);
    GET(there, ipc_open_mem_handle, other, &there, handle, VMM_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    STEP(ipc_close_mem_handle, other, there);
    memset(&name, 0, sizeof name);
    GET(event, event_create, sys, &event, VMM_EVENT_INTERPROCESS | VMM_EVENT_DISABLE_TIMING);
    GET(name, ipc_get_event_handle, sys, &name, event);
    GET(opened, ipc_open_event_handle, other, &opened, name);
    STEP(memset_d8_async, sys, at, 1, 4096, NULL);
    STEP(event_record, sys, event, NULL);
    STEP(stream_wait_event, other, NULL, opened, 0);
    STEP(event_synchronize, sys, event); /* no other thread does the work of a machine object, or enters the record */
    STEP(event_synchronize, other, opened);
    STEP(event_destroy, other, opened);
    STEP(event_destroy, sys, event);
    STEP(mem_free, sys, at);
    STEP(ctx_destroy, other, ctx);
}

/* Exported by one process, imported by itself and by another, which uses it after the exporter has released it. */
static void share(const char *spec)
{
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0, RIG_FD);
    vmm_mem_access_desc desc = {prop.location, RW};
    vmm_system *sys = opened(spec), *other = NULL;
    vmm_context ctx = NULL;
    handle_t handle = 0, copy = 0;
    vmm_deviceptr p = 0;
    unsigned char byte = 0;
    int fd = -1;
    if (shares(spec)) {
        other = opened(spec);
    } else {
        STEP_TO(&other, sizeof other, "vmm_attach", vmm_attach(sys, &other));
        steps_add(other);
        STEP(init, other, 0);
        first_export(sys);
    }
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    by_name(sys, other);
    GET(handle, mem_create, sys, &handle, G, &prop, 0);
    GET(p, mem_address_reserve, sys, &p, 2 * G, 0, 0, 0);
    STEP(mem_map, sys, p, G, 0, handle, 0);
    STEP(mem_set_access, sys, p, G, &desc, 1);
    STEP(memset_d8, sys, p, 0x42, 4096);
    steps_watch(sys, p, 4096);
    GET(fd, mem_export_to_shareable_handle, sys, &fd, handle, RIG_FD, 0);
    STEP_TO(&copy, sizeof copy, "import", imported(sys, &fd, &copy));
    STEP(mem_map, sys, p + G, G, 0, copy, 0);
    STEP(mem_set_access, sys, p + G, G, &desc, 1);
    STEP(memset_d8, sys, p + G + 4, 0x43, 4);
    GET(byte, memcpy_dtoh, sys, &byte, p + 4, 1);
    steps_expect(byte == 0x43, "an import shows the same bytes");
    steps_watch(NULL, 0, 0);
    STEP(mem_release, sys, copy);
    copy = 0;
    STEP_TO(&copy, sizeof copy, "import", imported(other, &fd, &copy));
    close(fd);
    STEP(mem_unmap, sys, p, 2 * G);
    STEP(mem_release, sys, handle);
    STEP(mem_address_free, sys, p, 2 * G);
    STEP(ctx_destroy, sys, ctx);
    GET(p, mem_address_reserve, other, &p, G, 0, 0, 0);
    STEP(mem_map, other, p, G, 0, copy, 0);
    STEP(mem_unmap, other, p, G);
    STEP(mem_address_free, other, p, G);
    STEP(mem_release, other, copy);
    close_all();
}

/* A team of two, memory of both behind the object, and a store that reaches them. */
static void multicast(const char *spec)
{
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = G, .handle_types = shares(spec) ? RIG_FD : 0};
    vmm_system *sys = opened(spec);
    vmm_context ctx = NULL;
    handle_t object = 0, copy = 0, memory[2] = {0};
    int fd = -1;
    vmm_mem_access_desc desc[2];
    vmm_deviceptr p = 0;
    uint64_t word[2] = {0};
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    GET(object, multicast_create, sys, &object, &prop);
    GET(p, mem_address_reserve, sys, &p, 3 * G, 0, 0, 0);
    for (int i = 0; i < 2; i++) {
        vmm_mem_allocation_prop device = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, i, (int)prop.handle_types);
        desc[i] = (vmm_mem_access_desc){device.location, RW};
        STEP(multicast_add_device, sys, object, i);
        GET(memory[i], mem_create, sys, &memory[i], G, &device, 0);
        STEP(mem_map, sys, p + (uint64_t)i * G, G, 0, memory[i], 0);
    }
    STEP(multicast_bind_mem, sys, object, 0, memory[0], 0, G, 0);
    if (shares(spec)) { /* with its binds, and becomes shared */
        GET(fd, mem_export_to_shareable_handle, sys, &fd, object, RIG_FD, 0);
        STEP_TO(&copy, sizeof copy, "import", imported(sys, &fd, &copy));
        close(fd);
    }
    STEP(multicast_bind_addr, sys, object, 0, p + G, G, 0);
    STEP(mem_map, sys, p + 2 * G, G, 0, object, 0);
    STEP(mem_set_access, sys, p, 3 * G, desc, 1);
    STEP(memset_d8, sys, p + 65536, 7, 8);
    KERNEL(MULTIMEM_STORE, NULL, p + 2 * G, p + 65536, 8, 0, 0);
    STEP(ctx_synchronize, sys);
    STEP(memcpy_dtoh, sys, &word[0], p, 8);
    STEP(memcpy_dtoh, sys, &word[1], p + G, 8);
    steps_expect(word[0] == word[1], "a store reaches all replicas or none");
    for (int i = 0; i < 2; i++) {
        STEP(multicast_unbind, sys, object, i, 0, G);
        STEP(mem_release, sys, memory[i]);
    }
    STEP(mem_unmap, sys, p, 3 * G);
    if (shares(spec))
        STEP(mem_release, sys, copy);
    STEP(mem_release, sys, object);
    STEP(mem_address_free, sys, p, 3 * G);
    STEP(ctx_destroy, sys, ctx);
    close_all();
}

/* Two nodes of a domain: one sends 64 bytes to the other. */
static void fabric(const char *spec)
{
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0, FABRIC);
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE] = {0};
    vmm_system *one = opened(spec), *two = opened("sim:max");
    handle_t handle = 0, copy = 0;
    vmm_deviceptr p = 0;
    GET(handle, mem_create, one, &handle, G, &prop, 0);
    GET(bytes, mem_export_to_shareable_handle, one, bytes, handle, FABRIC, 0);
    GET(copy, mem_import_from_shareable_handle, two, &copy, bytes, FABRIC);
    STEP(mem_release, one, handle);
    GET(p, mem_address_reserve, two, &p, G, 0, 0, 0);
    STEP(mem_map, two, p, G, 0, copy, 0);
    STEP(mem_release, two, copy);
    STEP(mem_unmap, two, p, G);
    STEP(mem_address_free, two, p, G);
    close_all();
}

#endif
