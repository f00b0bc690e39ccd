/* SPDX-License-Identifier: Apache-2.0 */
/* The same as a program of CUDA 12, with the forms whose stream 0 is the thread's own. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "rt_array_copy_test.c"
