/* SPDX-License-Identifier: Apache-2.0 */
/* User objects: data that graphs hold references to, freed by a function of the program. */
#include "abi_graph.h"
#include "heap.h"

static CUresult bad_count(const char *function)
{
    return abi_refuse(VMM_RULE_USER_OBJECT, function, "the number of references is 0");
}

/* With the lock. */
static struct abi_user_object *need(const char *function, CUuserObject value, CUresult *result)
{
    struct abi_user_object *object = abi_user_object_of(value);
    if (!object)
        *result = abi_refuse(VMM_RULE_USER_OBJECT, function, "%p is not a user object", (void *)value);
    return object;
}

static CUresult create(CUuserObject *out, void *ptr, CUhostFn destroy, unsigned count, unsigned flags)
{
    static const char name[] = "cuUserObjectCreate";
    if (!out || !destroy)
        return abi_graph_null(name, out ? "destroy" : "object_out");
    if (flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return abi_refuse(VMM_RULE_GRAPH_FLAGS, name, "flags is 0x%x: it must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC", flags);
    if (!count)
        return bad_count(name);
    abi_graphs_lock();
    const struct abi_user_object *object = abi_user_object_new(destroy, ptr, count);
    if (object)
        *out = (CUuserObject)(uintptr_t)object->value;
    abi_graphs_unlock();
    return object ? CUDA_SUCCESS : abi_no_memory(name);
}

CUresult cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy, unsigned int initialRefcount,
                            unsigned int flags)
{
    ABI_INITIALISED(create(object_out, ptr, destroy, initialRefcount, flags));
}

static CUresult retain(const char *function, CUuserObject value, unsigned count)
{
    CUresult result = count ? CUDA_SUCCESS : bad_count(function);
    abi_graphs_lock();
    struct abi_user_object *object = count ? need(function, value, &result) : NULL;
    if (object)
        object->count += count;
    abi_graphs_unlock();
    return result;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    ABI_INITIALISED(retain(__func__, object, count));
}

/* As measured, a release of more references than there are is accepted and changes nothing. */
static CUresult release(const char *function, CUuserObject value, unsigned count)
{
    CUresult result = count ? CUDA_SUCCESS : bad_count(function);
    abi_graphs_lock();
    struct abi_user_object *object = count ? need(function, value, &result) : NULL;
    if (object && count <= object->count)
        abi_user_object_release(object, count);
    abi_graphs_unlock();
    return result;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    ABI_INITIALISED(release(__func__, object, count));
}

/* Gives the graph references; move: they are the caller's. With the lock. */
static CUresult hold(const char *function, struct abi_graph *more, struct abi_user_object *object, unsigned count, bool move)
{
    struct abi_held **link = abi_held_find(more, object);
    if (!*link) {
        struct abi_held *held = heap.calloc(1, sizeof *held);
        if (!held)
            return abi_no_memory(function);
        held->object = object;
        *link = held;
    }
    (*link)->count += count;
    object->count += move ? 0 : count;
    return CUDA_SUCCESS;
}

static CUresult graph_retain(const char *function, CUgraph value, CUuserObject of, unsigned count, unsigned flags)
{
    CUresult result = CUDA_SUCCESS;
    if (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE)
        return abi_refuse(VMM_RULE_GRAPH_FLAGS, function, "flags 0x%x are unknown", flags);
    if (!count)
        return bad_count(function);
    abi_graphs_lock();
    struct graph *graph = abi_need_graph(function, value, &result);
    struct abi_user_object *object = graph ? need(function, of, &result) : NULL;
    if (object)
        result = hold(function, abi_more_of(graph), object, count, flags & CU_GRAPH_USER_OBJECT_MOVE);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags)
{
    ABI_INITIALISED(graph_retain(__func__, graph, object, count, flags));
}

/* Takes references from the graph, as many as it has. With the lock. */
static void let_go(struct abi_held **link, unsigned count)
{
    struct abi_held *held = *link;
    unsigned most = count < held->count ? count : held->count;
    held->count -= most;
    struct abi_user_object *object = held->object;
    if (!held->count) {
        *link = held->next;
        heap.free(held);
    }
    abi_user_object_release(object, most);
}

static CUresult graph_release(const char *function, CUgraph value, CUuserObject of, unsigned count)
{
    CUresult result = count ? CUDA_SUCCESS : bad_count(function);
    abi_graphs_lock();
    struct graph *graph = count ? abi_need_graph(function, value, &result) : NULL;
    struct abi_user_object *object = graph ? need(function, of, &result) : NULL;
    struct abi_held **link = object ? abi_held_find(abi_more_of(graph), object) : NULL;
    if (link && *link)
        let_go(link, count);
    abi_graphs_unlock();
    return result;
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    ABI_INITIALISED(graph_release(__func__, graph, object, count));
}
