/* SPDX-License-Identifier: Apache-2.0 */
/* The same test, built as a CUDA 12 program with per-thread default streams. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "rt_batch_test.c"
