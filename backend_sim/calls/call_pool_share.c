/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools and other processes (pools.h).
 *
 *   a pool         P1 -> its table in what processes share -> a descriptor or a fabric handle -> P1' with the same places
 *   an allocation  A1 -> the blocks of its chunks in the table -> 64 bytes -> A1' in P1', if the table or P1' still has these blocks
 */
#include <string.h>

#include "call_fabric.h"
#include "call_pool.h"
#include "share_mark.h"
#include "sim.h"

#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC

typedef struct vmm_call_mem_pool_export_to_shareable_handle export_call;
typedef struct vmm_call_mem_pool_import_from_shareable_handle import_call;

static vmm_result refuse(enum vmm_rule_id rule, uint64_t value, const char *argument, const struct sim_pool *pool)
{
    vmm_object nearest = pool ? sim_object_pool(pool) : (vmm_object){0};
    vmm_result result = vmm_detail_refuse(rule, value, 0, &nearest);
    vmm_detail_argument(argument);
    return result;
}

static vmm_result refuse_system(enum vmm_rule_id rule, const char *why)
{
    vmm_result result = vmm_detail_refuse(rule, 0, 0, NULL);
    vmm_detail_note("%s", why);
    return result;
}

static bool is_one_type(int type)
{
    return type == FD || type == VMM_MEM_HANDLE_TYPE_WIN32 || type == VMM_MEM_HANDLE_TYPE_WIN32_KMT || type == FABRIC;
}

/* ---- exporting a pool ---- */

static vmm_result check_export(struct sim_process *process, const export_call *call, struct sim_pool **pool)
{
    uint64_t type = (uint64_t)(int64_t)call->handle_type;
    if (!call->handle_out)
        return refuse(VMM_RULE_POOL_NULL, 0, "handle_out", NULL);
    if (call->flags)
        return refuse(VMM_RULE_EXPORT_FLAGS, call->flags, "flags", NULL);
    if (!is_one_type(call->handle_type))
        return refuse(VMM_RULE_EXPORT_TYPE, type, "handleType", NULL);
    vmm_result result = sim_pool_live(process, call->pool, "pool", pool);
    if (result != VMM_SUCCESS)
        return result;
    if ((*pool)->is_default || (*pool)->imports)
        return refuse(VMM_RULE_POOL_EXPORT_KIND, (*pool)->shown, "pool", *pool);
    if (!((uint64_t)(*pool)->props.handle_types & type))
        return refuse(VMM_RULE_EXPORT_NOT_REQUESTED, type, "handleType", *pool);
    if ((*pool)->props.handle_types & FABRIC && !(*pool)->fabric.domain)
        return refuse(VMM_RULE_EXPORT_FABRIC_IMEX, type, "handleType", *pool);
    return VMM_SUCCESS;
}

/* The pool's table, created at the first export. */
static vmm_result make_table(struct sim_machine *machine, const struct sim_pool *pool, struct sim_block **table)
{
    char why[SHARE_WHY];
    const struct pool_table contents = {pool->memory.chunk, pool->memory.size, sim_machine_place(machine, pool->props.location)};
    if (!sim_machine_share(machine, why))
        return refuse_system(VMM_RULE_EXPORT_SYSTEM, why);
    *table = pool->table ? pool->table : pool_table_new(machine, &contents, pool->props.handle_types);
    if (!*table)
        return sim_out_of_host_memory();
    (*table)->fabric = pool->fabric;
    return VMM_SUCCESS;
}

static vmm_result export_fd(struct sim_machine *machine, struct sim_block *table, void *out)
{
    int fd = -1;
    if (!sim_machine_begin(machine))
        return sim_machine_unreachable(share_why(machine->share));
    const char *wrong = share_export(machine->share, machine, table, &fd);
    sim_machine_end(machine);
    if (wrong)
        return refuse_system(VMM_RULE_EXPORT_SYSTEM, wrong);
    memcpy(out, &fd, sizeof fd);
    return VMM_SUCCESS;
}

