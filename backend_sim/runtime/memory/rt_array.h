/* SPDX-License-Identifier: Apache-2.0 */
/* rt_array.h - arrays: their handles are the driver's. */
#ifndef SIM_RUNTIME_RT_ARRAY_H
#define SIM_RUNTIME_RT_ARRAY_H

#include <stdint.h>

#include "rt_channel.h"

static inline CUarray rt_array(cudaArray_const_t array)
{
    return (CUarray)(uintptr_t)array;
}

/* What an array consists of; without one, bytes. What the driver says of a handle that is none; cudaErrorInvalidChannelDescriptor of a
 * format that the runtime has none for. */
cudaError_t rt_element(cudaArray_const_t array, struct rt_element *element);

/* The bytes of a row of an array, and the number of its rows, in a layered array those of one layer. Rows of a compressed array are
 * rows of blocks. */
cudaError_t rt_array_rows(cudaArray_const_t array, size_t *row, size_t *rows);

#endif
