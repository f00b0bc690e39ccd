/* SPDX-License-Identifier: Apache-2.0 */
/* Copy nodes: for boxes and arrays, for a span, and to and from device variables. */
#include "rt_address.h"
#include "rt_array.h"
#include "rt_code.h"
#include "rt_graph_params.h"
#include "rt_layers.h"

/* The kind that matches the memory types of both sides (arrays are on a device); Default if none does. */
static enum cudaMemcpyKind kind_of(const CUDA_MEMCPY3D *copy)
{
    const CUmemorytype source = copy->srcMemoryType == CU_MEMORYTYPE_ARRAY ? CU_MEMORYTYPE_DEVICE : copy->srcMemoryType;
    const CUmemorytype target = copy->dstMemoryType == CU_MEMORYTYPE_ARRAY ? CU_MEMORYTYPE_DEVICE : copy->dstMemoryType;
    CUmemorytype from, to;
    enum cudaMemcpyKind kind = cudaMemcpyHostToHost;
    while (kind < cudaMemcpyDefault && rt_sides(kind, &from, &to) && (source != from || target != to))
        kind = (enum cudaMemcpyKind)(kind + 1);
    return kind;
}

cudaError_t rt_graph_copy(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *driver)
{
    return params ? rt_layers(params, driver) : cudaErrorInvalidValue;
}

static void *pointer_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
    return type == CU_MEMORYTYPE_ARRAY ? NULL : type == CU_MEMORYTYPE_HOST ? rt_pointer(rt_address(host)) : rt_pointer(device);
}

static cudaArray_t array_of(CUmemorytype type, CUarray array)
{
    return type == CU_MEMORYTYPE_ARRAY ? (cudaArray_t)(void *)array : NULL;
}

/* The driver does not store the maximum width of a row. */
static cudaError_t rt_graph_copy_of(const CUDA_MEMCPY3D *driver, struct cudaMemcpy3DParms *params)
{
    struct rt_element from, to;
    const cudaArray_t source = array_of(driver->srcMemoryType, driver->srcArray), target = array_of(driver->dstMemoryType, driver->dstArray);
    cudaError_t result = rt_element(source, &from);
    if (result == cudaSuccess)
        result = rt_element(target, &to);
    if (result != cudaSuccess)
        return result;
    const struct rt_element unit = source ? from : to; /* a pointer's offset is in elements of the array on the other side */
    if (!source)
        from = unit;
    if (!target)
        to = unit;
    *params = (struct cudaMemcpy3DParms){
        .srcArray = source,
        .srcPos = {driver->srcXInBytes / from.bytes * from.width, driver->srcY * from.height, driver->srcZ},
        .srcPtr = {pointer_of(driver->srcMemoryType, driver->srcHost, driver->srcDevice), driver->srcPitch, 0,
                   driver->srcHeight},
        .dstArray = target,
        .dstPos = {driver->dstXInBytes / to.bytes * to.width, driver->dstY * to.height, driver->dstZ},
        .dstPtr = {pointer_of(driver->dstMemoryType, driver->dstHost, driver->dstDevice), driver->dstPitch, 0,
                   driver->dstHeight},
        .extent = {driver->WidthInBytes / unit.bytes * unit.width, driver->Height * unit.height, driver->Depth}, .kind = kind_of(driver)};
    return cudaSuccess;
}

/* A span is a single row, and needs no pitch. */
static struct cudaMemcpy3DParms span(void *to, const void *from, size_t count, enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {.ptr = rt_pointer(rt_address(from))}, .dstPtr = {.ptr = to},
                                      .extent = {count, 1, 1}, .kind = kind};
}

/* The address of count bytes within a variable. The variable's side is device memory. */
static cudaError_t in_variable(const void *symbol, size_t offset, size_t count, bool right_kind, void **at)
{
    CUdeviceptr start = 0;
    size_t size = 0;
    cudaError_t result = rt_variable(symbol, &start, &size);
    if (result == cudaSuccess && !right_kind)
        result = cudaErrorInvalidMemcpyDirection;
    if (result == cudaSuccess && (offset > size || count > size - offset))
        result = cudaErrorInvalidValue;
    *at = rt_pointer(start + offset);
    return result;
}

