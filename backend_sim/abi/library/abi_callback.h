/* SPDX-License-Identifier: Apache-2.0 */
/* abi_callback.h - cuStreamAddCallback, a host function that also receives its stream and the stream's status.
 *
 *     add C to S     host function [C, S, user] on S     C(S, SUCCESS, user)
 */
#ifndef SIM_ABI_CALLBACK_H
#define SIM_ABI_CALLBACK_H

#include "abi.h"

/* shown is the stream as the program passed it; the callback receives this value. */
CUresult abi_add_callback(vmm_system *sys, vmm_stream stream, CUstream shown, CUstreamCallback callback, void *user,
                          unsigned flags);


#endif
