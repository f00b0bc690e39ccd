/* SPDX-License-Identifier: Apache-2.0 */
/* rt_array.h - arrays, whose handles are the driver's. */
#ifndef SIM_RUNTIME_RT_ARRAY_H
#define SIM_RUNTIME_RT_ARRAY_H

#include <stdint.h>

#include "rt_channel.h"

static inline CUarray rt_array(cudaArray_const_t array)
{
    return (CUarray)(uintptr_t)array;
}

/* The element format of an array; without an array, bytes. The driver's error for an invalid handle;
 * cudaErrorInvalidChannelDescriptor for a format that the runtime lacks. */
cudaError_t rt_element(cudaArray_const_t array, struct rt_element *element);

/* The bytes in a row of an array, and the number of rows (of one layer in a layered array). In a compressed array, a
 * row is a row of blocks. */
cudaError_t rt_array_rows(cudaArray_const_t array, size_t *row, size_t *rows);

#endif
