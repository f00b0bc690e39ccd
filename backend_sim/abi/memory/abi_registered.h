/* SPDX-License-Identifier: Apache-2.0 */
/* abi_registered.h - copies and fills of registered memory: device addresses that the engine does not know.
 *
 *     cuMemcpyDtoH(h, R, n)    the host copies the bytes, in stream order
 *     cuMemsetD32(R, v, n)     the host writes them
 *
 * A call must stay inside the range in which it begins, and writes only where the program has write access.
 */
#ifndef SIM_ABI_REGISTERED_H
#define SIM_ABI_REGISTERED_H

#include "abi_host.h"

bool abi_is_registered(CUdeviceptr address);

/* Is this access to [address, address + size) allowed? SUCCESS also for memory that is not registered. */
CUresult abi_registered_check(const char *function, CUdeviceptr address, size_t size, bool writes);

/* Fills count elements of 1, 2 or 4 bytes at a registered address. */
CUresult abi_registered_fill(vmm_system *sys, CUdeviceptr address, unsigned element, unsigned value, size_t count,
                             vmm_stream stream);

/* Lets stream memory operations and copies of rows find such memory; call it before there is any. */
void abi_registered_offer(void);

#endif
