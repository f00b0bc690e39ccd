/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered operations on managed memory, with per-thread default streams. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include "rt_managed_forms.c"
