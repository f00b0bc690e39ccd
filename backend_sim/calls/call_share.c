/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for other processes: export and import. The shared state behind both: share.h.
 *
 *   export   H1 -> its block in what processes share -> a descriptor that names it
 *   import   descriptor -> the block -> a handle of this process
 *
 * Fabric handles: call_fabric.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_fabric.h"
#include "pool_table.h"
#include "share_mark.h"
#include "order_feed.h"
#include "sim.h"
#include "team_share.h"

#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC

typedef struct vmm_call_mem_export_to_shareable_handle export_call;
typedef struct vmm_call_mem_import_from_shareable_handle import_call;

static bool is_one_type(int type)
{
    return type == FD || type == VMM_MEM_HANDLE_TYPE_WIN32 || type == VMM_MEM_HANDLE_TYPE_WIN32_KMT || type == FABRIC;
}

static vmm_result refuse(enum vmm_rule_id rule, uint64_t value, const struct sim_handle *handle)
{
    vmm_object nearest = handle ? sim_object_handle(handle) : (vmm_object){0};
    return vmm_detail_refuse(rule, value, 0, &nearest);
}

/* ---- export ---- */

static uint64_t types_of(const struct sim_handle *handle)
{
    return handle->team_size ? handle->block->team->handle_types : (uint64_t)handle->prop.requested_handle_types;
}

static vmm_result check_export(const struct sim_process *process, const export_call *call, struct sim_handle **handle)
{
    uint64_t type = (uint64_t)(int64_t)call->handle_type;
    if (!call->shareable_handle)
        return refuse(VMM_RULE_EXPORT_NULL_HANDLE, 0, NULL);
    if (call->flags)
        return refuse(VMM_RULE_EXPORT_FLAGS, call->flags, NULL);
    if (!is_one_type(call->handle_type))
        return refuse(VMM_RULE_EXPORT_TYPE, type, NULL);
    if (!call->handle)
        return refuse(VMM_RULE_EXPORT_HANDLE_ZERO, 0, NULL);
    *handle = sim_handle_live(process, call->handle, VMM_RULE_EXPORT_HANDLE_STALE, VMM_RULE_EXPORT_HANDLE_FORGED);
    if (!*handle)
        return VMM_ERROR_INVALID_VALUE;
    if ((*handle)->imported)
        return refuse(VMM_RULE_EXPORT_IMPORTED, call->handle, *handle);
    if (!(types_of(*handle) & type))
        return refuse(VMM_RULE_EXPORT_NOT_REQUESTED, type, *handle);
    return call->handle_type == FABRIC ? sim_fabric_check_export(process, *handle) : VMM_SUCCESS;
}

static vmm_result refuse_system(enum vmm_rule_id rule, const char *why)
{
    vmm_result result = refuse(rule, 0, NULL);
    vmm_detail_note("%s", why);
    return result;
}

static vmm_result export_fd(struct sim_machine *machine, struct sim_block *block, int *fd)
{
    char why[SHARE_WHY];
    if (!sim_machine_share(machine, why))
        return refuse_system(VMM_RULE_EXPORT_SYSTEM, why);
    if (!sim_machine_begin(machine))
        return sim_machine_unreachable(share_why(machine->share));
    const char *wrong = block->team ? team_share_binds(machine, block) : NULL;
    if (!wrong)
        wrong = share_export(machine->share, machine, block, fd);
    sim_machine_end(machine);
    return wrong ? refuse_system(VMM_RULE_EXPORT_SYSTEM, wrong) : VMM_SUCCESS;
}

/* Records the export, for later queries of the memory's holders (share_mark.h). */
static void note_export(const struct sim_handle *handle, const struct vmm_call *call)
{
    share_count(handle->block->share, handle->block, share_call(handle->made.number, handle->made.call));
    share_exported_by(handle->block->share, handle->block, share_call(call->number, call->id));
    stacks_keep(share_call(call->number, call->id), call_stack());
}

