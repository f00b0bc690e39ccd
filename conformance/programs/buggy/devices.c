/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices: rights are per device, and the current context says which one works. */
#include "buggy.h"

#define TWO .machine = "sim:h200x2"

/* Makes a new context on the device current; destroying it restores the previous one. */
static vmm_context on_device(struct run *b, vmm_device device)
{
    vmm_context context = NULL;
    DO(vmm_ctx_create(S, &context, 0, device));
    return context;
}

PROGRAM(peer_kernel_without_grant, .does = "works on another device's memory with a kernel, without a grant for the worker",
        .rule = "VMM-FAULT-ACCESS", .at = "cuCtxSynchronize", .way = "a descriptor for each device that uses the memory",
        .near = VMM_OBJECT_MAPPING, TWO)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    DO(vmm_memset_d8(S, p, 1, G));
    DO(vmm_ctx_synchronize(S));
    FIX(DO(grant(b, p, G, DEVICE(1), RW)));
    vmm_context second = on_device(b, 1);
    CAUSE(LAUNCH(NULL, ATOMIC_ADD, p, 1));
    VALUE(p);
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p) == 2));
    DO(vmm_ctx_destroy(S, second));
    give_back(b, p, G, memory);
}

PROGRAM(peer_copy_without_grant, .does = "copies from another device's memory, without a grant for the copier",
        .rule = "VMM-COPY-NO-READ", .at = "cuMemcpyDtoH", .way = "grant the device of the current context, too",
        .argument = "srcDevice", .near = VMM_OBJECT_MAPPING, TWO)
{
    vmm_handle memory;
    unsigned char back = 0;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    DO(vmm_memset_d8(S, p, 9, G));
    DO(vmm_ctx_synchronize(S));
    FIX(DO(grant(b, p, G, DEVICE(1), READ)));
    vmm_context second = on_device(b, 1);
    VALUE(p);
    REPORTED(vmm_memcpy_dtoh(S, &back, p, 1));
    RIGHT(back == 9);
    DO(vmm_ctx_destroy(S, second));
    give_back(b, p, G, memory);
}

/* Grants access only to the peer, as if the owner needed no grant. */
PROGRAM(owner_not_granted, .does = "grants the peer only: the device that owns the memory would have access anyway",
        .rule = "VMM-COPY-NO-WRITE", .at = "cuMemsetD8", .way = "grant the owner as well", .argument = "dstDevice",
        .near = VMM_OBJECT_MAPPING, TWO)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, NONE, &memory);
    const vmm_mem_access_desc desc[] = {{DEVICE(1), RW}, {DEVICE(0), RW}};
    DO(vmm_mem_set_access(S, p, G, desc, BUG_OR_FIX(1, 2)));
    VALUE(p);
    REPORTED(vmm_memset_d8(S, p, 1, G));
    FIX(RIGHT(byte_at(b, p + 1) == 1));
    give_back(b, p, G, memory);
}

/* The ordinal is the memory's device, not the device that does the work. */
PROGRAM(wrong_context_current, .does = "forgets to switch back to the context of the memory's device",
        .rule = "VMM-COPY-NO-WRITE", .at = "cuMemsetD8", .way = "cuCtxSetCurrent before the work",
        .argument = "dstDevice", TWO)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    vmm_context second = on_device(b, 1);
    FIX(DO(vmm_ctx_set_current(S, b->context)));
    REPORTED(vmm_memset_d8(S, p, 1, G));
    FIX(RIGHT(byte_at(b, p) == 1));
    DO(vmm_ctx_destroy(S, second));
    FIX(DO(vmm_ctx_set_current(S, b->context)));
    give_back(b, p, G, memory);
}

PROGRAM(peer_writes_with_read, .does = "grants the peer READ, and lets it send its results there",
        .rule = "VMM-FAULT-ACCESS", .at = "cuCtxSynchronize", .way = "READWRITE for who writes",
        .near = VMM_OBJECT_MAPPING, TWO)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    DO(grant(b, p, G, DEVICE(1), BUG_OR_FIX(READ, RW)));
    vmm_context second = on_device(b, 1);
    CAUSE(LAUNCH(NULL, FILL, p + 64, 64, 3));
    VALUE(p + 64);
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p + 127) == 3));
    DO(vmm_ctx_destroy(S, second));
    give_back(b, p, G, memory);
}

/* The device's rights are revoked while it works: each device's work and rights are separate. */
PROGRAM(revoke_of_the_peer_in_flight, .does = "takes the peer's rights away while the peer still writes",
        .rule = "VMM-ACCESS-IN-FLIGHT", .at = "cuMemSetAccess", .way = "synchronise the peer's context first",
        .driver = "SUCCESS; the kernel may fault later", .near = VMM_OBJECT_MAPPING, .then = "VMM-FAULT-ACCESS", TWO)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    DO(grant(b, p, G, DEVICE(1), RW));
    vmm_context second = on_device(b, 1);
    CAUSE(LAUNCH(NULL, FILL, p, G, 3));
    REPORTED(grant(b, p, G, DEVICE(BUG_OR_FIX(1, 0)), READ)); /* the owner's rights are not what this work needs */
    THEN(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p + G - 1) == 3));
    DO(vmm_ctx_destroy(S, second));
    give_back(b, p, G, memory);
}

/* Waiting for the current context is not waiting for the other one. */
PROGRAM(unmap_after_waiting_for_the_wrong_device, .does = "waits for one device and frees what the other one writes",
        .rule = "VMM-UNMAP-IN-FLIGHT", .at = "cuMemUnmap", .way = "synchronise every device that uses the memory",
        .driver = "SUCCESS; the kernel may fault later", .then = "VMM-FAULT-ACCESS", TWO)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    DO(grant(b, p, G, DEVICE(1), RW));
    vmm_context second = on_device(b, 1);
    CAUSE(LAUNCH(NULL, FILL, p, G, 3));
    FIX(DO(vmm_ctx_synchronize(S)); RIGHT(byte_at(b, p) == 3));
    DO(vmm_ctx_set_current(S, b->context));
    DO(vmm_ctx_synchronize(S));
    REPORTED(vmm_mem_unmap(S, p, G));
    DO(vmm_ctx_set_current(S, second));
    THEN(vmm_ctx_synchronize(S));
    DO(vmm_ctx_destroy(S, second));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

PROGRAM(grant_for_a_device_that_is_not_there, .does = "grants as many devices as the last machine had",
        .rule = "VMM-ACCESS-DEVICE-ID", .at = "cuMemSetAccess", .way = "ask cuDeviceGetCount")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, NONE, &memory);
    const vmm_mem_access_desc desc[] = {{DEVICE(0), RW}, {DEVICE(1), RW}};
    int count = 0;
    DO(vmm_device_get_count(S, &count));
    REPORTED(vmm_mem_set_access(S, p, G, desc, BUG_OR_FIX(2, (uint64_t)count)));
    FIX(DO(vmm_memset_d8(S, p, 1, G)); RIGHT(byte_at(b, p) == 1));
    give_back(b, p, G, memory);
}

PROGRAM(memory_on_a_device_that_is_not_there, .does = "creates memory on device 1 of a machine with one device",
        .rule = "VMM-CREATE-DEVICE-ID", .at = "cuMemCreate", .way = "ordinals are counted from 0, below cuDeviceGetCount")
{
    vmm_handle memory = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(BUG_OR_FIX(1, 0)));
    REPORTED(vmm_mem_create(S, &memory, G, &prop, 0));
    FIX(RIGHT(memory != 0); DO(vmm_mem_release(S, memory)));
}
