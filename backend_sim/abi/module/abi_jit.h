/* SPDX-License-Identifier: Apache-2.0 */
/* abi_jit.h - the outputs of the device-code compiler in the caller's options. There is no compiler here, so the logs are empty.
 * They must still be written, because a caller that passed a log buffer prints it.
 *
 *     LOG_BUFFER_SIZE_BYTES 1024, LOG_BUFFER -> [?????...]      before
 *     LOG_BUFFER_SIZE_BYTES    0, LOG_BUFFER -> ["" ????]       after: an empty text
 */
#ifndef SIM_ABI_JIT_H
#define SIM_ABI_JIT_H

#include "abi.h"

/* Writes the output options of a load that ended with result, and returns result. A refused load leaves the options unchanged. */
CUresult abi_jit_answered(CUresult result, const CUjit_option *options, void **values, unsigned count);

#endif
