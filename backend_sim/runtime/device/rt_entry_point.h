/* SPDX-License-Identifier: Apache-2.0 */
/* rt_entry_point.h - a function of the driver by its name, for both forms of default stream.
 *
 *     ("cuMemAlloc", 12000)    ->  cuMemAlloc_v2
 *     ("cuNoSuchName", 12000)  ->  cudaSuccess, NULL, cudaDriverEntryPointSymbolNotFound
 */
#ifndef SIM_RUNTIME_RT_ENTRY_POINT_H
#define SIM_RUNTIME_RT_ENTRY_POINT_H

#include "rt.h"

struct rt_entry_point {
    const char *symbol;
    void **function;
    unsigned version;
    unsigned long long flags;
    enum cudaDriverEntryPointQueryResult *status; /* or NULL */
};

cudaError_t rt_entry_point(const struct rt_entry_point *asked);
/* The same for a given version, which must not be newer than the driver's. */
cudaError_t rt_entry_point_of_version(const struct rt_entry_point *asked);

#endif
