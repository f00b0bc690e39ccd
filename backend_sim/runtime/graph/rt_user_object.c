/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of programs that graphs keep alive. */
#include "rt.h"

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, void *ptr, cudaHostFn_t destroy, unsigned int initialRefcount,
                                 unsigned int flags)
{
    RT(DRIVER(cuUserObjectCreate, object_out, ptr, destroy, initialRefcount, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    RT(DRIVER(cuUserObjectRetain, object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    RT(DRIVER(cuUserObjectRelease, object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags)
{
    RT(DRIVER(cuGraphRetainUserObject, graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count)
{
    RT(DRIVER(cuGraphReleaseUserObject, graph, object, count));
}
