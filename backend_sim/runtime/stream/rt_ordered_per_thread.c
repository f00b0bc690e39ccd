/* SPDX-License-Identifier: Apache-2.0 */
/* The forms whose stream 0 is the per-thread default stream: the same sources, with the names that the header then defines. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include "rt_ordered.c"