vmm_result sim_mem_export_to_shareable_handle(struct sim_process *process, const export_call *call)
{
    struct sim_handle *handle = NULL;
    int fd = -1; /* without contents, as in the shadow of another backend, nothing is shared */
    vmm_result result = check_export(process, call, &handle);
    if (result != VMM_SUCCESS || !process->machine->bytes)
        return result;
    if (call->handle_type == FABRIC)
        result = sim_fabric_export(process->machine, handle->block, call->shareable_handle);
    else
        result = export_fd(process->machine, handle->block, &fd);
    if (result == VMM_SUCCESS)
        note_export(handle, &call->head);
    if (result == VMM_SUCCESS && process->in_flight->order)
        order_feed_shared(process, handle->block);
    if (result == VMM_SUCCESS && call->handle_type == FD)
        memcpy(call->shareable_handle, &fd, sizeof fd);
    return result;
}

/* ---- import ---- */

static vmm_result check_import(const import_call *call)
{
    uint64_t type = (uint64_t)(int64_t)call->sh_handle_type;
    if (!call->handle)
        return refuse(VMM_RULE_IMPORT_NULL_HANDLE, 0, NULL);
    if (!is_one_type(call->sh_handle_type))
        return refuse(VMM_RULE_IMPORT_TYPE, type, NULL);
    if (!call->os_handle) /* also descriptor 0 */
        return refuse(call->sh_handle_type == FABRIC ? VMM_RULE_IMPORT_FABRIC_NULL : VMM_RULE_IMPORT_ZERO, 0, NULL);
    if (call->sh_handle_type != FD && call->sh_handle_type != FABRIC)
        return refuse(VMM_RULE_IMPORT_WINDOWS, type, NULL);
    return VMM_SUCCESS;
}

static vmm_result find_block(struct sim_machine *machine, const void *os_handle, struct sim_block **block)
{
    static const enum vmm_rule_id rules[] = {[SHARE_NO_TOKEN] = VMM_RULE_IMPORT_FOREIGN,
                                             [SHARE_OTHER_MACHINE] = VMM_RULE_IMPORT_MACHINE,
                                             [SHARE_UNKNOWN] = VMM_RULE_IMPORT_FOREIGN};
    uint64_t value = (uint64_t)(uintptr_t)os_handle;
    int file = (int)(uint32_t)value; /* measured: the upper half does not matter */
    char text[SHARE_WHY];
    struct os_file_is is;
    if (!os_file_look(file, &is))
        return os_file_is_open(file) ? refuse_system(VMM_RULE_IMPORT_SYSTEM, SHARE_UNREADABLE)
                                     : refuse(VMM_RULE_IMPORT_CLOSED, value, NULL);
    enum share_found found = share_import(machine->share, machine, file, block, text);
    if (found == SHARE_FOUND)
        return VMM_SUCCESS;
    if (found == SHARE_NO_FILE || found == SHARE_NO_MEMORY)
        return refuse_system(VMM_RULE_IMPORT_SYSTEM, text);
    vmm_result result = refuse(rules[found], value, NULL);
    vmm_detail_note("%s", text);
    return result;
}

vmm_result sim_share_find(struct sim_machine *machine, const void *os_handle, struct sim_block **block)
{
    if (!sim_machine_begin(machine))
        return sim_machine_unreachable(share_why(machine->share));
    vmm_result result = find_block(machine, os_handle, block);
    sim_machine_end(machine);
    return result;
}

vmm_result sim_mem_import_from_shareable_handle(struct sim_process *process, const import_call *call)
{
    struct sim_block *block = NULL;
    vmm_result result = check_import(call);
    if (result != VMM_SUCCESS)
        return result;
    struct sim_handle *handle = sim_handle_ready(process);
    if (!handle)
        return sim_out_of_host_memory();
    result = call->sh_handle_type == FABRIC ? sim_fabric_find(process, call->os_handle, &block)
                                            : sim_share_find(process->machine, call->os_handle, &block);
    if (result == VMM_SUCCESS && pool_table_is(block)) {
        sim_block_drop(process->machine, block);
        result = refuse(VMM_RULE_IMPORT_KIND, (uint64_t)(uintptr_t)call->os_handle, NULL);
    }
    if (result != VMM_SUCCESS) {
        sim_handle_drop(process, handle);
        return result;
    }
    sim_handle_begin(process, handle, block, sim_origin(&call->head));
    handle->imported = true;
    /* analysers: clang-analyzer-core.NullDereference is wrong: a successful find sets block */
    share_count(block->share, block, share_call(call->head.number, call->head.id));
    handle->prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_NONE; /* measured, as is the next line */
    handle->prop.alloc_flags.gpu_direct_rdma_capable = 0;
    *call->handle = handle->value;
    return VMM_SUCCESS;
}
