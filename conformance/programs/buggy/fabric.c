/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for a fabric. These programs do in one process what is usually done between two nodes. */
#include "buggy.h"

#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC
#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

/* The last eight bytes of the handle, which the message shows. */
static uint64_t shown(const unsigned char *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)bytes[VMM_FABRIC_HANDLE_SIZE - 8 + i] << 8 * i;
    return value;
}

static vmm_handle for_a_fabric(struct run *b)
{
    vmm_handle memory = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    prop.requested_handle_types = FABRIC;
    DO(vmm_mem_create(S, &memory, G, &prop, 0));
    return memory;
}

/* Uses the memory and frees it. */
static void use(struct run *b, vmm_handle copy)
{
    vmm_deviceptr p = reserve(b, G);
    DO(vmm_mem_map(S, p, G, 0, copy, 0));
    DO(grant(b, p, G, DEVICE(0), RW));
    DO(vmm_memset_d8(S, p, 7, G));
    RIGHT(byte_at(b, p + G - 1) == 7);
    give_back(b, p, G, copy);
}

/* A descriptor would have held it. */
PROGRAM(fabric_release_before_import, .does = "sends a fabric handle and releases the memory before it was imported",
        .rule = "VMM-IMPORT-FABRIC-GONE", .at = "cuMemImportFromShareableHandle", .argument = "osHandle",
        .way = "release when the importers have said that they have it", .machine = "sim:max")
{
    vmm_handle memory = for_a_fabric(b), copy = 0;
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    DO(vmm_mem_export_to_shareable_handle(S, bytes, memory, FABRIC, 0));
    BUG(DO(vmm_mem_release(S, memory)));
    VALUE(shown(bytes));
    REPORTED(vmm_mem_import_from_shareable_handle(S, &copy, bytes, FABRIC));
    FIX(DO(vmm_mem_release(S, memory)); use(b, copy));
}

/* The attribute is 1 there. */
PROGRAM(fabric_without_channel, .does = "asks the attribute for fabric handles, and creates memory for them",
        .rule = "VMM-CREATE-FABRIC-IMEX", .at = "cuMemCreate", .argument = "prop.requestedHandleTypes",
        .way = "try FABRIC, and use a descriptor if it is NOT_PERMITTED")
{
    vmm_handle memory = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    int can = 0;
    DO(vmm_device_get_attribute(S, &can, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 0));
    RIGHT(can == 1);
    prop.requested_handle_types = BUG_OR_FIX(FABRIC, FD);
    VALUE(FABRIC);
    REPORTED(vmm_mem_create(S, &memory, G, &prop, 0));
    FIX(use(b, memory));
}

PROGRAM(fabric_handle_cut, .does = "sends a fabric handle as text, which ends too early", .rule = "VMM-IMPORT-FABRIC",
        .at = "cuMemImportFromShareableHandle", .argument = "osHandle", .way = "send all 64 bytes as they are",
        .machine = "sim:max")
{
    vmm_handle memory = for_a_fabric(b), copy = 0;
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE], sent[VMM_FABRIC_HANDLE_SIZE] = {0};
    DO(vmm_mem_export_to_shareable_handle(S, bytes, memory, FABRIC, 0));
    for (int i = 0; i < BUG_OR_FIX(31, VMM_FABRIC_HANDLE_SIZE); i++)
        sent[i] = bytes[i];
    VALUE(shown(sent));
    REPORTED(vmm_mem_import_from_shareable_handle(S, &copy, sent, FABRIC));
    FIX(use(b, copy));
    DO(vmm_mem_release(S, memory));
}