vmm_result sim_mem_pool_export_to_shareable_handle(struct sim_process *process, const export_call *call)
{
    struct sim_machine *machine = process->machine;
    struct sim_block *table = NULL;
    struct sim_pool *pool = NULL;
    const uint64_t mark = sim_blocks_mark(machine);
    vmm_result result = check_export(process, call, &pool);
    if (result == VMM_SUCCESS)
        result = make_table(machine, pool, &table);
    if (result != VMM_SUCCESS)
        return result;
    result = call->handle_type == FABRIC ? sim_fabric_export(machine, table, call->handle_out)
                                         : export_fd(machine, table, call->handle_out);
    if (result == VMM_SUCCESS) {
        share_exported_by(table->share, table, share_call(call->head.number, call->head.id));
        stacks_keep(share_call(call->head.number, call->head.id), call_stack());
        pool->table = table;
    } else if (!pool->table) {
        sim_block_drop(machine, table);
        sim_blocks_undo(machine, mark);
    }
    return result;
}

/* ---- importing a pool ---- */

static vmm_result check_import(const import_call *call)
{
    uint64_t type = (uint64_t)(int64_t)call->handle_type;
    if (!call->pool_out)
        return refuse(VMM_RULE_POOL_NULL, 0, "pool_out", NULL);
    if (call->flags)
        return refuse(VMM_RULE_POOL_IMPORT_FLAGS, call->flags, "flags", NULL);
    *call->pool_out = NULL; /* measured: even if the call is refused */
    if (!is_one_type(call->handle_type))
        return refuse(VMM_RULE_IMPORT_TYPE, type, "handleType", NULL);
    if (call->handle_type == FABRIC && !call->handle)
        return refuse(VMM_RULE_IMPORT_FABRIC_NULL, 0, "handle", NULL);
    return call->handle_type == FD || call->handle_type == FABRIC ? VMM_SUCCESS
                                                                  : refuse(VMM_RULE_IMPORT_WINDOWS, type, "handleType", NULL);
}

/* The pool of a table; the caller's holder of it passes to the pool, or is released. */
static vmm_result enter_pool(struct sim_process *process, struct sim_block *table, const import_call *call)
{
    struct pool_table like;
    struct sim_pool *pool = sim_pool_imported(process, table);
    if (!pool_table_is(table) || !pool_table_read(table, &like)) {
        sim_block_drop(process->machine, table);
        return refuse(VMM_RULE_IMPORT_KIND, (uint64_t)(uintptr_t)call->handle, "handle", NULL);
    }
    if (pool) { /* measured: memory imported through one value can be read through the other */
        sim_block_drop(process->machine, table);
        pool->imports++;
    } else {
        pool = sim_pool_import(process, table, &like, sim_origin(&call->head));
        if (!pool)
            sim_block_drop(process->machine, table);
    }
    if (!pool)
        return sim_out_of_host_memory();
    share_count(table->share, table, share_call(call->head.number, call->head.id));
    *call->pool_out = (vmm_memory_pool)(uintptr_t)pool->value;
    return VMM_SUCCESS;
}

vmm_result sim_mem_pool_import_from_shareable_handle(struct sim_process *process, const import_call *call)
{
    struct sim_block *table = NULL;
    const uint64_t mark = sim_blocks_mark(process->machine);
    vmm_result result = check_import(call);
    if (result == VMM_SUCCESS)
        result = call->handle_type == FABRIC ? sim_fabric_find(process, call->handle, &table)
                                             : sim_share_find(process->machine, call->handle, &table);
    if (result == VMM_SUCCESS)
        result = enter_pool(process, table, call);
    if (result != VMM_SUCCESS)
        sim_blocks_undo(process->machine, mark);
    return result;
}

/* ---- allocations ---- */

