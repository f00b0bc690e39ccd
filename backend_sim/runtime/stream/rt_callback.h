/* SPDX-License-Identifier: Apache-2.0 */
/* rt_callback.h - callbacks of programs that the driver has yet to call.
 *
 *     cudaStreamAddCallback(s, f, data)  ->  cuStreamAddCallback(s, rt_callback_run, kept)  ->  f(s, a code of the runtime, data)
 *
 * A program's callback takes a code of the runtime, so the driver calls ours. The driver calls none of a process that ends: what
 * was kept for those stays on the list.
 */
#ifndef SIM_RUNTIME_RT_CALLBACK_H
#define SIM_RUNTIME_RT_CALLBACK_H

#include "rt.h"

struct rt_callback;

/* NULL when memory is exhausted. */
struct rt_callback *rt_callback_keep(cudaStreamCallback_t function, void *data);
/* For one that the driver refused. */
void rt_callback_drop(struct rt_callback *kept);
/* Calls the program's, once, and drops it. */
void CUDA_CB rt_callback_run(CUstream stream, CUresult status, void *kept);

#endif
