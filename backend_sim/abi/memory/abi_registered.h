/* SPDX-License-Identifier: Apache-2.0 */
/* abi_registered.h - registered memory as copies and fills meet it: a device address that the engine does not know.
 *
 *     cuMemcpyDtoH(h, R, n)    the host moves the bytes, once the stream is that far
 *     cuMemsetD32(R, v, n)     it writes them
 *
 * All of a call's bytes lie in the range where they begin, and none is written where the program may only read.
 */
#ifndef SIM_ABI_REGISTERED_H
#define SIM_ABI_REGISTERED_H

#include "abi_host.h"

bool abi_is_registered(CUdeviceptr address);

/* May [address, address + size) be used so? Yes, of memory that is not registered. */
CUresult abi_registered_check(const char *function, CUdeviceptr address, size_t size, bool writes);

/* count elements of 1, 2 or 4 bytes, at a registered address. */
CUresult abi_registered_fill(vmm_system *sys, CUdeviceptr address, unsigned element, unsigned value, size_t count,
                             vmm_stream stream);

#endif
