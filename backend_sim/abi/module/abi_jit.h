/* SPDX-License-Identifier: Apache-2.0 */
/* abi_jit.h - what the compiler of device code would write into the caller's options. There is none here, so it had nothing
 * to say; but a caller that handed out a log buffer prints it.
 *
 *     LOG_BUFFER_SIZE_BYTES 1024, LOG_BUFFER -> [?????...]      before
 *     LOG_BUFFER_SIZE_BYTES    0, LOG_BUFFER -> ["" ????]       after: an empty text
 */
#ifndef SIM_ABI_JIT_H
#define SIM_ABI_JIT_H

#include "abi.h"

/* Answers the options of a load that ended with result, and returns result. A refused load leaves them as they are. */
CUresult abi_jit_answered(CUresult result, const CUjit_option *options, void **values, unsigned count);

#endif
