/* SPDX-License-Identifier: Apache-2.0 */
/* rt_callback.h - callbacks of programs that the driver has not called yet.
 *
 *     cudaStreamAddCallback(s, f, data)  ->  cuStreamAddCallback(s, rt_callback_run, kept)  ->  f(s, a code of the runtime, data)
 *
 * A program's callback expects a runtime error code, so the driver calls a wrapper. The driver calls no callbacks
 * while a process ends: their records stay on the list.
 */
#ifndef SIM_RUNTIME_RT_CALLBACK_H
#define SIM_RUNTIME_RT_CALLBACK_H

#include "rt.h"

struct rt_callback;

/* NULL when memory is exhausted. */
struct rt_callback *rt_callback_keep(cudaStreamCallback_t function, void *data);
/* Drops the record of a callback that the driver refused. */
void rt_callback_drop(struct rt_callback *kept);
/* Calls the program's callback once, and drops the record. */
void CUDA_CB rt_callback_run(CUstream stream, CUresult status, void *kept);

#endif
