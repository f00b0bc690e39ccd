/* SPDX-License-Identifier: Apache-2.0 */
/* The same of the forms whose stream 0 is the thread's own. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "rt_memory_inside_test.c"
