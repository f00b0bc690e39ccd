/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's log of errors, which libcudart.so.13 passes on. */
#include "rt.h"

/* The driver's callback has the same parameters, except that one enum has another name. */
cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callbackFunc, void *userData, cudaLogsCallbackHandle *callback_out)
{
    RT_ANYWHERE(DRIVER(cuLogsRegisterCallback, (CUlogsCallback)callbackFunc, userData, callback_out));
}

cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback)
{
    RT_ANYWHERE(DRIVER(cuLogsUnregisterCallback, callback));
}

cudaError_t cudaLogsCurrent(cudaLogIterator *iterator_out, unsigned int flags)
{
    RT_ANYWHERE(DRIVER(cuLogsCurrent, iterator_out, flags));
}

cudaError_t cudaLogsDumpToFile(cudaLogIterator *iterator, const char *pathToFile, unsigned int flags)
{
    RT_ANYWHERE(DRIVER(cuLogsDumpToFile, iterator, pathToFile, flags));
}

cudaError_t cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size, unsigned int flags)
{
    RT_ANYWHERE(DRIVER(cuLogsDumpToMemory, iterator, buffer, size, flags));
}
