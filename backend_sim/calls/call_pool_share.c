/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools and other processes. */
#include "sim.h"

static vmm_result refuse(uint64_t value)
{
    return vmm_detail_refuse(VMM_RULE_POOL_EXPORT, value, 0, NULL);
}

vmm_result sim_mem_pool_export_to_shareable_handle(struct sim_process *process,
                                                   const struct vmm_call_mem_pool_export_to_shareable_handle *call)
{
    (void)process;
    return refuse((uint64_t)(int64_t)call->handle_type);
}

vmm_result sim_mem_pool_import_from_shareable_handle(struct sim_process *process,
                                                     const struct vmm_call_mem_pool_import_from_shareable_handle *call)
{
    (void)process;
    return refuse((uint64_t)(int64_t)call->handle_type);
}

vmm_result sim_mem_pool_export_pointer(struct sim_process *process, const struct vmm_call_mem_pool_export_pointer *call)
{
    (void)process;
    return refuse(call->ptr);
}

vmm_result sim_mem_pool_import_pointer(struct sim_process *process, const struct vmm_call_mem_pool_import_pointer *call)
{
    (void)process;
    return refuse((uint64_t)(uintptr_t)call->pool);
}
