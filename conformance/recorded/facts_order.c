/* SPDX-License-Identifier: Apache-2.0 */
/* Calls with two faults at once: which one decides. */
#include "facts_calls.h"

#define G FACTS_G
#define DEVICE VMM_MEM_LOCATION_TYPE_DEVICE
#define HOST VMM_MEM_LOCATION_TYPE_HOST

static const struct {
    const char *name;
    uint64_t size;
    int device, handle_types;
    uint64_t flags;
} creations[] = {
    {"create bad id+bad size", 1, 99, 0, 0},
    {"create bad id+flags", G, 99, 0, 1},
    {"create bad id+size0", 0, 99, 0, 0},
    {"create fabric+bad size", 1, 0, VMM_MEM_HANDLE_TYPE_FABRIC, 0},
    {"create fabric+huge", (uint64_t)1 << 44, 0, VMM_MEM_HANDLE_TYPE_FABRIC, 0},
    {"create win32+huge", (uint64_t)1 << 44, 0, VMM_MEM_HANDLE_TYPE_WIN32, 0},
};

/* In a reservation of 4 G; the handles are none, G and 2 G. */
static const struct {
    const char *name;
    uint64_t at, size, offset;
    int handle;
    uint64_t flags;
} mappings[] = {
    {"map off+unreserved", 64 * G, G, G, 1, 0},
    {"map flags+off", 0, G, G, 1, 1},
    {"map unreserved+size", 64 * G, 2 * G, 0, 1, 0},
    {"map unaligned+size", 1, 2 * G, 0, 1, 0},
    {"map h0+unaligned", 1, 2 * G, 0, 0, 0},
    {"map size0+off", 0, 0, G, 1, 0},
};

/* With G mapped at the start. */
static const struct {
    const char *name;
    uint64_t at, size;
    vmm_mem_access_desc desc;
} grants[] = {
    {"setaccess badflag+badid", 0, G, {{DEVICE, 99}, 2}},
    {"setaccess host on unmapped", G, G, {{HOST, 0}, 3}},
    {"setaccess host sub", 0, 2 * G, {{HOST, 0}, 3}},
};

static void orders_of_create(struct facts *f)
{
    for (size_t i = 0; i < sizeof creations / sizeof creations[0]; i++) {
        vmm_mem_generic_allocation_handle handle;
        vmm_mem_allocation_prop prop = fc_prop(creations[i].device);
        prop.requested_handle_types = creations[i].handle_types;
        facts_result(f, fc_create(f, &handle, creations[i].size, &prop, creations[i].flags), creations[i].name);
    }
}

void facts_order(struct facts *f)
{
    orders_of_create(f);
    const vmm_mem_generic_allocation_handle handles[] = {0, fc_make(f, G), fc_make(f, 2 * G)};
    vmm_deviceptr p = fc_take(f, 4 * G);
    for (size_t i = 0; i < sizeof mappings / sizeof mappings[0]; i++)
        facts_result(f,
                     fc_map(f, p + mappings[i].at, mappings[i].size, mappings[i].offset, handles[mappings[i].handle],
                            mappings[i].flags),
                     mappings[i].name);
    fc_put(f, p, G, handles[1]);
    facts_result(f, fc_map(f, p, G, 0, handles[2], 0), "map overlap+size mismatch");
    for (size_t i = 0; i < sizeof grants / sizeof grants[0]; i++)
        facts_result(f, fc_set_access(f, p + grants[i].at, grants[i].size, &grants[i].desc, 1), grants[i].name);
    const vmm_mem_location nowhere = {DEVICE, 99};
    uint64_t flags;
    facts_result(f, fc_get_access(f, &flags, &nowhere, p + G), "getaccess bad id + unmapped");
    int fd;
    facts_result(f, fc_export(f, &fd, handles[1], 0, 1), "export type0+flags");
}
