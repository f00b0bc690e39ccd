/* SPDX-License-Identifier: Apache-2.0 */
/* The same test with the forms whose stream 0 is the thread's own default stream. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "abi_capture_implicit_test.c"