static cudaError_t to_variable(const void *symbol, const void *from, size_t count, size_t offset, enum cudaMemcpyKind kind,
                               struct cudaMemcpy3DParms *copy)
{
    void *to;
    cudaError_t result = in_variable(symbol, offset, count, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
                                     kind == cudaMemcpyDefault, &to);
    *copy = span(to, from, count, kind);
    return result;
}

static cudaError_t from_variable(void *to, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
                                 struct cudaMemcpy3DParms *copy)
{
    void *from;
    cudaError_t result = in_variable(symbol, offset, count, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
                                     kind == cudaMemcpyDefault, &from);
    *copy = span(to, from, count, kind);
    return result;
}

/* ---- operations on a copy ---- */

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                       const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D driver;
    CUcontext context = NULL;
    cudaError_t result = rt_graph_copy(params, &driver);
    if (result == cudaSuccess)
        result = DRIVER_CORE(cuCtxGetCurrent, &context);
    return result == cudaSuccess ? DRIVER(cuGraphAddMemcpyNode, node, graph, dependencies, count, &driver, context) : result;
}

static cudaError_t get(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D driver;
    cudaError_t result = params ? DRIVER(cuGraphMemcpyNodeGetParams, node, &driver) : cudaErrorInvalidValue;
    if (result == cudaSuccess)
        result = rt_graph_copy_of(&driver, params);
    return result;
}

static cudaError_t set(cudaGraphNode_t node, const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D driver;
    cudaError_t result = rt_graph_copy(params, &driver);
    return result == cudaSuccess ? DRIVER(cuGraphMemcpyNodeSetParams, node, &driver) : result;
}

static cudaError_t set_in(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D driver;
    CUcontext context = NULL;
    cudaError_t result = rt_graph_copy(params, &driver);
    if (result == cudaSuccess)
        result = DRIVER_CORE(cuCtxGetCurrent, &context);
    return result == cudaSuccess ? DRIVER(cuGraphExecMemcpyNodeSetParams, exec, node, &driver, context) : result;
}

/* The first, and then the second. */
#define RT_BOTH(first, second)                                  \
    do {                                                        \
        cudaError_t first_ = rt_enter_context();                \
        if (first_ == cudaSuccess)                              \
            first_ = (first);                                   \
        return rt_leave(first_ == cudaSuccess ? (second) : first_); \
    } while (0)

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                   size_t numDependencies, const struct cudaMemcpy3DParms *pCopyParams)
{
    RT(add(pGraphNode, graph, pDependencies, numDependencies, pCopyParams));
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *pNodeParams)
{
    RT(get(node, pNodeParams));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *pNodeParams)
{
    RT(set(node, pNodeParams));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *pNodeParams)
{
    RT(set_in(hGraphExec, node, pNodeParams));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                     size_t numDependencies, void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms copy = span(dst, src, count, kind);
    RT(add(pGraphNode, graph, pDependencies, numDependencies, &copy));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                           size_t numDependencies, const void *symbol, const void *src, size_t count,
                                           size_t offset, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy;
    RT_BOTH(to_variable(symbol, src, count, offset, kind, &copy), add(pGraphNode, graph, pDependencies, numDependencies, &copy));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                             size_t numDependencies, void *dst, const void *symbol, size_t count, size_t offset,
                                             enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy;
    RT_BOTH(from_variable(dst, symbol, count, offset, kind, &copy), add(pGraphNode, graph, pDependencies, numDependencies, &copy));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t count,
                                           enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms copy = span(dst, src, count, kind);
    RT(set(node, &copy));
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *src, size_t count,
                                                 size_t offset, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy;
    RT_BOTH(to_variable(symbol, src, count, offset, kind, &copy), set(node, &copy));
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol, size_t count,
                                                   size_t offset, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy;
    RT_BOTH(from_variable(dst, symbol, count, offset, kind, &copy), set(node, &copy));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst, const void *src,
                                               size_t count, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms copy = span(dst, src, count, kind);
    RT(set_in(hGraphExec, node, &copy));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const void *symbol,
                                                     const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy;
    RT_BOTH(to_variable(symbol, src, count, offset, kind, &copy), set_in(hGraphExec, node, &copy));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst,
                                                       const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy;
    RT_BOTH(from_variable(dst, symbol, count, offset, kind, &copy), set_in(hGraphExec, node, &copy));
}
