/* SPDX-License-Identifier: Apache-2.0 */
/* The same test with per-thread default streams. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "rt_array_copy_test.c"
