/* SPDX-License-Identifier: Apache-2.0 */
#include "other_team.h"

#include "other.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

static int device;
static uint64_t size;
static vmm_deviceptr own, mc;

static vmm_result work_on(vmm_system *sys, int number)
{
    vmm_context ctx;
    device = number;
    return vmm_ctx_create(sys, &ctx, 0, number);
}

static vmm_result map(vmm_system *sys, uint64_t handle, uint64_t unit, vmm_deviceptr *at)
{
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, device}, RW};
    vmm_result result = vmm_mem_address_reserve(sys, at, size, unit, 0, 0);
    if (result == VMM_SUCCESS)
        result = vmm_mem_map(sys, *at, size, 0, handle, 0);
    return result == VMM_SUCCESS ? vmm_mem_set_access(sys, *at, size, &desc, 1) : result;
}

static vmm_result bind(vmm_system *sys, uint64_t object, int types)
{
    const vmm_multicast_object_prop team = {.num_devices = 2};
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = types,
                                          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
    uint64_t unit, memory;
    vmm_result result = vmm_multicast_get_granularity(sys, &unit, &team, VMM_MULTICAST_GRANULARITY_MINIMUM);
    size = unit;
    if (result == VMM_SUCCESS)
        result = vmm_mem_create(sys, &memory, size, &prop, 0);
    if (result == VMM_SUCCESS)
        result = map(sys, memory, unit, &own);
    if (result == VMM_SUCCESS)
        result = vmm_multicast_bind_mem(sys, object, 0, memory, 0, size, 0);
    return result == VMM_SUCCESS ? map(sys, object, unit, &mc) : result;
}

static vmm_result run(vmm_system *sys, vmm_kernel kernel, const uint64_t *args, size_t count)
{
    vmm_result result = vmm_launch(sys, kernel, 1, 32, args, count, NULL);
    return result == VMM_SUCCESS ? vmm_ctx_synchronize(sys) : result;
}

#define RUN(kernel, ...) \
    run(sys, VMM_KERNEL_##kernel, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

bool other_team_act(vmm_system *sys, int op, uint64_t first, uint64_t second, uint64_t *value, vmm_result *result)
{
    switch ((enum other_op)op) {
    case OTHER_TEAM_DEVICE: *result = work_on(sys, (int)first); return true;
    case OTHER_TEAM_ADD: *result = vmm_multicast_add_device(sys, first, device); return true;
    case OTHER_TEAM_BIND: *result = bind(sys, first, (int)second); return true;
    case OTHER_TEAM_UNBIND: *result = vmm_multicast_unbind(sys, first, (int)second, 0, size); return true;
    case OTHER_TEAM_SET: *result = vmm_memcpy_htod(sys, own + first, &second, sizeof second); return true;
    case OTHER_TEAM_WORD: *result = vmm_memcpy_dtoh(sys, value, own + first, sizeof *value); return true;
    case OTHER_TEAM_ADD_WORD: *result = RUN(MULTIMEM_REDUCE, mc + first, own + second, 8); return true;
    case OTHER_TEAM_ARRIVE:
        *result = RUN(NORM_ARRIVE, own + NORM_PART, mc + NORM_COUNTER, own + NORM_VALUES, 8 * NORM_WORDS);
        return true;
    case OTHER_TEAM_FINISH:
        *result = RUN(NORM_FINISH, own + NORM_OUT, mc + NORM_PART, own + NORM_COUNTER, first, 1);
        return true;
    default: return false;
    }
}
