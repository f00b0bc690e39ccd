/* SPDX-License-Identifier: Apache-2.0 */
/* User objects: data that graphs hold references to, freed by a function of the program. */
#include "abi_graph.h"

#define USER_OBJECT(call, ...) ABI_INITIALISED(abi_graphs_answer(__func__, call(abi_graphs_lock()->graphs, __VA_ARGS__)))

static uint64_t value_of(CUuserObject object)
{
    return (uint64_t)(uintptr_t)object;
}

CUresult cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy, unsigned int initialRefcount,
                            unsigned int flags)
{
    USER_OBJECT(user_object_create, (uint64_t *)(void *)object_out, ptr, destroy, initialRefcount, flags);
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    USER_OBJECT(user_object_retain, value_of(object), count);
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    USER_OBJECT(user_object_release, value_of(object), count);
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags)
{
    USER_OBJECT(user_object_hold, abi_graph(graph), value_of(object), count, flags);
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    USER_OBJECT(user_object_let_go, abi_graph(graph), value_of(object), count);
}
