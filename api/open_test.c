/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, attaching and access rights with an unusual backend. */
#include <string.h>

#include "backend.h"

static vmm_result other_sim_open(const char *args, struct vmm_backend **backend);

#define vmm_sim_open other_sim_open
#include "open.c"
#undef vmm_sim_open

#include "fake_backend.h"
#include "tap.h"

static struct fake fake;
static struct vmm_backend_ops other_ops;

/* "old": its table has a different size; "new": it has ours. */
static vmm_result other_sim_open(const char *args, struct vmm_backend **backend)
{
    fake_init(&fake);
    other_ops = fake_ops;
    other_ops.size -= strcmp(args, "old") == 0;
    fake.base.ops = &other_ops;
    *backend = &fake.base;
    return VMM_SUCCESS;
}

static void test_another_version(void)
{
    vmm_system *sys = NULL;
    tap_result(vmm_open("sim:old", &sys), VMM_ERROR_NOT_SUPPORTED, "a backend built for another version");
    tap_text(vmm_last_detail()->note, "spec \"sim:old\" column 1: sim was built for another version",
             "the note has its name and position");
    tap_ok(!sys && fake.seen == 0 && fake.closed == 0, "it is not used at all, because its table is unknown");
    tap_result(vmm_open("fault=any:1|sim:old", &sys), VMM_ERROR_NOT_SUPPORTED, "a layer around it is refused, too");
    tap_text(vmm_last_detail()->note, "spec \"fault=any:1|sim:old\" column 13: sim was built for another version",
             "the note has its position");
}

static void test_attach(void)
{
    vmm_system *sys = NULL, *peer = NULL;
    tap_result(vmm_open("sim:new", &sys), VMM_SUCCESS, "a backend built for this version");
    tap_result(vmm_attach(sys, NULL), VMM_ERROR_INVALID_VALUE, "nowhere to store the other system");
    tap_text(vmm_last_detail()->note, "peer is NULL: pass the address of a variable for the system", "the note says why");
    tap_ok(!strcmp(vmm_last_detail()->function, "vmm_attach") && fake.attached == 0, "the backend gets no call");
    tap_result(vmm_attach(sys, &peer), VMM_SUCCESS, "attaching with a place for the system");
    tap_ok(peer && peer != sys && fake.attached == 1, "attaching succeeds");
    vmm_close(peer);
    vmm_close(sys);
    tap_u64((uint64_t)fake.closed, 2, "both systems are closed");
}

/* Two bits for each device from the lowest on, and the host's after the last device. */
static void test_rights(void)
{
    const vmm_object mapping = {.kind = VMM_OBJECT_MAPPING, .access = 3 | UINT64_C(1) << 2 | UINT64_C(1) << 2 * VMM_MAX_DEVICES};
    static const struct {
        vmm_mem_location location;
        vmm_mem_access_flags rights;
    } cases[] = {
        {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {{VMM_MEM_LOCATION_TYPE_DEVICE, 1}, VMM_MEM_ACCESS_FLAGS_PROT_READ},
        {{VMM_MEM_LOCATION_TYPE_DEVICE, 2}, VMM_MEM_ACCESS_FLAGS_PROT_NONE},
        {{VMM_MEM_LOCATION_TYPE_DEVICE, -1}, VMM_MEM_ACCESS_FLAGS_PROT_NONE},
        {{VMM_MEM_LOCATION_TYPE_DEVICE, VMM_MAX_DEVICES}, VMM_MEM_ACCESS_FLAGS_PROT_NONE},
        {{VMM_MEM_LOCATION_TYPE_HOST, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READ},
        {{VMM_MEM_LOCATION_TYPE_HOST_NUMA, 3}, VMM_MEM_ACCESS_FLAGS_PROT_READ},
        {{VMM_MEM_LOCATION_TYPE_INVALID, 0}, VMM_MEM_ACCESS_FLAGS_PROT_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        tap_u64((uint64_t)vmm_object_access(&mapping, cases[i].location), (uint64_t)cases[i].rights,
                "the rights of location type %d, id %d", cases[i].location.type, cases[i].location.id);
}

int main(void)
{
    unsetenv("CUVMM_LAYERS");
    test_another_version();
    test_attach();
    test_rights();
    return tap_done();
}
