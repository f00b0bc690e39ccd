/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: an accepted one is a machine that opens and answers; a refused one names a place in the text and changes
 * nothing. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "sim_open.h"
#include "system.h"

enum { MOST = 8192 };

static void refused(const struct sim_profile_error *error, const uint8_t *data, size_t size, bool untouched)
{
    size_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    if (!untouched)
        fuzz_finding("a profile was refused, and something written");
    if (!error->text[0] || error->line < 0 || (size_t)error->line > lines || error->column < 0 ||
        (size_t)error->column > size + 1)
        fuzz_finding("line %d, column %d: \"%s\"", error->line, error->column, error->text);
}

/* One object of each kind, as far as memory allows. */
static void use(vmm_system *sys, const struct sim_profile *profile)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, profile->devices - 1}};
    vmm_mem_access_desc desc = {prop.location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr at = 0, plain = 0;
    vmm_context ctx;
    uint64_t unit = 0, bytes, total, step = 0;
    fuzz_answer(vmm_init(sys, 0), "init");
    fuzz_answer(vmm_ctx_create(sys, &ctx, 0, profile->devices - 1), "ctx_create");
    fuzz_answer(vmm_mem_get_info(sys, &bytes, &total), "mem_get_info");
    fuzz_answer(vmm_mem_get_allocation_granularity(sys, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED), "granularity");
    step = unit > profile->va_granularity ? unit : profile->va_granularity;
    fuzz_answer(vmm_mem_alloc(sys, &plain, 1), "mem_alloc");
    fuzz_answer(vmm_mem_address_reserve(sys, &at, step, profile->va_alignment_max, 0, 0), "reserve aligned");
    fuzz_answer(vmm_mem_address_reserve(sys, &at, step, 0, profile->va_end - step, 0), "reserve at the end");
    fuzz_answer(vmm_mem_create(sys, &handle, unit, &prop, 0), "create");
    if (handle && at) {
        fuzz_answer(vmm_mem_map(sys, at, unit, 0, handle, 0), "map");
        fuzz_answer(vmm_mem_set_access(sys, at, unit, &desc, 1), "set_access");
        fuzz_answer(vmm_memset_d8(sys, at, 1, unit), "memset");
    }
    prop.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, profile->host_nodes};
    fuzz_answer(vmm_mem_create(sys, &handle, unit, &prop, 0), "create on the host");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sim_options options = {.window = HOST_WINDOW_NONE};
    struct sim_profile profile, before;
    struct sim_profile_error error = {0, 0, "", ""};
    struct vmm_backend *backend = NULL;
    vmm_system *sys = NULL;
    if (size > MOST)
        return 0;
    memset(&profile, 0xa5, sizeof profile);
    before = profile;
    fuzz_room();
    if (!sim_profile_parse((const char *)data, size, &profile, &error)) {
        /* analysers: bugprone-suspicious-memory-comparison is wrong: nothing was to be written, between members neither */
        refused(&error, data, size, !memcmp(&profile, &before, sizeof profile));
        return 0;
    }
    if (sim_open_profile(&profile, &options, false, &backend) != VMM_SUCCESS || vmm_system_wrap(backend, &sys) != VMM_SUCCESS)
        fuzz_finding("%s: accepted, and not opened: %s", profile.name, vmm_last_detail()->note);
    use(sys, &profile);
    vmm_close(sys);
    return 0;
}
