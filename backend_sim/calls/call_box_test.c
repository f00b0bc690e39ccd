/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of boxes with a row that leaves its memory: a driver starts them, and they fault at their turn; strict mode refuses them. */
#include <string.h>

#include "tap.h"
#include "vmm.h"

enum { ROW = 64 };
static const uint64_t G = UINT64_C(2) << 20;

struct rig {
    vmm_system *sys;
    vmm_deviceptr mapped, memory; /* one granule that is mapped before one that is not; memory of vmm_mem_alloc */
};

static void begin(struct rig *rig, const char *spec)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    const vmm_mem_access_desc desc = {prop.location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_mem_generic_allocation_handle handle;
    vmm_context ctx;
    if (vmm_open(spec, &rig->sys) || vmm_init(rig->sys, 0) || vmm_ctx_create(rig->sys, &ctx, 0, 0) ||
        vmm_mem_address_reserve(rig->sys, &rig->mapped, 2 * G, 0, 0, 0) || vmm_mem_create(rig->sys, &handle, G, &prop, 0) ||
        vmm_mem_map(rig->sys, rig->mapped, G, 0, handle, 0) || vmm_mem_set_access(rig->sys, rig->mapped, G, &desc, 1) ||
        vmm_mem_alloc(rig->sys, &rig->memory, G) || vmm_memset_d8(rig->sys, rig->memory, 1, ROW))
        tap_bail("no rig: %s", vmm_last_detail()->note);
}

/* Rows of mapped memory from the last one of the granule on; y is not counted when they are checked. */
static vmm_memcpy3d leaving(const struct rig *rig)
{
    return (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = rig->mapped, .src_pitch = ROW,
                          .src_y = G / ROW - 1, .dst_memory_type = VMM_MEMORYTYPE_DEVICE, .dst_device = rig->memory,
                          .width_in_bytes = ROW, .height = 2, .depth = 1};
}

static void faults(int form)
{
    struct rig rig;
    vmm_memcpy3d_peer peer;
    unsigned char host[2 * ROW];
    begin(&rig, "sim:h100");
    vmm_memcpy3d box = leaving(&rig);
    if (form == 2) {
        box.dst_memory_type = VMM_MEMORYTYPE_HOST;
        box.dst_host = host;
    }
    memset(host, 7, sizeof host);
    memcpy(&peer, &box, sizeof peer);
    vmm_result result = form == 0   ? vmm_memcpy_3d(rig.sys, &box)
                        : form == 1 ? vmm_memcpy_3d_async(rig.sys, &box, NULL)
                        : form == 2 ? vmm_memcpy_3d(rig.sys, &box)
                                    : vmm_memcpy_3d_peer(rig.sys, &peer);
    if (form == 2)
        tap_result(result, VMM_ERROR_LAUNCH_FAILED, "a copy to the host waits for its fault");
    else
        tap_result(result, VMM_SUCCESS, "form %d: a copy is accepted although a row leaves its memory", form);
    tap_ok(form == 2 || vmm_ctx_synchronize(rig.sys) == VMM_ERROR_ILLEGAL_ADDRESS, "form %d: the next wait reports the fault", form);
    tap_ok(host[0] == 7 && host[2 * ROW - 1] == 7, "form %d: nothing is written", form);
    vmm_close(rig.sys);
}

static void refused(void)
{
    struct rig rig;
    unsigned char byte = 0;
    begin(&rig, "sim:h100,strict");
    vmm_memcpy3d box = leaving(&rig);
    tap_result(vmm_memcpy_3d(rig.sys, &box), VMM_ERROR_INVALID_VALUE, "strict mode refuses it");
    tap_ok(strcmp(vmm_last_detail()->rule, "VMM-ROWS-END") == 0 && strstr(vmm_last_detail()->note, "src: row 1,"), "and names the row: %s",
           vmm_last_detail()->note);
    box.height = 1;
    tap_result(vmm_memcpy_3d(rig.sys, &box), VMM_SUCCESS, "a row less is accepted");
    tap_result(vmm_memcpy_dtoh(rig.sys, &byte, rig.memory, 1), VMM_SUCCESS, "it is copied");
    tap_u64(byte, 0, "as the memory was");
    box.src_y = 0;
    box.dst_device = rig.mapped;
    box.dst_y = G / ROW;
    box.dst_pitch = ROW;
    box.src_device = rig.memory;
    tap_result(vmm_memcpy_3d(rig.sys, &box), VMM_ERROR_INVALID_VALUE, "nor may a row of the destination leave its memory");
    vmm_close(rig.sys);
}

int main(void)
{
    for (int form = 0; form < 4; form++)
        faults(form);
    refused();
    return tap_done();
}
