/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_graphs.h"

#include <stdatomic.h>
#include <string.h>

#include "abi_parts.h"
#include "abi_process.h"
#include "graph_alloc.h"
#include "heap.h"

static atomic_bool any; /* of what abi_capture_any says */

bool abi_capture_any(void)
{
    return atomic_load_explicit(&any, memory_order_relaxed);
}

/* ---- what nodes show ---- */

enum { EXTRA = 6 };

/* The size is stored after the list that refers to it. */
static void show_extra(void **extra, unsigned char *bytes, size_t size)
{
    extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    extra[1] = bytes;
    extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    extra[3] = &extra[5];
    extra[4] = CU_LAUNCH_PARAM_END;
    memcpy(&extra[5], &size, sizeof size);
}

/* Shows the list, which has count parameters. */
static void show_list(struct abi_shown *shown, unsigned count)
{
    shown->params.kernel.kernelParams = shown->packed ? NULL : shown->list;
    shown->params.kernel.extra = shown->packed ? shown->list + count + 1 : NULL;
}

bool abi_work_kernel(struct abi_work *to, const struct vmm_call_launch *launch, size_t first, const size_t *offset,
                     unsigned count)
{
    uint64_t *args = heap.malloc(launch->count * sizeof *args);
    void **list = heap.malloc((count + 1 + EXTRA) * sizeof *list);
    if (!args || !list) {
        heap.free(args);
        heap.free(list);
        return false;
    }
    memcpy(args, launch->args, launch->count * sizeof *args);
    for (unsigned i = 0; i < count; i++)
        list[i] = (unsigned char *)(args + first) + offset[i];
    list[count] = NULL;
    show_extra(list + count + 1, (unsigned char *)(args + first), offset[count]);
    to->work.launch = *launch;
    to->work.launch.args = args;
    to->work.shown = &to->shown;
    to->shown.list = list;
    show_list(&to->shown, count);
    return true;
}

/* Points to the same offset in the copy's arguments. */
static void *moved(const void *at, const struct graph_work *to, const struct graph_work *from)
{
    const unsigned char *args = (const unsigned char *)from->launch.args;
    return (unsigned char *)(uintptr_t)to->launch.args + ((const unsigned char *)at - args);
}

static bool copy_list(struct abi_shown *shown, void *const *list, const struct graph_work *to, const struct graph_work *from)
{
    unsigned count = 0;
    while (list[count])
        count++;
    void **copy = heap.malloc((count + 1 + EXTRA) * sizeof *copy);
    shown->list = copy;
    if (!copy)
        return false;
    void **extra = copy + count + 1;
    memcpy(copy, list, (count + 1 + EXTRA) * sizeof *copy);
    for (unsigned i = 0; i < count; i++)
        copy[i] = moved(list[i], to, from);
    extra[1] = moved(extra[1], to, from);
    extra[3] = &extra[5];
    show_list(shown, count);
    return true;
}

static bool copy_rights(struct abi_shown *shown, const CUmemAccessDesc *rights, size_t count)
{
    shown->rights = heap.malloc(count * sizeof *rights);
    shown->params.alloc.accessDescs = shown->rights;
    if (shown->rights)
        memcpy(shown->rights, rights, count * sizeof *rights);
    return shown->rights != NULL;
}

static void drop_shown(void *user)
{
    struct abi_shown *shown = user;
    heap.free(shown->list);
    heap.free(shown->rights);
    heap.free(shown);
}

static void *copy_shown(const struct graph_work *to, const struct graph_work *from)
{
    const struct abi_shown *shown = from->shown;
    struct abi_shown *copy = heap.malloc(sizeof *copy);
    bool ok = true;
    if (!copy)
        return NULL;
    *copy = *shown;
    copy->list = NULL;
    copy->rights = NULL;
    if (shown->list)
        ok = copy_list(copy, shown->list, to, from);
    else if (shown->params.alloc.accessDescCount)
        ok = copy_rights(copy, shown->params.alloc.accessDescs, shown->params.alloc.accessDescCount);
    if (to->memory)
        copy->params.alloc.dptr = to->memory->at;
    if (ok)
        return copy;
    drop_shown(copy);
    return NULL;
}

void abi_work_drop(struct abi_work *work)
{
    if (work->work.type != VMM_GRAPH_NODE_TYPE_KERNEL)
        return;
    heap.free((void *)(uintptr_t)work->work.launch.args);
    heap.free(work->shown.list);
}

/* ---- the lock ---- */

static const struct graph_shown functions = {copy_shown, drop_shown};

struct sim_process *abi_graphs_lock(void)
{
    struct sim_process *process = abi_process_lock(abi_machine());
    process->graphs->shown = &functions;
    vmm_detail_clear(); /* so that a warning is this call's */
    return process;
}

void abi_graphs_unlock(void)
{
    struct sim_process *process = abi_process(abi_machine());
    struct user_ending *ended = user_objects_ended(process->graphs);
    atomic_store_explicit(&any, process->graphs->captures.first || process->graphs->captures.events, memory_order_relaxed);
    abi_process_unlock(process);
    user_objects_call(ended);
}

CUresult abi_graphs_answer(const char *function, vmm_result result)
{
    if (result == VMM_SUCCESS && vmm_last_detail()->severity != VMM_SEVERITY_WARNING) {
        abi_graphs_unlock();
        return CUDA_SUCCESS;
    }
    const vmm_detail detail = *vmm_last_detail();
    abi_graphs_unlock();
    *vmm_detail_here() = detail; /* a function of a user object may have made calls */
    return abi_refused(result, function);
}
