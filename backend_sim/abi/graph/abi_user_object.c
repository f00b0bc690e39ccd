/* SPDX-License-Identifier: Apache-2.0 */
/* User objects: data that graphs hold references to, freed by a function of the program. */
#include "abi_graph.h"

static vmm_user_object object_of(CUuserObject object)
{
    return (vmm_user_object)(void *)object;
}

CUresult cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy, unsigned int initialRefcount,
                            unsigned int flags)
{
    ABI_GRAPH_CALL(__func__, user_object_create, (vmm_user_object *)(void *)object_out, ptr, destroy, initialRefcount, flags);
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    ABI_GRAPH_CALL(__func__, user_object_retain, object_of(object), count);
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    ABI_GRAPH_CALL(__func__, user_object_release, object_of(object), count);
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags)
{
    ABI_GRAPH_CALL(__func__, graph_retain_user_object, abi_graph(graph), object_of(object), count, flags);
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    ABI_GRAPH_CALL(__func__, graph_release_user_object, abi_graph(graph), object_of(object), count);
}
