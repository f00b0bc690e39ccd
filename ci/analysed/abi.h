/* SPDX-License-Identifier: Apache-2.0 */
/* abi.h, and that a refusal is never a success. */
#ifndef CUVMM_CI_ANALYSED_ABI_H
#define CUVMM_CI_ANALYSED_ABI_H

#include <abi.h>

#ifndef CUVMM_DEFINES_abi_refuse
#define abi_refuse(...) ((void)abi_refuse(__VA_ARGS__), CUDA_ERROR_INVALID_VALUE)
#endif
#ifndef CUVMM_DEFINES_abi_null
#define abi_null(...) ((void)abi_null(__VA_ARGS__), CUDA_ERROR_INVALID_VALUE)
#endif
#ifndef CUVMM_DEFINES_abi_graph_null
#define abi_graph_null(...) ((void)abi_graph_null(__VA_ARGS__), CUDA_ERROR_INVALID_VALUE)
#endif

#endif
