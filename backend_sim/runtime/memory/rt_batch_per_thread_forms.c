/* SPDX-License-Identifier: Apache-2.0 */
/* Batches whose stream 0 is the per-thread default stream. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include "rt_batch_forms.c"
