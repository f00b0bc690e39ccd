/* SPDX-License-Identifier: Apache-2.0 */
/* abi_sync.h - synchronous copies and fills, on either default stream.
 *
 *     legacy        vmm_memset_d8(sys, ...)                        the call of the API
 *     per thread    vmm_memset_d8_async(sys, ..., per thread), and a wait for that stream
 */
#ifndef SIM_ABI_SYNC_H
#define SIM_ABI_SYNC_H

#include "abi.h"

static inline vmm_result abi_then_wait(vmm_system *sys, vmm_result result)
{
    return result == VMM_SUCCESS ? vmm_stream_synchronize(sys, VMM_STREAM_PER_THREAD) : result;
}

#endif

/* The default stream of the form being compiled. */
#undef ABI_SYNC
#undef ABI_SYNC_STREAM
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define ABI_SYNC(name, ...) abi_then_wait(sys, vmm_##name##_async(sys, __VA_ARGS__, VMM_STREAM_PER_THREAD))
#define ABI_SYNC_STREAM VMM_STREAM_PER_THREAD
#else
#define ABI_SYNC(name, ...) vmm_##name(sys, __VA_ARGS__)
#define ABI_SYNC_STREAM NULL
#endif
