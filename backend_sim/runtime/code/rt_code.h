/* SPDX-License-Identifier: Apache-2.0 */
/* rt_code.h - registered device code, and the driver's objects for it.
 *
 *     constructor of a program or library        first use                            destructor
 *     fat binary -> image                    ->  CUlibrary                        ->  unloaded
 *     address of a stub on the host, name    ->  CUkernel, which launches take        gone
 *     address of a variable on the host      ->  its address in the context
 *
 * Registration does not touch the driver: a program that only prints its help needs none. An image is loaded when one
 * of its functions or variables is first used.
 */
#ifndef SIM_RUNTIME_RT_CODE_H
#define SIM_RUNTIME_RT_CODE_H

#include "rt.h"

/* The kernel of a function that was registered. Any other address is taken for a kernel, as documented for the
 * runtime ("assumed to be a cudaKernel_t and used as is"): the driver decides about it.
 * cudaErrorInvalidDeviceFunction for NULL. */
cudaError_t rt_kernel(const void *function, CUkernel *kernel);

/* The same, as its function in the current context: for calls that do not accept a kernel. */
cudaError_t rt_function(const void *host, CUfunction *function);

/* The host address for a kernel or function returned by the calls above; else handle itself. */
const void *rt_host_of(const void *handle);

/* A variable's address and size in the current context; each may be NULL. cudaErrorInvalidSymbol if none is
 * registered, cudaErrorSymbolNotFound if the code lacks it. */
cudaError_t rt_variable(const void *symbol, CUdeviceptr *address, size_t *size);

/* The driver's form of a launch's configuration. Both use the same attributes. */
cudaError_t rt_launch_config(const cudaLaunchConfig_t *config, CUlaunchConfig *out);

#endif
