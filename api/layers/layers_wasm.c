/* SPDX-License-Identifier: Apache-2.0 */
/* The layers that a WebAssembly module cannot have: both write into a file that the parent program maps. */
#include "backend.h"
#include "sites.h"

static vmm_result not_here(const char *name)
{
    return vmm_refuse_open(VMM_RULE_OPEN_UNSUPPORTED, "vmm_open",
                           "%s: not available in WebAssembly, which cannot map files", name);
}

uint32_t sites_process(void)
{
    return 0;
}

vmm_result vmm_sites_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend)
{
    (void)args, (void)inner, (void)backend;
    return not_here("sites");
}

vmm_result vmm_recorder_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend)
{
    (void)args, (void)inner, (void)backend;
    return not_here("recorder");
}
