/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's functions by name. */
#include "rt_entry_point.h"

#define FLAGS(flags) ((flags) ? (flags) : RT_FORM ? cudaEnablePerThreadDefaultStream : cudaEnableLegacyStream)

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *driverStatus)
{
    RT_ANYWHERE(rt_entry_point(&(struct rt_entry_point){symbol, funcPtr, rt_version(), FLAGS(flags), driverStatus}));
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr, unsigned int cudaVersion, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *driverStatus)
{
    RT_ANYWHERE(rt_entry_point_of_version(
        &(struct rt_entry_point){symbol, funcPtr, cudaVersion, FLAGS(flags), driverStatus}));
}
