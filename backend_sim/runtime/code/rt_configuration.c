/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration between <<< and >>>: pushed before the kernel's arguments are evaluated (which may launch
 * kernels), and popped by the kernel's stub. Each thread has a stack. */
#include "heap.h"
#include "rt.h"

enum { INLINE = 8 };

struct configuration {
    dim3 grid, block;
    size_t shared;
    struct CUstream_st *stream;
    struct configuration *below; /* of those that were allocated */
};

static _Thread_local struct {
    struct configuration first[INLINE], *more;
    int depth; /* the number of used entries of `first` */
} stack;

static struct configuration *new_configuration(void)
{
    if (stack.depth < INLINE)
        return &stack.first[stack.depth++];
    struct configuration *made = heap.malloc(sizeof *made);
    if (!made)
        return NULL;
    made->below = stack.more;
    stack.more = made;
    return made;
}

unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, struct CUstream_st *stream)
{
    struct configuration *configuration = new_configuration();
    if (!configuration)
        return (unsigned)rt_leave(cudaErrorMemoryAllocation);
    configuration->grid = gridDim;
    configuration->block = blockDim;
    configuration->shared = sharedMem;
    configuration->stream = stream;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream)
{
    struct configuration *more = stack.more;
    if (!stack.depth)
        return rt_leave(cudaErrorMissingConfiguration);
    const struct configuration *top = more ? more : &stack.first[stack.depth - 1];
    *gridDim = top->grid;
    *blockDim = top->block;
    *sharedMem = top->shared;
    *(struct CUstream_st **)stream = top->stream;
    stack.depth -= !more;
    if (more) {
        stack.more = more->below;
        heap.free(more);
    }
    return cudaSuccess;
}
