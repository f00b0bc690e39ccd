/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory in the order of a stream, where stream 0 is the thread's own. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include "rt_managed_forms.c"
