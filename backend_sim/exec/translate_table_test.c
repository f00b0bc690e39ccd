/* SPDX-License-Identifier: Apache-2.0 */
/* translate_table: each cell compared with the measured rules, and with copies and fills on a machine. */
#include "translate_table.h"

#include "system.h"
#include "tap.h"

#define G (UINT64_C(2) << 20)
enum { R = VMM_MEM_ACCESS_FLAGS_PROT_READ, RW = VMM_MEM_ACCESS_FLAGS_PROT_READWRITE };

/* What lies at the first byte: every combination of rights, and its row of the table. */
static const struct first {
    bool host_memory;
    unsigned device, host;
    enum translate_first row;
} firsts[] = {
    {false, RW, 0, TRANSLATE_FIRST_DEVICE}, {false, 0, 0, TRANSLATE_FIRST_DEVICE}, {true, RW, 0, TRANSLATE_FIRST_DEVICE},
    {true, RW, RW, TRANSLATE_FIRST_SHARED}, {true, R, R, TRANSLATE_FIRST_SHARED},  {true, 0, RW, TRANSLATE_FIRST_HOST},
    {true, 0, R, TRANSLATE_FIRST_HOST},     {true, 0, 0, TRANSLATE_FIRST_HOST},
};

/* The measured rules as a sequence of conditions, to compare the table with. */
static enum translate_mover measured(const struct first *first, enum translate_use use, uint64_t size)
{
    bool near_host = use == TRANSLATE_TO_HOST || use == TRANSLATE_FROM_HOST || (use == TRANSLATE_READ && size <= 24576);
    if (use == TRANSLATE_FILL)
        return TRANSLATE_MOVER_DEVICE_APART;
    if (first->host_memory && !first->device)
        return TRANSLATE_MOVER_HOST_ALONE;
    if (first->host_memory && first->host && near_host)
        return TRANSLATE_MOVER_HOST;
    return near_host ? TRANSLATE_MOVER_DEVICE_APART : TRANSLATE_MOVER_DEVICE;
}

static void test_table(void)
{
    static const uint64_t sizes[] = {1, 24576, 24577, UINT64_MAX};
    bool met[TRANSLATE_FIRSTS][TRANSLATE_KINDS] = {{false}};
    unsigned wrong = 0, cells = 0;
    for (unsigned f = 0; f < sizeof firsts / sizeof firsts[0]; f++)
        for (enum translate_use use = TRANSLATE_TO_HOST; use <= TRANSLATE_FILL; use++)
            for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                enum translate_first row = translate_first_of(firsts[f].host_memory, firsts[f].device, firsts[f].host);
                enum translate_kind kind = translate_kind_of(use, sizes[s]);
                wrong += row != firsts[f].row || translate_movers[row][kind] != measured(&firsts[f], use, sizes[s]);
                met[row][kind] = true;
            }
    for (unsigned row = 0; row < TRANSLATE_FIRSTS; row++)
        for (unsigned kind = 0; kind < TRANSLATE_KINDS; kind++)
            cells += met[row][kind];
    tap_u64(wrong, 0, "the table has the measured mover for every use of every memory");
    tap_u64(cells, TRANSLATE_FIRSTS * TRANSLATE_KINDS, "the test looked up every cell of the table");
}

/* ---- on a machine: host memory with rights for the device and the host; translate_check of the whole range ---- */

struct rig {
    vmm_system *sys;
    struct sim_process *process;
    vmm_deviceptr at; /* two granules: the first byte's, and host memory with rights for both */
};

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

static void put(struct rig *rig, unsigned place, bool host_memory, unsigned device, unsigned host)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {host_memory ? VMM_MEM_LOCATION_TYPE_HOST_NUMA : VMM_MEM_LOCATION_TYPE_DEVICE,
                                                 0}};
    vmm_mem_access_desc of_host = {{VMM_MEM_LOCATION_TYPE_HOST, 0}, (vmm_mem_access_flags)host},
                        of_device = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, (vmm_mem_access_flags)device};
    vmm_mem_generic_allocation_handle handle;
    need(vmm_mem_create(rig->sys, &handle, G, &prop, 0));
    need(vmm_mem_map(rig->sys, rig->at + place * G, G, 0, handle, 0));
    need(vmm_mem_release(rig->sys, handle));
    if (host)
        need(vmm_mem_set_access(rig->sys, rig->at + place * G, G, &of_host, 1));
    if (device)
        need(vmm_mem_set_access(rig->sys, rig->at + place * G, G, &of_device, 1));
}

static vmm_result check_whole(const struct rig *rig, uint64_t size, enum translate_use use)
{
    sim_machine_lock(rig->process->machine);
    vmm_result result = translate_check(rig->process, 0, rig->at, size, use, "ptr");
    sim_machine_unlock(rig->process->machine);
    return result;
}

/* The rule expected from a mover for a range that begins with first and continues in host memory to which both have rights. */
static const char *expected(enum translate_mover mover, const struct first *first, enum translate_use use)
{
    unsigned needs = use == TRANSLATE_TO_HOST || use == TRANSLATE_READ ? R : RW;
    bool device = (first->device & needs) == needs, host = first->host_memory && (first->host & needs) == needs;
    if (mover != TRANSLATE_MOVER_HOST_ALONE && !device)
        return needs == R ? "VMM-COPY-NO-READ" : "VMM-COPY-NO-WRITE";
    if (mover == TRANSLATE_MOVER_HOST || mover == TRANSLATE_MOVER_HOST_ALONE)
        return host ? "" : "VMM-COPY-HOST-RIGHTS";
    return mover == TRANSLATE_MOVER_DEVICE_APART && use != TRANSLATE_FILL ? "VMM-COPY-MIXED" : "";
}

static void test_machine(const struct first *first)
{
    struct rig rig = {0};
    static const uint64_t sizes[] = {2 * G};
    need(vmm_open("sim:h100", &rig.sys));
    need(vmm_init(rig.sys, 0));
    rig.process = (struct sim_process *)rig.sys->top;
    need(vmm_mem_address_reserve(rig.sys, &rig.at, 2 * G, 0, 0, 0));
    put(&rig, 0, first->host_memory, first->device, first->host);
    put(&rig, 1, true, RW, RW);
    for (enum translate_use use = TRANSLATE_TO_HOST; use <= TRANSLATE_FILL; use++) {
        enum translate_mover mover = (enum translate_mover)translate_movers[first->row][translate_kind_of(use, sizes[0])];
        const char *rule = check_whole(&rig, sizes[0], use) ? vmm_last_detail()->rule : "";
        tap_text(rule, expected(mover, first, use), "memory of the %s, rights %u and %u, use %d", first->host_memory ? "host"
                 : "device",
                 first->device, first->host, (int)use);
    }
    vmm_close(rig.sys);
}

int main(void)
{
    test_table();
    for (unsigned i = 0; i < sizeof firsts / sizeof firsts[0]; i++)
        test_machine(&firsts[i]);
    return tap_done();
}
