/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of other processes, through the driver's 64-byte handles. */
#include <string.h>

#include "rt_address.h"

static cudaError_t open_handle(void **pointer, const cudaIpcMemHandle_t *handle, unsigned flags)
{
    CUipcMemHandle bytes;
    memcpy(&bytes, handle, sizeof bytes);
    return DRIVER(cuIpcOpenMemHandle, rt_address_out(pointer), bytes, flags);
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)
{
    RT(DRIVER(cuIpcGetMemHandle, (CUipcMemHandle *)(void *)handle, rt_address(devPtr)));
}

cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags)
{
    RT(open_handle(devPtr, &handle, flags));
}

cudaError_t cudaIpcCloseMemHandle(void *devPtr)
{
    RT(DRIVER(cuIpcCloseMemHandle, rt_address(devPtr)));
}
