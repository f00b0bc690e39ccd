/* SPDX-License-Identifier: Apache-2.0 */
/* The forms for per-thread default streams: the same sources, with the names that the header then defines. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include "rt_entry_point.c"
