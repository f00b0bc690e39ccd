/* SPDX-License-Identifier: Apache-2.0 */
/* abi_proc.h - looks up entry points by name, for cuGetProcAddress.
 *
 *     "cuCtxCreate", 12000   ->   cuCtxCreate_v3     introduced in 11.4, the newest up to 12.0
 *     "cuMemcpyHtoD", 12000, per thread   ->   cuMemcpyHtoD_v2_ptds
 */
#ifndef SIM_ABI_PROC_H
#define SIM_ABI_PROC_H

#include <stdbool.h>

enum abi_streams { ABI_LEGACY, ABI_PER_THREAD }; /* the meaning of stream 0, for entry points with both forms */

enum abi_found { ABI_FOUND, ABI_NO_SUCH_NAME, ABI_TOO_OLD }; /* see CUdriverProcAddressQueryResult */

typedef int (*abi_function)(void);

/* Finds the newest entry point of that name that is not newer than version. */
enum abi_found abi_find(const char *name, int version, bool per_thread, abi_function *function);

#endif