static vmm_result check_export_pointer(const struct sim_process *process, const struct vmm_call_mem_pool_export_pointer *call,
                                       const struct sim_piece **piece)
{
    if (!call->share_data_out)
        return refuse(VMM_RULE_POOL_NULL, 0, "shareData_out", NULL);
    if (!call->ptr)
        return refuse(VMM_RULE_POOL_NULL, 0, "ptr", NULL);
    const struct sim_allocation *a = sim_allocation_at(process, call->ptr);
    if (!a || !a->pooled || a->start != call->ptr) {
        vmm_object nearest = sim_object_nearest(process, call->ptr);
        return vmm_detail_refuse(VMM_RULE_POOL_POINTER_UNKNOWN, call->ptr, 0, &nearest);
    }
    *piece = (const struct sim_piece *)(const void *)a;
    const struct sim_pool *pool = (*piece)->pool;
    return pool->table && !pool->imports ? VMM_SUCCESS : refuse(VMM_RULE_POOL_POINTER_POOL, call->ptr, "ptr", pool);
}

vmm_result sim_mem_pool_export_pointer(struct sim_process *process, const struct vmm_call_mem_pool_export_pointer *call)
{
    const struct sim_piece *piece = NULL;
    struct pool_pointer pointer;
    struct sim_machine *machine = process->machine;
    vmm_result result = check_export_pointer(process, call, &piece);
    if (result != VMM_SUCCESS)
        return result;
    if (!sim_machine_begin(machine))
        return sim_machine_unreachable(share_why(machine->share));
    const char *wrong = sim_piece_export(process, piece, &pointer);
    sim_machine_end(machine);
    if (wrong)
        return refuse_system(VMM_RULE_EXPORT_SYSTEM, wrong);
    memset(call->share_data_out, 0, sizeof *call->share_data_out);
    memcpy(call->share_data_out, &pointer, sizeof pointer);
    return VMM_SUCCESS;
}

static vmm_result import_here(struct sim_process *process, struct sim_pool *pool, const struct vmm_call_mem_pool_import_pointer *call)
{
    static const enum vmm_rule_id rules[] = {[POOL_IMPORT_UNKNOWN] = VMM_RULE_POOL_IMPORT_DATA,
                                             [POOL_IMPORT_TAKEN] = VMM_RULE_POOL_IMPORT_TAKEN};
    struct share *share = pool->table->share;
    struct pool_pointer pointer;
    char why[SHARE_WHY];
    uint64_t address = 0;
    if (!share_lock(share))
        return sim_machine_unreachable(share_why(share));
    share_tidy(share); /* an exporter that has ended holds nothing */
    memcpy(&pointer, call->share_data, sizeof pointer);
    enum pool_import answer = sim_piece_import(process, pool, &pointer, sim_origin(&call->head), &address, why);
    share_unlock(share);
    *call->ptr_out = address;
    if (answer == POOL_IMPORT_HOST_MEMORY)
        return sim_out_of_host_memory();
    if (answer == POOL_IMPORT_SYSTEM)
        return refuse_system(VMM_RULE_IMPORT_SYSTEM, why);
    return answer == POOL_IMPORT_DONE ? VMM_SUCCESS : refuse(rules[answer], pointer.offset, "shareData", pool);
}

vmm_result sim_mem_pool_import_pointer(struct sim_process *process, const struct vmm_call_mem_pool_import_pointer *call)
{
    struct sim_pool *pool;
    if (!call->ptr_out)
        return refuse(VMM_RULE_POOL_NULL, 0, "ptr_out", NULL);
    if (!call->pool || !call->share_data)
        return refuse(VMM_RULE_POOL_NULL, 0, call->pool ? "shareData" : "pool", NULL);
    *call->ptr_out = 0; /* measured: also where the call is refused */
    vmm_result result = sim_pool_live(process, call->pool, "pool", &pool);
    if (result != VMM_SUCCESS)
        return result;
    return pool->imports ? import_here(process, pool, call) : refuse(VMM_RULE_POOL_IMPORT_POOL, pool->shown, "pool", pool);
}
