/* SPDX-License-Identifier: Apache-2.0 */
/* core_driver.h - for tests that contain the runtime: a driver with only the essential functions (RT_DRIVER_CORE).
 *
 *     const struct rt_driver has = rt_driver;   keep_core(&has);   ...calls find nothing...   rt_driver = has;
 */
#ifndef SIM_RUNTIME_TESTING_CORE_DRIVER_H
#define SIM_RUNTIME_TESTING_CORE_DRIVER_H

#include "rt.h"

static inline void keep_core(const struct rt_driver *has)
{
    rt_driver = (struct rt_driver){
#define RT_DRIVER(name)
#define RT_DRIVER_CORE(name) .to_##name = {has->to_##name[0], has->to_##name[1]},
#include "rt_driver.def"
    };
}

/* In place of cuCtxGetCurrent: no call gets a context. */
static inline CUresult CUDAAPI core_no_context(CUcontext *context)
{
    (void)context;
    return (CUresult)cudaErrorCallRequiresNewerDriver;
}

static inline void lose_contexts(void)
{
    rt_driver.to_cuCtxGetCurrent[0] = rt_driver.to_cuCtxGetCurrent[1] = core_no_context;
}

#endif
